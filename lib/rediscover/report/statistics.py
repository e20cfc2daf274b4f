"""Do two raters agree, do two methods differ, and how sure is that: coefficients, intervals and tests.

Thin wrappers around scipy, scikit-learn and statsmodels where they have the statistic; what is added is one
convention for missing values, effect sizes beside p values, and a bootstrap that draws whole clusters.
"""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import scipy.stats
from numpy.typing import ArrayLike

from ..metrics import metric

DRAWN = 1 << 20  # values of a bootstrap that are in memory at a time


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


def paired_wilcoxon(a: ArrayLike, b: ArrayLike, zeros: str = "wilcox", alternative: str = "two-sided") -> pd.Series:
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
        raise ValueError(f"paired_wilcoxon: two equally long vectors are needed, got shapes {a.shape} and {b.shape}")
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


def holm(pvalues: ArrayLike | pd.Series) -> np.ndarray | pd.Series:
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


# ---- agreement of two or more raters


@metric("higher", lower=-1.0, upper=1.0)
def pearson(a: ArrayLike, b: ArrayLike) -> float:
    """Pearson's linear correlation of two vectors of scores.

    Pairs with a NaN are left out, as in all coefficients here; NaN if fewer than two pairs stay or a side is
    constant.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Scores of the same items.

    Returns
    -------
    float
        In [-1, 1], or NaN.

    Examples
    --------
    >>> round(pearson([1, 2, 3], [2, 4, 6]), 9)
    1.0
    """
    return _correlation(scipy.stats.pearsonr, a, b)


@metric("higher", lower=-1.0, upper=1.0)
def spearman(a: ArrayLike, b: ArrayLike) -> float:
    """Spearman's rank correlation, ties at their mean rank; missing values as in `pearson`.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Scores of the same items.

    Returns
    -------
    float
        In [-1, 1], or NaN.

    Examples
    --------
    >>> spearman([1, 2, 3], [1, 100, 50])
    0.5
    """
    return _correlation(scipy.stats.spearmanr, a, b)


@metric("higher", lower=-1.0, upper=1.0)
def kendall_tau(a: ArrayLike, b: ArrayLike) -> float:
    """Kendall's tau-b, which corrects for ties; missing values as in `pearson`.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Scores of the same items.

    Returns
    -------
    float
        In [-1, 1], or NaN.

    Examples
    --------
    >>> round(kendall_tau([1, 2, 3], [1, 3, 2]), 6)  # two of three pairs in order, one not
    0.333333
    """
    return _correlation(scipy.stats.kendalltau, a, b)


def _correlation(function: Callable, a: ArrayLike, b: ArrayLike) -> float:
    a, b = _pairs(a, b)
    if len(a) < 2 or (a == a[0]).all() or (b == b[0]).all():
        return float("nan")
    return float(function(a, b).statistic)


def _pairs(a: ArrayLike, b: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"two equally long vectors of scores are needed, got shapes {a.shape} and {b.shape}")
    known = ~(np.isnan(a) | np.isnan(b))
    return a[known], b[known]


@metric("higher", lower=-1.0, upper=1.0)
def cohen_kappa(a: ArrayLike, b: ArrayLike, weights: str | None = None) -> float:
    """Cohen's kappa: agreement of two raters beyond what their own frequencies would give by chance.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Categories, for the weighted forms numbers on one scale; missing values as in `pearson`.
    weights : None, 'linear' or 'quadratic'
        How much a disagreement counts: all the same, or by its distance. Distances are between values (2 to 4
        is twice 2 to 3, whether or not anyone gave a 3).

    Returns
    -------
    float; NaN if there are no pairs or both raters gave one and the same category throughout

    References
    ----------
    Cohen, Educational and Psychological Measurement 20 (1960); Psychological Bulletin 70 (1968).

    Examples
    --------
    >>> cohen_kappa([1, 1, 2, 2], [1, 1, 2, 1])  # observed 3/4, by chance 1/2
    0.5
    """
    a, b = _pairs(a, b)
    values = np.unique([a, b])
    if len(values) < 2:
        return float("nan")
    distance = np.abs(values[:, None] - values[None, :])
    cost = {None: (distance > 0).astype(float), "linear": distance, "quadratic": distance**2}[weights]
    counts = np.zeros_like(cost)
    np.add.at(counts, (np.searchsorted(values, a), np.searchsorted(values, b)), 1)
    expected = np.outer(counts.sum(1), counts.sum(0)) / len(a)
    return float(1 - (cost * counts).sum() / (cost * expected).sum())


