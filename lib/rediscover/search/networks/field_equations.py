"""What a field network is trained on: its distance from data, and how far it is from any equation of a library.

The rates of the states are fitted by least squares with the columns of the library, at every step. The fitted
coefficients minimise the second part of the loss, so its gradient is the one with these coefficients held fixed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..programs.compiled import compiled
from .field_networks import Direction, FieldNetwork

SINGULAR = 1e-10  # relative singular values below are 0 in the fit of coefficients


class Setup(NamedTuple):
    """Which derivatives of its states a library takes.

    Attributes
    ----------
    directions : of the network, that of time first; coordinates are (t, x) or (t, x, y)
    rows : ndarray, shape (2 + derivatives, channels)
        From the jets of a state to its value, its rate and its derivatives in space.
    multi : of each derivative, its order along each axis
    """

    directions: tuple[Direction, ...]
    rows: np.ndarray
    multi: tuple[tuple[int, ...], ...]


def setup(axes: int, order: int) -> Setup:
    """All derivatives up to an order; in two dimensions, where `order` is 2, with the mixed one from the diagonal.

    Raises
    ------
    ValueError
        In two dimensions for another order than 2.
    """
    if axes == 1:
        rows = np.diag([1.0, 1.0, *[math.factorial(k) for k in range(1, order + 1)]])
        return Setup((Direction((1, 0), 1), Direction((0, 1), order)), rows, tuple((k,) for k in range(1, order + 1)))
    if (axes, order) != (2, 2):
        raise ValueError(f"derivatives up to order {order} in {axes} dimensions; there are those of order 2 in two")
    t, x, y, diagonal = (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)
    rows = np.zeros((7, 8))
    rows[[0, 1, 2, 3], [0, 1, 2, 4]] = 1
    rows[[4, 5], [3, 5]] = 2
    rows[6, [7, 3, 5]] = 1, -1, -1
    directions = (Direction(t, 1), Direction(x, 2), Direction(y, 2), Direction(diagonal, 2))
    return Setup(directions, rows, ((1, 0), (0, 1), (2, 0), (0, 2), (1, 1)))


@compiled
def columns(powers, values):
    """Products of powers of values, shape (columns, n).

    Parameters
    ----------
    powers : ndarray of int, shape (columns, quantities)
    values : ndarray, shape (quantities, n)
    """
    made = np.ones((len(powers), values.shape[1]))
    for c in range(len(powers)):
        for q in range(len(values)):
            for _ in range(powers[c, q]):
                made[c] *= values[q]
    return made


@compiled
def pull(powers, values, coefficients, by):
    """Add to `by`, shape (quantities, n), the derivatives by the values of a sum of columns times coefficients."""
    product = np.empty(values.shape[1])
    for c in range(len(powers)):
        for q in range(len(values)):
            if coefficients[c] != 0 and powers[c, q]:
                product[:] = coefficients[c] * powers[c, q]
                for other in range(len(values)):
                    for _ in range(powers[c, other] - (other == q)):
                        product *= values[other]
                by[q] += product


def fitted(theta: np.ndarray, rate: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Coefficients of least squares on the columns of `mask`, 0 on the others; theta has shape (columns, n)."""
    found = np.zeros(len(theta))
    chosen = theta[mask]
    lengths = np.sqrt(np.square(chosen).sum(axis=1))
    lengths[lengths == 0] = 1
    found[mask] = np.linalg.lstsq((chosen / lengths[:, None]).T, rate, rcond=SINGULAR)[0] / lengths
    return found


class Looked(NamedTuple):
    """A network on some points.

    Attributes
    ----------
    found : jets of all its layers
    value, rate : ndarray, shapes (states, n)
    quantities : ndarray, shape (states (1 + derivatives), n)
        All states, then all derivatives of the first state, and so on.
    theta : ndarray, shape (columns, n)
    """

    found: list[np.ndarray]
    value: np.ndarray
    rate: np.ndarray
    quantities: np.ndarray
    theta: np.ndarray


