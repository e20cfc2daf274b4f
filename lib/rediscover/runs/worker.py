"""What runs in the worker processes: a server that forks them, and the one thing that they do.

The server has imported the scientific stack once; each worker is its fork and so starts within milliseconds.
It is also the guard: it reports every worker's end, kills what a dead worker has left running, and when the
coordinator goes away, however it dies, it kills all workers and itself. (The standard library's forkserver
does none of this, imports the caller's script again, and cannot be used from within a Dask worker.)
"""

import importlib
import json
import os
import pickle
import re
import select
import signal
import socket
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NoReturn

import numpy as np

from ..methods import Candidate, Unsupported
from ..problems import Problem

PRELOAD = ("scipy.optimize", "scipy.spatial", "rediscover.expressions")
CANDIDATES = 50  # of a front, at most so many are kept
KINDS_OF_EXPRESSIONS = ("regression", "level set", "trajectories", "field")
NOTICE = struct.Struct("ii")  # process id, wait status


def serve(fd: int, modules: list[str]) -> None:
    """Fork a worker for every connection that arrives on socket `fd`, until its other end is closed."""
    control = socket.socket(fileno=fd)
    for name in (*PRELOAD, *modules):
        with suppress(Exception):  # whoever needs the module will meet the error, and say so in a row
            importlib.import_module(name)
    # A death wakes the loop through a socket. Reaping within a handler would be interrupted by the next death.
    deaths, bell = socket.socketpair()
    bell.setblocking(False)
    signal.set_wakeup_fd(bell.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # without any handler the bell stays silent
    alive: set[int] = set()
    while True:
        ready, _, _ = select.select([control, deaths], [], [])
        if deaths in ready:
            deaths.recv(4096)
            alive -= _reap(alive, control)
        if control not in ready:
            continue
        message, fds, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            for pid in alive:
                _kill_group(pid)
            os._exit(0)
        pid = os.fork()
        if not pid:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for end in (control, deaths, bell):
                end.close()
            _work(fds[0])
        alive.add(pid)
        os.close(fds[0])


def _reap(alive: set[int], control: socket.socket) -> set[int]:
    """Report the workers that have ended, and kill what they have left running."""
    ended: set[int] = set()
    while ended != alive:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            break
        ended.add(pid)
        _kill_group(pid)
        with suppress(OSError):
            control.sendall(NOTICE.pack(pid, status))
    return ended


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _work(fd: int) -> NoReturn:
    """The life of a worker: say who it is, then one task after the other."""
    os.setsid()  # a group of its own, which dies with it
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silence, stream)
    os.set_inheritable(fd, False)
    connection = Connection(fd)
    try:
        connection.send_bytes(str(os.getpid()).encode())
        while True:
            connection.send_bytes(attempt(connection.recv_bytes()).encode())
    except (EOFError, OSError):  # nobody listens any more
        os._exit(0)


def attempt(task: bytes) -> str:
    """Do one task, a pickled callable, and describe how it ended: JSON of status, reason, and plain data."""
    try:
        return json.dumps(pickle.loads(task)(), default=_numpy_to_python)
    except Unsupported as error:
        outcome = ending("unsupported", str(error))
    except MemoryError as error:
        outcome = ending("memory", f"MemoryError: {error}")
    except BaseException as error:  # SystemExit too: a method that gives up must not take the worker along
        outcome = ending("error", f"{type(error).__name__}: {error}")
    return json.dumps(outcome)


def ending(status: str, reason: str, candidates: Iterable[dict] = ()) -> dict:
    """How a run ended; the reason is made one short line."""
    line = re.sub(r"\b0x[0-9a-fA-F]+", "0x...", " ".join(reason.split()))  # addresses differ from run to run
    line = line.encode(errors="replace").decode()[:200]
    return {"status": status, "reason": line, "candidates": list(candidates)}


def checked(problem: Problem, answer: Any) -> dict:
    """The outcome of a run: what the method returned, if it is what a method may return."""
    if not isinstance(answer, list) or not all(isinstance(item, Candidate) for item in answer):
        inside = f" of {type(answer[0]).__name__}" if isinstance(answer, list) else ""
        return ending("error", f"returned {type(answer).__name__}{inside} instead of a list of Candidate")
    if not answer:
        return ending("error", "found nothing")
    answer = answer[:CANDIDATES]
    for candidate in answer:
        names = sorted(candidate.solution) if isinstance(candidate.solution, Mapping) else candidate.solution
        accepted = [sorted(problem.outputs)]
        if problem.kind == "level set":
            accepted.append(list(problem.inputs[-1:]))
        if names not in accepted:
            return ending("error", f"returned a solution for {names!r:.80}, expected one for {accepted[0]}")
    candidates = [_as_dict(candidate) for candidate in answer]
    if problem.kind not in KINDS_OF_EXPRESSIONS:
        return ending("ok", "", candidates)
    faults = [_unparsable(candidate["solution"], problem.vocabulary) for candidate in candidates]
    if faults[0]:
        return ending("unparsable", faults[0], candidates)
    wrong = [fault for fault in faults if fault]
    reason = f"{len(wrong)} of {len(faults)} candidates left out, such as: {wrong[0]}" if wrong else ""
    return ending("ok", reason, [c for c, fault in zip(candidates, faults, strict=True) if not fault])


def _as_dict(candidate: Candidate) -> dict:
    size, count = candidate.complexity, candidate.evaluations
    return {
        "solution": dict(candidate.solution),
        "loss": float(candidate.loss),
        "complexity": None if size is None else float(size),
        "evaluations": None if count is None else int(count),
        "notes": dict(candidate.notes),
    }


def _numpy_to_python(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"returned a {type(value).__name__}, which is not plain data")


def _unparsable(solution: Mapping[str, str], names: Iterable[str]) -> str | None:
    from ..expressions import ExpressionError, parse

    for output, text in solution.items():
        try:
            parse(text, names)
        except ExpressionError as error:
            return f"{output}: {error}"
    return None
