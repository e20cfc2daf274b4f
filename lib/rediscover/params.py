"""The parameters of a study: one typed model per notebook, checked before anything runs.

papermill accepts unknown parameters without a word and YAML reads ``1e-3`` as text, so every parameter file passes
through `read` first (``rediscover check FILE``, called by the Makefile), and every notebook builds its model from its
parameters cell.
"""

import os
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from . import methods, problems
from .methods import Budget

PROFILES = ("smoke", "quick", "paper")


class ParameterError(ValueError):
    """A parameter file or a parameters cell that cannot be used; the message names file, key and remedy."""


def _known_method(name: str) -> str:
    try:
        methods.method(name)
    except KeyError as error:
        raise ValueError(error.args[0]) from None
    return name


def _known_problem(id: str) -> str:
    try:
        problems.problem(id)
    except KeyError as error:
        raise ValueError(error.args[0]) from None
    return id


def _unique(items: list) -> list:
    twice = sorted({item for item in items if items.count(item) > 1})
    if twice:
        raise ValueError(f"{twice[0]!r} is listed twice")
    return items


MethodNames = Annotated[
    list[Annotated[str, AfterValidator(_known_method)]], Field(min_length=1), AfterValidator(_unique)
]
ProblemIds = Annotated[list[Annotated[str, AfterValidator(_known_problem)]], AfterValidator(_unique)]
Seeds = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1), AfterValidator(_unique)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Levels = Annotated[list[Annotated[float, Field(ge=0, allow_inf_nan=False)]], AfterValidator(_unique)]
Count = Annotated[int, Field(gt=0)]


