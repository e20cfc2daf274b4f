"""Parameters of the study of physical laws."""

from typing import ClassVar, Literal

from ...params import Count, Levels, MethodNames, Parameters, ProblemIds


class Laws(Parameters):
    """20_srsd_edit_distance.

    Attributes
    ----------
    laws : ids of the laws; an empty list means all 120.
    ranges : sampling ranges of the ``paper`` or of the released code (``upstream``).
    max_rows : training rows that a genetic search works on.
    ablation_methods : methods of the comparisons over noise and over original and new ranges.
    noise_levels : of the noise comparison, on the Easy laws.
    """

    notebook: ClassVar[str] = "20_srsd_edit_distance"
    laws: ProblemIds
    ranges: Literal["paper", "upstream"]
    max_rows: Count
    ablation_methods: MethodNames
    noise_levels: Levels
