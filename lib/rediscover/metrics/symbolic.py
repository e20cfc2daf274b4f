"""Is it the same law? Edit distances, equivalence and complexity of expressions.

Expressions are given as text or as `rediscover.expressions.Expression`. What computer algebra may hang on
happens in a process that is killed at a time limit, and `ned_details` and `relation` say how it went.
"""

import functools
import hashlib
import importlib.metadata
import inspect
import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import joblib
import mpmath
import numpy as np
import platformdirs

from .. import killable
from ..expressions import Expression, ExpressionError, parse
from . import metric
from .trees import edit_script, tree_edit_distance

__all__ = [
    "COMPLEXITY_RULES",
    "Comparison",
    "Relation",
    "complexity",
    "edit_script",
    "equivalent",
    "ned_details",
    "ned_harmonised",
    "ned_published",
    "relation",
    "relative_squared_error",
    "solution_rate",
    "tree_edit_distance",
]

SECONDS = 10.0  # for one expression; the released code waits 120
CACHE = "REDISCOVER_CACHE"  # a folder for converted trees; empty for none

# Numeric confirmation: significant digits, rows, and how constant a constant must be.
DIGITS = 50
ROWS = 64
TOLERANCE = 1e-6
DECADES = 6  # of extrapolation to either side
SOLVED = ("equal", "factor", "offset")


# ---------------------------------------------------------------------------- normalised edit distance


class Comparison(NamedTuple):
    """How a normalised edit distance came about.

    Attributes
    ----------
    value : float in [0, 1]
    status : 'ok', 'unparsable', 'timeout' or 'error'; of the truth if that is the one with the problem
    distance : tree edit distance, None where one of the trees is missing
    prediction, truth : the trees compared, None where missing
    """

    value: float
    status: str
    distance: int | None = None
    prediction: tuple | None = None
    truth: tuple | None = None


@metric("lower", upper=1.0)
def ned_published(prediction, truth, names: Sequence[str] | None = None, seconds: float = SECONDS) -> float:
    r"""Normalised edit distance as the released code of SRSD computes it.

    .. math:: \min(1, d(f_\mathrm{pred}, f_\mathrm{true}) / |f_\mathrm{true}|)

    with `tree_edit_distance` d and the number of nodes of the truth's tree (SRSD, eq. (3)). Both
    expressions are simplified by SymPy first; all constants count as one symbol, also as exponents; Add and
    Mul take any number of arguments; a minus sign is a factor, a root or a division a power.

    Parameters
    ----------
    prediction, truth : str or Expression
    names : sequence of str, optional
        The input columns in order, which become x0, x1, ... (that order decides the order of terms, and so
        the distance). If left out, variables are named so already, or the sorted names are taken.
    seconds : float
        Limit for simplifying one expression.

    Returns
    -------
    float in [0, 1]; 1 if the prediction cannot be read or simplified (`ned_details` says which)

    Raises
    ------
    ExpressionError
        If the truth cannot be read.

    Examples
    --------
    >>> ned_published("x0*x1", "9.80665*x0*x1")  # the coefficient is missing: 1 of 4 nodes
    0.25
    >>> ned_published("x0*(x1 + x2)", "x0*x1 - x0*x2")  # a minus is a product: 2 of 7
    0.2857142857142857
    """
    return ned_details(prediction, truth, names, seconds).value


