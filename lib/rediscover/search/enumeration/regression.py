"""The whole search on one regression table: its stages, their shares of the budget, and the front that they give."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from . import grammar
from .angles import quotients_with_angles, sums_with_angles
from .enumeration import Pool, enumerate_features
from .formula import Found, combination, evaluate, found, idle_term, is_exact, logarithm, needed, polished, spread
from .grammar import NEAR
from .library import library
from .meeting import meet, quantile_rows, undone
from .noisy_laws import noisy_laws
from .noisy_pieces import noisy_pieces
from .noisy_quotients import noisy_quotients
from .noisy_targets import noisy
from .physics import factors, power_law, product, sums
from .piecewise import piecewise
from .polynomials import beside, polynomial, quotient
from .pursuit import TERMS, Terms, pursue, usable
from .related_constants import with_related_constants
from .separable import separable
from .short_constants import TRIED, description, with_short_constants
from .shortening import shortened
from .single_functions import one_function, shifted_powers

ROWS = 1_500  # rows that finds are checked on; a rest is only checked at the end
PURSUIT_ROWS = 400
FEW = 40  # rows below which forms with many parts say nothing
LIBRARY, SIMPLE = 60_000, 2_000
QUOTIENTS = 2_000  # evaluations that quotients for a target with noise may need
SHORTENED = 30  # finds whose constants are made short
FULL = 150_000_000  # evaluations at which the pool has its full size and hardly a stage is cut off
CONFIRMED = 1e-11  # as grammar.EXACT, on further rows
SMALL_LIBRARY = 8_000
PIECE_POOL = 60_000  # features for each piece of a piecewise formula
INPUTS = 10  # with more, pieces and forms of laws are not looked for: each chooses among inputs once more
SHARES = {
    "pool": 1 / 150,
    "meeting": 0.24,
    "pursuit": 0.05,
    "physics": 0.04,
    "laws": 0.06,
    "noise": 0.35,
    "noisy laws": 0.2,
}


@dataclass
class Search:
    """One table, what was found for it, and how many evaluations are left.

    An evaluation is one comparison with the target: of a feature, of a combination that is looked up, or of a
    model with other inner constants. Refitting the few finds on all rows is not counted.
    """

    columns: dict[str, np.ndarray]
    y: np.ndarray
    names: tuple[str, ...]
    evaluations: int
    check: Sequence[tuple[np.ndarray, np.ndarray]] = ()
    without: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
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

    def share(self, stage: str) -> int:
        """Evaluations that a stage may use."""
        return int(max(0, min(self.left, self.evaluations * SHARES[stage])))

    def take(self, result: tuple[list[Found], int]) -> bool:
        """Keep finds and count; whether one is exact."""
        finds, used = result
        finds = [find for find in finds if np.isfinite(find.error)]
        near = [find for find in finds if self.near(find)]
        finds += [shortened(needed(find, self.columns, self.y), self.columns, self.y) for find in near]
        finds = [self.confirmed(find) for find in finds]
        self.finds += finds
        self.used += used
        return any(find.exact for find in finds)

    def near(self, find: Found) -> bool:
        """Whether a find may be exact once it is shorter: rounding hides in detours."""
        if find.exact or find.error > (NEAR * (spread(self.y) + float(np.abs(self.y).max()))) ** 2:
            return find.exact
        return is_exact(np.broadcast_to(find.expression(self.columns), self.y.shape), self.y, NEAR)

    def confirmed(self, find: Found) -> Found:
        """The find, no longer exact if it fails on further rows or has a term that it hardly needs."""
        if not find.exact:
            return find
        holds = idle_term(find.expression.tree, self.columns) is None
        if holds and self.check:
            tables = [(dict(zip(self.names, X.T, strict=True)), y) for X, y in self.check]
            predicted = [np.broadcast_to(find.expression(columns), y.shape) for columns, y in tables]
            holds = is_exact(np.concatenate(predicted), np.concatenate([y for _, y in tables]), CONFIRMED)
        return find if holds else dataclasses.replace(find, exact=False)


def regress(X: np.ndarray, y: np.ndarray, names, evaluations: int, held_out=None, without=(), also=()) -> Search:
    """Expressions for a target, by all stages until one finds an exact one.

    Parameters
    ----------
    X : ndarray, shape (n_rows, n_inputs)
    y : ndarray, shape (n_rows,)
        Both finite; y varies.
    names : sequence of str
    evaluations : int
        See `Search`.
    held_out : (X, y), optional
        Further rows on which an exact find must hold as well. The search itself is on `ROWS` quantiles of y.
    without : names of stages that are left out
        ``pieces`` or ``laws``.
    also : names of stages that are not in the frozen method
        ``laws with noise``.
    """
    kept = quantile_rows(y, ROWS)
    columns = dict(zip(names, np.ascontiguousarray(X[kept].T), strict=True))
    check = [(X, y)] if held_out is None else [(X, y), held_out]
    search = Search(columns, y[kept], tuple(names), int(evaluations), check, tuple(without), tuple(also))
    with np.errstate(all="ignore"):  # features that overflow are left out where they are made
        for _ in stages(search):
            if search.exact or search.left <= 0:
                break
    return search


def stages(search: Search) -> Iterator[None]:
    """The stages in order of cost; the caller stops when it has enough."""
    columns, y, names = search.columns, search.y, search.names
    size = int(min(grammar.POOL_SIZE, search.evaluations * SHARES["pool"]))
    yield from cheap_stages(search, size, degrees=())
    rows = quantile_rows(y, grammar.POOL_ROWS)
    pool = enumerate_features(search.X[rows], size)
    if not len(pool):
        return
    yield from _beside(search, pool, rows, degrees=(0, 1))
    yield from pursuits(search, pool, size=SMALL_LIBRARY, most_terms=3)
    yield from _beside(search, pool, rows, degrees=(2, 3))
    some = quantile_rows(y, PURSUIT_ROWS)
    search.take(sums(columns, y, names, some, search.share("physics")))
    yield
    search.take(factors(columns, y, names, some, search.share("physics")))
    yield
    search.take(quotient(columns, y, names, some))
    yield
    search.take(meet(pool, rows, columns, y, names, search.share("meeting")))
    yield
    yield from pursuits(search, pool, size=LIBRARY, most_terms=TERMS)
    del pool
    few_inputs = len(names) <= INPUTS
    if "pieces" not in search.without and few_inputs:
        part = int(min(PIECE_POOL, size))
        search.take(piecewise(columns, y, names, one_formula(names, part), search.left))
        yield
    if "laws" not in search.without and few_inputs:
        yield from laws(search)
    if len(y) >= FEW:
        if "laws with noise" in search.also:
            search.take(noisy_laws(columns, y, names, search.share("noisy laws")))
            yield
        search.take(noisy(columns, y, names, search.share("noise")))
        yield
        if search.left > QUOTIENTS:
            search.take(noisy_quotients(columns, y, names))
            yield
        if "pieces" not in search.without and few_inputs:
            search.take(noisy_pieces(columns, y, names, search.left))
            yield
        search.take(shortest(search))
        yield


def laws(search: Search) -> Iterator[None]:
    """Forms of laws of physics that the stages before miss, chosen after truths of SRSD had been read."""
    columns, y, names = search.columns, search.y, search.names
    if len(y) < FEW:
        return
    some = quantile_rows(y, PURSUIT_ROWS)
    search.take(shifted_powers(columns, y, names))
    yield
    search.take(separable(columns, y, names, some, search.share("laws")))
    yield
    search.take(one_function(columns, y, names, some, search.share("laws")))
    yield
    search.take(quotients_with_angles(columns, y, names, some))
    yield
    search.take(sums_with_angles(columns, y, names, some, search.share("laws")))
    yield


def shortest(search: Search) -> tuple[list[Found], int]:
    """The finds of least description length with short constants."""
    n, variance = len(search.y), float(np.var(search.y))
    distinct = {str(find.expression): find for find in search.finds if np.isfinite(find.error)}.values()
    order = sorted(distinct, key=lambda find: round(description(find.expression, find.error / variance, n), 6))
    best = order[: min(SHORTENED, search.left // TRIED)]
    finds = [with_short_constants(find, search.columns, search.y, n) for find in best]
    if "laws with noise" in search.also:
        finds += [with_related_constants(find, search.columns, search.y, n) for find in finds]
    return finds, TRIED * len(best)


def cheap_stages(search: Search, size: int, degrees) -> Iterator[None]:
    """A monomial, polynomials behind an undone function, and one feature beside a polynomial."""
    columns, y, names = search.columns, search.y, search.names
    search.take((power_law(columns, y, names), 1))
    yield
    for item in undone(y, offsets=(0.0,)):
        search.take(polynomial(item, columns, y, names))
        yield
    if degrees:
        rows = quantile_rows(y, grammar.POOL_ROWS)
        yield from _beside(search, enumerate_features(search.X[rows], size), rows, degrees)


def _beside(search: Search, pool: Pool, rows, degrees) -> Iterator[None]:
    columns, y, names = search.columns, search.y, search.names
    for degree in degrees:
        for item in undone(y, offsets=(0.0,)):
            n = len(pool) if item.name in ("id", "inverse", "log") else len(pool) // 5
            search.take(beside(pool, rows, item, degree, columns, y, names, min(n, search.left)))
            yield


def pursuits(search: Search, pool: Pool, size: int, most_terms: int) -> Iterator[None]:
    """Sums of terms for the target, its inverse, exponential and logarithm; products of powers of terms."""
    columns, y, names = search.columns, search.y, search.names
    rows = quantile_rows(y, PURSUIT_ROWS)
    few = {name: column[rows] for name, column in columns.items()}
    X = search.X[rows]
    size = int(min(size, search.evaluations * SHARES["pursuit"] / 50))
    features = library(pool, X, y[rows], SIMPLE, size)
    values = features.at(X)
    weights = np.ones(len(rows))
    base = weights[None, :]
    normal, kept = usable(values, base)
    terms = Terms(normal, lambda i: features.tree(int(kept[i]), names), base, few, weights)
    for item in undone(y, offsets=(0.0,)):
        if item.name in ("id", "inverse", "log", "exp"):
            models, used = pursue(terms, item.values[rows], search.share("pursuit"), most_terms)
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


def _products(search, features, values, rows, few) -> Iterator[None]:
    """Products of powers of features: the same pursuit for logarithms."""
    columns, y, names = search.columns, search.y, search.names
    weights = np.ones(len(rows))
    base = weights[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.abs(values))
    normal, kept = usable(logs, base)
    terms = Terms(normal, lambda i: features.tree(int(kept[i]), names), base, few, weights, logarithm)
    models, used = pursue(terms, np.log(np.abs(y[rows])), search.share("pursuit"))
    finds = [product(model.trees, columns, y) for model in models]
    search.take(([find for find in finds if find is not None], used))
    yield


def one_formula(names, size: int):
    """A search for one formula on a part of the rows, as the pieces of `piecewise` need it."""

    def search(columns, y, evaluations):
        part = Search(columns, y, names, evaluations)
        for _ in cheap_stages(part, size, degrees=(0, 1, 2)):
            if part.exact or part.left <= 0:
                break
        return part.finds, part.used

    return search
