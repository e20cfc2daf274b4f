"""Constraint-based causal discovery for time series: PCMCI and its relatives, from the package tigramite."""

import contextlib
import io
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..problems import Series
from . import Candidate, Method, Unsupported

LAG = 1


@dataclass(frozen=True)
class PCMCI(Method):
    """Linear partial correlations, condition selection, then momentary conditional independence.

    As in the benchmark an edge is a p-value below `alpha` at lag 1, read from the matrix of p-values and not
    from the graph, without control of the false discovery rate.

    Attributes
    ----------
    alpha : significance level of an edge.
    max_variables : refuse larger graphs, or None; the published runs have a limit of 300 seconds instead.
    """

    alpha: float = 0.05
    max_variables: int | None = None
    name: ClassVar[str] = "pcmci"
    reference: ClassVar[str] = "Runge et al., Science Advances 5 (2019) eaau4996; tigramite"
    accepts: ClassVar[tuple[type, ...]] = (Series,)
    requires: ClassVar[tuple[str, ...]] = ("tigramite",)

    def solve(self, problem, *, budget=None, seed=0):
        if not isinstance(problem, Series):
            raise Unsupported(f"{self.name} does not treat a {problem.kind}")
        series = problem.series()
        if self.max_variables is not None and series.shape[1] > self.max_variables:
            raise Unsupported(
                f"{problem.id} has {series.shape[1]} variables, the limit is {self.max_variables}"
            )
        if len(series) <= LAG + 1:
            raise Unsupported(f"{problem.id}: a series of {len(series)} points has no lagged pairs to test")
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            p_values = self.p_values(series)[:, :, LAG]  # parent, child
        names = problem.inputs
        graph = {
            child: tuple((names[j], LAG) for j in np.flatnonzero(p_values[:, i] < self.alpha))
            for i, child in enumerate(names)
        }
        return [Candidate(graph, complexity=sum(map(len, graph.values())))]

    def p_values(self, series: np.ndarray) -> np.ndarray:
        """Shape (n_variables, n_variables, lags): from, to, lag."""
        from tigramite import data_processing, pcmci

        search = pcmci.PCMCI(data_processing.DataFrame(series), self._test(), verbosity=0)
        return search.run_pcmci(tau_max=LAG, pc_alpha=None)["p_matrix"]

    def _test(self):
        from tigramite.independence_tests.parcorr import ParCorr

        return ParCorr(significance="analytic")


@dataclass(frozen=True)
class LPCMCI(PCMCI):
    """The relative of PCMCI that allows for hidden common causes."""

    name: ClassVar[str] = "lpcmci"
    reference: ClassVar[str] = "Gerhardus and Runge, NeurIPS 2020; tigramite"

    def p_values(self, series):
        from tigramite import data_processing, lpcmci

        search = lpcmci.LPCMCI(data_processing.DataFrame(series), self._test(), verbosity=0)
        return search.run_lpcmci(tau_min=0, tau_max=LAG, pc_alpha=0.05)["p_matrix"]


@dataclass(frozen=True)
class JPCMCIPlus(PCMCI):
    """The relative of PCMCI+ for several data sets and context variables; here every variable is a system
    variable."""

    name: ClassVar[str] = "jpcmci_plus"
    reference: ClassVar[str] = "Günther, Ninad and Runge, UAI 2023; tigramite"

    def p_values(self, series):
        from tigramite import data_processing, jpcmciplus

        frame = data_processing.DataFrame({0: series}, analysis_mode="multiple")
        classes = dict.fromkeys(range(series.shape[1]), "system")
        search = jpcmciplus.JPCMCIplus(
            dataframe=frame, cond_ind_test=self._test(), node_classification=classes, verbosity=0
        )
        return search.run_jpcmciplus(tau_max=LAG, pc_alpha=None)["p_matrix"]
