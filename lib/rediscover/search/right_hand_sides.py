"""Sparse right-hand sides of ordinary differential equations, from a trajectory in integral form.

Terms come from a library that knows no problem: monomials, and functions of one or two states. They are taken away one
by one; constants within functions are fitted once a few terms are chosen; then the system that was found replaces the
curve between the times (`rediscover.search.trajectories`), and its constants are fitted again.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.optimize import least_squares

from .trajectories import Model, Record, Term

ROUNDS = 12  # of following a model and fitting it again
SETTLED = 0.01  # relative change of the residual below which that ends
EXPLAINED = 1e-4  # residual, over the spread, below which a record has neither noise nor functions to be looked for
AGAIN = 12  # models of each state that are fitted again with the best system between the times
NEGLIGIBLE = 1e-4  # size of a term over that of the rate, below which, or below noise over range, it is left out
FEW_STATES = 2  # up to which functions are looked for whatever polynomials explain
INTERPOLATED = 1e-4  # noise, over the range, below which a record is interpolated, above it smoothed
DEGREES = (1, 2, 3)  # of the polynomials that are tried, one after the other
UNIVARIATE = (1, 2, 3, 5)  # of one state
SCALES = (0.25, 0.5, 1.0, 2.0, 4.0)  # of inner constants, over the typical size of what they stand beside
REFINED = 16  # functions beside a polynomial whose inner constants are fitted
SECOND = 4  # of them to which a second function is joined
NODE_BITS = 4.0  # of the description of a node, beside those of constants
FLOOR = 1e-5  # residual, over the spread, below which nothing is learnt: no record is trusted beyond five digits
FEWEST_ROWS = 10.0  # that a record counts for at least, however much its residuals resemble their neighbours
EXACT = 10  # terms, up to which each is left out to see what that costs; of more it is computed from all together
CONDITION = 1e-10  # of singular values, below which columns count as dependent
CANCELLING = 50.0  # size of a term over that of the rate, above which a model only cancels


def degrees(names: Sequence[str]) -> tuple[int, ...]:
    """Of the polynomials that are tried."""
    return UNIVARIATE if len(names) == 1 else DEGREES


def monomials(names: Sequence[str], degree: int) -> list[Term]:
    """All monomials up to a degree, the constant first."""
    terms = [Term("1")]
    for total in range(1, degree + 1):
        for chosen in itertools.combinations_with_replacement(range(len(names)), total):
            powers = [(names[i], chosen.count(i)) for i in dict.fromkeys(chosen)]
            terms.append(Term("*".join(n if p == 1 else f"{n}**{p}" for n, p in powers), nodes=2 * total - 1))
    return terms


def functions(names: Sequence[str], sizes: Sequence[float]) -> list[Term]:
    """Functions of one state or of two, their products with a state, and products of two functions.

    Parameters
    ----------
    names : of the states
    sizes : typical magnitude of each, from which inner constants start
    """
    single = [*_functions(names, sizes)]
    products = [Term(f"{name}*{f.text}", f.start, f.nodes + 2) for f in single for name in names]
    pairs = itertools.combinations(_functions(names, sizes, plain=True), 2)
    every = single + products + [Term(f"{f.text}*{g.text}", nodes=f.nodes + g.nodes + 1) for f, g in pairs]
    return [term._replace(choice=math.log2(len(every))) for term in every]


def _functions(names: Sequence[str], sizes: Sequence[float], plain: bool = False) -> Iterator[Term]:
    """Of one state, and of sums, differences and products of two; `plain`: without inner constants."""
    arguments = [(name, size, 1) for name, size in zip(names, sizes, strict=True)]
    if not plain:
        for (a, s, _), (b, r, _) in itertools.combinations(list(arguments), 2):
            arguments += [(f"({a} - {b})", s + r, 3), (f"({a} + {b})", s + r, 3), (f"({a}*{b})", s * r, 3)]
    for u, _, nodes in arguments:
        for name in ("sin", "cos", "exp", "log", "sqrt", "abs", "tanh"):
            yield Term(f"{name}({u})", nodes=nodes + 1)
        yield Term(f"exp(-{u})", nodes=nodes + 2)
    if plain:
        return
    for u, size, nodes in arguments:
        yield Term(f"(1/{u})", nodes=nodes + 2)
        for scale in SCALES:
            k = scale * size
            yield Term(f"(1/({{0}} + {u}))", (k,), nodes + 3)
            yield Term(f"(1/({{0}} + {u}**2))", (k**2,), nodes + 5)
            yield Term(f"({u}/({{0}} + {u}))", (k,), 2 * nodes + 3)
            yield Term(f"({u}/({{0}} + {u}**2))", (k**2,), 2 * nodes + 5)
            yield Term(f"({u}**2/({{0}} + {u}**2))", (k**2,), 2 * nodes + 7)
            for name in ("sin", "cos", "exp", "tanh"):
                yield Term(f"{name}({{0}}*{u})", (1 / k,), nodes + 2)
            yield Term(f"exp(-{{0}}*{u})", (1 / k,), nodes + 3)


class Search:
    """The right-hand side of one state: polynomials, with no, one or two functions beside them, and terms taken away.

    Parameters
    ----------
    record : Record
    state : int
        Its column.
    terms : list of Term
        The functions.
    integrals : ndarray, shape (n, n_terms)
        Of the functions as they start.
    """

    def __init__(self, record: "Record", state: int, terms: list[Term], integrals: np.ndarray):
        self.record, self.state, self.terms, self.integrals = record, state, terms, integrals
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
        c, off = self._solved(self._columns(terms, inner) if columns is None else columns)
        return Model(tuple(terms), tuple(inner), tuple(c.tolist()), float(np.mean(off**2)))

    def polynomials(self, degree: int) -> list[Model]:
        """That of a degree, and what is left when terms are taken away."""
        base = monomials(self.record.names, degree)
        return self.eliminated(base, [()] * len(base))

    def again(self, model: Model) -> Model:
        """A model with its constants fitted to this record."""
        moving = [(term, inner) for term, inner in zip(model.terms, model.inner, strict=True) if inner]
        fixed = [term for term, inner in zip(model.terms, model.inner, strict=True) if not inner]
        found = self.refined(fixed, [t for t, _ in moving], [c for _, inner in moving for c in inner])[0]
        return self.fit([*fixed, *(t for t, _ in found)], [()] * len(fixed) + [k for _, k in found])

    def with_functions(self, limit: int) -> list[Model]:
        """Polynomials with one or two functions beside them, and what is left when terms are taken away.

        No further one is tried after `limit` evaluations.
        """
        models: list[Model] = []
        for degree in degrees(self.record.names):
            base = monomials(self.record.names, degree)
            joined = [self.joined(base, [], k) for k in self.promising(base, []) if self.evaluations < limit]
            joined.sort(key=lambda pair: pair[1])
            tried = [found for found, _ in joined]
            for found, _ in joined[:SECOND]:
                seconds = self.promising(base, found)[: REFINED // 2]
                tried += [self.joined(base, found, k)[0] for k in seconds if self.evaluations < limit]
            for found in tried:
                inner = [k for _, k in found]
                models += self.eliminated([*base, *(term for term, _ in found)], [()] * len(base) + inner)
        return models

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
        return sorted(best.values(), key=lambda model: model.bits)

    def promising(self, base: list[Term], found: list[tuple[Term, tuple]]) -> list[int]:
        """The functions that explain most of what the base and those found leave."""
        terms, inner = [*base, *(t for t, _ in found)], [()] * len(base) + [k for _, k in found]
        columns = self._columns(terms, inner)
        u, sizes, _ = np.linalg.svd(columns, full_matrices=False)
        Q = u[:, sizes > CONDITION * sizes[0]]
        centred = self.centred(self.integrals)
        before = np.linalg.norm(centred, axis=0)
        left = centred - Q @ (Q.T @ centred)
        left -= Q @ (Q.T @ left)  # twice is enough
        norms = np.linalg.norm(left, axis=0)
        rest = self.y - Q @ (Q.T @ self.y)
        self.evaluations += len(self.terms)
        with np.errstate(all="ignore"):
            gains = np.where(norms > 1e-7 * before, (rest @ left / norms) ** 2, -1.0)
        chosen: dict[str, int] = {}  # starts of one form lead to the same constants
        for k in np.argsort(-gains, kind="stable"):
            if gains[k] > 0 and len(chosen) < REFINED:
                chosen.setdefault(self.terms[k].text, int(k))
        return list(chosen.values())

    def joined(self, base: list[Term], found: list[tuple[Term, tuple]], k: int) -> tuple[list, float]:
        """The functions with one more, inner constants fitted beside the whole base, and the residual."""
        terms = [*(term for term, _ in found), self.terms[k]]
        return self.refined(base, terms, [c for _, inner in found for c in inner] + list(self.terms[k].start))

    def refined(self, base: list[Term], terms: list[Term], constants: Sequence[float]) -> tuple[list, float]:
        """Terms with their inner constants fitted from those given, beside a base, and the residual."""
        start = np.array(constants, float)
        fixed = self._columns(base, [()] * len(base))

        def residuals(scaled: np.ndarray) -> np.ndarray:
            self.evaluations += 1
            moving = self._columns(terms, self._split(terms, scaled * unit))
            off = self._solved(np.column_stack([fixed, moving]))[1] / self.spread
            return np.where(np.isfinite(off), off, 1e3)

        unit = np.where(start != 0, np.abs(start), 1.0)
        if len(start):
            start = least_squares(residuals, start / unit, max_nfev=30).x * unit
        off = residuals(start / unit)
        return list(zip(terms, self._split(terms, start), strict=True)), float(off @ off)

    def eliminated(self, terms: Sequence[Term], inner: Sequence[tuple]) -> list[Model]:
        """Models of falling size: each time the term goes that the residual misses least."""
        terms, inner = list(terms), list(inner)
        columns = self._columns(terms, inner)
        models = []
        while terms:
            models.append(self.fit(terms, inner, columns))
            self.evaluations += len(terms)
            k = int(np.argmin(self._missed(columns, np.array(models[-1].coefficients))))
            del terms[k], inner[k]
            columns = np.delete(columns, k, axis=1)
        models.append(Model((), (), (), float(np.mean(self.y**2))))
        return models

    def _missed(self, columns: np.ndarray, c: np.ndarray) -> np.ndarray:
        """What the squared residual gains by leaving out each column."""
        if columns.shape[1] <= EXACT:
            rests = (self._solved(np.delete(columns, k, axis=1))[1] for k in range(columns.shape[1]))
            return np.array([rest @ rest for rest in rests])
        norms = np.linalg.norm(columns, axis=0)
        norms[norms == 0] = 1.0
        _, sizes, vt = np.linalg.svd(columns / norms, full_matrices=False)
        kept = sizes > CONDITION * sizes[0]
        inverse = ((vt[kept] / sizes[kept, None]) ** 2).sum(axis=0)  # the diagonal of the inverse of the Gram matrix
        return (c * norms) ** 2 / np.where(inverse > 0, inverse, np.inf)

    @staticmethod
    def _split(terms: Sequence[Term], constants: np.ndarray) -> list[tuple[float, ...]]:
        left = iter(constants.tolist())
        return [tuple(itertools.islice(left, len(term.start))) for term in terms]

    def _columns(self, terms, inner) -> np.ndarray:
        """Integrals of terms."""
        values = [self.record.integral(self.record.values(*pair)) for pair in zip(terms, inner, strict=True)]
        columns = np.column_stack(values) if values else np.zeros((len(self.y), 0))
        return self.centred(columns)

    def _solved(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and residuals."""
        if not np.isfinite(columns).all():
            return np.zeros(columns.shape[1]), np.full(len(self.y), np.inf)
        norms = np.linalg.norm(columns, axis=0)
        norms[norms == 0] = 1.0
        c = np.linalg.lstsq(columns / norms, self.y, rcond=CONDITION)[0] / norms
        return c, self.y - columns @ c

    def rows(self, best: Model) -> float:
        """How many rows tell something new: n (1 - r) / (1 + r), with the correlation r of neighbours among residuals.

        What no model explains is noise, which has r = 0, or the smooth error of record and quadrature, r near 1.
        """
        off = self._solved(self._columns(best.terms, best.inner))[1]
        r = float(np.clip(np.corrcoef(off[:-1], off[1:])[0, 1], 0.0, 1.0)) if off.any() else 1.0
        return max(len(off) * (1 - r) / (1 + r), FEWEST_ROWS)

    def bits(self, model: Model, rows: float) -> float:
        """Length of the description of residuals, terms and constants."""
        constants = sum(1 + len(inner) for inner in model.inner)
        structure = (
            sum(NODE_BITS * term.nodes + term.choice for term in model.terms) + constants * np.log2(len(self.y)) / 2
        )
        return float(rows / 2 * np.log2(model.loss / self.spread**2 + FLOOR**2) + structure)

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


