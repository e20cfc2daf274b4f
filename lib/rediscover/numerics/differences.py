"""Finite differences of second-order accuracy on uniform points, by the stencils of the packages in use."""

import functools
import math
from typing import Any

import numpy as np

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
