"""What is to be found: the kinds of problem, and the catalogue of all of them.

A problem is a frozen record with an id (``study/name``), a truth and a way to make its data. Each module of this
package holds one study and offers two functions, ``ids(subset=None)`` and ``load(name, **options)``; the
catalogue below finds the modules by their names. Problems know nothing of methods.

The module itself can be called: ``rediscover.problems("srsd", "easy")`` lists ids.
"""

import dataclasses
import difflib
import functools
import importlib
import numbers
import pkgutil
import sys
import types
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import yaml

from ..numerics.arrays import check_grid, check_times, checked_table, time_splits
from ..system.display import Displayed

if TYPE_CHECKING:
    from ..expressions import Expression

STUDIES = tuple(sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.ispkg))


@functools.cache
def facts(study: str) -> Any:
    """What the data file of a study holds, ``data/<study>.yaml``."""
    # Each new worker reads it; libyaml takes a tenth of the time.
    text = (resources.files(__package__) / "data" / f"{study}.yaml").read_text("utf-8")
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def generator(seed: int, *names: str) -> np.random.Generator:
    """A random generator from a seed and names (problem, split, method), the same on every machine."""
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or seed < 0:
        raise TypeError(f"seed must be a whole number >= 0, got {seed!r} (a split is taken as data(seed=0)['train'])")
    words = [zlib.crc32(name.encode()) for name in names]
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))


class Split(NamedTuple):
    """Part of a problem's data.

    Attributes
    ----------
    X : ndarray, shape (n, n_inputs)
        Columns in the order of ``problem.inputs``.
    y : ndarray, shape (n,) or (n, n_outputs)
        One column per entry of ``problem.outputs``; one-dimensional where there is a single output.
    """

    X: np.ndarray
    y: np.ndarray

    def output(self, i: int) -> "Split":
        """The rows with one output alone, as a one-dimensional y."""
        return self if self.y.ndim == 1 else Split(self.X, self.y[:, i])


@dataclass(frozen=True, eq=False)
class Task:
    """One regression table, the view of a problem that every generic method can work on.

    Attributes
    ----------
    inputs, output : names of the columns of `X` and of `y`.
    X : ndarray, shape (n, n_inputs)
    y : ndarray, shape (n,)
    validation : Split or None
        Held-out rows for choosing among candidates, when the study has them.

    Raises
    ------
    ValueError
        If shapes do not go together, a number is complex or no number, or an input has a name that no expression
        can hold.
    """

    inputs: tuple[str, ...]
    output: str
    X: np.ndarray
    y: np.ndarray
    validation: Split | None = None

    def __post_init__(self) -> None:
        from ..expressions.syntax import unreadable

        if (name := unreadable(self.inputs)) is not None:
            why = "give each a name of its own, of letters, digits and _, that is no function's"
            raise ValueError(f"{self.output}: no expression can hold the input {name!r}; {why}")
        X, y = checked_table(self.X, self.y, len(self.inputs), self.output)
        self.__dict__.update(X=X, y=y)  # the record is frozen


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem(Displayed):
    """Base of all kinds.

    Attributes
    ----------
    id : ``study/name``.
    truth : output name -> right-hand side as text that ``expressions.parse`` reads (kinds without expressions say
        in their docstring what the values are).
    inputs : names of the input columns.
    subset : the group within the study (a category, a difficulty, a number of dimensions).
    noise : noise level of the training data; what it means is the study's protocol.
    flags : marks that travel to every table footnote, such as ``substitute`` or ``repaired``.
    note : one sentence for the reader on anything unusual.
    source : where the entry comes from (paper, table, file).
    """

    kind: ClassVar[str] = "problem"
    choices: ClassVar[Mapping[str, Sequence[str]]] = {}  # option -> its values
    reported: ClassVar[tuple[str, ...]] = ()  # options that stand in the frame of a grid, beside the noise
    id: str
    truth: Mapping[str, Any]
    inputs: tuple[str, ...] = ()
    subset: str = ""
    noise: float = 0.0
    flags: tuple[str, ...] = ()
    note: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.noise) and self.noise >= 0):
            raise ValueError(f"{self.id}: noise must be a finite number >= 0, got {self.noise!r}")
        for option, values in self.choices.items():
            if getattr(self, option) not in values:
                raise ValueError(f"{self.id}: {option} must be {' or '.join(values)}, got {getattr(self, option)!r}")

    @property
    def study(self) -> str:
        return self.id.split("/", 1)[0]

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(self.truth)

    @property
    def meanings(self) -> dict[str, str]:
        """What inputs and outputs stand for, with the unit where it is known; empty where nothing is."""
        return dict.fromkeys((*self.inputs, *self.outputs), "")

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Names that an answer's expressions may hold: the inputs, unless a kind allows more."""
        return self.inputs

    @cached_property
    def expressions(self) -> dict[str, "Expression"]:
        """The truth, parsed: output name -> Expression."""
        from ..expressions import parse

        return {name: parse(text, self.vocabulary) for name, text in self.truth.items()}

    def evaluate(self, values: Mapping[str, Any]) -> np.ndarray:
        """The truth at the given inputs.

        Parameters
        ----------
        values : input name -> scalar or array of shape (n,)

        Returns
        -------
        ndarray, shape (n,), or (n, n_outputs) where the problem has several outputs
        """
        missing = [name for name in self.inputs if name not in values]
        if missing:
            raise KeyError(f"{self.id}: evaluate needs values for {', '.join(missing)}")
        columns = [expression(values) for expression in self.expressions.values()]
        return columns[0] if len(columns) == 1 else np.stack(np.broadcast_arrays(*columns), axis=-1)

    def data(self, seed: int = 0) -> dict[str, Split]:
        """Splits by name (``train``, ``test``, ...), the same for the same seed on every machine."""
        raise NotImplementedError(f"{self.id} has no tabular data")

    @property
    def fitted(self) -> str:
        """The split that generic methods fit; beside 'train' they are given the validation rows, if there are any."""
        return "train"

    def check(self, seed: int = 0) -> None:
        """Refuse data that nothing can be fitted to, in one sentence; by default nothing is."""

    def tasks(self, seed: int = 0) -> list[Task]:
        """The problem as regression tables, one per output."""
        splits = self.data(seed)
        rows, held_out = splits[self.fitted], splits.get("validation") if self.fitted == "train" else None
        return [
            Task(self.inputs, name, *rows.output(i), validation=held_out and held_out.output(i))
            for i, name in enumerate(self.outputs)
        ]


