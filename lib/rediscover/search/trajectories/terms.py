"""The terms of right-hand sides: monomials, and functions of one state or of two.

The library knows no problem. `Library.compared` tells which of its functions fit beside what is there.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from .subsets import DEPENDENT, TIED
from .trajectories import Record, Term

SCALES = (0.25, 0.5, 1.0, 2.0, 4.0)  # of inner constants, over the typical size of what they stand beside
SCANNED = 32  # of them beside which a second function is compared
NUDGE = 1e-4  # relative change of an inner constant for the slope in it
LEAST = 1e-10  # the same, squared, for functions


def monomials(names: Sequence[str], degree: int) -> list[Term]:
    """All monomials up to a degree, the constant first."""
    terms = [Term("1")]
    for total in range(1, degree + 1):
        for chosen in itertools.combinations_with_replacement(range(len(names)), total):
            powers = [(names[i], chosen.count(i)) for i in dict.fromkeys(chosen)]
            terms.append(Term("*".join(n if p == 1 else f"{n}**{p}" for n, p in powers), nodes=2 * total - 1))
    return terms


def functions(names: Sequence[str], sizes: Sequence[float]) -> list[Term]:
    """Functions of one state or of two, their products with a state, and products of two functions.

    Parameters
    ----------
    names : of the states
    sizes : typical magnitude of each, from which inner constants start
    """
    single = [*_functions(names, sizes)]
    products = [Term(f"{name}*{f.text}", f.start, f.nodes + 2) for f in single for name in names]
    pairs = itertools.combinations(_functions(names, sizes, plain=True), 2)
    every = single + products + [Term(f"{f.text}*{g.text}", nodes=f.nodes + g.nodes + 1) for f, g in pairs]
    return [term._replace(choice=math.log2(len(every))) for term in every]


def _functions(names: Sequence[str], sizes: Sequence[float], plain: bool = False) -> Iterator[Term]:
    """Of one state, and of sums, differences and products of two; `plain`: without inner constants."""
    arguments = [(name, size, 1) for name, size in zip(names, sizes, strict=True)]
    if not plain:
        for (a, s, _), (b, r, _) in itertools.combinations(list(arguments), 2):
            arguments += [(f"({a} - {b})", s + r, 3), (f"({a} + {b})", s + r, 3), (f"({a}*{b})", s * r, 3)]
    for u, _, nodes in arguments:
        for name in ("sin", "cos", "exp", "log", "sqrt", "abs", "tanh"):
            yield Term(f"{name}({u})", nodes=nodes + 1)
        yield Term(f"exp(-{u})", nodes=nodes + 2)
    if plain:
        return
    for u, size, nodes in arguments:
        yield Term(f"(1/{u})", nodes=nodes + 2)
        for scale in SCALES:
            k = scale * size
            yield Term(f"(1/({{0}} + {u}))", (k,), nodes + 3)
            yield Term(f"(1/({{0}} + {u}**2))", (k**2,), nodes + 5)
            yield Term(f"({u}/({{0}} + {u}))", (k,), 2 * nodes + 3)
            yield Term(f"({u}/({{0}} + {u}**2))", (k**2,), 2 * nodes + 5)
            yield Term(f"({u}**2/({{0}} + {u}**2))", (k**2,), 2 * nodes + 7)
            for name in ("sin", "cos", "exp", "tanh"):
                yield Term(f"{name}({{0}}*{u})", (1 / k,), nodes + 2)
            yield Term(f"exp(-{{0}}*{u})", (1 / k,), nodes + 3)


class Library:
    """Functions, with their integrals along a record as they start, and the slopes of these in the inner constants.

    A function whose constant is somewhat off is c (phi + d dphi/dk) to first order: with the slope beside it, a coarse
    grid of constants tells which functions fit.

    Parameters
    ----------
    terms : list of Term
    integrals, slopes : ndarray, shape (n, n_terms)
        Slopes are 0 where there is no inner constant.
    """

    def __init__(self, terms: list[Term], integrals: np.ndarray, slopes: np.ndarray):
        self.terms, self.integrals, self.slopes = terms, integrals, slopes
        self.both = np.hstack([integrals, slopes])
        self.squares = (self.both**2).sum(axis=0)
        self.products = (integrals * slopes).sum(axis=0)

    def compared(self, y: np.ndarray, columns: np.ndarray) -> list[tuple[float, int]]:
        """The functions that explain most of y beside some columns: what share each leaves, and its number."""
        q, r = np.linalg.qr(columns)
        sizes = np.abs(np.diag(r))
        if len(sizes) and sizes.min() < DEPENDENT * sizes.max():
            return []
        rest = y - q @ (q.T @ y)
        n, projected = len(self.terms), np.vstack([q.T, rest]) @ self.both
        along, across = projected[-1, :n], projected[-1, n:]
        left = self.squares - np.einsum("ij,ij->j", projected[:-1], projected[:-1])
        usable = left > LEAST * self.squares
        ff, dd = left[:n], left[n:]
        fd = self.products - np.einsum("ij,ij->j", projected[:-1, :n], projected[:-1, n:])
        dd = dd - fd**2 / ff
        gains = along**2 / ff
        gains += np.where(usable[n:] & (dd > LEAST * self.squares[n:]), (across - along * fd / ff) ** 2 / dd, 0.0)
        gains[~usable[:n]] = -1.0
        shares = ((rest @ rest - gains) / (y @ y)).round(TIED)
        return [(float(shares[k]), int(k)) for k in np.argsort(shares, kind="stable")[:SCANNED] if gains[k] > 0]


def tabulated(record: Record) -> Library:
    """The functions that are finite on a record."""
    kept, integrals, slopes = [], [], []
    for term in functions(record.names, np.maximum(np.abs(record.states).mean(axis=0), 1e-12).tolist()):
        values = record.values(term, term.start)
        if "abs" in term.text:  # of one sign, it is its argument
            plain = record.values(term._replace(text=term.text.replace("abs", "")), term.start)
            if np.ptp(np.sign(plain * values)) == 0:
                continue
        column = record.integral(values) if np.isfinite(values).all() else np.full(len(record.t), np.inf)
        if not np.abs(column).max() < 1e12:
            continue
        slope = np.zeros(len(column))
        for k in term.start:
            up, down = (record.values(term, (k * (1 + step),)) for step in (NUDGE, -NUDGE))
            slope = record.integral((up - down) / (2 * NUDGE))
        if np.isfinite(slope).all():
            kept.append(term)
            integrals.append(column)
            slopes.append(slope)
    return Library(kept, np.column_stack(integrals), np.column_stack(slopes))