@metric("lower", upper=1.0)
def ned_harmonised(prediction, truth, names: Sequence[str] | None = None, seconds: float = SECONDS) -> float:
    r"""Normalised edit distance that does not depend on how signs, roots, products and sums are written.

    .. math:: 2 d / (|f_\mathrm{pred}| + |f_\mathrm{true}| + d)

    This normalisation (Li and Liu, IEEE TPAMI 29 (2007) 1091) keeps the distance symmetric and the triangle
    inequality valid, and tells large wrong predictions from larger ones. It is 0 if and only if both
    expressions have the same canonical tree, that is, if they are equal up to the values of constants. The
    tree is the smallest of those of the expression as it stands, factored and simplified, in real
    variables, by these rules:

    - Sums and products take any number of arguments, in an order that does not depend on values of constants.
    - A minus is one node, ``-``. Signs of factors are collected, pass through odd functions and odd powers,
      vanish in even ones and in front of a constant factor, and so end at a term of a sum, under a root, in
      a function without parity or at the root of the tree. A sum and its negative are written with the same
      terms.
    - Powers with a constant exponent are distributed over products, powers of powers and of equal bases are
      merged: ``sqrt(a*b/c)`` is ``a**0.5*b**0.5*c**-0.5``. Roots and divisions are such powers: the label
      ``Pow`` with the child ``C``.
    - A number, and any expression of numbers only, is one leaf ``C``; factors 1 and exponents 1 vanish.

    Where simplification takes longer than `seconds`, the expression as it stands is used.

    Parameters, errors
    ------------------
    As for `ned_published`.

    Examples
    --------
    >>> ned_harmonised("(x0*x1)**0.5/x2**0.5", "sqrt(x0*x1/x2)")
    0.0
    >>> ned_harmonised("x0 + x1", "x0 - x1")  # one sign; 3 and 4 nodes: 2 / (3 + 4 + 1)
    0.25
    """
    return ned_details(prediction, truth, names, seconds, harmonised=True).value


def ned_details(
    prediction,
    truth,
    names: Sequence[str] | None = None,
    seconds: float = SECONDS,
    harmonised: bool = False,
) -> Comparison:
    """`ned_published` or `ned_harmonised` with the status, the distance and the trees."""
    truth = _expression(truth)
    try:
        prediction = _expression(prediction, names)
    except ExpressionError:
        return Comparison(1.0, "unparsable")
    prediction, truth = _by_column([prediction, truth], names)
    convert = _harmonised_tree if harmonised else _published_tree
    truth_status, truth_tree = convert(truth, seconds)
    status, tree = convert(prediction, seconds)
    status = status if truth_status == "ok" else truth_status
    if tree is None or truth_tree is None:
        return Comparison(1.0, status, None, tree, truth_tree)
    distance = tree_edit_distance(tree, truth_tree)
    n = _size(truth_tree)
    if harmonised:
        value = 2 * distance / (_size(tree) + n + distance)
    else:
        value = min(distance, n) / n
    return Comparison(value, status, distance, tree, truth_tree)


def _expression(given, names=None) -> Expression:
    if isinstance(given, Expression):
        given = str(given)
    return parse(given, names)


def _by_column(expressions: list[Expression], names: Sequence[str] | None) -> list[Expression]:
    """The expressions with the variables renamed to x0, x1, ... by column."""
    if names is None:
        names = sorted({name for expression in expressions for name in expression.names})
        if all(re.fullmatch(r"x\d+", name) for name in names):
            return expressions
    columns = {name: f"x{i}" for i, name in enumerate(names)}
    return [e.substitute({name: columns[name] for name in e.names}) for e in expressions]


def _size(tree: tuple) -> int:
    return 1 + sum(map(_size, tree[1:]))


@functools.cache
def _published_tree(expression: Expression, seconds: float) -> tuple[str, tuple | None]:
    return _memory()("convert_published", str(expression), seconds)


@functools.cache
def _harmonised_tree(expression: Expression, seconds: float) -> tuple[str, tuple | None]:
    status, tree = _memory()("convert_harmonised", str(expression), seconds)
    if tree is None:
        tree = _memory()("convert_as_it_stands", str(expression), seconds)[1]
    return status, tree


def _attempt(name: str, text: str, seconds: float) -> tuple[str, tuple | None]:
    """Status and tree of a conversion."""
    try:
        return "ok", killable.call(f"{__name__}:{name}", text, seconds=seconds)
    except TimeoutError:
        return "timeout", None
    except Exception:  # whatever computer algebra may raise; the released code counts it as 1, too
        return "error", None


