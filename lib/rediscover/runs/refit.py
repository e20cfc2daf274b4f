"""All constants of found expressions fitted again, to tell a bad structure from a badly fitted one."""

import json
import sys
from typing import NamedTuple

import numpy as np

from ..expressions import Expression, parse, refit
from ..expressions.syntax import fold
from ..methods import code_version
from ..problems import Problem, generator
from . import compute, digest, identity

ROWS = 500  # of the training table; more would hardly move the constants


def folded(expression: Expression) -> Expression:
    """The expression with every part that holds no variable as one number: several constants there are only one.

    Examples
    --------
    >>> print(folded(parse("2*(3*4)*x + 1.5")))
    24.0*x + 1.5
    """

    def combine(label, children):
        tree = (label, *children)
        if children and all(len(child) == 1 and type(child[0]) in (int, float) for child in children):
            value = float(Expression(tree)({}))
            return (value,) if np.isfinite(value) else tree
        return tree

    return Expression(fold(expression.tree, combine))


class Refit(NamedTuple):
    """The refit of one answer on its problem's training data, as work for `compute`."""

    problem: Problem
    solution: str
    seed: int

    def __call__(self) -> dict:
        solution = json.loads(self.solution)
        for task in self.problem.tasks(self.seed):
            values = dict(zip(task.inputs, task.X[:ROWS].T, strict=True))
            rng = generator(self.seed, self.problem.id, "refit")
            solution[task.output] = str(
                refit(folded(parse(solution[task.output])), values, task.y[:ROWS], rng=rng)
            )
        return {"status": "ok", "reason": "", "solution": json.dumps(solution)}

    @property
    def key(self) -> str:
        versions = [code_version(sys.modules[name]) for name in (__name__, Expression.__module__)]
        return digest(["refit", identity(self.problem), self.solution, self.seed, versions])

    @property
    def identity(self) -> dict:
        return {"refit": self.solution, "problem": self.problem.id, "seed": self.seed}


def refitted(records, problems, *, store=None, workers=None, progress=True):
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
    known = {problem.id: problem for problem in problems}
    answered = records.index[records["status"] == "ok"]
    works = [Refit(known[row.problem], row.solution, row.seed) for row in records.loc[answered].itertuples()]
    outcomes = compute(works, store=store, workers=workers, progress=progress)
    out = records.copy()
    out.loc[answered, "solution"] = [
        outcome.get("solution", work.solution) for outcome, work in zip(outcomes, works, strict=True)
    ]
    return out
