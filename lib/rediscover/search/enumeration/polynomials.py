"""Polynomials and quotients of polynomials, also behind an undone function, and one feature beside a polynomial."""

import functools
import itertools
import math

import numpy as np

from .enumeration import Pool
from .formula import Found, Tree, combination, evaluate, found, polished
from .meeting import Undone

MOST_MONOMIALS = 84
DEGREES = {1: 8, 2: 6, 3: 5, 4: 4}  # of polynomials, by the number of inputs; 3, then 2 beyond
RATIONAL = {1: 6, 2: 4, 3: 3}  # of numerator and denominator; 2, then 1 beyond
NULL = 1e-10  # singular value, relative to the largest, of columns that are dependent
# A polynomial that is the target leaves nothing where one degree less leaves this many times more; a series that comes
# close gains less from one degree to the next.
SHARP = 1e5
FLOOR = 1e-15  # what rounding leaves
RANKED = 60  # features that are compared on all rows where none is exact
BLOCK = 50_000  # features held at a time


@functools.cache
def exponents(n_inputs: int, degree: int) -> list[tuple[int, ...]]:
    """Exponents of all monomials up to a degree, in order of degree, the constant first.

    Examples
    --------
    >>> exponents(2, 2)
    [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
    """
    out = []
    for total in range(degree + 1):
        for chosen in itertools.combinations_with_replacement(range(n_inputs), total):
            out.append(tuple(chosen.count(i) for i in range(n_inputs)))
    return out


def monomial(powers, names) -> Tree:
    """The product of powers as a tree; 1 where all are 0.

    Examples
    --------
    >>> monomial((2, -1), ("x", "y"))
    ('/', ('**', ('x',), (2,)), ('y',))
    """
    above: Tree | None = None
    below: Tree | None = None
    for name, p in zip(names, powers, strict=True):
        if p == 0:
            continue
        size = int(abs(p)) if p == int(p) else abs(p)
        factor = (name,) if size == 1 else ("sqrt", (name,)) if size == 0.5 else ("**", (name,), (size,))
        if p > 0:
            above = factor if above is None else ("*", above, factor)
        else:
            below = factor if below is None else ("*", below, factor)
    top = (1,) if above is None else above
    return top if below is None else ("/", top, below)


def highest(table: dict[int, int], n_inputs: int) -> int:
    """The largest degree for so many inputs that keeps the number of monomials in bounds."""
    degree = table.get(n_inputs, 3 if n_inputs < 7 else 2)
    while degree > 1 and math.comb(n_inputs + degree, degree) > MOST_MONOMIALS:
        degree -= 1
    return degree


def needed(n_rows: int) -> float:
    """Factor by which leaving out a term of an approximation may raise the error: log(n) nats of likelihood.

    Examples
    --------
    >>> round(needed(1000), 4)
    1.0069
    """
    return float(np.sqrt(1 + 2 * np.log(n_rows) / n_rows))


def sparse(columns: np.ndarray, target: np.ndarray, tolerance: float) -> np.ndarray | None:
    """Coefficients with those set to 0 that are not needed for an error of `tolerance`; None if it is not reached."""
    size = np.linalg.norm(columns, axis=1)
    if not np.isfinite(size).all() or not (size > 0).all():
        return None
    scaled, kept = columns / size[:, None], np.arange(len(columns))
    best = None
    while len(kept):
        c = np.linalg.lstsq(scaled[kept].T, target, rcond=None)[0]
        if np.linalg.norm(c @ scaled[kept] - target) > tolerance:
            break
        best = np.zeros(len(columns))
        best[kept] = c / size[kept]
        kept = np.delete(kept, np.argmin(np.abs(c)))
    return best


def polynomial(item: Undone, columns, y, names) -> tuple[list[Found], int]:
    """The polynomial of least degree that is the target with a function undone; fits along the way for the target.

    Returns
    -------
    finds : list of Found
        The last one is exact if one is.
    evaluations : int
        Polynomials that were fitted.
    """
    X, finds = np.array([columns[name] for name in names]), []
    norm = float(np.linalg.norm(item.values - item.values.mean()))
    most = highest(DEGREES, len(names))
    for degree in range(1, most + 1):
        powers = exponents(len(names), degree)
        if 2 * len(powers) > len(y):
            break
        with np.errstate(over="ignore"):
            rows = np.array([np.prod(X ** np.array(p)[:, None], axis=0) for p in powers])
        c = sparse(rows, item.values, 1e-9 * norm)
        exact = c is not None and _is_sharp(rows, len(exponents(len(names), degree - 1)), item.values, norm)
        if not exact:
            if item.name != "id" or degree > 4:
                continue
            c = _fitted(rows, item.values)
            c = (
                c
                if c is None
                else sparse(rows, item.values, needed(len(y)) * float(np.linalg.norm(c @ rows - item.values)))
            )
        trees = [monomial(p, names) for p in powers[1:]]
        find = c is not None and found(item.back(combination(c[1:], trees, c[0])), columns, y, "polynomial")
        if find:
            find = polished(find, columns, y) if exact else find
            finds.append(find)
            if find.exact:
                break
    return finds, most


def _is_sharp(rows, lower: int, target, norm: float) -> bool:
    """Whether all rows leave much less of the target than the first `lower`, which are those of a lower degree."""
    left = []
    for part in (rows[:lower], rows):
        c = _fitted(part, target)
        if c is None:
            return False
        left.append(float(np.linalg.norm(c @ part - target)))
    return left[0] > SHARP * max(left[1], FLOOR * norm)


