"""What a call leaves behind in its process: whether the next one would be as if alone."""

import contextlib
import decimal
import gc
import locale
import logging
import os
import resource
import signal
import sys
import threading
import warnings
from types import ModuleType
from typing import Any

import numpy as np

# Modules in which whoever replaces a function changes what others compute.
WATCHED = "builtins math random os time json re numpy numpy.linalg numpy.random sympy pandas".split()
WATCHED += [f"scipy.{name}" for name in "integrate interpolate linalg optimize sparse special".split()]
PASSING = ("_", "__warningregistry__")  # an interpreter's last result; warnings that were shown
LIMITS = sorted(value for name, value in vars(resource).items() if name.startswith("RLIMIT_"))


def state() -> dict[str, Any]:
    """What stays in a process when a call is over and changes what others do: a part -> something to compare.

    The two common random generators are not among it: a run begins by seeding them.

    Examples
    --------
    >>> before = state()
    >>> changed(before)
    []
    >>> kept = np.seterr(over="raise")
    >>> changed(before)
    ['floating-point errors']
    >>> _ = np.seterr(**kept)
    """
    sympy_random = sys.modules.get("sympy.core.random")
    parts = {
        "floating-point errors": (np.geterr(), np.geterrcall()),
        "numpy's print options": {k: str(v) for k, v in np.get_printoptions().items()},
        "warning filters": list(map(str, warnings.filters)),
        "the handler of warnings": warnings.showwarning,
        "environment": tuple(sorted(os.environ.items())),
        "working directory": _folder(),
        "umask": _umask(),
        "import path": (tuple(sys.path), len(sys.meta_path), len(sys.path_hooks)),
        "recursion limit": sys.getrecursionlimit(),
        "hooks": (sys.excepthook, sys.displayhook, sys.unraisablehook, sys.gettrace(), sys.getprofile()),
        "streams": (id(sys.stdin), id(sys.stdout), id(sys.stderr)),
        "decimal context": str(decimal.getcontext()),
        "locale": locale.setlocale(locale.LC_ALL),
        "logging": (logging.root.level, logging.root.manager.disable, len(logging.root.handlers)),
        "signal handlers": [signal.getsignal(number) for number in signal.valid_signals()],
        "threads": threading.active_count(),
        "collection of garbage": (gc.isenabled(), gc.get_threshold(), len(gc.callbacks)),
        "limits of the kernel": [resource.getrlimit(number) for number in LIMITS],
        "priority": os.nice(0),
        "random source of SymPy": hash(sympy_random.rng.getstate()) if sympy_random else None,
    }
    return parts | {name: _names(sys.modules[name]) for name in WATCHED if name in sys.modules}


def changed(before: dict[str, Any]) -> list[str]:
    """The parts of an earlier `state` that are not now as they were; what was imported since is no change."""
    now = state()
    return [part for part, value in before.items() if not _same(value, now.get(part))]


def _names(module: ModuleType) -> dict[str, int]:
    """A module's functions, classes and constants by name -> identity; it may load its own parts later."""
    return {name: id(value) for name, value in vars(module).items() if name not in PASSING}


def _same(before: Any, now: Any) -> bool:
    if isinstance(before, dict) and isinstance(now, dict):
        return all(now.get(name) == value for name, value in before.items())
    return bool(before == now)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _folder() -> str | None:
    with contextlib.suppress(OSError):  # it may be gone
        return os.getcwd()
    return None
