"""Control: skeletons drawn blindly from a prior, constants by least squares; what a transformer adds is beyond it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..problems import Task
from ..search.networks.tree_samplers import PRIORS, Tree, draw_constants, draw_expression
from .fitted_skeletons import FittedSkeletons


@dataclass(frozen=True)
class RandomSkeletons(FittedSkeletons):
    """Expressions of a published generator, drawn without a look at the data, then fitted.

    Generators are those of the training data of NeSymReS, E2E and ODEFormer. A pretrained transformer is a better
    way to draw skeletons or it is nothing, so this is the control beside each.

    Attributes
    ----------
    prior : 'nesymres', 'e2e' or 'odeformer': see `rediscover.search.networks.tree_samplers`.

    References
    ----------
    L. Biggio et al., Neural symbolic regression that scales, ICML 2021, whose generator is the default
    """

    prior: str = "nesymres"
    name: ClassVar[str] = "random_skeletons"
    reference: ClassVar[str] = "control: skeletons from a prior, constants by least squares"

    def __post_init__(self):
        super().__post_init__()
        if self.prior not in PRIORS:
            raise ValueError(f"{self.name}: unknown prior {self.prior!r} (priors: {', '.join(PRIORS)})")

    def skeletons(self, task: Task, count: int, rng: np.random.Generator) -> Iterator[Tree]:
        prior = PRIORS[self.prior]
        for _ in range(count):
            yield draw_constants(draw_expression(prior, len(task.inputs), rng), prior, rng)
