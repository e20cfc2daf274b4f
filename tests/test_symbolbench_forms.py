"""Rules and graphs in SymbolBench's loop: how they are read, verified, proposed and shown."""

from dataclasses import dataclass

import rediscover as rd
from rediscover import methods
from rediscover.expressions import parse
from rediscover.methods import Unsupported
from rediscover.methods.symbolbench_forms import causes, networks
from rediscover.problems import Series, Split, Transitions
from rediscover.search.loops import graph_proposals as graphs
from rediscover.search.loops import rule_proposals as rules
from rediscover.search.loops.verification_loop import Context, Verified

import numpy as np
import pytest

RNG = np.random.default_rng


@dataclass(frozen=True, eq=False, kw_only=True)
class Gates(Transitions):
    """a and b, a or b; all four states."""

    def data(self, seed=0):
        X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], bool)
        return {"train": Split(X, np.stack([X.all(axis=1), X.any(axis=1)], axis=1))}


@dataclass(frozen=True, eq=False, kw_only=True)
class Ramp(Series):
    """A line, its past, a peak, and what never changes."""

    points: int = 4

    def series(self):
        return np.array([[0, 0, 0, 1], [1, 0, 1, 1], [2, 1, 0, 1], [3, 2, 0, 1]], float)[: self.points]


GATES = Gates(id="boolean/gates", truth={"a": "a & b", "b": "a | b"}, inputs=("a", "b"))
RAMP = Ramp(id="causal/ramp", truth={"x1": (("x0", 1),)}, inputs=("x0", "x1", "x2", "x3"))
NETWORK, GRAPH = rd.problem("boolean/B01"), rd.problem("causal/C007", series_from="equations")


def proposed(proposer, problem, pool=(), seed=3):
    return list(proposer(Context(problem, 1, tuple(pool), RNG(seed))))


# ---- rules


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"eq": "a <- a & b ; b <- !a", "dim": 2}', [("a & b", "!a")]),
        ('Both: {"reasoning": "x", "eq": "b <- a; a <- b"} {"eq": "a <- 1; b <- a ^ b"}', [("b", "a"), ("1", "a ^ b")]),
        ("{'eq': 'a(t+1) = b\\n b(t+1) := a -> b'}", [("b", "a -> b")]),
        ('{"eq": "a <- b; b <- a; z <- a"}', [("b", "a")]),
        ('{"eq": "a <- b; b"}', []),
        ('{"eq": "a <- b"}', []),
        ('{"scm": "a <- b; b <- a"}', []),
        ('{"eq": "a <- b; b <- a"', []),
        ("", []),
    ],
)
def test_networks_of_a_reply(reply, found):
    assert networks(reply, ("a", "b")) == [dict(zip("ab", texts, strict=True)) for texts in found]


@pytest.mark.parametrize(
    ("a", "b", "score", "complexity"),
    [
        ("a & b", "a | b", 1.0, 2),
        ("a", "b", 0.75, 0),  # three ones are right, one is false, one is missed
        ("y", "a | b", 8 / 11, 1),  # an unknown variable counts as true: three false ones
        ("a & b & !y", "a | b", 1.0, 3),  # where it decides; SymPy counts an and of three as one
        ("0", "0", 0.0, 0),
    ],
)
def test_rules_verified_by_hand(a, b, score, complexity):
    found = rules.RuleVerifier(GATES)({"a": a, "b": b})
    assert (found.score, found.complexity) == (pytest.approx(score), complexity)
    assert found.solution == found.proposal == {"a": str(parse(a, logic=True)), "b": str(parse(b, logic=True))}


@pytest.mark.parametrize("answer", [{"a": "a"}, {"a": "a", "b": ""}, {"a": "a +", "b": "b"}, {"a": "f(a)", "b": "b"}])
def test_rules_that_cannot_be_read(answer):
    assert rules.RuleVerifier(GATES)(answer) is None


