"""The package PySINDy itself, on the grids of our own linear methods.

Libraries, weak forms, regressions and ensembles are the package's; what is tried, on which blocks, and how one setting
is chosen are inherited from the method of ours that a class stands beside. A matrix of features is made once per block,
for the largest library, and smaller ones are columns of it: PySINDy's optimisers take ``fit(X, Y)``.
"""

import dataclasses
import itertools
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problems import Evolving
from ..search.trajectories.sparse_regression import Equations, Rows, aggregate
from . import Budget, Candidate, Unsupported
from .esindy import ESINDy, ensembles
from .ewsindy import EWSINDy
from .sindy import PDEFIND, SINDy, ThresholdedRidge
from .sparse_dynamics import Prepared, SparseRegression, library
from .wsindy import WSINDy, refuse_short

REFERENCE = "de Silva et al. 2020, Kaptanoglu et al. 2022 (PySINDy); "


def _power(p: int):
    return lambda u: u**p


def _wave(name: str):
    return lambda u: getattr(np, name)(u)


@contextmanager
def drawing(rng: np.random.Generator) -> Iterator[None]:
    """PySINDy draws from numpy's global generator: inside, these are the draws of `rng`."""
    everywhere: Any = np.random
    kept = everywhere.get_bit_generator()
    everywhere.set_bit_generator(rng.bit_generator)
    try:
        yield
    finally:
        everywhere.set_bit_generator(kept)


class Features(Prepared):
    """A prepared problem whose library is PySINDy's."""

    def matrix(self, block: str, make, functions: dict[str, Any], **options: Any) -> tuple[np.ndarray, Any]:
        """The columns of `terms` on a block of times, and the library that made them.

        Parameters
        ----------
        make : class of a library, which takes `options`
        functions : options of the inner library alone
        """
        import pysindy as ps

        degree, order = (max(getattr(term, name) for term in self.terms) for name in ("degree", "order"))
        waves = tuple(dict.fromkeys(term.wave for term in self.terms if term.wave))
        listed = [_power(p) for p in range(1, degree + 1)] + [_wave(name) for name in waves]
        made = ps.CustomLibrary(listed, **functions)
        if make is not None:
            made = make(function_library=made, derivative_order=order, include_bias=True, **options)
        values = np.asarray(made.fit_transform(self.states(block)))
        every = library(self.n_targets, len(self.data.axes), degree, order, waves)
        values = values.reshape(-1, len(every))
        place = {term: j for j, term in enumerate(every)}
        return np.ascontiguousarray(values[:, [place[term] for term in self.terms]]), made

    def states(self, block: str) -> np.ndarray:
        return self.data.u[..., self.cuts[block], :]

    def every_row(self, name: str) -> Rows:
        """Library and differences in time on one block; each matrix is made once."""
        import pysindy as ps

        if name not in (known := self.__dict__.setdefault("known", {})):
            axes = self.data.axes
            if axes:
                grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
                X, _ = self.matrix(name, ps.PDELibrary, {}, spatial_grid=grid)
            else:
                X, _ = self.matrix(name, None, {"include_bias": True})
            known[name] = Rows(X, self.data.target[..., self.cuts[name], :].reshape(-1, self.n_targets), len(X))
        return known[name]

    rows = every_row

    def weak(self, block: str, n_boxes: int) -> Rows:
        """The library and the states' time derivatives in weak form, on boxes drawn from numpy's global generator."""
        import pysindy as ps

        axes = (*self.data.axes, self.data.t[self.cuts[block]])
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        X, made = self.matrix(block, ps.WeakPDELibrary, {}, spatiotemporal_grid=grid, K=n_boxes)
        return Rows(X, np.asarray(made.convert_u_dot_integral(self.states(block))), len(X))


@dataclass(frozen=True)
class Package(SparseRegression):
    """What the methods share: features, a limit of size, and silence.

    Attributes
    ----------
    max_values : a problem is refused whose last fit has more rows times terms
    """

    requires: ClassVar[tuple[str, ...]] = ("pysindy",)
    loads: ClassVar[tuple[str, ...]] = ("pysindy",)

    max_values: int = 4_000_000

    def prepare(self, problem: Evolving, seed: int) -> Features:
        p = super().prepare(problem, seed)
        n, terms = self.n_rows(p), len(p.terms)
        if n * terms > self.max_values:
            raise Unsupported(f"{self.name}: {n} rows times {terms} terms are more than max_values, {self.max_values}")
        return Features(**{f.name: getattr(p, f.name) for f in dataclasses.fields(p)})

    def n_rows(self, p: Prepared) -> int:
        """Rows of the last fit."""
        return p.data.u[..., p.cuts["refit"], 0].size

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of every threshold that leaves no term, and of every slow convergence
            return super().answer(problem, budget, seed)


def stlsq(method: ThresholdedRidge, width: tuple[int, int], threshold: float, alpha: float) -> Any:
    """PySINDy's optimiser. Of an initial guess, it reads only which terms are there: all, so that none is computed."""
    import pysindy as ps

    return ps.STLSQ(threshold=threshold, alpha=alpha, max_iter=method.max_iter, initial_guess=np.ones(width))


def sr3(method: WSINDy, threshold: float) -> Any:
    """PySINDy's optimiser, which cuts at a threshold and fits what is left again, as it did when released."""
    import pysindy as ps

    weight = ps.SR3.calculate_l0_weight(threshold, 1.0)
    return ps.SR3(reg_weight_lam=weight, regularizer="l0", relax_coeff_nu=1.0, max_iter=method.max_iter, unbias=True)


def fitted(optimizer: Any, rows: Rows, columns: np.ndarray) -> Equations:
    """The equations of an optimiser on these columns."""
    coefficients = optimizer.fit(rows.X[:, columns], rows.Y).coef_
    return [(columns[row != 0], row[row != 0]) for row in coefficients]


