"""Genetic programming with survival by age and fitness (AFP), and its form with fitness predictors (AFP-FE).

A program has the age of its oldest ancestor's line; one that is older and no better than another gives way, so
that every generation's one new program gets time. Written from the description of ellyn, whose division, root and
logarithm are protected; here they are not: what is undefined has the worst loss.

References
----------
M. Schmidt and H. Lipson, Age-fitness Pareto optimization, GPTP VIII (2010);
M. Schmidt and H. Lipson, Coevolution of fitness predictors, IEEE Trans. Evol. Comput. 12 (2008) 736
"""

import math
from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import size_of
from ..programs.compiled import compiled
from ..programs.constants import room
from ..programs.draws import below, normal, stream, uniform
from ..programs.evaluation import structure
from ..programs.operators import CONSTANT, VARIABLE, arity
from ..programs.programs import Programs
from ..programs.variation import Tree, copy, draw_operator, graft, palette, put
from .evolution import Found, front_of
from .phases import Data, Population, loss_of, member, note, population, settle
from .predictors import Predictors

LEAST, WORST = 1e-20, 1e20  # losses are clipped to these


@dataclass(frozen=True)
class Settings:
    """Settings of the search; the defaults are those of SRBench where it states them.

    Attributes
    ----------
    population_size : number of programs.
    operators : comma-separated.
    min_length, max_length_start, max_length : of programs at the start and later.
    crossover, point_mutation : share of crossovers among steps; chance of each token in the others.
    survival : 'age' (Pareto front of age and loss) or 'tournament' (of two; children replace their parents).
    climbs : whether each generation tries a change of the constants of every program.
    predictors : whether losses are estimated on 10 rows, chosen by evolution (AFP-FE).
    stop_threshold : loss that ends the search.
    """

    population_size: int = 1000
    operators: str = "+,-,*,/,exp,log,square,cube,sqrt,sin,cos"
    min_length: int = 3
    max_length_start: int = 20
    max_length: int = 64
    crossover: float = 0.6
    point_mutation: float = 0.025
    survival: str = "age"
    climbs: bool = True
    predictors: bool = False
    stop_threshold: float = 1e-6

    def check(self) -> None:
        """Raise ValueError for the first setting that cannot be used."""
        if not 1 <= self.min_length <= self.max_length_start <= self.max_length or self.population_size < 2:
            raise ValueError("lengths must rise from 1, and a population has at least 2 programs")
        if self.survival not in ("age", "tournament"):
            raise ValueError(f"survival is 'age' or 'tournament', got {self.survival!r}")
        palette(self.operators.split(","), 1)


# ------------------------------------------------------------------------------------------------------ variation


@compiled
def put_terminal(out, at, columns, state):
    """A constant from U(-1, 1) or any variable, with even odds."""
    if columns == 0 or uniform(state) < 0.5:
        return put(out, at, CONSTANT, 2.0 * uniform(state) - 1.0)
    return put(out, at, VARIABLE + below(state, columns), 0.0)


@compiled
def plant(out, at, length, palette, state):
    """Write a tree of `length` tokens, one fewer where operators do not allow it, about as deep on both sides."""
    if length < 2 or (length == 2 and palette.unary.size == 0):
        return put_terminal(out, at, palette.columns, state)
    operator = draw_operator(palette, state)
    if length == 2 and arity(operator) == 2:
        operator = palette.unary[below(state, palette.unary.size)]
    if arity(operator) == 1:
        at = plant(out, at, length - 1, palette, state)
        return put(out, at, operator, 0.0)
    rest = length - 1
    half = math.floor(0.5 + 0.5 * rest * (1.0 + 0.25 * normal(state)))
    if palette.unary.size == 0:
        half -= 1 - half % 2
    half = min(max(half, 1), rest - 1)
    at = plant(out, at, half, palette, state)
    at = plant(out, at, rest - half, palette, state)
    return put(out, at, operator, 0.0)


@compiled
def scatter(tree, size, out, chance, palette, state):
    """Change tokens, each with this chance: constants by N(c/2, c/2), others into one of their kind."""
    copy(tree, 0, size, out, 0)
    for i in range(size):
        if uniform(state) < chance:
            token = tree.tokens[i]
            if token == CONSTANT:
                out.constants[i] *= 0.5 + 0.5 * normal(state)
            elif token >= VARIABLE:
                out.tokens[i] = VARIABLE + below(state, palette.columns)
            elif arity(token) == 1:
                out.tokens[i] = palette.unary[below(state, palette.unary.size)]
            else:
                out.tokens[i] = palette.binary[below(state, palette.binary.size)]
    return size


