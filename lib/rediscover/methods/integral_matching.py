"""Polynomial right-hand sides fitted to trajectories in integral form, without derivatives of the data."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.integrate import cumulative_simpson

from ..problems import InitialValueProblem
from ..search.trajectories import multiple_shooting
from . import Budget, Candidate, Method
from .least_squares import solved
from .polynomial import as_text, monomials


@dataclass(frozen=True)
class IntegralMatching(Method):
    r"""All monomials up to a degree, by linear least squares in integral form.

    .. math:: x(t_i) = x_0 + \sum_k c_k \int_{t_0}^{t_i} \phi_k(x(s))\, ds

    with the observed states under the integral. Constants inside functions are fitted by the same criterion
    in `rediscover.search.loops.skeleton_fits.fit_integral`.

    Attributes
    ----------
    degree : highest total degree.
    refine : fit the coefficients again by multiple shooting
        (`rediscover.search.trajectories.multiple_shooting`), from these.

    References
    ----------
    Dattner and Klaassen, Electronic Journal of Statistics 9 (2015) 1939-1973.
    """

    degree: int = 2
    refine: bool = False
    name: ClassVar[str] = "integral_matching"
    reference: ClassVar[str] = "Dattner and Klaassen, Electronic Journal of Statistics 9 (2015) 1939-1973"
    accepts: ClassVar[tuple[type, ...]] = (InitialValueProblem,)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        states, t = problem.observed(seed), problem.times()
        powers = monomials(states.shape[1], self.degree, np.inf)
        terms = np.prod(states[:, None, :] ** powers, axis=2)
        integrals = np.column_stack([np.ones(len(t)), cumulative_simpson(terms, x=t, axis=0, initial=0.0)])
        coefficients = solved(integrals, states)
        solution = {
            name: as_text([(float(c), p) for c, p in zip(column, powers, strict=True)], problem.inputs)
            for name, column in zip(problem.outputs, coefficients[1:].T, strict=True)
        }
        if self.refine:
            solution = multiple_shooting.refine(solution, states, t)
        loss = float(np.mean((states - integrals @ coefficients) ** 2))
        return [Candidate(solution, loss=loss, complexity=powers.shape[0] * states.shape[1], evaluations=1)]
