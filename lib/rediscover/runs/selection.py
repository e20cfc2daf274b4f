"""Which candidate of a front counts."""

import json

import numpy as np
import pandas as pd

from ..expressions import parse
from ..methods import Candidate, join
from ..metrics.dynamics import fitness
from ..metrics.regression import nmse_power
from ..problems import Task
from .answers import on_answers


def by_fitness(candidates: list[Candidate], table: Task) -> list[Candidate]:
    """Candidates for one table, highest fitness first: MDBench's eq. (2), with the size that the method states.

    As in the released code, the error is that on the rows that were fitted; on validation rows where the table has
    some. Candidates without a finite error or without a size come last.

    Parameters
    ----------
    candidates : each with an expression for ``table.output`` in the names of ``table.inputs``
    table : the regression table that was searched

    Examples
    --------
    >>> y = np.array([1.0, -1.0])
    >>> front = [Candidate({"y": "0.3*x"}, complexity=1), Candidate({"y": "x"}, complexity=40)]
    >>> by_fitness(front, Task(("x",), "y", X=y[:, None], y=y))[0].solution  # 2/3 + 0.995 against 1 + 0.819
    {'y': 'x'}
    """
    X, y = table.validation or (table.X, table.y)
    columns = dict(zip(table.inputs, np.asarray(X, float).T, strict=True))

    def worth(candidate):
        predicted = np.broadcast_to(parse(candidate.solution[table.output])(columns), np.shape(y))
        value = fitness(nmse_power(predicted, y), candidate.complexity)
        return value if np.isfinite(value) else -np.inf

    return sorted(candidates, key=worth, reverse=True)


def fittest(problem, candidates: list[dict], seed: int) -> dict:
    """Solution and complexity of the answer that has, for each output, the candidate of highest fitness.

    Parameters
    ----------
    candidates : those of one run, as `runs.grid` gives them
    """
    best = []
    for table in problem.tasks(seed):
        name = table.output
        sizes = [c["notes"].get("complexities", {name: c["complexity"]})[name] for c in candidates]
        front = [Candidate({name: c["solution"][name]}, complexity=n) for c, n in zip(candidates, sizes, strict=True)]
        best.append(by_fitness(front, table)[:1])
    (answer,) = join(best)
    return {"solution": json.dumps(dict(answer.solution)), "complexity": answer.complexity}


def choose_by_fitness(runs: pd.DataFrame, problems, **options) -> pd.DataFrame:
    """The runs of a grid, each with the answer that `fittest` makes of its candidates.

    Parameters
    ----------
    runs : DataFrame
        From `runs.grid`.
    problems : list of Problem
        Those of the grid.
    options : store, workers and progress, as for `runs.compute`

    Returns
    -------
    DataFrame
        Like `runs`, with other values of solution and complexity; runs with fewer than two candidates are as they were.

    Raises
    ------
    RuntimeError
        If the candidates of a run cannot be compared.
    """
    several = runs[(runs["status"] == "ok") & (runs["candidates"].map(lambda text: len(json.loads(text))) > 1)]
    works = several.assign(solution=several["candidates"])
    outcomes = on_answers(f"{__name__}:fittest", works, problems, **options) if len(works) else []
    chosen = runs.astype({"complexity": float})
    for (row, run), outcome in zip(several.iterrows(), outcomes, strict=True):
        if outcome["status"] != "ok":
            raise RuntimeError(f"{run['problem']}, {run['method']}: no choice by fitness: {outcome['reason']}")
        chosen.loc[row, ["solution", "complexity"]] = [outcome["result"][key] for key in ("solution", "complexity")]
    return chosen
