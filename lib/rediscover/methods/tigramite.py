"""Constraint-based causal discovery for time series: PCMCI and its relatives, from the package tigramite."""

import contextlib
import functools
import io
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problems import Series
from . import Budget, Candidate, Method, Unsupported

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
    refuses: ClassVar[tuple[str, ...]] = ("max_variables",)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        if refusal := self.refusal(problem):
            raise Unsupported(refusal)
        series = problem.series()
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

    def refusal(self, problem: Any) -> str:
        n = len(problem.inputs)
        refused = self.max_variables is not None and n > self.max_variables
        return f"{problem.id} has {n} variables, the limit is {self.max_variables}" if refused else ""

    def p_values(self, series: np.ndarray) -> np.ndarray:
        """Shape (n_variables, n_variables, lags): from, to, lag."""
        from tigramite import data_processing, pcmci

        search = pcmci.PCMCI(data_processing.DataFrame(series), self._test(), verbosity=0)
        return search.run_pcmci(tau_max=LAG, pc_alpha=None)["p_matrix"]

    def _test(self):
        return _remembering()(significance="analytic")


@functools.cache
def _remembering() -> type:
    """tigramite's test of partial correlation in a third of the time, to the last bit what SciPy 1.14 makes of it.

    PCMCI asks the same question once per level of ``pc_alpha``: here the answer is remembered before the data are cut
    out. A p-value is needed for the partial correlation alone, not for the plain one inside it.
    """
    from scipy.special import stdtr
    from tigramite.independence_tests.parcorr import ParCorr

    class Remembering(ParCorr):
        def __init__(self, **options) -> None:
            super().__init__(**options)
            self.known: dict = {}

        def run_test(self, X, Y, Z=None, tau_max=0, cut_off="2xtau_max", alpha_or_thres=None):
            question = (tuple(X), tuple(Y), tuple(Z or ()), tau_max, cut_off)
            if question not in self.known:
                self.known[question] = super().run_test(X, Y, Z, tau_max, cut_off)
            value, p = self.known[question]
            return (value, p) if alpha_or_thres is None else (value, p, bool(p <= alpha_or_thres))

        def get_dependence_measure(self, array, xyz, data_type=None):
            x = self._get_single_residuals(array, target_var=0)  # standardises the array in place, as the
            y = self._get_single_residuals(array, target_var=1)  # second does again: both in this order
            return pearson(x, y)

        def get_analytic_significance(self, value, T, dim, xyz):
            freedom = T - dim
            if freedom < 1:
                return np.nan
            if abs(abs(value) - 1.0) <= np.finfo(float).tiny:
                return 0.0
            return 2 * stdtr(freedom, -abs(value * np.sqrt(freedom / (1.0 - value * value))))

    return Remembering


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    """Correlation of two vectors as `scipy.stats.pearsonr` of SciPy 1.14 rounds it; NaN if one is constant.

    Of series that obey an equation exactly, residuals are rounding alone, and the last bit decides about edges. This
    order of operations gives the printed rows of the benchmark; that of SciPy 1.17 changes single edges.
    """
    if (x == x[0]).all() or (y == y[0]).all():
        return np.nan
    x, y = x - x.mean(), y - y.mean()
    largest_x, largest_y = np.abs(x).max(), np.abs(y).max()
    length_x = largest_x * np.linalg.vector_norm(x / largest_x, axis=-1, keepdims=True)
    length_y = largest_y * np.linalg.vector_norm(y / largest_y, axis=-1, keepdims=True)
    r = min(max(np.sum(x / length_x * y / length_y), -1.0), 1.0)
    return round(r) if len(x) == 2 else r


@dataclass(frozen=True)
class LPCMCI(PCMCI):
    """The relative of PCMCI that allows for hidden common causes."""

    name: ClassVar[str] = "lpcmci"
    reference: ClassVar[str] = "Gerhardus and Runge, NeurIPS 2020; tigramite"

    def p_values(self, series: np.ndarray) -> np.ndarray:
        from tigramite import data_processing, lpcmci

        search = lpcmci.LPCMCI(data_processing.DataFrame(series), self._test(), verbosity=0)
        return search.run_lpcmci(tau_min=0, tau_max=LAG, pc_alpha=0.05)["p_matrix"]


@dataclass(frozen=True)
class JPCMCIPlus(PCMCI):
    """The relative of PCMCI+ for several data sets and context variables; here every variable is a system variable."""

    name: ClassVar[str] = "jpcmci_plus"
    reference: ClassVar[str] = "Günther, Ninad and Runge, UAI 2023; tigramite"

    def p_values(self, series) -> np.ndarray:
        from tigramite import data_processing, jpcmciplus

        frame = data_processing.DataFrame({0: series}, analysis_mode="multiple")
        classes = dict.fromkeys(range(series.shape[1]), "system")
        search = jpcmciplus.JPCMCIplus(
            dataframe=frame, cond_ind_test=self._test(), node_classification=classes, verbosity=0
        )
        return search.run_jpcmciplus(tau_max=LAG, pc_alpha=None)["p_matrix"]
