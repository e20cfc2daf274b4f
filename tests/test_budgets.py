"""The same methods with several numbers of evaluations: what is planned, reached, written and drawn."""

import math
from types import SimpleNamespace

from rediscover import params
from rediscover.methods import method
from rediscover.problems import problem
from rediscover.report import Output, budgets
from rediscover.runs import schema
from rediscover.system.paths import root
from rediscover.system.studies import studies

import pandas as pd
import pytest

LAW = "srsd/I.12.1"


@pytest.fixture
def p(tmp_path):
    """Parameters of a study, with a cheap method and one that may be missing."""
    of_study = params.read(root() / "params" / "20_srsd_edit_distance.yaml", "smoke")
    chosen = {"budgets": {"power_law": [10, 30], "pysr": [30]}, "budget_seeds": [0, 1]}
    return of_study.model_copy(update=chosen)


def planned(p, store, ids=(LAW,)):
    grids = budgets.grids(map(problem, ids), p)
    return {name: arguments | {"store": store, "progress": False} for name, arguments in grids.items()}


def test_a_grid_is_planned_for_each_number_of_evaluations(p):
    grids = budgets.grids([problem(LAW)], p)
    assert list(grids) == ["10 evaluations", "30 evaluations"]
    assert [[method.name for method in grid["methods"]] for grid in grids.values()] == [
        ["power_law"],
        ["power_law", "pysr"],
    ]
    assert [grid["evaluations"] for grid in grids.values()] == [{"power_law": 10}, {"power_law": 30, "pysr": 30}]
    assert all(grid["seeds"] == [0, 1] and grid["budget"] == p.budget for grid in grids.values())


def test_what_is_reached_is_of_the_planned_budgets_alone(p, tmp_path):
    grids = planned(p, tmp_path / "runs.sqlite")
    grids["10 evaluations"]["methods"] = [method("oracle"), *grids["10 evaluations"]["methods"]]
    grids["10 evaluations"]["evaluations"] |= {"oracle": 10}
    found = budgets.reached(grids | {"laws": {"problems": "nothing of this may be run"}})
    found = found[found["method"] != "pysr"]  # where it is installed
    assert found["evaluations"].tolist() == [10, 10, 10, 10, 30, 30]
    assert set(found.loc[found["method"] == "oracle", "recovered"]) == {1.0}
    assert budgets.by_budget(found)["seeds"].tolist() == [2, 2, 2]


def test_a_study_shows_what_it_writes(p, tmp_path, capsys):
    out = Output(SimpleNamespace(folder=tmp_path, pdf=tmp_path, store=tmp_path / "runs.sqlite"))
    found = budgets.reached(planned(p, tmp_path / "runs.sqlite"))
    budgets.told(found, out, "laws_budgets")
    pd.testing.assert_frame_equal(schema.read_csv(tmp_path / "tables/laws_budgets.csv"), found, check_dtype=False)
    assert capsys.readouterr().out.split()[:4] == ["method", "evaluations", "recovered", "low"]
    budgets.told(found[:0], out, "laws_budgets")
    assert "none of the methods with several budgets is installed" in capsys.readouterr().out


def test_what_is_reached_with_a_budget():
    columns = ["study", "method", "evaluations", "problem", "seed", "recovered", "nmse_per_output"]
    rows = [["a", 10, "p", 0, 1.0, 0.1], ["a", 10, "p", 1, 0.0, 0.3], ["a", 10, "q", 0, 1.0, math.inf]]
    rows += [["a", 10, "q", 1, 1.0, 0.2], ["a", 10, "r", 0, math.nan, 0.25], ["a", 20, "p", 0, 0.0, 1.0]]
    rows = [["s", *row] for row in rows] + [["t", "a", 10, "z", 0, 0.0, 9.0], ["u", "a", 10, "y", 0, math.nan, 8.0]]
    ten, twenty, other, without = budgets.by_budget(pd.DataFrame(rows, columns=columns)).to_dict("records")
    assert math.isnan(without["recovered"]) and (without["problems"], without["error"]) == (0, 8.0)
    assert (other["study"], other["problems"], other["recovered"], other["error"]) == ("t", 1, 0, 9.0)
    assert (ten["problems"], ten["seeds"], ten["recovered"], ten["least"], ten["most"]) == (2, 2, 0.75, 0.5, 1.0)
    assert (ten["low"], ten["high"], ten["error"]) == (0.5, 1.0, 0.25)
    assert (twenty["evaluations"], twenty["recovered"], twenty["seeds"]) == (20, 0, 1)
    nothing = budgets.by_budget(pd.DataFrame([], columns=columns))
    assert nothing.empty and list(nothing) == list(ten)


def test_seeds_and_evaluations_of_what_is_planned(p):
    grid = {"problems": [], "methods": [method("gplearn"), method("power_law")], **p.work, "seeds": [0, 1]}
    found = budgets.effort(grid, {**grid, "methods": [method("operon")], "evaluations": {"operon": 7}})
    assert found.index.tolist() == ["gplearn", "power_law", "operon"] and found["seeds"].tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match=r"power_law is planned with \(2, None\) and with \(1, None\)"):
        budgets.effort(grid, {**grid, "seeds": [0]} | {"methods": [method("power_law")]})
    assert found["evaluations"].fillna(-1).tolist() == [p.work["evaluations"].get("gplearn", p.evaluations), -1, 7]


@pytest.mark.parametrize(
    ("seeds", "profile", "told"), [(1, "reference", True), (3, "reference", False), (1, "smoke", False)]
)
def test_a_table_shows_the_effort_and_why_seeds_are_few(tmp_path, seeds, profile, told):
    about = {"folder": tmp_path, "pdf": tmp_path, "notebook": "20_srsd_edit_distance", "profile": profile}
    out = Output(SimpleNamespace(**about, store=tmp_path / "runs.sqlite"))
    scores = pd.DataFrame({"rate": [0.5, 0.25]}, index=pd.Index(["operon", "operon (published)"], name="method"))
    effort = pd.DataFrame({"seeds": [seeds], "evaluations": [100_000]}, index=pd.Index(["operon"], name="method"))
    text = out.table(scores, "t", caption="", effort=effort.astype("Int64"), intervals=(scores - 0.1, scores + 0.1))
    assert (studies()["srsd"]["seeds"] in text) is told and "100,000" in text and "[0.40, 0.60]" in text
    written = pd.read_csv(tmp_path / "tables" / "t.csv")
    assert written["evaluations"].fillna(0).tolist() == [100_000, 0] and written["seeds"].fillna(0).tolist() == [
        seeds,
        0,
    ]


SCORES = {
    "surfaces": ["table1_released_mean", "table1_harmonised_median", "table2_released_mean", "recovery", "noise"],
    "srsd": ["table2", "table3", "table4", "table_s15"],
    "cde": ["table2_kept", "table2_dropped"],
    "mdbench": ["odes_found", "pdes_found"],
    "outside": ["laws", "srbench"],
}


@pytest.mark.parametrize("name", [f"{study}_{name}" for study, names in SCORES.items() for name in names])
def test_committed_tables_of_scores_have_seeds_and_budgets_or_say_why_not(name, reference_tables):
    table = pd.read_csv(reference_tables / f"{name}.csv")
    ran = table[~table["method"].str.contains("published|printed")]
    assert ran["seeds"].notna().all() and ran["evaluations"].notna().any()
    few = (ran["seeds"] < 3) & ran["evaluations"].notna()
    reason = studies()[name.partition("_")[0]]["seeds"]
    latex = (reference_tables / f"{name}.tex").read_text(encoding="utf-8").replace("\\", "")
    assert (reason in latex) == few.any()
