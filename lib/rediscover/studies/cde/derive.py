"""What this study derives from SymbolBench's released runs, which state no licence (see `system.derived`)."""

import re

import numpy as np
import pandas as pd

from ...expressions import parse
from ...expressions.integration import simulate
from ...metrics.trajectories import r2_trajectories
from ...problems import cde
from ...search.verification_loop import SOLVER
from ...system.derived import Table
from ...system.upstream_files import fetch_json

RUNS, FILE = "nuuuh/SymbolBench-runs", "released_outputs.json.gz"


def best_r2(run: dict) -> float:
    """R2 of a run's best candidate, integrated as in the released loop; NaN for the systems flagged ``altered``."""
    problem = cde.load(run["truth"])
    if "altered" in problem.flags:
        return np.nan
    texts = [re.sub(r"\bx_(\d+)\b", r"x\1", text) for text in run["candidates"][0][1]]
    answer = {state: parse(text) for state, text in zip(problem.inputs, texts, strict=True)}
    t, initial = problem.times(), problem.initial_state()
    truth = simulate(problem.expressions, initial, t, solver=SOLVER)
    return r2_trajectories(simulate(answer, initial, t, solver=SOLVER), truth)


def released() -> pd.DataFrame:
    """A row for each released run without noise.

    Columns: model, reasoning ('with', 'without'), number (the release's of the system), system; of the best answer r2
    (stored) and r2_again (`best_r2`); of the first epoch with an answer and of the last the best R2 and its complexity.
    """
    rows = []
    for run in fetch_json(RUNS, FILE)["items"]:
        if run["task"] != "DE" or run["noise"]:
            continue
        answered, curve = bool(run["candidates"]), run["best_curve"] or [[None] * 3]
        rows.append(
            {
                "model": run["model"].removesuffix("-free"),
                "reasoning": {"w": "with", "wo": "without"}[run["setting"].split("_")[-2]],
                "number": run["upstream_idx"],
                "system": run["truth"],
                "r2": run["candidates"][0][2] if answered else np.nan,
                "r2_again": round(best_r2(run), 8) if answered else np.nan,
                **dict(zip(("first_r2", "first_complexity"), curve[0][1:], strict=True)),
                **dict(zip(("last_r2", "last_complexity"), curve[-1][1:], strict=True)),
            }
        )
    return pd.DataFrame(rows)


TABLES = {"released_runs": Table(released, RUNS, (FILE,))}
