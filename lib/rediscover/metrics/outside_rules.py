"""Success by the rules of SRBench, FastSRB and EmpiricalBench: the relations of this package after numbers are rounded.

What an answer is to the truth is decided by `solution.relation` and `equivalence.equivalent`, as everywhere; here is
only what those benchmarks do before: rounding, and letting constants be any.
"""

import functools
from collections.abc import Mapping

import numpy as np

from ..expressions import Expression, ExpressionError, parse
from ..expressions.algebra import from_sympy, gathered, to_sympy
from ..system.given_up import attempt
from . import metric
from .equivalence import KEPT, Domain, equivalent
from .solution import Relation, relation

DECIMALS = 3  # places behind the point that SRBench keeps
DIGITS = 5  # significant digits that FastSRB keeps
USUAL = 1e4  # largest magnitude of inputs, and inverse of the smallest, at which constants are fitted as they are
Sample = Mapping[str, np.ndarray]


@metric("higher", upper=1.0)
def symbolic_solution(prediction: Expression | str, truth: Expression | str, sample: Sample) -> float:
    """1 if the prediction is SRBench's *symbolic solution*, else 0: the truth up to a constant summand or factor.

    It is one if `solution.relation` says so of both as they stand, or with their numbers rounded to three decimals as
    in SRBench (La Cava et al. 2021). SRBench simplifies before and after it rounds; here SymPy gathers numbers (of
    products, and of powers of numbers), and the comparison is by values, so that no simplification is needed.

    Parameters
    ----------
    prediction, truth, sample
        As for `solution.relation`. A constant prediction never passes.

    Returns
    -------
    float, 0 or 1

    Examples
    --------
    >>> x = {"x": np.linspace(1.0, 2.0, 9), "y": np.linspace(3.0, 1.0, 9)}
    >>> symbolic_solution("2*x**1.0002 + 2*y", "x + y", x), symbolic_solution("x + 1.01*y", "x + y", x)
    (1.0, 0.0)
    """
    return float(_solves(prediction, truth, sample).solved)


def _solves(prediction: Expression | str, truth: Expression | str, sample: Sample) -> Relation:
    found = relation(prediction, truth, sample)
    if found.solved or found.kind in ("unparsable", "constant"):
        return found
    return _rounded_relation(prediction, truth, sample, DECIMALS, False)


@metric("higher", upper=1.0)
def accepted_form(prediction: Expression | str, truth: Expression | str, sample: Sample) -> float:
    """1 if the prediction equals the truth once numbers are rounded to five significant digits, else 0.

    FastSRB (arXiv:2508.14481) lists the forms of each law that it accepts, and compares after constants are rounded to
    five digits. Values are compared here instead, which accepts every way of writing the law. Of the 225 listed forms
    219 have the law's values everywhere and four within its ranges; one of I.29.16 and one of II.21.32 have a wrong
    sign, and are not accepted here. A constant summand or factor is not forgiven.

    Parameters
    ----------
    prediction, truth, sample
        As for `solution.relation`.

    Returns
    -------
    float, 0 or 1

    Examples
    --------
    >>> x = {"x": np.linspace(1.0, 2.0, 9), "y": np.linspace(3.0, 1.0, 9)}
    >>> accepted_form("6.283184*(y/x)", "2*pi/x*y", x), accepted_form("6.2831*y/x", "2*pi*y/x", x)
    (1.0, 0.0)
    """
    if relation(prediction, truth, sample).kind == "equal":
        return 1.0
    return float(_rounded_relation(prediction, truth, sample, DIGITS, True).kind == "equal")


def _rounded_relation(
    prediction: Expression | str, truth: Expression | str, sample: Sample, places: int, significant: bool
) -> Relation:
    pair = []
    for given in (prediction, truth):
        try:
            expression = parse(given, sample) if isinstance(given, str) else given
            pair.append(_rounded(expression, places, significant))
        except ExpressionError:
            return Relation("unparsable")
        except TimeoutError:
            return Relation("timeout")
        except (ValueError, ChildProcessError, MemoryError, OverflowError):  # rounding left no real number
            return Relation("undefined")
    try:
        return relation(pair[0], pair[1], sample)
    except ValueError:  # nothing is left of the truth: its numbers are all below what rounding keeps
        return Relation("undefined")


@functools.lru_cache(maxsize=KEPT)
def _rounded(expression: Expression, places: int, significant: bool) -> Expression:
    return Expression(attempt(rounded, expression.tree, places, significant))


