"""The parameters of a notebook: a typed model, and a file in params/ with its values for each profile.

papermill accepts unknown parameters without a word and YAML reads ``1e-3`` as text, so a file is checked before
anything runs (``rediscover check FILE``, called by the Makefile), and a notebook gets its parameters from `load` alone.
"""

import ast
import functools
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from .methods import CONTROLS, Budget, descendants, method
from .problems import did_you_mean, problem
from .system import plain_yaml
from .system.committed import build
from .system.paths import root
from .system.studies import FOLDER, studies

PROFILES = ("smoke", "reference", "paper")


class ParameterError(ValueError):
    """A parameter file or a parameters cell that cannot be used; the message names file, key and remedy."""


def _known(look_up: Callable[[str], object]) -> AfterValidator:
    """A check that a name or an id can be looked up."""

    def check(name: str) -> str:
        try:
            look_up(name)
        except KeyError as error:
            raise ValueError(error.args[0]) from None
        return name

    return AfterValidator(check)


def unique(items: list) -> list:
    """The items, if none is listed twice."""
    twice = sorted({item for item in items if items.count(item) > 1})
    if twice:
        raise ValueError(f"{twice[0]!r} is listed twice")
    return items


def of_study(study: str, subset: str = "") -> AfterValidator:
    """A check that problems are of one study, or of a subset of it."""
    asked = f"--study {study}" + f" --subset {subset}" * bool(subset)

    def check(ids: list[str]) -> list[str]:
        for id in ids:
            if not id.startswith(f"{study}/") or subset not in ("", problem(id).subset):
                other = "subset" if subset else "study"
                raise ValueError(f"{id!r} is of another {other}: take some of `rediscover problems {asked}`")
        return ids

    return AfterValidator(check)


def including(subset: str, why: str) -> AfterValidator:
    """A check that one of the problems, if any are named, is of a subset; `why` ends the sentence."""

    def check(ids: list[str]) -> list[str]:
        if ids and all(problem(id).subset != subset for id in ids):
            raise ValueError(f"none of these is {subset}, {why}")
        return ids

    return AfterValidator(check)


