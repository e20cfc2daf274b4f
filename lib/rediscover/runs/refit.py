"""All constants of found expressions fitted again, to tell a bad structure from a badly fitted one."""

from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from ..expressions import Expression, parse, refit
from ..expressions.trees import fold
from ..problems import Problem, generator
from .answers import on_answers

ROWS = 500  # of the training table; more would hardly move the constants
STARTS = 3  # the present constants first


def folded(expression: Expression) -> Expression:
    """The expression with every part that holds no variable as one number: several constants there are only one.

    Examples
    --------
    >>> print(folded(parse("2*(3*4)*x + 1.5")))
    24.0*x + 1.5
    """

    def combine(label: Any, children: list[tuple]) -> tuple:
        tree = (label, *children)
        if children and all(len(child) == 1 and type(child[0]) in (int, float) for child in children):
            value = float(Expression(tree)({}))
            return (value,) if np.isfinite(value) else tree
        return tree

    return Expression(fold(expression.tree, combine))


def refit_all(problem: Problem, solution: dict[str, str], seed: int) -> dict[str, str]:
    """The solution with the constants of each output fitted again on the problem's training rows."""
    solution = dict(solution)
    for task in problem.tasks(seed):
        values = dict(zip(task.inputs, task.X[:ROWS].T, strict=True))
        rng = generator(seed, problem.id, "refit")
        fitted = refit(folded(parse(solution[task.output], task.inputs)), values, task.y[:ROWS], starts=STARTS, rng=rng)
        solution[task.output] = str(fitted)
    return solution


def refitted(
    records: pd.DataFrame,
    problems: Iterable[Problem],
    *,
    store: str | PathLike | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """The records of a grid with every answer's constants fitted again.

    Parameters
    ----------
    records : DataFrame
        From `grid`; rows without an answer stay as they are.
    problems : list of Problem
        Those of the grid.

    Returns
    -------
    DataFrame
        Like `records`, with other solutions; a refit that failed keeps the solution that was there.
    """
    answered = records[records["status"] == "ok"]
    options = {"store": store, "workers": workers, "progress": progress}
    outcomes = on_answers(f"{__name__}:refit_all", answered, problems, **options)
    again = {i: outcome["result"] for i, outcome in zip(answered.index, outcomes, strict=True) if "result" in outcome}
    return records.assign(solution=records["solution"].mask(records.index.isin(again), pd.Series(again)))
