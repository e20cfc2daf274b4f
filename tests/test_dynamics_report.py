"""The tables of the studies of differential equations, from hand-made scores."""

from rediscover import report
from rediscover.studies.mdbench import analysis as study
from rediscover.studies.mdbench import claims as verdicts
from rediscover.studies.mdbench import figures as pictures
from rediscover.studies.mdbench.params import PDEs

import numpy as np
import pandas as pd
import pytest


def scored(**columns):
    base = {
        "problem": "odes/4",
        "method": "sindy",
        "settings": "{}",
        "snr": np.inf,
        "nmse_power": 1e-2,
        "complexity_mdbench": 3.0,
        "complexity_own": 4.0,
    }
    rows = [{**base, "identified": 0.0, "seed": 0, **row} for row in columns["rows"]]
    return pd.DataFrame(rows)


def test_cells_are_the_same_if_power_and_complexity_are():
    """Published for SINDy: I4 1e-2 with 3 nodes, I1 a check mark, I17 1e0 with 1 node."""
    table = study.beside(
        scored(
            rows=[
                {},
                {"problem": "odes/1", "identified": 1.0},
                {"problem": "odes/5", "nmse_power": 0.2, "complexity_mdbench": 6.0},
                {"problem": "odes/17", "nmse_power": 0.9, "complexity_mdbench": 1.0},
                {"problem": "odes/4", "snr": 20.0, "nmse_power": 5.0},
            ]
        ),
        ("mdbench_table_a5",),
    ).set_index("dataset")
    assert table["same"].to_dict() == {"I4-D1": True, "I1-D1": True, "I5-D1": False, "I17-D1": True}
    assert table.loc["I4-D1", "ours"] == table.loc["I4-D1", "published"] == "1e-2 (3)"
    assert table.loc["I5-D1", "ours"] == "1e-1 (6)" and table.loc["I5-D1", "published"] == "1e-1 (5)"


def test_genetic_programming_is_counted_by_its_own_size():
    """Published for Operon: I4 1e-1 with 7 nodes, by the tree that it prints."""
    row = {"method": "operon", "nmse_power": 0.1, "complexity_mdbench": 5.0, "complexity_own": 7.0}
    (cell,) = study.beside(scored(rows=[row]), ("mdbench_table_a5",)).itertuples()
    assert cell.same and cell.ours == cell.published == "1e-1 (7)"


def test_matches_count_marks_found_again_and_gained():
    table = pd.DataFrame(
        {
            "method": ["A", "A", "A"],
            "published": ["found", "found", "1e0 (3)"],
            "ours": ["found", "-", "found"],
            "same": [True, False, False],
        }
    )
    assert study.matches(table).loc["A"].to_dict() == {"cells": 3, "same": 1, "marks": 2, "again": 1, "gained": 1}


def test_every_published_cell_has_a_verdict():
    table = study.beside(scored(rows=[{}]), ("mdbench_table_a5",))
    ledger = study.ledger(table, {"Table A5": "mdbench_table_a5"})
    assert len(ledger) == 280 and ledger["verdict"].notna().all()
    assert (ledger["verdict"] == "reproduced").sum() == 1


def test_a_signed_rank_test_states_its_pairs():
    rows = [
        {"problem": f"odes/{i}", "method": name, "nmse_power": value}
        for i in range(1, 7)
        for name, value in (("sindy", 1.0 * i), ("operon", 2.0 * i))
    ]
    rows += [{"problem": "odes/7", "method": "sindy"}, {"problem": "odes/7", "method": "operon", "nmse_power": np.inf}]
    row = study.compared(scored(rows=rows), "sindy", "operon", "nmse_power", [np.inf])
    assert row["n_pairs"] == 6 and row["W_against"] == 0 and row["W_claim"] == 21
    assert row["p_one_sided"] == pytest.approx(1 / 64) and row["p_two_sided"] == pytest.approx(1 / 32)


def test_equal_pairs_are_dropped_and_counted():
    rows = [{"method": name, "problem": f"odes/{i}"} for i in (1, 2) for name in ("sindy", "operon")]
    row = study.compared(scored(rows=rows), "sindy", "operon", "nmse_power", [np.inf])
    assert row["n_pairs"] == row["n_zeros"] == 2 and row["p_one_sided"] == 1


def test_the_same_answer_found_by_two_ways_is_an_equal_pair():
    """Rounding would else be ranked: 3 pairs that go as claimed by 1e-14, against one that does not."""
    rows = [
        {"problem": f"odes/{i}", "method": name, "nmse_power": value}
        for i, other in ((1, 0.3 + 1e-14), (2, 0.3 + 1e-14), (3, 0.3 + 1e-14), (4, 0.2))
        for name, value in (("sindy", 0.3), ("sindy_cross", other))
    ]
    for log in (False, True):
        row = study.compared(scored(rows=rows), "sindy", "sindy_cross", "nmse_power", [np.inf], log=log)
        assert (row["n_pairs"], row["n_zeros"], row["W_claim"], row["W_against"]) == (4, 3, 0, 1)


