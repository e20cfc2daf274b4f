"""Do two raters agree, do two methods differ, and how sure is that: coefficients, intervals and tests.

Thin wrappers around scipy, scikit-learn and statsmodels where they have the statistic; what is added is one
convention for missing values, effect sizes beside p values, and a bootstrap that draws whole clusters.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
import scipy.stats


def bootstrap(
    values,
    statistic: Callable = np.mean,
    clusters=None,
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
    if clusters is None:
        draws = (rng.integers(len(values), size=len(values)) for _ in range(n))
    else:
        labels = pd.factorize(np.asarray(clusters), use_na_sentinel=False)[0]
        if len(labels) != len(values):
            raise ValueError(f"bootstrap: {len(values)} values but {len(labels)} cluster labels")
        order = np.argsort(labels, kind="stable")
        rows = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
        draws = (np.concatenate([rows[i] for i in rng.integers(len(rows), size=len(rows))]) for _ in range(n))
    drawn = np.array([statistic(values[rows]) for rows in draws])
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(statistic(values)), float(low), float(high)


def paired_wilcoxon(a, b, zeros: str = "wilcox", alternative: str = "two-sided") -> pd.Series:
    """Wilcoxon's signed-rank test of paired scores, with its effect size.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Scores of two methods on the same items. Two equal infinities are an equal pair.
    zeros : 'wilcox' (equal pairs are left out), 'pratt' (they are ranked, then left out) or 'zsplit' (their
        ranks are split between the signs)
    alternative : 'two-sided', 'less' or 'greater'
        ``'greater'``: `a` tends to be larger than `b`.

    Returns
    -------
    Series with
        n_pairs, n_zeros (equal pairs), statistic (sum of positive ranks for a one-sided test, the smaller of
        the two sums for a two-sided one), p, effect (matched-pairs rank-biserial correlation in [-1, 1],
        positive where `a` is larger: (R+ - R-) / (R+ + R-)), median (of a - b), zeros, alternative. If all
        pairs are equal there is nothing to test: p = 1, effect = 0.

    Raises
    ------
    ValueError
        If the lengths differ, there are no pairs, or any value is NaN: what a missing score is worth has to
        be decided before.

    References
    ----------
    Wilcoxon, Biometrics Bulletin 1 (1945); Kerby, The simple difference formula (2014).

    Examples
    --------
    >>> paired_wilcoxon([1, 2, 3, 4], [1, 1, 1, 1])[["n_pairs", "n_zeros", "effect"]].tolist()
    [4, 1, 1.0]
    """
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.ndim != 1 or a.shape != b.shape or not len(a):
        raise ValueError(
            f"paired_wilcoxon: two equally long vectors are needed, got shapes {a.shape} and {b.shape}"
        )
    if np.isnan(a).any() or np.isnan(b).any():
        raise ValueError("paired_wilcoxon: NaN among the scores; decide first what a missing score is worth")
    with np.errstate(invalid="ignore"):
        difference = np.where(a == b, 0.0, a - b)
    n_zeros = int((difference == 0).sum())
    if n_zeros == len(difference):
        statistic, p, effect = 0.0, 1.0, 0.0
    else:
        statistic, p = scipy.stats.wilcoxon(difference, zero_method=zeros, alternative=alternative)
        kept = difference[difference != 0] if zeros == "wilcox" else difference
        ranks = scipy.stats.rankdata(np.abs(kept))
        positive, negative = ranks[kept > 0].sum(), ranks[kept < 0].sum()
        effect = (positive - negative) / (positive + negative)
    return pd.Series(
        {
            "n_pairs": len(difference),
            "n_zeros": n_zeros,
            "statistic": float(statistic),
            "p": float(p),
            "effect": float(effect),
            "median": float(np.median(difference)),
            "zeros": zeros,
            "alternative": alternative,
        },
        dtype=object,
    )


def holm(pvalues):
    """P values corrected for the size of their family, by Holm's step-down rule.

    The i-th smallest of m values becomes the largest of ``(m - k + 1) * p_k`` over k <= i, at most 1.

    Parameters
    ----------
    pvalues : array_like or Series, shape (m,)
        NaN (a test that could not be done) stays NaN and does not count as a member of the family.

    Returns
    -------
    ndarray, or Series with the same index, shape (m,)

    Raises
    ------
    ValueError
        If a value lies outside [0, 1].

    References
    ----------
    Holm, Scandinavian Journal of Statistics 6 (1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(pvalues, float)
    known = ~np.isnan(p)
    if ((p[known] < 0) | (p[known] > 1)).any():
        raise ValueError("holm: p values lie between 0 and 1")
    order = np.flatnonzero(known)[np.argsort(p[known], kind="stable")]
    corrected = np.full(p.shape, np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1.0)
    return pd.Series(corrected, index=pvalues.index) if isinstance(pvalues, pd.Series) else corrected
