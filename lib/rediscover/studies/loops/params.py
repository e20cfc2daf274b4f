"""Parameters of the study of what a language model adds to its loop."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from ...methods import method
from ...params import Count, MethodName, MethodNames, Parameters, ProblemIds, Seeds, including, of_study, unique
from ...problems import problem

SAMPLED = Literal["llm_sr", "openevolve", "icsr", "sga"]  # loops whose evaluations are samples


class WhatTheModelAdds(Parameters):
    """70_what_the_model_adds.

    Attributes
    ----------
    proposers : who stands in the model's place, in every method that has one.
    surfaces : ids of surfaces; an empty list means all 183.
    sampler, max_rows : as in 10_surface_benchmark.
    systems : ids of systems of differential equations; an empty list means all 156.
    system_methods, system_evaluations : what is run on them.
    system_seeds : seeds there, where a run takes longer.
    more_evaluations : method name -> a larger budget that it is run with as well, with the first seed, on all problems.
    priced : method name -> evaluations of a run with a control, whose prompts are counted and not sent.
    priced_problems : where; each method is run on those that it accepts, with the first seed.
    dose : method name -> samples (of LaSR, evaluations) of a run with each control, and with recorded replies of each
        of `dose_models`.
    dose_problems : method name -> on which problems, with the first seed.
    dose_models : names as they served, each with the first digits of its file's hash.
    dose_tokens : of a reply at most.
    memory : method name -> samples of a run on each of `memory_laws`, and on the same law in disguise; as for `dose`.
    memory_laws : ids of laws with their names.
    """

    notebook: ClassVar[str] = "70_what_the_model_adds"
    proposers: Annotated[list[Literal["grammar", "genetic"]], Field(min_length=1), AfterValidator(unique)]
    surfaces: Annotated[ProblemIds, of_study("surfaces"), including("explicit", "as those that are compared: add one")]
    sampler: Literal["uniform", "curvature"]
    max_rows: Count
    systems: Annotated[ProblemIds, of_study("cde")]
    system_methods: MethodNames
    system_evaluations: Count
    system_seeds: Seeds
    more_evaluations: dict[MethodName, Count]
    priced: dict[MethodName, Count]
    priced_problems: ProblemIds
    dose: Annotated[dict[Literal[SAMPLED, "lasr", "symbolbench_loop", "gp_llm_seeded"], Count], Field(min_length=1)]
    dose_problems: dict[MethodName, Annotated[ProblemIds, Field(min_length=1)]]
    dose_models: Annotated[list[str], AfterValidator(unique)]
    dose_tokens: Count
    memory: dict[SAMPLED, Count]
    memory_laws: Annotated[ProblemIds, of_study("textbook", "named"), Field(min_length=1)]

    @field_validator("dose_problems")
    @classmethod
    def _where(cls, chosen: dict[str, list[str]], info: ValidationInfo) -> dict[str, list[str]]:
        for name in info.data.get("dose", {}):
            if name not in chosen:
                raise ValueError(f"{name} has a dose and no problems")
            if strange := [id for id in chosen[name] if not isinstance(problem(id), method(name).accepts)]:
                raise ValueError(f"{name} does not take {strange[0]}")
        return chosen
