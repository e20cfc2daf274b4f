"""Trivial references for networks and graphs: what a score is worth that knows nothing of the structure."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ..problems import Series, Transitions
from . import Budget, Candidate, Method


@dataclass(frozen=True)
class SelfEdges(Method):
    """Every variable depends on its own past and on nothing else."""

    name: ClassVar[str] = "self_edges"
    reference: ClassVar[str] = "reference: x(t) -> x(t+1) only"
    accepts: ClassVar[tuple[type, ...]] = (Series,)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        return [Candidate({name: ((name, 1),) for name in problem.inputs}, evaluations=0)]


@dataclass(frozen=True)
class CompleteGraph(Method):
    """Every variable depends on the past of every variable."""

    name: ClassVar[str] = "complete_graph"
    reference: ClassVar[str] = "reference: all edges"
    accepts: ClassVar[tuple[type, ...]] = (Series,)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        every = tuple((parent, 1) for parent in problem.inputs)
        return [Candidate(dict.fromkeys(problem.inputs, every), evaluations=0)]


@dataclass(frozen=True)
class Identity(Method):
    """Every node keeps its value."""

    name: ClassVar[str] = "identity"
    reference: ClassVar[str] = "reference: x(t+1) = x(t)"
    accepts: ClassVar[tuple[type, ...]] = (Transitions,)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        return [Candidate({node: node for node in problem.outputs}, evaluations=0)]


@dataclass(frozen=True)
class Majority(Method):
    """Every node takes the value that it has more often after the training transitions; 0 on a tie."""

    name: ClassVar[str] = "majority"
    reference: ClassVar[str] = "reference: the more frequent value of each node"
    accepts: ClassVar[tuple[type, ...]] = (Transitions,)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        after = problem.data(seed)["train"].y
        ones = (2 * after.sum(axis=0) > len(after)).astype(int)
        return [Candidate(dict(zip(problem.outputs, map(str, ones), strict=True)), evaluations=0)]
