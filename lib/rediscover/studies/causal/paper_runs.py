"""Recorded answers on the released series: every profile reads them, and the paper profile runs them again.

The constraint-based methods take hours; their answers are a table of the paper profile. Those of the two regressions
are derived numbers of this study.
"""

import functools
import importlib.metadata
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

from ...methods import Budget, Candidate, Method, Unsupported
from ...metrics import causal as metrics
from ...problems import Series
from ...problems.causal import LAG, load
from ...report.tables import Output
from ...system import derived
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
    frame["parents"] = [parents(graph) for graph in part["solution"]]
    out.runs(frame, PAPER_RUNS)


def parents(graph: Mapping[str, Any] | None) -> str:
    """A graph as JSON in the order of the variables: ``{"x0": [["x1", 1]], "x1": []}`` is ``[[1],[]]``."""
    if not graph:
        return ""
    numbers = [[int(parent[1:]) for parent, _ in graph[f"x{i}"]] for i in range(len(graph))]
    return json.dumps(numbers, separators=(",", ":"))


def _stored() -> list[dict]:
    path = root() / "tables" / f"{PAPER_RUNS}.csv"
    return pd.read_csv(path, keep_default_na=False).to_dict("records") if path.exists() else []


@functools.cache
def recorded() -> dict[str, dict[str, dict]]:
    """Problem -> method -> its recorded run: status, reason, and solution (child -> parents; None without one)."""
    found: dict[str, dict[str, dict]] = {}
    for run in [*derived.read("causal", "answers").fillna("").to_dict("records"), *_stored()]:
        found.setdefault(run["problem"], {})[run["method"]] = run | {"solution": _solution(run["parents"])}
    return found


def _solution(text: str) -> dict[str, tuple] | None:
    """What `parents` wrote: child -> its parents, with their lag; None where there is no answer."""
    numbers = enumerate(json.loads(text or "[]"))
    return {f"x{child}": tuple((f"x{j}", LAG) for j in some) for child, some in numbers} or None


@dataclass(frozen=True)
class Recorded(Method):
    """A method's recorded answers on the released series, under its name and with its settings; no series is read.

    Attributes
    ----------
    method : its ``max_variables`` holds here as in a run.
    """

    method: Method
    accepts: ClassVar[tuple[type, ...]] = (Series,)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.method.name

    @property
    def settings(self) -> dict[str, Any]:
        return self.method.settings

    @property
    def version(self) -> str:
        return f"{super().version}-{derived.digest('causal', 'answers')}-{len(_stored())}"

    def available(self) -> str | None:
        known = any(self.name in runs for runs in recorded().values())
        return None if known else f"no answers of {self.name} on the released series are recorded"

    def solve(self, problem: Any, *, budget: Budget | Mapping | None = None, seed: int = 0) -> list[Candidate]:
        limit, n = self.settings.get("max_variables"), len(problem.inputs)
        if limit is not None and n > limit:
            raise Unsupported(f"{problem.id} has {n} variables, the limit is {limit}")
        run = recorded()[problem.id][self.name]
        if run["solution"] is None:
            raise Unsupported(run["reason"])
        return [Candidate(run["solution"], complexity=sum(map(len, run["solution"].values())))]


def in_place_of(method: Method) -> Method:
    """The recorded answers of a method, or the method itself where none are recorded."""
    return method if Recorded(method).available() else Recorded(method)


def paper_runs() -> pd.DataFrame:
    """The stored runs of the constraint-based methods on the released series of all graphs, scored now.

    Returns
    -------
    DataFrame with `COLUMNS`
        scoring is empty where there is an answer; solution is a frozenset of (parent, child, lag). Without the
        file there are no rows.
    """
    rows = []
    for run in _stored():
        row = {name: run[name] for name in ("problem", "method", "status", "reason")}
        solution = _solution(run["parents"])
        row |= {"seconds": float(run["took_seconds"]), "scoring": "" if solution else "nothing to score"}
        if solution:
            graph = load(run["problem"].rpartition("/")[2])
            row |= graph_scores(solution, graph.edges) | {"solution": frozenset(metrics.edges(solution))}
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)
