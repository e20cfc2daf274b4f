"""The analyses of the Boolean study, on cases worked by hand."""

import pandas as pd
import pytest

import rediscover as rd
from rediscover import report, runs, scores
from rediscover.report import boolean as study

NETWORKS = ("boolean/B23", "boolean/B42")


@pytest.fixture(scope="module")
def scored():
    chosen = [rd.problem(id) for id in NETWORKS]
    records = runs.grid(chosen, ["oracle", "identity", "truth_table", "logicgep"], progress=False)
    return scores.table(records, chosen, progress=False)


def test_distance_counts_steps_to_a_cycle():
    # 0 <-> 1 is a cycle, 2 leads into it, 3 into 2, and 4 is a fixed point
    assert study.distance([1, 0, 1, 2, 4]).tolist() == [0, 0, 1, 2, 0]


def test_census_counts_inputs_and_rules():
    network = rd.problem("boolean/B21")
    line = study.census([network]).loc[len(network.inputs)]
    assert line["inputs"] + line["rules"] == len(network.inputs) and line["networks"] == 1


def test_a_row_is_in_percent_and_counts_levels_of_f1():
    frame = pd.DataFrame({column: [0.5, 1.0] for column in study.columns()})
    frame["proximity_classes"], frame["operations"] = [2.0, 4.0], [3.0, 6.0]
    cells = study.row(frame)
    assert cells["id", "precision"] == 75.0 and cells["", "complexity"] == 4.5
    assert (cells["ood", "acc_0.5"], cells["ood", "acc_0.7"]) == (100.0, 50.0)


def test_truth_has_perfect_scores_and_the_truth_table_no_training_error(scored):
    best = scored[scored["method"] == "oracle"]
    assert (best["informedness_pooled_ood"] == 1).all() and (best["rules_equivalent"] == 1).all()
    assert (scored.loc[scored["method"] == "truth_table", "informedness_pooled_id"] == 1).all()


def test_ledger_holds_every_printed_cell_and_calls_no_part_reproduced(scored):
    ledger = study.ledger(scored, scored)
    for name in ("3", "7"):
        printed = report.published(f"symbolbench_table{name}")
        assert (ledger["table"] == f"Table {name}").sum() == len(printed)
    assert set(ledger["verdict"]) == {"not comparable", "not run"}  # two of 65 networks


def test_ledger_of_all_networks_compares_with_the_range_over_seeds(scored, monkeypatch):
    monkeypatch.setattr(study, "NETWORKS", len(NETWORKS))
    ours = study.ledger(scored, scored)
    assert set(ours["verdict"]) <= {"reproduced", "differs", "not run"} and ours["measured"].notna().any()


def test_complexity_of_table_7_is_per_rule(scored):
    gep = scored[scored["method"] == "logicgep"]
    per_rule = [row.operations / len(rd.problem(row.problem).truth) for row in gep.itertuples()]
    cell = study.ledger(scored, scored).query(
        "table == 'Table 7' and column == 'id complexity' and row == 'LogicGep'"
    )
    assert cell["measured"].item() == pytest.approx(sum(per_rule) / len(per_rule))


def test_claims_of_the_study_each_get_a_line(scored):
    verdicts = report.claims("SymbolBench", study.claims(scored), study.CLAIMS)
    assert tuple(verdicts.index) == study.CLAIMS and verdicts.loc["SY-03", "verdict"] == "untestable here"
    with pytest.raises(KeyError, match="SY-14"):
        report.claims("SymbolBench", {}, ["SY-14"])
