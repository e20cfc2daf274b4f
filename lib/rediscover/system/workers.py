"""Child processes that can be killed: for runs that misbehave, and for calls that may never return.

A `Pool` has a server, which imports modules once, calls nothing, and forks a worker within milliseconds: a fresh worker
knows nothing of what others have called. Between the server and a worker stands its keeper, which does nothing but end
all that the worker has started, detached processes too, when the worker ends or shall end. When the process that owns
the pool goes away, however it dies, all workers and the server end; when the server is killed, the workers do. (The
standard library's forkserver does none of this, imports the caller's script again, and cannot be used from within a
Dask worker.) Where a process must not be forked once libraries are loaded (macOS), a worker is a new interpreter, and
detached processes are not found.

`call` is one call in a worker of a common pool, well under a millisecond once that runs; threads have one each:

>>> from rediscover.system import workers
>>> workers.call("operator:add", 2, 3, seconds=5.0)
5
"""

import atexit
import gc
import importlib
import os
import pickle
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, NoReturn

from . import processes, reproducible_blas

PATIENCE = 20.0  # seconds on the clock for each of computing: for a busy machine, and for calls that wait
MEMORY_BYTES = 4 << 30  # address space of a worker of `call`
KEEPERS_PATIENCE = processes.PATIENCE + 1.0  # seconds until a keeper that does not end is killed itself


@dataclass(eq=False)
class Worker:
    """A process, its keeper, the line to it, how many calls it was given, and the memory `processes.use` counted."""

    pid: int
    keeper: int
    connection: Connection
    calls: int = 0
    memory: dict[int, tuple[float, float, float]] = field(default_factory=dict)

    def begin(self, function: str, arguments: tuple, seconds: float = 0.0) -> None:
        """Have ``module:name`` called; (True, result) or (False, exception) will come through the connection.

        With `seconds` of computing time as the limit, the kernel ends the worker when they are used up, whatever it
        is doing, and memory beyond `MEMORY_BYTES` is a MemoryError. Without, limits are the caller's affair.
        """
        self.calls += 1
        self.connection.send((function, arguments, seconds))


class Pool:
    """Workers that share a server; those in `idle` wait for the next call.

    Parameters
    ----------
    spawn : whether a worker is a new interpreter in place of a fork, as it must be on macOS
    """

    def __init__(self, spawn: bool = sys.platform == "darwin") -> None:
        self.spawn, self.idle = spawn, list[Worker]()
        self._server: subprocess.Popen | None = None
        self._lock = threading.Lock()
        _pools.add(self)

    def worker(self, *modules: str) -> Worker:
        """An idle worker, or a fresh one, for which the server imports the modules before it forks."""
        with suppress(IndexError):
            return self.idle.pop()
        return self.fresh(*modules)

    def fresh(self, *modules: str) -> Worker:
        """A worker that has not been called yet."""
        ours, theirs = Pipe()
        with theirs:
            pid, keeper = self._ask(" ".join(["fork", *modules]), theirs.fileno())
            return Worker(pid, keeper, ours)

    def stop(self, worker: Worker) -> int:
        """End a worker, and all that it has started; its exit code, or minus the signal that ended it."""
        worker.connection.close()
        try:
            return self._ask(f"kill {worker.pid}")[0] if self._server else -signal.SIGKILL
        except RuntimeError:  # the server was killed, and its workers with it
            return -signal.SIGKILL

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

    def _ask(self, order: str, *fds: int) -> list[int]:
        with self._lock:
            if self._server is None:
                self._start()
            try:
                socket.send_fds(self._control, [order.encode()], fds)
                if not (answer := self._control.recv(64)):
                    raise EOFError
                return [int(number) for number in answer.split()]
            except BaseException as error:  # also an interrupt: who asks next must not meet this answer
                self.close()
                if not isinstance(error, OSError | EOFError):
                    raise
                message = "the process that starts workers cannot run here, or was killed; see the lines above"
                raise RuntimeError(message) from None

    def _start(self) -> None:
        self._control, theirs = socket.socketpair()
        code = f"import sys; sys.path[:] = {[path or os.getcwd() for path in sys.path]!r}; "
        code += f"from {__name__} import serve; serve({theirs.fileno()}, {self.spawn})"
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", code],
                env=os.environ | reproducible_blas.of_workers(),
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


