"""What README, paper and essays state of causal graphs in numbers."""

from typing import Any

import pandas as pd

from ...problems import problem
from ...report.facts import Interval, how_many, one, setting, table
from ...system import derived
from ...system.studies import studies
from . import claims, paper_runs

MODEL = "best language model, printed"


def facts() -> dict[str, Any]:
    """Name -> value, or value and form."""
    scores, versus, ours = table("causal_scores"), table("causal_versus"), table("causal_table4")
    edges = scores.groupby("method")["edges"].sum()
    trivial = table("causal_trivial").set_index("method")
    levels = [f"acc_{level}" for level in (0.5, 0.7, 0.8)]
    ahead = [level[4:] for level in levels if trivial[level][MODEL] > trivial[level]["self_edges"]]
    pcmci = one(ours, method="pcmci", source="rediscover")
    tested = one(versus, a="pcmci", b="self_edges", condition="pairs")
    cells = table("causal_ledger").query("table == 'Table 4'")
    verdicts, undecided = cells["verdict"], cells[cells["verdict"] == "undecided"]["rule"]
    repeats = table("causal_repeats").set_index("method")
    lpcmci = one(table("causal_ledger"), row="LPCMCI", column="f1")
    recorded = paper_runs.paper_runs()
    stopped = _sizes(recorded, "lpcmci", "timeout")
    too_large = _sizes(recorded[recorded["reason"].str.contains("the limit is")], "jpcmci_plus", "unsupported")
    return {
        "count": scores["problem"].nunique(),
        "example": _example(scores),
        "variables": setting("32_symbolbench_causal", "max_variables"),
        "model.f1": (trivial["f1_pairs"][MODEL], ".1f"),
        "model.shd": (trivial["shd"][MODEL], ".1f"),
        "model.ahead_at": " and ".join(ahead),
        "self_edges.f1": (trivial["f1_pairs"]["self_edges"], ".1f"),
        "complete_graph.f1": (trivial["f1_pairs"]["complete_graph"], ".1f"),
        "self_edges.interval": (_f1(trivial.loc["self_edges"]), ".1f"),
        "complete_graph.interval": (_f1(trivial.loc["complete_graph"]), ".1f"),
        **{f"{name}.clustered": (_f1(row), ".1f") for name, row in repeats.iterrows()},
        **{f"{name}.distinct": (row["f1_pairs_distinct"], ".1f") for name, row in repeats.iterrows()},
        "self_edges.edges": edges["self_edges"],
        "self_edges.shd": (trivial["shd"]["self_edges"], ".1f"),
        "complete_graph.directed": (trivial["f1_directed"]["complete_graph"], ".1f"),
        "edges": edges["oracle"],
        "single_points": (len(_sizes(recorded, "pcmci", "unsupported")), "word"),
        "stopped": (len(stopped), "word"),
        "stopped.least": stopped.min(),
        "stopped.most": stopped.max(),
        "too_large": " and ".join(map(str, sorted(too_large))),
        "pcmci.graphs": pcmci["graphs"],
        "pcmci.half": (pcmci["acc_0.5"], ".1f"),
        # as if the one graph of exactly 4/5 counted
        "pcmci.by_counts": (pcmci["acc_0.8"] + 100 / pcmci["graphs"], ".1f"),
        "pcmci.printed": (one(ours, method="pcmci", source="printed")["acc_0.8"], ".1f"),
        "jpcmci_plus.at_seven_tenths": (one(ours, method="jpcmci_plus", source="rediscover")["acc_0.7"], ".1f"),
        "reach_complete_graph": _ahead(versus, "complete_graph", "pairs"),
        "above_self_edges": _ahead(versus, "self_edges", "directed"),
        "pcmci.difference": (Interval(*tested[["mean_difference", "low", "high"]]), ".1f"),
        "pcmci.pairs": tested["n_pairs"],
        "cells.run": (verdicts != "not run").sum(),
        "cells.reproduced": (verdicts == "reproduced").sum(),
        "cells.undecided": (verdicts == "undecided").sum(),
        "cells.differ": ((verdicts == "differs").sum(), "word"),
        "cells.time_limit": ((undecided == "time_limit").sum(), "word"),
        "cells.last_bit": ((undecided == "last_bit").sum(), "word"),
        "distinct": repeats["distinct"].max(),
        "released": _released(),
        "lpcmci.reason": lpcmci["reason"],
        "elsewhere": studies()["causal"]["elsewhere"],
    }


def _example(scores):
    """The first graph: self edges alone are all true, and find a share of the pairs that is their recall."""
    first = one(scores, problem=scores["problem"].min(), method="self_edges")
    recall = first["recall_pairs"]
    return {
        "name": first["problem"].rpartition("/")[2],
        "variables": first["edges"],
        "pairs": round(first["edges"] / recall),
        "recall": (recall, ".2f"),
        "f1": (first["f1_pairs"], ".2f"),
    }


def _released():
    """The released runs beside the complete graph, by direction without self edges; and which of them are tested."""
    rows, tested = table("causal_released"), one(table("causal_claims"), claim_id="SY-02")["cells"]
    best, pairs = rows.loc[rows["directed"].idxmax()], len(rows) * len(claims.BASELINES)
    runs = claims.quietest(derived.read("causal", "released_runs"))
    noisy = runs[runs["noise"] > 0]
    return {
        "rows": (len(rows), "word"),
        "above": ((rows["difference"] > 0).sum(), "word"),
        "above_pairs": ((rows["pairs"] > rows["reference_pairs"]).sum(), "word"),
        "below": ((rows["high"] < 0).sum(), "word"),
        "best": best["method"],
        "best.directed": (best["directed"], ".1f"),
        "best.reference": (best["reference_directed"], ".1f"),
        "noisy": (noisy["method"].nunique(), "word"),
        "noise": (noisy["noise"].min(), ".2g"),
        "fewest": claims.FEWEST,
        "pairs": pairs,
        "left_out": pairs - tested,
    }


def _f1(row):
    return Interval(*row[["f1_pairs", "low", "high"]])


def _ahead(versus, reference, rule):
    """How many of the constraint-based methods have a higher mean F1 than a reference."""
    return how_many(versus.query("b == @reference and condition == @rule")["mean_difference"] > 0)


def _sizes(recorded, method, status):
    """Variables of the graphs on which a method ended so."""
    ended = recorded.query("method == @method and status == @status")["problem"]
    return pd.Series([len(problem(id).inputs) for id in ended], dtype=int)
