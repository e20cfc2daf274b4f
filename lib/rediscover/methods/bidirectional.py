"""Bidirectional enumeration: small expressions from below, the target undone from above."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..expressions import Expression, parse
from ..problems import Field, InitialValueProblem, LevelSet, Problem, Split, Task, Trajectories, generator
from ..search.enumeration.formula import Found, is_exact
from ..search.enumeration.level_sets import null_combination
from ..search.enumeration.regression import CONFIRMED, regress
from ..search.enumeration.related_constants import related_bits
from ..search.enumeration.short_constants import NODE_BITS, ROUNDING, Bits, constants_bits, description
from ..search.trajectories.right_hand_sides import ROUNDS, right_hand_sides
from ..search.trajectories.sparse_regression import Rows
from ..search.trajectories.subsets import combinations, eliminations, solved
from . import Budget, Candidate, Unsupported, added, join
from .sparse_dynamics import Sampled, Term, as_text, library, sample
from .tables import Tabular, complete_rows
from .wsindy import WeakForm

HELD_OUT = 0.2  # share of the training rows on which candidates are compared where the study has no such rows
MOST_HELD_OUT = 500
RANKED_ROWS = 20_000  # of more, the front is made of this many first and ordered by all rows then
FRONT = 10  # models of each state that are kept
PARTS = ("pieces", "laws", "functions beside monomials", "following")
ALSO = ("laws with noise",)  # parts that came after the method was frozen
BOXES = 200  # integrals against bumps
RESOLVED = 0.01  # residual, over the time derivative, below which nothing is learnt from a field on a grid


@dataclass(frozen=True)
class Bidirectional(Tabular):
    """Expressions enumerated in order of cost meet the target with operators undone; then sparse pursuit.

    For each function T that can be undone on the target y, each o of + - * / and all enumerated features g and h the
    search asks whether T(y) o g = a h + b for some numbers a and b: two small halves give one expression of twice
    their size. As a sketch::

        pool = features of the inputs in order of cost, each value once
        index = {key(h): h for h in pool}           # six rows, made free of a and b
        for T in functions that are one-to-one on y:
            for g in pool and o in + - * /:
                h = index.get(key(T(y) o g))
                if T(y) o g is a line in h on all rows: the expression with T and o undone is exact
        for T in identity, inverse, exp, log:
            sparse least squares of T(y) on features, one term after the other
        exact expressions first, the shortest before others; else by description length

    Stages, each until an exact expression is found: one monomial; polynomials behind an undone function; one
    enumerated feature beside a polynomial; pursuit over a small library; sums of monomials and monomials times
    functions of monomials; quotients of polynomials; lookup of ``T(y) o g = a*h + b`` among all pairs of features;
    pursuit over a large library, on the target, its inverse, exponential and logarithm; pieces; forms of laws (a
    monomial behind a power less or plus 1, times a power of a polynomial, times one function of a monomial at every
    scale; sums and quotients with cos(u) and sin(u) as inputs). For a target with noise, last of all: features, their
    pairs and products by what they explain of it, which grow by terms and factors; then short numbers for the
    constants of the best finds of all stages. For a level set, combinations of features that vanish on the cloud and
    not off it. For a trajectory, sparse right-hand sides in integral form
    (`rediscover.search.trajectories.right_hand_sides`), without a derivative of the data. For a field, the best
    combinations of products of states and one derivative, in weak form.

    What was chosen after truths or scores had been read: pieces (after failures on explicit surfaces), one list of
    features for level sets (implicit surfaces of SurfaceBench), the forms of laws (SRSD), following the solution
    (ordinary equations), pieces and quotients for targets with noise. Each can be left out (``without``), but the last.
    The stage for targets with noise was set up on public suites; as frozen then it recovered 3 of SurfaceBench's 13
    surfaces with 1 % noise.

    An evaluation is one comparison with the target: of a feature, of a combination that is looked up, or of a
    model with other inner constants. At 150 million of them no stage is cut off and the pool holds a million
    features; that takes 40 seconds of one core where nothing exact is found. Nothing depends on the clock, and
    on chance only which rows are held out.

    Candidates that hold on all rows to rounding come first, the shortest before the others (``notes["exact"]``).
    Without one, the front of error against size is ordered by the description length on all rows, n/2 log2(error)
    plus bits of nodes and constants (`rediscover.search.enumeration.short_constants`); a fifth of the rows, or the
    study's validation rows where there are any, was not searched on.

    Attributes
    ----------
    without : parts that are left out, of those chosen after truths or scores had been read: ``pieces``, the stages of
        formulas in pieces; ``laws``, the forms of laws; ``functions beside monomials``, the list of that name in the
        libraries of level sets; ``following``, the solution of a model in place of the curve through a trajectory.
    also : parts that came after the method was frozen (docs/outside.md): ``laws with noise``, a stage for monomials
        times features and for sums of monomials, and constants that are multiples of one another.

    References
    ----------
    Horowitz, Sahni (1974), Computing partitions, J. ACM 21: meeting in the middle. Albarghouthi, Gulwani, Kincaid
    (2013), Recursive program synthesis, CAV: enumeration in order of cost, each value once. Pati, Rezaiifar,
    Krishnaprasad (1993), Orthogonal matching pursuit, Asilomar. Rissanen (1978), Modeling by shortest data
    description, Automatica 14.
    """

    without: tuple[str, ...] = added(())
    also: tuple[str, ...] = added(())

    name: ClassVar[str] = "bidirectional"
    reference: ClassVar[str] = "enumeration of expressions, met by the inverted target; own method"
    searches: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for option, parts, what in (("without", PARTS, "left out"), ("also", ALSO, "added")):
            object.__setattr__(self, option, tuple(getattr(self, option)))  # parameter files have lists
            if unknown := [part for part in getattr(self, option) if part not in parts]:
                raise TypeError(f"{self.name}: no part {unknown[0]!r} can be {what} (parts: {', '.join(parts)})")

    def fit(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        # the base class would order the front by the validation error alone, which tells exact ones apart by rounding
        if task.validation is not None:
            table, _ = complete_rows(Task(task.inputs, task.output, *task.validation))
            return super().fit(_with_validation(task, Split(table.X, table.y)), budget=budget, rng=rng)
        return super().fit(task, budget=budget, rng=rng)

    def search(self, task, *, budget, rng):
        X, y, held_out = task.X, task.y, getattr(task, "held_out", None)
        if held_out is None:
            order = rng.permutation(len(y))
            count = min(int(HELD_OUT * len(y)), MOST_HELD_OUT)
            rest, kept = np.sort(order[:count]), np.sort(order[count:])
            held_out = Split(X[rest], y[rest]) if count >= 5 and np.ptp(y[kept]) > 0 else Split(X, y)
            X, y = (X[kept], y[kept]) if np.ptp(y[kept]) > 0 else (X, y)
        result = regress(X, y, task.inputs, int(budget.evaluations), held_out, self.without, self.also)
        bits = related_bits if "laws with noise" in self.also else constants_bits
        front = ranked(result.finds, task.inputs, X, y, held_out, bits)
        if not front:  # too few rows or evaluations for a form with inputs
            every = np.concatenate([y, held_out.y])
            loss = {"loss": float(np.var(y)), "complexity": 1, "evaluations": result.used}
            return [Candidate({task.output: repr(float(every.mean()))}, **loss, notes={"stage": "constant"})]
        return [
            Candidate(
                {task.output: str(find.expression)},
                loss=find.error,
                complexity=find.size,
                evaluations=result.used,
                notes={"exact": find.exact, "stage": find.stage},
            )
            for find in front
        ]

    def answer(self, problem: Problem, budget: Budget, seed: int) -> list[Candidate]:
        if isinstance(problem, LevelSet):
            return self.level_sets(problem, budget, seed)
        if isinstance(problem, Trajectories):
            return self.equations(problem, budget, seed)
        if isinstance(problem, Field):
            return self.field_equations(problem, seed)
        return super().answer(problem, budget, seed)

    def level_sets(self, problem: LevelSet, budget: Budget, seed: int) -> list[Candidate]:
        """Combinations of features that vanish on the cloud."""
        points = np.asarray(problem.split("train", seed).X, float)
        points = points[np.isfinite(points).all(axis=1)]
        added = "functions beside monomials" not in self.without
        nulls = null_combination(points, problem.inputs, int(budget.evaluations), added=added)
        return [
            Candidate(
                {"F": str(null.expression)},
                loss=null.distance**2,
                complexity=null.expression.size,
                evaluations=null.evaluations,
                notes={"exact": null.exact, "stage": "level set"},
            )
            for null in nulls
        ]

    def equations(self, problem: Trajectories, budget: Budget, seed: int) -> list[Candidate]:
        """Right-hand sides in integral form; the i-th best of each state go together."""
        t, states, _ = problem.trajectory(seed)
        whole = isinstance(problem, InitialValueProblem)
        rows = slice(None) if whole else problem.time_blocks(len(t))[problem.fitted]
        most, rounds = int(budget.evaluations) // len(problem.outputs), 0 if "following" in self.without else ROUNDS
        fronts = right_hand_sides(t[rows], states[rows], problem.inputs, most, rounds)
        parts = [
            [
                Candidate(
                    {name: model.text},
                    loss=float(f"{model.loss:.6g}"),  # its other digits follow the rounding of floats
                    complexity=parse(model.text).size,
                    evaluations=evaluations,
                    notes={"stage": "integral"},
                )
                for model in models[:FRONT]
            ]
            for name, (models, evaluations) in zip(problem.outputs, fronts, strict=True)
        ]
        return join(parts)

    def field_equations(self, problem: Field, seed: int) -> list[Candidate]:
        """Sparse sums of products of states and one derivative, each integrated against `BOXES` bumps.

        Where an axis has too few points for a bump, differences at all points. An evaluation is a combination.
        """
        data = sample(problem, seed)
        cut = problem.time_blocks(len(data.t))["refit"]
        data = Sampled(data.u[..., cut, :], data.axes, data.t[cut], data.target[..., cut, :])
        terms, axes = field_terms(data), tuple(problem.samples(seed)[0])
        try:
            rows = WeakForm((*data.axes, data.t), BOXES, generator(seed, problem.id, self.name)).rows(data, terms)
        except Unsupported:
            rows = Rows.compress(data.rows(terms, slice(0, len(data.t))))
        texts = [term.text(problem.outputs, axes) for term in terms]
        finite = np.flatnonzero(np.isfinite(rows.X).all(axis=0))
        parts = []
        for name, y in zip(problem.outputs, rows.Y.T, strict=True):
            supports, tried = combinations(rows.X[:, finite], y)
            supports += eliminations(rows.X[:, finite], y)
            found = {}
            for support in (finite[support] for support in supports):
                c, off = solved(rows.X[:, support], y)
                loss = float(off @ off / (y @ y or 1.0))
                nodes = sum(2 * terms[k].degree + 2 * bool(terms[k].orders) + terms[k].order for k in support)
                bits = BOXES / 2 * np.log2(loss + RESOLVED**2) + NODE_BITS * nodes + len(support) * np.log2(BOXES) / 2
                text = as_text({texts[k]: float(f"{v:.10g}") for k, v in zip(support, c, strict=True)})
                found[tuple(support)] = (round(bits, 3), float(f"{loss:.6g}"), text)
            parts.append(
                [
                    Candidate({name: text}, loss, parse(text).size, tried + len(supports), {"stage": "weak form"})
                    for _, loss, text in sorted(found.values())[:FRONT]
                ]
            )
        return join(parts)


def field_terms(data: Sampled) -> list[Term]:
    """All products of powers and one derivative, of a degree and an order that keep them to some 150."""
    n_states, n_axes = data.u.shape[-1], len(data.axes)
    degree, order = (3 if n_states <= 2 else 2), min(4 if n_axes == 1 else 2, data.order)
    return library(n_states, n_axes, degree, order, waves=(), cross=True)


@dataclass(frozen=True, eq=False)
class Held(Task):
    """A task whose validation rows are for the method alone."""

    held_out: Split | None = None


def _with_validation(task: Task, held_out: Split) -> Held:
    return Held(task.inputs, task.output, task.X, task.y, None, held_out)


def ranked(finds: list[Found], names, X, y, held_out: Split, bits_of: Bits = constants_bits) -> list[Found]:
    """The front of finds, the chosen one first: exact ones by size, without one all by their description length.

    Parameters
    ----------
    finds : list of Found
    names : names of the inputs
    X, y : training rows, on all of which an exact find must hold
    held_out : Split
        Rows that were not searched on.
    bits_of : what the constants of an expression cost
    """
    if len(y) > RANKED_ROWS:
        some, rest = (slice(None, None, -(-len(part) // RANKED_ROWS)) for part in (y, held_out.y))
        finds = ranked(finds, names, X[some], y[some], Split(held_out.X[rest], held_out.y[rest]), bits_of)
    scored = []
    every = np.concatenate([y, held_out.y])
    for find in {str(find.expression): find for find in finds}.values():
        on_all = [_predict(find.expression, names, part) for part in (X, held_out.X)]
        exact = find.exact and is_exact(np.concatenate(on_all), every, CONFIRMED)
        with np.errstate(all="ignore"):
            error = float(np.mean((on_all[1] - held_out.y) ** 2) / (np.var(held_out.y) or 1.0))
            loss = float(np.mean((on_all[0] - y) ** 2))
            whole = float(np.mean((np.concatenate(on_all) - every) ** 2) / (np.var(every) or 1.0))
        if not np.isfinite(error) or not np.isfinite(loss):
            continue
        bits = len(held_out.y) / 2 * np.log2(error + ROUNDING) + NODE_BITS * find.size
        length = description(find.expression, whole, len(every), bits_of)
        scored.append((exact, bits, length, dataclasses.replace(find, error=loss, exact=exact)))
    solved = any(exact for exact, *_ in scored)
    # beside an exact find the others are for the reader only
    scored.sort(key=lambda item: (not item[0], item[3].size if item[0] else item[1] if solved else round(item[2], 6)))
    front: list[Found] = []
    for *_, find in scored:
        # after the first, only what is shorter than all before it or fits better
        if not front or all(find.size < other.size or find.error < other.error for other in front):
            front.append(find)
    return front


def _predict(expression: Expression, names, X) -> np.ndarray:
    return np.broadcast_to(expression(dict(zip(names, np.asarray(X, float).T, strict=True))), len(X))
