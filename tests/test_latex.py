"""LaTeX metrics: fifteen worked examples, the 5,183 released rows, and what must hold for any pair."""

import json
import math
import time

from rediscover.metrics import latex

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

# Reference, prediction (cleaned), ROUGE-L, Levenshtein, SeqSim, TED, GPT-2 tokens of both, TexBLEU by the
# surrogate and by the test embedding below: computed once with the libraries that the released pipeline uses.
EXAMPLES = [
    ("E=mc^2", "E=mc^2", 1.0, 1.0, 1.0, 0.0, (5, 5), 1.0, 1.0),
    (r"\frac{a}{b}", "a/b", 0.8, 0.1818, 0.285714, 0.0, (7, 3), 0.1944, 0.1032),
    (r"y=\sigma(Wx+b)", r"y=\sigma(Wx+b)+\epsilon", 0.8, 0.6087, 0.756757, 0.2, (11, 15), 0.9815, 0.9901),
    (r"y=\sigma(Wx+b)+\epsilon", r"y=\sigma(Wx+b)", 0.8, 0.6087, 0.756757, 0.2, (15, 11), 0.6823, 0.6883),
    (r"L=-\sum_{i}y_{i}\log p_{i}", r"L=-\sum_i y_i\log(p_i)", *(1.0, 0.7308, 0.791667, 1.0, (17, 16), 0.7683, 0.7332)),
    ("h=ReLU(Wx)", r"h=\max(0,Wx)", 0.6, 0.5, 0.545455, 0.5833, (8, 10), 0.8336, 0.7310),
    ("a=b || c=d", "c=d || a=b", 0.5, 0.6, 0.6, 0.0, (7, 7), 0.8593, 0.8207),
    ("a=b || c=d", "a=b", 0.6667, 0.3, 0.461538, 0.0, (7, 3), 0.2636, 0.2636),
    (r"\alpha", r"\beta", 0.0, 0.3333, 0.363636, 0.0, (2, 2), 0.8688, 0.8595),
    ("x", "x", 1.0, 1.0, 1.0, 0.0, (1, 1), 0.0, 0.0),
    (r"\|x\|_2", " || x || _2", 1.0, 0.4545, 0.555556, 1.0, (7, 5), 0.4944, 0.3130),
    (r"\frac{1}{1+e^{-x}}", r"\frac{1}{1+\exp(-x)}", 0.8, 0.75, 0.789474, 0.2222, (12, 12), 0.9145, 0.8845),
    (
        r"\theta\leftarrow\theta-\eta\nabla_{\theta}J",
        r"\theta_{t+1}=\theta_{t}-\eta\nabla J(\theta_{t})",
        *(0.7143, 0.5833, 0.681319, 0.4615, (22, 30), 0.7710, 0.7036),
    ),
    (r"a&=1\\b&=2", "a=1, b=2", 1.0, 0.6, 0.666667, 1.0, (10, 7), 0.4997, 0.4502),
    ("p(x,y)=p(x)p(y|x)", "p(y,x)=p(y)p(x|y)", 0.75, 0.7059, 0.705882, 0.0, (16, 16), 0.9152, 0.7693),
]
FORMULAS = st.text(alphabet=r"abxyz123+-=^_{}()\|, ", max_size=40) | st.sampled_from(
    [text for example in EXAMPLES for text in example[:2]]
)


@pytest.fixture(scope="session")
def outputs(mirror_folder):
    from rediscover.problems import passages
    from rediscover.system import upstream_files

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(upstream_files.MIRROR, str(mirror_folder))
        return passages.released_outputs()


@pytest.fixture(scope="session")
def small_embedding():
    """A made-up embedding with eight dimensions: sin(0.7 (t + 1) k) + 0.3, k = 1..8."""
    t, k = np.arange(50257.0)[:, None], np.arange(1.0, 9.0)
    return np.sin(0.7 * (t + 1) * k) + 0.3


# ---- worked examples


