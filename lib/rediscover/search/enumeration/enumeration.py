"""Small expressions of some inputs, bottom-up in order of cost, each once, with their values on a few rows."""

from dataclasses import dataclass

import numba
import numpy as np

from . import grammar
from .grammar import (
    ABS,
    ADD,
    ATAN,
    COS,
    COSH,
    CUBE,
    DIV,
    EXP,
    INPUT,
    INVERSE,
    LOG,
    MUL,
    POWER,
    REFLECT,
    ROOT,
    SHIFT,
    SIN,
    SINH,
    SQUARE,
    SUB,
    TANH,
)

SMALLEST, LARGEST = 1e-150, 1e150  # of a feature's mean size: beyond, a square is no number any more
VARIES = 1e-9  # a feature whose range is less, relative to its size, is a constant
DIGITS = 2.0**33  # to which equal features agree


@dataclass(frozen=True)
class Features:
    """Expressions that share their parts: feature i applies operation op[i] to features a[i] and b[i] before it.

    Attributes
    ----------
    op, a, b, k, cost : ndarrays, shape (n,)
        Operation (see `grammar`), operands (for an input, a is its column; unused ones are -1), the number in
        it, and what the expression costs.
    """

    op: np.ndarray
    a: np.ndarray
    b: np.ndarray
    k: np.ndarray
    cost: np.ndarray

    def __len__(self):
        return len(self.op)

    def at(self, X: np.ndarray, n: int | None = None) -> np.ndarray:
        """Values of the first n features on other rows, shape (n, n_rows); not finite where undefined."""
        n = len(self) if n is None else min(n, len(self))
        out = np.empty((n, len(X)))
        _evaluate(self.op[:n], self.a[:n], self.b[:n], self.k[:n], np.ascontiguousarray(X, float), out)
        return out

    def tree(self, i: int, names) -> tuple:
        """Feature i as a tree of `rediscover.expressions`.

        Examples
        --------
        >>> features = enumerate_features(np.array([[1.0, 2.0], [3.0, 5.0], [2.0, -1.0]]), 12)
        >>> features.tree(0, ("x", "y")), features.tree(2, ("x", "y"))
        (('x',), ('**', ('x',), (2,)))
        """
        op, k = int(self.op[i]), float(self.k[i])
        if op == INPUT:
            return (names[self.a[i]],)
        u = self.tree(int(self.a[i]), names)
        if op in grammar.BINARY:
            return (grammar.BINARY[op], u, self.tree(int(self.b[i]), names))
        if op in (SQUARE, CUBE):
            return ("**", u, (2 if op == SQUARE else 3,))
        if op == POWER:
            return ("**", u, (number(k),))
        if op == INVERSE:
            return ("/", (1,), u)
        if op in (SHIFT, REFLECT):
            return ("+" if op == SHIFT else "-", (number(k),), u)
        scaled = u if op == ABS or k == 1 else ("neg", u) if k == -1 else ("*", (number(k),), u)
        return (grammar.FUNCTIONS[op], scaled)

    def first(self, n: int) -> "Features":
        """The first n features."""
        return Features(self.op[:n], self.a[:n], self.b[:n], self.k[:n], self.cost[:n])

    def joined(self, op, a, b, k, cost) -> "Features":
        """These features and further ones made of them."""
        parts = ((self.op, op), (self.a, a), (self.b, b), (self.k, k), (self.cost, cost))
        return Features(*(np.concatenate([old, np.asarray(new, old.dtype)]) for old, new in parts))


@dataclass(frozen=True)
class Pool(Features):
    """Enumerated features with their values on the rows of the enumeration, shape (n, n_rows)."""

    values: np.ndarray


def number(value: float) -> int | float:
    """An integer where the value is one."""
    return int(value) if value == int(value) and abs(value) < 1e6 else float(value)


