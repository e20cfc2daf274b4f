"""What trials gave stands in the ledger; every number that differs has a reason that was tested."""

import json
import re
import shutil

from rediscover import params
from rediscover.report import comparisons
from rediscover.report import trials as retrials
from rediscover.report.ledger import judged
from rediscover.studies.mdbench import trials
from rediscover.studies.mdbench.analysis import printed_cells
from rediscover.system.paths import root
from rediscover.system.studies import studies

import pandas as pd
import pytest
import yaml

UNTESTED = re.compile(r"^$|budgets? and \w+ differ$|not tested$|the printed digit$")
# Studies whose trials are their notebook with other parameters.
TRIED = [study for study in studies() if retrials.results(study).exists() and not retrials._has_own(study)]
TABLES = ("mdbench_table3", "mdbench_table_a5", "mdbench_table_a6")


def differing():
    parts = [pd.read_csv(path, keep_default_na=False) for path in (root() / "tables").glob("*_*ledger.csv")]
    return pd.concat(parts).query("verdict == 'differs'")


def test_every_number_that_differs_has_a_tested_reason():
    differ = differing()
    untested = differ[differ["reason"].map(lambda reason: bool(UNTESTED.search(reason)))]
    assert untested.empty, untested[["paper", "table", "row", "column", "reason"]].to_string()


def test_trials_of_mdbench_are_of_printed_cells_and_of_as_many_seeds_as_stated():
    printed = pd.concat(map(printed_cells, TABLES)).set_index(["method", "dataset"]).index
    results, rules = retrials._text(retrials.results("mdbench")), retrials.rules("mdbench")
    for row in results.to_dict("records"):
        assert (row["column"], row["row"]) in printed
        assert len(json.loads(row["values"])) == rules[row["trial"]]["seeds"], row
        assert all(re.fullmatch(r"found|-|1e-?\d+ \(\d+\)", value) for value in json.loads(row["values"])), row


def test_every_trial_says_whether_it_decides_and_why():
    for study in (study for study in studies() if retrials.results(study).exists()):
        for name, rule in retrials.rules(study).items():
            assert isinstance(rule["decides"], bool) and rule["says"] and rule["why"], name
            # Fewer evaluations than in the table, another reading or other data decide nothing.
            assert rule["decides"] == (rule["why"] in ("more seeds", "the paper's settings", "the paper's budget")), (
                name
            )


@pytest.mark.parametrize(("trial", "id"), [("ensembles", "odes/8"), ("printed_grid", "odes/41")])
def test_a_trial_comes_out_the_same_again(trial, id):
    rule = retrials.rules("mdbench")[trial] | {"only": [id], "seeds": 1}
    (again,) = trials.run(rule).to_dict("records")
    kept = retrials._text(retrials.results("mdbench")).query("trial == @trial and row == @again['row']")
    (kept,) = kept.to_dict("records")
    assert {name: again[name] for name in retrials.CELL} == {name: kept[name] for name in retrials.CELL}
    assert json.loads(again["values"]) == json.loads(kept["values"])[:1]


def test_a_trial_of_the_package_has_cells():
    few = {"families": [[]], "alphas": [1e-5], "n_models": [10], "ratios": [0.7]}
    rule = retrials.rules("mdbench")["ensembles_package"] | {"only": ["odes/3"], "seeds": 1, "settings": few}
    (found,) = trials.run(rule).to_dict("records")
    assert (found["row"], found["column"], found["values"]) == ("I3-D1", "ESINDy", '["found"]')


def test_seeds_that_are_kept_are_not_run_again():
    rule = retrials.rules("mdbench")["printed_grid"] | {"only": ["odes/41"], "seeds": 2}
    (kept,) = (
        retrials._text(retrials.results("mdbench"))
        .query("trial == 'printed_grid' and row == 'I41-D2'")
        .to_dict("records")
    )
    (found,) = trials.run(rule, pd.DataFrame([kept | {"values": '["of before"]'}])).to_dict("records")
    assert json.loads(found["values"]) == ["of before", *json.loads(kept["values"])]  # SINDy has no chance


@pytest.mark.parametrize("study", TRIED)
def test_trials_of_a_notebook_change_parameters_that_it_has(study):
    (notebook,) = studies()[study]["notebooks"]
    ours = comparisons.labels(studies()[study]["paper"].lower())["method"]
    for rule in retrials.rules(study).values():
        given = rule["parameters"] | {name: [] for name in rule.get("subsets", {})}
        assert params.read(root() / "params" / f"{notebook}.yaml", retrials.PROFILE, **given).explored
        assert rule["says"] and set(ours[rule["labels"]]) <= set(rule["parameters"]["methods"])
    tried = pd.read_csv(retrials.results(study), keep_default_na=False)
    for name, rows in tried.groupby("trial"):
        assert set(rows["table"]) <= set(retrials.rules(study)[name].get("tables", rows["table"])), name
    assert list(tried) == retrials.COLUMNS and not tried.duplicated(["trial", *retrials.CELL]).any()


