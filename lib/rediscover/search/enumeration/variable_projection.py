"""Constants inside the terms of a linear model, fitted by variable projection."""

from typing import NamedTuple

import numpy as np

from ...expressions.numerics import Program
from .formula import Tree, leaf

MOST_CONSTANTS = 12
PHASED = ("sin", "cos", "tanh", "atan")


class Softened(NamedTuple):
    """A tree whose inner constants have names, and their values at the start."""

    tree: Tree
    start: list[float]


def soften(tree: Tree, first: int = 0) -> Softened:
    """Inner constants of a term made free: scales, phases and shifts of functions, numbers added to something.

    Examples
    --------
    >>> soften(("sin", ("*", (2,), ("x",)))).start
    [2.0, 0.0]
    >>> soften(("/", (1,), ("+", (1,), ("x",)))).start
    [1.0]
    """
    start: list[float] = []

    def free(value: float) -> Tree:
        start.append(float(value))
        return (f"#{first + len(start) - 1}",)

    def visit(node: Tree) -> Tree:
        label, *children = node
        if not children:
            return node
        if label == "**":
            return (label, visit(children[0]), children[1])
        if label in (*PHASED, "exp"):
            k, inner, phase = affine(children[0])
            tree = ("*", free(k), visit(inner))
            return (label, ("+", tree, free(phase)) if label in PHASED else tree)
        if label in ("+", "-") and any(is_number(child) for child in children):
            return (label, *(free(child[0]) if is_number(child) else visit(child) for child in children))
        return (label, *map(visit, children))

    return Softened(visit(tree), start)


def affine(tree: Tree) -> tuple[float, Tree, float]:
    """k, u and c of a tree k*u + c.

    Examples
    --------
    >>> affine(("+", ("*", (2,), ("-", ("x",), (3.0,))), (0.5,)))
    (2.0, ('x',), -5.5)
    """
    label, *children = tree
    if label == "neg":
        k, u, c = affine(children[0])
        return -k, u, -c
    if label == "*" and is_number(children[0]):
        k, u, c = affine(children[1])
        return children[0][0] * k, u, children[0][0] * c
    if label in ("+", "-") and is_number(children[1]):
        k, u, c = affine(children[0])
        return k, u, c + (children[1][0] if label == "+" else -children[1][0])
    if label in ("+", "-") and is_number(children[0]):
        k, u, c = affine(children[1])
        sign = 1 if label == "+" else -1
        return sign * k, u, children[0][0] + sign * c
    return 1.0, tree, 0.0


def is_number(tree: Tree) -> bool:
    return len(tree) == 1 and type(tree[0]) in (int, float)


def hardened(tree: Tree, values) -> Tree:
    """Named constants replaced by numbers; zero phases drop out."""
    label, *children = tree
    if not children:
        if isinstance(label, str) and label.startswith("#"):
            return leaf(values[int(label[1:])])
        return tree
    parts = [hardened(child, values) for child in children]
    if label == "+" and (0,) in parts:
        return parts[1] if parts[0] == (0,) else parts[0]
    return (label, *parts)


class Projection(NamedTuple):
    """Linear coefficients, the residual, and an orthonormal basis of the columns."""

    coefficients: np.ndarray
    residual: np.ndarray
    Q: np.ndarray


def project(columns: np.ndarray, target: np.ndarray) -> Projection | None:
    """Least squares on columns of shape (n_columns, n_rows), each scaled first.

    None where a column is not finite, is 0 or depends on the others, or where they outnumber the rows.
    """
    size = np.linalg.norm(columns, axis=1)
    if len(columns) > len(target) or not np.isfinite(size).all() or not (size > 0).all():
        return None
    Q, R = np.linalg.qr((columns / size[:, None]).T)
    if np.abs(np.diag(R)).min(initial=1.0) < 1e-11:
        return None
    along = Q.T @ target
    return Projection(np.linalg.solve(R, along) / size, target - Q @ along, Q)


def refined(trees, columns, target, weights, base, steps: int, transform=None):
    """Terms with their inner constants fitted: Levenberg-Marquardt on the residual of the linear fit.

    The Jacobian is Kaufman's: the part of the derivatives that the columns do not span.

    Parameters
    ----------
    trees : sequence of Tree
    columns : input name -> ndarray, shape (n_rows,)
    target, weights : ndarrays, shape (n_rows,)
        `target` is weighted already; terms are multiplied by `weights`.
    base : ndarray, shape (n_base, n_rows)
        Further columns of the linear model, weighted.
    steps : int
        Most evaluations of the terms.
    transform : function of trees, optional
        What the columns are of the terms, such as the logarithm of their size.

    Returns
    -------
    trees : list of Tree
    error : float
        Sum of squares of the residual; infinite if the start is undefined.
    used : int
        Evaluations of the terms.

    References
    ----------
    Golub and Pereyra, Inverse Problems 19, R1 (2003), doi:10.1088/0266-5611/19/2/201
    """
    parts: list[Tree] = []
    start: list[float] = []
    for tree in trees:
        soft = soften(tree, len(start))
        parts.append(soft.tree)
        start += soft.start
    if len(start) > MOST_CONSTANTS:
        parts, start = list(trees), []
    program = Program([transform(p) if transform else p for p in parts], [f"#{i}" for i in range(len(start))])
    m, n = len(parts), len(target)

    def attempt(theta):
        values = program({**columns, **{f"#{i}": v for i, v in enumerate(theta)}})
        rows = np.array([np.broadcast_to(v, n) for v in values]) * weights
        if not np.isfinite(rows[:m]).all():
            return None
        fit = project(np.vstack([base, rows[:m]]), target)
        return None if fit is None else (float(fit.residual @ fit.residual), fit, rows[m:])

    theta, damping, used = np.array(start), 1e-3, 1
    now = attempt(theta)
    if now is None:
        return list(trees), np.inf, used
    while len(theta) and used < steps and damping < 1e8:
        error, fit, slopes = now
        slopes = np.nan_to_num(slopes.reshape(len(theta), m, n), posinf=0.0, neginf=0.0)
        J = np.einsum("pmn,m->np", slopes, fit.coefficients[len(base) :])
        J -= fit.Q @ (fit.Q.T @ J)
        size = np.linalg.norm(J, axis=0)
        size[size == 0] = 1.0
        stacked = np.vstack([J / size, np.sqrt(damping) * np.eye(len(theta))])
        step = np.linalg.lstsq(stacked, np.concatenate([fit.residual, np.zeros(len(theta))]), rcond=None)[0]
        trial = attempt(theta + step / size)
        used += 1
        if trial is not None and trial[0] < error:
            theta, now, damping = theta + step / size, trial, damping / 10
            if trial[0] > error * (1 - 1e-9) or trial[0] < 1e-26 * (target @ target):
                break
        else:
            damping *= 10
    return [hardened(part, theta) for part in parts], now[0], used