def test_no_common_cell_is_no_test():
    row = study.compared(scored(rows=[{}]), "sindy", "operon", "nmse_power", [np.inf])
    assert row["n_pairs"] == 0 and "W_claim" not in row


def test_readings_of_a_published_statistic():
    """All 30 ranks on one side make 465: W = 455 needs 30 pairs at least, and no smaller sum of theirs can reach it."""
    assert study.readings(455.0, 1e-4, 42) == ("30-31", "none")
    assert study.readings(12795.0, 1e-10, 315) == ("160-181", "300-315")
    assert study.readings(500.0, 1e-4, 31) == ("none", "none")


def both_studies():
    methods = ("sindy", "esindy", "operon")
    odes = [
        {"problem": f"odes/{i}", "method": m, "snr": level, "nmse_power": error, "seconds": 1.0}
        for i in (1, 2, 24)
        for m in methods
        for level, error in ((np.inf, 1e-4), (40.0, 1e-3))
    ]
    pdes = [
        {"problem": id, "method": m, "snr": level, "nmse_power": error * rise, "seconds": seconds}
        for m, rise, seconds in (("pdefind", 1.0, 2.0), ("wsindy", 2.0, 6.0), ("operon", 10.0, 1.0))
        for id in ("pdes/burgers", "pdes/heat_1d", "pdes/nls")
        for level, error in ((np.inf, 1e-4), (40.0, 1e-1))
    ]
    return scored(rows=odes), scored(rows=pdes)


def test_every_claim_has_a_verdict_and_numbers_follow_the_scores():
    odes, pdes = both_studies()
    tests = study.published_tests(odes, pdes)
    results = report.claims("MDBench", verdicts.claims(odes, pdes, tests))
    assert len(results) == 15
    verdict = results["verdict"]
    assert verdict["MD-10"] == "holds" and "3.00 ± 0.00" in results.loc["MD-10", "finding"]
    assert verdict["MD-01"] == "mixed"  # on these ODEs all errors are equal
    assert verdict["MD-03"] == verdict["MD-13"] == verdict["MD-15"] == "untestable here"


def test_errors_with_another_library_are_said_to_be():
    rows = [
        {"problem": f"pdes/heat_{d}d", "method": m, "nmse_power": error, "settings": grid}
        for m, grids in (("pdefind", ("wide", "narrow")), ("operon", ("one", "one")))
        for d, error, grid in zip((1, 2), (1e-3, 1e-2), grids, strict=True)
    ]
    verdict, finding = verdicts._heat_error(scored(rows=rows))
    assert verdict == "holds" and finding.endswith("other libraries in 2D and 3D than in 1D: pdefind")


def test_a_published_test_is_run_where_both_methods_are_here():
    tests = study.published_tests(*both_studies())
    row = tests.loc["WSINDy vs Operon"]
    assert row["n_pairs"] == 6 and row["W_claim"] == 21 and row["maximum"] == 42
    assert "EQL" in tests.loc["SINDy vs EQL", "reason"]
    ledger = study.test_ledger(tests).set_index("row")
    assert ledger.loc["WSINDy vs Operon", "measured"].tolist() == [21, pytest.approx(1 / 64)]  # W and p
    assert (ledger.loc["WSINDy vs Operon", "verdict"] == "differs").all()  # 1/64 is not below the published 1e-4
    assert (ledger["verdict"] == "not run").sum() == 8


def test_runtimes_are_ratios_to_pdefind():
    """Burgers in Table A7: WSINDy and PDEFIND 25 s each, Operon 24 s."""
    table = study.runtimes(both_studies()[1]).set_index(["dataset", "method"])
    assert table.loc[("Burgers", "WSINDy")].to_dict() == {"published": 1.0, "ours": 3.0}
    assert table.loc[("Burgers", "Operon"), "published"] == pytest.approx(24 / 25)


def test_growth_of_time_with_dimension():
    """Heat (Solar) with PDEFIND: 21, 835 and 9760 s."""
    pdes = scored(
        rows=[{"problem": f"pdes/heat_{d}d", "method": "pdefind", "seconds": s} for d, s in ((1, 2.0), (3, 50.0))]
    )
    row = study.growth(pdes).loc["PDEFIND"]
    assert row["published 3D"] == pytest.approx(9760 / 21) and row["ours 3D"] == 25
    assert np.isnan(row["ours 2D"])


def test_seconds_of_another_machine_are_not_comparable():
    ledger = study.runtime_ledger()
    assert len(ledger) == 112 + 16 and set(ledger["verdict"]) == {"not comparable"}


