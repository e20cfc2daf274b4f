"""Prompts, judges and generation with a language model behind a real server on loopback."""

import json
import threading

import rediscover as rd
import test_llm
from loopback import serving
from rediscover import runs
from rediscover.methods import llm_text
from rediscover.metrics import latex
from rediscover.studies.passages import analysis, generate, judge
from rediscover.system import upstream_files

import numpy as np
import pandas as pd
import pytest

# ---- judges


def test_the_rule_judge_at_its_ends():
    problem = rd.problem("passages/kalman-1")
    best = judge.rule_scores(problem, problem.truth["latex"], problem.description)
    assert best["Equivalence"] == best["Validity"] == 5
    assert judge.rule_scores(problem, "") == dict.fromkeys(judge.RUBRICS, 1)
    broken = judge.rule_scores(problem, r"\frac{a}{b || c=d")
    assert broken["Validity"] < 3 and broken["Equivalence"] < 5


def test_the_rule_judge_knows_near_from_far():
    problem = rd.problem("passages/kalman-5")
    near, far = r"K_t = P_{t|t-1} H^\top S_t", r"\sum_q \log z"
    shares_near, shares_far = judge.shares(problem, near), judge.shares(problem, far)
    assert shares_far["Equivalence"] < shares_near["Equivalence"] < 0.8
    assert shares_far["Appropriateness"] < shares_near["Appropriateness"]
    assert all(0 <= s <= 1 for s in [*shares_near.values(), *shares_far.values()])


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("Score: 4\nExplanation: fine", 4),
        ("Score (1-5): 4", 4),
        ("On a scale of 1 to 5 I rate this 2", 2),
        ("Score: <1-5>", None),
        ("**Score:** 3", 3),
        ("score - 2", 2),
        ("I would say 4/5.", 4),
        ("I give this a 3", 3),
        ("5\nbecause", 5),
        ("Score: 0", None),
        ("Score: 9", None),
        ("no number", None),
        ("", None),
    ],
)
def test_scores_are_read_out_of_replies(reply, score):
    assert judge.parse_score(reply)[0] == score


def test_a_judge_sees_what_the_released_pipeline_shows():
    problem = rd.problem("passages/kalman-1")
    prompts = judge.judge_prompts(problem, "GEN", "DES")
    shown = {rubric: messages[1]["content"] for rubric, messages in zip(judge.RUBRICS, prompts, strict=True)}
    assert problem.context not in shown["Validity"] and "GEN" in shown["Validity"] and "DES" not in shown["Validity"]
    assert problem.truth["latex"] in shown["Equivalence"] and problem.truth["latex"] not in shown["Coverage"]
    assert all(f"{n}: " in text for text in shown.values() for n in range(1, 6))


# ---- scores


def test_scores_of_an_answer(monkeypatch, tmp_path):
    """With GPT-2's merges, which are part of the repository: no mirror is asked."""
    monkeypatch.setenv(upstream_files.MIRROR, str(tmp_path))
    latex.gpt2.cache_clear()
    problem = rd.problem("passages/attention-2")
    perfect = rd.score(problem, problem.truth)
    assert perfect["lexicality"] == perfect["syntax"] == perfect["operator_jaccard"] == 1
    assert perfect["structure_distance"] == perfect["ted_parsed"] == 0
    empty = rd.score(problem, "")
    assert empty["lexicality"] == empty["syntax"] == 0 and np.isnan(empty["ted_parsed"])
    assert set(empty) == set(perfect)


# ---- generation with a language model


def test_the_prompt_holds_what_teacher_forcing_allows():
    problem = rd.problem("passages/kalman-3")
    system, user = llm_text.prompt(problem)
    assert system["role"] == "system" and "equation 3" in user["content"]
    for entry in problem.earlier:
        assert entry.context in user["content"] and all(
            f"<latex>{e}</latex>" in user["content"] for e in entry.equations
        )
    assert problem.truth["latex"] not in user["content"] and problem.context in user["content"]


def test_temperatures_of_paper_and_code():
    wanted = {
        "gpt-4.1": 1.0,
        "gpt-4o-mini": 1.0,
        "deepseek-reasoner": 0.6,
        "meta-llama/Llama-3.3-70B-Instruct-Turbo": 0.6,
        "Qwen/Qwen3-235B-A22B-fp8-tput": 0.7,
    }
    assert {model: llm_text.sampling(model)["temperature"] for model in wanted} == wanted
    assert {llm_text.sampling(model, "code")["temperature"] for model in wanted} == {0.2}
    assert llm_text.sampling("deepseek-reasoner")["max_tokens"] is None


