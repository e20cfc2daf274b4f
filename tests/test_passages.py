"""The corpus, its builder, the released outputs, and everything that writes or judges a formula."""

import dataclasses
import json
import re
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rediscover as rd
import test_llm
from rediscover import runs
from rediscover.methods import llm_text, text_baselines
from rediscover.metrics import latex
from rediscover.problems import passages
from rediscover.report import statistics as agreement
from rediscover.studies.passages import analysis as study
from rediscover.studies.passages import generate, judge
from rediscover.studies.passages import scores as scores
from rediscover.system import upstream_files

PUBLISHED = Path(rd.__file__).parent / "studies" / "passages" / "published"


# ---- the bundled corpus


def test_the_bundled_corpus_is_what_the_study_needs():
    papers = passages.bundled()
    assert len(papers) >= 20 and len({p.id for p in papers}) == len(papers)
    assert all(4 <= len(p.equations) <= 8 for p in papers)
    assert sum(len(p.equations) for p in papers) == len(rd.problems("passages"))
    assert all(e.description is None or e.description.startswith("where") for p in papers for e in p.equations)


def test_every_bundled_formula_is_sound_latex():
    for paper in passages.bundled():
        for entry in paper.equations:
            for equation in entry.equations:
                assert equation.count("{") == equation.count("}"), equation
                assert equation.count(r"\left") - equation.count(r"\leftarrow") - equation.count(
                    r"\leftrightarrow"
                ) == (equation.count(r"\right") - equation.count(r"\rightarrow")), equation
                assert not re.search(r"[.,;]$|\\\[|&", equation), equation


def test_bundled_problems_by_id():
    problem = rd.problem("passages/kalman-1")
    assert problem.truth == {"latex": "x_t = F x_{t-1} + w_t || y_t = H x_t + v_t"}
    assert problem.earlier == () and problem.context.startswith("## Method") and problem.kind == "passage"
    assert rd.problems("passages", "kalman")[-1] == "passages/kalman-6"
    last = rd.problem("passages/kalman-6")
    assert [entry.number for entry in last.earlier] == ["1", "2", "3", "4", "5"]
    assert last.description is None and "Kalman 1960" in last.source
    with pytest.raises(KeyError, match="did you mean 'passages/kalman-5'"):
        rd.problem("passages/kalman-55")


# ---- building


TEXT = r"""# A paper
## 1 Introduction
We like \(x\). \[ \text{not this} = 1 \]
## 2 Our method
First, e.g. this:
\begin{align}
a &= b + c, \label{eq:a} \\
d &= \begin{cases} 1 & x > 0 \\ 0 & x \le 0 \end{cases} \tag{2}
\end{align}
Where \(a\) is 1.5, i.e. big, and \(f(x). \) is odd. It goes on:
$$ e = f. \quad (3) $$

\[ g = h \nonumber \]
Then a long one,
\begin{equation}
\begin{split} u &= v \\ &\quad + w \end{split}
\end{equation}
where w stands alone

and the end $$k \leq l;$$
# References
\[ never = 1 \]
"""


def test_the_rules_of_extraction():
    first, second, third, fourth = passages.extract(TEXT, "p", "A paper").equations
    assert first.context == "## 2 Our method\nFirst, e.g. this:"
    assert first.equations == ("a = b + c", r"d &= \begin{cases} 1 & x > 0 \\ 0 & x \le 0 \end{cases}")
    assert first.description == r"Where \(a\) is 1.5, i.e. big, and \(f(x). \) is odd"
    assert second.context == "It goes on:"
    assert second.equations == ("e = f", "g = h")  # nothing between: one entry
    assert third.equations == (r"u = v \quad + w",)  # a row without a relation belongs to the one before
    assert third.description == "where w stands alone" and third.context == "Then a long one,"
    assert fourth.context == "and the end" and fourth.latex == r"k \leq l" and fourth.description is None


def test_where_the_section_begins_and_ends():
    assert passages.method_section("# Introduction\na\n# Setting\nb\n# References\nc") == "# Setting\nb\n"
    assert passages.method_section("\\section{Intro}\na\n\\subsection{The approach}\nb").startswith(r"\subsection")
    assert passages.method_section("1 Introduction\na\n3.1 Preliminaries\nb\nREFERENCES\nc") == "3.1 Preliminaries\nb\n"
    assert passages.method_section("no headings") == "no headings"


@pytest.mark.parametrize("n", [2, 15])
def test_papers_with_2_to_15_entries_are_kept(n):
    assert len(passages.extract("# Method\n" + "so\n$$a = b$$\n" * n, "p").equations) == n