@pytest.mark.parametrize("study", TRIED)
def test_only_the_reference_profile_as_it_stands_is_told_of_trials(study):
    reference = params.read(root() / "params" / f"{studies()[study]['notebooks'][0]}.yaml", retrials.PROFILE)
    first = retrials._text(retrials.results(study)).iloc[0]
    cell = {"values": [0.5], "scale": "plain", "bounds": [None, None], "n": 1}
    row = {name: first[name] for name in retrials.CELL} | {"published": "0.5", "rule": "seeds", "parameters": cell}
    ledger = judged(pd.DataFrame([row]))
    told = retrials.explain(ledger, reference)
    assert retrials.rules(study)[first["trial"]]["says"] in told.loc[0, "reason"]
    for other in (reference.model_copy(update={"explored": True}), reference.model_copy(update={"profile": "smoke"})):
        pd.testing.assert_frame_equal(retrials.explain(ledger, other), ledger)


def test_a_trial_executes_the_notebook_and_keeps_the_cells_of_its_methods(tmp_path, monkeypatch):
    for name in ("notebooks", "params"):
        shutil.copytree(root() / name, tmp_path / name)
    monkeypatch.setenv("REDISCOVER_ROOT", str(tmp_path))
    few = {
        "surfaces": ["surfaces/QIS2", "surfaces/AMHD1"],
        "noise_surfaces": ["surfaces/QIS2"],
        "relative_noise": [0.1],
        "clean_methods": [],
        "ablated": {},
        "budgets": {"gplearn": [100]},
        "budget_problems": ["surfaces/QIS2"],
        "budget_seeds": [0],
    }
    methods = {"methods": ["oracle", "gplearn"], "evaluations": 300, "evaluations_by_method": {}, "max_rows": 100}
    found = retrials.run("surfaces", {"labels": ["gplearn"], "parameters": few | methods | {"seeds": [0, 1]}})
    assert list(found) == retrials.COLUMNS[1:]
    assert set(found["row"]) == {"gplearn"} and set(found["table"]) == {"Table 1"}
    assert found["values"].map(lambda text: len(json.loads(text))).max() == 2
    assert not (tmp_path / "tables").exists()


def test_rows_of_a_trial_take_the_place_of_its_older_ones(tmp_path, monkeypatch):
    """Other rows stay as they are written, to the digit."""
    monkeypatch.setattr(retrials, "FOLDER", tmp_path)
    (tmp_path / "toys").mkdir()
    (tmp_path / "toys" / "trials.yaml").write_text("first: {}\nsecond: {}\n")
    (tmp_path / "toys" / "trials.csv").write_text("trial,x\nfirst,0.10\nfirst,0.20\nsecond,1e-3\n")
    monkeypatch.setattr(retrials, "run", lambda study, rule: pd.DataFrame({"x": [0.5]}))
    path = retrials.retest("toys", ["first"])
    assert path.read_text() == "trial,x\nfirst,0.5\nsecond,1e-3\n"


def test_each_trial_is_told_with_what_it_found():
    reasons = pd.read_csv(root() / "tables" / "ledger.csv", dtype=str, keep_default_na=False)["reason"]
    assert reasons.str.contains("; with ").any() and not reasons.str.contains(": , ", regex=False).any()


def test_trials_unknown_are_refused():
    with pytest.raises(KeyError, match=r"no trials of boolean \(studies that have some: .*srsd"):
        retrials.retest("boolean")
    with pytest.raises(KeyError, match=r"srsd has no trial 'nights' \(known: seeds"):
        retrials.retest("srsd", ["nights"])
    with pytest.raises(ValueError, match="leave out --missing"):
        retrials.retest("srsd", missing=True)


def test_a_trial_decides_by_what_it_found_and_by_the_most_seeds():
    ledger = pd.read_csv(root() / "tables" / "ledger.csv", dtype=str, keep_default_na=False)
    for row in ledger[ledger["parameters"].str.contains('"trial"')].to_dict("records"):
        (study,) = (
            path.parent
            for path in root().glob("lib/rediscover/studies/*/study.yaml")
            if row["notebook"] in path.read_text()
        )
        rules, kept = yaml.safe_load((study / "trials.yaml").read_text()), pd.read_csv(study / "trials.csv")
        mine = kept[(kept[["table", "row", "column"]] == [row["table"], row["row"], row["column"]]).all(axis=1)]
        tried = zip(mine["trial"], mine["values"].map(json.loads), strict=True)
        may, given = {name: values for name, values in tried if rules[name]["decides"]}, json.loads(row["parameters"])
        if packages := {name: values for name, values in may.items() if rules[name].get("package")}:
            may = packages  # before our own code, however many seeds this has
            assert row["kind"] == "rerun"
        assert given["values"] == may[given["trial"]] and len(given["values"]) == max(map(len, may.values()))