@pytest.mark.parametrize("proposer", [rules.RandomRules(40), rules.GeneticRules(40)])
def test_proposed_rules_are_rules_of_the_network_and_small(proposer):
    start = rules.RandomRules().rules(NETWORK, RNG(0))
    pool = [Verified(start, start, 0.5, 9), Verified(NETWORK.truth, NETWORK.truth, 0.4, 9)]
    answers = proposed(proposer, NETWORK, pool)
    assert len(answers) == 40 and answers == proposed(proposer, NETWORK, pool)
    assert answers != proposed(proposer, NETWORK, pool, seed=4)
    for answer in answers:
        assert tuple(answer) == NETWORK.outputs
        for text in answer.values():
            rule = parse(text, NETWORK.inputs, logic=True)
            assert rule.size <= rules.GeneticRules().largest


def test_genetic_operators_take_most_rules_from_the_pool():
    pool = [Verified(NETWORK.truth, NETWORK.truth, 0.5, 9)]
    answers = proposed(rules.GeneticRules(50, fresh=0.0), NETWORK, pool)
    changed = [sum(answer[node] != NETWORK.truth[node] for node in NETWORK.outputs) for answer in answers]
    assert 0.3 < np.mean(changed) < 2 and min(changed) == 0


# ---- graphs


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"scm": "x0 <- x1_(lag=1), x0_(lag=1) | x1 <- ", "dim": 2}', [{"x0": (("x1", 1), ("x0", 1)), "x1": ()}]),
        ("{'scm': 'x_1 <- x_0_(lag=2)'}", [{"x0": (), "x1": (("x0", 2),)}]),
        ('{"scm": "x0 <- x1 | x1 <- none"}', [{"x0": (("x1", 1),), "x1": ()}]),
        ('{"scm": "x0 <- z (lag = 1) | z <- x0"}', [{"x0": (("z", 1),), "x1": (), "z": (("x0", 1),)}]),
        ('{"scm": "x0 <- x1_(lag=1), x1_(lag=1)"}', [{"x0": (("x1", 1), ("x1", 1)), "x1": ()}]),
        ('{"scm": "x0 <- 2*x1 | x1 <- x0"}', []),
        ('{"scm": "x0 <- x1_(lag=now)"}', []),
        ('{"scm": "x0, x1"}', []),
        ('{"scm": ""}', []),
        ('{"eq": "x0 <- x1"}', []),
        ("", []),
    ],
)
def test_graphs_of_a_reply(reply, found):
    assert causes(reply, ("x0", "x1")) == found


LINE, PEAK = {"x1": (("x0", 1),)}, {"x2": (("x0", 1),)}


@pytest.mark.parametrize(
    ("graph", "scored", "score", "complexity"),
    [
        (LINE, "released", 1.0, 1),
        (PEAK, "released", 3**0.5 / 2, 1),
        (LINE | PEAK, "released", (1 + 3**0.5 / 2) / 2, 2),
        (LINE | {"x2": (("x0", 1), ("x2", 1))}, "released", 1.0, 3),  # a child of two does not count
        (LINE | {"x2": (("x0", 1), ("x0", 1))}, "released", 1.0, 2),  # nor one that has a parent twice
        (LINE | PEAK, "partial", (1 + 3**0.5 / 2) / 2, 2),
        ({"x2": (("x0", 1), ("x1", 1))}, "partial", 1.0, 2),  # two parents explain three points
    ],
)
def test_graphs_verified_by_hand(graph, scored, score, complexity):
    found = graphs.GraphVerifier(RAMP, scored)(graph)
    assert (found.score, found.complexity) == (pytest.approx(score, abs=1e-9), complexity)
    assert found.solution == {name: tuple(dict.fromkeys(graph.get(name, ()))) for name in RAMP.inputs}


