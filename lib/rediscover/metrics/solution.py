"""Is it the same law, up to a constant factor or summand? Found on a sample, then confirmed.

What may hang happens in a process that can be killed; `relation` says how it went.
"""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, NamedTuple

import gmpy2
import numpy as np
from gmpy2 import mpfr

from ..expressions import Expression, ExpressionError, parse
from ..expressions.algebra import to_sympy
from ..numerics.arrays import floats
from ..system.given_up import attempt
from . import metric
from .compared_trees import exact
from .edit_distance import ned_harmonised
from .precise import DIGITS, digits, uncertainty, values

ROWS = 64
TOLERANCE = 1e-6
SOLVED = ("equal", "factor", "offset")
# Of the rows elsewhere: are sizes those of the sample or one, and by how many decades do they vary?
ELSEWHERE = ((True, 1), (True, 6), (False, 1), (False, 6))
TELLING = 1e-3  # a row tells something if its uncertainty is at most this part of the truth
NUDGE = 1.1  # factor by which an input is changed to see whether it matters
ENOUGH = 8  # rows on which each input must matter


class Relation(NamedTuple):
    """What a prediction is to the truth.

    Attributes
    ----------
    kind : 'equal'; 'factor' or 'offset', if they differ by a constant factor or summand;
        'indistinguishable', if the sample shows no other difference, but nothing confirms that they
        are one law; 'different'; 'constant', if the prediction does not vary; 'undefined', if it is
        no real number on a row where the truth is; 'unparsable'; 'timeout'; 'error'
    how : what confirmed the first three kinds: 'extrapolation', 'skeleton' or 'symbolic'; else ''
    """

    kind: str
    how: str = ""

    @property
    def solved(self) -> bool:
        return self.kind in SOLVED


def relation(prediction: Expression | str, truth: Expression | str, sample: Mapping[str, np.ndarray]) -> Relation:
    r"""How a prediction is related to the truth: seen on a sample, confirmed elsewhere.

    SRBench calls a prediction f a solution of g if f is not constant and g - f or g / f is a
    constant, the latter not zero. It decides so after rounding all numbers to three decimals, which
    turns constants of physics in SI units into zero. Here nothing is rounded; all values have 50
    digits.

    *On the sample* f differs from g by a factor r (with a = 0) or an offset a (with r = 1) if on all
    rows where g is defined

    .. math:: |f - a - r g| \le \epsilon |r| \min(|g|, \max g - \min g), \quad \epsilon = 10^{-6},

    with r or a from the row of the largest or smallest \|g\|. The kind is 'factor', or 'equal' if r
    is 1 within :math:`\epsilon`; else 'offset'. Fitted constants may be off by about that, whatever
    their size. But on narrow ranges this also holds for other laws: the Rayleigh-Jeans limit of
    Planck's, or a law without an input that hardly matters there. So that f = a + r g is one of
    these things must confirm, in this order, with any a, as far as the above leaves it open:

    1. *Extrapolation*: it holds elsewhere; see `extrapolates`.
    2. *Skeleton*: 1.5 f and 1.5 g, or 1.5 + f and 1.5 + g of an offset, have the same canonical tree
       (`ned_harmonised` is 0).
    3. *Symbolic*: SymPy simplifies the quotient or the difference to a constant; asked only if the
       rows elsewhere tell nothing.

    A summand that is within the tolerance so never unsolves what a larger one leaves solved.

    Parameters
    ----------
    prediction, truth : str or Expression
        Text is read with the sample's names: an input may be called E or pi.
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

    Notes
    -----
    Steps 1 to 3 are as they are after committed answers of methods were seen to pass without an input
    of the law, or to fail for a summand that rounding leaves.
    """
    rows = np.column_stack([floats(sample[name]) for name in sample])[:ROWS].tolist()
    names = tuple(sample)
    truth = _read(truth, names)
    try:
        prediction = _read(prediction, names)
    except ExpressionError:
        return Relation("unparsable")
    trees = prediction.tree, truth.tree
    try:
        kind = attempt(compare, *trees, names, rows)
        if kind not in SOLVED:
            return Relation(kind)
        elsewhere = attempt(extrapolates, kind, *trees, names, rows)
        if elsewhere == "agrees":
            return Relation(kind, "extrapolation")
        if _confirms(_same_skeleton, kind, *trees, names):
            return Relation(kind, "skeleton")
        if elsewhere == "untold" and _confirms(attempt, is_constant, *trees, kind == "offset"):
            return Relation(kind, "symbolic")
        return Relation("indistinguishable")
    except TimeoutError:
        return Relation("timeout")
    except (ChildProcessError, MemoryError, OverflowError):
        return Relation("error")


