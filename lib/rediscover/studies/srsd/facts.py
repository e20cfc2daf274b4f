"""What README, paper and essays state of physical laws in numbers."""

import json
from typing import Any

import pandas as pd

from ...metrics.edit_distance import ned_details
from ...metrics.trees import size
from ...problems import problem
from ...report import trials
from ...report.ablations import FIRST, NOW, key
from ...report.facts import Interval, next_best, one, recovered_within, setting, table
from ...report.papers import published
from ...system import derived
from .analysis import from_skeleton

DUMMIES = {"lost": "without", "gained": "with"}  # only without columns the law does not have, or only with


def facts() -> dict[str, Any]:
    """Name -> value, or value and form."""
    sizes = table("srsd_scores").groupby("subset")["problem"].nunique()
    gain = table("srsd_yardstick")["gain"]
    noise = one(table("srsd_table_s15"), method="power_law")
    dummies = table("srsd_dummies")
    printed = one(table("srsd_tables_s13_s14"), equation_id="I.14.3", method="ST")
    return {
        "count": sizes.sum(),
        **sizes,
        "seeds": (len(setting("20_srsd_edit_distance", "seeds")), "word"),
        "claims": (len(table("srsd_claims")), "word"),
        "printed.methods": (published("srsd_table2")["method"].nunique(), "word"),
        "printed.ned": (printed["ned_published"], ".3f"),
        "example": _example(),
        "constant": _constant(),
        "blind": _blind(),
        "srbench": derived.read("srsd", "srbench").groupby("group")["problems"].max().to_dict(),
        "yardstick.gains": (gain > 0).sum(),
        "yardstick.comparisons": len(gain),
        "solved": {subset: _solved(subset) for subset in ("easy", "medium", "hard")},
        "solved_by": {subset: _solved_by(subset) for subset in ("easy", "medium", "hard")},
        "merged": _merged(),
        "sixteen": _sixteen(),
        "transformer": _transformer(),
        "dummies": {name: (dummies[f"only_{how}"].sum(), "word") for name, how in DUMMIES.items()},
        "power_law.ned": noise["noise 0"],
        "power_law.ned_noisy": noise["noise 0.1"],
    }


def _solved(subset):
    """Solution rate of the line in logarithms with its interval, and the best published method."""
    found = one(table("srsd_yardstick"), table="Table 3", set=subset)
    rates = {name: (found[name], ".0%") for name in ("rediscover", "low", "high", "printed")}
    return rates | {"method": found["method"]}


def _solved_by(subset):
    """Method -> per cent of the laws of a set that are solved, with its interval; variants of our own method too.

    next_best: of the other methods the best.
    """
    own = table("srsd_own")
    own = own[own["variant"] != NOW]
    own = own.assign(method="bidirectional." + own["variant"].map(key))
    rates = pd.concat([table("srsd_table3_intervals"), own])
    rates = rates.query("subset == @subset and metric == 'solution_rate'").copy()
    rates[["value", "low", "high"]] *= 100
    other = next_best(rates[~rates["method"].str.startswith("bidirectional.")])
    found = {row.method: (Interval(row.value, row.low, row.high), ".0f") for row in rates.itertuples()}
    return found | {"next_best": (other["value"], ".0f"), "next_best.method": other["method"]}


def _merged():
    """Per cent of the laws of each set that DSR solves with the breeding and the queue that its release fills in."""
    cells = pd.read_csv(trials.results("srsd")).query("trial == 'merged_dsr' and table == 'Table 3'")
    return {
        cell: (pd.Series(json.loads(text)).mean(), ".0f") for cell, text in cells.set_index("column")["values"].items()
    }


def _sixteen():
    """Solved of the laws that are run with several budgets: by PySR's algorithm and our own in the tables' run.

    ``within`` are those that our own solves within a million evaluations.
    """
    scores, own, laws = table("srsd_scores"), table("srsd_own_scores"), table("srsd_budgets")["problem"]
    own = own[own["variant"] == FIRST].assign(method="bidirectional.first")
    both = pd.concat([scores[scores["method"].isin(["regularised_evolution", "bidirectional"])], own])
    solved = both[both["problem"].isin(laws)].groupby("method")["solution_rate"].sum().astype(int).to_dict()
    return solved | {"within": recovered_within("srsd", "solution_rate", laws, 1_000_000)}


def _transformer():
    """Edit distances of the Symbolic Transformer in the ledger, by set, and what is printed."""
    cells = table("srsd_ledger").query("table == 'Table 4' and row == 'ST'").set_index("column")
    found = {subset: (float(value), ".3f") for subset, value in cells["measured"].items()}
    return found | {"printed": cells["published"].to_dict()}


def _example():
    """One printed skeleton beside the law: edits, nodes of the law, and the distance that they give."""
    law = problem("srsd/I.14.3")
    skeleton = one(published("srsd_table_s14"), equation_id="I.14.3", method="ST")["skeleton"]
    found = ned_details(from_skeleton(skeleton, law.inputs), *law.truth.values(), law.inputs)
    if found.distance is None or found.truth is None:
        raise ValueError(f"I.14.3: the trees cannot be compared: {found.status}")
    return {"edits": (found.distance, "word"), "nodes": (size(found.truth), "word"), "ned": (found.value, ".3f")}


def _blind():
    """Edit distances of a fixed skeleton by set, and of the published method with the smallest mean of them."""
    cells = published("srsd_table4").astype({"value": float}).pivot(index="method", columns="set", values="value")
    best = cells.loc[cells.mean(axis=1).idxmin()]
    found = one(table("srsd_table4"), method="blind_skeleton")
    printed = {subset: (value, ".3f") for subset, value in best.items()}
    return {subset: (found[subset], ".3f") for subset in printed} | {"printed": printed}


def _constant():
    """How many cells of Table 4 are worse than the edit distance of a constant on the same set."""
    means = table("srsd_scores").query("method == 'mean'").groupby("subset")["ned_published"].mean()
    cells = published("srsd_table4").astype({"value": float})
    return {"ahead": (cells["value"] > cells["set"].map(means)).sum(), "cells": len(cells)}