def followed(record: Record, degree: int) -> Record:
    """The record with a polynomial system between its times, fitted to it until both agree."""
    terms, last = monomials(record.names, degree), np.inf
    for _ in range(ROUNDS):
        searches = _searches(record)
        system = [search.fit(terms, [()] * len(terms)) for search in searches]
        worst = max(np.sqrt(model.loss) / search.spread for model, search in zip(system, searches, strict=True))
        new = record.follow(system) if worst < (1 - SETTLED) * last else None
        if new is None:
            break
        record, last = new, worst
    return record


def _searches(record: Record, terms: Sequence[Term] = (), integrals: np.ndarray | None = None) -> list[Search]:
    table = np.zeros((len(record.t), 0)) if integrals is None else integrals
    return [Search(record, i, list(terms), table) for i in range(len(record.names))]


def polynomials(record: Record) -> tuple[Record, list[list[Model]], list[int]]:
    """Sparse polynomials of each state, the chosen one first.

    Also the record with the best system between its times, and the evaluations that each state cost.
    """
    pools: list[list[Model]] = [[] for _ in record.names]
    spent, found = [0] * len(pools), []
    for degree in degrees(record.names):
        curve, bits = followed(record, degree), 0.0
        for i, search in enumerate(_searches(curve)):
            models = search.polynomials(degree)
            bits += search.described(models)[0].bits
            pools[i] += models
            spent[i] += search.evaluations
        found.append((bits, degree, curve))
    best = min(found)[2]
    return best, [search.described(pool) for search, pool in zip(_searches(best), pools, strict=True)], spent


