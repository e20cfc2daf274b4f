"""The whole search on one regression table: its stages, their shares of the budget, and the front that they give."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from . import grammar
from .enumeration import Features, enumerate_features
from .formula import Found, combination, evaluate, found, polished, spread
from .library import library
from .meeting import meet, quantile_rows, undone
from .polynomials import beside, polynomial, quotient
from .pursuit import Terms, pursue, usable

ROWS = 1_500  # rows that finds are checked on; a rest is only checked at the end
PURSUIT_ROWS = 400
LIBRARY, SIMPLE = 40_000, 2_000
FULL = 60_000_000  # evaluations for which a stage's share of the budget lets it end by itself
SHARES = {"pool": 1 / 60, "meeting": 0.6, "pursuit": 0.3}


@dataclass
class Search:
    """One table, what was found for it, and how many evaluations are left.

    An evaluation is one comparison with the target of one feature, of one combination that is looked up, or of
    one model whose constants are being fitted.
    """

    columns: dict[str, np.ndarray]
    y: np.ndarray
    names: tuple[str, ...]
    evaluations: int
    seed: int = 0
    finds: list[Found] = field(default_factory=list)
    used: int = 0

    @property
    def left(self) -> int:
        return self.evaluations - self.used

    @property
    def exact(self) -> list[Found]:
        return [find for find in self.finds if find.exact]

    @property
    def X(self) -> np.ndarray:
        return np.column_stack([self.columns[name] for name in self.names])

    def take(self, result: tuple[list[Found], int]) -> bool:
        """Keep finds and count; whether one is exact."""
        finds, used = result
        self.finds += [find for find in finds if np.isfinite(find.error)]
        self.used += used
        return any(find.exact for find in finds)


def regress(X: np.ndarray, y: np.ndarray, names, evaluations: int) -> Search:
    """Expressions for a target, by all stages until one finds an exact one.

    Parameters
    ----------
    X : ndarray, shape (n_rows, n_inputs)
    y : ndarray, shape (n_rows,)
        Both finite; y varies.
    names : sequence of str
    evaluations : int
        See `Search`.
    """
    kept = quantile_rows(y, ROWS)
    columns = {name: np.ascontiguousarray(column[kept]) for name, column in zip(names, X.T, strict=True)}
    search = Search(columns, y[kept], tuple(names), int(evaluations))
    for _ in stages(search):
        if search.exact or search.left <= 0:
            break
    return search


def stages(search: Search) -> Iterator[None]:
    """The stages in order of cost; the caller stops when it has enough."""
    columns, y, names = search.columns, search.y, search.names
    for item in undone(y, offsets=(0.0,)):
        search.take(polynomial(item, columns, y, names))
        yield
    rows = quantile_rows(y, grammar.POOL_ROWS)
    size = int(min(grammar.POOL_SIZE, search.evaluations * SHARES["pool"]))
    pool = enumerate_features(search.X[rows], size)
    if not len(pool):
        return
    for degree in (0, 1, 2, 3):
        for item in undone(y, offsets=(0.0,)):
            n = len(pool) if item.name in ("id", "inverse", "log") else len(pool) // 5
            search.take(beside(pool, rows, item, degree, columns, y, names, min(n, search.left)))
            yield
    search.take(quotient(columns, y, names, quantile_rows(y, 300)))
    yield
    allowed = int(min(search.left, search.evaluations * SHARES["meeting"]))
    search.take(meet(pool, rows, columns, y, names, allowed))
    yield
    yield from pursuits(search, pool)


def pursuits(search: Search, pool: Features) -> Iterator[None]:
    """Sums of terms for the target, for its logarithm, and for its inverse."""
    columns, y, names = search.columns, search.y, search.names
    rows = quantile_rows(y, PURSUIT_ROWS)
    few = {name: column[rows] for name, column in columns.items()}
    X = search.X[rows]
    size = int(min(LIBRARY, search.evaluations * SHARES["pursuit"] / 60))
    features = library(pool, X, SIMPLE, size)
    values = features.at(X)
    targets = [item for item in undone(y, offsets=(0.0,)) if item.name in ("id", "inverse", "log", "exp")]
    for item in targets:
        weights = np.ones(len(rows))
        base = weights[None, :]
        normal, kept = usable(values, base)
        terms = Terms(normal, lambda i, kept=kept: features.tree(kept[i], names), base, few, weights)
        allowed = int(min(search.left, search.evaluations * SHARES["pursuit"] / 4))
        models, used = pursue(terms, item.values[rows], allowed)
        search.used += used
        for model in models:
            search.take((_sums(model, item, columns, y), 0))
        yield
    if not (y == 0).any():
        yield from _products(search, features, values, rows, few)


def _sums(model, item, columns, y) -> list[Found]:
    """A model as an expression with its coefficients fitted on all rows."""
    rows = np.vstack([evaluate(model.trees, columns), np.ones(len(y))])
    size = np.linalg.norm(rows, axis=1)
    if not np.isfinite(size).all() or not (size > 0).all():
        return []
    c = np.linalg.lstsq((rows / size[:, None]).T, item.values, rcond=None)[0] / size
    find = found(item.back(combination(c[:-1], model.trees, c[-1])), columns, y, "pursuit")
    if find is None:
        return []
    near = find.error < 1e-6 * spread(y) ** 2
    return [polished(find, columns, y) if near else find]


def _logarithm(tree):
    return ("log", ("abs", tree))


def _products(search, features, values, rows, few) -> Iterator[None]:
    """Products of powers of features: the same pursuit for logarithms."""
    columns, y, names = search.columns, search.y, search.names
    target = np.log(np.abs(y[rows]))
    weights = np.ones(len(rows))
    base = weights[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.abs(values))
    normal, kept = usable(logs, base)
    terms = Terms(
        normal, lambda i: features.tree(kept[i], names), base, few, weights, lambda tree: _logarithm(tree)
    )
    models, used = pursue(terms, target, int(min(search.left, search.evaluations * SHARES["pursuit"] / 4)))
    search.used += used
    for model in models:
        find = product(model.trees, columns, y)
        search.take(([find] if find else [], 0))
    yield


def product(trees, columns, y) -> Found | None:
    """C times powers of the trees, exponents from the logarithms, the sign from those that are odd."""
    values = evaluate(trees, columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.vstack([np.log(np.abs(values)), np.ones(len(y))])
        target = np.log(np.abs(y))
    rows = np.isfinite(logs).all(axis=0) & np.isfinite(target)
    if rows.sum() < len(trees) + 2:
        return None
    c = np.linalg.lstsq(logs[:, rows].T, target[rows], rcond=None)[0]
    powers = [round(2 * p) / 2 if abs(2 * p - round(2 * p)) < 2e-3 else float(p) for p in c[:-1]]
    tree, sign = None, np.sign(y)
    for base, p, v in zip(trees, powers, values, strict=True):
        if p == 0:
            continue
        negative = (v < 0).any()
        factor = ("abs", base) if negative and p != int(p) else base
        if p == int(p) and int(p) % 2:
            sign = sign * np.sign(v)
        power = factor if p == 1 else ("**", factor, (int(p) if p == int(p) else p,))
        tree = power if tree is None else ("*", tree, power)
    if tree is None:
        return None
    with np.errstate(all="ignore"):
        shape = evaluate([tree], columns)[0]
        ratio = y[rows] / shape[rows]
    factor = float(np.median(ratio))
    if not np.isfinite(factor) or factor == 0:
        return None
    find = found(("*", (factor,), tree), columns, y, "product")
    if find is None:
        return None
    near = np.median(np.abs(ratio / factor - 1)) < 1e-3
    return polished(find, columns, y) if near and np.isfinite(find.error) else find
