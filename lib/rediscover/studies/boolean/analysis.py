"""LogicGEP's rows of Tables 3 and 7, and the verdicts on the printed cells."""

import math

import numpy as np
import pandas as pd
from scipy import stats

from ...problems.boolean import ids
from ...problems.boolean import load as network
from ...report.ledger import compare_table

NETWORKS = len(ids())
SPLITS = ("id", "ood")
# As the paper calls them -> as the scores do.
MEASURES = {name: f"{name}_pooled" for name in ("precision", "recall", "f1", "accuracy")}
MEASURES |= {"bookmaker_informedness": "informedness_pooled"}
F1_THRESHOLDS = (0.5, 0.7, 0.8)


def row(scored: pd.DataFrame, networks: int | None = None) -> dict[tuple[str, str], float]:
    """A row of Tables 3 and 7: (split, measure) -> percent, or a count where split is ''.

    Parameters
    ----------
    scored : DataFrame
        Scores of one method and seed, a row a network. Columns: those of `MEASURES` with ``_id`` and ``_ood``,
        proximity_classes, operations.
    networks : how many the shares at the thresholds of F1 are of; by default those scored
    """
    cells = {}
    for split in SPLITS:
        for measure, column in MEASURES.items():
            cells[split, measure] = 100 * scored[f"{column}_{split}"].mean()
        for threshold in F1_THRESHOLDS:
            passed = (scored[f"f1_pooled_{split}"] >= threshold).sum()
            cells[split, f"acc_{threshold}"] = 100 * passed / (networks or len(scored))
    cells["", "symbolic_proximity"] = scored["proximity_classes"].mean()
    cells["", "complexity"] = scored["operations"].mean()
    return cells


def next_run(values) -> dict[str, float]:
    """Mean of some runs, and where one run more would lie with probability 95 %: value, low, high.

    The prediction interval of Student, mean ± t s √(1 + 1/n); of one run all three are its value. The range of
    n runs, with which a printed number is compared, would miss one run more of the program 2 times in n + 1.

    Examples
    --------
    >>> {key: round(value, 2) for key, value in next_run([1.0, 2.0, 3.0]).items()}
    {'value': 2.0, 'low': -2.97, 'high': 6.97}
    """
    values = np.asarray(values, dtype=float)
    n, mean = len(values), float(values.mean())
    width = stats.t.ppf(0.975, n - 1) * values.std(ddof=1) * math.sqrt(1 + 1 / n) if n > 1 else 0.0
    return {"value": mean, "low": float(mean - width), "high": float(mean + width)}


def without_one(scored: pd.DataFrame) -> list[dict[tuple[str, str], float]]:
    """Rows of Table 3 as if one network, each in turn, had no result: it leaves means, not denominators.

    The printed row is one of them: its shares at F1 0.5 and 0.7 in distribution are 98.5 %, which is 64 of 65.

    Parameters
    ----------
    scored : scores of one method, as for `row`, with problem and seed
    """
    return [
        row(group[group["problem"] != name], networks=len(group))
        for _, group in scored.groupby("seed")
        for name in group["problem"]
    ]


def cells(table: str, scored: pd.DataFrame) -> pd.DataFrame:
    """LogicGEP's numbers for a printed table, with the ranges that they are compared by.

    Parameters
    ----------
    table : ``symbolbench_table3`` (the row lacks a network) or ``symbolbench_table7`` (complexity is per rule)
    scored : scores of LogicGEP with the settings of that table, as for `without_one`

    Returns
    -------
    DataFrame
        Index: split, metric. Columns: value (mean over seeds); low, high (range over seeds, in Table 3 over the
        network without a result too); seeds_low, seeds_high; next_low, next_high (from `next_run`).
    """
    if table == "symbolbench_table7":
        rules = scored["problem"].map(lambda id: len(network(id.split("/")[1]).truth))
        scored = scored.assign(operations=scored["operations"] / rules)
    seeds = [row(group) for _, group in scored.groupby("seed")]
    possible = without_one(scored) if table == "symbolbench_table3" else seeds
    frame = pd.DataFrame([next_run([run[cell] for run in seeds]) for cell in seeds[0]])
    frame = frame.rename(columns={"low": "next_low", "high": "next_high"})
    for prefix, runs in (("", possible), ("seeds_", seeds)):
        frame[f"{prefix}low"] = [min(run[cell] for run in runs) for cell in seeds[0]]
        frame[f"{prefix}high"] = [max(run[cell] for run in runs) for cell in seeds[0]]
    frame.index = pd.MultiIndex.from_tuples(seeds[0], names=["split", "metric"])
    # Table 7 prints the complexity beside both splits.
    return pd.concat([frame, *(frame.loc[[""]].rename({"": split}, level="split") for split in SPLITS)])


def ledger(table: str, scored: pd.DataFrame, networks: int = NETWORKS) -> pd.DataFrame:
    """Every printed cell of a table with its verdict (see `report.ledger.compare`).

    Parameters
    ----------
    table, scored : as for `cells`
    networks : with fewer than these nothing is comparable
    """
    found, measured = scored["problem"].nunique(), {}
    for cell in cells(table, scored).reset_index().to_dict("records"):
        entry = {key: cell[key] for key in ("value", "low", "high")}
        entry["reason"] = (
            f"{scored['seed'].nunique()} seeds {cell['seeds_low']:.4g} to {cell['seeds_high']:.4g}; "
            f"one run more {cell['next_low']:.4g} to {cell['next_high']:.4g}; {found} networks"
        )
        if found < networks:
            entry |= {"verdict": "not comparable", "reason": f"{found} of {networks} networks"}
        measured["LogicGep", cell["split"], cell["metric"]] = entry
    return compare_table(table, measured)
