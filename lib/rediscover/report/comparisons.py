"""What several studies compare alike: paired tests, recovered shares, best printed values, methods by their labels."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..methods import method
from ..methods.tables import Tabular
from ..runs.schema import PAIRED_TEST, check
from .papers import catalogue
from .plots import order
from .statistics import holm, paired_wilcoxon
from .summaries import wilson


def exact(values: Mapping[tuple, float]) -> dict[tuple, dict[str, Any]]:
    """Counts and other values without chance, by the key of their cells, as `ledger.compare` takes them.

    Parameters
    ----------
    values : key values of a cell -> number

    Returns
    -------
    dict
        The same keys -> value, low and high, all equal.
    """
    return {key: {"value": value, "low": value, "high": value} for key, value in values.items()}


def paired_test(
    a: ArrayLike,
    b: ArrayLike,
    names: tuple[str, str],
    *,
    measure: str,
    condition: str = "",
    interval: Mapping[str, float] | None = None,
    alternative: str = "two-sided",
) -> dict:
    """One row of a table of paired tests; see `PAIRED_TEST`.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Scores on the same items, without NaN.
    names : of a and of b
    measure, condition : for the columns of the same name
    interval : value, low and high of the mean difference, where it is reported
    alternative : as for `statistics.paired_wilcoxon`

    Returns
    -------
    dict
        Column of `PAIRED_TEST` -> value, without p_holm.

    Raises
    ------
    ValueError
        If the lengths differ, there are no pairs, or a score is NaN.

    Examples
    --------
    >>> row = paired_test([1, 2, 3, 4], [1, 1, 1, 1], ("mean", "zero"), measure="error")
    >>> row["n_pairs"], row["n_zeros"], row["w_plus"], row["w_minus"], row["rank_biserial"]
    (4, 1, 6.0, 0.0, 1.0)
    """
    test = paired_wilcoxon(a, b, alternative=alternative)
    n = test["n_pairs"] - test["n_zeros"]
    total = n * (n + 1) / 2
    interval = interval or {"value": np.nan, "low": np.nan, "high": np.nan}
    return {
        "measure": measure,
        "condition": condition,
        "a": names[0],
        "b": names[1],
        "n_pairs": test["n_pairs"],
        "n_zeros": test["n_zeros"],
        "median_difference": test["median"],
        "mean_difference": interval["value"],
        "low": interval["low"],
        "high": interval["high"],
        "w_plus": total * (1 + test["effect"]) / 2,
        "w_minus": total * (1 - test["effect"]) / 2,
        "rank_biserial": test["effect"],
        "alternative": alternative,
        "p": test["p"],
    }


def paired_tests(rows: Iterable[Mapping]) -> pd.DataFrame:
    """A table of paired tests from rows of `paired_test`, with Holm's correction over all of them.

    Parameters
    ----------
    rows : iterable of dict
        As `paired_test` returns them.

    Returns
    -------
    DataFrame
        With the columns of `PAIRED_TEST`, in the order of `rows`.
    """
    frame = pd.DataFrame(list(rows), columns=[name for name in PAIRED_TEST if name != "p_holm"])
    frame = frame.assign(p_holm=holm(frame["p"].astype(float)))
    return check(frame, PAIRED_TEST)


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows sorted by the levels of the index, the last of which are methods, in the order of all tables and figures.

    Parameters
    ----------
    frame : DataFrame

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> rows = [("implicit", "pysr"), ("explicit", "pysr"), ("explicit", "mean")]
    >>> in_order(pd.DataFrame({"n": 1}, pd.MultiIndex.from_tuples(rows))).index.to_list()
    [('explicit', 'mean'), ('explicit', 'pysr'), ('implicit', 'pysr')]
    """
    names = order(frame.index.get_level_values(-1))
    *others, methods = [frame.index.get_level_values(level) for level in range(frame.index.nlevels)]
    keys = pd.DataFrame(dict(enumerate([*others, methods.map(names.index)])))
    return frame.iloc[keys.sort_values([*keys]).index]


