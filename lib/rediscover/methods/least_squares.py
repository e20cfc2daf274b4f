"""Ordinary least squares on the states themselves: the reference that coupled equations have to beat."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..problems import Task
from . import Budget, Candidate
from .polynomial import as_text, monomials
from .tables import Tabular

# Singular values below this, relative to the largest, are the error of the integration that made the data:
# states with a conserved sum would otherwise get coefficients of 1e7 that cancel.
NEGLIGIBLE = 1e-8


@dataclass(frozen=True)
class LeastSquares(Tabular):
    """All monomials up to a degree, none left out; by default an affine function.

    Attributes
    ----------
    degree : highest total degree.
    decimals : round the coefficients, as SymbolBench's fit does (4), or None.
    """

    degree: int = 1
    decimals: int | None = None
    name: ClassVar[str] = "least_squares"
    reference: ClassVar[str] = "reference: affine least squares (degree 1)"

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        powers = monomials(task.X.shape[1], self.degree, np.inf)
        terms = np.prod(task.X[:, None, :] ** powers, axis=2)
        coefficients = solved(terms, task.y)
        if self.decimals is not None:
            coefficients = np.round(coefficients, self.decimals)
        loss = float(np.mean((task.y - terms @ coefficients) ** 2))
        text = as_text([(float(c), p) for c, p in zip(coefficients, powers, strict=True)], task.inputs)
        return [Candidate({task.output: text}, loss=loss, complexity=len(powers), evaluations=1)]


def solved(terms: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Coefficients of columns of norm 1, in the units of the columns; shape (n_terms,) or (n_terms, n_targets)."""
    scale = np.linalg.norm(terms, axis=0)
    scale[scale == 0] = 1.0
    found = np.linalg.lstsq(terms / scale, targets, rcond=NEGLIGIBLE)[0]
    return found / (scale if found.ndim == 1 else scale[:, None])
