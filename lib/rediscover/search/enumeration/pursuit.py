"""Sparse sums of library features: orthogonal pursuit with a beam, inner constants refitted, terms swapped."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .formula import Tree, evaluate
from .variable_projection import Projection, project, refined

BEAM = 4
TERMS = 7
STEPS = 25  # of a fit of inner constants
CANCEL = 3_000.0  # a term larger than this many spreads of the target cancels against others
ALIKE = 0.999  # correlation of candidates that count as one choice
SOLVED = 1e-22  # share of the sum of squares below which nothing is left to explain


class Model(NamedTuple):
    """A sum of terms.

    Attributes
    ----------
    trees : tuple of Tree
    columns : ndarray, shape (n_terms, n_rows), weighted
    error : float
        Sum of squares of what it leaves.
    fit : Projection
        Of the target on the base and the columns.
    """

    trees: tuple[Tree, ...]
    columns: np.ndarray
    error: float
    fit: Projection


class Terms(NamedTuple):
    """What a pursuit chooses from, on the rows that it is fitted to.

    Attributes
    ----------
    values : ndarray, shape (n_features, n_rows)
        Weighted, finite, of norm 1.
    tree : function of an index -> Tree
    base : ndarray, shape (n_base, n_rows)
        Columns that every model has, such as the weights (an intercept).
    columns : input name -> ndarray, shape (n_rows,)
    weights : ndarray, shape (n_rows,)
    transform : function of a tree or None
        The column of a feature is this of it (see `variable_projection.refined`).
    """

    values: np.ndarray
    tree: Callable[[int], Tree]
    base: np.ndarray
    columns: dict
    weights: np.ndarray
    transform: Callable[[Tree], Tree] | None = None


def usable(values: np.ndarray, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of `values` that are finite and not spanned by the base, of norm 1, and their indices."""
    values = np.reshape(values, (-1, base.shape[1]))  # of no feature too
    size = np.sqrt(np.einsum("ij,ij->i", values, values))
    with np.errstate(invalid="ignore"):
        kept = np.flatnonzero((size > 0) & np.isfinite(size))
    values = values[kept] / size[kept, None]
    Q = np.linalg.qr((base / np.linalg.norm(base, axis=1)[:, None]).T)[0]
    left = 1 - np.sum((values @ Q) ** 2, axis=1)
    varies = left > 1e-9
    return np.ascontiguousarray(values[varies]), kept[varies]


def pursue(terms: Terms, target: np.ndarray, evaluations: int, most_terms: int = TERMS) -> tuple[list[Model], int]:
    """The best model found of each number of terms, and the features that were scanned.

    Parameters
    ----------
    terms : Terms
    target : ndarray, shape (n_rows,), weighted
    evaluations : int
        Most features that are compared with a residual; a fit of inner constants counts one a step.
    most_terms : int

    Returns
    -------
    models : list of Model
        By the number of terms; the pursuit ends where a model leaves nothing.
    evaluations : int
    """
    used, best = 0, []
    start = _model((), np.empty((0, len(target))), terms, target)
    states = [start] if start is not None else []
    total = float(target @ target)
    for _ in range(most_terms):
        grown = []
        for state in states:
            if used + len(terms.values) > evaluations:
                break
            grown += _extended(state, terms, target)
            used += len(terms.values)
        if not grown:
            break
        states = _distinct(grown)[:BEAM]
        for state in states[:2] if used + 2 * STEPS <= evaluations else []:
            model, steps = _refined(state, terms, target)
            used += steps
            states.append(model)
        states = _distinct(states)
        if len(states[0].trees) > 1 and used + len(terms.values) * len(states[0].trees) <= evaluations:
            model = _swapped(states[0], terms, target)
            used += len(terms.values) * len(states[0].trees)
            if model.error < 0.99 * states[0].error:
                model, steps = _refined(model, terms, target)
                states, used = _distinct([model, *states]), used + steps
        states = states[:BEAM]
        best.append(states[0])
        if states[0].error < SOLVED * total:
            break
    return best, used


def _model(trees, columns, terms: Terms, target) -> Model | None:
    fit = project(np.vstack([terms.base, columns]), target)
    if fit is None:
        return None
    sizes = np.abs(fit.coefficients[len(terms.base) :, None] * columns).max(initial=0.0)
    # without an intercept the target may be constant: a sum of monomials in relative weights is
    spread = np.std(target) if len(terms.base) else np.sqrt(np.mean(target**2))
    if sizes > CANCEL * spread:
        return None
    return Model(trees, columns, float(fit.residual @ fit.residual), fit)


def _gains(model: Model, terms: Terms) -> np.ndarray:
    """Share of a model's residual that each feature explains."""
    along = terms.values @ np.column_stack([model.fit.residual, model.fit.Q])
    left = 1 - np.sum(along[:, 1:] ** 2, axis=1)
    gains = np.where(left > 1e-7, along[:, 0] ** 2 / np.maximum(left, 1e-7), 0.0)
    return np.asarray(np.round(gains / max(model.error, 1e-300), 12))


def _extended(state: Model, terms: Terms, target) -> list[Model]:
    """The state with one more term, for the most telling features that differ from one another."""
    chosen: list[np.ndarray] = []
    out: list[Model] = []
    for i in np.argsort(-_gains(state, terms), kind="stable")[:200]:
        column = terms.values[i]
        if any(abs(column @ other) > ALIKE for other in chosen):
            continue
        chosen.append(column)
        model = _model((*state.trees, terms.tree(i)), np.vstack([state.columns, column]), terms, target)
        if model is not None:
            out.append(model)
        if len(chosen) == BEAM:
            break
    return out


def _distinct(models) -> list[Model]:
    """Models in order of error, one of each set of terms."""
    seen: dict[frozenset[str], Model] = {}
    for model in sorted(models, key=lambda model: model.error):
        seen.setdefault(frozenset(map(str, model.trees)), model)
    return list(seen.values())


def _refined(state: Model, terms: Terms, target) -> tuple[Model, int]:
    """The state with its inner constants fitted, or itself where that does not help."""
    trees, error, used = refined(state.trees, terms.columns, target, terms.weights, terms.base, STEPS, terms.transform)
    if error < 0.999 * state.error:
        made = [terms.transform(tree) if terms.transform else tree for tree in trees]
        model = _model(tuple(trees), evaluate(made, terms.columns) * terms.weights, terms, target)
        if model is not None and model.error < state.error:
            return model, used
    return state, used


def _swapped(state: Model, terms: Terms, target) -> Model:
    """The best model that differs from the state in one term."""
    best = state
    for i in range(len(state.trees)):
        rest = state.trees[:i] + state.trees[i + 1 :]
        smaller = _model(rest, np.delete(state.columns, i, axis=0), terms, target)
        if smaller is not None:
            best = min([best, *_extended(smaller, terms, target)], key=lambda model: model.error)
    return best
