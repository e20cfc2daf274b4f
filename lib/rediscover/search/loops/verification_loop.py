"""The verification loop: propose, verify, keep the best in a pool, show it to the proposer, propose again.

The loop does not know who proposes. A proposer is any function from a `Context` to a list of answers; a
language model is one more function of that kind. Two proposers for skeletons of differential equations are
here, a random grammar and genetic programming.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...expressions import Expression, ExpressionError, parse
from ...expressions.integration import Solver, simulate
from ...metrics.trajectories import r2_trajectories
from .skeleton_fits import UNKNOWN, fit_integral, fit_released

# SymbolBench's released code: how many answers are kept, and how its verifier integrates them.
POOL = 100
SOLVER = Solver(rtol=1e-6, atol=1e-6, min_step=0.0)


@dataclass(frozen=True)
class Verified:
    """An answer that passed the verifier.

    Attributes
    ----------
    proposal : the answer as proposed.
    solution : the answer with its constants, as a `Candidate` has it.
    score : higher is better.
    complexity : decides between equal fitness, lower is better.
    judged : opinion of the judge between 0 and 1, or None where there is no judge.
    """

    proposal: Any
    solution: Any
    score: float
    complexity: float
    judged: float | None = None


@dataclass(frozen=True)
class Context:
    """What a proposer sees.

    Attributes
    ----------
    problem : the problem, with its names and training data.
    epoch : 0 for the first call.
    pool : verified answers, best first.
    rng : the proposer's random numbers.
    """

    problem: Any
    epoch: int
    pool: tuple[Verified, ...]
    rng: np.random.Generator


class Proposer(Protocol):
    """Called once an epoch; returns any number of answers, which need not be valid."""

    def __call__(self, context: Context) -> Iterable[Any]: ...


class Progress(NamedTuple):
    """State of the loop after an epoch."""

    epoch: int
    score: float
    complexity: float
    proposed: int
    failed: int


@dataclass(frozen=True)
class Outcome:
    """Attributes: `pool`, best first; `progress`, one entry per epoch."""

    pool: tuple[Verified, ...]
    progress: tuple[Progress, ...] = field(default=())


def search(
    problem,
    propose: Proposer,
    verify: Callable[[Any], Verified | None],
    *,
    epochs: int,
    rng: np.random.Generator,
    tolerance: float = np.inf,
    proposals: float = np.inf,
    judge: Callable[[Verified], float] | None = None,
    judge_weight: float = 0.0,
) -> Outcome:
    """Run the loop.

    Parameters
    ----------
    problem : handed to the proposer
    propose : Proposer
    verify : callable
        Answer -> Verified, or None if the answer is invalid; invalid answers are counted, not kept.
    epochs : int
    rng : Generator
    tolerance : float
        Stop when the best score reaches it (SymbolBench: R2 0.99, F1 0.95, CI-score 0.95).
    proposals : float
        Stop before more than so many answers were verified.
    judge : callable, optional
        Verified answer -> opinion between 0 and 1.
    judge_weight : float
        The pool is ordered by ``score + judge_weight * judged``, then by complexity. Off by default. (The
        paper prints an error *plus* the weighted opinion, which would reward bad opinions; its code
        subtracts.)

    Returns
    -------
    Outcome
    """
    if judge_weight and judge is None:
        raise ValueError("judge_weight needs a judge")
    pool: dict[str, Verified] = {}
    progress: list[Progress] = []
    proposed = failed = 0

    def rank(answer: Verified):
        return (-answer.score - judge_weight * (answer.judged or 0.0), answer.complexity, str(answer.proposal))

    for epoch in range(epochs):
        for answer in propose(Context(problem, epoch, tuple(pool.values()), rng)):
            if proposed >= proposals:
                break
            proposed += 1
            verified = verify(answer)
            if verified is None or not np.isfinite(verified.score):
                failed += 1
            elif str(verified.proposal) not in pool:
                judged = judge(verified) if judge else None
                pool[str(verified.proposal)] = replace(verified, judged=judged)
        pool = dict(sorted(pool.items(), key=lambda item: rank(item[1]))[:POOL])
        best = next(iter(pool.values()), None)
        score, size = (best.score, best.complexity) if best else (np.nan, np.nan)
        progress.append(Progress(epoch, score, size, proposed, failed))
        if proposed >= proposals or (best is not None and best.score >= tolerance):
            break
    return Outcome(tuple(pool.values()), tuple(progress))


def select(pool: Iterable[Verified]) -> Verified | None:
    """SymbolBench's final choice: the least complex of those with R2 >= 0.99, else >= 0.9, else the best."""
    pool = list(pool)
    for threshold in (0.99, 0.9):
        if good := [answer for answer in pool if answer.score >= threshold]:
            return min(good, key=lambda answer: answer.complexity)
    return max(pool, key=lambda answer: answer.score, default=None)


# ---- skeletons of differential equations

FITS = {"released": fit_released, "integral": fit_integral}


