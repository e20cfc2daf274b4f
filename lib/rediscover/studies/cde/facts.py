"""What README, paper and essays state of coupled equations in numbers."""

import json
from typing import Any

from ...expressions import parse
from ...expressions.integration import simulate
from ...metrics.trajectories import r2_trajectories, sr2
from ...problems import problem
from ...report.ablations import FIRST, NOW
from ...report.claim_cells import SIGNIFICANT
from ...report.facts import Interval, listed, next_best, setting, table
from ...report.papers import published
from ...report.plots import display_name
from ...report.summaries import bootstrap
from ...system import derived

AFFINE = "least_squares"
PUBLISHED = "cde/P"  # systems of published models; those of ODEBench are cde/S


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
        "systems_of": table("cde_scores").groupby("subset")["problem"].nunique().to_dict(),
        "repeated": samples["all"] - samples["distinct"],
        "published": systems - table("mdbench_odes_scores")["problem"].nunique(),
        "proposals": loop["epochs"] * loop["samples"],
        "affine": {split: _against("cde_affine", AFFINE, split) for split in ("id", "ood")},
        "affine.id.apart": _apart("id"),
        "affine.ood.acc": _shares(AFFINE, "ood"),
        "printed_columns": _columns("ood", "sr2"),
        "bidirectional": {
            split: _against("cde_bidirectional", "bidirectional", split) | _first(split) | _here(split)
            for split in ("id", "ood")
        },
        "bidirectional.missed": _missed(),
        "beyond_odebench": _beyond_odebench(),
        "bidirectional.evaluations": _evaluations(),
        "loops": _from_first_to_last(),
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


def _columns(split, metric):
    """Of the language models' columns of Table 2, by number of states: how many have a value in our copy, and all."""
    rows = published("symbolbench_table2").query("setting != '' and split == @split and metric == @metric")
    counts = (rows["value"] != "").groupby(rows["dim"].astype(int)).agg(["sum", "size"])
    return {"of": counts["size"].max(), **counts["sum"].to_dict()}


def _apart(split):
    """Points between the affine fit and the best printed language model, on whichever side, by number of states."""
    rows = table("cde_affine").query("split == @split").set_index("states")
    return {n: (gap, ".0f") for n, gap in (rows["SR2"] - rows["printed"]).abs().items()}


def _shares(method, split):
    """ACC of a method with one state, and of the best printed language model, whose columns are all known."""
    rows = table("cde_table2_kept_values").query("states == 1 and split == @split and metric == 'acc_0.9'")
    values = rows.set_index("method")["value"]
    return {"1": (values[method], ".1f"), "printed.1": (values["best language model, printed"], ".1f")}


def _here(split):
    """The method of our own against others that ran here, by paired differences: where the interval is above 0.

    `best`: against that with the highest mean, for each number of states; else against the affine fit.
    """
    tests = table("cde_bidirectional_tests")
    tests[["split", "states"]] = tests["condition"].str.split(" ", expand=True)
    tests = tests[tests["split"] == split].astype({"states": int})
    found: dict[str, Any] = {}
    rivals: dict[str, None] = {}  # a set in order
    for end, of_ours in (("", "bidirectional"), (".first", "bidirectional_first")):
        rows = tests[tests["a"] == of_ours]
        # on the same systems the smallest difference is that to the highest mean
        best = rows.loc[rows.groupby("states")["mean_difference"].idxmin()].set_index("states")
        affine = rows[rows["b"] == AFFINE].set_index("states")
        for name, part in {"here": best, "linear": affine}.items():
            apart = {n: Interval(*row[["mean_difference", "low", "high"]]) for n, row in part.iterrows()}
            found |= {f"{name}.{n}{end}": (value, ".1f") for n, value in apart.items()}
            found[f"{name}.ahead{end}"] = listed(part.index[part["low"] > 0])
            found[f"{name}.behind{end}"] = listed(part.index[part["high"] < 0])
            tested = (part["p_holm"] < SIGNIFICANT) & (part["rank_biserial"] > 0)
            found[f"{name}.tested{end}"] = listed(part.index[tested])
        rivals |= dict.fromkeys(map(display_name, best["b"]))
    return found | {"here.next_best": " and ".join(rivals)}


def _beyond_odebench() -> dict[str, Any]:
    """Our own search minus least squares, SR2 out of distribution, on the systems that are not ODEBench's."""
    scores = table("cde_scores")
    scores = scores[scores["problem"].str.startswith(PUBLISHED) & scores["method"].isin(["bidirectional", AFFINE])]
    scores = scores.assign(sr2=100 * scores["r2_trajectories_ood"].fillna(0).clip(lower=0)).astype({"subset": int})
    values = scores.pivot(index=["subset", "problem"], columns="method", values="sr2")
    apart = (values["bidirectional"] - values[AFFINE]).groupby("subset")
    found = {n: Interval(*bootstrap(part.to_numpy())) for n, part in apart}
    ahead = listed(n for n, value in found.items() if value.low > 0)
    return {n: (value, ".1f") for n, value in found.items()} | {"count": len(values), "ahead": ahead}


def _missed():
    """Systems on which the method of our own has R2 below 0.9 out of distribution, and of these below it within."""
    scores, found = table("cde_own_scores"), {}
    for variant, end in ((NOW, ""), (FIRST, ".first")):
        for n, part in scores[scores["variant"] == variant].groupby("subset"):
            missed = part[~(part["r2_trajectories_ood"] >= 0.9)]
            fitted = missed["r2_trajectories_id"] >= 0.9
            counts = {"count": len(missed), "unfitted": (~fitted).sum(), "fitted": fitted.sum()}
            found |= {f"{n}.{name}{end}": value for name, value in counts.items()}
    return found


def _evaluations():
    """Millions of evaluations that the method of our own used on a system."""
    used = table("cde_runs").query("method == 'bidirectional'")["evaluations"] / 1e6
    return {"median": (used.median(), ".1f"), "most": (used.max(), ".0f")}


def _from_first_to_last():
    """Of the models of the released runs, with and without reasoning: in how many the mean R2 rises, and the length."""
    runs = derived.read("cde", "released_runs")
    runs[["first_r2", "last_r2"]] = runs[["first_r2", "last_r2"]].clip(lower=0)
    runs = runs.dropna(subset=["first_r2", "last_r2"])
    means = runs.groupby(["model", "reasoning"])[["first_r2", "last_r2", "first_complexity", "last_complexity"]].mean()
    rose, longer = means["last_r2"] > means["first_r2"], means["last_complexity"] > means["first_complexity"]
    every = runs["last_r2"] > runs["first_r2"]
    counts = {"rows": len(means), "rose": rose.sum(), "longer": (rose & longer).sum()}
    return counts | {"runs": len(runs), "runs_rose": (every.mean(), ".0%")}


def _draws(n):
    """SR2 of the affine fit to four states, in percent, for each of n draws of the second initial states."""
    fits = table("cde_runs").query("method == 'least_squares' and subset == 4")
    systems = [problem(id) for id in fits["problem"]]
    answers = [{state: parse(text) for state, text in json.loads(found).items()} for found in fits["solution"]]

    def r2(system, answer, seed):
        found = simulate(answer, system.initial_state("ood", seed), system.times())
        return r2_trajectories(found, system.solution("ood", seed))

    return [100 * sr2([r2(*pair, seed) for pair in zip(systems, answers, strict=True)]) for seed in range(n)]
