"""What is to be found in somebody's own numbers: a table, a record in time, a cloud of points. No truth is known.

They are problems like those of the studies, so that every method treats them as it treats those.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...numerics.differences import rates
from .. import InitialValueProblem, LevelSet, Regression, Split

__all__ = ["Cloud", "Record", "Table"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Table(Regression):
    """Outputs as functions of inputs.

    Attributes
    ----------
    X : ndarray, shape (n, n_inputs)
    y : ndarray, shape (n,) or (n, n_outputs)
    """

    X: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    y: np.ndarray = field(default_factory=lambda: np.empty(0))

    def data(self, seed: int = 0) -> dict[str, Split]:
        return {"train": Split(self.X, self.y)}


@dataclass(frozen=True, eq=False, kw_only=True)
class Record(InitialValueProblem):
    """A system along one record in time, at any increasing times.

    Attributes
    ----------
    t : ndarray, shape (n,)
    states : ndarray, shape (n, n_states)
    split : how the record is cut: it is fitted as a whole
    """

    t: np.ndarray = field(default_factory=lambda: np.empty(0))
    states: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    split: str = "time"
    equations: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)

    def times(self) -> np.ndarray:
        return self.t

    def observed(self, seed: int = 0) -> np.ndarray:
        return self.states

    def initial_state(self) -> np.ndarray:
        return self.states[0]

    def trajectory(self, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, states and, as exact rates are not known, their differences in time."""
        return self.t, self.states, rates(self.states, self.t)

    def time_blocks(self, n: int) -> dict[str, slice]:
        return super().time_blocks(n) | {"refit": slice(0, n)}

    def data(self, seed: int = 0) -> dict[str, Split]:
        slope = rates(self.states, self.t)
        slope = slope[:, 0] if slope.shape[1] == 1 else slope
        return {name: Split(self.states[rows], slope[rows]) for name, rows in self.time_blocks(len(self.t)).items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class Cloud(LevelSet):
    """Points of a curve or surface F = 0; as a table, the last coordinate regressed on the others.

    Attributes
    ----------
    points : ndarray, shape (n, n_inputs)
    """

    points: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    def split(self, name: str, seed: int = 0) -> Split:
        return Split(self.points, np.zeros(len(self.points)))

    def data(self, seed: int = 0) -> dict[str, Split]:
        return {"train": self.split("train", seed)}

    def tasks(self, seed: int = 0) -> list:
        from .. import Task

        return [Task(self.inputs[:-1], self.inputs[-1], self.points[:, :-1], self.points[:, -1])]
