"""Scores of a causal graph: the rule for language models, the rule for baselines, and one rule for both."""

import numpy as np

from ...metrics import causal as metrics
from ...system.upstream_files import ReleasedError

GRAPH_METRICS = [
    getattr(metrics, f"{measure}_{rule}")
    for rule in ("pairs", "triples", "directed")
    for measure in ("f1", "precision", "recall", "fdr")
] + [metrics.shd, metrics.shd_transposed]


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
        The published rules (``_pairs``, ``_triples``), the harmonised one (``_directed``), both distances,
        the number of edges, and the two CI-scores; these are NaN where the series cannot be had or the graph
        has a variable that it lacks.
    """
    found, truth = metrics.edges(solution), problem.edges
    scores = {metric.__name__: metric(found, truth) for metric in GRAPH_METRICS}
    scores["edges"] = len(found)
    known = set(problem.inputs)
    series = None
    if all({parent, child} <= known for parent, child, _ in found):
        try:
            series = dict(zip(problem.inputs, problem.series().T, strict=True))
        except ReleasedError:
            pass
    for metric in (metrics.ci_score_effective, metrics.ci_score_partial):
        scores[metric.__name__] = np.nan if series is None else metric(found, series)
    return scores
