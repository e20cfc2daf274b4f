"""What must not change a score: the order of nodes, the units of a series, the layout of a formula."""

import re

from rediscover.expressions import parse
from rediscover.metrics import boolean, causal, declared, latex
from rediscover.metrics.trajectories import r2_trajectories

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

POOLED = [boolean.precision_pooled, boolean.recall_pooled, boolean.f1_pooled, boolean.accuracy_pooled]
POOLED += [boolean.informedness_pooled, boolean.f1_macro]
SEEDS = st.integers(0, 2**32 - 1)

# ------------------------------------------------------------------------------------------------- Boolean


def states(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 9), rng.integers(1, 6)
    prediction = rng.integers(0, 2, shape).astype(float)
    prediction[rng.random(shape) < 0.1] = np.nan
    return rng, prediction, rng.integers(0, 2, shape)


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_the_order_of_nodes_and_the_type_of_states_do_not_count(seed):
    rng, prediction, truth = states(seed)
    order = rng.permutation(truth.shape[1])
    for metric in POOLED:
        value = metric(prediction, truth)
        assert metric(prediction[:, order], truth[:, order]) == pytest.approx(value)
        assert metric(prediction, truth.astype(bool)) == metric(prediction, truth.astype(str)) == value


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_a_missing_state_is_never_better_than_a_wrong_one(seed):
    _, prediction, truth = states(seed)
    wrong = np.where(np.isnan(prediction), 1 - truth, prediction)
    for metric in POOLED:
        assert metric(prediction, truth) == metric(wrong, truth)


@pytest.mark.parametrize("states", [[[0.2]], [[2]], [[np.inf]], [[-1]]])
def test_what_is_no_state_is_refused(states):
    for pair in ((states, [[0]]), ([[0]], states)):
        with pytest.raises(ValueError, match="give states 0 or 1"):
            boolean.accuracy_pooled(*pair)
    with pytest.raises(ValueError, match="give states 0 or 1"):
        boolean.accuracy_pooled([[1]], [[np.nan]])


WORDS = {"and": ["&", "&&", "and", "AND"], "or": ["|", "||", "or", "OR"], "not": ["!", "~", "not ", "NOT "]}
WORDS |= {"xor": ["^", "xor", "XOR"], "true": ["true", "True", "TRUE", "1"], "false": ["false", "False", "FALSE", "0"]}


def rule(rng, depth=3):
    """A rule with a place for each word; in brackets, as words bind less than signs."""
    kind = rng.choice(["and", "or", "xor", "not"]) if depth else rng.choice(["true", "false", "a", "b", "c"])
    if depth == 0:
        return f"{{{kind}}}" if kind in WORDS else kind
    parts = [rule(rng, rng.randrange(depth)) for _ in range(1 if kind == "not" else 2)]
    return f"({{not}}{parts[0]})" if kind == "not" else f"({parts[0]} {{{kind}}} {parts[1]})"


