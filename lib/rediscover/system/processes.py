"""What a process has started: who belongs to it, what it uses, and its end."""

import ctypes
import math
import os
import signal
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

SET_CHILD_SUBREAPER = 36  # of prctl(2)
PATIENCE = 5.0  # seconds until killed processes are given up on: such as hang in a driver, or are another user's
RECOUNT = 5.0  # seconds for which a process's share of memory is taken to be what it was
GROWN = 16.0  # MiB by which what is resident may grow meanwhile
PROC = Path("/proc")


class Use(NamedTuple):
    """What a worker and all that it has started use.

    Attributes
    ----------
    seconds : float
        Processor time, that of those that have ended too.
    resident : float
        Memory in MiB: of the worker what is resident, of the others their share of it.
    processes : int
        How many there are.
    stopped : bool
        Whether none of them goes on: stopped from outside, or by themselves.
    """

    seconds: float
    resident: float
    processes: int
    stopped: bool


def adopt() -> None:
    """From now on this process is the parent of all below it whose own parent ends, also of detached ones (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid: int) -> list[int]:
    """Processes that a process has started, and those have started, and so on."""
    found, waiting = list[int](), [pid]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def end_descendants(but: Collection[int] = ()) -> None:
    """Kill all that this process has started, at whatever remove, and wait until they are gone.

    Parameters
    ----------
    but : children of this process that are left alone, with all below them
    """
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        children = [pid for pid in _children(os.getpid()) if pid not in but]
        if not children:
            return
        for pid in (*children, *(other for child in children for other in descendants(child))):
            # The group first: nothing in it can start another process between the look and the end.
            with suppress(ProcessLookupError, PermissionError):
                if (group := os.getpgid(pid)) != os.getpgrp():
                    os.killpg(group, signal.SIGKILL)
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in children:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.0002)


def reaped() -> tuple[int, int] | None:
    """A child that has ended and its exit code (minus the signal that ended it); None if there is none."""
    with suppress(ChildProcessError):
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            return pid, os.waitstatus_to_exitcode(status)
    return None


def use(keeper: int, worker: int, memory: dict[int, tuple[float, float, float]]) -> Use:
    """What a worker and all that it has started use now; `keeper` is its parent, which has adopted what is detached.

    Parameters
    ----------
    keeper, worker : process ids
    memory : process id -> when it was counted, the MiB then resident, and those with its share of what it shares
        Kept from look to look: the kernel counts page by page, so it is asked after `RECOUNT` seconds, or where a
        process has `GROWN`.

    Raises
    ------
    psutil.NoSuchProcess
        If it is gone.
    """
    ended = psutil.Process(keeper).cpu_times()
    seconds, resident, stopped = ended.children_user + ended.children_system, 0.0, True
    family = descendants(keeper)
    for pid in family:
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            with process.oneshot():
                times, mib = process.cpu_times(), process.memory_info().rss / 2**20
                stopped &= process.status() == psutil.STATUS_STOPPED
            if pid != worker:
                now = time.monotonic()
                when, before, share = memory.get(pid, (-math.inf, 0.0, 0.0))
                if now - when > RECOUNT or mib - before > GROWN:
                    counted = process.memory_full_info()
                    share = getattr(counted, "pss", counted.rss) / 2**20
                    memory[pid] = now, mib, share
                mib = share
            seconds += times.user + times.system + times.children_user + times.children_system
            resident += mib
    if not family:
        raise psutil.NoSuchProcess(worker)
    return Use(seconds, resident, len(family), stopped)


def _children(pid: int) -> list[int]:
    try:
        threads = list((PROC / str(pid) / "task").iterdir())
        return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:  # it is gone, or there is no such file system
        with suppress(psutil.Error):
            return [child.pid for child in psutil.Process(pid).children()]
        return []
