"""What this study derives from the released series and prompts, which state no licence (see `system.derived`)."""

import pandas as pd

from ... import method
from ...metrics import causal as metrics
from ...problems.causal import RECORDS, ids, load, released_contexts
from ...system.derived import Table
from ...system.upstream_files import fetch_json
from . import paper_runs
from .scores import ci_scores, graph_digest, graph_scores

RUNS, FILE = "nuuuh/SymbolBench-runs", "released_outputs.json.gz"
MEASURES = ("edges", "f1_pairs", "precision_triples", "recall_triples", "f1_triples", "f1_directed", "shd")


def scores() -> pd.DataFrame:
    """CI-scores on the released series, of the recorded answers and of graphs that need no data.

    Columns: problem, graph (digest of its edges), ci_score_effective, ci_score_partial.
    """
    found = {}
    runs = paper_runs.paper_runs(paper_runs.RECORDED)
    recorded = runs[runs["scoring"] == ""].groupby("problem")["solution"].agg(list)
    for graph in map(load, ids()):
        series = dict(zip(graph.inputs, graph.series().T, strict=True))
        trivial = (method(name).solve(graph)[0].solution for name in ("oracle", "self_edges", "complete_graph"))
        for edges in [*map(metrics.edges, trivial), *recorded.get(graph.id, [])]:
            found[graph.id, graph_digest(edges)] = ci_scores(edges, series)
    return pd.DataFrame(found).T.sort_index().rename_axis(["problem", "graph"]).reset_index()


def prompts() -> pd.DataFrame:
    """Whether a released prompt names variables of another model, another number of them, and the right domain."""
    rows = []
    for id, (names, domain) in released_contexts().items():
        graph = load(id.rpartition("/")[2])
        rows.append((id, names != graph.states, len(names) != len(graph.states), domain == graph.domain))
    columns = ["problem", "names of another model", "another number of names", "domain right"]
    return pd.DataFrame(rows, columns=columns)


def released() -> pd.DataFrame:
    """The first candidate of each released run, as the release takes it: its graph scored, no text.

    Returns
    -------
    DataFrame
        Columns: model, reasoning ('with', 'without'), noise (relative, of the series that the model was given),
        problem, edges, and of `graph_scores` `MEASURES`; NaN for a run without a candidate.
    """
    rows = []
    for run in (run for run in fetch_json(RUNS, FILE)["items"] if run["task"] == "SCM"):
        graph, scores = load(run["truth"]), {}
        if run["candidates"]:
            found = run["candidates"][0][0]
            solution = {child: tuple(map(tuple, parents)) for child, parents in found.items()}
            measures = graph_scores(solution, graph.edges)
            scores = {name: measures[name] for name in MEASURES}
        thinks = "_w_thinking" in run["setting"]
        about = {"model": run["model"], "reasoning": "with" if thinks else "without", "noise": run["noise"]}
        rows.append(about | {"problem": graph.id} | scores)
    return pd.DataFrame(rows)


TABLES = {function.__name__: Table(function, RECORDS[0], RECORDS[1:]) for function in (scores, prompts)}
TABLES["released_runs"] = Table(released, RUNS, (FILE,))
