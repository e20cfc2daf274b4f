"""Monte Carlo tree search over what a decoder may write, as in TPSR.

A decoder writes a sequence token by token. Planned decoding tries, before each token, several continuations to
their end, and goes where the best of them was. An expression, and the fit of its constants, is what costs: a
sequence is rewarded once, and the end of a prefix is sought once.

References
----------
P. Shojaee, K. Meidani, A. Barati Farimani, C. Reddy, Transformer-based planning for symbolic regression, NeurIPS 2023
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

Sequence = tuple[int, ...]
UNDEFINED = -2.0  # reward of what has no error


class Decoder(Protocol):
    """What is planned over.

    Attributes
    ----------
    end : the token that ends a sequence.
    """

    end: int

    def next(self, prefix: Sequence) -> np.ndarray:
        """Log-probabilities of the next token, shape (n_tokens,); -inf for what may not stand there."""


@dataclass(frozen=True)
class Settings:
    """Settings of the search; the defaults are those of the released code.

    Attributes
    ----------
    rollouts : before each token that is written.
    width : children of a prefix at most, the most likely tokens first.
    exploration : weight of sqrt(ln(visits of the parent) / visits).
    horizon : tokens of a sequence at most, the end included.
    """

    rollouts: int = 3
    width: int = 3
    exploration: float = 1.0
    horizon: int = 200

    def __post_init__(self):
        if min(self.rollouts, self.width, self.horizon) < 1:
            raise ValueError("rollouts, width and horizon must be at least 1")
        if not 0 <= self.exploration < math.inf:
            raise ValueError(f"exploration must be finite and at least 0, got {self.exploration}")


class Plan(NamedTuple):
    """What was written.

    Attributes
    ----------
    sequence : tokens, the end included unless the horizon cut it off.
    reward : its own.
    rewards : of every sequence that was rewarded, in that order.
    decoded : number of prefixes that the decoder was asked for.
    """

    sequence: Sequence
    reward: float
    rewards: dict[Sequence, float]
    decoded: int


@dataclass
class Node:
    """A prefix in the tree: its likely tokens, what followed on them, and the best reward below it."""

    prefix: Sequence
    tokens: list[int]
    children: dict[int, "Node"] = field(default_factory=dict)
    visits: int = 0
    value: float = -math.inf


class Planner:
    """The tree search with its two caches.

    Parameters
    ----------
    decoder : Decoder
    reward : of a sequence that ends or reaches the horizon; the larger the better, never NaN.
    settings : Settings
    """

    def __init__(self, decoder: Decoder, reward: Callable[[Sequence], float], settings: Settings | None = None):
        self.decoder, self.reward, self.settings = decoder, reward, settings or Settings()
        self.likely: dict[Sequence, list[int]] = {}
        self.ends: dict[Sequence, Sequence] = {}
        self.rewards: dict[Sequence, float] = {}

    def plan(self, evaluations: int | None = None) -> Plan:
        """Write one sequence.

        Parameters
        ----------
        evaluations : sequences that may be rewarded; when they are spent the best is completed as it is.
        """
        if evaluations is not None and evaluations < 1:
            raise ValueError(f"evaluations must be at least 1, got {evaluations}")
        most = math.inf if evaluations is None else evaluations
        root = self.node(())
        while not self.terminal(root.prefix):
            for _ in range(self.settings.rollouts):
                if len(self.rewards) >= most:
                    return self.result(max(self.rewards, key=self.rewards.__getitem__))
                self.roll_out(root)
            root = max(root.children.values(), key=lambda child: child.value)
        return self.result(root.prefix)

    def result(self, sequence: Sequence) -> Plan:
        return Plan(sequence, self.rewards[sequence], self.rewards, len(self.likely))

    def roll_out(self, root: Node) -> None:
        """Descend to a prefix with a token that was not tried, try it to the end, and tell all above."""
        path = [root]
        while not self.terminal(path[-1].prefix):
            node = path[-1]
            if len(node.children) < len(node.tokens):
                token = node.tokens[len(node.children)]
                node.children[token] = self.node((*node.prefix, token))
                path.append(node.children[token])
                break
            path.append(max(node.children.values(), key=lambda child: self.bound(child, node.visits)))
        reward = self.rewarded(self.completed(path[-1].prefix))
        for node in path:
            node.visits += 1
            node.value = max(node.value, reward)

    def bound(self, child: Node, visits: int) -> float:
        return child.value + self.settings.exploration * math.sqrt(math.log(visits) / child.visits)

    def node(self, prefix: Sequence) -> Node:
        return Node(prefix, [] if self.terminal(prefix) else self.tokens(prefix)[: self.settings.width])

    def terminal(self, prefix: Sequence) -> bool:
        return len(prefix) >= self.settings.horizon or prefix[-1:] == (self.decoder.end,)

    def tokens(self, prefix: Sequence) -> list[int]:
        """The tokens that may come next, the most likely first; equals in their order."""
        if prefix not in self.likely:
            logs = np.asarray(self.decoder.next(prefix), float)
            order = np.argsort(-logs, kind="stable")
            self.likely[prefix] = [int(token) for token in order if logs[token] > -math.inf]
            if not self.likely[prefix]:
                raise ValueError(f"the decoder has no token after {prefix}")
        return self.likely[prefix]

    def completed(self, prefix: Sequence) -> Sequence:
        """The whole sequence that the most likely tokens make of a prefix."""
        way = [prefix]
        while way[-1] not in self.ends and not self.terminal(way[-1]):
            way.append((*way[-1], self.tokens(way[-1])[0]))
        whole = self.ends.get(way[-1], way[-1])
        self.ends.update(dict.fromkeys(way, whole))
        return whole

    def rewarded(self, sequence: Sequence) -> float:
        if sequence not in self.rewards:
            self.rewards[sequence] = float(self.reward(sequence))
        return self.rewards[sequence]


def tpsr_reward(error: float, tokens: int, weight: float = 0.1, horizon: int = 200) -> float:
    """Reward of an expression: 1/(1 + error) + weight exp(-tokens/horizon); `UNDEFINED` where the error is not finite.

    Parameters
    ----------
    error : root of MSE over mean(y^2) over the end-to-end transformer, MSE over mean(y^2) over NeSymReS.
    tokens : of the sequence.

    >>> round(tpsr_reward(0.0, 20), 4), tpsr_reward(math.nan, 20)
    (1.0905, -2.0)
    """
    return 1 / (1 + error) + weight * math.exp(-tokens / horizon) if 0 <= error < math.inf else UNDEFINED
