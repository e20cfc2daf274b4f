"""Sparse right-hand sides of ordinary differential equations, from a trajectory in integral form.

x(t) = x(t_0) + sum_k c_k int phi_k(x(s)) ds is linear in c and needs no derivative of the data: noise stays what it is
in the states, where differences would divide it by the time step. Terms phi_k come from a library that knows no
problem; constants within them are fitted once a few terms are chosen.
"""

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.integrate import cumulative_simpson
from scipy.interpolate import make_interp_spline, make_smoothing_spline
from scipy.optimize import least_squares

from ..expressions import parse

SUBSTEPS = 4  # of the quadrature in one interval of the record
INTERPOLATED = 1e-4  # residual of the smoothing spline, over the spread, below which the record counts as without noise
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


class Term(NamedTuple):
    """A function of the states with inner constants, written ``{0}``, ``{1}``, ... in its text."""

    text: str
    start: tuple[float, ...] = ()
    nodes: int = 1


@dataclass(frozen=True)
class Model:
    """Terms of one right-hand side with their constants; `loss` is the mean squared distance to the states."""

    terms: tuple[Term, ...]
    inner: tuple[tuple[float, ...], ...]
    coefficients: tuple[float, ...]
    loss: float
    bits: float = np.inf

    @property
    def text(self) -> str:
        parts = []
        for term, inner, c in zip(self.terms, self.inner, self.coefficients, strict=True):
            body = term.text.format(*(f"({k:.12g})" for k in inner))
            parts.append(f"({c:.12g})" if body == "1" else f"({c:.12g})*{body}")
        return " + ".join(parts) or "0"


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
    return single + products + [Term(f"{f.text}*{g.text}", nodes=f.nodes + g.nodes + 1) for f, g in pairs]


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


