"""A monomial in some inputs times a power of a polynomial in the others, cos(u) and sin(u) among them.

Written after truths of SRSD's laws had been read; see `angles`.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from .angles import Inputs, angles
from .formula import Found, Tree, combination, evaluate, found, polished
from .polynomials import exponents, monomial, sparse

POWERS = (1, -1, 2, -2)  # of the target over the monomial that may be a polynomial
EXPONENTS = (1, -1, 2, -2, 0.5, -0.5)  # of inputs in the monomial
MOST_INPUTS = 3  # in the monomial; one less beside an angle
DEGREE, MOST_TERMS = 3, 60  # of the polynomial
ROWS = 160
NEAR = 1e-8  # share of the target that a polynomial may leave to be looked at more closely


def separable(columns, y, names, rows, evaluations: int) -> tuple[list[Found], int]:
    """The first exact product of a monomial and a power of a polynomial.

    Parameters
    ----------
    columns, y : the table
    names : names of the inputs
    rows : ndarray of int
        Rows that are fitted.
    evaluations : int
        Most pairs of a monomial and a power that are compared.

    Returns
    -------
    finds : list of Found
    evaluations : int
    """
    rows, used = rows[:ROWS], 0
    tables = [Inputs(columns, tuple(names), {}), *roots(columns, names), *angles(columns, names)]
    for inputs in tables:
        most = MOST_INPUTS if not inputs.trees else MOST_INPUTS - 1
        plain = [name for name in inputs.names if name not in ("c", "s") or not inputs.trees]
        for outside in (chosen for k in range(most + 1) for chosen in itertools.combinations(plain, k)):
            if used >= evaluations:
                return [], used
            rest = tuple(name for name in inputs.names if name not in outside)
            for inside in dict.fromkeys((rest, inputs.names)):
                finds, count = _products(inputs, outside, inside, columns, y, rows)
                used += count
                if finds:
                    return finds, used
    return [], used


def roots(columns, names) -> Iterator[Inputs]:
    """The table with the square roots of the inputs that are positive, and with angles of the others."""
    positive = [name for name in names if (columns[name] > 0).all()]
    if positive:
        trees: dict[str, Tree] = {name: ("sqrt", (name,)) for name in positive}
        made = {name: np.sqrt(columns[name]) if name in trees else columns[name] for name in names}
        yield Inputs(made, tuple(names), trees)
        for inputs in angles(columns, names):
            kept = [name for name in positive if name in inputs.names]
            made = {name: np.sqrt(v) if name in kept else v for name, v in inputs.columns.items()}
            yield Inputs(made, inputs.names, {**{name: trees[name] for name in kept}, **inputs.trees})


def _products(inputs: Inputs, outside, inside, columns, y, rows) -> tuple[list[Found], int]:
    """Products for one choice of the inputs of monomial and polynomial: all exponents and powers at once."""
    if not inside:
        return [], 0
    degree = max(d for d in range(1, DEGREE + 1) if d == 1 or math.comb(len(inside) + d, d) <= MOST_TERMS)
    if 2 * (len(inside) + 1) > len(rows):
        return [], 1
    powers = [q for q in exponents(len(inside), degree) if _plain(inputs, q, inside)]
    X = np.array([inputs.columns[name] for name in inside])
    few = X[:, rows]
    base = np.array([np.prod(few ** np.array(q)[:, None], axis=0) for q in powers])
    size = np.linalg.norm(base, axis=1)
    if 2 * len(powers) > len(rows) or not np.isfinite(size).all() or not (size > 0).all():
        return [], 1
    Q = np.linalg.qr((base / size[:, None]).T)[0]
    chosen = list(itertools.product(EXPONENTS, repeat=len(outside)))
    with np.errstate(all="ignore"):
        part = np.array([inputs.columns[name][rows] for name in outside]).reshape(len(outside), len(rows))
        M = np.array([np.prod(part ** np.array(e)[:, None], axis=0) for e in chosen])
        targets = np.concatenate([(y[rows] / M) ** p for p in POWERS])
    norms = np.linalg.norm(targets, axis=1)
    good = np.flatnonzero(np.isfinite(norms) & (norms > 0))
    T = targets[good] / norms[good, None]
    left = np.linalg.norm(T - (T @ Q) @ Q.T, axis=1)
    finds = []
    for j in good[left < NEAR]:
        p, e = POWERS[j // len(chosen)], chosen[j % len(chosen)]
        outer = monomial(e, outside) if outside else (1,)
        finds += _confirmed(inputs, outer, p, inside, powers, columns, y)
        if finds:
            break
    return finds, len(targets)


def _plain(inputs: Inputs, powers, names) -> bool:
    """Whether a monomial holds sin(u) at most once: its square is 1 - cos(u)**2."""
    return all(q < 2 or inputs.trees.get(name, ("",))[0] != "sin" for q, name in zip(powers, names, strict=True))


def _confirmed(inputs: Inputs, outer: Tree, p, inside, powers, columns, y) -> list[Found]:
    """The product with its polynomial fitted on all rows, if it is exact."""
    X = np.array([inputs.columns[name] for name in inside])
    with np.errstate(all="ignore"):
        ratio = y / evaluate([outer], inputs.columns)[0]
        target = ratio**p
    if not np.isfinite(target).all() or (p in (2, -2) and (ratio > 0).any() and (ratio < 0).any()):
        return []
    table = np.array([np.prod(X ** np.array(q)[:, None], axis=0) for q in powers])
    c = sparse(table, target, 10 * NEAR * float(np.linalg.norm(target)))
    if c is None:
        return []
    tree = combination(c[1:], [monomial(q, inside) for q in powers[1:]], c[0])
    tree = ("sqrt", tree) if p in (2, -2) else tree
    tree = ("neg", tree) if p in (2, -2) and (ratio < 0).all() else tree
    tree = ("*" if p > 0 else "/", outer, tree)
    find = found(inputs.back(tree), columns, y, "monomial times polynomial")
    find = find and polished(find, columns, y)
    return [find] if find is not None and find.exact else []
