"""Random trees, mutations and crossover, compiled, on programs in postfix order.

Each move reads a `Tree` of `size` tokens, writes another one, and returns that one's size; a move that does not
apply copies. Room for a result is for the caller to provide: no move adds more than two tokens, and a crossover
makes a tree no larger than both together.
"""

from typing import NamedTuple

import numpy as np

from .compiled import compiled
from .draws import below, normal, stream, uniform
from .operators import ARITIES, CODES, CONSTANT, VARIABLE, arity
from .programs import Programs, empty


class Tree(NamedTuple):
    """One program: tokens and constants, each of shape (length,)."""

    tokens: np.ndarray
    constants: np.ndarray


class Palette(NamedTuple):
    """What trees are made of: codes of the operators of one and of two operands, number of variables."""

    unary: np.ndarray
    binary: np.ndarray
    columns: int


def palette(operators, columns: int) -> Palette:
    """Palette of operators by name.

    >>> palette(["+", "sin"], 2)
    Palette(unary=array([16], dtype=int16), binary=array([1], dtype=int16), columns=2)
    """
    unknown = [name for name in operators if name not in CODES]
    if unknown:
        raise ValueError(f"unknown operator {unknown[0]!r} (operators: {', '.join(CODES)})")
    unary, binary = (
        np.array([CODES[name] for name in operators if ARITIES[name] == count], np.int16) for count in (1, 2)
    )
    return Palette(unary, binary, columns)


# ------------------------------------------------------------------------------------------------ writing a tree


@compiled
def copy(tree, first, last, out, at):
    """Copy the tokens first, ..., last - 1 to `at`; the place behind them."""
    for i in range(last - first):
        out.tokens[at + i] = tree.tokens[first + i]
        out.constants[at + i] = tree.constants[first + i]
    return at + last - first


@compiled
def put(out, at, token, constant):
    out.tokens[at], out.constants[at] = token, constant
    return at + 1


@compiled
def put_leaf(out, at, palette, state):
    """A constant from N(0, 1) or any variable, with even odds."""
    if palette.columns == 0 or uniform(state) < 0.5:
        return put(out, at, CONSTANT, normal(state))
    return put(out, at, VARIABLE + below(state, palette.columns), 0.0)


@compiled
def draw_operator(palette, state):
    i = below(state, palette.binary.size + palette.unary.size)
    return palette.binary[i] if i < palette.binary.size else palette.unary[i - palette.binary.size]


@compiled
def matches(token, kind):
    """Kinds: 0 leaf, 1 and 2 operator of so many operands, 3 any operator, 4 anything, 5 constant."""
    count = arity(token)
    return count == kind or (kind == 3 and count > 0) or kind == 4 or (kind == 5 and token == CONSTANT)


@compiled
def pick(tree, size, kind, state):
    """A token of this kind, each as likely; -1 if there is none."""
    count = 0
    for i in range(size):
        count += matches(tree.tokens[i], kind)
    if count == 0:
        return -1
    place = below(state, count)
    for i in range(size):
        place -= matches(tree.tokens[i], kind)
        if place < 0:
            return i
    return -1


# ------------------------------------------------------------------------------------------------------ mutations


@compiled
def sprout(tree, size, operator, palette, state):
    """Replace a random leaf, in place, by an operator of new leaves; the new size."""
    leaf, extra = pick(tree, size, 0, state), arity(operator)
    for i in range(size - 1, leaf, -1):
        tree.tokens[i + extra], tree.constants[i + extra] = tree.tokens[i], tree.constants[i]
    at = leaf
    for _ in range(extra):
        at = put_leaf(tree, at, palette, state)
    put(tree, at, operator, 0.0)
    return size + extra


@compiled
def grow(out, target, palette, state):
    """A random tree of `target` tokens, or one fewer where the last would need an operator of one operand."""
    size = put_leaf(out, 0, palette, state)
    while size < target:
        if target - size == 1:
            if palette.unary.size == 0:
                break
            operator = palette.unary[below(state, palette.unary.size)]
        else:
            operator = draw_operator(palette, state)
        size = sprout(out, size, operator, palette, state)
    return size


@compiled
def change_constant(tree, size, out, factor, flip, state):
    """A random constant times or divided by `factor`^u, u from U(0, 1); its sign changes with probability `flip`."""
    copy(tree, 0, size, out, 0)
    i = pick(tree, size, 5, state)
    if i >= 0:
        change = factor ** uniform(state)
        out.constants[i] *= change if uniform(state) < 0.5 else 1.0 / change
        if uniform(state) < flip:
            out.constants[i] = -out.constants[i]
    return size


@compiled
def change_operator(tree, size, out, palette, state):
    copy(tree, 0, size, out, 0)
    i = pick(tree, size, 3, state)
    if i >= 0:
        choices = palette.unary if arity(tree.tokens[i]) == 1 else palette.binary
        if choices.size:  # a tree from elsewhere may hold operators that are not drawn
            out.tokens[i] = choices[below(state, choices.size)]
    return size


@compiled
def swap_operands(tree, size, lefts, begins, out, state):
    i = pick(tree, size, 2, state)
    if i < 0:
        return copy(tree, 0, size, out, 0)
    at = copy(tree, 0, begins[i], out, 0)
    at = copy(tree, lefts[i] + 1, i, out, at)
    at = copy(tree, begins[i], lefts[i] + 1, out, at)
    return copy(tree, i, size, out, at)


