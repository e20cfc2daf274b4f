"""Parameters of the two notebooks on differential equations."""

import math
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, ValidationInfo, field_serializer, field_validator

from ...params import (
    Ablated,
    AnyMethods,
    Budgeted,
    Count,
    MethodNames,
    Parameters,
    ProblemIds,
    Settings,
    of_study,
    unique,
    usable,
)
from .analysis import LINEAR

Decibels = Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1), AfterValidator(unique)]


class Dynamics(Parameters):
    """What the two notebooks share.

    Attributes
    ----------
    systems : problem ids; an empty list means all of the kind.
    snr_db : signal-to-noise ratios in dB, infinite (``.inf`` in YAML) for clean data.
    clean_methods : methods of tables that see clean data alone, for what they cost.
    packages : methods that are a package itself, beside our own code, on clean data.
    settings : method name -> settings that differ from the method's own (its paper grid).
    """

    systems: ProblemIds
    snr_db: Decibels
    clean_methods: AnyMethods
    packages: AnyMethods
    settings: Settings

    @field_validator("seeds")
    @classmethod
    def _one_seed(cls, seeds: list[int]) -> list[int]:
        if len(seeds) > 1:
            raise ValueError("cells are compared for one seed; for more see `rediscover retest mdbench`")
        return seeds

    @field_serializer("snr_db")
    def _as_json(self, levels: list[float]) -> list[float | str]:
        return ["inf" if math.isinf(level) else level for level in levels]  # JSON has no infinity


class ODEs(Dynamics, Budgeted):
    """40_mdbench_odes.

    Attributes
    ----------
    ablated : parts of `bidirectional`, see its ``without``, and the numbers of states or ids on which it runs without
        each, on clean data.
    front_systems : ids of systems with one state, clean, of which all of Operon's front is looked at.
    max_rows : training rows of the runs with several numbers of evaluations, which see clean data.
    """

    notebook: ClassVar[str] = "40_mdbench_odes"
    compared: ClassVar[tuple[str, ...] | None] = ("sindy",)
    systems: Annotated[ProblemIds, of_study("odes")]
    ablated: Ablated
    front_systems: Annotated[ProblemIds, Field(min_length=1), of_study("odes", "1")]
    budget_problems: Annotated[ProblemIds, of_study("odes")]


class PDEs(Dynamics):
    """41_mdbench_pdes.

    Attributes
    ----------
    coarse_grid : ids of further systems, simulated on their coarser grid if they have one.
    linear_settings : settings of the linear methods there.
    tabular_methods : methods that work on tables; published on a test split in space.
    max_rows : training rows that these work on.
    """

    notebook: ClassVar[str] = "41_mdbench_pdes"
    systems: Annotated[ProblemIds, of_study("pdes")]
    coarse_grid: Annotated[ProblemIds, of_study("pdes")]
    linear_settings: dict[str, object]
    tabular_methods: MethodNames
    max_rows: Count

    @field_validator("linear_settings")
    @classmethod
    def _of_linear_methods(cls, chosen: dict[str, object], info: ValidationInfo) -> dict[str, object]:
        usable({name: chosen for name in info.data.get("methods", []) if name in LINEAR})
        return chosen
