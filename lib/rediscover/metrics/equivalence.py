"""Symbolic accuracy: is a found expression the true one, up to its constants?

SurfaceBench asks a language model whether some choice of the constants makes the hypothesis equivalent to the
truth. The deterministic substitute here answers the same question; `equivalent` states its rule.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gmpy2 import mpfr

from ..expressions import EXPONENT, Expression, parse, refit
from ..expressions.algebra import from_sympy, to_sympy
from ..expressions.trees import fold
from ..numerics import level_sets
from ..system.given_up import attempt
from . import metric
from .precise import DIGITS, digits, values
from .solution import ROWS, extrapolates, inputs_that_matter, with_digits

KEPT = 256  # results of computer algebra in a process: a truth comes with one answer after another
POINTS = 2000  # in the domain, and as many in the widened one
FITTED = 200  # points that starts are compared on, by few steps each; the best is then fitted to all points
EVALUATIONS = 25
WIDER = 1.4
TOLERANCE = 1e-6
STEPS = {"where", "min", "max", "floor", "ceil", "mod", "sign"}  # functions that are one on each of several parts
ROUNDING = 1e-12  # what varies by less, relative to its size, is constant
LARGEST_REFIT = 10  # constants
SETTLED = 9  # digits of a refitted constant
STARTS = 20
Domain = Mapping[str, tuple[float, float]]
Answer = Expression | str | Mapping[str, Expression | str]
EFFORT = 2000  # nodes times constants times starts, at most: large expressions get fewer starts


@metric("higher", upper=1.0)
def symbolic_accuracy(prediction: Answer, truth: Answer, domain: Domain, *, integers: bool = False) -> float:
    """1 if the prediction is `equivalent` to the truth in every output, else 0.

    SurfaceBench, section 4; averaged over surfaces. Inputs of parametric surfaces are not renamed.

    Parameters
    ----------
    prediction, truth : Mapping of output name to Expression or text, or one of these
    domain, integers : see `equivalent`

    Returns
    -------
    float
        0 or 1.

    Examples
    --------
    >>> square = {"x": (-5, 5), "y": (-5, 5)}
    >>> symbolic_accuracy("7*sin(x)*y", "2*y*sin(x)", square), symbolic_accuracy("x", "sin(x)", square)
    (1.0, 0.0)
    """
    pairs: tuple[Any, Any] = (prediction, truth) if isinstance(truth, Mapping) else ({"": prediction}, {"": truth})
    found, true = pairs
    return float(all(equivalent(found[name], true[name], domain, integers=integers) for name in true))


def equivalent(
    prediction: Expression | str, truth: Expression | str, domain: Domain, *, integers: bool = False
) -> bool:
    """Whether some choice of the prediction's constants makes it the truth.

    A prediction that is constant in the domain, or has other inputs than it, never is. Else one of
    these must hold.

    *The numbers agree* for the prediction f as given, with its constants refitted, or with those of
    the refitted ones zero that may be zero. The points are 2,000 of the domain and as many of the
    domain widened by 1.4, where an input with one sign in the domain keeps it. On either the largest
    difference of f and the truth g is at most 1e-6 of the spread of g, and the median difference at
    most 1e-6 of the spread of the middle half of g's values (if that is 0, of the middle nine tenths;
    if that is 0, of all). In the domain f must be finite where g is; beyond it those points count
    where both are. And f must be no mere approximation: see `approximates`. On whole numbers only
    this last is not asked.

    *They are identical* in the domain to 45 of 50 digits, neither has choices or steps, f has the inputs of g and its
    own constants or those refitted, with 9 digits. Beyond the domain such functions differ in the branch of an
    inverse function alone: acos(cos(x)) is x from 0 to pi. Not asked on whole numbers.

    *The skeletons agree*: both with all numbers nameless but whole exponents up to 6 and factors -1
    of f, as SymPy orders them, or as it simplifies them where f has no more numbers then: what
    stands twice is one constant and cannot be chosen twice.

    Constants are judged in the writing of `collected`, in which x*y + x*y is 2*x*y. There every
    number is a constant but whole exponents up to 6 and factors 1 and -1: -x is not 2*x. Refitted
    are at most 10 constants, or as many as the truth has: anything flexible enough fits anything.

    Parameters
    ----------
    prediction, truth : Expression or text
        Text is read with the names of the domain: an input may be called E or pi.
    domain : Mapping of input name to (low, high)
    integers : bool
        Compare on whole numbers only.

    Returns
    -------
    bool
        A comparison of skeletons that is given up on (`rediscover.system.given_up`) counts as different.

    Examples
    --------
    >>> square = {"x": (-5, 5), "y": (-5, 5)}
    >>> equivalent("0.5*(1 - cos(2.0*x))", "sin(x)**2", square)
    True
    >>> equivalent("x - 0.16*x**3", "sin(x)", square)
    False
    """
    found, true = (_read(e, domain) for e in (prediction, truth))
    if set(found.names) - set(domain):
        return False
    rng = np.random.default_rng(0)
    inside, beyond = (_draw(domain, wider, integers, rng) for wider in (1.0, WIDER))
    z, z_beyond = true(inside), true(beyond)
    given = found(inside)
    given = given[np.isfinite(given)]
    if not given.size or np.ptp(given) <= ROUNDING * np.abs(given).max():
        return False

    def near(candidate: Expression) -> bool:
        return _close(candidate(inside), z)

    def fits(candidate: Expression) -> bool:
        far = candidate(beyond)
        both = np.isfinite(far) & np.isfinite(z_beyond)
        return near(candidate) and _close(far[both], z_beyond[both])

    def agrees(candidate: Expression) -> bool:
        return fits(candidate) and (integers or not _in_digits(approximates, candidate, true, inside))

    def on_a_branch(candidate: Expression) -> bool:
        if integers or STEPS & (_labels(candidate) | _labels(true)) or set(true.names) - set(candidate.names):
            return False
        return near(candidate) and _in_digits(identical, candidate, true, inside)

    if agrees(found) or on_a_branch(found):
        return True
    found, collected_truth = _collected(found), _collected(true)
    if not found.constants:
        return False
    if len(found.constants) <= max(LARGEST_REFIT, len(collected_truth.constants)):
        refitted = _refitted(found, inside, z, rng)
        if refitted is not None and fits(refitted):
            if agrees(refitted) or agrees(_sparse(refitted, fits)):
                return True
        elif refitted is not None and on_a_branch(_sparse(_short(refitted), near)):
            return True
    return _labels(found) == _labels(collected_truth) and _same_skeleton(found, true)


def _read(given: Expression | str, domain: Domain) -> Expression:
    if isinstance(given, Expression):
        return given
    return parse(given, {*domain, *parse(given).names})


def _draw(domain: Domain, wider: float, integers: bool, rng: np.random.Generator) -> dict[str, np.ndarray]:
    values = {}
    for name, (low, high) in domain.items():
        middle, half = (low + high) / 2, wider * (high - low) / 2
        drawn = rng.uniform(middle - half, middle + half, POINTS)
        if wider > 1 and low * high >= 0:  # identities such as exp(log(x)) = x hold for one sign
            drawn = np.clip(drawn, 0, None) if low >= 0 else np.clip(drawn, None, 0)
        values[name] = np.rint(drawn) if integers else drawn
    return values


def _close(prediction: np.ndarray, truth: np.ndarray, tolerance: float = TOLERANCE) -> bool:
    """Whether values agree where the truth is finite, by the largest and by the median error.

    The largest error alone would let anything pass that has the few huge values of a surface near a pole.
    """
    rows = np.isfinite(truth)
    if not rows.any() or not np.isfinite(prediction[rows]).all():
        return False
    error, spread = np.abs(prediction[rows] - truth[rows]), np.ptp(truth[rows])
    parts = (np.subtract(*np.quantile(truth[rows], [0.5 + p / 2, 0.5 - p / 2])) for p in (0.5, 0.9))
    typical = next((part for part in parts if part > 0), spread)
    return error.max() <= tolerance * spread and np.median(error) <= tolerance * typical


def _in_digits(
    question: Callable[..., bool], prediction: Expression, truth: Expression, inside: Mapping[str, np.ndarray]
) -> bool:
    """The answer to `approximates` or `identical` on rows where the truth is defined."""
    defined = np.flatnonzero(np.isfinite(truth(inside)))[:ROWS]
    rows = np.column_stack([column[defined] for column in inside.values()]).tolist()
    return attempt(question, prediction.tree, truth.tree, tuple(inside), rows)


def approximates(prediction: tuple, truth: tuple, names: tuple[str, ...], rows: list) -> bool:
    """Whether a prediction that agrees with the truth in the domain is another function nevertheless.

    It is if it lacks an input with which the truth changes there or elsewhere; or if it differs from
    the truth elsewhere (`solution.extrapolates`), unless 45 of 50 digits of both are equal in the
    domain: x is so near to sin(x) for small x, but equal to asin(sin(x)). Called in a process of
    its own.

    Parameters
    ----------
    prediction, truth : trees
    names : names of the inputs
    rows : list of lists of float
        Rows of the domain.

    Returns
    -------
    bool
    """
    if inputs_that_matter(truth, names, rows) - set(Expression(prediction).names):
        return True
    return (
        not identical(prediction, truth, names, rows)
        and extrapolates("equal", prediction, truth, names, rows) == "differs"
    )


def identical(prediction: tuple, truth: tuple, names: tuple[str, ...], rows: list) -> bool:
    """Whether 45 of 50 digits are equal on all rows; the arguments are those of `approximates`.

    >>> tree = parse("acos(cos(x))").tree
    >>> identical(tree, ("x",), ("x",), [[0.5], [3.0]]), identical(tree, ("x",), ("x",), [[0.5], [3.5]])
    (True, False)
    """
    with digits():
        columns = with_digits(names, rows)
        error = mpfr(10) ** (5 - DIGITS)
        pairs = zip(values(prediction, columns), values(truth, columns), strict=True)
        return all(abs(f - g) <= error * abs(g) for f, g in pairs)


def _refitted(
    prediction: Expression, values: Mapping[str, np.ndarray], z: np.ndarray, rng: np.random.Generator
) -> Expression | None:
    """The prediction with constants refitted, or None where even the best start is nowhere near."""
    rows = np.flatnonzero(np.isfinite(z))
    if not rows.size:
        return None
    few, every = ({name: v[part] for name, v in values.items()} for part in (rows[:FITTED], rows))
    starts = int(np.clip(EFFORT // (prediction.size * len(prediction.constants)), 1, STARTS))
    best = refit(prediction, few, z[rows[:FITTED]], starts=starts, rng=rng, evaluations=EVALUATIONS)
    if not _close(best(few), z[rows[:FITTED]], tolerance=1e-2):
        return None
    return refit(best, every, z[rows], starts=1, rng=rng)


def _short(fitted: Expression) -> Expression:
    """With the digits of the constants that a fit settles: what lies behind them would hide an identity."""
    return fitted.with_constants([float(f"{constant:.{SETTLED}g}") for constant in fitted.constants])


def _sparse(fitted: Expression, fits: Callable[[Expression], bool]) -> Expression:
    """The expression with every constant 0 that may be so, one after the other."""
    for i in range(len(fitted.constants)):
        constants = [0.0 if j == i else c for j, c in enumerate(fitted.constants)]
        if fits(without := fitted.with_constants(constants)):
            fitted = without
    return fitted


@functools.lru_cache(maxsize=KEPT)
def _collected(expression: Expression) -> Expression:
    try:
        return Expression(attempt(collected, expression.tree))
    except Exception:  # computer algebra fails in many ways; then the expression stays as written
        return expression


def collected(tree: tuple) -> tuple:
    """A tree as SymPy writes it, with one number for a constant part; may hang, so `attempt` it.

    Like terms and numbers are brought together, pi and e are decimal numbers, decimal numbers that
    are whole or a half are fractions: x + x, 2.0*x and 4*x/2 are 2*x, and x**0.5 is sqrt(x).
    """
    return from_sympy(_merged(to_sympy(tree)))


def _merged(expression: Any) -> Any:
    import sympy

    named = {number: number.evalf() for number in (sympy.pi, sympy.E)}
    expression = expression.xreplace(named)
    halves = {n: sympy.Rational(round(2 * n), 2) for n in expression.atoms(sympy.Float) if 2 * n % 1 == 0}
    return expression.xreplace(halves)


def _labels(expression: Expression) -> frozenset:
    """Functions and variables, which expressions of one skeleton have in common."""
    found = set(expression.names)
    fold(expression.tree, lambda label, children: found.add(label) if children else None)
    return frozenset(found - {"+", "-", "*", "/", "**", "neg"})


def _same_skeleton(prediction: Expression, truth: Expression) -> bool:
    try:
        return attempt(compare_skeletons, prediction.tree, truth.tree)
    except Exception:  # computer algebra fails in many ways; undecided counts as different
        return False


def compare_skeletons(prediction: tuple, truth: tuple) -> bool:
    """Whether trees have one skeleton, as given or simplified; may hang, so `attempt` it.

    >>> trees = [parse(text).tree for text in ("2*x + 3*x*y", "x*(5 + 7*y)", "2*x*y")]
    >>> compare_skeletons(trees[1], trees[0]), compare_skeletons(trees[1], trees[2])
    (True, False)
    >>> trees = [parse(text).tree for text in ("2/(3 + exp(-4*t))", "2/(3*exp(5*t) + exp(-4*t))")]
    >>> compare_skeletons(*trees)  # both are c*exp(c*t)/(c*exp(c*t) + c) when simplified
    False
    """
    import sympy

    def match(found: Any, true: Any) -> bool:
        # SymPy writes -x as -1*x: a constant can be that, but that is no constant
        return _skeleton(found) in (_skeleton(true), _skeleton(true, sign="c"))

    found, true = (_merged(to_sympy(tree)) for tree in (prediction, truth))
    if match(found, true):
        return True
    simple = sympy.simplify(found)
    # More numbers than were written are not free: in exp(a*x)/(b*exp(a*x) + 1) both a are one number.
    return _numbers(simple) <= _numbers(found) and match(simple, sympy.simplify(true))


def _numbers(node: Any) -> int:
    """How many constants a skeleton has."""
    return str(_skeleton(node, sign="")).count("'c'")


def _skeleton(node: Any, sign: str = "-1") -> str | tuple:
    """Nested tuples with "c" for a SymPy expression's numbers, but for small integer exponents and signs."""
    if node.is_Number:
        return sign if node.is_Integer and node == -1 else "c"
    if not node.args:
        return str(node)
    if node.is_Pow and node.exp.is_Integer and abs(node.exp) <= EXPONENT:
        return ("Pow", _skeleton(node.base, sign), int(node.exp))
    parts = [_skeleton(part, sign) for part in node.args]
    return (type(node).__name__, *(sorted(parts, key=str) if node.is_Add or node.is_Mul else parts))


