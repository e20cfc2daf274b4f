"""What all generic methods share: which rows they see, and which candidate comes first."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from ..expressions import parse
from ..problems import Task
from . import Budget, Candidate, Method


@dataclass(frozen=True)
class Tabular(Method):
    """Base of the methods that search one regression table of finite numbers.

    Subclasses write ``search``. It is given complete rows and a target that varies; rows with NaN or infinite
    values are left out and counted in ``notes["rows_dropped"]``, a constant target (one row is one) is
    answered by that constant.

    Attributes
    ----------
    max_rows : fit on at most so many rows, drawn without replacement by the run's generator; None for all.
    """

    max_rows: int | None = None

    def __post_init__(self):
        if self.max_rows is not None and self.max_rows < 1:
            raise ValueError(f"{self.name}: max_rows must be at least 1 or None, got {self.max_rows!r}")

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        """Candidates for a table without gaps, best first."""
        raise NotImplementedError(f"{self.name} has no search")

    def fit(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        """Candidates for one table, best first: by the error on ``task.validation`` where there is one.

        Raises
        ------
        ValueError
            If no row is complete.
        """
        table, notes = complete_rows(task)
        if self.max_rows is not None and self.max_rows < len(table.y):
            kept = np.sort(rng.choice(len(table.y), self.max_rows, replace=False))
            table, notes = (
                dataclasses.replace(table, X=table.X[kept], y=table.y[kept]),
                notes | {"rows_used": self.max_rows},
            )
        if np.all(table.y == table.y[0]):
            return [
                Candidate({task.output: repr(float(table.y[0]))}, loss=0.0, complexity=1, evaluations=0, notes=notes)
            ]
        front = self.search(table, budget=budget, rng=rng)
        if task.validation is not None:
            front = sorted(front, key=lambda candidate: validation_error(candidate, task))
        return [dataclasses.replace(candidate, notes={**notes, **candidate.notes}) for candidate in front]


def complete_rows(task: Task) -> tuple[Task, dict]:
    """The rows in which every number is finite, and a note of how many were left out."""
    X, y = np.asarray(task.X, dtype=float), np.asarray(task.y, dtype=float)
    complete = np.isfinite(X).all(axis=1) & np.isfinite(y)
    if not complete.any():
        raise ValueError(f"{task.output}: none of the {len(y)} training rows has finite inputs and a finite target")
    dropped = int(len(y) - complete.sum())
    return dataclasses.replace(task, X=X[complete], y=y[complete]), {"rows_dropped": dropped} if dropped else {}


def validation_error(candidate: Candidate, task: Task) -> float:
    """Mean squared error on the validation rows with finite targets; infinite where the candidate is undefined."""
    if task.validation is None:
        raise ValueError(f"{task.output}: there are no validation rows")
    X, y = task.validation
    scored = np.isfinite(y)
    predicted = parse(candidate.solution[task.output])(
        dict(zip(task.inputs, np.asarray(X, dtype=float).T, strict=True))
    )
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.mean((np.broadcast_to(predicted, y.shape)[scored] - y[scored]) ** 2) if scored.any() else 0.0
    return float(error) if np.isfinite(error) else float("inf")
