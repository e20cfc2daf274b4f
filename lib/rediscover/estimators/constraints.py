"""What is asked of an equation beside its errors: bounds, monotony in a column, symmetry in two: rule 9 of `choice`.

It is checked on a sample, so that it is no proof: rows of the table, and points halfway or elsewhere between two rows,
which lie where data do, so that a law need not be defined where there are none. An equation is monotone if at all of
these points it goes the right way when the column makes a small step (`STEPS` of them are its range) and when it jumps
to a value drawn from its range; where it is undefined after the step, nothing is asked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..problems import did_you_mean
from .constants import Form, evaluated
from .names import Name
from .residuals import columns

ROWS, BETWEEN = 1_000, 1_000  # points of the sample
STEPS = 50
ROUNDING, ALIKE = 1e-9, 1e-6  # of the target's spread: a step back that is none, and a difference by symmetry


@dataclass(frozen=True)
class Constraints:
    """What is asked, by places of columns.

    Attributes
    ----------
    bounds : the least and the largest value, each None if there is none
    increasing, decreasing : columns in which an equation does not fall, and does not rise
    symmetric : pairs of columns that can change places
    names : of the columns, as the search has them
    points : ndarray, shape (n, n_names)
    jumps : ndarray, shape (n, n_names)
        Values within the range of each column.
    spread : of the target
    """

    bounds: tuple[float | None, float | None] = (None, None)
    increasing: tuple[int, ...] = ()
    decreasing: tuple[int, ...] = ()
    symmetric: tuple[tuple[int, int], ...] = ()
    names: tuple[str, ...] = ()
    points: np.ndarray | None = None
    jumps: np.ndarray | None = None
    spread: float = 1.0

    def __bool__(self) -> bool:
        return bool(self.increasing or self.decreasing or self.symmetric) or self.bounds != (None, None)

    def on(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> "Constraints":
        """The same, to be checked on a sample of a table of shapes (n, n_columns) and (n,)."""
        if not self:
            return self
        rows = X[rng.permutation(len(X))[:ROWS]]
        first, second = X[rng.integers(0, len(X), (2, BETWEEN))]
        share = rng.uniform(size=(BETWEEN, 1))
        share[::2] = 0.5
        points = np.concatenate([rows, first + share * (second - first)])
        jumps = rng.uniform(X.min(axis=0), X.max(axis=0), points.shape)
        names = tuple(f"x{i}" for i in range(X.shape[1]))
        return replace(self, names=names, points=points, jumps=jumps, spread=float(np.std(y)) or 1.0)

    def refused(self, form: Form) -> str:
        """What a form, with its constants, does not keep to; empty where it keeps to all."""
        if self.points is None or self.jumps is None:
            return ""
        here = self._values(form, self.points)
        low, high = self.bounds
        off = ROUNDING * self.spread
        inside = np.isfinite(here)
        for end, sign in ((low, 1), (high, -1)):
            inside = inside if end is None else inside & (sign * (here - end) >= -off)
        if (low, high) != (None, None) and not inside.all():
            return "outside the bounds"
        for places, sign, what in ((self.increasing, 1, "increasing"), (self.decreasing, -1, "decreasing")):
            if any(self._turns(form, here, place, sign) for place in places):
                return f"not {what} where asked"
        for pair in self.symmetric:
            there = self._values(form, swapped(self.points, pair))
            alike = (np.abs(there - here) <= ALIKE * self.spread) | (np.isnan(there) & np.isnan(here))
            if not alike.all():
                return "not symmetric"
        return ""

    def _values(self, form: Form, X: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            found = evaluated(form.expression, {**columns(self.names, X), **form.values})
        return np.broadcast_to(found, len(X))

    def _turns(self, form: Form, here: np.ndarray, place: int, sign: int) -> bool:
        """Whether a form goes the wrong way anywhere when a column grows."""
        assert self.points is not None and self.jumps is not None
        start = self.points[:, place]
        step = np.ptp(self.jumps[:, place]) / STEPS
        for end in (start + step, self.jumps[:, place]):
            moved = self.points.copy()
            moved[:, place] = end
            grown = sign * np.sign(end - start) * (self._values(form, moved) - here)
            # a comparison with what is undefined is false
            if (grown < -ROUNDING * self.spread).any():
                return True
        return False


def swapped(X: np.ndarray, pair: tuple[int, int]) -> np.ndarray:
    """A table with two columns in each other's place, shape (n, n_columns)."""
    found = X.copy()
    found[:, list(pair)] = X[:, list(pair[::-1])]
    return found


def mirrored(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray, pairs: Iterable[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, and the same with symmetric columns in each other's place, each of half the weight.

    A form that can be symmetric has equal constants where it must when it is fitted to both.
    """
    for pair in pairs:
        X, y = np.concatenate([X, swapped(X, pair)]), np.concatenate([y, y])
        weights = np.concatenate([weights, weights]) / 2
    return X, y, weights


def constraints(names: Sequence[Name], bounds: Any, increasing: Any, decreasing: Any, symmetric: Any) -> Constraints:
    """What is asked, as somebody wrote it.

    Parameters
    ----------
    names : of the columns
    bounds : least and largest value, None for none; or None
    increasing, decreasing : a column by its name or place, several, or None
    symmetric : two columns, several such pairs, or None

    Returns
    -------
    Constraints

    Raises
    ------
    ValueError
        If it is no such thing, or there is no such column.
    """
    low, high = _bounds(bounds)
    up, down = ([_place(names, key) for key in _several(keys)] for keys in (increasing, decreasing))
    if both := sorted({*up} & {*down}):
        raise ValueError(f"{names[both[0]].shown} is to be increasing and decreasing; leave it out or choose one")
    pairs = [symmetric] if symmetric and all(isinstance(key, str | int) for key in symmetric) else symmetric or []
    found = []
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or len({_place(names, key) for key in pair}) != 2:
            raise ValueError(f"symmetric is {symmetric!r}; give two columns or a list of such pairs")
        found.append((_place(names, pair[0]), _place(names, pair[1])))
    return Constraints((low, high), tuple(up), tuple(down), tuple(found))


def _bounds(bounds: Any) -> tuple[float | None, float | None]:
    try:
        low, high = (None, None) if bounds is None else bounds
        low, high = (None if end is None else float(end) for end in (low, high))
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if any(end is not None and np.isnan(end) for end in (low, high)) or (
        low is not None and high is not None and not low < high
    ):
        raise ValueError(f"bounds is {bounds!r}; give the least and the largest value, None for none")
    return low, high


def _several(keys: Any) -> list:
    return [] if keys is None else [keys] if isinstance(keys, str | int) else list(keys)


def _place(names: Sequence[Name], key: Any) -> int:
    if isinstance(key, int | np.integer) and 0 <= key < len(names):
        return int(key)
    for i, name in enumerate(names):
        if key in (name.shown, name.column):
            return i
    shown = [name.shown for name in names]
    raise ValueError(f"no column {key!r}{did_you_mean(str(key), shown)} (columns: {', '.join(shown)})")
