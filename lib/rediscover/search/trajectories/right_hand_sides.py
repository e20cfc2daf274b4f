"""Sparse right-hand sides of ordinary differential equations, from a trajectory in integral form.

Terms come from a library that knows no problem: monomials, and functions of one or two states. Along one trajectory
many of them nearly depend on each other, so all combinations of a few are compared, and of many the terms are taken
away one by one. Functions that one state has are offered to the others: what leaves one state often arrives in
another. Then the system that was found replaces the curve between the times
(`rediscover.search.trajectories.trajectories`), and its constants are fitted again. Of the systems that describe the
record shortest the first is chosen whose solution stays near it.
"""

import dataclasses
import heapq
import itertools
from collections.abc import Sequence

import numpy as np
from scipy.optimize import least_squares

from ...expressions import parse
from ...expressions.integration import simulate
from .subsets import combinations, eliminations, solved
from .terms import SCANNED, Library, monomials, tabulated
from .trajectories import Model, Record, Term

ROUNDS = 12  # of following a model and fitting it again
SETTLED = 0.01  # relative change of the residual below which that ends
EXPLAINED = 1e-4  # residual, over the spread, below which a record has no noise
AGAIN = 12  # models of each state that are fitted again with the best system between the times
NEGLIGIBLE = 1e-4  # size of a term over that of the rate, below which, or below noise over range, it is left out
INTERPOLATED = 1e-4  # noise, over the range, below which a record is interpolated, above it smoothed
DEGREES = (1, 2, 3)  # of the polynomials that are tried, one after the other
UNIVARIATE = (1, 2, 3, 5)  # of one state
FEW = 3  # terms beside which every function is compared
BESIDE = {1: 3, 2: 3}  # number of states -> degree of those terms; 2 for more states
ELEMENTARY = 3  # nodes up to which functions without constants are combined like monomials
REFINED = 16  # functions beside so many terms whose inner constants are fitted
STEADIED = 30  # systems whose solutions are computed, at most, until one stays near the record
NEARER = 0.1  # of the way from the first state to the mean: where a second solution starts
GROWN = 10.0  # distance from the first state, over the range of the record, within which a solution is near
OFFERED = 3  # models of each state whose functions are offered to the others
NODE_BITS = 4.0  # of the description of a node, beside those of constants
FLOOR = 1e-5  # residual, over the spread, below which nothing is learnt: no record is trusted beyond five digits
TIED = 3  # decimals of a number of bits; the others follow the rounding of floats
FEWEST_ROWS = 10.0  # that a record counts for at least, however much its residuals resemble their neighbours
CANCELLING = 50.0  # size of a term over that of the rate, above which a model only cancels

Chosen = tuple[float, tuple[int, ...], tuple[int, ...]]  # what is left by which monomials and which functions


def degrees(names: Sequence[str]) -> tuple[int, ...]:
    """Of the polynomials that are tried."""
    return UNIVARIATE if len(names) == 1 else DEGREES


