"""Causal graphs for the verification loop: what verifies them, and two proposers without a model.

An answer holds, for each variable, its parents and their lags.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...metrics.causal import ci_score_effective, ci_score_partial
from .verification_loop import Context, Verified, bred

LAG = 1  # the only one that SymbolBench allows
Parents = tuple[tuple[str, int], ...]
Graph = dict[str, Parents]
SCORES: dict[str, Callable[[Any, Mapping[str, np.ndarray]], float]] = {
    "released": ci_score_effective,
    "partial": ci_score_partial,
}


class GraphVerifier:
    """A verifier of graphs: their CI-score on the series, and the number of edges.

    Parameters
    ----------
    problem : Series
    scored : 'released' or 'partial'
        *released*: the mean absolute correlation over children with exactly one parent, `metrics.causal`'s
        ``ci_score_effective``; a parent given twice is two. It has no value, and the graph is no answer, without such
        a child, and where one of them or its parent never changes. *partial*: as the paper defines it,
        ``ci_score_partial``, without a value for a graph without edges.

    Raises
    ------
    upstream_files.ReleasedError
        If the series can neither be read nor had.
    """

    def __init__(self, problem: Any, scored: str = "released") -> None:
        if scored not in SCORES:
            raise ValueError(f"scored must be one of {', '.join(SCORES)}, got {scored!r}")
        self.inputs, self.scored = problem.inputs, scored
        self.series = dict(zip(problem.inputs, problem.series().T, strict=True))

    def __call__(self, answer: Mapping[str, Sequence[tuple[str, int]]]) -> Verified | None:
        """Child -> (parent, lag); None where a variable is unknown, a lag is not 1, or the graph has no score."""
        edges = [(parent, child, lag) for child, parents in answer.items() for parent, lag in parents]
        if set(answer) - set(self.inputs) or any(p not in self.inputs or lag != LAG for p, _, lag in edges):
            return None
        score = SCORES[self.scored](edges if self.scored == "released" else set(edges), self.series)
        proposal = {child: tuple(answer.get(child, ())) for child in self.inputs}
        graph = {child: tuple(dict.fromkeys(parents)) for child, parents in proposal.items()}
        return Verified(proposal, graph, score, len(set(edges))) if np.isfinite(score) else None


@dataclass(frozen=True)
class RandomGraphs:
    """Random graphs: a variable depends on its own past alone, or on that of a few variables, all as likely.

    This is a prior of ours: it knows nothing of the series.

    Attributes
    ----------
    samples : answers per epoch.
    alone : probability of a self edge and no other.
    most : parents of a variable otherwise, at most.
    """

    samples: int = 25
    alone: float = 0.5
    most: int = 3

    def __call__(self, context: Context) -> list[Graph]:
        return [self.graph(context.problem.inputs, context.rng) for _ in range(self.samples)]

    def graph(self, names: Sequence[str], rng: np.random.Generator) -> Graph:
        """Parents of each variable."""
        return {child: self.parents(child, names, rng) for child in names}

    def parents(self, child: str, names: Sequence[str], rng: np.random.Generator) -> Parents:
        """Parents of one variable."""
        if rng.random() < self.alone:
            return ((child, LAG),)
        count = int(rng.integers(1, min(self.most, len(names)) + 1))
        return tuple((names[i], LAG) for i in sorted(rng.choice(len(names), size=count, replace=False).tolist()))


@dataclass(frozen=True)
class GeneticGraphs:
    """Genetic operators on the graphs of the pool, child by child.

    Each variable takes its parents from one of two graphs. On average the parents of one variable are then changed: one
    is added, dropped or exchanged.

    Attributes
    ----------
    samples : answers per epoch.
    parents : best answers of the pool that may be parents of an answer.
    fresh : share of answers that are random; all while the pool is empty.
    random : where random graphs come from.
    """

    samples: int = 25
    parents: int = 10
    fresh: float = 0.2
    random: RandomGraphs = RandomGraphs()

    def __call__(self, context: Context) -> list[Graph]:
        names, rng = context.problem.inputs, context.rng

        def drawn() -> Graph:
            return self.random.graph(names, rng)

        def child(a: Parents, b: Parents) -> Parents:
            return self.child(a, b, names, rng)

        return bred(context, self.samples, self.parents, self.fresh, drawn, child)

    def child(self, a: Parents, b: Parents, names: Sequence[str], rng: np.random.Generator) -> Parents:
        """The parents of a variable from those that it has in two graphs."""
        kept = set(a if rng.random() < 0.5 else b)
        if rng.random() * len(names) < 1:
            change = int(rng.integers(3))
            if change != 0 and kept:  # dropped or exchanged
                kept.remove(sorted(kept)[int(rng.integers(len(kept)))])
            if change != 1:  # added or exchanged
                kept.add((names[int(rng.integers(len(names)))], LAG))
        return tuple(edge for name in names if (edge := (name, LAG)) in kept)
