"""Which rankings of methods change with the definition, and what each study says of its answers.

A method's number under each of `cross.DEFINITIONS` is made as that paper makes it. The ranking of the competitors (the
controls are shown, never ranked) is compared with the harmonised one of its family by Kendall's tau-b; the interval is
a bootstrap over problems.
"""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...problems import Field, Regression, Trajectories, generator, problem
from ...report.plots import order
from ...report.tables import CONTROLS
from ...runs.recovery import own_rules
from ...runs.schema import read_csv
from .definitions import DEFINITIONS, reference

DRAWS = 2000
BOUNDS = (0.025, 0.975)
OFTEN = 0.9  # of the draws: a flip in fewer is taken for noise
FIELD: dict[str, Any] = {"split": "space", "stencil": "direct"}  # how generic methods are published to see a field


def tabular_problems(ids) -> list:
    """Problems that are regression tables, fields on the split that generic methods are published on; no others."""
    found = [problem(id) for id in ids]
    found = [replace(item, **FIELD) if isinstance(item, Field) else item for item in found]
    for item in found:
        if not isinstance(item, Regression | Trajectories | Field):
            raise ValueError(f"{item.id!r} is a {item.kind}, without a table to score: take a law, surface or equation")
    return found


def _arrays(scored: pd.DataFrame, names: list[str]) -> dict[str, np.ndarray]:
    """Definition -> scores of shape (problems, seeds, methods)."""
    arrays = {}
    for key in DEFINITIONS:
        wide = scored.pivot(index=["problem", "seed"], columns="method", values=key)[names]
        arrays[key] = wide.to_numpy().reshape(-1, scored["seed"].nunique(), len(names))
    return arrays


def pooled(scored: pd.DataFrame) -> pd.DataFrame:
    """What each paper would print for each method.

    Returns
    -------
    DataFrame
        Index: family and paper; columns: methods, controls first.
    """
    names = order(scored["method"])
    arrays = _arrays(scored, names)
    rows = {(d.family, d.paper): d.pool(arrays[key].reshape(-1, len(names))) for key, d in DEFINITIONS.items()}
    return pd.DataFrame(rows, names).T.rename_axis(["family", "paper"])


def rankings(scored: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """How far each definition ranks the competitors as the harmonised one of its family does.

    Returns
    -------
    DataFrame
        Index: family and paper (the harmonised left out). tau, low, high: of the rankings by pooled numbers; same,
        same_low, same_high: tau within one problem, averaged over problems; at_most: what tau would be if all pairs
        that both tell apart had the same order (1 without ties); flips: pairs of methods in the other order, with the
        share of draws in which they are; often: how many of them are in `OFTEN` of the draws; behind_mean: competitors
        behind the mean predictor, NaN without it.
    """
    names = [name for name in order(scored["method"]) if name not in CONTROLS]
    n, there = len(names), set(scored["method"])
    arrays = _arrays(scored, [*names, "mean"] if "mean" in there else names)
    draws = _draws(scored["problem"].nunique(), generator(seed, "cross"))
    signs, within, behind = {}, {}, {}
    for key, d in DEFINITIONS.items():
        values = arrays[key] * (1 if d.better == "lower" else -1)
        drawn = arrays[key][draws].reshape(len(draws), -1, arrays[key].shape[-1])
        pooled = d.pool(drawn) * (1 if d.better == "lower" else -1)
        signs[key], within[key] = _signs(pooled[:, :n]), _signs(values[..., :n])
        of_mean = rounded(pooled[0, n:])  # empty without it
        behind[key] = int(np.sum(rounded(pooled[0, :n]) > of_mean)) if len(of_mean) else np.nan
    pairs = list(itertools.combinations(names, 2))
    rows = {}
    for key, d in DEFINITIONS.items():
        if key == (base := reference(d.family)):
            continue
        tau = _tau(signs[key], signs[base])
        one = _nanmean(_tau(within[key], within[base]))  # over seeds, for each problem
        same = _nanmean(one[draws])
        against = np.nan_to_num(signs[key] * signs[base]) < 0
        often = against[1:].mean(axis=0)
        shares = zip(pairs, against[0], often, strict=True)
        flips = [f"{a}/{b} ({share:.0%})" for (a, b), reversed_, share in shares if reversed_]
        rows[d.family, d.paper] = {
            **_interval(tau, ("tau", "low", "high")),
            **_interval(same, ("same", "same_low", "same_high")),
            "at_most": _tau(np.abs(signs[key][0]), np.abs(signs[base][0])),
            "flips": ", ".join(flips),
            "often": np.sum(against[0] & (often >= OFTEN)),
            "pairs": len(pairs),
            "behind_mean": behind[key] if d.family != "complexity" else np.nan,  # a constant is small
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["family", "paper"])


def _draws(n: int, rng) -> np.ndarray:
    """Rows to take: first all n of them as they are, then `DRAWS` samples with replacement."""
    return np.vstack([np.arange(n), rng.integers(n, size=(DRAWS, n))])


def rounded(values):
    """To 6 digits: what displays alike is a tie."""
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = 10.0 ** (5 - np.floor(np.log10(np.abs(values))))
        return np.where(np.isfinite(values) & (values != 0), np.round(values * digits) / digits, values)


def _signs(values) -> np.ndarray:
    """Order of each pair of methods, shape (..., pairs): -1, 0 or 1; NaN where one has no number."""
    left, right = np.triu_indices(values.shape[-1], 1)
    values = rounded(values)
    a, b = values[..., left], values[..., right]
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, np.where(np.isnan(a) | np.isnan(b), np.nan, np.sign(a - b)))


