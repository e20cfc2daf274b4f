"""The analysis, the claims and the ledger of MDBench, from small hand-made scores."""

import json
import math

from factories import scores_frame
from rediscover import report, runs
from rediscover.params import read
from rediscover.problems import problem
from rediscover.problems.pdes import settings
from rediscover.report import trials
from rediscover.report.comparisons import PAIRED_TEST, paired_tests
from rediscover.runs.schema import read_csv
from rediscover.studies.mdbench import analysis, claims, figures, ledger, packages
from rediscover.studies.mdbench.grids import grids
from rediscover.studies.mdbench.params import PDEs
from rediscover.system.paths import root
from rediscover.system.studies import studies

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest


def scored(rows):
    """Scores as of `analysis.score`, from the columns that differ."""
    base = {
        "problem": "odes/4",
        "subset": "1",
        "method": "sindy",
        "snr_db": math.inf,
        "nmse_power": 1e-2,
        "complexity_mdbench": 3.0,
        "complexity_own": 4.0,
        "identified": 0.0,
        "partial": 0.0,
    }
    return scores_frame([base | row for row in rows])


# Cells


def test_cells_are_equal_if_power_and_complexity_are():
    """Published for SINDy: I4 1e-2 with 3 nodes, I1 a check mark, I5 1e-1 with 5, I17 1e0 with 1 node."""
    rows = [
        {},
        {"problem": "odes/1", "identified": 1.0},
        {"problem": "odes/5", "nmse_power": 0.2, "complexity_mdbench": 6.0},
        {"problem": "odes/17", "nmse_power": 0.9, "complexity_mdbench": 1.0},
        {"problem": "odes/4", "snr_db": 20.0, "nmse_power": 5.0},
    ]
    cells = analysis.compare_cells(scored(rows), ["mdbench_table_a5"]).set_index("dataset")
    assert cells["equal"].to_dict() == {"I4-D1": True, "I1-D1": True, "I5-D1": False, "I17-D1": True}
    numbers = ["exponent_printed", "complexity_printed", "exponent_rediscover", "complexity_rediscover"]
    assert cells.loc["I5-D1", numbers].tolist() == [-1, 5, -1, 6]
    assert cells.loc["I1-D1", ["status_printed", "status_rediscover"]].tolist() == ["found", "found"]
    assert cells[numbers].dtypes.eq("Int64").all() and cells["equal"].dtype == bool


def test_genetic_programming_is_counted_by_its_own_size():
    """Published for Operon: I4 1e-1 with 7 nodes, by the tree that it prints."""
    row = {"method": "operon", "nmse_power": 0.1, "complexity_mdbench": 5.0, "complexity_own": 7.0}
    (cell,) = analysis.compare_cells(scored([row]), ["mdbench_table_a5"]).itertuples()
    assert cell.equal and (cell.exponent_rediscover, cell.complexity_rediscover) == (-1, 7)


def test_failures_are_equal_to_nothing():
    """ESINDy failed on a system of Table A6 in the paper; SINDy has a number on I4."""
    tables = ["mdbench_table_a5", "mdbench_table_a6"]
    printed = pd.concat(map(analysis.printed_cells, tables))
    failed = printed[(printed["method"] == "ESINDy") & (printed["status"] == "failed")].iloc[0]
    number = int(failed["dataset"].partition("-")[0][1:])
    rows = [{"method": "esindy", "problem": f"odes/{number}", "nmse_power": math.inf}, {"nmse_power": math.inf}]
    cells = analysis.compare_cells(scored(rows), tables).set_index("method")
    assert cells["equal"].to_dict() == {"SINDy": False, "ESINDy": False}


@pytest.mark.parametrize(
    ("table", "counts"),
    [
        ("mdbench_table3", {"value": 57, "found": 29, "failed": 26}),
        ("mdbench_table_a5", {"value": 222, "found": 40, "failed": 18}),
        ("mdbench_table_a6", {"value": 205, "found": 7, "failed": 12}),
    ],
)
def test_every_printed_cell_is_typed(table, counts):
    cells = analysis.printed_cells(table)
    assert cells["status"].value_counts().to_dict() == counts
    assert (cells["exponent"].notna() == (cells["status"] == "value")).all()
    assert (cells["complexity"].notna() == (cells["status"] == "value")).all()


def test_marks_recovered_and_new_ones_are_counted():
    cells = pd.DataFrame(
        {
            "method": ["A"] * 5,
            "status_printed": ["found", "found", "value", "value", "failed"],
            "status_rediscover": ["found", "failed", "found", "failed", "failed"],
            "equal": [True, False, False, False, True],
            "not_run": [False, False, False, True, False],
        }
    )
    counted = analysis.count_equal(cells).loc["A"].to_dict()
    assert counted == {"cells": 4, "equal": 2, "printed_marks": 2, "recovered_marks": 1, "new_marks": 1}


def test_labels_are_the_published_names():
    assert analysis.label("odes/63") == "I63-D4" and analysis.label("pdes/ns_channel") == "NS (Channel)"


def test_missing_methods_say_why():
    text = analysis.missing(scored([{}, {"method": "operon"}]), ["SINDy", "ESINDy", "End2end"])
    reason = (
        "needs weights and a package of its authors: clone github.com/facebookresearch/symbolicregression (commit "
        "c4144c9) as source, with its own Python 3.7 and torch 1.11 as python; weights are "
        "dl.fbaipublicfiles.com/symbolicregression/model1.pt; then name weights and sha256"
    )
    assert text == f"ESINDy: no runs in this profile; End2end: {reason}"
    assert analysis.missing(scored([{}]), ["SINDy"]) == ""