def test_cells_from_a_coarser_grid_are_not_comparable():
    table = pd.DataFrame(
        {"dataset": ["Burgers"], "method": ["PDEFIND"], "published": "found", "ours": "found", "same": True}
    )
    ledger = study.ledger(table, {"Table 3": "mdbench_table3"}, coarse=["Burgers"])
    assert ledger["verdict"].value_counts().to_dict() == {"not run": 111, "not comparable": 1}


def test_times_with_another_library_are_not_compared():
    times = [("heat_1d", 1.0, "wide"), ("heat_2d", 3.0, "wide"), ("heat_3d", 2.0, "narrow")]
    rows = [{"problem": f"pdes/{name}", "method": "pdefind", "seconds": t, "settings": grid} for name, t, grid in times]
    ours = study.growth(scored(rows=rows)).loc["PDEFIND", ["ours 2D", "ours 3D"]]
    assert ours["ours 2D"] == 3 and np.isnan(ours["ours 3D"])


def test_labels_are_the_published_names():
    assert study.label("odes/63") == "I63-D4" and study.label("pdes/ns_channel") == "NS (Channel)"


def test_time_against_dimension_is_a_ratio_of_medians():
    rows = [{"subset": d, "seconds": s} for d, s in (("1", 1.0), ("1", 3.0), ("2", 4.0), ("2", 6.0))]
    assert study.by_dimension(scored(rows=rows)).loc["sindy"].to_dict() == {"1": 1.0, "2": 2.5}


def test_time_against_another_method_has_an_interval_over_noise():
    """Ratios 2 and 8 on two systems, whose geometric mean is 4, at one level; 16 and 1 at the other: 4 again."""
    rows = [
        {"problem": f"odes/{i}", "snr": snr, "method": name, "seconds": seconds}
        for snr, ratios in ((np.inf, (2.0, 8.0)), (40.0, (16.0, 1.0)))
        for i, ratio in zip((1, 2), ratios, strict=True)
        for name, seconds in (("sindy", 3.0), ("operon", 3.0 * ratio), ("zero", 1.0))
    ]
    table = study.by_method(scored(rows=rows))
    assert list(table.index) == ["operon", "sindy"]
    assert table.loc["operon"].tolist() == pytest.approx([4.0, 4.0, 4.0]) and (table.loc["sindy"] == 1).all()
    wider = study.by_method(scored(rows=[r | {"seconds": 6.0} if r["snr"] == 40.0 else r for r in rows]))
    assert wider.loc["operon", "low"] < wider.loc["operon", "mean"] < wider.loc["operon", "high"]


def test_panels_say_what_is_missing_and_why():
    text = study.panels(scored(rows=[{}, {"method": "operon"}]), ["A12", "A13"]).splitlines()
    assert text[0].startswith("Figure A12: SINDy, Operon | missing: ESINDy: not in this profile; PySR: ")
    assert text[1].startswith("Figure A13: none | missing: EQL: ") and "ODEFormer: pins SymPy" in text[1]


def test_coarser_grids_are_marked_in_scores_and_figure(tmp_path, monkeypatch):
    monkeypatch.setattr("rediscover.params.root", lambda: tmp_path)
    p = PDEs(
        **{"profile": "smoke", "seeds": [0], "methods": ["zero"], "generic": ["zero"], "evaluations": 100},
        **{"seconds": 60.0, "memory_mb": 2048, "systems": ["pdes/advection"], "reduced": ["pdes/heat_3d"]},
        **{"narrow": {}, "levels": ["clean"], "rows": 100},
    )
    table = study.run_fields(p)
    assert table.groupby("problem")["reduced"].agg(set).to_dict() == {"pdes/advection": {False}, "pdes/heat_3d": {True}}
    axes = pictures.strips(table.assign(method="operon")).axes
    assert [text.get_text() for text in axes[-1].get_xticklabels()] == ["Advection", "Heat (Solar) 3D *"]


def test_what_is_off_the_scale_stands_at_the_wall():
    rows = [{"problem": f"odes/{i}", "nmse_power": error} for i, error in ((1, 1e18), (2, 1e-14))]
    lines = pictures.strips(scored(rows=rows)).axes[0].lines
    assert lines[0].get_ydata().tolist() == [pictures.WALL, 1e-14]


def test_strips_have_two_panels_per_method_and_a_point_per_finite_score():
    rows = [
        {"problem": f"odes/{i}", "method": name, "nmse_power": error}
        for i, error in ((1, 0.1), (2, np.inf), (3, 2.0))
        for name in ("sindy", "operon", "oracle")
    ]
    axes = pictures.strips(scored(rows=rows)).axes
    assert [ax.get_ylabel() for ax in axes[::2]] == ["operon", "sindy"]
    assert axes[0].lines[0].get_xdata().tolist() == [1, 3] and len(axes[1].lines[0].get_xdata()) == 3