@compiled
def exchange(a, m, b, n, largest, outs, work, state):
    """Exchange subtrees at uniformly drawn tokens; a child that is too large is its parent instead."""
    i, j = below(state, m), below(state, n)
    structure(a.tokens, m, work.lefts, work.begins)
    first = work.begins[i]
    structure(b.tokens, n, work.lefts, work.begins)
    other = work.begins[j]
    one = graft(a, m, first, i + 1, b, other, j + 1, outs[0])
    two = graft(b, n, other, j + 1, a, first, i + 1, outs[1])
    if one > largest:
        one = copy(a, 0, m, outs[0], 0)
    if two > largest:
        two = copy(b, 0, n, outs[1], 0)
    return one, two


@compiled
def breed(parents, children, order, crossover, chance, largest, palette, outs, work, state):
    """Fill `children`, walking along `order`: neighbours are crossed, or one program is mutated.

    A child has the age of its older parent. Neighbours of equal loss are both mutated.
    """
    count = i = 0
    while count < children.sizes.size:
        k, m = order[i % order.size], order[(i + 1) % order.size]
        a, b, ages = member(parents, k), member(parents, m), parents.births
        pair = uniform(state) < crossover
        if pair and parents.losses[k] != parents.losses[m]:
            sizes = exchange(a, parents.sizes[k], b, parents.sizes[m], largest, outs, work, state)
            older, next_older = max(ages[k], ages[m]), max(ages[k], ages[m])
        else:
            one = scatter(a, parents.sizes[k], outs[0], chance, palette, state)
            sizes = one, scatter(b, parents.sizes[m], outs[1], chance, palette, state)
            older, next_older = ages[k], ages[m]
        settle(children, count, outs[0], sizes[0], math.inf, math.inf, older)
        if pair and count + 1 < children.sizes.size:
            settle(children, count + 1, outs[1], sizes[1], math.inf, math.inf, next_older)
        count, i = count + 1 + pair, i + 1 + pair


@compiled
def clipped(tree, size, data, work):
    return min(max(loss_of(tree, size, data, work), LEAST), WORST)


@compiled
def grade(group, data, allowed, work):
    """Losses of all members, the worst for those beyond `allowed`; the number of evaluations."""
    for k in range(group.sizes.size):
        loss = clipped(member(group, k), group.sizes[k], data, work) if k < allowed else WORST
        group.losses[k] = group.costs[k] = loss
    return min(allowed, group.sizes.size)


@compiled
def climb(group, data, allowed, out, work, state):
    """Try, for every program with constants, all of them times 1 + 0.1 N(0, 1); the number of evaluations."""
    used = 0
    for k in range(group.sizes.size):
        tree, size, found = member(group, k), group.sizes[k], False
        copy(tree, 0, size, out, 0)
        for i in range(size):
            if out.tokens[i] == CONSTANT:
                out.constants[i] *= 1.0 + 0.1 * normal(state)
                found = True
        if found and used < allowed:
            loss = clipped(out, size, data, work)
            used += 1
            if loss < group.losses[k]:
                settle(group, k, out, size, loss, loss, group.births[k])
    return used


# ------------------------------------------------------------------------------------------------------- survival


@compiled
def eliminate(losses, ages, alive, keep, state):
    """Draw pairs of `alive`, delete one that the other dominates, until `keep` are left or keep^2 pairs are drawn.

    Survivors stand first; their number is returned.
    """
    left = alive.size
    for _ in range(keep * keep):
        if left <= keep:
            break
        i, j = below(state, left), below(state, left)
        for better, worse in ((i, j), (j, i)):
            a, b = alive[better], alive[worse]
            no_worse = losses[a] <= losses[b] and ages[a] <= ages[b]
            if no_worse and (losses[a] < losses[b] or ages[a] < ages[b]):
                left -= 1
                alive[worse], alive[left] = alive[left], alive[worse]
                break
    return left


def survivors(pool: Population, keep: int, state) -> np.ndarray:
    """Rows of the pool that live on: by `eliminate`, then by loss, of equals the younger."""
    alive = np.arange(len(pool.sizes))
    alive = np.sort(alive[: eliminate(pool.losses, pool.births, alive, keep, state)])
    return alive[np.lexsort((pool.births[alive], pool.losses[alive]))][:keep]


def join(*groups: Population) -> Population:
    return Population(*map(np.concatenate, zip(*groups, strict=True)))


# ----------------------------------------------------------------------------------------------------- the search


