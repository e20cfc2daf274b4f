"""Whatever one call may leave in its process is noticed, each on its own."""

import builtins
import decimal
import gc
import locale
import logging
import math
import os
import random
import resource
import signal
import sys
import threading
import time
import warnings

from rediscover.system import process_state, workers

import numpy as np
import pytest

CHANGES = {
    "floating-point errors": lambda: np.seterr(over="raise"),
    "numpy's print options": lambda: np.set_printoptions(precision=3),
    "warning filters": lambda: warnings.simplefilter("error"),
    "the handler of warnings": lambda: setattr(warnings, "showwarning", print),
    "environment": lambda: os.environ.update(ANYTHING="1"),
    "working directory": lambda: os.chdir("/usr"),
    "umask": lambda: os.umask(0o077),
    "import path": lambda: sys.path.insert(0, "/nowhere"),
    "recursion limit": lambda: sys.setrecursionlimit(5000),
    "hooks": lambda: setattr(sys, "excepthook", print),
    "streams": lambda: setattr(sys, "stdout", sys.stderr),
    "decimal context": lambda: setattr(decimal.getcontext(), "prec", 5),
    "locale": lambda: locale.setlocale(locale.LC_ALL, "C.UTF-8" if locale.setlocale(locale.LC_ALL) == "C" else "C"),
    "logging": lambda: logging.disable(),
    "signal handlers": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    "threads": lambda: threading.Thread(target=time.sleep, args=(60,), daemon=True).start(),
    "collection of garbage": lambda: gc.disable(),
    "limits of the kernel": lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    "priority": lambda: os.nice(1),
    "random source of SymPy": lambda: sys.modules["sympy.core.random"].random(),
    "builtins": lambda: setattr(builtins, "sum", max),
    "math": lambda: setattr(math, "exp", math.log),
    "numpy": lambda: setattr(np, "log", np.exp),
    "numpy.linalg": lambda: setattr(np.linalg, "lstsq", np.linalg.solve),
    "random": lambda: setattr(random, "seed", print),
}


def left_by(part):
    """What is noticed of a change, in a process of its own."""
    before = process_state.state()
    if part:
        CHANGES[part]()
    return process_state.changed(before)


@pytest.mark.parametrize("part", CHANGES)
def test_a_change_is_noticed_and_nothing_else(part):
    assert workers.apart(left_by, part, modules=["sympy"]) == [part]


def test_nothing_is_noticed_where_nothing_was_changed():
    assert workers.apart(left_by, "", modules=["sympy"]) == []


def test_every_part_has_a_change_here():
    parts = process_state.state().keys() - set(process_state.WATCHED)
    assert parts <= CHANGES.keys()


def left_by_several(parts):
    before = process_state.state()
    for part in parts:
        CHANGES[part]()
    return process_state.changed(before)


def test_drawn_changes_together_are_noticed_and_nothing_else():
    rng = np.random.default_rng(5)
    for _ in range(50):
        parts = rng.permutation(list(CHANGES))[: rng.integers(2, 7)].tolist()
        assert sorted(workers.apart(left_by_several, parts, modules=["sympy"])) == sorted(parts)
