"""Were the governing equations found: MDBench's fidelity, its fitness, and sizes of linear combinations."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import floats
from ..system.given_up import attempt
from . import metric

EQUATIONS = "state -> right-hand side, text or Expression; a prediction may be None"
TOLERANCE = 0.05
UNPRINTED = 1e-10  # a constant up to this size is no term: MDBench's code does not print it


def expanded(text: str) -> dict[str, tuple[float, ...]]:
    """Term without its inner numbers -> coefficient and inner numbers, of an expanded right-hand side.

    A constant is a number however it is written; terms that differ in their inner numbers alone are told apart.

    >>> expanded("cos(0) + 2*x - 3"), expanded("sin(0.5*x) + 3*sin(0.25*x)")
    ({'1': (-2.0,), 'x': (2.0,)}, {'sin(number*x)': (3.0, 0.25), 'sin(number*x), 2': (1.0, 0.5)})
    """
    import sympy

    from ..expressions import parse

    expression = parse(text).sympy()
    whole = {
        number: sympy.Integer(int(number))
        for number in expression.atoms(sympy.Float)
        if math.isfinite(number) and number == int(number)
    }
    sums: dict[Any, float] = defaultdict(float)
    for term, coefficient in sympy.expand(expression.xreplace(whole)).as_coefficients_dict().items():
        symbols = term.free_symbols
        factor, rest = term.as_independent(*symbols, as_Add=False) if symbols else (term, sympy.S.One)
        value = (coefficient * factor).evalf()
        if not (value.is_Float or value.is_Rational):  # infinite or complex
            value, rest = coefficient, term
        sums[rest] += float(value)
    found = []
    for rest, value in sums.items():
        numbers = [n for n in sympy.preorder_traversal(rest) if n.is_Number and not n.is_Integer]
        skeleton = str(rest.xreplace({n: sympy.Symbol("number") for n in numbers}))
        found.append((skeleton, tuple(map(float, numbers)), value))
    terms: dict[str, tuple[float, ...]] = {}
    alike: Counter[str] = Counter()
    for skeleton, inner, value in sorted(found):
        if value != 0:
            alike[skeleton] += 1
            number = alike[skeleton]
            terms[skeleton if number == 1 else f"{skeleton}, {number}"] = (value, *inner)
    return terms


def _close(found: tuple, true: tuple) -> bool:
    return len(found) == len(true) and all(
        abs(a - b) <= (TOLERANCE + 1e-12) * abs(b) for a, b in zip(found, true, strict=True)
    )


def fidelity(prediction: Mapping[str, Any] | None, truth: Mapping[str, str]) -> str:
    """How much of the true equations was found: MDBench's check mark, underline, number or dash, by rule.

    Both sides are expanded and matched term by term, over all states together; the paper does it by eye on clean
    data. Terms match if they agree up to numbers; numbers inside them (as in ``exp(-2*x)``) are compared too.

    Parameters
    ----------
    prediction : state -> right-hand side (text or Expression), or None
    truth : state -> right-hand side

    Returns
    -------
    str
        'identified' : the same terms, every number within 5 % of the truth. A constant of 1e-9 is a term, one of
        1e-10 is not printed.
        'partial' : exactly one term missing or extra, all others within 5 %.
        'failed' : no prediction, a state without one, or text that does not parse.
        'approximate' : anything else, also where expanding is given up on (`rediscover.system.given_up`).

    References
    ----------
    MDBench 2025, section 4 and Tables 3, A5 and A6.

    Examples
    --------
    >>> truth = {"u0": "-6*u0*u0_x - u0_xxx"}
    >>> fidelity({"u0": "-5.97*u0*u0_x - 0.99*u0_xxx"}, truth)
    'identified'
    >>> fidelity({"u0": "-5.97*u0*u0_x - 0.99*u0_xxx + 1e-9"}, truth), fidelity({"u0": "-u0_x"}, truth)
    ('partial', 'approximate')
    """
    from ..expressions import ExpressionError, parse

    if not prediction or any(prediction.get(state) is None for state in truth):
        return "failed"
    texts = {state: str(prediction[state]) for state in truth}
    try:
        for text in texts.values():
            parse(text)
    except ExpressionError:
        return "failed"
    odd = wrong = 0
    for state in sorted(truth, key=lambda state: len(texts[state])):  # a short one may decide before a long one is read
        try:
            found = attempt(expanded, texts[state])
        except (TimeoutError, MemoryError, ChildProcessError):
            return "approximate"
        true = expanded(str(truth[state]))
        if "1" not in true and abs(found.get("1", (0.0,))[0]) <= UNPRINTED:
            found.pop("1", None)
        odd += len(found.keys() ^ true.keys())
        wrong += sum(not _close(found[term], true[term]) for term in found.keys() & true.keys())
        if wrong or odd > 1:
            return "approximate"
    return "partial" if odd else "identified"


@metric("higher", upper=1.0, of=EQUATIONS)
def identified(prediction: Mapping[str, str] | None, truth: Mapping[str, str]) -> float:
    """1 if `fidelity` is 'identified', else 0.

    >>> identified({"x0": "0.21 - sin(x0)"}, {"x0": "0.2 - sin(x0)"})  # 5 % off, the edge of what counts
    1.0
    """
    return float(fidelity(prediction, truth) == "identified")


@metric("higher", upper=1.0, of=EQUATIONS)
def partial(prediction: Mapping[str, str] | None, truth: Mapping[str, str]) -> float:
    """1 if `fidelity` is 'partial', the underline in the published tables, else 0.

    >>> partial({"x0": "0.2 - sin(x0) + 0.01*x0"}, {"x0": "0.2 - sin(x0)"})
    1.0
    """
    return float(fidelity(prediction, truth) == "partial")


@metric("lower", of=EQUATIONS)
def complexity_mdbench(prediction: Mapping[str, Any], truth: object = None) -> float:
    """Nodes of all right-hand sides as MDBench counts them: ``symbolic.complexity`` by its rule 'preorder'.

    The truth is not used: a metric takes both.

    >>> complexity_mdbench({"x0": "x1", "x1": "-4.5*x0 - 0.43*x1"})  # 1 + 7
    8.0
    """
    from .symbolic import complexity

    return float(complexity(prediction, rule="preorder"))


@metric("lower", of=EQUATIONS)
def complexity_tree(prediction: Mapping[str, Any], truth: object = None) -> float:
    """Constants, variables and operators of all right-hand sides as they stand: one rule for all methods.

    The truth is not used: a metric takes both.

    >>> complexity_tree({"x0": "x1", "x1": "2*x0 + x1"})  # 1 + 5
    6.0
    """
    from .symbolic import complexity

    return float(complexity(prediction))


@metric("higher", upper=2.0)
def fitness(
    nmse: ArrayLike, complexity: ArrayLike | None, weight: float = 1.0, scale: float = 200.0
) -> np.floating | np.ndarray:
    r"""What MDBench maximises to choose among settings and along fronts, eq. (2).

    .. math:: s = \frac{1}{1 + \mathrm{NMSE}} + \lambda e^{-l/L}

    Parameters
    ----------
    nmse : float or array, >= 0
    complexity : number or array, l
    weight, scale : lambda and L

    Returns
    -------
    float or array in (0, 1 + weight]; NaN where an argument is

    Examples
    --------
    >>> float(fitness(0.0, 0)), float(round(fitness(1.0, 200), 4))  # 1 + 1, and 1/2 + 1/e
    (2.0, 0.8679)
    """
    error, size = floats(nmse), floats(complexity)
    return 1 / (1 + error) + weight * np.exp(-size / scale)


def linear_size(terms: Iterable[str]) -> int:
    """Nodes of the sum of numbers times library terms, as MDBench counts them, without building the expression.

    Agrees with ``symbolic.complexity(text, rule="preorder")`` on such sums; a thousand times as fast, which
    the grid searches need.

    Parameters
    ----------
    terms : products of states, derivatives, integer powers of states ``u0**2`` and functions ``sin(u0)``; the
        constant is ``1``. Every term carries a number that is not folded away.

    Returns
    -------
    int; 0 for no terms

    Examples
    --------
    >>> linear_size(["u0", "u0**2"]), linear_size(["u0*u0_x"]), linear_size(["1", "u0", "u0**3"])
    (9, 4, 10)
    """
    sizes = [term_size(term) for term in terms]
    return sum(sizes) + (len(sizes) > 1)


def term_size(term: str) -> int:
    """Nodes of a number times one library term: the product, the number, and each factor's own nodes.

    Examples
    --------
    >>> term_size("1"), term_size("u0_xx"), term_size("u0**2"), term_size("sin(u0)*u0_x")
    (1, 3, 5, 5)
    """
    if term == "1":
        return 1
    factors = re.split(r"(?<!\*)\*(?!\*)", term)
    return 2 + sum(3 if "**" in factor else 2 if "(" in factor else 1 for factor in factors)