class Search:
    """A search in progress; `run` makes generations until the budget is spent or the loss is small enough."""

    def __init__(self, X, y, settings: Settings, evaluations: int, seed: int, weight: float):
        settings.check()
        X, y = np.asarray(X, float), np.asarray(y, float)
        if X.ndim != 2 or y.shape != X.shape[:1] or not y.size or not (np.isfinite(X).all() and np.isfinite(y).all()):
            raise ValueError(f"X {X.shape} and y {y.shape} must be finite numbers of the same rows, at least one")
        self.settings, self.state, self.generation = settings, stream(seed), 0
        self.data = self.scoring = Data(np.ascontiguousarray(X.T), np.ascontiguousarray(y), weight)
        self.allowed, self.rows_used = evaluations, 0
        self.palette = palette(settings.operators.split(","), X.shape[1])
        scratch = 2 * settings.max_length + 2
        self.work = room(scratch)
        self.outs = tuple(Tree(np.zeros(scratch, np.int16), np.zeros(scratch)) for _ in range(2))
        self.archive = population(settings.max_length + 1, settings.max_length + 2)
        self.group = self.random(settings.population_size)
        if settings.predictors:
            self.predictors = Predictors(self.data, self.state)

    def random(self, count: int) -> Population:
        """New programs of age 0 and random lengths."""
        chosen, group = self.settings, population(count, self.settings.max_length + 2)
        for k in range(count):
            length = chosen.min_length + below(self.state, chosen.max_length_start - chosen.min_length + 1)
            group.sizes[k] = plant(member(group, k), 0, length, self.palette, self.state)
        return group

    def spend(self, count: int, data: Data) -> None:
        self.rows_used += count * data.y.size

    def left(self, data: Data) -> int:
        """How many evaluations on these data the budget has left; one on all rows is one of the budget."""
        return (self.allowed * self.data.y.size - self.rows_used) // data.y.size

    def grade(self, group: Population) -> Population:
        self.spend(grade(group, self.scoring, self.left(self.scoring), self.work), self.scoring)
        return group

    def keep_best(self) -> None:
        """Note the best of each size in the archive, by its loss on all rows."""
        group = self.group
        if self.scoring is not self.data:
            best = np.argsort(group.losses, kind="stable")[:5]
            group = Population(*(array[best].copy() for array in group))
            self.spend(grade(group, self.data, self.left(self.data), self.work), self.data)
        note(self.archive, group)

    def run(self) -> Found:
        self.grade(self.group)
        self.keep_best()
        needed = 2 + self.settings.climbs
        while self.left(self.scoring) >= needed and self.archive.losses.min() > self.settings.stop_threshold:
            self.generation += 1
            self.next_generation()
            self.keep_best()
        self.archive.losses[self.archive.losses >= WORST] = math.inf
        rows = front_of(self.archive)
        front = Programs(self.archive.tokens[rows], self.archive.constants[rows], self.archive.sizes[rows])
        evaluations = -(-self.rows_used // self.data.y.size)
        return Found(front, self.archive.losses[rows], self.generation, self.generation, evaluations)

    def next_generation(self) -> None:
        chosen, state, n = self.settings, self.state, self.settings.population_size
        if chosen.predictors:
            self.estimate()
        order = self.order()
        self.group.births[:] += 1
        children = population(n, chosen.max_length + 2)
        breed(
            self.group, children, order, chosen.crossover, chosen.point_mutation, chosen.max_length, self.palette,
            self.outs, self.work, state,
        )  # fmt: skip
        self.grade(children)
        if chosen.survival == "age":
            pool = join(self.group, children, self.grade(self.random(1)))
            rows = survivors(pool, n, state)
            self.group = Population(*(array[rows] for array in pool))
        else:
            self.group = children
        if chosen.climbs:
            used = climb(self.group, self.scoring, self.left(self.scoring), self.outs[0], self.work, state)
            self.spend(used, self.scoring)

    def order(self) -> np.ndarray:
        """In which programs become parents: shuffled, or winners of tournaments of two."""
        n, losses = len(self.group.sizes), self.group.losses
        rng = np.random.default_rng(int(uniform(self.state) * 2**53))
        if self.settings.survival == "age":
            return rng.permutation(n)
        pairs = rng.integers(n, size=(2 * n, 2))
        return pairs[np.arange(2 * n), np.argmin(losses[pairs], axis=1)]

    def estimate(self) -> None:
        """Let predictors evolve, and score the programs on the rows of the best of them."""
        if self.generation % 10 == 1 and self.left(self.data) > self.predictors.cost:
            self.spend(self.predictors.train(self.group), self.data)
        rows = self.predictors.evolve()
        self.scoring = Data(np.ascontiguousarray(self.data.X[:, rows]), self.data.y[rows], self.data.weight)
        self.grade(self.group)


def search(X, y, settings: Settings, *, evaluations: int, seed: int = 0, relative: bool = True) -> Found:
    """Search for expressions of the columns of X that give y.

    Parameters
    ----------
    X : ndarray, shape (rows, columns)
    y : ndarray, shape (rows,)
    evaluations : of programs on all rows, at most; one on some rows counts as that share.
    seed : non-negative; equal seeds give equal results.
    relative : whether losses, and so the clips and the threshold, are relative to the mean square of y.
    """
    weight = 1.0 / size_of(np.asarray(y, float)) if relative else 1.0
    return Search(X, y, settings, evaluations, seed, weight).run()