def rounded(tree: tuple, places: int, significant: bool) -> tuple:
    """The tree with SymPy's numbers rounded; called in a process of its own.

    Parameters
    ----------
    tree : nested tuples
    places : behind the point, or digits if `significant`
    significant : bool

    Returns
    -------
    nested tuples

    Examples
    --------
    >>> print(Expression(rounded(parse("x/3.0003 + 1.0001*y**1.9999").tree, 3, False)))
    y**2 + 0.333*x
    """
    import sympy

    def number(value: float) -> sympy.Expr:
        kept = float(f"{value:.{places - 1}e}") if significant else round(value, places)
        return sympy.Integer(int(kept)) if kept == int(kept) and abs(kept) < 2**53 else sympy.Float(kept)

    # SymPy's evalf leaves the argument of an exponential as it is.
    expression = to_sympy(gathered(tree))
    named = {e: e.evalf() for e in expression.atoms(sympy.Rational, sympy.NumberSymbol) if not (2 * e).is_Integer}
    expression = expression.xreplace(named).evalf()
    return from_sympy(expression.xreplace({f: number(float(f)) for f in expression.atoms(sympy.Float)}))


@metric("higher", upper=1.0)
def law_with_any_constants(prediction: Expression | str, law: Expression | str, domain: Domain) -> float:
    """1 if the prediction is the law with some constants, and has no constant that is superfluous, else 0.

    EmpiricalBench (Cranmer 2023) judges by eye whether a law is on a front, with any constants. Here some constants
    must make the prediction the law (`equivalence.equivalent`), and where it has more of them than the law, none may be
    made 0 with the same result: a*x + b is not a*x, nor is a line plus a sine whose amplitude happens to be small.
    Exponents are constants too: 2.5 may be found as 2.46.

    Parameters
    ----------
    prediction, law : Expression or text
    domain : Mapping of input name to (low, high)
        Where they are compared.

    Returns
    -------
    float, 0 or 1

    Examples
    --------
    >>> law_with_any_constants("364.3*a**1.503", "366.7*a**1.5", {"a": (0.4, 9.5)})
    1.0
    >>> law_with_any_constants("470.1*D + 3.2", "475.3*D", {"D": (0.1, 2.0)})
    0.0
    """
    try:
        found = parse(prediction, domain) if isinstance(prediction, str) else prediction
    except ExpressionError:
        return 0.0
    if set(found.names) - set(domain):
        return 0.0
    scales = {name: _unit(max(map(abs, ends))) for name, ends in domain.items()}
    domain = {name: (low / scales[name], high / scales[name]) for name, (low, high) in domain.items()}
    try:
        pair = (found, parse(law, scales) if isinstance(law, str) else law)
        found, law = (_in_units(e, tuple(scales.items())) for e in pair)
    except (ExpressionError, ValueError, TimeoutError, ChildProcessError, MemoryError, OverflowError):
        return 0.0
    if not equivalent(found, law, domain):
        return 0.0
    constants = found.constants
    shorter = (
        _gathered(found.with_constants([*constants[:i], 0.0, *constants[i + 1 :]])) for i in range(len(constants))
    )
    # With fewer constants than the law there is none too many.
    return float(not any(len(e.constants) >= len(law.constants) and equivalent(e, law, domain) for e in shorter))


def _gathered(expression: Expression) -> Expression:
    """The expression without what a constant of 0 makes vanish, so that nothing is fitted in its place."""
    try:
        return _in_units(expression, ())
    except (ExpressionError, ValueError):  # a division by 0, which is no law
        return Expression((0,))


def _unit(largest: float) -> float:
    """What an input is divided by: 1 if its magnitude is usual, so that an offset that lacks is not made up for."""
    return 1.0 if 1 / USUAL <= largest <= USUAL else 10.0 ** np.floor(np.log10(largest))


@functools.lru_cache(maxsize=KEPT)
def _in_units(expression: Expression, scales: tuple[tuple[str, float], ...]) -> Expression:
    return Expression(attempt(in_units, expression.tree, dict(scales)))


def in_units(tree: tuple, scales: Mapping[str, float]) -> tuple:
    """The tree in inputs x/scale, with numbers gathered, also those of logarithms; called in a process of its own.

    Searches for constants need inputs of order one. A unit within a logarithm would be a constant too many, so it
    is taken out.

    Examples
    --------
    >>> same = Expression(in_units(parse("log(x) - 2e-3*x").tree, {"x": 1000.0}))  # log(x) + 6.9078 - 2*x
    >>> len(same.constants), round(float(same({"x": 1.0})), 4)
    (2, 4.9078)
    """
    import sympy

    units = {sympy.Symbol(name): scale * sympy.Symbol(name) for name, scale in scales.items() if scale != 1}
    expression = to_sympy(gathered(tree)).subs(units, simultaneous=True)
    return from_sympy(sympy.expand_log(expression, force=True).evalf())
