"""Normalised edit distance between expressions, as SRSD publishes it and harmonised.

Expressions are given as text or as `rediscover.expressions.Expression`. Conversion to trees by SymPy, which may
hang, happens in a process that can be killed; `ned_details` says how it went.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..expressions import Expression, ExpressionError, parse
from . import metric
from .compared_trees import harmonised_tree, published_tree
from .trees import size, tree_edit_distance

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
    r"""Normalised edit distance that does not depend on how an expression is written, within the bounds stated here.

    .. math:: 2 d / (|f_\mathrm{pred}| + |f_\mathrm{true}| + d)

    This normalisation (Li and Liu, IEEE TPAMI 29 (2007) 1091) keeps the distance symmetric and the triangle
    inequality valid, and tells large wrong predictions from larger ones. It is 0 if and only if both expressions have
    the same canonical tree; then they are equal up to the values of constants, exponents among them, where the
    identities below hold.

    *What does not count.* The tree is the smallest of some forms that are made from a normal form
    (`rediscover.metrics.normal_form`), which is the same for expressions that are equal wherever both are real numbers

    - by rational algebra: expanded, factored, over one bar or several, also in the arguments of functions;
    - by ``sin(u)**2 + cos(u)**2 = 1``, sine and cosine of twice an angle, ``tan(u) = sin(u)/cos(u)``;
    - by exponentials of sums, logarithms of products, ``exp(log(u)) = u``, ``u**v = exp(v*log(u))``;
    - by roots of products and powers of powers (``sqrt(u**2)`` is ``abs(u)``), ``sign(u)*abs(u) = u``.

    Decimal numbers are fractions there, with 15 digits; ``0.333333333333333`` is 1/3.

    *Where these hold.* Variables are real, and a factor under a root, a logarithm or an exponent that is no whole
    number is taken to be positive:

    - ``sqrt(u)**2`` is ``u`` (for u >= 0), ``exp(log(u))`` too (u > 0), and ``u**v`` is ``exp(v*log(u))`` (u > 0);
    - ``log(u*v)`` is ``log(u) + log(v)`` and ``sqrt(u*v)`` is ``sqrt(u)*sqrt(v)`` (u, v > 0), though the left sides
      have values where u and v are negative. So two forms may be 0 apart that have no point in common, as
      ``log(-u) + log(-v)`` and ``log(u) + log(v)``;
    - ``log(u**2)`` is ``2*log(u)`` (u > 0) and not ``2*log(abs(u))``; ``log(abs(u))`` is a function of its own. But
      ``sqrt(u**2)`` is ``abs(u)`` and ``(u**2)**v`` is ``abs(u)**(2*v)`` (u not 0);
    - ``(u**v)**w`` is ``u**(v*w)`` (u > 0), ``(u**3)**(1/3)`` is ``u`` (u >= 0); ``cbrt(u)`` is real for all u and is
      not ``u**(1/3)``;
    - a quotient is cancelled, ``u/u`` is 1 (u not 0), and so are ``abs(u)/u = sign(u)`` and ``tan(u)*cos(u) = sin(u)``
      (cos(u) not 0);
    - a function of its inverse is ``u``, as ``sin(asin(u))`` (-1 <= u <= 1); ``asin(sin(u))`` is not.

    *What does count.* Other identities: sines of sums, odd multiples of an angle, phases, inverse and hyperbolic
    functions, rounding, ``max(u, v) = (u + v + abs(u - v))/2``, roots of several sums with both signs, roots other than
    square roots in denominators of several terms. And writing counts where the normal form would be too large: sums of
    more than 40 terms are not multiplied out, those of a degree above 10 not factored; multiples beyond the twelvefold
    of an exponent or an angle are not related, nor exponents whose denominators exceed 12. What is too large stays as
    it is written, with its parts in normal form.

    *How the tree is built.*

    - Sums and products take any number of arguments, in an order that does not depend on values of constants; it
      follows the columns of the inputs, so that a distance above 0 may change a little with another order of columns.
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
    >>> ned_harmonised("(x0*x1)**0.5/x2**0.5", "sqrt(x0*x1/x2)"), ned_harmonised("1/x0 + 1/x1", "(x0 + x1)/(x0*x1)")
    (0.0, 0.0)
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
    truth = as_expression(truth, names)
    if not harmonised and prediction in UNDEFINED:
        prediction = "0"
    try:
        prediction = as_expression(prediction, names)
    except ExpressionError:
        return EditDistance(1.0, "unparsable")
    prediction, truth = by_column([prediction, truth], names)
    convert = harmonised_tree if harmonised else published_tree
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
