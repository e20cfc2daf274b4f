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

from ..expressions import ExpressionError, parse
from ..expressions.spelling import respelled, respelled_rule, right_hand_side, without_latex
from ..problems import generator
from ..search.loops import graph_proposals as graphs
from ..search.loops import rule_proposals as rules
from ..search.loops import verification_loop as loop
from ..search.loops.skeleton_fits import UNKNOWN
from . import Unsupported, series_picture

DECIMALS, POINTS = 3, 150  # of the values that a prompt shows; how many of a series of a graph
BLOCK = re.compile(r"\{[^{}]*\}")
KEY = r"""["']%s["']\s*:\s*"""
TEXT = r""""([^"]*)"|'([^']*)'"""
VALUE = rf"{KEY}(?:(?P<list>\[[^\[\]]*\])|{TEXT})"
EQUATIONS, GRAPH = re.compile(VALUE % "eq"), re.compile(VALUE % "scm")
LINES = re.compile(r";|\\n|\n")
RULE = re.compile(r"\s*([A-Za-z]\w*)(?:\s*\([^()]*\))?\s*(?:<-|:?=(?!=))(.*)", re.DOTALL)
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
    key : of an answer in a reply.
    shown : answers of the pool that a prompt shows.
    most : rounds at most.
    """

    problem: Any
    seed: int
    tolerance: float
    name: ClassVar[str]
    key: ClassVar[str] = "eq"
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

    def unread(self, reply: str) -> int:
        """How many answers of a reply are dropped, as they are in no form that is read; one if it has none at all."""
        found = len(self.read(reply))
        return max(len(re.findall(KEY % self.key, reply)), 1 - found) - found

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

    @cached_property
    def picture(self) -> bytes:
        """The training data as a picture, see `series_picture.drawn`."""
        raise Unsupported(f"{self.problem.id}: {self.problem.kind} cannot be drawn as series: leave picture out")

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

    @cached_property
    def picture(self) -> bytes:
        return series_picture.drawn(self.asked, self.problem.times(), self.observed)

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
    key: ClassVar[str] = "scm"
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

    @cached_property
    def picture(self) -> bytes:
        shown = self.problem.series()[:POINTS]
        try:
            return series_picture.drawn(self.asked, np.arange(len(shown)), shown)
        except ValueError as error:
            raise Unsupported(f"{self.problem.id}: {error}: leave picture out") from error

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


def quoted(reply: str, key: re.Pattern, between: str) -> list[str]:
    """What stands behind a key, for each block in braces that has it. A block need be no proper JSON.

    Texts in a list are joined by what stands between the parts of one text.
    """
    reply = re.sub(r"_\{(\w+)\}", r"_\1", reply.replace("\r\n", "\n"))
    found = [match for block in BLOCK.findall(reply) if (match := key.search(block))]
    texts = [re.findall(TEXT, match["list"]) if match["list"] else [match.groups()[-2:]] for match in found]
    return [plain(between.join(double or single or "" for double, single in each)) for each in texts]


def plain(text: str) -> str:
    """The text with ``x0`` for ``x_0``."""
    return re.sub(r"\b([A-Za-z]+)_(\d+)\b", r"\1\2", text)


def systems(reply: str, states: tuple[str, ...]) -> list[dict[str, str]]:
    """The systems in a reply: state -> skeleton, for each block in braces that has as many equations as states.

    What stands before an equality sign is left out, and formulas are spelled as `parse` reads them.

    >>> systems('Two: {"eq": "c*x0 | -c*x_1", "dim": 2}, {"eq": "c*x0"}', ("x0", "x1"))
    [{'x0': 'c*x0', 'x1': '-c*x1'}]
    >>> systems('{"eq": ["dx0/dt = 2x_{0}^2", "c*|x1|"]}', ("x0", "x1"))
    [{'x0': '2*x0^2', 'x1': 'c*|x1|'}]
    """
    if re.search(r"\\[a-z]|\^\{", reply):
        reply = without_latex(reply.replace("\\\\", "\\"))
    found = []
    for text in quoted(reply, EQUATIONS, " | "):
        # Bars around a value stand closer to it than those between equations.
        sides = next((s for s in (text.split("|"), re.split(r"\s\|\s", text)) if len(s) == len(states)), None)
        if sides is not None:
            found.append({state: skeleton(side, states) for state, side in zip(states, sides, strict=True)})
    return found


def skeleton(side: str, states: tuple[str, ...]) -> str:
    """One equation of a system without its left-hand side; what `parse` reads is left as it is."""
    side = side.strip()
    given = right_hand_side(side)
    side = side if given is None else given
    try:
        parse(side, [*states, UNKNOWN])
    except ExpressionError:
        return respelled(side, [*states, UNKNOWN])
    return side


def networks(reply: str, nodes: tuple[str, ...]) -> list[dict[str, str]]:
    """The networks in a reply: node -> rule, for each block in braces that has a rule for every node.

    Rules stand behind the names of their nodes, in any order; those of other nodes are left out.

    >>> networks('{"eq": "x2 <- !x_1; x1 <- x1 | x2"}, {"eq": "x1 <- x2"}', ("x1", "x2"))
    [{'x1': 'x1 | x2', 'x2': '!x1'}]
    """
    found = []
    for text in quoted(reply, EQUATIONS, "; "):
        matches = [RULE.fullmatch(line) for line in LINES.split(text)]
        given = {match[1]: respelled_rule(match[2].strip()) for match in matches if match}
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
    for text in quoted(reply, GRAPH, " | "):
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
