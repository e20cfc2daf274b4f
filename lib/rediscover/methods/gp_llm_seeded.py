"""Genetic programming seeded by a language model: SymbolBench's hybrid with a predictor, for coupled equations."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problems import Task
from ..search import verification_loop as loop
from .endpoint import texts
from .gplearn import Gplearn, write
from .gplearn_steps import evolve
from .symbolbench_loop import SymbolbenchLoop

# Of the released script: what gplearn is called with between the rounds of the loop.
GENERATIONS, BEST = 50, 5
SETTINGS: dict[str, Any] = {
    "population_size": BEST,
    "function_set": "add,sub,mul,div,sin,cos,log",
    "metric": "mean absolute error",
    "parsimony_coefficient": 0.01,
    "p_crossover": 0.7,
    "p_subtree_mutation": 0.1,
    "p_hoist_mutation": 0.05,
    "p_point_mutation": 0.1,
}


@dataclass(frozen=True)
class GpLlmSeeded(SymbolbenchLoop):
    """The loop of `symbolbench_loop`, with a search by gplearn for each state between its rounds.

    The five best systems, with their constants, are the first population, and the best program of the last is one more
    answer of the next round; gplearn keeps no elite, so it may be worse than what the search began with. A system
    that gplearn has no functions for leaves its place to a random program; the rates are finite differences. The
    controls of the loop put a grammar or genetic operators in the model's place.

    Attributes
    ----------
    seeding : 'paper', or 'released', where by an error of the code the search begins with random programs.

    References
    ----------
    SymbolBench: github.com/nuuuh/SymbolBench
    """

    seeding: str = "paper"
    name: ClassVar[str] = "gp_llm_seeded"
    reference: ClassVar[str] = "after the hybrid with a predictor of SymbolBench (2025)"
    requires: ClassVar[tuple[str, ...]] = ("numba", "gplearn", "scikit-learn")
    texts: ClassVar[dict] = texts(__file__.replace("gp_llm_seeded", "symbolbench_loop"))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check(seeding=("paper", "released"))

    def metered(self, control: loop.Proposer, observed: np.ndarray, spent: Counter) -> loop.Proposer:
        return self.bred(super().metered(control, observed, spent), observed, spent)

    def model_proposer(self, problem: Any, seed: int, spent: Counter) -> loop.Proposer:
        return self.bred(super().model_proposer(problem, seed, spent), problem.observed(seed), spent)

    def bred(self, propose: loop.Proposer, observed: np.ndarray, spent: Counter) -> loop.Proposer:
        """A proposer with one more answer, by genetic programming on the pool, once there is one."""

        def both(context: loop.Context) -> Iterable[Any]:
            answers = list(propose(context))
            if not context.pool:
                return answers
            rates = np.gradient(observed, context.problem.times(), axis=0)
            child = {}
            for i, state in enumerate(context.problem.inputs):
                task = Task(context.problem.inputs, state, observed, rates[:, i])
                seeds = [answer.solution[state] for answer in context.pool[:BEST]]
                child[state] = self.equation(task, seeds, int(context.rng.integers(2**31)))
            spent.update(bred=1, gp_evaluations=len(child) * BEST * GENERATIONS)
            return [child, *answers]

        return both

    def equation(self, task: Task, seeds: list[str], random_state: int) -> str:
        """The best equation of a search that starts from others."""
        planted = seeds if self.seeding == "paper" else ()
        best = evolve(Gplearn(**SETTINGS), task, random_state, GENERATIONS, seeds=planted)[0]
        return write(best.program, task.X, task.inputs, spell=False)[0]
