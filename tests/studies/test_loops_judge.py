"""The four criteria of SymbolBench's judge beside our rules: a real server on loopback that scores, or says nothing."""

from pathlib import Path

import rediscover as rd
from loopback import serving
from rediscover.llm.client import Chat
from rediscover.methods import llm_text
from rediscover.runs.schema import read_csv
from rediscover.studies.loops import judge

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
JUDGED = read_csv(ROOT / "benchmarks" / "judged_criteria.csv")
MODELS = JUDGED["model"].unique()


@pytest.fixture(scope="module")
def drawn():
    return judge.sample(2)


def scored(request):
    """Better scores for short answers; nothing about rules with a negation."""
    (message,) = request["messages"]
    answer = message["content"].partition(" = ")[2].partition("\n")[0]
    if "!" in answer:
        return "I see."
    score = 1 + 4 * (len(answer) < 20)
    return f'```json\n{{"context": {score}, "plausibility": {score}, "conciseness": 3, "coherence": 3}}\n```'


def test_the_sample_has_pairs_of_one_output_and_is_the_same_for_everybody(drawn):
    assert drawn.equals(judge.sample(2)) and not drawn.equals(judge.sample(2, seed=1))
    assert drawn["kind"].value_counts().to_dict() == {"equation": 4, "rule": 4}
    assert not set(drawn["method"]) & set(judge.NOT_DRAWN)
    pairs = drawn.groupby("problem")
    assert (pairs["rule"].agg(["sum", "size"]) == [1, 2]).all(axis=None) and (pairs["output"].nunique() == 1).all()
    assert (drawn["rule"] == [judge.right(rd.problem(r.problem), r.output, r.answer) for r in drawn.itertuples()]).all()


def test_what_is_right_is_the_true_form_or_the_truth_table():
    system, network = rd.problem("cde/S024"), rd.problem("boolean/B01")
    for posed in (system, network):
        assert all(judge.right(posed, output, text) for output, text in posed.truth.items())
    output, text = next(iter(system.truth.items()))
    assert judge.right(system, output, f"2.5*({text})") and not judge.right(system, output, f"({text})*x0**3")
    node, rule = next(iter(network.truth.items()))
    assert judge.right(network, node, f"!(!({rule}))") and not judge.right(network, node, f"!({rule})")
    assert not judge.right(network, node, "x1 &") and not judge.right(system, output, "import os")


def test_scores_are_confirmed_recorded_and_not_asked_for_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("YES", "1")
    with serving(scored) as web:
        asked = ["--model", "m", "--base-url", web.url, "--size", "2", "--records", str(tmp_path / "records")]
        asked += ["--out", str(tmp_path / "judged.csv")]
        assert judge.JUDGING.main(asked) == 0
        rows = pd.read_csv(tmp_path / "judged.csv")
        silent = rows["answer"].str.contains("!")
        assert rows["opinion"].isna().equals(silent) and len(web.seen) == len(rows) + silent.sum()
        assert set(rows["opinion"].dropna()) <= {2.5, 7.5}  # means 2 and 4 of scores from 1 to 5
        before = len(web.seen)
        assert judge.JUDGING.main(asked) == 0 and len(web.seen) == before
    assert f"requests go to {web.url}" in capsys.readouterr().out


def test_a_better_judge_has_a_larger_share_and_the_opposite_one_its_complement():
    rows = pd.DataFrame([("rule", i, right) for i in range(15) for right in (True, False)])
    rows = rows.set_axis(["kind", "problem", "rule"], axis=1)
    best, worst, blind = (judge.summary(rows.assign(opinion=o)) for o in (1.0 * rows["rule"], 1.0 - rows["rule"], 5.0))
    assert (best["share"] == 1).all() and (worst["share"] == 0).all() and blind["share"].isna().all()
    assert (best["low"] < 0.9).all() and (worst["high"] > 0.1).all()  # fifteen of fifteen are not certain
    assert (best["p"] == 2**-14).all() and (worst["p"] == 2**-14).all() and (blind["p"] == 1).all()
    some = rows.assign(opinion=np.random.default_rng(0).integers(0, 4, len(rows)) * 1.0)
    told, other = judge.summary(some), judge.summary(some.assign(opinion=10 - some["opinion"]))
    np.testing.assert_allclose(told["share"], 1 - other["share"])
    assert (told[["higher", "equal", "lower"]].sum(axis=1) == told["pairs"]).all() and (told["pairs"] == 15).all()
    silent = judge.summary(some.assign(opinion=some["opinion"].where(some.index > 9)))
    assert silent["pairs"].tolist() == [10]  # a pair counts where both have an opinion


@pytest.mark.parametrize("model", MODELS)
def test_the_opinions_of_the_table_are_those_of_the_recorded_replies(model):
    rows = JUDGED[JUDGED["model"] == model]
    chat = Chat(model, llm_text.records_of(ROOT / "records" / "judge", model), mode="replay")
    said, failed = judge.JUDGING.judged(chat, rows)
    assert said.astype(float).equals(rows["opinion"]) and not failed


def test_the_judged_answers_are_right_and_wrong_by_our_rule():
    rows = JUDGED.drop_duplicates(["problem", "answer"])
    assert (rows["rule"] == [judge.right(rd.problem(r.problem), r.output, r.answer) for r in rows.itertuples()]).all()
    assert JUDGED.groupby(["model", "kind"])["rule"].agg(["sum", "size"]).eq([10, 20]).all(axis=None)
    assert not set(rows["method"]) & set(judge.NOT_DRAWN)


@pytest.mark.parametrize("model", [*MODELS, "the longer answer"])
def test_the_table_of_judges_is_that_of_their_opinions(model):
    page = (ROOT / "docs" / "llm.md").read_text(encoding="utf-8").splitlines()
    longer = JUDGED[JUDGED["model"] == MODELS[0]].assign(opinion=lambda rows: rows["answer"].str.len())
    for kind, told in judge.summary(JUDGED[JUDGED["model"] == model] if model in MODELS else longer).iterrows():
        (line,) = (line for line in page if f"{model.rpartition('-')[2]} | {kind} |" in line)
        counts = " | ".join(str(int(told[name])) for name in ("pairs", "higher", "equal", "lower"))
        share, low, high = (f"{100 * told[name]:.0f}" for name in ("share", "low", "high"))
        assert line.endswith(f"| {counts} | {share} [{low}, {high}] % | {told['p']:.2f} |")
