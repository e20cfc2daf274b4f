"""What prose states in numbers of problems from outside: recorded runs, and problems solved of whole blocks."""

from typing import Any

import pandas as pd

from ...problems import problems
from ...report.facts import Interval, table
from ...system.paths import root

NONE = "not recorded yet"


def facts() -> dict[str, Any]:
    """Name -> value, or value and form.

    Problems solved are "7 of 10" of a block that is recorded whole, else `NONE`.
    """
    runs = table("outside_progress")
    names = ("laws", "srbench", "accepted", "fronts", "first", "later", "later_pairs", "samples", "pairs")
    laws, noisy, fast, front, answer, later, beside, samples, pairs = (_shares(f"outside_{name}") for name in names)
    exact = {"suite": "LSR-Transform, PHYBench", "noise": 0, "read": "60 s"}
    parents, known = ({id.partition("/")[2].partition("_")[0] for id in problems(study)} for study in ("lsr", "srsd"))
    levels = (0, 0.001, 0.01, 0.1)
    return {
        "runs": {"planned": runs["planned"].sum(), "recorded": runs["recorded"].sum()},
        "lsr": _solved(laws, study="lsr"),
        "lsr_share": _per_cent(laws, study="lsr"),
        "parents": f"{len(parents & known)} of {len(parents)}",
        "sample": {
            "frozen": _solved(samples, **exact, method="bidirectional"),
            "operon": _solved(samples, **exact, method="operon"),
            "power_law": _solved(samples, **exact, method="power_law"),
        },
        "noisy_power_law.p": _least(pairs, "p_holm", suite="Feynman", opponent="power_law"),
        "phybench": _solved(laws, study="phybench"),
        **{
            group: {f"{level:g}": _solved(noisy, group=group, noise=level) for level in levels}
            for group in ("feynman", "strogatz")
        },
        "measured": {"front": _always(front), "answer": _always(answer), "power_law": _always(answer, "power_law")},
        "fresh.0.01": {
            "frozen": _solved(later, noise=0.01, method="bidirectional"),
            "later": _solved(later, noise=0.01, method="bidirectional_noise"),
            "gained": _first(beside, "ours_alone", noise=0.01),
            "lost": _first(beside, "theirs_alone", noise=0.01),
            "p": _first(beside, "p", noise=0.01),
        },
        "accepted": {"answer": _solved(fast, which="first answer"), "front": _solved(fast, which="any of the front")},
    }


def _shares(name: str) -> pd.DataFrame:
    """A table of shares; without rows where no block of it was whole, so that it was not written."""
    return table(name) if (root() / "tables" / f"{name}.csv").exists() else pd.DataFrame()


def _where(rows: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """The rows that have these values; of a table that was not written, none."""
    return rows[rows[list(where)].eq(pd.Series(where)).all(axis=1)] if len(rows) else rows


def _solved(shares: pd.DataFrame, **where: Any) -> str:
    rows = _where(shares, **where)
    return f"{rows['recovered'].iloc[0]} of {rows['n'].iloc[0]}" if len(rows) else NONE


def _per_cent(shares: pd.DataFrame, **where: Any) -> Any:
    rows = _where(shares, **where)
    return (Interval(*(100 * rows.iloc[0][["share", "low", "high"]])), ".0f") if len(rows) else NONE


def _first(pairs: pd.DataFrame, column: str, **where: Any) -> Any:
    rows = _where(pairs, **where)
    return rows[column].iloc[0] if len(rows) else NONE


def _least(pairs: pd.DataFrame, column: str, **where: Any) -> Any:
    """The smallest value with noise."""
    rows = _where(pairs, **where)
    return rows.loc[rows["noise"] > 0, column].min() if len(rows) else NONE


def _always(trials: pd.DataFrame, method: str = "bidirectional") -> tuple[int, str] | str:
    """Tables of EmpiricalBench that a method solved in each trial."""
    if not len(trials):
        return NONE
    asked = trials[trials["table"] == "trials"][method].iloc[0]
    return int((trials[trials["study"] == "empirical"][method] == asked).sum()), "word"