def test_every_method_of_a_published_figure_or_test_has_a_label():
    study = studies()["mdbench"]
    known = set(report.catalogue("mdbench")["label"])
    assert all(known >= set(panel) for panel in study["figures"].values())
    assert all({test["a"], test["b"]} <= known for test in study["tests"].values())
    assert set(study["tests"]) == set(report.published("mdbench_tests")["comparison"])


# Tests


def test_a_signed_rank_test_states_its_pairs():
    rows = [
        {"problem": f"odes/{i}", "method": name, "nmse_power": value}
        for i in range(1, 7)
        for name, value in (("sindy", 1.0 * i), ("operon", 2.0 * i))
    ]
    rows += [{"problem": "odes/7", "method": "sindy"}, {"problem": "odes/7", "method": "operon", "nmse_power": np.inf}]
    row = analysis.signed_rank(scored(rows), "sindy", "operon", "nmse_power", [math.inf])
    assert (row["n_pairs"], row["w_plus"], row["w_minus"]) == (6, 0, 21)
    assert row["p"] == pytest.approx(1 / 64) and row["alternative"] == "less"
    assert list(paired_tests([row])) == list(PAIRED_TEST)


def test_levels_of_noise_of_one_system_are_one_pair():
    rows = [
        {"problem": f"odes/{i}", "method": name, "nmse_power": value, "snr_db": level}
        for i in range(1, 7)
        for level in (math.inf, 40.0, 30.0)
        for name, value in (("sindy", 1.0 * i), ("operon", 2.0 * i))
    ]
    about = (scored(rows), "sindy", "operon", "nmse_power", [math.inf, 40.0, 30.0])
    by_system, as_published = (analysis.signed_rank(*about, by_system=whole) for whole in (True, False))
    assert (by_system["n_pairs"], as_published["n_pairs"]) == (6, 18)
    assert by_system["p"] == pytest.approx(1 / 64) and as_published["p"] < 1e-3


def test_equal_pairs_are_dropped_and_counted():
    rows = [{"method": name, "problem": f"odes/{i}"} for i in (1, 2) for name in ("sindy", "operon")]
    row = analysis.signed_rank(scored(rows), "sindy", "operon", "nmse_power", [math.inf])
    assert row["n_pairs"] == row["n_zeros"] == 2 and row["p"] == 1


@pytest.mark.parametrize("log", [False, True])
def test_the_same_answer_found_by_two_ways_is_an_equal_pair(log):
    """Rounding would else be ranked: 3 pairs that go as claimed by 1e-14, against one that does not."""
    rows = [
        {"problem": f"odes/{i}", "method": name, "nmse_power": value}
        for i, other in ((1, 0.3 + 1e-14), (2, 0.3 + 1e-14), (3, 0.3 + 1e-14), (4, 0.2))
        for name, value in (("sindy", 0.3), ("sindy_cross", other))
    ]
    row = analysis.signed_rank(scored(rows), "sindy", "sindy_cross", "nmse_power", [math.inf], log=log)
    assert (row["n_pairs"], row["n_zeros"], row["w_minus"], row["w_plus"]) == (4, 3, 0, 1)
    assert row["measure"] == ("log10 nmse_power" if log else "nmse_power")


def test_no_common_cell_is_no_test():
    assert analysis.signed_rank(scored([{}]), "sindy", "operon", "nmse_power", [math.inf]) is None


def test_pair_counts_that_a_published_statistic_allows():
    """All 30 ranks on one side make 465: W = 455 needs 30 pairs at least, and no smaller sum of theirs can reach it."""
    assert analysis.implied_pairs(455.0, 1e-4, 42) == {"one_sided_min": 30, "one_sided_max": 31}
    assert list(analysis.implied_pairs(12795.0, 1e-10, 315).values()) == [160, 181, 300, 315]
    assert analysis.implied_pairs(500.0, 1e-4, 31) == {}


# Claims


def systems(name="ODEs", n=12, levels=(math.inf, 10.0), **errors):
    """Scores of methods on so many systems, each with one error (or several: one for each level of noise)."""
    rows = [
        {"problem": f"{name.lower()}/{i}", "method": method, "snr_db": level}
        | {"nmse_power": float(np.resize(error, len(levels))[k]) * (1 + i / 100)}
        for method, error in errors.items()
        for i in range(n)
        for k, level in enumerate(levels)
    ]
    frame = scored(rows)
    return frame.assign(systems=name, kind=frame["method"].map(claims.kinds()))


def test_the_lowest_error_is_claimed_for_another_kind_on_odes():
    pdes, odes = (systems(name, Operon=0.2, **{other: 0.1}) for name, other in (("PDEs", "PDEFIND"), ("ODEs", "SINDy")))
    assert [cell.goes for cell in claims.md_01(pd.concat([pdes, odes])).cells] == [True, True, False, False]
    useless = pd.concat([systems("PDEs", Operon=2.0, PDEFIND=9.0), systems(Operon=2.0, SINDy=9.0)])
    assert claims.md_01(useless)[0] == "not shown", "zero is as good"


