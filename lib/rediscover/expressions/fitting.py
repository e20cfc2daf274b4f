"""Least squares from several starts.

The search is SciPy's trust region, not its MINPACK: that one, in SciPy 1.17, gives other constants from call to
call where the Jacobian lacks rank, as it does for constants that the data cannot tell apart.
"""

import functools
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import least_squares

PENALTY = 1e6  # scaled residual of a row where the expression is undefined, and bound of all others
EXACT = 1e-28  # mean squared scaled residual at which no further start is tried


def best_constants(
    computed: Callable[[np.ndarray], list[np.ndarray]],
    start: np.ndarray,
    y: np.ndarray,
    starts: int,
    rng: np.random.Generator,
    evaluations: int,
) -> np.ndarray | None:
    """Constants with a smaller sum of squared errors than `start` has, or None.

    `computed` gives the expression's values and its derivatives with respect to the constants, at some constants.
    Residuals are divided by the root mean square of y.
    """
    scale = float(np.sqrt(np.mean(y**2))) or 1.0
    scale = scale if np.isfinite(scale) else float(np.max(np.abs(y)))

    @functools.lru_cache(maxsize=1)  # a step that is taken asks for its values, then for its slopes
    def rows(constants: bytes) -> np.ndarray:
        parts = computed(np.frombuffer(constants))
        found = np.empty((len(parts), len(y)))
        with np.errstate(all="ignore"):
            for row, part in zip(found, parts, strict=True):
                row[:] = np.ravel(part) / scale
        return found

    def bounded(found: np.ndarray) -> np.ndarray:
        found = np.clip(found, -PENALTY, PENALTY)
        found[np.isnan(found)] = PENALTY
        return found

    def misses(constants: np.ndarray) -> np.ndarray:
        return rows(constants.tobytes())[0] - y / scale

    def residuals(constants: np.ndarray) -> np.ndarray:
        return bounded(misses(constants))

    def jacobian(constants: np.ndarray) -> np.ndarray:
        value, *derivatives = rows(constants.tobytes())
        slopes = np.array(derivatives).T
        slopes[~np.isfinite(value)] = 0.0
        return bounded(np.where(np.isfinite(slopes), slopes, 0.0))

    def error(constants: np.ndarray) -> float:
        with np.errstate(all="ignore"):
            total = float(np.mean(misses(constants) ** 2))
        return total if np.isfinite(total) else np.inf

    best, least = None, error(start)
    for guess in _guesses(start, starts, rng):
        if least <= EXACT:
            break
        fit = least_squares(
            residuals, guess, jacobian, x_scale="jac", ftol=1e-14, xtol=1e-14, gtol=1e-14, max_nfev=evaluations
        )
        reached = error(fit.x) if np.isfinite(fit.x).all() else np.inf
        if reached < least:
            best, least = fit.x, reached
    return best


def _guesses(start: np.ndarray, starts: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    for i in range(starts):
        if i == 0:
            yield start
        elif i % 2:
            yield np.where(start == 0, rng.normal(size=start.size), start * np.exp(rng.normal(size=start.size)))
        else:
            yield rng.normal(size=start.size) * 10.0 ** rng.uniform(-1, 2, start.size)
