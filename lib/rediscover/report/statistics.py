"""Do two raters agree, do two methods or several groups differ: coefficients and tests.

Thin wrappers around scipy and statsmodels; what is added is one convention for missing values, and effect sizes beside
p values.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import scipy.optimize
import scipy.stats
from numpy.typing import ArrayLike
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests


def paired_wilcoxon(a: ArrayLike, b: ArrayLike, alternative: str = "two-sided") -> pd.Series:
    """Wilcoxon's signed-rank test of paired scores, with its effect size; equal pairs are left out.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Scores of two methods on the same items. Two equal infinities are an equal pair.
    alternative : 'two-sided', 'less' (a is lower) or 'greater'

    Returns
    -------
    Series
        n_pairs (all), n_zeros (equal ones), statistic, p (1 if all pairs are equal), effect (matched-pairs
        rank-biserial correlation, ``(R+ - R-) / (R+ + R-)``, in [-1, 1], positive if a is larger), median (of a - b).

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
    kept, statistic, p, effect = difference[difference != 0], 0.0, 1.0, 0.0
    if len(kept):
        statistic, p = scipy.stats.wilcoxon(difference, alternative=alternative)
        ranks = scipy.stats.rankdata(np.abs(kept))
        positive, negative = ranks[kept > 0].sum(), ranks[kept < 0].sum()
        effect = (positive - negative) / (positive + negative)
    found = {"n_pairs": len(difference), "n_zeros": len(difference) - len(kept), "statistic": float(statistic)}
    found |= {"p": float(p), "effect": float(effect), "median": float(np.median(difference))}
    return pd.Series(found, dtype=object)


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
    corrected = np.full(p.shape, np.nan)
    corrected[known] = multipletests(p[known], method="holm")[1] if known.any() else p[known]
    return pd.Series(corrected, index=pvalues.index) if isinstance(pvalues, pd.Series) else corrected


def detectable(spread: ArrayLike, tests: int = 1) -> Any:
    """The least effect that a two-sided test at 0.05 would find in four of five samples, by the normal approximation.

    It is ``(z(1 - 0.025 / tests) + z(0.8)) * spread``: that nothing was found says nothing against a smaller effect.
    Large effects have less spread than none, so they are found more often than this.

    Parameters
    ----------
    spread : array_like
        Standard deviation of the effect where there is none.
    tests : int
        Of the family, as the first step of Holm's rule counts them.

    Returns
    -------
    float or ndarray
        On the scale of the effect. Above its largest value, nothing would be found.

    References
    ----------
    Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 1.

    Examples
    --------
    >>> round(float(detectable(0.1)), 3), round(float(detectable(0.1, tests=10)), 3)  # 0.1 (1.960 + 0.842)
    (0.28, 0.365)
    """
    ends = scipy.stats.norm.ppf([1 - 0.025 / tests, 0.8])
    return ends.sum() * np.asarray(spread, float)


def detectable_groups(n: int, groups: int, tests: int = 1) -> float:
    """The same for Kruskal and Wallis' test of several groups, as epsilon squared, by the noncentral chi-squared law.

    Parameters
    ----------
    n, groups : int
        Items, and groups of them.
    tests : int
        Of the family.

    Returns
    -------
    float
        On the scale of `kruskal_wallis`' effect.

    Examples
    --------
    >>> round(detectable_groups(100, 2), 3)  # one degree of freedom: (1.960 + 0.842)**2 / 99
    0.079
    """
    freedom = groups - 1
    beyond = scipy.stats.chi2.isf(0.05 / tests, freedom)
    found = scipy.optimize.brentq(lambda apart: scipy.stats.ncx2.sf(beyond, freedom, apart) - 0.8, 1e-6, 1e3)
    return float(found / (n - 1))


# ---- agreement of two or more raters


def spearman(a: ArrayLike, b: ArrayLike) -> float:
    """Spearman's rank correlation, ties at their mean rank.

    Pairs with a NaN are left out, as in all coefficients here.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Scores of the same items.

    Returns
    -------
    float
        In [-1, 1]; NaN if fewer than two pairs stay or a side is constant.

    Examples
    --------
    >>> spearman([1, 2, 3], [1, 100, 50])
    0.5
    """
    return _correlation(scipy.stats.spearmanr, a, b)


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


def agreement(a: ArrayLike, b: ArrayLike) -> pd.Series:
    """All coefficients of two raters on one scale at once, with the number of pairs.

    Kendall's is tau-b. Cohen's kappa is the agreement beyond what the raters' own frequencies would give by chance: a
    disagreement counts alike however large, or by the square of its distance in value (2 to 4 is twice 2 to 3, whether
    or not anyone gave a 3).

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Ratings of the same items on one scale.

    Returns
    -------
    Series
        n, pearson, spearman, kendall, kappa, kappa_quadratic, alpha (`krippendorff_alpha`); NaN where a coefficient
        has nothing to compare.

    References
    ----------
    Cohen, Educational and Psychological Measurement 20 (1960); Psychological Bulletin 70 (1968).

    Examples
    --------
    >>> agreement([1, 1, 2, 2], [1, 1, 2, 1])["kappa"].item()  # observed 3/4, by chance 1/2
    0.5
    """
    kept = _pairs(a, b)
    values, codes = np.unique(kept, return_inverse=True)
    counts = np.zeros((len(values), len(values)))
    np.add.at(counts, tuple(codes.reshape(2, -1)), 1)
    rated = len(values) > 1
    return pd.Series(
        {
            "n": len(kept[0]),
            "pearson": _correlation(scipy.stats.pearsonr, a, b),
            "spearman": spearman(a, b),
            "kendall": _correlation(scipy.stats.kendalltau, a, b),
            "kappa": cohens_kappa(counts, return_results=False) if rated else np.nan,
            "kappa_quadratic": cohens_kappa(counts, values, False, "quadratic") if rated else np.nan,
            "alpha": krippendorff_alpha([a, b]),
        }
    )


def krippendorff_alpha(ratings: ArrayLike | list[ArrayLike]) -> float:
    """Krippendorff's alpha on an ordinal scale: one minus observed over expected disagreement of any number of raters.

    Parameters
    ----------
    ratings : array_like, shape (n_raters, n_items)
        NaN where a rater has not rated; items with fewer than two ratings do not count.

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
    counts = (ratings.T[:, :, None] == np.unique(ratings[~np.isnan(ratings)])).sum(1).astype(float)  # items x values
    counts = counts[counts.sum(1) >= 2]
    if np.count_nonzero(counts.sum(0)) < 2:
        return float("nan")
    shares = counts / (counts.sum(1) - 1)[:, None]
    coincidences = shares.T @ counts - np.diag(shares.sum(0))
    totals = coincidences.sum(0)
    rank = np.cumsum(totals) - totals / 2  # between two values lie those between them and half of each
    distance = (rank[:, None] - rank[None, :]) ** 2
    expected = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    return float(1 - (coincidences * distance).sum() / (expected * distance).sum())


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
