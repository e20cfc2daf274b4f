"""Which expression of a front is the answer, by PySR's rules, whatever the unit of the target."""

import math

import numpy as np

EXACT = 1e-28  # losses relative to the mean square of the target below this are rounding


def scores_of(losses: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Fall of log loss per token along a front; 0 for the first.

    Losses below `EXACT` count as that.

    >>> scores_of([1.0, 0.1, 1e-30], [1, 3, 4]).round(3).tolist()
    [0.0, 1.151, 62.17]
    """
    logs = np.log(np.maximum(losses, EXACT))
    return np.append(0.0, -np.diff(logs) / np.diff(sizes))


def choose(losses: np.ndarray, scores: np.ndarray, selection: str = "best") -> int:
    """Index of the answer on a front.

    Parameters
    ----------
    losses : relative to the mean square of the target; below `EXACT` they count as that.
    scores : as from `scores_of`
    selection : 'accuracy' takes the least loss, 'score' the highest score, 'best' the highest score among losses
        up to 1.5 times the least.

    >>> choose([1, 0.1, 0.01, 0.0014, 0.001], [0.5, 1, 0.5, 0.5, 0.3])
    3
    """
    losses, scores = np.maximum(losses, EXACT), np.asarray(scores, float)
    if selection == "accuracy":
        return int(np.argmin(losses))
    if selection == "score":
        return int(np.argmax(scores))
    if selection == "best":
        return int(np.argmax(np.where(losses <= 1.5 * losses.min(), scores, -math.inf)))
    raise ValueError(f"model_selection is 'best', 'accuracy' or 'score', got {selection!r}")
