"""Scores of MDBench on partial differential equations: those of `odes`, on the problem's test block.

Which block and which stencils are the problem's options: ``split="time", stencil="shared"`` is what the
linear methods were published on, ``split="space", stencil="direct"`` or ``"repeated"`` the others. Mixed
derivatives such as ``u0_xy``, which only the linear methods use, are taken with the same stencil. Derivatives
come from the (noisy) states.
"""

from collections.abc import Mapping

import numpy as np

from .odes import rate, read


def score(problem, solution: Mapping[str, str], seed: int = 0) -> dict[str, float]:
    """All scores of one answer.

    Parameters
    ----------
    problem : PDE
    solution : state -> right-hand side in states, their space derivatives and coordinates
    seed : int
        Of the noise.

    Returns
    -------
    dict of name to float; a state without an equation (pressure) counts in the errors and not in
    ``identified``

    Raises
    ------
    ExpressionError
        If a right-hand side cannot be read, or holds a name that is no column of the problem.
    KeyError
        If a state has no right-hand side.
    """
    answer = read(problem, solution, problem.vocabulary)
    samples = problem.samples(seed)
    values = problem.columns(sorted({n for e in answer.values() for n in e.names}), samples)
    predicted = [np.broadcast_to(expression(values), samples.u.shape[:-1]) for expression in answer.values()]
    test = problem.blocks(samples.u.shape)["test"]
    return rate(problem, answer, test(np.stack(predicted, axis=-1)), test(samples.du))
