"""What the study of problems from outside laid down: parameters, samples and records are those of its rules."""

import json
import math

import rediscover as rd
from rediscover import params, runs
from rediscover.expressions import parse
from rediscover.report.comparisons import recovery
from rediscover.runs import plan, records
from rediscover.studies.outside import analysis, facts, sample, scores
from rediscover.studies.outside.grids import LATER, grids
from rediscover.system import derived
from rediscover.system.paths import root
from rediscover.system.record_files import SUFFIX, load
from rediscover.system.studies import rules, studies

import numpy as np
import pandas as pd
import pytest

REFERENCE = params.read(root() / "params" / "80_outside.yaml", "reference")
STUDY = studies()["outside"]


def test_parameters_are_those_that_were_laid_down():
    registered = sample.rules()["registered"]
    assert {name: getattr(REFERENCE, name) for name in registered} == registered
    assert REFERENCE.seeds == sample.rules()["seeds"][: len(REFERENCE.seeds)]


@pytest.mark.parametrize("name", ["sample", "noisy_sample"])
def test_samples_are_the_draws_of_the_stated_seed(name):
    assert getattr(REFERENCE, name) == sample.drawn(name)
    assert len(set(sample.drawn(name))) == sum(sample.rules()["samples"][name].values())


def test_records_carry_the_digest_of_the_rules_they_were_made_under():
    for prefix in STUDY["problems"]:
        known = {rules(prefix), *STUDY.get("earlier_rules", {})}
        kept = [line for file in (root() / "records" / prefix).glob(f"*{SUFFIX}") for line in load(file)]
        found = {line.get("rules", "none") for line in kept}
        assert found <= known, f"{prefix}: state the digest before and its commit in study.yaml"


def test_a_record_carries_the_digest_where_there_are_rules():
    outcome = {"status": "ok", "reason": "", "candidates": [], "seconds": 1.0, "peak_mb": 1.0}
    lines = [records.record(plan(id, "mean")[0], outcome) for id in ("lsr/I.12.2_3_0", "srsd/I.12.1")]
    assert lines[0]["rules"] == rules("lsr") and len(rules("lsr")) == 16
    assert "rules" not in lines[1] and rules("of nobody") == ""


def test_opponents_see_the_problems_and_rows_of_our_own_method():
    planned = grids(REFERENCE)
    methods = {m.name: m for grid in planned.values() for m in grid["methods"]}
    assert {m.settings["max_rows"] for m in methods.values() if m.searches} == {1000}
    assert set(planned["sample"]["problems"]) <= set(planned["lsr"]["problems"]) | set(planned["phybench"]["problems"])
    assert set(planned["noisy_sample"]["problems"]) <= set(planned["srbench"]["problems"])
    for name in LATER:
        frozen, later = planned[name], planned[f"{name}_later"]
        assert [method.name for method in later["methods"]] == REFERENCE.later
        assert {**later, "methods": frozen["methods"], "evaluations": 0} == {**frozen, "evaluations": 0}
    again = [planned[f"{name}_later"] for name in ("srbench", "noisy")]
    assert [block["problems"] for block in again] == [planned[name]["problems"] for name in ("srbench", "noisy_sample")]
    assert [*again[0]["noise"], *again[1]["noise"]] == REFERENCE.relative_noise
    assert len(planned["tables"]["problems"]) == 23 and len(planned["srbench"]["problems"]) == 130


def test_scores_of_a_law_by_hand():
    problem = rd.problem("srbench/feynman_I_12_1")  # mu*N_n
    close = scores.score(problem, {"F": "3*mu*N_n**1.0001"})
    assert (close["symbolic_solution"], close["solution_rate"], close["r2_accuracy"]) == (1.0, 0.0, 0.0)
    assert scores.score(problem, {"F": "mu*N_n"}) == dict.fromkeys(close, 1.0)
    assert scores.score(problem, {"F": "mu*("}) == scores.LAW


