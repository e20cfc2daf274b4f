"""SymbolBench's 156 coupled differential equations: the 63 systems of ODEBench and 93 entries from published
models.

Ids are those of the benchmark: ``S001`` to ``S063`` and ``P...``; the subset is the number of states, "1" to
"4". Every system is integrated here over 0..10, whatever its unit of time, as the benchmark does.
"""

import functools
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import ClassVar, NamedTuple

import numpy as np
import yaml

from ..expressions import Expression, Program, parse
from . import Split, Trajectories, generator, odes

T_END, POINTS = 10.0, 150
DISPLACEMENT = 0.1  # standard deviation of the shift that makes the second initial state of the published models


class Solver(NamedTuple):
    """Settings of LSODA."""

    rtol: float
    atol: float
    first_step: float
    min_step: float


FINAL = Solver(1e-5, 1e-7, 1e-6, 1e-10)  # the benchmark's truth, and its final evaluation
LOOP = Solver(1e-6, 1e-6, 1e-6, 0.0)  # its verifier


def simulate(
    equations: Mapping[str, Expression], initial, t, *, solver: Solver = FINAL, evaluations: int = 10_000
) -> np.ndarray:
    """Integrate an autonomous system.

    Parameters
    ----------
    equations : state -> right-hand side in the states
    initial : array_like, shape (n_states,)
    t : array_like, shape (n,)
        Increasing times; the first is that of `initial`.
    solver : Solver
    evaluations : int
        Right-hand sides that may be evaluated before the system counts as too stiff.

    Returns
    -------
    ndarray, shape (n, n_states)
        All NaN where the integration fails: a value that is not finite, a step that gets too small, too many
        evaluations, an unknown variable. It is a result, not an error.
    """
    from scipy.integrate import LSODA

    t, names = np.asarray(t, dtype=float), list(equations)
    failed = np.full((len(t), len(names)), np.nan)
    if any(name not in equations for right in equations.values() for name in right.names):
        return failed
    program = Program([right.tree for right in equations.values()])
    left = evaluations

    def rates(_, state):
        nonlocal left
        left -= 1
        value = program.at(dict(zip(names, state.tolist(), strict=True)))
        if left < 0 or not all(map(math.isfinite, value)):
            raise ArithmeticError
        return value

    # The steps of solve_ivp, taken here, as it does not notice when LSODA stops advancing.
    states, done = failed.copy(), 1
    states[0] = initial
    if len(t) == 1:
        return states
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # LSODA warns of the failures that are returned here
            steps = LSODA(rates, t[0], states[0], t[-1], **solver._asdict())
            while steps.status == "running":
                steps.step()
                if steps.status == "failed" or steps.t <= steps.t_old:
                    return failed
                reached = np.searchsorted(t, steps.t, side="right")
                if reached > done:
                    states[done:reached] = steps.dense_output()(t[done:reached]).T
                    done = reached
    except (ArithmeticError, ValueError):
        return failed
    return states if done == len(t) and np.all(np.isfinite(states)) else failed


@dataclass(frozen=True, eq=False, kw_only=True)
class CoupledODE(Trajectories):
    """One system with two initial states: in distribution ('id') and out of it ('ood').

    Attributes
    ----------
    equations : state -> right-hand side with constants by name, as published.
    constants : name -> value.
    initial : the initial state.
    second : the other initial state of ODEBench, or () for a draw ``|initial + N(0, 0.1)|`` by seed. As in
        the benchmark, the draw is large for small states, negligible for large ones and turns negative ones
        around.
    states : (name, unit) of each state in its model.
    noise : standard deviation of Gaussian noise on the training states, relative to that of each state.
    split : how methods that need validation rows cut the record, as in `problems.time_splits`.
    """

    equations: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)
    initial: tuple[float, ...] = ()
    second: tuple[float, ...] = ()
    states: tuple[tuple[str, str], ...] = ()
    split: ClassVar[str] = "corrected"

    def initial_state(self, split: str = "id", seed: int = 0) -> np.ndarray:
        """Where the trajectory 'id' or 'ood' begins; only the draws for published models depend on the
        seed."""
        if split not in ("id", "ood"):
            raise ValueError(f"{self.id}: split must be 'id' or 'ood', got {split!r}")
        if split == "id" or self.second:
            return np.array(self.initial if split == "id" else self.second)
        shift = generator(seed, self.id, "ood").normal(0.0, DISPLACEMENT, len(self.initial))
        return np.abs(np.array(self.initial) + shift)

    def times(self, points: int = POINTS) -> np.ndarray:
        return np.linspace(0.0, T_END, points)

    def trajectory(self, seed: int = 0) -> odes.Trajectory:
        """The training record: times, states with their noise, and exact rates at the clean states."""
        clean = self.solution("id", seed)
        exact = self.evaluate({name: clean[:, i] for i, name in enumerate(self.inputs)})
        return odes.Trajectory(self.times(), self.observed(seed), exact.reshape(clean.shape))

    def solution(self, split: str = "id", seed: int = 0, *, points: int = POINTS) -> np.ndarray:
        """The true solution without noise, shape (points, n_states)."""
        return _solution(self.id, tuple(self.truth.values()), tuple(self.initial_state(split, seed)), points).copy()

    def observed(self, seed: int = 0) -> np.ndarray:
        """The training trajectory with its noise, shape (150, n_states)."""
        states = self.solution("id", seed)
        if not self.noise:
            return states
        xi = generator(seed, self.id, "noise").standard_normal(states.shape)
        return states + self.noise * states.std(axis=0) * xi

    def data(self, seed: int = 0) -> dict[str, Split]:
        """States against their rates: finite differences of second order for training, exact ones for the
        test (OOD)."""
        states, other = self.observed(seed), self.solution("ood", seed)
        rates = np.gradient(states, self.times(), axis=0, edge_order=2)
        exact = self.evaluate({name: other[:, i] for i, name in enumerate(self.inputs)})
        return {"train": Split(states, rates[:, 0] if len(self.truth) == 1 else rates), "test": Split(other, exact)}


