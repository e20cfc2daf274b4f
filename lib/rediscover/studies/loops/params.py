"""Parameters of the study of what a language model adds to its loop."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from ...methods import method
from ...params import Count, MethodName, MethodNames, Parameters, ProblemIds, Seeds, including, of_study, unique, usable
from ...problems import problem

SAMPLED = Literal["llm_sr", "openevolve", "icsr", "sga"]  # loops whose evaluations are samples
DATA = {"causal": {"series_from": "equations"}}  # of whom the released series are not needed


class Dose(BaseModel):
    """A loop with samples (of LaSR, evaluations) for one run on each of some problems of one study, with one seed."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    method: Literal[SAMPLED, "lasr", "symbolbench_loop", "gp_llm_seeded", "gp_llm_judge"]
    samples: Count
    problems: Annotated[ProblemIds, Field(min_length=1)]
    settings: dict[str, object] = {}

    @model_validator(mode="after")
    def _accepted(self) -> "Dose":
        usable({self.method: self.settings})
        posed = {id: problem(id, **DATA.get(study_of(id), {})) for id in self.problems}
        if strange := [id for id, each in posed.items() if not isinstance(each, method(self.method).accepts)]:
            raise ValueError(f"{self.method} does not take {strange[0]}")
        if len(set(map(study_of, posed))) > 1:
            raise ValueError(f"{self.method}: problems of several studies, give each an entry of its own")
        return self

    @property
    def study(self) -> str:
        """What its problems are of."""
        return study_of(self.problems[0])


def study_of(id: str) -> str:
    """The study of a problem's id.

    >>> study_of("boolean/B21")
    'boolean'
    """
    return id.partition("/")[0]


def _once(doses: list[Dose]) -> list[Dose]:
    """Entries of which no two have the same loop and study, by which their runs are told apart."""
    unique([f"{dose.method} on {dose.study}" for dose in doses])
    return doses


class WhatTheModelAdds(Parameters):
    """70_what_the_model_adds.

    Attributes
    ----------
    proposers : who stands in the model's place, in every method that takes them; a judge takes 'genetic' alone.
    surfaces : ids of surfaces; an empty list means all 183.
    sampler, max_rows : as in 10_surface_benchmark.
    systems : ids of systems of differential equations; an empty list means all 156.
    system_methods, system_evaluations : what is run on them.
    system_seeds : seeds there, where a run takes longer.
    more_evaluations : method name -> a larger budget that it is run with as well, with the first seed, on all problems.
    priced : method name -> evaluations of a run with a control, whose prompts are counted and not sent.
    priced_problems : where; each method is run on those that it accepts, with the first seed.
    dose : loops that are run with each control, and with recorded replies of each of `dose_models`.
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
    dose: Annotated[list[Dose], Field(min_length=1), AfterValidator(_once)]
    dose_models: Annotated[list[str], AfterValidator(unique)]
    dose_tokens: Count
    memory: dict[SAMPLED, Count]
    memory_laws: Annotated[ProblemIds, of_study("textbook", "named"), Field(min_length=1)]
