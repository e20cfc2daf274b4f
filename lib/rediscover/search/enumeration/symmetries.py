"""Structure that a table shows: symmetries in two inputs, and groups of inputs that can be separated.

AI Feynman asks a network that it has trained on the table. Here nothing is trained: a polynomial in the inputs, or
in what is left of them once the structure is assumed, is fitted to three quarters of the rows and judged on the
rest. A structure that holds leaves fewer inputs, so more powers of each, and a smaller error.

References
----------
S.-M. Udrescu and M. Tegmark, AI Feynman: A physics-inspired method for symbolic regression, Science Advances 6
(2020) eaay2631
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .polynomials import exponents

ROWS = 800  # that are looked at
HELD_OUT = 4  # one row of so many
DEGREE = 12  # at most, of a polynomial
WIDE = 4.0  # ratio of largest to smallest beyond which an input of one sign is taken in logarithms
PASSED = 0.7  # error, relative to the target's deviation, up to which a structure is believed
SLACK = 1.5  # by which its error may exceed that of a polynomial without structure
LEAST = 1e-7  # error below which differences are rounding
GROUPED = 9  # inputs up to which all groups are tried; beyond, single ones and pairs
COMBINE = {"-": np.subtract, "/": np.divide, "*": np.multiply, "+": np.add}


class Structure(NamedTuple):
    """What was found of a table.

    Attributes
    ----------
    kind : one of - / * +, by which two inputs can be replaced; 'sum' or 'product' of two parts.
    inputs : columns: the two, or those of the first part.
    error : on held-out rows, relative to the target's standard deviation (for a product, in logarithms).
    """

    kind: str
    inputs: tuple[int, ...]
    error: float


def coordinate(x: np.ndarray) -> np.ndarray:
    """An input on [-1, 1], in logarithms where it has one sign and a wide range.

    >>> coordinate(np.array([1.0, 10.0, 100.0])).round(9).tolist()
    [-1.0, 0.0, 1.0]
    """
    size = np.abs(x)
    if abs(np.sign(x).sum()) == len(x) and size.max() > WIDE * size.min():
        x = np.log(size)
    low, high = x.min(), x.max()
    return 2 * ((x - low) / (high - low)) - 1 if high > low else np.zeros(len(x))


def basis(columns: Sequence[np.ndarray], most: int) -> np.ndarray:
    """Products of Chebyshev polynomials of the inputs, the constant first, shape (terms, rows); at most `most`."""
    degree = 1
    while degree < DEGREE and math.comb(len(columns) + degree + 1, degree + 1) <= most:
        degree += 1
    angles = np.arccos(np.clip([coordinate(x) for x in columns], -1, 1))
    waves = np.cos(np.arange(degree + 1)[:, None, None] * angles)
    inputs = range(len(columns))
    return np.array(
        [
            np.prod([waves[p, i] for p, i in zip(row, inputs, strict=True)], axis=0)
            for row in exponents(len(columns), degree)
        ]
    )


def unexplained(terms: np.ndarray, target: np.ndarray) -> float:
    """Error of the least-squares fit on every fourth row, which it has not seen, relative to the target's deviation."""
    seen = np.arange(len(target)) % HELD_OUT != HELD_OUT - 1
    c = np.linalg.lstsq(terms[:, seen].T, target[seen], rcond=None)[0]
    error = np.sqrt(np.mean((c @ terms[:, ~seen] - target[~seen]) ** 2))
    return float(error / (np.std(target) or 1.0))


def smoothness(columns: Sequence[np.ndarray], target: np.ndarray) -> float:
    """How badly a polynomial in these inputs fits the target, on held-out rows; infinite where one is not finite."""
    rows = slice(None, ROWS)
    few, target = [x[rows] for x in columns], target[rows]
    if not all(np.isfinite(x).all() for x in [*few, target]):
        return math.inf
    return unexplained(basis(few, _terms(len(target))), target)


