"""Stored runs of the paper profile: they take hours, so every profile reads their answers and scores them."""

import importlib.metadata
import json

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

from ...metrics import causal as metrics
from ...problems.causal import load
from ...report.tables import Output
from ...system.paths import root
from .scores import GRAPH_METRICS, graph_scores

CONSTRAINT_BASED = ("pcmci", "lpcmci", "jpcmci_plus")  # the paper's baselines
PAPER_RUNS = "causal_recorded"  # the file among the tables
COLUMNS = ["problem", "method", "status", "reason", "seconds", "scoring"]
COLUMNS += [*(metric.__name__ for metric in GRAPH_METRICS), "edges", "solution"]


def keep_paper_runs(records: pd.DataFrame, out: Output) -> None:
    """Write the answers of the constraint-based methods of a grid, as numbers of each variable's parents."""
    part = records[records["method"].isin(CONSTRAINT_BASED) & (records["status"] != "unavailable")]
    if part.empty:
        return  # without tigramite there is nothing to keep, and what is kept stays
    # The last digits of a regression are those of the kernels of linear algebra, such as ``openblas Haswell``.
    kernels = {f"{entry['internal_api']} {entry.get('architecture', '')}".strip() for entry in threadpool_info()}
    ran = {"tigramite": importlib.metadata.version("tigramite"), "numpy": np.__version__}
    ran["blas"] = ", ".join(sorted(kernels - {"openmp"}))
    frame = part[["problem", "method", "status", "reason"]].assign(**ran)
    frame["took_seconds"] = part["seconds"].round(1).astype(str)  # as text: `runs` puts times elsewhere
    frame["parents"] = [_numbers(graph) for graph in part["solution"]]
    out.runs(frame, PAPER_RUNS)


def _numbers(graph: dict | None) -> str:
    """A graph as JSON in the order of the variables: ``{"x0": [["x1", 1]], "x1": []}`` is ``[[1],[]]``."""
    if not graph:
        return ""
    numbers = [[int(parent[1:]) for parent, _ in graph[f"x{i}"]] for i in range(len(graph))]
    return json.dumps(numbers, separators=(",", ":"))


def paper_runs() -> pd.DataFrame:
    """The stored runs on the released series of all graphs, scored now.

    Returns
    -------
    DataFrame with `COLUMNS`
        scoring is empty where there is an answer; solution is a frozenset of (parent, child, lag). Without the
        file there are no rows.
    """
    path, rows = root() / "tables" / f"{PAPER_RUNS}.csv", []
    stored = pd.read_csv(path, keep_default_na=False).to_dict("records") if path.exists() else []
    for run in stored:
        graph = load(run["problem"].rpartition("/")[2])
        row = {name: run[name] for name in ("problem", "method", "status", "reason")}
        row |= {"seconds": float(run["took_seconds"]), "scoring": "" if run["parents"] else "nothing to score"}
        if run["parents"]:
            parents = zip(graph.inputs, json.loads(run["parents"]), strict=True)
            solution = {child: [(f"x{j}", 1) for j in numbers] for child, numbers in parents}
            row |= graph_scores(solution, graph.edges) | {"solution": frozenset(metrics.edges(solution))}
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)
