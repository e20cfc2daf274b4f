"""One phase of regularised evolution, compiled: tournaments, mutation, crossover, replacement of the oldest."""

import math
from typing import NamedTuple

import numpy as np

from ..programs.compiled import compiled
from ..programs.constants import Work, descend, find_constants
from ..programs.draws import below, normal, uniform
from ..programs.evaluation import squared_error, structure
from ..programs.operators import CONSTANT, arity
from ..programs.variation import (
    Palette,
    Tree,
    add_node,
    change_constant,
    change_operator,
    copy,
    delete_node,
    draw_operator,
    graft,
    grow,
    insert_node,
    put_leaf,
    random_operand,
    rotate,
    sprout,
    swap_operands,
)
from .limits import Limits, legal
from .simplification import simplify

KINDS = "mutate_constant mutate_operator swap_operands add_node insert_node delete_node rotate_tree randomize".split()
KINDS += ["do_nothing", "simplify", "optimize"]
CHANGE, OPERATOR, SWAP, ADD_NODE, INSERT, DELETE, ROTATE, RANDOMIZE, NOTHING, SIMPLIFY, OPTIMIZE = range(len(KINDS))
ATTEMPTS, CROSSINGS = 10, 11  # draws until the limits hold
OVERFLOW = 88.72  # exp of more is infinite in single precision
RARE = 1e-6  # frequency of a size that is not counted


class Population(NamedTuple):
    """Programs with what selection looks at; `costs` are losses with the price of size, `births` order by age."""

    tokens: np.ndarray
    constants: np.ndarray
    sizes: np.ndarray
    losses: np.ndarray
    costs: np.ndarray
    births: np.ndarray


class Data(NamedTuple):
    """X of shape (columns, rows), y of shape (rows,), and the factor of errors."""

    X: np.ndarray
    y: np.ndarray
    weight: float


class Rules(NamedTuple):
    """Settings of a phase, as `evolution.Settings` names and explains them.

    Attributes
    ----------
    places : chance of each place of a tournament to win, cumulative
    weights : of the mutations, in the order of `KINDS`
    price : what a loss is multiplied with to be a cost
    flip : probability of a change of sign
    """

    maxsize: int
    cycles: int
    tournament: int
    places: np.ndarray
    weights: np.ndarray
    price: float
    parsimony: float
    scaling: float
    crossover: float
    perturbation: float
    flip: float
    alpha: float
    annealing: bool
    simplifies: bool
    optimises: float
    iterations: int
    restarts: int
    palette: Palette
    limits: Limits


class Tools(NamedTuple):
    """Room for what a phase computes."""

    work: Work
    first: Tree
    second: Tree
    spare: Tree
    order: np.ndarray
    adjusted: np.ndarray
    weights: np.ndarray


def population(members: int, length: int) -> Population:
    """Room for members; none of them is alive, so each has size 0 and infinite cost."""
    tokens, constants = np.zeros((members, length), np.int16), np.zeros((members, length))
    costs, births = np.full((2, members), math.inf), np.zeros(members, np.int64)
    return Population(tokens, constants, births.copy(), costs[0], costs[1], births)


@compiled
def member(population, k):
    return Tree(population.tokens[k], population.constants[k])


@compiled
def settle(population, k, tree, size, loss, cost, birth):
    """Put a tree in the place of member k."""
    copy(tree, 0, size, member(population, k), 0)
    population.sizes[k], population.losses[k], population.costs[k] = size, loss, cost
    population.births[k] = birth


@compiled
def succeed(population, tree, size, loss, cost):
    """Put a tree in the place of the oldest member."""
    oldest = np.argmin(population.births)
    settle(population, oldest, tree, size, loss, cost, population.births.max() + 1)


@compiled
def note(best, population):
    """Keep in row s of `best` the member of size s of the lowest cost."""
    for k in range(population.sizes.size):
        size = population.sizes[k]
        if 0 < size < best.sizes.size and population.costs[k] < best.costs[size]:
            settle(best, size, member(population, k), size, population.losses[k], population.costs[k], 0)


@compiled
def cost_of(loss, size, rules):
    return loss * rules.price + rules.parsimony * size


@compiled
def loss_of(tree, size, data, work):
    structure(tree.tokens, size, work.lefts, work.begins)
    return squared_error(tree.tokens, tree.constants, work.lefts, size, data.X, data.y, data.weight, work.V)


