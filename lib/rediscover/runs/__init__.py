"""Doing it: the grid of runs, each as if alone in its process, and the store that remembers what is done.

`grid` plans the product of problems, methods, noise levels and seeds, takes from the store what is there, has
the rest computed (`executors`: here, or by a Dask cluster) and returns one row per run. It knows no study.
"""

import collections
import dataclasses
import numbers
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..methods import Budget, Method, budget_of, give, method
from ..problems import Problem, problem
from ..system import user_classes
from ..system.progress import shown
from ..system.store import Store, StoreError
from . import records
from .executors import Dask, Local, task
from .run import Run, digest, identity, key
from .worker import STATUSES

if TYPE_CHECKING:  # loaded on first use
    import pandas as pd

__all__ = ["STATUSES", "Store", "StoreError", "compute", "digest", "grid", "identity", "kept", "key"]

# Of work on an answer, such as scoring it: a backstop that nothing reaches, since what may hang there is given up on.
AFTERWARDS = Budget(seconds=86400.0, memory_mb=4096)


def grid(
    problems: str | Problem | Iterable[str | Problem],
    methods: str | Method | Iterable[str | Method],
    *,
    seeds: int | Iterable[int] = (0,),
    noise: float | Iterable[float] | None = None,
    budget: Budget | Mapping | None = None,
    evaluations: Mapping[str, int] | None = None,
    store: str | PathLike | None = None,
    retry: Iterable[str] | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: bool = True,
) -> "pd.DataFrame":
    """Run every method on every problem, and return one row per run.

    Parameters
    ----------
    problems : list of ids or of Problem
    methods : list of names or of Method (an instance carries its settings)
    seeds : list of int >= 0
    noise : list of float >= 0, optional
        Noise levels, each put in place of the problems' own.
    budget : Budget, mapping of its fields, or None for the default
        Applies to each run; seconds and memory are enforced by killing the worker.
    evaluations : method name -> evaluations in place of the budget's, for methods that count otherwise
    store : path, optional
        SQLite file of finished runs. What it holds is not computed again; an interrupted grid resumes where
        it stopped. Without it results live only in the returned frame. Runs that are committed (`records`) are not
        computed either.
    retry : list of statuses, optional
        Stored runs that ended so are computed again, for instance ``("timeout",)``; by default those that the
        environment variable REDISCOVER_RETRY names (``make all RETRY="error timeout"``).
    workers : int, optional
        Runs at a time; by default as many as this process may use processors.
    scheduler : str, optional
        Address of a Dask scheduler (``tcp://host:port``) that has the work done instead of this machine; by
        default the environment variable SCHEDULER; "" for this machine. See docs/cluster.md.
    progress : bool
        Show a bar with the remaining time on stderr, where that is a terminal or a notebook.

    Returns
    -------
    DataFrame
        With the columns of `schema.RUNS`, and those options that all problems report (`Problem.reported`), in the order
        problem, method, noise, seed, whatever finished first. Failed runs are rows, and are stored too, but for
        `unavailable`.

    Raises
    ------
    KeyError
        If a problem or a method is unknown.
    ValueError, TypeError
        If an argument is empty, negative or of another kind.
    StoreError
        If the store cannot be written, is damaged, or comes from a newer version.
    ConnectionError
        If the scheduler does not answer, or goes away.

    Examples
    --------
    >>> grid([], ["mean"])
    Traceback (most recent call last):
    ValueError: grid: no problems given
    """
    runs = plan(problems, methods, seeds=seeds, noise=noise, budget=budget, evaluations=evaluations)
    found = records.find(runs)
    used = {id(run.method): run.method for run in runs}  # settings need not be hashable
    reasons = {i: m.available() for i, m in used.items()}
    possible = [run for run, known in zip(runs, found, strict=True) if not known and not reasons[id(run.method)]]
    announce(run.method for run in possible)
    limits = runs[0].budget
    outcomes = iter(
        compute(possible, limits, retry=retry, progress=progress, store=store, workers=workers, scheduler=scheduler)
    )
    rows = []
    for run, known in zip(runs, found, strict=True):
        reason = reasons[id(run.method)]
        missed = {"status": "unavailable", "reason": reason, "reused": False}
        rows.append(run.identity | run.options | _answer(known or (missed if reason else next(outcomes))))
    return _frame(rows)


