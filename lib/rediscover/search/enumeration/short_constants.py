"""Constants made short where the description length allows it, with all others moved along."""

from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np

from ...expressions import Expression
from ...expressions.trees import is_number
from .description_length import number_bits
from .formula import Found, Tree, found, leaf, tidy

NODE_BITS = 4.0  # of a node: one of about 16 symbols
PRECISE = 4.0  # bits of a fitted constant before those that depend on the number of rows: its sign and order
ROUNDING = 1e-20  # error, relative to the target's variance, below which there is none
Bits = Callable[[Iterable[float], int], float]
TRIED = 40  # constants with a shorter value that are tried for one expression


def constant_bits(value: float, n: int) -> float:
    """Bits of a constant: of the number, if it is short, else log2(n)/2 and a few.

    Examples
    --------
    >>> constant_bits(2, 1024) < constant_bits(0.5, 1024) < constant_bits(0.4142, 1024) == 9.0
    True
    """
    return min(number_bits(value), fitted_bits(n))


def fitted_bits(n: int) -> float:
    """Bits of a constant that is fitted to n rows."""
    return float(np.log2(n)) / 2 + PRECISE


def tree_bits(tree: Tree, n: int) -> float:
    """Bits of a tree: `NODE_BITS` a node and those of its constants; exponents are none.

    Examples
    --------
    >>> tree_bits(("**", ("x",), (2,)), 1024), tree_bits(("*", (0.4142,), ("x",)), 1024)
    (12.0, 21.0)
    """
    label, *children = tree
    if not children:
        return NODE_BITS if isinstance(label, str) else NODE_BITS + constant_bits(label, n)
    if label == "**":
        return 2 * NODE_BITS + tree_bits(children[0], n)
    return NODE_BITS + sum(tree_bits(child, n) for child in children)


def constants_bits(constants: Iterable[float], n: int) -> float:
    """Bits of the constants of an expression, each for itself."""
    return sum(constant_bits(value, n) for value in constants)


def description(expression: Expression, error: float, n: int, bits: Bits = constants_bits) -> float:
    """Bits of an expression and of what it leaves of n rows.

    Parameters
    ----------
    expression : Expression
    error : float
        Mean square, relative to the target's variance.
    n : int
    bits : function of the constants and n
    """
    return n / 2 * np.log2(error + ROUNDING) + NODE_BITS * expression.size + bits(expression.constants, n)


def shorter(value: float) -> list[float]:
    """Short numbers near a value: 0, 1 and -1, the next integer, one and two digits, a fraction.

    Examples
    --------
    >>> shorter(2.04)
    [0.0, 1.0, 2.0]
    """
    options = [0.0, 1.0 if value > 0 else -1.0]
    if abs(value) < 1e6:
        options.append(float(round(value)))
    options += [float(f"{value:.1g}"), float(f"{value:.2g}")]
    if 1e-3 < abs(value) < 100:
        options.append(float(Fraction(value).limit_denominator(6)))
    options = [v for v in dict.fromkeys(options) if v != value and number_bits(v) < 12]
    return options


def with_short_constants(find: Found, columns, y, n: int) -> Found:
    """The find with constants shortened one after the other, each time the one that saves most.

    What a change costs is foreseen from the curvature of the error, which also tells how the other constants move.

    Parameters
    ----------
    find : Found
        Fitted to the table.
    columns, y : the table
    n : int
        Rows that the description length counts.
    """
    expression, tried = find.expression, 0
    fixed: set[int] = set()
    variance = float(np.var(y)) or 1.0
    best = description(expression, find.error / variance, n)
    values = np.array(expression.constants, float)
    refused: set[tuple[int, float]] = set()
    while tried < TRIED and len(fixed) < len(values):
        free = [i for i in range(len(values)) if i not in fixed]
        fit = curvature(expression, values, np.eye(len(values))[:, free], columns, y)
        if fit is None:
            break
        scale = fit[0]
        options = []
        for a, i in enumerate(free):
            for v in shorter(values[i]):
                cost = (v - values[i]) ** 2 / scale[a, a] / (2 * np.log(2)) * n / len(y)
                saved = constant_bits(values[i], n) - (0 if v in (0, 1, -1) else constant_bits(v, n)) - cost
                if (i, v) not in refused and saved > 0:
                    options.append((-saved, i, v, a))
        if not options:
            break
        _, i, v, a = min(options)
        tried += 1
        moved = values.copy()
        moved[free] += scale[:, a] / scale[a, a] * (v - values[i])
        moved[i] = v
        trial = squared_error(expression, moved, columns, y)
        bits = (
            description(expression.with_constants(plain(moved)), trial / variance, n) if np.isfinite(trial) else np.inf
        )
        if bits < best:
            values, best = moved, bits
            fixed.add(i)
        else:
            refused.add((i, v))
    again = found(folded(tidy(expression.with_constants(plain(values)).tree)), columns, y, find.stage)
    return again if again is not None and np.isfinite(again.error) else find


def folded(tree: Tree) -> Tree:
    """The tree with functions of numbers replaced by their values.

    Examples
    --------
    >>> folded(("*", ("exp", ("*", (0,), ("x",))), ("x",)))
    ('x',)
    """
    label, *children = tree
    if not children or label == "where":
        return tree
    parts = [folded(child) for child in children]
    if all(is_number(part[0]) for part in parts):
        with np.errstate(all="ignore"):
            value = float(Expression((label, *parts))({}))
        return leaf(value) if np.isfinite(value) else tree
    return tidy((label, *parts))


def plain(values) -> list[float | int]:
    return [int(v) if v == int(v) and abs(v) < 1e6 else float(f"{v:.10g}") for v in values]


def squared_error(expression, values, columns, y) -> float:
    if not np.isfinite(values).all():
        return np.inf
    with np.errstate(all="ignore"):
        return float(np.mean((expression.with_constants(plain(values))(columns) - y) ** 2))


def curvature(expression, values, directions, columns, y, ridge: float = 0.0) -> tuple[np.ndarray, np.ndarray] | None:
    """Covariance of a least-squares fit's constants, along directions, and the step of Gauss and Newton to its end.

    By differences; None where it is not defined. Directions are the columns of a matrix, one row for each constant.
    """
    J = np.empty((len(y), directions.shape[1]))
    with np.errstate(all="ignore"):
        for a, direction in enumerate(directions.T):
            h = 1e-5 * max(abs(values[np.argmax(np.abs(direction))]), 1e-2)
            ends = (values + h * direction, values - h * direction)
            if not np.isfinite(ends).all():
                return None
            ahead, behind = (expression.with_constants([float(v) for v in part])(columns) for part in ends)
            J[:, a] = (ahead - behind) / (2 * h)
        left = y - expression.with_constants([float(v) for v in values])(columns)
    size = np.linalg.norm(J, axis=0)
    if not np.isfinite(J).all() or not np.isfinite(left).all() or not (size > 0).all():
        return None
    normal = (J / size).T @ (J / size)
    inverse = np.linalg.inv(normal + ridge * np.eye(len(normal))) if ridge else np.linalg.pinv(normal, rcond=1e-12)
    noise = float(left @ left) / max(len(y) - J.shape[1], 1)
    scale = noise * inverse / np.outer(size, size)
    return (scale, inverse @ (J / size).T @ left / size) if (np.diag(scale) > 0).all() else None