@given(st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_words_of_rules_mean_the_same_however_they_are_spelt(rng):
    text = rule(rng)
    plain, other = (
        parse(text.format(**{word: pick(spellings) for word, spellings in WORDS.items()}), logic=True)
        for pick in (lambda spellings: spellings[0], rng.choice)
    )
    assert plain == other and plain.names == other.names and set(plain.names) <= {"a", "b", "c"}
    python = text.format(**{"and": "and", "or": "or", "xor": "!=", "not": "not ", "true": "True", "false": "False"})
    table = boolean.truth_table_inputs(3)
    expected = [bool(eval(python, {"__builtins__": {}}, dict(zip("abc", row.tolist(), strict=True)))) for row in table]
    found = boolean.next_states({"x": plain}, table, ["a", "b", "c"])
    assert found[:, 0].tolist() == expected


@pytest.mark.parametrize("word", ["false", "False", "FALSE"])
def test_a_node_that_is_always_0(word):
    found = boolean.next_states({"x": parse(word, logic=True)}, [[0], [1]], ["x"])
    assert boolean.accuracy_pooled(found, [[0], [0]]) == 1.0


# -------------------------------------------------------------------------------------------------- series


def graph_and_series(seed):
    rng = np.random.default_rng(seed)
    names = ["a", "b", "c", "d"]
    series = {name: np.cumsum(rng.normal(size=40)) for name in names}
    edges = {
        (str(p), str(c), int(lag)) for p, c, lag in zip(*rng.choice(names, (2, 5)), rng.integers(1, 3, 5), strict=True)
    }
    return rng, edges, series


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_causal_scores_do_not_depend_on_units_and_names(seed):
    rng, edges, series = graph_and_series(seed)
    units = {name: 10 ** rng.uniform(-100, 100) for name in series}
    names = dict(zip(series, rng.permutation(list("wxyz")).tolist(), strict=True))
    for score in (causal.ci_score_effective, causal.ci_score_partial):
        value = score(edges, series)
        scaled = {name: units[name] * values for name, values in series.items()}
        renamed = {(names[p], names[c], lag) for p, c, lag in edges}
        other = score(renamed, {names[name]: values for name, values in series.items()})
        assert score(edges, scaled) == pytest.approx(value, rel=1e-6, nan_ok=True)
        assert other == pytest.approx(value, rel=1e-6, nan_ok=True)


@given(SEEDS, st.sampled_from([np.nan, np.inf]))
@settings(max_examples=60, deadline=None)
def test_a_missing_value_leaves_no_causal_score(seed, missing):
    rng, edges, series = graph_and_series(seed)
    parent, child, _ = sorted(edges)[0]
    single, name = {(parent, child, 1)}, (parent, child)[rng.integers(2)]
    series[name][rng.integers(5, 35)] = missing
    assert np.isnan(causal.ci_score_effective(single, series))
    assert np.isnan(causal.ci_score_partial(single, series)) and np.isnan(causal.ci_score_partial(edges, series))


@pytest.mark.parametrize("lag", [1.7, -1, -0.5, np.nan, np.inf, "1", None, 1j])
def test_a_lag_is_a_number_of_steps(lag):
    series = {"a": [1.0, 2, 4, 8], "b": [0.0, 1, 2, 4]}
    graph = {("a", "b", lag), ("b", "b", 1)}
    for call in (
        lambda: causal.edges({"b": [("a", lag)]}),
        lambda: causal.f1_triples(graph, {("a", "b", 1)}),
        lambda: causal.f1_triples({("a", "b", 1)}, graph),
        lambda: causal.ci_score_effective(graph, series),
        lambda: causal.ci_score_partial(graph, series),
    ):
        with pytest.raises(ValueError, match=f"a lag is {re.escape(repr(lag))}: give a number of whole steps"):
            call()


@pytest.mark.parametrize("lag", [1.0, np.int64(1), np.float32(1)])
def test_a_lag_is_the_same_in_any_type_of_number(lag):
    assert causal.f1_triples({("a", "b", lag)}, {("a", "b", 1)}) == 1.0


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_that_a_variable_equals_itself_is_no_cause(seed):
    rng, edges, series = graph_and_series(seed)
    idle = {(name, name, 0) for name in rng.choice(list(series), rng.integers(1, 5)).tolist()}
    for score in (causal.ci_score_effective, causal.ci_score_partial):
        assert np.isnan(score(idle, series))
        assert score(edges | idle, series) == pytest.approx(score(edges, series), abs=0, nan_ok=True)


UNUSABLE = {
    "complex128 of shape (40,): give a real number": lambda values: values + 1j,
    "<U32 of shape (40,): give a real number": lambda values: values.astype(str),
    "float64 of shape (20, 2): give a real number": lambda values: values.reshape(20, 2),
    "points, that of": lambda values: values[:-3],
}


@given(SEEDS, st.sampled_from(sorted(UNUSABLE)))
@settings(max_examples=80, deadline=None)
def test_series_without_a_causal_score_are_refused_in_a_sentence(seed, reason):
    rng, edges, series = graph_and_series(seed)
    edges |= {("a", "b", 1)}
    name = ("a", "b")[rng.integers(2)]
    changed = series | {name: UNUSABLE[reason](series[name])}
    missing = {other: values for other, values in series.items() if other != name}
    for score in (causal.ci_score_effective, causal.ci_score_partial):
        with pytest.raises(ValueError, match=re.escape(reason)):
            score(edges, changed)
        with pytest.raises(ValueError, match=f"there is no series of '{name}': give its values, or leave its edges"):
            score(edges, missing)
        used = {end for edge in edges for end in edge[:2]}
        assert score(edges, {end: series[end] for end in used}) == pytest.approx(score(edges, series), nan_ok=True)


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_trajectories_do_not_depend_on_units(seed):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(20, 3))
    prediction = truth + 0.3 * rng.normal(size=(20, 3))
    value = r2_trajectories(prediction, truth)
    centred = truth - truth.mean(axis=0)
    assert value == pytest.approx(np.mean(1 - np.sum((truth - prediction) ** 2, axis=0) / np.sum(centred**2, axis=0)))
    for exponent in (-1000, -600, 600, 1000):
        units = np.ldexp(1.0, exponent + rng.integers(-3, 3, 3))
        assert r2_trajectories(units * prediction, units * truth) == value


def test_small_states_are_told_apart():
    assert r2_trajectories([1e-170, 3e-170, 2e-170], [1e-170, 2e-170, 3e-170]) == pytest.approx(0.0)


# ------------------------------------------------------------------------------------------------- formulas