def test_robustness_compares_ratios_by_system():
    changes = claims.ratios(pd.concat([systems(Operon=[0.01, 1.0], SINDy=[0.01, 0.1]), systems("PDEs", Operon=0.1)]))
    judged = claims.md_02(changes)
    assert [cell.goes for cell in judged.cells] == [True, None] and judged.tests["n_a"].tolist() == [12, 0]


PUBLISHED = pd.Series(
    {"one_sided_min": 31.0, "one_sided_max": 32.0, "two_sided_min": np.nan, "maximum": 42, "missing": ""}
)
PUBLISHED["two_sided_max"] = np.nan


@pytest.mark.parametrize(
    ("p", "rank_biserial", "verdict"), [(0.01, -0.5, "holds"), (0.03, -0.5, "not shown"), (0.96, 0.5, "fails")]
)
def test_a_signed_rank_claim_follows_p_and_direction(p, rank_biserial, verdict):
    test = pd.Series(
        {"n_pairs": 4, "n_zeros": 1, "w_minus": 6.0, "w_plus": 0.0, "p": p, "rank_biserial": rank_biserial}
        | {"p_holm": min(1, 2 * p)}
    )
    found, finding = claims.signed_rank(PUBLISHED, test)
    assert found == verdict and finding.startswith("4 systems, 1 equal: W 6 as claimed, 0 against, one-sided p ")
    assert finding.endswith("the published W allows 31-32 pairs")


def test_a_signed_rank_claim_without_its_methods_says_what_the_published_numbers_allow():
    published = pd.concat([PUBLISHED.drop("missing"), pd.Series({"missing": "EQL: absent"})])
    found, finding = claims.signed_rank(published, None)
    assert found == "untestable here"
    assert finding == "EQL: absent; pairs that the published W and p allow: one-sided 31-32, two-sided none, of 42"
    assert claims.signed_rank(PUBLISHED, None) == ("untestable here", "no pair of finite errors in this profile")


def test_complexity_is_to_shrink_for_linear_methods_and_grow_for_others():
    frame = systems(SINDy=0.1, Operon=0.1, ODEFormer=0.1)
    noisy = np.isfinite(frame["snr_db"])
    sizes = 5.0 + noisy * frame["method"].map({"SINDy": -2, "Operon": 2, "ODEFormer": 2})
    assert claims.md_09(frame.assign(complexity_mdbench=sizes))[0] == "holds"
    assert claims.md_09(frame.assign(complexity_mdbench=5.0 + noisy))[0] == "mixed"
    assert claims.md_09(frame.assign(complexity_mdbench=5.0))[0] == "not shown"


def test_sensitivity_compares_systems_at_40_db():
    at_40 = pd.DataFrame({"mean": [3.0, 1.0], "std": [0.0, 0.5], "size": [9, 6]}, ["PDEs", "ODEs"])
    rows = [(name, f"{name}/{i}", loss + i / 100) for name, loss in (("PDEs", 3.0), ("ODEs", 1.0)) for i in range(9)]
    changes = pd.DataFrame(rows, columns=["systems", "problem", "ratio"])
    verdict, finding = claims.md_10(changes, at_40)
    assert verdict == "holds" and "PDEs 3.00 ± 0.00 (6.91 in base e), 9 pairs" in finding
    assert claims.md_10(changes.assign(ratio=-changes["ratio"]), at_40)[0] == "fails"
    assert claims.md_10(changes, at_40.iloc[:1])[0] == "untestable here"


def test_identified_systems_by_number_of_variables():
    rows = [
        {"problem": f"pdes/{i}", "variables": "one" if i < 8 else "several", "identified": i < 8} for i in range(14)
    ]
    clean = pd.DataFrame(rows).astype({"identified": float})
    verdict, finding = claims.md_12(clean)
    assert verdict == "holds" and finding.startswith("one variable 8 of 8 cells, several variables 0 of 6 cells")
    assert claims.md_12(clean[5:10])[0] == "not shown", "three and two systems are few"
    assert claims.md_12(clean[:8])[0] == "untestable here"


def test_claims_on_methods_wait_for_their_rows():
    found = pd.DataFrame({"sum": [2.0, 0.0], "size": 63}, ["Operon", "EQL"])
    judged = claims.md_11(found, "End2end: absent")
    assert judged[0] == "not shown" and [cell.goes for cell in judged.cells] == [True, True] + [None] * 6
    assert claims.md_11(found[:0], "")[0] == "untestable here"
    former = systems(ODEFormer=[1e-3, 1e-3, 0.5], levels=(math.inf, 30.0, 10.0))
    former["complexity_mdbench"] += former["snr_db"] < 20
    assert claims.md_08(former[:0], "ODEFormer: absent") == ("untestable here", "ODEFormer: absent")
    assert claims.md_08(former, "")[0] == "holds"
    assert claims.md_08(former.assign(nmse_power=0.5, complexity_mdbench=9.0), "")[0] == "not shown"


def test_errors_on_one_system_are_tested_over_methods():
    names = [f"method {i}" for i in range(8)]
    errors = pd.DataFrame({"1D": 1e-3, "2D": 1e-2, "3D": 1.0}, names)
    verdict, finding = claims.md_13(errors, names[:1])
    assert verdict == "holds" and finding.endswith("other libraries in 2D and 3D than in 1D: method 0")
    assert claims.md_13(errors[:4])[0] == "not shown", "four methods of four are chance"
    assert claims.md_13(errors[:0])[0] == "untestable here"


