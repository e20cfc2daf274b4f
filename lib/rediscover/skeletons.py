"""Skeletons of differential equations and the two ways to give them constants: as released, and properly.

A skeleton is an expression in which ``c`` stands for every unknown constant, each occurrence for another one.
"""

from collections.abc import Mapping

import numpy as np
from scipy.integrate import cumulative_simpson
from scipy.optimize import least_squares

from .expressions import Expression, parse, refit, replace_leaves

UNKNOWN = "c"
DECIMALS = 4  # of the released fit
EVALUATIONS = 30  # of an equation and its derivatives per start: a loop fits thousands of skeletons
PENALTY = 1e6  # residual where an expression is undefined, in units of the spread of the state


def rates(states: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Finite differences of second order, three-point at the ends; shape of `states`, (n, n_states)."""
    return np.gradient(np.asarray(states, dtype=float), t, axis=0, edge_order=2)


def linear_terms(skeleton: str) -> tuple[list, bool]:
    """What the released fit leaves of a skeleton: terms without any constant, and whether an intercept joins
    them.

    Every constant, exponents included, gets a symbol of its own; the expression is expanded; all constants
    are struck out, and an operation that is left with one operand becomes that operand. So ``x**2``, ``1/x``
    and ``sqrt(c + x)`` become ``x``. There is an intercept if fewer terms are left than the expanded
    expression had.

    Examples
    --------
    >>> linear_terms("c*x1*exp(-c*x0) + c*x0/(c + x0) + c")
    ([x0**2, x1*exp(x0)], True)
    """
    import sympy

    count = 0

    def unknown(label):
        nonlocal count
        if isinstance(label, str) and label != UNKNOWN:
            return (label,)
        count += 1
        return (f"{UNKNOWN}_{count}",)

    expression = Expression(replace_leaves(parse(skeleton).tree, unknown))
    expanded = sympy.expand(expression.sympy())
    struck = _strike(expanded)
    terms = (
        []
        if struck is None
        else sorted((_monic(t) for t in sympy.Add.make_args(struck)), key=sympy.default_sort_key)
    )
    return terms, len(terms) < len(sympy.Add.make_args(expanded))


def _strike(node):
    """The node without its constants; None if nothing is left."""
    if not node.args:
        return node if node.is_Symbol and not node.name.startswith(f"{UNKNOWN}_") else None
    left = [child for child in map(_strike, node.args) if child is not None]
    if not left or (len(left) == 1 and (node.is_Add or node.is_Mul or node.is_Pow)):
        return left[0] if left else None
    return node.func(*left)


def _monic(term):
    return term.as_coeff_Mul()[1]


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
        coefficients = np.round(np.linalg.lstsq(table, slopes[:, i], rcond=None)[0], DECIMALS)
        fitted[state] = " + ".join(
            f"{float(c)!r}*({text})" for c, text in zip(coefficients, texts, strict=True)
        )
    return fitted


def fit_integral(
    skeletons: Mapping[str, str],
    states: np.ndarray,
    t: np.ndarray,
    *,
    starts: int = 2,
    rng: np.random.Generator | None = None,
) -> dict[str, str]:
    r"""All constants, inner ones and exponents too, by integral matching.

    Started from a multi-start fit of the finite differences, it minimises

    .. math:: \sum_i \Bigl(x(t_i) - x_0 - \int_{t_0}^{t_i} f(x(s); c)\, ds\Bigr)^2

    over c and :math:`x_0` with the observed states under the integral (Simpson's rule), which needs no
    derivative of noisy data and no integration of the system.

    Parameters
    ----------
    skeletons, states, t : as for `fit_released`
    starts : int
        Of the fit of the finite differences.

    Returns
    -------
    dict of state -> text of the fitted equation, not rounded

    References
    ----------
    Dattner and Klaassen, Electronic Journal of Statistics 9 (2015) 1939-1973.
    """
    states = np.asarray(states, dtype=float)
    values = dict(zip(skeletons, states.T, strict=True))
    slopes = rates(states, t)
    fitted = {}
    for i, (state, skeleton) in enumerate(skeletons.items()):
        tree = parse(skeleton, names=[*skeletons, UNKNOWN]).tree
        tree = replace_leaves(tree, lambda label: (1.0,) if label == UNKNOWN else (label,))
        start = refit(Expression(tree), values, slopes[:, i], starts=starts, rng=rng, evaluations=EVALUATIONS)
        fitted[state] = str(_match(start, values, states[:, i], t))
    return fitted


def _match(
    expression: Expression, values: Mapping[str, np.ndarray], x: np.ndarray, t: np.ndarray
) -> Expression:
    start = np.array(expression.constants)
    if not len(start) or len(t) < 3:
        return expression
    spread = x.std() or 1.0
    size = np.where(start != 0, np.abs(start), 1.0)

    def residuals(parameters):
        right = expression.with_constants((parameters[:-1] * size).tolist())(values)
        with np.errstate(all="ignore"):
            path = parameters[-1] * spread + cumulative_simpson(right, x=t, initial=0.0)
            return np.nan_to_num((path - x) / spread, nan=PENALTY, posinf=PENALTY, neginf=-PENALTY)

    guess = np.append(start / size, x[0] / spread)
    try:
        found = least_squares(residuals, guess, max_nfev=EVALUATIONS)
    except (ValueError, np.linalg.LinAlgError):
        return expression
    better = np.all(np.isfinite(found.x)) and 2 * found.cost < np.sum(residuals(guess) ** 2)
    return expression.with_constants((found.x[:-1] * size).tolist()) if better else expression
