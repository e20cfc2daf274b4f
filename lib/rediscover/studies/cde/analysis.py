"""What the study of coupled differential equations computes twice, or decides a verdict by."""

import numpy as np
import pandas as pd

from ...report.papers import published

SPLITS = {"id": "in distribution", "ood": "out of distribution"}
METRICS = ["sr2", "acc_0.9"]


def contributions(scored: pd.DataFrame) -> pd.DataFrame:
    """What each run adds to SR2 and ACC of Table 2, in percent; they are means over runs.

    Parameters
    ----------
    scored : DataFrame
        From `runs.scoring.table`: problem, subset (number of states), method, seed, r2_trajectories_id and _ood,
        which are not finite where a run failed.

    Returns
    -------
    DataFrame
        Two rows for each of `scored`, first those in distribution: problem, states, method, seed, split ('id' or
        'ood'), failed, sr2 and acc_0.9 (0 to 100, 0 for a failed run).

    Examples
    --------
    >>> run = {"problem": ["a"], "subset": ["1"], "method": ["mean"], "seed": [0]}
    >>> frame = contributions(pd.DataFrame(run | {"r2_trajectories_id": [0.95], "r2_trajectories_ood": [np.nan]}))
    >>> frame[["split", "failed", "sr2", "acc_0.9"]].values.tolist()
    [['id', False, 95.0, 100.0], ['ood', True, 0.0, 0.0]]
    """
    identity = scored[["problem", "method", "seed"]].assign(states=scored["subset"].astype(int))
    parts = []
    for split in SPLITS:
        r2 = scored[f"r2_trajectories_{split}"].replace([np.inf, -np.inf], np.nan)
        measured = {"failed": r2.isna(), "sr2": 100 * r2.clip(lower=0).fillna(0.0), "acc_0.9": 100.0 * (r2 >= 0.9)}
        parts.append(identity.assign(split=split, **measured))
    return pd.concat(parts, ignore_index=True)


def correlations() -> pd.DataFrame:
    """Tables 5 and 9 from the printed columns of Table 2: Pearson's r of complexity and OOD accuracy.

    Returns
    -------
    DataFrame
        Index: condition ('without_context'; 'with_context' is context or chain of thought) and dim, as printed.
        Columns: columns (how many of Table 2), r and printed.
    """
    rows = published("symbolbench_table2").query("value != ''").astype({"value": float})
    rows["condition"] = np.where(rows["setting"].isin(("context", "cot")), "with_context", "without_context")
    used = rows.query("metric == 'complexity' or (metric == 'acc_0.9' and split == 'ood')")
    keys = ["condition", "dim", "model", "modality", "setting"]
    wide = used.pivot(index=keys, columns="metric", values="value").dropna()
    groups = wide.groupby(["condition", "dim"])
    frame = groups.size().to_frame("columns").assign(r=groups.apply(lambda part: part.corr().iloc[0, 1]))
    tables = published("symbolbench_table5_9").set_index(["condition", "dim"])["value"].astype(float)
    return frame.assign(printed=tables).sort_index(ascending=[False, True])
