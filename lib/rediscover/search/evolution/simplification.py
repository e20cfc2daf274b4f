"""Constants of a program computed and merged, as SymbolicRegression.jl 1.11 does and no further."""

from ..programs.compiled import compiled
from ..programs.evaluation import structure
from ..programs.operators import ADD, CONSTANT, MUL, SUB, arity, operate
from ..programs.variation import put


@compiled
def simplify(tree, size, lefts, begins, out):
    """Write the tree with what is constant computed, and constants merged across two levels of + - *.

    Returns the size of `out`. A constant that would not be finite is left to be computed.
    """
    at = 0
    for i in range(size):
        token = tree.tokens[i]
        count = arity(token)
        at = put(out, at, token, tree.constants[i])
        if count > 0 and fold(out, at, count):
            at -= count
        elif count == 2:
            structure(out.tokens, at, lefts, begins)
            at = merge_sum(out, at, lefts) if token == ADD or token == MUL else at
            at = merge_difference(out, at, lefts, begins) if token == SUB else at
    return at


@compiled
def fold(out, at, count):
    """Replace the operator at the end, if its operands are constants, by its value, if that is finite."""
    first = at - 1 - count
    if out.tokens[at - 2] != CONSTANT or out.tokens[first] != CONSTANT:
        return False
    value = operate(out.tokens[at - 1], out.constants[first], out.constants[at - 2])
    if value - value != 0.0:
        return False
    put(out, first, CONSTANT, value)
    return True


@compiled
def merge_sum(out, at, lefts):
    """``c + x`` becomes ``x + c``, then ``(x + d) + c`` becomes ``x + (d + c)``; products alike."""
    token, left = out.tokens[at - 1], lefts[at - 1]
    if out.tokens[left] == CONSTANT:
        c = out.constants[left]
        for i in range(left, at - 2):
            put(out, i, out.tokens[i + 1], out.constants[i + 1])
        put(out, at - 2, CONSTANT, c)
        left = at - 3
    if out.tokens[at - 2] != CONSTANT or out.tokens[left] != token or out.tokens[left - 1] != CONSTANT:
        return at
    merged = operate(token, out.constants[left - 1], out.constants[at - 2])
    if merged - merged != 0.0:
        return at
    out.constants[left - 1] = merged
    return left + 1


@compiled
def merge_difference(out, at, lefts, begins):
    """Merge the constants of a difference with those of another that is one of its operands."""
    left, right = lefts[at - 1], at - 2
    if out.tokens[right] == CONSTANT and out.tokens[left] == SUB:
        c, begin = out.constants[right], begins[left]
        if out.tokens[left - 1] == CONSTANT:  # (x - d) - c = x - (d + c)
            out.constants[left - 1] += c
            return left + 1
        if lefts[left] == begin and out.tokens[begin] == CONSTANT:  # (d - x) - c = (d - c) - x
            out.constants[begin] -= c
            return left + 1
    elif out.tokens[left] == CONSTANT and out.tokens[right] == SUB:
        c, begin = out.constants[left], left + 1
        if out.tokens[right - 1] == CONSTANT:  # c - (x - d) = (c + d) - x
            out.constants[left] += out.constants[right - 1]
            return put(out, right - 1, SUB, 0.0)
        if lefts[right] == begin and out.tokens[begin] == CONSTANT:  # c - (d - x) = x - (d - c)
            d = out.constants[begin]
            for i in range(begin + 1, right):
                put(out, i - 2, out.tokens[i], out.constants[i])
            return put(out, put(out, right - 2, CONSTANT, d - c), SUB, 0.0)
    return at
