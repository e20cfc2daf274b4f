"""The cells of a claim, and the tests that decide them: no difference of two means is a cell.

A cell goes as claimed, against the claim, or neither way because chance explains it. It is made by a test over problems
(`by_tests`), by an interval (`by_intervals`), or by a count in which nothing is random (`by_counts`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.stats

from ..runs.schema import CLAIM_TEST, check
from .statistics import holm, paired_wilcoxon

SIGNIFICANT = 0.05
ROUNDING = 1e-9  # relative: a pair that differs by less is one number computed in two ways


class Cell(NamedTuple):
    """One comparison of a claim.

    Attributes
    ----------
    goes : True as claimed, False against it, None within chance or not run here
    by : what it rests on: 'test', 'interval' or 'count'; 'not run' where a rival is missing
    method : whose cell it is, as the paper prints it; empty where it is of none
    """

    goes: bool | None
    by: str
    method: str = ""


def by_tests(tests: pd.DataFrame, sign: int = 1) -> list[Cell]:
    """A cell for each test of a family: its direction where the p value corrected by Holm is below 0.05.

    Parameters
    ----------
    tests : DataFrame
        From `family`.
    sign : 1 if the claim says that a is larger, -1 if smaller

    Examples
    --------
    >>> tests = family([compare([3, 4, 5, 6, 7, 8], [1] * 6, ("x", "y"), method="x")])
    >>> by_tests(tests), by_tests(tests, -1)
    ([Cell(goes=True, by='test', method='x')], [Cell(goes=False, by='test', method='x')])
    """
    return [
        Cell(bool(sign * row.effect > 0) if row.p_holm < SIGNIFICANT else None, "test", row.method)
        for row in tests.itertuples()
    ]


def by_intervals(rows: pd.DataFrame, value: float = 0.0, sign: int = 1, *, named: bool = False) -> list[Cell]:
    """A cell for each 95 % interval: the side of `value` on which it lies.

    Parameters
    ----------
    rows : DataFrame
        Columns low and high; index: of methods, if `named`.
    value : float
    sign : 1 if the claim says above, -1 if below

    Examples
    --------
    >>> rows = pd.DataFrame({"low": [0.1, -0.1], "high": [0.3, 0.1]})
    >>> [cell.goes for cell in by_intervals(rows)], [cell.goes for cell in by_intervals(rows, sign=-1)]
    ([True, None], [False, None])
    """
    ways = [True if row.low > value else False if row.high < value else None for row in rows.itertuples()]
    goes = [way if way is None else way == (sign > 0) for way in ways]
    names = map(str, rows.index) if named else [""] * len(rows)
    return [Cell(way, "interval", name) for way, name in zip(goes, names, strict=True)]


def by_counts(values: Iterable[Any], methods: Iterable[str] | None = None) -> list[Cell]:
    """A cell for each count, arithmetic on printed numbers, or property of given formulas: nothing in it is random.

    Parameters
    ----------
    values : iterable of bool
        Whether each is as claimed.
    methods : whose cells they are, where they are of methods

    Examples
    --------
    >>> by_counts([2 == 2])
    [Cell(goes=True, by='count', method='')]
    """
    flags = [bool(value) for value in values]
    names = [""] * len(flags) if methods is None else list(methods)
    return [Cell(flag, "count", name) for flag, name in zip(flags, names, strict=True)]


def not_run(rivals: Iterable[str], each: int = 1) -> list[Cell]:
    """Undecided cells of rivals that a claim names and that did not run here, so many for each of them."""
    return [Cell(None, "not run", rival) for rival in rivals for _ in range(each)]


def by_problem(scored: pd.DataFrame, score: str, missing: float = np.nan) -> pd.DataFrame:
    """One value a problem and method, the mean over seeds. Index: problem; columns: method.

    Parameters
    ----------
    scored : DataFrame
        Columns: problem, method, seed, and the score.
    score : name of a column
    missing : what a run without a finite score is worth; NaN leaves it out

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": "p", "method": "m", "seed": [0, 1], "score": [1.0, 3.0]})
    >>> by_problem(runs, "score").loc["p", "m"].item()
    2.0
    """
    values = scored[score].astype(float).replace([np.inf, -np.inf], np.nan).fillna(missing)
    return scored.assign(value=values).pivot_table("value", "problem", "method", dropna=False)


def compare(
    a: Any, b: Any, names: tuple[str, str], *, method: str = "", condition: str = "", paired: bool = True
) -> dict[str, Any]:
    """Is a larger than b? One row of a family of tests.

    Values of the same problems are compared in pairs (Series by their index; what one of them lacks is left out), those
    of different problems as two samples. Where all are 0 or 1, as with solved problems, the test is exact: of signs in
    pairs, Fisher's of two samples. Else it is Wilcoxon's signed-rank test, or Mann and Whitney's.

    Parameters
    ----------
    a, b : array_like or Series, shapes (n_a,) and (n_b,)
        One value a problem: seeds, levels of noise and whatever else depends on it are averaged before.
    names : of a and of b
    method : whose cell it makes
    condition : on what
    paired : whether both are of the same problems

    Returns
    -------
    dict
        Column of `schema.CLAIM_TEST` -> value, without p_holm.

    Examples
    --------
    >>> row = compare([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0], ("new", "old"))
    >>> row["test"], round(row["p"], 4), round(row["effect"], 2)  # five of five signs: 2 / 2**5
    ('signs', 0.0625, 1.0)
    >>> round(compare([1, 1, 1], [0, 0, 0], ("new", "old"), paired=False)["p"], 2)  # 2 of 20 tables
    0.1
    """
    if paired and isinstance(a, pd.Series) and isinstance(b, pd.Series):
        a, b = (part.dropna() for part in (a, b))
        a, b = a.align(b, join="inner")
    a, b = (np.asarray(part, float) for part in (a, b))
    a, b = (part if paired else part[~np.isnan(part)] for part in (a, b))
    shares = bool(np.isin(np.concatenate([a, b]), (0, 1)).all())
    name, effect, p = (_pairs if paired else _samples)(a, b, shares) if len(a) and len(b) else ("none", 0.0, np.nan)
    about = {"method": method, "condition": condition, "a": names[0], "b": names[1], "n_a": len(a), "n_b": len(b)}
    centre = np.mean if shares else np.median
    middle = {f"{side}_middle": float(centre(part)) if len(part) else np.nan for side, part in (("a", a), ("b", b))}
    return about | middle | {"test": name, "effect": effect, "p": p}


def _pairs(a: np.ndarray, b: np.ndarray, shares: bool) -> tuple[str, float, float]:
    if not shares:
        test = paired_wilcoxon(a, np.where(np.isclose(a, b, rtol=ROUNDING, atol=0), a, b))
        return "signed ranks", float(test["effect"]), float(test["p"])
    more, fewer = int((a > b).sum()), int((a < b).sum())
    if not more + fewer:
        return "signs", 0.0, 1.0
    return "signs", (more - fewer) / (more + fewer), float(scipy.stats.binomtest(more, more + fewer).pvalue)


def _samples(a: np.ndarray, b: np.ndarray, shares: bool) -> tuple[str, float, float]:
    if shares:
        table = [[part.sum(), len(part) - part.sum()] for part in (a, b)]
        return "Fisher", float(a.mean() - b.mean()), float(scipy.stats.fisher_exact(table)[1])
    found = scipy.stats.mannwhitneyu(a, b)
    return "rank sums", float(2 * found.statistic / (len(a) * len(b)) - 1), float(found.pvalue)


def trend(levels: Any, values: Any, names: tuple[str, str], *, method: str = "", condition: str = "") -> dict[str, Any]:
    """Do values rise over ordered levels, each value of another problem? One row of a family, by Kendall's tau-b.

    Parameters
    ----------
    levels, values : array_like, shape (n,)
    names : of the first level, beside the last, and of what rises
    method, condition : as for `compare`

    Returns
    -------
    dict
        As `compare`: a is the last level, b the first.

    Examples
    --------
    >>> row = trend([0, 0, 1, 1, 2, 2], [1, 2, 3, 4, 5, 6], ("last", "first"))
    >>> row["test"], round(row["effect"], 2), row["a_middle"], row["b_middle"]
    ('trend', 0.89, 5.5, 1.5)
    """
    levels, values = (np.asarray(part, float) for part in (levels, values))
    found = scipy.stats.kendalltau(levels, values)
    last, first = (values[levels == end] for end in (levels.max(), levels.min()))
    row = compare(last, first, names, method=method, condition=condition, paired=False)
    constant = bool(np.isnan(found.statistic))  # all values alike: nothing rises
    return (
        row
        | {"test": "trend"}
        | ({"effect": 0.0, "p": 1.0} if constant else {"effect": float(found.statistic), "p": float(found.pvalue)})
    )


def family(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The tests of a claim, from `compare` and `trend`, corrected by Holm for their number.

    Returns
    -------
    DataFrame
        With the columns of `schema.CLAIM_TEST`, in the order of `rows`; a test without values has p NaN.
    """
    frame = pd.DataFrame(list(rows), columns=[name for name in CLAIM_TEST if name != "p_holm"])
    return check(frame.assign(p_holm=holm(frame["p"].astype(float))), CLAIM_TEST)


def spelt(tests: pd.DataFrame, most: int = 6) -> str:
    """A family of tests in words: who against whom, by how much, and the corrected p value; of many only how many."""
    if len(tests) > most:
        known = tests["p_holm"] < SIGNIFICANT
        up, down = ((known & (sign * tests["effect"] > 0)).sum() for sign in (1, -1))
        pairs = (tests["a"] + " against " + tests["b"]).unique()
        what = pairs[0] if len(pairs) == 1 else "one against another"
        return f"of {len(tests)} tests of {what}, {up} say larger and {down} smaller with p below {SIGNIFICANT} by Holm"
    lines = [
        f"{' '.join(filter(None, (row.condition, row.a)))} {row.a_middle:.3g} against {row.b} {row.b_middle:.3g} "
        f"(p {row.p_holm:.2g})"
        for row in tests.itertuples()
    ]
    return "; ".join(lines)
