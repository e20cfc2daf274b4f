"""What README, paper and essays state of coupled equations in numbers."""

import json
from typing import Any

from ...expressions import parse
from ...expressions.integration import simulate
from ...metrics.trajectories import r2_trajectories, sr2
from ...problems import problem
from ...report.ablations import FIRST
from ...report.facts import listed, next_best, setting, table


def facts() -> dict[str, Any]:
    """Name -> value, or value and form."""
    systems = table("cde_scores")["problem"].nunique()
    samples = table("cde_duplicates").query("method == 'least_squares'").groupby("sample")["systems"].sum()
    context = table("cde_ledger").query("table == 'Tables 5 and 9' and row == 'without_context'")
    signs = context["published"].astype(float) * context["measured"].astype(float)
    loop = setting("30_symbolbench_odes", "settings")["loop_gp"]
    (search,) = map(json.loads, table("cde_table6_scores")["settings"].unique())
    draws = _draws(5)
    return {
        "systems": systems,
        "repeated": samples["all"] - samples["distinct"],
        "published": systems - table("mdbench_odes_scores")["problem"].nunique(),
        "proposals": loop["epochs"] * loop["samples"],
        "affine": {split: _against("cde_affine", "least_squares", split) for split in ("id", "ood")},
        "bidirectional": {
            split: _against("cde_bidirectional", "bidirectional", split) | _first(split) for split in ("id", "ood")
        },
        "seeds": (len(setting("30_symbolbench_odes", "seeds")), "word"),
        "draws.low": (min(draws), ".0f"),
        "draws.high": (max(draws), ".0f"),
        "table6.population": search["population_size"],
        "table6.generations": search["generations"],
        "table6.systems": table("cde_table6_scores")["problem"].nunique(),
        "context.reproduced": ((context["verdict"] == "reproduced").sum(), "word"),
        "context.other_sign": ((signs < 0).sum(), "word"),
        "context.cells": (len(context), "word"),
        "figure3.runs": table("cde_figure3")["runs"].max(),
    }


def _against(name, method, split):
    """SR2 of a method beside the best printed language model and the best printed row, by number of states."""
    rows = table(name).query("split == @split").set_index("states")
    column = {"id": "SR2, in distribution", "ood": "SR2, out of distribution"}[split]
    cells = table("cde_table2_kept_values").query("split == @split and metric == 'sr2'")
    cells = cells[~cells["method"].str.endswith("printed")]
    other = {n: next_best(part) for n, part in cells.groupby("states")}
    shown = table("cde_table2_kept").query("method == @method").set_index("states")[column]
    return {
        **{n: (value, ".1f") for n, value in rows["SR2"].items()},
        **{name: {n: (value, ".1f") for n, value in rows[name].items()} for name in ("printed", "printed_all")},
        "interval": {n: text.partition(" ")[2] for n, text in shown.items()},
        "next_best": {n: (found["value"].value, ".1f") for n, found in other.items()},
        "next_best.method": {n: found["method"] for n, found in other.items()},
        "states": listed(rows.index),
        "above": listed(rows.index[rows["SR2"] > rows["printed"]]),
        "below": listed(rows.index[rows["SR2"] < rows["printed"]]),
        "ahead": listed(rows.index[rows["comparison"] == "ahead"]),
        "behind": listed(rows.index[rows["comparison"] == "behind"]),
        "ahead_all": listed(rows.index[rows["comparison_all"] == "ahead"]),
    }


def _first(split):
    """SR2 of the method of our own as first recorded, beside the same printed values."""
    rows = table("cde_own").query("split == @split and metric == 'sr2'")
    rows = rows[rows["variant"] == FIRST].set_index("states")
    beside = table("cde_bidirectional").query("split == @split").set_index("states")
    rows = rows.join(beside[["printed", "printed_all"]])
    sides = {
        "above": rows["value"] > rows["printed"],
        "below": rows["value"] < rows["printed"],
        "ahead": rows["low"] > rows["printed"],
        "behind": rows["high"] < rows["printed"],
        "ahead_all": rows["low"] > rows["printed_all"],
    }
    return {
        **{f"{n}.first": (row["value"], ".1f") for n, row in rows.iterrows()},
        **{f"interval.{n}.first": f"[{row['low']:.0f}, {row['high']:.0f}]" for n, row in rows.iterrows()},
        **{f"{name}.first": listed(rows.index[where]) for name, where in sides.items()},
    }


def _draws(n):
    """SR2 of the affine fit to four states, in percent, for each of n draws of the second initial states."""
    fits = table("cde_runs").query("method == 'least_squares' and subset == 4")
    systems = [problem(id) for id in fits["problem"]]
    answers = [{state: parse(text) for state, text in json.loads(found).items()} for found in fits["solution"]]

    def r2(system, answer, seed):
        found = simulate(answer, system.initial_state("ood", seed), system.times())
        return r2_trajectories(found, system.solution("ood", seed))

    return [100 * sr2([r2(*pair, seed) for pair in zip(systems, answers, strict=True)]) for seed in range(n)]
