"""Exact expressions made shorter: what may be left out within rounding is left out.

Stages that fit constants reach the target by detours, such as ``k*x/atan(k*(1 + x))`` with a tiny k for ``x/(1 + x)``.
"""

from collections.abc import Iterator

import numpy as np

from ...expressions.trees import is_number
from .formula import Found, Tree, found, leaf, rounded, tidy, times

IDENTITY_AT_ZERO = ("sin", "tan", "atan", "asin", "tanh", "sinh", "atanh", "asinh")


def shortened(candidate: Found, columns: dict[str, np.ndarray], y: np.ndarray) -> Found:
    """The shortest expression that single rewrites lead to while it stays exact.

    Parameters
    ----------
    candidate : Found
        One that is exact or nearly.
    columns : input -> values, shape (n,)
    y : ndarray, shape (n,)

    Examples
    --------
    >>> from rediscover.expressions import parse
    >>> x = np.linspace(1.0, 2.0, 20)
    >>> detour = found(parse("1e-6*x/atan(1e-6*x + 1e-6)").tree, {"x": x}, x / (x + 1), "product")
    >>> str(shortened(detour, {"x": x}, x / (x + 1)).expression)
    'x/(x + 1)'
    """
    best, shorter = candidate, True
    while shorter:
        shorter = False
        for tree in rewrites(best.expression.tree):
            again = found(tidy(tree), columns, y, best.stage)
            if again is not None and again.exact:
                again = rounded(again, columns, y)
                if again.size < best.size:
                    best, shorter = again, True
                    break
    return best


def rewrites(tree: Tree) -> Iterator[Tree]:
    """Trees with one node rewritten, the outermost first."""
    yield from _rewritten(tree)
    label, *children = tree
    for i, child in enumerate(children):
        for other in rewrites(child):
            yield (label, *children[:i], other, *children[i + 1 :])


def _rewritten(tree: Tree) -> Iterator[Tree]:
    """What may stand in place of a node: one term of a sum, an argument near zero, a quotient or power put together."""
    label, *parts = tree
    if label in ("+", "-"):
        yield parts[0]
        yield parts[1] if label == "+" else ("neg", parts[1])
    elif label in IDENTITY_AT_ZERO:
        yield parts[0]
    elif label == "exp":
        yield ("+", (1,), parts[0])
    elif label == "/" and (factor := _factor(parts[0])) not in (0, 1):
        yield ("/", scaled(parts[0], 1 / factor), scaled(parts[1], 1 / factor))
    elif label == "**" and parts[0][0] == "exp" and is_number(parts[1][0]):
        yield ("exp", scaled(parts[0][1], parts[1][0]))


def _factor(tree: Tree) -> float:
    """The number that a product begins or ends with; 1 where there is none."""
    if is_number(tree[0]):
        return tree[0]
    if tree[0] == "neg":
        return -_factor(tree[1])
    return _factor(tree[1]) * _factor(tree[2]) if tree[0] == "*" else 1.0


def scaled(tree: Tree, factor: float) -> Tree:
    """A number times a tree, multiplied into the terms of sums and the numbers of products.

    Examples
    --------
    >>> scaled(("+", ("*", (2.0,), ("x",)), (4.0,)), 0.5)
    ('+', ('x',), (2,))
    """
    label, *parts = tree
    if is_number(label):
        return leaf(label * factor)
    if label in ("+", "-"):
        return (label, scaled(parts[0], factor), scaled(parts[1], factor))
    if label == "neg":
        return ("neg", scaled(parts[0], factor))
    if label == "*" and (numbers := [i for i in (0, 1) if is_number(parts[i][0])]):
        parts[numbers[0]] = leaf(parts[numbers[0]][0] * factor)
        return tidy(("*", *parts))
    return times(factor, tree)
