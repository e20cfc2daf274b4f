"""Places in a figure: points that no other one beats, marks that would hide each other, and the axes below them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # loaded on first use
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


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


def logarithmic(ax: "Axes", axis: "Axis", most: int = 6, plain: float = 2) -> None:
    """Make an axis logarithmic, with labels that stay apart: plain numbers within some decades, else powers.

    Parameters
    ----------
    ax : Axes
    axis : Axis
        One of the two axes of `ax`.
    most : int
        Plain numbers that have room on it.
    plain : float
        From how many decades on labels are powers.
    """
    import math

    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    (ax.set_xscale if axis is ax.xaxis else ax.set_yscale)("log")
    low, high = sorted(axis.get_view_interval())
    axis.set_minor_formatter(NullFormatter())
    if low > 0 and math.log10(high / low) < plain:
        ways = ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))[math.log10(high / low) >= 1.5 :]
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        counts = [sum(low <= sub * 10.0**power <= high for power in powers for sub in subs) for subs in ways]
        room = [subs for subs, count in zip(ways, counts, strict=True) if 2 <= count <= most]
        axis.set_major_locator(LogLocator(subs=room[0] if room else ways[-1 if counts[-1] > most else 0]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
