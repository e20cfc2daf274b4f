"""Scores of MDBench on ordinary differential equations, as published and harmonised.

As published: `nmse_power` of the time derivatives (all states together, over their power),
`complexity_mdbench`, their `fitness`, and the check mark as `identified` (`partial` for the underline).
Harmonised: `nmse_per_output`, which divides by the variance and lets every state count the same, and
`complexity_tree`, one rule for all methods.

Predictions are made at the (noisy) test states and compared with the exact derivatives of the clean ones.
"""

from collections.abc import Mapping

import numpy as np

from ..expressions import Expression, parse
from ..metrics import dynamics, regression


def score(problem, solution: Mapping[str, str], seed: int = 0) -> dict[str, float]:
    """All scores of one answer.

    Parameters
    ----------
    problem : ODE
    solution : state -> right-hand side
    seed : int
        Of the noise.

    Returns
    -------
    dict of name to float

    Raises
    ------
    ExpressionError
        If a right-hand side cannot be read or holds other variables than the states.
    KeyError
        If a state has no right-hand side.
    """
    answer = read(problem, solution, problem.vocabulary)
    test = problem.data(seed)["test"]
    values = dict(zip(problem.inputs, test.X.T, strict=True))
    predicted = [np.broadcast_to(expression(values), len(test.X)) for expression in answer.values()]
    return rate(problem, answer, np.stack(predicted, axis=-1), test.y.reshape(len(test.y), -1))


def read(problem, solution: Mapping[str, str], names=None) -> dict[str, Expression]:
    """The right-hand sides in the order of the states.

    Raises
    ------
    KeyError
        If a state has none.
    """
    missing = [state for state in problem.outputs if state not in solution]
    if missing:
        raise KeyError(f"{problem.id}: the solution has no right-hand side for {', '.join(missing)}")
    return {state: parse(str(solution[state]), names) for state in problem.outputs}


def rate(
    problem, answer: Mapping[str, Expression], predicted: np.ndarray, true: np.ndarray
) -> dict[str, float]:
    """Scores from predicted and true derivatives, both of shape (n, n_states)."""
    size = dynamics.complexity_mdbench(answer)
    error = regression.nmse_power(predicted, true)
    verdict = dynamics.fidelity(answer, problem.truth)
    return {
        "nmse_power": error,
        "nmse_per_output": regression.nmse_per_output(predicted, true),
        "complexity_mdbench": size,
        "complexity_tree": dynamics.complexity_tree(answer),
        "fitness": float(dynamics.fitness(error, size)),
        "identified": float(verdict == "identified"),
        "partial": float(verdict == "partial"),
    }