def test_time_on_heat_is_compared_where_both_kinds_have_it():
    index = [(f"{kind} {i}", kind) for kind in ("linear", "genetic") for i in range(6)]
    slower = pd.DataFrame({"2D": [40.0, 41, 42, 43, 44, 45, 1, 2, 3, 4, 5, 6], "3D": np.nan})
    slower.index = pd.MultiIndex.from_tuples(index, names=["method", "kind"])
    assert claims.md_14(slower)[0] == "holds" and claims.md_14(slower[:6])[0] == "untestable here"
    assert claims.md_14(slower[3:9])[0] == "not shown", "three of a kind are few"


def test_low_errors_can_hide_wrong_equations():
    clean = scored([{"problem": "pdes/laser", "nmse_power": 2.5}, {"problem": "pdes/nls", "nmse_power": 1e-3}])
    channel = pd.Series({"law": 0.02, "truth": 0.01})
    verdict, finding = claims.md_15(clean[:1], clean, channel)
    assert verdict == "holds" and finding.startswith("1 of 2 cells have NMSE up to 0.01 without the equations")
    assert claims.md_15(clean[:1], clean, channel[::-1].set_axis(["law", "truth"]))[0] == "mixed"
    assert claims.md_15(clean[:0], clean, channel)[0] == "untestable here"


# The ledger


def test_every_published_cell_has_a_verdict():
    cells = analysis.compare_cells(scored([{}]), ["mdbench_table_a5"])
    entries = ledger.of_cells(cells, ["mdbench_table_a5"])
    assert len(entries) == 280 and entries["verdict"].notna().all()
    (entry,) = entries[entries["verdict"] == "reproduced"].itertuples()
    assert (entry.row, entry.column, entry.published, entry.measured) == ("I4-D1", "SINDy", "1e-2 (3)", "1e-2 (3)")


def test_cells_from_a_coarser_grid_are_not_comparable():
    row = {"problem": "pdes/burgers", "method": "pdefind", "identified": 1.0}
    cells = analysis.compare_cells(scored([row]), ["mdbench_table3"])
    entries = ledger.of_cells(cells, ["mdbench_table3"], coarse=["Burgers"])
    assert entries["verdict"].value_counts().to_dict() == {"not run": 111, "not comparable": 1}


def test_a_term_too_many_is_told_where_the_paper_has_a_check_mark():
    row = {"problem": "pdes/burgers", "method": "operon", "partial": 1.0}
    entries = ledger.of_cells(analysis.compare_cells(scored([row]), ["mdbench_table3"]), ["mdbench_table3"])
    (entry,) = entries.query("row == 'Burgers' and column == 'Operon'").itertuples()
    assert ledger.OFFSET in entry.reason


def test_two_failures_are_no_number():
    row = {"problem": "pdes/laser", "method": "bayesian", "nmse_power": np.inf}  # printed as a failure
    cells = analysis.compare_cells(scored([row]), ["mdbench_table3"])
    assert not cells["equal"].any()
    (entry,) = ledger.of_cells(cells, ["mdbench_table3"]).query("verdict != 'not run'").itertuples()
    assert (entry.published, entry.measured, entry.verdict) == ("-", "-", "not comparable")
    assert entry.reason == "failed in the paper and here: no number to compare"


def test_one_seed_of_a_method_with_chance_decides_no_cell_and_a_failure_is_no_answer():
    rows = [{"problem": "odes/4", "method": "esindy"}, {"problem": "odes/4", "method": "sindy"}]
    cells = analysis.compare_cells(scored(rows), ["mdbench_table_a5"])
    entries = ledger.of_cells(cells, ["mdbench_table_a5"]).query("row == 'I4-D1'").set_index("column")
    assert entries.loc[["ESINDy", "SINDy"], "rule"].tolist() == ["cell_seeds", "cell"]
    assert entries.loc[["ESINDy", "SINDy"], "verdict"].tolist() == ["undecided", "reproduced"]


def test_a_system_that_the_method_refuses_was_not_run():
    row = {"problem": "pdes/rd", "method": "udsr_released", "status": "unsupported", "nmse_power": np.nan}
    cells = analysis.compare_cells(scored([row]), ["mdbench_table3"])
    entries = ledger.of_cells(cells, ["mdbench_table3"])
    (entry,) = entries.query("row == 'RD' and column == 'uDSR'").itertuples()
    assert (entry.published, entry.verdict) == ("1e-2 (12)", "not run") and "refuses" in entry.reason


def test_a_published_test_is_in_the_ledger_by_w_and_p():
    names = list(studies()["mdbench"]["tests"])
    implied = pd.DataFrame({"p_below": 1e-4, "missing": "a reason"}, names)
    test = pd.DataFrame({"n_pairs": [6], "n_zeros": [0], "w_minus": [21.0], "p": [1 / 64]}, ["WSINDy vs Operon"])
    entries = ledger.of_tests(implied, test).set_index("row")
    assert entries.loc["WSINDy vs Operon", "measured"].tolist() == [21, 1 / 64]
    assert (entries.loc["WSINDy vs Operon", "verdict"] == "undecided").all()  # of one seed, though 1/64 is above 1e-4
    assert (entries["verdict"] == "not run").sum() == 8
    below = ledger.of_tests(implied, test.assign(p=1e-5)).set_index("row")
    assert (below.loc["WSINDy vs Operon", "verdict"] == "undecided").all()