@metric("higher", lower=-1.0, upper=1.0)
def krippendorff_alpha(ratings: ArrayLike | list[ArrayLike], level: str = "ordinal") -> float:
    """Krippendorff's alpha: one minus observed over expected disagreement, for any number of raters.

    Parameters
    ----------
    ratings : array_like, shape (n_raters, n_items)
        NaN where a rater has not rated; items with fewer than two ratings do not count.
    level : 'nominal', 'ordinal' or 'interval'

    Returns
    -------
    float; NaN if there is nothing to compare or only one value occurs

    References
    ----------
    Krippendorff, Computing Krippendorff's alpha-reliability (2011).

    Examples
    --------
    >>> krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, 3]])
    1.0
    """
    ratings = np.asarray(ratings, float)
    if ratings.ndim != 2:
        raise ValueError(f"ratings must have shape (n_raters, n_items), got {ratings.shape}")
    values = np.unique(ratings[~np.isnan(ratings)])
    if len(values) < 2:
        return float("nan")
    counts = (ratings.T[:, :, None] == values).sum(1).astype(float)  # items x values
    counts = counts[counts.sum(1) >= 2]
    if not len(counts):
        return float("nan")
    raters = counts.sum(1)
    coincidences = (counts / (raters - 1)[:, None]).T @ counts - np.diag((counts / (raters - 1)[:, None]).sum(0))
    totals = coincidences.sum(0)
    distance = _distance(level, values, totals)
    expected = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    return float(1 - (coincidences * distance).sum() / (expected * distance).sum())


def _distance(level: str, values: np.ndarray, totals: np.ndarray) -> np.ndarray:
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "interval":
        return (values[:, None] - values[None, :]) ** 2
    if level != "ordinal":
        raise ValueError(f"level must be 'nominal', 'ordinal' or 'interval', got {level!r}")
    rank = np.cumsum(totals) - totals / 2  # between two values lie those between them and half of each
    return (rank[:, None] - rank[None, :]) ** 2


def agreement(a: ArrayLike, b: ArrayLike) -> pd.Series:
    """All coefficients of two raters on one scale at once, with the number of pairs.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Ratings of the same items on one scale.

    Returns
    -------
    Series: n, pearson, spearman, kendall, kappa, kappa_quadratic, alpha (ordinal)
    """
    return pd.Series(
        {
            "n": len(_pairs(a, b)[0]),
            "pearson": pearson(a, b),
            "spearman": spearman(a, b),
            "kendall": kendall_tau(a, b),
            "kappa": cohen_kappa(a, b),
            "kappa_quadratic": cohen_kappa(a, b, "quadratic"),
            "alpha": krippendorff_alpha([a, b]),
        }
    )


# ---- which rows belong together


def pair_by_position(a: pd.DataFrame, b: pd.DataFrame, keys: Iterable[str]) -> pd.DataFrame:
    """The i-th row of one table beside the i-th row of the other, whatever their keys say.

    This is what SciText2Eq's notebook does; the tables are in different orders, so scores of different
    equations meet. Columns get the suffixes ``_a`` and ``_b``; ``same`` says whether the keys agree.

    Parameters
    ----------
    a, b : DataFrame, of n rows each
    keys : list of str
        Columns of both tables.

    Returns
    -------
    DataFrame
        Of n rows.

    Raises
    ------
    ValueError
        If the tables are of different lengths.
    """
    if len(a) != len(b):
        raise ValueError(f"cannot pair {len(a)} rows with {len(b)} by position")
    a, b = a.reset_index(drop=True), b.reset_index(drop=True)
    same = (a[list(keys)] == b[list(keys)]).all(axis=1)
    return a.add_suffix("_a").join(b.add_suffix("_b")).assign(same=same)


