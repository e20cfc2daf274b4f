"""The 63 systems of ordinary differential equations of MDBench (taken over from ODEBench).

Ids are ``odes/1`` to ``odes/63``, in the papers' numbering; the subset is the number of states, "1" to "4". A problem's
states are named x0, x1, ...; its table is the states (inputs) against their time derivatives (outputs).
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from . import Split, Trajectories, facts

# dB, in the order in which the published noise was drawn
SNR_DB = (40.0, 30.0, 20.0, 10.0)
T_END = 10.0
N_POINTS = 150


class Trajectory(NamedTuple):
    """A sampled solution.

    Attributes
    ----------
    t : ndarray, shape (n,)
    u : ndarray, shape (n, d)
        States, noisy where the problem has noise.
    du : ndarray, shape (n, d)
        Exact right-hand side at the clean states.
    """

    t: np.ndarray
    u: np.ndarray
    du: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class ODE(Trajectories):
    """One system, integrated from one of its two initial conditions.

    Attributes
    ----------
    snr_db : signal-to-noise ratio in dB of the multiplicative noise ``u (1 + xi)``, ``xi ~ N(0, s^2)``; infinite
        for clean data. Giving ``noise``, which is ``s = 10**(-snr_db/20)``, does the same.
    initial_condition : 0 (the published one) or 1
    n_points : samples on [0, 10]
    split : 'published' (validation is the end of the training block, and 16 % are unused until the refit) or
        'corrected' (60 / 20 / 20 % of time)
    """

    choices: ClassVar = {"split": ("published", "corrected")}
    reported: ClassVar = ("snr_db",)
    equations: tuple[str, ...] = ()
    constants: Mapping[str, float] = field(default_factory=dict)
    initial: tuple[tuple[float, ...], ...] = ()
    univariate: bool = False
    snr_db: float = math.inf
    initial_condition: int = 0
    n_points: int = N_POINTS
    split: str = "published"

    def __post_init__(self) -> None:
        super().__post_init__()
        settle_noise(self)
        if self.initial_condition not in range(len(self.initial)):
            raise ValueError(f"{self.id}: initial_condition must be 0 or 1, got {self.initial_condition!r}")
        if self.n_points < 10:
            raise ValueError(f"{self.id}: n_points must be at least 10, got {self.n_points!r}")

    @property
    def title(self) -> str:
        """What the system describes."""
        return str(facts("odes")["systems"][self.number]["name"])

    @property
    def number(self) -> int:
        return int(self.id.partition("/")[2])

    def rates(self) -> Callable[[float, np.ndarray], np.ndarray]:
        """The right-hand side as a function of time and state, in the published generator's arithmetic."""
        import sympy

        from ..expressions import parse

        states = [sympy.Symbol(name) for name in self.inputs]
        known = {sympy.Symbol(name): value for name, value in self.constants.items()}
        # A cotangent as SymPy's own: a quotient is rounded otherwise, which system 35 makes larger.
        a = sympy.Wild("a")
        right = [parse(text).sympy().replace(1 / sympy.tan(a), sympy.cot(a)) for text in self.equations]
        functions = [sympy.lambdify(states, side.subs(known), "numpy") for side in right]
        return lambda t, x: np.array([f(*x) for f in functions])

    def clean(self) -> Trajectory:
        """The solution by LSODA (rtol 1e-5, atol 1e-7, as published) without noise."""
        return _integrate(self.number, self.initial_condition, self.n_points)

    def trajectory(self, seed: int = 0) -> Trajectory:
        """The solution with its noise; seed 0 is the published realisation."""
        clean = self.clean()
        if not self.noise:
            return clean
        xi = noise_draw(self.number, self.snr_db, self.n_points, seed)
        return clean._replace(u=clean.u * (1 + self.noise * xi))

    def data(self, seed: int = 0) -> dict[str, Split]:
        """Splits ``train``, ``validation``, ``refit`` (both and what lies between) and ``test``.

        Inputs are the (noisy) states. Targets are their finite differences of second order in time, taken
        before splitting; only the test target is the exact derivative of the clean states.
        """
        t, u, du = self.trajectory(seed)
        slope = np.gradient(u, t[1] - t[0], axis=0, edge_order=2)
        return {
            name: Split(u[rows], (du if name == "test" else slope)[rows].squeeze(axis=1 if u.shape[1] == 1 else ()))
            for name, rows in self.time_blocks(len(t)).items()
        }


def noise_scale(snr_db: float) -> float:
    """Standard deviation of the relative noise: s = 10**(-snr_db/20).

    Examples
    --------
    >>> noise_scale(40.0), noise_scale(20.0), noise_scale(math.inf)
    (0.01, 0.1, 0.0)
    """
    return float(10 ** (-snr_db / 20))