def bagged(optimizer: Any, rows: Rows, columns: np.ndarray, n_models: int, n_rows: int, rng) -> np.ndarray:
    """PySINDy's ensemble on bootstrap samples: coefficients of shape (n_models, n_targets, all columns)."""
    import pysindy as ps

    ensemble = ps.EnsembleOptimizer(optimizer, bagging=True, n_models=n_models, n_subset=n_rows)
    with drawing(rng):
        ensemble.fit(rows.X[:, columns], rows.Y)
    models = np.zeros((n_models, rows.Y.shape[1], rows.X.shape[1]))
    models[:, :, columns] = ensemble.coef_list
    return models


@dataclass(frozen=True)
class PackageRidge(Package, ThresholdedRidge):
    """PySINDy's thresholded ridge regression."""

    def equations(self, rows: Rows, columns, threshold: float, alpha: float) -> Equations:
        return fitted(stlsq(self, (rows.Y.shape[1], len(columns)), threshold, alpha), rows, columns)


@dataclass(frozen=True)
class PySINDy(PackageRidge, SINDy):
    """SINDy by the package, on the grid of `sindy`."""

    name: ClassVar[str] = "pysindy_sindy"
    reference: ClassVar[str] = REFERENCE + SINDy.reference


@dataclass(frozen=True)
class PyPDEFIND(PackageRidge, PDEFIND):
    """PDEFIND by the package, on the grid of `pdefind`."""

    name: ClassVar[str] = "pysindy_pdefind"
    reference: ClassVar[str] = REFERENCE + PDEFIND.reference


@dataclass(frozen=True)
class PyESINDy(Package, ESINDy):
    """ESINDy by the package, on the grid of `esindy`; every ensemble draws rows anew, as in the release."""

    name: ClassVar[str] = "pysindy_esindy"
    reference: ClassVar[str] = REFERENCE + ESINDy.reference

    def models(self, rows: Rows, columns, setting: Mapping[str, Any], n_models: int, rng) -> np.ndarray:
        optimizer = stlsq(self, (rows.Y.shape[1], len(columns)), setting["threshold"], setting["alpha"])
        return bagged(optimizer, rows, columns, n_models, int(setting["ratio"] * rows.n), rng)

    def search(self, p: Prepared, rng: np.random.Generator) -> Iterator[tuple[dict[str, Any], Equations]]:
        rows = p.every_row("train")
        for own, columns in p.usable(rows):
            for threshold, alpha, ratio in itertools.product(self.thresholds, self.alphas, self.ratios):
                setting = {**own, "threshold": threshold, "alpha": alpha, "ratio": ratio}
                models = self.models(rows, columns, setting, max(self.n_models), rng)
                yield from ensembles(models, setting, self.n_models, self.inclusions)

    def refit(self, p: Prepared, setting: Mapping[str, Any], rng: np.random.Generator) -> Equations:
        models = self.models(p.every_row("refit"), p.columns(setting), setting, setting["n_models"], rng)
        return aggregate(models, setting["inclusion"])


@dataclass(frozen=True)
class PyWSINDy(Package, WSINDy):
    """WSINDy by the package, on the grid and, for one seed, on the boxes of `wsindy`."""

    name: ClassVar[str] = "pysindy_wsindy"
    draws_of: ClassVar[str] = WSINDy.name
    reference: ClassVar[str] = REFERENCE + WSINDy.reference

    def n_rows(self, p: Prepared) -> int:
        return max(self.boxes)

    def weak(self, p: Prepared, block: str, n_boxes: int, rng: np.random.Generator, columns=None) -> Rows:
        assert isinstance(p, Features)
        refuse_short((*p.data.axes, p.data.t[p.cuts[block]]))  # no box would ever hold two points
        with drawing(rng):
            rows = p.weak(block, n_boxes)
        return rows if columns is None else Rows(rows.X[:, columns], rows.Y, rows.n)

    def fits(self, rows: Rows, columns: np.ndarray, thresholds) -> list[Equations]:
        return [fitted(sr3(self, threshold), rows, columns) for threshold in thresholds]


@dataclass(frozen=True)
class PyEWSINDy(PyWSINDy, EWSINDy):
    """EWSINDy by the package, on the grid of `ewsindy`; every ensemble draws integrals anew, as in the release."""

    name: ClassVar[str] = "pysindy_ewsindy"
    draws_of: ClassVar[str] = EWSINDy.name
    reference: ClassVar[str] = REFERENCE + EWSINDy.reference

    def search(self, p: Prepared, rng: np.random.Generator) -> Iterator[tuple[dict[str, Any], Equations]]:
        for n_boxes in self.boxes:
            rows = self.weak(p, "train", n_boxes, rng)
            for own, columns in p.usable(rows):
                for threshold, ratio in itertools.product(self.thresholds, self.ratios):
                    n_rows, setting = int(ratio * len(p.data.u)), {**own, "boxes": n_boxes, "threshold": threshold}
                    try:
                        models = bagged(sr3(self, threshold), rows, columns, max(self.n_models), n_rows, rng)
                    except np.linalg.LinAlgError:  # a numerically indefinite sample, left out as in the release
                        continue
                    yield from ensembles(models, {**setting, "ratio": ratio}, self.n_models, self.inclusions)

    def refit(self, p: Prepared, setting: Mapping[str, Any], rng: np.random.Generator) -> Equations:
        rows, columns = self.weak(p, "refit", setting["boxes"], rng), p.columns(setting)
        n_rows = int(setting["ratio"] * len(p.data.u))
        models = bagged(sr3(self, setting["threshold"]), rows, columns, setting["n_models"], n_rows, rng)
        return aggregate(models, setting["inclusion"])
