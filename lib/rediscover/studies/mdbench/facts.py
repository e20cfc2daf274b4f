"""What README, paper and essays state of differential equations in numbers."""

import json
import math
from typing import Any

import pandas as pd

from ...metrics.dynamics import expanded
from ...problems import problem
from ...report.ablations import NOW, key
from ...report.facts import Interval, formatted, next_best, one, setting, shared, table
from ...report.papers import catalogue, published
from ...report.trials import CELL, results
from ...system.studies import studies
from .analysis import LINEAR, printed_marks, ratios, run_times

GENETIC = ("Operon", "PySR")  # as the tables of cells call them


def facts() -> dict[str, Any]:
    """Name -> value, or value and form."""
    odes, pdes, tests = table("mdbench_odes_scores"), table("mdbench_pdes_scores"), table("mdbench_tests")
    printed = pd.concat([published("mdbench_table_a5"), published("mdbench_table_a6")])
    flow = one(table("mdbench_pdes_cells"), dataset="NS (Channel)", method="PDEFIND")
    noisy = odes.query("snr_db == 10").groupby("method")["nmse_power"].median()
    weak = table("mdbench_pdes_matches").set_index("method")["printed_marks"]
    marks = printed_marks(["mdbench_table_a5", "mdbench_table_a6"])
    own = one(table("mdbench_odes_tests"), a="bidirectional")
    hard = _out_of_reach(odes["problem"].unique())
    joint = [*map(_joint, hard)]
    return {
        "odes": odes["problem"].nunique(),
        "odes.coupled": odes.query("subset > 1")["problem"].nunique(),
        "odes.out_of_reach": len(hard),
        "odes.two_states": sum(joint),
        "odes.other_functions": len(hard) - sum(joint),
        "elsewhere": studies()["mdbench"]["elsewhere"],
        "example": _example(),
        "pdes": pdes["problem"].nunique(),
        "pdes.word": (pdes["problem"].nunique(), "word"),
        "pdes.coarse": (len(setting("41_mdbench_pdes", "coarse_grid")), "word"),
        "pdes.runs": len(pdes),
        "pdes.failed": (pdes["status"] != "ok").sum(),
        "printed.methods": (printed["method"].nunique(), "word"),
        "noise.levels": odes.query("noise != 0")["noise"].nunique(),
        "noise.with_clean": (len(setting("40_mdbench_odes", "snr_db")), "word"),
        "claims": (len(table("mdbench_claims")), "word"),
        "package": _by_package() | {"boxes": _same_boxes()},
        "run_times": _run_times(),
        "tests": (len(tests), "word"),
        "tests.one_sided": (tests["one_sided_min"].notna().sum(), "word"),
        "tests.own": {name: (own[name], 2) for name in ("p", "p_holm")},
        "tests.not_two_sided": (tests["two_sided_min"].isna().sum(), "word"),
        "found": _found(),
        "found.printed": marks.iloc[-1],
        "found.printed.method": marks.index[-1],
        "pdes.found.bidirectional": _own("mdbench_pdes_own"),
        "pdes.found.wsindy.20": (int(one(table("mdbench_pdes_found"), method="wsindy")["20 dB"]), "word"),
        "pdes.found.deepmod.40": int(one(table("mdbench_pdes_found"), method="deepmod")["40 dB"]),
        "pdes.finding.40": int((table("mdbench_pdes_found").query("method != 'oracle'")["40 dB"] > 0).sum()),
        "seeds": (len(setting("40_mdbench_odes", "seeds")), "word"),
        "pdes.seeds": (len(setting("41_mdbench_pdes", "seeds")), "word"),
        "pdes.found.printed": printed_marks(["mdbench_table3"]).iloc[-1],
        "sindy": _matches("SINDy"),
        "operon": _matches("Operon"),
        "pdes.marks": _marks(table("mdbench_pdes_matches").set_index("method")),
        "pdes.marks.ledger": _marks_by_seeds(),
        "pdes.below_truth": _below_truth(pdes),
        "eql.failed": _failures("EQL"),
        "weak.marks": shared(*(formatted(weak[name], "word") for name in ("WSINDy", "EWSINDy"))),
        "flow.nodes": shared(*(f"{flow[f'complexity_{source}']:.0f}" for source in ("printed", "rediscover"))),
        "noisy": {name: (noisy[name], 2) for name in ("sindy", "operon", "zero")},
    }


def _found():
    """Systems found by some methods, on clean data and at 40 dB; share of the clean ones in per cent, with interval."""
    found = table("mdbench_odes_found").set_index("method")
    systems, rows = table("mdbench_odes_scores")["problem"].nunique(), {}
    for name in ("sindy_cross", "operon", "bidirectional"):
        row = found.loc[name]
        share = 100 * row[["clean", "low", "high"]].astype(float) / [systems, 1, 1]
        # With methods that are not run with noise, counts are read as floats.
        rows[name] = {"clean": int(row["clean"]), "40": int(row["40 dB"]), "share": (Interval(*share), ".0f")}
    for level, column in {"clean": "clean", "40": "40 dB"}.items():
        other = next_best(found.reset_index().rename(columns={column: "value"}))
        rows[f"next_best.{level}"] = int(other["value"].value)
        rows[f"next_best.{level}.method"] = other["method"]
    return rows | {"bidirectional": rows["bidirectional"] | _own("mdbench_odes_own")}


