"""Boolean rules read off the transitions: the fewest regulators that explain them, then a minimal rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..numerics.boolean_minimisation import bits, minimal_rule
from ..problems import Transitions
from . import Budget, Candidate, Method


@dataclass(frozen=True)
class TruthTable(Method):
    """Best-fit extension with the smallest sets of regulators.

    For each node: where equal states go different ways the majority counts (0 on a tie), which is the least
    error that any rule can have. Then the smallest sets of regulators that tell all states going to 1 from
    all states going to 0 are found; of these the set whose minimal rule has the fewest literals is taken,
    states that were not seen being free.

    Attributes
    ----------
    exact : the smallest sets are found exactly up to this size; beyond, regulators are added greedily.
    compared : sets of the smallest size whose rules are compared.

    References
    ----------
    Lähdesmäki, Shmulevich and Yli-Harja, Machine Learning 52 (2003) 147-167.
    """

    exact: int = 6
    compared: int = 20
    name: ClassVar[str] = "truth_table"
    reference: ClassVar[str] = "best-fit extension: Lähdesmäki et al., Machine Learning 52 (2003); Quine-McCluskey"
    accepts: ClassVar[tuple[type, ...]] = (Transitions,)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        train = problem.data(seed)["train"]
        states, which = np.unique(train.X, axis=0, return_inverse=True)
        votes = np.zeros((len(states), train.y.shape[1]))
        np.add.at(votes, which, np.where(train.y, 1, -1))
        pairs = Pairs(states)
        rules = {
            node: self.rule(problem.inputs, pairs, vote > 0)
            for node, vote in zip(problem.outputs, votes.T, strict=True)
        }
        return [Candidate(rules, complexity=sum(map(literals, rules.values())))]

    def rule(self, names: Sequence[str], pairs: "Pairs", after: np.ndarray) -> str:
        """A rule for one node from the pairs of n distinct states and its next values, shape (n,), bool."""
        best = ""
        for chosen in self.regulators(pairs, after):
            rows = pairs.states[:, chosen] @ (1 << np.arange(len(chosen))[::-1])
            ones = set(rows[after].tolist())
            unseen = set(range(1 << len(chosen))).difference(rows.tolist())
            rule = minimal_rule([names[i] for i in chosen], ones, unseen)
            if not best or literals(rule) < literals(best):
                best = rule
            if literals(best) <= len(chosen):  # no fewer: in a smallest set every regulator must occur
                break
        return best

    def regulators(self, pairs: "Pairs", after: np.ndarray) -> list[list[int]]:
        """Smallest sets of columns in which every state with next value 1 differs from every one with 0."""
        told, everything = pairs.told, pairs.apart(after)
        found: set[frozenset] = set()

        def search(left: int, size: int, chosen: frozenset) -> None:
            if not left:
                found.add(chosen)
            elif size and len(found) < self.compared:
                # few nodes tell the first pair that is left apart, and one of them must be chosen
                for i in pairs.nodes((left & -left).bit_length() - 1):
                    rest = left & ~told[i]
                    if size > 1 or not rest:
                        search(rest, size - 1, chosen | {i})

        for size in range(self.exact + 1):
            search(everything, size, frozenset())
            if found:
                return [sorted(chosen) for chosen in sorted(found, key=sorted)]
        chosen, left = [], everything
        while left:
            chosen.append(max(range(len(told)), key=lambda i: (told[i] & left).bit_count()))
            left &= ~told[chosen[-1]]
        return [sorted(chosen)]


class Pairs:
    """All pairs of n distinct states, shape (n, n_nodes), those that differ in the fewest nodes first.

    Attributes
    ----------
    told : for each node the pairs that it tells apart, as the bits of an integer.
    """

    def __init__(self, states: np.ndarray) -> None:
        self.states = states
        first, second = np.triu_indices(len(states), 1)
        differ = states[first] ^ states[second]
        order = np.argsort(differ.sum(axis=1), kind="stable")
        self.first, self.second, self.differ = first[order], second[order], differ[order]
        self.told = [bits(column) for column in self.differ.T]
        self.known: dict[int, list[int]] = {}

    def apart(self, after: np.ndarray) -> int:
        """The pairs whose next values, shape (n,), differ."""
        return bits(after[self.first] ^ after[self.second])

    def nodes(self, pair: int) -> list[int]:
        """The nodes that tell a pair apart."""
        if pair not in self.known:
            self.known[pair] = np.flatnonzero(self.differ[pair]).tolist()
        return self.known[pair]


def literals(rule: str) -> int:
    """Variables of a rule, each as often as it occurs."""
    return 0 if rule in ("0", "1") else rule.count("&") + rule.count("|") + 1
