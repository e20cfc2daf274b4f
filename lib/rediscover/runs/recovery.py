"""Whether answers recover their problems, by the rule of each problem's own study, and how far off they are.

An answer is a right-hand side for each output of a problem that is a regression table: a law, a surface, a system of
differential equations at given states. The rule is stated in study.yaml (`everywhere`), and is one of `RULES`.
"""

import math
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..expressions import Expression, ExpressionError, from_sympy, parse
from ..metrics import dynamics, equivalence, regression
from ..metrics.solution import Relation, relation
from ..numerics.arrays import size_of
from ..problems import Problem
from ..system.studies import studies
from .answers import on_answers


class Evaluated(NamedTuple):
    """An answer on the test rows of its problem.

    Attributes
    ----------
    problem : Problem
    answer : output -> Expression
    values : input -> ndarray, shape (n_rows,)
    predicted, true : ndarray, shape (n_rows, n_outputs)
    """

    problem: Problem
    answer: dict[str, Expression]
    values: dict[str, np.ndarray]
    predicted: np.ndarray
    true: np.ndarray

    @property
    def pairs(self) -> list[tuple[Expression, Expression]]:
        """Answer and truth of each output."""
        return [(self.answer[name], self.problem.expressions[name]) for name in self.problem.outputs]


def evaluated(problem: Problem, solution: Mapping[str, str], seed: int = 0) -> Evaluated:
    """An answer, read and evaluated on the problem's own test rows.

    Raises
    ------
    ExpressionError
        If a right-hand side cannot be read.
    """
    answer = {name: parse(str(solution[name]), problem.vocabulary) for name in problem.outputs}
    test = problem.data(seed)["test"]
    values = dict(zip(problem.inputs, test.X.T, strict=True))
    predicted = np.stack([np.broadcast_to(e(values), len(test.X)) for e in answer.values()], axis=-1)
    return Evaluated(problem, answer, values, predicted, test.y.reshape(predicted.shape))


def relations(found: Evaluated) -> list[Relation]:
    """How the answer and the truth are related, for each output."""
    return [relation(f, g, found.values) for f, g in found.pairs]


def solution_rate(found: Evaluated) -> float:
    """1 if every output is solved as SRSD counts it, else 0."""
    return float(all(kind.solved for kind in relations(found)))


def symbolic_accuracy(found: Evaluated) -> float:
    """1 if every output is equivalent as SurfaceBench counts it, else 0.

    Both sides are divided by the spread of the truth, since that tolerance is absolute.
    """
    domain = {name: (float(column.min()), float(column.max())) for name, column in found.values.items()}
    same = []
    for (f, g), y in zip(found.pairs, found.true.T, strict=True):
        scale = size_of(y)
        same.append(equivalence.equivalent(f"({f})/{scale!r}", f"({g})/{scale!r}", domain))
    return float(all(same))


def identified(found: Evaluated) -> float:
    """1 if the system has MDBench's check mark, else 0."""
    sides = (found.answer, found.problem.expressions)
    return float(dynamics.identified(*({name: _decimal(e) for name, e in side.items()} for side in sides)))


RULES = {rule.__name__: rule for rule in (solution_rate, symbolic_accuracy, identified)}


def own_rules() -> dict[str, dict[str, Any]]:
    """Prefix of ids -> how its study counts a problem as recovered, and where its scores are (study.yaml)."""
    return {prefix: rule for study in studies().values() for prefix, rule in study.get("everywhere", {}).items()}


def recovery(problem: Problem, solution: Mapping[str, str], seed: int = 0) -> dict[str, float]:
    """Of one answer: ``nmse_per_output``, and ``recovered``, by the rule of the problem's own study.

    ``recovered`` is NaN for a study whose rule is none of `RULES`, such as one about trajectories.
    """
    found, rule = evaluated(problem, solution, seed), _rule(problem.study)
    error = regression.nmse_per_output(found.predicted, found.true)
    return {"nmse_per_output": error, "recovered": rule(found) if rule else math.nan}


def recoveries(
    records: pd.DataFrame, problems: Iterable[Problem], *, store: str | PathLike | None = None
) -> pd.DataFrame:
    """`recovery` of the best candidate of each run: study, problem, method, seed, nmse_per_output, recovered.

    A run without an answer has an infinite error and recovers nothing.

    Parameters
    ----------
    records, problems, store : as for `scoring.table`

    Returns
    -------
    DataFrame
        One row per row of `records`.
    """
    used = records.reset_index(drop=True)
    answered = used[used["status"] == "ok"]
    outcomes = on_answers(f"{__name__}:recovery", answered, problems, store=store)
    out = used[["study", "problem", "method", "seed"]].copy()
    out["nmse_per_output"] = math.inf
    out["recovered"] = [0.0 if _rule(study) else math.nan for study in out["study"]]
    found = pd.DataFrame([o.get("result", {}) for o in outcomes], answered.index, ["nmse_per_output", "recovered"])
    out.update(found.astype(float))
    return out


def _rule(prefix: str) -> Any:
    """The rule by which a study counts a problem as recovered; None where it is none of `RULES`."""
    return RULES.get(own_rules()[prefix]["recovered"])


def _decimal(expression: Expression) -> str:
    """The expression with pi and products of numbers as one decimal number, as MDBench's truths are written.

    One with conditions stays as it is: no truth of MDBench has any, and SymPy may not end on nested ones.
    """
    text = str(expression)
    try:
        return text if "where(" in text else str(from_sympy(expression.sympy().evalf(17)))
    except ExpressionError:  # infinities and the like
        return text
