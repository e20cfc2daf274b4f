"""SymbolBench's loop, played by a real server on loopback, and its controls."""

import json

import rediscover as rd
import test_llm
from rediscover import methods
from rediscover.llm.client import Records
from rediscover.methods.symbolbench_forms import systems
from rediscover.methods.symbolbench_loop import STRATEGIES, front
from rediscover.search.loops.verification_loop import Verified

import pytest

serve = test_llm.serve
PROBLEM = "cde/S002"  # one state
REPLIES = [
    '{"eq": "c*x0 + c", "dim": 1} and {"eq": "c*x_0*x_0 + c*x0", "dim": 1}, also {"eq": "c | c", "dim": 2}',
    "Nothing comes to mind.",
    "```json\n[{'eq': 'dx0/dt = c*sin(x0)', 'dim': 1}, {\"eq\": \"__import__('os')\", \"dim\": 1}]\n```",
    '<think>maybe {"eq": "c*cos(x0)", "dim": 1}</think>{"eq": "c*x0**3 + c", "dim": 1}',
]


def played(server, folder, monkeypatch, proposer="model", **settings):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url if server else "")
    settings = {"epochs": 2, "calls": 2, **settings}
    return methods.method("symbolbench_loop", proposer=proposer, model="m", records=str(folder), **settings)


def told(front):
    return json.dumps([[dict(c.solution), c.loss, c.evaluations, c.notes["skeletons"]] for c in front])


@pytest.fixture
def played_once(serve, tmp_path, monkeypatch):
    server = serve(*map(test_llm.good, REPLIES))
    method = played(server, tmp_path, monkeypatch, tolerance=2.0)
    return server, method, method.solve(PROBLEM)


def test_a_whole_run_and_its_replay(played_once, tmp_path, monkeypatch):
    server, method, front = played_once
    assert len(server.seen) == front[0].notes["completions"] == 4
    assert front[0].evaluations == 5 and front[0].notes["failed"] == 1
    assert {c.notes["skeletons"]["x0"] for c in front} == {"c*x0 + c"}  # as good as any, and the simplest
    draws = [r["request"]["draw"] for r in Records(next(tmp_path.rglob("*.jsonl"))).values()]
    assert draws == [0, 1, 0, 1]  # two of the first prompt, two of the one with the pool
    assert told(method.solve(PROBLEM)) == told(front) and len(server.seen) == 4
    replay = played(None, tmp_path, monkeypatch, proposer="recorded", tolerance=2.0)
    assert told(replay.solve(PROBLEM)) == told(front) and len(server.seen) == 4


def test_equations_in_thinking_count_where_they_are_asked_for(played_once, tmp_path, monkeypatch):
    read = played(None, tmp_path, monkeypatch, proposer="recorded", tolerance=2.0, thoughts=True).solve(PROBLEM)
    assert read[0].evaluations == 6


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_prompts_of_the_strategies(strategy, serve, tmp_path, monkeypatch):
    server = serve(test_llm.good('{"eq": "c*x0 | c*x1 + c", "dim": 2}'))
    problem = next(
        rd.problem(id)
        for id in rd.problems("cde", "2")
        if len(list(filter(None, rd.problem(id).meanings.values()))) == 2
    )
    played(server, tmp_path, monkeypatch, strategy=strategy, tolerance=2.0).solve(problem)
    first, last = (seen[2]["messages"][0]["content"] for seen in (server.seen[0], server.seen[-1]))
    assert '"dim": 2' in first and "$" not in last and "R2" not in first
    knows = strategy in ("context", "cot")
    assert (problem.meanings["x0"] in first) == knows
    assert (f"x0: {problem.observed()[0, 0]:.3f}, " in first) == knows
    assert ("c*x0 | c*x1 + c" in last) == (strategy != "naive")
    assert ('"reasoning"' in first) == (strategy == "cot")


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"eq": "x0 = c*x0 | x1 = c", "dim": 2}', [{"x0": "c*x0", "x1": "c"}]),
        ('{"eq": "c*x0", "dim": 1}', []),
        ('{"reasoning": "a", "eq": "c|c"}{"dim": 2}', [{"x0": "c", "x1": "c"}]),
        ('{"a": {"eq": "c | x_1"}}', [{"x0": "c", "x1": "x1"}]),
        ('{"eq": "c | c"', []),
        ("", []),
    ],
)
def test_systems_of_a_reply(reply, found):
    assert systems(reply, ("x0", "x1")) == found


def test_the_front_has_the_best_and_what_is_simpler():
    pool = [Verified(name, {}, score, size) for name, score, size in [("a", 0.9, 5), ("b", 0.8, 7), ("c", 0.7, 5)]]
    simplest = Verified("d", {}, 0.1, 1)
    assert [answer.proposal for answer in front([*pool, simplest])] == ["a", "d"] and front([]) == []