def recovery(recovered: pd.Series, by: Iterable | pd.Series) -> pd.DataFrame:
    """Recovered problems of each group, with Wilson's 95 % interval of the share.

    Parameters
    ----------
    recovered : Series of bool or of 0 and 1, one for each run
    by : Series (or list of Series) of the same length, such as the column ``method``

    Returns
    -------
    DataFrame
        Index: the groups, in the order of all tables where they are methods. Columns: recovered, n, share, low, high.

    Examples
    --------
    >>> recovery(pd.Series([1, 0, 1]), pd.Series(["mean", "oracle", "oracle"], name="method"))["share"].to_dict()
    {'oracle': 0.5, 'mean': 1.0}
    """
    grouped = recovered.astype(float).groupby(by, sort=False)
    frame = pd.DataFrame({"recovered": grouped.sum().astype(int), "n": grouped.size(), "share": grouped.mean()})
    bounds = [wilson(k, n) for k, n in zip(frame["recovered"], frame["n"], strict=True)]
    frame[["low", "high"]] = np.asarray(bounds, float).reshape(-1, 2)
    return in_order(frame)


def best_printed(rows: pd.DataFrame, by: list[str], directions: Mapping[str, str] | str = "higher") -> pd.DataFrame:
    """The best value that a paper prints, for each group of its rows.

    Parameters
    ----------
    rows : DataFrame
        A published table, tidy: `by`, metric and value, which may be text.
    by : columns that make a group, ``metric`` among them
    directions : metric -> 'higher' or 'lower', or one for all

    Returns
    -------
    DataFrame
        One row of `rows` for each group, value as a number; of equal ones the first.

    Examples
    --------
    >>> rows = pd.DataFrame({"metric": ["r2", "r2"], "method": ["A", "B"], "value": ["0.5", "0.75"]})
    >>> best_printed(rows, ["metric"])[["method", "value"]].values.tolist()
    [['B', 0.75]]
    """
    rows = rows.assign(value=pd.to_numeric(rows["value"]))
    chosen = []
    for _, group in rows.groupby(by, sort=False):
        metric = group["metric"].iloc[0] if "metric" in group else ""
        direction = directions if isinstance(directions, str) else directions[metric]
        chosen.append(group["value"].idxmin() if direction == "lower" else group["value"].idxmax())
    return rows.loc[chosen]


def labels(paper: str) -> pd.DataFrame:
    """How a paper prints methods, and what they are called here.

    Parameters
    ----------
    paper : as in methods.yaml, such as ``surfacebench``

    Returns
    -------
    DataFrame
        Index: the label printed. Columns: method (its name here, empty if there is none), package (the same of the
        package itself), reason (why no number).

    Examples
    --------
    >>> labels("mdbench").loc["SINDy", "method"]
    'sindy'
    """
    table = catalogue(paper).drop_duplicates("label").set_index("label")
    reason = table["reason"].replace("", "no runs in this profile")
    return table.assign(reason=reason)[["ours", "package", "reason"]].rename(columns={"ours": "method"})


def names_in(paper: str) -> dict[str, str]:
    """What a paper prints of methods here: name here -> its label, the first where one method stands for several.

    Parameters
    ----------
    paper : as for `labels`

    Returns
    -------
    dict

    Examples
    --------
    >>> names_in("mdbench")["sindy"]
    'SINDy'
    """
    return {row.method: label for label, row in labels(paper)[::-1].iterrows() if row.method}


def build_methods(names: Iterable[str], *, max_rows: int | None = None, settings: Mapping | None = None) -> list:
    """Methods by their names, with the settings of a parameter file.

    Parameters
    ----------
    names : iterable of str
    max_rows : rows that every search of tables works on, if given
    settings : name -> settings that differ from the method's own

    Returns
    -------
    list of Method
    """
    built = []
    for name in names:
        chosen = dict((settings or {}).get(name, {}))
        plain = method(name, **chosen)
        limited = plain.searches and isinstance(plain, Tabular) and max_rows is not None
        built.append(method(name, **chosen, max_rows=max_rows) if limited else plain)
    return built
