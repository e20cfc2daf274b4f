"""Batches of programs in postfix order: values, derivatives in the constants, losses, and text.

A program is a row of tokens. A token is `CONSTANT` (its value stands at the same place in the row of constants),
an operator's code, or ``VARIABLE + column``. Operands stand before their operator, so a subtree is a run of
tokens that ends at its root: the run of token i begins at ``begins[i]``, its last operand is the run that ends
at i - 1, and the first of two operands ends at ``lefts[i]``. An undefined operation gives NaN and a pole infinity;
no operator is protected.

>>> batch = from_text(["2.5*x + y", "sin(x)"], ["x", "y"])
>>> batch.sizes.tolist(), to_text(batch, ["x", "y"])
([5, 2], ['2.5*x + y', 'sin(x)'])
>>> evaluate(batch, [[2.0, 1.0]]).round(4).tolist()
[[6.0], [0.9093]]
"""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...expressions import Expression, ExpressionError, parse
from ...expressions.trees import fold
from .compiled import compiled
from .evaluation import BLOCK, backward, forward, squared_error, structure
from .operators import ARITIES, CODES, CONSTANT, VARIABLE

OPERATORS = len(CODES)


class Programs(NamedTuple):
    """n programs of at most `length` tokens.

    Attributes
    ----------
    tokens : ndarray of int16, shape (n, length)
    constants : ndarray of float64, shape (n, length)
        Read where the token is `CONSTANT`.
    sizes : ndarray of int64, shape (n,)
        Number of tokens; what stands behind them is not read.
    """

    tokens: np.ndarray
    constants: np.ndarray
    sizes: np.ndarray


def empty(n: int, length: int) -> Programs:
    """Room for n programs: every one the constant 0."""
    return Programs(np.zeros((n, length), np.int16), np.zeros((n, length)), np.ones(n, np.int64))


# -------------------------------------------------------------------------------------------------------- batches


@compiled
def _valid(programs, columns, ok):
    lefts, begins = np.empty((2, programs.tokens.shape[1]), np.int64)
    for k in range(len(programs.sizes)):
        tokens, size = programs.tokens[k], programs.sizes[k]
        ok[k] = 0 < size <= tokens.size and structure(tokens, size, lefts, begins)
        for i in range(min(size, tokens.size)):
            unknown = tokens[i] < 0 or OPERATORS < tokens[i] < VARIABLE or tokens[i] >= VARIABLE + columns
            ok[k] = ok[k] and not unknown


def valid(programs: Programs, columns: int) -> np.ndarray:
    """Whether each row is one program over so many columns.

    Returns
    -------
    ndarray of bool, shape (n,)
        False where operands are missing or left over, or a token is unknown.
    """
    ok = np.zeros(len(programs.sizes), bool)
    _valid(programs, columns, ok)
    return ok


def subtrees(programs: Programs) -> np.ndarray:
    """Index of the first token of the subtree that ends at each token.

    Returns
    -------
    ndarray of int64, shape (n, length); behind the end of a program -1

    >>> subtrees(from_text(["2.5*x + sin(y)"], ["x", "y"])).tolist()
    [[0, 1, 0, 3, 3, 0]]
    """
    begins = np.full(programs.tokens.shape, -1, np.int64)
    lefts = np.empty(programs.tokens.shape[1], np.int64)
    for tokens, size, row in zip(programs.tokens, programs.sizes, begins, strict=True):
        if not 0 < size <= tokens.size or not structure(tokens, size, lefts, row):
            raise ValueError(f"{tokens[:size].tolist()} is not one program")
    return begins


