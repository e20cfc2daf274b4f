"""Search by a policy that learns to write better expressions.

A recurrent network and a prior give the chances of the next token. In each step a batch is drawn and rewarded,
optionally bred further (`token_genetics`), and the network moves towards its best part.

References
----------
B. K. Petersen et al., Deep symbolic regression, ICLR 2021: risk-seeking policy gradient.
D. A. Abolafia et al., Neural program synthesis with priority queue training, 2018.
T. N. Mundhenk et al., Symbolic regression via neural-guided genetic programming population seeding, NeurIPS 2021.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import njit

from . import lstm
from .batches import Batch, joined, packed, solved
from .priors import Rules, look, look_back
from .rewards import Rewards
from .token_genetics import Breeding, breed


@dataclass(frozen=True)
class Training:
    """How the policy is trained.

    Attributes
    ----------
    batch : expressions drawn for each step.
    quantile : the share of the batch that is learned from, in (0, 1).
    learning_rate : of Adam.
    entropy, decay : weight of the entropy and the factor by which it falls from token to token.
    policy_gradient : learn from the best part of the batch.
    queue, queue_weight : size of the queue of the best expressions ever, and weight of the likelihood of one
        drawn from it; queue 0 for none.
    breeding : genetic steps after each batch, or None.
    units : of the recurrent network.
    """

    batch: int = 1000
    quantile: float = 0.05
    learning_rate: float = 5e-4
    entropy: float = 0.005
    decay: float = 1.0
    policy_gradient: bool = True
    queue: int = 0
    queue_weight: float = 200.0
    breeding: Breeding | None = None
    units: int = 32

    def __post_init__(self):
        if self.batch < 1 or self.units < 1 or self.queue < 0:
            raise ValueError("batch and units must be at least 1, queue at least 0")
        if not 0 < self.quantile < 1:
            raise ValueError(f"quantile must lie between 0 and 1, got {self.quantile}")
        if not (self.learning_rate > 0 and self.entropy >= 0 and 0 < self.decay <= 1 and self.queue_weight >= 0):
            raise ValueError("need learning_rate > 0, entropy >= 0, 0 < decay <= 1 and queue_weight >= 0")


@njit(cache=True)
def draw(logits, prior, chances):
    """A token for each row, by inversion of the cumulated chances.

    Parameters
    ----------
    logits, prior : added, shape (n, n_tokens); -inf for what is barred
    chances : uniform in [0, 1), shape (n,)
    """
    n, n_tokens = prior.shape
    chosen = np.empty(n, np.int8)
    weights = np.empty(n_tokens)
    for k in range(n):
        highest = -np.inf
        for token in range(n_tokens):
            weights[token] = logits[k, token] + prior[k, token]
            highest = max(highest, weights[token])
        total = 0.0
        for token in range(n_tokens):
            weights[token] = np.exp(weights[token] - highest)
            total += weights[token]
        left = chances[k] * total
        for token in range(n_tokens):
            if weights[token] > 0.0:
                chosen[k] = token
                left -= weights[token]
                if left < 0.0:
                    break
    return chosen


def sample(weights: lstm.Weights, rules: Rules, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw n whole expressions.

    Returns
    -------
    tokens : int8, shape (n, places), -1 after the end
    lengths : shape (n,)
    """
    units = len(weights["hidden"])
    table = lstm.drive(weights)
    tokens = np.full((n, rules.max_length), -1, np.int8)
    lengths = np.zeros(n, np.int64)
    alive, open_nodes = np.arange(n), np.ones(n, np.int64)
    output = cell = np.zeros((n, units), table.dtype)
    for t in range(rules.max_length):
        parents, siblings, prior = look(tokens, alive, t, rules)
        step, cell = lstm.advance(weights, table[parents, siblings], output, cell)
        chosen = draw(lstm.logits(weights, step.output), prior, rng.random(len(alive)))
        tokens[alive, t] = chosen
        lengths[alive] += 1
        open_nodes += rules.arity[chosen] - 1
        going = open_nodes > 0
        if not going.any():
            break
        alive, open_nodes = alive[going], open_nodes[going]
        output, cell = step.output[going], cell[going]
    return tokens[:, : lengths.max()], lengths


def threshold(rewards: np.ndarray, quantile: float) -> float:
    """The reward that the best part of a batch reaches: its (1 - quantile) quantile, the higher one of two.

    >>> threshold(np.array([0.1, 0.5, 0.2, 0.9, 0.3]), 0.3)
    0.5
    """
    return float(np.quantile(rewards, 1 - quantile, method="higher"))


class Judgement(NamedTuple):
    """What the policy thinks of sequences; from `judge`."""

    likelihood: np.ndarray  # log-probability of each sequence, shape (n,)
    entropy: np.ndarray  # sum of the entropies of its tokens' chances, times decay^t, shape (n,)
    loss: float
    gradient: dict[str, np.ndarray]


