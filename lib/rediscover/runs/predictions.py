"""Scores of methods that predict and write no expression, such as a forest.

Which measures of a study need nothing but predictions is not listed, it is tried: an affine function is fitted, scored
by the study's own rules, and measured again from its predictions on the splits alone. What comes out the same is a
measure of predictions, and is measured likewise for the method.
"""

import itertools
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from .. import metrics
from ..expressions import parse
from ..methods import Budget, Method
from ..methods.least_squares import LeastSquares
from ..metrics import regression
from ..problems import Problem
from ..system.code_version import code_version
from .run import Run, digest
from .scoring import score

ERRORS = regression.__name__  # the module of the measures of prediction and truth


class Predicted(NamedTuple):
    """One method without expressions on one problem: fitted and scored in one piece of work."""

    problem: Problem
    method: Method
    seed: int
    budget: Budget

    def __call__(self) -> dict:
        method: Any = self.method
        predicted = method.predictions(self.problem, self.seed)
        return {"status": "ok", "reason": "", "result": measures(self.problem, predicted, self.seed)}

    @property
    def key(self) -> str:
        return digest(["predictions", Run(*self).key, code_version(__name__)])

    @property
    def identity(self) -> dict:
        return Run(*self).identity


def measures(problem: Problem, predicted: dict[str, np.ndarray], seed: int = 0) -> dict[str, float]:
    """The study's scores that can be had from predictions.

    Parameters
    ----------
    problem : Regression or LevelSet
    predicted : split -> ndarray, shape (n,) or (n, n_outputs)
    seed : int
        Of the data.

    Returns
    -------
    dict
        Score, as the study's rules name it -> value.
    """
    found: dict[str, float] = {}
    [answer, *_] = LeastSquares().solve(problem, seed=seed)
    splits = problem.data(seed)
    level_set = problem.kind == "level set"
    truth = {name: split.X[:, -1] if level_set else split.y for name, split in splits.items()}
    names = tuple(answer.solution)
    affine = {}
    for name, split in splits.items():
        values = dict(zip(problem.inputs, split.X.T, strict=True))
        columns = [
            np.broadcast_to(parse(answer.solution[out], problem.vocabulary)(values), len(split.X)) for out in names
        ]
        affine[name] = columns[0] if len(columns) == 1 else np.column_stack(columns)
    for column, value in score(problem, answer, seed=seed).items():
        suited = [
            measure
            for name, measure in metrics.declared().items()
            if measure.__module__ == ERRORS and (name.startswith(column) or column.startswith(name))
        ]
        places = [name for name in ("test", "validation", column.rpartition("_")[2]) if name in splits]
        for measure, name in itertools.product(suited, places):
            with suppress(ValueError):  # a measure for one output, or for several
                if same(measure(affine[name], truth[name]), value):
                    found[column] = float(measure(predicted[name], truth[name]))
                    break
    return found


def same(a: float, b: float) -> bool:
    """Whether two numbers differ by rounding at most."""
    return bool(np.isclose(a, b, rtol=1e-9, atol=0.0))