def announce(methods: Iterable[Any]) -> None:
    """Say on standard error what methods have a user told before they run: where requests to a model go."""
    for notice in dict.fromkeys(getattr(getattr(each, "method", each), "notice", "") for each in methods):
        if notice:
            print(notice, file=sys.stderr, flush=True)


def kept(runs: Sequence[Run], store: str | PathLike | None = None) -> "pd.DataFrame":
    """Those of the runs that are recorded or stored; nothing is computed.

    Parameters
    ----------
    runs : list of Run
        From `plan`.
    store : path of a store, optional

    Returns
    -------
    DataFrame
        As `grid` returns it, with origin: ``records`` or the path of the store.
    """
    rows, recorded = [], records.find(runs)
    stored: dict[int, dict] = {}  # by the place of the run
    if store and Path(store).exists():
        keys = {i: run.key for i, run in enumerate(runs) if not recorded[i]}
        with closing(Store(store, shared=True)) as opened:  # shared: another process may be writing
            found = opened.get(keys.values())
        stored = {i: found[key] for i, key in keys.items() if key in found}
    for i, (run, known) in enumerate(zip(runs, recorded, strict=True)):
        if outcome := known or stored.get(i):
            row = run.identity | run.options | _answer(outcome | {"reused": True})
            rows.append((row, "records" if known else str(store)))
    return _frame([row for row, _ in rows]).assign(origin=[origin for _, origin in rows])


def compute(
    works: Sequence[Any],
    budget: Budget = AFTERWARDS,
    *,
    store: str | PathLike | None = None,
    retry: Iterable[str] | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: bool = True,
) -> list[dict]:
    """Have pieces of work done by isolated workers, or take their outcomes from the store.

    Parameters
    ----------
    works : list of work
        Work is a named tuple that can be pickled. Called without arguments it returns its outcome, a mapping
        of plain data with status and reason; ``key`` is a text that changes with all that the outcome depends
        on; ``identity`` says what it is to readers of the store. Each has a process of its own, unless it says
        `shares`: that it runs code of this package alone. Such work has a process that has done no other kind, and
        changed nothing that another piece could see (`process_state`). ``counted`` is what the bar calls a piece (a
        run).
    budget : Budget
        Seconds and memory of each.
    store, retry, workers, scheduler, progress : as for `grid`

    Returns
    -------
    list of outcomes in the order of `works`, with seconds, peak_mb and reused added
    """
    if workers is not None and (not _integer(workers) or workers < 1):
        raise ValueError(f"grid: workers must be a whole number >= 1, got {workers!r}")
    retry = os.environ.get("REDISCOVER_RETRY", "").split() if retry is None else retry
    if wrong := sorted(set(retry) - set(STATUSES)):
        raise ValueError(f"grid: cannot retry {wrong[0]!r} (statuses: {', '.join(STATUSES)})")
    keys = [work.key for work in works]
    executor = executor_for(works, workers, scheduler)
    with closing(executor), closing(Store(store)) as kept:
        done = {k: r | {"reused": True} for k, r in kept.get(keys).items() if r["status"] not in retry}
        planned = [(k, work) for k, work in dict(zip(keys, works, strict=True)).items() if k not in done]
        tasks = [task(work, budget) for _, work in planned]
        what = getattr(works[0], "counted", "run") if works else "run"
        with progress_bar(progress, total=len(done) + len(planned), reused=len(done), what=what) as count:
            for i, outcome in executor.run(tasks):
                k, work = planned[i]
                done[k] = outcome | {"reused": False}
                if outcome["status"] != "unavailable":
                    kept.put(k, work.identity, outcome)
                count(outcome["status"])
    return [done[k] for k in keys]


