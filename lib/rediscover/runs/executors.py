"""Where runs are computed: on this machine, or by a Dask cluster whose workers do it the same way.

An executor's ``run(tasks)`` yields (position in tasks, outcome) as runs finish. Both enforce the limits from
outside, by killing: a method cannot be trusted to stop.
"""

import collections
import json
import logging
import os
import pickle
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from signal import Signals
from typing import Any, ClassVar, NamedTuple

import psutil

from ..methods import Budget
from ..system import user_classes
from ..system.extras import command
from ..system.processes import use
from ..system.workers import Pool, Worker
from .worker import ending, sound

# What runs import on first use: each new worker would import it again.
PRELOAD: tuple[str, ...] = ("rediscover.expressions.integration", "rediscover.expressions.numerics", "pandas")
PRELOAD += ("sympy", "sympy.codegen", "sympy.combinatorics", "sympy.tensor")
PRELOAD += ("scipy.integrate", "scipy.interpolate", "scipy.optimize", "scipy.sparse", "scipy.spatial", "scipy.special")
TICK = 0.01  # seconds of the processor's clock: no run takes less
POLL = 0.05  # seconds between two looks at the limits
LOOK = 1.0  # seconds between two looks that count at most
PATIENCE = 10.0  # seconds to wait for a scheduler, and for a run that is stopped
PROCESSES = 256  # that a run may have at a time
# A process gets these for what it does itself; all other signals come from outside.
OWN_FAULTS = (
    signal.SIGSEGV,
    signal.SIGABRT,
    signal.SIGFPE,
    signal.SIGBUS,
    signal.SIGILL,
    signal.SIGSYS,
    signal.SIGTRAP,
)


class Task(NamedTuple):
    """Pickled work with its key, and the limits that its worker is held to.

    Attributes
    ----------
    shares : whether its worker may do such work before and after, as long as that changes nothing for others
    """

    key: str
    payload: bytes
    seconds: float
    memory_mb: float
    shares: bool = False


def task(work: Any, budget: Budget) -> Task:
    """A piece of work, to be done within the budget's seconds and memory; see `runs.compute`."""
    shares = getattr(work, "shares", False)
    return Task(work.key, user_classes.packed(work), budget.seconds, budget.memory_mb, shares)


class Local:
    """Isolated workers on this machine, `count` at a time; `modules` are imported before they fork.

    A worker does one task; those that share it, one after the other until one leaves something changed. What the
    machine did to a run (a worker killed or stopped from outside, no disk, no memory) is not the run's ending: it is
    done again, once, and then unavailable.
    """

    _waiting: ClassVar[dict[tuple, Pool]] = {}  # one at most

    def __init__(self, count: int, modules: list[str]) -> None:
        self.count, self.modules, self.pool = count, modules, Pool()
        self.kind: tuple = ()  # what its workers are, once they have shared tasks and done them all

    def close(self) -> None:
        """End all workers, but those that have shared their tasks and done them all: they wait for more of the kind."""
        if not self.kind:
            return self.pool.close()
        for kind in list(self._waiting):
            self._waiting.pop(kind, Pool()).close()
        self._waiting[self.kind], self.pool, self.kind = self.pool, Pool(), ()

    def run(self, tasks: list[Task]) -> Iterator[tuple[int, dict]]:
        kind = tuple(self.modules), tuple(sorted(os.environ.items())), tuple(sys.path), os.getcwd()
        shared = bool(tasks) and all(task.shares for task in tasks)
        if shared and not self.kind:
            self.pool = self._waiting.pop(kind, self.pool)
        self.kind = ()
        yield from self._run(tasks)
        self.kind = kind if shared else ()

    def _run(self, tasks: list[Task]) -> Iterator[tuple[int, dict]]:
        waiting = collections.deque((position, task, "") for position, task in enumerate(tasks))
        busy: dict = {}
        while waiting or busy:
            while waiting and len(busy) < self.count:
                running = _Running(self._worker(waiting[0][1]), *waiting.popleft())
                busy[running.worker.connection] = running
            ready = wait(busy, POLL)
            for connection, running in list(busy.items()):
                outcome = self._received(running) if connection in ready else self._exceeded(running)
                if outcome:
                    yield running.position, {**outcome, "seconds": max(running.seconds, TICK), "peak_mb": running.peak}
                elif connection.closed:
                    waiting.append((running.position, running.task, running.before))
                if outcome or connection.closed:
                    del busy[connection]

    def _worker(self, task: Task) -> Worker:
        pool = self.pool.worker if task.shares else self.pool.fresh
        try:
            return pool(*PRELOAD, *self.modules)
        except RuntimeError:  # the server was killed; there is another one now
            return pool(*PRELOAD, *self.modules)

    def _received(self, running: "_Running") -> dict | None:
        """How the run ended; None if it shall be done again."""
        worker, outcome, left = running.worker, None, []
        try:
            text, left = worker.connection.recv()[1]
            outcome = sound(json.loads(text))
        except (EOFError, OSError):
            pass
        except Exception as error:  # the method has changed what reports for it
            outcome = ending("error", f"what came back cannot be read ({type(error).__name__}: {error})")
        running.look()
        if outcome and running.task.shares and not left and running.resident <= running.task.memory_mb / 4:
            self.pool.idle.append(worker)
            return outcome
        code = self.pool.stop(worker)  # what one run leaves in memory must not count against the next
        if outcome:
            refused = outcome["status"] == "memory"
            return (refused and _machine_short_of_memory(running)) or outcome
        if worker.calls > 1:  # it has served before and died, perhaps of that
            return None
        if code >= 0:
            return ending("error", f"the worker exited with {code}")
        end = f"the worker was killed by {Signals(-code).name}"
        if -code in OWN_FAULTS:
            return ending("error", end)
        if running.before:
            return ending("unavailable", f"{end}, as at first: see that the machine has memory for it, and run again")
        running.before = end
        return None

    def _exceeded(self, running: "_Running") -> dict | None:
        """How the run ends if it is over a limit."""
        running.look()
        seconds, memory = running.task.seconds, running.task.memory_mb
        if running.peak > memory:
            over = ending("memory", f"used more than {memory:g} MiB")
        elif running.processes > PROCESSES:
            over = ending("error", f"started more than {PROCESSES} processes")
        elif running.clock > seconds:
            over = ending("timeout", f"not done after {seconds:g} s")
        elif running.stopped > max(seconds, PATIENCE):
            over = ending("unavailable", f"its processes were stopped for {running.stopped:.0f} s: run again")
        else:
            return None
        self.pool.stop(running.worker)
        return over


