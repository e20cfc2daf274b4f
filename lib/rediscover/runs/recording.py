"""Making records, and running a sample of them again."""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..methods import Budget
from . import compute, executor_for, progress_bar, records
from .executors import task
from .run import Run

if TYPE_CHECKING:  # loaded on first use
    import pandas as pd

FLUSH = 60.0  # seconds between two writes; a kill loses no more than what ended since
SAMPLE = 60  # recorded runs that are run again
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


def sample(runs: Sequence[Run], lines: Sequence[dict], seed: int, seconds: float, size: int = SAMPLE) -> list[int]:
    """Which recorded runs to run again: of changed code first, every method in turn, within `seconds` of one core.

    Parameters
    ----------
    runs, lines : list of Run and their records, alike in length
    seed : int
    seconds : float
        Recorded seconds that the sample may take together, and one run a tenth of them.
    size : int

    Returns
    -------
    list of int
        Positions in `runs`.
    """
    order = np.random.default_rng(seed).permutation(len(runs))
    stale = {i for i in order if lines[i]["code"] != records.code_of(runs[i])}
    by_method: dict[str, list[int]] = {}
    for i in sorted(order, key=lambda i: i not in stale):  # stable: the order of the draw within both parts
        if lines[i]["status"] not in records.LIMITED and lines[i]["seconds"] <= seconds / 10:
            by_method.setdefault(f"{runs[i].problem.study} {runs[i].method.name}", []).append(i)
    chosen: list[int] = []
    left = seconds
    for turn in range(max(map(len, by_method.values()), default=0)):
        for waiting in by_method.values():
            if turn < len(waiting) and len(chosen) < size and lines[waiting[turn]]["seconds"] <= left:
                chosen.append(waiting[turn])
                left -= lines[waiting[turn]]["seconds"]
    return chosen


def spot_checks(runs: Sequence[Run], *, seed: int = 0, seconds: float = 600.0, **options: Any) -> "pd.DataFrame":
    """Run a sample of the recorded runs again and compare the answers.

    Answers must be the same to the last digit. Those of methods whose own arithmetic follows the processor
    (``Method.portable`` is False) are compared by their loss where the record was made on another processor, within
    `PORTABLE_LOSS`, and reported as such.

    Parameters
    ----------
    runs : list of Run
        What the tables are made of; those that are recorded are drawn from.
    seed : int
        Of the draw.
    seconds : float
        Of one core that the sample took when it was recorded.
    options : workers and progress, as for `runs.compute`

    Returns
    -------
    DataFrame
        One row for each run: study, problem, method, settings, noise, evaluations, seed, changed_code, compared
        (``answers`` or ``loss``), same.
    """
    import pandas as pd

    lines = records.lines(runs)
    known = [(run, line) for run, line in zip(runs, lines, strict=True) if line and not run.method.available()]
    chosen = [known[i] for i in sample([r for r, _ in known], [line for _, line in known], seed, seconds)]
    again = [run for run, _ in chosen]
    limits = max((run.budget for run in again), key=lambda budget: (budget.seconds, budget.memory_mb), default=Budget())
    rows = []
    for (run, line), outcome in zip(chosen, compute(again, limits, **options), strict=True):
        elsewhere = not run.method.portable and line["processor"] != records.processor()
        same = close(line, outcome) if elsewhere else equal(line, outcome)
        rows.append(
            {"study": run.problem.study, **{name: line[name] for name in records.ASKED if name != "data"}}
            | {"changed_code": line["code"] != records.code_of(run)}
            | {"compared": "loss" if elsewhere else "answers", "same": same}
        )
    return pd.DataFrame(rows)


def mismatches(checked: "pd.DataFrame") -> "pd.DataFrame":
    """Rows of `spot_checks` that must be the same and are not.

    One compared by its loss never is such a row: on another processor its method may answer otherwise by right.
    """
    return checked[~checked["same"] & (checked["compared"] == "answers")]


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