@pytest.mark.parametrize("proposer", ["grammar", "genetic"])
def test_controls(proposer, tmp_path, monkeypatch):
    method = played(None, tmp_path, monkeypatch, proposer=proposer, calls=1)
    assert method.available() is None and method.solve(PROBLEM)[0].notes["requests"] in (1, 2)
    found = method.solve(PROBLEM)
    assert told(found) == told(method.solve(PROBLEM))
    assert told(method.solve("cde/S024")) != told(method.solve("cde/S024", seed=1))
    assert found[0].evaluations <= 10 and method.solve(PROBLEM, budget={"evaluations": 3})[0].evaluations == 3


@pytest.mark.parametrize("settings", [{"strategy": "long"}, {"fitted": "none"}, {"epochs": 0}, {"proposer": "me"}])
def test_settings_that_cannot_be(settings):
    with pytest.raises(ValueError, match="symbolbench_loop: "):
        methods.method("symbolbench_loop", **settings)


# ---- networks and graphs

NETWORK, GRAPH = rd.problem("boolean/B01"), rd.problem("causal/C007", series_from="equations")
TRUTH = json.dumps({"eq": "; ".join(f"{node} <- {rule}" for node, rule in NETWORK.truth.items())})
SAME = json.dumps({"eq": "; ".join(f"{node} <- {node}" for node in NETWORK.outputs)})
PAST = '{"scm": "x0 <- x1_(lag=1) | x1 <- x0_(lag=1)"}'
ONE = '{"scm": "x0 <- x0_(lag=1) | x1 <- x0_(lag=1), x1_(lag=1)"}'


@pytest.mark.parametrize(
    ("problem", "first", "last"), [(NETWORK, SAME, TRUTH), (GRAPH, f"{PAST} and {{'scm': 'x0 <- z'}}", ONE)]
)
def test_whole_runs_end_at_the_tolerance_and_are_replayed(problem, first, last, serve, tmp_path, monkeypatch):
    server = serve(test_llm.good(first), test_llm.good(last))
    method = played(server, tmp_path, monkeypatch, calls=1, epochs=9)
    front = method.solve(problem)
    assert len(server.seen) == front[0].notes["completions"] == 2 and front[0].loss < 0.05
    assert front[0].notes["failed"] == (problem is GRAPH) and "skeletons" not in front[0].notes
    assert [c.loss for c in front] == sorted(c.loss for c in front)
    told = [[dict(c.solution), c.loss, c.complexity, dict(c.notes) | {"proposer": ""}] for c in front]
    replay = played(None, tmp_path, monkeypatch, proposer="recorded", calls=1, epochs=9).solve(problem)
    assert told == [[dict(c.solution), c.loss, c.complexity, dict(c.notes) | {"proposer": ""}] for c in replay]
    assert len(server.seen) == 2
    scores = rd.score(problem, front[0])
    if problem is NETWORK:
        assert scores["rules_equivalent"] == scores["f1_pooled_id"] == 1.0
    else:
        assert front[0].solution["x1"] == (("x0", 1), ("x1", 1)) and front[0].complexity == 3
        assert scores["ci_score_effective"] == pytest.approx(1 - front[0].loss)


@pytest.mark.parametrize("proposer", ["grammar", "genetic"])
@pytest.mark.parametrize("problem", [NETWORK, GRAPH])
def test_controls_of_networks_and_graphs(proposer, problem, tmp_path, monkeypatch):
    method = played(None, tmp_path, monkeypatch, proposer=proposer, epochs=4, matched=2.0)
    found = method.solve(problem)
    assert found == method.solve(problem) and found[0].evaluations == 40 and found[0].notes["requests"] == 8
    assert found != method.solve(problem, seed=1)
    assert method.solve(problem, budget={"evaluations": 3})[0].evaluations == 3
    json.dumps([dict(found[0].notes), found[0].solution], allow_nan=False)


def test_genetic_operators_find_better_rules_than_the_grammar():
    losses = {
        proposer: methods.method("symbolbench_loop", proposer=proposer, epochs=8).solve(NETWORK)[0].loss
        for proposer in ("grammar", "genetic")
    }
    assert losses["genetic"] < 0.25 < losses["grammar"]


@pytest.mark.parametrize(("problem", "rounds"), [(NETWORK, 50), (GRAPH, 50), (rd.problem(PROBLEM), 51)])
def test_rounds_of_rules_and_graphs_are_fifty_at_most(problem, rounds):
    settings = {"epochs": 51, "calls": 1, "samples": 1, "matched": 2.0, "tolerance": 2.0, "strategy": "naive"}
    method = methods.method("symbolbench_loop", proposer="grammar", **settings)
    assert method.solve(problem)[0].notes["requests"] == rounds


def test_the_partial_score_is_another_search():
    for scored in ("released", "partial"):
        method = methods.method("symbolbench_loop", proposer="genetic", scored=scored, epochs=3, matched=2.0)
        best = method.solve(GRAPH)[0]
        name = {"released": "ci_score_effective", "partial": "ci_score_partial"}[scored]
        assert rd.score(GRAPH, best)[name] == pytest.approx(1 - best.loss)


def test_no_such_score():
    with pytest.raises(ValueError, match="symbolbench_loop: scored is one of 'released', 'partial', got 'best'"):
        methods.method("symbolbench_loop", scored="best")