def same_level_set(
    prediction: Expression,
    truth: Expression,
    predicted_points: np.ndarray,
    true_points: np.ndarray,
    box: Sequence[tuple[float, float]],
) -> bool:
    """Whether F = 0 is the same surface for two functions F.

    Points of either surface must lie on the other to first order, abs(F) / norm(grad F) < 1e-6, and the
    product of the functions must not change its sign on 2,000 points of the box.

    Parameters
    ----------
    prediction, truth : Expression in x, y, z
    predicted_points, true_points : ndarray, shape (n, 3)
        Points of the two surfaces, accurate to rounding.
    box : ((x0, x1), (y0, y1), (z0, z1))

    Returns
    -------
    bool

    Examples
    --------
    >>> F, G = parse("x - y"), parse("(y - x)*(1 + z**2)")
    >>> points = np.array([[1.0, 1.0, 0.0], [-2.0, -2.0, 3.0]])
    >>> same_level_set(G, F, points, points, ((-5, 5),) * 3)
    True
    """
    if not len(predicted_points) or not len(true_points):
        return False
    crossed = ((prediction, true_points), (truth, predicted_points))
    if any(level_sets.distance(F, points).max() >= TOLERANCE for F, points in crossed):
        return False
    values = _draw(dict(zip("xyz", box, strict=True)), 1.0, False, np.random.default_rng(0))
    with np.errstate(invalid="ignore"):
        signs = np.sign(prediction(values)) * np.sign(truth(values))
    return len(set(signs[np.isfinite(signs) & (signs != 0)])) == 1
