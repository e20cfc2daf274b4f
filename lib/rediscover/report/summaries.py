"""From run-level scores to the numbers of a table: means, medians, shares and their bootstrap intervals."""

import math
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from .scores import by_seed

DRAWN = 1 << 20  # values of a bootstrap that are in memory at a time


def sr2_percent(r2: pd.Series) -> pd.Series:
    """What each run adds to SR2 (`metrics.trajectories.sr2`), in per cent: nothing where R2 is negative or missing.

    Parameters
    ----------
    r2 : Series
        One value a run.

    Returns
    -------
    Series
        From 0 to 100, alike in index.

    Examples
    --------
    >>> sr2_percent(pd.Series([0.5, -3.0, np.nan, -np.inf])).tolist()
    [50.0, 0.0, 0.0, 0.0]
    """
    return 100 * r2.replace([np.inf, -np.inf], np.nan).clip(lower=0).fillna(0.0)


def known_numbers(rows: pd.DataFrame, column: str) -> pd.Series:
    """The numbers of a column: without what is none, and empty where there is no such column.

    Parameters
    ----------
    rows : DataFrame
    column : str

    Returns
    -------
    Series of float

    Examples
    --------
    >>> rows = pd.DataFrame({"seconds": ["1.5", None, 2]})
    >>> known_numbers(rows, "seconds").tolist(), known_numbers(rows, "evaluations").tolist()
    ([1.5, 2.0], [])
    """
    found = rows[column] if column in rows else pd.Series(dtype=float)
    return pd.to_numeric(found, errors="coerce").dropna().astype(float)


def bootstrap(
    values: ArrayLike,
    statistic: Callable = np.mean,
    clusters: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
    *,
    level: float = 0.95,
) -> tuple[float, float, float]:
    """Percentile bootstrap interval of a statistic, drawing rows or whole clusters of rows.

    Rows of one paper, or runs on one problem, are not independent; with `clusters` the draw is over the
    distinct labels, and every row of a drawn cluster comes along as often as the cluster was drawn.

    Parameters
    ----------
    values : array_like, shape (n_rows,) or (n_rows, n_columns)
        Rows are what is drawn; columns stay together, so that a statistic of pairs can be given.
    statistic : callable
        Array of drawn rows -> float. NaN in `values` reaches it: choose ``np.nanmean`` to leave them out.
    clusters : array_like, shape (n_rows,), optional
        A label per row.
    n : int
        Number of draws.
    seed : int
    level : float in (0, 1)
        Coverage of the interval.

    Returns
    -------
    (estimate, low, high)
        The bounds are NaN if the statistic is NaN in any draw.

    Raises
    ------
    ValueError
        If there are no rows, or not one cluster label per row.

    References
    ----------
    Davison and Hinkley, Bootstrap Methods and their Application (1997), sections 3.8 and 5.3.

    Examples
    --------
    >>> bootstrap([3.0, 3.0, 3.0])
    (3.0, 3.0, 3.0)
    >>> bootstrap([0.0, 0.0, 1.0, 1.0], clusters=["a", "a", "b", "b"])  # only 0, 1/2 and 1 can be drawn
    (0.5, 0.0, 1.0)
    """
    values = np.asarray(values, float)
    if len(values) == 0:
        raise ValueError("bootstrap: no values")
    rng = np.random.default_rng(seed)
    if clusters is None and statistic is np.mean and values.ndim == 1:
        drawn = means_of_draws(values, n, rng)
    elif clusters is None:
        drawn = np.array([statistic(values[rng.integers(len(values), size=len(values))]) for _ in range(n)])
    else:
        labels = pd.factorize(np.asarray(clusters), use_na_sentinel=False)[0]
        if len(labels) != len(values):
            raise ValueError(f"bootstrap: {len(values)} values but {len(labels)} cluster labels")
        order = np.argsort(labels, kind="stable")
        rows = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
        chosen = (rng.integers(len(rows), size=len(rows)) for _ in range(n))
        drawn = np.array([statistic(values[np.concatenate([rows[i] for i in some])]) for some in chosen])
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(statistic(values)), float(low), float(high)


