"""Values of expressions with many digits, and how far they can be trusted."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath
import numpy as np

from ..expressions.trees import fold

DIGITS = 50
ROUNDING = 1e-30  # relative error of an operation of a shaken value
COPIES = 3  # shaken values
BITS = 4096  # of the exponent of a function's argument
Row = Mapping[str, Any]


def values(tree: tuple, rows: Sequence[Row]) -> list:
    """Values of a tree in mpmath's working precision.

    Parameters
    ----------
    tree : tree of an `Expression`
    rows : input name -> mpf, for each row

    Returns
    -------
    list of mpf
        One a row: NaN where the expression is undefined or complex, or a function has an argument
        beyond 2 to the power of +-4096, whose value might never end.

    Examples
    --------
    >>> values(("cbrt", ("x",)), [{"x": mpmath.mpf(-8)}, {"x": mpmath.mpf(0)}])
    [mpf('-2.0'), mpf('0.0')]
    """
    return [_value(tree, row) for row in rows]


def uncertainty(tree: tuple, rows: Sequence[Row], exact: Sequence[Any], tolerance: float) -> list:
    """How much values change where inputs and decimal numbers do, relative to each, by `tolerance`.

    The largest change among three copies. In a copy every input and every number that is not whole
    has a random relative error of up to `tolerance`, at each place where it stands, and so has every
    operation, of up to 1e-30. So the change includes what functions make of errors, and the
    digits that cancel.

    Parameters
    ----------
    tree, rows : as for `values`
    exact : what `values` gives for them
    tolerance : float

    Returns
    -------
    list of mpf
        One a row; infinite where the value or a copy is undefined.

    Examples
    --------
    >>> rows, trees = [{"x": mpmath.mpf(1)}], [("*", (c,), ("x",)) for c in (1, 3.5)]
    >>> [float(uncertainty(tree, rows, values(tree, rows), 1e-6)[0]) < 1e-6 for tree in trees]
    [True, False]
    """
    rng = np.random.default_rng(0)

    def shake(number: Any, error: float) -> Any:
        return number * (1 + error * mpmath.mpf(rng.uniform(-1.0, 1.0)))

    def change(row: Row, value: Any) -> Any:
        copies = [_value(tree, row, shake, tolerance) for _ in range(COPIES)]
        defined = all(map(mpmath.isfinite, [value, *copies]))
        return max(abs(copy - value) for copy in copies) if defined else mpmath.inf

    return [change(row, value) for row, value in zip(rows, exact, strict=True)]


def _value(tree: tuple, row: Row, shake: Callable | None = None, tolerance: float = 0.0) -> Any:
    return fold(tree, lambda label, arguments: _of_node(label, arguments, row, shake, tolerance))


def _of_node(label: Any, arguments: list, row: Row, shake: Callable | None, tolerance: float) -> Any:
    """Value of a node from those of its children."""
    if not arguments:
        if isinstance(label, bool):
            return label
        if label in CONSTANTS:
            return +CONSTANTS[label]
        number = row[label] if isinstance(label, str) else mpmath.mpf(label)
        whole = not isinstance(label, str) and mpmath.isint(number)
        return number if shake is None or whole else shake(number, tolerance)
    if label == "where":
        condition, value, *other = arguments
        return value if condition else (other or [mpmath.nan])[0]
    if label not in PLAIN and any(abs(mpmath.mag(a)) > BITS for a in arguments if a):
        return mpmath.nan
    try:
        result = (PLAIN.get(label) or FUNCTIONS.get(label) or getattr(mpmath, label))(*arguments)
    except (ZeroDivisionError, ValueError):
        return mpmath.nan
    if isinstance(result, mpmath.mpc):
        result = result.real if result.imag == 0 else mpmath.nan
    return result if shake is None or isinstance(result, bool) else shake(result, ROUNDING)


def _cbrt(a: Any) -> Any:
    """The real root, as numpy's; mpmath's is complex for negative numbers."""
    return mpmath.sign(a) * mpmath.cbrt(abs(a))


CONSTANTS = {"π": mpmath.pi, "ℯ": mpmath.e}
PLAIN: dict[str, Callable] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
PLAIN |= {"/": operator.truediv, "neg": operator.neg, "abs": abs, "min": min, "max": max}
PLAIN |= {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
PLAIN |= {"==": operator.eq, "!=": operator.ne, "and": operator.and_, "or": operator.or_}
PLAIN |= {"xor": operator.xor, "not": operator.not_, "implies": operator.le}
FUNCTIONS: dict[str, Callable] = {"**": operator.pow, "mod": operator.mod, "cbrt": _cbrt}
FUNCTIONS |= {"log2": lambda a: mpmath.log(a, 2)}
