"""Wider features for the pursuit than the pool holds: dense scales, shifted inputs, waves, products."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numba
import numpy as np

from . import grammar
from .enumeration import Features
from .grammar import ADD, ATAN, COS, EXP, INPUT, INVERSE, LOG, MUL, POWER, SHIFT, SIN, SQUARE, SUB, TANH

SHIFTS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)  # of inputs, of both signs
UNIT = (1.0, 2.0, 3.0, 0.5, np.pi)  # k of waves whatever the range of u
PHASES = np.pi / 4 * np.arange(1, 97)  # k times the range of u, for the dense scales f(k*u)
FREQUENCIES = np.pi / 2 * np.arange(1, 2001)  # k times the range of u, at which a wave is looked for
PEAKS = 6  # of the strongest waves of each argument that join the library
WAVES = np.pi / 2 * np.arange(1, 65)  # the same for products of waves
RATES = np.geomspace(0.05, 50.0, 25)  # k times the largest |u|, for functions that do not oscillate
SLOPES = np.geomspace(0.3, 10.0, 8)  # k times the largest |u|, for exponentials in products
SEPARABLE = 100  # cheapest features of one input whose products with those of another are taken
PRODUCTS = 80  # simple features whose products are taken
DEGREES = {1: 8, 2: 6, 3: 4, 4: 3}  # of monomials, by the number of inputs; 2 beyond


@dataclass
class Builder:
    """Collects features that are made of others, until there are as many as are wanted."""

    features: Features
    size: int
    rows: list = field(default_factory=list)

    @property
    def full(self) -> bool:
        return len(self.features) + len(self.rows) >= self.size

    def add(self, op, a, b=-1, k=0.0) -> int:
        self.rows.append((op, a, b, k, 0))
        return len(self.features) + len(self.rows) - 1

    def done(self) -> Features:
        return self.features.joined(*zip(*self.rows, strict=True)) if self.rows else self.features


def library(pool: Features, X: np.ndarray, y: np.ndarray, n_simple: int, size: int) -> Features:
    """The first `n_simple` features of a pool and further ones, at most `size`, without values.

    Parameters
    ----------
    pool : Features
    X : ndarray, shape (n_rows, n_inputs)
        Rows from which the ranges of the dense scales are taken.
    y : ndarray, shape (n_rows,)
        The target, whose strongest waves join the library.
    n_simple, size : int
    """
    n = min(n_simple, len(pool), size)
    start = pool.first(n)
    build = Builder(start, size)
    inputs = [i for i in range(n) if start.op[i] == INPUT]
    _monomials(build, inputs)
    shifted = {i: [i] + [build.add(SHIFT, i, k=s * sign) for s in SHIFTS for sign in (1, -1)] for i in inputs}
    arguments = _arguments(build, inputs, shifted)
    groups = _scales(build, X, y, arguments)
    _multiplied(build, inputs, groups)
    _separable(build, start, inputs)
    pairs = list(itertools.combinations(inputs, 2))
    for i, j in pairs:
        if build.full:
            break
        _exponentials(build, groups, i, j)
        _bumps(build, shifted[i], shifted[j])
    for i in inputs:
        _bumps_of_one(build, shifted[i])
    for i, j in itertools.combinations_with_replacement(range(min(n, PRODUCTS)), 2):
        build.add(MUL, i, j)
    for i, j in pairs:
        if build.full:
            break
        _products_of_waves(build, X, i, j)
    return build.done().first(size)


def _monomials(build, inputs):
    degree = DEGREES.get(len(inputs), 2)
    powers = {(i, p): i if p == 1 else build.add(POWER, i, k=float(p)) for i in inputs for p in range(1, degree + 1)}
    for i, j in itertools.combinations(inputs, 2):
        for p, q in itertools.product(range(1, degree), repeat=2):
            if p + q <= degree:
                build.add(MUL, powers[i, p], powers[j, q])


def _arguments(build, inputs, shifted) -> list[int]:
    """Simple arguments of functions: inputs, squares, sums, differences, products and radii of two inputs."""
    squares = {i: build.add(SQUARE, i) for i in inputs}
    out = [*inputs, *squares.values(), *(build.add(POWER, i, k=3.0) for i in inputs)]
    for i, j in itertools.combinations(inputs, 2):
        if build.full:
            break
        out += [build.add(ADD, i, j), build.add(SUB, i, j), build.add(MUL, i, j)]
        out.append(build.add(ADD, squares[i], squares[j]))
        out += [build.add(SUB, squares[i], squares[j]), build.add(grammar.DIV, i, j)]
        out += [build.add(MUL, squares[i], j), build.add(MUL, i, squares[j])]
        out += [build.add(grammar.ROOT, out[-5], k=1.0)]
    return out


def _scales(build, X, y, arguments) -> dict[int, dict[str, list[int]]]:
    """f(k*u) with k so dense that a fit from the nearest one converges; by argument the waves and the slopes."""
    values, groups = build.done().at(X), {}
    for u in arguments:
        if build.full:
            break
        row = values[u][np.isfinite(values[u])]
        if not row.size or not np.ptp(row):
            continue
        peaks: Sequence[float] | np.ndarray = strongest(values[u], y) if len(row) == len(y) else ()
        ks = [*UNIT, *peaks, *PHASES / np.ptp(row)]
        waves = [build.add(op, u, k=k) for k in ks for op in (SIN, COS)]
        slopes = [build.add(EXP, u, k=sign * k) for k in SLOPES / np.abs(row).max() for sign in (1, -1)]
        steps = [build.add(op, u, k=k) for k in RATES / np.abs(row).max() for op in (TANH, ATAN)]
        for k in RATES / np.abs(row).max():
            for sign in (1, -1):
                build.add(EXP, u, k=sign * k)
        groups[u] = {"waves": waves[2 * (len(UNIT) + len(peaks)) :], "slopes": slopes, "steps": steps[::4]}
    return groups


def _multiplied(build, inputs, groups):
    """Inputs times f(k*u)."""
    for group in groups.values():
        if build.full:
            break
        for i in inputs:
            for f in [*group["waves"][:64], *group["slopes"], *group["steps"]]:
                build.add(MUL, i, f)


def _separable(build, start, inputs):
    """Products of a feature of one input and a feature of another."""
    reach = {i: {i} for i in inputs}
    for i in range(len(start)):
        if i not in reach:
            reach[i] = reach[start.a[i]] | (reach[start.b[i]] if start.b[i] >= 0 else set())
    own = {i: [f for f in range(len(start)) if reach[f] == {i}][:SEPARABLE] for i in inputs}
    for i, j in itertools.combinations(inputs, 2):
        if build.full:
            break
        for f, g in itertools.product(own[i], own[j]):
            build.add(MUL, f, g)


def _exponentials(build, groups, i, j):
    """Exponentials of one input times exponentials and waves of another."""
    for u, v in ((i, j), (j, i)):
        if u in groups and v in groups:
            for f, g in itertools.product(groups[u]["slopes"], groups[v]["waves"][:64]):
                build.add(MUL, f, g)
    if i in groups and j in groups:
        for f, g in itertools.product(groups[i]["slopes"], groups[j]["slopes"]):
            build.add(MUL, f, g)


def strongest(u: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The k for which sin(k*u) and cos(k*u) explain most of y: peaks of the periodogram, the strongest first."""
    ks = FREQUENCIES / np.ptp(u)
    power = _periodogram(u - u.mean(), y - y.mean(), ks)
    return ks[np.argsort(-np.round(power / power.max(), 9), kind="stable")[:PEAKS]]


