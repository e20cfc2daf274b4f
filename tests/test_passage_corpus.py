"""The bundled corpus, the rules that cut a paper into entries, and the writers that need no model."""

import dataclasses
import json
import re

import rediscover as rd
from rediscover.methods import text_baselines
from rediscover.metrics import latex
from rediscover.problems import passages

import pytest

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
