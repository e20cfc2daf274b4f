"""Tested reasons: cells that differ, run again with what may be the cause. Rules: trials.yaml; results: trials.csv."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from ...methods import Budget, method
from ...problems import problem, problems
from ...runs import grid
from ...runs.selection import Fittest
from ...system.studies import FOLDER
from .analysis import CELL, compare_cells, label, printed_cells, score, texts

RESULTS = FOLDER / "mdbench" / "trials.csv"
COLUMNS = ["trial", "method", "dataset", "seed", *CELL, "equal"]
SECONDS = 43200.0  # what the paper allows


def rules() -> dict[str, dict]:
    """Name of a trial -> what it runs."""
    return yaml.safe_load((FOLDER / "mdbench" / "trials.yaml").read_text(encoding="utf-8"))


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
    plain = method(rule["method"], **rule.get("settings", {}))
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


def _read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype={"exponent": "Int64", "complexity": "Int64"})


def reasons(path: Path = RESULTS) -> dict[tuple[str, str], str]:
    """(method, dataset) as printed -> what the trials of a cell gave, in words."""
    known, found = rules(), dict[tuple[str, str], list[str]]()
    for (trial, name, dataset), part in _read(path).groupby(["trial", "method", "dataset"], sort=False):
        *before, last = texts(part)
        if not part["equal"].any():
            outcome = f"not as printed, {', '.join([*before, last])}"
        else:
            outcome = "as printed" + (f" with seed {len(before)}, before it {', '.join(before)}" if before else "")
        found.setdefault((name, dataset), []).append(f"with {known[trial]['says']}: {outcome}")
    return {cell: "; ".join(tested) for cell, tested in found.items()}


def retest(names: Iterable[str] = (), path: Path = RESULTS) -> Path:
    """Run the named trials, by default all, and put their rows in place of those in trials.csv.

    Parameters
    ----------
    names : as in trials.yaml
    path : of the file

    Returns
    -------
    Path
        The same.

    Raises
    ------
    KeyError
        If there is no such trial.
    """
    known = rules()
    for name in list(names) or known:
        found = run(known[name]).assign(trial=name)
        kept = _read(path).query("trial != @name") if path.exists() else pd.DataFrame(columns=COLUMNS)
        whole = pd.concat([part for part in (kept, found[COLUMNS]) if len(part)])
        order = whole["trial"].map(list(known).index)
        whole.assign(order=order).sort_values("order", kind="stable")[COLUMNS].to_csv(path, index=False)
    return path
