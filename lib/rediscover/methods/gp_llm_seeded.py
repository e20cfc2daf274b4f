"""Genetic programming seeded by a language model: SymbolBench's hybrid with a predictor."""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..numerics.boolean_minimisation import bits
from ..problems import InitialValueProblem, Task, Transitions
from ..search.loops import verification_loop as loop
from .endpoint import texts
from .gplearn import Gplearn, write
from .gplearn_steps import evolve
from .logicgep import LogicGEP, express, simplified
from .planted_genes import Planted
from .symbolbench_forms import Equations, Form
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

# Its probabilities of the operators are 0.1 to 0.3; one of them stands for all here. The elites are those of Table 7.
GENES = LogicGEP(population=15, generations=15, elites=3, head=5, rate=0.2)


@dataclass(frozen=True)
class GpLlmSeeded(SymbolbenchLoop):
    """The loop of `symbolbench_loop`, with a search by genetic programming between its rounds.

    Equations: gplearn, for each state. The five best systems, with their constants, are the first population, and the
    best program of the last is one more answer of the next round; gplearn keeps no elite, so it may be worse than what
    the search began with. A system that gplearn has no functions for leaves its place to a random program; the rates
    are finite differences.

    Rules of Boolean networks: gene expression programming, for each node, by F1 and few operations, 15 genes in 15
    generations. The rules of the five best networks are among the first genes, but for those with a constant or more
    functions than the head of a gene has room for; the best gene of each node makes one more answer.

    The controls of the loop put random answers or genetic operators in the model's place.

    Attributes
    ----------
    seeding : 'paper', or 'released', where by an error of the code the search begins with random programs or genes.

    References
    ----------
    SymbolBench: github.com/nuuuh/SymbolBench
    """

    seeding: str = "paper"
    name: ClassVar[str] = "gp_llm_seeded"
    reference: ClassVar[str] = "after the hybrid with a predictor of SymbolBench (2025)"
    accepts: ClassVar[tuple[type, ...]] = (InitialValueProblem, Transitions)
    requires: ClassVar[tuple[str, ...]] = ("numba", "gplearn", "scikit-learn")
    texts: ClassVar[dict] = texts(__file__.replace("gp_llm_seeded", "symbolbench_loop"))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check(seeding=("paper", "released"))

    def proposing(self, form: Form, spent: Counter) -> loop.Proposer:
        """A proposer with one more answer, by genetic programming on the pool, once there is one."""
        propose = super().proposing(form, spent)
        breed = self.system if isinstance(form, Equations) else self.network

        def both(context: loop.Context) -> Iterable[Any]:
            answers = list(propose(context))
            if not context.pool:
                return answers
            child, evaluations = breed(form, context)
            spent.update(bred=1, gp_evaluations=evaluations)
            return [child, *answers]

        return both

    def system(self, form: Any, context: loop.Context) -> tuple[dict[str, str], int]:
        """Equations that are bred from a pool, and how many programs were evaluated for them."""
        rates = np.gradient(form.observed, context.problem.times(), axis=0)
        child = {}
        for i, state in enumerate(context.problem.inputs):
            task = Task(context.problem.inputs, state, form.observed, rates[:, i])
            seeds = [answer.solution[state] for answer in context.pool[:BEST]]
            child[state] = self.equation(task, seeds, int(context.rng.integers(2**31)))
        return child, len(child) * BEST * GENERATIONS

    def equation(self, task: Task, seeds: list[str], random_state: int) -> str:
        """The best equation of a search that starts from others."""
        planted = seeds if self.seeding == "paper" else ()
        best = evolve(Gplearn(**SETTINGS), task, random_state, GENERATIONS, seeds=planted)[0]
        return write(best.program, task.X, task.inputs, spell=False)[0]

    def network(self, form: Form, context: loop.Context) -> tuple[dict[str, str], int]:
        """Rules that are bred from a pool, and how many genes were evaluated for them."""
        problem, train = context.problem, context.problem.data(form.seed)["train"]
        columns = {name: bits(train.X[:, i]) for i, name in enumerate(problem.inputs)}
        child = {}
        for i, node in enumerate(problem.outputs):
            seeds = [answer.solution[node] for answer in context.pool[:BEST]] if self.seeding == "paper" else []
            rng = random.Random(int(context.rng.integers(2**63)))
            run = Planted(seeds, GENES, columns, bits(train.y[:, i]), len(train.y), rng)
            child[node] = simplified(express(run.run()))
        return child, len(child) * GENES.population * (GENES.generations + 1)
