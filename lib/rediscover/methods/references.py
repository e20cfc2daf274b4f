"""Trivial references for networks and graphs: what a score is worth without having learned anything of the
structure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..problems import Series, Transitions
from . import Budget, Candidate, Method, Unsupported


class Reference(Method):
    """Base: an answer that takes no search."""

    def solve(self, problem: Any, *, budget: Budget | Mapping | None = None, seed: int = 0) -> list[Candidate]:
        if not isinstance(problem, self.accepts):
            raise Unsupported(f"{self.name} does not treat a {problem.kind}")
        return [Candidate(self.answer(problem, seed), evaluations=0)]

    def answer(self, problem: Any, seed: int) -> dict:
        raise NotImplementedError


@dataclass(frozen=True)
class SelfEdges(Reference):
    """Every variable depends on its own past and on nothing else."""

    name: ClassVar[str] = "self_edges"
    reference: ClassVar[str] = "reference: x(t) -> x(t+1) only"
    accepts: ClassVar[tuple[type, ...]] = (Series,)

    def answer(self, problem: Any, seed: int) -> dict:
        return {name: ((name, 1),) for name in problem.inputs}


@dataclass(frozen=True)
class CompleteGraph(Reference):
    """Every variable depends on the past of every variable."""

    name: ClassVar[str] = "complete_graph"
    reference: ClassVar[str] = "reference: all edges"
    accepts: ClassVar[tuple[type, ...]] = (Series,)

    def answer(self, problem: Any, seed: int) -> dict:
        return {name: tuple((parent, 1) for parent in problem.inputs) for name in problem.inputs}


@dataclass(frozen=True)
class Identity(Reference):
    """Every node keeps its value."""

    name: ClassVar[str] = "identity"
    reference: ClassVar[str] = "reference: x(t+1) = x(t)"
    accepts: ClassVar[tuple[type, ...]] = (Transitions,)

    def answer(self, problem: Any, seed: int) -> dict:
        return {node: node for node in problem.outputs}


@dataclass(frozen=True)
class Majority(Reference):
    """Every node takes the value that it has more often after the training transitions; 0 on a tie."""

    name: ClassVar[str] = "majority"
    reference: ClassVar[str] = "reference: the more frequent value of each node"
    accepts: ClassVar[tuple[type, ...]] = (Transitions,)

    def answer(self, problem: Any, seed: int) -> dict:
        after = problem.data(seed)["train"].y
        return {node: str(int(2 * after[:, i].sum() > len(after))) for i, node in enumerate(problem.outputs)}
