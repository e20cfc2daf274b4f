"""The analyses of the study of coupled equations, on cases worked by hand."""

import json

import rediscover as rd
from rediscover import report
from rediscover.studies.boolean import analysis as boolean
from rediscover.studies.causal import analysis as causal
from rediscover.studies.cde import analysis as study
from rediscover.studies.cde import claims as verdicts
from rediscover.studies.cde import released_runs as coupled_released

import numpy as np
import pandas as pd
import pytest


def scored(id_, ood, method="least_squares", dim="1", **columns):
    return pd.DataFrame(
        {
            "method": method,
            "subset": dim,
            "seed": 0,
            "problem": [f"cde/{dim}{i}" for i in range(len(id_))],
            "r2_trajectories_id": id_,
            "r2_trajectories_ood": ood,
            **columns,
        }
    )


def test_a_row_keeps_or_drops_failures():
    frame = scored([1.0, 0.5, np.nan, -np.inf], [0.95, -2.0, 0.1, np.nan])
    kept, dropped = study.row(frame), study.row(frame, "dropped")
    assert kept["id", "sr2"] == pytest.approx(37.5) and dropped["id", "sr2"] == pytest.approx(75.0)
    assert kept["ood", "sr2"] == pytest.approx(105 / 4) and kept["ood", "acc_0.9"] == pytest.approx(25.0)
    lost = study.failures(frame).loc["least_squares"]
    assert (lost["failed id"], lost["failed ood"]) == (2, 1)


def test_headline_compares_with_the_printed_maximum():
    """The best printed SR2 of one state is 99.0 in distribution, 66.9 out of it."""
    lines = study.headline(scored([0.5] * 4, [1.0] * 4))
    assert lines.loc[("id", "1"), "printed"] == 99.0 and lines.loc[("id", "1"), "least_squares"] == "behind"
    assert lines.loc[("ood", "1"), "printed"] == 66.9 and lines.loc[("ood", "1"), "least_squares"] == "ahead"


def test_correlations_come_back_with_context_only():
    r = study.correlations().set_index(["condition", "dim"])["r"].round(3)
    assert r["with_context"].tolist() == [0.094, 0.727, 0.163, -0.178]
    found = study.ledger().query("table == 'Tables 5 and 9'").groupby("row")["verdict"].unique()
    assert list(found["with_context"]) == ["reproduced"]
    assert list(found["without_context"]) == ["differs"]


def test_ledger_holds_every_printed_cell():
    whole = study.ledger()
    for name, file in (("Table 2", "2"), ("Tables 5 and 9", "5_9"), ("Table 6", "6")):
        assert (whole["table"] == name).sum() == len(report.published(f"symbolbench_table{file}"))
    assert (whole["reason"] != "").all()
    assert set(whole.query("table == 'Table 2' and published == ''")["verdict"]) == {"not comparable"}


def test_table_6_is_reproduced_within_the_range_over_seeds(monkeypatch):
    extra = {"proximity_dependent": [6.0, 99.0], "operations": [1.0, 99.0]}
    seeds = [scored([value, np.nan], [0.3, 0.0], **extra).assign(seed=s) for s, value in enumerate((0.5, 0.6))]
    frame = pd.concat(seeds)
    rows = study.table6(frame)
    assert rows["valid"].tolist() == [1, 1] and rows["id sr2"].tolist() == [25.0, 30.0]
    assert rows[" symbolic_proximity"].tolist() == [6.0, 6.0]  # a failed run leaves the mean
    monkeypatch.setattr(study, "TABLE6", ("a", "b"))
    cells = study.ledger(frame).query("table == 'Table 6' and row == 'GPLearn'").set_index("column")
    assert cells["verdict"].tolist() == ["reproduced", "differs", "differs", "differs"]  # 27.6 in 25..30
    monkeypatch.setattr(study, "TABLE6", ("a", "b", "c"))
    cells = study.ledger(frame).query("table == 'Table 6' and row == 'GPLearn'")
    assert set(cells["verdict"]) == {"not comparable"}


