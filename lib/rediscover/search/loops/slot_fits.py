"""Constants of programs that were read, by BFGS with exact derivatives.

A `Reading` has slots where a program has constants to be fitted. What the operators of `programs` can write is
computed by compiled code, the rest (conditions, steps) by numpy; the search is the same for both.
"""

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...expressions import ExpressionError
from ...expressions.numerics import Program
from ...expressions.programs import Reading
from ..programs.compiled import compiled
from ..programs.evaluation import BLOCK, backward, forward, structure
from ..programs.operators import CONSTANT, VARIABLE
from ..programs.programs import from_text

# LLM-SR limits a fit to 30 seconds; here steps do, of which its fits were seen to take 70 on average.
ITERATIONS, TRIALS = 100, 25
GRADIENT = 1e-5  # largest derivative at which SciPy's BFGS, which LLM-SR and OpenEvolve call, is content
STALLED = 1e-12  # relative decrease in one step that ends a search
ENOUGH, STEEP = 1e-4, 0.9  # Wolfe's conditions

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]  # constants -> mean squared error, its gradient


class Table(NamedTuple):
    """Data as compiled code takes them: names of the columns, X of shape (columns, rows), y of shape (rows,)."""

    names: tuple[str, ...]
    X: np.ndarray
    y: np.ndarray


def table(names: Sequence[str], X, y) -> Table:
    """Finite numbers, X of shape (rows, columns) and y of shape (rows,), as a `Table`."""
    X, y = np.ascontiguousarray(np.asarray(X, float).T), np.ascontiguousarray(y, float)
    if X.shape != (len(names), len(y)) or not len(y) or not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise ValueError(f"X {X.shape[::-1]} and y {y.shape} must be finite, {len(names)} columns and some rows")
    return Table(tuple(names), X, y)


# ---------------------------------------------------------------------------------------------------- objectives


class Postfix(NamedTuple):
    """A program in postfix order, and for each of its constant tokens that is fitted the number of the slot."""

    tokens: np.ndarray
    constants: np.ndarray
    places: np.ndarray
    slots: np.ndarray


def postfix(reading: Reading, names: Sequence[str]) -> Postfix | None:
    """The program of a reading; None where it holds what no operator stands for."""
    letters = [slot.name for slot in reading.slots]
    try:
        batch = from_text([str(reading.expression)], [*names, *letters])
    except ExpressionError:
        return None
    tokens, constants = batch.tokens[0], batch.constants[0]
    places = np.flatnonzero(tokens >= VARIABLE + len(names))
    slots = tokens[places].astype(np.int64) - VARIABLE - len(names)
    tokens[places] = CONSTANT
    return Postfix(tokens, constants, places, slots)


@compiled
def _mean_square(program, X, y, lefts, V, A, gradient):
    tokens, size = program.tokens, program.tokens.size
    gradient[:] = 0.0
    total = 0.0
    for first in range(0, y.size, BLOCK):
        last = min(first + BLOCK, y.size)
        n = last - first
        if not forward(tokens, program.constants, lefts, size, X, first, last, V, True):
            return math.inf
        backward(tokens, lefts, size, n, V, A)
        error = V[size - 1]
        for j in range(n):
            error[j] -= y[first + j]
            total += error[j] * error[j]
        for p in range(program.places.size):
            slope, product = A[program.places[p]], 0.0
            for j in range(n):
                if abs(slope[j]) < math.inf:
                    product += slope[j] * error[j]
            gradient[program.slots[p]] += 2.0 * product / y.size
    return total / y.size if total < math.inf else math.inf


def compiled_objective(program: Postfix, data: Table, count: int) -> Objective:
    size = len(program.tokens)
    lefts, begins = np.zeros((2, size), np.int64)
    V, A = np.zeros((2, size, BLOCK))
    structure(program.tokens, size, lefts, begins)

    def mean_square(values: np.ndarray) -> tuple[float, np.ndarray]:
        program.constants[program.places] = values[program.slots]
        gradient = np.empty(count)
        return _mean_square(program, data.X, data.y, lefts, V, A, gradient), gradient

    return mean_square


