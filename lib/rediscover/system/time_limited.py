"""Calls that may never return, made in a process that can be killed.

Computer algebra hangs on some inputs, and Python cannot interrupt a thread. `call` runs a function of this
package in a child process that is kept for the next call; at the limit it is killed, and the next call starts
a fresh one:

>>> from rediscover.system import time_limited
>>> time_limited.call("operator:add", 2, 3, seconds=5.0)
5

The limit is one of computing time, which does not depend on what else the machine does. A warm call costs
well under a millisecond. It works in threads, each call in a child of its own, and in forked and daemonic workers;
children end with the process that started them, however that dies.
"""

import atexit
import importlib
import os
import pickle
import queue
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

from . import reproducible_blas

START_SECONDS = 60.0  # for starting Python and importing the function's module, not part of a call's limit
PATIENCE = 6.0  # seconds on the clock for each of computing: for a busy machine, and for calls that wait
MEMORY_BYTES = 4 << 30  # address space of the child; beyond it the call raises MemoryError

_idle: list["_Child"] = []  # children that wait for a call; calls in several threads have one each


def call(function: Callable | str, *arguments: Any, seconds: float) -> Any:
    """Result of ``function(*arguments)``, or an error within `seconds`.

    Parameters
    ----------
    function : function defined at the top of a module, or its ``"module:name"``
    arguments : anything that can be pickled
    seconds : float
        Computing time that the call itself may take; starting the child and importing the module are not
        counted. It is not time on the clock, so that what else the machine does changes no result; on the
        clock a call may take `PATIENCE` times as long.

    Raises
    ------
    TimeoutError
        If there is no result within the limit. The child is killed.
    ChildProcessError
        If the child died, or what came back cannot be pickled.
    Exception
        Whatever the function raises.
    """
    if not isinstance(function, str):
        function = f"{function.__module__}:{function.__qualname__}"
    child = _asked((function, arguments, seconds))
    try:
        child.receive(START_SECONDS, f"{function}: not imported within {START_SECONDS:g} s")
        good, result = child.receive(seconds * PATIENCE, f"{function}: no result within {seconds:g} s")
    except BaseException:  # also an interrupt: the answer that is under way must not meet the next question
        child.kill()
        raise
    _idle.append(child)
    if good:
        return result
    raise result


def stop() -> None:
    """Kill the children that wait; the next call starts another."""
    while _idle:
        _idle.pop().kill()


def _asked(request) -> "_Child":
    """A child that has been given the request; a fresh one, if those that wait have died since."""
    while True:
        fresh = False
        try:
            child = _idle.pop()
        except IndexError:
            child, fresh = _Child(), True
        try:
            child.connection.send(request)
            return child
        except OSError:
            child.kill()
            if fresh:
                raise ChildProcessError(f"no process to run {request[0]} in") from None
        except BaseException:  # what cannot be pickled
            child.kill()
            raise


class _Child:
    def __init__(self) -> None:
        self.connection, theirs = Pipe()
        path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=os.environ | reproducible_blas.CHILD | {"PYTHONPATH": path.rstrip(os.pathsep)},
            pass_fds=[theirs.fileno()],
        )
        theirs.close()

    def receive(self, seconds: float, what: str):
        try:
            if not self.connection.poll(seconds):
                raise TimeoutError(what)
            return self.connection.recv()
        except (EOFError, ConnectionError) as error:
            if self.process.wait() == -signal.SIGPROF:
                raise TimeoutError(what) from None
            raise ChildProcessError(f"{what}, its process died") from error

    def kill(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.wait()


def _forget() -> None:
    """In a forked process: the children belong to the parent; holding their pipes open would keep them alive."""
    for child in _idle:
        child.connection.close()
        child.process.returncode = 0  # not ours to wait for
    _idle.clear()


os.register_at_fork(after_in_child=_forget)
atexit.register(stop)


def _serve(connection: Connection) -> None:
    """The child: answer requests until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES if hard < 0 else min(MEMORY_BYTES, hard), hard))
    requests: queue.SimpleQueue = queue.SimpleQueue()

    def listen() -> None:  # in a thread, so that the parent's death is noticed during a call too
        try:
            while True:
                requests.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        function, arguments, seconds = requests.get()
        try:
            module, name = function.split(":")
            function = getattr(importlib.import_module(module), name)
            connection.send("imported")
        except Exception as error:
            connection.send("not imported")
            connection.send((False, error))
            continue
        try:
            # SIGPROF ends the process when it has computed that long, whatever it is doing.
            signal.setitimer(signal.ITIMER_PROF, seconds)
            answer = True, function(*arguments)
            pickle.dumps(answer)
        except Exception as error:
            answer = False, error
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        try:
            connection.send(answer)
        except Exception as error:
            connection.send((False, ChildProcessError(f"{type(error).__name__}: {error}")))


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
