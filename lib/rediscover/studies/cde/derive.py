"""What this study derives from SymbolBench's released runs, which state no licence (see `system.derived`)."""

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from ...expressions import Expression, parse
from ...expressions.integration import simulate
from ...metrics.trajectories import r2_trajectories
from ...problems import cde
from ...problems.cde import CoupledODE
from ...search.loops.verification_loop import SOLVER
from ...system.derived import Table
from ...system.upstream_files import fetch_json

RUNS, FILE = "nuuuh/SymbolBench-runs", "released_outputs.json.gz"
LEAST_R2 = -1.0  # what is stored of any lower R2: they are all 0 in SR2, and the lowest depend on the machine


def read_equations(texts: Iterable[str], problem: CoupledODE) -> dict[str, Expression]:
    """The right-hand sides of a released candidate, parsed, never executed: state -> Expression."""
    names = (re.sub(r"\bx_(\d+)\b", r"x\1", text) for text in texts)
    return {state: parse(text) for state, text in zip(problem.inputs, names, strict=True)}


def best_r2(run: dict) -> float:
    """R2 of a run's best candidate, integrated as in the released loop; NaN for the systems flagged ``altered``."""
    problem = cde.load(run["truth"])
    if "altered" in problem.flags:
        return np.nan
    answer = read_equations(run["candidates"][0][1], problem)
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
                "reasoning": "with" if _thinks(run) else "without",
                "number": run["upstream_idx"],
                "system": run["truth"],
                "r2": run["candidates"][0][2] if answered else np.nan,
                "r2_again": round(best_r2(run), 8) if answered else np.nan,
                **dict(zip(("first_r2", "first_complexity"), curve[0][1:], strict=True)),
                **dict(zip(("last_r2", "last_complexity"), curve[-1][1:], strict=True)),
            }
        )
    return pd.DataFrame(rows)


def answers() -> pd.DataFrame:
    """The answer of each released run, with noise or without, scored as answers are here.

    The answer is the candidate that the release selects: the least complex of those with R2 of 0.99 (else 0.9, else
    the best). Both scores are on clean trajectories; the second initial state of published models is drawn here.

    Returns
    -------
    DataFrame
        Columns: model, reasoning ('with', 'without'), noise (relative, of the series that the model was given), system,
        epochs (until the loop stopped), r2_id, r2_ood (at least `LEAST_R2`; NaN without an answer, where its
        integration fails, and for the systems flagged ``altered``).
    """
    rows = []
    for run in (run for run in fetch_json(RUNS, FILE)["items"] if run["task"] == "DE"):
        problem, r2 = cde.load(run["truth"]), dict.fromkeys(("id", "ood"), np.nan)
        if run["candidates"] and "altered" not in problem.flags:
            equations = read_equations(run["candidates"][run["selected"]][1], problem)
            r2 = {split: _trajectory_r2(equations, problem, split) for split in r2}
        about = {"model": run["model"].removesuffix("-free"), "reasoning": "with" if _thinks(run) else "without"}
        about |= {"noise": run["noise"], "system": run["truth"], "epochs": run["epochs_run"]}
        rows.append(about | {f"r2_{split}": value for split, value in r2.items()})
    return pd.DataFrame(rows)


def _thinks(run: dict) -> bool:
    """Whether a run was set to reason, by the name of its setting; runs of the study of noise are not."""
    return "_w_thinking" in run["setting"]


def _trajectory_r2(equations: dict[str, Expression], problem: CoupledODE, split: str) -> float:
    states = simulate(equations, problem.initial_state(split), problem.times())
    return round(float(np.maximum(r2_trajectories(states, problem.solution(split)), LEAST_R2)), 8)


TABLES = {"released_runs": Table(released, RUNS, (FILE,)), "released_answers": Table(answers, RUNS, (FILE,))}
