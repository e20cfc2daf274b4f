"""The linear token: a polynomial inside an expression, fitted by one least-squares solution.

An expression that holds the token once is inverted along the path from its root, which gives the values that
the polynomial should have. For exp(poly)*x = y these are log(y/x).

References
----------
M. Landajuela et al., A unified framework for deep symbolic regression, NeurIPS 2022.
"""

import numpy as np
from numba import njit

from .sequences import ADD, DIV, EXP, FITTED, INV, LOG, MUL, N3, NEG, SQRT, SUB, TANH, end, evaluate
from .tokens import monomials


@njit(cache=True, error_model="numpy")
def _undo(code, target, other, other_is_left):
    """The argument with which a function has the value `target`; `other` is its other argument."""
    if code == ADD:
        return target - other
    if code == SUB:
        return other - target if other_is_left else target + other
    if code == MUL:
        return target / other
    if code == DIV:
        return other / target if other_is_left else target * other
    if code == EXP:
        return np.log(target)
    if code == LOG:
        return np.exp(target)
    if code == SQRT:
        return target * target
    if code == TANH:
        return np.arctanh(target)
    if code == N3:
        return np.cbrt(target)
    if code == INV:
        return 1.0 / target
    if code == NEG:
        return -target
    return np.full_like(target, np.nan)


@njit(cache=True)
def inverted(sequence, codes, arity, X, y, stack):
    """Values that the polynomial of a sequence should have.

    Parameters
    ----------
    sequence : one whole expression that holds ``poly`` once and no ``const``
    codes, arity : of each token
    X, y : inputs, shape (n_inputs, n_rows), and targets, shape (n_rows,)
    stack : room for the evaluation

    Returns
    -------
    ndarray, shape (n_rows,); NaN throughout where a value on the way is not finite
    """
    nothing = np.empty(0)
    target, place = y.copy(), 0
    while codes[sequence[place]] != FITTED:
        token = sequence[place]
        first = place + 1
        other, left, fine = target, False, True
        place = first
        if arity[token] == 2:
            second = end(sequence, arity, first)
            after = end(sequence, arity, second)
            for k in range(second, after):
                left |= codes[sequence[k]] == FITTED
            branch = sequence[first:second] if left else sequence[second:after]
            fine = evaluate(branch, codes, X, nothing, nothing, stack)
            other = stack[0]
            place = second if left else first
        target = _undo(codes[token], target, other, left)
        if not fine or not np.isfinite(target).all():
            return np.full_like(y, np.nan)
    return target


class Polynomials:
    """Least-squares polynomials in all inputs, their design matrix inverted once.

    Parameters
    ----------
    X : inputs, shape (n_inputs, n_rows)
    degree : highest total degree, at least 0
    tolerance : coefficients smaller than this in size are dropped

    Raises
    ------
    ValueError
        If degree or tolerance is negative.
    """

    def __init__(self, X: np.ndarray, degree: int, tolerance: float):
        if degree < 0 or not tolerance >= 0:
            raise ValueError(f"degree and tolerance must be at least 0, got {degree} and {tolerance}")
        self.degree, self.tolerance = degree, tolerance
        with np.errstate(over="ignore", under="ignore"):
            powers = monomials(len(X), degree)
            self.design = np.prod(X.T[:, None, :] ** powers, axis=2)
        self.defined = bool(np.isfinite(self.design).all())
        self.inverse = np.linalg.pinv(self.design) if self.defined else None

    def fit(self, target: np.ndarray) -> np.ndarray:
        """Coefficients in the order of `monomials`; those of the constant 1 where `target` is not finite.

        >>> x = np.array([[0.0, 1.0, 2.0, 3.0]])
        >>> Polynomials(x, 2, 1e-10).fit(1 - x[0] ** 2).round(9).tolist()
        [1.0, 0.0, -1.0]
        """
        if not (self.defined and np.isfinite(target).all()):
            one = np.zeros(self.design.shape[1])
            one[0] = 1.0
            return one
        coefficients = self.inverse @ target
        coefficients[np.abs(coefficients) < self.tolerance] = 0.0
        return coefficients

    def values(self, coefficients: np.ndarray) -> np.ndarray:
        """Values of the polynomial on the data, shape (n_rows,)."""
        used = np.flatnonzero(coefficients)  # an infinite monomial times 0 is not a number
        return self.design[:, used] @ coefficients[used]