def pair_by_key(a: pd.DataFrame, b: pd.DataFrame, keys: Iterable[str]) -> pd.DataFrame:
    """Rows of two tables that have the same keys, side by side; other columns get suffixes ``_a`` and ``_b``.

    Parameters
    ----------
    a, b : DataFrame
    keys : list of str
        Columns of both tables.

    Returns
    -------
    DataFrame

    Raises
    ------
    ValueError
        If a key occurs twice in a table or in one table only: a row would be counted twice or dropped in
        silence.

    Examples
    --------
    >>> judge = pd.DataFrame({"id": [1, 2], "score": [5, 3]})
    >>> human = pd.DataFrame({"id": [2, 1], "score": [4, 5]})
    >>> pair_by_key(judge, human, ["id"])[["score_a", "score_b"]].values.tolist()
    [[5, 5], [3, 4]]
    """
    keys = list(keys)
    for name, table in (("first", a), ("second", b)):
        if table.duplicated(keys).any():
            twice = table.loc[table.duplicated(keys), keys].iloc[0].to_dict()
            raise ValueError(f"the {name} table has the key {twice} more than once")
    joined = a.merge(b, how="outer", on=keys, suffixes=("_a", "_b"), indicator=True, sort=False)
    alone = joined[joined["_merge"] != "both"]
    if len(alone):
        raise ValueError(f"{len(alone)} keys are in one table only, such as {alone[keys].iloc[0].to_dict()}")
    return joined.drop(columns="_merge")


# ---- do groups differ


def kruskal_wallis(values: ArrayLike, groups: ArrayLike) -> pd.Series:
    """Kruskal and Wallis' rank test of equal location in several groups, with its effect size.

    Parameters
    ----------
    values, groups : array_like, shape (n,)
        A score and a label per item; a NaN score is refused.

    Returns
    -------
    Series: n, n_groups, statistic, p, effect (epsilon squared, ``H / (n - 1)``, in [0, 1])

    Raises
    ------
    ValueError
        For NaN scores or fewer than two groups.

    Examples
    --------
    >>> print(round(kruskal_wallis([1, 2, 3, 4, 5, 6], list("aaabbb")).statistic, 4))  # rank sums 6, 15
    3.8571
    """
    values, groups = np.asarray(values, float), np.asarray(groups)
    labels = np.unique(groups)
    if np.isnan(values).any() or len(labels) < 2:
        raise ValueError("kruskal_wallis: needs scores without NaN in at least two groups")
    if (values == values[0]).all():
        statistic, p = 0.0, 1.0
    else:
        statistic, p = scipy.stats.kruskal(*(values[groups == label] for label in labels))
    effect = statistic / (len(values) - 1)
    return pd.Series(
        {"n": len(values), "n_groups": len(labels), "statistic": float(statistic), "p": float(p), "effect": effect}
    )


def mixed_model(frame: pd.DataFrame, outcome: str, predictors: Iterable[str], group: str) -> pd.DataFrame:
    """Linear model of an outcome on standardised predictors with a random intercept per group.

    Coefficients are thus changes of the outcome per standard deviation of a predictor, the others held fixed:
    what separates the density of equations from their position in the paper and the length of context, which
    grow together.

    Parameters
    ----------
    frame : DataFrame, one row per item; NaN in a used column is refused
    outcome : column name
    predictors : column names
    group : column name, the cluster (a paper)

    Returns
    -------
    DataFrame indexed by predictor: estimate, low, high (95 %), p

    Raises
    ------
    ValueError
        If a used column holds NaN or a predictor is constant.
    """
    import statsmodels.api as sm

    predictors = list(predictors)
    used = frame[[outcome, *predictors]].astype(float)
    if used.isna().any().any():
        raise ValueError(f"mixed_model: NaN in {', '.join(used.columns[used.isna().any()])}")
    X = used[predictors]
    if (X.std() == 0).any():
        raise ValueError(f"mixed_model: {', '.join(X.columns[X.std() == 0])} is the same everywhere")
    design = sm.add_constant((X - X.mean()) / X.std())
    fitted = sm.MixedLM(used[outcome], design, groups=frame[group]).fit(reml=True)
    interval = fitted.conf_int().loc[predictors]
    return pd.DataFrame(
        {
            "estimate": fitted.fe_params[predictors],
            "low": interval[0],
            "high": interval[1],
            "p": fitted.pvalues[predictors],
        }
    )
