"""Trials of MDBench: cells of its tables, run again with what may be the cause. By trials.yaml; results: trials.csv."""

import json

import pandas as pd

from ... import params
from ...methods import Budget, method
from ...problems import problem, problems
from ...report import papers, trials
from ...runs import grid
from ...runs.selection import Fittest
from ...system.paths import root
from .analysis import compare_cells, label, printed_cells, score, texts

SECONDS = 43200.0  # what the paper allows


def run(rule: dict, workers: int | None = 1) -> pd.DataFrame:
    """A row for each cell of one trial: what each seed gives, as the paper prints a cell.

    Parameters
    ----------
    rule : as in trials.yaml
    workers : runs at a time

    Returns
    -------
    DataFrame
        `report.trials.COLUMNS` without trial, in the order of the problems.
    """
    printed = pd.concat([printed_cells(name).assign(table=name) for name in rule["tables"]])
    tables = printed.drop_duplicates("dataset").set_index("dataset")["table"].map(papers.tables()["table"])
    ids = rule.get("only") or [id for kind in ("odes", "pdes") for id in problems(kind) if label(id) in tables.index]
    plain = method(rule["method"], **_settings(rule))
    budget = Budget(evaluations=rule.get("evaluations", 100_000), seconds=SECONDS, memory_mb=8192)
    seen = [problem(id, **rule.get("options", {})) for id in ids]
    found = []
    for seed in range(rule["seeds"]):
        scored = score(grid(seen, [Fittest(plain)], seeds=[seed], budget=budget, workers=workers), seen)
        cells = compare_cells(scored, rule["tables"])
        found.append(cells.assign(text=texts(cells, "_rediscover"), seed=seed))
    values = pd.concat(found).sort_values("seed", kind="stable").groupby(["dataset", "method"], sort=False)["text"]
    frame = values.agg(list).map(json.dumps).rename("values").reset_index()
    frame = frame.rename(columns={"dataset": "row", "method": "column"}).assign(digits="")
    return frame.assign(table=frame["row"].map(tables))[trials.COLUMNS[1:]]


def _settings(rule: dict) -> dict:
    given = rule.get("settings", {})
    if given != trials.PROFILE:
        return given
    return params.read(root() / "params" / "40_mdbench_odes.yaml", given).model_dump()["settings"][rule["method"]]
