"""Rows of leaderboards for methods that are not of this package: one's own, in build/own, and those in submissions/."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..methods import registry
from ..report.summaries import known_numbers
from ..runs.schema import read_csv
from ..system.committed import place, submissions
from ..system.studies import stated_measures


def values(board: Mapping[str, Any], scores: pd.Series) -> pd.Series:
    """What each run adds to a board: its score, or whether it is high enough; nothing where there is none."""
    known = pd.to_numeric(scores).fillna(0.0)
    return (known >= board["at_least"]).astype(float) if "at_least" in board else known


def of_board(board: Mapping[str, Any], problems: Sequence[str]) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """For each method that has answers to problems of a board: what it is, and its runs.

    A problem of the board that it was not run on is a row without an answer, which counts 0.

    Parameters
    ----------
    board : what study.yaml says of it
    problems : ids of the board's problems

    Yields
    ------
    (dict, DataFrame)
        name, from, evaluations and seconds (medians, or None); problem, seed, status and value of its runs.
    """
    for path, origin in _files(board["scores"]):
        frame = read_csv(path)
        if board["score"] not in frame or not _clean(board, frame):
            continue
        frame = frame[frame["problem"].isin(list(problems))]
        if frame.empty or (path.stem in registry() and origin == "yours"):
            continue
        missing = pd.DataFrame({"problem": sorted({*problems} - {*frame["problem"]}), "status": "not run"})
        runs = frame.assign(value=values(board, frame[board["score"]]))[["problem", "seed", "status", "value"]]
        filled = pd.concat([runs, missing.assign(seed=runs["seed"].iloc[0], value=0.0)], ignore_index=True)
        cost = {name: _median(frame, name) for name in ("evaluations", "seconds")}
        yield {"name": str(frame["method"].iloc[0]), "from": origin, **cost}, filled


def _files(scores: str) -> Iterator[tuple[Path, str]]:
    """Tables of answers to the problems that a table of scores is about, and whose they are."""
    for prefix in (prefix for prefix, about in stated_measures().items() if about.get("table") == scores):
        for path in sorted((place() / prefix).glob("*.csv")):
            yield path, "yours"
        for path in sorted(submissions().glob(f"*/{prefix}.csv")):
            yield path, "submitted"


def _clean(board: Mapping[str, Any], frame: pd.DataFrame) -> bool:
    """Whether a board is about clean data, which all runs of one's own are on; its subset is told by its problems."""
    levels = [str(level) for column, level in board.get("where", {}).items() if column not in frame]
    return set(levels) <= {"inf", "0"}


def _median(frame: pd.DataFrame, column: str) -> float | None:
    known = known_numbers(frame, column)
    return float(known.median()) if len(known) else None


def table(board: pd.DataFrame, top: int) -> pd.DataFrame:
    """A board for a terminal: its best rows, and all of one's own and submitted ones.

    Parameters
    ----------
    board : DataFrame
        From `collected.leaderboard`.
    top : int
        Rows, at most, that are nobody's own.

    Returns
    -------
    DataFrame
        Text cells: rank, method, percent, interval, answered, evaluations, seconds.
    """
    mine = board["from"].isin(["yours", "submitted"])
    shown = board[mine | ((~mine).cumsum() <= top)]

    def text(value: Any, form: str) -> str:
        return "" if value is None or pd.isna(value) else format(value, form)

    rows = [
        {
            "rank": text(row["rank"], ".0f"),
            "method": row["name"] + (f" ({row['from']})" if row["from"] else ""),
            "percent": text(row["value"], ".1f"),
            "95 % interval": "" if row["printed"] else f"{row['low']:.1f} to {row['high']:.1f}",
            "answered": "" if row["printed"] else f"{row['answered']:.0f} of {row['problems']:.0f}",
            "evaluations": text(row["evaluations"], ",.0f"),
            "seconds": text(row["seconds"], ".3g"),
        }
        for row in shown.to_dict("records")
    ]
    return pd.DataFrame(rows)
