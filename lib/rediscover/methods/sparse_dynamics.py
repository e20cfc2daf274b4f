"""What the linear methods of MDBench share: libraries of terms, and selection among all settings of a grid.

A grid search asks for the same sums over and over. Here every library is a set of columns of one big library, whose
rows are compressed once (`rediscover.search.trajectories.sparse_regression`).
"""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..metrics.dynamics import fitness, linear_size, term_size
from ..numerics.differences import derivative, rates
from ..problems import Evolving, Field, Problem, Trajectories, generator
from ..search.trajectories.sparse_regression import Equations, Rows
from . import Budget, Candidate, Method, Unsupported

THRESHOLDS = tuple(np.logspace(-7, 0, 16).tolist())
PRINTED = 1e-10  # coefficients below are left out of the equations, as in the released code
CHUNK = 20_000  # rows held at a time


# Libraries


class Term(NamedTuple):
    """One library term: a function of the states times a space derivative of one state; either may be absent.

    Attributes
    ----------
    function : powers of the states, as ((state index, exponent), ...); () for none
    wave : 'sin', 'cos' or 'exp' of the one state in `function`, or ''
    state : index of the differentiated state, or -1
    orders : order of the derivative along each axis, () for none
    """

    function: tuple[tuple[int, int], ...] = ()
    wave: str = ""
    state: int = -1
    orders: tuple[int, ...] = ()

    @property
    def degree(self) -> int:
        return 0 if self.wave else sum(power for _, power in self.function)

    @property
    def order(self) -> int:
        return sum(self.orders)

    def text(self, states: Sequence[str], axes: Sequence[str]) -> str:
        factors = []
        for i, power in self.function:
            if self.wave:
                factors.append(f"{self.wave}({states[i]})")
            else:
                factors.append(states[i] if power == 1 else f"{states[i]}**{power}")
        if self.orders:
            directions = "".join(axis * order for axis, order in zip(axes, self.orders, strict=False))
            factors.append(f"{states[self.state]}_{directions}")
        return "*".join(factors) or "1"


def library(n_states: int, n_axes: int, degree: int, order: int, waves=("sin", "cos"), cross: bool = False):
    """All terms up to a degree and a derivative order: constant, functions, derivatives, products of both.

    Without `cross`, functions have one state each, as in the published libraries: no products of different states.
    """
    if cross:
        powers = itertools.product(range(degree + 1), repeat=n_states)
        functions = [
            Term(function=tuple((i, p) for i, p in enumerate(exponents) if p))
            for exponents in sorted(powers, key=lambda e: (sum(e), [-p for p in e]))
            if 0 < sum(exponents) <= degree
        ]
    else:
        functions = [Term(function=((i, p),)) for p in range(1, degree + 1) for i in range(n_states)]
    functions += [Term(function=((i, 1),), wave=wave) for wave in waves for i in range(n_states)]
    multi = [m for m in itertools.product(range(order + 1), repeat=n_axes) if 0 < sum(m) <= order]
    derivatives = [Term(state=i, orders=m) for m in multi for i in range(n_states)]
    products = [d._replace(function=f.function, wave=f.wave) for d in derivatives for f in functions]
    return [Term(), *functions, *derivatives, *products]


