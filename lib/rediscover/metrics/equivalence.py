"""Symbolic accuracy: is a found expression the true one, up to its constants?

SurfaceBench asks a language model whether some choice of the constants makes the hypothesis equivalent to the
truth. The deterministic substitute here answers the same question in two ways, either of which suffices:

- the numbers agree: with its constants as given or refitted in the domain, the hypothesis has the truth's
  values both there and on the domain widened by 1.4, where nothing was fitted;
- the skeletons agree: both expressions with all numbers but small integer exponents made nameless, as SymPy
  orders them or as it simplifies them.

A hypothesis that is constant never passes. One with more constants than 10 (and than the truth) may not be
refitted: anything flexible enough fits anything.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..expressions import EXPONENT, Expression, parse, refit
from ..expressions.trees import fold
from ..numerics import level_sets
from ..system.given_up import attempt
from . import metric

POINTS = 2000  # in the domain, and as many in the widened one
FITTED = 200  # points that starts are compared on, by few steps each; the best is then fitted to all points
STEPS = 25
WIDER = 1.4
TOLERANCE = 1e-6
LARGEST_REFIT = 10  # constants
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

    Parameters
    ----------
    prediction, truth : Expression or text
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
    prediction, truth = (e if isinstance(e, Expression) else parse(e) for e in (prediction, truth))
    if set(prediction.names) - set(domain):
        return False
    rng = np.random.default_rng(0)
    ranges = [_draw(domain, wider, integers, rng) for wider in (1.0, WIDER)]
    targets = [truth(values) for values in ranges]
    given = prediction(ranges[0])
    if not np.isfinite(given).any() or np.ptp(given[np.isfinite(given)]) == 0:
        return False

    def agrees(candidate: Expression) -> bool:
        return all(_close(candidate(values), z) for values, z in zip(ranges, targets, strict=True))

    if agrees(prediction):
        return True
    if not prediction.constants:
        return False
    if len(prediction.constants) <= max(LARGEST_REFIT, len(truth.constants)):
        refitted = _refitted(prediction, ranges[0], targets[0], rng)
        if refitted is not None and agrees(refitted):
            return True
    return _labels(prediction) == _labels(truth) and _same_skeleton(prediction, truth)


def _draw(domain: Domain, wider: float, integers: bool, rng: np.random.Generator) -> dict[str, np.ndarray]:
    values = {}
    for name, (low, high) in domain.items():
        middle, half = (low + high) / 2, wider * (high - low) / 2
        drawn = rng.uniform(middle - half, middle + half, POINTS)
        values[name] = np.rint(drawn) if integers else drawn
    return values


def _close(prediction: np.ndarray, truth: np.ndarray, tolerance: float = TOLERANCE) -> bool:
    """Whether values agree where the truth is finite, the median error measured against the median truth.

    The largest error alone would let anything pass that has the few huge values of a surface near a pole.
    """
    rows = np.isfinite(truth)
    if not rows.any() or not np.isfinite(prediction[rows]).all():
        return False
    size, error = np.abs(truth[rows]), np.abs(prediction[rows] - truth[rows])
    return all(f(error) <= tolerance * (1 + f(size)) for f in (np.max, np.median))


def _refitted(
    prediction: Expression, values: Mapping[str, np.ndarray], z: np.ndarray, rng: np.random.Generator
) -> Expression | None:
    """The prediction with constants refitted, or None where even the best start is nowhere near."""
    rows = np.flatnonzero(np.isfinite(z))
    if not rows.size:
        return None
    few, every = ({name: v[part] for name, v in values.items()} for part in (rows[:FITTED], rows))
    starts = int(np.clip(EFFORT // (prediction.size * len(prediction.constants)), 1, STARTS))
    best = refit(prediction, few, z[rows[:FITTED]], starts=starts, rng=rng, evaluations=STEPS)
    if not _close(best(few), z[rows[:FITTED]], tolerance=1e-2):
        return None
    return refit(best, every, z[rows], starts=1, rng=rng)


def _labels(expression: Expression) -> frozenset:
    """Functions and variables, which expressions of one skeleton have in common."""
    found = set(expression.names)
    fold(expression.tree, lambda label, children: found.add(label) if children else None)
    return frozenset(found - {"+", "-", "*", "/", "**", "neg"})


def _same_skeleton(prediction: Expression, truth: Expression) -> bool:
    try:
        return attempt(compare_skeletons, str(prediction), str(truth))
    except Exception:  # computer algebra fails in many ways; undecided counts as different
        return False


def compare_skeletons(prediction: str, truth: str) -> bool:
    """Whether texts have one skeleton, as given or simplified; may hang, so `attempt` it."""
    import sympy

    def match(
        found: Any, true: Any
    ) -> bool:  # SymPy writes -x as -1*x: a constant can be that, but that is no constant
        return _skeleton(found) in (_skeleton(true), _skeleton(true, sign="c"))

    found, true = (parse(text).sympy() for text in (prediction, truth))
    return match(found, true) or match(sympy.simplify(found), sympy.simplify(true))


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
