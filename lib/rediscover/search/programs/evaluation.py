"""One program, compiled: its structure, values, derivatives and error over blocks of rows."""

import math

from .compiled import compiled
from .elementary import cosines, exps, logs, sines
from .operators import ADD, CONSTANT, COS, DIV, EXP, LOG, MUL, SIN, SUB, VARIABLE, arity, operate, slopes

BLOCK = 128  # rows that are computed at a time, so that what a program computes stays in the cache


@compiled
def structure(tokens, size, lefts, begins):
    """Fill `lefts` and `begins`; whether the tokens are one program."""
    for i in range(size):
        count = arity(tokens[i])
        if i < count:
            return False
        begins[i], lefts[i] = i, i - 1
        if count:
            begins[i] = begins[i - 1]
        if count == 2:
            lefts[i] = begins[i - 1] - 1
            if lefts[i] < 0:
                return False
            begins[i] = begins[lefts[i]]
    return size > 0 and begins[size - 1] == 0


@compiled
def forward(tokens, constants, lefts, size, X, first, last, V, strict):
    """Fill ``V[i, :last - first]`` with the value of every token i on a block of rows.

    If `strict`, stop at the first operator with a value that is not finite, and return False.
    """
    n = last - first
    for i in range(size):
        token, out = tokens[i], V[i]
        if token == CONSTANT:
            out[:n] = constants[i]
            continue
        if token >= VARIABLE:
            out[:n] = X[token - VARIABLE, first:last]
            continue
        a, b = V[lefts[i]], V[i - 1]
        # Loops of their own become vector instructions.
        if token == ADD:
            for j in range(n):
                out[j] = a[j] + b[j]
        elif token == SUB:
            for j in range(n):
                out[j] = a[j] - b[j]
        elif token == MUL:
            for j in range(n):
                out[j] = a[j] * b[j]
        elif token == DIV:
            for j in range(n):
                out[j] = a[j] / b[j]
        elif token == EXP:
            exps(a, out, n)
        elif token == LOG:
            logs(a, out, n)
        elif token == SIN:
            sines(a, out, n)
        elif token == COS:
            cosines(a, out, n)
        else:
            for j in range(n):
                out[j] = operate(token, a[j], b[j])
        if strict:
            wrong = 0
            for j in range(n):
                wrong |= out[j] - out[j] != 0.0
            if wrong:
                return False
    return True


@compiled
def backward(tokens, lefts, size, n, V, A):
    """Fill ``A[i, :n]`` with the derivative of the program in token i, after `forward` on the same rows."""
    A[size - 1, :n] = 1.0
    for i in range(size - 1, -1, -1):
        token = tokens[i]
        count = arity(token)
        if count == 0:
            continue
        a, b, value, outer = V[lefts[i]], V[i - 1], V[i], A[i]
        left, right = A[lefts[i]], A[i - 1]
        if token == MUL:
            for j in range(n):
                left[j] = outer[j] * b[j]
                right[j] = outer[j] * a[j]
        elif token == ADD or token == SUB:
            sign = 1.0 if token == ADD else -1.0
            for j in range(n):
                left[j] = outer[j]
                right[j] = outer[j] * sign
        else:
            for j in range(n):
                p, q = slopes(token, a[j], b[j], value[j])
                right[j] = outer[j] * q
                left[j] = outer[j] * p  # of one operand left and right are the same


@compiled
def squared_error(tokens, constants, lefts, size, X, y, weight, V):
    """Mean of ((f - y) weight)^2 over the rows; infinite if any operator is not finite on any row.

    X has shape (columns, rows), V (length, BLOCK).
    """
    total = 0.0
    for first in range(0, y.size, BLOCK):
        last = min(first + BLOCK, y.size)
        if not forward(tokens, constants, lefts, size, X, first, last, V, True):
            return math.inf
        value = V[size - 1]
        for j in range(last - first):
            error = (value[j] - y[first + j]) * weight
            total += error * error
    return total / y.size if total < math.inf else math.inf
