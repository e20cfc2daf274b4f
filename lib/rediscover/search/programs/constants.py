"""Constants of programs by least squares: Levenberg and Marquardt's method, from several starts."""

import math
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import size_of
from .compiled import compiled
from .evaluation import BLOCK, backward, forward, squared_error, structure
from .operators import CONSTANT
from .programs import Programs, columns_of

EXACT = 1e-30  # loss, relative to the mean square of the target, below which there is nothing to improve
STALLED = 1e-12  # relative improvement in one step that ends a search
DAMPING, LARGEST = 1e-3, 1e12  # at the start; where no step is short enough to help


class Work(NamedTuple):
    """Arrays that compiled searches share, for programs of at most `length` tokens.

    Attributes
    ----------
    lefts, begins : the structure of the program at hand, shape (length,)
    V, A : values and derivatives of its tokens, shape (length, BLOCK)
    places : tokens that are constants, shape (length,)
    squares, factor : normal matrix and its Cholesky factor, shape (length, length)
    vectors : gradient, scales, step, values that are tried, best values, shape (5, length)
    """

    lefts: np.ndarray
    begins: np.ndarray
    V: np.ndarray
    A: np.ndarray
    places: np.ndarray
    squares: np.ndarray
    factor: np.ndarray
    vectors: np.ndarray


def room(length: int) -> Work:
    lefts, begins, places = np.zeros((3, length), np.int64)
    V, A = np.zeros((2, length, BLOCK))
    squares, factor = np.zeros((length, length)), np.zeros((length, length))
    return Work(lefts, begins, V, A, places, squares, factor, np.zeros((5, length)))


@compiled
def find_constants(tokens, size, places):
    """Fill `places` with the tokens that are constants; their number."""
    count = 0
    for i in range(size):
        if tokens[i] == CONSTANT:
            places[count] = i
            count += 1
    return count


@compiled
def normal_equations(tokens, constants, size, count, X, y, weight, work):
    """Fill ``work.squares`` with J'J and ``work.vectors[0]`` with J'r; the mean of r^2.

    r = (f - y) weight has the derivatives J in the constants. A derivative that is not finite counts as 0.
    """
    squares, gradient, V, A = work.squares, work.vectors[0], work.V, work.A
    squares[:count, :count] = 0.0
    gradient[:count] = 0.0
    total = 0.0
    for first in range(0, y.size, BLOCK):
        last = min(first + BLOCK, y.size)
        n = last - first
        if not forward(tokens, constants, work.lefts, size, X, first, last, V, True):
            return math.inf
        backward(tokens, work.lefts, size, n, V, A)
        error = V[size - 1]
        for j in range(n):
            error[j] = (error[j] - y[first + j]) * weight
            total += error[j] * error[j]
        for p in range(count):
            slope = A[work.places[p]]
            for j in range(n):
                slope[j] = slope[j] * weight if abs(slope[j]) < math.inf else 0.0
                gradient[p] += slope[j] * error[j]
            for q in range(p + 1):
                other, product = A[work.places[q]], 0.0
                for j in range(n):
                    product += slope[j] * other[j]
                squares[p, q] += product
    return total / y.size if total < math.inf else math.inf


@compiled
def solve(count, damping, work):
    """Fill the step that solves (J'J + damping diag(scales)) step = J'r by Cholesky; whether that is possible."""
    squares, factor = work.squares, work.factor
    gradient, scales, step = work.vectors[0], work.vectors[1], work.vectors[2]
    for p in range(count):
        rest = gradient[p]
        for q in range(p + 1):
            value = squares[p, q]
            if p == q:
                value += damping * scales[p]
            for m in range(q):
                value -= factor[p, m] * factor[q, m]
            if p == q:
                if not 0.0 < value < math.inf:
                    return False
                factor[p, p] = math.sqrt(value)
            else:
                factor[p, q] = value / factor[q, q]
                rest -= factor[p, q] * step[q]
        step[p] = rest / factor[p, p]
    for p in range(count - 1, -1, -1):
        for m in range(p + 1, count):
            step[p] -= factor[m, p] * step[m]
        step[p] /= factor[p, p]
    return True


