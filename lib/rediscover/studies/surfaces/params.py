"""Parameters of the surface benchmark."""

from typing import Annotated, ClassVar, Literal

from ...params import Ablated, AnyMethods, Budgeted, Levels, ProblemIds, Seeds, Settings, including, of_study

EXPLICIT = including("explicit", "as the surfaces of most tables here: add one, 'surfaces/TFS4'")


class Surfaces(Budgeted):
    """10_surface_benchmark.

    Attributes
    ----------
    surfaces : ids of the surfaces of the main comparison; an empty list means all 183.
    sampler : ``uniform`` (as released) or ``curvature`` (as the paper says).
    max_rows : training rows that a genetic search works on.
    clean_methods : those that are run without noise alone, on surfaces with one output.
    ablated : parts of `bidirectional`, see its ``without``, and the subsets or ids on which it runs without each.
    settings : method name -> settings that differ from the method's own.
    noise_surfaces, relative_noise, noise_seeds : the noise ablation; of no surfaces means of the explicit ones.
    budget_problems : ids, of which the explicit ones are run with several numbers of evaluations; none means all.
    """

    notebook: ClassVar[str] = "10_surface_benchmark"
    compared: ClassVar[tuple[str, ...] | None] = ()
    surfaces: Annotated[ProblemIds, of_study("surfaces"), EXPLICIT]
    sampler: Literal["uniform", "curvature"]
    clean_methods: AnyMethods
    ablated: Ablated
    settings: Settings
    noise_surfaces: Annotated[ProblemIds, of_study("surfaces")]
    relative_noise: Levels
    noise_seeds: Seeds
    budget_problems: Annotated[ProblemIds, of_study("surfaces"), EXPLICIT]
