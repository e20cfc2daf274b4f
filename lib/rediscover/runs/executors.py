"""Where runs are computed: on this machine, or by a Dask cluster whose workers do it the same way.

An executor's ``run(tasks)`` yields (position in tasks, outcome) as runs finish. Both enforce the limits from
outside, by killing: a method cannot be trusted to stop.
"""

import collections
import json
import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import NamedTuple

from ..system import reproducible_blas
from .worker import NOTICE, ending

POLL = 0.02  # seconds between two looks at the limits
PATIENCE = 10.0  # seconds to wait for a scheduler


class Task(NamedTuple):
    """Pickled work with its key, and the limits that its worker is held to."""

    key: str
    payload: bytes
    seconds: float
    memory_mb: float


class Worker:
    """One worker process and what it is doing."""

    def __init__(self, pid: int, connection: Connection) -> None:
        self.pid, self.connection = pid, connection
        self.runs = 0

    def begin(self, position: int, task: Task) -> None:
        self.position, self.task, self.runs = position, task, self.runs + 1
        self.started, self.peak = time.monotonic(), resident_mb(self.pid)
        with suppress(OSError):  # died while idle: its end is met like any other
            self.connection.send_bytes(task.payload)

    def exceeded(self) -> tuple[str, str] | None:
        """Status and reason if the run is over a limit."""
        self.peak = max(self.peak, resident_mb(self.pid))
        if self.peak > self.task.memory_mb:
            return "memory", f"used more than {self.task.memory_mb:g} MiB"
        if time.monotonic() - self.started > self.task.seconds:
            return "timeout", f"not done after {self.task.seconds:g} s"
        return None


class Local:
    """Isolated workers on this machine, `count` at a time; `modules` are imported before they fork."""

    def __init__(self, count: int, modules: list[str]) -> None:
        self.count, self.modules = count, modules
        self.server: subprocess.Popen | None = None
        self.idle: list[Worker] = []
        self.ended: dict[int, int] = {}

    def run(self, tasks: list[Task]) -> Iterator[tuple[int, dict]]:
        waiting = collections.deque(enumerate(tasks))
        busy: dict = {}
        while waiting or busy:
            while waiting and len(busy) < self.count:
                worker = self.idle.pop() if self.idle else self._start()
                worker.begin(*waiting.popleft())
                busy[worker.connection] = worker
            ready = wait(busy, POLL)
            for connection, worker in list(busy.items()):
                outcome = self._receive(worker) if connection in ready else self._limit(worker)
                if outcome or connection.closed:
                    del busy[connection]
                if outcome:
                    seconds = time.monotonic() - worker.started
                    yield worker.position, {**outcome, "seconds": seconds, "peak_mb": worker.peak}
                elif connection.closed:
                    waiting.append((worker.position, worker.task))

    def close(self) -> None:
        if self.server:
            self.control.close()  # the server kills all workers and ends
            self.server.wait()
            for worker in self.idle:
                worker.connection.close()
        self.server, self.idle = None, []

    def _start(self) -> Worker:
        if self.server is None:
            self.control, theirs = socket.socketpair()
            code = f"import sys; sys.path[:] = {[p or os.getcwd() for p in sys.path]!r}; "
            code += f"from {__package__}.worker import serve; serve({theirs.fileno()}, {self.modules!r})"
            self.server = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", code],
                env=os.environ | reproducible_blas.CHILD,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt from the keyboard is for the coordinator
            )
            theirs.close()
        ours, end = Pipe()
        try:
            socket.send_fds(self.control, [b"+"], [end.fileno()])
            end.close()
            return Worker(int(ours.recv_bytes()), ours)
        except (OSError, EOFError) as error:
            raise RuntimeError("worker processes cannot be started here; see the lines above") from error

    def _receive(self, worker: Worker) -> dict | None:
        """The outcome; None if the worker died, perhaps of an earlier run: a fresh one shall tell."""
        try:
            outcome = json.loads(worker.connection.recv_bytes())
        except (EOFError, OSError):
            reason = self._stop(worker)
            return ending("error", reason) if worker.runs == 1 else None
        left = resident_mb(worker.pid)
        worker.peak = max(worker.peak, left)
        if left > worker.task.memory_mb / 4:
            self._stop(worker)  # what one run leaves in memory must not count against the next
        else:
            self.idle.append(worker)
        return outcome

    def _limit(self, worker: Worker) -> dict | None:
        over = worker.exceeded()
        if over:
            self._stop(worker)
        return over and ending(*over)

    def _stop(self, worker: Worker) -> str:
        """Kill a worker if it is not dead yet; how it ended, as the server saw it."""
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)
        worker.connection.close()
        while worker.pid not in self.ended:
            notice = self.control.recv(NOTICE.size, socket.MSG_WAITALL)
            if not notice:
                raise RuntimeError("the process that starts the workers was killed; run again to go on")
            pid, status = NOTICE.unpack(notice)
            self.ended[pid] = os.waitstatus_to_exitcode(status)
        code = self.ended.pop(worker.pid)
        end = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with {code}"
        return f"the worker {end}"


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
    if getattr(_thread, "modules", modules) != modules:
        _thread.local.close()
        del _thread.local
    if not hasattr(_thread, "local"):
        _thread.local, _thread.modules = Local(1, modules), modules
    [(_, outcome)] = _thread.local.run([task])
    return outcome


def resident_mb(pid: int) -> float:
    """Resident memory of a process in MiB; 0 if it is gone."""
    if sys.platform == "linux":
        with suppress(OSError), open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        return 0.0
    import psutil

    with suppress(psutil.Error):
        return psutil.Process(pid).memory_info().rss / 2**20
    return 0.0
