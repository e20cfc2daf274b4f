"""Boolean rules read off the transitions: the fewest regulators that explain them, then a minimal rule."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..logic import minimal_rule
from ..problems import Transitions
from . import Candidate, Method, Unsupported


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
    reference: ClassVar[str] = (
        "best-fit extension: Lähdesmäki et al., Machine Learning 52 (2003); Quine-McCluskey"
    )
    accepts: ClassVar[tuple[type, ...]] = (Transitions,)

    def solve(self, problem, *, budget=None, seed=0):
        if not isinstance(problem, Transitions):
            raise Unsupported(f"{self.name} does not treat a {problem.kind}")
        train = problem.data(seed)["train"]
        states, which = np.unique(train.X, axis=0, return_inverse=True)
        votes = np.zeros((len(states), train.y.shape[1]))
        np.add.at(votes, which, np.where(train.y, 1, -1))
        rules = {
            node: self.rule(problem.inputs, states, vote > 0)
            for node, vote in zip(problem.outputs, votes.T, strict=True)
        }
        return [Candidate(rules, complexity=sum(map(literals, rules.values())))]

    def rule(self, names, states: np.ndarray, after: np.ndarray) -> str:
        """A rule for one node from distinct states, shape (n, n_names), and its next values, shape (n,),
        bool."""
        best = None
        for chosen in self.regulators(states, after):
            rows = states[:, chosen] @ (1 << np.arange(len(chosen))[::-1])
            ones, zeros = set(rows[after].tolist()), set(rows[~after].tolist())
            unseen = set(range(1 << len(chosen))) - ones - zeros
            rule = minimal_rule([names[i] for i in chosen], ones, unseen)
            if best is None or literals(rule) < literals(best):
                best = rule
            if literals(best) <= len(chosen):  # no fewer: in a smallest set every regulator must occur
                break
        return best

    def regulators(self, states: np.ndarray, after: np.ndarray) -> list[list[int]]:
        """Smallest sets of columns in which every state with next value 1 differs from every one with 0."""
        differences = (states[after][:, None] ^ states[~after][None]).reshape(-1, states.shape[1])
        differences = differences[np.argsort(differences.sum(axis=1), kind="stable")]
        told = [
            int.from_bytes(column.tobytes(), "big") for column in np.packbits(differences[::-1], axis=0).T
        ]
        pad = -len(differences) % 8
        told = [column >> pad for column in told]  # bit j: column tells the pair of states j apart
        everything = (1 << len(differences)) - 1
        found: set[frozenset] = set()

        def search(left: int, size: int, chosen: frozenset):
            if not left:
                found.add(chosen)
            elif size and len(found) < self.compared:
                pair = (
                    left & -left
                ).bit_length() - 1  # few columns tell it apart, one of them must be chosen
                for i in np.flatnonzero(differences[pair]).tolist():
                    if size > 1 or not left & ~told[i]:
                        search(left & ~told[i], size - 1, chosen | {i})

        for size in range(self.exact + 1):
            search(everything, size, frozenset())
            if found:
                return [sorted(chosen) for chosen in sorted(found, key=sorted)]
        chosen, left = [], everything
        while left:
            chosen.append(max(range(len(told)), key=lambda i: (told[i] & left).bit_count()))
            left &= ~told[chosen[-1]]
        return [sorted(chosen)]


def literals(rule: str) -> int:
    """Variables of a rule, each as often as it occurs."""
    return 0 if rule in ("0", "1") else rule.count("&") + rule.count("|") + 1
