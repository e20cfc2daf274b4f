"""What the study of proposers computes, on cases worked by hand, and what it plans."""

import math

import rediscover as rd
from factories import runs_frame, scores_frame
from rediscover.expressions import parse
from rediscover.methods import Budget
from rediscover.methods.language_loops import Described
from rediscover.params import read
from rediscover.report.facts import one
from rediscover.studies.loops import analysis, derive, dose
from rediscover.studies.loops import facts as stated
from rediscover.studies.loops import recorded as kept
from rediscover.studies.loops.facts import place
from rediscover.studies.loops.grids import built, grids
from rediscover.system.paths import root

import numpy as np
import pandas as pd
import pytest

GRID = {"evaluations": {"operon": 500}, "budget": Budget(100)}
GRAMMAR, GENETIC = ({"proposer": name} for name in ("grammar", "genetic"))


def parameters(**changed):
    return read(root() / "params" / "70_what_the_model_adds.yaml", "reference", **changed)


def test_each_proposer_is_a_method_of_its_own():
    methods = built(["llm_sr", "operon"], ["grammar", "genetic"], 200)
    assert [m.settings.get("proposer") for m in methods] == ["grammar", "genetic", None]
    assert all(m.settings["max_rows"] == 200 and not m.available() for m in methods)


def test_the_reference_profile_is_the_papers_samples_on_all_problems():
    planned = grids(parameters())
    surfaces, systems = planned["surfaces"], planned["systems"]
    assert (len(surfaces["problems"]), surfaces["budget"].evaluations) == (183, 1000)
    assert (len(systems["problems"]), systems["budget"].evaluations) == (156, 2500)
    assert planned["surfaces, more"]["seeds"] == [0]  # as notebook 10 has recorded
    assert "surfaces, more" not in grids(parameters(more_evaluations={}))


def test_arms_of_loops_have_a_proposer_and_plain_searches_their_evaluations():
    frame = runs_frame({"method": ["openevolve", "operon", "gplearn"], "settings": [GENETIC, {}, {}], "problem": "a/1"})
    assert analysis.arms(frame, GRID)[analysis.ARM].values.tolist() == [
        ["OpenEvolve", "genetic operators"],
        ["genetic programming", "Operon, 500"],
        ["genetic programming", "gplearn, 100"],
    ]


def scored(**columns):
    """Two surfaces by two proposers and two seeds: columns of eight values."""
    rows = [
        {"problem": f"surfaces/{name}", "subset": "explicit", "method": "llm_sr", "settings": settings, "seed": seed}
        for settings in (GRAMMAR, GENETIC)
        for name in "AB"
        for seed in (0, 1)
    ]
    scores = pd.DataFrame(columns).to_dict("records")
    return analysis.arms(scores_frame([row | score for row, score in zip(rows, scores, strict=True)]), GRID)


def test_a_problem_has_one_number_over_seeds():
    accuracy, error = [0, 0, 0, 0, 1, 0, 1, 1], [1, 3, math.inf, math.inf, 2, 4, 0, math.inf]
    frame = scored(symbolic_accuracy=map(float, accuracy), nmse_release=error)
    found = analysis.by_problem(frame, ["symbolic_accuracy", "nmse_release"])
    assert found["symbolic_accuracy"].tolist() == [0, 0, 0.5, 1]
    assert found["nmse_release"].tolist() == [2, math.inf, 3, math.inf]
    table = analysis.summarised(found)
    share = one(table, proposer="genetic operators", measure="symbolic accuracy")
    assert share["value"] == 0.75 and share["n"] == 2 and share["low"] < 0.75 < share["high"]
    mean = one(table, proposer="genetic operators", measure="mean NMSE")
    assert mean["value"] == 3  # of what is finite


def test_a_failed_run_adds_nothing_to_sr2_and_scores_that_nobody_has_are_the_worst():
    frame = scored(r2_trajectories_id=[1.0, np.nan, -3.0, 0.5, 1.0, 1.0, -math.inf, 1.0])
    assert analysis.by_problem(frame, ["sr2_id"])["sr2_id"].tolist() == [50, 25, 100, 50]
    nothing = analysis.by_problem(frame, ["symbolic_accuracy", "nmse_release", "sr2_ood"])
    assert nothing[["symbolic_accuracy", "sr2_ood"]].eq(0).all(axis=None) and np.isinf(nothing["nmse_release"]).all()