@compiled
def descend(tokens, constants, size, count, X, y, weight, iterations, evaluations, work):
    """Improve the constants in place from where they are; the loss, and how often the program was evaluated.

    At most `iterations` steps that improve and `evaluations` of the program, of which one with derivatives
    counts as one. Each constant has a scale of its own, the largest squared derivative met on the way.
    """
    scales, step, trial = work.vectors[1], work.vectors[2], work.vectors[3]
    if evaluations < 1:
        return math.inf, 0
    loss, used, damping = normal_equations(tokens, constants, size, count, X, y, weight, work), 1, DAMPING
    scales[:count] = 0.0
    trial[:size] = constants[:size]
    for iteration in range(iterations):
        if not EXACT < loss < math.inf:
            break
        for p in range(count):
            scales[p] = max(scales[p], work.squares[p, p])
            if scales[p] == 0.0:
                scales[p] = 1.0
        reached = math.inf
        while not reached < loss and damping < LARGEST and used < evaluations:
            if solve(count, damping, work):
                for p in range(count):
                    trial[work.places[p]] = constants[work.places[p]] - step[p]
                reached = squared_error(tokens, trial, work.lefts, size, X, y, weight, work.V)
                used += 1
            damping *= 0.1 if reached < loss else 10.0
        if not reached < loss:
            break
        stalled = loss - reached < STALLED * loss
        loss = reached
        constants[:size] = trial[:size]
        if stalled or used >= evaluations or iteration == iterations - 1:
            break
        normal_equations(tokens, constants, size, count, X, y, weight, work)
        used += 1
    return loss, used


@compiled
def _optimise(programs, guesses, X, y, weight, iterations, evaluations, work, losses, used):
    for k in range(len(programs.sizes)):
        tokens, constants, size = programs.tokens[k], programs.constants[k], programs.sizes[k]
        structure(tokens, size, work.lefts, work.begins)
        losses[k] = squared_error(tokens, constants, work.lefts, size, X, y, weight, work.V)
        used[k] = 1
        count = find_constants(tokens, size, work.places)
        for s in range(guesses.shape[0] if count else 0):
            if not losses[k] > EXACT or used[k] >= evaluations:
                break
            guess = guesses[s, k]
            left = evaluations - used[k]
            loss, calls = descend(tokens, guess, size, count, X, y, weight, iterations, left, work)
            used[k] += calls
            if loss < losses[k]:
                losses[k] = loss
                constants[:] = guess


def optimise(
    programs: Programs,
    X: np.ndarray,
    y: np.ndarray,
    *,
    starts: int = 3,
    iterations: int = 50,
    evaluations: int = 500,
    rng: np.random.Generator | None = None,
) -> tuple[Programs, np.ndarray, np.ndarray]:
    """Fit the constants of every program to data.

    Starts are the present constants, then in turn these times exp(N(0, 1)) with either sign, and N(0, 1) draws
    over three orders of magnitude.

    Parameters
    ----------
    X : ndarray, shape (rows, columns)
    y : ndarray, shape (rows,)
    starts : at least 1
    iterations : steps that improve, at most, from each start
    evaluations : of each program on the data, at most, all starts together; at least 1
    rng : Generator, optional
        Default: a fresh one with seed 0, so that equal calls give equal results.

    Returns
    -------
    programs : Programs
        With the best constants found; never worse than those given.
    losses : ndarray, shape (n,)
        Mean squared error over the mean square of y; infinite where no start is defined on all rows.
    used : ndarray of int64, shape (n,)
        Evaluations of each program.

    >>> from rediscover.search.programs.programs import from_text, to_text
    >>> x = np.linspace(1, 2, 20)[:, None]
    >>> found, losses, used = optimise(from_text(["1.0*x + 1.0"], ["x"]), x, 2 * x[:, 0] - 0.5)
    >>> found.constants.round(6).tolist(), bool(losses[0] < 1e-20)
    ([[2.0, 0.0, 0.0, -0.5, 0.0]], True)
    """
    if min(starts, iterations, evaluations) < 1:
        raise ValueError("starts, iterations and evaluations must be at least 1")
    table, y = columns_of(programs, X), np.ascontiguousarray(y, float)
    if y.shape != table.shape[1:] or not y.size or not np.isfinite(y).all():
        raise ValueError(f"y must be {table.shape[1]} finite numbers, one a row, and at least one")
    rng = rng or np.random.default_rng(0)
    n, length = programs.tokens.shape
    found = Programs(programs.tokens, programs.constants.copy(), programs.sizes)
    guesses = np.stack([guess(programs.constants, start, rng) for start in range(starts)])
    losses, used = np.empty(n), np.empty(n, np.int64)
    _optimise(found, guesses, table, y, 1.0 / size_of(y), iterations, evaluations, room(length), losses, used)
    return found, losses, used


def guess(constants: np.ndarray, start: int, rng: np.random.Generator) -> np.ndarray:
    shape = constants.shape
    if start == 0:
        return constants.copy()
    if start % 2:
        return np.where(constants == 0, 1.0, constants) * np.exp(rng.normal(size=shape)) * rng.choice([-1, 1], shape)
    return rng.normal(size=shape) * 10.0 ** rng.uniform(-1, 2, shape)
