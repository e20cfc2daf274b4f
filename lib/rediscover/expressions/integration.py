"""Systems of ordinary differential equations whose right-hand sides are expressions, integrated in time."""

import math
import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import Expression
from .numerics import Program


class Solver(NamedTuple):
    """Settings of SciPy's LSODA: tolerances of the states, and steps in units of time."""

    rtol: float = 1e-5
    atol: float = 1e-7
    first_step: float = 1e-6
    min_step: float = 1e-10


def simulate(
    equations: Mapping[str, Expression],
    initial: ArrayLike,
    t: ArrayLike,
    *,
    solver: Solver = Solver(),
    evaluations: int = 10_000,
) -> np.ndarray:
    """Integrate an autonomous system.

    Parameters
    ----------
    equations : state -> right-hand side in the states
    initial : array_like, shape (n_states,)
    t : array_like, shape (n,)
        Increasing times; the first is that of `initial`.
    solver : Solver
    evaluations : int
        Right-hand sides that may be evaluated before the system counts as too stiff.

    Returns
    -------
    ndarray, shape (n, n_states)
        All NaN where the integration fails: a value that is not finite, a step that gets too small, too many
        evaluations, an unknown variable. It is a result, not an error.

    Examples
    --------
    >>> from rediscover.expressions import parse
    >>> simulate({"x": parse("-x")}, [1.0], [0.0, 1.0]).round(4).tolist()
    [[1.0], [0.3679]]
    """
    from scipy.integrate import LSODA

    t, names = np.asarray(t, dtype=float), list(equations)
    failed = np.full((len(t), len(names)), np.nan)
    if any(name not in equations for right in equations.values() for name in right.names):
        return failed
    program = Program([right.tree for right in equations.values()])
    left = evaluations

    def rates(_: float, state: np.ndarray) -> list[float]:
        nonlocal left
        left -= 1
        value = program.at(dict(zip(names, state.tolist(), strict=True)))
        if left < 0 or not all(map(math.isfinite, value)):
            raise ArithmeticError
        return value

    # The steps of solve_ivp, taken here, as it does not notice when LSODA stops advancing.
    states, done = failed.copy(), 1
    states[0] = initial
    if len(t) == 1:
        return states
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # LSODA warns of the failures that are returned here
            steps = LSODA(rates, t[0], states[0], t[-1], **solver._asdict())
            while steps.status == "running":
                steps.step()
                if steps.status == "failed" or steps.t <= steps.t_old:
                    return failed
                reached = np.searchsorted(t, steps.t, side="right")
                if reached > done:
                    states[done:reached] = steps.dense_output()(t[done:reached]).T
                    done = reached
    except (ArithmeticError, ValueError):
        return failed
    return states if done == len(t) and np.all(np.isfinite(states)) else failed
