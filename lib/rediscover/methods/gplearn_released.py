"""gplearn as SymbolBench's released script runs it on coupled equations (Table 6)."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from ..problems import InitialValueProblem, Task
from . import Budget, Candidate, join
from .gplearn import Gplearn


@dataclass(frozen=True)
class GplearnReleased(Gplearn):
    """A population of 25 for 100 generations on numpy's finite differences; the best program is the answer.

    Its text has the plain functions where gplearn evaluates protected ones, so an answer may be undefined where
    the program was not: such systems fail. Every equation is searched with the run's seed itself as random state;
    the release has 0.

    Attributes
    ----------
    generations : of the search, whatever the budget's evaluations.
    """

    population_size: int = 25
    function_set: str = "add,sub,mul,div,sin,cos,log"
    metric: str = "mse"
    parsimony_coefficient: float = 0.1
    generations: int = 100
    name: ClassVar[str] = "gplearn_released"
    reference: ClassVar[str] = "Stephens, gplearn; settings of SymbolBench's released script"
    accepts: ClassVar[tuple[type, ...]] = (InitialValueProblem,)
    protected: ClassVar[bool] = False

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        states = problem.observed(seed)
        rng: Any = SimpleNamespace(integers=lambda high: seed)  # what gplearn gets as its random_state
        slopes = np.gradient(states, problem.times(), axis=0)  # first order at both ends, as released
        whole = Budget(evaluations=self.population_size * self.generations)
        tables = [Task(problem.inputs, name, states, slopes[:, i]) for i, name in enumerate(problem.outputs)]
        return join([self.fit(table, budget=whole, rng=rng)[:1] for table in tables])
