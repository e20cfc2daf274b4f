"""Is it the same law, up to a constant factor or summand? Found on a sample with fifty digits, then confirmed.

What computer algebra may hang on happens in a process that can be killed; `relation` says how it went.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import mpmath
import numpy as np

from ..expressions import Expression, ExpressionError, parse
from ..expressions.trees import fold
from ..system.given_up import attempt
from . import metric
from .compared_trees import exact, real
from .edit_distance import as_expression, ned_harmonised

# Numeric confirmation: significant digits, rows, and how constant a constant must be.
DIGITS = 50
ROWS = 64
TOLERANCE = 1e-6
DECADES = 6  # of extrapolation to either side
SOLVED = ("equal", "factor", "offset")


class Relation(NamedTuple):
    """What a prediction is to the truth.

    Attributes
    ----------
    kind : 'equal'; 'factor' or 'offset', if they differ by a constant factor or summand; 'indistinguishable',
        if the sample shows no other difference, but they are different laws; 'different'; 'constant', if the
        prediction does not vary; 'undefined', if it is no real number on a row where the truth is;
        'unparsable'; 'timeout'; 'error'
    how : what confirmed the first three kinds: 'symbolic', 'skeleton' or 'extrapolation'; else ''
    """

    kind: str
    how: str = ""

    @property
    def solved(self) -> bool:
        return self.kind in SOLVED


def relation(prediction: Expression | str, truth: Expression | str, sample: Mapping[str, np.ndarray]) -> Relation:
    r"""How a prediction is related to the truth, decided on a sample with 50 significant digits.

    SRBench calls a prediction f a solution of g if f is not constant and g - f or g / f is a constant, the
    latter not zero. It decides so after rounding all numbers to three decimals, which turns constants of
    physics in SI units into zero. Here nothing is rounded: the prediction differs by a factor r (with a =
    0) or an offset a (with r = 1) if on all rows

    .. math:: |f - a - r g| \le \epsilon |r| \min(|g|, \max g - \min g), \quad \epsilon = 10^{-6},

    with r or a from the row of the largest or smallest \|g\|. So fitted constants may be off by about that,
    whatever their size. On narrow ranges this also holds for other laws, such as the Rayleigh-Jeans limit
    of Planck's. So one of three things must confirm it: computer algebra finds the quotient or difference
    constant; both have the same skeleton, the canonical tree of `ned_harmonised`; or it also holds where
    every input is multiplied by a random power of ten between -6 and 6.

    Parameters
    ----------
    prediction, truth : str or Expression
    sample : input name -> ndarray, shape (n,)
        At least 2 rows that the prediction was not fitted to; the first 64 are used.

    Returns
    -------
    Relation

    Raises
    ------
    ExpressionError
        If the truth cannot be read.
    ValueError
        If the sample has fewer than 2 rows on which the truth is defined.
    """
    rows = np.column_stack([np.asarray(sample[name], float) for name in sample])[:ROWS].tolist()
    names = tuple(sample)
    truth = as_expression(truth, names)
    try:
        prediction = as_expression(prediction, names)
    except ExpressionError:
        return Relation("unparsable")
    texts = str(prediction), str(truth)
    try:
        kind = attempt(compare, *texts, names, rows)
        if kind not in SOLVED:
            return Relation(kind)
        if _confirms(is_constant, *texts, kind == "offset"):
            return Relation(kind, "symbolic")
        free = "1.5 + ({})" if kind == "offset" else "1.5*({})"  # what may differ must not count
        freed, target = map(free.format, texts)
        if ned_harmonised(freed, target, names) == 0:
            return Relation(kind, "skeleton")
        if _confirms(extrapolates, kind, *texts, names, rows):
            return Relation(kind, "extrapolation")
        return Relation("indistinguishable")
    except TimeoutError:
        return Relation("timeout")
    except (ChildProcessError, MemoryError, OverflowError):
        return Relation("error")


def _confirms(function: Callable, *arguments: Any) -> bool:
    try:
        return attempt(function, *arguments)
    except Exception:  # whatever computer algebra may raise, a timeout among it
        return False


@metric("higher", upper=1.0)
def solution_rate(prediction: Expression | str, truth: Expression | str, sample: Mapping[str, np.ndarray]) -> float:
    """1 if the prediction is the truth up to a constant factor or summand, else 0; see `relation`.

    The mean over problems is the solution rate. Constant predictions, zero among them, never pass.

    Parameters
    ----------
    prediction, truth, sample
        As for `relation`.

    Returns
    -------
    float, 0 or 1

    Examples
    --------
    >>> x = {"x0": np.linspace(1.0, 2.0, 9)}
    >>> solution_rate("3.3e-34*x0", "1.054e-34*x0", x), solution_rate("1e-40", "1.054e-34*x0", x)
    (1.0, 0.0)
    """
    return float(relation(prediction, truth, sample).solved)


def equivalent(prediction: Expression | str, truth: Expression | str, sample: Mapping[str, np.ndarray]) -> bool:
    """Whether the prediction is the truth, with constants within 1e-6; see `relation`.

    Parameters
    ----------
    prediction, truth, sample
        As for `relation`.

    Returns
    -------
    bool

    Examples
    --------
    >>> x = {"a": np.linspace(1.0, 2.0, 9), "b": np.linspace(3.0, 1.0, 9)}
    >>> equivalent("(a - b)*(a + b)", "a**2 - b**2", x), equivalent("2*a", "a", x)
    (True, False)
    """
    return relation(prediction, truth, sample).kind == "equal"


def compare(prediction: str, truth: str, names: tuple[str, ...], rows: list[list[float]]) -> str:
    """Kind of the relation on the sample; called in a process of its own."""

    with mpmath.workdps(DIGITS):
        columns = [dict(zip(names, map(mpmath.mpf, row), strict=True)) for row in rows]
        f, g = ([_precise(parse(text, names).tree, row) for row in columns] for text in (prediction, truth))
        pairs = [(p, t) for p, t in zip(f, g, strict=True) if mpmath.isfinite(t)]
        if len(pairs) < 2:
            raise ValueError("the sample has fewer than 2 rows on which the truth is defined")
        if not all(mpmath.isfinite(p) for p, _ in pairs):
            return "undefined"
        pairs.sort(key=lambda pair: abs(pair[1]))
        (f0, g0), (f1, g1) = pairs[0], pairs[-1]
        if all(abs(p - f0) <= mpmath.mpf(10) ** (20 - DIGITS) * abs(f0) for p, _ in pairs):
            return "constant"
        spread = max(t for _, t in pairs) - min(t for _, t in pairs)

        def related(offset: Any, factor: Any) -> bool:
            return factor != 0 and all(
                abs(p - offset - factor * t) <= TOLERANCE * abs(factor) * min(abs(t), spread) for p, t in pairs
            )

        if g1 and related(0, f1 / g1):
            return "equal" if abs(f1 / g1 - 1) <= TOLERANCE else "factor"
        return "offset" if related(f0 - g0, 1) else "different"


def extrapolates(kind: str, prediction: str, truth: str, names: tuple[str, ...], rows: list) -> bool:
    """Whether the relation is of this kind far from the sample, too; called in a process of its own."""
    scale = 10.0 ** np.random.default_rng(0).uniform(-DECADES, DECADES, (len(rows), len(names)))
    return compare(prediction, truth, names, (scale * rows).tolist()) == kind


def _precise(tree: tuple, values: Mapping) -> Any:
    """Value of a tree in mpmath's working precision; NaN where it is undefined or complex."""
    return fold(tree, lambda label, arguments: _operated(label, arguments, values))


