"""Making records, and running a sample of them again."""

import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..methods import Budget
from . import compute, executor_for, progress_bar, records
from .executors import task
from .run import Run, digest

if TYPE_CHECKING:  # loaded on first use
    import pandas as pd

FLUSH = 60.0  # seconds between two writes; a kill loses no more than what ended since
SAMPLE = 60  # recorded runs that are run again
PATIENCE = 60.0  # seconds for each of them
EASILY = 10  # a run that is done in a part of its limit, one of so many, cannot have met it
PORTABLE_LOSS = 0.01  # by what share the loss of a method may differ whose own arithmetic follows the processor


def missing(runs: Sequence[Run], shard: tuple[int, int] = (0, 1)) -> list[Run]:
    """Runs without a record whose method runs here, low seeds first; of these every n-th for a shard (i, n)."""
    left = [run for run, line in zip(runs, records.find(runs), strict=True) if line is None]
    left.sort(key=lambda run: run.seed)  # so that an early end leaves whole tables of fewer seeds
    return [run for run in left[shard[0] :: shard[1]] if not run.method.available()]


def extend(
    runs: Sequence[Run],
    *,
    hours: float | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    into: Path | None = None,
    progress: bool = True,
    say: Callable[[str], Any] = print,
) -> int:
    """Do runs and record them; what is done is kept when this is interrupted, killed or out of time.

    Parameters
    ----------
    runs : list of Run
        Those to be done, see `missing`.
    hours : float, optional
        Stop after so long; what is running then is given up.
    workers, scheduler, progress : as for `runs.grid`
    into : folder of records; by default the repository's
    say : is told what was done, in one sentence

    Returns
    -------
    int
        How many were recorded.
    """
    end = time.monotonic() + 3600 * hours if hours else float("inf")
    tasks = [task(run, run.budget) for run in runs]
    done: list[dict] = []
    count, written = 0, time.monotonic()
    executor = executor_for(runs, workers, scheduler)
    try:
        with closing(executor), progress_bar(progress, total=len(runs), reused=0) as tick:
            for i, outcome in executor.run(tasks):
                tick(outcome["status"])
                if outcome["status"] != "unavailable":
                    done.append(records.record(runs[i], outcome))
                    count += 1
                if time.monotonic() > min(end, written + FLUSH):
                    records.add(done, into)
                    done, written = [], time.monotonic()
                if time.monotonic() > end:
                    break
    finally:
        records.add(done, into)
    say(f"{count} of {len(runs)} missing runs are recorded")
    return count


def sample(runs: Sequence[Run], seed: int, size: int = SAMPLE) -> list[tuple[Run, dict]]:
    """Which recorded runs to run again: every method of every study in turn, in an order that hangs on what was asked.

    Nothing that a record says of itself (its answer, code, seconds, processor) decides whether it is drawn.

    Parameters
    ----------
    runs : list of Run
        Those without a record, and those whose method is not available here, are passed over.
    seed : int
    size : int
        How many; more if there are more methods, as each is drawn once.

    Returns
    -------
    list of (Run, its record)
    """
    lots = {i: digest([seed, records.asked(run, with_data=False)]) for i, run in enumerate(runs)}
    by_method: dict[str, list[Run]] = {}
    for i in sorted(lots, key=lots.__getitem__):
        by_method.setdefault(f"{runs[i].problem.study} {runs[i].method.name}", []).append(runs[i])
    turns = itertools.zip_longest(*map(_recorded, by_method.values()))  # a record is looked for when its turn has come
    first = [pair for pair in next(turns, ()) if pair]
    more = (pair for turn in turns for pair in turn if pair)
    return [*first, *itertools.islice(more, max(0, size - len(first)))]


def _recorded(runs: Sequence[Run]) -> Iterator[tuple[Run, dict]]:
    for run in runs:
        if not run.method.available() and (line := records.lines([run])[0]):
            yield run, line