def times(package=(), **seconds):
    """Ours, of one seed or several, beside the printed seconds of Table A7 on Burgers."""
    printed, rows = {"Operon": 24, "PDEFIND": 25, "PySR": 30, "uDSR": 152}, []
    for name, value in seconds.items():
        values = list(np.atleast_1d(value).astype(float))
        rows.append(("Burgers", name, printed[name], np.mean(values), min(values), max(values), values))
    frame = pd.DataFrame(rows, columns=["dataset", "method", "printed", "seconds", "least", "most", "values"])
    return frame.assign(package=frame["method"].isin(package), own=0.5, unranked="")


def judged(found):
    """Method -> verdict, low and high of the cells of Table A7 that have seconds of ours."""
    entries = ledger.of_runtimes(found).query("table == 'Table A7' and measured == measured")
    return {row.method: (row.verdict, row.low, row.high) for row in entries.itertuples()}


def test_seconds_are_compared_by_their_ranks():
    """Operon and PDEFIND have changed places: where ours ranks second the print would have between 26 and 29."""
    found = judged(times(Operon=3, PDEFIND=1, PySR=10, uDSR=99))
    assert found["PDEFIND"] == ("differs", 0, 23) and found["Operon"][1:] == (26, 29)
    assert found["PySR"][1:] == (26, 151) and found["uDSR"][1:] == (31, 43200)
    assert {found[name][0] for name in ("Operon", "PySR", "uDSR")} == {"undecided"}  # of one seed
    assert judged(times(Operon=1, PDEFIND=3, PySR=10, uDSR=99))["PDEFIND"] == ("reproduced", 25, 29)


def test_seconds_of_a_fifth_more_have_no_certain_rank():
    found = judged(times(Operon=1.1, PDEFIND=1, PySR=10, uDSR=99))
    assert found["PDEFIND"][1:] == (0, 29) and found["Operon"][1:] == (0, 29)
    assert found["PDEFIND"][0] == "reproduced"  # one of three other methods would pass as well
    alike = judged(times(Operon=1, PDEFIND=1.1, PySR=1.05, uDSR=1.15))
    assert {verdict for verdict, *_ in alike.values()} == {"undecided"}


def test_seconds_of_three_seeds_decide_and_their_range_counts():
    """PySR has 8 to 12 seconds: below uDSR's for certain, and above 9.5 / 1.2 of Operon's in some seeds only."""
    found = judged(times(Operon=[3, 4, 5], PDEFIND=1, PySR=[8, 10, 12], uDSR=[99, 90, 80]))
    assert {name: verdict for name, (verdict, *_) in found.items()} == {
        "Operon": "differs",
        "PDEFIND": "differs",
        "PySR": "reproduced",
        "uDSR": "reproduced",
    }
    near = judged(times(Operon=[3, 4, 9.5], PDEFIND=1, PySR=[8, 10, 12], uDSR=[99, 90, 80]))
    assert near["PySR"][1:] == (25, 151) and near["Operon"][1:] == (26, 151)


def test_the_package_that_was_timed_is_named_with_our_own_seconds():
    entries = ledger.of_runtimes(times(package=["PDEFIND"], Operon=1, PDEFIND=3, PySR=10, uDSR=99))
    [entry] = entries.query("method == 'PDEFIND' and measured == measured").to_dict("records")
    assert (entry["kind"], entry["rule"], entry["measured"]) == ("rerun", "rank_package", 3)
    assert entry["reason"].endswith("seconds of PySINDy itself, 0.5 of our own code")


def test_seconds_that_are_missing_are_not_comparable():
    entries = ledger.of_runtimes(times())
    assert len(entries) == 112 + 16 and set(entries["verdict"]) == {"not comparable"}


def test_only_programs_of_the_paper_are_ranked():
    frame = times(package=["PDEFIND", "Operon"], Operon=3, PDEFIND=1, PySR=10, uDSR=99)
    frame["unranked"] = frame["method"].map({"PySR": "another program", "uDSR": "other rows"}).fillna("")
    found = ledger.of_runtimes(frame).query("table == 'Table A7' and measured == measured").set_index("method")
    assert found["reason"].loc[["PySR", "uDSR"]].tolist() == ["another program", "other rows"]
    assert (found["verdict"].loc[["PySR", "uDSR"]] == "not comparable").all()
    assert found["reason"]["PDEFIND"].startswith("rank 2 of 2 by the printed seconds, 1 by ours")
    frame.loc[frame["method"] == "Operon", "unranked"] = "on fewer rows"  # so that one is left, which has no rank
    alone = ledger.of_runtimes(frame).query("method == 'PDEFIND' and measured == measured")
    assert alone["verdict"].tolist() == ["not comparable"] and "no other method" in alone["reason"].item()


def test_ratios_of_seconds_by_hand():
    """On Burgers 25 s are printed for both; where PySINDy refuses PDEFIND (RD) there is no ratio."""
    found = analysis.ratios()
    assert found.loc["Burgers", "printed"] == 1 and "RD" not in found.index and len(found) == 8
    own = analysis.run_times().query("not package")
    assert (own["unranked"] != "").all() and not set(own["method"]) & {"PDEFIND", "WSINDy"}