def explained(record: Record, models: Sequence[Model]) -> list[bool]:
    """Whether each model leaves no more of its state than `EXPLAINED`."""
    return [bool(m.loss <= (EXPLAINED * s.spread) ** 2) for m, s in zip(models, _searches(record), strict=True)]


def right_hand_sides(t, states, names: Sequence[str], evaluations: int = 10**9) -> list[tuple[list[Model], int]]:
    """For each state its models, the chosen one first, and the evaluations that they cost.

    A record that polynomials do not explain through every state is smoothed.

    Parameters
    ----------
    t : array_like, shape (n,)
        Increasing.
    states : array_like, shape (n, n_states)
    names : of the states
    evaluations : int
        Fits of a right-hand side, of each state, after which no further function is tried.
    """
    with np.errstate(all="ignore"):
        return _right_hand_sides(t, states, names, evaluations)


def _right_hand_sides(t, states, names, evaluations):
    record, pools, spent = polynomials(Record(t, states, names))
    done = explained(record, [pool[0] for pool in pools])
    if not all(done) and record.noise.max() > INTERPOLATED:
        record, pools, more = polynomials(Record(t, states, names, smoothed=True))
        done, spent = [False] * len(names), [a + b for a, b in zip(spent, more, strict=True)]
    searches = _searches(record, *tabulated(record))
    for i, search in enumerate(searches):
        if not done[i] or len(names) <= FEW_STATES:
            pools[i] = search.described(pools[i] + search.with_functions(evaluations - spent[i]))
    searches += _searches(curve := record.follow([pool[0] for pool in pools]) or record)
    if curve is not record:
        for i, search in enumerate(searches[len(names) :]):
            pools[i] = search.described([search.again(model) for model in pools[i][:AGAIN]])
    for i, search in enumerate(searches):
        spent[i % len(names)] += search.evaluations
    return list(zip(pools, spent, strict=True))


def tabulated(record: Record) -> tuple[list[Term], np.ndarray]:
    """The functions that are finite on a record, and their integrals, shape (n, n_terms)."""
    kept, integrals = [], []
    for term in functions(record.names, np.maximum(np.abs(record.states).mean(axis=0), 1e-12).tolist()):
        values = record.values(term, term.start)
        if "abs" in term.text:  # of one sign, it is its argument
            plain = record.values(term._replace(text=term.text.replace("abs", "")), term.start)
            if np.ptp(np.sign(plain * values)) == 0:
                continue
        column = record.integral(values) if np.isfinite(values).all() else np.full(len(record.t), np.inf)
        if np.abs(column).max() < 1e12:
            kept.append(term)
            integrals.append(column)
    return kept, np.column_stack(integrals)
