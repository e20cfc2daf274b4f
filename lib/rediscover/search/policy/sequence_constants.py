"""Constants of a token sequence, fitted by compiled quasi-Newton steps.

The error that is minimised has a kink where the fit is exact, as the absolute value has. The line search is
therefore the one by bisection that Lewis and Overton (2013) show to work with BFGS on such functions.
"""

import numpy as np
from numba import njit

from .sequences import error

STEP = 1e-8  # of the forward differences, as SciPy's L-BFGS-B takes it
LEAST_GAIN = 2.2e-9  # of one step, below which the search ends, as there
DECREASE, CURVATURE, BISECTIONS, STEPS = 1e-4, 0.9, 25, 200


@njit(cache=True)
def value(x, unit, sequence, codes, X, y, scale, stack):
    """`sequences.error` with the constants ``x * unit``; 1 for an invalid sequence."""
    found = error(sequence, codes, X, y, scale, x * unit, unit, stack)
    return 1.0 if np.isnan(found) else found


@njit(cache=True)
def slopes(here, x, unit, sequence, codes, X, y, scale, stack):
    """Forward differences of `value`, which is `here` at x."""
    moved = x.copy()
    found = np.empty(len(x))
    for k in range(len(x)):
        moved[k] = x[k] + STEP
        found[k] = (value(moved, unit, sequence, codes, X, y, scale, stack) - here) / STEP
        moved[k] = x[k]
    return found


@njit(cache=True)
def minimise(unit, sequence, codes, X, y, scale, stack, gtol):
    """Constants at a local minimum of the error near `unit`.

    Parameters
    ----------
    unit : one number for each ``const`` of the sequence, shape (k,), none of them 0; the search starts there
        and takes its steps in these units
    gtol : the search ends where no slope is larger
    sequence, codes, X, y, scale, stack : as `sequences.error` takes them

    Returns
    -------
    ndarray, shape (k,)
        Never worse than `unit`; equal to it where the error is flat there.
    """
    n = len(unit)
    x = np.ones(n)
    f = value(x, unit, sequence, codes, X, y, scale, stack)
    g = slopes(f, x, unit, sequence, codes, X, y, scale, stack)
    curvature = np.eye(n)  # inverse of the second derivatives
    for step in range(STEPS):
        steepest = np.abs(g).max()
        if not gtol < steepest < np.inf:
            break
        direction = -(curvature @ g)
        descent = direction @ g
        if not descent < 0.0:
            break
        length = min(1.0, 1.0 / np.sqrt(g @ g)) if step == 0 else 1.0
        low, high, moved = 0.0, np.inf, False
        for _ in range(BISECTIONS):
            there = x + length * direction
            f_there = value(there, unit, sequence, codes, X, y, scale, stack)
            if not f_there <= f + DECREASE * length * descent:
                high = length
            else:
                best, f_best, moved = there, f_there, True
                g_best = slopes(f_there, there, unit, sequence, codes, X, y, scale, stack)
                if g_best @ direction >= CURVATURE * descent:
                    break
                low = length
            length = 2.0 * low if high == np.inf else 0.5 * (low + high)
        if not moved:
            break
        gain, s, z = f - f_best, best - x, g_best - g
        x, f, g = best, f_best, g_best
        bend = s @ z
        if gain <= LEAST_GAIN * max(1.0, f):
            break
        if 0.0 < bend < np.inf:
            if step == 0:
                curvature *= bend / (z @ z)
            left = np.eye(n) - np.outer(s, z) / bend
            curvature = left @ curvature @ left.T + np.outer(s, s) / bend
    return x * unit
