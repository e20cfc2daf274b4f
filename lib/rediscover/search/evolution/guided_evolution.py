"""Regularised evolution with a guide, to whom some of the steps are handed; LaSR's search around a language model.

The steps that are handed over are drawn by a stream of their own. A guide who proposes nothing leaves them to the
symbolic operators, and the search is then `evolution` to the last bit.

References
----------
A. Grayeli et al., Symbolic regression with a learned concept library, arXiv:2409.09359
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ...expressions import Expression
from ...expressions.trees import fold, replace_leaves
from ..programs.compiled import compiled
from ..programs.draws import stream, uniform
from ..programs.operators import CODES, CONSTANT, VARIABLE
from ..programs.programs import Programs, from_text, to_tree
from ..programs.variation import Tree
from . import evolution
from .limits import legal
from .phases import (
    KINDS,
    Population,
    accepted,
    cost_of,
    cross,
    loss_of,
    mutate,
    note,
    population,
    refine,
    succeed,
    tournament,
)

BAD = 1e-4  # loss of a member that is shown as a bad one, at least; relative to the mean square of the target
RANDOM = KINDS.index("randomize")


class Guide(Protocol):
    """Who proposes in the place of the symbolic operators."""

    def propose(self, parents: Sequence[tuple], rng: np.random.Generator) -> Sequence[tuple]:
        """Trees for no parent (a new one), one (a mutation) or two (a crossover: two trees); none to pass."""

    def learn(self, front: Sequence[tuple], worst: Sequence[tuple], rng: np.random.Generator) -> None:
        """Look at a round: the trees of the front, and the worst of each population."""


@compiled
def advance(population, best, data, rules, frequency, largest, first, last, allowed, state, tools):
    """The steps first, ..., last - 1 of a phase by the symbolic operators: where they end, and the evaluations."""
    cycle, used = -(-population.sizes.size // rules.tournament), 0
    for step in range(first, last):
        if allowed - used < 2:
            return step, used
        cooled = step // cycle / max(1, rules.cycles - 1) if rules.annealing else 0.0
        if uniform(state) < rules.crossover:
            used += cross(population, data, rules, frequency, largest, state, tools)
        else:
            used += mutate(population, data, rules, frequency, largest, 1.0 - cooled, allowed - used, state, tools)
        if (step + 1) % cycle == 0:
            note(best, population)
    return last, used


class Guided(evolution.Search):
    """A search in progress, some of whose steps are the guide's.

    Parameters
    ----------
    X, y, settings, evaluations, seed
        As in `evolution.search`; phases are on all rows.
    names : of the columns.
    guide : Guide
    share : of the steps that are handed to the guide. As many of the mutations among them as the weight of
        randomize has are to be new trees.

    Attributes
    ----------
    handed, taken : steps that were handed over, and those whose children were evaluated.
    """

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray,
        settings: evolution.Settings,
        evaluations: int,
        seed: int,
        names: Sequence[str],
        guide: Guide,
        share: float,
    ):
        if settings.batch_size or not 0 <= share <= 1:
            raise ValueError(f"a guided search has no batches and a share from 0 to 1, got {share}")
        super().__init__(X, y, settings, evaluations, seed)
        self.names, self.guide, self.share = tuple(names), guide, share
        self.codes = [CODES[name] for name in settings.operators]
        self.handed = self.taken = 0

    def round(self, order: np.ndarray) -> None:
        super().round(order)
        worst = [(island, int(np.argmax(island.losses))) for island in self.islands]
        bad = [self.tree(island, k) for island, k in worst if island.losses[k] > BAD]
        front = [self.tree(self.hall, row) for row in evolution.front_of(self.hall)]
        self.guide.learn(front, bad, np.random.default_rng([self.seed, 1 + self.rounds, 3]))

    def phase(self, i: int, frequency: np.ndarray, largest: int) -> Population:
        island, best, tools, rules = self.islands[i], population(*self.hall.tokens.shape), self.tools, self.rules
        state, rng = stream(self.seed, 1 + self.rounds, i), np.random.default_rng([self.seed, 1 + self.rounds, i, 2])
        other = stream(self.seed, 1 + self.rounds, i, 2)
        tools.order[:] = np.arange(len(tools.order))
        cycle = -(-len(island.sizes) // rules.tournament)
        at, used, allowed, end = 0, 0, self.left, rules.cycles * cycle
        while at < end and allowed - used >= 2:
            until = min(end, at + int(rng.geometric(self.share)) - 1 if self.share else end)
            at, more = advance(
                island, best, self.data, rules, frequency, largest, at, until, allowed - used, state, tools
            )
            used += more
            if at < until or at == end or allowed - used < 2:
                break
            more = self.hand_over(island, frequency, largest, other, rng)
            if more and (at + 1) % cycle == 0:
                note(best, island)
            if not more:
                left = allowed - used
                _, more = advance(island, best, self.data, rules, frequency, largest, at, at + 1, left, state, tools)
            at, used = at + 1, used + more
        self.steps += at
        self.used += used + refine(island, self.data, rules, allowed - used, state, tools)
        return best

    def hand_over(self, island: Population, frequency, largest: int, state, rng: np.random.Generator) -> int:
        """One step by the guide: the evaluations, none where no child of the guide's may be."""
        rules, tools = self.rules, self.tools._replace(order=np.arange(len(island.sizes)))
        crossing = rng.random() < rules.crossover
        fresh = not crossing and rng.random() < rules.weights[RANDOM] / rules.weights.sum()
        places = [tournament(island, rules, frequency, state, tools) for _ in range(2 if crossing else 1)]
        parents = [] if fresh else [self.tree(island, k) for k in places]
        self.handed += 1
        proposed = self.guide.propose(parents, rng)
        children = [child for child in map(self.child(largest), proposed) if child is not None]
        if len(children) != len(places):
            return 0
        self.taken += 1
        size, cost = island.sizes[places[0]], island.costs[places[0]]
        for child in children:
            new = int(child.sizes[0])
            tree = Tree(child.tokens[0], child.constants[0])
            loss = loss_of(tree, new, self.data, tools.work)
            price = cost_of(loss, new, rules)
            if crossing or accepted(size, new, cost, price, 1.0, frequency, rules, state):
                succeed(island, tree, new, loss, price)
        return len(children)

    def child(self, largest: int) -> Callable[[tuple], Programs | None]:
        """A function of a tree: its program, or None for one that is constant or beyond a limit of the search."""

        def program(tree: tuple) -> Programs | None:
            try:
                batch = from_text([str(Expression(plain(tree)))], self.names, length=self.hall.tokens.shape[1])
            except ValueError:  # too long, or with what no operator stands for
                return None
            one, size, work = Tree(batch.tokens[0], batch.constants[0]), int(batch.sizes[0]), self.tools.work
            tokens, limits = one.tokens[:size], self.rules.limits
            if not np.isin(tokens[(tokens > CONSTANT) & (tokens < VARIABLE)], self.codes).all():
                return None
            may = legal(one, size, largest, work.lefts, work.begins, limits, work.places)
            return batch if may and (tokens >= VARIABLE).any() else None

        return program

    def tree(self, group: Population, k: int) -> tuple:
        return to_tree(Programs(group.tokens, group.constants, group.sizes), int(k), self.names)


def plain(tree: tuple) -> tuple:
    """A tree with every number a float, so that x**2 is a power, and without signs: -x is -1*x.

    >>> str(Expression(plain(("neg", ("**", ("x",), (2,))))))
    '-1.0*x**2.0'
    """

    def simplify(label: Any, children: list[tuple]) -> tuple:
        return ("*", (-1.0,), *children) if label == "neg" else (label, *children)

    return fold(replace_leaves(tree, lambda leaf: (float(leaf) if isinstance(leaf, int) else leaf,)), simplify)