def test_every_timed_cell_is_printed_and_positive():
    found = analysis.run_times()
    assert len(found) >= 41 and (found["seconds"] > 0).all() and not found.duplicated(["dataset", "method"]).any()
    package_only = found.groupby("dataset")["package"].transform("all")  # heavy fields: PySINDy alone
    assert found[~package_only].groupby("dataset").size().min() >= 3
    assert set(found.loc[package_only, ["dataset", "method"]].itertuples(index=False, name=None)) == {
        ("Heat (Solar) 2D", "PDEFIND"),
        ("Heat (Solar) 2D", "WSINDy"),
        ("Heat (Solar) 2D", "EWSINDy"),
        ("Heat (Laser)", "PDEFIND"),
        ("NS (Cylinder)", "WSINDy"),
        ("RD (Cylinder)", "WSINDy"),
    }
    assert (found["least"] <= found["seconds"]).all() and (found["seconds"] <= found["most"]).all()
    assert set(found.loc[found["package"], "method"]) <= {"PDEFIND", "WSINDy", "EWSINDy"}


def test_what_table_1_says_of_the_benchmark_is_counted():
    entries = ledger.of_counts()
    assert dict(zip(entries["column"], entries["published"], strict=True)) == {
        "n_ode": "63",
        "n_pde": "14",
        "n_methods": "12",
    }
    assert set(entries["verdict"]) == {"reproduced"} and set(entries["rule"]) == {"count"}


# Packages


def both(status="ok", error=0.02):
    """SINDy on two systems of Table A5, by our own code and by the package."""
    texts = {"x0": "0.5 - 1e-05*x0**2"}, {"x0": "0.500001 - 1e-05*x0**2"}, {"x0": "0.5*x0"}
    rows = [{"solution": texts[0]}, {"problem": "odes/5", "solution": texts[0]}]
    one = {"method": "pysindy_sindy", "status": status, "nmse_power": error, "solution": texts[1]}
    other = one | {"problem": "odes/5", "nmse_power": 0.2, "complexity_mdbench": 5.0, "solution": texts[2]}
    return scored(rows), scored([one, other])


def test_a_cell_that_a_package_answered_is_its_own():
    own, theirs = both()
    cells = analysis.compare_cells(own, A5)
    changed = packages.in_place(cells, theirs, A5).set_index("dataset")
    assert changed["ours"].to_dict() == {"I4-D1": "1e-2 (3)", "I5-D1": "1e-2 (3)"} and set(changed["kind"]) == {"rerun"}
    assert changed["equal"].tolist() == [True, True] and cells["equal"].tolist() == [True, False]
    assert changed.loc["I5-D1", "exponent_rediscover"] == -1
    entries = ledger.of_cells(changed.reset_index(), A5).query("column == 'SINDy'").set_index("row")
    assert entries.loc["I5-D1", ["measured", "kind", "verdict"]].tolist() == ["1e-1 (5)", "rerun", "reproduced"]
    assert entries.loc["I5-D1", "reason"].startswith("PySINDy itself 1e-1 (5), our own code 1e-2 (3)")
    assert entries.loc["I1-D1", "kind"] == ""


def test_where_a_package_refuses_our_own_cell_stands():
    own, theirs = both(status="unsupported", error=np.inf)
    cells = analysis.compare_cells(own, A5)
    changed = packages.in_place(cells, theirs, A5)
    pd.testing.assert_frame_equal(changed[cells.columns], cells)
    assert set(changed["kind"]) == set(changed["ours"]) == {""}
    assert packages.summary(packages.beside(theirs, own)).loc["pysindy_sindy", "answered"] == 0


def test_a_package_and_our_own_code_are_compared_by_terms_and_coefficients():
    own, theirs = both()
    pairs = packages.beside(theirs, own)
    assert pairs["same_terms"].tolist() == [True, False] and np.isnan(pairs["difference"][1])
    assert pairs["difference"][0] == pytest.approx(2e-6)
    table = packages.summary(pairs).loc["pysindy_sindy"]
    assert table[["systems", "answered", "same_terms"]].tolist() == [2, 2, 1]
    assert packages.summary(packages.beside(theirs[:0], own)).empty


def test_a_trial_of_our_own_code_takes_the_cell_back():
    row = {"rule": "cell_seeds", "published": "1e-3 (9)", "paper": "MDBench", "method": "ESINDy", "reason": ""}
    own = {"values": ["1e-1 (5)"], "own": "1e-3 (9)"}
    trial = {
        "trial": "ensembles",
        "says": "all settings",
        "decides": True,
        "values": '["1e-3 (9)", "1e-3 (9)", "1e-3 (9)"]',
    }
    changed = trials._with_trials(row, own, [trial], [])
    assert (changed["measured"], changed["kind"], changed["verdict"]) == ("1e-3 (9)", "", "reproduced")
    assert "by our own code" in changed["reason"]


@pytest.mark.parametrize("theirs", ['["1e-1 (5)", "1e-1 (5)", "1e-1 (5)"]', '["1e-3 (9)", "1e-3 (9)", "1e-3 (9)"]'])
def test_a_trial_of_the_package_decides_before_more_seeds_of_our_own_code(theirs):
    row = {"rule": "cell_seeds", "published": "1e-3 (9)", "paper": "MDBench", "method": "ESINDy", "reason": ""}
    ours = {"trial": "ensembles", "says": "all settings", "decides": True, "values": json.dumps(["1e-3 (9)"] * 5)}
    package = ours | {"trial": "ensembles_package", "package": True, "values": theirs}
    for known in ([ours, package], [package, ours]):
        changed = trials._with_trials(row, {"values": ["1e-2 (9)"], "own": "1e-3 (9)"}, known, [])
        assert changed["verdict"] == ("reproduced" if "1e-3" in theirs else "differs")
        assert (changed["kind"], "measured" in changed) == ("rerun", False)
        assert json.loads(changed["parameters"])["trial"] == "ensembles_package"
        assert "all settings by the package: " in changed["reason"] and "by our own code: " in changed["reason"]
    # Where the package refused the cell, the trial of our own code decides.
    changed = trials._with_trials(row, {"values": ["1e-2 (9)"]}, [ours, package], [])
    assert (changed["verdict"], "kind" in changed) == ("reproduced", False)
    assert "package" not in changed["reason"] and "own code" not in changed["reason"]