LAYOUT = [
    (r"\frac{a}{b}", r"\dfrac{a}{b}", r"\tfrac{a}{b}", r"\displaystyle\frac{a}{b}", r"\frac ab"),
    ("x_{1}^{2}", "x^{2}_{1}", "x_1^2", "x^2_1", r"x_{1}^{\,2}"),
    (r"a\cdot b", "a b", "ab", r"a\,b", r"a\;b", "a~b", "{a} b"),
    ("(a + b)", r"\left(a + b\right)", r"\bigl(a+b\bigr)", r"\Big( a + b \Big)"),
    (r"\mathrm{d}x", "dx", r"\mathbf{d}x", r"\text{d} x"),
    (r"\text{ if } a > 0", r"\text{if}a>0", r"\mathrm{if}\ a>0"),
    (r"\sum_{i=1}^{n} a_i", r"\sum^{n}_{i=1}a_{i}", r"\sum\limits_{i=1}^n a_i"),
    (r"|a|", r"\lvert a\rvert", r"\left|a\right|", r"\left\lvert a \right\rvert"),
    (r"\|a\|", r"\lVert a\rVert", r"\left\|a\right\|"),
    (r"a \leq b", r"a\le b", r"a \, \leq \, b"),
    (r"\{a\}", r"\left\{a\right\}", r"\lbrace a\rbrace"),
    ("x'_1", "x_1'", "x_{1}'", r"x_1^{\prime}", r"x_1^\prime"),
    ("u''", r"u^{\prime\prime}"),
    (r"\frac{p}{q}", r"{p \over q}", r"\color{red}{\frac{p}{q}}", r"\frac{p}{q}\label{eq:1}", r"\frac{p}{q} \tag{1}"),
    (r"\mathbf{w}(t)", r"{\bf w}(t)", r"\boxed{w}(t)", r"\hspace{1cm}w(t)"),
    (r"\hat{w}", r"\widehat{w}"),
    (r"\operatorname{softmax}(v)", r"\text{softmax}(v)", r"\mathrm{softmax}(v)", r"\operatorname*{softmax}(v)"),
    (r"\textbf{if} u", r"\mbox{if}u", r"\textrm{if } u", r"\hbox{if}u", r"\operatorname{if} u"),
    (r"\bar{w} \geq 1", r"\overline{w} \geqslant 1", r"\bar{w} \ge 1"),
    (r"a = b \quad c = d", r"\begin{aligned}a &= b\\c &= d\end{aligned}", "a=b c=d"),
]


@given(st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_layout_is_no_structure(rng):
    chosen = [rng.choice(LAYOUT) for _ in range(3)]
    a, b = (r" + \sqrt{z} + ".join(rng.choice(forms) for forms in chosen) for _ in range(2))
    assert latex.structure_distance(a, b) == 0 and latex.operator_jaccard_spelt_alike(a, b) == 1, (a, b)


def test_what_is_no_layout_counts():
    first = [forms[0] for forms in LAYOUT]
    for a, b in zip(first, [*first[1:], first[0]], strict=True):
        assert latex.structure_distance(a, b) > 0, (a, b)
    assert latex.structure_distance("x_1^2", "x_2") > 0 and latex.structure_distance("a+b", r"a\cdot b") > 0


def test_cleaning_takes_time_in_proportion_to_length():
    long = "a" + "." * 300_000 + "b" + ",;" * 100_000
    assert latex.clean(long) == long.rstrip(",;")  # would take minutes if it took the square of it


@given(st.text(alphabet=" .,;:a=\\+{}\n\t", max_size=60))
@settings(max_examples=100, deadline=None)
def test_cleaning_strips_as_released(text):
    import re

    once = re.sub(r"[.,;:\s]+$", "", re.sub(r"\s+", " ", text))
    assert re.sub(r"\s+", " ", text).rstrip(".,;: ") == once


# ------------------------------------------------------------------------------------------------- masks

NUMERIC = ("boolean", "geometry", "regression", "trajectories")
ARRAYS = [score for score in declared().values() if score.__module__.rpartition(".")[2] in NUMERIC]
ARRAYS = [score for score in ARRAYS if "array_like" in score.__doc__]


def told(score, *arguments):
    """The score, or that there is none."""
    try:
        return float(score(*arguments))
    except ValueError:
        return "refused"


@pytest.mark.parametrize("seed", range(50))
def test_what_a_mask_hides_is_missing_in_every_score(seed):
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(3, 9)), 3)
    hidden = [rng.random(shape) < 0.2, rng.random(shape) < 0.1 * rng.integers(2)]
    assert len(ARRAYS) > 15
    for score in ARRAYS:
        flat = "n_axes" not in score.__doc__ and score.__name__ in ("nmse_release", "relative_squared_error")
        pair = [rng.integers(0, 2, shape), rng.integers(0, 2, shape)]
        if not score.__module__.endswith("boolean"):
            pair = [values + rng.normal(size=shape) for values in pair]
        masked = [np.ma.array(values, mask=mask) for values, mask in zip(pair, hidden, strict=True)]
        missing = [np.where(mask, np.nan, values) for values, mask in zip(pair, hidden, strict=True)]
        if flat:
            masked, missing = ([values[:, 0] for values in each] for each in (masked, missing))
        assert told(score, *masked) == pytest.approx(told(score, *missing), abs=0, nan_ok=True), score.__name__


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_what_a_mask_hides_is_missing_in_a_series(seed):
    rng, edges, series = graph_and_series(seed)
    hidden = {name: rng.random(40) < 0.05 for name in series}
    masked = {name: np.ma.array(values, mask=hidden[name]) for name, values in series.items()}
    missing = {name: np.where(hidden[name], np.nan, values) for name, values in series.items()}
    for score in (causal.ci_score_effective, causal.ci_score_partial):
        assert score(edges, masked) == pytest.approx(score(edges, missing), abs=0, nan_ok=True)
