"""A model as judge of symbolic accuracy: a real server on loopback that says yes, no, or nothing."""

import os
import subprocess
import sys
from pathlib import Path

from loopback import serving
from rediscover.runs.schema import read_csv
from rediscover.studies.surfaces import judge

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


def proposed(request):
    (message,) = request["messages"]
    return message["content"].partition("Proposed: ")[2].partition("\n")[0]


def verdict(request):
    """Yes to formulas without a logarithm, first nothing to those with a square root, and no to the others."""
    silent = "sqrt" in proposed(request) and request["temperature"] == 0
    return "I see." if silent else f"Thus. Answer: {'No' if 'log' in proposed(request) else 'Yes'}."


@pytest.fixture
def server():
    with serving(verdict) as web:
        yield web


def test_the_sample_is_balanced_and_the_same_for_everybody():
    drawn = judge.sample(10)
    assert drawn.equals(judge.sample(10)) and not drawn.equals(judge.sample(10, seed=1))
    assert drawn["rule"].sum() == 10 and len(drawn) == 20 and not drawn.duplicated(["problem", "rule"]).any()
    assert not set(drawn["method"]) & {"oracle", "mean", "zero"}


def test_verdicts_are_confirmed_asked_for_twice_and_resumed(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.delenv("YES", raising=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    asked = ["--model", "m", "--base-url", server.url, "--size", "8"]
    asked += ["--records", str(tmp_path / "records"), "--out", str(tmp_path / "judged.csv")]
    assert judge.main(asked) == 1 and not server.seen
    said = capsys.readouterr().out
    assert "16 verdicts by m: an unknown price" in said and f"\nrequests go to {server.url}\n" in said
    monkeypatch.setenv("YES", "1")
    assert judge.main(asked) == 0
    rows = pd.read_csv(tmp_path / "judged.csv")
    assert (rows["verdict"] == ~rows["answer"].str.contains("log")).all() and rows["verdict"].notna().all()
    again = [request for request in server.seen if request["temperature"] == 1]
    assert len(again) == rows["answer"].str.contains("sqrt").sum() and len(server.seen) == 16 + len(again)
    before = len(server.seen)
    assert judge.main(asked) == 0 and len(server.seen) == before
    assert judge.main([*asked, "--max-tokens", "9", "--concurrency", "1"]) == 0
    assert {request["max_tokens"] for request in server.seen[before:]} == {9}
    expected = judge.summary(rows)
    assert f"{expected['kappa']:.6f}"[:6] in capsys.readouterr().out


def test_a_question_that_failed_is_asked_again_in_the_same_way(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("YES", "1")
    asked = ["--model", "m", "--size", "4", "--tries", "1", "--concurrency", "1"]
    asked += ["--records", str(tmp_path / "records"), "--out", str(tmp_path / "judged.csv")]
    with serving(lambda request: 500 if len(proposed(request)) > 60 else "Answer: Yes") as web:
        code = judge.main([*asked, "--base-url", web.url])
        assert all(request["temperature"] == 0 for request in web.seen)
    rows = pd.read_csv(tmp_path / "judged.csv")
    failed = rows["answer"].str.len() > 60
    assert code == 1 and failed.any() and rows["verdict"].isna().equals(failed)
    with serving(lambda _: "Answer: No") as web:
        assert judge.main([*asked, "--base-url", web.url]) == 0 and len(web.seen) == failed.sum()


def test_a_server_that_is_away_is_one_line(tmp_path):
    command = [sys.executable, "-m", "rediscover.studies.surfaces.judge", "--model", "m", "--size", "1"]
    command += ["--base-url", "not an address", "--records", str(tmp_path), "--out", str(tmp_path / "out.csv")]
    environment = os.environ | {"YES": "1", "OPENAI_API_KEY": "none"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 2 and done.stderr.startswith("judge: m: ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()


def test_a_model_without_verdicts_has_none():
    rows = pd.DataFrame({"rule": [True, False], "verdict": [None, None]})
    told = judge.summary(rows)
    assert told["answered"] == 0 and pd.isna(told["kappa"]) and pd.isna(told["accepted_low"])


def test_the_table_of_judges_is_that_of_their_verdicts():
    rows = read_csv(ROOT / "benchmarks" / "judged.csv")
    page = (ROOT / "docs" / "llm.md").read_text(encoding="utf-8")
    judges = {f"{model.rpartition('-')[2]} |": part for model, part in rows.groupby("model")}
    lengths = rows.drop_duplicates(["problem", "answer"])["answer"].str.len()
    shorter = rows.loc[lengths.index].assign(verdict=lengths <= lengths.median())
    for cell, part in (judges | {"the shorter half of the answers |": shorter}).items():
        told = judge.summary(part)
        line = next(line for line in page.splitlines() if cell in line and "] % |" in line)
        for name in ("accepted", "refused"):
            share, low, high = (f"{100 * told[name + end]:.0f}" for end in ("", "_low", "_high"))
            assert f"{share} [{low}, {high}] %" in line
        assert f"| {told['kappa']:.2f} |" in line
    assert rows.groupby("model")["rule"].agg(["sum", "size"]).eq([30, 60]).all(axis=None)