@functools.cache
def _memory() -> Callable:
    """`_attempt`, remembered on disk for this version of SymPy and of the conversions.

    A limit that was hit is remembered as well, for this limit, so that scoring again takes no time.
    """
    folder = os.environ.get(CACHE, platformdirs.user_cache_path("rediscover"))
    if not folder:
        return _attempt
    sources = "".join(map(inspect.getsource, CONVERSIONS))
    version = hashlib.sha256((importlib.metadata.version("sympy") + sources).encode()).hexdigest()[:16]
    return joblib.Memory(os.path.join(folder, "trees", version), verbose=0).cache(_attempt)


def convert_published(text: str) -> tuple:
    """Tree by the steps of the released code; called in a process of its own."""
    import sympy

    expression = parse(text).sympy()
    expression = expression.subs(sympy.pi, sympy.pi.evalf()).evalf().factor().simplify().subs(1.0, 1)
    # The released code goes through text once more, which settles the order of arguments. This text comes
    # from SymPy's printer, not from a file or a method.
    return _sympy_tree(sympy.sympify(str(expression)))


def _sympy_tree(expression) -> tuple:
    from sympy.utilities.misc import func_name

    if expression.is_number:
        label = "Const"
    elif expression.is_Symbol:
        label = expression.name
    else:
        label = func_name(expression)
    return (label, *map(_sympy_tree, expression.args))


def convert_harmonised(text: str) -> tuple:
    """The smallest canonical tree of some equal forms; called in a process of its own."""
    import sympy

    numbers = {}
    expression = _exact(_real(text), numbers)
    forms = [expression, sympy.factor(expression), sympy.simplify(expression, rational=False)]
    values = {symbol: sympy.Float(number) for number, symbol in numbers.items()}
    trees = [_canonical(form.xreplace(values)) for form in forms]
    return min(trees, key=lambda tree: (_size(tree), repr(tree)))


def convert_as_it_stands(text: str) -> tuple:
    return _canonical(_real(text))


def _real(text: str):
    import sympy

    expression = parse(text).sympy()
    real = {symbol: sympy.Symbol(symbol.name, real=True) for symbol in expression.free_symbols}
    return expression.xreplace({**real, sympy.pi: sympy.pi.evalf()}).evalf()


def _exact(expression, numbers: dict, inside: bool = False):
    """Decimal numbers as fractions, which SymPy factors exactly.

    In exponents and functions only small ones, as SymPy takes x**(p/q), exp(p*x/q) and sin(p*x/q) for
    polynomials of degree p; others become symbols, entered in `numbers`.
    """
    import sympy

    if expression.is_Float:
        fraction = sympy.Rational(str(expression))
        if not inside or (abs(fraction.p) <= SMALL and fraction.q <= SMALL):
            return fraction
        symbol = numbers.setdefault(abs(fraction), sympy.Symbol(f"k{len(numbers)}", positive=True))
        return symbol if fraction > 0 else -symbol
    if expression.is_Pow:
        return sympy.Pow(_exact(expression.base, numbers, inside), _exact(expression.exp, numbers, True))
    inside = inside or expression.is_Function
    arguments = [_exact(argument, numbers, inside) for argument in expression.args]
    return expression.func(*arguments) if arguments else expression


SMALL = 12
EVEN = {"Abs", "cos", "cosh"}
ODD = {"sin", "tan", "sinh", "tanh", "asin", "atan", "asinh", "atanh", "sign"}
NUMBER = ("C",)


def _canonical(expression) -> tuple:
    import sympy

    if expression.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I):
        raise ValueError(f"{expression} is no real function")
    return _wrapped(_signed(expression))


def _wrapped(signed: tuple[int, tuple]) -> tuple:
    sign, tree = signed
    return tree if sign > 0 else ("-", tree)