@compiled
def _evaluate(programs, X, values, jacobians):
    """Values, and where `jacobians` has rows, the derivatives in the constants, in the order of their tokens."""
    length, n = programs.tokens.shape[1], X.shape[1]
    V, A = np.empty((2, length, BLOCK))
    lefts, begins = np.empty((2, length), np.int64)
    for k in range(len(programs.sizes)):
        tokens, constants, size = programs.tokens[k], programs.constants[k], programs.sizes[k]
        structure(tokens, size, lefts, begins)
        for first in range(0, n, BLOCK):
            last = min(first + BLOCK, n)
            forward(tokens, constants, lefts, size, X, first, last, V, False)
            values[k, first:last] = V[size - 1, : last - first]
            if jacobians.shape[1]:
                backward(tokens, lefts, size, last - first, V, A)
                place = 0
                for i in range(size):
                    if tokens[i] == CONSTANT:
                        jacobians[k, place, first:last] = A[i, : last - first]
                        place += 1


def evaluate(programs: Programs, X: np.ndarray) -> np.ndarray:
    """Values of every program on every row.

    Parameters
    ----------
    X : ndarray, shape (rows, columns)

    Returns
    -------
    ndarray, shape (n, rows)
        NaN where undefined, infinite at poles and on overflow.

    Raises
    ------
    ValueError
        If a row is not a program over these columns.
    """
    table = columns_of(programs, X)
    values = np.empty((len(programs.sizes), table.shape[1]))
    _evaluate(programs, table, values, np.empty((len(programs.sizes), 0, 0)))
    return values


