"""Sparse polynomials by least squares and backward elimination."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import qr, solve_triangular

from ..problems import Task
from . import Budget, Candidate
from .tables import Tabular


@dataclass(frozen=True)
class Polynomial(Tabular):
    """All monomials by least squares, then one term after the other is taken away.

    The term whose removal raises the residual least leaves first, until one is left: a path of models, one
    per number of terms. They are ordered by the Bayesian information criterion, or by the validation error
    where the task has validation rows. The result depends on nothing but the table.

    Attributes
    ----------
    degree : highest total degree.
    max_terms : the degree is lowered until there are at most so many monomials (or as many as the budget has
        evaluations: one model for each), but never below 1. The defaults give degree 4 to at most four
        inputs, 3 to five, 2 to ten.
    max_active : terms of the largest model that is reported.

    References
    ----------
    Backward elimination: A. J. Miller, Subset Selection in Regression, 2nd ed., 2002.
    Criterion: n log(RSS/n) + k log n, G. Schwarz, Annals of Statistics 6 (1978) 461-464.
    """

    degree: int = 4
    max_terms: int = 70
    max_active: int = 20
    name: ClassVar[str] = "polynomial"
    reference: ClassVar[str] = "sparse least squares on monomials; Miller, Subset Selection in Regression (2002)"

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        powers = monomials(task.X.shape[1], self.degree, min(self.max_terms, int(budget.evaluations)))
        # Units out of the way first: powers of 1e-34 leave the floating-point range.
        x_scale = largest(task.X)
        y_scale = largest(task.y)
        terms = np.prod((task.X / x_scale)[:, None, :] ** powers, axis=2)
        models = eliminate(terms, task.y / y_scale)
        n, k_max = len(task.y), self.max_active
        front = []
        for active, coefficients, rss in models:
            if len(active) > k_max:
                continue
            in_units = [
                (float(c * (y_scale / np.prod(x_scale ** powers[j]))), powers[j])
                for j, c in zip(active, coefficients, strict=True)
            ]
            loss = rss / n * y_scale**2
            criterion = n * math.log(max(rss / n, NEGLIGIBLE)) + len(active) * math.log(n)
            text = as_text(in_units, task.inputs)
            front.append((criterion, Candidate({task.output: text}, float(loss), len(active), len(models))))
        return [candidate for _, candidate in sorted(front, key=lambda pair: pair[0])]


NEGLIGIBLE = 1e-24  # mean squared residual, relative to the largest target, that is rounding and not misfit


def monomials(n_inputs: int, degree: int, max_terms: float) -> np.ndarray:
    """Exponents of all monomials, shape (n_terms, n_inputs), the constant first.

    >>> monomials(2, 2, 70).tolist()
    [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
    """
    while degree > 1 and math.comb(n_inputs + degree, degree) > max_terms:
        degree -= 1
    rows = [
        np.bincount(chosen, minlength=n_inputs) if chosen else np.zeros(n_inputs, dtype=int)
        for d in range(degree + 1)
        for chosen in itertools.combinations_with_replacement(range(n_inputs), d)
    ]
    return np.array(rows)


def largest(values: np.ndarray) -> np.ndarray:
    """Largest magnitude of each column as a power of two (an exact scale), 1 for a column of zeros."""
    top = np.abs(values).max(axis=0)
    return np.exp2(np.floor(np.log2(np.where(top > 0, top, 1.0))))


def eliminate(terms: np.ndarray, y: np.ndarray) -> list[tuple[list[int], np.ndarray, float]]:
    """Backward elimination: (columns, coefficients, residual sum of squares) from the full model to one term.

    Columns that depend linearly on others (constant inputs, fewer rows than terms) are left out first, by QR
    with pivoting; the rest works on the triangular factor, so its cost does not grow with the rows.
    """
    norms = np.sqrt(np.mean(terms**2, axis=0))
    norms[norms == 0] = 1.0
    Q, R, pivots = qr(terms / norms, mode="economic", pivoting=True)
    rank = int(np.sum(np.abs(np.diag(R)) > 1e-12 * np.abs(R[0, 0])))
    target, R = (Q.T @ y)[:rank], R[:rank, :rank]
    outside = float(np.sum((y - Q[:, :rank] @ target) ** 2))
    active, path = list(range(rank)), []
    while active:
        q, r = np.linalg.qr(R[:, active])
        coefficients = solve_triangular(r, q.T @ target)
        rss = outside + float(np.sum((target - R[:, active] @ coefficients) ** 2))
        path.append(([int(pivots[j]) for j in active], coefficients / norms[pivots[active]], rss))
        inverse = solve_triangular(r, np.eye(len(active)))
        # Leaving out column j raises the residual by c_j^2 / [(A'A)^-1]_jj.
        active.pop(int(np.argmin(coefficients**2 / np.sum(inverse**2, axis=1))))
    return path


def as_text(terms, inputs: Sequence[str]) -> str:
    """Sum of coefficient times monomial, lowest degree first."""
    parts = []
    for coefficient, powers in sorted(terms, key=lambda term: (term[1].sum(), *-term[1])):
        factors = [name if p == 1 else f"{name}**{p}" for name, p in zip(inputs, powers, strict=True) if p]
        parts.append("*".join([repr(coefficient), *factors]))
    return " + ".join(parts).replace("+ -", "- ")
