"""Scores of a candidate on a problem: every metric that fits, as published and harmonised, under its own name.

Each module of this package is named after a study (as in `problems`) and offers
``score(problem, solution, seed=0) -> dict`` of metric name -> value.
"""

import importlib
from collections.abc import Mapping


def score(problem, answer, *, seed: int = 0) -> dict[str, float]:
    """Score an answer to a problem.

    Parameters
    ----------
    problem : Problem
    answer : Candidate, list of Candidate (the first is scored), mapping of output name -> text, or a text for a
        problem with one output
    seed : int
        Which data (``problem.data(seed)``) to score on.

    Returns
    -------
    dict of metric name -> float
    """
    if isinstance(answer, list | tuple):
        if not answer:
            raise ValueError(f"{problem.id}: nothing to score, the list of candidates is empty")
        answer = answer[0]
    answer = getattr(answer, "solution", answer)
    if not isinstance(answer, Mapping):
        if len(problem.outputs) != 1:
            raise ValueError(f"{problem.id} has outputs {', '.join(problem.outputs)}: give a mapping, not one text")
        answer = {problem.outputs[0]: str(answer)}
    module = importlib.import_module(f"{__name__}.{problem.study}")
    return module.score(problem, dict(answer), seed=seed)
