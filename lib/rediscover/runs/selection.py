"""Which candidate of a front counts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from ..expressions import parse
from ..methods import Budget, Candidate, Method
from ..metrics.dynamics import fitness
from ..metrics.regression import nmse_power, relative_squared_error
from ..problems import Problem, Task
from ..system.code_version import code_version


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
    >>> by_fitness(front, Task(("x",), "y", X=y[:, None], y=y))[0].solution  # 1 + 0.819 against 2/3 + 0.995
    {'y': 'x'}
    """
    X, y = table.validation or (table.X, table.y)
    columns = dict(zip(table.inputs, np.asarray(X, float).T, strict=True))

    def worth(candidate: Candidate) -> float:
        predicted = np.broadcast_to(parse(candidate.solution[table.output], table.inputs)(columns), np.shape(y))
        value = float(fitness(nmse_power(predicted, y), candidate.complexity))
        return value if np.isfinite(value) else -np.inf

    return sorted(candidates, key=worth, reverse=True)


@dataclass(frozen=True)
class Fittest(Method):
    """A method whose candidates for each table are put in the order of `by_fitness`.

    The choice is made for each output, before outputs are joined, so it cannot wait for the grid's frame. A method
    that solves a problem as a whole chooses by itself and stays as it is. In frames it has the name and the settings
    of the method.

    Attributes
    ----------
    method : the method that searches
    """

    method: Method

    selection: ClassVar[str] = "fitness"  # in records
    name = property(lambda self: self.method.name)
    portable = property(lambda self: self.method.portable)
    searches = property(lambda self: self.method.searches)
    accepts = property(lambda self: self.method.accepts)
    settings = property(lambda self: self.method.settings)
    version = property(lambda self: f"{self.method.version}-{code_version(__name__)}")

    def available(self) -> str | None:
        return self.method.available()

    def fit(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        return by_fitness(self.method.fit(task, budget=budget, rng=rng), task)

    def solve(self, problem: Problem, *, budget: Budget | Mapping | None = None, seed: int = 0) -> list[Candidate]:
        kind = type(self.method)
        if kind.solve is Method.solve and kind.answer is Method.answer:  # by tables
            return super().solve(problem, budget=budget, seed=seed)
        return self.method.solve(problem, budget=budget, seed=seed)


def by_validation(runs: pd.DataFrame, problems: Iterable[Problem]) -> pd.DataFrame:
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
        problem, front = known[run.problem], [c["solution"] for c in run.candidates]
        best = 0 if front else -1
        if len(front) > 1:
            if (run.problem, run.seed) not in validation:
                validation[run.problem, run.seed] = problem.data(run.seed)["validation"]
            rows = validation[run.problem, run.seed]
            best = int(np.argmin([_validation_error(problem, solution, *rows) for solution in front]))
        if front:
            solutions[i] = front[best]
        indices.append(best)
    return runs.assign(solution=solutions, candidate_index=indices)


def _validation_error(problem: Problem, solution: Mapping[str, str], X: np.ndarray, y: np.ndarray) -> float:
    """Relative squared error of one candidate on the rows X, y; inf for a constant."""
    (output,) = problem.outputs
    expression = parse(solution[output], problem.vocabulary)
    if not expression.names:
        return np.inf
    return relative_squared_error(expression(dict(zip(problem.inputs, X.T, strict=True))), y)