@pytest.mark.parametrize("example", EXAMPLES, ids=[str(i) for i in range(1, 16)])
def test_worked_examples_of_characters_and_trees(example):
    truth, prediction, _, levenshtein, seqsim, ted, *_ = example
    assert latex.levenshtein_similarity(prediction, truth) == levenshtein
    assert latex.seqsim(prediction, truth) == pytest.approx(seqsim, abs=5e-7)
    assert latex.ted(prediction, truth) == pytest.approx(ted, abs=5e-5)


@pytest.mark.parametrize("example", EXAMPLES, ids=[str(i) for i in range(1, 16)])
def test_worked_examples_of_tokens(example, small_embedding):
    truth, prediction, rouge, _, _, _, counts, surrogate, embedded = example
    assert (len(latex.tokens(truth)), len(latex.tokens(prediction))) == counts
    assert latex.rouge_l(prediction, truth) == rouge
    assert latex.texbleu(prediction, truth) == surrogate
    assert latex.texbleu(prediction, truth, embeddings=small_embedding) == embedded


def test_tokens_are_gpt2s():
    def spelt(text):
        return [latex.gpt2().decode([i]) for i in latex.tokens(text)]

    assert spelt(r"\frac{3}{2}") == [" \\", "frac", "{", "3", "}{", "2", "}"]
    assert latex.gpt2().encode("Hello world") == [15496, 995]
    assert latex.gpt2().decode(latex.gpt2().encode("naïve ∑ 日本\n")) == "naïve ∑ 日本\n"
    assert len(latex.tokens("x " * 2000)) == 512


# ---- cleaning


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", r"a &=b\\c &=d"),
        (r"\mathbf{a_{t} }", r"a_{t }"),  # the brace closes at the first }
        (r"\text{\mathrm{x}}", "x"),
        (r"\text{a.}", "a."),  # punctuation that unwrapping lays bare stays in a single equation,
        (r"\text{a.} || b", "a || b"),  # but goes where there are several
        ("||x||", " || x || "),
        (r"a \in \mathbb{E},", r"a\inE"),
        (None, ""),
        (3.5, ""),
        ("", ""),
    ],
)
def test_cleaning(raw, cleaned):
    assert latex.clean(raw) == cleaned


def test_cleaning_is_not_idempotent():
    once = latex.clean(r"\text{a.}")
    assert (once, latex.clean(once)) == ("a.", "a")


def test_cleaning_gives_the_released_references(outputs, mirror):
    from rediscover.problems import passages

    raw = {(p.id, int(e.number)): e.latex for p in passages.released_papers() for e in p.equations}
    assert len(raw) == 1043
    wrong = [r for r in outputs.itertuples() if latex.clean(raw[r.paper_id, r.equation_id]) != r.truth]
    assert not wrong


# ---- the released values


def test_characters_and_rouge_equal_every_stored_value(outputs):
    metrics = (latex.levenshtein_similarity, latex.seqsim, latex.rouge_l)
    scores = latex.score_pairs(outputs.prediction, outputs.truth, metrics=metrics)
    assert len(scores) == 5183
    assert (scores.levenshtein_similarity == outputs.levenshtein_similarity).all()
    assert (scores.seqsim == outputs.seqsim).all()
    assert (scores.rouge_l == outputs.rouge_l).all()


def test_texbleu_surrogate_is_close_to_the_stored_values(outputs):
    scores = latex.score_pairs(outputs.prediction, outputs.truth, metrics=(latex.texbleu,)).texbleu
    assert math.sqrt(((scores - outputs.texbleu) ** 2).mean()) < 0.009
    means = scores.groupby(outputs.model).mean() - outputs.texbleu.groupby(outputs.model).mean()
    assert means.abs().max() < 0.001


def test_ted_equals_stored_values(outputs):
    """Every stored value if the parses are in the cache, otherwise one row in forty: a parse takes 40 ms."""
    texts = {part for text in [*outputs.prediction, *outputs.truth] for part in latex.parts(text)}
    sample = outputs if latex.parsed_before(texts) else outputs[::40]
    scores = latex.score_pairs(sample.prediction, sample.truth, metrics=(latex.ted, latex.parse_failures))
    assert (scores.ted.to_numpy() == sample.ted.to_numpy()).all()
    assert 0.4 < scores.parse_failures.mean() < 0.6  # half of the published distances are parse failures


