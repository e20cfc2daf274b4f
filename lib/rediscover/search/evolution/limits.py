"""What a program may be: its size and depth, the size of operands, operators inside others."""

from typing import NamedTuple

import numpy as np

from ..programs.compiled import compiled
from ..programs.evaluation import structure
from ..programs.operators import CODES, arity


class Limits(NamedTuple):
    """What a tree may be, beside its size.

    Attributes
    ----------
    depth : of the tree; a leaf has 1.
    arguments : ndarray, shape (codes, 2)
        Largest size of the operands of each operator; -1 for any.
    nesting : ndarray, shape (codes, codes)
        ``nesting[outer, inner]``: how many times `inner` may stand on one path below `outer`; -1 for any.
    inner : ndarray
        The codes that some `nesting` counts.
    """

    depth: int
    arguments: np.ndarray
    nesting: np.ndarray
    inner: np.ndarray


def limits(depth: int, arguments=None, nesting=None) -> Limits:
    """Limits by name of operator.

    Parameters
    ----------
    arguments : mapping of operator -> largest size of its operand, or a list of one size for each of two
    nesting : mapping of outer operator -> mapping of inner operator -> largest count

    Raises
    ------
    KeyError
        If there is no such operator.
    """
    sizes = np.full((len(CODES) + 1, 2), -1, np.int64)
    counts = np.full((len(CODES) + 1, len(CODES) + 1), -1, np.int64)
    for name, size in (arguments or {}).items():
        sizes[CODES[name]] = size
    for outer, inner in (nesting or {}).items():
        for name, count in inner.items():
            counts[CODES[outer], CODES[name]] = count
    return Limits(depth, sizes, counts, np.flatnonzero((counts >= 0).any(axis=0)))


@compiled
def legal(tree, size, largest, lefts, begins, limits, count):
    """Whether size, depth, operands and nesting are within their limits; `count` is room for numbers."""
    if size > largest or not structure(tree.tokens, size, lefts, begins):
        return False
    for i in range(size):
        token, operands = tree.tokens[i], arity(tree.tokens[i])
        count[i] = 1 + (max(count[lefts[i]], count[i - 1]) if operands else 0)
        if operands:
            first = limits.arguments[token, 0]
            second = limits.arguments[token, 1]
            if 0 <= first < lefts[i] - begins[i] + 1 or (operands == 2 and 0 <= second < i - 1 - lefts[i]):
                return False
    if count[size - 1] > limits.depth:
        return False
    for inner in limits.inner:
        for i in range(size):
            token = tree.tokens[i]
            below_it = max(count[lefts[i]], count[i - 1]) if arity(token) else 0
            if arity(token) and 0 <= limits.nesting[token, inner] < below_it:
                return False
            count[i] = below_it + (token == inner)
    return True
