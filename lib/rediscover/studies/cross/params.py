"""Parameters of cross-scoring."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from ...params import Count, MethodName, Parameters, ProblemIds, Seeds, unique
from .analysis import tabular_problems


def _tabular(ids: list[str]) -> list[str]:
    """The ids, if their problems are regression tables."""
    tabular_problems(ids)
    return ids


TabularIds = Annotated[ProblemIds, Field(min_length=1), AfterValidator(_tabular)]
Counts = Annotated[list[Count], Field(min_length=1), AfterValidator(unique)]


class CrossScoring(Parameters):
    """60_cross_scoring.

    Attributes
    ----------
    problems : ids, of any study whose problems are regression tables with expressions as truth.
    max_rows : training rows that a genetic search works on.
    budgets : method name -> numbers of evaluations that it is run with, to see what they change.
    budget_problems : ids, what is run with them, and in no other comparison.
    budget_seeds : seeds of these runs.
    """

    notebook: ClassVar[str] = "60_cross_scoring"
    compared: ClassVar[tuple[str, ...] | None] = ()
    problems: TabularIds
    max_rows: Count
    budgets: Annotated[dict[MethodName, Counts], Field(min_length=1)]
    budget_problems: TabularIds
    budget_seeds: Seeds
