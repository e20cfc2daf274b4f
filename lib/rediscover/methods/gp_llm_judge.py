"""Genetic programming in whose fitness a language model has a say: SymbolBench's hybrid with a judge."""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..numerics.boolean_minimisation import bits
from ..problems import InitialValueProblem, Task, Transitions, generator
from . import Budget, Candidate, added, join
from .endpoint import RUN, Endpoint, texts
from .gplearn import write
from .gplearn_released import GplearnReleased
from .gplearn_steps import evolve
from .logicgep import Evolution, LogicGEP, express, simplified
from .questions import Questions
from .symbolbench_forms import BLOCK, Equations, Rules

BEST = 10.0  # opinion
NUMBER = re.compile(r"\d+(?:\.\d+)?")
SYMBOL = re.compile(r"[\d.]+(?:e[+-]?\d+)?|\w+|[^\w\s(),]")
CRITERIA = ("context", "plausibility", "conciseness", "coherence")
WORST_SCORE, BEST_SCORE = 1.0, 5.0  # of a criterion
FENCE = re.compile(r"```json\b(.*?)(?:```|\Z)", re.DOTALL)
SCORE = re.compile(r"""\s*["']?([-+]?\d+(?:\.\d+)?)(?![\w.])""")


@dataclass(frozen=True)
class GpLlmJudge(Endpoint):
    """gplearn for coupled equations and gene expression programming for Boolean rules, with a judge in the fitness.

    The fitness of an equation is its mean squared error plus w (1 - s/10), that of a rule the number of transitions
    that it gives plus w s; s from 0 to 10 is the first number in the model's reply, 0 without one. Other than in the
    released code, which asks again at each evaluation, equal texts are judged once. The paper prints an error plus
    w s, by which bad opinions would win. With proposer 'genetic' there is no model, and every s is the control's. The
    budget is that of the release, whatever is given.

    With `criteria` the judge is shown the data too and gives four scores from 1 to 5. Then s = 10 (m - 1) / 4, where m
    is the mean of the scores that can be read (`scores_in`); without any, s is 0 and the reply counts as unread. The
    criteria and their scale are printed (Section 4.2.2), a rule that makes one number of them is not. The released loop
    asks for them where answers have reasons, and sorts systems of equal R2 by the first; its hybrids ask for one
    number. That the four are in the fitness is our own. So are the equation, the rule for scores that are missing, and
    that all four are about the expression: in print the last two are about a reasoning, which a search does not give.

    Attributes
    ----------
    weight : w; 1 in the released script, 0.1 in its summary.
    control : with proposer 'genetic', 'constant' (s is 10, which is plain genetic programming) or 'length' (10 for one
        symbol, and one less for each further).
    describe : whether the judge is told what the variables stand for.
    generations : of the search; None for the release's 100 of equations (25 programs) and 15 of rules (15 genes).
    criteria : whether the judge scores the four criteria in place of giving one number.

    References
    ----------
    SymbolBench: github.com/nuuuh/SymbolBench
    """

    weight: float = 1.0
    control: str = "constant"
    describe: bool = True
    generations: int | None = None
    criteria: bool = added(False)
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
        judge = Judge(self, problem, ask, seed)
        front = (self.rules if isinstance(problem, Transitions) else self.equations)(problem, judge, seed)
        notes = {"proposer": self.proposer, "judged": len(judge.known), **ask.spent}
        if self.criteria:
            notes["criteria"] = True
        return [Candidate(c.solution, c.loss, c.complexity, c.evaluations, {**c.notes, **notes}) for c in front]

    def parameters(self, draw: int) -> Mapping[str, Any]:
        """As of the base; scores in JSON are longer than a number."""
        return {**super().parameters(draw), **(self.texts["sampling_of_criteria"] if self.criteria else {})}

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

    def __init__(self, method: GpLlmJudge, problem: Any, ask: Questions, seed: int = 0) -> None:
        self.method, self.problem, self.ask, self.seed = method, problem, ask, seed
        self.known: dict[tuple[str, str], float] = {}
        self.kind = "rule" if isinstance(problem, Transitions) else "equation"

    def __call__(self, output: str, text: str) -> float:
        if (output, text) not in self.known:
            reply = self.ask(self.messages(output, text))
            self.known[output, text] = self.stand_in(text) if self.method.proposer == "genetic" else self.read(reply)
        return self.known[output, text]

    def read(self, reply: str) -> float:
        """The opinion in a reply; what cannot be read of it is counted."""
        if not self.method.criteria:
            self.ask.spent.update([] if NUMBER.search(reply) else ["unread"])
            return opinion_in(reply)
        scores = scores_in(reply)
        if not scores:
            self.ask.spent.update(unread=1)
        elif missing := len(CRITERIA) - len(scores):
            self.ask.spent.update(missing_scores=missing)
        return opinion_of(scores)

    def stand_in(self, text: str) -> float:
        symbols = len(SYMBOL.findall(text))
        return BEST if self.method.control == "constant" else max(0.0, BEST + 1 - symbols)

    def messages(self, output: str, text: str) -> list[dict]:
        known = {name: meaning for name, meaning in self.problem.meanings.items() if meaning and self.method.describe}
        lines = "\n".join(f"- {name}: {meaning}" for name, meaning in known.items())
        meanings = self.method.text("meanings", lines=lines) if lines else ""
        left = self.method.text(f"left_{self.kind}", output=output)
        content = self.method.text(self.kind, meanings=meanings, left=left, text=text)
        if self.method.criteria:
            content = self.method.text(f"criteria_{self.kind}", meanings=meanings, data=self.data, left=left, text=text)
        return [{"role": "user", "content": content}]

    @cached_property
    def data(self) -> str:
        """The training data, as the loop of `symbolbench_loop` shows them."""
        form = Rules if self.kind == "rule" else Equations
        shown, names = form(self.problem, self.seed, BEST).data, ", ".join(self.problem.inputs)
        return self.method.text(f"data_{self.kind}", series=shown, names=names)


