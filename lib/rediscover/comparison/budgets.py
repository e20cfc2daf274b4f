"""What methods used for their answers, and whether that is comparable."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..report.names import in_words, readable
from ..report.summaries import interval, known_numbers
from .sections import Section

FACTOR = 2.0  # budgets that differ by more are warned of
USED = ("evaluations", "seconds")  # what a budget is measured by, the first that both methods have


def table(answers: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """What each method was allowed and what it used.

    Parameters
    ----------
    answers : DataFrame
        One row for each method, problem and seed, with origin and, as far as known, allowed, evaluations and seconds.
    methods : the rows, in order

    Returns
    -------
    DataFrame
        Index: method. Columns: origin, problems, seeds, allowed (evaluations), and evaluations and seconds (of
        processor time): medians of what runs say that they used, with low and high; NaN where nothing is known.
    """
    rows = {}
    for name in methods:
        part = answers[answers["method"] == name]
        row = {"origin": ", ".join(sorted(set(part["origin"]))), "problems": part["problem"].nunique()}
        row |= {"seeds": part["seed"].nunique(), "allowed": _median(part, "allowed")["value"]}
        for what in USED:
            found = _median(part, what)
            row |= {what: found["value"], f"{what}_low": found["low"], f"{what}_high": found["high"]}
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def _median(part: pd.DataFrame, column: str) -> dict[str, float]:
    return interval(known_numbers(part, column), np.median)


def section(frame: pd.DataFrame) -> Section:
    """The table for readers."""
    heads = {"allowed": "evaluations allowed"} | {what: f"{what} used, median" for what in USED}
    shown = frame[["problems", "seeds", *heads, "origin"]].rename(columns=heads)
    bounds = {f"{what} used, median": (frame[f"{what}_low"], frame[f"{what}_high"]) for what in USED}
    return Section("Budgets, and where the answers come from", shown, bounds)


def ratio(one: pd.Series, other: pd.Series, used: Sequence[str] = USED) -> tuple[float, str]:
    """How many times as much as one method another used, and of what; NaN where nothing is known of both.

    Parameters
    ----------
    one, other : rows of `table`
    used : what is compared, the first that is known of both

    Returns
    -------
    (float, str)

    Examples
    --------
    >>> one, other = (pd.Series({"evaluations": e, "seconds": s}) for e, s in ((math.nan, 2.0), (1e5, 30.0)))
    >>> ratio(one, other)
    (15.0, 'seconds')
    """
    for what in used:
        if one[what] > 0 and other[what] > 0:
            return float(other[what] / one[what]), what
    return math.nan, ""


def warnings(frame: pd.DataFrame, mine: str, used: Sequence[str] = USED) -> list[str]:
    """A sentence where budgets differ by more than `FACTOR`, and one where they cannot be compared.

    Parameters
    ----------
    frame : DataFrame
        From `table`.
    mine : the method that others are compared with
    used : as for `ratio`

    Returns
    -------
    list of str

    Examples
    --------
    >>> frame = pd.DataFrame({"evaluations": [1e3, 1e5, 1500.0, math.nan], "seconds": math.nan}, list("mabc"))
    >>> print("\\n".join(warnings(frame, "m")))
    budgets differ by more than a factor of 2: a used 100 times the evaluations of m; compare with --equal-seconds
    the budgets of m and c cannot be compared: neither evaluations nor seconds are known of both
    """
    found = {name: ratio(frame.loc[mine], frame.loc[name], used) for name in frame.index if name != mine}
    apart = [
        f"{name} used {_times(times)} the {what} of {mine}"
        for name, (times, what) in found.items()
        if not math.isnan(times) and not 1 / FACTOR <= times <= FACTOR
    ]
    unknown = [name for name, (times, _) in found.items() if math.isnan(times)]
    said = []
    if apart:
        said.append(
            f"budgets differ by more than a factor of {FACTOR:g}: {in_words(apart)}; compare with --equal-seconds"
        )
    if unknown:
        said.append(
            f"the budgets of {mine} and {in_words(unknown)} cannot be compared: "
            "neither evaluations nor seconds are known of both"
        )
    return said


def _times(value: float) -> str:
    digits = float(f"{max(value, 1 / value):.2g}")  # seconds of quick runs have no more
    return f"{digits:g} times" if value > 1 else f"1/{digits:g} of"


def sentence(frame: pd.DataFrame) -> str:
    """The budgets in words, for a caption."""
    said = []
    for name, row in frame.iterrows():
        used = [f"{row[what]:,.{0 if row[what] >= 100 else 2}f} {what}" for what in USED if not math.isnan(row[what])]
        allowed = [] if math.isnan(row["allowed"]) else [f"{row['allowed']:,.0f} evaluations allowed"]
        said.append(
            f"{readable(str(name))} {' and '.join(used) + ' used' if used else ', '.join(allowed) or 'unknown'}"
        )
    return f"Budgets (medians of a run): {'; '.join(said)}."
