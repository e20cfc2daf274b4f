"""Networks whose layers are functions: values, derivatives, and gates that close their weights.

A hidden layer is linear and then applies fixed functions, each to one or two of its sums. Every weight has a gate from
the hard-concrete distribution (Louizos, Welling and Kingma, ICLR 2018): with u uniform on (0, 1),

    gate = clip(1.2 sigmoid((log(u/(1 - u)) + a) / (2/3)) - 0.1, 0, 1),   P(gate > 0) = sigmoid(a + 2/3 log 11).

What is minimised is the mean squared error and a penalty times the expected number of open gates.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from ..programs import elementary
from ..programs.compiled import compiled

TEMPERATURE, LOW, HIGH = 2 / 3, -0.1, 1.1
WIDTH, OFFSET = HIGH - LOW, -TEMPERATURE * math.log(-LOW / HIGH)
RAREST = 1e-6  # noise and probabilities stay as far from 0 and 1
SPREAD = 0.01  # of a at the start
TRUNCATED = 0.87962566103423978  # deviation of a standard normal number between -2 and 2
ROOT, POLE = 1e-8, 1e-5  # what keeps root, logarithm and quotient finite

# In the order of their codes; those of two arguments come last.
FUNCTIONS = ("id", "sin", "cos", "exp", "square", "sqrt", "log", "mul", "div")
ID, SIN, COS, EXP, SQUARE, SQRT, LOG, MUL, DIV = range(len(FUNCTIONS))


@dataclass(frozen=True)
class Network:
    """The shape of a network. Its parameters are one array: weights, the a of their gates, biases.

    Attributes
    ----------
    functions : of the units of a hidden layer, of `FUNCTIONS`
    layers : hidden ones
    inputs, outputs : columns of the data
    """

    functions: tuple[str, ...]
    layers: int
    inputs: int
    outputs: int

    @cached_property
    def units(self) -> np.ndarray:
        """Code, first and last argument among the sums of each unit, shape (n_units, 3)."""
        rows, read = [], 0
        for code in map(FUNCTIONS.index, self.functions):
            last = read + (code >= MUL)
            rows.append((code, read, last))
            read = last + 1
        return np.array(rows)

    @cached_property
    def shapes(self) -> np.ndarray:
        """Sums and inputs of each linear layer, the last one included, shape (layers + 1, 2)."""
        units, sums = len(self.units), self.units[-1, 2] + 1
        inner = [(sums, self.inputs), *[(sums, units)] * (self.layers - 1)]
        return np.array([*inner, (self.outputs, units)])

    @cached_property
    def weights(self) -> int:
        return int(np.prod(self.shapes, axis=1).sum())

    @cached_property
    def biases(self) -> int:
        return int(self.shapes[:, 0].sum())

    def parts(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights, the a of their gates, and biases, views of one network's parameters."""
        return parameters[: self.weights], parameters[self.weights : 2 * self.weights], parameters[2 * self.weights :]

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Parameters of a new network: truncated normal weights of variance 1/n_inputs, a near 0, biases 0."""
        scales = np.concatenate([np.full(out * into, into**-0.5) for out, into in self.shapes])
        normal = ndtri(rng.uniform(ndtr(-2.0), ndtr(2.0), self.weights)) / TRUNCATED
        return np.concatenate([normal * scales, SPREAD * rng.normal(size=self.weights), np.zeros(self.biases)])

    def predict(self, weights: np.ndarray, biases: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Outputs, shape (outputs, n), for X of shape (inputs, n); all of one type."""
        return forward(self.units, self.shapes, weights, biases, X)[2]

    def fault(self, weights: np.ndarray, biases: np.ndarray, X: np.ndarray) -> str | None:
        """What is the first not to be finite; None if all outputs are."""
        precision = {4: "single", 8: "double"}[X.itemsize] + " precision"
        if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
            return f"a derivative overflowed in {precision}"
        sums, values, outputs = forward(self.units, self.shapes, weights, biases, X)
        if np.isfinite(outputs).all():
            return None
        for z, h in zip(sums, values, strict=True):
            if not np.isfinite(z).all():
                break
            if not np.isfinite(h).all():
                return f"{self._largest(z, h)} overflowed in {precision}"
        return f"a weighted sum overflowed in {precision}"

    def largest(self, weights: np.ndarray, biases: np.ndarray, X: np.ndarray) -> str:
        """The unit of the last hidden layer that has the largest value, and its argument."""
        sums, values, _ = forward(self.units, self.shapes, weights, biases, X)
        return self._largest(sums[-1], values[-1])

    def _largest(self, sums: np.ndarray, values: np.ndarray) -> str:
        sizes = np.where(np.isfinite(values), abs(values), np.inf)
        unit, row = np.unravel_index(np.argmax(sizes), sizes.shape)
        _, first, last = self.units[unit]
        return f"{self.functions[unit]} of {' and '.join(f'{z:.3g}' for z in dict.fromkeys(sums[[first, last], row]))}"

    def equations(self, weights: np.ndarray, biases: np.ndarray, names: Sequence[str], plain: bool = False) -> list:
        """The outputs as SymPy expressions of the inputs.

        Parameters
        ----------
        weights, biases : ndarray
            Each becomes the shortest number that has its value in the arrays' precision.
        names : of the inputs
        plain : without what keeps roots, logarithms and quotients finite

        Returns
        -------
        list of sympy.Expr, one for each output

        Examples
        --------
        >>> network = Network(("sqrt", "mul"), layers=1, inputs=1, outputs=1)
        >>> network.equations(np.array([2.0, 1.0, 1.0, 3.0, 0.5]), np.array([0.0, 0.0, -1.0, 0.25]), ("x",), plain=True)
        [4.24264068711929*sqrt(x) + 0.5*x*(1.0*x - 1.0) + 0.25]
        """
        import sympy

        root, pole = (0, 0) if plain else (ROOT, POLE)
        size = (lambda x: x) if plain else sympy.Abs
        made = {
            "id": lambda a, _: a,
            "sin": lambda a, _: sympy.sin(a),
            "cos": lambda a, _: sympy.cos(a),
            "exp": lambda a, _: sympy.exp(a),
            "square": lambda a, _: a**2,
            "sqrt": lambda a, _: sympy.sqrt(size(a) + root),
            "log": lambda a, _: sympy.log(size(a) + root),
            "mul": lambda a, b: a * b,
            "div": lambda a, b: a / (size(b) + pole),
        }
        columns, i, j = list(map(sympy.Symbol, names)), 0, 0
        for layer, (out, into) in enumerate(self.shapes):
            kernel = weights[i : i + out * into].reshape(out, into)
            columns = [
                sympy.Add(*[_number(w) * c for w, c in zip(row, columns, strict=True) if w], _number(bias))
                for row, bias in zip(kernel, biases[j : j + out], strict=True)
            ]
            i, j = i + out * into, j + out
            if layer < self.layers:
                columns = [
                    made[name](columns[a], columns[b])
                    for name, (_, a, b) in zip(self.functions, self.units, strict=True)
                ]
        return columns


