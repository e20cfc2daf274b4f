"""Two or more formulas, each on its own side of a condition u < c."""

import itertools
from collections.abc import Callable

import numpy as np

from ...expressions import Expression
from .formula import Found, Tree, found, is_exact, leaf

MOST_PIECES = 4
PART = 0.25  # share of the rows, at an end of u, on which the first formula is sought
FEWEST = 40  # rows that a formula is sought on
STRAY = 0.002  # share of rows that may satisfy a formula outside its region, by chance or on the border

Search = Callable[[dict, np.ndarray, int], tuple[list[Found], int]]


def conditions(names) -> list[Tree]:
    """What may be compared with a number: inputs, sums, differences, products, sums of squares, sizes.

    Examples
    --------
    >>> [str(Expression(tree)) for tree in conditions(("x",))]
    ['x', 'abs(x)']
    """
    variables = [(name,) for name in names]
    pairs = list(itertools.combinations(variables, 2))[:10]
    joint = [(label, a, b) for label in ("+", "-", "*") for a, b in pairs]
    radii = [("+", ("**", a, (2,)), ("**", b, (2,))) for a, b in pairs]
    sizes = [("abs", v) for v in variables] + [("-", ("abs", a), ("abs", b)) for a, b in pairs]
    return [*variables, *joint, *radii, *sizes, *(("+", ("abs", a), ("abs", b)) for a, b in pairs)]


def piecewise(columns, y, names, search: Search, evaluations: int, pieces: int = MOST_PIECES):
    """An exact formula of several pieces.

    A formula is sought on the rows at one end of a simple u; the rows on which it holds are then separated from
    the others by a condition, and the others are treated alike.

    Parameters
    ----------
    columns, y : the table
    names : names of the inputs
    search : function of a table and a number of evaluations -> finds and evaluations
        Looks for one formula.
    evaluations : int
    pieces : int
        Most formulas.

    Returns
    -------
    finds : list of Found
        One exact formula, or none.
    evaluations : int
    """
    used = 0
    trees = conditions(names)
    values = [Expression(tree)(columns) for tree in trees]
    tried = set()
    for u in values:
        if not np.isfinite(u).all() or np.ptp(u) == 0:
            continue
        order = np.argsort(u, kind="stable")
        count = int(PART * len(order))
        if count < FEWEST:
            break
        for rows in (order[:count], order[-count:]):
            part = np.sort(rows)
            if part.tobytes() in tried or used >= evaluations:
                continue
            tried.add(part.tobytes())
            finds, cost = _sought(columns, y, part, search, evaluations - used)
            used += cost
            for first in sorted((f for f in finds if f.exact), key=lambda f: f.size)[:1]:
                tree, cost = _completed(first, columns, y, names, search, trees, values, evaluations - used, pieces)
                used += cost
                whole = found(tree, columns, y, "piecewise") if tree is not None else None
                if whole is not None and _holds(whole, columns, y).mean() > 1 - STRAY:
                    return [whole], used
    return [], used


def _sought(columns, y, rows, search, evaluations):
    if np.ptp(y[rows]) == 0:
        here = {name: column[rows] for name, column in columns.items()}
        return [found(leaf(y[rows][0]), here, y[rows], "constant")], 1
    return search({name: column[rows] for name, column in columns.items()}, y[rows], evaluations)


def _holds(find: Found, columns, y) -> np.ndarray:
    with np.errstate(all="ignore"):
        values = np.broadcast_to(find.expression(columns), y.shape)
        return np.abs(values - y) < 1e-8 * (np.abs(y) + np.median(np.abs(y)) + 1e-300)


def _completed(first, columns, y, names, search, trees, values, evaluations, pieces):
    """The tree of all pieces, given the formula of one; None if the rest has no formula or no border is found."""
    holds = _holds(first, columns, y)
    rest = np.flatnonzero(~holds)
    if not rest.size:
        return first.expression.tree, 0
    if pieces < 2 or len(rest) < FEWEST // 2 or evaluations <= 0:
        return None, 0
    other, used = _sought(columns, y, rest, search, evaluations)
    exact = sorted((f for f in other if f.exact), key=lambda f: f.size)
    beyond = {name: column[rest] for name, column in columns.items()}
    if exact:
        second = exact[0].expression.tree
        larger = _as_extreme(first.expression.tree, second, columns, y)
        if larger is not None:
            return larger, used
    condition = _separated(holds, trees, values)
    if condition is None:
        return None, used
    if not exact:
        finds, cost = piecewise(beyond, y[rest], names, search, evaluations - used, pieces - 1)
        used += cost
        if not finds:
            return None, used
        second = finds[0].expression.tree
    return ("where", condition, first.expression.tree, second), used


def _as_extreme(first: Tree, second: Tree, columns, y) -> Tree | None:
    """The larger or the smaller of two formulas, if that is the target."""
    a, b = (Expression(tree)(columns) for tree in (first, second))
    for label, values in (("max", np.maximum(a, b)), ("min", np.minimum(a, b))):
        if is_exact(np.broadcast_to(values, y.shape), y, 1e-8):
            return (label, first, second)
    return None


def _separated(holds, trees, values) -> Tree | None:
    """The first condition that is true where `holds` is, but for a few rows, with a simple number."""
    stray = int(STRAY * len(holds))
    for tree, u in zip(trees, values, strict=True):
        if not np.isfinite(u).all():
            continue
        for label, inside, outside in (("<", u[holds], u[~holds]), (">", -u[holds], -u[~holds])):
            low = np.sort(inside)
            low = low[max(0, len(low) - 1)] if not stray else low[max(0, len(low) - 1 - stray)]
            high = outside.min()
            if low < high:
                c = simplest_between(low, high)
                return (label, tree, leaf(c if label == "<" else -c))
    return None


def simplest_between(low: float, high: float) -> float:
    """The number with the fewest digits in an interval.

    Examples
    --------
    >>> simplest_between(-0.3, 0.2), simplest_between(0.93, 1.07), simplest_between(2.46, 2.53)
    (0.0, 1.0, 2.5)
    """
    if low < 0 < high:
        return 0.0
    for digits in range(-12, 16):
        c = round((low + high) / 2, digits)
        if low < c < high:
            return float(c)
    return float((low + high) / 2)