def test_operator_overlap_is_near_table_5(outputs):
    scores = latex.score_pairs(outputs.prediction, outputs.truth, metrics=(latex.operator_jaccard,))
    by_model = scores.operator_jaccard.groupby(outputs.model)
    exact, high = by_model.apply(lambda j: (j == 1).mean()), by_model.apply(lambda j: (j >= 0.8).mean())
    published = {  # from 100 rows each
        "DeepSeek-R1": (20, 33),
        "Qwen3-235B": (26, 39),
        "GPT-4.1": (24, 37),
        "GPT-4o-mini": (22, 39),
        "LLaMA3-70B": (20, 33),
    }
    for model, printed in published.items():
        for share, percent in zip((exact[model], high[model]), printed, strict=True):
            assert abs(100 * share - percent) < 2 * 100 * math.sqrt(share * (1 - share) / 100)


def test_texbleu_is_mostly_its_brevity_penalty(outputs):
    rows = outputs[::10]
    without = [latex.texbleu(p, t, brevity=False) for p, t in zip(rows.prediction, rows.truth, strict=True)]
    assert 0.75 < np.mean(without) < 0.82 and rows.texbleu.mean() < 0.6


def test_everything_but_parsing_is_fast(outputs):
    metrics = (latex.levenshtein_similarity, latex.seqsim, latex.rouge_l, latex.texbleu)
    rows = outputs[::5]
    begin = time.perf_counter()
    latex.score_pairs(rows.prediction, rows.truth, metrics=metrics)
    assert time.perf_counter() - begin < 10  # 1 s on a quiet machine


# ---- what holds for any pair


@settings(deadline=None, max_examples=60)
@given(FORMULAS, FORMULAS)
def test_ranges_and_symmetry(a, b):
    tokenizer = latex.Gpt2Tokenizer()
    bounded = [
        *(latex.levenshtein_similarity(a, b), latex.seqsim(a, b), latex.rouge_l_words(a, b)),
        *(latex.rouge_l(a, b, tokenizer=tokenizer), latex.texbleu(a, b, tokenizer=tokenizer)),
        *(latex.structure_distance(a, b), latex.operator_jaccard(a, b)),
    ]
    assert all(0 <= value <= 1 for value in bounded)
    assert latex.levenshtein_similarity(a, b) == latex.levenshtein_similarity(b, a)
    assert latex.structure_distance(a, b) == latex.structure_distance(b, a)
    assert latex.structure_distance(a, a) == 0
    assert latex.operator_jaccard(a, b) == latex.operator_jaccard(b, a)


@pytest.mark.parametrize("text", ["a=b", r"\frac{a}{b} || c"])
def test_equal_formulas(text):
    tokenizer = latex.Gpt2Tokenizer()
    assert latex.texbleu(text, text, tokenizer=tokenizer) == 1
    assert latex.ted(text, text) == 0 and latex.levenshtein_similarity(text, text) == 1


def test_ted_is_symmetric_and_seqsim_is_not():
    assert latex.ted("a+b", r"\frac{a}{b+c}") == latex.ted(r"\frac{a}{b+c}", "a+b") > 0
    a, b = "tide", "diet"
    assert latex.seqsim(a, b) != latex.seqsim(b, a)


def test_ted_of_what_cannot_be_parsed_or_is_not_there():
    assert latex.ted("", "a=b") == 1 and math.isnan(latex.ted_parsed("", "a=b"))
    assert latex.ted("}{", "a=b") == 1 and latex.parse_failures("}{", "a=b") == 1
    assert latex.ted("a=b || }{", "c=d || e=f") == 0.5 and latex.ted_parsed("a=b || }{", "c=d || e=f") == 0


