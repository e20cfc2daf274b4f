"""A small recurrent network with its own backward pass, and Adam.

One layer of long short-term memory reads the parent and the sibling of the next token and a dense layer gives a
logit for every token. Gates are those of Gers et al. (1999); all weights of the layer start at zero and the
forget gate is biased by 1, the dense weights start uniform after Glorot and Bengio (2010). A new network
therefore says nothing: its logits are all zero.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

Weights = Mapping[str, np.ndarray]
FORGET_BIAS = 1.0


def initial(n_tokens: int, units: int, rng: np.random.Generator, dtype=np.float32) -> dict[str, np.ndarray]:
    """Weights of a new network.

    Returns
    -------
    dict
        ``parent`` and ``sibling``, shape (n_tokens + 1, 4 units), whose last rows stand for none; ``hidden``
        (units, 4 units); ``bias`` (4 units,); ``dense`` (units, n_tokens); ``dense_bias`` (n_tokens,). The
        gates lie in the order input, forget, output, candidate.
    """
    limit = np.sqrt(6.0 / (units + n_tokens))
    return {
        "parent": np.zeros((n_tokens + 1, 4 * units), dtype),
        "sibling": np.zeros((n_tokens + 1, 4 * units), dtype),
        "hidden": np.zeros((units, 4 * units), dtype),
        "bias": np.zeros(4 * units, dtype),
        "dense": rng.uniform(-limit, limit, (units, n_tokens)).astype(dtype),
        "dense_bias": np.zeros(n_tokens, dtype),
    }


class Step(NamedTuple):
    """What one step computed, as the backward pass needs it; gates have shape (n, 4 units)."""

    before: np.ndarray
    cell_before: np.ndarray
    gates: np.ndarray
    squashed: np.ndarray  # tanh of the new cell
    output: np.ndarray


def drive(weights: Weights) -> np.ndarray:
    """What every pair of parent and sibling adds to the gates, shape (n_tokens + 1, n_tokens + 1, 4 units)."""
    table = weights["parent"][:, None] + weights["sibling"][None] + weights["bias"]
    units = len(weights["hidden"])
    table[..., units : 2 * units] += table.dtype.type(FORGET_BIAS)
    return table


def advance(weights: Weights, added: np.ndarray, output: np.ndarray, cell: np.ndarray) -> tuple[Step, np.ndarray]:
    """One step of n sequences: what it computed, and the new cells.

    i, f, o = sigmoid(z), g = tanh(z); cell' = f cell + i g; output' = o tanh(cell').

    Parameters
    ----------
    added : rows of `drive`, shape (n, 4 units)
    output, cell : of the step before, shape (n, units)
    """
    units = output.shape[1]
    gates = output @ weights["hidden"]
    gates += added
    sigmoids = gates[:, : 3 * units]
    sigmoids *= 0.5  # sigmoid(z) = (1 + tanh(z/2)) / 2: one call for all four gates
    np.tanh(gates, out=gates)
    sigmoids *= 0.5
    sigmoids += 0.5
    i, f, o, g = (gates[:, k * units : (k + 1) * units] for k in range(4))
    new_cell = f * cell
    new_cell += i * g
    squashed = np.tanh(new_cell)
    return Step(output, cell, gates, squashed, o * squashed), new_cell


def logits(weights: Weights, output: np.ndarray) -> np.ndarray:
    """Logits of all tokens from the layer's output, shape (n, n_tokens)."""
    return output @ weights["dense"] + weights["dense_bias"]


def unroll(weights: Weights, parents: np.ndarray, siblings: np.ndarray) -> tuple[np.ndarray, list[Step]]:
    """Logits of whole sequences, and the steps.

    Parameters
    ----------
    parents, siblings : shape (places, n); -1 for none

    Returns
    -------
    logits : shape (places, n, n_tokens)
    steps : one for each place
    """
    units = len(weights["hidden"])
    table = drive(weights)
    output = cell = np.zeros((parents.shape[1], units), table.dtype)
    steps = []
    for parent, sibling in zip(parents, siblings, strict=True):
        step, cell = advance(weights, table[parent, sibling], output, cell)
        output = step.output
        steps.append(step)
    return logits(weights, np.stack([step.output for step in steps])), steps


def backward(
    weights: Weights, parents: np.ndarray, siblings: np.ndarray, steps: list[Step], slopes: np.ndarray
) -> dict[str, np.ndarray]:
    """Derivatives of a loss with respect to the weights, by backpropagation through time.

    Parameters
    ----------
    parents, siblings, steps : as given to and returned by `unroll`
    slopes : derivatives of the loss with respect to the logits, shape (places, n, n_tokens)

    Returns
    -------
    dict of arrays shaped as the weights
    """
    units = len(weights["hidden"])
    slopes = slopes.astype(weights["dense"].dtype, copy=False)
    d_gates = np.empty((*parents.shape, 4 * units), slopes.dtype)
    d_outputs = slopes @ weights["dense"].T
    d_output = np.zeros((parents.shape[1], units), slopes.dtype)
    d_cell = np.zeros_like(d_output)
    for t in reversed(range(len(steps))):
        step = steps[t]
        i, f, o, g = (step.gates[:, k * units : (k + 1) * units] for k in range(4))
        d_output = d_output + d_outputs[t]
        d_cell = d_cell + d_output * o * (1 - step.squashed**2)
        d_gates[t] = np.concatenate(
            [
                d_cell * g * i * (1 - i),
                d_cell * step.cell_before * f * (1 - f),
                d_output * step.squashed * o * (1 - o),
                d_cell * i * (1 - g**2),
            ],
            axis=1,
        )
        d_cell = d_cell * f
        d_output = d_gates[t] @ weights["hidden"].T
    flat = d_gates.reshape(-1, 4 * units)
    before = np.concatenate([step.before for step in steps])
    output = np.concatenate([step.output for step in steps])
    flat_slopes = slopes.reshape(-1, slopes.shape[-1])
    return {
        "parent": _hot(parents, weights["parent"]).T @ flat,
        "sibling": _hot(siblings, weights["sibling"]).T @ flat,
        "hidden": before.T @ flat,
        "bias": flat.sum(axis=0),
        "dense": output.T @ flat_slopes,
        "dense_bias": flat_slopes.sum(axis=0),
    }


def _hot(tokens: np.ndarray, like: np.ndarray) -> np.ndarray:
    """One row for each entry, 1 at its token; -1 is the last."""
    return np.eye(len(like), dtype=like.dtype)[tokens.ravel()]


class Adam:
    """Adaptive steps after Kingma and Ba (2015); changes the weights in place."""

    def __init__(self, weights: Weights, rate: float, decays: tuple[float, float] = (0.9, 0.999)):
        self.weights, self.rate, self.decays, self.steps = weights, rate, decays, 0
        self.mean = {name: np.zeros_like(value) for name, value in weights.items()}
        self.square = {name: np.zeros_like(value) for name, value in weights.items()}

    def step(self, gradient: Weights, tiny: float = 1e-8) -> None:
        """One step down `gradient`, a dict of arrays shaped as the weights."""
        self.steps += 1
        first, second = self.decays
        rate = self.rate * np.sqrt(1 - second**self.steps) / (1 - first**self.steps)
        for name, slope in gradient.items():
            mean, square = self.mean[name], self.square[name]
            mean += (1 - first) * (slope - mean)
            square += (1 - second) * (slope * slope - square)
            # A Python float keeps single precision single.
            self.weights[name][...] -= float(rate) * mean / (np.sqrt(square) + tiny)