def _own(name):
    """The method of our own at every level of noise, as it is, as first recorded and without a part."""
    rows = {}
    for row in table(name).itertuples():
        end = "" if row.variant == NOW else f".{key(row.variant)}"
        rows[f"{row.snr_db:.0f}{end}" if math.isfinite(row.snr_db) else f"clean{end}"] = row.recovered
        if math.isinf(row.snr_db):
            rows[f"share{end}"] = (Interval(100 * row.share, 100 * row.low, 100 * row.high), ".0f")
    return rows


def _out_of_reach(systems):
    """Systems that the published libraries, of functions of one state, cannot write down."""
    return [system for system in map(problem, systems) if not system.univariate]


def _joint(system):
    """Whether some term of an equation holds two states: the published libraries are of functions of one."""
    texts = system.truth.values()
    return any(sum(name in term for name in system.outputs) > 1 for text in texts for term in expanded(text))


def _by_package() -> dict[str, int]:
    """Cells that PySINDy itself answers."""
    packaged = catalogue("mdbench").query("package != ''")["label"]
    cells = table("ledger").query("paper == 'MDBench' and verdict != 'not run' and kind == 'rerun'")
    return {"rerun": cells["method"].isin(packaged).sum()}


def _same_boxes() -> dict[str, int]:
    """Values of WSINDy's trials, by field and seed, and those that are the same by PySINDy and by our own code."""
    kept = pd.read_csv(results("mdbench"), converters={"values": json.loads}).set_index(["trial", *CELL])["values"]
    theirs = kept["boxes_package"]
    ours = kept["boxes"].loc[theirs.index]
    return {"values": theirs.map(len).sum(), "same": (theirs.explode() == ours.explode()).sum()}


def _run_times() -> dict[str, Any]:
    """Seconds of PySINDy itself over those of our own code, and over the printed ones of PDEFIND."""
    times, over = run_times().query("package"), ratios()
    alike = over[over["printed"] != 1].gt(1).nunique(axis=1).eq(1)
    printed = times.query("method == 'PDEFIND'").eval("seconds / printed")
    slowest = (times["seconds"] / times["own"]).max()
    pairs = {"pairs": (len(alike), "word"), "alike": (alike.sum(), "word")}
    return pairs | {"slowest": (slowest, ".0f"), "least": (printed.min(), 2), "most": (printed.max(), 2)}


def _example():
    """A clean cell of SINDy, as printed and as found here."""
    cell = one(table("mdbench_odes_ledger"), table="Table A5", row="I12-D1", column="SINDy")
    return {name: cell[name] for name in ("row", "published", "measured", "verdict")}


def _failures(method):
    """Clean systems without an answer: here, in the paper, and in both."""
    cells = table("mdbench_odes_cells").query("method == @method")
    here, there = (cells[f"status_{source}"] == "failed" for source in ("rediscover", "printed"))
    return {"here": here.sum(), "printed": there.sum(), "both": (here & there).sum()}


def _marks(counts):
    """Check marks of clean fields that are reproduced, and printed: all of them, and of genetic programming."""
    columns = {"recovered": "recovered_marks", "printed": "printed_marks"}
    found = {name: counts[column].sum() for name, column in columns.items()}
    of_method = {name: {key: (counts.loc[name, column], "word") for key, column in columns.items()} for name in GENETIC}
    return found | of_method


def _marks_by_seeds() -> dict[str, int]:
    """Check marks of Table 3 by the ledger's verdict, with all seeds: of all methods, and of EWSINDy."""
    cells = table("ledger").query("paper == 'MDBench' and table == 'Table 3' and published == 'identified'")
    parts = {"": cells, "EWSINDy.": cells[cells["method"] == "EWSINDy"]}
    counts = {name: part["verdict"].value_counts() for name, part in parts.items()}
    return {f"{name}{verdict}": n for name, found in counts.items() for verdict, n in found.items()}


def _below_truth(pdes: pd.DataFrame) -> dict[str, int]:
    """Answers on clean fields, of linear methods and our own, with a lower score than the true equation's."""
    clean = pdes[(pdes["noise"] == 0) & (pdes["status"] == "ok")]
    truth = clean[(clean["method"] == "oracle") & (clean["identified"] == 1)].set_index("problem")["nmse_power"]
    scores = clean[clean["method"].isin([*LINEAR, "bidirectional"]) & clean["problem"].isin(truth.index)]
    below = scores["nmse_power"] < scores["problem"].map(truth)
    return {"count": below.sum(), "of": len(scores), "fields": scores.loc[below, "problem"].nunique()}


def _matches(method):
    """Clean cells that are the same, and check marks reproduced."""
    row = one(table("mdbench_odes_matches"), method=method)
    names = {"equal": "equal", "cells": "cells", "marks": "recovered_marks", "printed_marks": "printed_marks"}
    return {name: row[column] for name, column in names.items()}
