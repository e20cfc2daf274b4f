"""Flows of the package dysts, most of them chaotic, less those that the systems of ODEBench have the structure of.

Ids are ``flows/<name>`` with the package's names; the subset is ``polynomial`` or ``other``, by the right-hand sides. A
problem's states are named x0, x1, ...; its table is the states (inputs) against their time derivatives (outputs).
"""

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..expressions.integration import Solver, simulate
from . import Split, Trajectories, facts, generator, odes

SUBSETS = ("polynomial", "other")
PERIODS, POINTS = 5, 1000
TOLERANCES = {"rtol": 1e-10, "atol": 1e-12, "min_step": 0.0}
FIRST_STEP = 1e-6  # in periods, which differ by a factor of ten thousand
EVALUATIONS = 1_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Flow(Trajectories):
    """One flow, integrated over five periods from the package's first state, 200 points a period.

    Attributes
    ----------
    initial : the first state.
    period : the package's, of the strongest frequency; in the flow's own unit of time.
    states : the package's names of the states, where it has any.
    noise : standard deviation of Gaussian noise on the states, relative to that of each state. It is not a share of
        the value, as for ODEBench's systems: most states here change their sign, and would have no noise there.
    """

    initial: tuple[float, ...] = ()
    period: float = 1.0
    states: tuple[str, ...] = ()
    split: ClassVar[str] = "corrected"

    @property
    def meanings(self) -> dict[str, str]:
        return super().meanings | dict(zip(self.inputs, self.states, strict=False))

    def clean(self) -> odes.Trajectory:
        """The solution by LSODA (rtol 1e-10, atol 1e-12) without noise."""
        return _integrate(self.id.partition("/")[2])

    def trajectory(self, seed: int = 0) -> odes.Trajectory:
        """The solution with its noise, and exact rates at the clean states."""
        clean = self.clean()
        xi = generator(seed, self.id, "noise").standard_normal(clean.u.shape)
        return clean._replace(u=clean.u + self.noise * clean.u.std(axis=0) * xi) if self.noise else clean

    def data(self, seed: int = 0) -> dict[str, Split]:
        """Splits of 60 (``train``), 20 (``validation``) and 20 % (``test``) of time, and ``refit``, the first two.

        Inputs are the (noisy) states. Targets are their finite differences of second order in time; only the test
        target is the exact derivative at the clean states.
        """
        t, u, du = self.trajectory(seed)
        slope = np.gradient(u, t[1] - t[0], axis=0, edge_order=2)
        blocks = self.time_blocks(len(t)).items()
        return {name: Split(u[rows], (du if name == "test" else slope)[rows]) for name, rows in blocks}


@functools.lru_cache(maxsize=256)
def _integrate(name: str) -> odes.Trajectory:
    flow = load(name)
    t = np.arange(POINTS) * (PERIODS * flow.period / POINTS)
    solver = Solver(first_step=FIRST_STEP * flow.period, **TOLERANCES)
    u = simulate(flow.expressions, flow.initial, t, solver=solver, evaluations=EVALUATIONS)
    if not np.isfinite(u).all():
        raise ArithmeticError(f"{flow.id}: cannot be integrated from {flow.initial}")
    du = flow.evaluate(dict(zip(flow.inputs, u.T, strict=True)))
    for array in (t, u, du):
        array.setflags(write=False)
    return odes.Trajectory(t, u, du)


def ids(subset: str | None = None) -> list[str]:
    """Names of the flows, sorted; `subset` is ``polynomial`` or ``other``."""
    return sorted(name for group in SUBSETS if subset in (None, group) for name in facts("flows")[group])


@functools.cache
def load(name: str) -> Flow:
    """One flow by the package's name."""
    subset = next(group for group in SUBSETS if name in facts("flows")[group])
    entry = facts("flows")[subset][name]
    truth = odes.right_hand_sides(entry["equations"], entry["constants"])
    return Flow(
        id=f"flows/{name}",
        truth=truth,
        inputs=tuple(truth),
        subset=subset,
        source="dysts 0.96 (Gilpin 2021)",
        initial=tuple(entry["initial"]),
        period=entry["period"],
        states=tuple(entry.get("states", ())),
    )