def test_every_claim_of_the_paper_belongs_to_one_notebook():
    table = report.published("claims").query("study == 'SymbolBench'")
    assert sorted(verdicts.CLAIMS + boolean.CLAIMS + causal.CLAIMS) == sorted(table["claim_id"])


def test_claims_on_all_systems_follow_the_scores(monkeypatch):
    frame = pd.concat([scored([0.9], [0.5]), scored([0.8], [0.6], dim="2"), scored([1.0], [1.0], "oracle")])
    monkeypatch.setattr(verdicts, "SYSTEMS", 2)
    got = verdicts.claims(frame)
    assert set(got) == set(verdicts.CLAIMS)
    assert got["SY-06"][0] == "holds"  # in both cells
    assert got["SY-05"][0] == "mixed"  # falls in distribution, rises out of it
    assert got["SY-01"][0] == "holds"  # 99.0 and 90.9 are above 90 and 80
    assert got["SY-11"][0] == "untestable here"
    monkeypatch.setattr(verdicts, "SYSTEMS", 3)
    assert verdicts.claims(frame)["SY-06"][0] == "untestable here"


def test_refinement_counts_rises_and_complexity():
    """Two runs rise, one of them to a simpler answer; negative R2 counts as 0."""
    curves = [[[0, 0.5, 9.0], [3, 0.7, 4.0]], [[0, -1.0, 2.0], [1, 0.2, 8.0]], [[0, 0.9, 1.0]], []]
    found = coupled_released.refinement([{"best_curve": curve} for curve in curves])
    assert found["runs"] == 3 and found["gain"] == pytest.approx(0.2)
    assert found["improved"] == pytest.approx(2 / 3) and found["complexity"] == pytest.approx(1 / 2)


def test_released_runs_are_none_where_they_are_not(tmp_path):
    assert coupled_released.runs(tmp_path) is None


@pytest.mark.parametrize("percent, n, possible", [(85.7, 35, True), (85.7, 36, False), (100.0, 9, True)])
def test_shares(percent, n, possible):
    assert study.is_share(percent, n) == possible


def test_denominators_find_columns_that_all_systems_cannot_explain():
    frame = study.denominators()
    assert (frame["possible"] <= frame["columns"]).all() and frame.loc[("3", "id"), "possible"] <= 2
    assert frame["systems"].unstack("split")["id"].tolist() == [35, 43, 50, 28]


def test_progress_carries_the_last_value_on():
    def run(method, curve):
        candidates = [{"notes": {"curve": curve}}] if curve else []
        return {"method": method, "status": "ok", "candidates": json.dumps(candidates)}

    rows = [run("a", [[0, -2.0, 1.0], [1, 0.5, 1.0]]), run("a", [[0, 1.0, 1.0]]), run("b", None)]
    found = study.progress(pd.DataFrame(rows))
    assert list(found) == ["a"] and found["a"].tolist() == [[0.0, 0.5], [1.0, 1.0]]


def test_programs_enter_gplearn_with_warm_start_only():
    assert study.seeding() == {"as released": False, "warm start": True}


def test_displacements_of_two_models():
    systems = [rd.problem("cde/P028"), rd.problem("cde/S001")]
    found = study.displacements(systems)
    assert found["states"] == len(systems[0].inputs) and 0 <= found["far"] <= found["states"]


def test_duplicates_leave():
    frame = pd.concat(
        [scored([1.0], [1.0]).assign(problem="cde/P006"), scored([0.0], [0.0]).assign(problem="cde/P299")]
    )
    line = study.without_duplicates(frame).loc[("least_squares", "1")]
    assert (line["systems, all"], line["systems, distinct"]) == (2, 1)
    assert (line["SR2 id, all"], line["SR2 id, distinct"]) == (50.0, 100.0)
