"""Parameters of the study of physical laws."""

from typing import Annotated, ClassVar, Literal

from ...params import Count, Levels, MethodNames, Parameters, ProblemIds, including, of_study

EASY = including("easy", "as the laws of the comparison over noise here: add one, 'srsd/I.12.5'")


class Laws(Parameters):
    """20_srsd_edit_distance.

    Attributes
    ----------
    laws : ids of the laws; an empty list means all 120.
    ranges : sampling ranges of the ``paper`` or of the released code (``upstream``).
    max_rows : training rows that a genetic search works on.
    ablation_methods : methods of the comparisons over noise and over original and new ranges.
    relative_noise : levels of noise on the Easy laws, as shares of the target's root mean square.
    """

    notebook: ClassVar[str] = "20_srsd_edit_distance"
    compared: ClassVar[tuple[str, ...] | None] = ("power_law",)
    laws: Annotated[ProblemIds, of_study("srsd"), EASY]
    ranges: Literal["paper", "upstream"]
    max_rows: Count
    ablation_methods: MethodNames
    relative_noise: Levels
