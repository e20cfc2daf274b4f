"""Parameters of the study of causal graphs."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ValidationInfo, field_validator

from ...params import Count, MethodName, Parameters, ProblemIds, of_study, usable
from ...problems import problem


def _limited(sizes: dict[str, int]) -> dict[str, int]:
    """The sizes, if their methods can be limited."""
    usable({name: {"max_variables": size} for name, size in sizes.items()})
    return sizes


class CausalGraphs(Parameters):
    """32_symbolbench_causal.

    Attributes
    ----------
    graphs : ids of the graphs; an empty list means all 190, or all whose equations are known.
    series_from : ``released`` (the series, from the authors' file; answers on them are recorded) or ``equations``
        (integrated here, where they are known).
    max_variables : method -> largest graph it is given; for methods whose time grows fast with the variables.
    """

    notebook: ClassVar[str] = "32_symbolbench_causal"
    graphs: Annotated[ProblemIds, of_study("causal")]
    series_from: Literal["released", "equations"]
    max_variables: Annotated[dict[MethodName, Count], AfterValidator(_limited)]

    @field_validator("series_from")
    @classmethod
    def _possible(cls, series_from: str, info: ValidationInfo) -> str:
        graphs: list[Any] = [problem(id) for id in info.data.get("graphs", [])]
        if series_from == "equations" and graphs and not any(graph.equations for graph in graphs):
            raise ValueError("the equations of these graphs are not known: take 'released', or another graph")
        return series_from