def test_the_form_of_a_law_leaves_its_constants_open_and_nothing_else():
    problem = rd.problem("srbench/feynman_I_12_1")  # mu*N_n
    found = {text: scores.form(problem, {"F": text})["form"] for text in ("7.1*mu*N_n", "mu*N_n + mu", "mu*(", "3")}
    assert list(found.values()) == [1.0, 0.0, 0.0, 0.0]
    assert scores.score(problem, {"F": "7.1*mu*N_n + 0.01"})["symbolic_solution"] == 0.0


def test_scores_of_a_table_by_hand():
    problem = rd.problem("empirical/kepler")
    found = scores.score(problem, {"P": "300*a**1.6"})
    assert found["law_with_any_constants"] == 1.0 and found["nmse_variance_left_out"] < 1e-3
    wrong = scores.score(problem, {"P": "900*a"})
    assert wrong["law_with_any_constants"] == 0.0 and wrong["nmse_variance_left_out"] > 0.01
    assert scores.score(problem, {"P": "a +"}) == scores.TABLE


def test_a_row_left_out_is_predicted_by_the_others():
    """Means of the rest: off by n/(n - 1) of the deviation from the mean of all, at each row."""
    problem = rd.problem("empirical/kepler")
    n = len(problem.table)
    assert scores.left_out(problem, parse("2.0")) == pytest.approx((n / (n - 1)) ** 2, rel=1e-6)
    assert scores.left_out(problem, parse("log(-a)")) == math.inf


def test_srbenchs_rates_are_those_that_others_print():
    """SRSD's Table S16 prints the means over all 130 problems without noise."""
    laws = derived.read("outside", "srbench_laws").query("noise == 0")
    means = laws.groupby("method")["solution_rate"].mean()
    printed = {"gplearn": 15.48, "AFP": 20.48, "AFP_FE": 26.23, "AIFeynman": 52.65, "DSR": 19.71}
    assert {name: round(means[name], 2) for name in printed} == printed
    rates = derived.read("outside", "srbench_rates").set_index(["method", "group", "noise"])["solution_rate"]
    np.testing.assert_allclose(rates["Operon", "Feynman", 0.0], 16.6, atol=0.05)
    assert set(laws["problem"]) == set(pd.Series(rd.problems("srbench")).str.partition("/")[2])


def test_the_reference_profile_shows_what_is_there_and_runs_nothing(monkeypatch):
    """A block of runs that nobody records: nothing is computed, unless the profile or the reader asks for it."""
    block = {"problems": ["lsr/I.12.2_3_0"], "methods": ["mean"], **REFERENCE.work, "evaluations": {"mean": 7}}
    monkeypatch.setattr(analysis.runs, "grid", lambda **_: pytest.fail("it was run"))
    assert analysis.finished(block, REFERENCE).empty
    for change in ({"profile": "smoke"}, {"explored": True}):
        with pytest.raises(pytest.fail.Exception, match="it was run"):
            analysis.finished(block, REFERENCE.model_copy(update=change))
    monkeypatch.setenv("REDISCOVER_FRESH", "1")
    with pytest.raises(pytest.fail.Exception, match="it was run"):
        analysis.finished(block, REFERENCE)


def rows(*found):
    return pd.DataFrame(found, columns=["problem", "method", "seed", "symbolic_solution"]).assign(noise=0.0)


def test_a_block_is_shown_once_it_is_whole():
    block = {"problems": ["lsr/I.12.2_3_0", "phybench/6"], "methods": ["mean", "polynomial"]}
    there = rows(*(("lsr/I.12.2_3_0", name, 0, 1.0) for name in ("mean", "polynomial")), ("phybench/6", "mean", 0, 0.0))
    there = there.assign(seconds=1800.0)
    counts = analysis.progress({"sample": block}, {"sample": there})
    assert counts["planned"].tolist() == [2, 2] and counts["hours"].tolist() == [1.0, 0.5]
    assert counts["recorded"].droplevel(["block", "noise", "seed"]).to_dict() == {"mean": 2, "polynomial": 1}
    shown = analysis.whole({"sample": there}, counts)["sample"]
    assert set(shown["method"]) == {"mean"} and analysis.grouped(shown, ["method"])["share"].tolist() == [0.5]