@numba.njit(cache=True)
def _periodogram(u, y, ks):
    power = np.empty(len(ks))
    for j in range(len(ks)):
        c = s = 0.0
        for i in range(len(u)):
            c += y[i] * np.cos(ks[j] * u[i])
            s += y[i] * np.sin(ks[j] * u[i])
        power[j] = c * c + s * s
    return power


def _products_of_waves(build, X, i, j):
    ranges = np.ptp(X, axis=0)
    column = build.features.a
    if not ranges[column[i]] or not ranges[column[j]]:
        return
    first, second = ([build.add(op, u, k=k) for k in WAVES / ranges[column[u]] for op in (SIN, COS)] for u in (i, j))
    for u, v in itertools.product(first, second):
        build.add(MUL, u, v)


def _bumps(build, first, second):
    """Functions of shifted products and of squared distances from centres."""
    squares = [[build.add(SQUARE, u) for u in part] for part in (first, second)]
    for u, v in itertools.product(first, second):
        product = build.add(MUL, u, v)
        build.add(SIN, product, k=1.0)
        build.add(COS, product, k=1.0)
    for u, v in itertools.product(*squares):
        radius = build.add(ADD, u, v)
        _of_radius(build, radius)


def _bumps_of_one(build, shifted):
    for u in shifted:
        _of_radius(build, build.add(SQUARE, u))
        build.add(INVERSE, u)
        build.add(LOG, u, k=1.0)
        build.add(grammar.ROOT, u, k=1.0)
        build.add(grammar.ABS, u)


def _of_radius(build, radius):
    build.add(EXP, radius, k=-1.0)
    build.add(EXP, radius, k=-0.2)
    above = build.add(SHIFT, radius, k=1.0)
    build.add(INVERSE, above)
    build.add(LOG, above, k=1.0)
    build.add(grammar.ROOT, radius, k=1.0)
