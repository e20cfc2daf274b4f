"""Skeletons of differential equations and the ways to give them constants: as released, and properly.

A skeleton is an expression in which ``c`` stands for every unknown constant, each occurrence for another one.
"""

import functools
from collections.abc import Mapping

import numpy as np
from scipy.integrate import cumulative_simpson, cumulative_trapezoid
from scipy.optimize import least_squares

from ...expressions import Expression, parse, replace_leaves
from ...expressions.numerics import Program

UNKNOWN = "c"
DECIMALS = 4  # of the released fit
STEPS = 20  # of the search per start: a loop fits thousands of skeletons
PENALTY = 1e6  # residual where an expression is undefined, in units of the spread of the state
NEGLIGIBLE = 1e-8  # relative singular value below which columns count as dependent: the error of the data
EXACT = 1e-10  # mean squared residual, in units of the variance, at which no further start is tried


def rates(states: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Finite differences of second order, three-point at the ends; shape of `states`, (n, n_states).

    Two points have one difference, a single point has rate 0.
    """
    states = np.asarray(states, dtype=float)
    if len(t) < 2:
        return np.zeros_like(states)
    return np.gradient(states, t, axis=0, edge_order=2 if len(t) > 2 else 1)


def linear_terms(skeleton: str) -> tuple[list, bool]:
    """What the released fit leaves of a skeleton: terms without any constant, and whether an intercept joins them.

    Every constant, exponents included, gets a symbol of its own; the expression is expanded; all constants are struck
    out, and an operation that is left with one operand becomes that operand. So ``x**2``, ``1/x`` and ``sqrt(c + x)``
    become ``x``. There is an intercept if fewer terms are left than the expanded expression had.

    Examples
    --------
    >>> linear_terms("c*x1*exp(-c*x0) + c*x0/(c + x0) + c")
    ([x0**2, x1*exp(x0)], True)
    """
    terms, intercept = _linear_terms(skeleton)
    return [*terms], intercept


@functools.lru_cache(maxsize=1 << 14)  # a loop proposes the same equation again and again
def _linear_terms(skeleton: str) -> tuple[tuple, bool]:
    import sympy

    numbered, _ = _numbered(parse(skeleton).tree, first=1, numbers=True)
    expanded = sympy.expand(Expression(numbered).sympy())
    struck = _strike(expanded)
    left = [] if struck is None else [term.as_coeff_Mul()[1] for term in sympy.Add.make_args(struck)]
    return tuple(sorted(left, key=sympy.default_sort_key)), len(left) < len(sympy.Add.make_args(expanded))


def _strike(node):
    """The node without its constants; None if nothing is left."""
    if not node.args:
        return node if node.is_Symbol and not node.name.startswith(f"{UNKNOWN}_") else None
    left = [child for child in map(_strike, node.args) if child is not None]
    if not left or (len(left) == 1 and (node.is_Add or node.is_Mul or node.is_Pow)):
        return left[0] if left else None
    return node.func(*left)


def fit_released(skeletons: Mapping[str, str], states: np.ndarray, t: np.ndarray) -> dict[str, str]:
    """The fit of SymbolBench's loop: one rounded linear coefficient per term that `linear_terms` leaves.

    Parameters
    ----------
    skeletons : state -> skeleton, in the order of the columns of `states`
    states : ndarray, shape (n, n_states)
    t : ndarray, shape (n,)

    Returns
    -------
    dict of state -> text of the fitted equation

    Raises
    ------
    ValueError
        If a term has no finite value on the states.
    ExpressionError
        If a skeleton cannot be read or has a variable that is no state.
    """
    slopes = rates(states, t)
    values = dict(zip(skeletons, np.asarray(states, dtype=float).T, strict=True))
    fitted = {}
    for i, (state, skeleton) in enumerate(skeletons.items()):
        parse(skeleton, names=[*skeletons, UNKNOWN])
        terms, intercept = linear_terms(skeleton)
        texts = [str(term) for term in terms]
        columns = [parse(text)(values) for text in texts]
        if intercept or not terms:
            texts, columns = [*texts, "1"], [*columns, np.ones(len(states))]
        table = np.stack(columns, axis=1)
        if not np.all(np.isfinite(table)):
            raise ValueError(f"the terms {', '.join(texts)} have no finite value on all states")
        coefficients = np.linalg.lstsq(table, slopes[:, i], rcond=None)[0].round(DECIMALS)
        fitted[state] = " + ".join(f"{float(c)!r}*({text})" for c, text in zip(coefficients, texts, strict=True))
    return fitted


# ---------------------------------------------------------------------------------------- integral matching


def fit_integral(
    skeletons: Mapping[str, str],
    states: np.ndarray,
    t: np.ndarray,
    *,
    starts: int = 2,
    rng: np.random.Generator | None = None,
) -> dict[str, str]:
    r"""All constants, inner ones and exponents too, by integral matching.

    It minimises, for each state,

    .. math:: \sum_i \Bigl(x(t_i) - x_0 - \int_{t_0}^{t_i} f(x(s); c)\, ds\Bigr)^2

    over c and :math:`x_0` with the observed states under the integral (Simpson's rule), which needs no
    derivative of noisy data and no integration of the system. Coefficients of terms follow from linear least
    squares, so only the constants inside terms are searched (variable projection), from several starts.

    Parameters
    ----------
    skeletons, states, t : as for `fit_released`
    starts : int
        Of the search for inner constants: all 1, then drawn.
    rng : Generator, optional
        For the starts that are drawn.

    Returns
    -------
    dict of state -> text of the fitted equation, not rounded

    Raises
    ------
    ValueError
        If an equation has no finite value on the states for any constants that were tried.
    ExpressionError
        If a skeleton cannot be read or has a variable that is no state.

    References
    ----------
    Dattner and Klaassen, Electronic Journal of Statistics 9 (2015) 1939-1973; Golub and Pereyra, SIAM Journal
    on Numerical Analysis 10 (1973) 413-432.
    """
    states = np.asarray(states, dtype=float)
    values = dict(zip(skeletons, states.T, strict=True))
    rng = rng or np.random.default_rng(0)
    return {
        state: _Matching(parse(text, names=[*skeletons, UNKNOWN]).tree, values, states[:, i], t).fit(starts, rng)
        for i, (state, text) in enumerate(skeletons.items())
    }


class _Matching:
    """Integral matching of one equation: sum of coefficient times term, and what has no coefficient."""

    def __init__(self, skeleton: tuple, values: Mapping[str, np.ndarray], x: np.ndarray, t: np.ndarray):
        self.tree, count = _numbered(skeleton)
        terms = [(*_without_coefficient(term), term) for term in _summands(self.tree)]
        self.linear = [name for name, *_ in terms if name]
        self.inner = sorted({f"{UNKNOWN}_{k}" for k in range(count)} - set(self.linear))
        nothing: tuple = (0.0,)
        fixed = functools.reduce(lambda a, b: ("+", a, b), [term for name, _, term in terms if not name], nothing)
        self.program = Program([*(factor for name, factor, _ in terms if name), fixed])
        self.values, self.x, self.integral = values, x, _integral(tuple(t))
        self.spread = x.std() or 1.0
        self.largest = max(float(np.abs(column).max()) for column in values.values()) or 1.0

    def solve(self, inner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients for given inner constants, and the residuals in units of the spread of the state."""
        named = {**self.values, **dict(zip(self.inner, inner, strict=True))}
        parts = self.program(named)
        table = np.empty((len(parts), len(self.x)))
        for row, part in zip(table, parts, strict=True):
            row[:] = part
        with np.errstate(all="ignore"):
            *columns, fixed = integrals = table @ self.integral.T
        if not np.all(np.isfinite(integrals)):  # the table is not, or its sums overflow
            return np.zeros(len(columns)), np.full(self.x.shape, PENALTY)
        A = np.column_stack([np.ones(len(self.x)), *columns])
        scale = np.maximum(np.abs(A).max(axis=0), np.finfo(float).tiny)
        target = (self.x - fixed) / self.spread
        found = np.linalg.lstsq(A / scale, target, rcond=NEGLIGIBLE)[0]
        return found[1:] / scale[1:] * self.spread, np.clip(A / scale @ found - target, -PENALTY, PENALTY)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """A start for the inner constants: exponents are near 1, thresholds and saturations near the states."""
        n = len(self.inner)
        sign, unit = (np.where(rng.random(n) < 0.25, -1.0, 1.0), np.where(rng.random(n) < 0.5, 1.0, self.largest))
        return sign * unit * 10.0 ** rng.uniform(-1, 1, n)

    def fit(self, starts: int, rng: np.random.Generator) -> str:
        best, least = np.ones(len(self.inner)), np.inf
        for k in range(starts if self.inner else 1):
            guess = self.draw(rng) if k else best
            if self.inner:  # not by MINPACK: see `expressions.fitting`
                search = least_squares(lambda c: self.solve(c)[1], guess, x_scale="jac", max_nfev=STEPS)
                guess = search.x if np.all(np.isfinite(search.x)) else guess
            error = float(np.mean(self.solve(guess)[1] ** 2))
            if error < least:
                best, least = guess, error
            if least <= EXACT:
                break
        if least >= PENALTY**2:
            raise ValueError(f"{Expression(self.tree)} has no finite value on all states")
        found = dict(zip([*self.linear, *self.inner], [*self.solve(best)[0], *best], strict=True))
        return str(
            Expression(replace_leaves(self.tree, lambda label: (float(found[label]),) if label in found else (label,)))
        )


def _numbered(skeleton: tuple, first: int = 0, numbers: bool = False) -> tuple[tuple, int]:
    """The skeleton with a name for each unknown constant, from left to right, and their number.

    With `numbers`, each number in it gets a name as well.
    """
    count = 0

    def name(label: str | float) -> tuple:
        nonlocal count
        if label != UNKNOWN and not (numbers and not isinstance(label, str)):
            return (label,)
        count += 1
        return (f"{UNKNOWN}_{first + count - 1}",)

    return replace_leaves(skeleton, name), count


def _summands(tree: tuple) -> list[tuple]:
    if tree[0] == "+" and len(tree) == 3:
        return [*_summands(tree[1]), *_summands(tree[2])]
    if tree[0] == "-" and len(tree) == 3:
        return [*_summands(tree[1]), *(("neg", term) for term in _summands(tree[2]))]
    return [tree]


def _without_coefficient(term: tuple) -> tuple[str | None, tuple]:
    """The name of a constant that multiplies the whole term, and the term without it; (None, term) if there
    is none."""
    if len(term) == 1:
        constant = isinstance(term[0], str) and term[0].startswith(f"{UNKNOWN}_")
        return (term[0], (1.0,)) if constant else (None, term)
    for place in {"*": (1, 2), "/": (1,), "neg": (1,)}.get(term[0], ()):
        name, rest = _without_coefficient(term[place])
        if name:
            return name, (*term[:place], rest, *term[place + 1 :])
    return None, term


@functools.lru_cache(maxsize=8)
def _integral(t: tuple[float, ...]) -> np.ndarray:
    """Matrix that takes values at times t to their integral from the first time (Simpson's rule)."""
    if len(t) < 3:
        return np.array(cumulative_trapezoid(np.eye(len(t)), x=t, axis=0, initial=0.0)).reshape(len(t), len(t))
    return cumulative_simpson(np.eye(len(t)), x=t, axis=0, initial=0.0)