def test_what_is_printed_stands_first_and_is_the_best_of_the_models():
    printed = analysis.printed_surfaces()
    best = one(printed, framework="LLM-SR", subset="explicit", measure="symbolic accuracy")
    assert (best["value"], best["model"]) == (0.30, "GPT4o-mini")
    assert one(printed, framework="LLM-SR", subset="explicit", measure="mean NMSE")["value"] == 2.38
    frame = scored(symbolic_accuracy=[1.0] * 8)
    value, low, _ = analysis.beside(analysis.summarised(analysis.by_problem(frame, ["symbolic_accuracy"])), printed)
    own = [key for key in value.index if key[0] == "LLM-SR"]
    assert own[0][1] == analysis.BEST and len(own) == 3
    assert math.isnan(low.loc[own[0]].iloc[0]) and low.loc[own[1]].iloc[0] < 1


def test_the_best_printed_loop_is_over_models_and_prompts():
    printed = analysis.printed_systems()
    best = one(printed, subset="1", measure="SR2, in distribution")
    assert best["value"] == 99.0 and best["model"].startswith("Qwen2.5-14B")
    assert len(printed) == 8 and not printed["model"].str.contains("PySR|ProGED|ODEformer").any()


def test_errors_below_the_floor_are_equal_in_a_test():
    frame = scored(nmse_release=[1.0, 1.0, 1e-12, 1e-12, 0.5, 0.5, 1e-30, 1e-30])
    tests = analysis.tests(analysis.by_problem(frame, ["nmse_release"]), ["nmse_release"], ["gplearn, 100"])
    (row,) = tests.to_dict("records")  # no gplearn here
    assert (row["n_pairs"], row["n_zeros"], row["rank_biserial"]) == (2, 1, -1)
    assert (row["a"], row["b"]) == ("LLM-SR, genetic operators", "LLM-SR, random grammar")


def recorded(method, curve, **notes):
    found = {"solution": {"z": "x"}, "notes": {"curve": curve} | notes}
    frame = runs_frame([{"method": method, "settings": GENETIC, "solution": {"z": "x"}, "candidates": [found]}])
    return analysis.arms(frame, GRID)


def test_scores_become_errors_by_sample():
    errors = analysis.best_so_far(recorded("llm_sr", [[0, -4.0], [30, -2.0], [500, -1.0]]))
    assert errors.set_index("samples")["error"].to_dict() == {
        1: 4,
        25: 4,
        50: 2,
        100: 2,
        200: 2,
        400: 2,
        700: 1,
        1000: 1,
    }
    errors = analysis.best_so_far(recorded("openevolve", [[0, 1.0], [2, 9.0]]))
    assert errors["error"].iloc[0] == pytest.approx(0.1) and errors["error"].iloc[-1] == analysis.FLOOR
    assert analysis.best_so_far(recorded("gplearn", [[0, 1.0]])).empty
    assert analysis.best_so_far(recorded("llm_sr", [])).empty


def test_improvement_after_the_early_samples():
    slow, fast = recorded("llm_sr", [[0, -4.0], [500, -0.4]]), recorded("llm_sr", [[0, -4.0], [5, -1e-12]])
    frame = analysis.best_so_far(pd.concat([slow, fast.assign(problem="toys/2")]))
    (row,) = analysis.later(frame).to_dict("records")
    assert (row["runs"], row["improved"], row["solved"]) == (2, 0.5, 0.5) and row["decades"] == pytest.approx(1)
    assert analysis.still_to_fall(frame).min(axis=1).eq(0).all()


def test_public_runs_are_read_and_each_ends_at_its_best():
    runs = analysis.public_runs()
    assert runs["problem"].nunique() == 13 and (runs["error"] > analysis.FLOOR).all()
    left = analysis.still_to_fall(runs)
    assert left.iloc[:, -1].eq(0).all() and (left.diff(axis=1).iloc[:, 1:] <= 1e-12).all(axis=None)


def test_costs_are_of_the_first_seed_and_of_prompts_that_were_built():
    run = recorded("openevolve", [], requests=1000, request_tokens=2_000_000).assign(problem="surfaces/TFS4")
    constant = recorded("openevolve", []).assign(problem="surfaces/TFS4")
    other = run.assign(seed=1)
    (row,) = analysis.costs(pd.concat([run, constant, other]), "gpt-4o-mini").to_dict("records")
    assert (row["runs"], row["requests"], row["prompt_tokens"]) == (1, 1000, 2_000_000)
    assert row["usd_each"] == pytest.approx(2 * 0.15 + 0.6 * 0.6)  # 600 tokens a reply, estimated
    assert row["searches"] == 153 + 3 * 30 and row["usd"] == pytest.approx(row["usd_each"] * 243)  # three coordinates
    assert analysis.costs(constant, "gpt-4o-mini").empty


