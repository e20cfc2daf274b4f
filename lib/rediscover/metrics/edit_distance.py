"""Normalised edit distance between expressions, as SRSD publishes it and harmonised.

Expressions are given as text or as `rediscover.expressions.Expression`. Conversion to trees by SymPy, which may
hang, happens in a process that can be killed; `ned_details` says how it went.
"""

import functools
import hashlib
import importlib.metadata
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..expressions import Expression, ExpressionError, parse
from ..expressions.algebra import to_sympy
from ..system.given_up import attempt, is_listed
from ..system.store import algebra
from . import metric
from .trees import size, tree_edit_distance, tuples

UNDEFINED = ("nan", "zoo")  # SymPy's; no expressions here, but to the released code they are constants


class EditDistance(NamedTuple):
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
def ned_published(prediction: Expression | str, truth: Expression | str, names: Sequence[str] | None = None) -> float:
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
    return ned_details(prediction, truth, names).value


@metric("lower", upper=1.0)
def ned_harmonised(prediction: Expression | str, truth: Expression | str, names: Sequence[str] | None = None) -> float:
    r"""Normalised edit distance that does not depend on how signs, roots, products and sums are written.

    .. math:: 2 d / (|f_\mathrm{pred}| + |f_\mathrm{true}| + d)

    This normalisation (Li and Liu, IEEE TPAMI 29 (2007) 1091) keeps the distance symmetric and the triangle
    inequality valid, and tells large wrong predictions from larger ones. It is 0 if and only if both expressions have
    the same canonical tree; then they are equal up to the values of constants. The converse holds as far as SymPy
    finds a common form, which it may not for squares expanded under a root. The tree is the smallest of those of the
    expression as it stands, factored and simplified, in real variables, by these rules:

    - Sums and products take any number of arguments, in an order that does not depend on values of constants.
    - A minus is one node, ``-``. Signs of factors are collected, pass through odd functions and odd powers,
      vanish in even ones and in front of a constant factor, and so end at a term of a sum, under a root, in a
      function without parity or at the root of the tree. A sum and its negative are written with the same terms.
    - Powers with a constant exponent are distributed over products, powers of powers and of equal bases are
      merged: ``sqrt(a*b/c)`` is ``a**0.5*b**0.5*c**-0.5``. Roots and divisions are such powers: the label
      ``Pow`` with the child ``C``.
    - A number, and any expression of numbers only, is one leaf ``C``; factors 1 and exponents 1 vanish.

    Where simplification is given up on (`rediscover.system.given_up`), the expression as it stands is used.

    Parameters
    ----------
    prediction, truth, names
        As for `ned_published`.

    Returns
    -------
    float in [0, 1]; 1 if the prediction cannot be read or simplified (`ned_details` says which)

    Raises
    ------
    ExpressionError
        If the truth cannot be read.

    Examples
    --------
    >>> ned_harmonised("(x0*x1)**0.5/x2**0.5", "sqrt(x0*x1/x2)")
    0.0
    >>> ned_harmonised("x0 + x1", "x0 - x1")  # one sign; 3 and 4 nodes: 2 / (3 + 4 + 1)
    0.25
    """
    return ned_details(prediction, truth, names, harmonised=True).value


def ned_details(
    prediction: Expression | str, truth: Expression | str, names: Sequence[str] | None = None, harmonised: bool = False
) -> EditDistance:
    """`ned_published` or `ned_harmonised` with the status, the distance and the trees.

    Parameters
    ----------
    prediction, truth, names
        As for `ned_published`.
    harmonised : bool
        Which of the two distances.

    Returns
    -------
    EditDistance

    Raises
    ------
    ExpressionError
        If the truth cannot be read.
    """
    truth = as_expression(truth)
    if not harmonised and prediction in UNDEFINED:
        prediction = "0"
    try:
        prediction = as_expression(prediction, names)
    except ExpressionError:
        return EditDistance(1.0, "unparsable")
    prediction, truth = by_column([prediction, truth], names)
    convert = _harmonised_tree if harmonised else published_tree
    truth_status, truth_tree = convert(truth)
    status, tree = convert(prediction)
    status = status if truth_status == "ok" else truth_status
    if tree is None or truth_tree is None:
        return EditDistance(1.0, status, None, tree, truth_tree)
    distance = tree_edit_distance(tree, truth_tree)
    n = size(truth_tree)
    if harmonised:
        value = 2 * distance / (size(tree) + n + distance)
    else:
        value = min(distance, n) / n
    return EditDistance(value, status, distance, tree, truth_tree)


def as_expression(given: Expression | str, names: Sequence[str] | None = None) -> Expression:
    return parse(str(given) if isinstance(given, Expression) else given, names)


def by_column(expressions: list[Expression], names: Sequence[str] | None) -> list[Expression]:
    """The expressions with the variables renamed to x0, x1, ... by column."""
    if names is None:
        names = sorted({name for expression in expressions for name in expression.names})
        if all(re.fullmatch(r"x\d+", name) for name in names):
            return expressions
    columns = {name: f"x{i}" for i, name in enumerate(names)}
    return [e.substitute({name: columns[name] for name in e.names}) for e in expressions]


