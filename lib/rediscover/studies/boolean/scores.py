"""Scores of a Boolean network: pooled as published, by node as in the paper's formula, and by truth table."""

import numpy as np

from ...expressions import ExpressionError, parse
from ...metrics import boolean as metrics
from ...metrics.complexity import operations

POOLED = [metrics.precision_pooled, metrics.recall_pooled, metrics.f1_pooled, metrics.accuracy_pooled]
POOLED += [metrics.informedness_pooled]


def score(problem, solution, seed: int = 0) -> dict[str, float]:
    """Every measure of a set of rules.

    Parameters
    ----------
    problem : BooleanNetwork
    solution : node -> text of its rule
        A node without a rule, or with one that cannot be read, has no value: pooled measures take it for 1, as
        released (`metrics.boolean.missing_as_true`), the others count it as wrong.

    Returns
    -------
    dict of metric name -> value
        Measures of states end in ``_id`` on the training transitions, in ``_ood`` on the test transitions. With
        them: the share of equivalent rules, symbolic proximity and the number of operations, as released.
    """
    rules = {node: _read(solution.get(node)) for node in problem.truth}
    splits = problem.data(seed)
    scores = {}
    for suffix, split in (("id", splits["train"]), ("ood", splits["test"])):
        predicted = metrics.next_states(rules, split.X, problem.inputs)
        released = metrics.missing_as_true(predicted)
        for metric, states in [*((metric, released) for metric in POOLED), (metrics.f1_macro, predicted)]:
            scores[f"{metric.__name__}_{suffix}"] = metric(states, split.y) if len(split.y) else np.nan
    read = {node: rule for node, rule in rules.items() if rule is not None}
    scores["rules_equivalent"] = metrics.rules_equivalent(read, problem.expressions)
    scores["proximity_classes"] = metrics.proximity_classes(read, problem.expressions)
    scores["operations"] = operations(read.values())
    return scores


def _read(text):
    try:
        return None if text is None else parse(str(text), logic=True)
    except ExpressionError:
        return None
