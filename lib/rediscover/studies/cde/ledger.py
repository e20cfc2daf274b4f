"""SymbolBench's printed Tables 2, 5 (and 9, the same), 6 and Figure 3 (a), cell by cell; rules are in study.yaml."""

import numpy as np
import pandas as pd

from ...report.comparisons import exact, names_in
from ...report.ledger import combine, compare_table
from ...report.papers import catalogue, published
from ...report.rules import meets
from ...report.summaries import of_runs
from ...system.studies import studies
from .analysis import contributions, correlations, nearest

TABLE6 = tuple(f"cde/S{number:03d}" for number in range(1, 30))  # of ODEBench, as in the released script
RELEASED = 0  # random state there, and seed here


def table6(scored: pd.DataFrame) -> pd.DataFrame:
    """gplearn's row of Table 6 by seed: failures count 0 in SR2 and leave the means of the other two.

    Parameters
    ----------
    scored : DataFrame
        From `runs.scoring.table`, with proximity_dependent and operations.

    Returns
    -------
    DataFrame
        Index: seed. Columns, by the published split and metric: SR2 (percent) in and out of distribution, and, without
        a split, symbolic_proximity and complexity.
    """
    sr2 = contributions(scored).pivot_table(index="seed", columns="split", values="sr2")
    valid = scored[np.isfinite(scored["r2_trajectories_id"])].groupby("seed")
    cells = {
        ("id", "sr2"): sr2["id"],
        ("ood", "sr2"): sr2["ood"],
        ("", "symbolic_proximity"): valid["proximity_dependent"].mean(),
        ("", "complexity"): valid["operations"].mean(),
    }
    return pd.DataFrame(cells).rename_axis(columns=["split", "metric"])


def table2(scored: pd.DataFrame) -> dict[tuple, dict]:
    """Cells of Table 2 for the paper's methods that ran, without the runs that failed, as released.

    Parameters
    ----------
    scored : DataFrame
        From `runs.scoring.table`.

    Returns
    -------
    dict
        (model, modality, setting, number of states, split, metric) -> cell, as `report.ledger.compare` takes it.
    """
    names = names_in("symbolbench")
    parts = contributions(scored[scored["method"].isin(names)])
    sizes = {"symbolic_proximity": "proximity_dependent", "complexity": "operations"}
    cells = {}
    for (name, states, split), part in parts[~parts["failed"]].groupby(["method", "states", "split"]):
        key = names[name], "", "", str(states)
        for metric in ("sr2", "acc_0.9"):
            cells[*key, split, metric] = of_runs(part[metric], part["seed"], "systems", score=metric)
        if split == "id":
            valid = scored.loc[(scored["method"] == name) & (scored["subset"].astype(int) == states)]
            valid = valid[np.isfinite(valid["r2_trajectories_id"])]
            for metric, column in sizes.items():
                cells[*key, "", metric] = of_runs(valid[column], valid["seed"], "systems", score=metric)
    return cells


def ledger(
    points: pd.DataFrame,
    scored6: pd.DataFrame | None = None,
    scored: pd.DataFrame | None = None,
    by_score: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """A row for each printed number; measured are rows of Tables 2 and 6, the correlations, and Figure 3 (a).

    Parameters
    ----------
    points : from `analysis.figure3`
    scored6 : scores of gplearn as released on `TABLE6`, several seeds; None where it was not run.
    scored : scores of all methods on all systems; None where they were not run.
    by_score : scores of answers chosen by `analysis.by_score`; they go into the reasons.

    Returns
    -------
    DataFrame
        With `runs.schema.LEDGER`.
    """
    cells = {} if scored is None else table2(scored)
    for key, cell in ({} if by_score is None else table2(by_score)).items():
        cells[key]["reason"] += f"; with the states' expressions of highest score {cell['value']:.4g}"
    first = _compared("symbolbench_table2", cells)
    lost = first["published"] == ""
    first.loc[lost, ["verdict", "reason"]] = ("not comparable", "the paper prints nothing here, or its text lost it")
    rounding = studies()["cde"]["tables"]["symbolbench_table5_9"]["rounding"]
    near = nearest()
    measured = {
        key: {"value": r, "low": r - rounding, "high": r + rounding, "reason": _over(columns, near[key])}
        for key, (columns, r) in correlations()[["columns", "r"]].iterrows()
    }
    table5 = _compared("symbolbench_table5_9", measured)
    table6 = _compared("symbolbench_table6", {} if scored6 is None else _gplearn(scored6))
    figure3 = exact(points[["SR2", "ACC"]].stack().to_dict())
    for (model, reasoning, _), cell in figure3.items():
        cell["reason"] = f"{points.loc[(model, reasoning), 'runs']} released runs"
    return combine([first, table5, table6, compare_table("symbolbench_figure3a", figure3)])


def _over(columns: float, nearest: float) -> str:
    return f"over {columns:.0f} printed columns; of choices of three or more the nearest gives {nearest:.3f}"


def _compared(name: str, measured: dict) -> pd.DataFrame:
    """`compare_table`, with why a cell of this study has no number."""
    absent = {line.label: ("not run", line.reason) for line in catalogue("symbolbench").itertuples() if line.reason}
    absent |= {"GPLearn": ("not run", "not in this profile"), "*": ("not run", "needs a language model")}
    return compare_table(name, measured, absent)


def _gplearn(scored: pd.DataFrame) -> dict[tuple, dict]:
    """Cells of Table 6, with the released random state; on fewer systems than the paper's they are not comparable."""
    systems = scored["problem"].nunique()
    measured, one_less = {}, _one_less(scored)
    for key, values in table6(scored).items():
        entry = {"value": values[RELEASED], "low": values[RELEASED], "high": values[RELEASED]}
        entry["reason"] = f"{len(values)} seeds {values.min():.4g} to {values.max():.4g}, {systems} systems"
        if systems < len(TABLE6):
            entry |= {"verdict": "not comparable", "reason": f"{systems} of {len(TABLE6)} systems"}
        elif not key[0] and one_less:
            entry["reason"] += f"; without {one_less}, as if its run had failed, as printed"
        measured["GPLearn", *key] = entry
    return measured


def _one_less(scored: pd.DataFrame) -> str:
    """The systems, each of which left out alone gives both printed means over valid answers, with the released seed."""
    valid = scored[np.isfinite(scored["r2_trajectories_id"]) & (scored["seed"] == RELEASED)].set_index("problem")
    rows = published("symbolbench_table6").query("method == 'GPLearn'").set_index("metric")["value"]
    printed = {"proximity_dependent": rows["symbolic_proximity"], "operations": rows["complexity"]}
    fits = [
        problem
        for problem in valid.index
        if all(meets(text, *2 * [valid[name].drop(problem).mean()]) for name, text in printed.items())
    ]
    return " or ".join(fits)