def _signed(expression) -> tuple[int, tuple]:
    """Sign and canonical tree of what it is the sign of."""
    if expression.is_number:
        return 1, NUMBER
    if expression.is_Symbol:
        return 1, (expression.name,)
    if expression.is_Add:
        constant = [NUMBER] if any(term.is_number for term in expression.args) else []
        terms = [_signed(term) for term in expression.args if not term.is_number]
        sums = {sign: sorted((_wrapped((sign * s, t)) for s, t in terms), key=_order) for sign in (1, -1)}
        sign = min(sums, key=lambda sign: (_order(("", *sums[sign])), -sign))
        return sign, ("Add", *constant, *sums[sign])
    if expression.is_Mul or (expression.is_Pow and expression.exp.is_number):
        sign, constant, factors = _factors(expression, 1)
        powers = [t if (v - 1).is_zero else ("Pow", t, NUMBER) for t, v in factors.items() if not v.is_zero]
        children = [NUMBER] * (constant or not powers) + sorted(powers, key=_order)
        tree = children[0] if len(children) == 1 else ("Mul", *children)
        return (1 if constant else sign), tree
    name = type(expression).__name__
    children = [_signed(argument) for argument in expression.args]
    if name in ODD:
        ((sign, child),) = children
        return sign, (name, child)
    if name in EVEN:
        children = [(1, tree) for _, tree in children]
    return 1, (name, *map(_wrapped, children))


def _order(tree: tuple) -> tuple:
    """Sorting key: variables first, so that equal ones stand in equal places; signs are the last to tell."""
    text = repr(tree)
    return re.findall(r"\('(x\d+)',\)", text), text.replace("('-', ", "("), text


def _factors(expression, power) -> tuple[int, bool, dict]:
    """Of a power of an expression: sign, whether it has a constant factor, exponents by canonical tree."""
    import sympy

    power = sympy.sympify(power)
    if expression.is_Pow and expression.exp.is_number:
        return _factors(expression.base, expression.exp * power)
    if expression.is_Mul:
        number = sympy.Mul(*(factor for factor in expression.args if factor.is_number))
        if power.is_integer or not number.is_negative:
            sign, constant, factors = 1, False, {}
            for factor in expression.args:
                s, c, more = _factors(factor, power)
                sign, constant = sign * s, constant or c
                for tree, exponent in more.items():
                    factors[tree] = factors.get(tree, sympy.S.Zero) + exponent
            return sign, constant, factors
    if expression.is_number:
        is_sign = (abs(expression) - 1).is_zero and power.is_integer
        return (-1 if is_sign and expression.is_negative and power.is_odd else 1), not is_sign, {}
    sign, tree = _signed(expression)
    if sign < 0 and not power.is_integer:  # a root of something with a minus: the sign cannot come out
        return 1, False, {("-", tree): power}
    return (sign if power.is_odd else 1), False, {tree: power}


CONVERSIONS = (
    convert_published,
    _sympy_tree,
    convert_harmonised,
    _real,
    _exact,
    _canonical,
    _signed,
    _factors,
    _order,
)


# ----------------------------------------------------------------------------------------- equivalence


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