def test_a_trial_on_the_whole_grid_decides_what_was_run_on_a_coarser_one():
    row = {
        "rule": "cell",
        "published": "1e-3 (9)",
        "paper": "MDBench",
        "method": "PDEFIND",
        "reason": "on a coarser grid",
    }
    trial = {"trial": "heavy", "says": "the published grid", "decides": True, "values": '["1e-3 (9)"]', "package": True}
    assert trials._with_trials(row, {"values": ["1e-2 (9)"]}, [trial], []) == {"reason": "on a coarser grid"}
    changed = trials._with_trials(row, {"values": ["1e-2 (9)"]}, [trial | {"whole": True}], [])
    assert (changed["measured"], changed["kind"], changed["verdict"]) == ("1e-3 (9)", "rerun", "reproduced")
    assert json.loads(changed["parameters"])["own"] == "1e-2 (9)"
    assert changed["reason"].startswith(
        "our own code 1e-2 (9) on a coarser grid; with the published grid by the package: "
    )


# Figures


A5 = ["mdbench_table_a5"]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def texts(artists):
    return [text.get_text() for text in artists]


def test_errors_are_medians_and_quartiles_between_limits_with_the_truth_among_them():
    errors = {
        "sindy": (1e18, 1e18, np.inf),
        "operon": (1e-14, 1e-2, 1.0),
        "oracle": (1e-30, 1e-30, 1e-30),
        "zero": (1, 1, 1),
    }
    rows = [
        {"problem": f"odes/{i}", "method": method, "nmse_power": error}
        for method, values in errors.items()
        for i, error in enumerate(values, 1)
    ]
    figure = figures.against_noise(scored(rows), A5)
    assert texts(figure.axes[0].get_yticklabels()) == ["oracle", "Operon", "SINDy"]
    assert figure.axes[0].lines[0].get_xdata() == pytest.approx([1e-2, 1e-9, 1e9])  # by name
    (segments,) = (c for c in figure.axes[0].collections if hasattr(c, "get_segments"))
    ends = np.array(segments.get_segments())[:, :, 0]
    assert ends == pytest.approx(np.array([[1e-9, 1e-2], [1e-9, 1e-9], [1e9, 1e9]]))


def test_published_medians_count_check_marks_as_least_and_failures_as_most():
    cells = pd.DataFrame({"status": ["found", "value", "value"], "exponent": pd.array([None, -3, 0], "Int64")})
    assert figures._median_printed(cells) == 1e-3
    assert figures._median_printed(cells.assign(status=["found", "found", "value"])) == 0
    assert figures._median_printed(cells.assign(status=["failed", "failed", "value"])) == np.inf


def test_identified_systems_are_counted_beside_the_printed_check_marks():
    """The paper prints a check mark for SINDy on I1 and none on I4; PySR, which has no rows, has one."""
    rows = [
        {"problem": id, "snr_db": level, "identified": float(id == "odes/1" and level == math.inf)}
        for id in ("odes/1", "odes/4")
        for level in (math.inf, 20.0)
    ]
    figure = figures.identified(scored(rows), A5)
    (ax,) = figure.axes
    clean, noisy, printed, _ = (line.get_xdata() for line in ax.lines)
    assert (*clean, *noisy, *printed) == (1, 0, 1)
    assert texts(figure.legends[0].texts) == ["clean", "20 dB"]
    best = "best published of methods without a row, clean (ESINDy, ODEFormer, Operon, PySR, uDSR)"
    assert texts(figure.legends[1].texts) == ["published, clean", best]


def clean_alone():
    """Scores of two systems, clean and at two levels of noise, of a method that has clean data alone too."""
    rows = [
        {"problem": f"odes/{i}", "method": name, "snr_db": level, "nmse_power": 0.1, "identified": 1.0}
        for i in (1, 24)
        for name in ("operon", "sindy", "udsr")
        for level in ((math.inf,) if name == "udsr" else (math.inf, 40.0, 20.0))
    ]
    return scored(rows)


def test_rows_leave_no_room_for_levels_that_a_method_does_not_have():
    ax = figures.against_noise(clean_alone(), A5).axes[0]
    heights = [sorted(line.get_ydata()) for line in ax.lines[:3]]
    assert heights == [[0, 4, 6], [1, 7], [2, 8]]  # clean data, 40 dB, 20 dB
    assert ax.get_yticks().tolist() == [1, 4, 7] and ax.get_ylim() == (9, -1)


def test_a_published_number_has_a_row_above_those_of_its_method():
    """Check marks are printed for Operon and SINDy, none for uDSR."""
    ax = figures.identified(clean_alone(), A5).axes[0]
    *heights, published = (sorted(line.get_ydata()) for line in ax.lines[:4])
    assert heights == [[1, 5, 8], [2, 9], [3, 10]]
    assert published == pytest.approx([-0.2, 6.8])  # a row and a bit from the nearest mark
    assert ax.get_yticks().tolist() == [1.5, 5, 8.5] and ax.get_ylim() == (11, -1)


