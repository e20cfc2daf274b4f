"""Parameters of the study of Boolean networks."""

from typing import Annotated, ClassVar

from pydantic import Field

from ...params import Parameters, ProblemIds


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