def _number(value: np.floating) -> Any:
    import sympy

    return sympy.Float(float(str(value))) if value else sympy.Integer(0)


def expected_mask(a: np.ndarray) -> np.ndarray:
    """Gates without noise: clip(1.2 sigmoid(a) - 0.1, 0, 1)."""
    return np.clip(WIDTH * (0.5 + 0.5 * np.tanh(a / 2)) + LOW, 0, 1)


# ------------------------------------------------------------------------------ one network in machine code


@compiled
def _apply(code, a, b, out, spare):
    """A function of one or two rows of sums, as a row."""
    n = len(out)
    if code == SIN:
        elementary.sines(a, out, n)
    elif code == COS:
        elementary.cosines(a, out, n)
    elif code == EXP:
        elementary.exps(a, out, n)
    elif code == LOG:
        for r in range(n):
            spare[r] = abs(a[r]) + ROOT
        elementary.logs(spare, out, n)
    elif code == ID:
        out[:] = a
    elif code == SQUARE:
        for r in range(n):
            out[r] = a[r] * a[r]
    elif code == SQRT:
        for r in range(n):
            out[r] = np.sqrt(abs(a[r]) + ROOT)
    elif code == MUL:
        for r in range(n):
            out[r] = a[r] * b[r]
    else:
        for r in range(n):
            out[r] = a[r] / (abs(b[r]) + POLE)


@compiled
def _pull(code, slope, y, a, b, by_a, by_b, spare):
    """Derivatives by the arguments of a function from those by its value y; a sum of 0 has the sign 0."""
    n = len(y)
    if code == SIN:
        elementary.cosines(a, spare, n)
        for r in range(n):
            by_a[r] = slope[r] * spare[r]
    elif code == COS:
        elementary.sines(a, spare, n)
        for r in range(n):
            by_a[r] = -slope[r] * spare[r]
    elif code == EXP:
        for r in range(n):
            by_a[r] = slope[r] * y[r]
    elif code == LOG:
        for r in range(n):
            by_a[r] = slope[r] * np.sign(a[r]) / (abs(a[r]) + ROOT)
    elif code == ID:
        by_a[:] = slope
    elif code == SQUARE:
        for r in range(n):
            by_a[r] = slope[r] * (a[r] + a[r])
    elif code == SQRT:
        for r in range(n):
            by_a[r] = slope[r] * np.sign(a[r]) / (y[r] + y[r])
    elif code == MUL:
        for r in range(n):
            by_a[r] = slope[r] * b[r]
            by_b[r] = slope[r] * a[r]
    else:
        for r in range(n):
            by_a[r] = slope[r] / (abs(b[r]) + POLE)
            by_b[r] = -by_a[r] * y[r] * np.sign(b[r])


