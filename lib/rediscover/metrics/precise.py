"""Values of expressions with many digits, and how far they can be trusted."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import mpfr

from ..expressions.trees import fold

DIGITS = 50
PRECISION = round((DIGITS + 1) * math.log2(10))  # in bits, with a digit to spare
ROUNDING = 1e-30  # relative error of an operation of a shaken value
COPIES = 3  # shaken values
BITS = 4096  # of the exponent of a function's argument
NAN = gmpy2.nan()
Row = Mapping[str, Any]


def digits() -> Any:
    """The working precision, for a ``with`` around everything that is computed with these values."""
    return gmpy2.context(precision=PRECISION, emax=gmpy2.get_emax_max(), emin=gmpy2.get_emin_min())


def values(tree: tuple, rows: Sequence[Row]) -> list:
    """Values of a tree in the working precision, see `digits`.

    Parameters
    ----------
    tree : tree of an `Expression`
    rows : input name -> mpfr, for each row

    Returns
    -------
    list of mpfr
        One a row: NaN where the expression is undefined, complex or infinite, or a function has an argument
        beyond 2 to the power of +-4096, whose value might never end.

    Examples
    --------
    >>> with digits():
    ...     print(*map(float, values(("cbrt", ("x",)), [{"x": mpfr(-8)}, {"x": mpfr(0)}])))
    -2.0 0.0
    """
    return _column(tree, rows, 0.0, lambda column, _: column)


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
    list of mpfr
        One a row; infinite where the value or a copy is undefined.

    Examples
    --------
    >>> trees = [("*", (c,), ("x",)) for c in (1, 3.5)]
    >>> with digits():
    ...     rows = [{"x": mpfr(1)}]
    ...     print([float(uncertainty(tree, rows, values(tree, rows), 1e-6)[0]) < 1e-6 for tree in trees])
    [True, False]
    """
    rng, one = np.random.default_rng(0), mpfr(1)

    def shake(column: list, error: float) -> list:
        drawn = (error * rng.uniform(-1.0, 1.0, len(column))).tolist()
        return [value * (one + part) for value, part in zip(column, drawn, strict=True)]

    copies = _column(tree, [*rows] * COPIES, tolerance, shake)
    changes = [abs(copy - value) for copy, value in zip(copies, [*exact] * COPIES, strict=True)]
    changes = [change if gmpy2.is_finite(change) else gmpy2.inf() for change in changes]
    return [max(changes[i :: len(rows)]) for i in range(len(rows))]


def _column(tree: tuple, rows: Sequence[Row], tolerance: float, shake: Callable) -> list:
    """Values of a tree on all rows, those of every node changed by `shake`."""

    def of_node(label: Any, arguments: list) -> list:
        if arguments:
            column = _applied(label, arguments)
            return column if isinstance(next(iter(column), None), bool) else shake(column, ROUNDING)
        if label in CONSTANTS:
            return [CONSTANTS[label]()] * len(rows)
        if isinstance(label, str):
            return shake([row[label] for row in rows], tolerance)
        column = [label if isinstance(label, bool) else mpfr(label)] * len(rows)
        return column if gmpy2.is_integer(label) else shake(column, tolerance)

    return fold(tree, of_node)


def _applied(label: Any, arguments: list[list]) -> list:
    """Values of a node on all rows, from those of its children."""
    if label == "where":
        condition, value, *other = arguments
        choices = zip(condition, value, other[0] if other else [NAN] * len(value), strict=True)
        return [first if where else second for where, first, second in choices]
    if label in LOGIC:
        return list(map(LOGIC[label], *arguments))
    function = PLAIN.get(label) or FUNCTIONS.get(label) or getattr(gmpy2, label)
    found = (function(*a) if label in PLAIN or all(map(_within, a)) else NAN for a in zip(*arguments, strict=True))
    return [value if gmpy2.is_finite(value) else NAN for value in found]


def _within(argument: Any) -> bool:
    return gmpy2.is_finite(argument) and abs(gmpy2.get_exp(argument)) <= BITS


CONSTANTS: dict[Any, Callable] = {"π": gmpy2.const_pi, "ℯ": lambda: gmpy2.exp(1)}
LOGIC: dict[str, Callable] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
LOGIC |= {"==": operator.eq, "!=": operator.ne, "and": operator.and_, "or": operator.or_}
LOGIC |= {"xor": operator.xor, "not": operator.not_, "implies": operator.le}
PLAIN: dict[str, Callable] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
PLAIN |= {"/": operator.truediv, "neg": operator.neg, "abs": abs, "min": min, "max": max}
FUNCTIONS: dict[str, Callable] = {"**": operator.pow, "mod": operator.mod}
WHOLE = {"sign": gmpy2.sign, "floor": gmpy2.floor, "ceil": gmpy2.ceil}
FUNCTIONS |= {name: lambda a, function=function: mpfr(function(a)) for name, function in WHOLE.items()}
