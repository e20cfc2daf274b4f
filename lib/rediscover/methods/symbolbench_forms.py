"""The three forms of answer in SymbolBench's loop: systems of equations, rules of networks, causal graphs.

A form says what the loop around a language model has to know of an answer: how it is read from a reply and shown, what
data a prompt holds, what verifies it, which proposers stand in for a model, and which answer of a pool is chosen.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..problems import generator
from ..search import graph_proposals as graphs
from ..search import rule_proposals as rules
from ..search import verification_loop as loop
from . import Unsupported

DECIMALS, POINTS = 3, 150  # of the values that a prompt shows; how many of a series of a graph
BLOCK = re.compile(r"\{[^{}]*\}")
TEXT = r"""["']%s["']\s*:\s*(?:"([^"]*)"|'([^']*)')"""
EQUATIONS, GRAPH = re.compile(TEXT % "eq"), re.compile(TEXT % "scm")
LINES = re.compile(r";|\\n|\n")
RULE = re.compile(r"\s*([A-Za-z]\w*)(?:\s*\([^()]*\))?\s*(?:<-|:?=)(.*)", re.DOTALL)
PARENT = re.compile(r"([A-Za-z]\w*?)_?\s*(?:\(\s*lag\s*=\s*(\d+)\s*\))?")
NOTHING = ("", "none", "None", "[]", "()")  # in place of parents


@dataclass(frozen=True, eq=False)
class Form:
    """Base of the forms.

    Attributes
    ----------
    problem : with its names and training data.
    seed : chooses the training data.
    tolerance : score that ends the loop.
    name : in the keys of the prompt's texts.
    shown : answers of the pool that a prompt shows.
    most : rounds at most.
    """

    problem: Any
    seed: int
    tolerance: float
    name: ClassVar[str]
    shown: ClassVar[int] = 5
    most: ClassVar[float] = math.inf

    @property
    def asked(self) -> tuple[str, ...]:
        """What an answer has a line for."""
        return self.problem.outputs

    @property
    def domain(self) -> str:
        """The field that the problem is from, where a prompt says it."""
        return ""

    def read(self, reply: str) -> list:
        """The answers in a reply; they need not be valid."""
        raise NotImplementedError

    def written(self, proposal: Any) -> str:
        """An answer as a prompt shows it."""
        raise NotImplementedError

    @cached_property
    def example(self) -> str:
        """An answer in the form that is asked for, of the right size and without a meaning."""
        raise NotImplementedError

    @cached_property
    def data(self) -> str:
        """The training data as a prompt shows them."""
        raise NotImplementedError

    def verifier(self) -> Callable[[Any], loop.Verified | None]:
        """What scores answers."""
        raise NotImplementedError

    def controls(self, samples: int) -> dict[str, loop.Proposer]:
        """Proposers without a model, by name."""
        raise NotImplementedError

    def select(self, pool: Iterable[loop.Verified]) -> loop.Verified | None:
        """The loop's final choice: the best of the pool."""
        return next(iter(pool), None)


@dataclass(frozen=True, eq=False)
class Equations(Form):
    """Skeletons of right-hand sides, verified by integration.

    Attributes
    ----------
    fitted : how constants are found, see `skeleton_fits`.
    """

    fitted: str = "released"
    name: ClassVar[str] = "equations"

    @property
    def asked(self) -> tuple[str, ...]:
        return self.problem.inputs

    @cached_property
    def observed(self) -> np.ndarray:
        return self.problem.observed(self.seed)

    def read(self, reply: str) -> list[dict[str, str]]:
        return systems(reply, self.asked)

    def written(self, proposal: Mapping[str, str]) -> str:
        return " | ".join(proposal[state] for state in self.asked)

    @cached_property
    def example(self) -> str:
        return json.dumps({"eq": " | ".join(f"c*{state} + c" for state in self.asked), "dim": len(self.asked)})

    @cached_property
    def data(self) -> str:
        return series(self.asked, self.observed)

    def verifier(self) -> loop.SkeletonVerifier:
        return loop.SkeletonVerifier(self.problem, fit=self.fitted, seed=self.seed)

    def controls(self, samples: int) -> dict[str, loop.Proposer]:
        return {"grammar": loop.Grammar(samples), "genetic": loop.Genetic(samples)}

    def select(self, pool: Iterable[loop.Verified]) -> loop.Verified | None:
        return loop.select(pool)


@dataclass(frozen=True, eq=False)
class Rules(Form):
    """Rules of the regulated nodes of a Boolean network."""

    name: ClassVar[str] = "rules"
    most: ClassVar[float] = 50

    def read(self, reply: str) -> list[dict[str, str]]:
        return networks(reply, self.asked)

    def written(self, proposal: Mapping[str, str]) -> str:
        return "; ".join(f"{node} <- {proposal[node].replace('~', '!')}" for node in self.asked)

    @cached_property
    def example(self) -> str:
        drawn = rules.RandomRules().rules(self.problem, generator(0, self.problem.id, "example"))
        return json.dumps({"eq": self.written(drawn), "dim": len(self.asked)})

    @cached_property
    def data(self) -> str:
        train = self.problem.data(self.seed)["train"]
        after = np.array(train.X)
        after[:, [self.problem.inputs.index(node) for node in self.asked]] = train.y
        words = (["".join(map(str, row)) for row in states.astype(int)] for states in (train.X, after))
        return "\n".join(f"{before} -> {behind}" for before, behind in zip(*words, strict=True))

    def verifier(self) -> rules.RuleVerifier:
        return rules.RuleVerifier(self.problem, self.seed)

    def controls(self, samples: int) -> dict[str, loop.Proposer]:
        return {"grammar": rules.RandomRules(samples), "genetic": rules.GeneticRules(samples)}


@dataclass(frozen=True, eq=False)
class Graphs(Form):
    """Causal graphs behind series.

    Attributes
    ----------
    scored : 'released' or 'partial', see `graph_proposals.GraphVerifier`.
    """

    scored: str = "released"
    name: ClassVar[str] = "graphs"
    shown: ClassVar[int] = 10
    most: ClassVar[float] = 50

    @property
    def asked(self) -> tuple[str, ...]:
        return self.problem.inputs

    @property
    def domain(self) -> str:
        return str(getattr(self.problem, "domain", "")).replace("_", " ")

    def read(self, reply: str) -> list[graphs.Graph]:
        return causes(reply, self.asked)

    def written(self, proposal: Mapping[str, graphs.Parents]) -> str:
        parents = {child: ", ".join(f"{parent}_(lag={lag})" for parent, lag in proposal[child]) for child in self.asked}
        return " | ".join(f"{child} <- {text}".rstrip() for child, text in parents.items())

    @cached_property
    def example(self) -> str:
        drawn = graphs.RandomGraphs().graph(self.asked, generator(0, self.problem.id, "example"))
        return json.dumps({"scm": self.written(drawn), "dim": len(self.asked)})

    @cached_property
    def data(self) -> str:
        return series(self.asked, self.problem.series()[:POINTS])

    def verifier(self) -> graphs.GraphVerifier:
        if len(points := self.problem.series()) < graphs.LAG + 2:
            raise Unsupported(f"{self.problem.id}: a series of {len(points)} points has no lagged pairs to correlate")
        return graphs.GraphVerifier(self.problem, self.scored)

    def controls(self, samples: int) -> dict[str, loop.Proposer]:
        return {"grammar": graphs.RandomGraphs(samples), "genetic": graphs.GeneticGraphs(samples)}


def series(names: Iterable[str], observed: np.ndarray) -> str:
    """A line for each variable with its values, shape (n, n_names)."""
    return "\n".join(
        f"{name}: {', '.join(f'{value:.{DECIMALS}f}' for value in column)}"
        for name, column in zip(names, observed.T, strict=True)
    )


def quoted(reply: str, key: re.Pattern) -> list[str]:
    """What stands behind a key, for each block in braces that has it. A block need be no proper JSON."""
    found = [key.search(block) for block in BLOCK.findall(reply)]
    return [plain(match[1] or match[2] or "") for match in found if match]


def plain(text: str) -> str:
    """The text with ``x0`` for ``x_0``."""
    return re.sub(r"\b([A-Za-z]+)_(\d+)\b", r"\1\2", text)


def systems(reply: str, states: tuple[str, ...]) -> list[dict[str, str]]:
    """The systems in a reply: state -> skeleton, for each block in braces that has as many equations as states.

    What stands before an equality sign is left out.

    >>> systems('Two: {"eq": "c*x0 | -c*x_1", "dim": 2}, {"eq": "c*x0"}', ("x0", "x1"))
    [{'x0': 'c*x0', 'x1': '-c*x1'}]
    """
    split = [[side.rpartition("=")[2].strip() for side in text.split("|")] for text in quoted(reply, EQUATIONS)]
    return [dict(zip(states, sides, strict=True)) for sides in split if len(sides) == len(states)]


def networks(reply: str, nodes: tuple[str, ...]) -> list[dict[str, str]]:
    """The networks in a reply: node -> rule, for each block in braces that has a rule for every node.

    Rules stand behind the names of their nodes, in any order; those of other nodes are left out.

    >>> networks('{"eq": "x2 <- !x_1; x1 <- x1 | x2"}, {"eq": "x1 <- x2"}', ("x1", "x2"))
    [{'x1': 'x1 | x2', 'x2': '!x1'}]
    """
    found = []
    for text in quoted(reply, EQUATIONS):
        matches = [RULE.fullmatch(line) for line in LINES.split(text)]
        given = {match[1]: match[2].strip() for match in matches if match}
        if set(nodes) <= set(given):
            found.append({node: given[node] for node in nodes})
    return found


def causes(reply: str, names: tuple[str, ...]) -> list[graphs.Graph]:
    """The graphs in a reply: child -> (parent, lag), for each block in braces that has a child.

    A variable that is no child has no parents; a parent without a lag has lag 1. A block with a parent that cannot be
    read is left out.

    >>> causes('{"scm": "x0 <- x0_(lag=1), x_1_(lag=1) | x1 <-"}', ("x0", "x1"))
    [{'x0': (('x0', 1), ('x1', 1)), 'x1': ()}]
    """
    found = []
    for text in quoted(reply, GRAPH):
        matches = [RULE.fullmatch(line) for line in text.split("|")]
        graph = {match[1]: parents(match[2].strip()) for match in matches if match}
        known = {child: listed for child, listed in graph.items() if listed is not None}
        if all(matches) and len(known) == len(graph):
            found.append(dict.fromkeys(names, ()) | known)
    return found


def parents(text: str) -> graphs.Parents | None:
    """Parents and lags in a list with commas, or None where it cannot be read.

    >>> parents("x_0_(lag=1), x1"), parents(""), parents("x0 + x1")
    ((('x0', 1), ('x1', 1)), (), None)
    """
    matches = [] if text in NOTHING else [PARENT.fullmatch(part.strip()) for part in text.split(",")]
    read = tuple((plain(match[1]), int(match[2] or graphs.LAG)) for match in matches if match)
    return read if all(matches) else None