@compiled
def forward(units, shapes, weights, biases, X):
    """Sums, shape (layers, n_sums, n), values, shape (layers, n_units, n), and outputs of one network."""
    layers, n = len(shapes) - 1, X.shape[1]
    sums, values = np.empty((layers, shapes[0, 0], n), X.dtype), np.empty((layers, len(units), n), X.dtype)
    outputs, spare = np.empty((shapes[layers, 0], n), X.dtype), np.empty(n, X.dtype)
    i = j = 0
    for layer in range(layers + 1):
        out, into = shapes[layer]
        h = X if layer == 0 else values[layer - 1]
        z = outputs if layer == layers else sums[layer]
        np.dot(weights[i : i + out * into].reshape(out, into), h, z)
        for k in range(out):
            z[k] += biases[j + k]
        i, j = i + out * into, j + out
        if layer < layers:
            for k in range(len(units)):
                _apply(units[k, 0], z[units[k, 1]], z[units[k, 2]], values[layer, k], spare)
    return sums, values, outputs


@compiled
def backward(units, shapes, weights, X, sums, values, slope, by_weights, by_biases):
    """Fill derivatives by weights and biases from those by the outputs, `slope`, shape (outputs, n)."""
    layers = len(shapes) - 1
    i, j = len(by_weights), len(by_biases)
    spare, inner = np.empty_like(X[0]), np.empty_like(sums[0])
    for layer in range(layers, -1, -1):
        out, into = shapes[layer]
        h = X if layer == 0 else values[layer - 1]
        dz = slope if layer == layers else inner
        i, j = i - out * into, j - out
        np.dot(dz, h.T, by_weights[i : i + out * into].reshape(out, into))
        for k in range(out):
            by_biases[j + k] = dz[k].sum()
        if layer:
            dh, z = np.dot(weights[i : i + out * into].reshape(out, into).T, dz), sums[layer - 1]
            inner = np.empty_like(z)
            for k in range(into):
                code, first, last = units[k]
                _pull(code, dh[k], h[k], z[first], z[last], inner[first], inner[last], spare)


@compiled
def squared(units, shapes, weights, biases, X, Y, by_weights, by_biases):
    """The mean squared error of one network; fill its derivatives by weights and biases."""
    sums, values, error = forward(units, shapes, weights, biases, X)
    total = 0.0
    for k in range(len(Y)):
        part = error[k] - Y[k]
        total += np.square(part).sum()
        error[k] = part * X.dtype.type(2 / Y.size)
    backward(units, shapes, weights, X, sums, values, error, by_weights, by_biases)
    return total / Y.size


@compiled
def gated(a, noise, mask, slopes):
    """Fill gates and their derivatives by a; `noise` is log(u/(1 - u))."""
    n = len(a)
    power = (-(a + noise) * a.dtype.type(1 / TEMPERATURE)).astype(a.dtype)
    e = np.empty_like(a)
    elementary.exps(power, e, n)
    for k in range(n):
        s = 1 / (1 + e[k])
        stretched = WIDTH * s + LOW
        mask[k] = min(max(stretched, 0.0), 1.0)
        slopes[k] = WIDTH / TEMPERATURE * s * (1 - s) if 0 <= stretched <= 1 else 0.0


@compiled
def open_gates(a, slopes):
    """Expected number of open gates; fill its derivatives by a.

    >>> round(open_gates(np.zeros(10), np.empty(10)), 2)
    8.32
    """
    e, total = np.empty_like(a), 0.0
    elementary.exps(-(a + a.dtype.type(OFFSET)), e, len(a))
    for k in range(len(a)):
        p = 1 / (1 + e[k])
        total += min(max(p, RAREST), 1 - RAREST)
        slopes[k] = p * (1 - p) if RAREST <= p <= 1 - RAREST else 0.0
    return total


@compiled
def objective(units, shapes, parameters, noise, X, Y, penalty, gradient):
    """Mean squared error and penalty of one network for one draw of its gates; fill the gradient.

    Parameters
    ----------
    units, shapes : of the network
    parameters, gradient : shape (2 weights + biases,)
    noise : log(u/(1 - u)) of each gate
    X, Y : shapes (inputs, n) and (outputs, n)
    penalty : for an open gate

    All arrays have one type, that of the arithmetic.
    """
    n = len(noise)
    weights, a, biases = parameters[:n], parameters[n : 2 * n], parameters[2 * n :]
    mask, slopes, by_masked, spread = np.empty_like(a), np.empty_like(a), np.empty_like(a), np.empty_like(a)
    gated(a, noise, mask, slopes)
    loss = squared(units, shapes, weights * mask, biases, X, Y, by_masked, gradient[2 * n :])
    loss += penalty * open_gates(a, spread)
    for k in range(n):
        gradient[k] = by_masked[k] * mask[k]
        gradient[n + k] = by_masked[k] * weights[k] * slopes[k] + penalty * spread[k]
    return loss