@pytest.mark.parametrize("n", [1, 16])
def test_papers_with_too_few_or_too_many_equations_are_left_out(n):
    with pytest.raises(passages.Unsuitable, match=f"p: {n} displayed equations"):
        passages.extract("# Method\n" + "so\n$$a = b$$\n" * n, "p")


def test_two_numbered_displays_of_a_converted_paper():
    """Display maths as converters write it: aligned blocks within dollars, numbers as tags, a heading without marks."""
    text = r"""4 Benchmark setup
We measure two distances,
$$
\begin{aligned}
D(P,Q) &= \frac{1}{|P|}, \\
H(P,Q) &= \max(P, Q). \tag{1}
\end{aligned}
$$
where \(P\) and \(Q\) are sets. Then the score
$$ s = 1 - D \tag{2} $$
where it is at most 1.
References
$$ never = 1 $$
"""
    first, second = passages.extract(text, "p").equations
    assert first.equations == (r"D(P,Q) = \frac{1}{|P|}", r"H(P,Q) = \max(P, Q)")
    assert first.context.startswith("4 Benchmark setup") and first.context.rstrip()[-1:] != "$"
    assert second.equations == ("s = 1 - D",) and second.description == "where it is at most 1"


def test_the_released_schema_is_read(tmp_path):
    papers = list(passages.bundled()[:3])
    (tmp_path / "corpus.json").write_text(json.dumps([paper.model_dump(by_alias=True) for paper in papers]))
    assert passages.read_papers(tmp_path / "corpus.json") == papers
    raw = json.loads((tmp_path / "corpus.json").read_text())[0]["equations"][0]
    assert set(raw) == {"equation id", "context", "description", "EQ_latex"} and raw["equation id"] == "1"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p["equations"][0].pop("context"), r"paper 1 \(p\): equations\.0\.context: Field required"),
        (lambda p: p["equations"][0].update(EQ_latex=[]), r"equations\.0\.EQ_latex: .*at least 1"),
        (lambda p: p.pop("id"), "paper 1: id: Field required"),
    ],
)
def test_a_departure_from_the_schema_is_named(tmp_path, change, message):
    paper = {"id": "p", "title": "", "equations": [{"equation id": "1", "context": "c", "EQ_latex": ["a"]}]}
    change(paper)
    (tmp_path / "c.json").write_text(json.dumps([paper]))
    with pytest.raises(ValueError, match=message):
        passages.read_papers(tmp_path / "c.json")


# ---- what was released


def test_released_counts_are_those_of_table_1(mirror):
    papers = passages.released_papers()
    counts = pd.DataFrame(
        {
            "venue": [passages.venue(p.id) for p in papers],
            "entries": [len(p.equations) for p in papers],
            "strings": [sum(len(e.equations) for e in p.equations) for p in papers],
        }
    )
    assert (len(counts), counts.entries.sum(), counts.strings.sum()) == (170, 1043, 1209)
    table = pd.read_csv(PUBLISHED / "scitext2eq_table1.csv").set_index(["venue", "quantity"])["value"]
    for venue, group in counts.groupby("venue"):
        assert table[venue, "n_papers"] == len(group)
        # ICML's 8.047 is printed as 8.1, rounded twice.
        assert round(round(group.strings.mean(), 2) + 1e-9, 1) == table[venue, "avg_equations_per_paper"]
    assert round(counts.entries.mean(), 1) == table["Total", "avg_equations_per_paper"]  # entries here, strings there
    for column, groups in (("strings", [65, 68, 37]), ("entries", [84, 65, 21])):
        assert pd.cut(counts[column], [1, 5, 10, 99]).value_counts(sort=False).tolist() == groups


def test_table_3_to_the_printed_digit(mirror):
    stored = passages.released_outputs()
    names = {"levenshtein": "levenshtein_similarity"}
    stored["lexicality"] = stored[list(scores.LEXICAL)].mean(axis=1)
    stored["syntax"] = 1 - stored["ted"]
    measured = scores.table3(stored)
    table = pd.read_csv(PUBLISHED / "scitext2eq_table3.csv")
    assert len(table) == 42
    for row in table.itertuples():
        metric = names.get(row.metric, row.metric)
        assert round(measured.loc[row.model, metric], 1) == row.value, (row.model, metric)
        if row.model == "Overall":
            assert round(measured.loc["sd", metric], 1) == row.sd, metric