def relation(prediction, truth, sample: Mapping[str, np.ndarray], seconds: float = SECONDS) -> Relation:
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
    seconds : float
        Limit of each step.

    Raises
    ------
    ExpressionError
        If the truth cannot be read.
    ValueError
        If the sample has fewer than 2 rows on which the truth is defined.
    """
    rows = np.column_stack([np.asarray(sample[name], float) for name in sample])[:ROWS].tolist()
    names = tuple(sample)
    truth = _expression(truth, names)
    try:
        prediction = _expression(prediction, names)
    except ExpressionError:
        return Relation("unparsable")
    texts = str(prediction), str(truth)
    try:
        kind = killable.call(compare, *texts, names, rows, seconds=seconds)
        if kind not in SOLVED:
            return Relation(kind)
        if _confirms(is_constant, *texts, kind == "offset", seconds=seconds):
            return Relation(kind, "symbolic")
        free = "1.5 + ({})" if kind == "offset" else "1.5*({})"  # what may differ must not count
        if ned_harmonised(*map(free.format, texts), names, seconds) == 0:
            return Relation(kind, "skeleton")
        if _confirms(extrapolates, kind, *texts, names, rows, seconds=seconds):
            return Relation(kind, "extrapolation")
        return Relation("indistinguishable")
    except TimeoutError:
        return Relation("timeout")
    except (ChildProcessError, MemoryError, OverflowError):
        return Relation("error")


def _confirms(function: Callable, *arguments, seconds: float) -> bool:
    try:
        return killable.call(function, *arguments, seconds=seconds)
    except Exception:  # whatever computer algebra may raise, a timeout among it
        return False


@metric("higher", upper=1.0)
def solution_rate(prediction, truth, sample: Mapping[str, np.ndarray], seconds: float = SECONDS) -> float:
    """1 if the prediction is the truth up to a constant factor or summand, else 0; see `relation`.

    The mean over problems is the solution rate. Constant predictions, zero among them, never pass.

    Examples
    --------
    >>> x = {"x0": np.linspace(1.0, 2.0, 9)}
    >>> solution_rate("3.3e-34*x0", "1.054e-34*x0", x), solution_rate("1e-40", "1.054e-34*x0", x)
    (1.0, 0.0)
    """
    return float(relation(prediction, truth, sample, seconds).solved)


def equivalent(prediction, truth, sample: Mapping[str, np.ndarray], seconds: float = SECONDS) -> bool:
    """Whether the prediction is the truth, with constants within 1e-6; see `relation`.

    Examples
    --------
    >>> x = {"a": np.linspace(1.0, 2.0, 9), "b": np.linspace(3.0, 1.0, 9)}
    >>> equivalent("(a - b)*(a + b)", "a**2 - b**2", x), equivalent("2*a", "a", x)
    (True, False)
    """
    return relation(prediction, truth, sample, seconds).kind == "equal"


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

        def related(offset, factor):
            return factor != 0 and all(
                abs(p - offset - factor * t) <= TOLERANCE * abs(factor) * min(abs(t), spread)
                for p, t in pairs
            )

        if g1 and related(0, f1 / g1):
            return "equal" if abs(f1 / g1 - 1) <= TOLERANCE else "factor"
        return "offset" if related(f0 - g0, 1) else "different"


def extrapolates(kind: str, prediction: str, truth: str, names: tuple[str, ...], rows: list) -> bool:
    """Whether the relation is of this kind far from the sample, too; called in a process of its own."""
    scale = 10.0 ** np.random.default_rng(0).uniform(-DECADES, DECADES, (len(rows), len(names)))
    return compare(prediction, truth, names, (scale * rows).tolist()) == kind


def _precise(tree: tuple, values: Mapping):
    """Value of a tree in mpmath's working precision; NaN where it is undefined or complex."""
    label, *children = tree
    if not children:
        if isinstance(label, str):
            return {"π": +mpmath.pi, "ℯ": +mpmath.e}.get(label) or values[label]
        return label if isinstance(label, bool) else mpmath.mpf(label)
    arguments = [_precise(child, values) for child in children]
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


PRECISE = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "neg": operator.neg,
    "abs": abs,
    "min": min,
    "max": max,
    "mod": operator.mod,
    "log2": lambda a: mpmath.log(a, 2),
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "implies": operator.le,
    "not": operator.not_,
}


def is_constant(prediction: str, truth: str, offset: bool) -> bool:
    """Whether SymPy finds the difference or the quotient constant; called in a process of its own."""
    import sympy

    numbers = {}
    f, g = (_exact(_real(text), numbers) for text in (prediction, truth))
    result = sympy.simplify(f - g if offset else f / g, rational=False)
    return result.free_symbols <= set(numbers.values())