@dataclass(frozen=True, eq=False)
class Sampled:
    """States on a grid of space and time with what differentiates them."""

    u: np.ndarray  # (n_x, ..., n_t, d)
    axes: tuple[np.ndarray, ...]
    t: np.ndarray
    target: np.ndarray  # differences in time, shape of u

    def function(self, term: Term, u: np.ndarray | None = None) -> np.ndarray:
        u = self.u if u is None else u
        value = np.ones(u.shape[:-1])
        for i, power in term.function:
            value = value * (getattr(np, term.wave)(u[..., i]) if term.wave else u[..., i] ** power)
        return value

    def differentiate(self, value: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
        for axis, order in enumerate(orders):
            if order:
                step = float(self.axes[axis][1] - self.axes[axis][0])
                value = derivative(value, step, order, axis, "shared")
        return value

    @property
    def order(self) -> int:
        """Highest derivative order that every axis has points for."""
        return min([Field.max_order, *(len(axis) - 2 for axis in self.axes)])

    def rows(self, terms: list[Term], times: slice) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Library and target of a block of times, a chunk of rows at a time."""
        n = max(self.u[..., times, 0].size // max(len(self.u), 1), 1)
        thick = max(CHUNK // n, 1)
        derived = {(term.state, term.orders) for term in terms if term.orders}
        bases = {(i, m): self.differentiate(self.u[..., i], m)[..., times] for i, m in derived}
        u = self.u[..., times, :]
        # Space is cut along its first axis; a trajectory has only time.
        cuts = [slice(i, i + thick) for i in range(0, len(u), thick)] if self.axes else [slice(None)]
        for cut in cuts:
            functions: dict[Any, np.ndarray] = {}
            columns = []
            for term in terms:
                key = (term.function, term.wave)
                if key not in functions:
                    functions[key] = self.function(Term(*key), u[cut])
                value = functions[key]
                columns.append(value * bases[term.state, term.orders][cut] if term.orders else value)
            target = self.target[..., times, :][cut]
            yield np.stack(columns, axis=-1).reshape(-1, len(terms)), target.reshape(-1, target.shape[-1])


def sample(problem: Problem, seed: int) -> Sampled:
    """A problem's (noisy) states and their differences in time."""
    if isinstance(problem, Trajectories):
        t, u, _ = problem.trajectory(seed)
        axes: tuple[np.ndarray, ...] = ()
    elif isinstance(problem, Field):
        named, t, u, _ = problem.samples(seed)
        axes = tuple(named.values())
    else:
        raise Unsupported(f"needs trajectories or a field, not a {problem.kind}")
    return Sampled(u, axes, t, rates(u, t))


# Selection


class Scored(NamedTuple):
    """One setting tried: how well it does on the validation block."""

    complexity: int
    nmse: float
    setting: Mapping[str, Any]


class Selection:
    """Validation scores of coefficient vectors, each distinct one computed once."""

    def __init__(self, validation: Rows, terms: list[Term]) -> None:
        self.validation = validation
        self.sizes = np.array([term_size(term.text([f"u{i}" for i in range(9)], "xyz")) for term in terms])
        self.scale = validation.power() + 1e-10
        self._known: dict[bytes, tuple[int, float] | None] = {}

    def score(self, equations: Equations) -> tuple[int, float] | None:
        """Complexity and NMSE of one (support, coefficients) per state; None where a right-hand side is empty.

        An empty right-hand side cannot be printed and read back: the released code drops such a candidate.
        """
        key = b"|".join(part.tobytes() for pair in equations for part in pair)
        if key not in self._known:
            self._known[key] = self._score(equations)
        return self._known[key]

    def _score(self, equations: Equations) -> tuple[int, float] | None:
        complexity, error = 0, 0.0
        for target, (support, w) in enumerate(equations):
            sizes = self.sizes[support[np.abs(w) > PRINTED]]
            if not len(sizes):
                return None
            complexity += int(sizes.sum()) + (len(sizes) > 1)
            error += self.validation.squared_error(target, support, w)
        return complexity, error / self.scale

    @staticmethod
    def best(tried: Iterable[Scored]) -> Scored:
        """The setting of highest fitness, eq. (2); among equals the first of lowest complexity and error.

        Raises
        ------
        Unsupported
            If no setting gave an equation for every state.
        """
        tried = [one for one in tried if np.isfinite(one.nmse)]
        if not tried:
            raise Unsupported("no setting gave a right-hand side for every state")
        return max(
            sorted(tried, key=lambda one: (one.complexity, one.nmse)), key=lambda one: fitness(one.nmse, one.complexity)
        )


def as_text(coefficients: Mapping[str, float]) -> str:
    """A right-hand side to full precision.

    Examples
    --------
    >>> as_text({"1": 0.21, "sin(x0)": -1.0})
    '0.21 - 1.0*sin(x0)'
    """
    parts = [repr(c) if term == "1" else f"{c!r}*{term}" for term, c in coefficients.items()]
    return " + ".join(parts).replace("+ -", "- ") or "0.0"


def coefficients(text: str) -> dict[str, float]:
    """The coefficients of a right-hand side that `as_text` wrote.

    Examples
    --------
    >>> coefficients("0.21 - 1e-05*sin(x0)"), coefficients("0.0")
    ({'1': 0.21, 'sin(x0)': -1e-05}, {'1': 0.0})
    """
    parts = [part.partition("*") for part in text.replace(" - ", " + -").split(" + ")]
    return {term or "1": float(c) for c, _, term in parts}


@dataclass(eq=False)
class Prepared:
    """One problem, ready for a grid search: the library, its rows, and smaller libraries as columns of it."""

    data: Sampled
    terms: list[Term]
    libraries: list[tuple[dict[str, Any], np.ndarray]]
    cuts: dict[str, slice]
    n_targets: int

    @cached_property
    def _segments(self) -> dict[tuple[int, int], Rows]:
        cuts = [self.cuts[name] for name in ("train", "validation", "refit")]
        edges = sorted({end for cut in cuts for end in (cut.start, cut.stop)})
        return {(a, b): Rows.compress(self.data.rows(self.terms, slice(a, b))) for a, b in itertools.pairwise(edges)}

    def rows(self, name: str) -> Rows:
        """The library on one block, compressed; each time is reduced once, whatever blocks it is in."""
        cut = self.cuts[name]
        inside = [rows for (a, b), rows in self._segments.items() if cut.start <= a and b <= cut.stop]
        joined = Rows.compress((part.X, part.Y) for part in inside)
        joined.n = sum(part.n for part in inside)
        return joined

    def every_row(self, name: str) -> Rows:
        """The same without compression, for drawing rows."""
        parts = list(self.data.rows(self.terms, self.cuts[name]))
        X, Y = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return Rows(X, Y, len(X))

    def usable(self, rows: Rows) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
        """Libraries whose columns are all finite on these rows; the released code drops the others too."""
        finite = np.isfinite(rows.X).all(axis=0)
        for setting, columns in self.libraries:
            if finite[columns].all():
                yield setting, columns

    def columns(self, setting: Mapping[str, Any]) -> np.ndarray:
        return next(columns for own, columns in self.libraries if own.items() <= setting.items())


@dataclass(frozen=True)
class SparseRegression(Method):
    """Base of the linear methods: try all settings on the training block, choose on validation, fit again.

    Attributes
    ----------
    degrees : highest powers of the states
    families : functions beside the powers, per library
    orders : highest derivative orders, for fields
    thresholds : below which coefficients are set to zero
    max_iter : of the thresholding
    max_columns : larger libraries are left out of the grid, and counted in the notes
    """

    reference: ClassVar[str] = ""
    accepts: ClassVar[tuple[type, ...]] = (Trajectories, Field)
    cross: ClassVar[bool] = False
    draws_of: ClassVar[str] = ""  # the method whose draws are made, by default its own

    degrees: tuple[int, ...] = (1, 2, 3, 4)
    families: tuple[tuple[str, ...], ...] = ((), ("sin", "cos"))
    orders: tuple[int, ...] = (1, 2, 3, 4)
    thresholds: tuple[float, ...] = THRESHOLDS
    max_iter: int = 200
    max_columns: int = 1000

    def __post_init__(self) -> None:
        for f in dataclasses.fields(self):  # parameter files have lists
            object.__setattr__(self, f.name, _tuples(getattr(self, f.name)))

    def search(self, p: Prepared, rng: np.random.Generator) -> Iterator[tuple[dict[str, Any], Equations]]:
        """Every setting with its equations on the training block."""
        raise NotImplementedError

    def refit(self, p: Prepared, setting: Mapping[str, Any], rng: np.random.Generator) -> Equations:
        """The equations of one setting on training and validation blocks together."""
        raise NotImplementedError

    def choose(self, p: Prepared, tried: list[Scored]) -> Scored:
        """The setting that is fitted again."""
        return Selection.best(tried)

    def prepare(self, problem: Evolving, seed: int) -> Prepared:
        data = sample(problem, seed)
        n_states, n_axes = data.u.shape[-1], len(data.axes)
        orders = [o for o in self.orders if o <= data.order] if n_axes else [0]
        waves = tuple(dict.fromkeys(itertools.chain(*self.families)))
        grid = list(itertools.product(self.families, orders, self.degrees))
        sizes = {
            (family, order, degree): len(library(n_states, n_axes, degree, order, family, self.cross))
            for family, order, degree in grid
        }
        kept = [key for key in grid if sizes[key] <= self.max_columns]
        if not kept:
            raise Unsupported(f"{self.name}: every library has more than {self.max_columns} terms")
        terms = [
            term
            for term in library(n_states, n_axes, max(self.degrees), max(orders), waves, self.cross)
            if any(_inside(term, *key) for key in kept)
        ]
        libraries = [
            (
                {"family": list(family), "order": order, "degree": degree},
                np.flatnonzero([_inside(term, family, order, degree) for term in terms]),
            )
            for family, order, degree in kept
        ]
        return Prepared(data, terms, libraries, problem.time_blocks(len(data.t)), n_states)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        """The equations of highest fitness, refitted; the whole grid counts as evaluations.

        Raises
        ------
        Unsupported
            If the problem is neither trajectories nor a field, or no setting gives an equation for every
            state.
        """
        rng = generator(seed, problem.id, self.draws_of or self.name)
        p = self.prepare(problem, seed)
        selection = Selection(p.rows("validation"), p.terms)
        tried, n_tried = [], 0
        for setting, equations in self.search(p, rng):
            n_tried += 1
            if score := selection.score(equations):
                tried.append(Scored(*score, setting))
        chosen = self.choose(p, tried)
        axes = tuple(problem.samples(seed)[0]) if isinstance(problem, Field) else ()
        texts = [term.text(problem.outputs, axes) for term in p.terms]
        found = [
            {texts[j]: float(c) for j, c in zip(support, w, strict=True) if abs(c) > PRINTED}
            for support, w in self.refit(p, chosen.setting, rng)
        ]
        return [
            Candidate(
                solution={state: as_text(terms) for state, terms in zip(problem.outputs, found, strict=True)},
                loss=float(chosen.nmse),
                complexity=sum(map(linear_size, found)),
                evaluations=n_tried,
                notes={"setting": dict(chosen.setting), "usable": len(tried)},
            )
        ]


def as_grid(method: Method, *names: str) -> None:
    """Make settings of a frozen method tuples, from a value, or a list as in parameter files.

    Raises
    ------
    ValueError
        If one has no values, or the same twice.
    """
    for name in names:
        given = getattr(method, name)
        values = tuple(given) if isinstance(given, list | tuple) else (given,)
        if not values or len(set(values)) < len(values):
            raise ValueError(f"{method.name}: {name} must be different values and at least one, got {given!r}")
        object.__setattr__(method, name, values)


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def _inside(term: Term, family, order: int, degree: int) -> bool:
    return term.degree <= degree and term.order <= order and (not term.wave or term.wave in family)