def _operated(label: Any, arguments: list, values: Mapping) -> Any:
    """Value of a node from those of its children."""
    if not arguments:
        if isinstance(label, str):
            return {"π": +mpmath.pi, "ℯ": +mpmath.e}.get(label) or values[label]
        return label if isinstance(label, bool) else mpmath.mpf(label)
    if label == "where":
        condition, value, *other = arguments
        return value if condition else (other or [mpmath.nan])[0]
    operation = PRECISE.get(label) or getattr(mpmath, label)
    try:
        result = operation(*arguments)
    except (ZeroDivisionError, ValueError):
        return mpmath.nan
    if isinstance(result, mpmath.mpc):
        return result.real if result.imag == 0 else mpmath.nan
    return result


PRECISE: dict[str, Callable] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
PRECISE |= {"**": operator.pow, "neg": operator.neg, "mod": operator.mod, "abs": abs, "min": min, "max": max}
PRECISE |= {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}
PRECISE |= {"!=": operator.ne, "and": operator.and_, "or": operator.or_, "xor": operator.xor, "not": operator.not_}
PRECISE |= {"implies": operator.le, "log2": lambda a: mpmath.log(a, 2)}


def is_constant(prediction: str, truth: str, offset: bool) -> bool:
    """Whether SymPy finds the difference or the quotient constant; called in a process of its own."""
    import sympy

    numbers: dict = {}
    f, g = (exact(real(text), numbers) for text in (prediction, truth))
    result = sympy.simplify(f - g if offset else f / g, rational=False)
    return result.free_symbols <= set(numbers.values())
