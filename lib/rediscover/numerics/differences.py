"""Finite differences of second-order accuracy, by the stencils of the packages in use."""

import functools
import math
from typing import Any

import numpy as np

EVEN = 1e-6  # relative difference of steps that rounding and printed digits leave
# How rows near an edge are treated; see `difference_matrix`.
STENCILS = ("shared", "direct", "repeated")


@functools.lru_cache(maxsize=128)
def difference_matrix(n: int, step: float, order: int, stencil: str = "direct") -> Any:
    """Differentiation on n uniform points, of second-order accuracy, as a sparse matrix.

    Rows near an edge use ``order + 2`` points on one side: the outermost ones ('shared') or those from the
    row itself on ('direct'). 'repeated' is the first derivative applied `order` times.

    Raises
    ------
    ValueError
        If there are fewer than ``order + 1`` points. On exactly so many every row uses all of them, to first order.
    """
    from scipy import sparse

    if stencil not in STENCILS:
        raise ValueError(f"stencil must be one of {', '.join(STENCILS)}, got {stencil!r}")
    if stencil == "repeated" and order > 1:
        first = difference_matrix(n, step, 1, "direct")
        return functools.reduce(lambda a, b: b @ a, [first] * order)
    if n <= order:
        raise ValueError(f"a derivative of order {order} needs {order + 1} points on its axis, there are {n}")
    points = min(order + 2, n)
    half = (order + 1) // 2
    rows, columns, values = [], [], []
    for i in range(n):
        if half <= i < n - half:
            used = np.arange(i - half, i + half + 1)
        elif i < half:
            used = np.arange(points) + (0 if stencil == "shared" else i)
        else:
            used = (n - 1 if stencil == "shared" else i) - np.arange(points)
        if used.min() < 0 or used.max() >= n:  # on a short axis the one-sided stencil falls off the other end
            used = np.arange(points) if i < n / 2 else n - 1 - np.arange(points)
        powers = np.vander((used - i).astype(float), len(used), increasing=True).T
        moment = np.zeros(len(used))
        moment[order] = math.factorial(order)
        rows += [i] * len(used)
        columns += used.tolist()
        values += np.linalg.solve(powers, moment).tolist()
    return sparse.csr_array((np.array(values) / step**order, (rows, columns)), shape=(n, n))


def derivative(u: np.ndarray, step: float, order: int, axis: int, stencil: str = "direct") -> np.ndarray:
    """Derivative of an array along one axis; see `difference_matrix`."""
    matrix = difference_matrix(u.shape[axis], step, order, stencil)
    front = np.moveaxis(u, axis, 0)
    return np.moveaxis((matrix @ front.reshape(len(front), -1)).reshape(front.shape), 0, axis)


def even_step(points: np.ndarray) -> float | None:
    """The step between points that are evenly spaced to rounding, else None.

    Parameters
    ----------
    points : ndarray, shape (n,), n at least 2, increasing

    Returns
    -------
    float or None

    Examples
    --------
    >>> even_step(np.array([0.0, 0.5, 1.0])), even_step(np.array([0.0, 0.5, 2.0]))
    (0.5, None)
    """
    steps = np.diff(points)
    off = np.abs(steps - steps.mean()).max()
    return float(steps[0]) if off <= EVEN * steps.mean() + 4 * np.spacing(np.abs(points).max()) else None


def rates(states: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Differences of states in time, central and of second order at the ends too, however the times are spaced.

    Parameters
    ----------
    states : ndarray, shape (..., n, d)
    times : ndarray, shape (n,), increasing

    Returns
    -------
    ndarray, shape (..., n, d)
        In units of the states over that of the times.

    Examples
    --------
    >>> t = np.array([0.0, 1.0, 3.0, 4.0])
    >>> rates(t[:, None] ** 2, t)[:, 0].round(9).tolist()  # exact for a parabola
    [0.0, 2.0, 6.0, 8.0]
    """
    step = even_step(times)
    return np.gradient(states, times if step is None else times[1] - times[0], axis=-2, edge_order=2)