@compiled
def tournament(population, rules, frequency, state, tools):
    """The winner of some members, by cost times exp(scaling * frequency of the size)."""
    n, order, adjusted = rules.tournament, tools.order, tools.adjusted
    for i in range(n):
        j = i + below(state, order.size - i)
        order[i], order[j] = order[j], order[i]
        size = population.sizes[order[i]]
        exponent = rules.scaling * frequency[size] if size < frequency.size else 0.0
        adjusted[i] = population.costs[order[i]] * math.exp(exponent) if exponent < OVERFLOW else math.inf
    u, place = uniform(state), 0
    while u >= rules.places[place] and place < n - 1:
        place += 1
    best = 0
    for _ in range(place + 1):
        best, least = 0, math.inf
        for i in range(n):
            if adjusted[i] < least:
                best, least = i, adjusted[i]
        adjusted[best] = math.inf
    return order[best]


@compiled
def draw_kind(tree, size, largest, rules, state, weights):
    """The kind of mutation, with weights that suit the tree."""
    weights[:] = rules.weights
    constants = binaries = 0
    for i in range(size):
        constants += tree.tokens[i] == CONSTANT
        binaries += arity(tree.tokens[i]) == 2
    if size == 1:
        weights[OPERATOR] = weights[SWAP] = weights[DELETE] = weights[SIMPLIFY] = 0.0
        if constants == 0:
            weights[CHANGE] = weights[OPTIMIZE] = 0.0
    else:
        if binaries == 0:
            weights[SWAP] = 0.0
        weights[CHANGE] *= min(8, constants) / 8.0
        if size >= largest:
            weights[ADD_NODE] = weights[INSERT] = 0.0
        if not rules.simplifies:
            weights[SIMPLIFY] = 0.0
    u = uniform(state) * weights.sum()
    for kind in range(weights.size):
        u -= weights[kind]
        if u < 0.0:
            return kind
    return NOTHING


@compiled
def vary(kind, tree, size, largest, temperature, out, rules, state, work):
    """Write a mutated tree; its size."""
    structure(tree.tokens, size, work.lefts, work.begins)
    if kind == CHANGE:
        factor = 1.1 + rules.perturbation * temperature
        return change_constant(tree, size, out, factor, rules.flip, state)
    if kind == OPERATOR:
        return change_operator(tree, size, out, rules.palette, state)
    if kind == SWAP:
        return swap_operands(tree, size, work.lefts, work.begins, out, state)
    if kind == ADD_NODE:
        return add_node(tree, size, out, rules.palette, state)
    if kind == INSERT:
        return insert_node(tree, size, out, rules.palette, state)
    if kind == DELETE:
        return delete_node(tree, size, work.lefts, work.begins, out, rules.palette, state)
    if kind == ROTATE:
        return rotate(tree, size, work.lefts, out, state)
    return grow(out, 1 + below(state, largest), rules.palette, state)


@compiled
def accepted(old_size, size, old_cost, cost, temperature, frequency, rules, state):
    """By the frequencies of both sizes; by the costs as well where there is annealing, and only there."""
    old = frequency[old_size] if old_size < frequency.size else RARE
    new = frequency[size] if size < frequency.size else RARE
    odds = old / new
    if rules.annealing and cost != old_cost:
        heat = temperature * rules.alpha
        odds *= math.exp(-(cost - old_cost) / heat) if heat > 0.0 else math.inf if cost < old_cost else 0.0
    return uniform(state) < odds


@compiled
def improve(tree, size, loss, data, rules, allowed, state, tools):
    """Optimise the constants in place, from where they are and from near there; the loss, and the evaluations."""
    work, trial, best = tools.work, tools.second, tools.spare
    count, used = find_constants(tree.tokens, size, work.places), 0
    if count == 0:
        return loss, used
    structure(tree.tokens, size, work.lefts, work.begins)
    copy(tree, 0, size, best, 0)
    for start in range(1 + rules.restarts):
        copy(tree, 0, size, trial, 0)
        for p in range(count if start else 0):
            trial.constants[work.places[p]] *= 1.0 + 0.5 * normal(state)
        reached, calls = descend(
            trial.tokens,
            trial.constants,
            size,
            count,
            data.X,
            data.y,
            data.weight,
            rules.iterations,
            allowed - used,
            work,
        )
        used += calls
        if reached < loss:
            loss = reached
            copy(trial, 0, size, best, 0)
    copy(best, 0, size, tree, 0)
    return loss, used


