"""Scores of MDBench on ordinary and partial differential equations, as published and harmonised.

As published: `nmse_power` of the time derivatives (all states together, over their power), `complexity_mdbench`, their
`fitness`, and the check mark as `identified` (`partial`: the underline). Harmonised: `nmse_per_output`, which divides
by the variance and lets every state count the same, and `complexity_tree`, one rule for all methods.

Answers to an ODE meet its (noisy) test states and the exact derivatives of the clean ones; those to a PDE the (noisy)
states and their differences, on the block and by the stencils that are the problem's options: ``split="time",
stencil="shared"`` is what linear methods were published on, ``"space"`` with ``"direct"`` or ``"repeated"`` the others.
"""

from collections.abc import Mapping

import numpy as np

from ...expressions import parse
from ...metrics import dynamics, regression


def score(problem, solution: Mapping[str, str], seed: int = 0) -> dict[str, float]:
    """All scores of one answer.

    Parameters
    ----------
    problem : ODE or PDE
    solution : state -> right-hand side; for a PDE in states, their space derivatives and coordinates
    seed : of the noise

    Returns
    -------
    dict of name to float; a state without an equation (pressure) counts in the errors and not in ``identified``

    Raises
    ------
    ExpressionError
        If a right-hand side cannot be read, or holds a name that is no column of the problem.
    KeyError
        If a state has no right-hand side.
    """
    if missing := [state for state in problem.outputs if state not in solution]:
        raise KeyError(f"{problem.id}: the solution has no right-hand side for {', '.join(missing)}")
    found = {state: parse(str(solution[state]), problem.vocabulary) for state in problem.outputs}
    predicted, true = (_on_field if problem.kind == "field" else _on_trajectory)(problem, found, seed)
    size, error = dynamics.complexity_mdbench(found), regression.nmse_power(predicted, true)
    fidelity = dynamics.fidelity(found, problem.truth)
    return {
        "nmse_power": error,
        "nmse_per_output": regression.nmse_per_output(predicted, true),
        "complexity_mdbench": size,
        "complexity_tree": dynamics.complexity_tree(found),
        "fitness": float(dynamics.fitness(error, size)),
        "identified": float(fidelity == "identified"),
        "partial": float(fidelity == "partial"),
    }


def _on_trajectory(problem, expressions, seed):
    """Predicted and true derivatives at the test times, both of shape (n, n_states)."""
    test = problem.data(seed)["test"]
    values = dict(zip(problem.inputs, test.X.T, strict=True))
    predicted = [np.broadcast_to(expression(values), len(test.X)) for expression in expressions.values()]
    return np.stack(predicted, axis=-1), test.y.reshape(len(test.y), -1)


def _on_field(problem, expressions, seed):
    """Predicted and true time derivatives on the test block, both of shape (n, n_states)."""
    samples = problem.samples(seed)
    values = problem.columns(sorted({n for e in expressions.values() for n in e.names}), samples)
    predicted = [np.broadcast_to(expression(values), samples.u.shape[:-1]) for expression in expressions.values()]
    test = problem.blocks(samples.u.shape)["test"]
    return test(np.stack(predicted, axis=-1)), test(samples.du)
