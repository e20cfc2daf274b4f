"""Scores of a causal graph: the rule for language models, the rule for baselines, and one rule for both."""

import functools
import hashlib

import numpy as np

from ...metrics import causal as metrics
from ...system import derived
from ...system.upstream_files import ReleasedError

RULES = ("pairs", "triples", "directed")  # for language models; for baselines; one for both
GRAPH_METRICS = [getattr(metrics, f"{name}_{rule}") for rule in RULES for name in ("f1", "precision", "recall", "fdr")]
GRAPH_METRICS += [metrics.shd, metrics.shd_transposed]


def graph_scores(solution, truth: set[tuple[str, str, int]]) -> dict[str, float]:
    """The measures that need no series, by name, and the number of edges; truth as (parent, child, lag)."""
    found = metrics.edges(solution)
    return {metric.__name__: metric(found, truth) for metric in GRAPH_METRICS} | {"edges": len(found)}


def ci_scores(found, series) -> dict[str, float]:
    """Both CI-scores of edges, by name; series by variable, or None where they cannot be had."""
    both = (metrics.ci_score_effective, metrics.ci_score_partial)
    return {metric.__name__: np.nan if series is None else metric(found, series) for metric in both}


def graph_digest(found) -> str:
    """What a graph is known by among the recorded CI-scores."""
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest()[:12]


@functools.cache
def _recorded() -> dict[tuple[str, str], dict[str, float]]:
    return derived.read("causal", "scores").set_index(["problem", "graph"]).to_dict("index")


def external() -> str:
    """What scores depend on besides code."""
    return derived.digest("causal", "scores")


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
        `graph_scores`, and the two CI-scores: of recorded answers on the released series those of the record; NaN
        where the series cannot be had or the graph has a variable that it lacks.
    """
    scores, found = graph_scores(solution, problem.edges), metrics.edges(solution)
    known = _recorded().get((problem.id, graph_digest(found))) if problem.series_from == "released" else None
    if known:
        return scores | known
    series = None
    if all({parent, child} <= set(problem.inputs) for parent, child, _ in found):
        try:
            series = dict(zip(problem.inputs, problem.series().T, strict=True))
        except ReleasedError:
            pass
    return scores | ci_scores(found, series)
