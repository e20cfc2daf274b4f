"""Scores of problems from outside, by the rules that ``rules.yaml`` laid down.

Laws: `symbolic_solution` (SRBench's rule), `solution_rate` (the same without rounding), `r2` and `r2_accuracy` on test
rows without noise. Real tables: `law_with_any_constants`, and `nmse_variance_left_out`, the squared error of rows that
the constants were fitted without, over the target's squared deviation from its mean. Flows: `identified` (MDBench's
check mark), `identified_equations` (the share of equations that would have it alone), and `nmse_per_output` of rates.
"""

import math

import numpy as np

from ...expressions import ExpressionError, parse, refit
from ...metrics import dynamics, regression
from ...metrics.equivalence import equivalent
from ...metrics.outside_rules import accepted_form, law_with_any_constants, symbolic_solution
from ...metrics.solution import ROWS, solution_rate
from ...problems import Trajectories, generator
from ...problems.first_principles import Measured

LAW = {"r2": -math.inf, "r2_accuracy": 0.0, "symbolic_solution": 0.0, "solution_rate": 0.0}
TABLE = {"law_with_any_constants": 0.0, "nmse_variance_left_out": math.inf}
FLOW = {"identified": 0.0, "identified_equations": 0.0, "nmse_per_output": math.inf}
UNREADABLE = LAW | TABLE | FLOW
STARTS = 3  # of the fit to all rows, the constants of the answer first
EVALUATIONS = 50  # of each fit without a row, which begins with the constants of all rows


def score(problem, solution, seed: int = 0) -> dict[str, float]:
    """All scores of one answer.

    Parameters
    ----------
    problem : Drawn, Measured or Flow
    solution : mapping of output to text
    seed : int
        Of the data, and of the fresh rows on which a solution is confirmed.

    Returns
    -------
    dict of name to float
    """
    if isinstance(problem, Trajectories):
        return of_flow(problem, solution, seed)
    (output,) = problem.outputs
    table = isinstance(problem, Measured)
    try:
        expression = parse(solution.get(output, ""), problem.inputs)
    except ExpressionError:
        return dict(TABLE if table else LAW)
    if table:
        law = law_with_any_constants(expression, problem.truth[output], problem.judged)
        return {"law_with_any_constants": law, "nmse_variance_left_out": left_out(problem, expression, seed)}
    X, y = problem.data(seed)["test"]
    prediction = expression(dict(zip(problem.inputs, X.T, strict=True)))
    fresh = problem.draw(ROWS, generator(seed, problem.id, "confirmation"))
    pair = (expression, problem.truth[output], dict(zip(problem.inputs, fresh.X.T, strict=True)))
    solved = solution_rate(*pair)
    return {
        "r2": regression.r2(prediction, y),
        "r2_accuracy": regression.r2_accuracy(prediction, y),
        "symbolic_solution": solved or symbolic_solution(*pair),  # what is solved without rounding is solved
        "solution_rate": solved,
    }


def of_flow(problem, solution, seed: int = 0) -> dict[str, float]:
    """Scores of one answer to a flow; arguments as for `score`. Rates are compared at the (noisy) test states."""
    X, y = problem.data(seed)["test"]
    values = dict(zip(problem.inputs, X.T, strict=True))
    try:
        found = {state: parse(solution.get(state, ""), problem.inputs) for state in problem.outputs}
    except ExpressionError:
        return dict(FLOW)
    predicted = np.stack([found[state](values) for state in problem.outputs], axis=-1)
    each = [dynamics.fidelity({s: found[s]}, {s: problem.truth[s]}) == "identified" for s in problem.outputs]
    return {
        "identified": float(all(each)),
        "identified_equations": float(np.mean(each)),
        "nmse_per_output": regression.nmse_per_output(predicted, y),
    }


def left_out(problem, expression, seed: int = 0) -> float:
    """Squared error on rows that the constants were fitted without, one at a time, over the target's deviation.

    Each fit begins with the constants of all rows.

    Parameters
    ----------
    problem : Measured
    expression : Expression
        Its form is kept: it was found on all rows.
    seed : int
        Of the data.

    Returns
    -------
    float
        At least 0; infinite where a prediction is not finite.
    """
    X, y = problem.data(seed)["train"]
    off = np.empty(len(y))
    every = refit(expression, dict(zip(problem.inputs, X.T, strict=True)), y, starts=STARTS)
    for i in range(len(y)):
        kept = np.arange(len(y)) != i
        columns = dict(zip(problem.inputs, X[kept].T, strict=True))
        fitted = refit(every, columns, y[kept], starts=1, evaluations=EVALUATIONS)
        off[i] = float(fitted(dict(zip(problem.inputs, X[i], strict=True)))) - y[i]
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.sum(off**2) / np.sum((y - y.mean()) ** 2))
    return error if math.isfinite(error) else math.inf


def is_law(problem, solution, seed: int = 0) -> dict[str, float]:
    """Whether one entry of a front is the law of a real table with some constants; arguments as for `score`."""
    (output,) = problem.outputs
    text = solution.get(output, "")
    return {"law": law_with_any_constants(text, problem.truth[output], problem.judged)}


def form(problem, solution, seed: int = 0) -> dict[str, float]:
    """Whether some constants make an answer the law, in the box of the law's inputs; arguments as for `score`.

    `metrics.equivalence.equivalent`, the rule of the surfaces. No rule of this study asks for it: it came after the
    runs on fresh problems, whose laws have short constants that a least-squares fit to noisy rows does not reach.
    """
    (output,) = problem.outputs
    box = {name: tuple(ends) for name, (_, *ends) in problem.samplers.items()}
    try:
        return {"form": float(equivalent(solution.get(output, ""), problem.truth[output], box))}
    except ExpressionError:
        return {"form": 0.0}


def accepted(problem, solution, seed: int = 0) -> dict[str, float]:
    """Whether an answer to one of SRSD's laws is one of the forms that FastSRB accepts; arguments as for `score`."""
    (output,) = problem.outputs
    fresh = problem.draw(ROWS, generator(seed, problem.id, "confirmation"))
    sample = dict(zip(problem.inputs, fresh.X.T, strict=True))
    return {"accepted": accepted_form(solution.get(output, ""), problem.truth[output], sample)}