def usable(settings: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Settings by method, if each method has them and takes their values."""
    for name, chosen in settings.items():
        try:
            method(name, **chosen)
        except TypeError as error:
            raise ValueError(error.args[0]) from None
    return settings


MethodName = Annotated[str, _known(method)]
AnyMethods = Annotated[list[MethodName], AfterValidator(unique)]
MethodNames = Annotated[AnyMethods, Field(min_length=1)]
Settings = Annotated[dict[MethodName, dict[str, object]], AfterValidator(usable)]
ProblemIds = Annotated[list[Annotated[str, _known(problem)]], AfterValidator(unique)]
Ablated = dict[str, list[str]]  # part of the method of our own that is left out -> subsets or ids of problems
Seeds = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1), AfterValidator(unique)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Level = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Levels = Annotated[list[Level], Field(min_length=1), AfterValidator(unique)]
Count = Annotated[int, Field(gt=0)]
Counts = Annotated[list[Count], Field(min_length=1), AfterValidator(unique)]


class Profile(BaseModel):
    """What every notebook has.

    Attributes
    ----------
    profile : smoke, reference or paper.
    explored : whether a parameter was changed by hand; what comes of it is kept apart from the profile's results.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    notebook: ClassVar[str] = ""

    profile: Literal["smoke", "reference", "paper"]
    explored: bool = False

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ParameterError(_sentence(error)) from None

    @property
    def folder(self) -> Path:
        """Where figures/ and tables/ go: smoke and explored parameters stay under build/."""
        if self.explored:
            return root() / "build" / "explore"
        return root() / "build" / "smoke" if self.profile == "smoke" else root()

    @property
    def tables(self) -> Path:
        """What the notebooks of this profile wrote, also where parameters of this one were changed."""
        return self.model_copy(update={"explored": False}).folder / "tables"

    @property
    def pdf(self) -> Path:
        """Where figures as PDF go, for the paper: under build/ in every profile."""
        return (self.folder if self.explored else root() / "build" / self.profile) / "figures"

    @property
    def store(self) -> Path:
        """The file that keeps finished runs of this study and profile."""
        return build() / self.profile / f"{self.notebook}.sqlite"


class Ledger(Profile):
    """90_ledger: the verdicts of all studies, and so many of the commonest reasons."""

    notebook: ClassVar[str] = "90_ledger"
    reasons: Count


class YourData(Profile):
    """01_your_data: equations for three small tables, each from a search that ends with so many evaluations."""

    notebook: ClassVar[str] = "01_your_data"
    evaluations: Count


class Parameters(Profile):
    """What every study has.

    Attributes
    ----------
    seeds : data and search seeds; each is a run of its own.
    methods : names as in ``rediscover methods``.
    evaluations, seconds, memory_mb : the budget of one run (`methods.Budget`).
    evaluations_by_method : method name -> evaluations in place of that, for methods that count otherwise.
    """

    # Methods that the notebook compares all others with; none: any that is no control; None: it compares nothing.
    compared: ClassVar[tuple[str, ...] | None] = None

    seeds: Seeds
    methods: MethodNames
    evaluations: Count
    seconds: Positive
    memory_mb: Annotated[int, Field(ge=256)]  # with less, Python and its packages do not start
    evaluations_by_method: dict[MethodName, Count] = {}

    @property
    def budget(self) -> Budget:
        return Budget(self.evaluations, self.seconds, self.memory_mb)

    @property
    def work(self) -> dict[str, Any]:
        """Arguments of `runs.grid` beside problems and methods."""
        evaluations = self.evaluations_by_method
        return {"seeds": self.seeds, "budget": self.budget, "evaluations": evaluations, "store": self.store}

    def check_compared(self) -> None:
        """Refuse methods of which a notebook has nothing to compare; a study also plans single ones."""
        if self.compared is None:
            return
        if missing := [name for name in self.compared if name not in self.methods]:
            problem = f"{missing[0]!r} is missing, which this notebook compares the others with: add it"
        elif not set(self.methods) - set(CONTROLS):
            problem = "there are only controls, and nothing to compare with them: add a method that learns"
        else:
            return
        raise ParameterError(f"methods: {problem}")


class Budgeted(Parameters):
    """What a study has that runs searches with several numbers of evaluations (`report.budgets`).

    Attributes
    ----------
    max_rows : training rows that these work on.
    budgets : method name -> numbers of evaluations that it is run with, to see what they change.
    budget_problems : ids of what is run with them; an empty list means all of the study.
    budget_seeds : seeds of these runs.
    """

    max_rows: Count
    budgets: Annotated[dict[MethodName, Counts], Field(min_length=1)]
    budget_problems: ProblemIds
    budget_seeds: Seeds


class AnyProblems(Parameters):
    """What a study has that asks for nothing more.

    Attributes
    ----------
    problems : ids; an empty list means all of the study.
    """

    problems: ProblemIds


def _explicit(id: str) -> str:
    """The id, if it is of a surface z(x, y)."""
    chosen = problem(id)
    if (chosen.kind, chosen.inputs, chosen.outputs) != ("regression", ("x", "y"), ("z",)):
        raise ValueError(f"{id!r} is no surface z(x, y): take another, such as 'surfaces/TFS4'")
    return id


class StartHere(Parameters):
    """00_start_here: one surface, every control.

    Attributes
    ----------
    problem : id of a surface z(x, y).
    """

    notebook: ClassVar[str] = "00_start_here"
    problem: Annotated[str, _known(problem), AfterValidator(_explicit)]


def models() -> dict[str, type[Profile]]:
    """Notebook name -> parameter model, in the order of the notebooks."""
    for key in studies():
        _load(key)
    return dict(sorted((model.notebook, model) for model in descendants(Profile) if model.notebook))


def _model(notebook: str) -> type[Profile] | None:
    """The parameter model of a notebook, for which no other study is loaded; None if there is no such notebook."""
    for key, study in studies().items():
        if notebook in study["notebooks"]:
            _load(key)
    return next((model for model in descendants(Profile) if model.notebook == notebook), None)


def _load(key: str) -> None:
    """Define the parameter models of a study."""
    if (FOLDER / key / "params.py").exists():
        importlib.import_module(f"{__package__}.studies.{key}.params")
    else:
        for notebook in studies()[key]["notebooks"]:
            _plain_model(notebook)


@functools.cache
def _plain_model(notebook: str) -> type[Profile]:
    """A model for the notebook of a study that has none of its own: all problems, or some."""
    body = {"notebook": notebook, "__annotations__": {"notebook": ClassVar[str]}}
    return type("PlainParameters", (AnyProblems,), body)


def read(path: str | Path, profile: str | None = None, **changed: Any) -> Profile:
    """Parameters of the notebook that a file of params/ is named after.

    A file holds ``common`` values and, beside each other, what each profile adds or replaces.

    Parameters
    ----------
    path : of the YAML file
    profile : one of `PROFILES`; by default all are checked, and the first is returned
    changed : values in place of the file's; results then go under build/explore/

    Raises
    ------
    ParameterError
        If the file is missing, is no YAML mapping, has an unknown or missing key, or a value of the wrong type.
    """
    path = Path(path)
    model = _model(path.stem)
    if model is None:
        raise ParameterError(f"{path}: no notebook is called {path.stem!r} (known: {', '.join(models())})")
    if profile not in (None, *PROFILES):
        raise ParameterError(f"profile: is {profile!r}; the profiles are {', '.join(PROFILES)}")
    try:
        content = plain_yaml.load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ParameterError(f"{path}: {error.strerror or error}") from None
    except yaml.YAMLError as error:
        raise ParameterError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    sections = content if isinstance(content, dict) else {}
    if set(sections) != {"common", *PROFILES} or not all(isinstance(part, dict | None) for part in sections.values()):
        raise ParameterError(f"{path}: expected the sections common, {', '.join(PROFILES)}, each with keys and values")
    read = []
    for name in (profile,) if profile else PROFILES:
        values = {**(sections["common"] or {}), **(sections[name] or {}), **changed}
        try:
            read.append(model(profile=name, explored=bool(changed), **values))
        except ParameterError as error:
            where = "" if changed else f"{path}, {name}: "
            raise ParameterError(f"{where}{error}") from None
    return read[0]


def load(notebook: str, cells: Mapping[str, Any]) -> Profile:
    """Parameters of a notebook: its profile's, with what its parameters cell or ``papermill -p`` changed.

    Parameters
    ----------
    notebook : name of the notebook, such as ``10_surface_benchmark``
    cells : ``globals()`` of the notebook

    Raises
    ------
    ParameterError
        If a name is no parameter of the notebook, or a value is of the wrong kind.
    """
    given = {name: _listed(cells[name]) for name in _assigned(cells) if name in cells}
    profile = given.pop("profile", PROFILES[0])
    fields = (_model(notebook) or models()[notebook]).model_fields
    if unknown := sorted(set(given) - set(fields)):
        known = [name for name in fields if name not in ("profile", "explored")]
        hint = did_you_mean(unknown[0], known) or f" (parameters: {', '.join(known)})"
        raise ParameterError(f"{notebook} has no parameter {unknown[0]!r}{hint}")
    parameters = read(root() / "params" / f"{notebook}.yaml", profile, **given)
    if isinstance(parameters, Parameters):
        parameters.check_compared()
    return parameters


def _listed(value: Any) -> Any:
    """A list or mapping where ``papermill -p`` hands over its text; any other value as it is."""
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    try:
        return plain_yaml.load(value)
    except yaml.YAMLError as error:
        raise ParameterError(f"{value:.60} is not valid YAML: {' '.join(str(error).split())}") from None


def _assigned(cells: Mapping[str, Any]) -> set[str]:
    """Names that the parameters cell assigns, and the cell that papermill puts behind it.

    They are read from the cells' sources, since `globals()` also holds what an analysis has computed meanwhile.
    """
    names: set[str] = set()
    sources = cells.get("In", [])
    for source in sources:
        try:
            body = ast.parse(source).body
        except SyntaxError:  # magics
            continue
        targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
        here = {target.id for target in targets if isinstance(target, ast.Name)}
        if source.lstrip().startswith("# Parameters"):
            names |= here
        elif "profile" in here:
            names = here
    return names if sources else {name for name in cells if not name.startswith("_")}


def _sentence(error: ValidationError) -> str:
    """The first complaint of pydantic, in one line that says what to do."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"unknown key {key!r}"
    if first["type"] == "missing":
        return f"key {key!r} is missing"
    value = first.get("input")
    if first["type"] in ("int_type", "float_type") and isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return f"{key}: expected a number, got the text {value!r}"
        return f"{key}: {value!r} is text to YAML, not a number (write it as {number:.6e} or with a decimal point)"
    message = first["msg"].removeprefix("Value error, ")
    return f"{key}: {message[0].lower()}{message[1:]}" + ("" if first["type"] == "value_error" else f", got {value!r}")
