"""Two formulas for a target with noise, each on its own side of a condition u < c.

Added after the stage for one formula had been scored on surfaces with noise; set up on tables of the tests.
"""

import numpy as np

from ...expressions import Expression
from .formula import Found, Tree, found, leaf, polished
from .noisy_targets import noisy
from .piecewise import conditions, simplest_between
from .polynomials import exponents
from .short_constants import TRIED, description, with_short_constants

CUTS = np.linspace(0.06, 0.94, 17)  # quantiles of u that are compared
FEWEST = 40  # rows on a side
SPLITS = 2  # conditions whose sides are searched
SIDE = 4_000_000  # evaluations for a side, at most
SHORTENED = 8  # finds of a side whose constants are made short
RIDGE = 1e-9  # of its coefficients
DEGREE = 3  # of the polynomial that stands for the formula of a side
SLACK = 6.0  # bits that a simpler number in the condition may cost
WORTH = 3.0  # bits for each column that a split must save


def noisy_pieces(columns, y, names, evaluations: int) -> tuple[list[Found], int]:
    """A condition and a short expression on either side of it.

    The condition is where polynomials and simple functions, fitted on either side, leave least.

    Parameters
    ----------
    columns, y : the table
    names : names of the inputs
    evaluations : int
        Most fits, features and pairs that are compared.

    Returns
    -------
    finds : list of Found
    evaluations : int
    """
    finds: list[Found] = []
    if len(y) < 3 * FEWEST:
        return finds, 0
    splits, used = _splits(columns, y, names)
    for tree, u, cut in splits:
        if used + SIDE > evaluations:
            break
        sides = []
        for rows in (np.flatnonzero(u < cut), np.flatnonzero(u >= cut)):
            side, count = _side({name: column[rows] for name, column in columns.items()}, y[rows], names)
            sides.append(side)
            used += count
        find = _joined(tree, u, sides[0], sides[1], columns, y)
        finds += [find] if find is not None else []
        # what is found on one side may hold on both
        for side in sides:
            whole = found(side.expression.tree, columns, y, "one of two pieces") if side is not None else None
            finds += [polished(whole, columns, y)] if whole is not None and np.isfinite(whole.error) else []
    return finds, used


def _splits(columns, y, names) -> tuple[list[tuple[Tree, np.ndarray, float]], int]:
    """The best cuts of the best conditions, those that save enough, and how many were compared."""
    B = _basis(columns, names)
    whole, used = _left(B, y), 1
    out: list[tuple[float, int, Tree, np.ndarray, float]] = []
    for tree in conditions(names):
        u = np.broadcast_to(Expression(tree)(columns), y.shape)
        if not np.isfinite(u).all() or np.ptp(u) == 0:
            continue
        ordered = np.sort(u)
        few = [float(ordered[int(q * len(u))]) for q in CUTS]
        scores = [_split(B, y, u, cut) for cut in few]
        k = int(np.argmin(scores))
        low, high = few[max(k - 1, 0)], few[min(k + 1, len(few) - 1)]
        between = ordered[(ordered > low) & (ordered < high)]
        fine = [*between[:: max(1, len(between) // 24)], few[k]]
        best = min((_split(B, y, u, cut), float(cut)) for cut in fine)
        used += len(few) + len(fine)
        out.append((round(best[0] / whole, 9), len(out), tree, u, best[1]))
    saved = -len(y) / 2 * np.log2(min((o[0] for o in out), default=1.0) + 1e-20)
    if saved < WORTH * len(B):
        return [], used
    return [(tree, u, cut) for _, _, tree, u, cut in sorted(out, key=lambda o: o[:2])[:SPLITS]], used


def _basis(columns, names) -> np.ndarray:
    """Columns that stand for an unknown smooth function of the inputs."""
    X = np.array([columns[name] for name in names])
    powers = exponents(len(names), DEGREE if len(names) < 4 else 1)
    rows = [np.prod(X ** np.array(p)[:, None], axis=0) for p in powers]
    for i, x in enumerate(X):
        waves = [f(k * x) for k in (1, 2, 3) for f in (np.sin, np.cos)]
        rows += [*waves, np.exp(-np.abs(x) / (np.std(x) or 1.0))]
        if len(X) == 2:
            rows += [wave * X[1 - i] for wave in waves]
    B = np.array(rows)
    return B / np.linalg.norm(B, axis=1)[:, None]


def _left(B, y) -> float:
    G = B @ B.T
    c = np.linalg.solve(G + RIDGE * np.trace(G) / len(G) * np.eye(len(G)), B @ y)
    return float(np.sum((y - c @ B) ** 2)) + 1e-300


def _split(B, y, u, cut) -> float:
    below = u < cut
    if min(below.sum(), (~below).sum()) < max(FEWEST, len(B) + 5):
        return np.inf
    return _left(B[:, below], y[below]) + _left(B[:, ~below], y[~below])


def _side(columns, y, names) -> tuple[Found | None, int]:
    """The expression of least description length for a side."""
    n, variance = len(y), float(np.var(y)) or 1.0
    finds, used = noisy(columns, y, names, SIDE, deep=False) if np.ptp(y) > 0 else ([], 0)
    finds = [find for find in [*finds, found(leaf(float(y.mean())), columns, y, "constant")] if find is not None]

    def length(find):
        return round(description(find.expression, find.error / variance, n), 6)

    finds = sorted((find for find in finds if np.isfinite(find.error)), key=length)
    short = [with_short_constants(find, columns, y, n) for find in finds[:SHORTENED]]
    return min([*short, *finds], key=length, default=None), used + TRIED * len(short)


def _joined(tree: Tree, u, first: Found | None, second: Found | None, columns, y) -> Found | None:
    """Both formulas, with the simplest number in the condition that the data allow."""
    if first is None or second is None:
        return None
    with np.errstate(all="ignore"):
        a, b = (np.nan_to_num((find.expression(columns) - y) ** 2, nan=1e300) for find in (first, second))
    order = np.argsort(u, kind="stable")
    a, b = np.broadcast_to(a, y.shape)[order], np.broadcast_to(b, y.shape)[order]
    error = np.concatenate([[0.0], np.cumsum(a)]) + np.concatenate([np.cumsum(b[::-1])[::-1], [0.0]])
    k = int(np.argmin(error[1:-1])) + 1
    bits = len(y) / 2 * np.log2(error / error[k] + 1e-300)
    low = high = k
    while low > 1 and bits[low - 1] < SLACK:
        low -= 1
    while high < len(y) - 1 and bits[high + 1] < SLACK:
        high += 1
    c = simplest_between(float(u[order[low - 1]]), float(u[order[high]]))
    return found(("where", ("<", tree, leaf(c)), first.expression.tree, second.expression.tree), columns, y, "pieces")