def test_a_published_median_without_a_number_is_said_in_the_legend():
    """On I3 the paper has a check mark for SINDy, a success without a number, and a number for Operon."""
    rows = [{"problem": "odes/3"}, {"problem": "odes/3", "method": "operon"}]
    _, legend = figures.against_noise(scored(rows), A5).legends
    assert texts(legend.texts)[0] == "published, clean (median of SINDy: a check mark, no number)"


@pytest.mark.parametrize(
    "rows",
    [
        [{"method": "zero", "problem": "odes/40", "nmse_power": 1.0, "snr_db": 10.0}],
        [{"nmse_power": np.inf, "complexity_mdbench": np.inf}],
        [{"method": name} for name in ("sindy", "a new method", "deepmod")],
    ],
    ids=["a control alone, noisy", "a failure", "new methods"],
)
def test_figures_take_any_choice_of_methods_and_levels(rows):
    for figure in (figures.against_noise(scored(rows), A5), figures.identified(scored(rows), A5)):
        figure.draw_without_rendering()


# Parameters, and what 41 takes from 40


def parameters(**changed):
    return read(root() / "params" / "41_mdbench_pdes.yaml", "smoke", **changed)


def test_clean_data_is_a_level_without_noise():
    assert parameters().snr_db == [math.inf, 40] and isinstance(parameters(), PDEs)
    assert parameters().model_dump()["snr_db"] == ["inf", 40]  # JSON has no infinity
    with pytest.raises(ValueError, match="snr_db"):
        parameters(snr_db=["clean"])


def test_scores_have_the_levels_that_were_asked_for():
    systems = [problem("odes/3", snr_db=level) for level in (10, 30)]
    scored = analysis.score(runs.grid(systems, ["oracle", "zero"], workers=1, progress=False), systems)
    assert scored["snr_db"].tolist() == [10.0, 10.0, 30.0, 30.0]
    assert list(scored.columns[-4:]) == ["solution", "seconds", "complexity_own", "snr_db"]


def test_the_scores_on_odes_are_read_or_asked_for(tmp_path, monkeypatch):
    p = parameters(max_rows=10)
    monkeypatch.setattr("rediscover.params.root", lambda: tmp_path)
    with pytest.raises(FileNotFoundError, match="run make all STUDY=40_mdbench_odes PROFILE=smoke first"):
        analysis.scores_of_odes(p)
    folder = tmp_path / "build" / "smoke" / "tables"
    folder.mkdir(parents=True)
    scored([{"subset": "1"}, {"subset": "2", "snr_db": 20.0}]).to_csv(folder / "mdbench_odes_scores.csv", index=False)
    table = analysis.scores_of_odes(p)
    assert table["snr_db"].tolist() == [math.inf, 20] and table["subset"].tolist() == ["1", "2"]


# Tables A1 and A4, and numbers of the text


def test_the_systems_here_are_those_that_are_printed(monkeypatch):
    cells = ledger.of_systems()
    assert cells.groupby("table").size().to_dict() == {"Table A1": 70, "Table A4": 63}
    differ = cells[cells["verdict"] != "reproduced"]
    assert differ[["row", "column"]].to_numpy().tolist() == [
        ["NS (Cylinder)", "spatial_domain"],  # digits are cut there in print, not rounded
        ["RD (Cylinder)", "spatial_domain"],
    ]
    entry = settings("burgers")
    changed = entry | {"time": [0.0, 0.2, 102], "axes": {"x": [-8.0, 0.07, 256]}}
    monkeypatch.setattr(ledger, "settings", lambda name: changed if name == "burgers" else settings(name))
    burgers = ledger.of_systems().query("row == 'Burgers' and verdict == 'differs'")
    assert burgers["column"].tolist() == ["n_time_points", "time_step", "spatial_domain"]


def test_numbers_of_the_text():
    at_40 = pd.DataFrame({"mean": [3.1], "std": [2.0]}, index=["PDEs"])
    cells = ledger.of_text(at_40).set_index(["row", "column"])["verdict"]
    assert cells.value_counts().to_dict() == {"reproduced": 4, "not comparable": 2, "not run": 2}


def test_methods_that_see_clean_fields_alone_share_their_grids():
    """What a run without an answer scores is known from others in its grid: alone, it would have no scores."""
    systems = {"systems": ["pdes/burgers"], "coarse_grid": ["pdes/rd_cylinder"], "snr_db": [math.inf, 40]}
    few = {"methods": ["oracle"], "tabular_methods": ["polynomial"], "clean_methods": ["zero", "polynomial"]}
    few["packages"] = []
    planned = grids(read(root() / "params" / "41_mdbench_pdes.yaml", "smoke", **systems, **few))
    names = {name: [method.name for method in grid["methods"]] for name, grid in planned.items()}
    assert names["tabular clean"] == ["polynomial", "zero"] and names["tabular noisy"] == ["polynomial"]
    assert all("polynomial" in methods or "linear" in name for name, methods in names.items())


def test_every_run_on_fields_has_scores():
    scores = read_csv(root() / "tables" / "mdbench_pdes_scores.csv")
    failed = scores[scores["status"] == "unsupported"]
    assert not failed.empty and np.isposinf(failed["nmse_power"]).all() and (failed["identified"] == 0).all()