def general_objective(reading: Reading, data: Table) -> Objective:
    letters = [slot.name for slot in reading.slots]
    program, columns = Program([reading.expression.tree], letters), dict(zip(data.names, data.X, strict=True))
    shape = data.y.shape

    def mean_square(values: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(all="ignore"):
            value, *slopes = program(columns | dict(zip(letters, values, strict=True)))
            error = np.broadcast_to(value, shape) - data.y
            total = float(error @ error) / len(error)
            if not total < math.inf:
                return math.inf, np.zeros(len(letters))
            finite = [np.where(np.isfinite(slope), slope, 0.0) for slope in slopes]
            gradient = [float(np.broadcast_to(slope, shape) @ error) for slope in finite]
            return total, 2.0 * np.array(gradient) / len(error)

    return mean_square


def objective(reading: Reading, data: Table) -> Objective:
    """Mean squared error of a program, with its gradient, as a function of the values of its slots.

    Infinite where the program is undefined on a row; one whose inner operators overflow there may be undefined
    for compiled code although numpy gives a number.

    >>> from rediscover.expressions.programs import read_function
    >>> reading = read_function("def f(x, params): return params[0]*x + params[0]")
    >>> mse = objective(reading, table(["x"], [[0.0], [1.0]], [2.0, 3.0]))
    >>> mse(np.array([1.0]))[0], mse(np.array([1.0]))[1].tolist()
    (1.0, [-3.0])
    """
    program = postfix(reading, data.names)
    if program is None:
        return general_objective(reading, data)
    return compiled_objective(program, data, len(reading.slots))


# ---------------------------------------------------------------------------------------------------- the search


@compiled
def _update(inverse, moved, bent):
    """Change the inverse Hessian by a step and by how the gradient changed on it; whether that is possible."""
    n, curvature, bend = len(moved), 0.0, 0.0
    for i in range(n):
        curvature += moved[i] * bent[i]
    if not curvature > 0.0:
        return False
    image = np.zeros(n)
    for i in range(n):
        for j in range(n):
            image[i] += inverse[i, j] * bent[j]
        bend += bent[i] * image[i]
    factor = (1.0 + bend / curvature) / curvature
    for i in range(n):
        for j in range(n):
            inverse[i, j] += factor * moved[i] * moved[j] - (image[i] * moved[j] + moved[i] * image[j]) / curvature
    return True


def bfgs(mean_square: Objective, start: np.ndarray, tolerance: float = GRADIENT) -> tuple[np.ndarray, float]:
    """Constants with a least error near a start, and that error; infinite where the start is undefined.

    Broyden, Fletcher, Goldfarb and Shanno's method with a line search by doubling and bisection.

    >>> point, least = bfgs(lambda c: (float((c[0] - 3)**2), 2*(c - 3)), np.ones(1))
    >>> point.round(6).tolist(), least < 1e-10
    ([3.0], True)
    """
    x = np.array(start, float)
    f, g = mean_square(x)
    inverse, fresh = np.eye(len(x)), True
    for _ in range(ITERATIONS if f < math.inf else 0):
        if not len(x) or np.max(np.abs(g)) <= tolerance:
            break
        direction = -inverse @ g
        slope = float(g @ direction)
        if not slope < 0:
            inverse, fresh = np.eye(len(x)), True
            direction, slope = -g, -float(g @ g)
        first = min(1.0, 1.0 / math.sqrt(-slope)) if fresh else 1.0
        x_new, f_new, g_new = search_line(mean_square, x, f, direction, slope, first)
        if not f_new < f:
            if fresh:
                break
            inverse, fresh = np.eye(len(x)), True  # once more, straight downhill
            continue
        moved, bent, stalled = x_new - x, g_new - g, f - f_new < STALLED * f
        x, f, g = x_new, f_new, g_new
        if stalled:
            break
        if fresh and moved @ bent > 0:
            inverse *= (moved @ bent) / (bent @ bent)
        fresh = not _update(inverse, moved, bent) and fresh
    return x, f


def search_line(mean_square: Objective, x, f: float, direction, slope: float, step: float):
    """A point on a line that meets Wolfe's conditions, else the best that was met; with its error and gradient."""
    low, high, best = 0.0, math.inf, (x, f, direction)
    for _ in range(TRIALS):
        point = x + step * direction
        value, gradient = mean_square(point)
        if value < best[1]:
            best = point, value, gradient
        if not value <= f + ENOUGH * step * slope:
            high = step
        elif float(gradient @ direction) < STEEP * slope:
            low = step
        else:
            return point, value, gradient
        step = 0.5 * (low + high) if high < math.inf else 2.0 * step
    return best


@dataclass(frozen=True)
class Fit:
    """How the constants of a program are found: by BFGS from starts that are drawn uniformly, the best of them.

    Attributes
    ----------
    starts : their number.
    low, high : the interval; (1, 1) is a start from ones, as in LLM-SR.
    decimals : constants are rounded to so many, and those below a thousandth become 0, as in ICSR; None for all.
    seed : with the program's text the seed of its starts, so that a program fits alike whenever it comes.
    """

    starts: int = 1
    low: float = 1.0
    high: float = 1.0
    decimals: int | None = None
    seed: int = 0

    def __call__(self, reading: Reading, data: Table) -> tuple[tuple[float, ...], float]:
        """Values of the slots, and the mean squared error; infinite where no start is defined on all rows."""
        mean_square, count = objective(reading, data), len(reading.slots)
        rng = np.random.default_rng([self.seed, zlib.crc32(str(reading.expression).encode())])
        starts = rng.uniform(self.low, self.high, (self.starts if count else 1, count))
        with np.errstate(all="ignore"):
            values, least = min((bfgs(mean_square, start) for start in starts), key=lambda found: found[1])
        if self.decimals is not None:
            values = np.where(np.abs(values) < 1e-3, 0.0, np.round(values, self.decimals))
            least = mean_square(values)[0]
        return tuple(map(float, values)), least

    def polish(self, reading: Reading, values: Sequence[float], data: Table) -> tuple[tuple[float, ...], float]:
        """The values after a further search that ends at no gradient but that of rounding; never worse."""
        with np.errstate(all="ignore"):
            found, least = bfgs(objective(reading, data), np.array(values, float), tolerance=0.0)
        return tuple(map(float, found)), least
