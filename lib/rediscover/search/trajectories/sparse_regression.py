"""Sparse least squares on the columns of a library, compressed rows first.

The rows are reduced once, by an orthogonal factorisation, to as many as there are columns, and each distinct support
is solved once. Ridge, thresholding, least squares on a support and squared errors then have the same answers on a
small matrix as on the rows.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.linalg.lapack

Equations = list[tuple[np.ndarray, np.ndarray]]  # per state: the columns of its terms and their coefficients


class Rows:
    """A least-squares problem: few rows that stand for many.

    Parameters
    ----------
    X : ndarray, shape (k, m)
    Y : ndarray, shape (k, d)
    n : rows that these stand for
    """

    def __init__(self, X: np.ndarray, Y: np.ndarray, n: int) -> None:
        self.X, self.Y, self.n = X, Y, n
        self._solved: dict[Any, np.ndarray] = {}

    @classmethod
    def compress(cls, parts: Iterable[tuple[np.ndarray, np.ndarray]]) -> "Rows":
        """The triangular factor of [X Y]: the same Gram matrix, least-squares solutions and residual norms.

        A column that is not finite everywhere becomes NaN.
        """
        kept: Any = None
        n, width, broken = 0, 0, False
        for X, Y in parts:
            broken = broken | ~np.isfinite(X).all(axis=0)
            table = np.hstack([np.where(broken, 0.0, X), Y])
            n, width = n + len(X), X.shape[1]
            stack = table if kept is None else np.vstack([kept, table])
            kept = np.linalg.qr(stack, mode="r") if len(stack) > stack.shape[1] else stack
        return cls(np.where(broken, np.nan, kept[:, :width]), kept[:, width:], n)

    @cached_property
    def gram(self) -> np.ndarray:
        return self.X.T @ self.X

    @cached_property
    def moment(self) -> np.ndarray:
        return self.X.T @ self.Y

    def ridge(self, target: int, support: np.ndarray, alpha: float) -> np.ndarray:
        """Coefficients on a support, by the normal equations as scikit-learn solves them."""
        key = (target, alpha, support.tobytes())
        if key not in self._solved:
            A = self.gram[np.ix_(support, support)]
            A.flat[:: len(A) + 1] += alpha
            _, w, singular = scipy.linalg.lapack.dposv(A, self.moment[support, target])
            if singular:
                U, s, Vt = np.linalg.svd(self.X[:, support], full_matrices=False)
                shrunk = np.divide(s, s**2 + alpha, out=np.zeros_like(s), where=s > 1e-15)
                w = Vt.T @ (shrunk * (U.T @ self.Y[:, target]))
            self._solved[key] = w
        return self._solved[key]

    def least_squares(self, target: int, support: np.ndarray) -> np.ndarray:
        """Minimum-norm least squares on a support.

        Singular values are cut at rounding, as in the releases that the tables were made with; current
        scikit-learn, and pysindy with it, cuts at 1e-6 of the largest, which changes badly conditioned answers.
        """
        key = (target, None, support.tobytes())
        if key not in self._solved:
            self._solved[key] = scipy.linalg.lstsq(self.X[:, support], self.Y[:, target])[0]
        return self._solved[key]

    def squared_error(self, target: int, support: np.ndarray, w: np.ndarray) -> float:
        return float(np.sum((self.X[:, support] @ w - self.Y[:, target]) ** 2))

    def power(self) -> float:
        return float(np.sum(self.Y**2))


def stlsq(rows: Rows, target: int, columns: np.ndarray, threshold: float, alpha: float, max_iter: int = 200):
    """Support found by sequentially thresholded ridge regression (Brunton, Proctor & Kutz 2016).

    The same steps as ``pysindy.STLSQ``; ridge solutions depend on the support only and are kept by `rows`.

    Returns
    -------
    ndarray of int : the columns that are left, perhaps none
    """
    support = columns
    for _ in range(max_iter):
        if not len(support):
            break
        left = support[np.abs(rows.ridge(target, support, alpha)) >= threshold]
        if len(left) == len(support):
            break
        support = left
    return support


def sr3(rows: Rows, columns: np.ndarray, thresholds, max_iter: int = 200, tol: float = 1e-5) -> list[list[np.ndarray]]:
    """Supports found by sparse relaxed regularised regression with an l0 penalty and nu = 1 (Zheng et al. 2019).

    The same steps as ``pysindy.SR3``, for all thresholds at once with one factorisation.

    Returns
    -------
    list (thresholds) of list (targets) of ndarray of int
    """
    X, d = rows.X[:, columns], rows.Y.shape[1]
    cut = np.finfo(float).eps * max(rows.n, len(columns))
    start = np.linalg.lstsq(X, rows.Y, rcond=cut)[0]
    factor = scipy.linalg.cho_factor(rows.gram[np.ix_(columns, columns)] + np.eye(len(columns)))
    v = np.repeat(start[:, None, :], len(thresholds), axis=1)
    height = np.asarray(thresholds)[:, None]
    active = np.ones(len(thresholds), bool)
    moment = rows.moment[columns][:, None, :]
    for _ in range(max_iter):
        w = scipy.linalg.cho_solve(factor, (moment + v[:, active]).reshape(len(columns), -1))
        w = w.reshape(len(columns), -1, d)
        new = np.where(np.abs(w) > height[active], w, 0.0)
        moved = np.sqrt(np.sum((new - v[:, active]) ** 2, axis=(0, 2)))
        v[:, active] = new
        active[np.flatnonzero(active)[moved < tol]] = False
        if not active.any():
            break
    return [[columns[np.abs(v[:, j, i]) > 1e-14] for i in range(d)] for j in range(len(thresholds))]


def draws(rows: Rows, n_models: int, n_rows: int, rng: np.random.Generator) -> list[Rows]:
    """Bootstrap samples: rows drawn with replacement."""
    return [
        Rows(rows.X[chosen], rows.Y[chosen], n_rows)
        for chosen in (rng.choice(len(rows.X), n_rows) for _ in range(n_models))
    ]


def aggregate(models: np.ndarray, inclusion: float) -> Equations:
    """Median of coefficients, zero where too few models have the term (Fasel et al. 2022).

    Parameters
    ----------
    models : ndarray, shape (n_models, n_targets, m)
    """
    share = np.count_nonzero(models, axis=0) / len(models)
    median = np.where(share < inclusion, 0.0, np.median(models, axis=0))
    return [(np.flatnonzero(row), row[row != 0]) for row in median]


def fitted(rows: Rows, supports: Iterable[np.ndarray]) -> Equations:
    """Least squares on each target's support."""
    return [(s, rows.least_squares(i, s) if len(s) else np.empty(0)) for i, s in enumerate(supports)]


def dense(equations: Equations, n_columns: int) -> np.ndarray:
    """Coefficients of all columns, shape (n_targets, n_columns)."""
    full = np.zeros((len(equations), n_columns))
    for row, (support, w) in zip(full, equations, strict=True):
        row[support] = w
    return full
