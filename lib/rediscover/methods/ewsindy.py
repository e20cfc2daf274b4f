"""EWSINDy: the median of WSINDy models on bootstrap samples of the integrals."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..search.trajectories.sparse_regression import Equations, aggregate, dense, draws, fitted, sr3
from .esindy import INCLUSIONS, N_MODELS, RATIOS, ensembles
from .sparse_dynamics import Prepared
from .wsindy import WSINDy


@dataclass(frozen=True)
class EWSINDy(WSINDy):
    """EWSINDy with the grid of the released code: WSINDy's times 36 ways to aggregate.

    As released, the size of a bootstrap sample is a share of the number of x points, not of the integrals it
    is drawn from.

    Attributes
    ----------
    n_models, ratios, inclusions : as for ESINDy
    """

    name: ClassVar[str] = "ewsindy"
    reference: ClassVar[str] = "Fasel et al. 2022; MDBench 2025, Table A2"

    n_models: tuple[int, ...] = N_MODELS
    ratios: tuple[float, ...] = RATIOS
    inclusions: tuple[float, ...] = INCLUSIONS

    def models(self, samples, columns, thresholds) -> np.ndarray:
        """Coefficients, shape (n_models, n_thresholds, n_targets, all columns)."""
        return np.array(
            [
                [dense(fitted(s, chosen), s.X.shape[1]) for chosen in sr3(s, columns, thresholds, self.max_iter)]
                for s in samples
            ]
        )

    def search(self, p: Prepared, rng: np.random.Generator) -> Iterator[tuple[dict[str, Any], Equations]]:
        n_points = len(p.data.u)
        for n_boxes in self.boxes:
            rows = self.weak(p, "train", n_boxes, rng)
            for ratio in self.ratios:
                samples = draws(rows, max(self.n_models), int(ratio * n_points), rng)
                for library, columns in p.usable(rows):
                    try:
                        models = self.models(samples, columns, self.thresholds)
                    except np.linalg.LinAlgError:  # numerically indefinite, left out as in the release
                        continue
                    for i, threshold in enumerate(self.thresholds):
                        setting = {**library, "boxes": n_boxes, "threshold": threshold, "ratio": ratio}
                        yield from ensembles(models[:, i], setting, self.n_models, self.inclusions)

    def refit(self, p: Prepared, setting: Mapping[str, Any], rng: np.random.Generator) -> Equations:
        columns = p.columns(setting)
        rows = self.weak(p, "refit", setting["boxes"], rng, columns)
        samples = draws(rows, setting["n_models"], int(setting["ratio"] * len(p.data.u)), rng)
        models = self.models(samples, np.arange(len(columns)), [setting["threshold"]])
        return [(columns[support], w) for support, w in aggregate(models[:, 0], setting["inclusion"])]
