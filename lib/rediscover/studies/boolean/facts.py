"""What README, paper and essays state of Boolean networks in numbers."""

from typing import Any

import pandas as pd

from ...problems import problem, problems
from ...report.facts import Interval, how_many, one, setting, shared, table
from ...report.papers import published
from ...system import derived
from . import analysis, claims


def facts() -> dict[str, Any]:
    """Name -> value, or value and form."""
    notebook = "31_symbolbench_boolean"
    networks = table("boolean_scores")["problem"].nunique()
    cells = table("boolean_logicgep").fillna({"split": ""}).set_index(["table", "split", "metric"]).sort_index()
    above = table("boolean_references").query("method == 'majority' and measure == 'informedness'")["models_above"]
    # without the complexity, which is of rules and printed beside both splits
    ood = cells[cells.index.get_level_values("split") == "ood"].drop("complexity", level="metric")
    passed = networks * cells.loc["Table 3", "id", "acc_0.7"]["published"] / 100
    return {
        "networks": networks,
        "cell_collective": setting(notebook, "cell_collective"),
        "seeds": (len(setting(notebook, "seeds")), "word"),
        "truth_table": _table3("truth_table") | _unseen("truth_table"),
        "truth_table.id_percent": (one(table("boolean_table3"), method="truth_table")["informedness_id"], ".0f"),
        "logicgep": _table3("logicgep") | _unseen("logicgep"),
        "logicgep_printed": _table3("LogicGep, printed"),
        "identity": _table3("identity") | _unseen("identity") | _beside_models("identity"),
        "majority": _beside_models("majority"),
        "majority.models_above": (above.sum(), "word"),
        "model": _table3("best language model, printed"),
        "f1_half": (cells.loc["Table 3", "id", "acc_0.5"]["published"], ".1f"),
        "f1_passed": (passed, ".0f"),
        "cells": {"count": len(cells), "back": (cells["verdict"] == "reproduced").sum()},
        "cells.ood": {"count": len(ood), "printed_above": (ood["published"] > ood["measured"]).sum()},
        "transitions": _transitions(),
        "table3": _back(cells.loc["Table 3"]) | {"back_by_seeds": _back_by_seeds()},
        "table7": _back(cells.loc["Table 7"]),
        "released": _released(),
        "complexity.printed": (cells.loc["Table 7", "id", "complexity"]["published"], ".3f"),
        "complexity.here": (cells.loc["Table 7", "id", "complexity"]["measured"], ".3f"),
        "proximity.without_one": (_runs()["proximity_classes"].agg(_without_largest).min(), ".2f"),
        "proximity": _by_seed("proximity_classes", ".2f"),
        "operations": _by_seed("operations", ".1f"),
    }


def _released():
    """The best answers of the released runs: how many hold rules that are skipped or not asked for, and mean F1."""
    answers = derived.read("boolean", "released_runs")
    counts = {name: (answers[name] > 0).sum() for name in ("skipped", "for_inputs")}
    means = {name: (answers[column].mean(), ".2f") for name, column in (("f1", "f1"), ("regulated", "f1_regulated"))}
    p = claims.over_unseen(answers, "the identity").set_index("condition")["p_holm"]
    means |= {"identity.p_with": (p["with reasoning"], ".2f"), "identity.p_without": (p["without"], ".2f")}
    return {"answers": len(answers), **counts, **means}


def _transitions():
    """Mean number of training transitions of a network, by how the data are made."""
    made: dict[str, Any] = {}
    for how in ("released", "complete"):
        sizes = [len(problem(id, transitions=how).data(0)["train"].X) for id in problems("boolean", "symbolbench")]
        made[how] = (sum(sizes) / len(sizes), ".0f")
    return made


def _table3(method):
    """Informedness, and the share of rules that are equivalent to the true ones."""
    row = one(table("boolean_table3"), method=method)
    facts = {"id": (row["informedness_id"], ".1f"), "ood": (row["informedness_ood"], ".1f")}
    return facts if pd.isna(row["rules_equivalent"]) else facts | {"equivalent": (row["rules_equivalent"], ".0f")}


def _beside_models(method):
    """A reference that knows no rule, and how many printed language models are below and above its interval."""
    rows = table("boolean_references").query("method == @method")
    facts: dict[str, Any] = {}
    for split in ("id", "ood"):
        informed, recall, accuracy = (one(rows, split=split, measure=m) for m in ("informedness", "recall", "accuracy"))
        facts[f"{split}.models"] = {
            "interval": (Interval(*informed[["value", "low", "high"]]), ".1f"),
            "best_model": (informed["best_printed"], ".1f"),
            "count": (informed["models"], "word"),
            "below": (informed["models_below"], "word"),
            "above": (informed["models_above"], "word"),
            "above_in_recall": (recall["models_above"], "word"),
            "accuracy": (accuracy["value"], ".0f"),
            "best_accuracy": (accuracy["best_printed"], ".0f"),
        }
    behind = rows.query("measure == 'accuracy'")
    return facts | {"accuracy_below": how_many(behind["models_below"] == behind["models"])}


def _unseen(method):
    """Informedness on the second half of the runs, on unvisited states, and on larger networks."""
    halves = one(table("boolean_variants"), method=method)
    facts = {name: f"{halves[f'{name}_ood']:.0f}" for name in ("released", "complete")}
    facts["both_ways"] = shared(*facts.values())
    for larger in table("boolean_extra").query("method == @method").to_dict("records"):
        ends = [f"{larger[f'informedness_pooled_{split}']:.0f}" for split in ("id", "ood")]
        facts |= {"larger": ends[1], "larger.both_halves": shared(*ends)}
    return facts


def _back(cells):
    """How many printed cells of LogicGep are reproduced, of how many."""
    differ = cells["verdict"] == "differs"
    return {
        "cells": len(cells),
        "back": (cells["verdict"] == "reproduced").sum(),
        "differ": (differ.sum(), "word"),
        "differ_id": (differ["id"].sum(), "word"),
    }


def _runs():
    return table("boolean_scores").query("method == 'logicgep'").groupby("seed")


def _without_largest(values):
    """The lowest mean that the values can have without one of them."""
    return values.drop(values.idxmax()).mean()


def _back_by_seeds():
    """Printed cells of Table 3 within the range over seeds alone, no network being left out."""
    seeds = [analysis.row(group) for _, group in _runs()]
    inside = 0
    for cell in published("symbolbench_table3").query("model == 'LogicGep'").itertuples():
        values = [measured[cell.split, cell.metric] for measured in seeds]
        half = 0.5 * 10.0 ** -len(cell.value.partition(".")[2])
        inside += min(values) - half <= float(cell.value) <= max(values) + half
    return inside


def _by_seed(score, form):
    """Range over seeds of a score of LogicGEP, each a mean over networks."""
    means = _runs()[score].mean()
    return {"least": (means.min(), form), "most": (means.max(), form)}
