"""Scores of a system of differential equations: its trajectories from both initial states, and its trees."""

import numpy as np

from ...expressions import ExpressionError, parse
from ...expressions.integration import simulate
from ...expressions.trees import fold
from ...metrics.complexity import operations
from ...metrics.trajectories import proximity_dependent, r2_trajectories


def score(problem, solution, seed: int = 0) -> dict[str, float]:
    """Every measure of a system.

    Parameters
    ----------
    problem : CoupledODE
    solution : state -> text of its right-hand side
    seed : int
        Chooses the second initial state of published models (`CoupledODE.initial_state`).

    Returns
    -------
    dict of metric name -> value
        ``r2_trajectories_id`` and ``_ood``: NaN where a right-hand side is missing or cannot be read, or the
        integration fails; what that does to a table is the aggregate's affair (`metrics.trajectories.sr2`).
        ``proximity_dependent`` and ``operations`` (sympy's count) as released; NaN where a condition holds a condition,
        since sympy writes such by cases whose number doubles with each, and may take hours. Operations are NaN too
        where sympy is given up on.
    """
    names = ("r2_trajectories_id", "r2_trajectories_ood", "proximity_dependent", "operations")
    try:
        equations = {state: parse(str(solution[state])) for state in problem.inputs}
    except (ExpressionError, KeyError):
        return dict.fromkeys(names, np.nan)
    r2 = [
        r2_trajectories(
            simulate(equations, problem.initial_state(split, seed), problem.times()), problem.solution(split, seed)
        )
        for split in ("id", "ood")
    ]
    if any(_has_nested_conditions(right.tree) for right in equations.values()):
        return dict(zip(names, (*r2, np.nan, np.nan), strict=True))
    proximity = proximity_dependent(equations, problem.expressions)
    return dict(zip(names, (*r2, proximity, operations(equations.values())), strict=True))


def _has_nested_conditions(tree: tuple) -> bool:
    """Whether the condition of a ``where`` holds another."""

    def combine(label, children):
        holds, nested = (any(part) for part in zip(*children, strict=True)) if children else (False, False)
        return label == "where" or holds, nested or (label == "where" and children[0][0])

    return fold(tree, combine)[1]