def test_a_system_is_one_search_of_a_loop_and_one_for_each_state_of_a_table():
    run = recorded("symbolbench_loop", [], requests=10, request_tokens=1000).assign(problem="odes/3")
    assert analysis.costs(run, "gpt-4o-mini")["searches"].item() == 63
    table = run.assign(method="sga", framework="SGA")
    assert analysis.costs(table, "gpt-4o-mini")["searches"].item() == 23 + 28 * 2 + 10 * 3 + 2 * 4


def test_passages_are_one_request_each():
    (row,) = analysis.prompted("gpt-4o-mini").to_dict("records")
    assert row["runs"] == row["searches"] == len(rd.problems("passages")) and row["requests"] == 1
    assert row["usd"] == pytest.approx((row["prompt_tokens"] * 0.15 + 250 * 0.6) * row["runs"] / 1e6, rel=1e-3)


def test_frameworks_are_priced_with_a_control_where_they_are_accepted():
    planned = grids(parameters(priced={"lasr": 100, "gp_llm_judge": 10}))
    proposers = {name: grid["methods"][0].proposer for name, grid in planned.items() if name.startswith("priced")}
    assert proposers == {"priced, lasr": "grammar", "priced, gp_llm_judge": "genetic"}
    studies = {each.id.partition("/")[0] for each in planned["priced, gp_llm_judge"]["problems"]}
    assert studies == {"cde", "boolean"} and planned["priced, lasr"]["budget"].evaluations == 100


def test_a_control_says_what_a_model_would_have_been_sent():
    surface = rd.problem("surfaces/TFS4", n_train=50)
    front = rd.method("openevolve", proposer="grammar").solve(surface, budget={"evaluations": 5})
    assert front[0].notes["requests"] == 5 and front[0].notes["request_tokens"] > 5 * 200


@pytest.mark.parametrize(("value", "where"), [(0.3, "above"), (0.2, "inside"), (0.05, "below")])
def test_places(value, where):
    assert place(value, 0.1, 0.2) == where


# ---- what others' runs say

DECAY = rd.problem("cde/S001")  # one state, x' = (0.7 - x0/1.2)/2.31


def test_seeds_are_the_head_of_a_pool_without_what_gplearn_cannot_express():
    pool = [{"x0": text} for text in ("exp(x0)", "2*x0**2", "x0 - log(x0)", "1.5", "x0**0.5", "x0")]
    assert derive.plantable(pool) == [pool[k] for k in (1, 2, 3)]


def test_r2_of_a_system_is_along_the_clean_trajectory():
    truth = {"x0": str(DECAY.expressions["x0"])}
    assert derive.trajectory_r2(DECAY, truth) == pytest.approx(1, abs=1e-6)
    assert derive.trajectory_r2(DECAY, {"x0": "5"}) == derive.LEAST_R2  # far below
    assert math.isnan(derive.trajectory_r2(DECAY, {"x0": "exp(exp(x0 + 9))"}))
    assert derive.best_alone(DECAY, [{"x0": "5"}, truth]) == derive.trajectory_r2(DECAY, truth)
    assert math.isnan(derive.best_alone(DECAY, [{"x0": "exp(x0)"}]))


def test_a_drawn_pool_has_as_many_different_systems_fitted_as_released():
    noisy = rd.problem("cde/S001", noise=derive.NOISE)
    pool = derive.drawn_pool(noisy, 30, seed=1)
    assert len(pool) == 30 and pool == derive.drawn_pool(noisy, 30, seed=1) != derive.drawn_pool(noisy, 30, seed=2)
    scores = [derive.trajectory_r2(noisy, answer) for answer in (pool[0], pool[-1])]
    assert scores[0] > 0.9 and scores[0] > scores[1]


def test_a_search_can_be_repeated_and_needs_no_seeds():
    line = {"x0": str(DECAY.expressions["x0"])}
    planted, again, plain = (derive.bred(DECAY, seeds, 0) for seeds in ([line], [line], []))
    assert planted == again and {*planted} == {*plain} == {"x0"}
    assert parse(planted["x0"]) and parse(plain["x0"])


