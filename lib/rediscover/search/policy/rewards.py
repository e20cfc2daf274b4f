"""Rewards of token sequences: errors on data, after fitting their constants or their polynomial."""

import numpy as np

from .linear_token import Polynomials, inverted
from .sequence_constants import minimise
from .sequences import error, errors, evaluate, factor, folded
from .tokens import CONSTANT, POLYNOMIAL, Library

NOTHING = np.empty(0)


class Rewards:
    """Rewards on one table. Sequences with fitted numbers are fitted once and remembered.

    The reward is 1/(1 + e) with e the root of the mean squared error over the standard deviation of the
    targets, and 0 for an invalid sequence. Constants minimise e from ones by quasi-Newton steps on forward
    differences, where an invalid sequence counts as e = 1.

    Parameters
    ----------
    library : the tokens
    X : inputs, shape (n_rows, n_inputs)
    y : targets, shape (n_rows,), finite and not all equal
    max_length : of a sequence
    gtol : slope at which the fit of constants stops, positive
    scaled_start : start a constant that multiplies the whole expression not at one but at the least-squares
        factor between the expression and the targets
    degree, tolerance : of the polynomials

    Raises
    ------
    ValueError
        If the data do not fit the library or the targets do not vary.
    """

    def __init__(
        self,
        library: Library,
        X: np.ndarray,
        y: np.ndarray,
        *,
        max_length: int,
        gtol: float = 1e-5,
        scaled_start: bool = False,
        degree: int = 3,
        tolerance: float = 1e-10,
    ):
        if not gtol > 0:
            raise ValueError(f"gtol must be positive, got {gtol}")
        self.X, self.y = np.ascontiguousarray(np.asarray(X, float).T), np.array(y, float)
        if self.X.shape != (len(library.inputs), len(self.y)):
            raise ValueError(f"X has shape {np.shape(X)} for {len(library.inputs)} inputs and {len(y)} targets")
        if not (np.isfinite(self.X).all() and np.isfinite(self.y).all()):
            raise ValueError("inputs and targets must be finite")
        largest = np.abs(self.y).max()
        self.scale = float(largest * np.std(self.y / largest)) if largest > 0 else 0.0
        if self.scale == 0.0:
            raise ValueError("the targets must vary")
        self.library, self.gtol, self.scaled_start = library, gtol, scaled_start
        self.constant, self.polynomial = library.token(CONSTANT), library.token(POLYNOMIAL)
        self.polynomials = Polynomials(self.X, degree, tolerance) if self.polynomial >= 0 else None
        self.stack = np.empty((max_length // 2 + 2, len(self.y)))
        self.known: dict[bytes, tuple[float, np.ndarray]] = {}

    def __call__(self, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Rewards of sequences, shape (n,), from tokens of shape (n, places) and lengths of shape (n,)."""
        found = np.empty(len(tokens))
        numbered = self._hold(self.constant, tokens, lengths) | self._hold(self.polynomial, tokens, lengths)
        plain = np.flatnonzero(~numbered)
        found[plain] = errors(tokens[plain], lengths[plain], self.library.codes, self.X, self.y, self.scale, self.stack)
        for k in np.flatnonzero(numbered):
            found[k] = self.fitted(tokens[k, : lengths[k]])[0]
        return np.nan_to_num(1.0 / (1.0 + found), nan=0.0)

    def complexity(self, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Complexity of sequences, shape (n,): the sum of their tokens', a polynomial's is its number of terms."""
        inside = np.arange(tokens.shape[1]) < lengths[:, None]
        sizes = np.where(inside, self.library.complexity[tokens], 0).sum(axis=1)
        for k in np.flatnonzero(self._hold(self.polynomial, tokens, lengths)):
            sizes[k] += np.count_nonzero(self.fitted(tokens[k, : lengths[k]])[1]) - 1
        return sizes

    @staticmethod
    def _hold(token: int, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Whether each sequence holds a token; none holds -1."""
        inside = np.arange(tokens.shape[1]) < lengths[:, None]
        return ((tokens == token) & inside).any(axis=1)

    def fitted(self, sequence: np.ndarray) -> tuple[float, np.ndarray]:
        """Error and fitted numbers of a sequence: constants, or coefficients of its polynomial, or none."""
        key = sequence.tobytes()
        if key not in self.known:
            if (sequence == self.polynomial).any():
                answer = self._with_polynomial(sequence)
            elif (sequence == self.constant).any():
                answer = self._with_constants(sequence)
            else:
                return self._error(sequence), NOTHING
            self.known[key] = answer
        return self.known[key]

    def _error(self, sequence, constants=NOTHING, polynomial=NOTHING) -> float:
        return error(sequence, self.library.codes, self.X, self.y, self.scale, constants, polynomial, self.stack)

    def _with_constants(self, sequence: np.ndarray) -> tuple[float, np.ndarray]:
        start = np.ones(np.count_nonzero(sequence == self.constant))
        if self.scaled_start:
            self._scale(start, sequence)
        library = self.library
        shorter, codes, X, valid = folded(sequence, library.codes, library.arity, self.X, self.stack)
        if not valid:
            return np.nan, start
        constants = minimise(start, shorter, codes, X, self.y, self.scale, self.stack, self.gtol)
        return error(shorter, codes, X, self.y, self.scale, constants, NOTHING, self.stack), constants

    def _scale(self, start: np.ndarray, sequence: np.ndarray) -> None:
        """Multiply the constant that is a factor of the whole, if there is one."""
        place = factor(sequence, self.library.arity, self.library.codes)
        if place < 0 or not evaluate(sequence, self.library.codes, self.X, start, NOTHING, self.stack):
            return
        largest = np.abs(self.stack[0]).max()
        if largest > 0:
            values = self.stack[0] / largest
            scale = (values @ self.y) / (values @ values) / largest
            if np.isfinite(scale) and scale != 0:
                start[np.count_nonzero(sequence[:place] == self.constant)] = scale

    def _with_polynomial(self, sequence: np.ndarray) -> tuple[float, np.ndarray]:
        if self.polynomials is None:
            raise ValueError("the library has no polynomial")
        codes, arity = self.library.codes, self.library.arity
        coefficients = self.polynomials.fit(inverted(sequence, codes, arity, self.X, self.y, self.stack))
        values = self.polynomials.values(coefficients)
        if not np.isfinite(values).all():
            return np.nan, coefficients
        return self._error(sequence, polynomial=values), coefficients