def settle_noise(problem: Any) -> None:
    """Make ``snr_db`` and ``noise`` agree, whichever was given.

    Raises
    ------
    ValueError
        If they contradict each other, or no noise of this level was published.
    """
    noise, snr_db = problem.noise, problem.snr_db
    if snr_db == math.inf and noise:
        snr_db = next((level for level in SNR_DB if np.isclose(noise_scale(level), noise, rtol=1e-6)), None)
    if snr_db not in (*SNR_DB, math.inf):
        raise ValueError(
            f"{problem.id}: published noise exists for {', '.join(f'{level:g}' for level in SNR_DB)} dB, that is for "
            f"relative noise of {', '.join(f'{noise_scale(level):.3g}' for level in SNR_DB)}; got noise {noise!r}, "
            f"snr_db {problem.snr_db!r}"
        )
    if noise and not np.isclose(noise, noise_scale(snr_db), rtol=1e-6):
        raise ValueError(f"{problem.id}: snr_db {snr_db:g} and noise {noise!r} contradict each other: change one")
    object.__setattr__(problem, "snr_db", float(snr_db))
    object.__setattr__(problem, "noise", noise_scale(snr_db))


@functools.lru_cache(maxsize=256)
def _integrate(number: int, initial_condition: int, n_points: int) -> Trajectory:
    from scipy.integrate import solve_ivp

    problem = load(str(number))
    rates = problem.rates()

    def bounded(t: float, x: np.ndarray) -> np.ndarray:
        values = rates(t, x)
        if not np.isfinite(values).all():  # the solver itself would go on with it for ever
            raise ArithmeticError(f"{problem.id}: the integration stopped at t = {t:.3g}: infinite derivative")
        return values

    with np.errstate(all="ignore"):
        solution = solve_ivp(
            bounded,
            (0.0, T_END),
            problem.initial[initial_condition],
            method="LSODA",
            t_eval=np.linspace(0, T_END, n_points),
            rtol=1e-5,
            atol=1e-7,
            first_step=1e-6,
            min_step=1e-10,
        )
    u = solution.y.T
    if not solution.success or len(u) != n_points or not np.isfinite(u).all():
        reached = solution.t[-1] if len(solution.t) else 0.0
        raise ArithmeticError(f"{problem.id}: the integration stopped at t = {reached:.3g}: {solution.message}")
    du = np.stack([np.broadcast_to(column, n_points) for column in rates(0.0, u.T)], axis=1)
    for array in (solution.t, u, du):
        array.setflags(write=False)
    return Trajectory(solution.t, u, du)


def noise_draw(number: int, snr_db: float, n_points: int, seed: int = 0) -> np.ndarray:
    """Standard normal numbers of the published stream: one generator for all systems by number, then all levels.

    Returns
    -------
    ndarray, shape (n_points, d)
    """
    stream = np.random.RandomState(seed)  # the published generator
    for other, entry in facts("odes")["systems"].items():
        for level in SNR_DB:
            draw = stream.randn(n_points, len(entry["equations"]))
            if (other, level) == (number, snr_db):
                return draw
    raise KeyError(f"no noise of {snr_db:g} dB for system {number}")


def ids(subset: str | None = None) -> list[str]:
    return [str(n) for n, entry in facts("odes")["systems"].items() if subset in (None, str(len(entry["equations"])))]


def right_hand_sides(equations: Sequence[str], constants: Mapping[str, float]) -> dict[str, str]:
    """State (x0, x1, ...) -> its equation with the values of the constants.

    Examples
    --------
    >>> right_hand_sides(["a*x0*x1", "-x1"], {"a": 0.5})
    {'x0': '0.5*x0*x1', 'x1': '-x1'}
    """
    from ..expressions import parse

    return {f"x{i}": str(parse(text).substitute(constants)) for i, text in enumerate(equations)}


@functools.cache
def load(name: str) -> ODE:
    entry = facts("odes")["systems"][int(name)]
    truth = right_hand_sides(entry["equations"], entry["constants"])
    return ODE(
        id=f"odes/{name}",
        truth=truth,
        inputs=tuple(truth),
        subset=str(len(truth)),
        note=entry.get("note", ""),
        source="MDBench 2025, Table A4; ODEBench (d'Ascoli et al. 2024)",
        equations=tuple(entry["equations"]),
        constants=entry["constants"],
        initial=tuple(map(tuple, entry["initial"])),
        univariate=entry["univariate"],
    )
