"""Parameters of the study of coupled equations."""

from typing import Annotated, ClassVar

from ...params import Parameters, ProblemIds, Seeds, Settings, of_study


class CoupledEquations(Parameters):
    """30_symbolbench_odes.

    Attributes
    ----------
    systems : ids of the systems; an empty list means all 156.
    settings : method name -> settings that differ from the method's own.
    table6_seeds : search seeds of gplearn on the 29 systems of Table 6.
    """

    notebook: ClassVar[str] = "30_symbolbench_odes"
    compared: ClassVar[tuple[str, ...] | None] = ("least_squares",)
    systems: Annotated[ProblemIds, of_study("cde")]
    settings: Settings
    table6_seeds: Seeds
