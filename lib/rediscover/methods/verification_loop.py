"""SymbolBench's verification loop with proposers that need no language model."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from ..problems import InitialValueProblem
from ..search.loops import verification_loop as loop
from ..search.trajectories import multiple_shooting
from . import Budget, Candidate, Method, generator


@dataclass(frozen=True)
class LoopGrammar(Method):
    """The loop with a random grammar as proposer: what verification alone is worth.

    Attributes
    ----------
    epochs, samples : at most so many rounds, and answers per round; `Budget.evaluations` bounds all answers.
    tolerance : stop at this R2.
    fit : 'integral' (all constants) or 'released' (linear coefficients only, rounded).
    refine : fit the constants of the chosen answer again by multiple shooting, kept where its R2 on the
        training trajectory is not lower. Not with the released fit.
    """

    epochs: int = 20
    samples: int = 25
    tolerance: float = 0.99
    # Its answer is its own and calls no method fit, whose name this setting takes.
    fit: str = "integral"  # type: ignore[assignment]
    refine: bool = True
    name: ClassVar[str] = "loop_grammar"
    reference: ClassVar[str] = "the loop of SymbolBench with a random grammar as proposer"
    accepts: ClassVar[tuple[type, ...]] = (InitialValueProblem,)

    def proposer(self) -> loop.Proposer:
        return loop.Grammar(samples=self.samples)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        verify = loop.SkeletonVerifier(problem, fit=self.fit, seed=seed)
        outcome = loop.search(
            problem,
            self.proposer(),
            verify,
            epochs=self.epochs,
            rng=generator(seed, problem.id, self.name),
            tolerance=self.tolerance,
            proposals=budget.evaluations,
        )
        picked = loop.select(outcome.pool)
        if picked is None:
            return []
        chosen = picked
        if self.refine and self.fit == "integral":
            fitted = multiple_shooting.refine(picked.solution, problem.observed(seed), problem.times())
            better = verify.scored(picked.proposal, fitted)
            chosen = better if better.score >= picked.score else picked
        curve = [[step.epoch, step.score, step.complexity] for step in outcome.progress]
        return candidates([chosen, *(answer for answer in outcome.pool if answer is not picked)], outcome, curve)


def candidates(ranked: Iterable[loop.Verified], outcome: loop.Outcome, curve: list, **notes: Any) -> list[Candidate]:
    """Answers of a loop, the chosen one first; its notes have the curve of the search."""
    last = outcome.progress[-1]
    return [
        Candidate(
            answer.solution,
            loss=1.0 - answer.score,
            complexity=answer.complexity,
            evaluations=last.proposed,
            notes={"skeletons": answer.proposal, "failed": last.failed, "curve": [] if i else curve, **notes},
        )
        for i, answer in enumerate(ranked)
    ]


@dataclass(frozen=True)
class LoopGP(LoopGrammar):
    """The loop with genetic programming on its pool as proposer."""

    name: ClassVar[str] = "loop_gp"
    reference: ClassVar[str] = "the loop of SymbolBench with genetic programming as proposer"

    def proposer(self) -> loop.Proposer:
        return loop.Genetic(samples=self.samples)
