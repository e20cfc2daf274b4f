"""Multi-population regularised evolution, our own, after the engine of PySR."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numerics.arrays import size_of
from ..search.evolution import evolution
from ..search.evolution.choice import choose, scores_of
from ..search.programs.programs import to_text
from . import Candidate
from .tables import Tabular

ROUNDS = 10  # that a budget allows at least


@dataclass(frozen=True)
class RegularisedEvolution(evolution.Settings, Tabular):
    """The Pareto front of a search by the algorithm of SymbolicRegression.jl 1.11, PySR's choice first.

    Not the package: double precision, exact derivatives, Levenberg-Marquardt for BFGS, and losses relative to
    the target's mean square, so that units do not matter to it (``cost_scale="package"`` brings the package's
    rule back). Settings are those of `rediscover.search.evolution.evolution.Settings`, PySR 1.5's own but for the unary
    operators, of which PySR's default has none. The budget counts every evaluation of an expression on data,
    those with derivatives and on batches too. A budget too small for 10 rounds makes fewer populations, then
    shorter phases.

    Attributes
    ----------
    model_selection : 'best', 'accuracy' or 'score', as in PySR; losses that rounding alone explains are equal.

    References
    ----------
    M. Cranmer, Interpretable Machine Learning for Science with PySR and SymbolicRegression.jl,
    arXiv:2305.01582
    """

    unary_operators: str = "sin,cos,tan,exp,log"
    model_selection: str = "best"
    name: ClassVar[str] = "regularised_evolution"
    reference: ClassVar[str] = "after Cranmer, SymbolicRegression.jl 1.11 (2023), arXiv:2305.01582"
    searches: ClassVar[bool] = True
    requires: ClassVar[tuple[str, ...]] = ("numba",)

    def __post_init__(self):
        super().__post_init__()
        choose(np.ones(1), np.zeros(1), self.model_selection)
        try:
            self.check()
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None

    def search(self, task, *, budget, rng):
        evaluations = int(budget.evaluations)
        found = evolution.search(
            task.X, task.y, self.within(evaluations), evaluations=evaluations, seed=int(rng.integers(2**31))
        )
        if not len(found.losses):
            raise ValueError(f"{task.output}: no expression was defined on all rows; the budget is too small")
        losses, sizes, scale = found.losses, found.front.sizes, size_of(task.y)
        texts = to_text(found.front, task.inputs)
        best = choose(losses, scores_of(losses, sizes), self.model_selection)
        notes = {"steps": found.steps, "rounds": found.rounds}
        return [
            Candidate(
                {task.output: texts[i]}, float(losses[i] * scale * scale), int(sizes[i]), found.evaluations, notes
            )
            for i in sorted(range(len(texts)), key=lambda i: (i != best, losses[i]))
        ]

    def within(self, evaluations: int) -> "RegularisedEvolution":
        """The same with as many populations, then as long phases, as leave time for `ROUNDS` rounds."""
        steps = -(-self.population_size // self.tournament_selection_n)
        phases = evaluations // (ROUNDS * steps * self.ncycles_per_iteration)
        populations = max(1, min(self.populations, phases))
        cycles = max(1, min(self.ncycles_per_iteration, evaluations // (ROUNDS * steps * populations)))
        return dataclasses.replace(self, populations=populations, ncycles_per_iteration=cycles)