class _Running:
    """A task under way in a worker, and what that uses.

    Attributes
    ----------
    before : how it ended when it was done first, if the machine ended it
    clock : float
        Seconds since it began, without those in which its processes, or this one, were stopped.
    stopped : float
        Seconds in which its processes were stopped.
    seconds : float
        Of processor time, of all its processes.
    resident, peak : float
        Memory in MiB of all its processes, now and at most.
    """

    earlier = 0.0  # processor time that earlier tasks took

    def __init__(self, worker: Worker, position: int, task: Task, before: str) -> None:
        self.worker, self.position, self.task, self.before = worker, position, task, before
        self.looked = time.monotonic()
        self.clock = self.stopped = self.seconds = self.resident = self.peak = 0.0
        self.processes = 1
        self.look()
        self.earlier, self.seconds, self.peak = self.seconds, 0.0, 0.0
        with suppress(OSError):  # died while idle: its end is met like any other
            worker.begin(f"{__package__}.worker:attempt", (task.payload,))

    def look(self) -> None:
        """Read them again; they stay as they were if the worker is gone."""
        now = time.monotonic()
        passed, self.looked = now - self.looked, now
        with suppress(psutil.Error):
            found = use(self.worker.keeper, self.worker.pid, self.worker.memory)
            self.seconds, self.resident = found.seconds - self.earlier, found.resident
            self.processes, self.peak = found.processes, max(self.peak, self.resident)
            if found.stopped:
                self.stopped += passed
                return
        self.clock += min(passed, LOOK)  # a longer time between two looks: this process was stopped, and all with it


def _machine_short_of_memory(running: _Running) -> dict | None:
    """How a run ends that was refused memory, if that is because this machine has less than the run may use."""
    limit = running.task.memory_mb * 2**20
    free = psutil.virtual_memory().available + running.peak * 2**20
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        soft, _ = resource.getrlimit(kind)
        free = free if soft < 0 else min(free, soft)
    if free >= limit:
        return None
    reason = f"the run may use {running.task.memory_mb:g} MiB, which this machine does not have now"
    return ending("unavailable", f"{reason}: run again with more memory or fewer workers")


class Dask:
    """The same workers, started by the workers of a running Dask cluster."""

    def __init__(self, address: str, modules: list[str]) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise ConnectionError(f"scheduler {address} needs: {command('cluster')}") from None
        # What goes wrong is said below, in one line.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self.address, self.modules = address, modules
        try:
            self.client = Client(address, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise ConnectionError(f"no Dask scheduler answers at {address}: {reason:.120}") from None

    def run(self, tasks: list[Task]) -> Iterator[tuple[int, dict]]:
        from distributed import CancelledError, as_completed

        if not tasks:
            return
        # An outcome does not depend on where its task runs, so Dask may move and repeat tasks as it likes.
        submit = self.client.submit
        futures = {submit(_isolated, task, self.modules, pure=False): i for i, task in enumerate(tasks)}
        gone = ConnectionError(f"the scheduler at {self.address} went away; run again to go on")
        for future in as_completed(futures):
            try:
                error = future.exception()
                # An error is the cluster's failure, not the method's: a row that is not stored.
                reason = f"cluster: {type(error).__name__}: {error}"
                outcome = ending("unavailable", reason) if error else future.result()
            except (OSError, CancelledError):  # of the connection: what a task raised came back from `exception`
                raise gone from None
            if isinstance(error, CancelledError):
                raise gone
            yield futures[future], outcome

    def close(self) -> None:
        self.client.close()


_thread = threading.local()


def _isolated(task: Task, modules: list[str]) -> dict:
    """One task by an isolated worker of this thread of a Dask worker, which it keeps for the next task."""
    if pickle.loads(task.payload).key != task.key:
        return ending("unavailable", f"{socket.gethostname()} has another version of the code")
    local = vars(_thread).setdefault("local", Local(1, modules))
    local.modules = modules
    [(_, outcome)] = local.run([task])
    return outcome
