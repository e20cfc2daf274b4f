"""Training of gated networks of functions: Adam, and L-BFGS at the end."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..programs.compiled import compiled
from .function_networks import RAREST, Network, expected_mask, gated, objective, squared

RATE, FIRST, SECOND, TINY = 1e-2, 0.9, 0.999, 1e-8  # of Adam
MEMORY = 20  # of L-BFGS
LINE_SEARCH = 20  # calls that SciPy's may need beyond its limit, to end its last line search
CHUNK = 100  # steps whose noise is drawn at once


class Trained(NamedTuple):
    """Networks after Adam.

    Attributes
    ----------
    parameters : ndarray, shape (B, size); those before the fault, where there is one
    noise : ndarray, shape (weights,)
        Of the last step.
    faults : of each network, why it was given up, or None
    steps : taken by each network
    """

    parameters: np.ndarray
    noise: np.ndarray
    faults: list[str | None]
    steps: np.ndarray


def train(
    network: Network, X, Y, penalties: Sequence[float], steps: int, rng: np.random.Generator, dtype=np.float32
) -> Trained:
    """Adam on all rows at once, with new noise at each step, for networks that differ in their penalties.

    They start alike and meet the same noise. One whose loss is not finite is given up; the others go on.

    Parameters
    ----------
    network : Network
    X, Y : ndarray, shapes (inputs, n) and (outputs, n)
    penalties : for an open gate, one for each network
    steps : at least 1
    rng : Generator
    dtype : of all arithmetic

    Returns
    -------
    Trained
    """
    X, Y, costs = (np.ascontiguousarray(each, dtype) for each in (X, Y, penalties))
    parameters = np.tile(network.start(rng).astype(dtype), (len(costs), 1))
    moments = np.zeros((2, *parameters.shape), dtype)
    lost = np.full(len(costs), -1)
    faults: list[str | None] = [None] * len(costs)
    for first in range(0, steps, CHUNK):
        u = np.clip(rng.random((min(CHUNK, steps - first), network.weights)), RAREST, 1 - RAREST)
        noise = np.log(u / (1 - u)).astype(dtype)
        _adam(network.units, network.shapes, parameters, moments, noise, X, Y, costs, first, lost)
        for i in np.flatnonzero(lost >= first):
            faults[i] = f"step {lost[i] + 1}: {_cause(network, parameters[i], noise[lost[i] - first], X)}"
        if (lost >= 0).all():
            break
    return Trained(parameters, noise[-1], faults, np.where(lost < 0, steps, lost + 1))


@compiled
def _adam(units, shapes, parameters, moments, noise, X, Y, penalties, first, lost):
    """A chunk of steps after Kingma and Ba (2015), in place; `lost` holds the step at which a loss was not finite."""
    real = X.dtype.type
    gradient = np.empty_like(parameters[0])
    keep, forget, keep_square, forget_square = real(FIRST), real(1 - FIRST), real(SECOND), real(1 - SECOND)
    for step in range(first, first + len(noise)):
        rate = real(RATE / (1 - FIRST ** (step + 1)))
        scale = real(1 / (1 - SECOND ** (step + 1)))
        for i in range(len(parameters)):
            if lost[i] >= 0:
                continue
            own, mean, square = parameters[i], moments[0, i], moments[1, i]
            loss = objective(units, shapes, own, noise[step - first], X, Y, penalties[i], gradient)
            if not np.isfinite(real(loss)):
                lost[i] = step
                continue
            for k in range(len(own)):
                mean[k] = keep * mean[k] + forget * gradient[k]
                square[k] = keep_square * square[k] + forget_square * gradient[k] * gradient[k]
                own[k] -= rate * mean[k] / (np.sqrt(square[k] * scale) + real(TINY))


def _cause(network: Network, own: np.ndarray, noise: np.ndarray, X: np.ndarray) -> str:
    """Why a loss is not finite."""
    weights, a, biases = network.parts(own)
    mask = np.empty_like(a)
    gated(a, noise, mask, np.empty_like(a))
    found = network.fault(weights * mask, biases, X)
    return found or f"the squared error overflowed, of {network.largest(weights * mask, biases, X)}"


def polish(
    network: Network, own: np.ndarray, noise: np.ndarray, X, Y, penalty: float, calls: int
) -> tuple[np.ndarray, int]:
    """L-BFGS on the loss for one draw of the gates, as EQL's code has it.

    Parameters
    ----------
    network : Network
    own : ndarray, shape (size,), of the type of all arithmetic
    noise : ndarray, shape (weights,)
    X, Y : ndarray, shapes (inputs, n) and (outputs, n)
    penalty : for an open gate
    calls : of the loss; up to `LINE_SEARCH` more

    Returns
    -------
    own : ndarray, shape (size,)
    calls : int
    """
    dtype = own.dtype
    X, Y, gradient = np.ascontiguousarray(X, dtype), np.ascontiguousarray(Y, dtype), np.empty_like(own)

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        shape = network.units, network.shapes
        value = objective(*shape, x.astype(dtype), noise, X, Y, dtype.type(penalty), gradient)
        return value, gradient.astype(float)

    found, count = _descend(loss, own, calls)
    return found.astype(dtype), count


def polish_closed(network: Network, own: np.ndarray, X, Y, calls: int) -> tuple[np.ndarray, np.ndarray, int]:
    """L-BFGS on the squared error alone, in double precision: closed gates stay closed, the others become weights.

    Parameters
    ----------
    network, own, X, Y, calls : as for `polish`

    Returns
    -------
    weights : ndarray, shape (weights,)
        Times their gates; 0 where these are closed.
    biases : ndarray, shape (biases,)
    calls : int
    """
    weights, a, biases = (part.astype(float) for part in network.parts(own))
    mask = expected_mask(a)
    kept = mask > 0
    X, Y = np.ascontiguousarray(X, float), np.ascontiguousarray(Y, float)
    by_weights, by_biases = np.empty_like(weights), np.empty_like(biases)

    def split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        full = np.zeros_like(weights)
        full[kept] = x[: kept.sum()]
        return full, x[kept.sum() :]

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        value = squared(network.units, network.shapes, *split(x), X, Y, by_weights, by_biases)
        return value, np.concatenate([by_weights[kept], by_biases])

    found, count = _descend(loss, np.concatenate([(weights * mask)[kept], biases]), calls)
    return *split(found), count


def _descend(loss: Callable, start: np.ndarray, calls: int) -> tuple[np.ndarray, int]:
    options = {"maxfun": calls, "maxcor": MEMORY, "ftol": np.finfo(float).eps, "gtol": 1e-14, "maxls": LINE_SEARCH}
    with np.errstate(all="ignore"):
        found = minimize(loss, start.astype(float), jac=True, method="L-BFGS-B", options=options)
    return found.x, int(found.nfev)
