"""Meet in the middle: operators undone on the target, looked up among the enumerated features.

With T one of a few functions, o one of + - * / and g, h features, the search asks for every T, o and g whether
T(y) o g = a*h + b for some h and numbers a, b. Values of features on six rows, made free of a and b, are the keys
of a hash table; what meets there is compared on all rows of the pool, then on all rows of the table.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np

from .enumeration import Pool, mixed
from .formula import Found, Tree, combination, evaluate, found, polished

OFFSETS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
WIDE = ("id", "inverse")  # undone functions that are combined with every feature; the others with the cheapest
NARROW = 100_000
HITS = 256  # meetings kept for one undone function
CHECKED = 40  # of these, the cheapest are compared on all rows
CELLS = 2.0**20  # to which six rows must agree to meet
HALF = np.uint64(0xFFFFFFFF00000000)
CLOSE = 1e-7  # to which the rows of the pool must agree then


class Undone(NamedTuple):
    """The target with a function undone.

    Attributes
    ----------
    name : what was undone
    values : ndarray, shape (n_rows,)
    back : from a tree for these values to a tree for the target
    """

    name: str
    values: np.ndarray
    back: Callable[[Tree], Tree]


def undone(y: np.ndarray, offsets=OFFSETS) -> list[Undone]:
    """The target itself and, after an offset, all functions undone that are defined and one-to-one on it."""
    out = []
    for offset in offsets:
        t = y - offset
        # roots and logarithms need one sign; what is negative throughout is turned round, and back again later
        sign = 1 if (t > 0).all() else -1 if (t < 0).all() else 0
        plain, signed = functools.partial(_back, offset, 1), functools.partial(_back, offset, sign)
        out.append(Undone("id", t, plain(lambda tree: tree)))
        if (t != 0).all():
            out.append(Undone("inverse", 1 / t, plain(lambda tree: ("/", (1,), tree))))
        if sign:
            out += [
                Undone("square", t**2, signed(lambda tree: ("sqrt", tree))),
                Undone("root", np.sqrt(sign * t), signed(lambda tree: ("**", tree, (2,)))),
                Undone("inverse square", t**-2.0, signed(lambda tree: ("/", (1,), ("sqrt", tree)))),
                Undone("log", np.log(sign * t), signed(lambda tree: ("exp", tree))),
            ]
        if np.abs(t).max() < 300:
            out.append(Undone("exp", np.exp(t), plain(lambda tree: ("log", tree))))
        if (t > 0).all() and (t < 1).all():
            out.append(Undone("logit", np.log(t / (1 - t)), plain(sigmoid)))
        if np.abs(t).max() < 1:
            out.append(Undone("atanh", np.arctanh(t), plain(lambda tree: ("tanh", tree))))
        if np.abs(t).max() < np.pi / 2:
            out.append(Undone("tan", np.tan(t), plain(lambda tree: ("atan", tree))))
    return [item for item in out if np.isfinite(item.values).all() and np.ptp(item.values) > 0]


def _back(offset: float, sign: int, function: Callable[[Tree], Tree]) -> Callable[[Tree], Tree]:
    """The way back to the target: the function, its sign, the offset."""
    return lambda tree: combination([1.0], [function(tree) if sign > 0 else ("neg", function(tree))], offset)


def sigmoid(tree: Tree) -> Tree:
    return ("/", (1,), ("+", (1,), ("exp", ("neg", tree))))


def quantile_rows(y: np.ndarray, n: int) -> np.ndarray:
    """Indices of n rows at even quantiles of the target, extremes first, then the middle, then what lies between.

    Examples
    --------
    >>> quantile_rows(np.array([5.0, 1.0, 3.0, 2.0, 4.0]), 3).tolist()
    [1, 0, 2]
    """
    order = np.argsort(y, kind="stable")
    ranks = np.unique(np.rint(np.linspace(0, len(y) - 1, min(n, len(y)))).astype(int))
    sequence, step = [0, len(ranks) - 1], len(ranks) - 1
    while step > 1:
        step = (step + 1) // 2
        sequence += [i for i in range(0, len(ranks), step)]
    sequence = list(dict.fromkeys(i for i in [*sequence, *range(len(ranks))] if i < len(ranks)))
    return order[ranks[sequence]]


def meet(pool: Pool, rows, columns, y, names, evaluations: int, everything=False) -> tuple[list[Found], int]:
    """Exact expressions for the target, of two features and a function.

    Parameters
    ----------
    pool : Pool
        With values on `rows`.
    rows : ndarray of int
        Rows of the table that the pool was enumerated on.
    columns, y : the table
    names : names of the inputs
    evaluations : int
        Most combinations T, o, g that are looked up.
    everything : bool
        Go on after the first undone function that led to a find.

    Returns
    -------
    finds : list of Found
    evaluations : int
        Combinations that were looked up.
    """
    if len(rows) < 8:
        return [], 0
    # the first rows are the extremes of y, where features overflow most: six of the others make the keys
    keys = np.unique(np.linspace(2, len(rows) - 1, 6).astype(int))
    few = np.ascontiguousarray(pool.values[:, keys])
    table = _index(few)
    finds, used = [], 0
    for item in undone(y):
        n = len(pool) if item.name in WIDE else min(NARROW, len(pool))
        n = min(n, (evaluations - used) // 4)  # four operations for each g
        if n <= 0:
            break
        hits = np.empty((HITS, 3), np.int64)
        count = _meet(pool.values, few, table, keys, item.values[rows], n, hits)
        used += 4 * n
        hits = hits[:count]
        price = pool.cost[hits[:, 1]].astype(int) + pool.cost[hits[:, 2]]
        for how, g, h in hits[np.argsort(price, kind="stable")][:CHECKED]:
            find = _checked(pool, item, how, g, h, columns, y, names)
            if find is not None:
                finds.append(find)
        if finds and not everything:
            break
    return finds, used


def _checked(pool, item, how, g, h, columns, y, names) -> Found | None:
    """The meeting as an expression, if it holds on all rows."""
    first, second = pool.tree(g, names), pool.tree(h, names)
    values = evaluate((first, second), columns)
    with np.errstate(all="ignore"):
        left = (np.add, np.subtract, np.multiply, np.divide)[how](item.values, values[0])
        a, b = line(values[1], left)
    if not np.isfinite(left).all() or not np.isfinite(values).all():
        return None
    inner = combination([a], [second], b)
    # undo o: T(y) + g = s gives s - g, T(y) * g = s gives s / g, and the other way round
    tree = ((("-", inner, first)), ("+", inner, first), ("/", inner, first), ("*", inner, first))[how]
    find = found(item.back(tree), columns, y, "lookup")
    if find is None or not np.isfinite(find.error):
        return None
    find = polished(find, columns, y)
    return find if find.exact else None


def line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and intercept of y over x by least squares, an intercept that is only rounding set to 0."""
    middle, centre = x.mean(), y.mean()
    a = float(np.sum((x - middle) * (y - centre)) / np.sum((x - middle) ** 2))
    b = float(centre - a * middle)
    return a, b if abs(b) > 1e-9 * np.mean(np.abs(y)) else 0.0


