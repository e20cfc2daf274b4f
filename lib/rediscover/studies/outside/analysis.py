"""What the tables of problems from outside are made of: shares, fronts, and the authors' record law by law."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ...problems import Problem, problem
from ...report.comparisons import recovery
from ...runs.answers import on_answers
from ...system import derived

FRONT = 20  # entries that are looked at, in the method's own order
SCORES = f"{__package__}.scores"
PEERS = {"gplearn": "gplearn", "operon": "Operon"}  # ours -> SRBench's name


def loaded(ids: Iterable[str | Problem]) -> list[Problem]:
    """Problems by their ids."""
    return [problem(item) if isinstance(item, str) else item for item in ids]


def grouped(scored: pd.DataFrame, by: list[str], score: str = "symbolic_solution") -> pd.DataFrame:
    """Solved problems of each group with Wilson's interval, as `comparisons.recovery`; methods are the last of `by`."""
    return recovery(scored[score], [scored[name] for name in by])


def of_front(records: pd.DataFrame, problems: Iterable[Problem], function: str, **options: Any) -> pd.Series:
    """Whether any of the first `FRONT` candidates of each run is what a function of `scores` asks.

    Parameters
    ----------
    records : DataFrame
        Rows of `runs.grid`.
    problems : those of the grid
    function : ``is_law`` or ``accepted``
    options : store, workers and progress, as for `runs.grid`

    Returns
    -------
    Series of float, 0 or 1
        By the index of `records`; 0 for a run without an answer.
    """
    entries = records.assign(solution=[[c["solution"] for c in found[:FRONT]] for found in records["candidates"]])
    entries = entries[entries["status"] == "ok"].explode("solution").dropna(subset="solution")
    outcomes = on_answers(f"{SCORES}:{function}", entries, problems, **options) if len(entries) else []
    held = pd.Series([max(outcome.get("result", {"": 0.0}).values()) for outcome in outcomes], entries.index, float)
    return held.groupby(level=0).max().reindex(records.index, fill_value=0.0)


def trials(judged: pd.DataFrame, column: str) -> pd.DataFrame:
    """Trials of each table in which `column` is 1. Index: study and table; columns: methods."""
    study, _, name = zip(*judged["problem"].str.partition("/").to_numpy(), strict=True)
    counts = judged.assign(study=study, table=name)
    return counts.pivot_table(index=["study", "table"], columns="method", values=column, aggfunc="sum").astype(int)


def against_record(scored: pd.DataFrame) -> pd.DataFrame:
    """Our rates beside SRBench's on the same problems at the same noise, for methods that both have.

    Parameters
    ----------
    scored : DataFrame
        Scores of ``noisy_sample``, the first seed.

    Returns
    -------
    DataFrame
        Index: method and noise; columns: problems, ours and theirs (shares), more, fewer (problems on which ours is
        above or below theirs).
    """
    theirs = derived.read("outside", "srbench_laws").set_index(["method", "problem", "noise"])["solution_rate"] / 100
    known = scored[scored["method"].isin(PEERS)]
    keys = pd.MultiIndex.from_arrays(
        [known["method"].map(PEERS), known["problem"].str.partition("/")[2], known["noise"]]
    )
    known = known.assign(theirs=theirs.reindex(keys).to_numpy()).dropna(subset="theirs")
    off = known["symbolic_solution"] - known["theirs"]
    grouped = known.assign(more=off > 0, fewer=off < 0).groupby(["method", "noise"])
    return grouped.agg(
        problems=("problem", "nunique"),
        ours=("symbolic_solution", "mean"),
        theirs=("theirs", "mean"),
        more=("more", "sum"),
        fewer=("fewer", "sum"),
    )
