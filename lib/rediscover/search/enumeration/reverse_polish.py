"""Formulas in reverse Polish notation, shortest first: every filling of every template, tested against a target.

A template says how many operands each symbol takes; templates come by length, those of a length in lexicographic
order, and each is filled with all symbols of a set, the last symbol changing fastest. A formula is offered with a
free offset or a free factor. Its loss is in bits, the mean of log2(max(1, |error| / 2^-30)), and is taken on more
and more rows until it is plain that it does not beat the best. Only improvements are kept, and no bit left is the
end. Written from a description of AI Feynman's brute force.

References
----------
S.-M. Udrescu and M. Tegmark, AI Feynman: A physics-inspired method for symbolic regression, Science Advances 6
(2020) eaay2631
"""

import functools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..programs.compiled import compiled
from ..programs.elementary import ONE_BITS, SHIFT, SHIFT_BITS, as_bits, as_float, cosines, exps, logs, sines
from ..programs.evaluation import BLOCK
from .formula import Tree, combination, times

# Each symbol as a tree with 0 and 1 for its operands.
SYMBOLS: dict[str, Tree] = {
    "+": ("+", 0, 1),
    "-": ("-", 0, 1),
    "*": ("*", 0, 1),
    "D": ("/", 0, 1),
    ">": ("+", 0, (1,)),
    "<": ("-", 0, (1,)),
    "~": ("neg", 0),
    "I": ("/", (1,), 0),
    "O": ("*", (2,), 0),
    "J": ("+", ("*", (2,), 0), (1,)),
    "L": ("log", 0),
    "E": ("exp", 0),
    "S": ("sin", 0),
    "C": ("cos", 0),
    "A": ("abs", 0),
    "N": ("asin", 0),
    "T": ("atan", 0),
    "R": ("sqrt", 0),
    "P": ("π",),
    "0": (0,),
    "1": (1,),
}
SETS = {"7ops": "+*D>~R0", "10ops": "0~*DJORPEL", "14ops": "+*-D><~IRPSCLE", "19ops": "+*-D><~IRPLESCANT01"}
VARIABLE = 256  # code of the first input; other symbols have the codes of their letters
LONGEST = 14  # symbols of a formula
PRECISION = 2.0**-30  # an error below it is none; an offset or factor beyond its inverse is refused
MEDIAN_ROWS = 15  # that the offset or the factor is the median of
SURE = 10.0  # standard errors by which a formula must be worse to be dropped
MOST_FOUND = 64  # improvements within one template
ADD, SUB, MUL, DIV, MORE, LESS, NEG, INV, DOUBLE, ODD, LOG, EXP, SIN, COS, ABS, ASIN, ATAN, ROOT, PI, ZERO, ONE = (
    ord(symbol) for symbol in SYMBOLS
)
MANY, LARGEST = float(2**30), 1e300
LOG2 = (0.442527, -0.275386, 0.181154, -0.094815, 0.025286)  # least squares of log2(1 + t) on [0, 1]


class Formula(NamedTuple):
    """A formula that improved on those before it.

    Attributes
    ----------
    codes : of its symbols, inputs from `VARIABLE` on.
    number : offset or factor.
    bits : loss.
    """

    codes: tuple[int, ...]
    number: float
    bits: float


def operands(symbol: str) -> int:
    """How many operands a symbol takes.

    >>> [operands(symbol) for symbol in "P~+"]
    [0, 1, 2]
    """
    return _slots(SYMBOLS[symbol])


def _slots(template: Tree) -> int:
    return sum(1 if type(part) is int else _slots(part) for part in template[1:])


@functools.cache
def templates(length: int) -> tuple[np.ndarray, np.ndarray]:
    """All templates of a length, and where the first operand of each symbol ends.

    Returns
    -------
    arities, lefts : ndarrays of int64, shape (n, length)

    >>> templates(3)[0].tolist()
    [[0, 0, 2], [0, 1, 1]]
    """
    arities: list[list[int]] = []
    lefts: list[list[int]] = []

    def extend(row: list[int], where: list[int], ends: list[int]) -> None:
        left = length - len(row)
        if not left:
            if len(ends) == 1:
                arities.append(row)
                lefts.append(where)
            return
        for arity in (0, 1, 2):
            depth = len(ends) + 1 - arity
            if len(ends) >= arity and depth - 1 <= left - 1:
                first = ends[-2] if arity == 2 else len(row) - 1
                extend([*row, arity], [*where, max(first, 0)], [*ends[: len(ends) - arity], len(row)])

    extend([], [], [])
    return np.array(arities, np.int64).reshape(-1, length), np.array(lefts, np.int64).reshape(-1, length)