def _tau(a, b) -> np.ndarray:
    """Kendall's tau-b from the orders of pairs; NaN where one side ties them all."""
    known = ~(np.isnan(a) | np.isnan(b))
    a, b = np.where(known, a, 0), np.where(known, b, 0)
    with np.errstate(invalid="ignore"):
        return np.sum(a * b, axis=-1) / np.sqrt(np.sum(a**2, axis=-1) * np.sum(b**2, axis=-1))


def _nanmean(values) -> np.ndarray:
    """Mean over the last axis of what is there; NaN of nothing."""
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.sum(np.where(there, values, 0), axis=-1) / there.sum(axis=-1)


def _interval(values, names) -> dict[str, float]:
    """The first value, and the interval of the others; draws without a tau do not count."""
    drawn = values[1:][~np.isnan(values[1:])]
    bounds = np.quantile(drawn, BOUNDS) if len(drawn) else (np.nan, np.nan)
    return dict(zip(names, (values[0], *bounds), strict=True))


def own_table(path: Path, rule) -> pd.DataFrame | None:
    """A study's answers on clean data from its table of scores, if it is there; `rule` is in study.yaml (everywhere).

    Columns: method, recovered (1 or 0), error (NMSE by the variance; infinite where an integration failed).
    """
    if not path.exists():
        return None
    table = read_csv(path)
    if "clean" in rule:
        table = table[np.isinf(table[rule["clean"]])]
    recovered = table[rule["recovered"]]
    if "at_least" in rule:
        recovered = (recovered >= rule["at_least"]).astype(float)
    error = 1 - table[rule["r_squared"]].fillna(-np.inf) if "r_squared" in rule else table[rule["error"]]
    return pd.DataFrame({"method": table["method"], "recovered": recovered, "error": error})


def own_budgets(params) -> pd.DataFrame:
    """What the studies reached with several numbers of evaluations, as they wrote it in this profile.

    Columns: those of `report.budgets.reached`.
    """
    paths = [params.tables / f"{rule['budgets']}.csv" for rule in own_rules().values() if "budgets" in rule]
    if missing := [path.stem for path in paths if not path.exists()]:
        raise FileNotFoundError(f"no table {missing[0]}: run make all PROFILE={params.profile} first")
    return pd.concat(map(read_csv, paths), ignore_index=True)
