"""What SymbolBench's released runs on coupled equations say: Figure 3, refinement, and scores derived again.

Runs come from `system.upstream_files.model_runs("DE")`: dicts with model, setting, truth, upstream_idx, noise,
candidates (skeletons, equations, R2, complexity; best first) and best_curve ([epoch, best R2, its complexity]).
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from ...expressions import parse
from ...expressions.integration import simulate
from ...metrics.trajectories import r2_trajectories
from ...problems import cde
from ...search.verification_loop import SOLVER


def derive(run: dict) -> float:
    """R2 of a run's best candidate, integrated as in the released loop; NaN for the systems flagged ``altered``."""
    problem = cde.load(run["truth"])
    if "altered" in problem.flags:
        return np.nan
    texts = [re.sub(r"\bx_(\d+)\b", r"x\1", text) for text in run["candidates"][0][1]]
    answer = {state: parse(text) for state, text in zip(problem.inputs, texts, strict=True)}
    t, initial = problem.times(), problem.initial_state()
    truth = simulate(problem.expressions, initial, t, solver=SOLVER)
    return r2_trajectories(simulate(answer, initial, t, solver=SOLVER), truth)


def figure3(released: list[dict]) -> pd.DataFrame:
    """Figure 3 (a) from the stored scores beside what the paper draws.

    Returns
    -------
    DataFrame
        Index: model and reasoning ('without', 'with'). Columns: runs, SR2 and ACC (shares, with the paper's
        divisors), "SR2 drawn" and "ACC drawn" (NaN where not recovered).
    """
    facts = yaml.safe_load(Path(__file__).with_name("figure3.yaml").read_text(encoding="utf-8"))
    reasoning = {"w": "with", "wo": "without"}
    best = pd.DataFrame(
        {
            "model": run["model"].removesuffix("-free"),
            "reasoning": reasoning.get(run["setting"].split("_")[-2]),
            "r2": run["candidates"][0][2] if run["candidates"] else np.nan,
        }
        for run in released
        if run["upstream_idx"] <= facts["last"]
    )
    r2 = best.groupby(["model", "reasoning"])["r2"]
    points = pd.DataFrame(facts["points"], columns=["model", "reasoning", "SR2 drawn", "ACC drawn"])
    return points.set_index(["model", "reasoning"]).assign(
        runs=r2.size(),
        SR2=r2.agg(lambda values: values.clip(lower=0).sum()) / facts["divisor"]["sr2"],
        ACC=r2.agg(lambda values: (values >= 0.9).sum()) / facts["divisor"]["acc_0.9"],
    )[["runs", "SR2", "SR2 drawn", "ACC", "ACC drawn"]]


def refinement(released: list[dict]) -> dict[str, float]:
    """What the epochs of the loop bring, over runs with an answer.

    Returns
    -------
    dict
        runs; gain, the median rise of the best R2 (at least 0) from the first epoch with an answer to the last;
        improved, the share of runs in which it rose; more_complex, the share of those whose answer got more complex.

    Examples
    --------
    >>> found = refinement([{"best_curve": [[0, 0.5, 9.0], [3, 0.75, 4.0]]}, {"best_curve": []}])
    >>> found["runs"], found["gain"], found["improved"], found["more_complex"]
    (1, 0.25, 1.0, 0.0)
    """
    curves = [np.array(run["best_curve"], dtype=float) for run in released if run["best_curve"]]
    first, last = np.array([curve[0] for curve in curves]), np.array([curve[-1] for curve in curves])
    gain = np.clip(last[:, 1], 0, None) - np.clip(first[:, 1], 0, None)
    rose = gain > 0
    return {
        "runs": len(curves),
        "gain": float(np.median(gain)),
        "improved": float(rose.mean()),
        "more_complex": float((last[rose, 2] > first[rose, 2]).mean()),
    }
