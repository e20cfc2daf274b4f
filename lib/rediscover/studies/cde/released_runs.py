"""What SymbolBench's released runs on coupled equations say: Figure 3, and scores derived again."""

import importlib.resources
import re
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from ...expressions import parse
from ...metrics.trajectories import r2_trajectories
from ...problems import cde
from ...system.upstream_files import model_runs


def runs(folder: Path | None = None) -> list[dict] | None:
    """Released runs on noise-free series, or None where the file of them is not beside the repository.

    Parameters
    ----------
    folder : as for `model_runs`

    Returns
    -------
    list of dict with model, setting, truth, upstream_idx, candidates (skeletons, equations, R2, complexity; best
    first), best_curve ([epoch, best R2, its complexity] at each change)
    """
    found = model_runs("DE", folder)
    return found and [run for run in found if run["noise"] == 0]


def derive(run: dict) -> float:
    """R2 of the best candidate, integrated here from the truth's initial state with the settings of the loop.

    The truth is integrated from the benchmark's equation, which in five entries is not the model's
    (`cde.load`, flag ``altered``); NaN for these.
    """
    problem = cde.load(run["truth"])
    if "altered" in problem.flags:
        return np.nan
    texts = [re.sub(r"\bx_(\d+)\b", r"x\1", text) for text in run["candidates"][0][1]]
    answer = {state: parse(text) for state, text in zip(problem.inputs, texts, strict=True)}
    t, initial = problem.times(), problem.initial_state()
    truth = cde.simulate(problem.expressions, initial, t, solver=cde.LOOP)
    return r2_trajectories(cde.simulate(answer, initial, t, solver=cde.LOOP), truth)


def gaps(released: list[dict]) -> np.ndarray:
    """Distance of each stored R2 from that of `derive`, relative where it is beyond 1; runs without an answer,
    and those on altered equations, left out."""
    pairs = [(run["candidates"][0][2], derive(run)) for run in released if run["candidates"]]
    stored, found = np.array(pairs, dtype=float).reshape(-1, 2).T
    known = ~np.isnan(found)
    return (np.abs(found - stored) / np.maximum(1.0, np.abs(stored)))[known]


def figure3(released: list[dict]) -> pd.DataFrame:
    """Figure 3 (a) from the stored scores beside what the paper draws; one row per point.

    Returns
    -------
    DataFrame with model, reasoning, runs, SR2, ACC (in both, the paper's divisors) and the values drawn
    """
    text = importlib.resources.files(__package__).joinpath("analysis.yaml").read_text(encoding="utf-8")
    facts = yaml.safe_load(text)["figure3"]
    rows = []
    for model, reasoning, sr2, accuracy in facts["points"]:
        part = [
            run
            for run in released
            if run["model"].removesuffix("-free") == model
            and run["setting"].endswith({"with": "_w_thinking", "without": "_wo_thinking"}[reasoning])
            and run["upstream_idx"] <= facts["last"]
        ]
        r2 = np.array([run["candidates"][0][2] if run["candidates"] else np.nan for run in part])
        rows.append(
            {
                "model": model,
                "reasoning": reasoning,
                "runs": len(part),
                "SR2": np.nansum(np.clip(r2, 0, None)) / facts["divisor"]["sr2"],
                "SR2 drawn": sr2,
                "ACC": np.sum(r2 >= 0.9) / facts["divisor"]["acc_0.9"],
                "ACC drawn": np.nan if accuracy is None else accuracy,
            }
        )
    return pd.DataFrame(rows).set_index(["model", "reasoning"])


def refinement(released: list[dict]) -> dict[str, float]:
    """What the epochs of the loop bring: of runs with an answer in the first epoch, medians and shares.

    Returns
    -------
    dict with runs, gain (median rise of the best R2 from the first epoch with an answer to the last, both at
    least 0), improved (share of runs whose best R2 rose at all), complexity (share of those whose answer got
    more complex)
    """
    curves = [np.array(run["best_curve"], dtype=float) for run in released if run["best_curve"]]
    first, last = np.array([curve[0] for curve in curves]), np.array([curve[-1] for curve in curves])
    gain = np.clip(last[:, 1], 0, None) - np.clip(first[:, 1], 0, None)
    rose = gain > 0
    return {
        "runs": len(curves),
        "gain": float(np.median(gain)),
        "improved": float(rose.mean()),
        "complexity": float((last[rose, 2] > first[rose, 2]).mean()),
    }
