"""The method of our own as first recorded, and without parts that were chosen after scores or truths had been read."""

import json
import lzma
import subprocess
from pathlib import Path

import rediscover as rd
from rediscover import methods, params, runs
from rediscover.report import ablations
from rediscover.runs import recording, records
from rediscover.system.record_files import load

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
STUDIES = ("surfaces", "srsd", "odes", "cde", "pdes")
PIECES = ("piecewise", "one of two pieces", "pieces")


def test_a_setting_that_was_added_is_none_at_its_default():
    assert "without" not in methods.method("bidirectional").settings
    assert methods.method("bidirectional", without=["pieces"]).settings["without"] == ("pieces",)
    (run,) = runs.plan(["odes/24"], ["bidirectional"], budget={"evaluations": 150_000_000})
    assert "without" not in records.asked(run)["settings"]


def test_what_cannot_be_left_out_is_named():
    with pytest.raises(TypeError, match=r"no part 'piece' can be left out .*pieces"):
        methods.method("bidirectional", without=["piece"])


def test_without_following_no_solution_replaces_the_curve():
    problem, found = rd.problem("odes/11"), {}
    for without in ((), ("following",)):
        answers = methods.method("bidirectional", without=without).solve(problem)
        found[without] = rd.score(problem, answers)["identified"]
    assert found == {(): 1, ("following",): 0}


@pytest.mark.parametrize("study", STUDIES)
def test_first_answers_are_those_of_history(study):
    now = load(ROOT / "records" / study / "bidirectional_first.jsonl.xz")
    assert now and all(line["method"] == "bidirectional_first" for line in now)
    for commit in {line["commit"] for line in now}:
        name = f"{commit}:records/{study}/bidirectional.jsonl.xz"
        shown = subprocess.run(["git", "show", name], cwd=ROOT, capture_output=True)
        if shown.returncode:
            pytest.skip("a clone without its history")
        then = {json.dumps(json.loads(line), sort_keys=True) for line in lzma.decompress(shown.stdout).splitlines()}
        for line in (line for line in now if line["commit"] == commit):
            kept = {name: value for name, value in line.items() if name not in ("commit", "committed")}
            assert json.dumps(kept | {"method": "bidirectional"}, sort_keys=True) in then


def test_first_answers_are_read_and_never_run(monkeypatch):
    budget = {"evaluations": 100_000}
    planned = runs.plan(["odes/24"], ["bidirectional_first"], budget=budget)
    assert recording.missing(planned) == [] and recording.spot_checks(planned).empty
    monkeypatch.setenv("REDISCOVER_FRESH", "1")
    found = runs.grid(["odes/24"], ["bidirectional_first"], budget=budget, progress=False)
    assert list(found["status"]) == ["unavailable"] and "code is gone" in found["reason"].iloc[0]


def test_pieces_are_left_out_where_they_answered_and_on_twenty_others():
    p = params.read(ROOT / "params" / "10_surface_benchmark.yaml", "reference")
    ids = set(rd.problems("surfaces", "explicit"))
    stage = {
        line["problem"]: line["candidates"][0]["notes"]["stage"]
        for line in load(ROOT / "records" / "surfaces" / "bidirectional.jsonl.xz")
        if line["problem"] in ids and line["settings"] == {"max_rows": 1000} and (line["noise"], line["seed"]) == (0, 0)
    }
    own = sorted(id for id in ids if stage[id] in PIECES)
    others = np.random.default_rng(0).choice(sorted(ids - set(own)), 20, replace=False)
    assert p.ablated["pieces"] == [*own, *sorted(others.tolist())]


def test_variants_are_planned_where_their_method_is():
    problems = [rd.problem("surfaces/QIS2"), rd.problem("surfaces/AMHD1"), rd.problem("surfaces/QIS2", noise=0.1)]
    ablated = {"pieces": ["explicit"], "functions beside monomials": ["surfaces/AMHD1"]}
    planned = ablations.variants(ablated, problems, [methods.method("bidirectional", max_rows=7)])
    ids = {name: [(each.id, each.noise) for each in grid["problems"]] for name, grid in planned.items()}
    assert ids["as first recorded"] == [(each.id, each.noise) for each in problems]
    assert ids["without pieces"] == [("surfaces/QIS2", 0.0)]
    assert ids["without functions beside monomials"] == [("surfaces/AMHD1", 0.0)]
    assert planned["without pieces"]["methods"][0] == methods.method("bidirectional", max_rows=7, without=["pieces"])
    assert ablations.variants(ablated, problems, [methods.method("operon")]) == {}


def test_a_part_that_was_left_out_on_some_problems_leaves_the_others_as_they_are(monkeypatch):
    columns = {"subset": "explicit", "noise": 0.0, "method": "bidirectional"}
    now = pd.DataFrame([columns | {"problem": name, "found": 1} for name in "abc"])
    now.loc[2, "noise"] = 0.1
    monkeypatch.setattr(ablations, "grid", lambda **asked: pd.DataFrame([columns | {"problem": "a", "status": "ok"}]))
    own = ablations.scores(
        {"without pieces": {"problems": []}, "noise": {}}, now, lambda found, _: found.assign(found=0)
    )
    less = own[own["variant"] == "without pieces"].set_index("problem")
    assert less["found"].to_dict() == {"a": 0, "b": 1} and less["again"].to_dict() == {"a": True, "b": False}