def spot_checks(
    runs: Sequence[Run], *, seed: int = 0, size: int = SAMPLE, seconds: float = PATIENCE, **options: Any
) -> "pd.DataFrame":
    """Run a sample of the recorded runs again and compare the answers.

    Answers must be the same to the last digit. Where those of a method whose own arithmetic follows the processor
    (``Method.portable`` is False) are not, and the record was made on another kind of processor, losses are compared,
    within `PORTABLE_LOSS`, and it is reported as such. A run that is not done within `seconds` is not compared, and
    reported too.

    Parameters
    ----------
    runs : list of Run
        What the tables are made of; those that are recorded are drawn from.
    seed : int
        Of the draw.
    size : int
        How many are drawn, see `sample`.
    seconds : float
        For each run.
    options : workers and progress, as for `runs.compute`

    Returns
    -------
    DataFrame
        One row for each run: study, problem, method, settings, noise, evaluations, seed, changed_code, compared
        (``answers``, ``loss``, or ``nothing`` for one that was not done in time), same (of nothing: False).
    """
    import pandas as pd

    chosen = sample(runs, seed, size)
    again = [run for run, _ in chosen]
    memory = max((run.budget.memory_mb for run in again), default=Budget().memory_mb)
    rows = []
    for (run, line), outcome in zip(chosen, compute(again, Budget(1, seconds, memory), **options), strict=True):
        compared, same = comparison(run, line, outcome, seconds)
        rows.append(
            {"study": run.problem.study, **{name: line[name] for name in records.ASKED if name != "data"}}
            | {"changed_code": line["code"] != records.code_of(run), "compared": compared, "same": same}
        )
    return pd.DataFrame(rows)


def comparison(run: Run, line: dict, outcome: dict, seconds: float) -> tuple[str, bool]:
    """What of a record and of the run done again is compared (see `spot_checks`), and whether it is the same."""
    if outcome["status"] in ("timeout", "unavailable"):
        return "nothing", False
    easy = run.budget.seconds >= EASILY * outcome["seconds"]
    if line["status"] == "memory" or (line["status"] == "timeout" and not easy):
        return "nothing", False  # on another machine it may have ended
    if equal(line, outcome):
        return "answers", True
    if not run.method.portable and line["processor"] != records.processor():
        return "loss", close(line, outcome)
    return "answers", False


def summary(checked: "pd.DataFrame") -> str:
    """How many rows of `spot_checks` are how, in words."""
    if checked.empty:
        return "no recorded runs to check"
    counts = checked.groupby("compared")["same"].agg(["size", "sum"])
    size = counts["size"].reindex(["answers", "loss", "nothing"], fill_value=0)
    other = (counts["size"] - counts["sum"]).reindex(size.index, fill_value=0)
    said = f"{len(checked)} recorded runs were run again, {other['answers'] + other['loss']} gave another answer"
    if size["loss"]:
        said += f"; {size['loss']} have answers of another processor, which their method follows: losses are compared"
    return said + (f"; {size['nothing']} were not done in time, and are not compared" if size["nothing"] else "")


def mismatches(checked: "pd.DataFrame") -> "pd.DataFrame":
    """Rows of `spot_checks` that must be the same and are not.

    One compared by its loss never is such a row: on another processor its method may answer otherwise by right.
    """
    return checked if checked.empty else checked[~checked["same"] & (checked["compared"] == "answers")]


def equal(line: dict, outcome: dict) -> bool:
    """Whether a run ended as it was recorded, with the same candidates to the last digit."""
    one, other = (json.dumps([x["status"], x["reason"], x["candidates"]], sort_keys=True) for x in (line, outcome))
    return one == other


def close(line: dict, outcome: dict) -> bool:
    """Whether the losses of the first candidates are alike, see `PORTABLE_LOSS`."""
    if line["status"] != outcome["status"] or not line["candidates"] or not outcome["candidates"]:
        return line["status"] == outcome["status"]
    one, other = (x["candidates"][0]["loss"] for x in (line, outcome))
    return bool(np.isclose(one, other, rtol=PORTABLE_LOSS, atol=0.0))
