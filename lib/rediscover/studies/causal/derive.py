"""What this study derives from the released series and prompts, which state no licence (see `system.derived`)."""

import itertools

import pandas as pd

from ... import method
from ...methods import Unsupported
from ...metrics import causal as metrics
from ...problems.causal import RECORDS, ids, load, released_contexts
from ...system.derived import Table
from . import paper_runs
from .scores import ci_scores, graph_digest


def answers() -> pd.DataFrame:
    """The regressions' graphs on the released series: problem, method, status, reason, parents (numbers, JSON)."""
    rows = []
    for graph, name in itertools.product(map(load, ids()), ("granger", "var_lasso")):
        row = {"problem": graph.id, "method": name, "status": "ok", "reason": "", "parents": ""}
        try:
            (candidate,) = method(name).solve(graph)
            row["parents"] = paper_runs.parents(candidate.solution)
        except Unsupported as error:
            row |= {"status": "unsupported", "reason": str(error)}
        rows.append(row)
    return pd.DataFrame(rows).replace("", None)


def scores() -> pd.DataFrame:
    """CI-scores on the released series, of the recorded answers and of graphs that need no data.

    Columns: problem, graph (digest of its edges), ci_score_effective, ci_score_partial.
    """
    found = {}
    for graph in map(load, ids()):
        series = dict(zip(graph.inputs, graph.series().T, strict=True))
        known = [method(name).solve(graph)[0].solution for name in ("oracle", "self_edges", "complete_graph")]
        known += [run["solution"] for run in paper_runs.recorded().get(graph.id, {}).values() if run["solution"]]
        for edges in map(metrics.edges, known):
            found[graph.id, graph_digest(edges)] = ci_scores(edges, series)
    return pd.DataFrame(found).T.rename_axis(["problem", "graph"]).reset_index()


def prompts() -> pd.DataFrame:
    """Whether a released prompt names variables of another model, another number of them, and the right domain."""
    rows = []
    for id, (names, domain) in released_contexts().items():
        graph = load(id.rpartition("/")[2])
        rows.append((id, names != graph.states, len(names) != len(graph.states), domain == graph.domain))
    columns = ["problem", "names of another model", "another number of names", "domain right"]
    return pd.DataFrame(rows, columns=columns)


TABLES = {function.__name__: Table(function, RECORDS[0], RECORDS[1:]) for function in (answers, scores, prompts)}