def test_our_scores_give_table_3_too(mirror):
    outputs = passages.released_outputs()[::25]
    ours = scores.scores_of(outputs.prediction.tolist(), outputs.truth.tolist())
    for metric, stored in (("rouge_l", "rouge_l"), ("ted", "ted"), ("seqsim", "seqsim")):
        assert (ours[metric].to_numpy() == outputs[stored].to_numpy()).all()
    assert abs(ours.texbleu.mean() - outputs.texbleu.mean()) < 0.003


# Spearman over the 100 rated entries: Equivalence as the authors' notebook pairs rows, then joined on keys
# for all rubrics (Validity, Coverage, Clarity, Appropriateness, Equivalence).
PAIRED = {
    "DeepSeek-R1": (0.588, (0.151, 0.072, 0.347, -0.021, 0.588)),
    "GPT-4.1": (-0.133, (-0.045, 0.195, 0.630, 0.640, 0.568)),
    "GPT-4o-mini": (0.013, (0.266, 0.545, 0.384, 0.165, 0.508)),
    "LLaMA3-70B": (0.036, (0.207, 0.267, 0.554, 0.278, 0.503)),
    "Qwen3-235B": (0.007, (0.296, 0.341, 0.660, 0.652, 0.643)),
}


@pytest.mark.parametrize("model", PAIRED)
def test_agreement_by_position_and_on_keys(mirror, model):
    human = passages.released_scores("human").query("model == @model").drop(columns="model")
    drawn = passages.judged_in_notebook_order(model, passages.released_scores("judge")).drop(columns="model")
    by_position = agreement.pair_by_position(drawn, human, passages.KEYS)
    on_keys = agreement.pair_by_key(drawn, human, passages.KEYS)
    positional, joined = PAIRED[model]
    assert len(on_keys) == 100 and by_position.same.all() == (model == "DeepSeek-R1")
    found = agreement.spearman(by_position.Equivalence_a, by_position.Equivalence_b)
    assert round(found, 3) == positional
    for rubric, expected in zip(passages.RUBRICS, joined, strict=True):
        assert round(agreement.spearman(on_keys[f"{rubric}_a"], on_keys[f"{rubric}_b"]), 3) == expected
        # The same by another road: pandas' own rank correlation.
        for pairs in (by_position, on_keys):
            a, b = pairs[f"{rubric}_a"], pairs[f"{rubric}_b"]
            assert agreement.spearman(a, b) == pytest.approx(a.corr(b, method="spearman"), abs=1e-9)
            assert agreement.kendall_tau(a, b) == pytest.approx(a.corr(b, method="kendall"), abs=1e-9)


def test_stored_means_of_judge_and_people(mirror):
    judged = passages.released_scores("judge").groupby("model")[list(passages.RUBRICS)].mean().round(2)
    assert len(passages.released_scores("judge")) == 5 * 1043
    assert judged.loc["GPT-4.1"].tolist() == [4.86, 4.45, 3.46, 4.94, 2.95]
    human = passages.released_scores("human").groupby("model")[list(passages.RUBRICS)].mean().round(2)
    assert human.loc["DeepSeek-R1"].tolist() == [4.98, 4.96, 4.42, 4.92, 3.75]
    with pytest.raises(ValueError, match="'judge' or 'human'"):
        passages.released_scores("people")


# ---- baselines


def test_copying_and_retrieving():
    gain = rd.problem("passages/kalman-5")
    copied = rd.method("copy_last_equation").solve(gain)[0]
    assert copied.solution["latex"] == gain.earlier[-1].latex
    retrieved = rd.method("retrieve_equation").solve(gain)[0]
    assert retrieved.solution["latex"] in {entry.latex for entry in gain.earlier}
    # The context of entry 7 of the flows ("The inverse is as cheap") is nearest to that of entry 6 ("cheap").
    flow = rd.problem("passages/normalizing-flow-7")
    assert rd.method("retrieve_equation").solve(flow)[0].notes["from"] == "entry 6"


def test_the_first_entry_has_nothing_to_copy_but_its_context():
    first = rd.problem("passages/attention-1")
    for name in ("copy_last_equation", "retrieve_equation"):
        assert rd.method(name).solve(first)[0].solution == {"latex": r"X \in \mathbb{R}^{n \times d}"}
    assert rd.method("skeleton_template").solve(first)[0].solution == {"latex": "X = f(n, d)"}


def test_the_template_keeps_the_skeleton_and_takes_new_letters():
    problem = rd.problem("passages/elbo-2")  # the context introduces q, phi; z and x are in both
    before, written = (problem.earlier[-1].latex, rd.method("skeleton_template").solve(problem)[0].solution["latex"])
    assert latex.structure(written) == latex.structure(before) and written != before


