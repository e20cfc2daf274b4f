"""Targets with noise: terms ranked by what they explain, products among them, chosen by description length.

Tuned on the 55 public problems of ``tests/data/public_suites.yaml`` with 1 % noise alone.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .enumeration import Features, enumerate_features
from .formula import Found, Tree, combination, evaluate, found, polished
from .library import library
from .meeting import Undone, quantile_rows, undone
from .short_constants import NODE_BITS, PRECISE, constant_bits
from .term_pairs import pairs, products, singles
from .variable_projection import project, refined

ROWS = 240  # on which features are ranked
FITTED = 400  # on which inner constants are fitted
POOL = 60_000  # features that may explain the target alone
SIMPLE, SIZE = 1_500, 5_000  # features that are paired: simple ones of the pool, and in all
WIDE = 32_000  # features that extend models
STEPS = 20  # of a fit of inner constants
BEAM = 12
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
    residual : ndarray, shape (n_rows,)
    """

    trees: tuple[Tree, ...]
    columns: np.ndarray
    error: float
    bits: float
    residual: np.ndarray


class Table(NamedTuple):
    """What models are fitted to."""

    columns: dict[str, np.ndarray]
    target: np.ndarray
    weights: np.ndarray
    n: int


def noisy(columns, y, names, evaluations: int) -> tuple[list[Found], int]:
    """Short expressions that explain a target with noise.

    Parameters
    ----------
    columns, y : the table
    names : names of the inputs
    evaluations : int
        Most features, pairs of features and fits that are compared.
    """
    used, finds = 0, []
    rows = quantile_rows(y, ROWS)
    X = np.array([columns[name] for name in names]).T
    some = int(min(SIZE, max(0, (evaluations / 12) ** 0.5)))
    pool = enumerate_features(X[rows], int(min(POOL, evaluations / 10)))
    if not len(pool) or some < 10:
        return [], 0
    features = library(pool, X[rows], y[rows], min(SIMPLE, some // 2), int(min(WIDE, 6 * some)))
    for item in undone(y, offsets=(0.0,)):
        if item.name not in UNDONE:
            continue
        weights = slopes(item, y)
        if weights is None:
            continue
        models, count = _searched(item, weights, pool, features, some, columns, y, names, rows, item.name == "id")
        used += count
        finds += [find for model in models if (find := _written(model, item, columns, y)) is not None]
    return finds, used


def slopes(item: Undone, y) -> np.ndarray | None:
    """Weights of rows after a function is undone that make the noise of the target even; None where there are none."""
    if item.name == "id":
        return np.ones(len(y))
    with np.errstate(all="ignore"):
        w = {"log": y, "inverse": y**2, "square": 0.5 / y, "root": 2 * np.sqrt(np.abs(y))}[item.name]
    w = np.abs(w)
    return w / np.sqrt(np.mean(w**2)) if np.isfinite(w).all() and (w > 0).all() else None


def _searched(item, weights, pool, features: Features, some, columns, y, names, rows, everything: bool):
    """Models of one undone target: singles, pairs, and what grows from them."""
    w = weights[rows]
    t = item.values[rows] * w
    wide = features.at(np.array([columns[name][rows] for name in names]).T)
    values = wide[:some]
    choices = singles(pool.values, t, w, 40)
    used = len(pool) + len(wide)
    found_pairs = pairs(values, t, w, 60)
    used += len(values) ** 2 // 2
    trees = [(pool.tree(c.first, names),) for c in choices]
    trees += [(features.tree(c.first, names),) for c in singles(wide, t, w, 40)]
    trees += [(features.tree(c.first, names), features.tree(c.second, names)) for c in found_pairs]
    if everything:
        for c in products(values, t, w, 60):
            f, g = features.tree(c.first, names), features.tree(c.second, names)
            trees.append((("*", f, g), g) if c.both else (("*", f, g),))
        used += len(values) ** 2
    fitted = quantile_rows(y, FITTED)
    few = {name: column[fitted] for name, column in columns.items()}
    table = Table(few, item.values[fitted] * weights[fitted], weights[fitted], len(y))
    F = features.at(np.array([few[name] for name in names]).T)
    norm = np.linalg.norm(F, axis=1)
    good = np.isfinite(norm) & (norm > 0)
    F = np.where(good[:, None], F / np.where(good, norm, 1.0)[:, None], 0.0).astype(np.float32)
    squares = F**2
    states = _best([m for tree in trees if (m := _model(tree, table)) is not None], KEPT)
    states, count = _all_refined(states, table)
    used += count
    best = list(states)
    for _ in range(DEPTH if everything else 1):
        states = _best(states, BEAM)
        grown = [m for state in states for m in _extensions(state, F, squares, features, names, table)]
        used += len(F) * sum(1 + 2 * len(state.trees) for state in states)
        states, count = _all_refined(_best(grown, KEPT), table)
        used += count
        best += states
    return _best(best, LAST), used


def _model(trees, table: Table) -> Model | None:
    with np.errstate(all="ignore"):
        made = evaluate(trees, table.columns) * table.weights
    if not np.isfinite(made).all():
        return None
    fit = project(np.vstack([table.weights, made]), table.target)
    if fit is None:
        return None
    total = float(
        np.mean(
            (table.target - table.weights * np.average(table.target / table.weights, weights=table.weights**2)) ** 2
        )
    )
    spread = np.sqrt(total)
    if np.abs(fit.coefficients[1:, None] * made).max(initial=0.0) > 300 * spread:
        return None
    error = float(np.mean(fit.residual**2)) / total
    bits = table.n / 2 * np.log2(error + 1e-20)
    for tree in trees:
        bits += NODE_BITS * (size(tree) + 3) + PRECISE + np.log2(table.n) / 2 + _numbers(tree, table.n)
    return Model(tuple(trees), made, error, bits, fit.residual)


def size(tree: Tree) -> int:
    """Nodes of a tree."""
    return 1 + sum(size(child) for child in tree[1:])


def _numbers(tree: Tree, n: int) -> float:
    label, *children = tree
    if not children:
        return 0.0 if isinstance(label, str) else constant_bits(label, n)
    if label == "**":
        return _numbers(children[0], n)
    return sum(_numbers(child, n) for child in children)


def _best(models, n: int) -> list[Model]:
    """The models of least description length, one of each set of terms and of each error."""
    seen: dict = {}
    for model in sorted(models, key=lambda m: round(m.bits, 6)):
        seen.setdefault(frozenset(map(str, model.trees)), model)
    kept: dict[str, Model] = {}
    for model in seen.values():
        kept.setdefault(f"{model.error:.8g}", model)
    return list(kept.values())[:n]


def _all_refined(states, table: Table) -> tuple[list[Model], int]:
    out, used = list(states), 0
    base = table.weights[None, :]
    for state in states:
        trees, error, steps = refined(state.trees, table.columns, table.target, table.weights, base, STEPS)
        used += steps
        if np.isfinite(error):
            model = _model(trees, table)
            if model is not None and model.bits < state.bits:
                out.append(model)
    return _best(out, 2 * KEPT), used


def _extensions(state: Model, F, squares, features, names, table: Table) -> Iterator[Model]:
    """The state with a further term, a term multiplied, or a further term that is a multiple of one."""
    w = table.weights
    options: list[tuple[tuple[Tree, ...], np.ndarray, np.ndarray, Tree | None]] = [
        (state.trees, state.columns, w, None)
    ]
    for i, tree in enumerate(state.trees):
        options.append((state.trees, state.columns, state.columns[i], tree))
        rest = state.trees[:i] + state.trees[i + 1 :]
        options.append((rest, np.delete(state.columns, i, axis=0), state.columns[i], tree))
    for trees, kept, factor, tree in options:
        fit = project(np.vstack([w, kept]), table.target)
        if fit is None:
            continue
        factor = factor / np.linalg.norm(factor)
        size_of = np.linalg.norm(fit.residual) or 1.0
        norm = squares @ (factor**2).astype(np.float32)
        along = F @ (factor[:, None] * np.column_stack([fit.residual / size_of, fit.Q])).astype(np.float32)
        left = norm - np.sum(along[:, 1:] ** 2, axis=1)
        with np.errstate(all="ignore"):
            gain = np.nan_to_num(np.where(left > 1e-4 * norm, along[:, 0] ** 2 / left, 0.0))
        for j in np.argsort(-np.round(gain, 4), kind="stable")[:6]:
            f = features.tree(int(j), names)
            model = _model((*trees, f if tree is None else ("*", tree, f)), table)
            if model is not None:
                yield model


def _written(model: Model, item: Undone, columns, y) -> Found | None:
    """The model as an expression, its coefficients fitted on all rows, all constants after a function was undone."""
    weights = slopes(item, y)
    rows = np.vstack([evaluate(model.trees, columns), np.ones(len(y))]) * weights
    fit = project(rows, item.values * weights)
    if fit is None:
        return None
    c = [float(f"{v:.10g}") for v in fit.coefficients]
    find = found(item.back(combination(c[:-1], model.trees, c[-1])), columns, y, "noise")
    return find if find is None or not np.isfinite(find.error) else polished(find, columns, y)