@compiled
def add_node(tree, size, out, palette, state):
    """An operator of new leaves for a random leaf, or a new root over the old tree, with even odds."""
    copy(tree, 0, size, out, 0)
    operator = draw_operator(palette, state)
    if uniform(state) < 0.5:
        return sprout(out, size, operator, palette, state)
    at = put_leaf(out, size, palette, state) if arity(operator) == 2 else size
    return put(out, at, operator, 0.0)


@compiled
def insert_node(tree, size, out, palette, state):
    """A random subtree becomes the first operand of a new operator."""
    i, operator = pick(tree, size, 4, state), draw_operator(palette, state)
    at = copy(tree, 0, i + 1, out, 0)
    if arity(operator) == 2:
        at = put_leaf(out, at, palette, state)
    at = put(out, at, operator, 0.0)
    return copy(tree, i + 1, size, out, at)


@compiled
def delete_node(tree, size, lefts, begins, out, palette, state):
    """An operand of a random operator: a leaf becomes another, an operator becomes one of its operands."""
    i = random_operand(tree, size, lefts, state)
    if arity(tree.tokens[i]) == 0:
        copy(tree, 0, size, out, 0)
        put_leaf(out, i, palette, state)
        return size
    first, last = begins[i], i
    if arity(tree.tokens[i]) == 2:
        if uniform(state) < 0.5:
            last = lefts[i] + 1
        else:
            first = lefts[i] + 1
    at = copy(tree, 0, begins[i], out, 0)
    at = copy(tree, first, last, out, at)
    return copy(tree, i + 1, size, out, at)


@compiled
def random_operand(tree, size, lefts, state):
    """Root of an operand of a random operator, any of its operands; the root of a leaf."""
    i = pick(tree, size, 3, state)
    if i < 0:
        return size - 1
    return lefts[i] if uniform(state) < 0.5 else i - 1


@compiled
def is_pivot(tree, lefts, i):
    """Whether token i has an operand that is an operator."""
    operands = arity(tree.tokens[i])
    return operands > 0 and (arity(tree.tokens[i - 1]) > 0 or arity(tree.tokens[lefts[i]]) > 0)


@compiled
def pick_pivot(tree, size, lefts, state):
    """The root with the odds of every pivot, else a random parent's operand that is one; -1 if there is none."""
    pivots = parents = 0
    for i in range(size):
        if is_pivot(tree, lefts, i):
            pivots += 1
            parents += is_pivot(tree, lefts, i - 1) or is_pivot(tree, lefts, lefts[i])
    if pivots == 0:
        return -1
    if parents == 0 or (is_pivot(tree, lefts, size - 1) and below(state, pivots) == 0):
        return size - 1
    place = below(state, parents)
    for i in range(size):
        if is_pivot(tree, lefts, i):
            right, left = is_pivot(tree, lefts, i - 1), is_pivot(tree, lefts, lefts[i])
            place -= right or left
            if place < 0:
                if right and left:
                    return i - 1 if uniform(state) < 0.5 else lefts[i]
                return i - 1 if right else lefts[i]
    return -1


@compiled
def rotate(tree, size, lefts, out, state):
    """An operand of a random pivot becomes its parent.

    To the right the first operand rises: ``(a * b) + c`` becomes ``a * (b + c)``, that is ``a b * c +``
    becomes ``a b c + *``; to the left the second.
    """
    i = pick_pivot(tree, size, lefts, state)
    if i < 0:
        return copy(tree, 0, size, out, 0)
    right = arity(tree.tokens[lefts[i]]) > 0
    left = arity(tree.tokens[i]) == 2 and arity(tree.tokens[i - 1]) > 0
    if right and left:
        right = uniform(state) < 0.5
    if right:
        risen = lefts[i]
        at = copy(tree, 0, risen, out, 0)
        at = copy(tree, risen + 1, i + 1, out, at)
    else:
        risen = i - 1
        split = lefts[risen] + 1
        at = copy(tree, 0, split, out, 0)
        at = copy(tree, i, i + 1, out, at)
        at = copy(tree, split, risen, out, at)
    at = copy(tree, risen, risen + 1, out, at)
    return copy(tree, i + 1, size, out, at)


@compiled
def graft(tree, size, first, last, donor, donor_first, donor_last, out):
    """The tree with the tokens first, ..., last - 1 replaced by some of a donor."""
    at = copy(tree, 0, first, out, 0)
    at = copy(donor, donor_first, donor_last, out, at)
    return copy(tree, last, size, out, at)


@compiled
def _random(programs, size, palette, state):
    for k in range(programs.sizes.size):
        programs.sizes[k] = grow(Tree(programs.tokens[k], programs.constants[k]), size, palette, state)


def random_programs(n: int, size: int, operators, columns: int, seed: int = 0) -> Programs:
    """n random programs of `size` tokens, or of one fewer where the operators do not allow it.

    Parameters
    ----------
    operators : names, as in `CODES`
    columns : number of variables; with none, leaves are constants.

    >>> random_programs(3, 6, ["+", "sin"], 2).sizes.tolist()
    [6, 6, 6]
    """
    if n < 0 or size < 1:
        raise ValueError(f"n must be at least 0 and size at least 1, got {n} and {size}")
    programs = empty(n, size)
    _random(programs, size, palette(operators, columns), stream(seed))
    return programs
