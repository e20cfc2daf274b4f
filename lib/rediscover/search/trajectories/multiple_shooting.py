"""Multiple shooting: the constants of differential equations from integrated, not differentiated, data."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from scipy.optimize import least_squares

from ...expressions import Expression, parse
from ...expressions.numerics import Program
from ...numerics.differences import even_step

WINDOW = 15  # intervals of the record that are integrated at a stretch
SUBSTEPS = 2  # of Runge and Kutta's method in one interval
STEP = 1e-6  # relative change of a constant by which derivatives of trajectories are taken
PENALTY = 1e6  # residual where an integration fails, in units of the spread of the state


def refine(
    equations: Mapping[str, str], states: np.ndarray, t: np.ndarray, *, window: int = WINDOW, evaluations: int = 12
) -> dict[str, str]:
    """All constants of a system together, inner ones too, by multiple shooting from the observed states.

    The record is cut into windows; the system is integrated through each from its first observed state
    (Runge and Kutta's method of fourth order), and the squared distances to the observed states, in units of
    their spread, are minimised. Windows keep unstable and chaotic systems tractable.

    Parameters
    ----------
    equations : state -> text with constants, in the order of the columns of `states`: where to start
    states : ndarray, shape (n, n_states)
    t : ndarray, shape (n,)
        Equally spaced.
    window : int
        Intervals per window.
    evaluations : int
        Steps of the search (Levenberg-Marquardt within a trust region).

    Returns
    -------
    dict of state -> text. The `equations` themselves where nothing better is found: without constants, with
    fewer than two points, or for stiff systems, for which the fixed step is too long.

    Raises
    ------
    ExpressionError
        If an equation cannot be read or has a variable that is no state.

    References
    ----------
    Bock, in Modelling of Chemical Reaction Systems, Springer (1981) 102-125.
    """
    read = [parse(text, names=list(equations)) for text in equations.values()]
    start = np.array([c for right in read for c in right.constants], dtype=float)
    if not len(start) or len(t) < 2:
        return dict(equations)
    shoot = _Shooting(read, list(equations), np.asarray(states, dtype=float), t, min(window, len(t) - 1))
    unit = np.where(start, np.abs(start), 1.0)
    first = start / unit
    before = shoot(start[None])[0]
    search = least_squares(
        lambda c: shoot(c[None] * unit)[0], first, lambda c: shoot.jacobian(c, unit), max_nfev=evaluations
    )
    if not 2 * search.cost < np.sum(before**2):
        return dict(equations)
    found = iter((search.x * unit).tolist())
    return {
        name: str(right.with_constants([next(found) for _ in right.constants]))
        for name, right in zip(equations, read, strict=True)
    }


class _Shooting:
    """Residuals of several sets of constants, integrated side by side through all windows at once."""

    def __init__(self, read: list[Expression], names: list[str], states: np.ndarray, t: np.ndarray, window: int):
        self.names, self.window = names, window
        self.labels = [f"#{k}" for k in range(sum(len(right.constants) for right in read))]  # no identifiers
        label = iter(self.labels)
        self.program = Program([right._with_leaves(lambda _: (next(label),)) for right in read])
        starts = np.arange(0, len(t) - 1, window)
        ends = starts[:, None] + np.arange(1, window + 1)
        self.inside = ends < len(t)
        last = np.minimum(ends, len(t) - 1)
        # Steps of each window, shape (n_windows or 1, window, 1); beyond the end a window goes on with the last.
        even = even_step(t) is not None
        self.steps = np.full((1, window, 1), t[1] - t[0]) if even else np.diff(t)[last - 1][:, :, None]
        self.start, self.observed = states[starts], states[last]
        spread = states.std(axis=0)
        self.spread = np.where(spread > 0, spread, 1.0)

    def __call__(self, sets: np.ndarray) -> np.ndarray:
        """Residuals, shape (n_sets, n), for constants of shape (n_sets, n_constants)."""
        with np.errstate(all="ignore"):
            off = ((self.paths(sets) - self.observed) / self.spread)[:, self.inside]
        off = np.nan_to_num(off, nan=PENALTY, posinf=PENALTY, neginf=-PENALTY)
        return np.clip(off, -PENALTY, PENALTY).reshape(len(sets), -1)

    def paths(self, sets: np.ndarray) -> np.ndarray:
        """Trajectories, shape (n_sets, n_windows, window, n_states)."""
        constants = dict(zip(self.labels, sets.T[:, :, None], strict=True))
        x = np.repeat(self.start[None], len(sets), axis=0)
        path = []

        with np.errstate(all="ignore"):
            for i in range(self.window):
                h = self.steps[:, i] / SUBSTEPS
                for _ in range(SUBSTEPS):
                    x = runge_kutta(self.program, self.names, x, h, constants)
                path.append(x)
        return np.stack(path, axis=2)

    def jacobian(self, c: np.ndarray, unit: np.ndarray) -> np.ndarray:
        """Derivatives of the residuals with respect to the scaled constants, by differences."""
        both = self(np.concatenate([c[None], c + STEP * np.eye(len(c))]) * unit)
        return (both[1:] - both[0]).T / STEP


def runge_kutta(
    right: Program,
    names: Sequence[str],
    x: np.ndarray,
    h: float | np.ndarray,
    constants: Mapping = MappingProxyType({}),
) -> np.ndarray:
    """States after one step of Runge and Kutta's method of fourth order, of many systems or states side by side.

    Parameters
    ----------
    right : Program
        Of all right-hand sides, in the order of `names`.
    names : of the states
    x : ndarray, shape (..., n_states)
    h : step, of a shape that broadcasts against x
    constants : values of what else is named in the right-hand sides

    Returns
    -------
    ndarray of the shape of x; plain arithmetic, so that what overflows is not finite.

    Examples
    --------
    >>> runge_kutta(Program([parse("-x").tree]), ["x"], np.array([[1.0], [2.0]]), 0.1).round(6).tolist()
    [[0.904838], [1.809675]]
    """

    def rates(x: np.ndarray) -> np.ndarray:
        states = {name: x[..., i] for i, name in enumerate(names)}
        slopes = np.empty_like(x)
        for i, part in enumerate(right({**constants, **states})):
            slopes[..., i] = part
        return slopes

    a = rates(x)
    b = rates(x + h / 2 * a)
    c = rates(x + h / 2 * b)
    return x + h / 6 * (a + 2 * b + 2 * c + rates(x + h * c))
