"""Points of a figure: which no other one beats, and where marks go that would hide each other."""

from collections.abc import Sequence

import numpy as np


def front(points: np.ndarray | Sequence[Sequence[float]]) -> np.ndarray:
    """Which points no other one beats, where less is better.

    Parameters
    ----------
    points : array_like, shape (n, k)

    Returns
    -------
    ndarray of bool, shape (n,)

    Examples
    --------
    >>> front([(1, 3), (2, 2), (2, 4)]).tolist()
    [True, True, False]
    """
    array = np.asarray(points, float)
    return ~np.array([any((array <= p).all(1) & (array < p).any(1)) for p in array], bool)


def dodge(places: np.ndarray | Sequence[Sequence[float]], gap: float) -> np.ndarray:
    """Where marks go so that none hides another: those nearer than `gap` push each other away.

    Parameters
    ----------
    places : array_like, shape (n, 2)
        In points of the figure.
    gap : float
        The distance that two marks keep, in points, above 0.

    Returns
    -------
    ndarray, shape (n, 2)
        How far each moves, in points; 0 for those that stay. The same for the same places, in their order.

    Examples
    --------
    >>> dodge([(0, 0), (0, 0), (50, 0)], gap=8).round(2).tolist()
    [[4.0, 0.0], [-4.0, 0.0], [0.0, 0.0]]
    """
    start = np.asarray(places, float).reshape(-1, 2)
    now, n = start.copy(), len(start)
    turn = 2 * np.pi * np.arange(n) / max(n, 1)
    ways = np.stack([np.cos(turn), np.sin(turn)], axis=1)  # of marks on one place
    ways = ways[:, None] - ways[None]
    for _ in range(500):
        apart = now[:, None] - now[None]
        distance = np.linalg.norm(apart, axis=2)
        short = np.where(distance < gap - 1e-6, gap - distance, 0.0)
        np.fill_diagonal(short, 0.0)
        if not short.any():
            break
        aim = np.where(distance[..., None] > 1e-6, apart, ways)
        aim = aim / np.maximum(np.linalg.norm(aim, axis=2), 1e-300)[..., None]
        now += (aim * short[..., None]).sum(axis=1) / 2
    return now - start
