"""Constants of a system fitted to its trajectories, each piece of a record from an initial state of its own.

With x(t; c, s) the solution from the state s at the start of a piece, the sum of squares of (observed - x)/spread is
made small over the constants c and the initial states s of all pieces, by Gauss-Newton steps. The s of a piece are in
the residuals of this piece alone, so that they are projected out: with Q a basis of the columns of dx/ds, steps and
covariance of c are those of the residuals and of dx/dc less their projections on Q (variable projection).

References
----------
Bock (1983), Recent advances in parameter identification techniques for O.D.E.; Golub, Pereyra (1973), SIAM J. Numer.
Anal. 10.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..expressions.integration import Solver, simulate
from .constants import Form

SEGMENT = 50  # rows of a piece: short enough for a chaotic system
STEPS, HALVED = 8, 4
PRECISE = Solver(rtol=1e-8, atol=1e-10, first_step=1e-6, min_step=1e-14)
SOLVED = 1e-7  # relative accuracy of constants that the solver leaves, with some to spare
SHIFT = 1e-5  # of a constant, relative, for its slope

Records = Sequence[tuple[np.ndarray, np.ndarray]]


class TrajectoryFit(NamedTuple):
    """Forms with constants fitted to trajectories.

    Attributes
    ----------
    forms : state -> Form
    errors : state -> standard errors of its constants, ndarray of shape (n_constants,)
    freedom : numbers observed less constants and initial states
    """

    forms: dict[str, Form]
    errors: dict[str, np.ndarray]
    freedom: float


def segments(records: Records) -> list[tuple[np.ndarray, np.ndarray]]:
    """Records cut into pieces of about `SEGMENT` rows."""
    found = []
    for t, states in records:
        for rows in np.array_split(np.arange(len(t)), max(1, round(len(t) / SEGMENT))):
            found.append((t[rows], states[rows]))
    return found


def fit_trajectories(forms: Mapping[str, Form], records: Records) -> TrajectoryFit:
    """Forms with the constants that bring their solutions nearest to the records.

    Parameters
    ----------
    forms : state -> Form in the states, in the order of their columns
    records : (times, states) of each, shapes (n,) and (n, n_states)

    Returns
    -------
    TrajectoryFit
        With the forms as they are, and standard errors NaN, where a solution cannot be computed.
    """
    cut = segments(records)
    spread = np.concatenate([states for _, states in cut]).std(axis=0)
    spread[spread == 0] = 1.0
    problem = _Segments(dict(forms), cut, spread)
    c, starts = problem.constants, [states[0] for _, states in cut]
    residuals = problem.residuals(c, starts)
    numbers = sum(states.size for _, states in cut)
    freedom = numbers - len(c) - sum(states.shape[1] for _, states in cut)
    lost = {name: np.full(len(form.expression.constants), np.nan) for name, form in forms.items()}
    if residuals is None or freedom < 1:
        return TrajectoryFit(dict(forms), lost, freedom)
    for _ in range(STEPS):
        step = problem.step(c, starts, residuals)
        if step is None:
            return TrajectoryFit(problem.with_constants(c), lost, freedom)
        better = None
        for k in range(HALVED):
            moved = c + step.c / 2**k, [s + d / 2**k for s, d in zip(starts, step.starts, strict=True)]
            new = problem.residuals(*moved)
            if new is not None and _size(new) < _size(residuals):
                better = moved, new
                break
        if better is None:
            break
        settled = _size(better[1]) > (1 - 1e-6) * _size(residuals)
        (c, starts), residuals = better
        if settled:
            break
    step = problem.step(c, starts, residuals)
    if step is None:
        return TrajectoryFit(problem.with_constants(c), lost, freedom)
    errors = np.sqrt(_size(residuals) / freedom) * step.spreads
    return TrajectoryFit(problem.with_constants(c), problem.apart(errors), freedom)


def _size(residuals: list[np.ndarray]) -> float:
    return float(sum(part @ part for part in residuals))


class _Step(NamedTuple):
    """A Gauss-Newton step, and the roots of the diagonal of (J' J)^-1 of the constants."""

    c: np.ndarray
    starts: list[np.ndarray]
    spreads: np.ndarray


class _Segments:
    """A system along pieces of records."""

    def __init__(self, forms: dict[str, Form], cut: list, spread: np.ndarray) -> None:
        self.forms, self.cut, self.spread = forms, cut, spread
        self.constants = np.concatenate([np.array(f.expression.constants, float) for f in forms.values()])

    def apart(self, c: np.ndarray) -> dict[str, np.ndarray]:
        """Numbers of all constants, by state."""
        ends = np.cumsum([len(form.expression.constants) for form in self.forms.values()])
        return dict(zip(self.forms, np.split(c, ends[:-1]), strict=True))

    def with_constants(self, c: np.ndarray) -> dict[str, Form]:
        parts = self.apart(c)
        return {n: Form(f.expression.with_constants(parts[n].tolist()), f.held) for n, f in self.forms.items()}

    def solutions(self, c: np.ndarray, starts: list[np.ndarray]) -> list[np.ndarray] | None:
        """Solutions in units of the spread, mean; None where one cannot be computed."""
        equations = {name: form.shown for name, form in self.with_constants(c).items()}
        found = []
        for (t, _), start in zip(self.cut, starts, strict=True):
            states = simulate(equations, start, t, solver=PRECISE)
            if not np.isfinite(states).all():
                return None
            found.append((states / self.spread).ravel())
        return found

    def residuals(self, c: np.ndarray, starts: list[np.ndarray]) -> list[np.ndarray] | None:
        """Observed less solution for each piece, in units of the spread, mean."""
        found = self.solutions(c, starts)
        if found is None:
            return None
        return [(states / self.spread).ravel() - x for (_, states), x in zip(self.cut, found, strict=True)]

    def step(self, c: np.ndarray, starts: list[np.ndarray], residuals: list[np.ndarray]) -> _Step | None:
        """By differences: one solution of all pieces for each constant and for each state."""
        base = self.solutions(c, starts)
        by_c: list[Any] = []
        by_s: list[Any] = []
        for i in range(len(c)):
            shift = SHIFT * max(abs(c[i]), 1e-3)
            by_c.append((self.solutions(c + shift * (np.arange(len(c)) == i), starts), shift))
        for j in range(len(self.spread)):
            shift = SHIFT * self.spread[j]
            moved = [s + shift * (np.arange(len(s)) == j) for s in starts]
            by_s.append((self.solutions(c, moved), shift))
        if base is None or any(found is None for found, _ in (*by_c, *by_s)):
            return None
        rows, left, bases = [], [], []
        for k, r in enumerate(residuals):
            Jc = np.stack([(f[k] - base[k]) / h for f, h in by_c], axis=1) if by_c else np.empty((len(r), 0))
            Js = np.stack([(f[k] - base[k]) / h for f, h in by_s], axis=1)
            Q = np.linalg.qr(Js)[0]
            rows.append(Jc - Q @ (Q.T @ Jc))
            left.append(r - Q @ (Q.T @ r))
            bases.append((Jc, Js))
        J, r = np.concatenate(rows), np.concatenate(left)
        norm = np.linalg.norm(J, axis=0)
        unit = np.where(norm > 0, norm, 1.0)
        _, s, V = np.linalg.svd(J / unit, full_matrices=False)
        sound = s > 1e-7 * s.max(initial=0.0)
        dc = np.linalg.lstsq(J / unit, r, rcond=1e-7)[0] / unit
        ds = [np.linalg.lstsq(Js, q - Jc @ dc, rcond=None)[0] for (Jc, Js), q in zip(bases, residuals, strict=True)]
        spreads = np.sqrt((V[sound].T ** 2 / s[sound] ** 2).sum(axis=1)) / unit
        lost = (np.abs(V[~sound]) > 1e-6).any(axis=0) | (norm == 0)
        return _Step(dc, ds, np.where(lost, np.nan, spreads))
