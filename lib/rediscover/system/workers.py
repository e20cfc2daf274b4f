"""Child processes that can be killed: for runs that misbehave, and for calls that may never return.

A `Pool` has a server, which imports modules once and then forks a worker within milliseconds. A worker serves one call
after another; killed, it takes along what it has started. When the process that owns the pool goes away, however it
dies, the server kills all workers and itself. (The standard library's forkserver does none of this, imports the
caller's script again, and cannot be used from within a Dask worker.)

`call` is one call in a worker of a common pool, well under a millisecond once that runs; threads have one each:

>>> from rediscover.system import workers
>>> workers.call("operator:add", 2, 3, seconds=5.0)
5
"""

import atexit
import importlib
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from . import reproducible_blas

PATIENCE = 20.0  # seconds on the clock for each of computing: for a busy machine, and for calls that wait
MEMORY_BYTES = 4 << 30  # address space of a worker of `call`


@dataclass(eq=False)
class Worker:
    """A process, the line to it, and how many calls it was given."""

    pid: int
    connection: Connection
    calls: int = 0

    def begin(self, function: str, arguments: tuple, seconds: float = 0.0) -> None:
        """Have ``module:name`` called; (True, result) or (False, exception) will come through the connection.

        With `seconds` of computing time as the limit, the kernel ends the worker when they are used up, whatever it
        is doing, and memory beyond `MEMORY_BYTES` is a MemoryError. Without, limits are the caller's affair.
        """
        self.calls += 1
        self.connection.send((function, arguments, seconds))


class Pool:
    """Workers that share a server; those in `idle` wait for the next call."""

    def __init__(self) -> None:
        self.idle = list[Worker]()
        self._server: subprocess.Popen | None = None
        self._lock = threading.Lock()
        _pools.add(self)

    def worker(self, *modules: str) -> Worker:
        """An idle worker, or a fresh one, for which the server imports the modules before it forks."""
        with suppress(IndexError):
            return self.idle.pop()
        ours, theirs = Pipe()
        with theirs:
            return Worker(self._ask(" ".join(["fork", *modules]), theirs.fileno()), ours)

    def stop(self, worker: Worker) -> int:
        """Kill a worker if it is not dead yet; its exit code, or minus the signal that ended it."""
        worker.connection.close()
        return self._ask(f"kill {worker.pid}")

    def close(self) -> None:
        """End all workers; the next that is asked for starts another server."""
        if self._server:
            self._control.close()  # the server kills all workers and ends
            self._server.wait()
        while self.idle:
            self.idle.pop().connection.close()
        self._server = None

    def forget(self) -> None:
        """In a forked process: the workers belong to the parent; holding the lines to them would keep them alive."""
        if self._server:
            self._server.returncode = 0  # not ours to wait for
        self.close()
        self._lock = threading.Lock()

    def _ask(self, order: str, *fds: int) -> int:
        with self._lock:
            if self._server is None:
                self._start()
            try:
                socket.send_fds(self._control, [order.encode()], fds)
                return int(self._control.recv(32))
            except BaseException as error:  # also an interrupt: who asks next must not meet this answer
                self.close()
                if not isinstance(error, OSError | ValueError):
                    raise
                message = "the process that starts workers cannot run here, or was killed; see the lines above"
                raise RuntimeError(message) from None

    def _start(self) -> None:
        self._control, theirs = socket.socketpair()
        code = f"import sys; sys.path[:] = {[path or os.getcwd() for path in sys.path]!r}; "
        code += f"from {__name__} import serve; serve({theirs.fileno()})"
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", code],
                env=os.environ | reproducible_blas.CHILD,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt from the keyboard is for the coordinator
            )


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()
_calls = Pool()


