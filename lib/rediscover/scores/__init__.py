"""Scores of a candidate on a problem: every metric that fits, as published and harmonised, under its own name.

Each module of this package is named after a study (as in `problems`) and offers
``score(problem, solution, seed=0) -> dict`` of metric name -> value, and perhaps ``UNREADABLE``, the scores of an
answer that cannot be read, where they are not all metrics. A name may carry a suffix: ``_ood`` for the
out-of-domain split, and others that the study's module explains.
"""

import functools
import importlib
import json
import math
import pkgutil
import sys
from collections.abc import Mapping
from typing import NamedTuple

from .. import metrics
from ..methods import code_version
from ..problems import Problem

COUNTS = ("operations", "edges")  # describe an answer and do not judge it: a failed run has none
IDENTITY = ["study", "problem", "subset", "method", "settings", "noise", "seed", "status"]


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

    Raises
    ------
    ExpressionError
        If the answer cannot be read.
    ValueError
        If there is nothing to score, or one text for several outputs.
    """
    if isinstance(answer, list | tuple):
        if not answer:
            raise ValueError(f"{problem.id}: nothing to score, the list of candidates is empty")
        answer = answer[0]
    answer = getattr(answer, "solution", answer)
    if not isinstance(answer, Mapping):
        if len(problem.outputs) != 1:
            raise ValueError(
                f"{problem.id} has outputs {', '.join(problem.outputs)}: give a mapping, not one text"
            )
        answer = {problem.outputs[0]: str(answer)}
    module = importlib.import_module(f"{__name__}.{problem.study}")
    return module.score(problem, dict(answer), seed=seed)


class Scoring(NamedTuple):
    """The scoring of one answer, as work for `runs.compute`."""

    problem: Problem
    solution: str
    seed: int

    def __call__(self) -> dict:
        values = score(self.problem, json.loads(self.solution), seed=self.seed)
        return {"status": "ok", "reason": "", "scores": values}

    @property
    def key(self) -> str:
        from ..runs import digest, identity

        return digest(["score", identity(self.problem), self.solution, self.seed, _code(self.problem.study)])

    @property
    def identity(self) -> dict:
        return {"score": self.solution, "problem": self.problem.id, "seed": self.seed}


def table(records, problems, *, store=None, workers=None, progress=True):
    """Scores of all runs of a grid, in isolated workers and kept in the store.

    Parameters
    ----------
    records : DataFrame
        From `runs.grid`.
    problems : list of Problem
        Those of the grid; answers are scored on their data. Where a problem is given at several noise levels,
        each answer is scored on the one it was found on.
    store, workers, progress : as for `runs.grid`

    Returns
    -------
    DataFrame
        One row per row of `records`: its identity, the reason if scoring failed, and a column per score. Runs without
        an answer, and answers that could not be scored, have the worst value of each metric that other rows of their
        subset have, or what the study's module states as UNREADABLE; NaN is where a metric does not apply to a problem.
    """
    import pandas as pd

    from .. import runs

    known = {problem.id: problem for problem in problems}
    noisy = {(problem.id, problem.noise): problem for problem in problems}
    several = len(known) < len(noisy)
    answered = records[records["status"] == "ok"]
    works = [
        Scoring(noisy[row.problem, row.noise] if several else known[row.problem], row.solution, row.seed)
        for row in answered.itertuples()
    ]
    outcomes = runs.compute(works, store=store, workers=workers, progress=progress)
    values = pd.DataFrame([outcome.get("scores", {}) for outcome in outcomes], index=answered.index).astype(
        float
    )
    failed = [outcome["status"] != "ok" for outcome in outcomes]
    out = records[IDENTITY].copy()
    out["scoring"] = pd.Series(
        [f"{o['status']}: {o['reason']}" if o["status"] != "ok" else "" for o in outcomes],
        index=answered.index,
        dtype=object,
    )
    out["scoring"] = out["scoring"].fillna("nothing to score")
    out = out.join(values)
    bad = out.index.difference(answered.index[[not f for f in failed]])
    module = importlib.import_module(f"{__name__}.{records['study'].iloc[0]}") if len(records) else None
    stated = getattr(module, "UNREADABLE", {})
    for column in values.columns.difference(COUNTS, sort=False):
        applies = out.loc[values.index, "problem"][values[column].notna()].unique()
        rows = out.index.isin(bad) & out["problem"].isin(applies)
        subsets = out.loc[values.index, "subset"][values[column].notna()].unique()
        never = ~out["problem"].isin(out.loc[values.index, "problem"]) & out["subset"].isin(subsets)
        out.loc[rows | never, column] = stated[column] if column in stated else worst(column)
    return out


def worst(column: str) -> float:
    """The value of a failed run: infinity for an error, the lower bound for a share or an accuracy.

    Examples
    --------
    >>> worst("chamfer_squared_ood"), worst("symbolic_accuracy")
    (inf, 0.0)
    """
    declared = metric(column)
    return declared.bounds[1] if declared.direction == "lower" else max(declared.bounds[0], -math.inf)


def metric(column: str):
    """The metric whose name begins the name of a score column; it has ``direction`` and ``bounds``."""
    fitting = [name for name in metrics.declared() if column == name or column.startswith(name + "_")]
    if not fitting:
        raise KeyError(f"no metric is declared for the score {column!r}")
    return metrics.declared()[max(fitting, key=len)]


@functools.cache
def _code(study: str) -> str:
    """Version of all code that scores of a study depend on."""
    from .. import expressions

    names = [__name__, f"{__name__}.{study}", expressions.__name__]
    for package in (expressions, metrics):
        names += [f"{package.__name__}.{info.name}" for info in pkgutil.iter_modules(package.__path__)]
    for name in names:
        importlib.import_module(name)
    external = getattr(sys.modules[f"{__name__}.{study}"], "external", str)  # such as optional data
    return "-".join(code_version(sys.modules[name]) for name in names) + external()
