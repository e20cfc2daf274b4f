"""The published Tables 2, 3, 4 and S13 to S17 of SRSD beside ours, by the rules in study.yaml."""

import numpy as np
import pandas as pd

from ...report.comparisons import labels
from ...report.ledger import combine, compare_table, verdict
from ...report.papers import published
from ...report.summaries import interval

BOUNDS = ("value", "low", "high")


def cells(scored, noise_scored, paired, skeletons, raters) -> pd.DataFrame:
    """Every published cell with our number and a verdict; from scores of the grid and of that over noise levels.

    `paired`, `skeletons` and `raters` as for `claims.sr_07`, `sr_11` and `sr_01`, also with laws, equation_id, and p,
    p_least, p_most.
    """
    distances = skeletons.set_index(["method", "equation_id"])["ned_published"].items()
    exact = {key: dict.fromkeys(BOUNDS, value) for key, value in distances}
    p_values = raters[["p", "p_least", "p_most"]].set_axis(list(BOUNDS), axis=1)
    measured = {
        "srsd_table2": _means(scored, "subset", "r2_accuracy", 100),
        "srsd_table3": _means(scored, "subset", "solution_rate", 100),
        "srsd_table4": _means(scored, "subset", "ned_published"),
        "srsd_table_s15": _means(noise_scored, "noise", "ned_published"),
        "srsd_table_s16": _rates(paired, contradicted()),
        "srsd_table_s13": exact,
        "srsd_table_s14": exact,
        "srsd_table_s17": {(metric, "p_value"): row.to_dict() for metric, row in p_values.iterrows()},
    }
    reasons = labels("srsd")["reason"]
    absent = {label: ("not run", reason) for label, reason in reasons.items()}
    return combine([compare_table(name, numbers, absent, _rows(name)) for name, numbers in measured.items()])


def _rows(name):
    """The cells of a published table that are printed, its noise levels also as numbers."""
    rows = published(name).rename(columns={"ned": "value"})
    if "noise_level" in rows:
        rows["relative_noise"] = rows["noise_level"].astype(float)
    return rows[rows["value"] != ""]


def _means(scored, by, score, factor=1):
    """Means of a score with intervals, by published label of the method and `by`."""
    measured = {}
    for label, name in labels("srsd")["method"].items():
        for key, group in scored[scored["method"] == name].groupby(by):
            mean = interval(group[score])
            reason = f"mean over {mean['n_finite']} of {mean['n']} laws; budget and settings differ"
            measured[label, key] = {bound: factor * mean[bound] for bound in BOUNDS} | {"reason": reason}
    return measured


def contradicted():
    """Solution rates of Table S16 that Table 3 contradicts: (method, dataset) -> what the sets of Table 3 give.

    Both tables print the share of the same laws; it is a whole number of laws in each set, which Table 3 rounds.
    """
    sets = published("srsd_table3").astype({"value": float, "n_problems": int})
    laws = sets.assign(solved=(sets["value"] / 100 * sets["n_problems"]).round()).groupby("method")
    rates = 100 * laws["solved"].sum() / laws["n_problems"].sum()
    all_laws = published("srsd_table_s16").query("dataset == 'SRSD'").set_index("method")["value"]
    return {(m, "SRSD"): rates[m] for m, text in all_laws.items() if verdict(text, rates[m], rates[m]) == "differs"}


def _rates(paired, wrong):
    """Solution rates in percent with intervals, by published label of the method and data set; `contradicted` ones."""
    measured, names = {}, labels("srsd")["method"]
    for label, name in names[names.isin(paired.index)].items():
        n = int(paired.loc[name, "laws"])
        for dataset, column in (("FSRD", "original"), ("SRSD", "new")):
            solved = round(paired.loc[name, column] * n)
            share = interval(np.repeat([1.0, 0.0], [solved, n - solved]))
            entry = {bound: 100 * share[bound] for bound in BOUNDS}
            entry["reason"] = f"{solved} of {n} laws; budget and settings differ"
            if (label, dataset) in wrong:
                reason = f"Table 3 of the same paper gives {wrong[label, dataset]:.2f}; {solved} of {n} laws here"
                entry |= {"verdict": "not comparable", "reason": reason}
            measured[label, dataset] = entry
    return measured
