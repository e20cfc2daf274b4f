"""Parameters of the study of problems from outside."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from ...params import (
    AnyMethods,
    Count,
    Level,
    Levels,
    MethodName,
    MethodNames,
    ParameterError,
    Parameters,
    ProblemIds,
    Seeds,
    of_study,
    unique,
)


class Outside(Parameters):
    """80_outside.

    Attributes
    ----------
    lsr, phybench, srbench : ids that `methods` are run on; an empty list means all.
    measured : ids of the real tables, for all methods; an empty list means the 23 of both benchmarks.
    trials : seeds of the real tables, each a trial of its own.
    relative_noise : levels of noise on SRBench's training targets.
    opponents : methods beside our own, on the sample alone.
    later : later versions of our own method, for all that `methods` run on.
    added : opponents on ``fresh`` problems, ``flows`` and the ``sample`` that came after results had been read, with
        their evaluations.
    sample, noisy_sample : ids for the opponents, drawn as ``rules.yaml`` says; the second at all levels of noise.
    early : method name -> evaluations of the runs that are read at a sixth of the time.
    srsd : ids of SRSD's laws that FastSRB's rule is asked of; an empty list means all 120.
    srsd_evaluations : of our own method on them, those of its recorded runs.
    fresh : ids of fresh problems, for all methods; an empty list means those of ``fresh.yaml``.
    fresh_noise : levels of noise on their training targets; an empty list means those of ``fresh.yaml``.
    flows : ids of flows, for all methods; an empty list means the sample of ``flows.yaml``.
    max_rows : training rows that every search works on.
    """

    notebook: ClassVar[str] = "80_outside"
    compared: ClassVar[tuple[str, ...] | None] = ()
    lsr: Annotated[ProblemIds, of_study("lsr")]
    phybench: Annotated[ProblemIds, of_study("phybench")]
    srbench: Annotated[ProblemIds, of_study("srbench")]
    measured: ProblemIds
    trials: Seeds
    relative_noise: Levels
    opponents: MethodNames
    later: AnyMethods
    added: dict[Literal["fresh", "flows", "sample"], dict[MethodName, Count]]
    sample: Annotated[ProblemIds, Field(min_length=1)]
    noisy_sample: Annotated[ProblemIds, of_study("srbench"), Field(min_length=1)]
    early: dict[MethodName, Count]
    srsd: Annotated[ProblemIds, of_study("srsd")]
    srsd_evaluations: Count
    fresh: Annotated[ProblemIds, of_study("fresh")]
    fresh_noise: Annotated[list[Level], AfterValidator(unique)]
    flows: Annotated[ProblemIds, of_study("flows")]
    max_rows: Count

    def check_compared(self) -> None:
        super().check_compared()
        if twice := sorted({name for names in self.added.values() for name in names} & {*self.opponents}):
            raise ParameterError(f"added: {twice[0]!r} is one of the opponents: leave it out of one of the two")
