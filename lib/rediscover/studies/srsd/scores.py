"""Scores of SRSD: fit on test and validation data, closeness of the expression.

As published: `r2`, `r2_accuracy` (Table 2), `ned_published` (Table 4), `relative_squared_error` (eq. (4), on
validation data). Table 3 has no released code; `solution_rate` is SRBench's definition without its rounding.
Harmonised: `ned_harmonised`.

``ned_*_simplified`` is 0 where simplification is given up on; the published distance is then 1, the harmonised
one that of the expression as it stands. ``solution_indistinguishable`` is 1 for another law that the sampled
range cannot tell from the truth; the solution rate does not count it.

An expression that cannot be read, or with an unknown variable, gets the worst values and no complexity. One
that is NaN or complex on a row has no finite error and is no solution.
"""

import math

import numpy as np

from ...expressions import ExpressionError, parse
from ...metrics import regression, symbolic
from ...metrics.solution import ROWS
from ...problems import generator

COMPLEXITIES = ("tree", "count_ops")
UNREADABLE = {
    "r2": -math.inf,
    "r2_accuracy": 0.0,
    "relative_squared_error": math.inf,
    "ned_published": 1.0,
    "ned_published_simplified": 0.0,
    "ned_harmonised": 1.0,
    "ned_harmonised_simplified": 0.0,
    "solution_rate": 0.0,
    "solution_indistinguishable": 0.0,
    **{f"complexity_{rule}": math.nan for rule in COMPLEXITIES},
}


def score(problem, solution, seed: int = 0) -> dict[str, float]:
    """All scores of one answer.

    Parameters
    ----------
    problem : Law
    solution : mapping of the output's name to text
    seed : int
        Of the data, and of the fresh rows on which a solution is confirmed.

    Returns
    -------
    dict of name to float
    """
    (output,) = problem.outputs
    try:
        expression = parse(solution.get(output, ""), problem.inputs)
    except ExpressionError:
        return dict(UNREADABLE)

    def columns(X: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(problem.inputs, X.T, strict=True))

    splits = problem.data(seed)
    test, validation = splits["test"], splits["validation"]
    prediction, checked = expression(columns(test.X)), expression(columns(validation.X))
    truth = problem.truth[output]
    scores = {
        "r2": regression.r2(prediction, test.y),
        "r2_accuracy": regression.r2_accuracy(prediction, test.y),
        "relative_squared_error": regression.relative_squared_error(checked, validation.y),
    }
    for kind in ("published", "harmonised"):
        details = symbolic.ned_details(expression, truth, problem.inputs, kind == "harmonised")
        scores |= {f"ned_{kind}": details.value, f"ned_{kind}_simplified": float(details.status == "ok")}
    relation = _relation(problem, expression, seed)
    scores["solution_rate"] = float(relation.solved)
    scores["solution_indistinguishable"] = float(relation.kind == "indistinguishable")
    return scores | {f"complexity_{rule}": float(symbolic.complexity(expression, rule)) for rule in COMPLEXITIES}


def solved(problem, solution, seed: int = 0) -> dict[str, float]:
    """The ``solution_rate`` of `score` alone, in a fraction of its time; arguments as for `score`."""
    (output,) = problem.outputs
    try:
        expression = parse(solution.get(output, ""), problem.inputs)
    except ExpressionError:
        return {"solution_rate": 0.0}
    return {"solution_rate": float(_relation(problem, expression, seed).solved)}


def _relation(problem, expression, seed: int):
    """How an answer is related to the law, on rows that nothing was fitted to."""
    (truth,) = problem.truth.values()
    fresh = problem.draw(ROWS, generator(seed, problem.id, "confirmation"))
    return symbolic.relation(expression, truth, dict(zip(problem.inputs, fresh.X.T, strict=True)))