def enumerate_features(X: np.ndarray, size: int, most_cost: int = grammar.POOL_COST) -> Pool:
    """The cheapest distinct features of some inputs.

    Two features are one if they agree, up to the sign, on all rows to ten digits; the first in order of cost is
    kept. Constants and features that are undefined on a row are left out. An outer factor and constant are free
    for whoever uses the features, so no such variant is enumerated. There is no chance and no clock in it.

    Parameters
    ----------
    X : ndarray, shape (n_rows, n_inputs)
    size : int
        Most features. Each takes ``8*n_rows + 26`` bytes, and 16 to 32 in the hash set.
    most_cost : int
        The enumeration stops behind this cost.

    Returns
    -------
    Pool

    Raises
    ------
    ValueError
        If X is not finite or holds no column.
    """
    X = np.ascontiguousarray(X, float)
    if X.ndim != 2 or not X.shape[1] or not np.isfinite(X).all():
        raise ValueError(f"inputs must be finite, of shape (n_rows, n_inputs), got shape {X.shape}")
    ways = grammar.UNARY
    rng = np.random.default_rng(0)  # weights of the two projections, the same for every table of a length
    n, op, a, b, k, cost, values = _enumerate(
        X,
        max(size, 0),
        most_cost,
        np.array([way.op for way in ways], np.int8),
        np.array([way.k for way in ways]),
        np.array([way.cost for way in ways], np.int8),
        np.array([way.deep for way in ways]),
        rng.uniform(-1, 1, (2, len(X))),
    )
    return Pool(op[:n], a[:n], b[:n], k[:n], cost[:n], values[:n])


@numba.njit(cache=True)
def _apply(op, k, u, v, out):
    """out = operation on rows u and v."""
    n = len(out)
    if op == ADD:
        for i in range(n):
            out[i] = u[i] + v[i]
    elif op == SUB:
        for i in range(n):
            out[i] = u[i] - v[i]
    elif op == MUL:
        for i in range(n):
            out[i] = u[i] * v[i]
    elif op == DIV:
        for i in range(n):
            out[i] = u[i] / v[i] if v[i] != 0 else np.nan
    elif op == SQUARE:
        for i in range(n):
            out[i] = u[i] * u[i]
    elif op == CUBE:
        for i in range(n):
            out[i] = u[i] * u[i] * u[i]
    elif op == INVERSE:
        for i in range(n):
            out[i] = 1.0 / u[i] if u[i] != 0 else np.nan
    elif op == ROOT:
        for i in range(n):
            out[i] = np.sqrt(k * u[i]) if k * u[i] >= 0 else np.nan
    elif op == ABS:
        for i in range(n):
            out[i] = abs(u[i])
    elif op == SHIFT:
        for i in range(n):
            out[i] = k + u[i]
    elif op == REFLECT:
        for i in range(n):
            out[i] = k - u[i]
    elif op == SIN:
        for i in range(n):
            out[i] = np.sin(k * u[i])
    elif op == COS:
        for i in range(n):
            out[i] = np.cos(k * u[i])
    elif op == EXP:
        for i in range(n):
            out[i] = np.exp(k * u[i])
    elif op == LOG:
        for i in range(n):
            out[i] = np.log(k * u[i]) if k * u[i] > 0 else np.nan
    elif op == TANH:
        for i in range(n):
            out[i] = np.tanh(k * u[i])
    elif op == ATAN:
        for i in range(n):
            out[i] = np.arctan(k * u[i])
    elif op == SINH:
        for i in range(n):
            out[i] = np.sinh(k * u[i])
    elif op == COSH:
        for i in range(n):
            out[i] = np.cosh(k * u[i])
    elif op == POWER:
        for i in range(n):
            out[i] = u[i] ** k


@numba.njit(cache=True)
def _evaluate(op, a, b, k, X, out):
    for i in range(len(op)):
        if op[i] == INPUT:
            out[i] = X[:, a[i]]
        else:
            _apply(op[i], k[i], out[a[i]], out[max(b[i], 0)], out[i])


@numba.njit(cache=True)
def mixed(h, word):
    """A 64-bit key and one more word."""
    h = (h ^ np.uint64(word)) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(29))


