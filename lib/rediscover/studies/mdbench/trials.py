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


def run(rule: dict, kept: pd.DataFrame | None = None, workers: int | None = 1) -> pd.DataFrame:
    """A row for each cell of one trial: what each seed gives, as the paper prints a cell.

    Parameters
    ----------
    rule : as in trials.yaml
    kept : DataFrame, optional
        Rows of trials.csv; seeds whose values they hold, the first ones of each cell, are not run again.
    workers : runs at a time

    Returns
    -------
    DataFrame
        `report.trials.COLUMNS` without trial, in the order of the problems.
    """
    printed = pd.concat([printed_cells(name).assign(table=name) for name in rule["tables"]])
    tables = printed.drop_duplicates("dataset").set_index("dataset")["table"].map(papers.tables()["table"])
    ids = rule.get("only") or [id for kind in ("odes", "pdes") for id in problems(kind) if label(id) in tables.index]
    search, budget = searched(rule)
    # Beside it the answer zero, so that there are scores where the method has no answer at all.
    methods = [search, Fittest(method("zero"))]
    values: dict[str, list[str]] = {label(id): [] for id in ids}
    if kept is not None:
        values |= {row: json.loads(found) for row, found in zip(kept["row"], kept["values"], strict=True)}
    for seed in range(rule["seeds"]):
        if seen := [problem(id, **rule.get("options", {})) for id in ids if len(values[label(id)]) <= seed]:
            scored = score(grid(seen, methods, seeds=[seed], budget=budget, workers=workers), seen)
            cells = compare_cells(scored, rule["tables"], "package" if rule.get("package") else "method")
            for dataset, text in zip(cells["dataset"], texts(cells, "_rediscover"), strict=True):
                values[dataset].append(text)
    found = [(tables[row], row, rule["label"], json.dumps(texts), "") for row, texts in values.items() if texts]
    return pd.DataFrame(found, columns=trials.COLUMNS[1:])


def searched(rule: dict) -> tuple[Fittest, Budget]:
    """The method of a trial, whose candidate of highest fitness is the answer, and its budget.

    Its settings are those of the rule, or those of a profile of notebook 40 that the rule names.
    """
    settings = rule.get("settings", {})
    if settings == trials.PROFILE:
        profile = params.read(root() / "params" / "40_mdbench_odes.yaml", settings)
        settings = profile.model_dump()["settings"][rule["method"]]
    budget = Budget(evaluations=rule.get("evaluations", 100_000), seconds=SECONDS, memory_mb=8192)
    return Fittest(method(rule["method"], **settings)), budget