class Search:
    """The right-hand side of one state: combinations of monomials and functions.

    Parameters
    ----------
    record : Record
    state : int
        Its column.
    """

    def __init__(self, record: Record, state: int):
        self.record, self.state = record, state
        self.weights = 1 / record.profile[:, state]
        self.y = self.centred(record.states[:, state])
        self.spread = float(np.sqrt(np.mean(self.y**2))) or 1.0
        self.evaluations = 0

    def centred(self, columns: np.ndarray) -> np.ndarray:
        """Columns without what a constant beside them explains, in units of the noise."""
        mean = self.weights**2 @ columns / (self.weights**2).sum()
        return ((columns - mean).T * self.weights).T

    def fit(self, terms: Sequence[Term], inner: Sequence[tuple], columns: np.ndarray | None = None) -> Model:
        """Coefficients of terms by least squares; `columns` are the terms' integrals, where they are known."""
        c, off = solved(self._columns(terms, inner) if columns is None else columns, self.y)
        return Model(tuple(terms), tuple(inner), tuple(c.tolist()), float(np.mean(off**2)))

    def polynomials(self, degree: int) -> list[Model]:
        """That of a degree, and what is left when terms are taken away."""
        base = monomials(self.record.names, degree)
        inner: list[tuple] = [()] * len(base)
        return self.eliminated(base, inner) + self.combined(base, inner)

    def combined(self, terms: Sequence[Term], inner: Sequence[tuple]) -> list[Model]:
        """The best combinations of one, two, ... of the terms, as `subsets.combinations` finds them."""
        columns = self._columns(terms, inner)
        found, tried = combinations(columns, self.y)
        self.evaluations += tried
        return [
            self.fit([terms[i] for i in subset], [inner[i] for i in subset], columns[:, subset]) for subset in found
        ]

    def again(self, model: Model) -> Model:
        """A model with its constants fitted to this record."""
        moving = [(term, inner) for term, inner in zip(model.terms, model.inner, strict=True) if inner]
        fixed = [term for term, inner in zip(model.terms, model.inner, strict=True) if not inner]
        found = self.refined(fixed, [t for t, _ in moving], [c for _, inner in moving for c in inner])
        return self.fit([*fixed, *(t for t, _ in found)], [()] * len(fixed) + [k for _, k in found])

    def with_functions(self, library: Library, limit: int) -> list[Model]:
        """Elementary functions among linear terms, and one or two functions beside a few monomials.

        None is tried after `limit` evaluations.
        """
        names = self.record.names
        plain = [term for term in library.terms if not term.start and term.nodes <= ELEMENTARY]
        terms = [*monomials(names, 1), *plain]
        models = self.combined(terms, [()] * len(terms))
        terms = monomials(names, BESIDE.get(len(names), 2))
        columns = self._columns(terms, [()] * len(terms))
        library = Library(library.terms, self.centred(library.integrals), self.centred(library.slopes))
        singles, doubles = [], []
        for size in range(FEW + 1):
            tried: list[Chosen] = []
            for chosen in itertools.combinations(range(len(terms)), size):
                if self.evaluations < limit:
                    tried += self._beside(library, chosen, (), columns[:, chosen])
            singles.append(distinct(tried, library, SCANNED))
        for _, chosen, (k,) in itertools.chain(*singles):
            if self.evaluations < limit:
                moving = [library.integrals[:, k]] + [library.slopes[:, k]] * bool(library.terms[k].start)
                doubles += self._beside(library, chosen, (k,), np.column_stack([columns[:, chosen], *moving]))
        kept = [*itertools.chain(*(found[:REFINED] for found in singles)), *distinct(doubles, library, 2 * REFINED)]
        for _, chosen, functions in kept:
            base = [terms[i] for i in chosen]
            joined = [library.terms[k] for k in functions]
            found = self.refined(base, joined, [c for term in joined for c in term.start])
            models.append(self.fit([*base, *joined], [()] * len(base) + [inner for _, inner in found]))
        return models

    def _beside(self, library: Library, chosen: tuple, functions: tuple, columns: np.ndarray) -> list[Chosen]:
        self.evaluations += len(library.terms)
        return [(left, chosen, (*functions, k)) for left, k in library.compared(self.y, columns)]

    def offered(self, functions: Sequence[tuple[Term, tuple]]) -> list[Model]:
        """Combinations of monomials with functions of other states' models, constants and all."""
        base = monomials(self.record.names, 2)
        inner = [()] * len(base) + [k for _, k in functions]
        return self.combined([*base, *(term for term, _ in functions)], inner) if functions else []

    def described(self, models: list[Model]) -> list[Model]:
        """The sound ones with their bits, shortest first; of several with the same terms the best."""
        sound = [model for model in models if self.is_sound(model)] or models[:1]
        rows = self.rows(min(sound, key=lambda model: model.loss))
        best: dict[tuple, Model] = {}
        for model in sound:
            described = dataclasses.replace(model, bits=self.bits(model, rows))
            key = tuple(sorted(term.text for term in model.terms))
            if key not in best or described.bits < best[key].bits:
                best[key] = described
        return sorted(best.values(), key=lambda model: (model.bits, model.text))

    def refined(self, base: list[Term], terms: list[Term], constants: Sequence[float]) -> list[tuple[Term, tuple]]:
        """Terms with their inner constants fitted from those given, beside a base."""
        start = np.array(constants, float)
        fixed = self._columns(base, [()] * len(base))

        def residuals(scaled: np.ndarray) -> np.ndarray:
            self.evaluations += 1
            moving = self._columns(terms, self._split(terms, scaled * unit))
            off = solved(np.column_stack([fixed, moving]), self.y)[1] / self.spread
            return np.where(np.isfinite(off), off, 1e3)

        unit = np.where(start != 0, np.abs(start), 1.0)
        if len(start):
            start = least_squares(residuals, start / unit, max_nfev=30).x * unit
        return list(zip(terms, self._split(terms, start), strict=True))

    def eliminated(self, terms: Sequence[Term], inner: Sequence[tuple]) -> list[Model]:
        """Models of falling size: each time the term goes that the residual misses least."""
        columns = self._columns(terms, inner)
        models = []
        for kept in eliminations(columns, self.y):
            models.append(self.fit([terms[i] for i in kept], [inner[i] for i in kept], columns[:, kept]))
            self.evaluations += len(kept)
        models.append(Model((), (), (), float(np.mean(self.y**2))))
        return models

    @staticmethod
    def _split(terms: Sequence[Term], constants: np.ndarray) -> list[tuple[float, ...]]:
        left = iter(constants.tolist())
        return [tuple(itertools.islice(left, len(term.start))) for term in terms]

    def _columns(self, terms, inner) -> np.ndarray:
        """Integrals of terms."""
        values = [self.record.integral(self.record.values(*pair)) for pair in zip(terms, inner, strict=True)]
        columns = np.column_stack(values) if values else np.zeros((len(self.y), 0))
        return self.centred(columns)

    def rows(self, best: Model) -> float:
        """How many rows tell something new: n (1 - r) / (1 + r), with the correlation r of neighbours among residuals.

        What no model explains is noise, which has r = 0, or the smooth error of record and quadrature, r near 1.
        """
        off = solved(self._columns(best.terms, best.inner), self.y)[1]
        r = float(np.clip(np.corrcoef(off[:-1], off[1:])[0, 1], 0.0, 1.0)) if off.any() else 1.0
        return max(len(off) * (1 - r) / (1 + r), FEWEST_ROWS)

    def bits(self, model: Model, rows: float) -> float:
        """Length of the description of residuals, terms and constants."""
        constants = sum(1 + len(inner) for inner in model.inner)
        structure = (
            sum(NODE_BITS * term.nodes + term.choice for term in model.terms) + constants * np.log2(len(self.y)) / 2
        )
        bits = float(rows / 2 * np.log2(model.loss / self.spread**2 + FLOOR**2) + structure)
        return round(bits, TIED)

    def is_sound(self, model: Model) -> bool:
        """Whether its terms neither only cancel each other nor do nothing."""
        values = [self.record.values(term, inner) for term, inner in zip(model.terms, model.inner, strict=True)]
        rate, noisy = self.record.rates[self.state], self.record.noise[self.state]
        sizes = [
            (abs(c) * np.abs(v).max(), abs(c) * np.ptp(v)) for c, v in zip(model.coefficients, values, strict=True)
        ]
        return np.isfinite(model.loss) and all(
            high > max(NEGLIGIBLE, noisy) * rate and range < CANCELLING * rate for high, range in sizes
        )