@pytest.mark.parametrize(
    ("graph", "scored"),
    [
        ({"x1": (("x0", 1), ("x1", 1))}, "released"),  # no child of one parent
        (LINE | {"x3": (("x0", 1),)}, "released"),  # never changes
        ({}, "released"),
        ({}, "partial"),
        ({"x1": (("z", 1),)}, "released"),
        ({"z": (("x0", 1),)}, "released"),
        ({"x1": (("x0", 2),)}, "released"),
    ],
)
def test_graphs_without_a_score(graph, scored):
    assert graphs.GraphVerifier(RAMP, scored)(graph) is None


def test_no_such_score():
    with pytest.raises(ValueError, match="released, partial"):
        graphs.GraphVerifier(RAMP, "best")


@pytest.mark.parametrize("proposer", [graphs.RandomGraphs(40), graphs.GeneticGraphs(40)])
def test_proposed_graphs_are_graphs_of_the_variables(proposer):
    pool = [Verified(GRAPH.truth, GRAPH.truth, 0.5, 9), Verified(dict.fromkeys(GRAPH.inputs, ()), {}, 0.4, 0)]
    answers = proposed(proposer, GRAPH, pool)
    assert len(answers) == 40 and answers == proposed(proposer, GRAPH, pool)
    assert answers != proposed(proposer, GRAPH, pool, seed=4)
    for answer in answers:
        assert tuple(answer) == GRAPH.inputs
        for parents in answer.values():
            assert len(set(parents)) == len(parents) and {lag for _, lag in parents} <= {1}
            assert {parent for parent, _ in parents} <= set(GRAPH.inputs)


def test_a_series_without_lagged_pairs_is_refused():
    with pytest.raises(Unsupported, match="causal/ramp: a series of 2 points"):
        methods.method("symbolbench_loop", proposer="grammar").solve(
            Ramp(id="causal/ramp", truth={"x1": ()}, inputs=RAMP.inputs, points=2)
        )


# ---- what a prompt shows


def shown(problem, strategy="cot", pool=()):
    method = methods.method("symbolbench_loop", strategy=strategy)
    form = method.form(problem, 0)
    return method.prompt(Context(problem, 1, tuple(pool), RNG(0)), form)[0]["content"], form


def test_transitions_are_shown_as_words_of_bits_with_the_nodes_that_have_no_rule():
    text, form = shown(NETWORK)
    train = NETWORK.data()["train"]
    before, after = form.data.splitlines()[0].split(" -> ")
    assert [int(bit) for bit in before] == train.X[0].tolist() and form.data in text
    assert "".join(after[NETWORK.inputs.index(node)] for node in NETWORK.outputs) == "".join(
        str(int(bit)) for bit in train.y[0]
    )
    assert after[:2] == before[:2]  # x1 and x2 are inputs
    assert len(form.data.splitlines()) == len(train.X) and "x1: Ap" in text and '"reasoning"' in text


def test_at_most_150_points_of_a_series_are_shown():
    long = rd.problem("causal/C178", series_from="equations")
    text, form = shown(long)
    assert [len(line.split(",")) for line in form.data.splitlines()] == [150, 150, 150] and form.data in text
    assert f"x0: {long.series()[0, 0]:.3f}, " in text
    assert "calcium dynamics" in shown(GRAPH)[0] and "x0: h1" in shown(GRAPH)[0]


@pytest.mark.parametrize(("problem", "count"), [(NETWORK, 5), (GRAPH, 10)])
def test_rows_of_the_pool_and_an_example_are_in_the_form_that_is_read(problem, count):
    text, form = shown(problem, "base")
    (example,) = form.read(text)
    assert form.verifier()(example) is not None and f'"dim": {len(form.asked)}' in text and "$" not in text
    assert form.data not in text and form.written(example) in form.example
    pool = [Verified(example, example, 1 - 0.01 * k, k) for k in range(12)]
    assert shown(problem, "base", pool)[0].count(form.written(example)) == count + 1
    assert shown(problem, "naive", pool)[0].count(form.written(example)) == 1