def opinion_in(reply: str) -> float:
    """The first number in a reply, at most 10; 0 without one.

    >>> opinion_in("I give 7.5 of 10."), opinion_in("Score: 85"), opinion_in("none")
    (7.5, 10.0, 0.0)
    """
    match = NUMBER.search(reply)
    return min(BEST, float(match[0])) if match else 0.0


def scores_in(reply: str) -> dict[str, float]:
    """The scores of criteria in a reply, from its first JSON object in a fence, else from the first that has one.

    A name may be longer than ours, such as ``context_alignment``, and need no quotes. Of several entries for a
    criterion the one with the shortest name counts, then the first; it is left out unless it is a number from 1 to 5.

    >>> scores_in('So: {"context": 4, "plausibility": 7, "logical_coherence": 3.5}')
    {'context': 4.0, 'coherence': 3.5}
    """
    fenced = FENCE.search(reply)
    for block in [*BLOCK.findall(fenced[1] if fenced else ""), *BLOCK.findall(reply)]:
        parts = (part.partition(":")[::2] for part in re.split(r"[,;\n]", block[1:-1]))
        entries = sorted(((name.strip(), value) for name, value in parts), key=lambda entry: len(entry[0]))
        given = {each: next((value for name, value in entries if each in name.lower()), None) for each in CRITERIA}
        read = {each: SCORE.match(value or "") for each, value in given.items()}
        scores = {each: float(match[1]) for each, match in read.items() if match}
        if scores:
            return {each: score for each, score in scores.items() if WORST_SCORE <= score <= BEST_SCORE}
    return {}


def opinion_of(scores: Mapping[str, float]) -> float:
    """An opinion from 0 to 10 by scores from 1 to 5: 10 (m - 1) / 4, where m is their mean; 0 without any.

    The mean of 4, 4, 3 and 5 is 4, three quarters of the way from 1 to 5:

    >>> opinion_of({"context": 4, "plausibility": 4, "conciseness": 3, "coherence": 5})
    7.5
    >>> opinion_of({"context": 2}), opinion_of({})
    (2.5, 0.0)
    """
    if not scores:
        return 0.0
    mean = sum(scores.values()) / len(scores)
    return BEST * (mean - WORST_SCORE) / (BEST_SCORE - WORST_SCORE)
