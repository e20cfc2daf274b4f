"""Parameters of the study of causal graphs."""

from typing import ClassVar, Literal

from ...params import Count, Parameters, ProblemIds


class CausalGraphs(Parameters):
    """32_symbolbench_causal.

    Attributes
    ----------
    graphs : ids of the graphs; an empty list means all 190, or all whose equations are known.
    series_from : ``recorded`` (answers on the released series, as recorded), ``released`` (the series, from the
        authors' file) or ``equations`` (integrated here, where they are known).
    max_variables : method -> largest graph it is given; for methods whose time grows fast with the variables.
    """

    notebook: ClassVar[str] = "32_symbolbench_causal"
    graphs: ProblemIds
    series_from: Literal["recorded", "released", "equations"]
    max_variables: dict[str, Count]
