"""How it is found: one file per method, and the registry that finds the files.

Adding a method means adding one file with one frozen dataclass derived from `Method`; its fields are its settings.
A generic method writes ``fit`` (one regression table in, candidates out) and then runs on every study that can
be seen as tables; a method for one kind of problem writes ``answer`` (one problem in, candidates out).

The module itself can be called: ``rediscover.methods()`` returns a table of what there is.
"""

import dataclasses
import functools
import importlib
import importlib.metadata
import math
import pickle
import pkgutil
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

if TYPE_CHECKING:  # loaded on first use
    import pandas as pd

from ..problems import Field, LevelSet, Problem, Regression, Task, Trajectories, did_you_mean, generator, problem_of
from ..system import extras, reproducible_blas, user_classes, workers
from .candidates import Candidate, check_front

T = TypeVar("T")
TABULAR = (Regression, LevelSet, Trajectories, Field)
CONTROLS = ("oracle", "mean", "zero", "blind_skeleton")  # they show what scores are worth, and win no bold


class Unsupported(Exception):
    """A method was given a problem of a kind or size that it cannot treat."""


@dataclass(frozen=True)
class Budget:
    """What one run may use. Evaluations are the method's own affair; seconds and memory are enforced by killing.

    Attributes
    ----------
    evaluations : candidate expressions that may be evaluated on the data.
    seconds : wall-clock limit.
    memory_mb : resident memory limit of the worker process, in MiB.
    """

    evaluations: int = 10_000
    seconds: float = 60.0
    memory_mb: int = 2048

    def __post_init__(self) -> None:
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                raise ValueError(f"budget: {f.name} must be a positive number, got {value!r}")