def brute_force(
    X: np.ndarray, y: np.ndarray, symbols: str, *, factor: bool, evaluations: int
) -> tuple[list[Formula], int]:
    """Formulas f of which y = f + c, or y = c f, each better than all before it.

    Parameters
    ----------
    X : ndarray, shape (rows, inputs)
    y : ndarray, shape (rows,)
        Rows in no order: the first ones decide on most formulas.
    symbols : of `SYMBOLS`; the inputs come on top.
    factor : whether c is a factor, not an offset.
    evaluations : most formulas that are tested; one that is undefined stands for all that begin with it.

    Returns
    -------
    found : list of Formula
    evaluations : int

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 5.0], [4.0, 3.0]])
    >>> found, used = brute_force(X, 2.5 * X[:, 0] * X[:, 1], "+*", factor=True, evaluations=100)
    >>> print(text(found[-1].codes, "ab"), found[-1].number, found[-1].bits)
    ab* 2.5 0.0
    """
    kinds = [[*range(VARIABLE, VARIABLE + X.shape[1])], [], []]
    for symbol in symbols:
        kinds[operands(symbol)].append(ord(symbol))
    counts = np.array([len(kind) for kind in kinds])
    table = np.zeros((3, counts.max()), np.int64)
    for arity, kind in enumerate(kinds):
        table[arity, : len(kind)] = kind
    columns, target = np.ascontiguousarray(X.T, float), np.ascontiguousarray(y, float)
    found: list[Formula] = []
    numbers, bits, used, best = np.empty(MOST_FOUND), np.empty(MOST_FOUND), 0, math.inf
    for arities, lefts in _in_order(counts):
        if used >= evaluations or best == 0:
            break
        codes = np.empty((MOST_FOUND, len(arities)), np.int64)
        count, tried = _fill(
            arities, lefts, table, counts, columns, target, factor, evaluations - used, best, codes, numbers, bits
        )
        used += tried
        found += [Formula(tuple(codes[i].tolist()), float(numbers[i]), float(bits[i])) for i in range(count)]
        best = found[-1].bits if found else best
    return found, used


