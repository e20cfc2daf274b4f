"""ProGED as SymbolBench's released script runs it: whole systems, few constants, ordered by their solutions."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ..expressions import Expression
from ..expressions.integration import simulate
from ..metrics.trajectories import r2_trajectories
from ..problems import InitialValueProblem, Problem, generator
from ..search.programs.grammars import Skeleton, built_in, canonical, draw
from . import Budget, Candidate
from .proged import MOST_WORDS, Proged

HELD_OUT = 0.3  # of the record, its end, which chooses the grammar


class Record(NamedTuple):
    """A trajectory with rates: times, shape (n,), states and rates, shape (n, n_states)."""

    t: np.ndarray
    states: np.ndarray
    rates: np.ndarray

    def part(self, rows: slice) -> "Record":
        return Record(self.t[rows], self.states[rows], self.rates[rows])


@dataclass(frozen=True)
class ProgedReleased(Proged):
    """`rediscover.methods.proged` on whole systems: the row beside SymbolBench's ProGED.

    A candidate is a system. It is drawn again where an equation has no variable, and left out where its equations
    have more than `max_constants` constants together, as most have with three states or four. Candidates are
    ordered by the R2 of their solution, from the first held-out state to choose the grammar, then from the first
    state of the record. Other than there, constants are fitted to derivatives.

    Attributes
    ----------
    steps : evaluations of its right-hand side that a solution may take.
    """

    steps: int = 5_000
    name: ClassVar[str] = "proged_released"
    reference: ClassVar[str] = "after Brence et al., Probabilistic grammars (2021), as released with SymbolBench 2025"

    def answer(self, problem: Problem, budget: Budget, seed: int) -> list[Candidate]:
        if not isinstance(problem, InitialValueProblem):
            return super().answer(problem, budget, seed)
        rng = generator(seed, problem.id, self.name)
        rates = np.column_stack([task.y for task in problem.tasks(seed)])
        whole = Record(problem.times(), problem.observed(seed), rates)
        first = max(2, round((1 - HELD_OUT) * len(whole.t)))
        head, tail = whole.part(slice(first)), whole.part(slice(first, None))
        drawn = {name: self.systems(name, problem.outputs, rng) for name in self.grammars.split(",")}
        fits = len(problem.outputs) * (sum(map(len, drawn.values())) + self.candidates)
        each = max(1, int(budget.evaluations) // fits)

        def best(name: str) -> float:
            fitted = [self.of_system(forms, head, each, rng) for forms in drawn[name]]
            return max((self.agreement(system, tail) for system in fitted), default=-np.inf)

        name = max(drawn, key=best)
        fitted = [self.of_system(forms, whole, each, rng) for forms in drawn[name]]
        scored = [(self.agreement(system, whole), system) for system in fitted]
        scored = sorted((item for item in scored if np.isfinite(item[0])), key=lambda item: -item[0])
        if not scored:
            raise ValueError(f"{problem.id}: no system that was drawn has a solution on the record")
        used = min(int(budget.evaluations), each * fits)
        return [
            Candidate(
                {state: str(right) for state, right in system.items()},
                1 - r2,
                sum(right.size for right in system.values()),
                used,
                {"grammar": name},
            )
            for r2, system in scored
        ]

    def systems(self, name: str, states, rng) -> list[dict[str, Expression]]:
        """State -> form, of systems that differ; those with too many constants are gone."""
        rules, known = built_in(name, states), dict[tuple[str, ...], Skeleton | None]()

        def equation() -> Skeleton | None:
            sentence = draw(rules, rng.random)
            if sentence is None or len(sentence.words) > MOST_WORDS:
                return None
            words = tuple(sentence.words)
            if words not in known:
                known[words] = canonical(words, states)
            return known[words]

        found: dict[str, dict[str, Expression]] = {}
        for _ in range(self.candidates * self.max_repeat):
            parts: list[Skeleton] = []
            while len(parts) < len(states) and (part := equation()) is not None:
                parts.append(part)
            if len(parts) == len(states):
                forms = {state: part.expression for state, part in zip(states, parts, strict=True)}
                found.setdefault(repr([part.form for part in parts]), forms)
            if len(found) == self.candidates:
                break
        few = [form for form in found if form.count("('C',)") <= self.max_constants]
        return [found[form] for form in few]

    def of_system(self, forms: dict[str, Expression], record: Record, evaluations: int, rng) -> dict[str, Expression]:
        """The system with constants fitted to the rates, equation by equation."""
        columns = dict(zip(forms, record.states.T, strict=True))
        pairs = zip(forms.items(), record.rates.T, strict=True)
        return {state: self.fitted(form, columns, rate, evaluations, rng) for (state, form), rate in pairs}

    def agreement(self, system: dict[str, Expression], record: Record) -> float:
        """R2 of the solution that starts at the record's first state; minus infinity where there is none."""
        solution = simulate(system, record.states[0], record.t, evaluations=self.steps)
        if not np.isfinite(solution).all():
            return -np.inf
        r2 = float(r2_trajectories(solution, record.states))
        return round(r2, 9) if np.isfinite(r2) else -np.inf