def test_empty_sides():
    assert latex.texbleu("", "a") == latex.texbleu("a", "") == 0
    assert latex.rouge_l_words("", "a") == 0 and latex.levenshtein_similarity("", "") == 1


@pytest.mark.parametrize(
    "text", [r"\frac{a}{", "{{{", "}}}", r"\left( x", r"\begin{cases} a", "$x", "%", "\\", "^_^", "x^", "日"]
)
def test_structure_never_fails(text):
    tree = latex.structure(text)
    assert tree[0] == "formula" and latex.structure_distance(text, "a=b") > 0


def test_structure_keeps_what_belongs_together():
    assert latex.structure(r"\frac{a+b}{c}") != latex.structure(r"\frac{a}{b+c}")
    assert latex.structure("x^{n+1}") != latex.structure("x^n+1")
    assert latex.structure(r"\mathbf{w}") == latex.structure("w") == latex.structure(r"\alpha")
    assert latex.structure(r"\left(x\right)") == latex.structure("(x)")
    assert latex.structure(r"\sum_{i=1}^n x_i") == (
        "formula",
        ("\\sum",),
        ("_", ("letter",), ("=",), ("number",)),
        ("^", ("letter",)),
        ("letter",),
        ("_", ("letter",)),
    )


# ---- against plain libraries


@settings(deadline=None, max_examples=40)
@given(FORMULAS, FORMULAS)
def test_rouge_equals_rouge_score(a, b):
    plain = RougeScorer(["rougeL"], use_stemmer=True).score(b, a)["rougeL"].fmeasure
    assert latex.rouge_l_words(a, b) == round(plain, 4)


# ---- parsing


def test_parses_are_kept_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    latex.forget()
    assert latex.parse(["q+r", "}{"]) == {"q+r": ("Add", ("Symbol",), ("Symbol",)), "}{": None}
    latex.forget()
    assert latex.parsed_before(["q+r", "}{"]) and not latex.parsed_before(["q+s"])
    latex.forget()


def test_a_slow_parse_is_killed_and_not_remembered(impatient, monkeypatch):
    latex.forget()
    slow = "+".join(f"x_{{{i}}}" for i in range(400))
    begin = time.perf_counter()
    assert latex.parse([slow]) == {slow: None}
    assert time.perf_counter() - begin < 10
    assert not latex.parsed_before([slow])
    monkeypatch.delenv("REDISCOVER_GUARD")
    assert latex.parse(["a-b"])["a-b"][0] == "Add"  # the next one has a new process
    latex.forget()


def test_text_is_not_executed(tmp_path):
    bait = tmp_path / "bait"
    python = f"__import__('pathlib').Path('{bait}').touch()"
    for text in (python, rf"\write18{{touch {bait}}}", rf"\input{{{bait}}}"):
        latex.parse([text])
        latex.structure(text)
    assert not bait.exists()


# ---- embeddings of the user's


def test_embeddings_from_npy_and_safetensors(tmp_path):
    matrix = np.arange(50257 * 2, dtype="<f4").reshape(50257, 2)
    np.save(tmp_path / "wte.npy", matrix)
    header = {
        "h.0.bias": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "wte.weight": {"dtype": "F32", "shape": [50257, 2], "data_offsets": [8, 8 + matrix.nbytes]},
    }
    text = json.dumps(header).encode()
    content = len(text).to_bytes(8, "little") + text + bytes(8) + matrix.tobytes()
    (tmp_path / "model.safetensors").write_bytes(content)
    for name in ("wte.npy", "model.safetensors"):
        assert (latex.load_embeddings(tmp_path / name) == matrix).all()


def test_a_wrong_embedding_is_refused(tmp_path):
    np.save(tmp_path / "small.npy", np.zeros((10, 2)))
    with pytest.raises(ValueError, match="50,257 rows"):
        latex.load_embeddings(tmp_path / "small.npy")
    text = b'{"other": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}'
    (tmp_path / "m.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(4))
    with pytest.raises(ValueError, match=r"no 32-bit tensor wte\.weight"):
        latex.load_embeddings(tmp_path / "m.safetensors")
