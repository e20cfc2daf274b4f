"""Skeletons from a small network of this project that has read the data; the twin of the control that draws blindly."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..expressions.trees import replace_leaves
from ..problems import Task
from ..search.networks.sequence_network import INPUTS, sample, tree_of
from ..search.networks.sequence_sets import ROWS, table, units
from ..search.networks.tree_samplers import Tree, scalable
from . import Unsupported
from .fitted_skeletons import BATCH, FittedSkeletons
from .trained import Trained


@dataclass(frozen=True)
class TrainedSkeletons(Trained, FittedSkeletons):
    """Expressions drawn with the probabilities that a trained network gives them for the data, then fitted.

    The network was trained on the draws of `random_skeletons` (prior 'nesymres'), and all but the source of skeletons
    is the same, so the difference of both at equal evaluations is what training adds. It is a network of this project,
    of a quarter of a million numbers, and no published method.

    It reads up to 64 rows, the target as a multiple of its standard deviation, since a factor can be fitted. An input
    whose largest size is not in 0.1 to 10 is read as multiples of a power of ten, and stands in the skeletons with
    such a factor, which is fitted as well.
    """

    sha256: str = "dcb5e9cfd44c1c35362b09cadbf4474eca434a5c5d1af79cb2ff2c122ba6255e"
    name: ClassVar[str] = "trained_skeletons"
    reference: ClassVar[str] = "this project: skeletons from a small trained network, constants by least squares"

    def skeletons(self, task: Task, count: int, rng: np.random.Generator) -> Iterator[Tree]:
        if len(task.inputs) > INPUTS:
            raise Unsupported(f"{self.name} reads at most {INPUTS} inputs, {task.output} has {len(task.inputs)}")
        network = self.network()
        rows = rng.permutation(len(task.y))[:ROWS]
        each = units(task.X)
        given = table(task.X[rows] / each, task.y[rows])

        def leaf(label: int | float) -> Tree:
            if type(label) is float or each[int(label)] == 1:
                return (label,)
            return ("*", (1 / each[int(label)],), (label,))

        for first in range(0, count, BATCH):
            for tokens in sample(network, given, min(BATCH, count - first), rng):
                tree = replace_leaves(tree_of(tokens, rng.normal), leaf)
                yield tree if scalable(tree) else ("*", (float(rng.normal()),), tree)
