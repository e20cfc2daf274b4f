"""What became of a loop's samples, and of a model's replies, on runs and records written by hand."""

import json
from types import SimpleNamespace

from rediscover.methods import Budget, method
from rediscover.problems import problem
from rediscover.studies.loops import dose

import numpy as np
import pandas as pd
import pytest


def run(notes=None, evaluations=0, **settings):
    found = [] if notes is None else [{"notes": notes}]
    return SimpleNamespace(candidates=found, evaluations=evaluations, settings=settings)


def test_samples_are_counted_against_what_was_asked_for():
    counts = dose.samples(run({"asked": 16, "scored": 4, "unreadable": 11, "undefined": 1, "repeated": 2}))
    assert counts == {"answered": True, "asked": 16, "valid": 4, "unread": 11, "undefined": 1, "repeated": 2}


def test_symbolbench_asks_for_several_systems_a_reply_and_its_predictor_breeds_one_more():
    loop = {"calls": 5, "samples": 5}
    counts = dose.samples(run({"failed": 3, "unread": 7}, evaluations=20, **loop), replies=10)
    assert (counts["asked"], counts["valid"], counts["unread"]) == (50, 17, 7)
    control = dose.samples(run({"failed": 0, "requests": 4, "bred": 2}, evaluations=22, **loop))
    assert (control["asked"], control["valid"]) == (22, 22)


def test_a_run_without_an_answer_was_asked_and_has_nothing_valid():
    counts = dose.samples(run(calls=5, samples=5), replies=10)
    assert (counts["answered"], counts["asked"], counts["valid"]) == (False, 50, 0)
    assert np.isnan(counts["unread"]) and np.isnan(dose.samples(run())["asked"])


@pytest.mark.parametrize(
    ("notes", "asked", "valid"),
    [
        ({"judged": 9, "proposer": "model", "unread": 2}, 9, 7),
        ({"judged": 9, "proposer": "genetic"}, 9, np.nan),
        ({"handed": 5, "taken": 2, "proposer": "recorded", "unread": 1}, 5, 2),
        ({"handed": 5, "taken": 0, "proposer": "genetic", "unread": 0}, np.nan, np.nan),
    ],
)
def test_judges_and_lasr_count_what_they_hand_over(notes, asked, valid):
    counts = dose.samples(run(notes))
    np.testing.assert_equal((counts["asked"], counts["valid"]), (asked, valid))


def test_replies_are_those_of_runs_without_an_answer_too(tmp_path):
    asked = method("llm_sr", model="tiny-0123", records=str(tmp_path), proposer="recorded")
    response = {"choices": [{"finish_reason": "length"}], "usage": {"completion_tokens": 200}}
    timed = response | {"timings": {"prompt_ms": 500.0, "predicted_ms": 1500.0}}
    file = asked.folder() / "surfaces_TFS4.jsonl"
    file.parent.mkdir(parents=True)
    lines = [json.dumps({"key": str(i), "response": each}) for i, each in enumerate((response, timed))]
    file.write_text("\n".join(lines) + "\n")
    grid = {"methods": [asked], "problems": [problem("surfaces/TFS4")], "budget": Budget(16), "evaluations": {}}
    said = dose.replies({"dose": grid})
    assert said["proposer"].tolist() == ["tiny", "tiny"] and said["cut"].all()
    assert said["seconds"].isna().tolist() == [True, False] and said["seconds"].iloc[1] == 2.0
    assert dose.spent(said).loc[("LLM-SR", "tiny"), ["replies", "tokens"]].tolist() == [2, 200]
    none = pd.DataFrame(
        {"framework": ["LLM-SR"], "proposer": ["tiny"], "problem": ["surfaces/TFS4"], "study": "surfaces"}
    )
    counts = dose.sampled(none.assign(candidates=[[]], evaluations=0, settings=[{}]), said)
    assert counts.loc[("LLM-SR", "tiny"), ["problems", "answered", "valid"]].fillna(-1).tolist() == [1, 0, -1]