@pytest.mark.parametrize("name", ["copy_last_equation", "retrieve_equation", "skeleton_template"])
def test_baselines_answer_everything_and_never_see_the_truth(name):
    method = rd.method(name)
    for id in rd.problems("passages")[::7]:
        problem = rd.problem(id)
        blind = dataclasses.replace(problem, truth={"latex": "hidden"}, description=None)
        assert method.solve(problem)[0].solution == method.solve(blind)[0].solution


def test_symbols_and_inline_formulas():
    assert text_baselines.symbols(r"\log p_\theta(x) \mathrm{KL}") == ["p", r"\theta", "x"]
    assert text_baselines.inline_formulas(r"a \(b\) c $d$ e") == ["b", "d"]


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
    shown = {rubric: judge.judge_prompt(rubric, problem, "GEN", "DES")[1]["content"] for rubric in judge.RUBRICS}
    assert problem.context not in shown["Validity"] and "GEN" in shown["Validity"] and "DES" not in shown["Validity"]
    assert problem.truth["latex"] in shown["Equivalence"] and problem.truth["latex"] not in shown["Coverage"]
    assert all(f"{n}: " in text for text in shown.values() for n in range(1, 6))


# ---- scores


def test_scores_of_an_answer(mirror):
    problem = rd.problem("passages/attention-2")
    perfect = rd.score(problem, problem.truth)
    assert perfect["lexicality"] == perfect["syntax"] == perfect["operator_jaccard"] == 1
    assert perfect["structure_distance"] == perfect["ted_parsed"] == 0
    empty = rd.score(problem, "")
    assert empty["lexicality"] == empty["syntax"] == 0 and np.isnan(empty["ted_parsed"])
    assert set(empty) == set(perfect)


def test_scores_without_the_tokenizer_say_so(monkeypatch, tmp_path):
    monkeypatch.setenv(upstream_files.MIRROR, str(tmp_path))
    latex.gpt2.cache_clear()
    scores.tokenizer_reason.cache_clear()
    with pytest.warns(UserWarning, match="ROUGE-L and TexBLEU stay NaN"):
        found = rd.score(rd.problem("passages/attention-2"), "s = q k")
    assert np.isnan(found["texbleu"]) and np.isnan(found["lexicality"]) and found["rouge_l_words"] > 0
    latex.gpt2.cache_clear()
    scores.tokenizer_reason.cache_clear()


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


def test_generate_records_resumes_and_replays(model_server, tmp_path, monkeypatch, capsys, mirror):
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
    method = rd.method("llm_text", model="tiny", records=str(tmp_path / "records"))
    assert method.available() is None
    answer = method.solve(rd.problem("passages/attention-1"))[0]
    assert answer.solution == {"latex": "a = b"} and answer.notes["description"] == "d"


def test_each_recorded_model_is_a_row_of_the_notebook(model_server, tmp_path, monkeypatch):
    monkeypatch.setenv("YES", "1")
    folder, store = tmp_path / "records", tmp_path / "runs.sqlite"
    assert study.writers(["oracle", "llm_text"], folder) == ["oracle", "llm_text"]  # nothing is recorded

    def generated(model, limit):
        arguments = ["--model", model, "--judge", "tiny-judge", "--base-url", model_server.url]
        arguments += ["--records", str(folder), "--out", str(tmp_path), "--limit", str(limit)]
        assert generate.main([*arguments, "--concurrency", "1"]) == 0

    def rows():
        chosen = [rd.problem(f"passages/attention-{i}") for i in (1, 2)]
        table = runs.grid(chosen, study.writers(["oracle", "llm_text"], folder), store=store, progress=False)
        return study.named(table).groupby("method", sort=False)["status"].agg(list).to_dict()

    generated("org/tiny", 1)
    assert rows() == {"oracle": ["ok", "ok"], "org/tiny": ["ok", "error"]}  # and none of the judge
    generated("org/tiny", 2)
    generated("small", 2)
    both = rows()  # what was missing before is not taken from the store
    assert both == {"oracle": ["ok", "ok"], "org/tiny": ["ok", "ok"], "small": ["ok", "ok"]}


def test_generate_says_what_is_wrong(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("YES", "1")
    arguments = ["--model", "tiny", "--base-url", "http://127.0.0.1:1/v1", "--records", str(tmp_path), "--max-usd", "1"]
    assert generate.main(arguments) == 2
    assert "no price is known for 'tiny'" in capsys.readouterr().err


def test_the_model_is_unavailable_without_records(tmp_path):
    reason = rd.method("llm_text", model="tiny", records=str(tmp_path)).available()
    assert "no records of tiny" in reason and "make generate" in reason