def _terms(rows: int) -> int:
    return max(2, rows // (HELD_OUT + 1))


def separated(columns: Sequence[np.ndarray], group: Sequence[int], target: np.ndarray) -> np.ndarray:
    """The part of a sum that depends on a group of inputs, up to a constant, on all rows.

    Parameters
    ----------
    columns : list of ndarray, shape (rows,)
    group : indices of the columns of the part.
    target : ndarray, shape (rows,)
        The sum.

    Returns
    -------
    ndarray, shape (rows,)
    """
    inside, terms = _two(columns, group, len(target[:ROWS]))
    c = np.linalg.lstsq(terms[:, :ROWS].T, target[:ROWS], rcond=None)[0]
    return c[:inside] @ terms[:inside]


def _two(columns, group, rows: int) -> tuple[int, np.ndarray]:
    """Terms in a group of inputs, and in the others; how many the first are."""
    most = _terms(rows) // 2
    others = [x for i, x in enumerate(columns) if i not in group]
    first = basis([columns[i] for i in group], most)
    return len(first), np.vstack([first, basis(others, most)[1:]])


def groups(n_inputs: int) -> Iterator[tuple[int, ...]]:
    """One of each two complementary groups of inputs, small ones first.

    >>> list(groups(3)), list(groups(4))[4:]
    ([(0,), (1,), (2,)], [(0, 1), (0, 2), (0, 3)])
    """
    largest = n_inputs // 2 if n_inputs <= GROUPED else 2
    for size in range(1, largest + 1):
        for group in itertools.combinations(range(n_inputs), size):
            if 2 * size < n_inputs or 0 in group:
                yield group


def most_fits(n_inputs: int) -> int:
    """Polynomials that `structure` fits at most.

    >>> most_fits(3)
    20
    """
    return 2 + len(COMBINE) * math.comb(n_inputs, 2) + 2 * len(list(groups(n_inputs)))


def structure(columns: Sequence[np.ndarray], y: np.ndarray) -> tuple[Structure | None, int]:
    """The structure with the smallest error, if there is one that fits about as well as none.

    Of those that rounding alone tells apart the first one, symmetries before separable groups.

    Parameters
    ----------
    columns : list of ndarray, shape (rows,)
        The inputs, at least one.
    y : ndarray, shape (rows,)

    Returns
    -------
    structure : Structure or None
    fits : int
        Polynomials that were fitted.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(1, 3, (3, 400))
    >>> structure(list(X), np.sin(X[0] - X[2]) * X[1])[0][:2]
    ('-', (0, 2))
    >>> structure(list(X), np.sin(X[0] * X[2]) + np.exp(X[1]))[0][:2]
    ('*', (0, 2))
    >>> structure(list(X[:2]), np.sin(X[0]) + np.exp(X[1]))[0][:2]
    ('sum', (0,))
    """
    columns, y = [x[:ROWS] for x in columns], y[:ROWS]
    if len(columns) < 2 or len(y) < 20 or np.std(y) == 0:
        return None, 0
    targets = {"sum": y}
    if (y != 0).all():
        targets["product"] = np.log(np.abs(y))
    plain = {kind: smoothness(columns, target) for kind, target in targets.items()}
    smoother = min(plain, key=lambda kind: plain[kind])
    tried, fits = [], len(plain)
    for (i, j), kind in itertools.product(itertools.combinations(range(len(columns)), 2), COMBINE):
        with np.errstate(all="ignore"):
            joined = COMBINE[kind](columns[i], columns[j])
        rest = [x for k, x in enumerate(columns) if k not in (i, j)]
        tried.append((Structure(kind, (i, j), smoothness([*rest, joined], targets[smoother])), plain[smoother]))
    for (kind, target), group in itertools.product(targets.items(), groups(len(columns))):
        error = unexplained(_two(columns, group, len(y))[1], target)
        tried.append((Structure(kind, group, error), plain[kind]))
    passed = [found for found, bound in tried if found.error <= min(PASSED, SLACK * max(bound, LEAST))]
    least = 2 * max(LEAST, min((found.error for found in passed), default=0.0))
    return next((found for found in passed if found.error <= least), None), fits + len(tried)
