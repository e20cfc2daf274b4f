"""Chaotic flows of dysts (Gilpin 2021), less those that ODEBench has: long records of systems that mix.

Ids are ``flows/Halvorsen`` and alike, by the names of the package; the subset is ``polynomial``, or ``other`` where a
right-hand side is none. States are named x0, x1, ... Which of the package's flows are left out, and why, stands in the
data file.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from . import Split, Trajectories, facts, generator
from .odes import Trajectory, right_hand_sides

SUBSETS = ("polynomial", "other")
PERIODS = 5
POINTS = 200  # a period
EXACT = {"method": "DOP853", "rtol": 1e-10, "atol": 1e-10}


@dataclass(frozen=True, eq=False, kw_only=True)
class Flow(Trajectories):
    """One flow, over five of its periods from the state that the package begins with.

    Attributes
    ----------
    noise : standard deviation of the normal noise of each state, as a share of that state's standard deviation. It is
        added, as states cross 0, where noise in proportion to them would vanish.
    equations, constants : as the package states them
    initial : state at time 0
    period : time of one oscillation; there are 200 points in each
    split : 60 / 20 / 20 % of time for training, validation and test
    """

    split: ClassVar[str] = "corrected"
    equations: tuple[str, ...] = ()
    constants: Mapping[str, float] = field(default_factory=dict)
    initial: tuple[float, ...] = ()
    period: float = 1.0

    @property
    def name(self) -> str:
        return self.id.partition("/")[2]

    def rates(self, u: np.ndarray) -> np.ndarray:
        """Exact rates at states; both of shape (n, d)."""
        return self.evaluate(dict(zip(self.inputs, u.T, strict=True)))

    def clean(self) -> Trajectory:
        """The record without noise: times (n,), states and rates (n, d), n = 1,000."""
        return _integrate(self.name)

    def trajectory(self, seed: int = 0) -> Trajectory:
        """The record with its noise; the rates are those of the clean states."""
        clean = self.clean()
        if not self.noise:
            return clean
        xi = generator(seed, self.id, "noise").standard_normal(clean.u.shape)
        return clean._replace(u=clean.u + self.noise * clean.u.std(axis=0) * xi)

    def data(self, seed: int = 0) -> dict[str, Split]:
        """Splits ``train``, ``validation``, ``refit`` (both) and ``test``.

        Inputs are the (noisy) states. Targets are their finite differences of second order in time, taken before
        splitting; only the test target is the exact rate of the clean states.
        """
        t, u, du = self.trajectory(seed)
        slope = np.gradient(u, t[1] - t[0], axis=0, edge_order=2)
        blocks = self.time_blocks(len(t)).items()
        return {name: Split(u[rows], (du if name == "test" else slope)[rows]) for name, rows in blocks}


@functools.lru_cache(maxsize=256)
def _integrate(name: str) -> Trajectory:
    from scipy.integrate import solve_ivp

    flow = load(name)
    times = np.arange(PERIODS * POINTS) * flow.period / POINTS
    solution = solve_ivp(lambda t, x: flow.rates(x[None])[0], (0.0, times[-1]), flow.initial, t_eval=times, **EXACT)
    u = solution.y.T
    if not solution.success or not np.isfinite(u).all():
        raise ArithmeticError(f"{flow.id}: the integration stopped: {solution.message}")
    record = Trajectory(times, u, flow.rates(u))
    for array in record:
        array.setflags(write=False)
    return record


def ids(subset: str | None = None) -> list[str]:
    """Names of the flows, optionally of one of `SUBSETS`.

    Examples
    --------
    >>> len(ids()), len(ids("polynomial"))
    (95, 74)
    """
    if subset not in (None, *SUBSETS):
        raise KeyError(f"flows has no subset {subset!r} (subsets: {', '.join(SUBSETS)})")
    return [name for name in facts("flows")["flows"] if subset in (None, load(name).subset)]


@functools.cache
def load(name: str) -> Flow:
    about: dict[str, Any] = facts("flows")["flows"][name]
    truth = right_hand_sides(about["equations"], about["constants"])
    return Flow(
        id=f"flows/{name}",
        truth=truth,
        inputs=tuple(truth),
        subset=_subset(truth),
        source="dysts 0.96 (Gilpin 2021), MIT licence",
        equations=tuple(about["equations"]),
        constants=about["constants"],
        initial=tuple(about["initial"]),
        period=about["period"],
    )


def _subset(truth: Mapping[str, str]) -> str:
    import sympy

    from ..expressions import parse

    states = sympy.symbols(list(truth))
    sides = [parse(text).sympy() for text in truth.values()]
    return SUBSETS[not all(side.is_polynomial(*states) for side in sides)]
