"""Training of field networks: Adam, and equations that lose terms as it goes on."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..programs.compiled import compiled
from .field_equations import Objective, fitted
from .lasso import lasso

RATE, MEMORY, TINY = 1e-3, 0.99, 1e-8  # of Adam, whose two memories are alike
CHECK = 25  # steps between looks at the test error and the coefficients
PERIOD = 50  # steps between masks


@dataclass(eq=False)
class State:
    """A network in training.

    Attributes
    ----------
    parameters : ndarray, shape (size,)
    moments : ndarray, shape (3, size)
        Means of the gradient and of its square, and the largest of the latter so far.
    step : taken so far
    """

    parameters: np.ndarray
    moments: np.ndarray
    step: int = 0

    @classmethod
    def new(cls, parameters: np.ndarray) -> "State":
        return cls(parameters, np.zeros((3, len(parameters)), parameters.dtype))

    def copy(self) -> "State":
        return State(self.parameters.copy(), self.moments.copy(), self.step)


@compiled
def adam(parameters, moments, gradient, step):
    """One step, number `step` from 1, after Reddi, Kale and Kumar (ICLR 2018), in place."""
    real = parameters.dtype.type
    keep, forget, tiny = real(MEMORY), real(1 - MEMORY), real(TINY)
    rate = real(RATE / (1 - MEMORY**step))
    scale = real(1 / np.sqrt(1 - MEMORY**step))
    mean, square, largest = moments
    for k in range(len(parameters)):
        mean[k] = keep * mean[k] + forget * gradient[k]
        square[k] = keep * square[k] + forget * gradient[k] * gradient[k]
        largest[k] = max(largest[k], square[k])
        parameters[k] -= rate * mean[k] / (np.sqrt(largest[k]) * scale + tiny)


class Schedule(NamedTuple):
    """When terms are left out.

    Attributes
    ----------
    patience : steps without a better test error before the first mask
    gain : by which the test error must fall to be better
    latest : step of the first mask at the latest
    settled : the L1 norm of the coefficients has changed by less, ...
    calm : ... in so many steps: training ends
    from_start : whether it may end so before the first mask
    """

    patience: int
    gain: float
    latest: int
    settled: float = 1e-3
    calm: int = 200
    from_start: bool = False


class Ended(NamedTuple):
    """An equation for each state.

    Attributes
    ----------
    threshold : of the scaled coefficients
    coefficients : ndarray, shape (states, columns)
        Zero for what was left out.
    steps : of training that led here, those before the first mask included
    first : step of the first mask
    error : mean squared error on the test points
    """

    threshold: float
    coefficients: np.ndarray
    steps: int
    first: int
    error: float


def scaled(theta: np.ndarray, rate: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Coefficients of columns and rates of length 1; theta has shape (columns, n)."""
    return coefficients * _lengths(theta) / np.sqrt(np.square(rate).sum() or 1.0)


def _lengths(theta: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(theta).sum(axis=1))


def mask(theta: np.ndarray, rate: np.ndarray, threshold: float) -> np.ndarray:
    """Columns whose lasso coefficient is at least the threshold, columns and rates having length 1."""
    lengths = _lengths(theta)
    lengths[lengths == 0] = 1
    return np.abs(lasso((theta / lengths[:, None]).T, rate / np.sqrt(np.square(rate).sum() or 1.0))) >= threshold


class Training:
    """Training on one field.

    Parameters
    ----------
    objective : Objective
    test : X and Y of the test points
    schedule : Schedule
    steps : at most, for each threshold
    """

    def __init__(self, objective: Objective, test: tuple[np.ndarray, np.ndarray], schedule: Schedule, steps: int):
        self.objective, self.test, self.schedule, self.steps = objective, test, schedule, steps
        self.taken = 0

    def run(self, start: np.ndarray, thresholds: Sequence[float]) -> Iterator[Ended]:
        """An end for each threshold; they share the way up to the first mask, which does not depend on it.

        Without a first mask, all columns stay.

        Raises
        ------
        FloatingPointError
            If the loss is not finite.
        """
        every = np.ones((len(self.objective.Y), len(self.objective.powers)), bool)
        common, start_of_masks, seen = self.before(State.new(start), every)
        whole = start_of_masks >= self.steps or seen.over
        for threshold in thresholds:
            state, step, watch = common.copy(), start_of_masks, copy.copy(seen)
            masks = every if whole else self.masks(state, threshold)
            while step < self.steps and masks.any() and not watch.over:
                self.advance(state, masks, min(CHECK, self.steps - step))
                step = min(step + CHECK, self.steps)
                watch.look(step, self.norm(state, masks))
                if not watch.over and (step - start_of_masks) % PERIOD == 0:
                    masks = self.masks(state, threshold)
            coefficients = self.coefficients(state, masks)
            error = self.objective.distance(state.parameters, *self.test)
            yield Ended(threshold, coefficients, step, start_of_masks, error)

    def before(self, state: State, every: np.ndarray) -> tuple[State, int, "Watch"]:
        """The best state by the test error, the step of the first mask, and what was seen of the coefficients.

        Where training ends without a mask, the state is the last one.
        """
        best, least, step, watch = state, np.inf, 0, Watch(self.schedule)
        last = min(self.schedule.latest, self.steps)
        while step < last and not watch.over:
            self.advance(state, every, min(CHECK, last - step))
            step = min(step + CHECK, last)
            error = self.objective.distance(state.parameters, *self.test)
            if error <= least - self.schedule.gain:
                best, least = state.copy(), error
            elif step - best.step >= self.schedule.patience:
                break
            if self.schedule.from_start:
                watch.look(step, self.norm(state, every))
        return (state if watch.over or step >= self.steps else best), step, watch

    def advance(self, state: State, masks: np.ndarray, steps: int) -> None:
        for _ in range(steps):
            with np.errstate(over="ignore", invalid="ignore"):
                loss, gradient = self.objective.loss(state.parameters, masks)
            if not np.isfinite(loss):
                raise FloatingPointError(f"the loss is not finite at step {state.step + 1}")
            state.step += 1
            adam(state.parameters, state.moments, gradient, state.step)
        self.taken += steps

    def masks(self, state: State, threshold: float) -> np.ndarray:
        """Columns that stay for each state, chosen among all."""
        seen = self.objective.look(state.parameters)
        return np.array([mask(seen.theta, rate, threshold) for rate in seen.rate])

    def coefficients(self, state: State, masks: np.ndarray) -> np.ndarray:
        seen = self.objective.look(state.parameters)
        return np.array([fitted(seen.theta, rate, own) for rate, own in zip(seen.rate, masks, strict=True)])

    def norm(self, state: State, masks: np.ndarray) -> float:
        """L1 norm of the scaled coefficients of all states."""
        seen = self.objective.look(state.parameters)
        pairs = zip(seen.rate, masks, strict=True)
        return sum(np.abs(scaled(seen.theta, rate, fitted(seen.theta, rate, own))).sum() for rate, own in pairs)


class Watch:
    """Whether the coefficients have settled: their norm has stayed within a band for some steps.

    Attributes
    ----------
    over : whether training ends
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.since, self.norm, self.over = 0, np.inf, False

    def look(self, step: int, norm: float) -> None:
        if not abs(norm - self.norm) < self.schedule.settled:
            self.since, self.norm = step, norm
        self.over = step - self.since >= self.schedule.calm