def judge(
    weights: lstm.Weights,
    rules: Rules,
    tokens: np.ndarray,
    lengths: np.ndarray,
    pull: np.ndarray,
    spread: np.ndarray,
    decay: float = 1.0,
) -> Judgement:
    """The loss of sequences and its derivatives.

    loss = sum_k pull_k (-log p_k) - spread_k sum_t decay^t H_kt, where chances p and entropies H include the
    prior.

    Parameters
    ----------
    tokens, lengths : sequences, shapes (n, places) and (n,)
    pull, spread : shape (n,)
    decay : in (0, 1]
    """
    parents, siblings, prior = look_back(tokens, lengths, rules)
    logits, steps = lstm.unroll(weights, parents, siblings)
    scores = logits + prior
    scores -= scores.max(axis=2, keepdims=True)
    log_chances = scores - np.log(np.exp(scores).sum(axis=2, keepdims=True))
    chances = np.exp(log_chances)
    weighted = np.where(chances > 0, chances * np.where(chances > 0, log_chances, 0.0), 0.0)  # p log p
    entropies = -weighted.sum(axis=2)
    places = np.arange(tokens.shape[1])
    inside = (places[:, None] < lengths).astype(float)
    fading = decay ** places[:, None] * inside
    hot = np.eye(prior.shape[2])[tokens.T] * inside[..., None]
    likelihood = np.where(hot > 0, log_chances, 0.0).sum(axis=(0, 2))
    entropy = (fading * entropies).sum(axis=0)
    slopes = (pull * inside)[..., None] * (chances - hot)
    slopes += (spread * fading)[..., None] * (weighted + chances * entropies[..., None])
    gradient = lstm.backward(weights, parents, siblings, steps, slopes)
    return Judgement(likelihood, entropy, float(-pull @ likelihood - spread @ entropy), gradient)


class Entry(NamedTuple):
    """A sequence worth keeping."""

    reward: float
    sequence: np.ndarray


@dataclass
class Finds:
    """What a search found.

    Attributes
    ----------
    best : complexity -> the best sequence of that complexity.
    evaluations : expressions drawn and bred.
    steps : batches.
    solved_at : evaluations when an exact one was first met (the end of that batch), or None.
    """

    best: dict[int, Entry] = field(default_factory=dict)
    evaluations: int = 0
    steps: int = 0
    solved_at: int | None = None

    def note(self, batch: Batch, sizes: np.ndarray) -> None:
        """Keep the best of each complexity; the first of equals stays.

        Parameters
        ----------
        sizes : complexity of each sequence, shape (n,)
        """
        order = np.lexsort((np.arange(len(sizes)), -batch.rewards, sizes))
        first = np.unique(sizes[order], return_index=True)[1]
        for k in order[first]:
            size, reward = int(sizes[k]), float(batch.rewards[k])
            if reward > 0 and (size not in self.best or reward > self.best[size].reward):
                self.best[size] = Entry(reward, batch.tokens[k, : batch.lengths[k]].copy())
        if self.solved_at is None and solved(batch.rewards.max()):
            self.solved_at = self.evaluations

    def front(self) -> list[tuple[int, Entry]]:
        """Complexity and entry of what nothing smaller or equal beats, the best reward first."""
        kept: list[tuple[int, Entry]] = []
        for size, entry in sorted(self.best.items(), key=lambda item: item[0]):
            if not kept or entry.reward > kept[-1][1].reward:
                kept.append((size, entry))
        return kept[::-1]


def lesson(
    batch: Batch, training: Training, drawn: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The sequences that a step learns from, and how strongly.

    Parameters
    ----------
    drawn : a sequence of the queue, or None

    Returns
    -------
    tokens, lengths, pull, spread
        As `judge` takes them. A sequence of reward R at or above the threshold q is pulled by (R - q)/n.
    """
    q = threshold(batch.rewards, training.quantile)
    kept = batch.rewards >= q
    tokens, lengths = batch.tokens[kept], batch.lengths[kept]
    pull = (batch.rewards[kept] - q) / len(lengths) if training.policy_gradient else np.zeros(len(lengths))
    spread = np.full(len(lengths), training.entropy / len(lengths))
    if drawn is not None:
        tokens, lengths = packed([*(row[:size] for row, size in zip(tokens, lengths, strict=True)), drawn])
        pull, spread = np.append(pull, training.queue_weight), np.append(spread, 0.0)
    return tokens[:, : lengths.max()], lengths, pull, spread


def search(rewards: Rewards, rules: Rules, training: Training, evaluations: int, rng: np.random.Generator) -> Finds:
    """Draw, reward, breed and learn until an expression is exact or the evaluations are used up.

    Parameters
    ----------
    rewards : of the data
    rules : prior
    evaluations : at most so many expressions are drawn and bred; at least 1

    Returns
    -------
    Finds
    """
    if evaluations < 1:
        raise ValueError(f"evaluations must be at least 1, got {evaluations}")
    weights = lstm.initial(len(rules.arity), training.units, rng)
    adam = lstm.Adam(weights, training.learning_rate)
    queue, finds = None, Finds()
    while finds.evaluations < evaluations and finds.solved_at is None:
        tokens, lengths = sample(weights, rules, min(training.batch, evaluations - finds.evaluations), rng)
        finds.evaluations += len(lengths)
        finds.steps += 1
        batch = Batch(tokens, lengths, rewards(tokens, lengths))
        finds.note(batch, rewards.complexity(tokens, lengths))
        if training.breeding and finds.solved_at is None:
            batch = _bred(batch, rewards, rules, training.breeding, evaluations, finds, rng)
        drawn = None
        if training.queue:
            queue = (joined(queue, batch) if queue else batch).best(training.queue)
            drawn = queue.sequences()[rng.integers(len(queue.lengths))]
        adam.step(judge(weights, rules, *lesson(batch, training, drawn), training.decay).gradient)
    return finds


def _bred(batch, rewards, rules, breeding, evaluations, finds, rng) -> Batch:
    """The batch and the best of the generations that follow from it."""

    def counted(tokens, lengths):
        found = rewards(tokens, lengths)
        finds.evaluations += len(lengths)
        finds.note(Batch(tokens, lengths, found), rewards.complexity(tokens, lengths))
        return found

    best = breed(batch, counted, rules, breeding, evaluations - finds.evaluations, rng)
    return joined(batch, best)
