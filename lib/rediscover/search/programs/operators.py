"""Operators of compiled programs: their codes, values and slopes."""

import math

from . import elementary
from .compiled import compiled

BINARY = ("+", "-", "*", "/", "**", "min", "max")
UNARY = tuple("neg abs inv square cube sqrt exp log sin cos tan asin acos atan sinh cosh tanh".split())
CODES = {name: code for code, name in enumerate(BINARY + UNARY, 1)}
ARITIES = {name: 2 if name in BINARY else 1 for name in CODES}
CONSTANT, FIRST_UNARY, VARIABLE = 0, len(BINARY) + 1, 32
ADD, SUB, MUL, DIV, POW, MIN, MAX = (CODES[name] for name in BINARY)
NEG, ABS, INV, SQUARE, CUBE, SQRT, EXP, LOG, SIN, COS, TAN = (CODES[name] for name in UNARY[:11])
ASIN, ACOS, ATAN, SINH, COSH, TANH = (CODES[name] for name in UNARY[11:])


@compiled
def arity(token):
    if token == CONSTANT or token >= VARIABLE:
        return 0
    return 2 if token < FIRST_UNARY else 1


@compiled
def operate(token, a, b):
    """Value of an operator; one with a single operand reads `a`."""
    if token == ADD:
        return a + b
    if token == SUB:
        return a - b
    if token == MUL:
        return a * b
    if token == DIV:
        return a / b
    if token == POW:
        return a**b
    if token == MIN or token == MAX:
        if a != a or b != b:
            return math.nan
        return a if (a < b) == (token == MIN) else b
    if token == NEG:
        return -a
    if token == ABS:
        return abs(a)
    if token == INV:
        return 1.0 / a
    if token == SQUARE:
        return a * a
    if token == CUBE:
        return a * a * a
    if token == SQRT:
        return math.sqrt(a)
    if token == EXP:
        return elementary.exp(a)
    if token == LOG:
        return elementary.log(a)
    if token == SIN:
        return elementary.sin(a)
    if token == COS:
        return elementary.cos(a)
    if token == TAN:
        return math.tan(a)
    if token == ASIN:
        return math.asin(a)
    if token == ACOS:
        return math.acos(a)
    if token == ATAN:
        return math.atan(a)
    if token == SINH:
        return math.sinh(a)
    if token == COSH:
        return math.cosh(a)
    return math.tanh(a)


@compiled
def slopes(token, a, b, value):
    """Derivatives of an operator in its two operands (of one operand, the first), given its value."""
    if token == ADD:
        return 1.0, 1.0
    if token == SUB:
        return 1.0, -1.0
    if token == MUL:
        return b, a
    if token == DIV:
        return 1.0 / b, -value / b
    if token == POW:
        # An exponent of a base that is not positive is held fixed.
        return b * a ** (b - 1.0), value * elementary.log(a) if a > 0.0 else 0.0
    if token == MIN or token == MAX:
        return (1.0, 0.0) if value == a else (0.0, 1.0)
    if token == NEG:
        return -1.0, 0.0
    if token == ABS:
        return (1.0 if a > 0.0 else -1.0 if a < 0.0 else 0.0), 0.0
    if token == INV:
        return -value * value, 0.0
    if token == SQUARE:
        return 2.0 * a, 0.0
    if token == CUBE:
        return 3.0 * a * a, 0.0
    if token == SQRT:
        return 0.5 / value, 0.0
    if token == EXP:
        return value, 0.0
    if token == LOG:
        return 1.0 / a, 0.0
    if token == SIN:
        return elementary.cos(a), 0.0
    if token == COS:
        return -elementary.sin(a), 0.0
    if token == TAN:
        return 1.0 + value * value, 0.0
    if token == ASIN or token == ACOS:
        slope = 1.0 / math.sqrt(1.0 - a * a)
        return (slope if token == ASIN else -slope), 0.0
    if token == ATAN:
        return 1.0 / (1.0 + a * a), 0.0
    if token == SINH:
        return math.cosh(a), 0.0
    if token == COSH:
        return math.sinh(a), 0.0
    return 1.0 - value * value, 0.0
