"""Scores of a causal graph: the rule for language models, the rule for baselines, and one rule for both."""

import numpy as np

from ...metrics import causal as metrics
from ...system.upstream_files import ReleasedError

RULES = ("pairs", "triples", "directed")  # for language models; for baselines; one for both
GRAPH_METRICS = [getattr(metrics, f"{name}_{rule}") for rule in RULES for name in ("f1", "precision", "recall", "fdr")]
GRAPH_METRICS += [metrics.shd, metrics.shd_transposed]


def graph_scores(solution, truth: set[tuple[str, str, int]]) -> dict[str, float]:
    """The measures that need no series, by name, and the number of edges; truth as (parent, child, lag)."""
    found = metrics.edges(solution)
    return {metric.__name__: metric(found, truth) for metric in GRAPH_METRICS} | {"edges": len(found)}


def score(problem, solution, seed: int = 0) -> dict[str, float]:
    """Every measure of a graph.

    Parameters
    ----------
    problem : CausalSeries
    solution : child -> iterable of (parent, lag)
        Children may be missing; a variable that the problem does not have counts as a wrong edge.

    Returns
    -------
    dict of metric name -> value
        `graph_scores`, and the two CI-scores; these are NaN where the series cannot be had or the graph has a
        variable that it lacks.
    """
    scores, found = graph_scores(solution, problem.edges), metrics.edges(solution)
    series = None
    if all({parent, child} <= set(problem.inputs) for parent, child, _ in found):
        try:
            series = dict(zip(problem.inputs, problem.series().T, strict=True))
        except ReleasedError:
            pass
    for metric in (metrics.ci_score_effective, metrics.ci_score_partial):
        scores[metric.__name__] = np.nan if series is None else metric(found, series)
    return scores
