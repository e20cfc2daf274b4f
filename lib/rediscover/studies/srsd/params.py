"""Parameters of the study of physical laws."""

from typing import Annotated, ClassVar, Literal

from ...params import (
    Ablated,
    Budgeted,
    Count,
    Levels,
    MethodNames,
    ParameterError,
    ProblemIds,
    Seeds,
    Settings,
    including,
    of_study,
)

EASY = including("easy", "as the laws of the comparison over noise here: add one, 'srsd/I.12.5'")


class Laws(Budgeted):
    """20_srsd_edit_distance.

    Attributes
    ----------
    laws : ids of the laws; an empty list means all 120.
    ranges : sampling ranges of the ``paper`` or of the released code (``upstream``).
    max_rows : training rows that a genetic search works on.
    settings : method name -> settings that differ from the method's own.
    ablation_methods : methods of the comparisons over noise and over original and new ranges.
    dummy_methods : methods that also see the laws with one to three input columns that the law does not have.
    ablated : parts of `bidirectional`, see its ``without``, and the subsets or ids on which it runs without each.
    relative_noise : levels of noise on the Easy laws, as shares of the target's root mean square.
    pretraining_seeds : draws of the training data of the Symbolic Transformer.
    pretraining_attempts : skeletons that each draw tries; 5,000 in the paper.
    """

    notebook: ClassVar[str] = "20_srsd_edit_distance"
    compared: ClassVar[tuple[str, ...] | None] = ("power_law",)
    laws: Annotated[ProblemIds, of_study("srsd"), EASY]
    ranges: Literal["paper", "upstream"]
    settings: Settings
    ablation_methods: MethodNames
    dummy_methods: MethodNames
    ablated: Ablated
    relative_noise: Levels
    pretraining_seeds: Seeds
    pretraining_attempts: Count
    budget_problems: Annotated[ProblemIds, of_study("srsd")]

    def check_compared(self) -> None:
        super().check_compared()
        for field in ("ablation_methods", "dummy_methods"):
            names = getattr(self, field)
            if not {*names} & {*self.methods}:  # those that are not among them are left out
                problem = f"none of these is among the methods: add {names[0]!r} to methods, or name one of them"
                raise ParameterError(f"{field}: {problem}")
