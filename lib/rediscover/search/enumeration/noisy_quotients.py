"""Quotients of polynomials for a target with noise, without the terms that the data do not call for.

Added after the stage for one formula had been scored on surfaces with noise; set up on Keijzer's and Vladislavleva's
quotients with 1 % noise.
"""

import numpy as np

from .formula import Found, combination, found
from .polynomials import exponents, monomial
from .short_constants import NODE_BITS, ROUNDING, fitted_bits

DEGREES = ((2, 2), (4, 2), (2, 4), (4, 4))  # of numerator and denominator
MOST_TERMS = 30
REWEIGHTED = 6  # linear fits with the rows weighted by the denominator of the one before
STEPS = 6  # of Gauss and Newton after a term has gone


class Quotient:
    """P(x)/(1 + Q(x)) with coefficients fitted by Gauss-Newton.

    Parameters
    ----------
    above, below : ndarray, shape (n_terms, n_rows)
        Monomials of P and Q.
    y : ndarray, shape (n_rows,)
    """

    def __init__(self, above, below, y):
        self.above, self.below, self.y, self.used = above, below, y, 0

    def start(self) -> np.ndarray:
        """Coefficients of P - y*Q = y, the rows weighted by 1/(1 + Q) of the fit before."""
        w, table = np.ones(len(self.y)), np.vstack([self.above, -self.y * self.below])
        size = np.linalg.norm(table, axis=1)
        for _ in range(REWEIGHTED):
            c = np.linalg.lstsq((table / size[:, None] * w).T, self.y * w, rcond=1e-12)[0] / size
            below = np.abs(1 + c[len(self.above) :] @ self.below)
            w = 1 / np.maximum(below, 1e-3 * np.median(below))
            self.used += 1
        return c

    def values(self, c):
        """P/(1 + Q) and 1 + Q."""
        below = 1 + c[len(self.above) :] @ self.below
        return c[: len(self.above)] @ self.above / below, below

    def error(self, c) -> float:
        with np.errstate(all="ignore"):
            return float(np.nan_to_num(np.mean((self.values(c)[0] - self.y) ** 2), nan=np.inf))

    def fitted(self, c, free):
        """Coefficients after some steps of Gauss and Newton in the free ones, and their standard errors."""
        for step in range(STEPS + 1):
            whole, below = self.values(c)
            J = np.vstack([self.above / below, -whole * self.below / below])[free]
            size = np.linalg.norm(J, axis=1)
            if not np.isfinite(size).all() or not (size > 0).all():
                return None
            if step == STEPS:
                break
            move = np.zeros(len(c))
            move[free] = np.linalg.lstsq((J / size[:, None]).T, self.y - whole, rcond=1e-12)[0] / size
            now, scale = self.error(c), 1.0
            self.used += 1
            while scale > 1e-3 and not self.error(c + scale * move) < now:
                scale /= 4
            if scale <= 1e-3:
                break
            c = c + scale * move
        inverse = np.linalg.pinv((J / size[:, None]) @ (J / size[:, None]).T, rcond=1e-14)
        return c, np.sqrt(np.abs(np.diag(inverse)) * self.error(c)) / size


def noisy_quotients(columns, y, names) -> tuple[list[Found], int]:
    """The quotient of least description length from each choice of degrees.

    Parameters
    ----------
    columns, y : the table
    names : names of the inputs

    Returns
    -------
    finds : list of Found
    evaluations : int
        Fits.
    """
    X, finds, used = np.array([columns[name] for name in names]), [], 0
    for degrees in DEGREES:
        P, Q = exponents(len(names), degrees[0]), exponents(len(names), degrees[1])[1:]
        if len(P) + len(Q) > min(MOST_TERMS, len(y) // 8):
            continue
        above, below = (np.array([np.prod(X ** np.array(p)[:, None], axis=0) for p in part]) for part in (P, Q))
        fit = Quotient(above, below, y)
        c = _pruned(fit, [sum(p) for p in (*P, *Q)])
        used += fit.used
        if c is None:
            continue
        top, bottom = c[: len(P)], c[len(P) :]
        parts = (
            combination(top[1:], [monomial(p, names) for p in P[1:]], float(top[0])),
            combination(bottom, [monomial(q, names) for q in Q], 1.0),
        )
        find = found(("/", *parts), columns, y, "quotient")
        finds += [find] if find is not None and np.isfinite(find.error) else []
    return finds, used


def _pruned(fit: Quotient, degrees) -> np.ndarray | None:
    """Coefficients of least description length, as the least certain terms go one after the other."""
    n, variance, best = len(fit.y), float(np.var(fit.y)), (np.inf, None)
    free = list(range(len(fit.above) + len(fit.below)))
    c = fit.start()
    while len(free) > 1:
        again = fit.fitted(c, free) if np.isfinite(c).all() else None
        if again is None:
            break
        c, errors = again
        bits = n / 2 * np.log2(fit.error(c) / variance + ROUNDING)
        bits += sum(fitted_bits(n) + NODE_BITS * (2 + 2 * degrees[i]) for i in free)
        if bits < best[0]:
            best = (bits, c.copy())
        least = int(np.argmin(np.round(np.abs(c[free]) / np.maximum(errors, 1e-300), 9)))
        c = c.copy()
        c[free.pop(least)] = 0.0
    return best[1]