def distinct(tried: list[Chosen], library: Library, count: int) -> list[Chosen]:
    """The best of different form: starts of one form lead to the same constants."""
    seen: dict[tuple, Chosen] = {}
    for item in sorted(tried):
        if len(seen) == count:
            break
        seen.setdefault((item[1], *sorted(library.terms[k].text for k in item[2])), item)
    return list(seen.values())


def followed(record: Record, degree: int, rounds: int) -> Record:
    """The record with a polynomial system between its times, fitted to it until both agree."""
    terms, last = monomials(record.names, degree), np.inf
    for _ in range(rounds):
        searches = _searches(record)
        system = [search.fit(terms, [()] * len(terms)) for search in searches]
        worst = max(np.sqrt(model.loss) / search.spread for model, search in zip(system, searches, strict=True))
        new = record.follow(system) if worst < (1 - SETTLED) * last else None
        if new is None:
            break
        record, last = new, worst
    return record


def _searches(record: Record) -> list[Search]:
    return [Search(record, i) for i in range(len(record.names))]


def polynomials(record: Record, rounds: int) -> tuple[Record, list[list[Model]], list[int]]:
    """Sparse polynomials of each state, the chosen one first.

    Also the record with the best system between its times, and the evaluations that each state cost.
    """
    pools: list[list[Model]] = [[] for _ in record.names]
    spent, found = [0] * len(pools), []
    for degree in degrees(record.names):
        curve, bits = followed(record, degree, rounds), 0.0
        for i, search in enumerate(_searches(curve)):
            models = search.polynomials(degree)
            bits += search.described(models)[0].bits
            pools[i] += models
            spent[i] += search.evaluations
        found.append((bits, degree, curve))
    best = min(found)[2]
    return best, [search.described(pool) for search, pool in zip(_searches(best), pools, strict=True)], spent


