"""What all generic methods share: which rows they see, and which candidate comes first."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..expressions import parse
from ..problems import Split, Task
from . import Budget, Candidate, Method, check_front

# Columns beyond these magnitudes, or below their inverse: products of a few inputs, or squares of the target, leave
# what floats can hold.
REACH, TARGET_REACH = 1e60, 1e100


@dataclass(frozen=True)
class Tabular(Method):
    """Base of the methods that search one regression table of finite numbers.

    Subclasses write ``search``. It is given complete rows and a target that varies; rows with NaN or infinite
    values are left out and counted in ``notes["rows_dropped"]``, a constant target (one row is one) is
    answered by that constant. Columns of magnitudes beyond `REACH` are divided by a power of ten for the search,
    which the answers state.

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
        scales, unit = units(table)
        if unit == 1.0 and set(scales.values()) == {1.0}:
            front = self._found(table, budget, rng)
        else:
            front = self._found(divided(table, scales, unit), budget, rng)
            changed = {name: scale for name, scale in scales.items() if scale != 1.0}
            front = [in_units(candidate, task, changed, unit) for candidate in front]
        if task.validation is not None:
            front = sorted(front, key=lambda candidate: validation_error(candidate, task))
        return [dataclasses.replace(candidate, notes={**notes, **candidate.notes}) for candidate in front]

    def _found(self, task: Task, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        """What `search` returns, if it is a list of candidates for the table."""
        front = self.search(task, budget=budget, rng=rng)
        check_front("search", front, task.output)
        if wrong := [sorted(each.solution) for each in front if task.output not in each.solution]:
            raise TypeError(f"search returned a solution for {wrong[0]!r:.80}, expected one for {task.output!r}")
        return front


def complete_rows(task: Task) -> tuple[Task, dict]:
    """The rows in which every number is finite, and a note of how many were left out."""
    X, y = np.asarray(task.X, dtype=float), np.asarray(task.y, dtype=float)
    complete = np.isfinite(X).all(axis=1) & np.isfinite(y)
    if not complete.any():
        raise ValueError(f"{task.output}: none of the {len(y)} training rows has finite inputs and a finite target")
    if complete.all():  # a table may be most of the memory: copied only where sums would go another way through it
        return dataclasses.replace(task, X=np.ascontiguousarray(X), y=np.ascontiguousarray(y)), {}
    return dataclasses.replace(task, X=X[complete], y=y[complete]), {"rows_dropped": int(len(y) - complete.sum())}


def validation_error(candidate: Candidate, task: Task) -> float:
    """Mean squared error on the validation rows with finite targets; infinite where the candidate is undefined."""
    if task.validation is None:
        raise ValueError(f"{task.output}: there are no validation rows")
    X, y = task.validation
    scored = np.isfinite(y)
    predicted = parse(candidate.solution[task.output], task.inputs)(
        dict(zip(task.inputs, np.asarray(X, dtype=float).T, strict=True))
    )
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.broadcast_to(predicted, y.shape)[scored] - y[scored]
        error = np.mean((off / power_of_ten(y[scored], TARGET_REACH)) ** 2) if scored.any() else 0.0
    return float(error) if np.isfinite(error) else float("inf")


def power_of_ten(values: np.ndarray, reach: float = REACH) -> float:
    """1 for a column within reach, else the power of ten that brings its largest magnitude near 1.

    Examples
    --------
    >>> power_of_ten(np.array([3.0, -1e20])), power_of_ten(np.array([0.0, 3e-200]))
    (1.0, 1e-200)
    """
    largest = float(np.abs(values).max(initial=0.0))
    return 1.0 if largest == 0 or 1 / reach <= largest <= reach else float(f"1e{int(np.floor(np.log10(largest)))}")


def units(table: Task) -> tuple[dict[str, float], float]:
    """What the columns of a table, and its target, are divided by for the search: `power_of_ten` of each."""
    scales = {name: power_of_ten(x) for name, x in zip(table.inputs, table.X.T, strict=True)}
    return scales, power_of_ten(table.y, TARGET_REACH)


def divided(task: Task, scales: Mapping[str, float], unit: float) -> Task:
    """The table with inputs and target, on all its rows, divided by these."""
    rows = {"validation": task.validation, "held_out": getattr(task, "held_out", None)}
    by = np.array(list(scales.values()))
    parts: dict[str, Any] = {name: Split(s.X / by, s.y / unit) for name, s in rows.items() if s is not None}
    return dataclasses.replace(task, X=task.X / by, y=task.y / unit, **parts)


def in_units(candidate: Candidate, task: Task, scales: Mapping[str, float], unit: float) -> Candidate:
    """A candidate for a `divided` table as one for the table: every x becomes x/scale, the whole is times unit."""
    inner = parse(candidate.solution[task.output], task.inputs)
    used = {name: scale for name, scale in scales.items() if name in inner.names}
    ratios = {name: parse(f"{name}/{scale!r}", task.inputs) for name, scale in used.items()}
    text = str(inner.substitute(ratios))
    text = text if unit == 1 else f"{unit!r}*({text})"
    return dataclasses.replace(candidate, solution={task.output: text})