def means_of_draws(values: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """The means of `n` draws, to the bit those of one after the other, 3 to 45 times as fast (552 to 35 values).

    Parameters
    ----------
    values : ndarray, shape (m,)
    n : int
        Number of draws, each of m values with repetition.
    rng : Generator

    Returns
    -------
    ndarray, shape (n,)
    """
    some = max(1, DRAWN // len(values))
    sizes = [min(some, n - first) for first in range(0, n, some)]
    draws = (values[rng.integers(len(values), size=(size, len(values)))] for size in sizes)
    return np.concatenate([draw.mean(axis=1) for draw in draws])


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


def share(values: ArrayLike, success: float = 1) -> dict[str, float]:
    """The mean of single outcomes, 0 or `success`, with Wilson's 95 % interval; NaN does not count.

    A bootstrap of 30 ones in 30 has no width, Wilson's interval has.

    Parameters
    ----------
    values : array_like, shape (n,)
    success : float
        1, or 100 for per cent.

    Returns
    -------
    dict with value, low, high, n, n_finite, as `interval`

    Raises
    ------
    ValueError
        For any other value.

    Examples
    --------
    >>> {name: round(number, 3) for name, number in share([1, 1, 1, 1]).items()}  # 4 / (4 + 1.96**2)
    {'value': 1.0, 'low': 0.51, 'high': 1.0, 'n': 4, 'n_finite': 4}
    """
    known = np.asarray(values, float)
    known = known[~np.isnan(known)]
    if not np.isin(known, (0, success)).all():
        raise ValueError(f"share: an outcome is 0 or {success:g}")
    counts = {"n": len(known), "n_finite": len(known)}
    if not len(known):
        return {"value": math.nan, "low": math.nan, "high": math.nan, **counts}
    low, high = wilson((known > 0).sum(), len(known))
    return {"value": float(known.mean()), "low": success * low, "high": success * high, **counts}


def summary(
    frame: pd.DataFrame,
    by: list[str],
    columns: list[str],
    statistic: Callable = np.mean,
    *,
    shares: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """`interval` of several score columns for each group, tidy; of those in `shares`, `share`.

    Parameters
    ----------
    frame : DataFrame
        One row per run, with the columns `by` and `columns`.
    by : list of str
    columns : list of str
        The scores.
    statistic : callable
        As for `interval`.
    shares : dict of str
        Score that is an outcome -> its value for a success. Of these the share is taken, whatever the statistic.

    Returns
    -------
    DataFrame with the columns of `by`, metric, value, low, high, n, n_finite; groups in order of appearance
    """
    rows = []
    for keys, group in frame.groupby(by, sort=False):
        for column in columns:
            values, success = group[column], (shares or {}).get(column)
            found = interval(values, statistic) if success is None else share(values, success)
            rows.append(dict(zip(by, keys, strict=True)) | {"metric": column} | found)
    return pd.DataFrame(rows)


def wilson(count: float, n: int) -> tuple[float, float]:
    """Ends of Wilson's 95 % interval of a share, which is in it: rounding may not leave 14 of 14 above their interval.

    Parameters
    ----------
    count : float
        In [0, n]; whole, but for a mean of several runs.
    n : int
        At least 1.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> [round(end, 3) for end in wilson(0, 24)], wilson(14, 14)[1]  # 1.96**2 / (24 + 1.96**2)
    ([0.0, 0.138], 1.0)
    """
    low, high = proportion_confint(count, n, method="wilson")
    return min(float(low), count / n), max(float(high), count / n)


def paired_shares(ours: ArrayLike, theirs: ArrayLike) -> dict[str, float]:
    """Problems that one of two methods alone solves, the difference of their shares, and McNemar's exact p.

    Parameters
    ----------
    ours, theirs : array_like of bool, shape (n,)
        Whether each of the same problems is solved.

    Returns
    -------
    dict with ours_alone, theirs_alone, difference, low and high (of its 95 % interval), p

    References
    ----------
    Bonett and Price, Journal of Educational and Behavioral Statistics 37 (2012), 479: one problem is added to each of
    the two counts, so that counts of zero do not make the interval a point.

    Examples
    --------
    >>> {key: round(value, 3) for key, value in paired_shares([True] * 50, [True] * 50).items()}  # 1.96 * sqrt(2) / 52
    {'ours_alone': 0, 'theirs_alone': 0, 'difference': 0.0, 'low': -0.053, 'high': 0.053, 'p': 1.0}
    """
    from statsmodels.stats.contingency_tables import mcnemar

    ours, theirs = np.asarray(ours, bool), np.asarray(theirs, bool)
    n, alone = len(ours), [int((ours & ~theirs).sum()), int((theirs & ~ours).sum())]
    more, fewer = ((count + 1) / (n + 2) for count in alone)
    half = float(norm.ppf(0.975)) * math.sqrt((more + fewer - (more - fewer) ** 2) / (n + 2))
    counts = {"ours_alone": alone[0], "theirs_alone": alone[1], "difference": (alone[0] - alone[1]) / n}
    ends = {"low": max(more - fewer - half, -1.0), "high": min(more - fewer + half, 1.0)}
    return counts | ends | {"p": float(mcnemar([[0, alone[0]], [alone[1], 0]], exact=True).pvalue)}


def next_share(shares: ArrayLike, n: int) -> dict[str, float]:
    """Mean of shares of the same problems, one for each run, with Wilson's 95 % interval of that many of `n`.

    Parameters
    ----------
    shares : array_like, shape (n_runs,)
        In [0, 1].
    n : int
        Problems.

    Returns
    -------
    dict with value, low, high

    Examples
    --------
    >>> {key: round(value, 3) for key, value in next_share([0.0], 24).items()}  # 1.96**2 / (24 + 1.96**2)
    {'value': 0.0, 'low': 0.0, 'high': 0.138}
    """
    mean = float(np.asarray(shares, float).mean())
    low, high = wilson(mean * n, n)
    return {"value": mean, "low": low, "high": high}


def of_runs(values: pd.Series, seeds: pd.Series, what: str, *, score: str, factor: float = 1) -> dict:
    """A cell of a method with chance, as `ledger.compare` takes it, by the rule ``seeds``.

    Values that are not finite are counted, not averaged, as in `interval`.

    Parameters
    ----------
    values : Series of float, one for each problem and seed
    seeds : Series of the same index
    what : the problems, in the plural
    score : name in scores.yaml, which states the scale
    factor : by which all is multiplied, such as 100 for percent

    Returns
    -------
    dict with value (mean over the seeds' means), reason, parameters (`scores.by_seed`)

    Examples
    --------
    >>> cell = of_runs(pd.Series([1.0, 3.0, 2.0, math.inf]), pd.Series([0, 0, 1, 1]), "laws", score="nmse_release")
    >>> cell["value"], cell["reason"], cell["parameters"]["values"], cell["parameters"]["n"]
    (2.0, 'mean over 3 of 4 laws', [2.0, 2.0], 2)
    """
    known = values[values.notna()]
    finite = known.where(np.isfinite(known))
    means, counts = finite.groupby(seeds).mean(), finite.groupby(seeds).count()
    nothing = math.inf if len(known) else math.nan
    return {
        "value": float(factor * means.mean()) if means.notna().any() else nothing,
        "reason": f"mean over {finite.count()} of {len(known)} {what}",
        "parameters": by_seed(score, means, counts.max() if len(counts) else 0, factor),
    }
