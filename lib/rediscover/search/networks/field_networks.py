"""Networks of tanh units over space and time, with derivatives of their outputs along given directions.

Along a direction d, a value is a truncated Taylor series (a jet), v(x + e d) = v_0 + v_1 e + v_2 e^2 + ..., and with
y = tanh(z), s = 1 - y^2,

    k y_k = sum over j from 1 to k of j z_j s_{k-j},        dy_k/dz_j = s_{k-j},

so that going forward and back needs sums of products only (Griewank and Walther, Evaluating Derivatives, ch. 13).
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..programs.compiled import compiled
from ..programs.elementary import exp_within

FLAT = 20.0  # tanh is 1 beyond, to the last digit


class Direction(NamedTuple):
    """Where derivatives are taken, and up to which order.

    Attributes
    ----------
    along : of each coordinate, its rate
    order : at least 1
    """

    along: tuple[float, ...]
    order: int


@dataclass(frozen=True)
class FieldNetwork:
    """The shape of a network. Its parameters are one array: of each layer, weights and then biases.

    Jets are arrays of shape (units, channels, n): channel 0 has the values, and after it each direction has its
    coefficients 1, 2, ... up to its order.

    Attributes
    ----------
    inputs, outputs : numbers of coordinates and of states
    directions : of `Direction`
    width : units of a hidden layer
    depth : hidden layers
    """

    inputs: int
    outputs: int
    directions: tuple[Direction, ...]
    width: int = 50
    depth: int = 4

    @cached_property
    def orders(self) -> np.ndarray:
        return np.array([direction.order for direction in self.directions], np.int64)

    @cached_property
    def channels(self) -> int:
        return 1 + int(self.orders.sum())

    @cached_property
    def shapes(self) -> list[tuple[int, int]]:
        """Units and inputs of each layer, the last one included."""
        sizes = [self.inputs, *[self.width] * self.depth, self.outputs]
        return [(out, into) for into, out in itertools.pairwise(sizes)]

    @cached_property
    def size(self) -> int:
        return sum(out * (into + 1) for out, into in self.shapes)

    def layers(self, parameters: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Weights, shape (units, inputs), and biases of each layer; views of the parameters."""
        found, i = [], 0
        for out, into in self.shapes:
            j = i + out * into
            found.append((parameters[i:j].reshape(out, into), parameters[j : j + out]))
            i = j + out
        return found

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Parameters of a new network, uniform within 1/sqrt(inputs of the layer), as PyTorch draws them."""
        return np.concatenate([rng.uniform(-1, 1, out * (into + 1)) / math.sqrt(into) for out, into in self.shapes])

    def lifted(self, X: np.ndarray) -> np.ndarray:
        """Jets of the coordinates themselves, of shape (inputs, n) without derivatives."""
        jets = np.zeros((self.inputs, self.channels, X.shape[1]), X.dtype)
        jets[:, 0] = X
        for c, direction in zip(self.firsts, self.directions, strict=True):
            jets[:, c] = np.array(direction.along, X.dtype)[:, None]
        return jets

    @cached_property
    def firsts(self) -> list[int]:
        """Channel of the first coefficient of each direction."""
        return (1 + np.cumsum(self.orders) - self.orders).tolist()

    def forward(self, parameters: np.ndarray, jets: np.ndarray) -> list[np.ndarray]:
        """Jets of the coordinates, of every hidden layer and of the outputs.

        Parameters
        ----------
        parameters : ndarray, shape (size,)
        jets : ndarray, shape (inputs, channels, n), of `lifted`, of the type of the parameters
        """
        found = [jets]
        _, channels, n = jets.shape
        for weights, biases in self.layers(parameters):
            sums = (weights @ found[-1].reshape(len(found[-1]), -1)).reshape(len(weights), channels, n)
            sums[:, 0] += biases[:, None]
            found.append(sums if len(found) > self.depth else bend(sums, self.orders))
        return found

    def backward(self, parameters: np.ndarray, found: Sequence[np.ndarray], slope: np.ndarray) -> np.ndarray:
        """Derivatives by the parameters from those by the jets of the outputs, `slope`, of their shape."""
        gradient = np.empty_like(parameters)
        parts = list(zip(self.layers(parameters), self.layers(gradient), found[:-1], strict=True))
        for depth, ((weights, _), (by_weights, by_biases), inner) in reversed(list(enumerate(parts))):
            flat = slope.reshape(len(slope), -1)
            by_weights[:] = flat @ inner.reshape(len(inner), -1).T
            by_biases[:] = slope[:, 0].sum(axis=1)
            if depth:
                slope = (weights.T @ flat).reshape(inner.shape)
                unbend(inner, self.orders, slope)
        return gradient


@compiled
def _add_product(out, a, b, factor):
    for p in range(len(out)):
        out[p] += factor * a[p] * b[p]


@compiled
def _square(y, first, k, s):
    """Fill s with coefficient k of 1 - y^2, k at least 1; y has the channels of one unit."""
    real = s.dtype.type
    s[:] = 0
    _add_product(s, y[0], y[first + k - 1], real(-2))
    for i in range(1, (k + 1) // 2):
        _add_product(s, y[first + i - 1], y[first + k - i - 1], real(-2))
    if k % 2 == 0:
        _add_product(s, y[first + k // 2 - 1], y[first + k // 2 - 1], real(-1))


@compiled
def _slopes(y, s):
    for p in range(len(y)):
        s[p] = 1 - y[p] * y[p]


@compiled
def bend(z, orders):
    """The jets of tanh(z), shape (units, channels, n)."""
    y = np.zeros_like(z)
    real, n = z.dtype.type, z.shape[2]
    s = np.empty((z.shape[1], n), z.dtype)
    for unit in range(len(z)):
        own, sums = y[unit], z[unit]
        for p in range(n):
            e = exp_within(2.0 * min(max(sums[0, p], -FLAT), FLAT))
            own[0, p] = (e - 1.0) / (e + 1.0)
        _slopes(own[0], s[0])
        first = 1
        for order in orders:
            for k in range(1, order + 1):
                for j in range(1, k + 1):
                    _add_product(own[first + k - 1], sums[first + j - 1], s[k - j], real(j / k))
                if k < order:
                    _square(own, first, k, s[k])
            first += order
    return y


@compiled
def unbend(y, orders, slope):
    """Derivatives by the sums from those by their tanh y, in place."""
    n = y.shape[2]
    one = y.dtype.type(1)
    s, total = np.empty((y.shape[1], n), y.dtype), np.empty(n, y.dtype)
    row = np.empty(n, y.dtype)
    for unit in range(len(y)):
        own, by = y[unit], slope[unit]
        _slopes(own[0], s[0])
        total[:] = 0
        _add_product(total, by[0], s[0], one)
        first = 1
        for order in orders:
            for k in range(1, order + 1):
                _square(own, first, k, s[k])
                _add_product(total, by[first + k - 1], s[k], one)
            for j in range(1, order + 1):
                row[:] = 0
                for k in range(j, order + 1):
                    _add_product(row, by[first + k - 1], s[k - j], one)
                by[first + j - 1] = row
            first += order
        by[0] = total
