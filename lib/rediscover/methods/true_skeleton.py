"""Control: the true skeleton, so that only the fit of its constants can be wrong."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ..expressions import Expression, parse, replace_leaves
from ..problems import InitialValueProblem
from ..search.loops.skeleton_fits import UNKNOWN, fit_integral, fit_released
from ..search.trajectories import multiple_shooting
from . import Budget, Candidate, Method, generator

FITS = ("released", "integral", "shooting")
STARTS = 10  # of the search for inner constants: one skeleton, so more than in a loop


def skeleton(problem: InitialValueProblem) -> dict[str, str]:
    """The truth with `UNKNOWN` for every constant that has a name; bare numbers stay.

    Examples
    --------
    >>> from rediscover import problem
    >>> skeleton(problem("cde/S003"))
    {'x0': 'c*x0*(1 - x0/c)'}
    """

    def unknown(label):
        return (UNKNOWN,) if isinstance(label, str) and label in problem.constants else (label,)

    return {
        state: str(Expression(replace_leaves(parse(text).tree, unknown))) for state, text in problem.equations.items()
    }


@dataclass(frozen=True)
class TrueSkeleton(Method):
    """The truth's own skeleton with constants fitted to the training trajectory.

    Attributes
    ----------
    fit : 'released' (linear coefficients only, rounded: `skeleton_fits.fit_released`), 'integral' (all constants:
        `skeleton_fits.fit_integral`) or 'shooting' (from these, `multiple_shooting.refine`).
    """

    # Its answer is its own and calls no method fit, whose name this setting takes.
    fit: str = "shooting"  # type: ignore[assignment]
    name: ClassVar[str] = "true_skeleton"
    reference: ClassVar[str] = "control: the truth's skeleton, constants fitted"
    accepts: ClassVar[tuple[type, ...]] = (InitialValueProblem,)

    def __post_init__(self) -> None:
        if self.fit not in FITS:
            raise ValueError(f"{self.name}: fit must be one of {', '.join(FITS)}, got {self.fit!r}")

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        states, t, texts = problem.observed(seed), problem.times(), skeleton(problem)
        if self.fit == "released":
            return [Candidate(fit_released(texts, states, t))]
        solution = fit_integral(texts, states, t, starts=STARTS, rng=generator(seed, problem.id, self.name))
        return [Candidate(multiple_shooting.refine(solution, states, t) if self.fit == "shooting" else solution)]
