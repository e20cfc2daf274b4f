"""Calls that may never return, made in a process that can be killed.

Computer algebra hangs on some inputs, and Python cannot interrupt a thread. `call` runs a function of this
package in one persistent child process, which is killed at the limit and replaced by a fresh one on
the next call:

>>> from rediscover import killable
>>> killable.call("operator:add", 2, 3, seconds=5.0)
5

A warm call costs well under a millisecond. It works in threads (one call at a time) and in forked and
daemonic workers, each process having its own child; the child ends with the process that started it,
however that dies.
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

START_SECONDS = 60.0  # for starting Python and importing the function's module, not part of a call's limit
MEMORY_BYTES = 4 << 30  # address space of the child; beyond it the call raises MemoryError

_lock = threading.RLock()
_child: tuple[subprocess.Popen, Connection] | None = None


def call(function: Callable | str, *arguments, seconds: float):
    """Result of ``function(*arguments)``, or an error within `seconds`.

    Parameters
    ----------
    function : function defined at the top of a module, or its ``"module:name"``
    arguments : anything that can be pickled
    seconds : float
        Wall-clock limit of the call itself; starting the child and importing the module are not counted.

    Raises
    ------
    TimeoutError
        If there is no result within `seconds`. The child is killed.
    ChildProcessError
        If the child died, or what came back cannot be pickled.
    Exception
        Whatever the function raises.
    """
    if not isinstance(function, str):
        function = f"{function.__module__}:{function.__qualname__}"
    global _child
    with _lock:
        for attempt in (1, 2):
            if _child is None:
                _child = _start()
            try:
                _child[1].send((function, arguments))
                break
            except OSError:  # it died since the last call
                stop()
                if attempt == 2:
                    raise ChildProcessError(f"no process to run {function} in") from None
        try:
            _receive(START_SECONDS, f"{function}: could not be imported")
            good, result = _receive(seconds, f"{function}: no result")
        except (
            BaseException
        ):  # also an interrupt: the answer that is under way must not meet the next question
            stop()
            raise
    if good:
        return result
    raise result


def stop():
    """Kill the child, if there is one; the next call starts another."""
    global _child
    with _lock:
        if _child is not None:
            process, connection = _child
            _child = None
            connection.close()
            process.kill()
            process.wait()


def _receive(seconds: float, what: str):
    connection = _child[1]
    try:
        if not connection.poll(seconds):
            raise TimeoutError(f"{what} within {seconds:g} s")
        return connection.recv()
    except (EOFError, ConnectionError) as error:
        raise ChildProcessError(f"{what}: its process died") from error


def _start() -> tuple[subprocess.Popen, Connection]:
    here, there = Pipe()
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]).rstrip(
        os.pathsep
    )
    # A fixed hash seed, as the order of terms in computer algebra may follow the hashes of strings.
    environment = os.environ | {"PYTHONPATH": path, "PYTHONHASHSEED": "0"}
    environment |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"], "1")
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, str(there.fileno())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=environment,
        pass_fds=[there.fileno()],
    )
    there.close()
    return process, here


def _forget():
    """In a forked process: the child belongs to the parent; holding its pipe open would keep it alive."""
    global _child, _lock
    _lock = threading.RLock()
    if _child is not None:
        _child[1].close()
        _child[0].returncode = 0  # not ours to wait for
        _child = None


os.register_at_fork(after_in_child=_forget)
atexit.register(stop)


def _serve(connection: Connection):
    """The child: answer requests until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES if hard < 0 else min(MEMORY_BYTES, hard), hard))
    requests = queue.SimpleQueue()

    def listen():  # in a thread, so that the parent's death is noticed during a call too
        try:
            while True:
                requests.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        function, arguments = requests.get()
        try:
            module, name = function.split(":")
            function = getattr(importlib.import_module(module), name)
            connection.send("imported")
        except Exception as error:
            connection.send("not imported")
            connection.send((False, error))
            continue
        try:
            answer = True, function(*arguments)
            pickle.dumps(answer)
        except Exception as error:
            answer = False, error
        try:
            connection.send(answer)
        except Exception as error:
            connection.send((False, ChildProcessError(f"{type(error).__name__}: {error}")))


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
