"""Scores of a candidate on a problem: every metric that fits, as published and harmonised, under its own name.

Each study has a module ``scores`` with ``score(problem, solution, seed=0) -> dict`` of metric name -> value, and
perhaps ``UNREADABLE``, the scores of an answer that cannot be read, where they are not the worst that a metric has. A
name may carry a suffix: ``_ood`` for the out-of-domain split, and others that the study's module explains.
"""

import math
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from .. import metrics
from ..expressions import parse
from ..problems import Problem, problem_of
from ..system.studies import module
from .answers import on_answers

if TYPE_CHECKING:  # loaded on first use
    import pandas as pd

READ = ("regression", "trajectories")  # kinds whose answers are expressions in the problem's own names
IMPLICIT = "F"  # name of an answer F = 0 to a surface
COUNTS = ("operations", "edges")  # describe an answer and do not judge it: a failed run has none


def score(problem: Problem | str, answer: Any, *, seed: int = 0) -> dict[str, float]:
    """Score an answer to a problem.

    Parameters
    ----------
    problem : Problem, or its id
    answer : Candidate, list of Candidate (the first is scored), mapping of output name -> text, or a text for a
        problem with one output
    seed : int
        Which data (``problem.data(seed)``) to score on.

    Returns
    -------
    dict of metric name -> float

    Raises
    ------
    ExpressionError
        If the answer cannot be read. (In the tables of a study such an answer has the worst scores.)
    ValueError
        If there is nothing to score, one text for several outputs, or a name that is no output.
    """
    problem = problem_of(problem)
    if isinstance(answer, list | tuple):
        if not answer:
            raise ValueError(f"{problem.id}: nothing to score, the list of candidates is empty")
        answer = answer[0]
    answer = getattr(answer, "solution", answer)
    if not isinstance(answer, Mapping):
        if len(problem.outputs) != 1:
            wanted = " ".join(f"{name}=..." for name in problem.outputs)
            outputs = ", ".join(problem.outputs)
            raise ValueError(f"{problem.id} has outputs {outputs}: give a mapping, not one text (--named {wanted})")
        answer = {problem.outputs[0]: str(answer)}
    if problem.kind in READ and {IMPLICIT} & set(answer) <= set(problem.outputs):
        if wrong := sorted(set(answer) - set(problem.outputs)):
            raise ValueError(f"{problem.id} has no output {wrong[0]!r} (outputs: {', '.join(problem.outputs)})")
        for text in answer.values():
            parse(str(text), problem.vocabulary)
    return module(problem.study, "scores").score(problem, dict(answer), seed=seed)


def table(
    records: "pd.DataFrame",
    problems: Iterable[Problem],
    *,
    function: str = "score",
    store: str | PathLike | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> "pd.DataFrame":
    """Scores of all runs of a grid, in isolated workers and kept in the store.

    Parameters
    ----------
    records : DataFrame
        From `runs.grid`.
    problems : list of Problem
        Those of the grid; answers are scored on their data. Where a problem is given at several noise levels,
        each answer is scored on the one it was found on.
    function : str
        Which one of the study's module, with the arguments of ``score``: another gives some of the scores in less time.
    store, workers, progress : as for `runs.grid`

    Returns
    -------
    DataFrame
        One row per row of `records`: the columns of `schema.SCORES`, and one per score. Runs without an answer, and
        answers that could not be scored, have the worst value of each metric that other rows of their subset have, or
        what the study's module states as UNREADABLE; NaN is where a metric does not apply to a problem.
    """
    import pandas as pd

    from .schema import IDENTITY, SCORES, check

    answered = records[records["status"] == "ok"]
    scored: list[tuple[Any, dict]] = []
    for study, part in answered.groupby("study", sort=False):
        name = module(study, "scores").__name__
        found = on_answers(f"{name}:{function}", part, problems, store=store, workers=workers, progress=progress)
        scored += zip(part.index, found, strict=True)
    outcomes = [outcome for _, outcome in sorted(scored, key=lambda pair: answered.index.get_loc(pair[0]))]
    values = pd.DataFrame([outcome.get("result", {}) for outcome in outcomes], index=answered.index).astype(float)
    failed = [outcome["status"] != "ok" for outcome in outcomes]
    out = records[list(IDENTITY)].copy()
    out["scoring"] = pd.Series(
        [f"{o['status']}: {o['reason']}" if o["status"] != "ok" else "" for o in outcomes],
        index=answered.index,
        dtype=object,
    )
    out["scoring"] = out["scoring"].fillna("nothing to score")
    out = out.join(values)
    bad = out.index.difference(answered.index[[not f for f in failed]])
    stated = {study: getattr(module(study, "scores"), "UNREADABLE", {}) for study in records["study"].unique()}
    for column in values.columns.difference(COUNTS, sort=False):
        applies = out.loc[values.index, "problem"][values[column].notna()].unique()
        rows = out.index.isin(bad) & out["problem"].isin(applies)
        subsets = out.loc[values.index, "subset"][values[column].notna()].unique()
        never = ~out["problem"].isin(out.loc[values.index, "problem"]) & out["subset"].isin(subsets)
        failing = out.loc[rows | never, "study"]
        values_of = {s: stated[s][column] if column in stated[s] else worst(column) for s in failing.unique()}
        out.loc[failing.index, column] = failing.map(values_of).astype(float)
    return check(out, SCORES, rest=float)


def worst(column: str) -> float:
    """The value of a failed run: infinity for an error, the lower bound for a share or an accuracy.

    Examples
    --------
    >>> worst("chamfer_squared_ood"), worst("symbolic_accuracy")
    (inf, 0.0)
    """
    declared = metric(column)
    return declared.bounds[1] if declared.direction == "lower" else max(declared.bounds[0], -math.inf)


def metric(column: str) -> metrics.Metric:
    """The metric whose name begins the name of a score column; it has ``direction`` and ``bounds``."""
    fitting = [name for name in metrics.declared() if column == name or column.startswith(name + "_")]
    if not fitting:
        raise KeyError(f"no metric is declared for the score {column!r}")
    return metrics.declared()[max(fitting, key=len)]
