"""Parameters of cross-scoring."""

from typing import Annotated, ClassVar

from pydantic import Field

from ...params import Count, Parameters, ProblemIds


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