def _read(given: Expression | str, names: tuple[str, ...]) -> Expression:
    expression = parse(given, names) if isinstance(given, str) else given
    if unknown := set(expression.names) - set(names):
        raise ExpressionError(str(expression), 0, f"the sample has no input {min(unknown)!r}")
    return expression


def _confirms(function: Callable, *arguments: Any) -> bool:
    try:
        return function(*arguments)
    except Exception:  # whatever computer algebra may raise, a timeout among it
        return False


def _same_skeleton(kind: str, prediction: tuple, truth: tuple, names: tuple[str, ...]) -> bool:
    operation = "+" if kind == "offset" else "*"  # what may differ must not count
    freed, target = (Expression((operation, (1.5,), tree)) for tree in (prediction, truth))
    return ned_harmonised(freed, target, names) == 0


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


def compare(prediction: tuple, truth: tuple, names: tuple[str, ...], rows: list) -> str:
    """Kind of the relation of two trees on the sample; called in a process of its own."""
    with digits():
        columns = with_digits(names, rows)
        pairs = _defined(zip(*(values(tree, columns) for tree in (prediction, truth)), strict=True))
        if len(pairs) < 2:
            raise ValueError("the truth is defined on fewer than 2 rows of the sample: give it others")
        if not all(gmpy2.is_finite(f) for f, _ in pairs):
            return "undefined"
        (f0, g0), (f1, g1) = pairs[0], pairs[-1]
        if all(abs(f - f0) <= mpfr(10) ** (20 - DIGITS) * abs(f0) for f, _ in pairs):
            return "constant"
        spread = max(g for _, g in pairs) - min(g for _, g in pairs)

        def related(a: Any, r: Any) -> bool:
            return r != 0 and all(abs(f - a - r * g) <= TOLERANCE * abs(r) * min(abs(g), spread) for f, g in pairs)

        if g1 and related(0, f1 / g1):
            return "equal" if abs(f1 / g1 - 1) <= TOLERANCE else "factor"
        return "offset" if related(f0 - g0, 1) else "different"


def with_digits(names: tuple[str, ...], rows: list) -> list[dict]:
    """Rows of numbers as mappings of names to mpfr, in the working precision."""
    return [dict(zip(names, map(mpfr, row), strict=True)) for row in rows]


def _defined(pairs: Any) -> list[tuple]:
    """Pairs of prediction and truth where the truth is defined, by the size of the truth."""
    return sorted((p for p in pairs if gmpy2.is_finite(p[1])), key=lambda pair: abs(pair[1]))


