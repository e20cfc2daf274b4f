"""Rules of Boolean networks for the verification loop: what verifies them, and two proposers without a model.

An answer holds the text of a rule for each node that is regulated. Trees are those of `rediscover.expressions`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...expressions import Expression, ExpressionError, parse
from ...metrics.boolean import f1_pooled, missing_as_true, next_states
from .verification_loop import Context, Verified, bred

Rules = dict[str, str]


class RuleVerifier:
    """A verifier of rules: F1 on the training transitions, pooled over all nodes, and operations of all rules.

    As released, a rule with a variable that the network does not have counts as true wherever that variable decides.

    Parameters
    ----------
    problem : Transitions
    seed : int
        Chooses the training data.
    """

    def __init__(self, problem: Any, seed: int = 0) -> None:
        self.problem, self.train = problem, problem.data(seed)["train"]

    def __call__(self, answer: Mapping[str, str]) -> Verified | None:
        """Node -> rule; None where a node has none, or one that cannot be read."""
        try:
            rules = {node: parse(str(answer[node]), logic=True) for node in self.problem.outputs}
        except (ExpressionError, KeyError):
            return None
        states = missing_as_true(next_states(rules, self.train.X, self.problem.inputs))
        score = f1_pooled(states, self.train.y)
        texts = {node: str(rule) for node, rule in rules.items()}
        return Verified(texts, texts, score, sum(int(rule.sympy().count_ops()) for rule in rules.values()))


@dataclass(frozen=True)
class RandomRules:
    """Random rules: a node or its negation, or two smaller rules joined by ``&`` or ``|``, all nodes as likely.

    This is a prior of ours: it knows neither regulators nor data.

    Attributes
    ----------
    samples : answers per epoch.
    depth : of the joins inside one another, at most.
    joined, negated : probability of a join where there may be one, and of a negation.
    """

    samples: int = 25
    depth: int = 2
    joined: float = 0.6
    negated: float = 0.3

    def __call__(self, context: Context) -> list[Rules]:
        return [self.rules(context.problem, context.rng) for _ in range(self.samples)]

    def rules(self, problem: Any, rng: np.random.Generator) -> Rules:
        """A rule for each regulated node."""
        return {node: text(self.tree(problem.inputs, rng)) for node in problem.outputs}

    def tree(self, nodes: Sequence[str], rng: np.random.Generator, depth: int | None = None) -> tuple:
        """A random rule over nodes."""
        depth = self.depth if depth is None else depth
        if depth and rng.random() < self.joined:
            label = ("and", "or")[int(rng.integers(2))]
            return (label, self.tree(nodes, rng, depth - 1), self.tree(nodes, rng, depth - 1))
        literal = (nodes[int(rng.integers(len(nodes)))],)
        return ("not", literal) if rng.random() < self.negated else literal


@dataclass(frozen=True)
class GeneticRules:
    """Genetic operators on the rules of the pool, node by node.

    Each node takes its rule from one of two parents. On average one node's rule is then changed: a part of it is
    replaced by a random rule or by a part of the other parent's rule, is left alone, or is negated.

    Attributes
    ----------
    samples : answers per epoch.
    parents : best answers of the pool that may be parents.
    fresh : share of answers that are random; all while the pool is empty.
    largest : nodes of a rule's tree; beyond, a rule stays as it was.
    random : where random rules come from.
    """

    samples: int = 25
    parents: int = 10
    fresh: float = 0.2
    largest: int = 25
    random: RandomRules = RandomRules()

    def __call__(self, context: Context) -> list[Rules]:
        problem, rng = context.problem, context.rng

        def drawn() -> Rules:
            return self.random.rules(problem, rng)

        def child(a: str, b: str) -> str:
            return self.child(a, b, problem, rng)

        return bred(context, self.samples, self.parents, self.fresh, drawn, child)

    def child(self, a: str, b: str, problem: Any, rng: np.random.Generator) -> str:
        """The rule of a node from those of two parents."""
        kept, other = (a, b) if rng.random() < 0.5 else (b, a)
        if rng.random() * len(problem.outputs) >= 1:
            return kept
        tree = parse(kept, logic=True).tree
        places = list(subtrees(tree))
        place, part = places[int(rng.integers(len(places)))]
        change = int(rng.integers(4))
        if change == 0:
            part = self.random.tree(problem.inputs, rng)
        elif change == 1:
            offered = [part for _, part in subtrees(parse(other, logic=True).tree)]
            part = offered[int(rng.integers(len(offered)))]
        elif change == 2:
            place = ()
        else:
            part = part[1] if part[0] == "not" else ("not", part)
        changed = Expression(replaced(tree, place, part), logic=True)
        return str(changed) if changed.size <= self.largest else kept


def text(tree: tuple) -> str:
    """A rule as it is written."""
    return str(Expression(tree, logic=True))


def subtrees(tree: tuple, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], tuple]]:
    """All parts of a tree, each with its place: which child to take at each step from the root.

    >>> [place for place, _ in subtrees(("and", ("a",), ("not", ("b",))))]
    [(), (1,), (2,), (2, 1)]
    """
    yield place, tree
    for i, child in enumerate(tree[1:], 1):
        yield from subtrees(child, (*place, i))


def replaced(tree: tuple, place: tuple[int, ...], part: tuple) -> tuple:
    """The tree with another part at a place.

    >>> replaced(("and", ("a",), ("b",)), (2,), ("c",))
    ('and', ('a',), ('c',))
    """
    if not place:
        return part
    first, *rest = place
    return (*tree[:first], replaced(tree[first], tuple(rest), part), *tree[first + 1 :])
