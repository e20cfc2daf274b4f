"""A monomial times one function of a monomial with every scale compared, and a monomial behind a shifted power.

Chosen after truths of SRSD's laws had been read; see `angles`.
"""

import itertools
from collections.abc import Callable

import numpy as np

from .formula import Found, Tree, evaluate, found, polished, times
from .physics import ARGUMENTS, monomials, product
from .polynomials import monomial

POWERS = (1, -1, 2, -2)  # of the target
OFFSETS = (1.0, -1.0)  # of a power of the target that may be a monomial
RATES = np.geomspace(1e-6, 100.0, 81)  # k times the median of a monomial
UNIT = (1.0, -1.0, 0.5, -0.5, 2.0, -2.0)  # exponents of the function
STARTS = 40  # rates that are refined
STEPS = 30  # of a refinement


def shifted_powers(columns, y, names) -> tuple[list[Found], int]:
    """One monomial for a power of the target less or plus 1, every row with the weight of the digits that are left."""
    used = 0
    X = np.array([columns[name] for name in names])
    if (X == 0).any():
        return [], used
    logs = np.vstack([np.log(np.abs(X)), np.ones(len(y))])
    for p, offset in itertools.product(POWERS, OFFSETS):
        if p in (2, -2) and not (y > 0).all():
            continue
        with np.errstate(all="ignore"):
            t = y**p - offset
            weights = np.minimum(1.0, np.abs(t) / (np.abs(y**p) + np.abs(offset)))
        ok = np.isfinite(t) & (t != 0) & (weights > 1e-9)
        used += 1
        if ok.sum() < max(len(names) + 3, len(y) // 20):
            continue
        w = weights[ok]
        c = np.linalg.lstsq((logs[:, ok] * w).T, np.log(np.abs(t[ok])) * w, rcond=None)[0]
        powers = [round(2 * v) / 2 for v in c[:-1]]
        shape = evaluate([monomial(powers, names)], columns)[0]
        if not np.isfinite(shape).all():
            continue
        factor = float(np.sum(w * w * t[ok] / shape[ok]) / np.sum(w * w))
        if not np.isfinite(factor) or factor == 0:
            continue
        inner = ("+", (offset,), times(factor, monomial(powers, names)))
        undo = {1: inner, -1: ("/", (1,), inner), 2: ("sqrt", inner), -2: ("/", (1,), ("sqrt", inner))}
        find = found(undo[p], columns, y, "shifted power")
        find = find and polished(find, columns, y)
        if find is not None and find.exact:
            return [find], used
    return [], used


FORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": np.tanh,
    "cosh": np.cosh,
    "sinh": np.sinh,
    "sin": np.sin,
    "cos": np.cos,
    "below": np.expm1,
    "above": lambda u: np.exp(u) + 1,
    "plus": lambda u: u + 1,
    "minus": lambda u: 1 - u,
}


def form(name: str, u: Tree) -> Tree:
    """The tree of one of `FORMS`."""
    made = {
        "below": ("-", ("exp", u), (1,)),
        "above": ("+", ("exp", u), (1,)),
        "plus": ("+", (1,), u),
        "minus": ("-", (1,), u),
    }
    return made.get(name, (name, u))


def one_function(columns, y, names, rows, evaluations: int) -> tuple[list[Found], int]:
    """A monomial times a power of a function of a monomial, with all scales compared.

    Parameters
    ----------
    columns, y : the table
    names : names of the inputs
    rows : ndarray of int
        Rows that are fitted.
    evaluations : int
        Most functions, each with one scale, that are compared.

    Returns
    -------
    finds : list of Found
        Exact ones among the three that leave least.
    evaluations : int
    """
    few = np.array([columns[name][rows] for name in names])
    if (few == 0).any() or (y[rows] == 0).any():
        return [], 0
    Q, R = np.linalg.qr(np.vstack([np.ones(len(rows)), np.log(np.abs(few))]).T)
    Q = Q[:, np.abs(np.diag(R)) > 1e-9 * np.abs(R).max()]
    target = np.log(np.abs(y[rows]))
    target -= Q @ (Q.T @ target)
    if not target.any():
        return [], 0
    starts, used = _starts(few, Q, target, min(ARGUMENTS, evaluations // (len(RATES) * len(FORMS))))
    finds: list[tuple] = []
    for exponent, name, powers, k in starts:
        m = np.prod(few ** np.array(powers)[:, None], axis=0)
        k, error, steps = _rate(k, exponent, FORMS[name], m, Q, target)
        used += steps
        finds.append((error, len(finds), name, powers, k))
    products = []
    for _, _, name, powers, k in sorted(finds)[:3]:
        f = form(name, ("*", (float(k),), monomial(powers, names)))
        products.append(product([f, *((n,) for n in names)], columns, y))
    return [find for find in products if find is not None and find.exact], used


def _starts(few, Q, target, most: int) -> tuple[list[tuple], int]:
    """(exponent, function, monomial, scale) that leave least of the target, the best first, and how many there were."""
    used, total = 0, float(target @ target)
    scored: list[tuple] = []
    for powers in monomials(len(few), most):
        with np.errstate(all="ignore"):
            m = np.prod(few ** np.array(powers)[:, None], axis=0)
        median = float(np.median(np.abs(m)))
        if not np.isfinite(m).all() or not median > 0:
            continue
        for name, function in FORMS.items():
            with np.errstate(all="ignore"):
                logs = np.log(np.abs(function(np.outer(RATES / median, m))))
            used += len(RATES)
            good = np.flatnonzero(np.isfinite(logs).all(axis=1))
            if not len(good):
                continue
            left = logs[good] - (logs[good] @ Q) @ Q.T
            along, norm = left @ target, np.einsum("ij,ij->i", left, left)
            for e in UNIT:
                error = (total - 2 * e * along + e * e * norm) / total
                i = int(np.argmin(error))
                start = (e, name, powers, float(RATES[good[i]] / median))
                scored.append((round(float(error[i]), 10), len(scored), start))
    return [start for *_, start in sorted(scored)[:STARTS]], used


def _rate(k, exponent, function, m, Q, target) -> tuple[float, float, int]:
    """k for which the logarithm of the function leaves least, by Gauss-Newton in log(k), steps halved at need."""

    def left(v):
        with np.errstate(all="ignore"):
            logs = np.log(np.abs(function(np.exp(v) * m)))
        return target - exponent * (logs - Q @ (Q.T @ logs)) if np.isfinite(logs).all() else None

    v, used, h = float(np.log(k)), 1, 1e-5
    now = left(v)
    while now is not None and used < STEPS:
        ahead = left(v + h)
        used += 1
        if ahead is None:
            break
        slope = (ahead - now) / h
        step, trial = -float(slope @ now) / (float(slope @ slope) or 1.0), None
        while used < STEPS and abs(step) > 1e-13:
            trial = left(v + step)
            used += 1
            if trial is not None and trial @ trial < now @ now:
                break
            step, trial = step / 2, None
        if trial is None:
            break
        v, now = v + step, trial
    return float(np.exp(v)), float(now @ now) if now is not None else np.inf, used
