"""The Symbolic Transformer of SRSD, trained again by us: it reads a table and writes a skeleton."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..expressions import Expression, parse
from ..expressions.programs import Reading, Slot
from ..problems import Task
from ..search.loops.adam import adam
from ..search.loops.slot_fits import Objective, bfgs, objective, table
from ..search.networks.skeleton_network import INPUTS, greedy
from ..search.networks.skeleton_sets import printed, scaled
from . import Candidate, Unsupported
from .proged import error
from .tables import Tabular
from .trained import Trained

RATE, EPOCHS, DROPS = 0.1, 50, (35, 45)  # of the fit of the constants


@dataclass(frozen=True)
class SymbolicTransformer(Trained, Tabular):
    """A transformer that learned to name the skeletons of 24,000 random tables; the authors' weights are not used.

    Each column is scaled to 0..1; one that does not vary is 0. The likeliest token is written until the tree is
    complete; a skeleton of more than 20 tokens is no answer. Its numbers are fitted afterwards. The training tables
    are drawn from the bigrams of the laws of SRSD themselves. Budget: none of its own; the fit of the numbers is not
    counted. The network (12 MB) does not come with this package: ``make pretrain`` trains one in about an hour. Answers
    to the laws of SRSD are on record.

    Attributes
    ----------
    as_released : the skeleton is printed without parentheses, so that (a + b)*c becomes a + b*c; its numbers are
        fitted by 50 steps of Adam to the scaled columns, though the answer is for those as they are. Otherwise it has
        its parentheses, and BFGS fits the columns as they are.

    References
    ----------
    Y. Matsubara, N. Chiba, R. Igarashi, Y. Ushiku, Rethinking symbolic regression datasets and benchmarks for
    scientific discovery, DMLR 2024
    """

    sha256: str = "f94b1d9585c21e1be88848bd475a4328e004e69f6749b603b9627548196ee08c"
    as_released: bool = True
    max_rows: int | None = 1000
    name: ClassVar[str] = "symbolic_transformer"
    searches: ClassVar[bool] = True
    reference: ClassVar[str] = "Matsubara et al., the Symbolic Transformer of SRSD (DMLR 2024), trained again"

    def search(self, task, *, budget, rng):
        network = self.network()
        if len(task.inputs) > INPUTS:
            raise Unsupported(f"{self.name} has tokens for {INPUTS} inputs, {task.output} has {len(task.inputs)}")
        rows = scaled(np.column_stack([task.X, task.y]))
        skeleton = greedy(network, rows)
        if skeleton is None:
            return []
        found = self.with_numbers(printed(skeleton, parentheses=not self.as_released), task, rows, rng)
        loss = error(found, dict(zip(task.inputs, task.X.T, strict=True)), task.y)
        return [Candidate({task.output: str(found)}, loss, len(skeleton), notes={"skeleton": " ".join(skeleton)})]

    def with_numbers(self, text: str, task: Task, rows: np.ndarray, rng: np.random.Generator) -> Expression:
        """A skeleton in the names of the task's inputs, its numbers fitted; `rows` are the scaled columns."""
        skeleton, names = parse(text), tuple(f"x{k}" for k in range(len(task.inputs)))
        letters = sorted(set(skeleton.names) - set(names), key=lambda name: int(name[1:]))
        starts = rng.random(len(letters)) * 10 ** rng.uniform(-1, 1, len(letters)) * rng.choice([-1, 1], len(letters))
        slots = tuple(Slot(name, k, name, start) for k, (name, start) in enumerate(zip(letters, starts, strict=True)))
        reading = Reading(skeleton, names, slots)
        with np.errstate(all="ignore"):
            if self.as_released:
                distance = in_units(objective(reading, table(names, rows[:, :-1], rows[:, -1])), rows[:, -1].var())
                values, _ = adam(distance, starts, rate=RATE, epochs=EPOCHS, every=1, drops=DROPS)
            else:
                values, _ = bfgs(objective(reading, table(names, task.X, task.y)), starts)
        found = reading.with_constants(values.tolist())
        return found.substitute(dict(zip(names, task.inputs, strict=True)))


def in_units(error: Objective, unit: float) -> Objective:
    """An error, and its gradient, as multiples of a unit."""

    def relative(values: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = error(values)
        return value / unit, gradient / unit

    return relative