@compiled
def mutate(population, data, rules, frequency, largest, temperature, allowed, state, tools):
    """One step by mutation; the evaluations, at most `allowed`."""
    k = tournament(population, rules, frequency, state, tools)
    parent, size, out, work = member(population, k), population.sizes[k], tools.first, tools.work
    loss, cost = population.losses[k], population.costs[k]
    kind = draw_kind(parent, size, largest, rules, state, tools.weights)
    if kind == NOTHING or kind == OPTIMIZE:
        copy(parent, 0, size, out, 0)
        used = 0
        if kind == OPTIMIZE:
            reached, used = improve(out, size, loss, data, rules, allowed, state, tools)
            if reached < loss:
                loss, cost = reached, cost_of(reached, size, rules)
        succeed(population, out, size, loss, cost)
        return used
    if kind == SIMPLIFY:
        size = simplify(parent, size, work.lefts, work.begins, out)
        succeed(population, out, size, loss, cost)
        return 0
    for _ in range(ATTEMPTS):
        new = vary(kind, parent, size, largest, temperature, out, rules, state, work)
        if legal(out, new, largest, work.lefts, work.begins, rules.limits, work.places):
            reached = loss_of(out, new, data, work)
            price = cost_of(reached, new, rules)
            if accepted(size, new, cost, price, temperature, frequency, rules, state):
                succeed(population, out, new, reached, price)
            return 1
    return 0


@compiled
def cross(population, data, rules, frequency, largest, state, tools):
    """One step by crossover: two children for the two oldest, whatever their losses; the evaluations."""
    work, limits = tools.work, rules.limits
    k = tournament(population, rules, frequency, state, tools)
    m = tournament(population, rules, frequency, state, tools)
    a, b, m_size, k_size = (member(population, k), member(population, m), population.sizes[m], population.sizes[k])
    for _ in range(CROSSINGS):
        structure(a.tokens, k_size, work.lefts, work.begins)
        i = random_operand(a, k_size, work.lefts, state)
        first = work.begins[i]
        structure(b.tokens, m_size, work.lefts, work.begins)
        j = random_operand(b, m_size, work.lefts, state)
        other = work.begins[j]
        one = graft(a, k_size, first, i + 1, b, other, j + 1, tools.first)
        two = graft(b, m_size, other, j + 1, a, first, i + 1, tools.second)
        if legal(tools.first, one, largest, work.lefts, work.begins, limits, work.places) and legal(
            tools.second, two, largest, work.lefts, work.begins, limits, work.places
        ):
            for out, size in ((tools.first, one), (tools.second, two)):
                loss = loss_of(out, size, data, work)
                succeed(population, out, size, loss, cost_of(loss, size, rules))
            return 2
    return 0


@compiled
def evolve(population, best, data, rules, frequency, largest, allowed, state, tools):
    """The cycles of a phase; steps and evaluations, of which at most `allowed`."""
    steps = used = 0
    for cycle in range(rules.cycles):
        cooled = cycle / max(1, rules.cycles - 1) if rules.annealing else 0.0
        for _ in range(-(-population.sizes.size // rules.tournament)):
            if allowed - used < 2:  # a crossover needs two
                return steps, used
            if uniform(state) < rules.crossover:
                used += cross(population, data, rules, frequency, largest, state, tools)
            else:
                left = allowed - used
                used += mutate(population, data, rules, frequency, largest, 1.0 - cooled, left, state, tools)
            steps += 1
        note(best, population)
    return steps, used


@compiled
def refine(population, data, rules, allowed, state, tools):
    """Simplify every member, and optimise the constants of some; the evaluations.

    Costs stay as they are after a simplification, as in the package.
    """
    used, work, out = 0, tools.work, tools.first
    for k in range(population.sizes.size):
        tree, size = member(population, k), population.sizes[k]
        if rules.simplifies:
            population.sizes[k] = simplify(tree, size, work.lefts, work.begins, out)
            size = population.sizes[k]
            copy(out, 0, size, tree, 0)
        if uniform(state) < rules.optimises:
            copy(tree, 0, size, out, 0)
            loss, calls = improve(out, size, population.losses[k], data, rules, allowed - used, state, tools)
            used += calls
            if loss < population.losses[k]:
                settle(population, k, out, size, loss, cost_of(loss, size, rules), population.births.max() + 1)
    return used


@compiled
def score(population, data, rules, allowed, tools):
    """Losses and costs of the members on `data`; the evaluations. Those beyond `allowed` count as undefined."""
    used = 0
    for k in range(population.sizes.size):
        size, loss = population.sizes[k], math.inf
        if size > 0 and used < allowed:
            loss = loss_of(member(population, k), size, data, tools.work)
            used += 1
        population.losses[k], population.costs[k] = loss, cost_of(loss, size, rules)
    return used


@compiled
def begin(population, rules, state):
    """Random trees of 4 to 7 tokens: a leaf, of which three times a leaf becomes an operator of leaves."""
    palette = rules.palette
    for k in range(population.sizes.size):
        tree = member(population, k)
        size = put_leaf(tree, 0, palette, state)
        for _ in range(3):
            size = sprout(tree, size, draw_operator(palette, state), palette, state)
        population.sizes[k], population.births[k] = size, k
