"""How many programs are evaluated in a second of one processor core."""

import time

import numpy as np

from .programs import Programs, losses
from .variation import random_programs

OPERATORS = ("+", "-", "*", "/", "sin", "cos", "exp", "log")


def workload(n: int = 10_000, size: int = 20, rows: int = 200, operators=OPERATORS, seed: int = 0):
    """Programs that are defined on all rows of a table, with that table and a target.

    Returns
    -------
    programs : Programs, n of `size` tokens in 3 variables
    X : ndarray, shape (rows, 3), from U(0.5, 2)
    y : ndarray, shape (rows,), from U(0.5, 2)
    """
    table = np.random.default_rng(seed).uniform(0.5, 2.0, (rows, 4))
    X, y = table[:, :3], table[:, 3]
    candidates = random_programs(3 * n, size, operators, 3, seed)
    defined = np.flatnonzero(np.isfinite(losses(candidates, X, y)))[:n]
    return Programs(*(np.ascontiguousarray(array[defined]) for array in candidates)), X, y


def throughput(repeats: int = 5, **options) -> float:
    """Losses of programs per second of processor time; the median of some repeats.

    Parameters
    ----------
    options : as `workload` takes them
    """
    programs, X, y = workload(**options)
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        losses(programs, X, y)
        seconds.append(time.process_time() - start)
    return len(programs.sizes) / float(np.median(seconds))