def _in_order(counts: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Templates that can be filled, shortest first."""
    for length in range(1, LONGEST + 1):
        for arities, lefts in zip(*templates(length), strict=True):
            if counts[arities].all():
                yield arities, lefts


def tree(formula: Formula, names: Sequence[str], *, factor: bool) -> Tree:
    """A formula with its offset or factor, as a tree of `rediscover.expressions`.

    >>> tree(Formula((256, ord("R")), 3.0, 0.0), ["x"], factor=False)
    ('+', ('sqrt', ('x',)), (3,))
    """
    stack: list[Tree] = []
    for code in formula.codes:
        if code >= VARIABLE:
            stack.append((names[code - VARIABLE],))
            continue
        count = operands(chr(code))
        parts = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        stack.append(_filled(SYMBOLS[chr(code)], parts))
    return times(formula.number, stack[0]) if factor else combination([1.0], [stack[0]], formula.number)


def _filled(template: Tree, parts: list[Tree]) -> Tree:
    label, *slots = template
    return (label, *(parts[slot] if type(slot) is int else _filled(slot, parts) for slot in slots))


def text(codes: Sequence[int], names: Sequence[str]) -> str:
    """A formula in reverse Polish notation."""
    return "".join(names[code - VARIABLE] if code >= VARIABLE else chr(code) for code in codes)


# ------------------------------------------------------------------------------------------------------- compiled


@compiled
def _step(symbol, a, b, X, first, n, out):
    """Fill ``out[:n]`` with the value of one symbol, from operands a (the first, or the only one) and b."""
    if symbol >= VARIABLE:
        out[:n] = X[symbol - VARIABLE, first : first + n]
    elif symbol == PI or symbol == ZERO or symbol == ONE:
        out[:n] = math.pi if symbol == PI else 1.0 if symbol == ONE else 0.0
    elif symbol == ADD:
        for j in range(n):
            out[j] = a[j] + b[j]
    elif symbol == SUB:
        for j in range(n):
            out[j] = a[j] - b[j]
    elif symbol == MUL:
        for j in range(n):
            out[j] = a[j] * b[j]
    elif symbol == DIV:
        for j in range(n):
            out[j] = a[j] / b[j]
    elif symbol == MORE or symbol == LESS:
        one = 1.0 if symbol == MORE else -1.0
        for j in range(n):
            out[j] = a[j] + one
    elif symbol == DOUBLE or symbol == ODD:
        one = 1.0 if symbol == ODD else 0.0
        for j in range(n):
            out[j] = 2.0 * a[j] + one
    elif symbol == NEG:
        for j in range(n):
            out[j] = -a[j]
    elif symbol == INV:
        for j in range(n):
            out[j] = 1.0 / a[j]
    elif symbol == ABS:
        for j in range(n):
            out[j] = abs(a[j])
    elif symbol == ROOT:
        for j in range(n):
            out[j] = math.sqrt(a[j])
    elif symbol == LOG:
        logs(a, out, n)
    elif symbol == EXP:
        exps(a, out, n)
    elif symbol == SIN:
        sines(a, out, n)
    elif symbol == COS:
        cosines(a, out, n)
    elif symbol == ASIN:
        for j in range(n):
            out[j] = math.asin(a[j])
    else:
        for j in range(n):
            out[j] = math.atan(a[j])
    wrong = 0
    for j in range(n):
        wrong |= out[j] - out[j] != 0.0
    return not wrong


@compiled
def _number(values, y, n, factor, few):
    """Median of y - f or y/f over the first rows; beyond `MANY` where there is none."""
    n = min(n, MEDIAN_ROWS)
    for i in range(n):
        new = y[i] / values[i] if factor else y[i] - values[i]
        if not abs(new) <= 1e300:
            new = 1e300
        j = i
        while j > 0 and few[j - 1] > new:
            few[j] = few[j - 1]
            j -= 1
        few[j] = new
    return few[n // 2] if n % 2 else 0.5 * few[n // 2 - 1] + 0.5 * few[n // 2]


@compiled
def _log2(x):
    """log2(x) of a normal number, to 3e-6, exact at powers of two; loops over it become vector instructions."""
    bits = as_bits(x)
    k = (bits - ONE_BITS) >> 52
    t = as_float(bits - (k << 52)) - 1.0
    s = LOG2[0] + t * (LOG2[1] + t * (LOG2[2] + t * (LOG2[3] + t * LOG2[4])))
    return as_float(k + SHIFT_BITS) - SHIFT + (t + t * (1.0 - t) * s)


@compiled
def _bits(values, y, first, start, stop, number, factor, sums, work):
    """Add the bits of rows ``first + start`` to ``first + stop`` and their squares to `sums`."""
    n = stop - start
    scale, offset = (number, 0.0) if factor else (1.0, number)
    for j in range(n):
        error = abs(y[first + start + j] - (scale * values[start + j] + offset)) * MANY
        work[j] = _log2(min(max(error, 1.0), LARGEST))
    for j in range(n):
        sums[0] += work[j]
        sums[1] += work[j] * work[j]


@compiled
def _worse(sums, n, best):
    """Whether a formula is worse than the best by more than `SURE` standard errors, on n rows."""
    mean = sums[0] / n
    sigma = math.sqrt(max(sums[1] / n - mean * mean, 0.0))
    return math.sqrt(n) * (mean - best) > SURE * sigma


@compiled
def _judged(formula, lefts, X, y, V, W, factor, number, best, sums, work):
    """Mean bits of a formula whose values on the first rows are the last row of V; infinite once it is worse."""
    length, rows = formula.size, y.size
    sums[:] = 0.0
    start, stop, within = 0, 2, min(BLOCK, rows)
    while start < within:
        stop = min(stop, within)
        _bits(V[length - 1], y, 0, start, stop, number, factor, sums, work)
        if _worse(sums, stop, best):
            return math.inf
        start, stop = stop, 2 * stop - 1
    for first in range(within, rows, BLOCK):
        n = min(BLOCK, rows - first)
        for i in range(length):
            if not _step(formula[i], W[lefts[i]], W[max(i - 1, 0)], X, first, n, W[i]):
                return math.inf
        _bits(W[length - 1], y, first, 0, n, number, factor, sums, work)
        if _worse(sums, first + n, best):
            return math.inf
    return sums[0] / rows


@compiled
def _fill(template, lefts, symbols, counts, X, y, factor, quota, best, codes, numbers, bits):
    """Try all formulas of a template in order; how many improved on `best`, and how many were tested.

    A value on the first rows is kept until a symbol before or at its place changes. Where a symbol has no finite
    value, all formulas that begin so are passed over.
    """
    length, rows = template.size, y.size
    V, W, work = np.empty((length, BLOCK)), np.empty((length, BLOCK)), np.empty(BLOCK)
    few, sums = np.empty(MEDIAN_ROWS), np.empty(2)
    at, formula = np.zeros(length, np.int64), np.empty(length, np.int64)
    within = min(BLOCK, rows)
    found = used = start = 0
    while used < quota and found < numbers.size and best > 0.0:
        used += 1
        last = length
        for i in range(start, length):
            formula[i] = symbols[template[i], at[i]]
            if not _step(formula[i], V[lefts[i]], V[max(i - 1, 0)], X, 0, within, V[i]):
                last = i
                break
        if last == length:
            last = length - 1
            number = _number(V[last], y, within, factor, few)
            if abs(number) <= MANY:
                loss = _judged(formula, lefts, X, y, V, W, factor, number, best, sums, work)
                if loss < best:
                    best = loss
                    codes[found], numbers[found], bits[found] = formula, number, loss
                    found += 1
        at[last] += 1
        while at[last] == counts[template[last]]:
            at[last] = 0
            last -= 1
            if last < 0:
                return found, used
            at[last] += 1
        start = last
    return found, used