def test_sr2_of_starts_is_a_mean_over_seeds_where_failures_are_0(monkeypatch):
    starts = ["model", "model", "random", "random", "grammar", "grammar", "model alone", "grammar alone"]
    r2 = [0.5, np.nan, -1.0, 0.2, 1.0, 0.8, 0.4, 0.6]
    about = {"states": 1, "seed": [0, 1, 0, 1, 0, 1, 0, 0], "planted": 3, "candidates": 8}
    rows = pd.DataFrame({"system": "S001", "start": starts, "r2": r2, **about})
    monkeypatch.setattr(kept.derived, "read", lambda study, name: rows)
    (row,) = kept.seeded_systems().to_dict("records")
    expected = {"model": 25, "random": 10, "grammar": 90, "model alone": 40, "grammar alone": 60}
    assert row == pytest.approx(expected)
    counts = kept.seeded_counts()
    names = ["systems", "seeds", "first", "planted", "searches", "improved", "failed"]
    assert counts[names].tolist() == [1, 2, 5, 3, 2, 1, 1]


def test_a_verdict_answers_each_question_of_the_rule():
    low, high = np.arange(10.0), np.arange(10.0) + 50
    systems = pd.DataFrame({"model": high, "random": low, "grammar": high, "model alone": high + 1})
    systems.loc[0, "grammar"] += 1
    lines = kept.seeded_verdict(kept.seeded_tests(systems)).splitlines()
    assert [line.partition(": ")[2].partition(" ")[0] for line in lines] == ["yes", "no", "no"]
    assert "not told apart from" in lines[1] and "behind" in lines[2]


def test_the_searches_are_of_twenty_systems_with_five_seeds():
    runs = kept.derived.read("loops", "seeded_searches")
    assert runs["system"].unique().tolist() == [f"S{n:03d}" for n in range(1, 21)]
    each = runs.groupby(["system", "start"]).size().unstack()
    assert (
        each[["model", "random", "grammar", "grammar alone"]].eq(5).all(axis=None) and each["model alone"].eq(1).all()
    )
    sizes = runs[runs["start"] != "random"].groupby("system")["candidates"].nunique()
    assert sizes.eq(1).all()  # a grammar's pool is as large as the model's
    assert runs.loc[runs["start"] == "random", "planted"].eq(0).all() and runs["planted"].max() == derive.BEST


def test_sign_tests_of_counts_are_exact():
    rows = kept.priors()
    alone = rows.loc[("what each variable means", "structure", "LLM-SRBench")]
    assert alone["p"] == pytest.approx(2 * 0.5**23)
    tail = sum(math.comb(41, k) for k in range(14)) / 2**41
    assert rows.loc[("which domain it is", "with descriptions", "all problems"), "p"] == pytest.approx(2 * tail)
    assert (rows["better"] + rows["worse"] <= rows["pairs"].fillna(np.inf)).all() and (
        rows["p_holm"] >= rows["p"]
    ).all()


def test_thinking_text_adds_a_share_of_candidates():
    assert kept.thoughts()["share"].round(2).to_dict() == {"Qwen3-14B": 0.31, "Qwen3-8B": 0.34, "Qwen3-4B": 0.55}


def test_what_the_notebook_states_of_records_is_a_fact():
    seeded, priors, thoughts = stated._seeded(), stated._priors(), stated._thoughts()
    assert seeded["printed"]["seeded"][0] == 89.5 and seeded["systems"] == (20, "word")
    assert set(seeded["against"]) == {"random", "grammar", "model_alone"}
    assert priors["third"]["better"] == 44 and priors["alone.worse.max"] == 2 and thoughts["models"][0] == 3


# ---- memory: laws with their names, and in disguise


def test_a_law_in_disguise_is_the_law_in_other_units():
    for id in ("I.12.4", "I.16.6", "III.14.14", "I.26.2"):
        named, hidden = rd.problem(f"textbook/{id}"), rd.problem(f"textbook/{id}-disguised")
        ends = [[problem.samplers[name][1:] for name in problem.inputs] for problem in (named, hidden)]
        units = np.array(ends[1])[:, 1] / np.array(ends[0])[:, 1]
        assert np.all((units >= 0.5) & (units <= 2)) and len(set(units)) == len(units)
        X, y = named.data()["train"]
        ratio = hidden.evaluate(dict(zip(hidden.inputs, (X * units).T, strict=True))) / y
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
        assert 0.5 <= ratio[0] <= 2 and not any(hidden.meanings.values()) and hidden.inputs[0] == "x0"