class Regression(Problem):
    """Outputs as functions of inputs: explicit and parametric surfaces, physics laws."""

    kind = "regression"


class LevelSet(Problem):
    """A surface F = 0: the truth is ``{"F": ...}``; as a table, the last input regressed on the others."""

    kind = "level set"

    def split(self, name: str, seed: int = 0) -> Split:
        """One of the splits of `data`, whose X holds points of the surface."""
        raise NotImplementedError


class Evolving(Problem):
    """Base of the kinds that have time; ``split`` says how a record of it is cut."""

    if TYPE_CHECKING:  # a field of some kinds, fixed for others

        @property
        def split(self) -> str: ...

    @property
    def fitted(self) -> str:
        return "refit" if self.split in ("published", "time") else "train"  # as published, 80 % of time

    def time_blocks(self, n: int) -> dict[str, slice]:
        """Blocks of a record of n times, by `time_splits`: corrected if ``split`` says so, else the published ones."""
        return time_splits(n, "corrected" if self.split == "corrected" else "published")


class Trajectories(Evolving):
    """A system of ordinary differential equations: state name -> right-hand side."""

    kind = "trajectories"

    def trajectory(self, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, shape (n,), states with their noise and exact rates, shape (n, n_states)."""
        raise NotImplementedError

    def check(self, seed: int = 0) -> None:
        """Refuse a record that no right-hand side can be fitted to, as `check_times` does."""
        with suppress(NotImplementedError):  # known by its tables alone
            check_times(*self.trajectory(seed)[:2], self.id)


class InitialValueProblem(Trajectories):
    """A system that is shown along one whole trajectory from a known initial state, none of it held back.

    Methods that fit a trajectory as such, not a table of rates, rest on these three.

    Attributes
    ----------
    equations : state -> right-hand side with constants by name
    constants : name -> value
    """

    equations: Mapping[str, str]
    constants: Mapping[str, float]

    def initial_state(self) -> np.ndarray:
        """The state at the first time, shape (n_states,)."""
        raise NotImplementedError

    def times(self) -> np.ndarray:
        """Increasing times, shape (n,)."""
        raise NotImplementedError

    def observed(self, seed: int = 0) -> np.ndarray:
        """The states at `times` with their noise, shape (n, n_states)."""
        raise NotImplementedError


class Field(Evolving):
    """A partial differential equation: state name -> right-hand side in states and their derivatives.

    Attributes
    ----------
    max_order : highest order of a space derivative that an answer may hold
    """

    kind = "field"
    max_order: ClassVar[int] = 4

    def samples(self, seed: int = 0) -> tuple[Mapping[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
        """Axes of space by name, times, states with their noise and their rates on the grid."""
        raise NotImplementedError

    def check(self, seed: int = 0) -> None:
        """Refuse a grid that is not even, as `check_grid` does."""
        with suppress(NotImplementedError):
            check_grid(*self.samples(seed)[:2], self.id)


class Transitions(Problem):
    """A Boolean network: node -> update rule."""

    kind = "transitions"


class Series(Problem):
    """A causal graph behind time series: node -> tuple of (parent, lag)."""

    kind = "series"

    def series(self) -> np.ndarray:
        """The series, shape (n, n_inputs)."""
        raise NotImplementedError


class Passage(Problem):
    """A formula described by text: ``{"latex": ...}``."""

    kind = "passage"


def did_you_mean(name: str, known: Iterable[str], prefix: str = "") -> str:
    """The end of a message that offers the nearest of the known names; empty where none is near.

    >>> did_you_mean("surface", STUDIES)
    "; did you mean 'surfaces'?"
    """
    close = difflib.get_close_matches(name, list(known), 1, cutoff=0.62)  # `nope` is not near `operon`, 0.6
    return f"; did you mean '{prefix}{close[0]}'?" if close else ""


def _study(name: str) -> types.ModuleType:
    if name not in STUDIES:
        raise KeyError(f"unknown study {name!r}{did_you_mean(name, STUDIES)} (known: {', '.join(STUDIES)})")
    return importlib.import_module(f"{__name__}.{name}")


def problems(study: str | None = None, subset: str | None = None) -> list[str]:
    """Ids of the problems of one study, or of all, optionally of one subset.

    Examples
    --------
    >>> problems("surfaces")[:2]
    ['surfaces/NCGS1', 'surfaces/NCGS2']
    """
    studies = STUDIES if study is None else (study,)
    return [f"{name}/{item}" for name in studies for item in _study(name).ids(subset)]


def problem(id: str, **options: Any) -> Problem:
    """One problem by its id; `options` are the study's own, such as ``noise=0.05``.

    Raises
    ------
    KeyError
        If the study or the name within it is unknown; the message offers the nearest name.
    TypeError
        If the study has no such option.
    """
    study, slash, name = id.partition("/")
    if not slash:
        near = [whole for whole in problems() if whole.partition("/")[2].lower() == id.lower()]
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ": write study/name"
        raise KeyError(f"unknown problem {id!r}{hint} (studies: {', '.join(STUDIES)})")
    module = _study(study)
    known = [*module.ids(), *getattr(module, "extra_ids", tuple)()]  # extras: not counted among the study's own
    if name not in known and not (hasattr(module, "unlisted") and module.unlisted(name)):
        raise KeyError(f"unknown problem {id!r}{did_you_mean(name, known, f'{study}/')}")
    loaded = module.load(name)
    fields = {field.name for field in dataclasses.fields(loaded)}
    if wrong := sorted(set(options) - fields):
        raise TypeError(f"{id}: no option {wrong[0]!r} (options: {', '.join(sorted(fields))})")
    return dataclasses.replace(loaded, **options) if options else loaded


def problem_of(given: Any) -> Problem:
    """A problem as it may be given: itself, or its id.

    Raises
    ------
    KeyError
        If no problem has this id.
    TypeError
        If it is neither.
    """
    if not isinstance(given, str | Problem):
        raise TypeError(f"expected a problem or its id such as '{problems()[0]}', got {given!r}")
    return problem(given) if isinstance(given, str) else given


# The package is also the function of the same name: rediscover.problems("srsd") and rediscover.problems.srsd both work.
class _Catalogue(types.ModuleType):
    __call__ = staticmethod(problems)


sys.modules[__name__].__class__ = _Catalogue
