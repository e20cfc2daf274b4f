"""Constants of programs by Adam, as SGA trains its modules."""

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from ...expressions.programs import Reading
from .slot_fits import Fit, Objective, Table, objective

FIRST, SECOND, TINY = 0.9, 0.999, 1e-8  # decays of the moments; what keeps the step finite
CLIP = 1.0  # largest norm of a gradient


def adam(
    mean_square: Objective, start: np.ndarray, *, rate: float, epochs: int, every: int, drops: Collection[int] = ()
):
    """Constants at the least error that was looked at, and those errors, one in `every` epochs.

    An error that is not finite ends the search. At each of the epochs in `drops` the rate falls to a tenth.

    Returns
    -------
    values : ndarray, shape (constants,)
    errors : list of float
        Empty where the start is undefined.

    References
    ----------
    D. P. Kingma and J. Ba, Adam, arXiv:1412.6980

    >>> values, errors = adam(lambda c: (float(c[0] ** 2), 2 * c), np.ones(1), rate=0.1, epochs=100, every=10)
    >>> len(errors), errors[0], bool(abs(values[0]) < 0.1)
    (11, 1.0, True)
    """
    x, best, errors = np.array(start, float), np.array(start, float), list[float]()
    first, second = np.zeros_like(x), np.zeros_like(x)
    for epoch in range(epochs + 1):
        rate = rate / 10 if epoch in drops else rate
        error, slope = mean_square(x)
        if not np.isfinite(error):
            break
        if epoch % every == 0:
            best = x.copy() if not errors or error < min(errors) else best
            errors.append(error)
        if not len(x):
            break
        slope = slope * min(1.0, CLIP / (float(np.linalg.norm(slope)) + 1e-6))
        first = FIRST * first + (1 - FIRST) * slope
        second = SECOND * second + (1 - SECOND) * slope**2
        step = first / (1 - FIRST ** (epoch + 1))
        x -= rate * step / (np.sqrt(second / (1 - SECOND ** (epoch + 1))) + TINY)
    return best, errors


@dataclass(frozen=True)
class Adam(Fit):
    """Constants from where the program puts them; the errors on the way are kept.

    Attributes
    ----------
    rate, epochs, every : of `adam`; SGA's own.
    curves : text of an expression -> its errors.
    """

    rate: float = 0.03
    epochs: int = 1000
    every: int = 10
    curves: dict[str, list[float]] = field(default_factory=dict)

    def __call__(self, reading: Reading, data: Table) -> tuple[tuple[float, ...], float]:
        start = np.array([slot.start for slot in reading.slots], float)
        with np.errstate(all="ignore"):
            mean_square = objective(reading, data)
            values, errors = adam(mean_square, start, rate=self.rate, epochs=self.epochs, every=self.every)
        self.curves[str(reading.expression)] = errors
        return tuple(map(float, values)), min(errors, default=np.inf)