def test_every_law_to_remember_has_finite_data_and_solves_itself():
    names = rd.problems("textbook")
    assert len(names) == 240 and len(rd.problems("textbook", "disguised")) == 120
    with pytest.raises(KeyError, match="no subset 'hidden'"):
        rd.problems("textbook", "hidden")
    for problem in map(rd.problem, names[::17]):
        (truth,) = problem.truth.values()
        assert rd.score(problem, truth)["symbolic_solution"] == 1, problem.id


def test_prompts_name_a_law_only_where_it_is_not_in_disguise():
    [loop] = built(["llm_sr"], ["genetic"], 200, {"llm_sr": {"describe": True}})
    words = []
    for end in ("", "-disguised"):
        problem = rd.problem(f"textbook/I.16.6{end}")
        [table] = problem.tasks()
        task = Described(**vars(table), meanings=problem.meanings)
        words.append(" ".join(loop.about(task, name) for name in (*task.inputs, task.output)))
    assert "speed of light" in words[0] and "composed velocity" in words[0]
    assert words[1] == "x0 x1 x2 y"


def test_the_laws_to_remember_are_a_draw_and_each_is_run_in_both_forms():
    laws = [*rd.problems("srsd", "easy"), *rd.problems("srsd", "medium")]
    drawn = np.random.default_rng(70).choice([id.partition("/")[2] for id in laws], 12, replace=False)
    p = parameters()
    assert {f"textbook/{name}" for name in drawn} == set(p.memory_laws)
    grid = grids(p)["memory, llm_sr"]
    assert len(grid["problems"]) == 24 and all(method.describe for method in grid["methods"])
    with pytest.raises(ValueError, match="another subset"):
        parameters(memory_laws=["textbook/I.12.4-disguised"])


def test_what_names_bring_is_told_in_pairs():
    rows = [(f"textbook/{law}{end}", float(end == "")) for law in "ABCDEF" for end in ("", "-disguised")]
    frame = pd.DataFrame(rows, columns=["problem", "symbolic_solution"]).assign(r2_accuracy=1.0)
    found = dose.memory(frame.assign(framework="LLM-SR", proposer="a")).droplevel(["framework", "proposer"])
    assert found.loc["solved", ["named", "disguised", "difference"]].tolist() == [6, 0, 1]
    assert found.loc["solved", "low"] == pytest.approx(0.292, abs=1e-3)  # 6/8 less 1.96 * sqrt((1 - (6/8)**2) / 8)
    assert found.loc["R² > 0.999", ["difference", "low"]].tolist() == pytest.approx([0, -0.346], abs=1e-3)


def test_the_networks_and_graphs_that_models_are_asked_about_are_a_draw():
    small = sorted(id for id in rd.problems("boolean") if len(rd.problem(id).outputs) <= 8)
    known = sorted(id for id in rd.problems("causal") if rd.problem(id).equations)
    draw = np.random.default_rng(70)
    asked = {dose.study: set(dose.problems) for dose in parameters().dose if dose.settings}
    assert set(draw.choice(small, 4, replace=False)) == asked["boolean"] and len(small) == 17
    assert set(draw.choice(known, 4, replace=False)) == asked["causal"] and len(known) == 38


def test_without_genetic_operators_nothing_is_compared_with_them():
    rows = [("LLM-SR", proposer, f"surfaces/{i}", 0.1 * i) for proposer in ("random grammar", "a") for i in range(5)]
    values = pd.DataFrame(rows, columns=["framework", "proposer", "problem", "nmse_release"]).assign(study="surfaces")
    assert dose.tests(values).empty
    values["proposer"] = values["proposer"].replace("random grammar", "genetic operators")
    assert list(dose.tests(values)["a"]) == ["a"]


def test_a_measure_stands_in_a_row_with_all_proposers():
    rows = [("LLM-SR", name, f"surfaces/{i}", error, 0.0) for name, error in (("a", 0.5), ("b", 2.0)) for i in range(4)]
    columns = ["framework", "proposer", "problem", "nmse_release", "symbolic_accuracy"]
    value, low, high = dose.summary(pd.DataFrame(rows, columns=columns).assign(study="surfaces"))
    assert value.loc[("LLM-SR", "nmse_release")].to_dict() == {"a": 0.5, "b": 2.0}
    assert (low <= value).all(axis=None) and (value <= high).all(axis=None)
    assert high.loc[("LLM-SR", "symbolic_accuracy"), "a"] == pytest.approx(0.49, abs=1e-3)  # 3.84 / (4 + 3.84)
