"""Scales and bounds of scores, what the rule for seeds takes of a score, and what a row states of its seeds."""

import functools
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import ArrayLike

from . import prediction, rules


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


def of_seeds(rule: str, parameters: Mapping) -> dict[str, Any]:
    """What a row of the ledger states of the interval that its rule makes of seeds; nothing where it makes none.

    A cell of a power of ten and a complexity has two intervals: that of the power, as an exponent, is low and high,
    that of the complexity stands in the parameters. Where a seed gave a check mark or a failure there is neither.

    Parameters
    ----------
    rule : key of rules.yaml
    parameters : what the rule takes

    Returns
    -------
    dict with low, high (NaN without an interval) and, of cells, parameters (JSON)

    Examples
    --------
    >>> of_seeds("cell_seeds", {"values": ["1e-3 (9)"]})
    {'low': -3.0, 'high': -3.0, 'parameters': '{"values": ["1e-3 (9)"], "complexity": [9.0, 9.0]}'}
    >>> of_seeds("cell_seeds", {"values": ["found"]})
    {'low': nan, 'high': nan, 'parameters': '{"values": ["found"]}'}
    >>> of_seeds("count", {})
    {}
    """
    test = rules.rules()[rule]["test"]
    if test == "seeds":
        ends = prediction.interval(parameters)
        return {"low": ends["low"], "high": ends["high"]}
    if test != "cells":
        return {}
    stated = {name: value for name, value in parameters.items() if name != "complexity"}
    pairs = [prediction.pair(value) for value in parameters["values"]]
    if any(isinstance(one, str) for one in pairs):
        return {"low": math.nan, "high": math.nan, "parameters": json.dumps(stated)}
    power, size = prediction.of_pairs(pairs)
    stated["complexity"] = [float(f"{size[end]:.12g}") for end in ("low", "high")]
    return {"low": power["low"], "high": power["high"], "parameters": json.dumps(stated)}
