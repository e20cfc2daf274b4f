"""How far an equation is from numbers: rows of a table, records in time, points of a cloud.

A residuals has training rows, on which constants are fitted, and held-out rows, on which equations are compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import least_squares

from ..expressions import Expression
from . import choice
from .constants import Form, evaluated, fitted, lettered, slopes, standard_errors

WINDOW = 5  # steps of a record over which a change is compared with the integral of its rate
NEAR = 0.2  # of the median step, see `knots`
FITTED_POINTS = 5_000  # of a cloud, on which constants are fitted


def columns(names: Sequence[str], X: np.ndarray) -> dict[str, np.ndarray]:
    """Name -> column of a table of shape (n, n_names)."""
    return dict(zip(names, np.asarray(X, float).T, strict=True))


@dataclass(frozen=True)
class TableResiduals:
    """A table; errors are those of y.

    Attributes
    ----------
    names : of the columns of X
    X : ndarray, shape (n, n_names)
    y, weights : ndarray, shape (n,)
    rest : TableResiduals or None
        Held-out rows; None where each row is predicted by the form fitted to the others.
    """

    names: tuple[str, ...]
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    rest: "TableResiduals | None" = None

    against: ClassVar[str] = "the mean"  # what says nothing

    @cached_property
    def values(self) -> dict[str, Any]:
        return columns(self.names, self.X)

    @property
    def validation(self) -> "TableResiduals":
        """The rows on which equations are compared."""
        return self.rest or self

    @property
    def spread(self) -> float:
        return float(np.std(self.validation.y)) or float(np.abs(self.validation.y).max(initial=0.0)) or 1.0

    def predicted(self, form: Form) -> np.ndarray:
        """Shape (n,)."""
        with np.errstate(all="ignore"):
            return np.broadcast_to(evaluated(form.expression, {**self.values, **form.values}), self.y.shape)

    def fit(self, form: Form) -> Form:
        """The form with its constants fitted to these rows."""
        values = {**self.values, **{name: np.full(len(self.y), v) for name, v in form.values.items()}}
        return Form(fitted(form.expression, values, self.y, self.weights), form.held)

    def training(self, form: Form) -> float:
        """Root mean square error."""
        with np.errstate(all="ignore"):
            return float(np.sqrt(np.average((self.predicted(form) - self.y) ** 2, weights=self.weights)))

    def exact(self, form: Form) -> bool:
        """Whether a form fits each of these rows to rounding, whatever its weight."""
        with np.errstate(all="ignore"):
            return bool(np.abs(self.predicted(form) - self.y).max() <= choice.ROUNDING * self.spread)

    def likelier(self, form: Form, line: Form) -> float:
        """Log likelihood of a form less that of a line, on these rows."""
        with np.errstate(all="ignore"):
            mine, its = (choice.floored((self.predicted(f) - self.y) ** 2, self.spread) for f in (form, line))
        return choice.log_likelihood_gain(mine, its, self.weights)

    def squares(self, form: Form) -> np.ndarray:
        """Squared errors of the rows that are compared; infinite where the equation is undefined.

        Without held-out rows, of each row as predicted by the form with its constants fitted to the others: to first
        order r / (1 - h), h the diagonal of the hat matrix.
        """
        rows = self.validation
        with np.errstate(all="ignore"):
            off = rows.predicted(form) - rows.y
            if self.rest is None and form.expression.constants:
                A = np.sqrt(self.weights)[:, None] * self.slopes(form)
                if not np.isfinite(A).all():
                    return np.full(len(off), np.inf)
                Q = np.linalg.svd(A, full_matrices=False)[0]
                h = (Q**2).sum(axis=1)
                off = np.where(h < 1 - 1e-9, off / (1 - h), np.inf)
            found = off**2
        return np.where(np.isfinite(found), found, np.inf)

    def squares_of_nothing(self, form: Form, mean: Form) -> np.ndarray:
        """Squared errors that an equation must be below to say something: those of the mean."""
        return self.squares(mean)

    def worse(self, form: Form, than: Form) -> bool:
        """Whether a form has larger errors than another on the rows that are compared, by more than chance."""
        mine, theirs = (choice.floored(self.squares(each), self.spread) for each in (form, than))
        apart = choice.difference(mine, theirs, self.validation.weights)
        return not apart.mean <= choice.CHANCE * apart.error

    def slopes(self, form: Form) -> np.ndarray:
        """Derivatives by the constants, shape (n, n_constants)."""
        held = {name: np.full(len(self.y), v) for name, v in form.values.items()}
        with np.errstate(all="ignore"):
            return slopes(form.expression, {**self.values, **held})

    def errors(self, form: Form, rows: float | None = None) -> tuple[np.ndarray, float]:
        """Standard errors of the constants that are not held, and rows (so many, if given) less constants."""
        freedom = (len(self.y) if rows is None else rows) - len(form.expression.constants)
        if not form.expression.constants:
            return np.empty(0), freedom
        scale = len(self.y) / (len(self.y) if rows is None else rows)
        found = standard_errors(self.slopes(form), self.predicted(form) - self.y, self.weights, freedom * scale)
        return found * np.sqrt(scale), freedom

    def all(self) -> "TableResiduals":
        """All rows, none held out."""
        if self.rest is None:
            return self
        X, y, w = (
            np.concatenate(pair)
            for pair in ((self.X, self.rest.X), (self.y, self.rest.y), (self.weights, self.rest.weights))
        )
        return replace(self, X=X, y=y, weights=w, rest=None)


@dataclass(frozen=True)
class RateResiduals(TableResiduals):
    """Records in time; errors are those of a state's change over `WINDOW` steps against the integral of its rate.

    The integral is that of a cubic spline through the rate at the observed states (`knots`), so that no derivative of
    data is taken. X holds the states, y is made of the state's changes.

    Attributes
    ----------
    series : one (times, slice of the rows of X) for each record
    state : column of X
    """

    series: tuple[tuple[np.ndarray, slice], ...] = ()
    state: int = 0

    @staticmethod
    def of(
        names: Sequence[str], records: Sequence[tuple[np.ndarray, np.ndarray]], state: int, rest: Any = None
    ) -> "RateResiduals":
        """Of records, each times and states of shapes (n,) and (n, n_states)."""
        X = np.concatenate([states for _, states in records])
        ends = np.cumsum([0, *(len(t) for t, _ in records)])
        series = tuple((t, slice(a, b)) for (t, _), a, b in zip(records, ends, ends[1:], strict=False))
        y = np.concatenate([np.diff(X[rows, state][marks(t)]) for t, rows in series])
        return RateResiduals(tuple(names), X, y, np.ones(len(y)), rest, series, state)

    def integrated(self, rates: np.ndarray) -> np.ndarray:
        """Integrals over the windows, of rates of shape (n_rows,) or (n_rows, k)."""
        parts = []
        for t, rows in self.series:
            values = rates[rows]
            if not np.isfinite(values).all():
                parts.append(np.full((len(marks(t)) - 1, *values.shape[1:]), np.nan))
                continue
            at = knots(t)
            parts.append(np.diff(CubicSpline(t[at], values[at]).antiderivative()(t[marks(t)]), axis=0))
        return np.concatenate(parts)

    def predicted(self, form: Form) -> np.ndarray:
        with np.errstate(all="ignore"):
            rates = evaluated(form.expression, {**self.values, **form.values})
        return self.integrated(np.broadcast_to(rates, len(self.X)))

    def slopes(self, form: Form) -> np.ndarray:
        held = {name: np.full(len(self.X), v) for name, v in form.values.items()}
        with np.errstate(all="ignore"):
            return self.integrated(slopes(form.expression, {**self.values, **held}))

    def fit(self, form: Form) -> Form:
        return _descended(form, lambda f: self.predicted(f) - self.y, self.slopes)


def marks(t: np.ndarray) -> np.ndarray:
    """Positions of the ends of windows in a record."""
    return np.unique(np.append(np.arange(0, len(t), WINDOW), len(t) - 1))


def knots(t: np.ndarray) -> np.ndarray:
    """Positions of the times that a spline goes through: none nearer to the one before than `NEAR` of the median step.

    Between two times that almost coincide the noise of the states is a steep slope, and the spline swings far.

    >>> knots(np.array([0.0, 1.0, 1.1, 2.0, 3.0])).tolist()
    [0, 1, 3, 4]
    """
    least, kept = NEAR * np.median(np.diff(t)), [0]
    for i in range(1, len(t)):
        if t[i] - t[kept[-1]] >= least:
            kept.append(i)
    return np.array(kept)


@dataclass(frozen=True)
class DistanceResiduals(TableResiduals):
    """A cloud; errors are distances of points from F = 0, to first order |F| / |grad F|. y is zero.

    References
    ----------
    Taubin (1991), Estimation of planar curves, surfaces, and nonplanar space curves, IEEE PAMI 13.
    """

    against: ClassVar[str] = "points whose coordinates are shuffled"

    @property
    def spread(self) -> float:
        return float(np.sqrt(self.validation.X.var(axis=0).sum())) or 1.0

    def predicted(self, form: Form) -> np.ndarray:
        return self._distances(form, np.array([form.expression.constants], float))[0]

    def slopes(self, form: Form) -> np.ndarray:
        start = np.array(form.expression.constants, float)
        steps = 1e-6 * np.maximum(np.abs(start), 1e-3)
        ahead, behind = (self._distances(form, start + sign * np.diag(steps)) for sign in (1, -1))
        return ((ahead - behind) / (2 * steps[:, None])).T

    def _distances(self, form: Form, constants: np.ndarray) -> np.ndarray:
        """With each row of constants, shape (m, n_constants); shape (m, n). One call, as calls are what costs."""
        m, n = len(constants), len(self.X)
        values = {name: np.tile(column, m) for name, column in self.values.items()}
        values |= {name: np.full(m * n, value) for name, value in form.values.items()}
        compiled, letters = lettered(form.expression, tuple(values))
        values |= {letter: np.repeat(column, n) for letter, column in zip(letters, constants.T, strict=True)}
        with np.errstate(all="ignore"):
            size = np.linalg.norm(compiled.gradient(values, self.names), axis=0)
            return np.broadcast_to(compiled(values) / size, m * n).reshape(m, n)

    def squares_of_nothing(self, form: Form, mean: Form) -> np.ndarray:
        """Squared distances of points whose coordinates have nothing to do with each other.

        A surface with many sheets, or one that is flat where it is zero, is near to any cloud.
        """
        rows, rng = self.validation, np.random.default_rng(0)
        X = np.column_stack([rng.permutation(column) for column in rows.X.T])
        with np.errstate(all="ignore"):
            found = replace(rows, X=X, rest=None).predicted(form) ** 2
        return np.where(np.isfinite(found), found, np.inf)

    def likelier(self, form: Form, line: Form) -> float:
        """Nothing: a surface that bends is nearer to any cloud than a plane."""
        return 0.0

    def fit(self, form: Form) -> Form:
        few = self
        if len(self.y) > FITTED_POINTS:
            kept = slice(None, None, -(-len(self.y) // FITTED_POINTS))
            few = replace(self, X=self.X[kept], y=self.y[kept], weights=self.weights[kept], rest=None)
        return _descended(form, few.predicted, few.slopes)


def _descended(form: Form, residuals: Any, jacobian: Any) -> Form:
    """The form with constants of a smaller sum of squared residuals, if a few steps find some."""
    start = np.array(form.expression.constants, float)
    if not len(start):
        return form

    def at(c: np.ndarray) -> Form:
        return Form(form.expression.with_constants(c.tolist()), form.held)

    def finite(values: np.ndarray) -> np.ndarray:
        return np.clip(np.nan_to_num(values, nan=1e6, posinf=1e6, neginf=-1e6), -1e12, 1e12)

    before = residuals(form)
    if not np.isfinite(before).all() or len(before) < len(start):
        return form
    found = least_squares(
        lambda c: finite(residuals(at(c))), start, lambda c: finite(jacobian(at(c))), x_scale="jac", max_nfev=30
    )
    better = np.isfinite(found.x).all() and 2 * found.cost < float(before @ before)
    return at(found.x) if better else form


def straight_line(names: Sequence[str], X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Form | None:
    """A straight line in all columns, by weighted least squares; None of too few rows."""
    if len(y) < X.shape[1] + 3:
        return None
    root = np.sqrt(weights)[:, None]
    A = np.column_stack([np.ones(len(y)), X])
    scale = np.linalg.norm(root * A, axis=0)
    scale[scale == 0] = 1.0
    c = np.linalg.lstsq(root * A / scale, root[:, 0] * y, rcond=None)[0] / scale
    tree: tuple = (float(c[0]),)
    for name, slope in zip(names, c[1:], strict=True):
        tree = ("+", tree, ("*", (float(slope),), (name,)))
    return Form(Expression(tree))


def is_straight(expression: Expression, values: Mapping[str, np.ndarray]) -> bool:
    """Whether an expression has the same slopes at all rows."""
    if not expression.names:
        return False
    with np.errstate(all="ignore"):
        slopes = expression.gradient(values, expression.names)
    return bool((np.ptp(slopes, axis=1) <= 1e-9 * np.abs(slopes).max(axis=1, initial=0.0)).all())
