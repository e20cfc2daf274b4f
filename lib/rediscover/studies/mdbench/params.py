"""Parameters of the two studies of differential equations."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from ...params import Count, MethodNames, Parameters, ProblemIds, unique

Decibels = Annotated[list[Annotated[int, Field(ge=0)] | Literal["clean"]], Field(min_length=1), AfterValidator(unique)]


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
    settings: dict[str, dict[str, object]]


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