def test_without_records_every_table_is_empty_and_nothing_fails():
    nothing = analysis.scores({"lsr": pd.DataFrame(columns=["problem"])}, [])
    assert analysis.grouped(nothing, ["study", "method"]).empty and analysis.joined(nothing, nothing).empty
    assert analysis.against_record(nothing).empty
    assert analysis.trials(nothing, "law_with_any_constants").empty
    none = analysis.grouped(nothing, ["study", "method"])
    assert analysis.aims("mean", none, none, none, nothing.assign(on_front=1.0)).empty
    block = {"problems": ["phybench/6"], "methods": []}
    found = {"lsr": analysis.finished(block, REFERENCE)}
    left = analysis.whole(found, analysis.progress({"lsr": block}, found))["lsr"]
    assert left.empty and analysis.of_front(left, [], "is_law").empty


def test_where_laws_alone_are_recorded_tables_are_empty():
    law = rd.problem("srbench/feynman_I_12_1")
    runs_of_a_law = runs.grid([law], ["power_law"], workers=1, progress=False)
    found = analysis.scores({"srbench": runs_of_a_law, "tables": runs_of_a_law[:0]}, [law])
    assert found["symbolic_solution"].tolist() == [1.0] and found["law_with_any_constants"].isna().all()
    tables = found[found["block"] == "tables"]
    assert tables.groupby(["study", "method"])["nmse_variance_left_out"].median().empty


def test_methods_are_paired_by_the_score_that_is_asked_for():
    found = rows(("1", "a", 0, 1.0), ("1", "b", 0, 0.0), ("2", "a", 0, 0.0), ("2", "b", 0, 0.0))
    found = found.assign(form=[1.0, 1.0, 0.0, 1.0], solution_rate=0.0)
    pair = {
        name: analysis.paired(found, ["noise"], "a", ["b"], score).iloc[0] for name, score in analysis.RULES.items()
    }
    assert pair["symbolic solution"][["ours_alone", "theirs_alone", "difference"]].tolist() == [1, 0, 0.5]
    assert pair["form"][["ours_alone", "theirs_alone", "difference"]].tolist() == [0, 1, -0.5]
    beside = analysis.grouped(found, ["method"])[["recovered", "without_rounding", "form"]]
    assert beside.loc["b"].tolist() == [0, 0, 2] and beside.loc["a"].tolist() == [1, 0, 1]


def test_tables_that_others_have_and_we_have_not_are_named():
    found = [
        (law, method, seed, float(law == "bode")) for law in ("bode", "kepler") for method in "ab" for seed in (0, 1)
    ]
    found = rows(*((f"empirical/{law}", method, seed, value) for law, method, seed, value in found))
    found.loc[(found["method"] == "a") & (found["problem"] == "empirical/bode"), "symbolic_solution"] = 0.0
    counted = analysis.trials(found.assign(study="empirical"), "symbolic_solution")
    assert analysis.missed(counted, "a").to_numpy().tolist() == [["empirical", "bode", "b", 2]]
    assert analysis.missed(counted, "b").empty and analysis.missed(pd.DataFrame(), "a").empty


