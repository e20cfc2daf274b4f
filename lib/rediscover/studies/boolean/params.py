"""Parameters of the study of Boolean networks."""

from typing import Annotated, ClassVar

from pydantic import Field

from ...params import Parameters, ProblemIds, of_study


class BooleanNetworks(Parameters):
    """31_symbolbench_boolean.

    Attributes
    ----------
    networks : ids of SymbolBench's networks; an empty list means all 65.
    cell_collective : how many networks of the Cell Collective are added, the smallest first.
    """

    notebook: ClassVar[str] = "31_symbolbench_boolean"
    compared: ClassVar[tuple[str, ...] | None] = ("identity", "truth_table", "logicgep")
    networks: Annotated[ProblemIds, of_study("boolean")]
    cell_collective: Annotated[int, Field(ge=1, le=74)]