@pytest.fixture
def model_server(monkeypatch):
    """A server that writes one formula, gives a 4 to each, and once says nothing useful."""

    def reply(handler):
        server = handler.server
        user = server.seen[-1][2]["messages"][-1]["content"]
        n = len(server.seen)
        text = (
            "Score: 4\nExplanation: ok" if "Criterion:" in user else "<latex>a = b</latex><description>d</description>"
        )
        test_llm.send(handler, 200, json.dumps(test_llm.completion("hm" if n == 2 else text)).encode())

    monkeypatch.setenv("OPENAI_API_KEY", test_llm.KEY)
    server = test_llm.Server(reply)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_generate_records_resumes_and_replays(model_server, tmp_path, monkeypatch, capsys):
    arguments = ["--model", "tiny", "--judge", "tiny-judge", "--base-url", model_server.url, "--limit", "3"]
    arguments += ["--records", str(tmp_path / "records"), "--out", str(tmp_path), "--concurrency", "1"]
    assert generate.main(arguments) == 1 and not model_server.seen  # nobody there to confirm
    assert "3 formulas by tiny and 15 scores by tiny-judge: an unknown price" in capsys.readouterr().out
    monkeypatch.setenv("YES", "1")
    assert generate.main(arguments) == 0
    table = pd.read_csv(tmp_path / "tiny.csv", keep_default_na=False)
    assert table.latex.tolist() == ["a = b", "", "a = b"] and table.failure.tolist()[1] == "no formula in the reply"
    assert table.Equivalence.tolist() == [4.0] * 3 and len(model_server.seen) == 18
    assert generate.main(arguments) == 0 and len(model_server.seen) == 18  # all of it was recorded
    assert generate.main([*arguments, "--max-tokens", "7", "--limit", "1"]) == 0
    assert [request[2]["max_tokens"] for request in model_server.seen[18:]] == [7]  # its formula was judged before
    method = rd.method("llm_text", model="tiny", records=str(tmp_path / "records"))
    assert method.available() is None
    answer = method.solve(rd.problem("passages/attention-1"))[0]
    assert answer.solution == {"latex": "a = b"} and answer.notes["description"] == "d"


def test_each_recorded_model_is_a_row_of_the_notebook(model_server, tmp_path, monkeypatch):
    monkeypatch.setenv("YES", "1")
    folder, store = tmp_path / "records", tmp_path / "runs.sqlite"
    assert analysis.writers(["oracle", "llm_text"], folder) == ["oracle", "llm_text"]  # nothing is recorded

    def generated(model, limit):
        arguments = ["--model", model, "--judge", "tiny-judge", "--base-url", model_server.url]
        arguments += ["--records", str(folder), "--out", str(tmp_path), "--limit", str(limit)]
        assert generate.main([*arguments, "--concurrency", "1"]) == 0

    def rows():
        chosen = [rd.problem(f"passages/attention-{i}") for i in (1, 2)]
        table = runs.grid(chosen, analysis.writers(["oracle", "llm_text"], folder), store=store, progress=False)
        return analysis.named(table).groupby("method", sort=False)["status"].agg(list).to_dict()

    generated("org/tiny", 1)
    assert rows() == {"oracle": ["ok", "ok"], "org/tiny": ["ok", "error"]}  # and none of the judge
    generated("org/tiny", 2)
    generated("small", 2)
    both = rows()  # what was missing before is not taken from the store
    assert both == {"oracle": ["ok", "ok"], "org/tiny": ["ok", "ok"], "small": ["ok", "ok"]}


@pytest.mark.parametrize(("name", "status"), [("none", 0), ("absent", 2)])
def test_formulas_are_kept_and_scored_without_a_judge(tmp_path, monkeypatch, capsys, name, status):
    monkeypatch.setenv("YES", "1")
    monkeypatch.setenv("OPENAI_API_KEY", test_llm.KEY)
    with serving(lambda request: 404 if request["model"] == "absent" else "<latex>a = b</latex>") as web:
        arguments = ["--model", "tiny", "--judge", name, "--base-url", web.url, "--limit", "2", "--concurrency", "1"]
        assert generate.main([*arguments, "--records", str(tmp_path / "records"), "--out", str(tmp_path)]) == status
        assert [request["model"] for request in web.seen if request["model"] != "absent"] == ["tiny"] * 2
        assert (len(web.seen) > 2) == (status > 0)
    table, said = pd.read_csv(tmp_path / "tiny.csv"), capsys.readouterr()
    assert table["latex"].tolist() == ["a = b"] * 2 and not set(judge.RUBRICS) & set(table)
    assert ("2 formulas by tiny: " in said.out) == (status == 0) and ("absent: HTTP 404" in said.err) == (status == 2)


def test_generate_says_what_is_wrong(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("YES", "1")
    arguments = ["--model", "tiny", "--base-url", "http://127.0.0.1:1/v1", "--records", str(tmp_path), "--max-usd", "1"]
    assert generate.main(arguments) == 2
    assert "no price is known for 'tiny'" in capsys.readouterr().err


def test_the_model_is_unavailable_without_records(tmp_path):
    reason = rd.method("llm_text", model="tiny", records=str(tmp_path)).available()
    assert "no records of tiny" in reason and "make generate" in reason
