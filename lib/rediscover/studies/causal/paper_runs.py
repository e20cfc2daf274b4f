"""Runs of the constraint-based methods on the released series of all graphs: hours, so they are recorded.

They are records as all others (`rediscover.runs.records`), at the budget of the paper profile. Their series state no
licence and are not passed on, so that only a machine that has the authors' file can do them again.
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from ... import params
from ...metrics import causal as metrics
from ...problems import problem
from ...problems.causal import ids
from ...report.comparisons import build_methods
from ...runs import plan, records
from ...runs.run import Run
from ...system.paths import root
from ...system.store import Store
from .params import CausalGraphs
from .scores import GRAPH_METRICS, graph_scores

CONSTRAINT_BASED = ("pcmci", "lpcmci", "jpcmci_plus")  # the paper's baselines
RECORDED = (*CONSTRAINT_BASED, "granger", "var_lasso")
COLUMNS = ["problem", "method", "status", "reason", "seconds", "scoring"]
COLUMNS += [*(metric.__name__ for metric in GRAPH_METRICS), "edges", "solution"]


def planned(names: Sequence[str] = CONSTRAINT_BASED) -> list[Run]:
    """The runs of methods on the released series of all graphs, with limits and budget of the paper profile."""
    p: Any = params.read(root() / "params" / f"{CausalGraphs.notebook}.yaml", "paper")
    settings = {name: {"max_variables": limit} for name, limit in p.max_variables.items()}
    methods = build_methods(names, settings=settings)
    return plan([problem(f"causal/{name}") for name in ids()], methods, budget=p.budget)


def record(store: Path) -> int:
    """Record those of the planned runs that a store holds; how many are new.

    Raises
    ------
    records.RecordError
        If one is recorded with another answer.
    """
    runs = [run for run in planned(RECORDED) if not run.method.refusal(run.problem)]
    with closing(Store(store, shared=True)) as opened:
        found = opened.get([run.key for run in runs])
    return records.add(records.record(run, found[run.key]) for run in runs if run.key in found)


def paper_runs(names: Sequence[str] = CONSTRAINT_BASED) -> pd.DataFrame:
    """The recorded runs on the released series of all graphs, scored now, and those that the methods refuse.

    Returns
    -------
    DataFrame with `COLUMNS`
        scoring is empty where there is an answer; solution is a frozenset of (parent, child, lag). Without records, as
        with REDISCOVER_FRESH=1, there are no rows.
    """
    runs, rows = planned(names), []
    found = records.lines(runs)
    for run, line in zip(runs, found, strict=True) if any(found) else ():
        refusal = "" if line else run.method.refusal(run.problem)
        if not line and not refusal:
            continue
        line = line or {"status": "unsupported", "reason": refusal, "candidates": [], "seconds": 0.0}
        graph: Any = run.problem
        row: dict[str, Any] = {"problem": graph.id, "method": run.method.name}
        row |= {name: line[name] for name in ("status", "reason", "seconds")}
        row["scoring"] = "" if line["candidates"] else "nothing to score"
        if line["candidates"]:
            solution = line["candidates"][0]["solution"]
            row |= graph_scores(solution, graph.edges) | {"solution": frozenset(metrics.edges(solution))}
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)
