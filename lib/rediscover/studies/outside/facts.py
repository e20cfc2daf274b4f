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
    laws, noisy, fast, front, answer, later, samples = (
        _shares(f"outside_{name}") for name in ("laws", "srbench", "accepted", "fronts", "first", "later", "samples")
    )
    exact = {"suite": "LSR-Transform, PHYBench", "noise": 0, "read": "60 s"}
    parents, known = ({id.partition("/")[2].partition("_")[0] for id in problems(study)} for study in ("lsr", "srsd"))
    levels = (0, 0.001, 0.01, 0.1)
    versions = {"frozen": "bidirectional", "later": "bidirectional_noise"}
    return {
        "runs": {"planned": runs["planned"].sum(), "recorded": runs["recorded"].sum()},
        "lsr": _solved(laws, study="lsr"),
        "lsr_share": _per_cent(laws, study="lsr"),
        "parents": f"{len(parents & known)} of {len(parents)}",
        "sample": {
            word: _solved(samples, **exact, method=name)
            for word, name in {"frozen": "bidirectional", "operon": "operon", "power_law": "power_law"}.items()
        },
        "phybench": _solved(laws, study="phybench"),
        **{
            group: {f"{level:g}": _solved(noisy, group=group, noise=level) for level in levels}
            for group in ("feynman", "strogatz")
        },
        "measured": {"front": _always(front), "answer": _always(answer)},
        "fresh": {
            f"{level:g}": {word: _solved(later, noise=level, method=name) for word, name in versions.items()}
            | _in_pairs(_shares("outside_later_pairs"), level)
            for level in (0.01,)
        },
        "accepted": {"answer": _solved(fast, which="first answer"), "front": _solved(fast, which="any of the front")},
    }


def _shares(name: str) -> pd.DataFrame:
    """A table of shares; without rows where no block of it was whole, so that it was not written."""
    return table(name) if (root() / "tables" / f"{name}.csv").exists() else pd.DataFrame()


def _solved(shares: pd.DataFrame, **where: Any) -> str:
    rows = shares[shares[list(where)].eq(pd.Series(where)).all(axis=1)] if len(shares) else shares
    return f"{rows['recovered'].iloc[0]} of {rows['n'].iloc[0]}" if len(rows) else NONE


def _per_cent(shares: pd.DataFrame, **where: Any) -> Any:
    rows = shares[shares[list(where)].eq(pd.Series(where)).all(axis=1)] if "share" in shares else shares[:0]
    return (Interval(*(100 * rows.iloc[0][["share", "low", "high"]])), ".0f") if len(rows) else NONE


def _in_pairs(pairs: pd.DataFrame, level: float) -> dict[str, Any]:
    """Problems that one version alone solves, and the p of the test."""
    rows = pairs[pairs["noise"] == level] if len(pairs) else pairs
    if not len(rows):
        return dict.fromkeys(("gained", "lost", "p"), NONE)
    row = rows.iloc[0]
    return {"gained": int(row["ours_alone"]), "lost": int(row["theirs_alone"]), "p": (row["p"], ".2f")}


def _always(trials: pd.DataFrame) -> tuple[int, str] | str:
    """Tables of EmpiricalBench that our own method solved in each trial."""
    if not len(trials):
        return NONE
    asked = trials[trials["table"] == "trials"]["bidirectional"].iloc[0]
    return int((trials[trials["study"] == "empirical"]["bidirectional"] == asked).sum()), "word"
