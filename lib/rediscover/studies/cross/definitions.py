"""The same answer under each paper's definitions of error, complexity, equivalence and edit distance.

An answer is a right-hand side for each output of a problem that is a regression table: a law, a surface, a system of
differential equations at given states. How each paper makes one number of many problems is part of its definition.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml

from ...metrics import edit_distance, latex, regression, symbolic, trajectories
from ...problems import Problem
from ...runs import recovery
from ...runs.answers import on_answers

LARGEST = 60  # nodes of an answer that is simplified as SRSD does; beyond, its distance is 1 by the cap anyway
OWN_COUNT = ("operon", "pysr")  # MDBench takes the size that these report
DIGITS = 3  # of constants in a formula that is compared as a string


def _mean_finite(values):
    return np.nanmean(np.where(np.isfinite(values), values, np.nan), axis=-2)


def _mean(values):
    return np.nanmean(values, axis=-2)


def _median(values):
    """The lower median without NaN: infinities are ranked, never averaged."""
    ranked = np.sort(values, axis=-2)  # NaN last
    middle = (np.sum(~np.isnan(values), axis=-2, keepdims=True) - 1) // 2
    return np.take_along_axis(ranked, np.maximum(middle, 0), axis=-2).squeeze(-2)


def _clipped(values):
    return np.nanmean(np.clip(values, 0, None), axis=-2)


class Definition(NamedTuple):
    """One paper's way to a number.

    Attributes
    ----------
    family : error, complexity, equivalence or distance
    paper : whose it is, or ``harmonised``, what the others of the family are compared with
    text : what is computed, and how problems are pooled
    better : 'lower' or 'higher'
    pool : array of shape (..., problems, methods) -> (..., methods); NaN where a score does not apply
    missing : the score of a run without an answer; NaN if the paper leaves it out
    """

    family: str
    paper: str
    text: str
    better: str
    pool: Callable
    missing: float


POOLS = {"mean": _mean, "mean_finite": _mean_finite, "median": _median, "clipped": _clipped}
DEFINITIONS = {
    name: Definition(**rule | {"pool": POOLS[rule["pool"]]})
    for name, rule in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")).items()
}
FAMILIES = tuple(dict.fromkeys(d.family for d in DEFINITIONS.values()))


def reference(family: str) -> str:
    """Name of the harmonised definition of a family.

    >>> reference("distance")
    'ned_harmonised'
    """
    return next(n for n, d in DEFINITIONS.items() if d.family == family and d.paper == "harmonised")


def definitions() -> pd.DataFrame:
    """The definitions as a table: family, paper, what is computed."""
    rows = [(d.family, d.paper, d.text) for d in DEFINITIONS.values()]
    return pd.DataFrame(rows, columns=["family", "paper", "definition"]).set_index(["family", "paper"])


def score(problem: Problem, solution: Mapping[str, str], seed: int = 0) -> dict[str, float]:
    """One answer under every definition, on the problem's own test rows.

    The problem has the splits of a regression table, and a truth for each of its outputs. The result has the names of
    `DEFINITIONS`, but for mdbench_own, for which `scored` takes what the method counted.
    """
    found = recovery.evaluated(problem, solution, seed)
    answer, predicted, true = found.answer, found.predicted, found.true
    r2, several = trajectories.r2_trajectories(predicted, true), len(problem.outputs) > 1
    release = regression.nmse_release_parametric if several else regression.nmse_release
    return {
        "nmse_per_output": regression.nmse_per_output(predicted, true),
        "nmse_release": release(*(predicted, true) if several else (predicted[:, 0], true[:, 0])),
        "nmse_power": regression.nmse_power(predicted, true),
        "r2_accuracy": regression.r2_accuracy(predicted, true),
        "r2_states": r2,
        "accuracy_09": trajectories.accuracy([r2]),
        "mdbench": float(symbolic.complexity(answer, "preorder")),
        **{rule: float(symbolic.complexity(answer, rule)) for rule in ("tree", "symbolbench")},
        **_identity(found),
        "identified": recovery.identified(found),
        **_distances(found.pairs, problem.inputs),
        "proximity_dependent": trajectories.proximity_dependent(answer, problem.expressions),
    }


def _identity(found):
    kinds = recovery.relations(found)
    return {
        "equal": float(all(kind.kind == "equal" for kind in kinds)),
        "solution_rate": float(all(kind.solved for kind in kinds)),
        "symbolic_accuracy": recovery.symbolic_accuracy(found),
    }


def _distances(pairs, inputs):
    import sympy

    too_large = edit_distance.EditDistance(1.0, "too large")
    published = [edit_distance.ned_details(f, g, inputs) if f.size <= LARGEST else too_large for f, g in pairs]
    harmonised = [edit_distance.ned_harmonised(f, g, inputs) for f, g in pairs]
    texts = [[sympy.latex(e.sympy().evalf(DIGITS)) for e in (f, g)] for f, g in pairs]
    return {
        "ned_harmonised": float(np.mean(harmonised)),
        "ned_published": float(np.mean([comparison.value for comparison in published])),
        "levenshtein_similarity": float(np.mean([latex.levenshtein_similarity(*both) for both in texts])),
        "srsd_nodes": float(sum(_nodes(comparison.prediction) for comparison in published)),
    }


def _nodes(tree) -> float:
    """Nodes of a tree; NaN of one whose simplification was given up on."""
    return math.nan if tree is None else 1.0 + sum(map(_nodes, tree[1:]))


def scored(records: pd.DataFrame, problems: list[Problem], *, store=None) -> pd.DataFrame:
    """Scores of the best candidate of each run under every definition, in isolated workers and kept in the store.

    Parameters
    ----------
    records, problems : as for `runs.scoring.table`; runs of methods that are unavailable here are left out

    Returns
    -------
    DataFrame
        study, problem, method, seed, status, scoring (why there is no score, or empty) and a column for each
        of `DEFINITIONS`. A run without an answer, and an answer that cannot be scored, has the value that its
        definition states (`Definition.missing`).
    """
    used = records[records["status"] != "unavailable"].reset_index(drop=True)
    answered = used[used["status"] == "ok"]
    outcomes = on_answers(f"{__name__}:score", answered, problems, store=store)
    values = pd.DataFrame([o.get("result", {}) for o in outcomes], index=answered.index)
    values = values.reindex(columns=list(DEFINITIONS)).astype(float)
    own = answered["method"].str.startswith(OWN_COUNT) & answered["complexity"].notna()
    values["mdbench_own"] = values["mdbench"].mask(own, answered["complexity"])
    values["srsd_nodes"] = values["srsd_nodes"].fillna(math.inf)  # too large to be simplified: ranked, as large
    values["accuracy_09"] = values["accuracy_09"].where(values["r2_states"].notna())  # its failures leave the count
    why = {i: f"{o['status']}: {o['reason']}" for i, o in zip(answered.index, outcomes, strict=True) if o["reason"]}
    out = used[["study", "problem", "method", "seed", "status"]].copy()
    out["scoring"] = ["nothing to score" if s != "ok" else why.get(i, "") for i, s in used["status"].items()]
    for name, definition in DEFINITIONS.items():
        column = values[name].reindex(used.index)
        out[name] = column.where(out["scoring"] == "", definition.missing)
    return out
