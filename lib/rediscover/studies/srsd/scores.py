"""Scores of SRSD: fit on test data, choice of models on validation data, closeness of the expression.

As published: `r2`, `r2_accuracy` (Table 2), `ned_published` (Table 4). The solution rate (Table 3) has no
released code; `solution_rate` is SRBench's definition without its rounding to three decimals. Harmonised:
`ned_harmonised`. `relative_squared_error` on validation data, eq. (4), chooses among several models.

``ned_published_simplified`` and ``ned_harmonised_simplified`` are 0 where simplification hit its limit (the
published distance is then 1, the harmonised one that of the expression as it stands).
``solution_indistinguishable`` is 1 where the prediction is another law that the sampled range cannot tell
from the truth; the solution rate does not count it.

A prediction that cannot be read, or uses a variable that the problem does not have, gets the worst value of
each score and no complexity. One that is NaN or complex on a row has no finite error and is no solution.
"""

import math

import numpy as np

from ...expressions import ExpressionError, parse
from ...metrics import edit_distance, regression, symbolic
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


def score(problem, solution, seed: int = 0, *, seconds: float = edit_distance.SECONDS) -> dict[str, float]:
    """All scores of one answer.

    Parameters
    ----------
    problem : Law
    solution : mapping of the output's name to text
    seed : int
        Of the data, and of the fresh rows on which a solution is confirmed.
    seconds : float
        Limit of each simplification.

    Returns
    -------
    dict of name to float
    """
    (output,) = problem.outputs
    try:
        answer = parse(solution.get(output, ""), problem.inputs)
    except ExpressionError:
        return dict(UNREADABLE)

    def columns(X: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(problem.inputs, X.T, strict=True))

    splits = problem.data(seed)
    test, validation = splits["test"], splits["validation"]
    predicted, checked = answer(columns(test.X)), answer(columns(validation.X))
    truth = problem.truth[output]
    scores = {
        "r2": regression.r2(predicted, test.y),
        "r2_accuracy": regression.r2_accuracy(predicted, test.y),
        "relative_squared_error": regression.relative_squared_error(checked, validation.y),
    }
    for kind, harmonised in (("published", False), ("harmonised", True)):
        details = symbolic.ned_details(answer, truth, problem.inputs, seconds, harmonised)
        scores[f"ned_{kind}"] = details.value
        scores[f"ned_{kind}_simplified"] = float(details.status == "ok")
    fresh = problem.draw(ROWS, generator(seed, problem.id, "confirmation"))
    relation = symbolic.relation(answer, truth, columns(fresh.X), seconds)
    scores["solution_rate"] = float(relation.solved)
    scores["solution_indistinguishable"] = float(relation.kind == "indistinguishable")
    return scores | {f"complexity_{rule}": float(symbolic.complexity(answer, rule)) for rule in COMPLEXITIES}
