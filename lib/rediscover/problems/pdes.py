"""The 14 systems of partial differential equations of MDBench.

Ids: ``pdes/burgers``, ``pdes/kdv``, ... as in ``data/pdes.yaml``; the subset is the number of space dimensions, "1" to
"3". A problem's states are u0, u1, ...; its table is the states and their space derivatives (inputs) against the
states' time derivatives (outputs). Fields are simulated on first use (see `pde_solvers`) and kept in the user's cache.
"""

import dataclasses
import functools
import hashlib
import itertools
import json
import math
import os
import re
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..numerics.differences import STENCILS, derivative
from ..system import reproducible_blas, workers
from ..system.code_version import code_version
from . import Field, Split, Task, facts, pde_solvers
from .odes import SNR_DB, settle_noise

SEED = 42  # of the published noise


class Samples(NamedTuple):
    """A sampled field.

    Attributes
    ----------
    axes : axis name -> ndarray
    t : ndarray, shape (n_t,)
    u : ndarray, shape (n_x, [n_y, [n_z,]] n_t, d)
        States, noisy where the problem has noise.
    du : ndarray of the shape of `u`
        Time derivative of the clean states by differences of second order.
    """

    axes: Mapping[str, np.ndarray]
    t: np.ndarray
    u: np.ndarray
    du: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class PDE(Field):
    """One system on its published grid.

    Attributes
    ----------
    states : all states; those without an entry in ``truth`` (pressure) have no evolution equation and are
        scored nevertheless.
    snr_db, noise : as for `odes.ODE`
    split : 'time' (first 80 % of time against the last 20 %, as the paper says and as its linear methods are
        scored), 'space' (first and last rows of the flattened array, that is of x, as its other methods are
        scored) or 'corrected' (60 / 20 / 20 % of time)
    stencil : space derivatives by one n-th stencil per order whose edge rows share the outermost points
        ('shared', as pysindy has it) or start at the row itself ('direct'), or by first differences n times
        ('repeated', as in the released code for generic methods)
    reduced : simulate on a coarser grid or mesh, where the entry has one; flagged
    max_rows : at most so many training rows for tabular methods, drawn at random; None for all
    """

    choices: ClassVar = {"split": ("time", "space", "corrected"), "stencil": STENCILS}
    reported: ClassVar = ("snr_db",)
    states: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    title: str = ""
    residual: Mapping[str, float] = field(default_factory=dict)
    snr_db: float = math.inf
    split: str = "time"
    stencil: str = "shared"
    reduced: bool = False
    max_rows: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        settle_noise(self)
        if self.max_rows is not None and self.max_rows < 1:
            raise ValueError(f"{self.id}: max_rows must be positive or None, got {self.max_rows!r}")
        if self.reduced and "reduced" not in self.flags:
            if "reduced" not in facts("pdes")[self.name]:
                raise ValueError(f"{self.id} has no reduced grid: it takes seconds at the published one")
            object.__setattr__(self, "flags", (*self.flags, "reduced"))

    @property
    def name(self) -> str:
        return self.id.partition("/")[2]

    @property
    def meanings(self) -> dict[str, str]:
        own = zip(self.states, self.aliases, strict=True) if self.aliases else ()
        known = {state: f"{alias} in the field's own words" for state, alias in own if alias != state}
        return {state: known.get(state, "") for state in self.states}

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.states

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Names that an answer may hold: states, all derivatives up to the fourth, mixed ones too, coordinates."""
        axes = tuple(facts("pdes")[self.name]["axes"])
        orders = itertools.product(range(Field.max_order + 1), repeat=len(axes))
        directions = [
            "".join(axis * order for axis, order in zip(axes, multi, strict=True))
            for multi in orders
            if 0 < sum(multi) <= Field.max_order
        ]
        return (*self.states, *(f"{state}_{d}" for state in self.states for d in directions), *axes, "t")

    def evaluate(self, values: Mapping[str, Any]) -> np.ndarray:
        """The right-hand sides where the needed states and derivatives are given, as ``u0_xx`` or as ``u_xx``.

        Returns
        -------
        ndarray, shape (n,), or (n, n_states); NaN for a state without an equation
        """
        own = dict(zip(self.aliases, self.states, strict=True))
        known = {}
        for key, value in values.items():
            head, bar, rest = key.partition("_")
            known[key if key in self.inputs else own.get(head, head) + bar + rest] = value
        missing = sorted({n for e in self.expressions.values() for n in e.names} - set(known))
        if missing:
            raise KeyError(f"{self.id}: evaluate needs values for {', '.join(missing)}")
        columns = [self.expressions[state](known) if state in self.truth else np.array(np.nan) for state in self.states]
        return columns[0] if len(columns) == 1 else np.stack(np.broadcast_arrays(*columns), axis=-1)

    def samples(self, seed: int = 0) -> Samples:
        """The simulated field with its noise; seed 0 is the published realisation."""
        entry = settings(self.name, self.reduced)
        axes, t = _grid(entry)
        record = simulate(self.name, self.reduced)
        du = pde_solvers.slope(record.u, entry["time"][1]) if record.du is None else record.du
        if not self.noise:
            return Samples(axes, t, record.u, du)
        xi = noise_draw(self.name, self.snr_db, record.u.shape, seed)
        return Samples(axes, t, record.u * (1 + self.noise * xi), du)

    def columns(self, names: Iterable[str], samples: Samples) -> dict[str, np.ndarray]:
        """States, space derivatives (``u0_xxy``: mixed ones too) and coordinates by name, on the grid of `samples`.

        Returns
        -------
        dict of name -> ndarray, shape ``samples.u.shape[:-1]``
        """
        axes = list(samples.axes)
        found = {}
        for name in names:
            state, _, directions = name.partition("_")
            if name in axes or name == "t":
                along = axes.index(name) if name in axes else len(axes)
                line = samples.axes.get(name, samples.t)
                found[name] = np.broadcast_to(
                    line.reshape([-1 if i == along else 1 for i in range(len(axes) + 1)]), samples.u.shape[:-1]
                )
                continue
            if state not in self.states or any(d not in axes for d in directions):
                raise KeyError(f"{self.id} has no column {name!r}")
            value = samples.u[..., self.states.index(state)]
            for axis, direction in enumerate(axes):
                if order := directions.count(direction):
                    step = float(np.diff(samples.axes[direction][:2])[0])
                    value = derivative(value, step, order, axis, self.stencil)
            found[name] = value
        return found

    def data(self, seed: int = 0) -> dict[str, Split]:
        """Splits by name, rows in C order of the grid.

        Inputs are the (noisy) states and their differences; targets are differences in time of the same states, except
        in ``test``, where they are those of the clean states. Split 'space' has ``train`` and ``test`` only.
        """
        samples = self.samples(seed)
        found = self.columns(self.inputs, samples)
        X = np.stack([found[name] for name in self.inputs], axis=-1)
        noisy = samples.du if not self.noise else pde_solvers.slope(samples.u, samples.t[1] - samples.t[0])
        return {
            name: Split(rows(X), _table(rows(samples.du if name == "test" else noisy)))
            for name, rows in self.blocks(samples.u.shape).items()
        }

    def blocks(self, shape: Sequence[int]) -> dict[str, Any]:
        """Split name -> function from an array on the grid (last axis: columns) to the split's rows."""
        if self.split == "space":
            kept, test = int(0.8 * math.prod(shape[:-1])), int(0.2 * math.prod(shape[:-1]))
            cuts = {"train": slice(0, kept), "test": slice(-test, None)}
            return {name: lambda a, s=cut: a.reshape(-1, a.shape[-1])[s] for name, cut in cuts.items()}
        cuts = self.time_blocks(shape[-2])
        return {name: lambda a, s=cut: a[..., s, :].reshape(-1, a.shape[-1]) for name, cut in cuts.items()}

    def tasks(self, seed: int = 0) -> list[Task]:
        """One table per state; as published, of all that is not tested (not for split 'corrected')."""
        tasks = super().tasks(seed)
        if self.max_rows is None or self.max_rows >= len(tasks[0].y):
            return tasks
        rows = np.sort(np.random.default_rng(seed).choice(len(tasks[0].y), self.max_rows, replace=False))
        return [dataclasses.replace(task, X=task.X[rows], y=task.y[rows]) for task in tasks]


