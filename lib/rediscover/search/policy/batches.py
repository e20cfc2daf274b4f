"""Many token sequences in one array."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

EXACT = 1e-12  # mean squared error over the variance of the targets


class Batch(NamedTuple):
    """Rewarded token sequences.

    Attributes
    ----------
    tokens : int8, shape (n, places), -1 after the end of a sequence.
    lengths : shape (n,).
    rewards : shape (n,).
    """

    tokens: np.ndarray
    lengths: np.ndarray
    rewards: np.ndarray

    def sequences(self) -> list[np.ndarray]:
        """The sequences without what follows their ends."""
        return [row[:length] for row, length in zip(self.tokens, self.lengths, strict=True)]

    def best(self, n: int) -> "Batch":
        """The n best distinct sequences, best first; the first of equals stays."""
        order = np.argsort(-self.rewards, kind="stable")
        kept: dict[bytes, int] = {}
        for k in order:
            kept.setdefault(self.tokens[k, : self.lengths[k]].tobytes(), k)
            if len(kept) == n:
                break
        rows = list(kept.values())
        return Batch(self.tokens[rows], self.lengths[rows], self.rewards[rows])


def packed(sequences: Iterable[Sequence[int] | np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Tokens and lengths of sequences, as in a `Batch`.

    >>> packed([[0], [1, 0, 0]])[0].tolist()
    [[0, -1, -1], [1, 0, 0]]
    """
    sequences = list(sequences)
    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    tokens = np.full((len(sequences), lengths.max(initial=1)), -1, np.int8)
    for row, sequence in zip(tokens, sequences, strict=True):
        row[: len(sequence)] = sequence
    return tokens, lengths


def joined(first: Batch, second: Batch) -> Batch:
    """All sequences of two batches."""
    tokens, lengths = packed([*first.sequences(), *second.sequences()])
    return Batch(tokens, lengths, np.concatenate([first.rewards, second.rewards]))


def solved(reward: float) -> bool:
    """Whether a reward 1/(1 + e) stands for an exact answer, e^2 < 1e-12.

    >>> solved(1 / (1 + 1e-7)), solved(1 / (1 + 1e-5)), solved(0.0)
    (True, False, False)
    """
    return bool(reward > 0 and (1 / reward - 1) ** 2 < EXACT)
