"""Where runs are computed: on this machine, or by a Dask cluster whose workers do it the same way.

An executor's ``run(tasks)`` yields (position in tasks, outcome) as runs finish. Both enforce the limits from
outside, by killing: a method cannot be trusted to stop.
"""

import collections
import json
import logging
import pickle
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from signal import Signals
from typing import NamedTuple

import psutil

from ..system.workers import Pool, Worker
from .worker import ending

PRELOAD = ("scipy.optimize", "scipy.spatial", "rediscover.expressions")
TICK = 0.01  # seconds of the processor's clock: no run takes less
POLL = 0.02  # seconds between two looks at the limits
PATIENCE = 10.0  # seconds to wait for a scheduler


class Task(NamedTuple):
    """Pickled work with its key, and the limits that its worker is held to."""

    key: str
    payload: bytes
    seconds: float
    memory_mb: float


class Local:
    """Isolated workers on this machine, `count` at a time; `modules` are imported before they fork."""

    def __init__(self, count: int, modules: list[str]) -> None:
        self.count, self.modules, self.pool = count, modules, Pool()
        self.close = self.pool.close

    def run(self, tasks: list[Task]) -> Iterator[tuple[int, dict]]:
        waiting = collections.deque(enumerate(tasks))
        busy: dict = {}
        while waiting or busy:
            while waiting and len(busy) < self.count:
                running = _Running(self.pool.worker(*PRELOAD, *self.modules), *waiting.popleft())
                busy[running.worker.connection] = running
            ready = wait(busy, POLL)
            for connection, running in list(busy.items()):
                outcome = self._received(running) if connection in ready else self._exceeded(running)
                if outcome:
                    yield running.position, {**outcome, "seconds": max(running.seconds, TICK), "peak_mb": running.peak}
                elif connection.closed:  # a worker that has served before and died, perhaps of that: again
                    waiting.append((running.position, running.task))
                if outcome or connection.closed:
                    del busy[connection]

    def _received(self, running: "_Running") -> dict | None:
        worker = running.worker
        try:
            outcome = json.loads(worker.connection.recv()[1])
        except (EOFError, OSError):
            code = self.pool.stop(worker)
            end = f"was killed by {Signals(-code).name}" if code < 0 else f"exited with {code}"
            return ending("error", f"the worker {end}") if worker.calls == 1 else None
        running.look()
        if running.resident > running.task.memory_mb / 4:
            self.pool.stop(worker)  # what one run leaves in memory must not count against the next
        else:
            self.pool.idle.append(worker)
        return outcome

    def _exceeded(self, running: "_Running") -> dict | None:
        """How the run ends if it is over a limit."""
        running.look()
        if running.peak > running.task.memory_mb:
            over = ending("memory", f"used more than {running.task.memory_mb:g} MiB")
        elif time.monotonic() - running.started > running.task.seconds:
            over = ending("timeout", f"not done after {running.task.seconds:g} s")
        else:
            return None
        self.pool.stop(running.worker)
        return over


class _Running:
    """A task under way in a worker: its processor time in seconds, its resident memory in MiB now and at most."""

    before = 0.0  # processor time that earlier tasks took

    def __init__(self, worker: Worker, position: int, task: Task) -> None:
        self.worker, self.position, self.task = worker, position, task
        self.started = time.monotonic()
        self.seconds = self.resident = self.peak = 0.0
        self.look()
        self.before, self.seconds = self.seconds, 0.0
        with suppress(OSError):  # died while idle: its end is met like any other
            worker.begin(f"{__package__}.worker:attempt", (task.payload,))

    def look(self) -> None:
        """Read them again; they stay as they were if the worker is gone."""
        with suppress(psutil.Error):
            seconds, self.resident = used(self.worker.pid)
            self.seconds, self.peak = seconds - self.before, max(self.peak, self.resident)


class Dask:
    """The same workers, started by the workers of a running Dask cluster."""

    def __init__(self, address: str, modules: list[str]) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise ConnectionError(f"scheduler {address} needs: pip install 'rediscover[cluster]'") from None
        # What goes wrong is said below, in one line.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self.address, self.modules = address, modules
        try:
            self.client = Client(address, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise ConnectionError(f"no Dask scheduler answers at {address}: {reason:.120}") from None

    def run(self, tasks: list[Task]) -> Iterator[tuple[int, dict]]:
        from distributed import as_completed

        if not tasks:
            return
        # An outcome does not depend on where its task runs, so Dask may move and repeat tasks as it likes.
        submit = self.client.submit
        futures = {submit(_isolated, task, self.modules, pure=False): i for i, task in enumerate(tasks)}
        for future in as_completed(futures):
            if future.status == "cancelled":
                raise ConnectionError(f"the scheduler at {self.address} went away; run again to go on")
            error = future.exception()
            if error:  # the cluster's failure, not the method's: a row that is not stored
                yield futures[future], ending("unavailable", f"cluster: {type(error).__name__}: {error}")
            else:
                yield futures[future], future.result()

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


def used(pid: int) -> tuple[float, float]:
    """Processor time in seconds, of all threads and of children that ended, and resident memory in MiB of a process."""
    process = psutil.Process(pid)
    with process.oneshot():
        times = process.cpu_times()
        return (
            times.user + times.system + times.children_user + times.children_system,
            process.memory_info().rss / 2**20,
        )