class SkeletonVerifier:
    """A verifier of skeletons: fit their constants, integrate, compare with the training trajectory by R2.

    Parameters
    ----------
    problem : InitialValueProblem
    fit : 'released' or 'integral'
        How constants are found, see `skeleton_fits`.
    seed : int
        Chooses the training data.
    evaluations : int
        Right-hand sides per integration.
    """

    def __init__(self, problem, *, fit: str = "integral", seed: int = 0, evaluations: int = 3_000):
        if fit not in FITS:
            raise ValueError(f"fit must be one of {', '.join(FITS)}, got {fit!r}")
        self.problem, self.fit, self.evaluations = problem, FITS[fit], evaluations
        self.observed, self.t = problem.observed(seed), problem.times()
        self.known: dict[tuple[str, ...], float] = {}  # R2 of solutions: many skeletons have the same

    def __call__(self, answer: Mapping[str, str]) -> Verified | None:
        """State -> skeleton; None where it cannot be read or fitted."""
        try:
            skeletons = {state: str(answer[state]) for state in self.problem.inputs}
            return self.scored(skeletons, self.fit(skeletons, self.observed, self.t))
        except (ExpressionError, KeyError, ValueError):
            return None

    def scored(self, skeletons: Mapping[str, str], solution: Mapping[str, str]) -> Verified:
        """Skeletons with constants that were found elsewhere."""
        texts = tuple(solution.values())
        if texts not in self.known:
            self.known[texts] = self.r2({state: parse(text, list(solution)) for state, text in solution.items()})
        return Verified(skeletons, solution, self.known[texts], sum(map(operations, skeletons.values())))

    def r2(self, equations: Mapping[str, Expression]) -> float:
        """Of their integration from the initial state, against the observed states."""
        initial = self.problem.initial_state()
        states = simulate(equations, initial, self.t, solver=SOLVER, evaluations=self.evaluations)
        return r2_trajectories(states, self.observed)


@functools.lru_cache(maxsize=1 << 14)
def operations(skeleton: str) -> int:
    """Operations of a skeleton, as SymPy counts them.

    >>> operations("c*x0 + c")
    2
    """
    return parse(skeleton).sympy().count_ops()


@dataclass(frozen=True)
class Grammar:
    """Random skeletons: sums of products of a constant, states and functions of states.

    Attributes
    ----------
    samples : answers per epoch.
    functions : unary functions that may occur.
    terms : most terms of an equation.
    """

    samples: int = 25
    functions: tuple[str, ...] = ("sin", "cos", "exp", "log", "sqrt")
    terms: int = 4

    def __call__(self, context: Context) -> list[dict[str, str]]:
        states = context.problem.inputs
        return [{state: self.equation(states, context.rng) for state in states} for _ in range(self.samples)]

    def equation(self, states, rng) -> str:
        count = int(rng.integers(1, self.terms + 1))
        return " + ".join(self.term(states, rng) for _ in range(count))

    def term(self, states, rng) -> str:
        kind = rng.random()
        if kind < 0.15:
            return UNKNOWN
        factors = [UNKNOWN, *rng.choice(states, size=1 + (rng.random() < 0.4))]
        if kind > 0.9:
            factors.append(f"{rng.choice(self.functions)}({UNKNOWN}*{rng.choice(states)})")
        elif kind > 0.75:
            return f"{'*'.join(factors)}/({UNKNOWN} + {rng.choice(states)})"
        return "*".join(factors)


def bred(
    context: Context,
    samples: int,
    parents: int,
    fresh: float,
    drawn: Callable[[], dict],
    child: Callable[[Any, Any], Any],
) -> list[dict]:
    """Answers of genetic operators on a pool, part by part: what equations, rules and graphs have in common.

    Parameters
    ----------
    samples : answers
    parents : best answers of the pool that may be parents
    fresh : share of answers that are drawn; all while the pool is empty
    drawn : gives a random answer
    child : a part of an answer from that of two parents
    """
    rng, pool, answers = context.rng, context.pool[:parents], list[dict]()
    for _ in range(samples):
        if not pool or rng.random() < fresh:
            answers.append(drawn())
            continue
        # Low ranks are good: the smaller of two draws is a tournament.
        a, b = (pool[int(rng.integers(len(pool), size=2).min())].proposal for _ in range(2))
        answers.append({part: child(a[part], b[part]) for part in a})
    return answers


@dataclass(frozen=True)
class Genetic:
    """Genetic programming on the pool: crossover of additive terms, subtree mutation, and fresh skeletons.

    Attributes
    ----------
    samples : answers per epoch.
    parents : best answers of the pool that may be parents.
    fresh : share of answers from the grammar.
    grammar : where fresh skeletons and new terms come from; all answers while the pool is empty.
    """

    samples: int = 25
    parents: int = 10
    fresh: float = 0.2
    grammar: Grammar = Grammar()

    def __call__(self, context: Context) -> list[dict[str, str]]:
        states, rng = context.problem.inputs, context.rng

        def drawn() -> dict[str, str]:
            return {state: self.grammar.equation(states, rng) for state in states}

        def child(a: str, b: str) -> str:
            return self.child(a, b, states, rng)

        return bred(context, self.samples, self.parents, self.fresh, drawn, child)

    def child(self, a: str, b: str, states, rng) -> str:
        """Equation `a` as it is (half of the time), or with a term dropped, added, or replaced by one of `b`."""
        terms, others = _terms(parse(a).tree), _terms(parse(b).tree)
        change = rng.integers(6)
        if change == 3 and len(terms) > 1:
            terms.pop(int(rng.integers(len(terms))))
        elif change == 4:
            terms.append(parse(self.grammar.term(states, rng)).tree)
        elif change == 5:
            terms[int(rng.integers(len(terms)))] = others[int(rng.integers(len(others)))]
        return str(Expression(functools.reduce(lambda total, term: ("+", total, term), terms)))


def _terms(tree: tuple) -> list[tuple]:
    """Summands of a tree, from left to right."""
    found, left = list[tuple](), [tree]
    while left:
        node = left.pop()
        if node[0] == "+" and len(node) == 3:
            left += [node[2], node[1]]
        else:
            found.append(node)
    return found