class Record:
    """A trajectory with its smooth interpolation, on which terms are integrated.

    Parameters
    ----------
    t : ndarray, shape (n,)
        Increasing.
    states : ndarray, shape (n, n_states)
    names : of the states
    """

    def __init__(self, t: np.ndarray, states: np.ndarray, names: Sequence[str]):
        self.t, self.states, self.names = np.asarray(t, float), np.asarray(states, float), list(names)
        self.fine = np.interp(np.arange((len(t) - 1) * SUBSTEPS + 1) / SUBSTEPS, np.arange(len(t)), self.t)
        self.smooth = np.column_stack([self._interpolate(column) for column in self.states.T])
        self.columns = dict(zip(self.names, self.smooth.T, strict=True))

    def _interpolate(self, column: np.ndarray) -> np.ndarray:
        spread = np.ptp(column) or 1.0
        smoothed = make_smoothing_spline(self.t, column / spread)
        if np.sqrt(np.mean((smoothed(self.t) - column / spread) ** 2)) < INTERPOLATED:
            smoothed = make_interp_spline(self.t, column / spread, k=min(5, len(self.t) - 1))
        return spread * smoothed(self.fine)

    def values(self, term: Term, inner: Sequence[float]) -> np.ndarray:
        """Values of a term on the fine times, shape (n_fine,)."""
        expression = parse(term.text.format(*(f"({k!r})" for k in inner)), names=self.names)
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(expression(self.columns), float), self.fine.shape)

    def integral(self, values: np.ndarray) -> np.ndarray:
        """Integrals from the first time to each, shape (n,)."""
        return cumulative_simpson(values, x=self.fine, initial=0.0)[::SUBSTEPS]


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
        self.record, self.terms, self.integrals = record, terms, integrals
        y = record.states[:, state]
        self.y, self.spread = y - y.mean(), float(y.std()) or 1.0
        self.rate = float(np.abs(np.gradient(record.smooth[:, state], record.fine)).max()) or 1.0
        self.evaluations = 0

    def front(self) -> list[Model]:
        """Models, the one of shortest description first."""
        models: list[Model] = []
        degrees = UNIVARIATE if len(self.record.names) == 1 else DEGREES
        for degree in degrees:
            base = monomials(self.record.names, degree)
            models += self.eliminated(base, [()] * len(base))
            joined = [self.joined(base, [], k) for k in self.promising(base, [])]
            joined.sort(key=lambda pair: pair[1])
            for found, _ in joined:
                models += self.eliminated(
                    [*base, *(term for term, _ in found)], [()] * len(base) + [k for _, k in found]
                )
            for found, _ in joined[:SECOND]:
                for second in self.promising(base, found)[: REFINED // 2]:
                    both, _ = self.joined(base, found, second)
                    models += self.eliminated([*base, *(t for t, _ in both)], [()] * len(base) + [k for _, k in both])
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
        centred = self.integrals - self.integrals.mean(axis=0)
        before = np.linalg.norm(centred, axis=0)
        left = centred - Q @ (Q.T @ centred)
        left -= Q @ (Q.T @ left)  # twice is enough
        norms = np.linalg.norm(left, axis=0)
        rest = self.y - Q @ (Q.T @ self.y)
        self.evaluations += len(self.terms)
        with np.errstate(all="ignore"):
            gains = np.where(norms > 1e-7 * before, (rest @ left / norms) ** 2, -1.0)
        chosen: list[int] = []
        families: dict[str, int] = {}
        for k in np.argsort(-gains, kind="stable"):
            text = self.terms[k].text
            if gains[k] > 0 and families.get(text, 0) < 1:  # starts of one form lead to the same constants
                families[text] = families.get(text, 0) + 1
                chosen.append(int(k))
            if len(chosen) == REFINED:
                break
        return chosen

    def joined(self, base: list[Term], found: list[tuple[Term, tuple]], k: int) -> tuple[list, float]:
        """The functions with one more, inner constants fitted beside the whole base, and the residual."""
        terms = [*(term for term, _ in found), self.terms[k]]
        start = np.array([c for _, inner in found for c in inner] + list(self.terms[k].start))
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
            c, off = self._solved(columns)
            models.append(Model(tuple(terms), tuple(inner), tuple(c.tolist()), float(np.mean(off**2))))
            self.evaluations += len(terms)
            loss = self._missed(columns, c)
            k = int(np.argmin(loss))
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
        """Integrals of terms, without their means."""
        values = [self.record.integral(self.record.values(*pair)) for pair in zip(terms, inner, strict=True)]
        columns = np.column_stack(values) if values else np.zeros((len(self.y), 0))
        return columns - columns.mean(axis=0)

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
        structure = NODE_BITS * sum(term.nodes for term in model.terms) + constants * np.log2(len(self.y)) / 2
        return float(rows / 2 * np.log2(model.loss / self.spread**2 + FLOOR**2) + structure)

    def is_sound(self, model: Model) -> bool:
        """Whether its terms do not only cancel each other."""
        sizes = [
            abs(c) * np.ptp(self.record.values(term, inner))
            for term, inner, c in zip(model.terms, model.inner, model.coefficients, strict=True)
        ]
        return np.isfinite(model.loss) and all(size < CANCELLING * self.rate for size in sizes)


def right_hand_sides(t, states, names: Sequence[str]) -> list[tuple[list[Model], int]]:
    """For each state its models, the chosen one first, and the evaluations that they cost.

    Parameters
    ----------
    t : array_like, shape (n,)
        Increasing.
    states : array_like, shape (n, n_states)
    names : of the states
    """
    record = Record(t, states, names)
    kept, integrals = [], []
    for term in functions(names, np.maximum(np.abs(record.states).mean(axis=0), 1e-12).tolist()):
        values = record.values(term, term.start)
        column = record.integral(values) if np.isfinite(values).all() else None
        if column is not None and np.abs(column).max() < 1e12:
            kept.append(term)
            integrals.append(column)
    table = np.column_stack(integrals)
    searches = [Search(record, i, kept, table) for i in range(len(names))]
    return [(search.front(), search.evaluations) for search in searches]
