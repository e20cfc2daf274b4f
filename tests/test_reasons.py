"""Every number that differs has a reason that was tested."""

import re
import shutil

from rediscover import params
from rediscover.report import comparisons
from rediscover.report import trials as retrials
from rediscover.studies.mdbench import trials
from rediscover.studies.mdbench.analysis import CELL, printed_cells
from rediscover.system.paths import root
from rediscover.system.studies import studies

import numpy as np
import pandas as pd
import pytest

UNTESTED = re.compile(r"^$|budgets? and \w+ differ$|not tested$|one seed$|no interval$")
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


def test_cells_of_mdbench_that_differ_were_tried_again():
    """But for those where a failure is printed, and no reason for it."""
    rows = differing().query("paper == 'MDBench' and table in ('Table 3', 'Table A5', 'Table A6')")
    known = trials.reasons()
    left = [row for row in rows.itertuples() if (row.column, row.row) not in known]
    assert all(row.published == "-" for row in left), left


def test_trials_say_rightly_which_cells_are_as_printed():
    printed = pd.concat(map(printed_cells, TABLES)).set_index(["method", "dataset"])[CELL]
    results = trials._read(trials.RESULTS)
    for row in results.to_dict("records"):
        ours, theirs = (
            tuple(None if pd.isna(cell[name]) else cell[name] for name in CELL)
            for cell in (row, printed.loc[(row["method"], row["dataset"])])
        )
        assert (ours == theirs) == row["equal"], row
    rules = retrials.rules("mdbench")
    assert set(results["trial"]) <= set(rules)
    assert all(part["seed"].max() < rules[name]["seeds"] for name, part in results.groupby("trial"))


@pytest.mark.parametrize(("trial", "id"), [("ensembles", "odes/8"), ("printed_grid", "odes/41")])
def test_a_trial_comes_out_the_same_again(trial, id):
    rule = retrials.rules("mdbench")[trial] | {"only": [id], "seeds": 1}
    again = trials.run(rule).reset_index(drop=True)
    kept = trials._read(trials.RESULTS).query("trial == @trial and dataset == @again['dataset'].iloc[0] and seed == 0")
    pd.testing.assert_frame_equal(again, kept[again.columns].reset_index(drop=True), check_dtype=False)


def test_a_reason_says_what_was_run_and_what_came_out(tmp_path):
    path = tmp_path / "trials.csv"
    cells = [("value", -1, 5, False), ("value", -2, 9, True)]
    rows = [("ensembles", "ESINDy", "A", seed, *cell) for seed, cell in enumerate(cells)]
    rows += [("printed_grid", "SINDy", "B", 0, "failed", np.nan, np.nan, False)]
    pd.DataFrame(rows, columns=trials.COLUMNS).to_csv(path, index=False)
    assert trials.reasons(path) == {
        ("ESINDy", "A"): "with all 36 ensemble settings: as printed with seed 1, before it 1e-1 (5)",
        ("SINDy", "B"): "with the grid of the printed Table A2 for that of the released code: not as printed, -",
    }


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
def test_the_ledger_tells_what_the_trials_of_its_cells_gave(study):
    told = pd.read_csv(root() / "tables" / f"{study}_ledger.csv", keep_default_na=False)
    says = "|".join(re.escape(rule["says"]) for rule in retrials.rules(study).values())
    plain = told.assign(reason=told["reason"].str.replace(rf"; with ({says}): .*", "", regex=True))
    reference = params.read(root() / "params" / f"{studies()[study]['notebooks'][0]}.yaml", retrials.PROFILE)
    assert (told["reason"] != plain["reason"]).sum() > 5
    pd.testing.assert_frame_equal(retrials.explain(plain, reference), told)
    for other in (reference.model_copy(update={"explored": True}), reference.model_copy(update={"profile": "smoke"})):
        pd.testing.assert_frame_equal(retrials.explain(plain, other), plain)


@pytest.mark.parametrize(
    ("low", "high", "verdict", "said"),
    [
        ("-4.5", "9", "reproduced", "the printed value is in -4.5 to 9"),
        ("0.25", "0.75", "differs", "the printed value is not in 0.25 to 0.75"),
        ("1", "1", "reproduced", "as printed"),
        ("1", "1.0", "differs", "not as printed"),
        ("", "", "reproduced", "as printed"),
    ],
)
def test_a_trial_with_an_interval_states_it(low, high, verdict, said):
    row = pd.Series({"low": low, "high": high, "verdict": verdict})
    assert retrials._outcome(row) == said


def test_a_trial_executes_the_notebook_and_keeps_the_cells_of_its_methods(tmp_path, monkeypatch):
    for name in ("notebooks", "params"):
        shutil.copytree(root() / name, tmp_path / name)
    monkeypatch.setenv("REDISCOVER_ROOT", str(tmp_path))
    few = {
        "surfaces": ["surfaces/QIS2", "surfaces/AMHD1"],
        "noise_surfaces": ["surfaces/QIS2"],
        "relative_noise": [0.1],
        "clean_methods": [],
    }
    methods = {"methods": ["oracle", "gplearn"], "evaluations": 300, "evaluations_by_method": {}, "max_rows": 100}
    found = retrials.run("surfaces", {"labels": ["gplearn"], "parameters": few | methods | {"seeds": [0, 1]}})
    assert list(found) == retrials.COLUMNS[1:]
    assert set(found["row"]) == {"gplearn"} and set(found["table"]) == {"Table 1"}
    assert found["reason"].str.contains("2 seeds").any()
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


def test_trials_unknown_are_refused():
    with pytest.raises(KeyError, match="no trials of boolean"):
        retrials.retest("boolean")
    with pytest.raises(KeyError, match=r"srsd has no trial 'nights' \(known: seeds"):
        retrials.retest("srsd", ["nights"])
