"""Which columns of a linear system explain its right-hand side: all combinations of a few, and elimination of many."""

import itertools
import math

import numpy as np

SUBSETS = 20_000  # combinations of so many columns are all tried, where there are no more of them than this
BEST = 8  # combinations of each size that are kept
DEPENDENT = 1e-7  # what is left of a column of length 1 beside others, below which it depends on them
EXACT = 10  # columns, up to which each is left out to see what that costs; of more it is computed from all together
TIED = 14  # decimals of what is explained, over what there is; the others follow the rounding of floats
CONDITION = 1e-10  # of singular values, below which columns count as dependent


def solved(columns: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of columns by least squares, shape (n_columns,), and the residuals, shape (n,).

    Examples
    --------
    >>> c, off = solved(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([3.0, 5.0, 7.0]))
    >>> c.round(6).tolist(), off.round(6).tolist() == [0, 0, 0]
    ([3.0, 2.0], True)
    """
    if not np.isfinite(columns).all():
        return np.zeros(columns.shape[1]), np.full(len(y), np.inf)
    norms = np.linalg.norm(columns, axis=0)
    norms[norms == 0] = 1.0
    c = np.linalg.lstsq(columns / norms, y, rcond=CONDITION)[0] / norms
    return c, y - columns @ c


def combinations(columns: np.ndarray, y: np.ndarray) -> tuple[list[np.ndarray], int]:
    """The best combinations of one, two, ... columns, as long as there are at most `SUBSETS` of a size.

    Returns
    -------
    list of ndarray of int, the columns of each; int, how many were tried

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> columns = rng.normal(size=(50, 12))
    >>> found, tried = combinations(columns, columns[:, 3] - 2 * columns[:, 7])
    >>> found[8].tolist(), tried >= 12 + 66
    ([3, 7], True)
    """
    norms = np.linalg.norm(columns, axis=0)
    usable = np.flatnonzero(norms > 0)
    R = np.asarray(np.linalg.qr(np.column_stack([columns[:, usable] / norms[usable], y]), mode="r"))
    found, tried = [], 0
    for size in range(1, len(usable) + 1):
        if math.comb(len(usable), size) > SUBSETS:
            break
        chosen = np.array(list(itertools.combinations(range(len(usable)), size)))
        q, r = np.linalg.qr(R[:, chosen].transpose(1, 0, 2))
        fitted = (((R[:, -1] @ q) ** 2).sum(axis=1) / (R[:, -1] @ R[:, -1] or 1.0)).round(TIED)
        fitted[np.abs(np.diagonal(r, axis1=1, axis2=2)).min(axis=1) < DEPENDENT] = -1.0
        tried += len(chosen)
        found += list(usable[chosen[np.argsort(-fitted, kind="stable")[:BEST]]])
    return found, tried


def eliminations(columns: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """All columns, then all but one, ...: each time the column goes that the residual misses least.

    Examples
    --------
    >>> columns = np.eye(4)[:, :3]
    >>> [kept.tolist() for kept in eliminations(columns, np.array([5.0, 0.1, 2.0, 0.0]))]
    [[0, 1, 2], [0, 2], [0]]
    """
    kept, found = np.arange(columns.shape[1]), []
    while len(kept):
        found.append(kept)
        part = columns[:, kept]
        kept = np.delete(kept, int(np.argmin(_missed(part, y))))
    return found


def _missed(columns: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What the squared residual gains by leaving out each column, up to a constant."""
    if columns.shape[1] <= EXACT:
        rests = (solved(np.delete(columns, k, axis=1), y)[1] for k in range(columns.shape[1]))
        return np.array([rest @ rest for rest in rests])
    norms = np.linalg.norm(columns, axis=0)
    norms[norms == 0] = 1.0
    _, sizes, vt = np.linalg.svd(columns / norms, full_matrices=False)
    kept = sizes > CONDITION * sizes[0]
    inverse = ((vt[kept] / sizes[kept, None]) ** 2).sum(axis=0)  # the diagonal of the inverse of the Gram matrix
    return (solved(columns, y)[0] * norms) ** 2 / np.where(inverse > 0, inverse, np.inf)
