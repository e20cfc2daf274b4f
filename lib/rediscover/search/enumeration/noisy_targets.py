"""Targets with noise: terms ranked by what they explain, products among them, chosen by description length.

Tuned on the 55 public problems of ``tests/data/public_suites.yaml`` with 1 % noise alone.
"""

import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from .enumeration import Features, enumerate_features
from .formula import Found, Tree, combination, evaluate, found, polished
from .library import library
from .meeting import Undone, quantile_rows, undone
from .short_constants import NODE_BITS, ROUNDING, fitted_bits, tree_bits
from .term_pairs import pairs, products, singles
from .variable_projection import Projection, project, refined

ROWS = 240  # on which features are ranked
FITTED = 400  # on which inner constants are fitted
POOL = 60_000  # features that may explain the target alone
SIMPLE, SIZE = 1_500, 5_000  # features that are paired: simple ones of the pool, and in all
WIDE = 32_000  # features that extend models
STEPS = 20  # of a fit of inner constants
LEAST = 30  # features below which nothing is paired
SINGLES, PAIRS = 40, 60  # first models of each kind
BEAM = 12
EXTENSIONS = 6  # of a state, of each kind
KEPT = 36  # extensions whose constants are fitted
LAST = 24  # models of one undone target that are written
CANCEL = 300.0  # a term larger than this many spreads of the target cancels against others
DEPTH = 3  # extensions of the first models
UNDONE = ("id", "log", "inverse", "square", "root")


class Model(NamedTuple):
    """A sum of terms.

    Attributes
    ----------
    trees : the terms
    columns : ndarray, shape (n_terms, n_rows), weighted
    error : float
        Mean square of what it leaves, over that of the target.
    bits : float
        Description length.
    """

    trees: tuple[Tree, ...]
    columns: np.ndarray
    error: float
    bits: float


class Table(NamedTuple):
    """What models are fitted to: a target with a function undone, weighted, on some rows of a table of n."""

    columns: dict[str, np.ndarray]
    target: np.ndarray
    weights: np.ndarray
    n: int


class Choices(NamedTuple):
    """The features that models are extended by: their values, of norm 1, the squares of these, and their trees."""

    values: np.ndarray
    squares: np.ndarray
    tree: Callable[[int], Tree]