def derivatives(programs: Programs, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values, and their derivatives in the constants, by reverse differentiation.

    Returns
    -------
    values : ndarray, shape (n, rows)
    jacobians : ndarray, shape (n, most constants of a program, rows)
        In the order of the constants in the program; zero beyond their number.

    >>> values, jacobians = derivatives(from_text(["3.0*x + 1.0"], ["x"]), [[2.0], [5.0]])
    >>> jacobians.tolist()
    [[[2.0, 5.0], [1.0, 1.0]]]
    """
    table = columns_of(programs, X)
    inside = np.arange(programs.tokens.shape[1]) < programs.sizes[:, None]
    most = int(((programs.tokens == CONSTANT) & inside).sum(axis=1).max(initial=0))
    values = np.empty((len(programs.sizes), table.shape[1]))
    jacobians = np.zeros((len(programs.sizes), most, table.shape[1]))
    _evaluate(programs, table, values, jacobians)
    return values, jacobians


@compiled
def _losses(programs, X, y, weight, out):
    V = np.empty((programs.tokens.shape[1], BLOCK))
    lefts, begins = np.empty((2, programs.tokens.shape[1]), np.int64)
    for k in range(len(programs.sizes)):
        tokens, constants, size = programs.tokens[k], programs.constants[k], programs.sizes[k]
        structure(tokens, size, lefts, begins)
        out[k] = squared_error(tokens, constants, lefts, size, X, y, weight, V)


def losses(programs: Programs, X: np.ndarray, y: np.ndarray, weight: float = 1.0) -> np.ndarray:
    """Mean squared error of each program times the square of `weight`.

    Parameters
    ----------
    X : ndarray, shape (rows, columns)
    y : ndarray, shape (rows,)
    weight : positive factor of the errors, such as 1/rms(y), which makes losses free of units.

    Returns
    -------
    ndarray, shape (n,)
        Infinite where an operator, even an inner one, is not finite on some row.

    >>> losses(from_text(["x", "x + 1.0", "1.0/x"], ["x"]), [[0.0], [2.0]], [1.0, 3.0]).tolist()
    [1.0, 0.0, inf]
    """
    table, y = columns_of(programs, X), np.ascontiguousarray(y, float)
    if y.shape != table.shape[1:] or not y.size:
        raise ValueError(f"y has shape {y.shape}, X {np.shape(X)}: rows must agree, and be at least one")
    out = np.empty(len(programs.sizes))
    _losses(programs, table, y, float(weight), out)
    return out


def columns_of(programs: Programs, X: np.ndarray) -> np.ndarray:
    """X as contiguous columns, after checking the programs against it."""
    table = np.ascontiguousarray(np.asarray(X, float).T)
    if table.ndim != 2:
        raise ValueError(f"X has shape {np.shape(X)}, not (rows, columns)")
    wrong = np.flatnonzero(~valid(programs, len(table)))
    if wrong.size:
        tokens = programs.tokens[wrong[0], : max(0, programs.sizes[wrong[0]])].tolist()
        raise ValueError(f"row {wrong[0]}, {tokens}, is not one program over {len(table)} columns")
    return table


# ----------------------------------------------------------------------------------------------------------- text

# Operators that the language of expressions writes in others; its integers mark them, as constants have points.
WRITTEN = {"inv": ("/", (1,), None), "square": ("**", None, (2,)), "cube": ("**", None, (3,))}
READ = {("/", 0, 1): "inv", ("**", 1, 2): "square", ("**", 1, 3): "cube"}  # label, place and value of the integer


def to_tree(programs: Programs, k: int, names: Sequence[str]) -> tuple:
    """Program k as the nested tuples of `expressions`."""
    symbols = list(CODES)
    stack: list[tuple] = []
    for i in range(programs.sizes[k]):
        token = int(programs.tokens[k, i])
        if token == CONSTANT:
            stack.append((float(programs.constants[k, i]),))
        elif token >= VARIABLE:
            stack.append((names[token - VARIABLE],))
        else:
            name = symbols[token - 1]
            operands = [stack.pop() for _ in range(ARITIES[name])][::-1]
            label, *slots = WRITTEN.get(name, (name, *[None] * ARITIES[name]))
            stack.append((label, *(operands.pop(0) if slot is None else slot for slot in slots)))
    return stack[0]


def to_text(programs: Programs, names: Sequence[str]) -> list[str]:
    """Each program in the language of `expressions`, every digit of its constants.

    Raises
    ------
    ValueError
        If a row is not a program over these names, or a constant is not finite.
    """
    columns_of(programs, np.empty((0, len(names))))
    return [str(Expression(to_tree(programs, k, names))) for k in range(len(programs.sizes))]


def from_text(texts: Sequence[str], names: Sequence[str], length: int | None = None) -> Programs:
    """Programs from texts; the inverse of `to_text`, but a negated constant is read as one constant.

    Parameters
    ----------
    names : the variables, in the order of the columns.
    length : room for each program; by default that of the longest.

    Raises
    ------
    ExpressionError
        If a text cannot be read, or uses what no operator stands for.
    ValueError
        If a program is longer than `length`.
    """
    rows = [fold(parse(text, names).tree, lambda *node, text=text: _tokens(text, names, *node)) for text in texts]
    longest = max(map(len, rows), default=1)
    if length is not None and longest > length:
        raise ValueError(f"a program has {longest} tokens, there is room for {length}")
    batch = empty(len(rows), length or longest)
    for k, row in enumerate(rows):
        batch.tokens[k, : len(row)], batch.constants[k, : len(row)] = zip(*row, strict=True)
        batch.sizes[k] = len(row)
    return batch


def _tokens(text: str, names: Sequence[str], label, operands: list) -> list[tuple[int, float]]:
    """Tokens with constants of a node, given those of its children; an integer keeps its type until it is used."""
    if not operands:
        if isinstance(label, str) and label in names:
            return [(VARIABLE + list(names).index(label), 0.0)]
        if isinstance(label, str):
            label = {"π": math.pi, "ℯ": math.e}[label]
        return [(CONSTANT, label)]
    for place, operand in enumerate(operands):
        if len(operand) == 1 and operand[0][0] == CONSTANT and type(operand[0][1]) is int:
            short = READ.get((label, place, operand[0][1]))
            if short:
                return [*operands[1 - place], (CODES[short], 0.0)]
    if label not in CODES or len(operands) > 2:
        raise ExpressionError(text, 0, f"no operator of programs stands for {label!r}")
    return [*itertools.chain(*operands), (CODES[label], 0.0)]
