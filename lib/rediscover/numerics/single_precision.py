"""Rows drawn at random, kept where the target fits single precision: the rule of the released code of SRSD."""

from collections.abc import Callable

import numpy as np

REFILLS = 10  # further batches, each of twice the first shortfall
SMALLEST, LARGEST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


def accepted(y: np.ndarray) -> np.ndarray:
    """Which targets are normal single-precision numbers.

    >>> accepted(np.array([1.0, -1e38, 0.0, 1e-40, 1e39, np.nan])).tolist()
    [True, True, False, False, False, False]
    """
    return (np.abs(y) >= SMALLEST) & (np.abs(y) <= LARGEST)  # False for NaN


def kept_rows(draw: Callable[[int], np.ndarray], rows: int) -> np.ndarray:
    """The first accepted rows of as many batches as it takes, fewer than asked for if `REFILLS` more do not do.

    Parameters
    ----------
    draw : makes so many rows, the target last

    Returns
    -------
    ndarray, shape (rows or fewer, inputs + 1)
    """

    def batch(size: int) -> np.ndarray:
        drawn = draw(size)
        return drawn[accepted(drawn[:, -1])]

    kept = batch(rows)
    missing = rows - len(kept)
    for _ in range(REFILLS):
        if len(kept) >= rows:
            break
        kept = np.concatenate([kept, batch(2 * missing)])
    return kept[:rows]