@functools.lru_cache(maxsize=1024)
def _solution(id: str, truth: tuple[str, ...], initial: tuple[float, ...], points: int) -> np.ndarray:
    equations = {f"x{i}": parse(right) for i, right in enumerate(truth)}
    states = simulate(equations, initial, np.linspace(0.0, T_END, points))
    if not np.all(np.isfinite(states)):
        raise ArithmeticError(f"{id}: cannot be integrated from {initial}")
    return states


@functools.cache
def _models() -> dict[str, dict]:
    """Benchmark id -> its model."""
    text = resources.files(__package__).joinpath("data/cde.yaml").read_text(encoding="utf-8")
    entries = {name: model for model in yaml.safe_load(text)["models"] for name in model["ids"]}
    return dict(sorted(entries.items()))


@functools.cache
def _dimensions() -> dict[str, str]:
    published = {name: str(len(model["equations"])) for name, model in _models().items()}
    return {f"S{int(n):03d}": d for d in "1234" for n in odes.ids(d)} | published


def ids(subset: str | None = None) -> list[str]:
    """Names, those of ODEBench first; `subset` is a number of states, "1" to "4"."""
    return sorted((name for name, d in _dimensions().items() if subset in (None, d)), key=lambda n: (n[0] != "S", n))


def load(name: str) -> CoupledODE:
    """One system. Flags, by which a study can leave entries out:

    ``duplicate`` : another entry has the same model; the note says which.
    ``altered`` : the benchmark's own series come from another equation than the model's, which is the one
        here.
    ``degenerate`` : constant rates, or next to no motion over the time span.
    ``chaotic`` : the solution depends on the solver's tolerance.
    """
    if name.startswith("S"):
        return _from_odebench(name)
    model = _models()[name]
    inputs = tuple(f"x{i}" for i in range(len(model["equations"])))
    constants = {key: value for key, (value, *_) in model["constants"].items()}
    original = model["ids"][0]
    notes = {
        "duplicate": f"the same model as {original}" if name != original else "",
        "altered": f"in the benchmark {model['altered']}" if "altered" in model else "",
        "degenerate": model.get("degenerate", ""),
    }
    return CoupledODE(
        id=f"cde/{name}",
        truth={
            state: str(parse(right).substitute(constants))
            for state, right in zip(inputs, model["equations"], strict=True)
        },
        inputs=inputs,
        subset=str(len(inputs)),
        flags=tuple(flag for flag, note in notes.items() if note),
        note="; ".join(filter(None, notes.values())),
        source=f"{model['reference']} ({model['field']}), time in {model['time_unit']}",
        equations=dict(zip(inputs, model["equations"], strict=True)),
        constants=constants,
        initial=tuple(model["init"]),
        states=tuple((str(state), str(unit)) for state, unit in model["states"]),
    )


CHAOTIC = ("S055", "S056", "S061")


def _from_odebench(name: str) -> CoupledODE:
    system = odes.load(str(int(name[1:])))
    return CoupledODE(
        id=f"cde/{name}",
        truth=system.truth,
        inputs=system.inputs,
        subset=system.subset,
        flags=("chaotic",) if name in CHAOTIC else (),
        note=system.note,
        source=system.source,
        equations=dict(zip(system.inputs, system.equations, strict=True)),
        constants=system.constants,
        initial=system.initial[0],
        second=system.initial[1],
        states=tuple((state, "") for state in system.inputs),
    )
