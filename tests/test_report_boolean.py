"""The analyses of the Boolean study, on cases worked by hand."""

import rediscover as rd
from rediscover import report, runs
from rediscover.expressions import parse
from rediscover.runs import scoring as scores
from rediscover.studies.boolean import analysis as study
from rediscover.studies.boolean import released_runs as boolean_released

import pandas as pd
import pytest

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


def test_next_run_is_students_prediction_interval():
    found = study.next_run([88.0, 89.0, 90.0])  # s = 1, t(0.975, 2) = 4.3027
    assert found["value"] == 89.0 and found["high"] - 89 == pytest.approx(4.302653 * (4 / 3) ** 0.5)
    assert study.next_run([5.0]) == {"value": 5.0, "low": 5.0, "high": 5.0}


def test_ledger_of_all_networks_compares_with_the_range_of_the_seeds(scored, monkeypatch):
    monkeypatch.setattr(study, "NETWORKS", len(NETWORKS))
    ours = study.ledger(scored, scored)
    assert set(ours["verdict"]) <= {"reproduced", "differs", "not run"} and ours["measured"].notna().any()
    gep = scored[scored["method"] == "logicgep"]
    seeds = 100 * gep.groupby("seed")["informedness_pooled_ood"].mean()
    cells = ours.query("column == 'ood bookmaker_informedness' and row == 'LogicGep'").set_index("table")
    assert tuple(cells.loc["Table 7", ["low", "high"]]) == pytest.approx((seeds.min(), seeds.max()))
    shown = study.logicgep_rows(ours).loc["T3 ood bookmaker_informedness", "seeds"]
    assert shown == f"{seeds.min():.4g} to {seeds.max():.4g}"
    left = [
        100 * part.loc[part["problem"] != network, "informedness_pooled_ood"].mean()
        for _, part in gep.groupby("seed")
        for network in NETWORKS
    ]
    assert tuple(cells.loc["Table 3", ["low", "high"]]) == pytest.approx((min(left), max(left)))


def test_a_network_without_a_result_leaves_the_means_and_stays_in_the_levels(scored):
    measures = {name: 0.0 for name in scored.select_dtypes("number")}
    two = pd.DataFrame([measures | {"problem": "a"}, measures | {"problem": "b"}])
    two["f1_pooled_id"], two["informedness_pooled_id"] = [0.9, 0.4], [0.6, 0.2]
    without_a, without_b = study.without_one(two)
    assert without_a["id", "acc_0.5"] == 0 and without_b["id", "acc_0.5"] == 50
    assert without_a["id", "bookmaker_informedness"] == pytest.approx(20)
    assert without_b["id", "bookmaker_informedness"] == pytest.approx(60)


def test_complexity_of_table_7_is_per_rule(scored):
    gep = scored[scored["method"] == "logicgep"]
    per_rule = [row.operations / len(rd.problem(row.problem).truth) for row in gep.itertuples()]
    cell = study.ledger(scored, scored).query("table == 'Table 7' and column == 'id complexity' and row == 'LogicGep'")
    assert cell["measured"].item() == pytest.approx(sum(per_rule) / len(per_rule))


def test_claims_of_the_study_each_get_a_line(scored):
    verdicts = report.claims("SymbolBench", study.claims(scored, scored), study.CLAIMS)
    assert tuple(verdicts.index) == study.CLAIMS and verdicts.loc["SY-03", "verdict"] == "untestable here"
    with pytest.raises(KeyError, match="SY-14"):
        report.claims("SymbolBench", {}, ["SY-14"])


def test_claim_of_logicgep_holds_only_where_the_interval_is_above_the_models(scored, monkeypatch):
    monkeypatch.setattr(study, "NETWORKS", len(NETWORKS))
    assert study.claims(scored, scored)["SY-03"][0] == "holds"
    idle = scored[scored["method"] == "identity"].assign(method="logicgep")
    worse = pd.concat([scored[scored["method"] != "logicgep"], idle])
    assert study.claims(worse, scored)["SY-03"][0] == "fails"


def test_headline_counts_models_on_both_sides(scored):
    table = study.headline(scored)
    assert (table["models"] == 10).all() and (table["low"] <= table["value"]).all()
    best = table.loc[("truth_table", "BI id")]
    assert best[["value", "best model", "models below", "models above"]].tolist() == [100, 30.3, 10, 0]


def test_sizes_are_those_of_the_networks():
    figure = study.sizes()
    heights = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in figure.axes[0].patches}
    assert sum(heights.values()) == 65 and heights[7] == 5


@pytest.fixture(scope="module")
def released(shared):
    found = boolean_released.runs(shared.parent)
    if found is None:
        pytest.skip("no released runs beside the repository")
    return found


def test_released_runs_are_none_where_they_are_not(tmp_path):
    assert boolean_released.runs(tmp_path) is None


def test_stored_scores_come_back(released):
    assert len(released) == 40
    found = boolean_released.derived(released, candidates=5)
    assert found["candidates"] == 200 and found["largest difference"] < 1e-9  # stored with ten digits


def test_figure_3_comes_back(released):
    table = boolean_released.figure3(released)
    for name in ("without", "with reasoning"):
        assert table.loc[(name, "derived")].round(3).tolist() == table.loc[(name, "drawn")].tolist()


def test_answers_that_are_skipped_or_for_inputs(released):
    table = boolean_released.answers(released)
    assert (table[["skipped", "for inputs"]] > 0).sum().tolist() == [16, 23]
    assert table["f1 of regulated"].mean() < table["f1"].mean() - 0.1


@pytest.mark.parametrize("text, hit", [("x1 & x2", False), ("!x1 & x2", True), ("!(x1 & x2)", False), ("!x1", True)])
def test_rules_with_a_negated_variable_are_skipped(text, hit):
    assert boolean_released.skipped(parse(text, logic=True)) == hit