@numba.njit(cache=True)
def _key(v):
    """Six values free of scale and offset, rounded; 0 where they do not vary or one of them decides alone."""
    # v and a*v + b get one key: differences to the first value, over their sum; the weighted sum gives the sign
    total = top = weighted = 0.0
    for j in range(1, len(v)):
        d = v[j] - v[0]
        total += abs(d)
        top = max(top, abs(d))
        weighted += d * (1.0 + 0.37 * j)
    size = 0.0
    for j in range(len(v)):
        size = max(size, abs(v[j]))
    # the comparison is false for nan
    if not (total > 1e-9 * size) or not (total < 1e300) or total - top < 1e-4 * total:
        return np.uint64(0)
    scale = CELLS / total if weighted > 0 else -CELLS / total
    h = np.uint64(7)
    for j in range(1, len(v)):
        h = mixed(h, np.int64(np.rint((v[j] - v[0]) * scale)))
    return h | np.uint64(1)


@numba.njit(cache=True)
def _index(few):
    """Hash table from keys to features, open addressing: half a key and the feature's index; 0 is empty."""
    slots = 1024
    while slots < 2 * len(few):
        slots *= 2
    table, mask = np.zeros(slots, np.uint64), np.uint64(slots - 1)
    for i in range(len(few)):
        key = _key(few[i])
        if key != 0:
            slot, steps = (key >> np.uint64(20)) & mask, 0
            # features that differ on none of these rows form a chain, which is kept short
            while table[slot] != 0 and steps < 64:
                slot = (slot + np.uint64(1)) & mask
                steps += 1
            if table[slot] == 0:
                table[slot] = (key & HALF) | np.uint64(i)
    return table


@numba.njit(cache=True)
def _combined(how, t, g):
    if how == 0:
        return t + g
    if how == 1:
        return t - g
    if how == 2:
        return t * g
    return t / g if g != 0 else np.nan


@numba.njit(cache=True)
def _meet(values, few, table, rows, t, n, hits):
    """Pairs (how, g, h) with t how g = a*h + b on all rows of the pool; their number."""
    mask, v, count = np.uint64(len(table) - 1), np.empty(len(rows)), 0
    some = t[rows]
    for g in range(n):
        for how in range(4):
            # what h would have to be, up to a and b
            for j in range(len(rows)):
                v[j] = _combined(how, some[j], few[g, j])
            key = _key(v)
            if key == 0:
                continue
            slot = (key >> np.uint64(20)) & mask
            while table[slot] != 0:
                if (table[slot] ^ key) & HALF == 0:
                    h = np.int64(table[slot] & ~HALF)
                    if _agree(how, t, values[g], values[h], rows):
                        hits[count, 0], hits[count, 1], hits[count, 2] = how, g, h
                        count += 1
                        if count == len(hits):
                            return count
                slot = (slot + np.uint64(1)) & mask
    return count


@numba.njit(cache=True)
def _agree(how, t, g, h, rows):
    """Whether t how g is a line in h on all rows, not by one row alone."""
    # the line goes through the first row and the one whose h is farthest from it
    at, first, best, top = 0, rows[0], 0.0, 0.0
    start = _combined(how, t[first], g[first])
    for j in range(1, len(rows)):
        if abs(h[rows[j]] - h[first]) > best:
            best, at = abs(h[rows[j]] - h[first]), rows[j]
    if best == 0.0:
        return False
    a = (_combined(how, t[at], g[at]) - start) / (h[at] - h[first])
    b = start - a * h[first]
    # the six rows first: most chance meetings end here
    for i in rows:
        q = _combined(how, t[i], g[i])
        if not (abs(q - a * h[i] - b) < 1e-5 * (abs(q - b) + abs(q - start))):
            if i != first:
                return False
    for i in range(len(t)):
        top = max(top, abs(_combined(how, t[i], g[i])))
    # a line that follows few outlying rows fits any h: half of the rows must tell
    telling = 0
    for i in range(len(t)):
        q = _combined(how, t[i], g[i])
        if not (abs(q - a * h[i] - b) <= CLOSE * abs(q - b) + 1e-12 * top):
            return False
        if abs(q - start) > 1e-6 * top:
            telling += 1
    return 2 * telling >= len(t)
