"""SymbolBench's loop around a language model: for differential equations, Boolean networks and causal graphs."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..llm import pictures
from ..llm.tokens import tokens_in
from ..problems import InitialValueProblem, Series, Transitions, generator
from ..search.loops import verification_loop as loop
from ..search.loops.graph_proposals import SCORES
from . import Budget, Candidate, added
from .endpoint import CONTROLS, RUN, Endpoint, texts
from .symbolbench_forms import Equations, Form, Graphs, Rules
from .verification_loop import candidates

STRATEGIES = {
    "naive": ("task", "form"),
    "base": ("task", "history", "form"),
    "context": ("task", "described", "data", "history", "form"),
    "cot": ("task", "described", "data", "history", "form", "reasoned"),
}
WITH_DATA = tuple(name for name, parts in STRATEGIES.items() if "data" in parts)


@dataclass(frozen=True)
class SymbolbenchLoop(Endpoint):
    """Answers by a model, verified on the training data, the best shown to it again.

    Skeletons of equations are fitted, integrated and compared by R2; the least complex of the good ones is chosen.
    Rules of networks are compared by F1 on the transitions, causal graphs by the CI-score of the released code; the
    best is chosen. That score looks at children with exactly one parent only: a graph without one is no answer, nor one
    where such a child or its parent never changes (`rediscover.search.loops.graph_proposals`).

    Strategies differ in the prompt: 'naive' has the form of an answer only, 'base' the best five (graphs: ten) as well,
    'context' meanings of the variables and the observed data, 'cot' asks for a reason too. The controls put random
    answers or genetic operators in the model's place. Other than in the released code, the rows of the pool are shown
    in full (there they are cut off after 50 characters), variables of causal graphs have their own meanings (there
    mostly those of another model), and there is no judge of reasons (it decides nothing there but ties).

    Attributes
    ----------
    strategy : 'naive', 'base', 'context' or 'cot'.
    epochs, calls, samples : rounds at most (of rules and graphs no more than 50), replies in a round, and answers that
        each is asked for. The released code makes 5 calls, its runs made about one; `Budget.evaluations` bounds all
        answers.
    tolerance : R2 that ends the loop.
    thoughts : whether answers in a model's thinking count, as in the released code.
    fitted : how constants of equations are found, 'released' (linear coefficients, rounded) or 'integral'.
    matched : F1 of rules or CI-score of a graph that ends the loop; the released runs on networks had 0.9.
    scored : CI-score that is maximised, 'released', or 'partial', which the paper defines.
    picture : whether the series are sent as a picture in place of their numbers, as for the columns of GPT-4o with
        images. For systems and graphs, and the strategies that show data. How it is drawn is our own, a panel for each
        series; the released requests call every picture a JPEG, ours is a PNG and is called one.

    References
    ----------
    SymbolBench: github.com/nuuuh/SymbolBench
    """

    strategy: str = "base"
    epochs: int = 100
    calls: int = 5
    samples: int = 5
    tolerance: float = 0.99
    thoughts: bool = False
    fitted: str = "released"
    matched: float = 0.95
    scored: str = "released"
    picture: bool = added(False)
    name: ClassVar[str] = "symbolbench_loop"
    reference: ClassVar[str] = "after the verification loop of SymbolBench (2025)"
    accepts: ClassVar[tuple[type, ...]] = (InitialValueProblem, Transitions, Series)
    texts: ClassVar[dict] = texts(__file__)

    def __post_init__(self):
        self.check(strategy=tuple(STRATEGIES), fitted=tuple(loop.FITS), scored=tuple(SCORES))
        if min(self.epochs, self.calls, self.samples) < 1:
            raise ValueError(f"{self.name}: epochs, calls and samples must be at least 1")
        if self.picture and self.strategy not in WITH_DATA:
            raise ValueError(f"{self.name}: picture needs a strategy that shows data: {' or '.join(WITH_DATA)}")

    def form(self, problem: Any, seed: int) -> Form:
        """What kind of answer a problem has."""
        if isinstance(problem, Transitions):
            return Rules(problem, seed, self.matched)
        if isinstance(problem, Series):
            return Graphs(problem, seed, self.matched, self.scored)
        return Equations(problem, seed, self.tolerance, self.fitted)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        form, spent = self.form(problem, seed), Counter[str]()
        outcome = loop.search(
            problem,
            self.proposing(form, spent),
            form.verifier(),
            epochs=int(min(self.epochs, form.most)),
            rng=generator(seed, problem.id, self.name),
            tolerance=form.tolerance,
            proposals=budget.evaluations,
        )
        picked = form.select(outcome.pool)
        ranked = sorted(front(outcome.pool), key=lambda answer: answer is not picked)
        curve = list[list[float]]()
        for step in outcome.progress:
            if np.isfinite(step.score) and (not curve or step.score > curve[-1][1]):
                curve.append([step.epoch, step.score])
        found = candidates(ranked, outcome, curve, proposer=self.proposer, **spent)
        return found if isinstance(form, Equations) else list(map(without_skeletons, found))

    def proposing(self, form: Form, spent: Counter) -> loop.Proposer:
        """The model or what is in its place; what it takes is counted."""
        if self.proposer not in CONTROLS:
            return self.model_proposer(form, spent)
        return self.metered(form.controls(self.calls * self.samples)[self.proposer], form, spent)

    def metered(self, control: loop.Proposer, form: Form, spent: Counter) -> loop.Proposer:
        """A control that counts what a model in its place would have been sent."""

        def propose(context: loop.Context) -> Iterable[Any]:
            tokens = tokens_in(self.prompt(context, form), self.model)
            spent.update(requests=self.calls, request_tokens=self.calls * tokens)
            return control(context)

        return propose

    def model_proposer(self, form: Form, spent: Counter) -> loop.Proposer:
        """A proposer that asks for so many replies in each round, and counts them."""
        ask, asked = self.asking(form.problem.id), Counter[str]()

        def propose(context: loop.Context) -> list:
            messages = self.prompt(context, form)
            key, answers = json.dumps(messages), list[Any]()
            for _ in range(self.calls):
                reply = ask(messages, form.seed * RUN + asked[key])
                asked[key] += 1
                counts = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
                text = "\n".join([reply.thought if self.thoughts else "", reply.text or ""])
                spent.update(completions=1, unread=form.unread(text), **counts)
                answers += form.read(text)
            return answers

        return propose

    def prompt(self, context: loop.Context, form: Form) -> list[dict]:
        """The user message that shows a pool."""
        picture = [pictures.part(form.picture)] if self.picture else []
        states, names, dim = ", ".join(form.asked), ", ".join(form.problem.inputs), len(form.asked)
        parts: dict[str, Callable[[], str]] = {
            "task": lambda: self.text(f"task_{form.name}", dim=dim, states=states, names=names),
            "described": lambda: self.described(form),
            "data": lambda: self.data(form, names),
            "history": lambda: self.history(context.pool, form),
            "form": lambda: self.text(f"form_{form.name}", count=self.samples, states=states, example=form.example),
            "reasoned": lambda: self.text(f"reasoned_{form.name}"),
        }
        written = [parts[part]() for part in STRATEGIES[self.strategy]]
        text = "\n\n".join(filter(None, written))
        return [{"role": "user", "content": [{"type": "text", "text": text}, *picture] if picture else text}]

    def data(self, form: Form, names: str) -> str:
        """What was observed, or where a picture shows it; nothing where nothing is known."""
        if self.picture:
            return self.text(f"drawn_{form.name}")
        return self.text(f"data_{form.name}", series=form.data, names=names) if form.data else ""

    def described(self, form: Form) -> str:
        """What the variables stand for, and the field; nothing where nothing is known."""
        meanings = {name: form.problem.meanings.get(name, "") for name in form.problem.inputs}
        known = "\n".join(f"{name}: {meaning}" for name, meaning in meanings.items() if meaning)
        field = self.text(f"domain_{form.name}", domain=form.domain) if form.domain else ""
        return "\n\n".join(filter(None, [field, known and self.text(f"described_{form.name}", meanings=known)]))

    def history(self, pool: Iterable[loop.Verified], form: Form) -> str:
        """The best of a pool, nothing while it is empty."""
        rows = [
            self.text(
                f"row_{form.name}",
                score=f"{answer.score:.4f}",
                complexity=int(answer.complexity),
                answer=form.written(answer.proposal),
            )
            for answer in list(pool)[: form.shown]
        ]
        return self.text(f"history_{form.name}", pool="\n".join(rows)) if rows else ""


def without_skeletons(candidate: Candidate) -> Candidate:
    """The candidate without a note of what was proposed, where that is the answer."""
    return replace(candidate, notes={name: note for name, note in candidate.notes.items() if name != "skeletons"})


def front(pool: Iterable[loop.Verified]) -> list[loop.Verified]:
    """Answers of a pool that no simpler one reaches, the best first; one of them is the loop's final choice."""
    kept: list[loop.Verified] = []
    for answer in pool:
        if not kept or answer.complexity < kept[-1].complexity:
            kept.append(answer)
    return kept
