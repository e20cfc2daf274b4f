"""A fixed skeleton: what an edit distance is worth that never looks at the data."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..problems import Task
from . import Budget, Candidate, Method


@dataclass(frozen=True)
class BlindSkeleton(Method):
    """c * x0 * ... * x(k-1) * xk**c of the inputs as they stand, with the constants 2 and -1.

    It counts the columns and reads nothing else, so noise, ranges and rows do not change it. Where constants are one
    symbol, as in SRSD's edit distance, any other two constants are as near. How many others were tried before this one
    is not on record.
    """

    name: ClassVar[str] = "blind_skeleton"
    reference: ClassVar[str] = "control: one fixed skeleton, chosen without the data"

    def fit(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        *others, last = task.inputs
        text = "*".join(["2.0", *others]) + f"/{last}"
        return [Candidate({task.output: text}, complexity=1 + 2 * len(task.inputs), evaluations=0)]
