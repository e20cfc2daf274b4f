"""Scales and bounds of scores, and what the rule for seeds takes of a score."""

import functools
import math
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import ArrayLike


@functools.cache
def scores() -> dict[str, tuple]:
    """Score -> scale, lowest and highest value (None where it has no bound)."""
    return yaml.safe_load(Path(__file__).with_name("scores.yaml").read_text(encoding="utf-8"))


def by_seed(score: str, values: ArrayLike, n: int, factor: float = 1) -> dict[str, Any]:
    """Parameters of the rule ``seeds`` for a score of scores.yaml.

    Parameters
    ----------
    score : name in scores.yaml
    values : array_like, shape (n_seeds,)
        A mean over problems for each seed; not finite where no problem has a finite one.
    n : problems
    factor : by which values and bounds are multiplied, such as 100 for percent

    Returns
    -------
    dict with values, scale, bounds, n

    Examples
    --------
    >>> by_seed("solution_rate", [0.5, 0.25], 4, factor=100)
    {'values': [50.0, 25.0], 'scale': 'logit', 'bounds': [0, 100], 'n': 4}
    """
    scale, *ends = scores()[score]
    found = [float(f"{factor * value:.10g}") for value in np.asarray(values, float)]
    bounds = [None if end is None else factor * end for end in ends]
    return {"values": [v if math.isfinite(v) else None for v in found], "scale": scale, "bounds": bounds, "n": int(n)}
