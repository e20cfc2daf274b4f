"""What the released wrapper of the end-to-end transformer does to rows and to predictions, shown on the truth.

The wrapper keeps 10,000 rows at most. The model takes 200 points at a time, so rows come in bags, and every bag
adds candidates of its own. Predictions of n states form an array (n_states, n_rows), which the evaluation then
reshapes to (n_rows, n_states) where it should transpose.
"""

import math
from typing import NamedTuple

import numpy as np

from ...metrics import regression

MOST_ROWS, BAG, SAMPLES = 10_000, 200, 10  # rows, rows of a bag, candidates of a bag


class Use(NamedTuple):
    """How a table is used.

    Attributes
    ----------
    rows : that are kept.
    bags : that are decoded.
    candidates : that are written, all bags together.
    seen : largest share of the table's rows that one candidate was written from.
    """

    rows: int
    bags: int
    candidates: int
    seen: float


def used(rows: int) -> Use:
    """Rows, bags and candidates of a table; no candidate is written from more than one bag.

    >>> used(120), used(50_000)
    (Use(rows=120, bags=1, candidates=10, seen=1.0), Use(rows=10000, bags=50, candidates=500, seen=0.004))
    """
    if rows < 1:
        raise ValueError(f"a table has at least 1 row, got {rows}")
    kept = min(rows, MOST_ROWS)
    bags = math.ceil(kept / BAG)
    return Use(kept, bags, SAMPLES * bags, min(kept, BAG) / rows)


def scrambled(prediction: np.ndarray) -> np.ndarray:
    """What a prediction of shape (n_rows, n_states) becomes on its way through the wrapper and the evaluation.

    >>> scrambled(np.array([[1, 10], [2, 20], [3, 30]])).tolist()
    [[1, 2], [3, 10], [20, 30]]
    """
    return np.ascontiguousarray(prediction.T).reshape(prediction.shape)


def truth_scrambled(problem, seed: int = 0) -> float:
    """NMSE as published of the true derivatives at the test times after `scrambled`: 0 would be no defect.

    Parameters
    ----------
    problem : ODE
    seed : of the noise
    """
    true = problem.data(seed)["test"].y
    true = true.reshape(len(true), -1)
    return regression.nmse_power(scrambled(true), true)