@pytest.mark.parametrize(
    ("ran", "verdict"), [(["operon", "gplearn"], "ahead"), (["operon"], "open, as 1 of 2 opponents")]
)
def test_a_verdict_on_fresh_problems_waits_for_all_opponents(monkeypatch, ran, verdict):
    monkeypatch.setattr(facts, "setting", lambda *_: ["operon", "gplearn"])
    solved = {"bidirectional": (9, 5), "operon": (1, 6), "gplearn": (0, 0)}
    shares = [(0.01, name, *solved[name], 10) for name in ("bidirectional", *ran)]
    shares = pd.DataFrame(shares, columns=["noise", "method", "recovered", "form", "n"])
    shares = shares.assign(low=0.0, high=1.0, r2_above_0999=shares["form"], without_rounding=0)
    ends = {"symbolic solution": (0.8, 0.3, 0.9), "form": (-0.1, -0.4, 0.3)}
    pairs = [(rule, 0.01, name, *ends[rule], 0.5) for rule in ends for name in ran]
    pairs = pd.DataFrame(pairs, columns=["rule", "noise", "opponent", "difference", "low", "high", "p"])
    shares.loc[len(shares)] = shares.iloc[0].to_dict() | {"method": facts.LATER, "recovered": 10}  # no opponent
    found = facts._beside(shares, pairs, 0.01)
    assert facts._beside(shares, pairs, 0.01, facts.LATER)["own"] == "10 of 10"
    assert found["verdict"].startswith(verdict) and (found["own"], found["theirs"]) == ("9 of 10", "1 of 10")
    assert (found["form"]["own"], found["form"]["theirs"], found["form"]["opponent"]) == (5, 6, "Operon")


def test_trials_and_aims_by_hand():
    own = [("kepler", 1.0), ("hubble", 1.0), ("bode", 0.0)]
    found = rows(*((f"empirical/{name}", "mean", seed, law) for name, law in own for seed in range(5)))
    found = found.assign(
        study="empirical",
        law=found["symbolic_solution"] * (found["seed"] + (found["problem"] != "empirical/hubble") > 0),
    )
    counted = analysis.trials(found, "law")
    assert counted["mean"].to_dict() == {
        ("all", "trials"): 5,
        ("empirical", "bode"): 0,
        ("empirical", "hubble"): 4,
        ("empirical", "kepler"): 5,
    }
    judged = found.rename(columns={"law": "on_front"}).assign(law_with_any_constants=0.0)
    laws, noisy, fast = (
        recovery(pd.Series([1] * n + [0] * (10 - n)), [pd.Series([part] * 10) for part in (*group, "mean")])
        for group, n in ((("lsr",), 5), (("feynman", 0.01), 7), (("first answer",), 8))
    )
    aims = analysis.aims("mean", laws, noisy, fast, judged)
    assert aims["problems"].tolist() == [10, 10, 10, 3, 3]
    assert (aims["low"] <= aims["found"]).all() and (aims["found"] <= aims["high"]).all()
    assert aims.loc["lsr", ["found", "low", "high"]].tolist() == pytest.approx([50, 23.6593, 76.3407])
    assert aims["missing"].to_dict() == {
        "lsr": 40.0,
        "feynman 0.01": 0.0,
        "accepted_form": 5.0,
        "law on the front of EmpiricalBench": 7.0,
        "law as first answer of EmpiricalBench": 6.0,
    }
    few = analysis.aims("mean", laws, noisy, fast, judged[judged["seed"] < 4])
    assert list(few.index) == ["lsr", "feynman 0.01", "accepted_form"]


def test_facts_say_that_a_block_is_not_recorded(monkeypatch, tmp_path):
    (tmp_path / "tables").mkdir()
    runs = {"block": ["lsr", "early_sample", "sample"], "method": ["operon"] * 3, "planned": [3, 6, 4]}
    runs |= {"recorded": [3, 0, 1], "hours": [6.0, 0.0, 2.0]}
    pd.DataFrame(runs).to_csv(tmp_path / "tables" / "outside_progress.csv")
    budgets = {"early": {"operon": 400}, "evaluations_by_method": {"operon": 2500}, "evaluations": 9999}
    stated = tmp_path / "tables" / "80_outside.provenance.json"
    stated.write_text(json.dumps({"parameters": budgets}))
    laws = {"study": "lsr", "method": ["a", "bidirectional"], "recovered": [9, 7], "n": 10, "share": [0.9, 0.7]}
    laws |= {"low": 0.4, "high": 0.9}
    pd.DataFrame(laws).to_csv(tmp_path / "tables" / "outside_laws.csv")
    monkeypatch.setattr("rediscover.report.facts.root", lambda: tmp_path)
    monkeypatch.setattr(facts, "root", lambda: tmp_path)
    found = facts.facts()
    left = 3 * 2 + 6 * 2 * 0.4 / 2.5  # an early reading takes less time by as much as it has fewer evaluations
    assert found["runs"] == {"planned": 13, "recorded": 4, "hours": (8.0, ".0f"), "hours_left": (left, ".0f")}
    assert [count for count, _ in found["aims.fresh"].values()] == [4, 0, 0, 4]  # ahead at four levels of noise: open
    assert [count for count, _ in found["aims"].values()] == [0, 0, 0, 0] and found["aims.later"] == found["aims"]
    assert found["fresh.0.01"]["form"]["difference"] == facts.NONE
    assert (found["lsr"], found["phybench"], found["measured"]["front"]) == ("7 of 10", facts.NONE, facts.NONE)
    assert set(found["strogatz"].values()) == {facts.NONE}


