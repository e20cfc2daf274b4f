"""Tested reasons: cells that differ, run again with what may be the cause. Rules: trials.yaml; results: trials.csv."""

from pathlib import Path

import numpy as np
import pandas as pd

from ... import params
from ...methods import Budget, method
from ...problems import problem, problems
from ...report import trials
from ...runs import grid
from ...runs.selection import Fittest
from ...system.paths import root
from .analysis import CELL, compare_cells, label, printed_cells, score, texts

RESULTS = trials.results("mdbench")
COLUMNS = ["trial", "method", "dataset", "seed", *CELL, "equal"]
SECONDS = 43200.0  # what the paper allows


def run(rule: dict, workers: int | None = 1) -> pd.DataFrame:
    """A row for each cell and seed of one trial: our cell as the paper prints it, and whether it is the printed one.

    Parameters
    ----------
    rule : as in trials.yaml
    workers : runs at a time

    Returns
    -------
    DataFrame
        `COLUMNS` without trial; systems in the order of the problems, each with seeds up to the first equal cell.
    """
    printed = set(pd.concat(map(printed_cells, rule["tables"]))["dataset"])
    ids = rule.get("only") or [id for kind in ("odes", "pdes") for id in problems(kind) if label(id) in printed]
    plain = method(rule["method"], **_settings(rule))
    budget = Budget(evaluations=rule.get("evaluations", 100_000), seconds=SECONDS, memory_mb=8192)
    parts = []
    for seed in range(rule["seeds"]):
        seen = [problem(id, **rule.get("options", {})) for id in ids]
        scored = score(grid(seen, [Fittest(plain)], seeds=[seed], budget=budget, workers=workers), seen)
        cells = compare_cells(scored.assign(snr_db=np.inf), rule["tables"])
        parts.append(cells.assign(seed=seed).rename(columns={f"{name}_rediscover": name for name in CELL}))
        left = set(cells.loc[~cells["equal"], "dataset"])
        ids = [id for id in ids if label(id) in left]
        if not ids:
            break
    return pd.concat(parts)[COLUMNS[1:]].sort_values(["dataset", "seed"], kind="stable")


def _settings(rule: dict) -> dict:
    given = rule.get("settings", {})
    if given != trials.PROFILE:
        return given
    return params.read(root() / "params" / "40_mdbench_odes.yaml", given).model_dump()["settings"][rule["method"]]


def _read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype={"exponent": "Int64", "complexity": "Int64"})


def reasons(path: Path = RESULTS) -> dict[tuple[str, str], str]:
    """(method, dataset) as printed -> what the trials of a cell gave, in words."""
    known, found = trials.rules("mdbench"), dict[tuple[str, str], list[str]]()
    for (trial, name, dataset), part in _read(path).groupby(["trial", "method", "dataset"], sort=False):
        *before, last = texts(part)
        if not part["equal"].any():
            outcome = f"not as printed, {', '.join([*before, last])}"
        else:
            outcome = "as printed" + (f" with seed {len(before)}, before it {', '.join(before)}" if before else "")
        found.setdefault((name, dataset), []).append(f"with {known[trial]['says']}: {outcome}")
    return {cell: "; ".join(tested) for cell, tested in found.items()}