def apart(function: Callable, *arguments: Any, modules: Iterable[str] = ()) -> Any:
    """Result of ``function(*arguments)`` in a process of its own, which ends with it; without a limit.

    Parameters
    ----------
    function : function defined at the top of a module
    arguments : anything that can be pickled
    modules : imported by the server before it forks

    Raises
    ------
    ChildProcessError
        If the process died, or what came back cannot be pickled.
    Exception
        Whatever the function raises.
    """
    worker = _calls.fresh(function.__module__, *modules)
    try:
        worker.begin(f"{function.__module__}:{function.__qualname__}", arguments)
        good, result = worker.connection.recv()
    except (EOFError, OSError):
        raise ChildProcessError(f"{function.__qualname__}: its process died") from None
    finally:
        _calls.stop(worker)
    if good:
        return result
    raise result


def stop() -> None:
    """End the workers of `call`; the next call starts others."""
    _calls.close()


os.register_at_fork(after_in_child=lambda: [*map(Pool.forget, _pools)])
atexit.register(stop)


# ---- in the server, in the keepers and in the workers


class _Kept(NamedTuple):
    """What the server knows of a keeper: the line to it says the worker's pid, later how it ended."""

    pid: int
    line: socket.socket


def serve(fd: int, spawn: bool) -> None:
    """The server: do what arrives on socket `fd`, until its other end is closed."""
    processes.adopt()  # should a keeper be killed, what it kept is the server's
    control, kept = socket.socket(fileno=fd), dict[int, _Kept]()
    while True:
        message, fds, _, _ = socket.recv_fds(control, 1 << 16, 1)
        if not message:
            for keeper in kept.values():
                with suppress(OSError):
                    keeper.line.shutdown(socket.SHUT_WR)
            for pid in list(kept):
                _end(kept, pid)
            os._exit(0)
        order, *rest = message.decode().split()
        if order == "kill":
            # One that is not known was of a server that is gone.
            answer = [_end(kept, int(rest[0])) if int(rest[0]) in kept else -signal.SIGKILL]
        else:
            if not spawn:
                _import(rest)
            ours, theirs = socket.socketpair()
            pid = os.fork()
            if not pid:
                for line in [control, ours] + [other.line for other in kept.values()]:
                    line.close()  # or a keeper would not see that the server is gone
                _keep(theirs, fds[0], rest if spawn else None)
            theirs.close()
            os.close(fds[0])
            worker = int(ours.recv(32))
            kept[worker] = _Kept(pid, ours)
            answer = [worker, pid]
        control.sendall(" ".join(map(str, answer)).encode())


def _import(modules: list[str]) -> None:
    new = [name for name in modules if name not in sys.modules]
    for name in new:
        with suppress(Exception):  # whoever needs the module will meet the error
            importlib.import_module(name)
    if new:
        gc.collect()
        gc.freeze()  # what is here stays, so that a worker's collector need not touch (and copy) it


def _end(kept: dict[int, _Kept], worker: int) -> int:
    """Have a worker and all that it started ended by its keeper; how the worker ended, perhaps before."""
    keeper = kept.pop(worker)
    with keeper.line, suppress(OSError):
        with suppress(ProcessLookupError):
            os.kill(keeper.pid, signal.SIGCONT)
        keeper.line.settimeout(KEEPERS_PATIENCE)
        keeper.line.shutdown(socket.SHUT_WR)
        if said := keeper.line.recv(32):
            os.waitpid(keeper.pid, 0)
            return int(said)
    # The keeper was killed, or hangs. What it kept is now a child of this process.
    others = {other.pid for other in kept.values()}
    with suppress(ProcessLookupError):
        os.kill(keeper.pid, signal.SIGKILL)
    os.waitpid(keeper.pid, 0)
    processes.end_descendants(but=others)
    return -signal.SIGKILL


def _keep(line: socket.socket, fd: int, modules: list[str] | None) -> NoReturn:
    """The life of a keeper: start the worker, wait for its end or for the order, end what it has started."""
    os.setsid()
    processes.adopt()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    worker = os.fork()
    if not worker:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (woken, wake, line.detach()):
            os.close(each)
        if modules is None:
            _work(fd)
        _become_interpreter(fd, modules)
    os.close(fd)
    line.sendall(str(worker).encode())
    code = None
    while code is None:
        ready, _, _ = select.select([woken, line.fileno()], [], [])
        if woken in ready:
            os.read(woken, 512)
        while code is None and (ended := processes.reaped()):
            code = ended[1] if ended[0] == worker else None
        if line.fileno() in ready and code is None:  # the order, or the server is gone
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
            code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    processes.end_descendants()
    with suppress(OSError):
        line.sendall(str(code).encode())
    os._exit(0)


def _become_interpreter(fd: int, modules: list[str]) -> NoReturn:
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import _import, _work; "
    code += f"_import({modules!r}); _work({fd})"
    os.set_inheritable(fd, True)
    os.execv(sys.executable, [sys.executable, "-W", "ignore", "-c", code])


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
