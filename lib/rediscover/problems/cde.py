"""SymbolBench's 156 coupled differential equations: 63 systems of ODEBench and 93 entries from published models.

Ids are those of the benchmark: ``S001`` to ``S063`` and ``P...``; the subset is the number of states, "1" to
"4". Every system is integrated here over 0..10, whatever its unit of time, as the benchmark does.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..expressions import parse
from ..expressions.integration import simulate
from . import InitialValueProblem, Split, facts, generator, odes

T_END, POINTS = 10.0, 150
DISPLACEMENT = 0.1  # standard deviation of the shift that makes the second initial state of the published models


@dataclass(frozen=True, eq=False, kw_only=True)
class CoupledODE(InitialValueProblem):
    """One system with two initial states: in distribution ('id') and out of it ('ood').

    Attributes
    ----------
    equations : state -> right-hand side with constants by name, as published.
    constants : name -> value.
    initial : the initial state.
    second : the other initial state of ODEBench, or () for a draw ``|initial + N(0, 0.1)|`` by seed. As in
        the benchmark, the draw is large for small states, negligible for large ones and changes the sign of
        negative ones.
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

    @property
    def meanings(self) -> dict[str, str]:
        stated = zip(self.inputs, self.states, strict=True) if self.states else ()
        known = {x: name + (f" ({unit})" if unit else "") for x, (name, unit) in stated if name != x}
        return {name: known.get(name, "").replace("_", " ") for name in super().meanings}

    def initial_state(self, split: str = "id", seed: int = 0) -> np.ndarray:
        """Where the trajectory 'id' or 'ood' begins; only the draws for published models depend on the seed."""
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
        """States against their rates: finite differences of second order to train on, exact ones to test (OOD)."""
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
    entries = {name: model for model in facts("cde")["models"] for name in model["ids"]}
    return dict(sorted(entries.items()))


@functools.cache
def _dimensions() -> dict[str, str]:
    published = {name: str(len(model["equations"])) for name, model in _models().items()}
    return {f"S{int(n):03d}": d for d in "1234" for n in odes.ids(d)} | published


def ids(subset: str | None = None) -> list[str]:
    """Names, those of ODEBench first; `subset` is a number of states, "1" to "4"."""
    return sorted((name for name, d in _dimensions().items() if subset in (None, d)), key=lambda n: (n[0] != "S", n))


def load(name: str) -> CoupledODE:
    """One system; by its flags a study can leave it out.

    Returns
    -------
    CoupledODE
        With the flags ``duplicate`` (another entry has the same model; the note says which), ``altered`` (the
        benchmark's own series come from another equation than the model's, which is the one here), ``degenerate``
        (constant rates, or next to no motion over the time span) and ``chaotic`` (the solution depends on the
        solver's tolerance).
    """
    if name.startswith("S"):
        return _from_odebench(name)
    model = _models()[name]
    original = model["ids"][0]
    notes = {
        "duplicate": f"the same model as {original}" if name != original else "",
        "altered": f"in the benchmark {model['altered']}" if "altered" in model else "",
        "degenerate": model.get("degenerate", ""),
    }
    return _system(
        name,
        model["equations"],
        {key: value for key, (value, *_) in model["constants"].items()},
        flags=tuple(flag for flag, note in notes.items() if note),
        note="; ".join(filter(None, notes.values())),
        source=f"{model['reference']} ({model['field']}), time in {model['time_unit']}",
        initial=tuple(model["init"]),
        states=tuple((str(state), str(unit)) for state, unit in model["states"]),
    )


CHAOTIC = ("S055", "S056", "S061")


def _from_odebench(name: str) -> CoupledODE:
    system = odes.load(str(int(name[1:])))
    return _system(
        name,
        system.equations,
        system.constants,
        flags=("chaotic",) if name in CHAOTIC else (),
        note=system.note,
        source=system.source,
        initial=system.initial[0],
        second=system.initial[1],
        states=tuple((state, "") for state in system.inputs),
    )


def _system(name: str, equations: Sequence[str], constants: Mapping[str, float], **rest: Any) -> CoupledODE:
    truth = odes.right_hand_sides(equations, constants)
    return CoupledODE(
        id=f"cde/{name}",
        truth=truth,
        inputs=tuple(truth),
        subset=str(len(truth)),
        equations=dict(zip(truth, equations, strict=True)),
        constants=constants,
        **rest,
    )
