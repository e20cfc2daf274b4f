"""The published Tables 2, 3, 4 and S12 to S17 of SRSD beside ours, by the rules in study.yaml."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kstest

from ...expressions import parse
from ...problems import facts, generator, problem
from ...report.comparisons import exact, labels
from ...report.ledger import combine, compare_table
from ...report.papers import published
from ...report.prediction import meets
from ...report.released import settings
from ...report.rules import LEAST_P
from ...report.scores import by_seed
from ...report.summaries import of_runs
from ...system import derived

BOUNDS = ("value", "low", "high")
DRAWN = 8000  # rows, by which a printed range is judged
TRAINING = {  # column of what `pretraining.training_sets` gives -> what the text calls it
    "equations": "generated equations",
    "different": "unique sequences",
    "tables": "synthesized data sets for pretraining",
    "iou": "mean IoU of pretraining and test data",
}
OTHERWISE = {  # why what is drawn is not what is printed
    "overflow": "drawn on the released range: on the printed one no target fits single precision",
    "integer": "whole numbers, the upper end left out, as released",
}
REJECTED = "rows are drawn again whose target is undefined or does not fit single precision"


def cells(scored, noise_scored, skeletons, raters) -> pd.DataFrame:
    """Every published cell with our number and a verdict; from scores of the grid and of that over noise levels.

    `skeletons` and `raters` as for `claims.sr_11` and `sr_01`, also with laws, equation_id, and p, p_least, p_most.
    """
    distances = skeletons.set_index(["method", "equation_id"])["ned_published"].items()
    skeletons = exact(dict(distances))
    p_values = raters[["p", "p_least", "p_most"]].set_axis(list(BOUNDS), axis=1)
    measured = {
        "srsd_table2": _means(scored, "subset", "r2_accuracy", 100),
        "srsd_table3": _means(scored, "subset", "solution_rate", 100),
        "srsd_table4": _means(scored, "subset", "ned_published"),
        "srsd_table_s15": _means(noise_scored, "noise", "ned_published"),
        "srsd_table_s16": _rates(),
        "srsd_table_s13": skeletons,
        "srsd_table_s14": skeletons,
        "srsd_table_s17": {(metric, "p_value"): row.to_dict() for metric, row in p_values.iterrows()},
    }
    reasons = labels("srsd")["reason"]
    absent = {label: ("not run", reason) for label, reason in reasons.items()}
    parts = [compare_table(name, numbers, absent, _rows(name)) for name, numbers in measured.items()]
    return combine([*parts, settings("srsd_table_s12")])


def _rows(name):
    """The cells of a published table that are printed, its noise levels also as numbers."""
    rows = published(name).rename(columns={"ned": "value"})
    if "noise_level" in rows:
        rows["relative_noise"] = rows["noise_level"].astype(float)
    return rows[rows["value"] != ""]


def _means(scored, by, score, factor=1):
    """Means of a score (in percent, of a share) by published label of the method and `by`, each with its seeds."""
    measured = {}
    for label, name in labels("srsd")["method"].items():
        for key, group in scored[scored["method"] == name].groupby(by):
            measured[label, key] = of_runs(group[score], group["seed"], "laws", score=score, factor=factor)
    return measured


def _rates():
    """Solution rates of Table S16: SRBench's average on the original ranges, and what Table 3 gives on the new ones.

    Table 3 prints the share of the same laws; it is a whole number of laws in each set, which it rounds.
    """
    measured = {}
    for row in derived.read("srsd", "srbench").query("group == 'all'").itertuples():
        about = {"definition": "SRBench's mean over its Feynman and its Strogatz problems, without noise"}
        about["reason"] = f"{row.problems} problems of SRBench, which are not the laws of SRSD"
        measured |= {key: cell | about for key, cell in exact({(row.method, "FSRD"): row.solution_rate}).items()}
    sets = published("srsd_table3").astype({"value": float, "n_problems": int})
    laws = sets.assign(solved=(sets["value"] / 100 * sets["n_problems"]).round()).groupby("method")
    rates = 100 * laws["solved"].sum() / laws["n_problems"].sum()
    printed = published("srsd_table_s16").query("dataset == 'SRSD'").set_index("method")["value"]
    for method, text in printed.items():
        cell = exact({(method, "SRSD"): rates[method]})[method, "SRSD"]
        if not meets(text, rates[method], rates[method]):
            reason = f"Table 3 of the same paper gives {rates[method]:.2f}"
            cell |= {"verdict": "not comparable", "reason": reason}
        measured[method, "SRSD"] = cell
    return measured


def of_ranges() -> pd.DataFrame:
    """Tables 1 and S1 to S11: each printed range beside what is drawn here, each constant beside its value here."""
    rows, measured = published("srsd_tables_s1_s11"), {}
    for (name, ranges), part in rows.groupby(["equation_id", "ranges"]):
        law: Any = problem(f"srsd/{name}", variant="fsrd" if ranges == "original" else "srsd")
        drawn = dict(zip(law.inputs, law.draw(DRAWN, generator(0, law.id, "printed ranges")).X.T, strict=True))
        for symbol, text in part[["symbol", "value"]].to_numpy():
            if symbol in drawn:
                why = "overflow" if "overflow" in law.flags else law.samplers[symbol][0]
                measured[name, symbol, ranges] = _range(drawn[symbol], text, OTHERWISE.get(why, REJECTED))
            else:
                value = facts("srsd")["constants"][law.entry["constants"][symbol]["is"]]
                entry = {"value": value, "low": value, "high": value, "parameters": {"value": value}}
                measured[name, symbol, ranges] = entry | {"rule": "digits"}
    return compare_table("srsd_tables_s1_s11", measured)


def _range(values: np.ndarray, printed: str, otherwise: str) -> dict:
    """Drawn values beside a printed range, such as ``log 1e-2 1e0`` (of magnitudes) or ``uniform 0 2*pi``."""
    family, *ends = printed.split()
    bounds = np.array([float(parse(end)({})) for end in ends])
    values = np.abs(values) if family == "log" else values
    (low, high), places = (np.log(bounds), np.log(values)) if family == "log" else (bounds, values)
    shares = (places - low) / (high - low)
    inside, p = (np.abs(shares - 0.5) < 0.5 + 1e-9).all(), kstest(shares, "uniform", method="asymp").pvalue
    reason = "" if inside and p > LEAST_P else otherwise
    found = {"value": f"{values.min():.3g} to {values.max():.3g}", "reason": reason}
    return found | {"parameters": {"inside": inside, "p": p}}


def of_text(twins: pd.DataFrame, sizes: pd.Series, trained_on: pd.DataFrame | None = None) -> pd.DataFrame:
    """Numbers of the text: problems with duplicates (`analysis.duplicates`), laws by set, and training data of ST.

    Index of `trained_on`: seed; columns: those of `TRAINING`; None if they were not drawn as the paper draws them.
    """
    same, scaled = (100 * (twins[name] > 0).mean() for name in ("twins", "scaled"))
    counts = {"problems": sizes.sum()} | {f"{name} problems": size for name, size in sizes.items()}
    cells = exact({(name,): size for name, size in counts.items()})
    twice = "original problems that are duplicates"
    printed = published("srsd_text_numbers").set_index("quantity").loc[twice, "value"]
    near: dict[str, Any] = exact({(twice,): scaled})[twice,]
    near |= {"rule": "approximately", "parameters": {"ends": [[printed, scaled, scaled]]}}
    near["reason"] = f"up to a constant factor; the very same function {same:.1f} %"
    cells[twice,] = near
    if trained_on is not None:
        for column, quantity in TRAINING.items():
            runs = trained_on[column]
            entry = {"value": runs.mean(), "rule": "seeds", "reason": "each seed is one draw of the training sets"}
            cells[quantity,] = entry | {"parameters": by_seed(column, runs, 1)}
    return compare_table("srsd_text_numbers", cells)