class Profile(BaseModel):
    """What every notebook has.

    Attributes
    ----------
    profile : smoke, quick or paper.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    notebook: ClassVar[str] = ""

    profile: Literal["smoke", "quick", "paper"]

    def __init__(self, **values):
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ParameterError(_sentence(error)) from None

    @property
    def folder(self) -> Path:
        """Where figures/ and tables/ of this profile are: smoke stays under build/."""
        return root() / "build" / "smoke" if self.profile == "smoke" else root()

    @property
    def store(self) -> Path:
        """The file that keeps finished runs of this study and profile."""
        return root() / "build" / self.profile / f"{self.notebook}.sqlite"

    @field_validator("profile", mode="before")
    @classmethod
    def _named_profile(cls, value):
        if value not in PROFILES:
            raise ValueError(f"is {value!r}; the profiles are {', '.join(PROFILES)}")
        return value


class Ledger(Profile):
    """90_ledger: nothing is run, the verdicts of all studies are put together.

    Attributes
    ----------
    reasons : how many of the commonest reasons are printed.
    """

    notebook: ClassVar[str] = "90_ledger"
    reasons: Count


class Parameters(Profile):
    """What every study has.

    Attributes
    ----------
    seeds : data and search seeds; each is a run of its own.
    methods : names as in ``rediscover methods``.
    evaluations, seconds, memory_mb : the budget of one run (`methods.Budget`).
    """

    seeds: Seeds
    methods: MethodNames
    evaluations: Count
    seconds: Positive
    memory_mb: Count

    @property
    def budget(self) -> Budget:
        return Budget(self.evaluations, self.seconds, self.memory_mb)


class StartHere(Parameters):
    """00_start_here: one surface, every control."""

    notebook: ClassVar[str] = "00_start_here"
    problem: Annotated[str, AfterValidator(_known_problem)]


class Surfaces(Parameters):
    """10_surface_benchmark.

    Attributes
    ----------
    surfaces : ids of the surfaces of the main comparison; an empty list means all 183.
    sampler : ``uniform`` (as released) or ``curvature`` (as the paper says).
    max_rows : training rows that a genetic search works on.
    noise_surfaces, noise_levels, noise_seeds : the noise ablation.
    """

    notebook: ClassVar[str] = "10_surface_benchmark"
    surfaces: ProblemIds
    sampler: Literal["uniform", "curvature"]
    max_rows: Count
    noise_surfaces: ProblemIds
    noise_levels: Levels
    noise_seeds: Seeds


class Passages(Parameters):
    """50_text_to_equation.

    Attributes
    ----------
    papers : papers of the bundled corpus, by id; an empty list means all of them.
    released : whether the released outputs are read (from the mirror, the cache or the network) as well.
    """

    notebook: ClassVar[str] = "50_text_to_equation"
    papers: Annotated[list[str], AfterValidator(_unique)]
    released: bool


class Laws(Parameters):
    """20_srsd_edit_distance.

    Attributes
    ----------
    laws : ids of the laws; an empty list means all 120.
    ranges : sampling ranges of the ``paper`` or of the released code (``upstream``).
    max_rows : training rows that a genetic search works on.
    ablation_methods : methods of the comparisons over noise and over original and new ranges.
    noise_levels : of the noise comparison, on the Easy laws.
    """

    notebook: ClassVar[str] = "20_srsd_edit_distance"
    laws: ProblemIds
    ranges: Literal["paper", "upstream"]
    max_rows: Count
    ablation_methods: MethodNames
    noise_levels: Levels


Decibels = Annotated[
    list[Annotated[int, Field(ge=0)] | Literal["clean"]], Field(min_length=1), AfterValidator(_unique)
]


class Dynamics(Parameters):
    """What the two studies of differential equations share.

    Attributes
    ----------
    systems : problem ids; an empty list means all of the study.
    levels : signal-to-noise ratios in dB, or ``clean``.
    settings : method name -> settings that differ from the method's own (its paper grid).
    """

    systems: ProblemIds
    levels: Decibels
    settings: dict[str, dict[str, object]] = {}


class ODEs(Dynamics):
    """40_mdbench_odes."""

    notebook: ClassVar[str] = "40_mdbench_odes"


class PDEs(Dynamics):
    """41_mdbench_pdes.

    Attributes
    ----------
    reduced : ids of further systems, to be simulated on their coarser grid if they have one.
    narrow : settings of the linear methods there.
    generic : methods that work on tables; published on a test split in space.
    rows : training rows that these work on.
    """

    notebook: ClassVar[str] = "41_mdbench_pdes"
    reduced: ProblemIds
    narrow: dict[str, object]
    generic: MethodNames
    rows: Count


class CoupledEquations(Parameters):
    """30_symbolbench_odes.

    Attributes
    ----------
    systems : ids of the systems; an empty list means all 156.
    settings : method name -> settings that differ from the method's own.
    table6_seeds : search seeds of gplearn on the 29 systems of Table 6.
    """

    notebook: ClassVar[str] = "30_symbolbench_odes"
    systems: ProblemIds
    settings: dict[str, dict[str, object]] = {}
    table6_seeds: Seeds


class BooleanNetworks(Parameters):
    """31_symbolbench_boolean.

    Attributes
    ----------
    networks : ids of SymbolBench's networks; an empty list means all 65.
    cell_collective : how many networks of the Cell Collective are added, the smallest first.
    """

    notebook: ClassVar[str] = "31_symbolbench_boolean"
    networks: ProblemIds
    cell_collective: Annotated[int, Field(ge=0, le=74)]


class CausalGraphs(Parameters):
    """32_symbolbench_causal.

    Attributes
    ----------
    graphs : ids of the graphs; an empty list means all 190, or all whose equations are known.
    series_from : ``released`` (the authors' file) or ``equations`` (integrated here, where they are known).
    max_variables : method -> largest graph it is given; for methods whose time grows fast with the variables.
    """

    notebook: ClassVar[str] = "32_symbolbench_causal"
    graphs: ProblemIds
    series_from: Literal["released", "equations"]
    max_variables: dict[str, Count]


class CrossScoring(Parameters):
    """60_cross_scoring.

    Attributes
    ----------
    problems : ids, of any study whose problems are regression tables with expressions as truth.
    max_rows : training rows that a genetic search works on.
    """

    notebook: ClassVar[str] = "60_cross_scoring"
    problems: Annotated[ProblemIds, Field(min_length=1)]
    max_rows: Count


def models() -> dict[str, type[Profile]]:
    """Notebook name -> parameter model, in the order of the notebooks."""
    found, waiting = {}, [Profile]
    while waiting:
        for model in waiting.pop().__subclasses__():
            waiting.append(model)
            if model.notebook:
                found[model.notebook] = model
    return dict(sorted(found.items()))


def read(path) -> Profile:
    """Parameters of the study that the file is named after.

    Raises
    ------
    ParameterError
        If the file is missing, is no YAML mapping, has an unknown or missing key, or a value of the wrong type.
    """
    path = Path(path)
    known = models()
    if path.stem not in known:
        raise ParameterError(f"{path}: no study is called {path.stem!r} (known: {', '.join(known)})")
    try:
        values = yaml.safe_load(path.read_text())
    except OSError as error:
        raise ParameterError(f"{path}: {error.strerror or error}") from None
    except yaml.YAMLError as error:
        raise ParameterError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise ParameterError(f"{path}: expected keys and values, found {type(values).__name__}")
    try:
        params = known[path.stem](**values)
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None
    if params.profile != path.parent.name and path.parent.name in PROFILES:
        raise ParameterError(
            f"{path}: profile is {params.profile!r} but the file lies in {path.parent.name}/"
        )
    return params


def root() -> Path:
    """The repository: the nearest folder upwards that holds notebooks/ and params/ (or REDISCOVER_ROOT)."""
    if "REDISCOVER_ROOT" in os.environ:
        return Path(os.environ["REDISCOVER_ROOT"])
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "notebooks").is_dir() and (folder / "params").is_dir():
            return folder
    raise FileNotFoundError(f"no folder above {here} holds notebooks/ and params/: run inside the repository")


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
    return f"{key}: {message[0].lower()}{message[1:]}" + (
        "" if first["type"] == "value_error" else f", got {value!r}"
    )