def _table(y: np.ndarray) -> np.ndarray:
    return y[:, 0] if y.shape[1] == 1 else y


# Facts, simulation and noise


def settings(name: str, reduced: bool = False) -> dict[str, Any]:
    """The entry of a system, with the changes of its reduced version where asked for."""
    entry = facts("pdes")[name]
    changes = entry.get("reduced", {}) if reduced else {}
    return {**entry, **{key: {**entry[key], **value} for key, value in changes.items()}}


def _grid(entry: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    def line(start: float, step: float, n: int) -> np.ndarray:
        return start + step * np.arange(n)

    return {name: line(*axis) for name, axis in entry["axes"].items()}, line(*entry["time"])


def _shape(entry: Mapping[str, Any]) -> tuple[int, ...]:
    return (*(n for *_, n in entry["axes"].values()), entry["time"][2], len(entry["names"]))


@functools.lru_cache(maxsize=4)
def simulate(name: str, reduced: bool = False) -> pde_solvers.Simulation:
    """The clean field, from the cache if it is there.

    The cache (``pooch.os_cache("rediscover")/pdes``) holds one file per system and version of its entry and
    solvers, with the SHA-256 of its arrays beside it; a file that does not match is made again.
    """
    import pooch

    entry = settings(name, reduced)
    version = hashlib.sha256(json.dumps(entry, sort_keys=True).encode())
    version.update((code_version(pde_solvers.__name__) + reproducible_blas.named()).encode())
    path = Path(pooch.os_cache("rediscover")) / "pdes" / f"{name}-{version.hexdigest()[:12]}.npz"
    record = _read(path)
    if record is None:
        # What is kept is for all processes, so it comes from the arithmetic that all of them have.
        solved = functools.partial(workers.apart, _solved) if reproducible_blas.differs() else _solved
        record = solved(name, reduced)
        if not np.isfinite(record.u).all():
            raise ArithmeticError(f"pdes/{name}: the simulation diverged")
        try:
            _write(path, record)
        except OSError as error:
            warnings.warn(f"pdes/{name} could not be cached: {error}", stacklevel=2)
    for array in record:
        if array is not None:
            array.setflags(write=False)
    return record


def _solved(name: str, reduced: bool) -> pde_solvers.Simulation:
    entry = settings(name, reduced)
    axes, t = _grid(entry)
    return pde_solvers.SOLVERS[name](pde_solvers.Setting(entry["parameters"], axes, t))


def digest(record: pde_solvers.Simulation) -> str:
    """SHA-256 of the arrays of a simulated field."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in record if a is not None)).hexdigest()


def _read(path: Path) -> pde_solvers.Simulation | None:
    beside = path.with_suffix(".sha256")
    if not (path.exists() and beside.exists()):
        return None
    with np.load(path) as stored:
        record = pde_solvers.Simulation(**{key: stored[key] for key in stored.files})
    return record if digest(record) == beside.read_text().strip() else None


def _write(path: Path, record: pde_solvers.Simulation) -> None:
    """Each file appears under its name only when it is whole; the checksum last."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {key: value for key, value in record._asdict().items() if value is not None}
    for target, save in [
        (path, lambda file: np.savez(file, **arrays)),
        (path.with_suffix(".sha256"), lambda file: file.write(digest(record).encode())),
    ]:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            save(file)
        os.replace(file.name, target)


@functools.lru_cache(maxsize=2)
def noise_draw(name: str, snr_db: float, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Standard normal numbers of the published stream: one generator, all systems in order, all levels.

    A reduced grid draws its own numbers at the place where the stream reaches its system.
    """
    stream = np.random.RandomState()  # the published generator
    stream.set_state(_before(list(itertools.product(facts("pdes"), SNR_DB)).index((name, snr_db)), seed))
    return stream.randn(*shape)


@functools.cache
def _before(draw: int, seed: int) -> Any:
    """State of the published stream before a draw, counted over systems and levels; the one before is kept too."""
    if not draw:
        return np.random.RandomState(SEED + seed).get_state()
    stream = np.random.RandomState()
    stream.set_state(_before(draw - 1, seed))
    stream.randn(*_shape(list(facts("pdes").values())[(draw - 1) // len(SNR_DB)]))
    return stream.get_state()


def ids(subset: str | None = None) -> list[str]:
    return [name for name, entry in facts("pdes").items() if subset in (None, str(len(entry["axes"])))]


def coarser() -> list[str]:
    """Problem ids of the systems that have a coarser grid, for machines that are short of time."""
    return [f"pdes/{name}" for name, entry in facts("pdes").items() if "reduced" in entry]


def features(states: Iterable[str], axes: Mapping[str, int]) -> tuple[str, ...]:
    """Inputs of the generic methods in the published order.

    States; then for each order from 1 to 4 the x-derivatives and the y-derivatives of all states; of z only the first
    derivative, last, which the release misnames with four z. Orders for which an axis has too few points are left out.

    Parameters
    ----------
    axes : axis name -> number of points

    Examples
    --------
    >>> features(["u0"], {"x": 5, "y": 4, "z": 3})
    ('u0', 'u0_x', 'u0_y', 'u0_xx', 'u0_yy', 'u0_xxx', 'u0_z')
    """
    states = tuple(states)
    plain = [
        (axis, order) for order in range(1, Field.max_order + 1) for axis in "xy" if axes.get(axis, 0) >= order + 2
    ]
    plain += [("z", 1)] if "z" in axes else []
    return states + tuple(f"{state}_{axis * order}" for axis, order in plain for state in states)


@functools.cache
def load(name: str) -> PDE:
    entry = facts("pdes")[name]
    states = tuple(f"u{i}" for i in range(len(entry["names"])))
    return PDE(
        id=f"pdes/{name}",
        truth={state: re.sub(r"\s+", " ", text) for state, text in entry["rhs"].items()},
        inputs=features(states, {axis: n for axis, (*_, n) in entry["axes"].items()}),
        subset=str(len(entry["axes"])),
        flags=tuple(entry.get("flags", ())),
        note=entry["note"],
        source="MDBench 2025, Table A1 and Appendix B; released code",
        states=states,
        aliases=tuple(entry["names"]),
        title=entry["name"],
        residual=entry["residual"],
    )
