"""Cells that no number of ours can reproduce: impossible shares, labels that repeat, methods unlike the paper's."""

from rediscover import problem, problems
from rediscover.report import comparable, papers, released
from rediscover.report.ledger import compare_table
from rediscover.report.scores import by_seed
from rediscover.system.studies import studies

import numpy as np
import pandas as pd
import pytest

TABLES = papers.tables()
SHARES = TABLES[TABLES["shares"].notna()]
SETTINGS = TABLES.index[TABLES["kind"] == "released"]


def impossible(name):
    return comparable.unattainable(papers.published(name), TABLES.loc[name, "shares"])


@pytest.mark.parametrize("n", [1, 7, 24, 129])
def test_every_share_is_attainable_as_it_is_printed(n):
    for k in range(n + 1):
        assert comparable.attainable(f"{k / n:.2f}", n) and comparable.attainable(f"{100 * k / n:.1f}", n, 100)


def test_where_the_rule_bites():
    counts = {name: len(impossible(name)) for name in SHARES.index}
    assert {name: count for name, count in counts.items() if count} == {
        "surfacebench_table1": 16,  # of 19 on 24 implicit surfaces
        "surfacebench_table2": 2,  # of 4 on 30 parametric ones
    }
    rows = papers.published("surfacebench_table1").loc[list(impossible("surfacebench_table1"))]
    assert set(rows["representation"]) == {"implicit"} and set(rows["value"]) == {"0.02", "0.05", "0.06", "0.10"}


def test_shares_are_of_as_many_surfaces_and_networks_as_there_are():
    sizes = pd.Series([problem(id).subset for id in problems("surfaces")]).value_counts()
    assert SHARES.loc["surfacebench_table1", "shares"]["of"]["representation"] == sizes.to_dict()
    for name, prefix in (("symbolbench_table3", "boolean"), ("symbolbench_table4", "causal")):
        assert SHARES.loc[name, "shares"]["of"] == len(problems(prefix))
    assert SHARES.loc["srsd_table_s16", "shares"]["of"] == len(problems("srsd"))


def measured(name, key, value, whole=1):
    rows = papers.published(name)
    # Three seeds, so that chance leaves nothing open.
    seeds = by_seed("symbolic_accuracy", [value / whole] * 3, 30, whole)
    exact = {"value": value, "reason": "a run", "parameters": seeds}
    keys = TABLES.loc[name, "ledger"]["keys"]
    return compare_table(name, {key: exact}).set_index(rows[keys].agg(tuple, axis=1)).loc[[key]].iloc[0]


def test_an_impossible_share_is_not_comparable_whether_it_was_met_or_not():
    for value in (0.05, 0.5):
        cell = measured("surfacebench_table1", ("DSR", "implicit", "symbolic_accuracy"), value)
        assert (cell["verdict"], cell["reason"]) == ("not comparable", "no share of 24 rounds to 0.05")
        assert cell["measured"] == value and np.isnan(cell["low"])
    assert measured("surfacebench_table1", ("DSR", "explicit", "symbolic_accuracy"), 0.15)["verdict"] == "reproduced"


def test_a_method_unlike_the_published_one_differs_and_reproduces_nothing():
    met, missed = (measured("srsd_table3", ("AI Feynman", "easy"), value, 100) for value in (30.0, 77.0))
    assert (met["verdict"], missed["verdict"]) == ("undecided", "differs")
    assert met["reason"].startswith("only like AI Feynman") and "; a run; 30 to 30 in 3 seeds" in met["reason"]
    for name in ("srsd_table_s14", "srsd_table_s16"):  # printed skeletons and sums are no runs
        assert not comparable.of_runs(papers.published(name), TABLES.loc[name, "kind"]).any()


def test_no_run_counts_twice():
    assert measured("srsd_table3", ("AFP", "easy"), 20.0, 100)["verdict"] == "reproduced"
    assert measured("srsd_table3", ("AFP-FE", "easy"), 20.0, 100)["verdict"] == "not comparable"
    for paper in {about["paper"].lower() for about in studies().values() if "paper" in about}:
        entries = papers.catalogue(paper)
        shared = entries[entries["ours"].duplicated(keep=False) & (entries["ours"] != "")]
        lone = shared[~shared["label"].isin(comparable.repeats(paper))]
        runs = lone[~lone["status"].str.contains("endpoint|installed")]
        assert not runs["ours"].duplicated().any() or set(runs["label"]) <= {"ESINDy", "E(W)SINDy"}, paper


@pytest.mark.parametrize("name", SETTINGS)
def test_every_released_setting_is_a_cell_and_has_a_source(name):
    (study,) = (key for key, about in studies().items() if name in about["tables"])
    known = released.read(study).query("table == @name")
    assert len(known) and not known.duplicated(["row", "column"]).any()
    assert known["source"].str.fullmatch(r"[\w./-]+ at [0-9a-f]{7}: .+").all() and (known["released"] != "").all()


def test_a_setting_of_no_cell_is_refused(monkeypatch):
    rows = released.read("mdbench")
    rows.loc[rows["table"] == "mdbench_table_a3", "column"] = "sets of operators"
    monkeypatch.setattr(released, "read", lambda study: rows)
    with pytest.raises(ValueError, match="37 rows of mdbench_table_a3 are no cells of it"):
        released.settings("mdbench_table_a3")


def test_what_the_released_files_contradict():
    found = released.contradictions("srsd_table_s12", "mdbench_table_a3", "surfacebench_table4")
    assert found.groupby("table").size().to_dict() == {"Table 4": 10, "Table A3": 4, "Table S12": 12}
    places = set(zip(found["row"], found["column"], strict=True))
    assert {("PySR", "#populations"), ("OpenEvolve", "temperature tau"), ("LaSR", "operators")} <= places
    cells = released.settings("surfacebench_table4").set_index(["row", "column"])
    limit = cells.loc[("LLM-SR", "time limit T per program hypothesis")]  # the file's 60 is never read
    assert limit["verdict"] == "reproduced" and "60" in limit["reason"]
    lost = cells.loc[cells["verdict"] == "not comparable", "reason"]
    assert list(lost) == ["not laid down in what was released"]