# ------------------------------------------------------------------------------------------ complexity


def _count_ops(expression: Expression) -> int:
    return int(expression.sympy().count_ops())


def _preorder_nodes(expression: Expression) -> int:
    return _size(_sympy_tree(expression.sympy()))


def _numeric_count_ops(expression: Expression) -> int:
    return int(expression.sympy().evalf().count_ops())


def _published_nodes(expression: Expression) -> int:
    status, tree = _published_tree(expression, SECONDS)
    if tree is None:
        raise ValueError(f"no tree of {str(expression)!r}: {status}")
    return _size(tree)


COMPLEXITY_RULES: dict[str, Callable[[Expression], int]] = {
    "tree": lambda expression: expression.size,
    "srsd_nodes": _published_nodes,
    "count_ops": _count_ops,
    "mdbench": _preorder_nodes,
    "symbolbench": _numeric_count_ops,
}


def complexity(expression, rule: str = "tree", names: Sequence[str] | None = None) -> int:
    """Size of an expression, or of several added up, by the rule of one of the papers.

    Parameters
    ----------
    expression : str, Expression, or an iterable or mapping (of right-hand sides) of them
    rule : str
        ============== ==================================================================================
        tree           ours and PySR's: every constant, variable and operator of the expression as it stands
        srsd_nodes     SRSD, the size in eq. (3): nodes of the simplified tree of `ned_published`
        count_ops      SRSD, difficulty: SymPy's ``count_ops`` after automatic evaluation
        mdbench        MDBench: nodes that SymPy's ``preorder_traversal`` visits after automatic evaluation
        symbolbench    SymbolBench, continuous: ``count_ops`` after ``evalf``
        ============== ==================================================================================

    names : sequence of str, optional
        The input columns in order, as for `ned_published`; only the rule srsd_nodes depends on it.

    Raises
    ------
    KeyError
        If there is no such rule.
    ValueError
        If the expression cannot be read, or not be simplified where the rule asks for it.

    Examples
    --------
    >>> complexity("2.5*x + x**2"), complexity("a/b", "mdbench"), complexity(["x", "2*x"], "count_ops")
    (7, 5, 1)
    """
    if rule not in COMPLEXITY_RULES:
        raise KeyError(f"unknown complexity rule {rule!r} (rules: {', '.join(COMPLEXITY_RULES)})")
    if isinstance(expression, Mapping):
        expression = expression.values()
    if isinstance(expression, Iterable) and not isinstance(expression, str):
        return sum(complexity(item, rule, names) for item in expression)
    (expression,) = _by_column([_expression(expression)], names)
    return COMPLEXITY_RULES[rule](expression)


# ------------------------------------------------------------------------------------- model selection


@metric("lower")
def relative_squared_error(prediction, truth) -> float:
    r"""Mean of ((y - f) / y)^2, by which SRSD chooses among models on validation data (eq. (4)).

    Parameters
    ----------
    prediction, truth : array_like, shape (n,)

    Returns
    -------
    float; inf where a prediction is not finite or a truth is zero, so that such a model is never chosen.

    Raises
    ------
    ValueError
        If the shapes differ or there are no rows.

    Examples
    --------
    >>> relative_squared_error([1.0, 3.0], [1.0, 2.0])  # (0 + 1/4) / 2
    0.125
    """
    prediction, truth = np.asarray(prediction, float), np.asarray(truth, float)
    if prediction.shape != truth.shape or truth.size == 0:
        raise ValueError(
            f"need values of one shape and at least one, got {prediction.shape} and {truth.shape}"
        )
    with np.errstate(all="ignore"):
        error = np.mean(((truth - prediction) / truth) ** 2)
    return float(error) if np.isfinite(error) else math.inf
