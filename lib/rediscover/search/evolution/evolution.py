"""Regularised evolution of several populations, after SymbolicRegression.jl 1.11 (the engine of PySR 1.5).

Populations evolve apart for a phase (`phases`), then report: the best of each size enter a hall of fame, copies
of good members migrate, and how often each size occurs is counted, which makes crowded sizes lose tournaments.
All phases of a round see the same counts and draw from streams of their own, so that their order is nothing.

Other than the package this computes in double precision, with exact derivatives, and optimises constants by
Levenberg and Marquardt's method. Losses are relative to the mean square of the target.

References
----------
M. Cranmer, Interpretable Machine Learning for Science with PySR and SymbolicRegression.jl, arXiv:2305.01582;
github.com/MilesCranmer/SymbolicRegression.jl, version 1.11.0
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import size_of
from ..programs.compiled import compiled
from ..programs.constants import room
from ..programs.draws import below, stream, uniform
from ..programs.programs import Programs
from ..programs.variation import Tree, palette
from .limits import limits
from .phases import (
    KINDS,
    Data,
    Population,
    Rules,
    Tools,
    begin,
    evolve,
    member,
    note,
    population,
    refine,
    score,
    settle,
)

WINDOW = 100_000  # counts of sizes that are remembered
SMALLEST = 0.01  # mean square of the target below which the package does not scale costs
START = 7  # tokens of the largest tree at the start


@dataclass(frozen=True)
class Settings:
    """Settings of the search, with the names and the defaults of PySR 1.5.

    Attributes
    ----------
    niterations : rounds at most; 0 for no limit but the budget's. PySR's default is 100.
    populations, population_size, ncycles_per_iteration : as in PySR.
    maxsize, maxdepth : of a tree; maxdepth 0 is maxsize.
    binary_operators, unary_operators : comma-separated; ``^`` is ``**``.
    constraints : operator -> largest size of its operand; a list of one number for each of two; -1 for any.
    nested_constraints : outer operator -> inner operator -> how many of these may stand on one path below it.
    parsimony : price of a token, in relative loss.
    adaptive_parsimony_scaling : a tournament multiplies costs by exp of this times the frequency of the size.
    tournament_selection_n, tournament_selection_p : members, and the chance of each place over those behind it.
    crossover_probability : of a step
    weight_mutate_constant, weight_mutate_operator, weight_swap_operands, weight_add_node : of the kinds of mutations
    weight_insert_node, weight_delete_node, weight_rotate_tree, weight_randomize : likewise
    weight_do_nothing, weight_simplify, weight_optimize : likewise
    annealing, alpha : whether acceptance looks at the loss, and at what temperature. Off, as in PySR.
    perturbation_factor, probability_negate_constant : of the mutation of a constant.
    sign_flip : 'released', as the package computes it, which changes the sign with one minus that probability,
        or 'described'.
    fraction_replaced, fraction_replaced_hof, topn : migration from other populations, from the front, donors.
    optimize_probability, optimizer_iterations, optimizer_nrestarts : optimisation of constants after a phase.
    should_simplify : whether constants are merged after a phase.
    batch_size : rows of a phase, drawn with replacement; 0 for all.
    warmup_maxsize_by : share of the budget over which the largest size grows from 3.
    cost_scale : 'target' makes costs relative to the mean square of the target; 'package' does so only if that
        is at least 0.01, so that for small targets `parsimony` and `alpha` weigh more.
    """

    niterations: int = 0
    populations: int = 31
    population_size: int = 27
    ncycles_per_iteration: int = 380
    maxsize: int = 30
    maxdepth: int = 0
    binary_operators: str = "+,-,*,/"
    unary_operators: str = ""
    constraints: Mapping = field(default_factory=dict)
    nested_constraints: Mapping = field(default_factory=dict)
    parsimony: float = 0.0
    adaptive_parsimony_scaling: float = 1040.0
    tournament_selection_n: int = 15
    tournament_selection_p: float = 0.982
    crossover_probability: float = 0.0259
    weight_mutate_constant: float = 0.0346
    weight_mutate_operator: float = 0.293
    weight_swap_operands: float = 0.198
    weight_add_node: float = 2.47
    weight_insert_node: float = 0.0112
    weight_delete_node: float = 0.870
    weight_rotate_tree: float = 4.26
    weight_randomize: float = 0.000502
    weight_do_nothing: float = 0.273
    weight_simplify: float = 0.00209
    weight_optimize: float = 0.0
    annealing: bool = False
    alpha: float = 3.17
    perturbation_factor: float = 0.129
    probability_negate_constant: float = 0.00743
    sign_flip: str = "released"
    fraction_replaced: float = 0.00036
    fraction_replaced_hof: float = 0.0614
    topn: int = 12
    optimize_probability: float = 0.14
    optimizer_iterations: int = 8
    optimizer_nrestarts: int = 2
    should_simplify: bool = True
    batch_size: int = 0
    warmup_maxsize_by: float = 0.0
    cost_scale: str = "target"

    def check(self) -> None:
        """Raise ValueError for the first setting that cannot be used."""
        counts = (self.populations, self.ncycles_per_iteration, self.tournament_selection_n, self.topn)
        if min(counts) < 1 or min(self.niterations, self.batch_size) < 0:
            raise ValueError("counts of populations, cycles, members and donors must be at least 1")
        if self.maxsize < 3:
            raise ValueError(f"maxsize must be at least 3, got {self.maxsize}")
        if self.tournament_selection_n > self.population_size:
            raise ValueError(
                f"tournament_selection_n {self.tournament_selection_n} exceeds population_size {self.population_size}"
            )
        if self.sign_flip not in ("released", "described") or self.cost_scale not in ("target", "package"):
            raise ValueError("sign_flip is 'released' or 'described', cost_scale 'target' or 'package'")
        palette(self.operators, 1)
        self.limits()

    @property
    def operators(self) -> list[str]:
        return [symbol(name) for name in f"{self.binary_operators},{self.unary_operators}".split(",") if name.strip()]

    def limits(self):
        arguments = {symbol(name): size for name, size in self.constraints.items()}
        nesting = {
            symbol(outer): {symbol(name): count for name, count in inner.items()}
            for outer, inner in self.nested_constraints.items()
        }
        try:
            return limits(self.maxdepth or self.maxsize, arguments, nesting)
        except KeyError as error:
            raise ValueError(f"constraints name an unknown operator {error.args[0]!r}") from None

    def rules(self, columns: int, mean_square: float) -> Rules:
        """The settings as compiled code takes them."""
        p, n = self.tournament_selection_p, self.tournament_selection_n
        places = np.cumsum(p * (1 - p) ** np.arange(n))
        negate = self.probability_negate_constant
        package = self.cost_scale == "package" and mean_square < SMALLEST
        return Rules(
            maxsize=self.maxsize,
            cycles=self.ncycles_per_iteration,
            tournament=n,
            places=places / places[-1],
            weights=np.array([float(getattr(self, f"weight_{kind}")) for kind in KINDS]),
            price=mean_square / SMALLEST if package else 1.0,
            parsimony=float(self.parsimony),
            scaling=float(self.adaptive_parsimony_scaling),
            crossover=float(self.crossover_probability),
            perturbation=float(self.perturbation_factor),
            flip=float(1 - negate if self.sign_flip == "released" else negate),
            alpha=float(self.alpha),
            annealing=bool(self.annealing),
            simplifies=bool(self.should_simplify),
            optimises=float(self.optimize_probability),
            iterations=self.optimizer_iterations,
            restarts=self.optimizer_nrestarts,
            palette=palette(self.operators, columns),
            limits=self.limits(),
        )


def symbol(name: str) -> str:
    return {"^": "**"}.get(name.strip(), name.strip())


class Found(NamedTuple):
    """What a search found and what it took.

    Attributes
    ----------
    front : Programs
        By size, each of smaller loss than all before it.
    losses : ndarray
        Mean squared errors over the mean square of the target.
    rounds, steps, evaluations : rounds begun, mutations and crossovers, and evaluations of programs on data,
        those with derivatives and those on a batch among them.
    """

    front: Programs
    losses: np.ndarray
    rounds: int
    steps: int
    evaluations: int


# ------------------------------------------------------------------------------------------- sizes and migration


def move_window(counts: np.ndarray, window: float = WINDOW) -> None:
    """Lower the counts above 1, all alike but none below 1, until they sum to `window`.

    >>> counts = np.array([1.0, 5.0, 9.0])
    >>> move_window(counts, 9)
    >>> counts.tolist()
    [1.0, 2.0, 6.0]
    """
    excess = counts.sum() - window
    while excess > 1e-9 and (counts > 1).any():
        above = counts > 1
        amount = min(excess / above.sum(), counts[above].min() - 1)
        counts[above] -= amount
        excess -= amount * above.sum()


@compiled
def poisson(state, mean):
    limit, product, count = math.exp(-mean), uniform(state), 0
    while product > limit:
        product *= uniform(state)
        count += 1
    return count


@compiled
def migrate(population, donors, count, fraction, state):
    """Copies of some of the first `count` donors, each as likely, for random members."""
    members = population.sizes.size
    arriving = min(poisson(state, members * fraction), count, members)
    for _ in range(arriving):
        k, d = below(state, members), below(state, count)
        birth = population.births.max() + 1
        size = donors.sizes[d]
        settle(population, k, member(donors, d), size, donors.losses[d], donors.costs[d], birth)


def front_of(hall: Population) -> np.ndarray:
    """Rows of the hall of fame whose loss is below that of every smaller size."""
    below_all = np.minimum.accumulate(np.append(math.inf, hall.losses[:-1]))
    return np.flatnonzero((hall.sizes > 0) & (hall.losses < below_all))


def rows_of(group: Population, rows) -> Population:
    return Population(*(array[rows] for array in group))


# ----------------------------------------------------------------------------------------------------- the search


class Search:
    """A search in progress: populations, hall of fame, counts; `run` makes rounds until the budget is spent."""

    def __init__(self, X: np.ndarray, y: np.ndarray, settings: Settings, evaluations: int, seed: int):
        settings.check()
        X, y = np.asarray(X, float), np.asarray(y, float)
        if X.ndim != 2 or y.shape != X.shape[:1] or not y.size or not (np.isfinite(X).all() and np.isfinite(y).all()):
            raise ValueError(f"X {X.shape} and y {y.shape} must be finite numbers of the same rows, at least one")
        scale = size_of(y)
        self.settings, self.evaluations, self.seed = settings, evaluations, seed
        self.data = Data(np.ascontiguousarray(X.T), np.ascontiguousarray(y), 1.0 / scale)
        self.rules = settings.rules(X.shape[1], scale * scale)
        members, largest = settings.population_size, max(settings.maxsize, START)
        self.islands = [population(members, largest + 2) for _ in range(settings.populations)]
        self.hall = population(settings.maxsize + 1, largest + 2)
        self.counts = np.append(0.0, np.ones(settings.maxsize))
        scratch = 2 * largest + 4
        first, second, spare = (Tree(np.zeros(scratch, np.int16), np.zeros(scratch)) for _ in range(3))
        places, adjusted, weights = np.arange(members), np.zeros(members), np.zeros(len(KINDS))
        self.tools = Tools(room(scratch), first, second, spare, places, adjusted, weights)
        self.used = self.steps = self.rounds = 0

    @property
    def left(self) -> int:
        return self.evaluations - self.used

    def largest(self) -> int:
        """The largest size that is allowed now."""
        by, elapsed, most = (self.settings.warmup_maxsize_by, self.used / self.evaluations, self.settings.maxsize)
        return most if elapsed > by or by == 0 else 3 + int((most - 3) * elapsed / by)

    def start(self) -> None:
        for i, island in enumerate(self.islands):
            begin(island, self.rules, stream(self.seed, 0, i))
            self.used += score(island, self.data, self.rules, self.left, self.tools)
            note(self.hall, island)

    def run(self) -> Found:
        self.start()
        order = np.random.default_rng([self.seed, 1]).permutation(len(self.islands))
        while self.left >= 2 and (self.rounds < self.settings.niterations or not self.settings.niterations):
            self.rounds += 1
            before = self.used
            self.round(order)
            if self.used == before:  # no step of a round could be evaluated
                break
        rows = front_of(self.hall)
        front = Programs(self.hall.tokens[rows], self.hall.constants[rows], self.hall.sizes[rows])
        return Found(front, self.hall.losses[rows], self.rounds, self.steps, self.used)

    def round(self, order: np.ndarray) -> None:
        """A phase of every population, then their results in a fixed order."""
        frequency, largest = self.counts / self.counts.sum(), self.largest()
        seen = {i: self.phase(i, frequency, largest) for i in order}
        donors = [
            rows_of(island, np.argsort(island.costs, kind="stable")[: self.settings.topn]) for island in self.islands
        ]
        pool = Population(*map(np.concatenate, zip(*donors, strict=True)))
        for i in order:
            sizes = self.islands[i].sizes
            np.add.at(self.counts, sizes[sizes <= self.settings.maxsize], 1.0)
            move_window(self.counts)
            note(self.hall, self.islands[i])
            note(self.hall, seen[i])
            rows = front_of(self.hall)
            state = stream(self.seed, 1 + self.rounds, i, 1)
            migrate(self.islands[i], pool, len(pool.sizes), self.settings.fraction_replaced, state)
            migrate(self.islands[i], rows_of(self.hall, rows), len(rows), self.settings.fraction_replaced_hof, state)

    def phase(self, i: int, frequency: np.ndarray, largest: int) -> Population:
        """Evolve population i; the best of each size seen on the way."""
        island, best, tools, rules = (self.islands[i], population(*self.hall.tokens.shape), self.tools, self.rules)
        state = stream(self.seed, 1 + self.rounds, i)
        tools.order[:] = np.arange(len(tools.order))
        batched = 0 < self.settings.batch_size < self.data.y.size
        rescored = len(island.sizes) + len(best.sizes) if batched else 0
        if self.left < rescored:
            return best
        data = self.batch(state) if batched else self.data
        allowed = self.left - rescored
        steps, used = evolve(island, best, data, rules, frequency, largest, allowed, state, tools)
        data = self.batch(state) if batched else self.data
        self.used += used + refine(island, data, rules, allowed - used, state, tools)
        self.steps += steps
        if batched:
            self.used += score(island, self.data, rules, self.left, tools)
            self.used += score(best, self.data, rules, self.left, tools)
        return best

    def batch(self, state) -> Data:
        rows = [below(state, self.data.y.size) for _ in range(self.settings.batch_size)]
        return Data(np.ascontiguousarray(self.data.X[:, rows]), self.data.y[rows], self.data.weight)


def search(X: np.ndarray, y: np.ndarray, settings: Settings, *, evaluations: int, seed: int = 0) -> Found:
    """Search for expressions of the columns of X that give y.

    Parameters
    ----------
    X : ndarray, shape (rows, columns)
    y : ndarray, shape (rows,)
    evaluations : of programs on the data, at most; the search may end one short of it.
    seed : non-negative; equal seeds give equal results.

    Raises
    ------
    ValueError
        If a setting cannot be used, or the data are not finite.
    """
    return Search(X, y, settings, evaluations, seed).run()