@numba.njit(cache=True)
def _key(v, weights):
    """What equal features have in common: size and two projections, rounded; 0 for what is no feature."""
    size = p = q = 0.0
    low = high = v[0]
    for i in range(len(v)):
        size += abs(v[i])
        p += weights[0, i] * v[i]
        q += weights[1, i] * v[i]
        low = min(low, v[i])
        high = max(high, v[i])
    # the comparison is false for nan
    if not (SMALLEST * len(v) < size < LARGEST * len(v)) or high - low <= VARIES * max(high, -low):
        return np.uint64(0)
    p, q = p / size, q / size
    if p < 0:
        p, q = -p, -q
    exponent = np.floor(np.log2(size))
    h = mixed(np.uint64(1), np.int64(exponent) + 10_000)
    h = mixed(h, np.int64(np.rint(size / 2.0**exponent * DIGITS)))
    h = mixed(h, np.int64(np.rint(p * DIGITS)))
    return mixed(h, np.int64(np.rint(q * DIGITS))) | np.uint64(1)


@numba.njit(cache=True)
def _is_new(table, key):
    """Whether a key was not in the hash set; it is then."""
    mask = np.uint64(len(table) - 1)
    slot = (key >> np.uint64(20)) & mask
    while table[slot] != 0:
        if table[slot] == key:
            return False
        slot = (slot + np.uint64(1)) & mask
    table[slot] = key
    return True


@numba.njit(cache=True)
def _enumerate(X, size, most_cost, way_op, way_k, way_cost, way_deep, weights):
    n_rows, n_inputs = X.shape
    op, cost, nested = np.empty(size, np.int8), np.empty(size, np.int8), np.empty(size, np.int8)
    a, b = np.full(size, -1, np.int32), np.full(size, -1, np.int32)
    k, values = np.zeros(size), np.empty((size, n_rows))
    slots = 1024
    while slots < 2 * size:
        slots *= 2
    table, row = np.zeros(slots, np.uint64), np.empty(n_rows)
    first = np.zeros(most_cost + 2, np.int64)  # of each cost
    n = 0
    for level in range(1, most_cost + 1):
        first[level] = n
        if level == grammar.LEAF_COST:
            for column in range(n_inputs):
                row[:] = X[:, column]
                key = _key(row, weights)
                if n < size and key != 0 and _is_new(table, key):
                    op[n], a[n], cost[n], nested[n], values[n] = INPUT, column, level, 0, row
                    n += 1
        for way in range(len(way_op)):
            # a function around another one costs one more for each level inside
            for inside in range(grammar.MOST_NESTED if way_deep[way] else 1):
                start = level - way_cost[way] - inside
                if start < 1:
                    continue
                for i in range(first[start], first[start + 1]):
                    if way_deep[way] and nested[i] != inside:
                        continue
                    if n == size:
                        return n, op, a, b, k, cost, values
                    _apply(way_op[way], way_k[way], values[i], values[i], row)
                    key = _key(row, weights)
                    if key != 0 and _is_new(table, key):
                        op[n], a[n], k[n], cost[n], values[n] = way_op[way], i, way_k[way], level, row
                        nested[n] = nested[i] + 1 if way_deep[way] else nested[i]
                        n += 1
        for left in range(1, level - grammar.BINARY_COST):
            right = level - grammar.BINARY_COST - left
            for i in range(first[left], first[left + 1]):
                for j in range(first[right], min(first[right + 1], i + 1)):
                    for way in range(5):
                        # sums, differences and products are one for both orders (a sign is free), quotients two
                        if n == size:
                            return n, op, a, b, k, cost, values
                        x, y = (j, i) if way == 4 else (i, j)
                        what = DIV if way == 4 else ADD + way
                        _apply(what, 0.0, values[x], values[y], row)
                        key = _key(row, weights)
                        if key != 0 and _is_new(table, key):
                            op[n], a[n], b[n], cost[n], values[n] = what, x, y, level, row
                            nested[n] = max(nested[x], nested[y])
                            n += 1
        first[level + 1] = n
        if n == first[level] and level > grammar.LEAF_COST + 3:
            break
    return n, op, a, b, k, cost, values