def _fitted(rows, target) -> np.ndarray | None:
    size = np.linalg.norm(rows, axis=1)
    if not np.isfinite(size).all() or not (size > 0).all():
        return None
    return np.linalg.lstsq((rows / size[:, None]).T, target, rcond=None)[0] / size


def quotient(columns, y, names, rows) -> tuple[list[Found], int]:
    """A quotient P/Q of polynomials, from P(x) - y*Q(x) = 0, by the least degrees at which this has a solution.

    Parameters
    ----------
    columns, y : the table
    names : names of the inputs
    rows : ndarray of int
        Rows that the coefficients are taken from.
    """
    X, t, used, least = np.array([columns[name][rows] for name in names]), y[rows], 0, np.inf
    most = RATIONAL.get(len(names), 2 if len(names) < 6 else 1)
    for above, below in sorted(itertools.product(range(most + 1), range(1, most + 1)), key=lambda d: (sum(d), d)):
        P, Q = exponents(len(names), above), exponents(len(names), below)
        if 2 * (len(P) + len(Q)) > len(rows):
            continue
        used += 1
        powers = [np.prod(X ** np.array(p)[:, None], axis=0) for p in P]
        table = np.array([*powers, *(-t * np.prod(X ** np.array(q)[:, None], axis=0) for q in Q)])
        size = np.linalg.norm(table, axis=1)
        if not np.isfinite(size).all() or not (size > 0).all():
            continue
        U, s, _ = np.linalg.svd(table / size[:, None], full_matrices=False)
        before, least = least, min(least, s[-1] / s[0])
        if s[-1] > NULL * s[0] or before < SHARP * max(least, FLOOR):
            continue
        c = U[:, -1] / size
        c = np.where(np.abs(U[:, -1]) > 1e-7, c, 0.0)
        c /= c[len(P) :][np.argmax(np.abs(U[len(P) :, -1]))]
        parts = [(c[: len(P)], P), (c[len(P) :], Q)]
        top, bottom = (combination(v[1:], [monomial(p, names) for p in E[1:]], v[0]) for v, E in parts)
        find = found(("/", top, bottom), columns, y, "quotient")
        find = find and polished(find, columns, y)
        return ([find] if find and find.exact else []), used
    return [], used


def beside(pool: Pool, rows, item: Undone, degree: int, columns, y, names, n: int) -> tuple[list[Found], int]:
    """A polynomial and one feature whose sum is the target with a function undone: all features are compared.

    Parameters
    ----------
    pool : Pool
        With values on `rows` of the table.
    item : Undone
    degree : int
        Of the polynomial.
    n : int
        How many features, the cheapest.

    Returns
    -------
    finds : list of Found
        The exact ones; if there is none and nothing was undone, the best three.
    evaluations : int
    """
    if 3 * math.comb(len(names) + degree, degree) > len(rows):
        return [], 0
    powers = exponents(len(names), degree)
    X = np.array([columns[name] for name in names])
    base = np.array([np.prod(X ** np.array(p)[:, None], axis=0) for p in powers])
    few = base[:, rows] / np.linalg.norm(base[:, rows], axis=1)[:, None]
    if not np.isfinite(few).all():
        return [], 0
    Q = np.linalg.qr(few.T)[0]
    target = item.values[rows] - Q @ (Q.T @ item.values[rows])
    size = float(np.linalg.norm(target))
    n = min(n, len(pool))
    if size == 0 or n == 0:
        return [], 0
    fit = np.concatenate([_agreement(pool.values[i : min(i + BLOCK, n)], Q, target / size) for i in range(0, n, BLOCK)])
    order = np.argsort(-np.round(fit, 11), kind="stable")[:RANKED]
    near = [i for i in order[:20] if fit[i] > 1 - 1e-9]
    if not near and item.name == "id":
        near = _best_on_all(pool, order, base, item.values, columns, names)
    finds = []
    for i in near:
        tree = pool.tree(i, names)
        rows_of = np.vstack([evaluate([tree], columns), base])
        c = sparse(rows_of, item.values, 1e-8 * size) if fit[i] > 1 - 1e-9 else None
        if c is None:
            c = _fitted(rows_of, item.values)
            if c is None:
                continue
            c = sparse(rows_of, item.values, needed(len(y)) * float(np.linalg.norm(c @ rows_of - item.values)))
            if c is None:
                continue
        trees = [tree, *(monomial(p, names) for p in powers[1:])]
        find = found(item.back(combination([c[0], *c[2:]], trees, c[1])), columns, y, "pool")
        if find is not None:
            finds.append(polished(find, columns, y) if fit[i] > 1 - 1e-9 else find)
    return finds, n


def _best_on_all(pool, order, base, target, columns, names) -> list[int]:
    """The features of `order` that fit best on all rows beside the polynomial."""
    Q = np.linalg.qr((base / np.linalg.norm(base, axis=1)[:, None]).T)[0]
    rest = target - Q @ (Q.T @ target)
    values = evaluate([pool.tree(i, names) for i in order], columns)
    usable = np.isfinite(values).all(axis=1)
    fit = np.zeros(len(order))
    fit[usable] = _agreement(values[usable], Q, rest / np.linalg.norm(rest))
    return [order[i] for i in np.argsort(-np.round(fit, 11), kind="stable")[:3]]


def _agreement(values, Q, target) -> np.ndarray:
    """Squared correlation of features with the target, both freed of the polynomial."""
    size = np.sqrt(np.einsum("ij,ij->i", values, values))
    along = values @ np.column_stack([target, Q]) / size[:, None]
    left = 1 - np.sum(along[:, 1:] ** 2, axis=1)
    return np.where(left > 1e-8, along[:, 0] ** 2 / np.maximum(left, 1e-8), 0.0)
