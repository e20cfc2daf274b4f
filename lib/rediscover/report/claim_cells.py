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
from .statistics import detectable, holm, paired_wilcoxon

SIGNIFICANT = 0.05
NOTHING = "no effect would be seen"
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
        Column of `schema.CLAIM_TEST` -> value, without p_holm and detectable; and spread, the standard deviation of
        the effect where there is none, from which `family` has the latter.

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
    tested = (_pairs if paired else _samples)(a, b, shares) if len(a) and len(b) else ("none", 0.0, np.nan, np.inf)
    about = {"method": method, "condition": condition, "a": names[0], "b": names[1], "n_a": len(a), "n_b": len(b)}
    centre = np.mean if shares else np.median
    middle = {f"{side}_middle": float(centre(part)) if len(part) else np.nan for side, part in (("a", a), ("b", b))}
    return about | middle | dict(zip(("test", "effect", "p", "spread"), tested, strict=True))


Tested = tuple[str, float, float, float]  # name of the test, effect, p value, standard deviation without an effect


def _pairs(a: np.ndarray, b: np.ndarray, shares: bool) -> Tested:
    if not shares:
        test = paired_wilcoxon(a, np.where(np.isclose(a, b, rtol=ROUNDING, atol=0), a, b))
        return "signed ranks", float(test["effect"]), float(test["p"]), of_ranks(test["n_pairs"] - test["n_zeros"])
    more, fewer = int((a > b).sum()), int((a < b).sum())
    if not (apart := more + fewer):
        return "signs", 0.0, 1.0, np.inf
    return "signs", (more - fewer) / apart, float(scipy.stats.binomtest(more, apart).pvalue), apart**-0.5


def of_ranks(n: int) -> float:
    """Standard deviation of the rank-biserial correlation of n unequal pairs where there is no difference.

    Examples
    --------
    >>> round(of_ranks(11), 4), of_ranks(0)  # (2 * 23 / (3 * 11 * 12)) ** 0.5
    (0.3408, inf)
    """
    return float((2 * (2 * n + 1) / (3 * n * (n + 1))) ** 0.5) if n else np.inf


def _samples(a: np.ndarray, b: np.ndarray, shares: bool) -> Tested:
    n_a, n_b = len(a), len(b)
    if shares:
        table = [[part.sum(), len(part) - part.sum()] for part in (a, b)]
        share = np.concatenate([a, b]).mean()
        spread = float((share * (1 - share) * (1 / n_a + 1 / n_b)) ** 0.5) or np.inf
        return "Fisher", float(a.mean() - b.mean()), float(scipy.stats.fisher_exact(table)[1]), spread
    found, spread = scipy.stats.mannwhitneyu(a, b), ((n_a + n_b + 1) / (3 * n_a * n_b)) ** 0.5
    return "rank sums", float(2 * found.statistic / (n_a * n_b) - 1), float(found.pvalue), spread


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
    if np.isnan(found.statistic):  # all values alike: nothing rises
        return row | {"test": "trend", "effect": 0.0, "p": 1.0, "spread": np.inf}
    n = len(values)
    spread = (2 * (2 * n + 5) / (9 * n * (n - 1))) ** 0.5
    return row | {"test": "trend", "effect": float(found.statistic), "p": float(found.pvalue), "spread": spread}


def family(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The tests of a claim, from `compare` and `trend`, corrected by Holm for their number.

    Returns
    -------
    DataFrame
        With the columns of `schema.CLAIM_TEST`, in the order of `rows`; a test without values has p NaN.
    """
    given = list(rows)
    frame = pd.DataFrame(given, columns=[name for name in CLAIM_TEST if name not in ("p_holm", "detectable")])
    p = frame["p"].astype(float)
    least = detectable([row["spread"] for row in given], max(1, int(p.notna().sum())))
    return check(frame.assign(p_holm=holm(p), detectable=least), CLAIM_TEST)


def power(least: Iterable[float]) -> str:
    """What tests that found nothing would have found, by the least effects that are `detectable`.

    Examples
    --------
    >>> power([0.961]), power([0.2, 0.41, np.inf]), power([1.4])
    ('an effect of 0.96 would be seen', 'an effect of 0.2 to 0.41 would be seen, or none', 'no effect would be seen')
    """
    values = [float(value) for value in least]
    seen = sorted(f"{value:.2g}" for value in values if value <= 1)
    ends = " to ".join(dict.fromkeys([seen[0], seen[-1]])) if seen else ""
    return f"an effect of {ends} would be seen{', or none' * (len(seen) < len(values))}" if seen else NOTHING


def spelt(tests: pd.DataFrame, most: int = 6) -> str:
    """A family of tests in words: who against whom, by how much, the corrected p value and the power; of many how many.

    Where a test finds nothing, the least effect follows that it would have found (`detectable`).
    """
    if len(tests) > most:
        known = tests["p_holm"] < SIGNIFICANT
        up, down = ((known & (sign * tests["effect"] > 0)).sum() for sign in (1, -1))
        pairs = (tests["a"] + " against " + tests["b"]).unique()
        what = pairs[0] if len(pairs) == 1 else "one against another"
        text = f"of {len(tests)} tests of {what}, {up} say larger and {down} smaller with p below {SIGNIFICANT} by Holm"
        open_ = tests.loc[tests["p_holm"] >= SIGNIFICANT, "detectable"]
        return f"{text}; in the others {power(open_)}" if len(open_) else text
    lines = [
        f"{' '.join(filter(None, (row.condition, row.a)))} {row.a_middle:.3g} against {row.b} {row.b_middle:.3g} "
        f"(p {row.p_holm:.2g}{f'; {power([row.detectable])}' if row.p_holm >= SIGNIFICANT else ''})"
        for row in tests.itertuples()
    ]
    return "; ".join(lines)
