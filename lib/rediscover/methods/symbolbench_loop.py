"""SymbolBench's loop around a language model, for systems of differential equations."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..llm.tokens import tokens_in
from ..problems import InitialValueProblem, generator
from ..search import verification_loop as loop
from . import Budget, Candidate
from .endpoint import RUN, Endpoint, texts
from .verification_loop import candidates

STRATEGIES = {
    "naive": ("task", "form"),
    "base": ("task", "history", "form"),
    "context": ("task", "described", "data", "history", "form"),
    "cot": ("task", "described", "data", "history", "form", "reasoned"),
}
SHOWN, DECIMALS = 5, 3  # rows of the pool; of the observed values
BLOCK = re.compile(r"\{[^{}]*\}")
EQUATIONS = re.compile(r"""["']eq["']\s*:\s*(?:"([^"]*)"|'([^']*)')""")


@dataclass(frozen=True)
class SymbolbenchLoop(Endpoint):
    """Skeletons by a model, verified by integration, the best shown to it again.

    Strategies differ in the prompt: 'naive' has the form of an answer only, 'base' the best five as well, 'context'
    meanings of the states and the observed series, 'cot' asks for a reason too. The controls are those of
    `rediscover.search.verification_loop`. Other than in the released code, the rows of the pool are shown in full
    (there they are cut off after 50 characters), and there is no judge of reasons (it is off there).

    Attributes
    ----------
    strategy : 'naive', 'base', 'context' or 'cot'.
    epochs, calls, samples : rounds at most, replies in a round, and systems that each is asked for. The released code
        makes 5 calls, its runs made about one; `Budget.evaluations` bounds all systems.
    tolerance : R2 that ends the loop.
    thoughts : whether equations in a model's thinking count as answers, as in the released code.
    fitted : how constants are found, 'released' (linear coefficients, rounded) or 'integral'.

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
    name: ClassVar[str] = "symbolbench_loop"
    reference: ClassVar[str] = "after the verification loop of SymbolBench (2025)"
    accepts: ClassVar[tuple[type, ...]] = (InitialValueProblem,)
    texts: ClassVar[dict] = texts(__file__)

    def __post_init__(self):
        self.check(strategy=tuple(STRATEGIES), fitted=tuple(loop.FITS))
        if min(self.epochs, self.calls, self.samples) < 1:
            raise ValueError(f"{self.name}: epochs, calls and samples must be at least 1")

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        each, spent = self.calls * self.samples, Counter[str]()
        controls: dict[str, loop.Proposer] = {"grammar": loop.Grammar(each), "genetic": loop.Genetic(each)}
        if self.proposer in controls:
            propose = self.metered(controls[self.proposer], problem.observed(seed), spent)
        else:
            propose = self.model_proposer(problem, seed, spent)
        outcome = loop.search(
            problem,
            propose,
            loop.SkeletonVerifier(problem, fit=self.fitted, seed=seed),
            epochs=self.epochs,
            rng=generator(seed, problem.id, self.name),
            tolerance=self.tolerance,
            proposals=budget.evaluations,
        )
        picked = loop.select(outcome.pool)
        ranked = sorted(front(outcome.pool), key=lambda answer: answer is not picked)
        curve = list[list[float]]()
        for step in outcome.progress:
            if np.isfinite(step.score) and (not curve or step.score > curve[-1][1]):
                curve.append([step.epoch, step.score])
        return candidates(ranked, outcome, curve, proposer=self.proposer, **spent)

    def metered(self, control: loop.Proposer, observed: np.ndarray, spent: Counter) -> loop.Proposer:
        """A control that counts what a model in its place would have been sent."""

        def propose(context: loop.Context) -> Iterable[Any]:
            tokens = tokens_in(self.prompt(context, observed))
            spent.update(requests=self.calls, request_tokens=self.calls * tokens)
            return control(context)

        return propose

    def model_proposer(self, problem: Any, seed: int, spent: Counter) -> loop.Proposer:
        """A proposer that asks for so many replies in each round, and counts them."""
        ask, asked, observed = self.asking(problem.id), Counter[str](), problem.observed(seed)

        def propose(context: loop.Context) -> list[dict[str, str]]:
            messages = self.prompt(context, observed)
            key, answers = json.dumps(messages), list[dict[str, str]]()
            for _ in range(self.calls):
                reply = ask(messages, seed * RUN + asked[key])
                asked[key] += 1
                counts = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
                spent.update(completions=1, **counts)
                text = "\n".join([reply.thought if self.thoughts else "", reply.text or ""])
                answers += systems(text, problem.inputs)
            return answers

        return propose

    def prompt(self, context: loop.Context, observed: np.ndarray) -> list[dict]:
        """The user message that shows a pool."""
        states, meanings = context.problem.inputs, context.problem.meanings
        example = json.dumps({"eq": " | ".join(f"c*{state} + c" for state in states), "dim": len(states)})
        parts: dict[str, Callable[[], str]] = {
            "task": lambda: self.text("task", dim=len(states), states=", ".join(states)),
            "described": lambda: self.listed("described", meanings={s: meanings.get(s, "") for s in states}),
            "data": lambda: self.listed("data", series=series(states, observed)),
            "history": lambda: self.history(context.pool, states),
            "form": lambda: self.text("form", count=self.samples, states=", ".join(states), example=example),
            "reasoned": lambda: self.text("reasoned"),
        }
        written = [parts[part]() for part in STRATEGIES[self.strategy]]
        return [{"role": "user", "content": "\n\n".join(filter(None, written))}]

    def listed(self, key: str, **lines: dict[str, str]) -> str:
        """A text with a line for each state, or nothing where nothing is known."""
        ((blank, values),) = lines.items()
        known = "\n".join(f"{state}: {value}" for state, value in values.items() if value)
        return self.text(key, **{blank: known}) if known else ""

    def history(self, pool, states) -> str:
        rows = [
            self.text(
                "row",
                score=f"{answer.score:.4f}",
                complexity=int(answer.complexity),
                equations=" | ".join(answer.proposal[state] for state in states),
            )
            for answer in pool[:SHOWN]
        ]
        return self.text("history", pool="\n".join(rows)) if rows else ""


def front(pool: Iterable[loop.Verified]) -> list[loop.Verified]:
    """Answers of a pool that no simpler one reaches, the best first; one of them is the loop's final choice."""
    kept: list[loop.Verified] = []
    for answer in pool:
        if not kept or answer.complexity < kept[-1].complexity:
            kept.append(answer)
    return kept


def series(states, observed: np.ndarray) -> dict[str, str]:
    return {
        state: ", ".join(f"{value:.{DECIMALS}f}" for value in column)
        for state, column in zip(states, observed.T, strict=True)
    }


def systems(reply: str, states: tuple[str, ...]) -> list[dict[str, str]]:
    """The systems in a reply: state -> skeleton, for each block in braces that has as many equations as states.

    A block need be no proper JSON. ``x_0`` is ``x0``, and what stands before an equality sign is left out.

    >>> systems('Two: {"eq": "c*x0 | -c*x_1", "dim": 2}, {"eq": "c*x0"}', ("x0", "x1"))
    [{'x0': 'c*x0', 'x1': '-c*x1'}]
    """
    found = []
    for block in BLOCK.findall(reply):
        match = EQUATIONS.search(block)
        sides = (match[1] or match[2] or "").split("|") if match else []
        if len(sides) == len(states):
            plain = (re.sub(r"\b([A-Za-z]+)_(\d+)\b", r"\1\2", side.rpartition("=")[2]).strip() for side in sides)
            found.append(dict(zip(states, plain, strict=True)))
    return found
