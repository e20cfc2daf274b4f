"""How well a system of differential equations was found: its trajectories, and the trees of its right-hand sides."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..expressions import Expression
from ..numerics.arrays import floats
from . import metric
from .trees import tree_edit_distance


@metric("higher", lower=-np.inf, upper=1.0, of="array_like, shape (n times, n states) or (n times,)")
def r2_trajectories(prediction: ArrayLike, truth: ArrayLike) -> float:
    r"""Coefficient of determination, averaged over the state variables (SymbolBench, section 3).

    .. math:: R^2 = \frac{1}{D} \sum_j \Bigl(1 - \frac{\sum_t (x_j^t - \hat x_j^t)^2}{\sum_t (x_j^t - \bar
    x_j)^2}\Bigr)

    NaN where the prediction is not finite or has another shape (its integration failed) and for fewer than two
    points. A state that never changes counts 1 if it was met exactly, else 0.

    >>> r2_trajectories([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]], [[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    0.75
    """
    prediction, truth = floats(prediction), floats(truth)
    if prediction.shape != truth.shape or len(truth) < 2 or not np.all(np.isfinite(prediction)):
        return np.nan
    # Powers of two change no digit, and keep the squares of the smallest and largest numbers within range.
    _, exponent = np.frexp(np.max(np.abs(truth), axis=0))
    exact = np.all(prediction == truth, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.ldexp(truth, -exponent)
        residual = np.sum((scaled - np.ldexp(prediction, -exponent)) ** 2, axis=0)
        spread = np.sum((scaled - scaled.mean(axis=0)) ** 2, axis=0)
        shares = 1.0 - residual / np.where(spread > 0, spread, 1.0)
    return float(np.mean(np.where(spread > 0, shares, exact)))


def sr2(r2: ArrayLike, *, failures: str = "kept") -> float:
    """Symbolic regression score of many problems: mean of R2 where it is positive, 0 elsewhere.

    Parameters
    ----------
    r2 : array_like, shape (n problems,)
        NaN for a failed run.
    failures : 'kept' or 'dropped'
        Whether failed runs stay in the denominator (harmonised) or leave it (as released).

    Examples
    --------
    >>> sr2([1.0, 0.5, -3.0, float("nan")]), sr2([1.0, 0.5, -3.0, float("nan")], failures="dropped")
    (0.375, 0.5)
    """
    r2 = _denominator(r2, failures)
    return float(np.mean(np.clip(np.nan_to_num(r2, nan=0.0, neginf=0.0), 0.0, None))) if len(r2) else np.nan


def accuracy(scores: ArrayLike, threshold: float = 0.9, *, failures: str = "kept") -> float:
    """Share of problems whose score reaches a threshold: ACC of the paper's tables.

    >>> accuracy([0.95, 0.5, float("nan")]), accuracy([0.95, 0.5, float("nan")], failures="dropped")
    (0.3333333333333333, 0.5)
    """
    scores = _denominator(scores, failures)
    return float(np.mean(scores >= threshold)) if len(scores) else np.nan


def _denominator(values: ArrayLike, failures: str) -> np.ndarray:
    if failures not in ("kept", "dropped"):
        raise ValueError(f"failures must be 'kept' or 'dropped', got {failures!r}")
    values = floats(values)
    return values[~np.isnan(values)] if failures == "dropped" else values


@metric("lower", of="state -> Expression")
def proximity_dependent(prediction: Mapping, truth: Mapping) -> float:
    """Symbolic proximity as released: tree edit distances of the parts that depend on variables, summed over states.

    At every node the part that depends on the variables is kept, once, so that every constant left,
    exponents included, becomes the label 1, and a coefficient or an intercept (not both) disappears.
    ``x**2`` and ``x**3`` have distance 0. Not normalised; NaN where the prediction lacks a state.

    >>> from rediscover.expressions import parse
    >>> proximity_dependent({"x": parse("3*x**2")}, {"x": parse("x**3")})
    0.0
    >>> proximity_dependent({"x": parse("1/x")}, {"x": parse("x")})
    2.0
    """
    if not truth.keys() <= prediction.keys():
        return np.nan
    return float(
        sum(tree_edit_distance(dependent_tree(prediction[name]), dependent_tree(truth[name])) for name in truth)
    )


@functools.lru_cache(maxsize=1024)  # one truth is compared with many answers
def dependent_tree(expression: Expression) -> tuple:
    """Tree of the dependent parts of an expression, as nested tuples (label, child, ...).

    Labels of inner nodes are sympy's class names; the order of children is sympy's.

    >>> from rediscover.expressions import parse
    >>> dependent_tree(parse("2*x**3")), dependent_tree(parse("2*x + 3"))
    (('Pow', ('x',), ('1',)), ('Mul', ('1',), ('x',)))
    """
    formula = expression.sympy()
    variables = formula.free_symbols

    def tree(node: Any) -> tuple:
        # a condition (of a protected division, say) is no sum or product with parts to leave out
        dependent = node.as_independent(*variables)[1] if hasattr(node, "as_independent") else node
        if not dependent.args:
            return (str(dependent),)
        return (type(dependent).__name__, *map(tree, dependent.args))

    return tree(formula)
