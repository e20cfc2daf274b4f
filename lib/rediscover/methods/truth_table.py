"""Boolean rules read off the transitions: the fewest regulators that explain them, then a minimal rule."""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from ..logic import minimal_rule
from ..problems import Transitions
from . import Candidate, Method, Unsupported


@dataclass(frozen=True)
class TruthTable(Method):
    """Best-fit extension with the smallest sets of regulators.

    For each node: where equal states go different ways the majority counts (0 on a tie), which is the least error that
    any rule can have. Then the smallest sets of regulators that tell all states going to 1 from all states going to 0
    are found; of these the set whose minimal rule has the fewest literals is taken, states that were not seen being
    free.

    Attributes
    ----------
    exact : sets up to this size are found by going through all; beyond, regulators are added greedily.
    compared : sets of the smallest size whose rules are compared.

    References
    ----------
    Lähdesmäki, Shmulevich and Yli-Harja, Machine Learning 52 (2003) 147-167.
    """

    exact: int = 4
    compared: int = 20
    name: ClassVar[str] = "truth_table"
    reference: ClassVar[str] = "best-fit extension: Lähdesmäki et al., Machine Learning 52 (2003); Quine-McCluskey"
    accepts: ClassVar[tuple[type, ...]] = (Transitions,)

    def solve(self, problem, *, budget=None, seed=0):
        if not isinstance(problem, Transitions):
            raise Unsupported(f"{self.name} does not treat a {problem.kind}")
        train = problem.data(seed)["train"]
        states = [int("".join(map(str, row)), 2) for row in train.X.astype(int).tolist()]
        rules = {
            node: self.rule(problem.inputs, states, train.y[:, i].tolist()) for i, node in enumerate(problem.outputs)
        }
        return [Candidate(rules, complexity=sum(map(literals, rules.values())))]

    def rule(self, names, states: list[int], after: list[bool]) -> str:
        """A rule for one node from states, whose highest bit is the first name, and the node's next values."""
        width = len(names)
        votes: dict[int, int] = {}
        for state, value in zip(states, after, strict=True):
            votes[state] = votes.get(state, 0) + (1 if value else -1)
        ones = [code for code, vote in votes.items() if vote > 0]
        zeros = [code for code, vote in votes.items() if vote <= 0]
        best = None
        for chosen in self.regulators(ones, zeros, width):
            rows = [{_pick(code, chosen, width) for code in codes} for codes in (ones, zeros)]
            unseen = set(range(1 << len(chosen))) - rows[0] - rows[1]
            rule = minimal_rule([names[i] for i in chosen], rows[0], unseen)
            if best is None or literals(rule) < literals(best):
                best = rule
        return best

    def regulators(self, ones: list[int], zeros: list[int], width: int) -> list[tuple[int, ...]]:
        """Smallest sets of columns in which every one differs from every zero."""
        differences = _minimal({a ^ b for a in ones for b in zeros})
        bits = [1 << (width - 1 - i) for i in range(width)]
        useful = [i for i in range(width) if any(d & bits[i] for d in differences)]
        for size in range(min(self.exact, len(useful)) + 1):
            found = []
            for chosen in combinations(useful, size):
                mask = sum(bits[i] for i in chosen)
                if all(d & mask for d in differences):
                    found.append(chosen)
            if found:
                return found[: self.compared]
        chosen, left = [], differences
        while left:
            best = max(useful, key=lambda i: sum(1 for d in left if d & bits[i]))
            chosen.append(best)
            left = [d for d in left if not d & bits[best]]
        return [tuple(sorted(chosen))]


def _minimal(sets: set[int]) -> list[int]:
    """Those bit sets that contain no other."""
    kept: list[int] = []
    for candidate in sorted(sets, key=int.bit_count):
        if not any(candidate & other == other for other in kept):
            kept.append(candidate)
    return kept


def _pick(code: int, columns, width: int) -> int:
    """The bits of a state in some columns, as a row number of their truth table."""
    row = 0
    for i in columns:
        row = row << 1 | code >> (width - 1 - i) & 1
    return row


def literals(rule: str) -> int:
    """Variables of a rule, each as often as it occurs."""
    return 0 if rule in ("0", "1") else rule.count("&") + rule.count("|") + 1
