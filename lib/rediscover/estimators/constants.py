"""Constants of an equation that was found: fitted again, with standard errors, and as short numbers where they may be.

For y = f(x; c) + noise with the constants c, p of them, and n rows of weight w, near the least squares solution::

    covariance of c = s^2 (J' W J)^-1,   J = df/dc,   s^2 = sum(w r^2) / (n - p),   weights with mean 1

and the 95 % interval is c +- t(0.975; n - p) times the standard error. It takes the form of the equation as given, so
it is too narrow where the form was chosen among many, and wrong where the form is. Constants that rows cannot tell
apart have no standard error (NaN).

References
----------
Bates, Watts (1988), Nonlinear regression analysis and its applications, section 2.
"""

import functools
import itertools
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..expressions import Expression, parse, refit
from ..expressions.trees import fold, is_number
from ..runs.refit import folded
from . import choice

if TYPE_CHECKING:
    import pandas as pd

SHORT = ("1", "2", "3", "4", "1/2", "3/2", "1/3", "2/3", "1/4", "pi", "2*pi")  # and their negatives
NARROW = 0.02  # half of an interval, over the constant, above which it is never written as a short number
DIGITS = 1e-9  # relative difference that rounding leaves
SINGULAR = 1e-10  # singular values below this, of columns of norm 1, are none
WEIGHT = "w0"  # variable that holds roots of weights while constants are fitted


@np.errstate(all="ignore")  # of steps that are not taken
def fitted(expression: Expression, values: Mapping[str, np.ndarray], y: np.ndarray, weights: np.ndarray) -> Expression:
    """The expression with its constants fitted by weighted least squares, from those that it has.

    Parameters
    ----------
    expression : Expression
    values : variable -> ndarray, shape (n,)
    y : ndarray, shape (n,)
    weights : ndarray, shape (n,)

    Returns
    -------
    Expression
        The same if nothing better is found, or it has no constants.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> print(fitted(parse("1.0*x"), {"x": x}, np.array([2.0, 4.0, 9.0]), np.array([1.0, 1.0, 0.0])))
    2.0*x
    """
    expression = folded(expression)
    if not expression.constants or len(expression.constants) > len(y):
        return expression
    if np.ptp(weights) == 0:
        return refit(expression, values, y, starts=1)
    root = np.sqrt(weights)
    weighted = Expression(("*", (WEIGHT,), expression.tree))
    found = refit(weighted, {**values, WEIGHT: root}, root * y, starts=1)
    return Expression(found.tree[2])


def evaluated(expression: Expression, values: Mapping[str, Any]) -> np.ndarray:
    """Values of an expression, shape (n,); fast for many constants of one form, which is compiled once."""
    form, constants = _form(expression, values)
    return form({**values, **constants})


