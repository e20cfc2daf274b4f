"""What the methods share that fit skeletons one after another: constants, budget, and the front."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..expressions.trees import replace_leaves
from ..problems import Task
from ..search.networks.tree_samplers import Tree, to_programs
from ..search.programs.constants import optimise
from ..search.programs.programs import to_text
from . import Candidate
from .tables import Tabular

BATCH = 100  # skeletons that are fitted together
EXACT = 1e-24  # of the mean square of the target: losses below are rounding


@dataclass(frozen=True)
class FittedSkeletons(Tabular):
    """Base: subclasses say where skeletons come from.

    Constants are fitted by Levenberg and Marquardt's method; a skeleton that came before is not fitted again. Nothing
    is simplified. Budget: each evaluation of an expression on the rows, one with derivatives too; no more skeletons
    are drawn than that. Returned are the expressions that nothing of the same or a smaller size beats, the least loss
    first, and the mean among them; the loss is the mean squared error over the mean square of the target. Starts and
    evaluations of a skeleton were chosen on Nguyen's problems.

    Attributes
    ----------
    starts : of the fit of each skeleton, the first from N(0, 1).
    each : most evaluations of a skeleton.
    """

    max_rows: int | None = 200
    starts: int = 1
    each: int = 30
    searches: ClassVar[bool] = True
    requires: ClassVar[tuple[str, ...]] = ("numba",)

    def __post_init__(self):
        super().__post_init__()
        if min(self.starts, self.each) < 1:
            raise ValueError(f"{self.name}: starts and each must be at least 1")

    def skeletons(self, task: Task, count: int, rng: np.random.Generator) -> Iterator[Tree]:
        """So many trees with constants to start from; the same may come again."""
        raise NotImplementedError(f"{self.name} has no skeletons")

    def search(self, task, *, budget, rng):
        left = total = int(budget.evaluations)
        fresh = unlike(self.skeletons(task, total, rng))
        trees = [(float(np.mean(task.y)),)]
        found: dict[int, tuple[float, str]] = {}  # size -> loss and text
        count = 0
        while trees and left:
            programs, losses, used = optimise(
                to_programs(trees), task.X, task.y, starts=self.starts, evaluations=min(self.each, left), rng=rng
            )
            texts = to_text(programs, task.inputs)
            for size, loss, text in zip(programs.sizes.tolist(), losses.tolist(), texts, strict=True):
                found[size] = min(found.get(size, (math.inf, "")), (loss, text))
            count, left = count + len(trees), left - int(used.sum())
            trees = list(itertools.islice(fresh, min(BATCH, max(1, left // self.each))))
        return [
            Candidate({task.output: text}, loss, size, total - left, {"skeletons": count - 1})
            for loss, size, text in front(found)
        ]


def unlike(trees: Iterable[Tree]) -> Iterator[Tree]:
    """Those that differ from all before in more than their constants.

    >>> [*unlike([("+", (1.5,), (0,)), ("+", (2.5,), (0,)), ("+", (1,), (0,))])]
    [('+', (1.5,), (0,)), ('+', (1,), (0,))]
    """
    seen = set()
    for tree in trees:
        pattern = replace_leaves(tree, lambda leaf: ("c",) if type(leaf) is float else (leaf,))
        if pattern not in seen:
            seen.add(pattern)
            yield tree


def front(found: Mapping[int, tuple[float, str]]) -> list[tuple[float, int, str]]:
    """Loss, size and text of what has a smaller loss than all that is no larger, the least loss first.

    >>> front({1: (0.5, "x"), 4: (0.1, "x*y + 1"), 3: (0.1, "x*y"), 7: (0.2, "sin(x*y) + 1")})
    [(0.1, 3, 'x*y'), (0.5, 1, 'x')]
    """
    kept: list[tuple[float, int, str]] = []
    for size, (loss, text) in sorted(found.items()):
        if loss < math.inf and (not kept or loss < max(kept[-1][0], EXACT)):
            kept.append((loss, size, text))
    return kept[::-1]