def explained(record: Record, models: Sequence[Model]) -> bool:
    """Whether no model leaves more of its state than `EXPLAINED`."""
    return all(m.loss <= (EXPLAINED * s.spread) ** 2 for m, s in zip(models, _searches(record), strict=True))


def right_hand_sides(
    t, states, names: Sequence[str], evaluations: int = 10**9, rounds: int = ROUNDS
) -> list[tuple[list[Model], int]]:
    """For each state its models, the chosen one first, and the evaluations that they cost.

    A record that polynomials do not explain through every state is smoothed.

    Parameters
    ----------
    t : array_like, shape (n,)
        Increasing.
    states : array_like, shape (n, n_states)
    names : of the states
    evaluations : int
        Comparisons of a model with the record, of each state, after which no further function is tried.
    rounds : int
        Most rounds of following a model and fitting it again; with 0 no solution replaces the curve between the times.
    """
    with np.errstate(all="ignore"):
        return _right_hand_sides(t, states, names, evaluations, rounds)


def _right_hand_sides(t, states, names, evaluations, rounds):
    record, pools, spent = polynomials(Record(t, states, names), rounds)
    if not explained(record, [pool[0] for pool in pools]) and record.noise.max() > INTERPOLATED:
        record, pools, more = polynomials(Record(t, states, names, smoothed=True), rounds)
        spent = [a + b for a, b in zip(spent, more, strict=True)]
    searches, library = _searches(record), tabulated(record)
    for i, search in enumerate(searches):
        pools[i] = search.described(pools[i] + search.with_functions(library, evaluations - spent[i]))
    offer = {
        (t.text, k): (t, k) for pool in pools for m in pool[:OFFERED] for t, k in zip(m.terms, m.inner, strict=True)
    }
    for i, search in enumerate(searches):
        pools[i] = search.described(pools[i] + search.offered([pair for pair in offer.values() if pair[0].choice]))
    curve = record.follow([pool[0] for pool in pools]) or record if rounds else record
    searches += _searches(curve)
    if curve is not record:
        for i, search in enumerate(searches[len(names) :]):
            pools[i] = search.described([search.again(model) for model in pools[i][:AGAIN]])
    for i, search in enumerate(searches):
        spent[i % len(names)] += search.evaluations
    return list(zip(steady(record, pools), spent, strict=True))


def steady(record: Record, pools: list[list[Model]]) -> list[list[Model]]:
    """The pools, in front the models of the shortest system whose solutions stay near the record.

    Solutions start at the first state and somewhat nearer to the mean. Where all of `STEADIED` systems run away, the
    order stays.
    """
    first, span = record.curve[0], np.ptp(record.states, axis=0)
    starts = (first, first + NEARER * (record.states.mean(axis=0) - first))
    waiting, seen = [(0.0, (0,) * len(pools))], set()
    for _ in range(STEADIED):
        if not waiting:
            break
        bits, chosen = heapq.heappop(waiting)
        models = [pool[k] for pool, k in zip(pools, chosen, strict=True)]
        system = {name: parse(model.text, record.names) for name, model in zip(record.names, models, strict=True)}
        far = (np.abs(simulate(system, start, record.t) - first) for start in starts)
        if all((away <= GROWN * span).all() for away in far):
            return [[pool[k], *pool[:k], *pool[k + 1 :]] for pool, k in zip(pools, chosen, strict=True)]
        for i, pool in enumerate(pools):
            nearby = (*chosen[:i], chosen[i] + 1, *chosen[i + 1 :])
            if nearby not in seen and nearby[i] < len(pool):
                seen.add(nearby)
                heapq.heappush(waiting, (bits + pool[nearby[i]].bits - pool[chosen[i]].bits, nearby))
    return pools
