"""How often an equation is chosen again when the rows are drawn again.

Nothing is searched again: of a front that was found, each form is fitted to a bootstrap resample of the rows and
compared on another, and one is chosen by the rules of `choice`. So it measures how sure the choice among the forms of
this front is under chance in the rows, and not whether a search on other rows would have found the same forms.

References
----------
Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapter 6.
"""

from collections.abc import Callable, Sequence

import numpy as np

from . import choice
from .base import held_out_rows
from .constants import Form
from .residuals import TableResiduals
from .selection import assessed, chosen


def times_chosen(
    forms: Sequence[Form],
    rows: int,
    resampled: Callable[[np.ndarray, np.ndarray], TableResiduals],
    count: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """How often each form of a front is chosen, shape (n_forms,).

    Parameters
    ----------
    forms : list of Form
    rows : of the table
    resampled : residuals from how often each row was drawn, shape (rows,), and from which rows are held out
    count : resamples
    rng : of the held-out rows, which are others each time, and of the resamples of these and of the rest
    """
    found = np.zeros(len(forms), int)
    for _ in range(count):
        out = held_out_rows(rows, rng)
        drawn = np.zeros(rows)
        for part in (np.flatnonzero(~out), np.flatnonzero(out)):
            if len(part):
                drawn[part] = rng.multinomial(len(part), np.full(len(part), 1 / len(part)))
        residuals = resampled(drawn, out)
        every = [assessed(form, residuals) for form in forms]
        kept = choice.front([each.complexity for each in every], [each.held_out for each in every])
        if kept:
            found[kept[chosen([every[i] for i in kept], residuals)]] += 1
    return found
