"""Parameters of cross-scoring."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from ...params import Count, Parameters, ProblemIds
from .analysis import tabular_problems


def _tabular(ids: list[str]) -> list[str]:
    """The ids, if their problems are regression tables."""
    tabular_problems(ids)
    return ids


TabularIds = Annotated[ProblemIds, Field(min_length=1), AfterValidator(_tabular)]


class CrossScoring(Parameters):
    """60_cross_scoring.

    Attributes
    ----------
    problems : ids, of any study whose problems are regression tables with expressions as truth.
    max_rows : training rows that a genetic search works on.
    """

    notebook: ClassVar[str] = "60_cross_scoring"
    compared: ClassVar[tuple[str, ...] | None] = ()
    problems: TabularIds
    max_rows: Count
