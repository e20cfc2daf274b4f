"""Genetic programming in whose fitness a language model has a say: SymbolBench's hybrid with a judge."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..numerics.boolean_minimisation import bits
from ..problems import InitialValueProblem, Task, Transitions, generator
from . import Budget, Candidate, join
from .endpoint import RUN, Endpoint, texts
from .gplearn import write
from .gplearn_released import GplearnReleased
from .gplearn_steps import evolve
from .logicgep import Evolution, LogicGEP, express, simplified
from .questions import Questions

BEST = 10.0  # opinion
NUMBER = re.compile(r"\d+(?:\.\d+)?")
SYMBOL = re.compile(r"[\d.]+(?:e[+-]?\d+)?|\w+|[^\w\s(),]")


@dataclass(frozen=True)
class GpLlmJudge(Endpoint):
    """gplearn for coupled equations and gene expression programming for Boolean rules, with a judge in the fitness.

    The fitness of an equation is its mean squared error plus w (1 - s/10), that of a rule the number of transitions
    that it gives plus w s; s from 0 to 10 is the first number in the model's reply, 0 without one. Other than in the
    released code, which asks again at each evaluation, equal texts are judged once. The paper prints an error plus
    w s, by which bad opinions would win. With proposer 'genetic' there is no model, and every s is the control's. The
    budget is that of the release, whatever is given.

    Attributes
    ----------
    weight : w; 1 in the released script, 0.1 in its summary.
    control : with proposer 'genetic', 'constant' (s is 10, which is plain genetic programming) or 'length' (10 for one
        symbol, and one less for each further).
    describe : whether the judge is told what the variables stand for.
    generations : of the search; None for the release's 100 of equations (25 programs) and 15 of rules (15 genes).

    References
    ----------
    SymbolBench: github.com/nuuuh/SymbolBench
    """

    weight: float = 1.0
    control: str = "constant"
    describe: bool = True
    generations: int | None = None
    name: ClassVar[str] = "gp_llm_judge"
    reference: ClassVar[str] = "after the hybrid with a judge of SymbolBench (2025)"
    accepts: ClassVar[tuple[type, ...]] = (InitialValueProblem, Transitions)
    requires: ClassVar[tuple[str, ...]] = ("gplearn", "scikit-learn")
    texts: ClassVar[dict] = texts(__file__)

    def __post_init__(self) -> None:
        self.check(proposer=("model", "genetic", "recorded"), control=("constant", "length"))
        if not 0 <= self.weight < float("inf"):
            raise ValueError(f"{self.name}: weight must be at least 0, got {self.weight!r}")
        if self.generations is not None and self.generations < 1:
            raise ValueError(f"{self.name}: generations must be at least 1 or None, got {self.generations!r}")

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        ask = Questions(None if self.proposer == "genetic" else self.asking(problem.id), seed * RUN)
        judge = Judge(self, problem, ask)
        front = (self.rules if isinstance(problem, Transitions) else self.equations)(problem, judge, seed)
        notes = {"proposer": self.proposer, "judged": len(judge.known), **ask.spent}
        return [Candidate(c.solution, c.loss, c.complexity, c.evaluations, {**c.notes, **notes}) for c in front]

    def equations(self, problem: Any, judge: "Judge", seed: int) -> list[Candidate]:
        base = GplearnReleased(generations=self.generations or 100)
        states = problem.observed(seed)
        slopes = np.gradient(states, problem.times(), axis=0)
        fronts = []
        for i, output in enumerate(problem.outputs):
            task = Task(problem.inputs, output, states, slopes[:, i])

            def text(program, task=task):
                return write(program.program, task.X, task.inputs, spell=False)[0]

            def opinion(program, text=text, output=output):
                return self.weight * (1 - judge(output, text(program)) / BEST)

            best = evolve(base, task, seed, base.generations, opinion=opinion)[0]
            evaluations = base.population_size * base.generations
            fronts.append([Candidate({output: text(best)}, float(best.raw_fitness_), best.length_, evaluations)])
        return join(fronts)

    def rules(self, problem: Any, judge: "Judge", seed: int) -> list[Candidate]:
        base, train = LogicGEP(population=15, generations=self.generations or 15, elites=3), problem.data(seed)["train"]
        columns = {name: bits(train.X[:, i]) for i, name in enumerate(problem.inputs)}
        rules, evaluations = {}, base.population * (base.generations + 1) * len(problem.outputs)
        for i, node in enumerate(problem.outputs):
            rng = random.Random(int(generator(seed, problem.id, self.name, node).integers(2**63)))

            def opinion(rule, node=node):
                return self.weight * judge(node, rule)

            run = Judged(opinion, base, columns, bits(train.y[:, i]), len(train.y), rng)
            rules[node] = simplified(express(run.run()))
        return [Candidate(rules, evaluations=evaluations)]


class Judged(Evolution):
    """The search for a rule with an opinion of it in its fitness."""

    def __init__(self, opinion: Callable[[str], float], *arguments: Any) -> None:
        super().__init__(*arguments)
        self.opinion, self.judged = opinion, dict[tuple, tuple]()

    def fitness(self, gene: tuple) -> tuple:
        if gene not in self.judged:
            matched, regulators = super().fitness(gene)
            self.judged[gene] = matched + self.opinion(express(gene)), regulators
        return self.judged[gene]


class Judge:
    """Opinions from 0 to 10 of equations and rules, each text of an output judged once."""

    def __init__(self, method: GpLlmJudge, problem: Any, ask: Questions) -> None:
        self.method, self.problem, self.ask = method, problem, ask
        self.known: dict[tuple[str, str], float] = {}
        self.kind = "rule" if isinstance(problem, Transitions) else "equation"

    def __call__(self, output: str, text: str) -> float:
        if (output, text) not in self.known:
            reply = self.ask(self.messages(output, text))
            if self.method.proposer != "genetic" and not NUMBER.search(reply):
                self.ask.spent.update(unread=1)
            self.known[output, text] = self.stand_in(text) if self.method.proposer == "genetic" else opinion_in(reply)
        return self.known[output, text]

    def stand_in(self, text: str) -> float:
        symbols = len(SYMBOL.findall(text))
        return BEST if self.method.control == "constant" else max(0.0, BEST + 1 - symbols)

    def messages(self, output: str, text: str) -> list[dict]:
        known = {name: meaning for name, meaning in self.problem.meanings.items() if meaning and self.method.describe}
        lines = "\n".join(f"- {name}: {meaning}" for name, meaning in known.items())
        meanings = self.method.text("meanings", lines=lines) if lines else ""
        left = self.method.text(f"left_{self.kind}", output=output)
        content = self.method.text(self.kind, meanings=meanings, left=left, text=text)
        return [{"role": "user", "content": content}]


def opinion_in(reply: str) -> float:
    """The first number in a reply, at most 10; 0 without one.

    >>> opinion_in("I give 7.5 of 10."), opinion_in("Score: 85"), opinion_in("none")
    (7.5, 10.0, 0.0)
    """
    match = NUMBER.search(reply)
    return min(BEST, float(match[0])) if match else 0.0
