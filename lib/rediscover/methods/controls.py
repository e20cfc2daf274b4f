"""Controls: the truth itself, the training mean and zero. A table without them cannot be read."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..problems import Field, LevelSet, Passage, Problem, Regression, Series, Task, Trajectories, Transitions
from . import Budget, Candidate, Method
from .tables import complete_rows


@dataclass(frozen=True)
class Oracle(Method):
    """The truth of the problem: what a perfect method scores under each metric."""

    name: ClassVar[str] = "oracle"
    reference: ClassVar[str] = "control: the truth itself"
    accepts: ClassVar[tuple[type, ...]] = (Regression, LevelSet, Trajectories, Field, Transitions, Series, Passage)

    def answer(self, problem: Problem, budget: Budget, seed: int) -> list[Candidate]:
        return [Candidate(dict(problem.truth), evaluations=0)]


@dataclass(frozen=True)
class Mean(Method):
    """The mean of the training targets: what a score is worth that knows nothing of the inputs."""

    name: ClassVar[str] = "mean"
    reference: ClassVar[str] = "control: mean of the training targets, per output"

    def fit(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        table, notes = complete_rows(task)
        scale = np.abs(table.y).max() or 1.0  # the sum of values near the largest float would overflow
        mean = float(np.mean(table.y / scale) * scale)
        loss = float(np.mean((table.y - mean) ** 2))
        return [Candidate({task.output: repr(mean)}, loss=loss, complexity=1, evaluations=1, notes=notes)]


@dataclass(frozen=True)
class Zero(Method):
    """The constant zero."""

    name: ClassVar[str] = "zero"
    reference: ClassVar[str] = "control: the constant 0, per output"

    def fit(self, task, *, budget, rng) -> list[Candidate]:
        table, notes = complete_rows(task)
        return [
            Candidate({task.output: "0.0"}, loss=float(np.mean(table.y**2)), complexity=1, evaluations=0, notes=notes)
        ]
