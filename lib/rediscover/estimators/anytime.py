"""A search that always has an answer at hand: the same method with ten times the budget, until time is up.

Methods stop by evaluations, and whoever is killed by the clock leaves nothing. So a search is done again with larger
and larger budgets, each time as a run of its own in a worker, as in a grid; those before the last cost a ninth of it.
When the time is up, or the keyboard interrupts, what the finished runs have found is there.
"""

import atexit
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..methods import Budget, Candidate, Method
from ..problems import Problem
from ..runs.executors import Local, Task
from ..runs.run import Run
from ..system import user_classes

FIRST, TIMES = 100_000, 10  # evaluations of the first run, and by what each is larger than the one before
MEMORY_MB = 4096
_local: list[Local] = []  # one pool of workers, which starts with the first search


@dataclass
class SearchResult:
    """What a search has found.

    Attributes
    ----------
    candidates : of all runs, those of the last run first
    evaluations : expressions that were evaluated, as far as the method says
    rounds : runs that ended with candidates
    ended : ``done``, ``whole`` (by a method that does not search), ``exact``, ``time`` or ``interrupted``
    reason : why a run ended without an answer; empty where none did
    """

    candidates: list[Candidate] = field(default_factory=list)
    evaluations: int = 0
    rounds: int = 0
    ended: str = "done"
    reason: str = ""


def budgets(most: int) -> list[int]:
    """Evaluations of each run.

    Parameters
    ----------
    most : evaluations of the last one

    Returns
    -------
    list of int

    Examples
    --------
    >>> budgets(5_000_000), budgets(2000)
    ([100000, 1000000, 5000000], [2000])
    """
    found = [FIRST]
    while found[-1] < most:
        found.append(found[-1] * TIMES)
    return [*(count for count in found if count < most), most]


def search(
    problem: Problem,
    method: Method,
    most: int,
    seconds: float,
    seed: int,
    *,
    keeps: bool = False,
    watch: Callable[[int, Sequence[Candidate]], None] | None = None,
) -> SearchResult:
    """Candidates for a problem, by runs of more and more evaluations.

    Parameters
    ----------
    problem : Problem
    method : Method
    most : evaluations of the last run
    seconds : float
        On the clock, for all runs together.
    seed : int
    keeps : whether an interrupt from the keyboard ends the search and not the program, once there is something to keep
    watch : called after each run with its evaluations and its candidates, optional

    Returns
    -------
    SearchResult
    """
    found, until = SearchResult(ended="done" if method.searches else "whole"), time.monotonic() + seconds
    try:
        for count in budgets(most) if method.searches else [most]:
            left = until - time.monotonic()
            if left <= 0:
                found.ended = "time"
                break
            outcome = _run(Run(problem, method, seed, Budget(count, left, MEMORY_MB)))
            if outcome["status"] == "timeout":
                found.ended, found.reason = "time", outcome["reason"]
                break
            if not outcome.get("candidates"):
                found.reason = outcome["reason"]
                if outcome["status"] in ("unavailable", "memory", "unsupported"):
                    break
                continue
            front = [Candidate(**candidate) for candidate in outcome["candidates"]]
            found.candidates = front + found.candidates
            found.rounds += 1
            found.evaluations += front[0].evaluations or 0
            if watch:
                watch(count if method.searches else found.evaluations, front)
            if front[0].notes.get("exact"):
                found.ended = "exact"
                break
    except KeyboardInterrupt:
        _stop()
        if not (keeps and found.candidates):
            raise
        found.ended = "interrupted"
    return found


def _run(run: Run) -> dict:
    """How one run ended, in a worker that is killed when its time is up."""
    modules = sorted(user_classes.modules(run))
    if _local and not set(modules) <= set(_local[0].modules):
        _stop()
    if not _local:
        _local.append(Local(1, modules))
    work = Task("", user_classes.packed(run), run.budget.seconds, run.budget.memory_mb, run.shares)
    [(_, outcome)] = list(_local[0].run([work]))
    return outcome


def _stop() -> None:
    while _local:
        _local.pop().close()


atexit.register(_stop)
