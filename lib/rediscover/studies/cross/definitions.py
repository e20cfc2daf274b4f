"""The same answer under each paper's definitions of error, complexity, equivalence and edit distance.

An answer is a right-hand side for each output of a problem that is a regression table: a law, a surface, a system of
differential equations at given states. How each paper makes one number of many problems is part of its definition.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml

from ...expressions import ExpressionError, from_sympy, parse
from ...metrics import dynamics, edit_distance, equivalence, latex, regression, symbolic, trajectories
from ...problems import Problem
from ...runs.answers import on_answers
from ...system.studies import studies

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
    answer, values, predicted, true = _evaluated(problem, solution, seed)
    pairs = _pairs(problem, answer, true)
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
        **_identity(pairs, values),
        "identified": _identified(problem, answer),
        **_distances(pairs, problem.inputs),
        "proximity_dependent": trajectories.proximity_dependent(answer, problem.expressions),
    }


def recovery(problem: Problem, solution: Mapping[str, str], seed: int = 0) -> dict[str, float]:
    """Of one answer: ``nmse_per_output``, and ``recovered``, by the rule of the problem's own study (study.yaml).

    ``recovered`` is NaN for a study whose rule is none of `DEFINITIONS`, such as one about trajectories.
    """
    answer, values, predicted, true = _evaluated(problem, solution, seed)
    recovered, rule = math.nan, _own_rule(problem.study)
    if rule == "identified":
        recovered = float(_identified(problem, answer))
    elif rule:
        recovered = _identity(_pairs(problem, answer, true), values)[rule]
    return {"nmse_per_output": regression.nmse_per_output(predicted, true), "recovered": recovered}


def own_rules() -> dict[str, dict[str, Any]]:
    """Prefix of ids -> how its study counts a problem as recovered, and where its scores are (study.yaml)."""
    return {prefix: rule for study in studies().values() for prefix, rule in study.get("everywhere", {}).items()}


def _own_rule(prefix: str) -> str | None:
    """The definition by which a study counts a problem as recovered; None where that is none of `DEFINITIONS`."""
    rule = own_rules()[prefix]["recovered"]
    return rule if rule in DEFINITIONS else None


def _evaluated(problem, solution, seed):
    """Expressions of an answer, the problem's test rows, and their values and the true ones, (n_rows, n_outputs)."""
    answer = {name: parse(str(solution[name]), problem.vocabulary) for name in problem.outputs}
    test = problem.data(seed)["test"]
    values = dict(zip(problem.inputs, test.X.T, strict=True))
    predicted = np.stack([np.broadcast_to(e(values), len(test.X)) for e in answer.values()], axis=-1)
    return answer, values, predicted, test.y.reshape(predicted.shape)


def _pairs(problem, answer, true):
    return [(answer[name], problem.expressions[name], y) for name, y in zip(answer, true.T, strict=True)]


def _identified(problem, answer):
    found, true = ({name: _decimal(e) for name, e in part.items()} for part in (answer, problem.expressions))
    return dynamics.identified(found, true)


def _identity(pairs, values):
    """Equivalence of every output. Values are divided by the truth's spread: SurfaceBench's tolerance is absolute."""
    kinds = [symbolic.relation(f, g, values) for f, g, _ in pairs]
    domain = {name: (float(column.min()), float(column.max())) for name, column in values.items()}
    same = [equivalence.equivalent(*(f"({e})/{_scale(y)!r}" for e in (f, g)), domain) for f, g, y in pairs]
    return {
        "equal": float(all(kind.kind == "equal" for kind in kinds)),
        "solution_rate": float(all(kind.solved for kind in kinds)),
        "symbolic_accuracy": float(all(same)),
    }


def _scale(y) -> float:
    """Root mean square, without overflow; 1 for zeros."""
    largest = np.abs(y).max() or 1.0
    return float(largest * np.sqrt(np.mean((y / largest) ** 2)) or 1.0)


def _distances(pairs, inputs):
    import sympy

    too_large = edit_distance.EditDistance(1.0, "too large")
    published = [edit_distance.ned_details(f, g, inputs) if f.size <= LARGEST else too_large for f, g, _ in pairs]
    harmonised = [edit_distance.ned_harmonised(f, g, inputs) for f, g, _ in pairs]
    texts = [[sympy.latex(e.sympy().evalf(DIGITS)) for e in (f, g)] for f, g, _ in pairs]
    return {
        "ned_harmonised": float(np.mean(harmonised)),
        "ned_published": float(np.mean([comparison.value for comparison in published])),
        "levenshtein_similarity": float(np.mean([latex.levenshtein_similarity(*both) for both in texts])),
        "srsd_nodes": float(sum(_nodes(comparison.prediction) for comparison in published)),
    }


def _nodes(tree) -> float:
    """Nodes of a tree; NaN of one whose simplification was given up on."""
    return math.nan if tree is None else 1.0 + sum(map(_nodes, tree[1:]))


def _decimal(expression) -> str:
    """The expression with pi and products of numbers as one decimal number, as MDBench's truths are written.

    One with conditions stays as it is: no truth of MDBench has any, and SymPy may not end on nested ones.
    """
    text = str(expression)
    try:
        return text if "where(" in text else str(from_sympy(expression.sympy().evalf(17)))
    except ExpressionError:  # infinities and the like
        return text


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
    values["accuracy_09"] = values["accuracy_09"].where(values["r2_states"].notna())  # its failures leave the count
    why = {i: f"{o['status']}: {o['reason']}" for i, o in zip(answered.index, outcomes, strict=True) if o["reason"]}
    out = used[["study", "problem", "method", "seed", "status"]].copy()
    out["scoring"] = ["nothing to score" if s != "ok" else why.get(i, "") for i, s in used["status"].items()]
    for name, definition in DEFINITIONS.items():
        column = values[name].reindex(used.index)
        out[name] = column.where(out["scoring"] == "", definition.missing)
    return out


def recoveries(records: pd.DataFrame, problems: list[Problem], *, store=None) -> pd.DataFrame:
    """`recovery` of the best candidate of each run: study, problem, method, seed, nmse_per_output, recovered.

    A run without an answer has an infinite error and recovers nothing.
    """
    used = records.reset_index(drop=True)
    answered = used[used["status"] == "ok"]
    outcomes = on_answers(f"{__name__}:recovery", answered, problems, store=store)
    out = used[["study", "problem", "method", "seed"]].copy()
    out["nmse_per_output"] = math.inf
    out["recovered"] = [0.0 if _own_rule(study) else math.nan for study in out["study"]]
    found = pd.DataFrame([o.get("result", {}) for o in outcomes], answered.index, ["nmse_per_output", "recovered"])
    out.update(found.astype(float))
    return out