def extrapolates(kind: str, prediction: tuple, truth: tuple, names: tuple[str, ...], rows: list) -> str:
    r"""Whether a relation seen on a sample holds elsewhere; called in a process of its own.

    Elsewhere are four rows for each of the sample. Inputs keep their signs; their sizes are those of
    the sample, or 1, each times a random power of ten between -1 and 1, or between -6 and 6. So
    inputs that hardly matter on the sample do matter on some rows. (An input that acts by its sign alone, as the
    sign of x or the larger of x and a negative number, is not seen to be missing where the sample has one sign of it.)

    The uncertainty s of a row is :math:`\epsilon |r g|` and what changes of :math:`\epsilon` in
    inputs and decimal numbers make of r g and of f (`precise.uncertainty`). A row tells something if
    f and g are finite, g is not 0, and s is at most a thousandth of \|r g\|. Of these the half with
    the least s / \|r g\| gives r and a, by the rows with the largest and the smallest \|g\|, p and
    q. The relation holds if on every row that tells something

    .. math:: |f - a - r g| \le s + s_q + (|g| + |g_q|)\, \delta, \quad
        \delta = (s_p + s_q) / |g_p - g_q|

    and r is within :math:`\delta + 2 \epsilon |r|` what it is on the sample. That it does is worth
    something only if each input of the truth matters: on at least 8 of these rows the truth
    changes by more than 10 s where that input becomes a tenth larger.

    Parameters
    ----------
    kind : 'equal', 'factor' or 'offset'
    prediction, truth : trees
    names : names of the inputs
    rows : list of lists of float
        The sample.

    Returns
    -------
    str
        'agrees', 'differs', or 'untold' if too few rows tell something.
    """
    with digits():
        found, true = (values(tree, with_digits(names, rows)) for tree in (prediction, truth))
        f, g = _defined(zip(found, true, strict=True))[-1]
        told = _telling(prediction, truth, _elsewhere(names, rows), f / g)
        half = sorted(told, key=lambda row: row.slack / abs(row.g))[: len(told) // 2]
        if len(half) < 2:
            return "untold"
        p, q = max(half, key=lambda row: abs(row.g)), min(half, key=lambda row: abs(row.g))
        if p.g == q.g:
            return "untold"
        r, doubt = (p.f - q.f) / (p.g - q.g), (p.slack + q.slack) / abs(p.g - q.g)
        a, expected = q.f - r * q.g, 1 if kind == "offset" else f / g
        agrees = abs(r - expected) <= doubt + 2 * TOLERANCE * abs(expected) and all(
            abs(row.f - a - r * row.g) <= row.slack + q.slack + (abs(row.g) + abs(q.g)) * doubt for row in told
        )
        if not agrees:
            return "differs"
        for name in inputs_that_matter(truth, names, rows):
            seen = (row for row in told if _change(name, truth, row.inputs, row.g) > 10 * row.slack / abs(r))
            if len(list(islice(seen, ENOUGH))) < ENOUGH:
                return "untold"
        return "agrees"


class Row(NamedTuple):
    """Inputs, prediction f and truth g at a point, and how uncertain f - r g is."""

    inputs: dict
    f: Any
    g: Any
    slack: Any


def _elsewhere(names: tuple[str, ...], rows: list) -> list[dict]:
    rng, sample = np.random.default_rng(0), np.array(rows)
    parts = []
    for sized, decades in ELSEWHERE:
        scale = 10.0 ** rng.uniform(-decades, decades, sample.shape)
        parts.append(scale * (sample if sized else np.sign(sample)))
    return with_digits(names, np.concatenate(parts).tolist())


def _telling(prediction: tuple, truth: tuple, points: list[dict], r: Any) -> list[Row]:
    """Rows that tell something of a relation with the factor r."""
    exact = [values(tree, points) for tree in (prediction, truth)]
    columns = [points, *exact]
    columns += [
        uncertainty(tree, points, known, TOLERANCE) for tree, known in zip((prediction, truth), exact, strict=True)
    ]
    told = []
    for point, f, g, of_f, of_g in zip(*columns, strict=True):
        slack = of_f + abs(r) * (of_g + TOLERANCE * abs(g))
        if g and slack <= TELLING * abs(r * g):
            told.append(Row(point, f, g, slack))
    return told


def _change(name: str, truth: tuple, inputs: dict, g: Any) -> Any:
    """How much the truth changes from g where an input becomes a tenth larger; 0 if it is undefined there."""
    (nudged,) = values(truth, [inputs | {name: inputs[name] * NUDGE}])
    return abs(nudged - g) if gmpy2.is_finite(nudged) else mpfr(0)


def inputs_that_matter(truth: tuple, names: tuple[str, ...], rows: list) -> set[str]:
    """Inputs with which a tree's value changes, by more than rounding, on a sample or elsewhere.

    Parameters
    ----------
    truth : tree
    names : names of the inputs
    rows : list of lists of float
        The sample.

    Returns
    -------
    set of str

    Examples
    --------
    >>> tree = parse("a*(1 + b) + c - c").tree
    >>> sorted(inputs_that_matter(tree, ("a", "b", "c"), [[1.0, 1e-60, 1.0], [2.0, 1e-60, 3.0]]))
    ['a', 'b']
    """
    with digits():
        points = with_digits(names, rows) + _elsewhere(names, rows)
        known = list(zip(points, values(truth, points), strict=True))
        rounded = mpfr(10) ** (20 - DIGITS)
        return {
            name
            for name in names
            if any(gmpy2.is_finite(g) and _change(name, truth, point, g) > rounded * abs(g) for point, g in known)
        }


def is_constant(prediction: tuple, truth: tuple, offset: bool) -> bool:
    """Whether SymPy finds the difference or quotient of two trees constant; in a process of its own."""
    import sympy

    def real(tree: tuple) -> Any:
        expression = to_sympy(tree)
        plain = {s: sympy.Symbol(s.name, real=True) for s in expression.free_symbols}
        return expression.xreplace({**plain, sympy.pi: sympy.pi.evalf()}).evalf()

    numbers: dict = {}
    f, g = (exact(real(tree), numbers) for tree in (prediction, truth))
    result = sympy.simplify(f - g if offset else f / g, rational=False)
    undefined = result.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo)
    return not undefined and result.free_symbols <= set(numbers.values())