def slopes(expression: Expression, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Derivatives by the constants, shape (n, n_constants)."""
    form, constants = _form(expression, values)
    return form.gradient({**values, **constants}, tuple(constants)).T


def lettered(expression: Expression, names: tuple[str, ...]) -> tuple[Expression, tuple[str, ...]]:
    """The expression in these variables and in c0, c1, ... for its constants, compiled once; and those letters."""
    return _compiled(expression.skeleton(), names, len(expression.constants))


def _form(expression: Expression, values: Mapping[str, np.ndarray]) -> tuple[Expression, dict[str, float]]:
    form, letters = lettered(expression, tuple(values))
    return form, dict(zip(letters, map(float, expression.constants), strict=True))


@functools.lru_cache(maxsize=512)
def _compiled(skeleton: str, names: tuple[str, ...], count: int) -> tuple[Expression, tuple[str, ...]]:
    """A form with variables for its constants, and their names."""
    letters = tuple(f"c{i}" for i in range(count))
    return parse(skeleton, [*names, *letters]), letters


@np.errstate(all="ignore")  # of candidates that no rows determine
def standard_errors(J: np.ndarray, residuals: np.ndarray, weights: np.ndarray, freedom: float) -> np.ndarray:
    """Standard errors of constants.

    Parameters
    ----------
    J : ndarray, shape (n, p)
        Derivatives of the predictions by the constants.
    residuals, weights : ndarray, shape (n,)
    freedom : rows less constants

    Returns
    -------
    ndarray, shape (p,)
        In units of the constants; NaN for those that the rows do not determine.

    Examples
    --------
    >>> r = np.array([1.0, -1.0, 1.0, -1.0])  # a mean of four: s^2 = 4/3, standard error sqrt(s^2/4)
    >>> standard_errors(np.ones((4, 1)), r, np.ones(4), 3)
    array([0.57735027])
    """
    weights = weights / weights.mean()
    A = np.sqrt(weights)[:, None] * J
    norm = np.linalg.norm(A, axis=0)
    if freedom < 1 or not np.isfinite(A).all():
        return np.full(J.shape[1], np.nan)
    unit = np.where(norm > 0, norm, 1.0)
    _, s, V = np.linalg.svd(A / unit, full_matrices=False)
    sound = s > SINGULAR * max(s.max(initial=0.0), 1e-300)
    lost = (np.abs(V[~sound]) > 1e-6).any(axis=0) | (norm == 0)
    spread = np.sqrt((V[sound].T ** 2 / s[sound] ** 2).sum(axis=1))
    noise = math.sqrt(float(weights @ residuals**2) / freedom)
    return np.where(lost, np.nan, noise * spread / unit)


def quantile(freedom: float) -> float:
    """Of Student's distribution, 97.5 %."""
    from scipy import stats

    return float(stats.t.ppf(0.975, max(freedom, 1)))


class Form(NamedTuple):
    """An equation whose short constants are held while the others are fitted.

    Attributes
    ----------
    expression : with a variable in the place of each constant that is held, k2 for the third
    held : name of such a variable -> the short number as text, such as ``1/2``
    """

    expression: Expression
    held: Mapping[str, str] = {}

    @property
    def values(self) -> dict[str, float]:
        """The numbers that are held."""
        return {name: float(parse(text)({})) for name, text in self.held.items()}

    @property
    def shown(self) -> Expression:
        """The equation with all its constants."""
        return self.expression.substitute({name: parse(text) for name, text in self.held.items()})

    def holding(self, place: int, short: str) -> "Form":
        """The form with one more constant, by its place, held as a short number."""
        name = f"k{place}"
        places = itertools.count()

        def leaf(value: float) -> tuple:
            return (name,) if next(places) == place else (value,)

        return Form(Expression(self.expression._with_leaves(leaf)), {**self.held, name: short})


def without_factor(form: Form, place: int) -> Form | None:
    """The form without one of its constants, by its place, if that is a factor; None if it is something else.

    Examples
    --------
    >>> print(without_factor(Form(parse("2.5*x/(3.0*x + 4.0)")), 1).expression)
    2.5*x/(x + 4.0)
    >>> without_factor(Form(parse("2.5*x/(3.0*x + 4.0)")), 2)
    """
    places, mark = itertools.count(), ("a factor",)

    def leaf(value: float) -> tuple:
        return mark if next(places) == place else (value,)

    def combine(label: Any, children: list[tuple]) -> tuple:
        if label == "*" and mark in children:
            return children[1] if children[0] == mark else children[0]
        return (label, *children)

    left = Expression(fold(form.expression._with_leaves(leaf), combine))
    return None if mark[0] in left.names else Form(left, form.held)


def snapped(
    form: Form,
    errors: np.ndarray,
    freedom: float,
    again: Callable[[Form], Form],
    worse: Callable[[Form, Form], bool],
    rounding: float = DIGITS,
) -> Form:
    """The form with short numbers (`SHORT`) where intervals and held-out rows allow them.

    A constant becomes a short number if that is within two standard errors and within the 95 % interval, if these are
    narrow (`NARROW`), and if the equation with it, its other constants fitted again, is not worse on held-out rows: the
    sixth rule of `choice`.

    Parameters
    ----------
    form : Form
    errors : ndarray, shape (n_constants,)
        Standard errors.
    freedom : rows less constants
    again : fits the constants of a form that are not held
    worse : whether a form is worse than another by more than chance
    rounding : float
        Relative difference of a constant from a short number that is none, whatever its standard error.

    Returns
    -------
    Form
    """
    half = min(choice.CHANCE, quantile(freedom)) * np.asarray(errors, float)
    # from the last place, so that those before it keep theirs
    for place in reversed(range(len(form.expression.constants))):
        short = short_number(form.expression.constants[place], half[place], rounding)
        if short is not None:
            tried = again(form.holding(place, short))
            if not worse(tried, form):
                form = tried
    return form


def short_number(constant: float, half: float, rounding: float = DIGITS) -> str | None:
    """The short number that an interval of this half width includes, if it is narrow enough.

    Parameters
    ----------
    constant : float
    half : half of the interval's width
    rounding : relative difference that is none

    Returns
    -------
    str or None

    Examples
    --------
    >>> short_number(0.502, 0.003), short_number(-3.1415, 0.01), short_number(9.81, 0.1), short_number(2.2, 0.5)
    ('1/2', '-pi', None, None)
    """
    for short in SHORT if np.isfinite(half) else ():
        value = float(parse(short)({}))
        if half <= NARROW * value and abs(abs(constant) - value) <= max(half, rounding * value):
            return short if constant > 0 else f"-{short}"
    return None


def tabulated(
    output: str, free: Form, short: Form, errors: np.ndarray, freedom: float, units: Mapping[int, str] | None = None
) -> "pd.DataFrame":
    """The constants of one equation: value, standard error, 95 % interval, and how each is shown.

    Parameters
    ----------
    output : name of what the equation is for
    free, short : the form with all constants fitted, and with some held
    errors : ndarray, shape (n_constants,)
    freedom : rows less constants
    units : place of a constant -> its unit, where units are used

    Returns
    -------
    DataFrame
    """
    import pandas as pd

    values = np.array(free.expression.constants, float)
    half = quantile(freedom) * errors
    fitted = iter(short.expression.constants)  # beside those that are held
    shown = [short.held.get(f"k{i}") or f"{next(fitted):.4g}" for i in range(len(values))]
    if units is not None:
        shown = [f"{text} {units.get(i, '')}".rstrip() for i, text in enumerate(shown)]
    table = pd.DataFrame(
        {
            "output": output,
            "constant": [f"c{i}" for i in range(len(values))],
            "value": values,
            "standard_error": errors,
            "low": values - half,
            "high": values + half,
            "shown": shown,
        }
    )
    if units is not None:
        table.insert(3, "unit", [units.get(i, "") for i in range(len(values))])
    return table


def as_texts(table: "pd.DataFrame") -> "pd.DataFrame":
    """A table of constants with numbers as texts: six digits, and as many more as tell value and interval apart.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"value": [2.5], "standard_error": [5e-9], "low": [2.49999999], "high": [2.50000001]}
    >>> as_texts(pd.DataFrame(row)).iloc[0].tolist()
    ['2.5', '5e-09', '2.49999999', '2.50000001']
    """
    found = table.copy()
    half = (table["high"] - table["value"]).abs()
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = np.ceil(np.log10(table["value"].abs() / half)) + 2
    digits = digits.where(np.isfinite(digits), 6).clip(6, 15).astype(int)
    for name in ("value", "standard_error", "low", "high"):
        shown = digits if name != "standard_error" else digits * 0 + 6
        found[name] = [
            "not determined" if math.isnan(value) else f"{value:.{n}g}"
            for value, n in zip(table[name], shown, strict=True)
        ]
    return found


def rounded(expression: Expression, digits: int = 4) -> Expression:
    """The expression with decimal constants of so many digits, to be read by people.

    Parameters
    ----------
    expression : Expression
    digits : significant ones

    Returns
    -------
    Expression

    Examples
    --------
    >>> print(rounded(parse("9.80665*x + 2*y")))
    9.807*x + 2*y
    """
    return expression.with_constants([c if type(c) is int else float(f"{c:.{digits}g}") for c in expression.constants])


def tidied(expression: Expression) -> Expression:
    """The expression with differences in the place of sums with what is negative, and without factors of one,
    and products in a row without brackets.

    Parameters
    ----------
    expression : Expression

    Returns
    -------
    Expression

    Examples
    --------
    >>> print(tidied(parse("x + (-2.5)*y - (-1)*z + (-3)")))
    x - 2.5*y + z - 3
    >>> print(tidied(parse("2.5*(x*y)")))
    2.5*x*y
    """

    def combine(label: Any, children: list[tuple]) -> tuple:
        if label in ("+", "-") and len(children) == 2 and (positive := _positive(children[1])):
            return ("-" if label == "+" else "+", children[0], positive)
        if label == "neg" and (positive := _positive(children[0])):
            return positive
        if label == "*" and (1,) in children:  # an integer: a decimal 1.0 is a constant that was fitted
            return children[1] if children[0] == (1,) else children[0]
        if label == "*" and children[1][0] == "*":
            return ("*", combine("*", [children[0], children[1][1]]), children[1][2])
        return (label, *children)

    return Expression(fold(expression.tree, combine))


def _positive(tree: tuple) -> tuple | None:
    """What a tree is the negative of, if its first factor is a negative number or it has a sign."""
    if tree[0] == "neg":
        return tree[1]
    if is_number(tree[0]) and len(tree) == 1 and tree[0] < 0:
        return (-tree[0],)
    if tree[0] in ("*", "/") and (first := _positive(tree[1])):
        return tree[2] if (tree[0], first) == ("*", (1,)) else (tree[0], first, tree[2])
    return None