def noisy(columns, y, names, evaluations: int, deep: bool = True) -> tuple[list[Found], int]:
    """Short expressions that explain a target with noise.

    First models are features, pairs of features and products of two; they grow by terms and factors. Inner
    constants are fitted, and models compared by their description length. The same with functions undone, where
    rows are weighted so that the noise of the target is even.

    Parameters
    ----------
    columns, y : the table
    names : names of the inputs
    evaluations : int
        Most features, pairs of features and fits that are compared.
    deep : bool
        Undo functions, and let models grow by more than one term or factor.

    Returns
    -------
    finds : list of Found
    evaluations : int
    """
    some = int(min(SIZE, (evaluations / 12) ** 0.5))
    if some < LEAST:
        return [], 0
    used, finds = 0, []
    rows = quantile_rows(y, ROWS)
    X = np.array([columns[name] for name in names]).T
    pool = enumerate_features(X[rows], int(min(POOL, evaluations / 20)))
    features = library(pool, X[rows], y[rows], min(SIMPLE, some // 2), int(min(WIDE, 6 * some)))
    for item in undone(y, offsets=(0.0,)):
        weights = slopes(item, y) if item.name in (UNDONE if deep else UNDONE[:1]) else None
        if weights is None or not len(features):
            continue
        wide, t, w = features.at(X[rows]), item.values[rows] * weights[rows], weights[rows]
        whole = item.name == "id"
        cost = len(pool) + len(wide) + min(some, len(wide)) ** 2 * (3 if whole else 1) // 2
        if used + cost > evaluations:
            break
        used += cost
        trees: list[tuple[Tree, ...]] = [(pool.tree(c.first, names),) for c in singles(pool.values, t, w, SINGLES)]
        trees += _starts(features, wide, some, t, w, names, whole)
        models, count = _grown(trees, item, weights, features, columns, y, names, evaluations - used, deep)
        used += count
        finds += [find for model in models if (find := written(model, item, columns, y, "noise")) is not None]
    return finds, used


def _starts(features, wide, some, t, w, names, whole: bool) -> list[tuple[Tree, ...]]:
    """The best features, pairs and, where no function is undone, products of two, also with a term beside them."""
    tree = functools.partial(features.tree, names=names)
    trees: list[tuple[Tree, ...]] = [(tree(c.first),) for c in singles(wide, t, w, SINGLES)]
    trees += [(tree(c.first), tree(c.second)) for c in pairs(wide[:some], t, w, PAIRS)]
    for c in products(wide[:some], t, w, PAIRS) if whole else ():
        product = ("*", tree(c.first), tree(c.second))
        trees.append((product, tree(c.second)) if c.both else (product,))
    return trees


def _grown(trees, item: Undone, weights, features: Features, columns, y, names, evaluations: int, deep: bool):
    """Models of least description length that grow from these sets of terms; evaluations that were used."""
    table, kept = fitted_table(item, weights, columns, y), KEPT if deep else KEPT // 3
    choices = choices_of(features, table.columns, names)
    states = best_models([m for tree in trees if (m := sum_of(tree, table)) is not None], kept)
    states, used = _refined(states, table, evaluations)
    best = list(states)
    for _ in range(DEPTH if item.name == "id" and deep else 1):
        states = best_models(states, BEAM)
        cost = len(choices.values) * sum(1 + 2 * len(state.trees) for state in states)
        if used + cost > evaluations:
            break
        extended = [model for state in states for model in extensions(state, choices, table)]
        states, count = _refined(best_models(extended, kept), table, evaluations - used - cost)
        used += cost + count
        best += states
    return best_models(best, LAST), used


def fitted_table(item: Undone, weights, columns, y) -> Table:
    """The rows of a table on which models are fitted."""
    rows = quantile_rows(y, FITTED)
    few = {name: column[rows] for name, column in columns.items()}
    return Table(few, item.values[rows] * weights[rows], weights[rows], len(y))


def choices_of(features: Features, columns, names) -> Choices:
    values = features.at(np.array([columns[name] for name in names]).T)
    norm = np.linalg.norm(values, axis=1)
    good = (np.isfinite(norm) & (norm > 0))[:, None]
    values = np.where(good, values / np.where(good, norm[:, None], 1.0), 0.0).astype(np.float32)
    return Choices(values, values**2, functools.partial(features.tree, names=names))


def slopes(item: Undone, y) -> np.ndarray | None:
    """Weights of rows after a function is undone that make the noise of the target even; None where there are none."""
    if item.name == "id":
        return np.ones(len(y))
    with np.errstate(all="ignore"):
        w = {"log": y, "inverse": y**2, "square": 0.5 / y, "root": 2 * np.sqrt(np.abs(y)), "inverse square": y**3}[
            item.name
        ]
    w = np.abs(w)
    return w / np.sqrt(np.mean(w**2)) if np.isfinite(w).all() and (w > 0).all() else None


def sum_of(trees, table: Table) -> Model | None:
    """The terms with coefficients and an intercept; None where that is undefined or terms cancel."""
    with np.errstate(all="ignore"):
        made = evaluate(trees, table.columns) * table.weights
    if not np.isfinite(made).all():
        return None
    fit = project(np.vstack([table.weights, made]), table.target)
    if fit is None:
        return None
    along = (table.weights @ table.target) / (table.weights @ table.weights)
    total = float(np.mean((table.target - along * table.weights) ** 2))
    if np.abs(fit.coefficients[1:, None] * made).max(initial=0.0) > CANCEL * np.sqrt(total):
        return None
    error = float(np.mean(fit.residual**2)) / total
    # each term has a coefficient, a product and a sum
    each = sum(tree_bits(tree, table.n) for tree in trees) + len(trees) * (3 * NODE_BITS + fitted_bits(table.n))
    bits = table.n / 2 * np.log2(error + ROUNDING) + each
    return Model(tuple(trees), made, error, bits)


def best_models(models, n: int) -> list[Model]:
    """The models of least description length, one of each set of terms and of each error."""
    seen: dict = {}
    for model in sorted(models, key=lambda m: round(m.bits, 6)):
        seen.setdefault(frozenset(map(str, model.trees)), model)
    kept: dict[str, Model] = {}
    for model in seen.values():
        kept.setdefault(f"{model.error:.8g}", model)
    return list(kept.values())[:n]


def _refined(states, table: Table, evaluations: int) -> tuple[list[Model], int]:
    """The states and those whose inner constants, fitted, are worth their bits."""
    out, used = list(states), 0
    for state in states:
        if used + STEPS > evaluations:
            break
        base = table.weights[None, :]
        trees, error, steps = refined(state.trees, table.columns, table.target, table.weights, base, STEPS)
        used += steps
        model = sum_of(trees, table) if np.isfinite(error) else None
        if model is not None and model.bits < state.bits:
            out.append(model)
    return best_models(out, 2 * KEPT), used


def extensions(
    state: Model, choices: Choices, table: Table, most: int = EXTENSIONS, factors: bool = True
) -> Iterator[Model]:
    """The state with a further term and, with `factors`, with a term multiplied and a multiple of a term beside it."""
    options: list[tuple] = [(state.trees, state.columns, table.weights, None)]
    for i, tree in enumerate(state.trees if factors else ()):
        options.append((state.trees, state.columns, state.columns[i], tree))
        rest = state.trees[:i] + state.trees[i + 1 :]
        options.append((rest, np.delete(state.columns, i, axis=0), state.columns[i], tree))
    for trees, kept, factor, tree in options:
        fit = project(np.vstack([table.weights, kept]), table.target)
        if fit is None:
            continue
        gain = _gains(fit, factor / np.linalg.norm(factor), choices)
        for j in np.argsort(-np.round(gain, 4), kind="stable")[:most]:
            f = choices.tree(int(j))
            model = sum_of((*trees, f if tree is None else ("*", tree, f)), table)
            if model is not None:
                yield model


def _gains(fit: Projection, factor: np.ndarray, choices: Choices) -> np.ndarray:
    """Share of what a fit leaves that each feature, times a factor, explains."""
    size = np.linalg.norm(fit.residual) or 1.0
    along = choices.values @ (factor[:, None] * np.column_stack([fit.residual / size, fit.Q])).astype(np.float32)
    norm = choices.squares @ (factor**2).astype(np.float32)
    left = norm - np.sum(along[:, 1:] ** 2, axis=1)
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.where(left > 1e-4 * norm, along[:, 0] ** 2 / left, 0.0))


def written(model: Model, item: Undone, columns, y, stage: str) -> Found | None:
    """The model as an expression, its coefficients fitted on all rows, all constants after a function was undone."""
    weights = slopes(item, y)
    if weights is None:
        return None
    rows = np.vstack([evaluate(model.trees, columns), np.ones(len(y))]) * weights
    fit = project(rows, item.values * weights)
    if fit is None:
        return None
    c = [float(f"{v:.10g}") for v in fit.coefficients]
    find = found(item.back(combination(c[:-1], model.trees, c[-1])), columns, y, stage)
    return find if find is None or not np.isfinite(find.error) else polished(find, columns, y)
