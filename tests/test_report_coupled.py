"""The analyses of the study of coupled equations, on cases worked by hand."""

import numpy as np
import pandas as pd
import pytest

from rediscover import report
from rediscover.report import boolean, causal
from rediscover.report import coupled as study


def scored(id_, ood, method="least_squares", dim="1"):
    return pd.DataFrame(
        {
            "method": method,
            "subset": dim,
            "problem": [f"cde/{dim}{i}" for i in range(len(id_))],
            "r2_trajectories_id": id_,
            "r2_trajectories_ood": ood,
        }
    )


def test_a_row_keeps_or_drops_failures():
    frame = scored([1.0, 0.5, np.nan], [0.95, -2.0, 0.1])
    kept, dropped = study.row(frame), study.row(frame, "dropped")
    assert kept["id", "sr2"] == pytest.approx(50.0) and dropped["id", "sr2"] == pytest.approx(75.0)
    assert kept["ood", "sr2"] == pytest.approx(35.0) and kept["ood", "acc_0.9"] == pytest.approx(100 / 3)


def test_correlations_come_back_with_context_only():
    r = study.correlations().set_index(["condition", "dim"])["r"].round(3)
    assert r["with_context"].tolist() == [0.094, 0.727, 0.163, -0.178]
    verdicts = study.ledger().query("table == 'Tables 5 and 9'").groupby("row")["verdict"].unique()
    assert list(verdicts["with_context"]) == ["reproduced"] and list(verdicts["without_context"]) == [
        "differs"
    ]


def test_ledger_holds_every_printed_cell():
    sizes = study.ledger().groupby("table").size()
    for name, file in (("Table 2", "2"), ("Tables 5 and 9", "5_9"), ("Table 6", "6")):
        assert sizes[name] == len(report.published(f"symbolbench_table{file}"))


def test_every_claim_of_the_paper_belongs_to_one_notebook():
    table = report.published("claims").query("study == 'SymbolBench'")
    assert sorted(study.CLAIMS + boolean.CLAIMS + causal.CLAIMS) == sorted(table["claim_id"])


def test_claims_on_all_systems_follow_the_scores(monkeypatch):
    frame = pd.concat([scored([0.9], [0.5]), scored([0.8], [0.6], dim="2")])
    monkeypatch.setattr(study, "SYSTEMS", 2)
    got = study.claims(frame)
    assert got["SY-06"][0] == "holds" and got["SY-05"][0] == "fails"  # OOD rises from 0.5 to 0.6
