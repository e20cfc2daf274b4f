"""WSINDy: sparse regression on integrals against test functions, with fewer derivatives of noisy data."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import Polynomial
from scipy import sparse
from scipy.special import binom

from ..problems import Field, Trajectories
from ..search.trajectories.sparse_regression import Equations, Rows, fitted, sr3
from . import Unsupported
from .sparse_dynamics import Prepared, Sampled, SparseRegression, Term

DEGREE = 4  # of the test function (1 - x^2)^4 along every axis
SUBDOMAINS = 20  # an axis is this many half-widths of a subdomain long


def refuse_short(axes) -> None:
    """Refuse axes with so few points that no box can hold two of them (`Unsupported`)."""
    if few := [len(axis) for axis in axes if len(axis) < SUBDOMAINS // 2 + 2]:
        raise Unsupported(
            f"an axis has {few[0]} points, and a box, a tenth of it, must hold two: needs {SUBDOMAINS // 2 + 2}"
        )


class WeakForm:
    """Integrals of a library over random boxes of space and time, weighted by a smooth bump that is 0 at the edge.

    Derivatives move to the bump by parts, all of them for a derivative alone and half of them for products. Data are
    taken as linear between grid points, so every integral is an exact weighted sum: one sparse matrix per derivative of
    the bump. Boxes and weights are those of ``pysindy.WeakPDELibrary`` (Reinbold et al. 2020).

    Parameters
    ----------
    axes : arrays of grid points, time last
    n_boxes : int
    rng : numpy Generator

    Raises
    ------
    Unsupported
        If an axis has so few points that no box can hold two of them.
    """

    def __init__(self, axes, n_boxes: int, rng: np.random.Generator) -> None:
        self.axes = axes
        refuse_short(axes)
        half = [(axis[-1] - axis[0]) / SUBDOMAINS for axis in axes]
        centres = np.stack(
            [rng.uniform(axis[0] + h, axis[-1] - h, size=n_boxes) for axis, h in zip(axes, half, strict=True)], axis=1
        )
        self._boxes = []
        for centre in centres:
            box = self._box(centre, half)
            while box is None:
                box = self._box([rng.uniform(a[0] + h, a[-1] - h) for a, h in zip(axes, half, strict=True)], half)
            self._boxes.append(box)
        self._weights: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
        self._matrices: dict[tuple[int, ...], sparse.csr_array] = {}

    def _box(self, centre, half) -> list[tuple[int, int]] | None:
        """First and past-last grid point strictly inside, per axis; None if an axis has fewer than two."""
        box = [
            (int(np.searchsorted(axis, c - h, "right")), int(np.searchsorted(axis, c + h, "left")))
            for axis, c, h in zip(self.axes, centre, half, strict=True)
        ]
        return box if all(b - a >= 2 for a, b in box) else None

    def _along(self, axis: int, order: int) -> tuple[np.ndarray, np.ndarray]:
        """Grid points and weights of all boxes along an axis, shape (n_boxes, widest); 0 beyond a box."""
        if (axis, order) not in self._weights:
            bounds = np.array([box[axis] for box in self._boxes])
            first, count = bounds[:, :1], bounds[:, 1:] - bounds[:, :1]
            j = np.arange(count.max())
            index = np.minimum(first + j, first + count - 1)
            x = self.axes[axis][index]
            half = (x[:, -1:] - x[:, :1]) / 2
            x = (x - (x[:, -1:] + x[:, :1]) / 2) / half
            bump = (Polynomial([1, 0, -1]) ** DEGREE).deriv(order)
            area, moment = (np.diff(p.integ()(x)) for p in (bump, Polynomial([0, 1]) * bump))
            width = np.where(j[1:] < count, np.diff(x), 1.0)
            weights = np.zeros(x.shape)
            inside = j[1:] < count
            weights[:, :-1] += np.where(inside, (x[:, 1:] * area - moment) / width, 0)
            weights[:, 1:] += np.where(inside, (moment - x[:, :-1] * area) / width, 0)
            self._weights[axis, order] = index, weights * half ** (1 - order)
        return self._weights[axis, order]

    def matrix(self, orders: tuple[int, ...]) -> sparse.csr_array:
        """Integration against a derivative of the bump: (n_boxes, grid points in C order)."""
        if orders not in self._matrices:
            n_boxes, n_axes = len(self._boxes), len(self.axes)
            index, weight = np.zeros((n_boxes, 1), int), np.ones((n_boxes, 1))
            for axis, order in enumerate(orders):
                along, w = self._along(axis, order)
                index = (index[:, :, None] * len(self.axes[axis]) + along[:, None, :]).reshape(n_boxes, -1)
                weight = (weight[:, :, None] * w[:, None, :]).reshape(n_boxes, -1)
            boxes = np.repeat(np.arange(n_boxes), index.shape[1])
            shape = (n_boxes, int(np.prod([len(a) for a in self.axes])))
            assert len(orders) == n_axes
            self._matrices[orders] = sparse.csr_array((weight.ravel(), (boxes, index.ravel())), shape=shape)
        return self._matrices[orders]

    def integrate(self, values: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
        """Integrals of one array on the grid against a space derivative of the bump."""
        return self.matrix((*orders, 0)) @ values.ravel()

    def rows(self, data: Sampled, terms: list[Term]) -> Rows:
        """The library and the time derivative in weak form."""
        still = (0,) * (len(self.axes) - 1)
        bases: dict[Any, np.ndarray] = {}

        def differentiated(key, orders):
            if (key, orders) not in bases:
                value = data.u[..., key] if isinstance(key, int) else data.function(Term(*key))
                bases[key, orders] = data.differentiate(value, orders)
            return bases[key, orders]

        columns = []
        for term in terms:
            key = (term.function, term.wave)
            if not term.orders:
                column = self.integrate(data.function(term), still)
            elif not term.function:
                column = (-1) ** term.order * self.integrate(data.u[..., term.state], term.orders)
            else:
                mixed = tuple(o // 2 for o in term.orders)
                rest = tuple(o - m for o, m in zip(term.orders, mixed, strict=True))
                plain = differentiated(term.state, rest)
                column = np.zeros(())
                for moved in itertools.product(*(range(m + 1) for m in mixed)):
                    left = tuple(m - k for m, k in zip(mixed, moved, strict=True))
                    ways = np.prod(binom(mixed, moved))
                    column = column + ways * self.integrate(differentiated(key, left) * plain, moved)
                column = (-1) ** sum(mixed) * column
            columns.append(column)
        time = self.matrix((*still, 1))
        Y = np.stack([-(time @ data.u[..., i].ravel()) for i in range(data.u.shape[-1])], axis=1)
        X = np.stack(columns, axis=1)
        return Rows(X, Y, len(X))


@dataclass(frozen=True)
class WSINDy(SparseRegression):
    """WSINDy with the grid of the released code, which the paper's Table A2 prints too.

    Boxes are drawn once per number of boxes and block of time, where the release draws them for each setting.

    Attributes
    ----------
    boxes : numbers of test functions
    """

    name: ClassVar[str] = "wsindy"
    reference: ClassVar[str] = "Messenger & Bortz 2021; MDBench 2025, Table A2"
    accepts: ClassVar[tuple[type, ...]] = (Field,)

    boxes: tuple[int, ...] = (200, 2000)

    def weak(self, p: Prepared, block: str, n_boxes: int, rng: np.random.Generator, columns=None) -> Rows:
        """The weak form of a block of time; with `columns`, of these terms only."""
        cut = p.cuts[block]
        data = Sampled(p.data.u[..., cut, :], p.data.axes, p.data.t[cut], p.data.target[..., cut, :])
        terms = p.terms if columns is None else [p.terms[j] for j in columns]
        return WeakForm((*data.axes, data.t), n_boxes, rng).rows(data, terms)

    def fits(self, rows: Rows, columns: np.ndarray, thresholds) -> list[Equations]:
        """The equations for each threshold."""
        return [fitted(rows, chosen) for chosen in sr3(rows, columns, thresholds, self.max_iter)]

    def search(self, p: Prepared, rng: np.random.Generator) -> Iterator[tuple[dict[str, Any], Equations]]:
        for n_boxes in self.boxes:
            rows = self.weak(p, "train", n_boxes, rng)
            for library, columns in p.usable(rows):
                try:
                    found = self.fits(rows, columns, self.thresholds)
                except np.linalg.LinAlgError:  # a numerically indefinite library, left out as in the release
                    continue
                for threshold, equations in zip(self.thresholds, found, strict=True):
                    yield {**library, "boxes": n_boxes, "threshold": threshold}, equations

    def refit(self, p: Prepared, setting: Mapping[str, Any], rng: np.random.Generator) -> Equations:
        columns = p.columns(setting)
        rows = self.weak(p, "refit", setting["boxes"], rng, columns)
        (equations,) = self.fits(rows, np.arange(len(columns)), [setting["threshold"]])
        return [(columns[support], w) for support, w in equations]


@dataclass(frozen=True)
class WSINDyCross(WSINDy):
    """WSINDy on trajectories, with products of states: it integrates where `sindy_cross` differentiates."""

    name: ClassVar[str] = "wsindy_cross"
    reference: ClassVar[str] = "Messenger & Bortz 2021, with the library of Brunton, Proctor & Kutz 2016"
    accepts: ClassVar[tuple[type, ...]] = (Trajectories,)
    cross: ClassVar[bool] = True