@dataclass(frozen=True, eq=False)
class Objective:
    """The loss of a network on training points.

    Attributes
    ----------
    network : FieldNetwork
    rows : of its `Setup`
    powers : ndarray of int, shape (columns, quantities)
    offset : ndarray, shape (states,)
        Added to an output where the library takes the state.
    X, Y : ndarray, shapes (1 + axes, n) and (states, n)
        Their type is that of the network's arithmetic; that of the library is in double precision.
    """

    network: FieldNetwork
    rows: np.ndarray
    powers: np.ndarray
    offset: np.ndarray
    X: np.ndarray
    Y: np.ndarray

    @cached_property
    def jets(self) -> np.ndarray:
        return self.network.lifted(self.X)

    def look(self, parameters: np.ndarray) -> Looked:
        found = self.network.forward(parameters, self.jets)
        made = np.einsum("dc,scn->sdn", self.rows, found[-1].astype(float))
        values = made[:, 0] + self.offset[:, None]
        quantities = np.concatenate([values, made[:, 2:].reshape(-1, made.shape[2])])
        return Looked(found, made[:, 0], made[:, 1], quantities, columns(self.powers, quantities))

    def loss(self, parameters: np.ndarray, masks: np.ndarray) -> tuple[float, np.ndarray]:
        """Mean squared errors of values and of rates, summed over the states, and the gradient.

        Parameters
        ----------
        parameters : ndarray, shape (network.size,)
        masks : ndarray of bool, shape (states, columns)
            Columns that the rates of each state are fitted with.

        Returns
        -------
        loss : float
            Infinite, with a gradient of zeros, where the network or its library is not finite.
        gradient : ndarray, shape (network.size,)
        """
        seen = self.look(parameters)
        if not (np.isfinite(seen.theta).all() and np.isfinite(seen.rate).all()):
            return np.inf, np.zeros_like(parameters)
        states, n = self.Y.shape
        error = seen.value - self.Y
        by = np.zeros((states, len(self.rows), n))
        by_quantities = np.zeros_like(seen.quantities)
        total = np.square(error).sum() / n
        for state, mask in enumerate(masks):
            coefficients = fitted(seen.theta, seen.rate[state], mask)
            left = seen.rate[state] - coefficients @ seen.theta
            total += np.square(left).sum() / n
            own = np.zeros_like(by_quantities)
            pull(self.powers, seen.quantities, coefficients, own)
            by_quantities -= own * left * (2 / n)
            by[state, 1] = left * (2 / n)
        by[:, 0] = error * (2 / n) + by_quantities[:states]
        by[:, 2:] = by_quantities[states:].reshape(states, -1, n)
        slope = np.einsum("dc,sdn->scn", self.rows, by).astype(parameters.dtype)
        return float(total), self.network.backward(parameters, seen.found, np.ascontiguousarray(slope))

    def distance(self, parameters: np.ndarray, X: np.ndarray, Y: np.ndarray) -> float:
        """Mean squared error of the values on other points, summed over the states."""
        plain = FieldNetwork(self.network.inputs, self.network.outputs, (), self.network.width, self.network.depth)
        value = plain.forward(parameters, plain.lifted(X))[-1][:, 0]
        return float(np.square(value.astype(float) - Y).sum() / Y.shape[1])


def cells(degree: int, states: int, derivatives: int) -> np.ndarray:
    """Powers of the columns of a library, derivatives running fastest, shape (columns, states (1 + derivatives)).

    One state: its powers up to `degree` times 1 or one derivative. Several: products of their powers, products of
    derivatives of two states, and products of one power with one derivative, none of them twice.
    """
    width = states * (1 + derivatives)
    one = np.eye(width, dtype=np.int64)
    none = np.zeros(width, dtype=np.int64)

    def powers(state: int, least: int = 0) -> list[np.ndarray]:
        return [p * one[state] for p in range(least, degree + 1)]

    def slopes(state: int, alone: bool = True) -> list[np.ndarray]:
        start = states + state * derivatives
        return [none] * alone + [one[start + k] for k in range(derivatives)]

    if states == 1:
        return np.array([p + d for p in powers(0) for d in slopes(0)])
    made: list[np.ndarray] = [none]
    for state in range(states):
        made = [first + p for first in made for p in powers(state)]
    for i in range(states):
        for j in range(i + 1, states):
            made += [a + b for a in slopes(i) for b in slopes(j)][1:]
    made += [p + d for i in range(states) for p in powers(i, 1) for j in range(states) for d in slopes(j, alone=False)]
    return np.array(_distinct(made))


def _distinct(made: Sequence[np.ndarray]) -> list[np.ndarray]:
    return list({each.tobytes(): each for each in reversed(made)}.values())[::-1]
