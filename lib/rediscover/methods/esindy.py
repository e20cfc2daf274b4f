"""ESINDy: the median of SINDy models on bootstrap samples, without terms that few of them have."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problems import Trajectories
from ..search.trajectories.sparse_regression import Equations, aggregate, dense, draws
from .sindy import ThresholdedRidge
from .sparse_dynamics import Prepared

N_MODELS = (10, 20, 50)
RATIOS = (0.5, 0.7, 0.9)
INCLUSIONS = (0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True)
class ESINDy(ThresholdedRidge):
    """ESINDy with the grid of the released code: SINDy's times 36 ways to aggregate.

    Bootstrap samples are drawn once per ratio; smaller ensembles are the first of the largest one.

    Attributes
    ----------
    n_models : sizes of the ensemble
    ratios : rows of a bootstrap sample over rows of the block
    inclusions : share of models that must have a term
    """

    name: ClassVar[str] = "esindy"
    reference: ClassVar[str] = "Fasel et al. 2022; MDBench 2025, Table A2"
    accepts: ClassVar[tuple[type, ...]] = (Trajectories,)

    n_models: tuple[int, ...] = N_MODELS
    ratios: tuple[float, ...] = RATIOS
    inclusions: tuple[float, ...] = INCLUSIONS

    def coefficients(self, sample, columns, threshold: float, alpha: float) -> np.ndarray:
        """One model: (n_targets, all columns)."""
        return dense(self.equations(sample, columns, threshold, alpha), sample.X.shape[1])

    def search(self, p: Prepared, rng: np.random.Generator) -> Iterator[tuple[dict[str, Any], Equations]]:
        rows = p.every_row("train")
        samples = {ratio: draws(rows, max(self.n_models), int(ratio * rows.n), rng) for ratio in self.ratios}
        for library, columns in p.usable(rows):
            for threshold, alpha, ratio in itertools.product(self.thresholds, self.alphas, self.ratios):
                models = np.array([self.coefficients(s, columns, threshold, alpha) for s in samples[ratio]])
                setting = {**library, "threshold": threshold, "alpha": alpha, "ratio": ratio}
                yield from ensembles(models, setting, self.n_models, self.inclusions)

    def refit(self, p: Prepared, setting: Mapping[str, Any], rng: np.random.Generator) -> Equations:
        rows = p.every_row("refit")
        samples = draws(rows, setting["n_models"], int(setting["ratio"] * rows.n), rng)
        own = p.columns(setting), setting["threshold"], setting["alpha"]
        return aggregate(np.array([self.coefficients(s, *own) for s in samples]), setting["inclusion"])


def ensembles(models: np.ndarray, setting, n_models, inclusions) -> Iterator[tuple[dict[str, Any], Equations]]:
    """Every ensemble size and inclusion threshold from one set of models."""
    for n, inclusion in itertools.product(n_models, inclusions):
        yield {**setting, "n_models": n, "inclusion": inclusion}, aggregate(models[:n], inclusion)