def plan(
    problems: Any, methods: Any, *, seeds: Any = (0,), noise: Any = None, budget: Any = None, evaluations: Any = None
) -> list[Run]:
    """The runs of a grid in the order of its frame; all is checked before anything is started.

    Parameters
    ----------
    problems, methods, seeds, noise, budget, evaluations : as for `grid`

    Returns
    -------
    list of Run
    """
    problems = [problems] if isinstance(problems, str | Problem) else list(problems)
    methods = [methods] if isinstance(methods, str | Method) else list(methods)
    seeds = [seeds] if _integer(seeds) else list(seeds)
    levels = [None] if noise is None else [noise] if isinstance(noise, str | numbers.Real) else list(noise)
    lists = problems, methods, seeds, levels
    for what, items in zip(("problems", "methods", "seeds", "noise levels"), lists, strict=True):
        if not items:
            raise ValueError(f"grid: no {what} given")
    for seed in seeds:
        if not _integer(seed) or seed < 0:
            raise ValueError(f"grid: a seed must be a whole number >= 0, got {seed!r}")
    for level in levels:
        if level is not None and not isinstance(level, numbers.Real):
            raise TypeError(f"grid: a noise level must be a number, got {level!r}")
    budget = budget_of(budget)
    problems = [problem(item) if isinstance(item, str) else item for item in problems]
    methods = [method(item) if isinstance(item, str) else item for item in methods]
    for item, kind in [*((p, Problem) for p in problems), *((m, Method) for m in methods)]:
        if not isinstance(item, kind):
            raise TypeError(f"grid: expected a name or a {kind.__name__}, got {item!r}")
    for p in problems:
        if type(p).__module__ == "__main__":
            raise TypeError(f"grid: {type(p).__name__} must live in a module that workers can import: put it in a file")
    for m in methods:
        if user_classes.travels((m,)):
            give(m)
    own = {name: dataclasses.replace(budget, evaluations=count) for name, count in (evaluations or {}).items()}
    return [
        # A fresh copy: what a problem has cached in the meantime does not travel.
        Run(
            dataclasses.replace(p, noise=p.noise if level is None else float(level)),
            m,
            int(seed),
            own.get(m.name, budget),
        )
        for p in problems
        for m in methods
        for level in levels
        for seed in seeds
    ]


def _answer(outcome: dict) -> dict:
    """How a run ended, as columns."""
    candidates = outcome.get("candidates", [])
    best = candidates[0] if candidates else {}
    return {
        "status": outcome["status"],
        "reason": outcome["reason"],
        "solution": best.get("solution"),
        "candidates": candidates,
        **{name: best.get(name) for name in ("loss", "complexity", "evaluations")},
        **{name: outcome.get(name) for name in ("seconds", "peak_mb", "reused")},
    }


def _frame(rows: list[dict]) -> "pd.DataFrame":
    import pandas as pd

    from .schema import OPTION, RUNS, check

    if not rows:
        return pd.DataFrame(columns=list(RUNS))
    columns = [name for name in rows[0] if all(name in row for row in rows)]
    types = dict.fromkeys(("loss", "complexity", "seconds", "peak_mb"), float)
    objects = dict.fromkeys(("settings", "solution", "candidates"), object)
    frame = pd.DataFrame(rows, columns=columns)
    return check(frame.astype({**types, **objects, "evaluations": "Int64", "reused": bool}), RUNS, rest=OPTION)


def executor_for(works: Sequence[Any], workers: int | None = None, scheduler: str | None = None) -> Local | Dask:
    """Where pieces of work are computed: by a Dask scheduler, if one is named, else by workers on this machine."""
    scheduler = os.environ.get("SCHEDULER") if scheduler is None else scheduler
    modules = sorted(set().union(*map(user_classes.modules, works)))
    if scheduler and any(map(user_classes.travels, works)):
        raise ValueError("grid: a cluster imports methods from packages: install yours as one, or unset SCHEDULER")
    return Dask(scheduler, modules) if scheduler else Local(workers or _processors(), modules)


@contextmanager
def progress_bar(show: bool, total: int, reused: int, what: str = "run") -> Iterator[Callable[..., None]]:
    """A bar of `what` (one of it), with the remaining time and counts, where `system.progress.shown` says so."""
    from tqdm import tqdm

    place = os.environ.get("REDISCOVER_PROGRESS", "")
    counts = collections.Counter(reused=reused, failed=0, timeout=0)
    show, file = show and shown(), sys.stderr
    with ExitStack() as stack:
        with suppress(OSError):  # a terminal that is gone
            file = stack.enter_context(open(place, "w")) if show and place else file
        look = {"unit": what, "dynamic_ncols": True}  # lines of one width: make may run two notebooks at a time
        bar = stack.enter_context(tqdm(None, f"{what}s", total, initial=reused, disable=not show, file=file, **look))

        def count(status: str | None = None) -> None:
            if status:
                counts["timeout" if status == "timeout" else "failed"] += status != "ok"
                bar.update()
            bar.set_postfix(counts)

        count()
        yield count


def _integer(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
