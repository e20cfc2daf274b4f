"""From run-level scores to the numbers of a table: means, medians, shares and their intervals."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .statistics import bootstrap


def interval(values: ArrayLike, statistic: Callable = np.mean, seed: int = 0) -> dict[str, float]:
    """A statistic with its 95 % bootstrap interval, over problems.

    Infinite values (a prediction that is not finite somewhere) are counted, not averaged: a mean is over the
    finite ones, and ``n`` beside ``n_finite`` says how many there were. A median takes them as what they are. NaN
    means that the metric does not apply (failed runs have the worst value instead, see `scores.table`) and does
    not count.

    Parameters
    ----------
    values : array_like, shape (n,)
    statistic : callable
        ``numpy.mean``, ``numpy.median`` or another function of a vector.
    seed : int
        Of the bootstrap.

    Returns
    -------
    dict with value, low, high, n, n_finite

    Examples
    --------
    >>> interval([1.0, 1.0, math.inf]) == {"value": 1.0, "low": 1.0, "high": 1.0, "n": 3, "n_finite": 2}
    True
    """
    known = np.asarray(values, float)
    known = known[~np.isnan(known)]
    finite = known[np.isfinite(known)]
    counts = {"n": len(known), "n_finite": len(finite)}
    used = known if statistic is np.median else finite
    if not len(used):
        nothing = math.inf if len(known) else math.nan
        return {"value": nothing, "low": nothing, "high": nothing, **counts}
    if statistic is np.median:  # inf - inf inside a quantile is NaN: rank first, interpolate never
        used = np.sort(used)
        rng = np.random.default_rng(seed)
        draws = np.sort(rng.integers(len(used), size=(2000, len(used))), axis=1)
        middles = np.sort(used[draws[:, (len(used) - 1) // 2]])
        low, high = middles[[49, 1949]]
        return {"value": used[(len(used) - 1) // 2], "low": low, "high": high, **counts}
    value, low, high = bootstrap(used, statistic, seed=seed)
    return {"value": value, "low": low, "high": high, **counts}


def summary(frame: pd.DataFrame, by: list[str], columns: list[str], statistic: Callable = np.mean) -> pd.DataFrame:
    """`interval` of several score columns for each group, tidy.

    Parameters
    ----------
    frame : DataFrame
        One row per run, with the columns `by` and `columns`.
    by : list of str
    columns : list of str
        The scores.
    statistic : callable
        As for `interval`.

    Returns
    -------
    DataFrame with the columns of `by`, metric, value, low, high, n, n_finite; groups in order of appearance
    """
    rows = []
    for keys, group in frame.groupby(by, sort=False):
        for column in columns:
            rows.append(dict(zip(by, keys, strict=True)) | {"metric": column} | interval(group[column], statistic))
    return pd.DataFrame(rows)


def spread(tidy: pd.DataFrame, index: list[str], columns: str = "metric", digits: int = 2) -> pd.DataFrame:
    """A tidy summary as a table of texts ``value [low, high]``.

    Parameters
    ----------
    tidy : DataFrame
        As `summary` returns it.
    index : list of str
        Columns that name the rows.
    columns : str
        The column that names the columns.
    digits : int
        Significant digits.

    Returns
    -------
    DataFrame of str
    """
    from .tables import number

    text = tidy.assign(
        cell=[
            f"{number(float(v), digits)} [{number(float(lo), digits)}, {number(float(hi), digits)}]"
            for v, lo, hi in zip(tidy["value"], tidy["low"], tidy["high"], strict=True)
        ]
    )
    wide = text.pivot(index=index, columns=columns, values="cell")
    order = pd.MultiIndex.from_frame(tidy[index].drop_duplicates()) if len(index) > 1 else tidy[index[0]].unique()
    return wide.loc[order, list(tidy[columns].unique())]
