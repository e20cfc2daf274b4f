"""Causal graphs from vector autoregressions of order 1: tests of Granger causality, and a sparse fit."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problems import Series
from . import Budget, Candidate, Method, Unsupported

LAG = 1


class Autoregression(Method):
    """Base: variables that never change take no part, neither as parents nor as children."""

    accepts: ClassVar[tuple[type, ...]] = (Series,)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        series = problem.series()
        moving = np.flatnonzero(np.ptp(series, axis=0) > 0)
        if len(series) - LAG <= len(moving) + 1:
            raise Unsupported(f"{problem.id}: {len(series)} points for {len(moving)} variables that change")
        graph: dict[str, tuple] = {name: () for name in problem.inputs}
        if len(moving):
            values = series[:, moving] / np.abs(series[:, moving]).max(axis=0)  # the largest floats have no square
            values = (values - values.mean(axis=0)) / values.std(axis=0)
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                found = self.parents(values)
            names = [problem.inputs[i] for i in moving]
            for i, child in enumerate(names):
                graph[child] = tuple((names[j], LAG) for j in np.flatnonzero(found[:, i]))
        return [Candidate(graph, complexity=sum(map(len, graph.values())))]

    def parents(self, values: np.ndarray) -> np.ndarray:
        """bool, shape (n_variables, n_variables): parent, child."""
        raise NotImplementedError


@dataclass(frozen=True)
class Granger(Autoregression):
    """Granger causality given all other variables: t-tests of the coefficients of a VAR(1).

    Attributes
    ----------
    alpha : significance level of an edge, without correction for the number of tests, as the benchmark's
        baselines.
    """

    alpha: float = 0.05
    name: ClassVar[str] = "granger"
    reference: ClassVar[str] = "Granger, Econometrica 37 (1969) 424-438; statsmodels"
    requires: ClassVar[tuple[str, ...]] = ("statsmodels",)

    def parents(self, values: np.ndarray) -> np.ndarray:
        from statsmodels.api import OLS, add_constant

        # One regression per child is the VAR; its own class needs a matrix of full rank, conserved sums break
        # that.
        past = add_constant(values[:-LAG], has_constant="add")
        return np.stack([OLS(child, past).fit().pvalues[1:] < self.alpha for child in values[LAG:].T], axis=1)


@dataclass(frozen=True)
class VARLasso(Autoregression):
    """A VAR(1) with L1 penalty, its weight chosen per child by the Bayesian information criterion."""

    name: ClassVar[str] = "var_lasso"
    reference: ClassVar[str] = "Tibshirani, JRSS B 58 (1996) 267-288; LARS path of scikit-learn"
    requires: ClassVar[tuple[str, ...]] = ("scikit-learn",)

    def parents(self, values: np.ndarray) -> np.ndarray:
        from sklearn.linear_model import LassoLarsIC

        past = values[:-LAG]
        fits = [LassoLarsIC(criterion="bic").fit(past, child) for child in values[LAG:].T]
        return np.stack([fit.coef_ != 0 for fit in fits], axis=1)