def test_an_opponent_stands_where_it_has_most_and_of_equals_the_nearest(monkeypatch):
    """Of both versions, and by the form another opponent than by the rule."""
    methods = ["bidirectional", "bidirectional_noise", "operon", "gplearn", "regularised_evolution"]
    shares = pd.DataFrame({"method": methods, "noise": 0.1, "n": 50, "recovered": [10, 12, 3, 5, 5]})
    shares = shares.assign(form=[19, 23, 13, 3, 10], r2_above_0999=20, without_rounding=9, low=0.0, high=1.0)
    rows = [
        (version, rule, other, low + shift)
        for version, shift in (("bidirectional_noise", 0.0), ("bidirectional", -0.1))
        for rule in facts.COUNTED
        for other, low in (
            ("bidirectional", -0.3),
            ("operon", 0.03),
            ("gplearn", 0.06),
            ("regularised_evolution", 0.05),
        )
        if other != version
    ]
    pairs = pd.DataFrame(rows, columns=["version", "rule", "opponent", "low"]).assign(noise=0.1, p=0.02, p_holm=0.2)
    pairs = pairs.assign(difference=pairs["low"] + 0.1, high=pairs["low"] + 0.2)
    monkeypatch.setattr(facts, "setting", lambda *_: ["operon", "gplearn", "regularised_evolution"])
    found = facts._rivals(shares, pairs, 0.1)
    lows = {name: round(found[name][0].low) for name in ("difference", "by_frozen")}
    assert (lows, found["verdict"]) == ({"difference": 5, "by_frozen": -5}, "ahead")  # gplearn has as many, further off
    form = {name: round(found["form"][name][0].low) for name in ("difference", "by_frozen")}
    assert (form, found["form"]["opponent"]) == ({"difference": 3, "by_frozen": -7}, "Operon")
    few = facts._beside(
        shares[shares["method"] != "gplearn"], pairs.query("version == 'bidirectional_noise'"), 0.1, facts.LATER
    )
    assert few["verdict"] == "open, as 2 of 3 opponents have run"


def test_runs_that_first_ended_in_an_error_count_as_failed():
    p = params.load("80_outside", {"profile": "reference"})
    blocks = grids(p)
    listed = {tuple(run) for run in STUDY["failed_first"][facts.LATER]}
    frames = [analysis.finished(blocks[name], p) for name in blocks if name.endswith("_later")]
    runs = analysis.joined(*frames).query("method == @facts.LATER")
    failed = runs[runs["reason"] == "ended in an error when it first ran"]
    assert (failed["status"] == "error").all() and listed == {
        *zip(failed["problem"], failed["noise"], failed["seed"], strict=True)
    }
    assert (runs.drop(failed.index)["status"] == "ok").mean() > 0.9


def test_p_of_pairs_is_corrected_over_all_rows():
    one = pd.DataFrame({"p": [0.01, 0.04]})
    assert analysis.corrected(pd.concat([one, one]))["p_holm"].tolist() == pytest.approx([0.04, 0.08, 0.04, 0.08])
    assert analysis.corrected(pd.DataFrame()).empty
