"""Methods on the problems of a catalog: all of them run here, scored by the rules of SRBench's laws."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from .. import runs
from ..methods import Method, give, method
from ..problems import Problem
from .answers import folder, scored
from .head_to_head import Comparison

MEASURES = ["symbolic_solution", "r2"]  # the decisive one first


def run(methods: Sequence[str | type | Method], problems: Sequence[Problem], **options: Any) -> pd.DataFrame:
    """Run methods on problems of a catalog and score their answers.

    Parameters
    ----------
    methods : names, references such as ``./mine.py:Mine``, classes or instances
    problems : of a catalog
    **options : budget, seeds, store, workers, retry and progress, as for `runs.grid`

    Returns
    -------
    DataFrame
        One row for each method, problem and seed: status, solution, size, and all scores.
    """
    frame = runs.grid(problems, [_made(each) for each in methods], **options)
    shared = {name: options[name] for name in ("store", "workers", "progress") if name in options}
    return scored(frame, list(problems), shared)


def compare(
    mine: str | type | Method, against: Sequence[str | type | Method], problems: Sequence[Problem], **options: Any
) -> Comparison:
    """Compare a method with others on problems of a catalog; finished runs are kept in build/own and not done again.

    Parameters
    ----------
    mine, against : methods, as for `run`
    problems, **options : as for `run`

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If a method is compared with itself, or none can be compared with.
    RuntimeError
        If a method is not available.
    """
    solvers = [_made(each) for each in (mine, *against)]
    names = [each.name for each in solvers]
    if len(solvers) < 2 or len({*names}) < len(names):
        raise ValueError(f"compare: {', '.join(names)} should be two methods or more, each once")
    if reasons := [f"{each.name} is unavailable: {reason}" for each in solvers if (reason := each.available())]:
        raise RuntimeError(reasons[0])
    study = problems[0].study
    folder(study).mkdir(parents=True, exist_ok=True)
    answers = run(solvers, problems, **({"store": folder(study) / "runs.sqlite"} | options))
    return Comparison(problems[0].id.partition("/")[0], names[0], answers.assign(origin="run here"), MEASURES)


def _made(given: str | type | Method) -> Method:
    return method(given) if isinstance(given, str) else give(given)
