"""What README, paper and essays state of the definitions of all papers in numbers."""

import math
from typing import Any

from ...report.facts import Interval, formatted, one, shared, table
from ...report.plots import display_name


def facts() -> dict[str, Any]:
    """Name -> value, or value and form."""
    scores, rankings = table("cross_scores"), table("cross_rankings")
    errors = table("cross_table").query("family == 'error'").set_index("paper")
    ranked = errors.drop(columns=["family", "oracle", "mean", "zero"])  # the competing methods
    worst = scores.query("method == 'polynomial'")["nmse_release"].max()
    return {
        "count": scores["problem"].nunique(),
        "methods": (ranked.shape[1], "word"),
        "pairs": (rankings["pairs"].max(), "word"),
        **_agreement(rankings),
        "polynomial.by_median": _place(ranked.loc["harmonised"], "polynomial"),
        "polynomial.by_mean": _place(ranked.loc["SurfaceBench"], "polynomial"),
        "polynomial.worst": f"$10^{{{math.floor(math.log10(worst))}}}$",
        "best_by_mean": errors.loc["SurfaceBench"].drop(["family", "oracle"]).astype(float).idxmin(),
        **_everywhere(),
        **_budgets(),
    }


def _agreement(rankings):
    """Kendall's correlation with the harmonised ranking: of pooled numbers, and within a problem."""
    facts = {}
    for row in rankings.itertuples():
        name = f"{row.family}.{row.paper.replace(', ', '.').replace(' ', '_')}"
        facts[f"tau.{name}"] = (Interval(row.tau, row.low, row.high), ".2f")
        facts[f"within.{name}"] = (Interval(row.same, row.same_low, row.same_high), ".2f")
        facts[f"within.{name}.value"] = (row.same, ".2f")
        facts[f"at_most.{name}"] = (row.at_most, ".2f")
    same = (formatted(*facts[f"within.error.{paper}"]) for paper in ("SurfaceBench", "MDBench"))
    behind = rankings.query("family == 'distance' and behind_mean > 0")
    often = rankings[rankings["often"] > 0]
    return facts | {
        "definitions": len(rankings),
        "often": (len(often), "word"),
        "often.papers": " and ".join(often["family"] + " by " + often["paper"]) or "none",
        "within.error.both": shared(*same),
        "behind_mean.distance": (int(behind["behind_mean"].sum()), "word"),
        "behind_mean.papers": " and ".join(behind["paper"]) or "no paper",
    }


def _place(errors, method):
    return {1: "first", len(errors): "last"}.get(int(errors.rank()[method]), "neither first nor last")


def _everywhere():
    """The same methods on whole studies."""
    whole = table("cross_everywhere_runs").query("where == 'study'")
    facts = {
        f"{row.study}.{row.method}": f"{row.recovered * row.n:.0f} of {row.n:.0f}"
        for row in whole.dropna(subset="recovered").itertuples()
    }
    fields = one(whole, study="pdes", method="oracle")
    least = whole.query("method != 'oracle'").set_index("method").groupby("study")["error"].idxmin()
    return facts | {
        "pdes.missed": (round((1 - fields["recovered"]) * fields["n"]), "word"),
        "odes.least_error": display_name(least["odes"]),
        "pdes.least_error": display_name(least["pdes"]),
    }


def _budgets():
    """What more evaluations change, for each study and method."""
    budgets = table("cross_budgets")
    facts = {"budgets.problems": (budgets["problems"].max(), "word"), "budgets.seeds": (budgets["seeds"].max(), "word")}
    for row in budgets.itertuples():
        name = f"{row.study}.{row.method}.{row.evaluations}"
        facts[f"budgets.{name}"] = (Interval(row.recovered, row.low, row.high), ".2f")
        facts[f"budgets.{name}.value"] = (row.recovered, ".2f")
        facts[f"budgets.{name}.error"] = (row.error, 2)
    return facts