@dataclass(frozen=True)
class Method:
    """Base of all methods. Subclasses are frozen dataclasses whose fields are their settings.

    Attributes
    ----------
    name : as in tables and parameter files.
    reference : the paper or the package.
    accepts : problem kinds.
    requires : distributions whose versions belong to the result (they enter the store's key).
    loads : modules that it imports on first use: workers import them once, before they fork.
    searches : whether it searches for a structure, and so spends evaluations.
    portable : whether it gives the same answers on every processor; not so, where a package does its own arithmetic.
    refuses : settings that only refuse (see `refusal`); no answer depends on them, so none counts for a recorded run.
    """

    name: ClassVar[str] = ""
    reference: ClassVar[str] = ""
    accepts: ClassVar[tuple[type, ...]] = TABULAR
    requires: ClassVar[tuple[str, ...]] = ()
    loads: ClassVar[tuple[str, ...]] = ()
    searches: ClassVar[bool] = False
    portable: ClassVar[bool] = True
    refuses: ClassVar[tuple[str, ...]] = ()

    def available(self) -> str | None:
        """None if the method runs here, else the reason why not and what would make it run."""
        for distribution in self.requires:
            if _installed(distribution) is None:
                return f"package {distribution} is not installed: {extras.remedy(distribution)}"
        return None

    def refusal(self, problem: Problem) -> str:
        """Why its settings keep the method from a problem of a kind in ``accepts``; empty if they do not."""
        return ""

    def fit(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        """Candidates for one regression table, best first; solutions are ``{task.output: text}``."""
        raise NotImplementedError(f"{self.name} has neither fit nor solve")

    def solve(self, problem: Problem, *, budget: Budget | Mapping | None = None, seed: int = 0) -> list[Candidate]:
        """Candidates for a problem, best first.

        Parameters
        ----------
        problem : any problem of a kind in ``accepts``, or its id
        budget : Budget, a mapping of its fields, or None for the default
        seed : int
            Chooses the data (``problem.data(seed)``) and, with the problem's id and the method's name, the random
            generator.

        Where numpy was imported before this package, the answer comes from a process of its own, so that it is the
        recorded one.

        Raises
        ------
        Unsupported
            If the problem's kind is not in ``accepts``.
        ValueError
            If its data cannot be fitted (`rediscover.problems.Problem.check`).
        """
        problem = problem_of(problem)
        if not isinstance(problem, self.accepts):
            raise Unsupported(f"{self.name} does not treat problems of the kind {problem.kind}")
        problem.check(seed)
        if reproducible_blas.differs():
            work = self, problem, budget_of(budget), seed
            return workers.apart(_solve, user_classes.packed(work), modules=user_classes.modules(work))
        return self.answer(problem, budget_of(budget), seed)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        """What `solve` returns, of a problem of a kind in ``accepts``: by default `fit` for each of its tables."""
        rng = generator(seed, problem.id, self.name)
        fronts = []
        for task in problem.tasks(seed):
            front = self.fit(task, budget=budget, rng=rng)
            check_front("fit", front, task.output)
            fronts.append(front)
        return join(fronts)

    @property
    def settings(self) -> dict[str, Any]:
        """The fields and their values, without those `added` later that have their default."""
        values = dataclasses.asdict(self)
        return {
            f.name: values[f.name]
            for f in dataclasses.fields(self)
            if not (f.metadata.get("added") and getattr(self, f.name) == f.default)
        }

    @property
    def version(self) -> str:
        """Changes when the code of the method, of anything of ours that it imports, or a required package changes."""
        bases = type(self).__mro__[: -len(Method.__mro__)]
        code = dict.fromkeys(map(user_classes.version, bases))
        packages = [f"{name}=={_installed(name)}" for name in self.requires]
        return "-".join([*code, *packages])


def _installed(distribution: str) -> str | None:
    """Version of a distribution; None if it is not installed."""
    try:
        return _version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


@functools.cache  # it is read from a file; what is not installed is looked for again
def _version(distribution: str) -> str:
    return importlib.metadata.version(distribution)


def added(default: T) -> T:
    """A field of a method with answers on record: at its default it is no setting, so that what they answer stays.

    Parameters
    ----------
    default : the value with which the method does what it did before
    """
    return field(default=default, metadata={"added": True})


def _solve(work: bytes) -> list[Candidate]:
    """The answer, in a process whose arithmetic is that of the recorded runs."""
    solver, problem, budget, seed = pickle.loads(work)
    return solver.solve(problem, budget=budget, seed=seed)


def budget_of(budget: Any) -> Budget:
    """A budget as it may be given: a Budget, a mapping of its fields, or None for the default.

    Raises
    ------
    TypeError
        If it is something else, or a field is unknown.
    """
    if isinstance(budget, Mapping):
        known = [f.name for f in dataclasses.fields(Budget)]
        if wrong := sorted(set(budget) - set(known)):
            raise TypeError(f"budget: no {wrong[0]!r}{did_you_mean(wrong[0], known)} (known: {', '.join(known)})")
        return Budget(**budget)
    if budget is not None and not isinstance(budget, Budget):
        raise TypeError(f"budget: is {budget!r}; write {{'evaluations': 2000}} or Budget(evaluations=2000)")
    return budget or Budget()


def join(fronts: list[list[Candidate]]) -> list[Candidate]:
    """Fronts of single outputs to candidates for all outputs: the i-th best of each go together."""
    if any(not front for front in fronts):
        return []
    joined = []
    for i in range(max(map(len, fronts))):
        parts = [front[min(i, len(front) - 1)] for front in fronts]
        sizes = [part.complexity for part in parts if part.complexity is not None]
        counts = [part.evaluations for part in parts if part.evaluations is not None]
        joined.append(
            Candidate(
                solution={name: text for part in parts for name, text in part.solution.items()},
                loss=float(np.mean([part.loss for part in parts])),
                complexity=None if len(sizes) < len(parts) else sum(sizes),
                evaluations=None if len(counts) < len(parts) else sum(counts),
                notes={name: value for part in parts for name, value in part.notes.items()},
            )
        )
    return joined


_broken: dict[str, str] = {}  # file of this folder that cannot be imported -> why
_given: dict[str, Method] = {}  # methods from elsewhere that were asked for, by their names


@functools.cache
def registry() -> dict[str, type[Method]]:
    """Method name -> class, from every module in this folder that can be imported, in a fixed order."""
    for info in pkgutil.iter_modules(__path__):
        try:
            importlib.import_module(f"{__name__}.{info.name}")
        except Exception as error:  # one file must not take the others along
            _broken[info.name] = f"methods/{info.name}.py cannot be imported: {type(error).__name__}: {error}"
    found: dict[str, type[Method]] = {}
    for cls in descendants(Method):
        if cls.name and cls.__module__.startswith(__name__ + "."):
            other = found.setdefault(cls.name, cls)
            if other is not cls:
                raise ImportError(f"two methods are called {cls.name!r}: {other.__module__} and {cls.__module__}")
    return dict(sorted(found.items()))


def descendants(cls: type[T]) -> Iterator[type[T]]:
    """Subclasses, theirs, and so on."""
    for sub in cls.__subclasses__():
        yield sub
        yield from descendants(sub)


def method(name: str, **settings: Any) -> Method:
    """One method by name, with settings.

    Parameters
    ----------
    name : of a method here or of an installed package (entry points of the group ``rediscover.methods``), or a
        reference to a class, ``file.py:Class`` or ``package.module:Class``
    settings : the method's fields

    Raises
    ------
    KeyError
        If there is no such method; the message offers the nearest name.
    UserClassError
        If a reference cannot be followed.
    TypeError
        If the method has no such setting.
    """
    known = registry()
    brought = {} if name in known else user_classes.installed()  # which reads the files of all packages
    if ":" in name or name in brought:
        plain = give(user_classes.load(brought.get(name, name)))
    elif name in _given:
        plain = _given[name]
    elif name in known:
        plain = known[name]()
    elif name in _broken:
        raise KeyError(f"{name}: {_broken[name]}; mend the file or install what it needs")
    else:
        near = did_you_mean(name, [*known, *brought, *_given])
        raise KeyError(f"unknown method {name!r}{near} (`rediscover methods` lists them)")
    fields = [f.name for f in dataclasses.fields(plain)]
    wrong = sorted(set(settings) - set(fields))
    if wrong:
        raise TypeError(f"{name}: no setting {wrong[0]!r} (settings: {', '.join(fields) or 'none'})")
    return dataclasses.replace(plain, **settings)


def give(found: Any) -> Method:
    """Make a method from elsewhere known by its name, in this process.

    Parameters
    ----------
    found : a subclass of Method, or an instance with its settings

    Returns
    -------
    Method

    Raises
    ------
    UserClassError
        If it is no method, has no name of its own, or cannot be made without arguments.
    """
    what = getattr(found, "__name__", type(found).__name__)
    if isinstance(found, type) and issubclass(found, Method):
        if not dataclasses.is_dataclass(found):
            raise user_classes.UserClassError(f"{what} is no dataclass: write @dataclass(frozen=True) above it")
        try:
            found = found()
        except TypeError as error:
            reason = f"{what} has a setting without a default ({error}): give it one"
            raise user_classes.UserClassError(reason) from None
    if not isinstance(found, Method):
        raise user_classes.UserClassError(f"{what} is no method: derive it from rediscover.Method, or use from_sklearn")
    if not isinstance(found.name, str) or not found.name or "/" in found.name or not found.name.isprintable():
        raise user_classes.UserClassError(f'{what} has no name: write name: ClassVar[str] = "mine" in it')
    if registry().get(found.name, type(found)) is not type(found):
        raise user_classes.UserClassError(f"a method called {found.name!r} is here already: give {what} another name")
    if type(found) is not registry().get(found.name):
        _given[found.name] = found
    return found


def methods() -> "pd.DataFrame":
    """DataFrame of all methods: name, accepts, available, reason, reference."""
    import pandas as pd

    found: dict[str, Method | str] = {name: cls() for name, cls in registry().items()}
    found |= {**_broken, **_given}
    for name in user_classes.installed().keys() - found.keys():
        try:
            found[name] = method(name)
        except user_classes.UserClassError as error:
            found[name] = str(error)
    rows = []
    for name, each in found.items():
        known = each if isinstance(each, Method) else None
        kinds: tuple[Any, ...] = known.accepts if known else ()
        reason = known.available() if known else str(each)
        rows.append(
            {
                "name": name,
                "accepts": ", ".join(kind.kind for kind in kinds),
                "available": reason is None,
                "reason": reason or "",
                "reference": known.reference if known else "",
            }
        )
    return pd.DataFrame(rows)


# The package is also the function of the same name: rediscover.methods() and rediscover.methods.operon both work.
class _Registry(types.ModuleType):
    __call__ = staticmethod(methods)


sys.modules[__name__].__class__ = _Registry
