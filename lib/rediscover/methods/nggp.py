"""NGGP: a recurrent policy whose expressions are bred further before it learns from them."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from ..search.policy.policy import Training
from ..search.policy.token_genetics import Breeding
from .dsr import Dsr

# Reading -> breeding, size of the queue, policy gradient.
READINGS = {"merged": (True, 10, False), "named": (False, 0, True), "paper": (True, 0, True)}


@dataclass(frozen=True)
class Nggp(Dsr):
    """Neural-guided genetic programming: a recurrent policy and a population that learn from each other.

    Each batch of the policy is the first population of 20 generations, whose 50 best children join the batch that the
    policy learns from.

    Budget: expressions drawn and children bred are evaluations, also where a child has been met before. All
    settings of `dsr` hold; the defaults are those of SRSD's configuration files.

    What SRSD's column "DSR" is depends on how these files are read. They name neither breeding nor a queue,
    and the release that they fit, of December 2021, fills both in: "merged" learns by raising the likelihood
    of one of the ten best expressions ever, without the policy gradient. "named" is what the column's name
    says, the risk-seeking policy gradient alone. "paper" is NGGP as published, breeding with the policy
    gradient. Five of the ten files ask for no function set at all, with which that release cannot start; the
    paper prints the eight functions for them.

    Attributes
    ----------
    reading : 'merged', 'named' or 'paper'.
    generations, population_size, elites : of the breeding; a population of None is the whole batch.

    References
    ----------
    T. N. Mundhenk, M. Landajuela, R. Glatt, C. P. Santiago, D. M. Faissol, B. K. Petersen, Symbolic regression
    via neural-guided genetic programming population seeding, NeurIPS 2021.
    """

    entropy: float = 0.03
    entropy_decay: float = 0.7
    uniform_arity: bool = True
    soft_length: float | None = 10.0
    reading: str = "merged"
    generations: int = 20
    population_size: int | None = None
    elites: int = 50
    name: ClassVar[str] = "nggp"
    reference: ClassVar[str] = "Mundhenk et al., neural-guided GP population seeding (NeurIPS 2021)"

    def _training(self) -> Training:
        if self.reading not in READINGS:
            raise ValueError(f"unknown reading {self.reading!r} (readings: {', '.join(READINGS)})")
        breeds, queue, policy_gradient = READINGS[self.reading]
        breeding = Breeding(self.generations, self.population_size, self.elites)
        return dataclasses.replace(
            super()._training(), breeding=breeding if breeds else None, queue=queue, policy_gradient=policy_gradient
        )
