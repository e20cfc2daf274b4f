"""Which candidate of a front counts."""

import json

import numpy as np
import pandas as pd

from ..expressions import parse
from ..metrics.regression import relative_squared_error


def by_validation(runs: pd.DataFrame, problems) -> pd.DataFrame:
    """The runs of a grid, each with the candidate that has the least relative squared error on validation rows.

    Of equal ones the first counts. Constants are passed over unless there is nothing else. This is SRSD's rule,
    eq. (4), as its released code applies it.

    Parameters
    ----------
    runs : DataFrame
        From `grid`; of its columns, problem, seed and candidates are read.
    problems : iterable of Regression
        Those of the grid, with one output and a split ``validation`` each.

    Returns
    -------
    DataFrame
        Like `runs`, with other solutions, and the column candidate_index: which candidate it is, from 0; -1
        where there is none.

    Raises
    ------
    KeyError
        If a problem of the runs is not among `problems`.
    ExpressionError
        If a candidate of several cannot be read.
    """
    known = {problem.id: problem for problem in problems}
    validation: dict[tuple[str, int], tuple[np.ndarray, np.ndarray]] = {}
    solutions, indices = list(runs["solution"]), []
    for i, run in enumerate(runs.itertuples()):
        problem, front = known[run.problem], [c["solution"] for c in json.loads(run.candidates)]
        best = 0 if front else -1
        if len(front) > 1:
            if (run.problem, run.seed) not in validation:
                validation[run.problem, run.seed] = problem.data(run.seed)["validation"]
            rows = validation[run.problem, run.seed]
            best = int(np.argmin([_validation_error(problem, solution, *rows) for solution in front]))
        if front:
            solutions[i] = json.dumps(front[best])
        indices.append(best)
    return runs.assign(solution=solutions, candidate_index=indices)


def _validation_error(problem, solution, X: np.ndarray, y: np.ndarray) -> float:
    """Relative squared error of one candidate on the rows X, y; inf for a constant."""
    (output,) = problem.outputs
    expression = parse(solution[output])
    if not expression.names:
        return np.inf
    return relative_squared_error(expression(dict(zip(problem.inputs, X.T, strict=True))), y)
