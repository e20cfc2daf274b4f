"""AFP and AFP-FE: genetic programming with survival by age and fitness."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..numerics.arrays import size_of
from ..search.evolution import age_fitness
from ..search.programs.programs import losses, to_text
from . import Candidate
from .tables import Tabular

RELEASED: dict[str, Any] = {
    "population_size": 500,
    "operators": "+,-,*,/",
    "max_length": 20,
    "survival": "tournament",
    "climbs": False,
    "predictors": False,
}


@dataclass(frozen=True)
class Afp(Tabular):
    """Survivors are those that no younger program beats; the archive of the best of each size is returned.

    Our own code after a description of ellyn. Other than there, operators are not protected, and it computes in
    double precision. 'as_described' trains on the first 80 per cent of the rows and orders the archive by its
    error on the rest; losses are relative to the mean square of the target. 'as_released' is what the
    repository of SRSD runs, because names in its configuration go unread: tournaments instead of age, only
    + - * /, no hill climbing, no fitness estimation, losses in the target's unit, so that a tiny target is
    "solved" by any small constant. Then `afp` and `afp_fe` are the same search and draw the same numbers.

    Attributes
    ----------
    variant : 'as_described' or 'as_released', which replaces the other settings but the threshold.
    population_size : reduced to a fortieth of the budget where that is less, which leaves 20 generations.
    operators, max_length : comma-separated; tokens.
    stop_threshold : loss that ends the search.

    References
    ----------
    M. Schmidt and H. Lipson, Age-fitness Pareto optimization, GPTP VIII (2010)
    """

    variant: str = "as_described"
    population_size: int = 1000
    operators: str = "+,-,*,/,exp,log,square,cube,sqrt,sin,cos"
    max_length: int = 64
    stop_threshold: float = 1e-6
    name: ClassVar[str] = "afp"
    reference: ClassVar[str] = "after Schmidt and Lipson, Age-fitness Pareto optimization (2010)"
    searches: ClassVar[bool] = True
    requires: ClassVar[tuple[str, ...]] = ("numba",)
    predictors: ClassVar[bool] = False

    def __post_init__(self):
        super().__post_init__()
        if self.variant not in ("as_described", "as_released"):
            raise ValueError(f"{self.name}: variant is 'as_described' or 'as_released', got {self.variant!r}")
        try:
            self.chosen(10**9).check()
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None

    def chosen(self, evaluations: int) -> age_fitness.Settings:
        """Settings of the search within a budget."""
        own: dict[str, Any] = {name: getattr(self, name) for name in ("population_size", "operators", "max_length")}
        settings = own | {"predictors": self.predictors} if self.variant == "as_described" else RELEASED
        most = max(2, evaluations // 40)
        limited = settings | {"population_size": min(settings["population_size"], most)}
        start = min(20, limited["max_length"])
        return age_fitness.Settings(**limited, max_length_start=start, stop_threshold=self.stop_threshold)

    def search(self, task, *, budget, rng):
        described, rows = self.variant == "as_described", len(task.y)
        split = max(1, int(0.8 * rows)) if described and rows >= 5 else rows
        X, y, evaluations = task.X[:split], task.y[:split], int(budget.evaluations)
        found = age_fitness.search(
            X, y, self.chosen(evaluations), evaluations=evaluations, seed=int(rng.integers(2**31)), relative=described
        )
        if not len(found.losses):
            limit = "" if described else f", or none had a loss below {age_fitness.WORST:g}"
            raise ValueError(f"{task.output}: no expression was defined on all rows{limit}")
        scale = size_of(y) if described else 1.0
        judged = losses(found.front, task.X[split:], task.y[split:], 1 / scale) if split < rows else found.losses
        texts = to_text(found.front, task.inputs)
        return [
            Candidate(
                {task.output: texts[i]},
                float(found.losses[i] * scale * scale),
                int(found.front.sizes[i]),
                found.evaluations,
                {"generations": found.rounds},
            )
            for i in np.argsort(judged, kind="stable")
        ]


@dataclass(frozen=True)
class AfpFe(Afp):
    """`afp` with losses estimated on 10 rows that evolve beside the programs.

    An evaluation on some rows counts as that share of one of the budget. 'as_released' is `afp` as released.

    References
    ----------
    M. Schmidt and H. Lipson, Coevolution of fitness predictors, IEEE Trans. Evol. Comput. 12 (2008) 736
    """

    name: ClassVar[str] = "afp_fe"
    reference: ClassVar[str] = "after Schmidt and Lipson, Coevolution of fitness predictors (2008)"
    predictors: ClassVar[bool] = True
