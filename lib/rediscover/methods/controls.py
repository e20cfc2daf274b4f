"""Controls: the truth itself, the training mean and zero. A table without them cannot be read."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..problems import Field, LevelSet, Passage, Problem, Regression, Series, Task, Trajectories, Transitions
from . import Budget, Candidate, Method, Unsupported
from .tables import complete_rows


@dataclass(frozen=True)
class Oracle(Method):
    """The truth of the problem: what a perfect method scores under each metric."""

    name: ClassVar[str] = "oracle"
    reference: ClassVar[str] = "control: the truth itself"
    accepts: ClassVar[tuple[type, ...]] = (Regression, LevelSet, Trajectories, Field, Transitions, Series, Passage)

    def answer(self, problem: Problem, budget: Budget, seed: int) -> list[Candidate]:
        if not any(problem.truth.values()):
            raise Unsupported("the oracle repeats the law, and of this problem none is known")
        return [Candidate(dict(problem.truth), evaluations=0)]


@dataclass(frozen=True)
class Mean(Method):
    """The mean of the training targets: what a score is worth that knows nothing of the inputs."""

    name: ClassVar[str] = "mean"
    reference: ClassVar[str] = "control: mean of the training targets, per output"

    def fit(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        y = complete_rows(task)[0].y
        scale = np.abs(y).max() or 1.0  # the sum of values near the largest float would overflow
        return _constant(task, float(np.mean(y / scale) * scale), evaluations=1)


@dataclass(frozen=True)
class Zero(Method):
    """The constant zero."""

    name: ClassVar[str] = "zero"
    reference: ClassVar[str] = "control: the constant 0, per output"

    def fit(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        return _constant(task, 0.0, evaluations=0)


def _constant(task: Task, value: float, evaluations: int) -> list[Candidate]:
    table, notes = complete_rows(task)
    loss = float(np.mean((table.y - value) ** 2))
    return [Candidate({task.output: repr(value)}, loss, complexity=1, evaluations=evaluations, notes=notes)]
