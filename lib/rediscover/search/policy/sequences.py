"""Compiled evaluation of token sequences on data.

Functions are unprotected. A value that is not finite, or a product, quotient or exponential too small for a
double, makes a sequence invalid, as any floating-point warning does in the released code of deep symbolic
optimisation.
"""

import numpy as np
from numba import njit

from .tokens import CODES, CONSTANT, POLYNOMIAL

ADD, SUB, MUL, DIV = (CODES[name] for name in ("add", "sub", "mul", "div"))
SIN, COS, TAN, EXP, LOG = (CODES[name] for name in ("sin", "cos", "tan", "exp", "log"))
SQRT, TANH, ABS, NEG, INV = (CODES[name] for name in ("sqrt", "tanh", "abs", "neg", "inv"))
N2, N3 = CODES["n2"], CODES["n3"]
NUMBER, FITTED = CODES[CONSTANT], CODES[POLYNOMIAL]
TINY = np.finfo(float).tiny


@njit(cache=True, error_model="numpy")
def _combine(code, a, b):
    """a <- a code b, row by row; False where that is not finite or too small."""
    rows, fine = len(a), True
    if code == ADD:
        for k in range(rows):
            a[k] += b[k]
    elif code == SUB:
        for k in range(rows):
            a[k] -= b[k]
    elif code == MUL:
        for k in range(rows):
            value = a[k] * b[k]
            fine &= abs(value) >= TINY or a[k] == 0.0 or b[k] == 0.0
            a[k] = value
    else:
        for k in range(rows):
            value = a[k] / b[k]
            fine &= abs(value) >= TINY or a[k] == 0.0
            a[k] = value
    for k in range(rows):
        fine &= np.isfinite(a[k])
    return fine


@njit(cache=True, error_model="numpy")
def _apply(code, a):
    """a <- code(a), row by row; False where that is not finite or too small."""
    rows, fine = len(a), True
    for k in range(rows):
        before = a[k]
        if code == SIN:
            a[k] = np.sin(before)
        elif code == COS:
            a[k] = np.cos(before)
        elif code == TAN:
            a[k] = np.tan(before)
        elif code == EXP:
            a[k] = np.exp(before)
            fine &= a[k] >= TINY
        elif code == LOG:
            a[k] = np.log(before)
        elif code == SQRT:
            a[k] = np.sqrt(before)
        elif code == TANH:
            a[k] = np.tanh(before)
        elif code == ABS:
            a[k] = abs(before)
        elif code == NEG:
            a[k] = -before
        elif code == INV:
            a[k] = 1.0 / before
            fine &= abs(a[k]) >= TINY
        elif code == N2:
            a[k] = before * before
            fine &= a[k] >= TINY or before == 0.0
        else:
            a[k] = before * before * before
            fine &= abs(a[k]) >= TINY or before == 0.0
        fine &= np.isfinite(a[k])
        if not fine:
            return False
    return True


@njit(cache=True, error_model="numpy")
def evaluate(sequence, codes, X, constants, polynomial, stack):
    """Values of a sequence in ``stack[0]``; False where it is invalid.

    Parameters
    ----------
    sequence : tokens of one whole expression in prefix order
    codes : code of each token, as `Library.codes`
    X : inputs, shape (n_inputs, n_rows)
    constants : one for each ``const``, in the order of the sequence
    polynomial : values of ``poly``, shape (n_rows,)
    stack : room for as many rows of values as the sequence has leaves, shape (places, n_rows)
    """
    depth, number = 0, len(constants)
    for place in range(len(sequence) - 1, -1, -1):
        code = codes[sequence[place]]
        if code < 0:
            stack[depth] = X[-1 - code]
            depth += 1
        elif code == NUMBER:
            number -= 1
            stack[depth] = constants[number]
            depth += 1
        elif code == FITTED:
            stack[depth] = polynomial
            depth += 1
        elif code <= DIV:
            depth -= 1
            fine = _combine(code, stack[depth], stack[depth - 1])
            stack[depth - 1] = stack[depth]
            if not fine:
                return False
        elif not _apply(code, stack[depth - 1]):
            return False
    return True


@njit(cache=True, error_model="numpy")
def error(sequence, codes, X, y, scale, constants, polynomial, stack):
    """Root of the mean squared error, in units of `scale`; NaN for an invalid sequence.

    Parameters
    ----------
    y : targets, shape (n_rows,)
    scale : standard deviation of the targets, with a positive value

    The others are those of `evaluate`.
    """
    if not evaluate(sequence, codes, X, constants, polynomial, stack):
        return np.nan
    total = 0.0
    for k in range(len(y)):
        total += ((y[k] - stack[0, k]) / scale) ** 2
    return np.sqrt(total / len(y))


@njit(cache=True)
def errors(tokens, lengths, codes, X, y, scale, stack):
    """`error` of many sequences without fitted numbers; shapes (n, places) and (n,)."""
    found = np.empty(len(tokens))
    nothing = np.empty(0)
    for k in range(len(tokens)):
        found[k] = error(tokens[k, : lengths[k]], codes, X, y, scale, nothing, nothing, stack)
    return found


@njit(cache=True)
def end(sequence, arity, start):
    """Where the subtree at `start` ends: the place after its last token.

    >>> end(np.array([1, 2, 0, 0]), np.array([0, 2, 1]), 1)
    3
    """
    missing, place = 1, start
    while missing > 0:
        missing += arity[sequence[place]] - 1
        place += 1
    return place


@njit(cache=True)
def folded(sequence, codes, arity, X, stack):
    """The sequence with each largest subtree without fitted numbers evaluated once, as an input of its own.

    Returns
    -------
    sequence, codes, X : as `evaluate` takes them, for the same values to the last bit
    valid : whether every such subtree is; where one is not, the whole sequence is invalid too

    Examples
    --------
    >>> codes, arity = np.array([-1, ADD, SIN, NUMBER]), np.array([0, 2, 1, 0])  # x, add, sin, const
    >>> X, stack = np.array([[0.0, 0.5]]), np.empty((4, 2))
    >>> shorter, _, inputs, _ = folded(np.array([1, 2, 0, 3]), codes, arity, X, stack)
    >>> shorter.tolist(), inputs[1].round(2).tolist()
    ([1, 4, 3], [0.0, 0.48])
    """
    places, count, inputs, tokens = len(sequence), 0, len(X), len(codes)
    columns = np.empty((inputs + places // 2, X.shape[1]))
    columns[:inputs] = X
    shorter, nothing, place = np.empty(places, np.int64), np.empty(0), 0
    while place < places:
        shorter[count] = sequence[place]
        after = end(sequence, arity, place)
        plain = after > place + 1
        for k in range(place, after):
            plain &= codes[sequence[k]] != NUMBER and codes[sequence[k]] != FITTED
        if plain:
            if not evaluate(sequence[place:after], codes, X, nothing, nothing, stack):
                return shorter[:0], codes, columns[:inputs], False
            shorter[count] = tokens
            columns[inputs] = stack[0]
            tokens += 1
            inputs += 1
        place = after if plain else place + 1
        count += 1
    return shorter[:count], np.append(codes, -1 - np.arange(len(X), inputs)), columns[:inputs], True


@njit(cache=True)
def factor(sequence, arity, codes):
    """Place of the first constant that multiplies the whole expression, or -1."""
    places = [0]  # of factors of the whole, the first on top
    while places:
        place = places.pop()
        code = codes[sequence[place]]
        if code == NUMBER:
            return place
        if code == MUL:
            places.append(end(sequence, arity, place + 1))
        if code == MUL or code == DIV:
            places.append(place + 1)
    return -1