@functools.cache
def published_tree(expression: Expression) -> tuple[str, tuple | None]:
    return _converted(convert_published, str(expression))


@functools.cache
def _harmonised_tree(expression: Expression) -> tuple[str, tuple | None]:
    status, tree = _converted(convert_harmonised, str(expression))
    if tree is None:
        tree = _converted(convert_as_it_stands, str(expression))[1]
    return status, tree


def _converted(conversion: Callable[[str], tuple], text: str) -> tuple[str, tuple | None]:
    """Status and tree of a conversion, kept for this version of SymPy and of the conversions."""
    key = f"{conversion.__name__} {_version()} {text}"
    if not is_listed(conversion, text) and (found := algebra().get([key]).get(key)):
        return found["status"], tuples(found["tree"])
    status, tree = "ok", None
    try:
        tree = attempt(conversion, text)
    except TimeoutError:
        return "timeout", None
    except Exception:  # whatever computer algebra may raise; the released code counts it as 1, too
        status = "error"
    algebra().put(key, {"conversion": conversion.__name__, "text": text}, {"status": status, "tree": tree})
    return status, tree


@functools.cache
def _version() -> str:
    published: list[Callable] = [to_sympy, convert_published, sympy_tree]
    harmonised: list[Callable] = [convert_harmonised, real, exact, _canonical, _signed, _factors, _order]
    sources = "".join(inspect.getsource(conversion) for conversion in published + harmonised)
    return hashlib.sha256((importlib.metadata.version("sympy") + sources).encode()).hexdigest()[:16]


def convert_published(text: str) -> tuple:
    """Tree by the steps of the released code; called in a process of its own."""
    import sympy

    # The released code reads text, before and after. Both matter: the order of terms may hang on the last bits of a
    # constant, and a factor that differs from 1 in the last bit only is printed as 1.0 and so dropped. The text comes
    # from SymPy's printer, not from a file or a method.
    expression = sympy.sympify(str(to_sympy(parse(text).tree, as_written=True)))
    expression = expression.subs(sympy.pi, sympy.pi.evalf()).evalf().factor().simplify().subs(1.0, 1)
    return sympy_tree(sympy.sympify(str(expression)))


def sympy_tree(expression: Any) -> tuple:
    from sympy.utilities.misc import func_name

    if expression.is_number:
        label = "Const"
    elif expression.is_Symbol:
        label = expression.name
    else:
        label = func_name(expression)
    return (label, *map(sympy_tree, expression.args))


def convert_harmonised(text: str) -> tuple:
    """The smallest canonical tree of some equal forms; called in a process of its own."""
    import sympy

    numbers: dict = {}
    expression = exact(real(text), numbers)
    forms = [expression, sympy.factor(expression), sympy.simplify(expression, rational=False)]
    values = {symbol: sympy.Float(number) for number, symbol in numbers.items()}
    trees = [_canonical(form.xreplace(values)) for form in forms]
    return min(trees, key=lambda tree: (size(tree), repr(tree)))


def convert_as_it_stands(text: str) -> tuple:
    return _canonical(real(text))


def real(text: str) -> Any:
    import sympy

    expression = parse(text).sympy()
    real = {symbol: sympy.Symbol(symbol.name, real=True) for symbol in expression.free_symbols}
    return expression.xreplace({**real, sympy.pi: sympy.pi.evalf()}).evalf()


def exact(expression: Any, numbers: dict, inside: bool = False) -> Any:
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
        return sympy.Pow(exact(expression.base, numbers, inside), exact(expression.exp, numbers, True))
    inside = inside or expression.is_Function
    arguments = [exact(argument, numbers, inside) for argument in expression.args]
    return expression.func(*arguments) if arguments else expression


SMALL = 12
EVEN = {"Abs", "cos", "cosh"}
ODD = {"sin", "tan", "sinh", "tanh", "asin", "atan", "asinh", "atanh", "sign"}
NUMBER = ("C",)


def _canonical(expression: Any) -> tuple:
    import sympy

    if expression.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I):
        raise ValueError(f"{expression} is no real function")
    return _wrapped(_signed(expression))


def _wrapped(signed: tuple[int, tuple]) -> tuple:
    sign, tree = signed
    return tree if sign > 0 else ("-", tree)


def _signed(expression: Any) -> tuple[int, tuple]:
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
        sign, has_constant, factors = _factors(expression, 1)
        powers = [t if (v - 1).is_zero else ("Pow", t, NUMBER) for t, v in factors.items() if not v.is_zero]
        parts = [NUMBER] * (has_constant or not powers) + sorted(powers, key=_order)
        tree = parts[0] if len(parts) == 1 else ("Mul", *parts)
        return (1 if has_constant else sign), tree
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


def _factors(expression: Any, power: Any) -> tuple[int, bool, dict]:
    """Of a power of an expression: sign, whether it has a constant factor, exponents by canonical tree."""
    import sympy

    power = sympy.sympify(power)
    if expression.is_Pow and expression.exp.is_number:
        return _factors(expression.base, expression.exp * power)
    if expression.is_Mul:
        number = sympy.Mul(*(factor for factor in expression.args if factor.is_number))
        if power.is_integer or not number.is_negative:
            sign, constant = 1, False
            factors: dict = {}
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