def call(function: Callable | str, *arguments: Any, seconds: float) -> Any:
    """Result of ``function(*arguments)``, or an error within `seconds`.

    Parameters
    ----------
    function : function defined at the top of a module, or its ``"module:name"``
    arguments : anything that can be pickled
    seconds : float
        Computing time that the call may take; starting a worker and importing the module are not counted. It is not
        time on the clock, so that what else the machine does changes no result; on the clock a call may take
        `PATIENCE` times as long.

    Raises
    ------
    TimeoutError
        If there is no result within the limit. The worker is killed.
    ChildProcessError
        If the worker died, or what came back cannot be pickled.
    Exception
        Whatever the function raises, MemoryError beyond `MEMORY_BYTES`.
    """
    modules = ["sympy", *(part.__module__ for part in (function, *arguments) if callable(part))]
    if not isinstance(function, str):
        function = f"{function.__module__}:{function.__qualname__}"
    while True:
        worker = _calls.worker(*modules)
        try:
            worker.begin(function, arguments, seconds)
            good, result = worker.connection.recv()
            break
        except BrokenPipeError:  # died while it was idle
            _calls.stop(worker)
        except (EOFError, OSError):
            if _calls.stop(worker) in (-signal.SIGPROF, -signal.SIGALRM):
                raise TimeoutError(f"{function}: no result within {seconds:g} s") from None
            raise ChildProcessError(f"{function}: its process died") from None
        except BaseException:  # also an interrupt: the answer that is under way must not meet the next question
            _calls.stop(worker)
            raise
    _calls.idle.append(worker)
    if good:
        return result
    raise result


def stop() -> None:
    """End the workers of `call`; the next call starts others."""
    _calls.close()


os.register_at_fork(after_in_child=lambda: [*map(Pool.forget, _pools)])
atexit.register(stop)


# ---- in the server and in the workers


def serve(fd: int) -> None:
    """The server: do what arrives on socket `fd`, until its other end is closed."""
    control, alive = socket.socket(fileno=fd), set[int]()
    while True:
        message, fds, _, _ = socket.recv_fds(control, 1 << 16, 1)
        if not message:
            for pid in alive:
                _kill(pid)
            os._exit(0)
        order, *rest = message.decode().split()
        if order == "kill":
            pid = int(rest[0])
            answer = _kill(pid) if pid in alive else -signal.SIGKILL  # a worker of a server that is gone
            alive.discard(pid)
        else:
            for name in rest:
                with suppress(Exception):  # whoever needs the module will meet the error
                    importlib.import_module(name)
            answer = os.fork()
            if not answer:
                control.close()
                _work(fds[0])
            alive.add(answer)
            os.close(fds[0])
        control.sendall(str(answer).encode())


def _kill(pid: int) -> int:
    """Kill a worker and what it has started; how it ended, perhaps before."""
    for kill in (os.kill, os.killpg):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _work(fd: int) -> NoReturn:
    """The life of a worker: one call after the other."""
    os.setsid()  # a group of its own, which dies with it
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silence, stream)
    os.set_inheritable(fd, False)
    os.register_at_fork(after_in_child=lambda: os.close(fd))  # or the line would outlive the worker
    connection = Connection(fd)
    with suppress(EOFError, OSError):  # nobody listens any more
        while True:
            connection.send_bytes(_answer(*connection.recv()))
    os._exit(0)


def _answer(function: str, arguments: tuple, seconds: float) -> bytes:
    """The pickled answer to one call. A limit has the kernel send a signal, which ends the process."""
    module, _, name = function.partition(":")
    try:
        called = getattr(importlib.import_module(module), name)
        if seconds:
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES if hard < 0 else min(MEMORY_BYTES, hard), hard))
            signal.setitimer(signal.ITIMER_REAL, seconds * PATIENCE)
            signal.setitimer(signal.ITIMER_PROF, seconds)
        answer = pickle.dumps((True, called(*arguments)))
    except Exception as error:
        try:
            answer = pickle.dumps((False, error))
        except Exception:
            answer = pickle.dumps((False, ChildProcessError(f"{type(error).__name__}: {error}")))
    finally:
        for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0)
    return answer
