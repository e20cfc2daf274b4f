"""Genetic programming with a language model as judge or as predictor: played by a real server, and without one."""

import dataclasses
import hashlib
import json
import random

import rediscover as rd
import test_language_loops as loops
import test_llm
from rediscover import methods
from rediscover.expressions import parse
from rediscover.llm.client import MissingRecord
from rediscover.llm.tokens import tokens_in
from rediscover.methods import gp_llm_judge, gp_llm_seeded, gplearn_steps, planted_genes
from rediscover.methods.gplearn_released import GplearnReleased
from rediscover.methods.language_costs import cost
from rediscover.methods.logicgep import Evolution, LogicGEP, express
from rediscover.methods.questions import Questions
from rediscover.metrics.boolean import f1_pooled, next_states, rules_equivalent
from rediscover.numerics.boolean_minimisation import bits
from rediscover.problems import Task

import numpy as np
import pytest

author = loops.author
EQUATION, NETWORK = "cde/S002", rd.problems("boolean")[0]


def judged(folder, proposer="model", **settings):
    settings = {"generations": 10, **settings}
    return methods.method("gp_llm_judge", proposer=proposer, model=loops.MODEL, records=str(folder), **settings)


def grade(prompt: str) -> str:
    """Ten for what has no sine, and some nonsense."""
    proposed = next(line for line in prompt.splitlines() if " = " in line)
    if "log" in proposed:
        return "I cannot say."
    return "2" if "sin" in proposed else "I would say 9.5 of 10."


# ---- a generation at a time


@pytest.mark.parametrize("seed", [0, 3])
def test_generations_one_by_one_are_gplearns_own_fit(seed):
    from gplearn.genetic import SymbolicRegressor

    X = np.random.default_rng(seed).uniform(-1, 1, (40, 2))
    task = Task(("x", "y"), "z", X, X[:, 0] ** 2 - X[:, 1])
    settings = GplearnReleased(generations=12)
    ours = gplearn_steps.evolve(settings, task, seed, 12)
    whole = SymbolicRegressor(
        population_size=25,
        generations=12,
        function_set=settings.function_set.split(","),
        parsimony_coefficient=0.1,
        metric="mse",
        tournament_size=20,
        p_crossover=0.9,
        random_state=seed,
    ).fit(task.X, task.y)
    assert str(ours[0]) == str(whole._program)
    assert sorted(map(str, ours)) == sorted(map(str, whole._programs[-1]))


def test_an_opinion_counts_in_selection():
    X = np.random.default_rng(0).uniform(-3, 3, (40, 1))
    task = Task(("x",), "z", X, np.sin(X[:, 0]))
    plain, judged = (
        gplearn_steps.evolve(GplearnReleased(), task, 0, 10, opinion=opinion)
        for opinion in (None, lambda program: 10.0 * ("sin" in str(program)))
    )
    assert str(plain[0]) == "sin(X0)" and not any("sin" in str(program) for program in judged[:10])


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("x*y + 2.5", ["add", "mul", 0, 1, 2.5]),
        ("-x/3", ["div", "neg", 0, 3.0]),
        ("x**3", ["mul", "mul", 0, 0, 0]),
        ("x**0.5", None),
        ("exp(x)", None),
        ("x +", None),
        ("a*x", None),
    ],
)
def test_expressions_as_programs_of_gplearn(text, tokens):
    found = gplearn_steps.prefix(text, ("x", "y"))
    assert (found and [getattr(token, "name", token) for token in found]) == tokens


def test_seeds_enter_the_first_population():
    X = np.random.default_rng(0).uniform(-3, 3, (60, 2))
    task = Task(("x", "y"), "z", X, 1.7 * np.sin(X[:, 0] * X[:, 1]) + X[:, 0] ** 3)
    law = "1.7*sin(x*y) + x**3"
    found = {seeds: gplearn_steps.evolve(GplearnReleased(), task, 0, 5, seeds=seeds) for seeds in ((), (law, "exp(x)"))}
    assert found[law, "exp(x)"][0].raw_fitness_ < 1e-20 < 0.01 < found[()][0].raw_fitness_
    (first, *_) = gplearn_steps.evolve(GplearnReleased(), task, 0, 1, seeds=(law,))
    assert first.length_ == 12 and first.raw_fitness_ < 1e-20


# ---- the judge


def test_a_constant_opinion_is_plain_genetic_programming(tmp_path):
    plain = methods.method("gplearn_released", generations=10).solve(EQUATION)
    ours = judged(tmp_path, "genetic").solve(EQUATION)
    assert ours[0].solution == plain[0].solution and ours[0].evaluations == plain[0].evaluations == 250
    assert 0 < ours[0].notes["judged"] == ours[0].notes["requests"] <= 250
    assert cost("gp_llm_judge", ours[0].notes, "gpt-4o-mini").usd > 0


@pytest.mark.parametrize(
    ("text", "opinion"),
    [("x0", 10.0), ("0.5", 10.0), ("sin(x0)", 9.0), ("(0.5*x0)", 8.0), ("(!a & b)", 7.0), (" + ".join(["x"] * 9), 0.0)],
)
def test_the_length_as_opinion(text, opinion, tmp_path):
    judge = gp_llm_judge.Judge(judged(tmp_path, "genetic", control="length"), rd.problem(EQUATION), Questions(None))
    assert judge("x0", text) == opinion


def test_a_constant_opinion_leaves_the_evolution_of_rules_as_it_is():
    train = rd.problem(NETWORK).data(0)["train"]
    columns = {name: bits(train.X[:, i]) for i, name in enumerate(rd.problem(NETWORK).inputs)}
    settings = LogicGEP(population=15, generations=15, elites=3)
    arguments = settings, columns, bits(train.y[:, 0]), len(train.y)
    plain = Evolution(*arguments, random.Random(1)).run()
    same = gp_llm_judge.Judged(lambda rule: 10.0, *arguments, random.Random(1)).run()
    other = gp_llm_judge.Judged(lambda rule: 1e6 * ("!" in rule), *arguments, random.Random(1)).run()
    assert plain == same and "!" in express(other)


@pytest.mark.parametrize("problem", [EQUATION, NETWORK])
def test_a_run_is_the_same_again_and_replayed_without_a_server(problem, author, tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "reply_to", grade)
    server = author()
    front = judged(tmp_path / "a").solve(problem)
    notes = front[0].notes
    assert notes["completions"] == notes["judged"] == len(server.seen) == len(loops.replies(tmp_path / "a"))
    prompts = [seen[2]["messages"][0]["content"] for seen in server.seen]
    assert len(set(prompts)) == len(prompts) and not any("$" in prompt for prompt in prompts)
    asked = len(server.seen)
    assert loops.told(judged(tmp_path / "a").solve(problem)) == loops.told(front) and len(server.seen) == asked
    for variable in loops.PLACES:
        monkeypatch.delenv(variable)
    assert loops.told(judged(tmp_path / "a", "recorded").solve(problem)) == loops.told(front)
    if problem == NETWORK:
        assert set(front[0].solution) == set(rd.problem(problem).outputs)
        return
    assert "sin" not in front[0].solution["x0"]
    with pytest.raises(MissingRecord):
        judged(tmp_path / "a", "recorded").solve(problem, seed=1)


def test_a_run_that_broke_off_asks_nothing_twice(author, tmp_path, monkeypatch):
    replies = [grade] * 30 + [None]

    def breaks(prompt):
        reply = replies.pop(0) if replies else grade
        if reply is None:
            raise RuntimeError  # the server hangs up
        return reply(prompt)

    monkeypatch.setattr(loops, "reply_to", breaks)
    monkeypatch.setattr(test_llm.llm, "PAUSE", 0.01)
    server = author()
    front = judged(tmp_path / "a").solve(EQUATION)
    prompts = [seen[2]["messages"][0]["content"] for seen in server.seen]
    assert len(prompts) == len(set(prompts)) + 1  # the one that was hung up on
    assert front[0].notes["completions"] == len(set(prompts)) == len(loops.replies(tmp_path / "a"))


def test_the_first_question_is_that_of_the_control(author, tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "reply_to", lambda prompt: "10")
    server = author()
    judged(tmp_path).solve(EQUATION)
    notes = judged(tmp_path, "genetic").solve(EQUATION)[0].notes
    sent = [tokens_in(seen[2]["messages"]) for seen in server.seen]
    assert notes["requests"] == len(sent) and notes["request_tokens"] == sum(sent)  # ten of ten is the constant


@pytest.mark.parametrize(
    ("reply", "opinion"),
    [("8", 8.0), ("Score: 7.5/10", 7.5), ("-3", 3.0), ("100", 10.0), ("", 0.0), ("good", 0.0), ("9" * 999, 10.0)],
)
def test_opinions_in_replies(reply, opinion):
    assert gp_llm_judge.opinion_in(reply) == opinion


def test_what_a_judge_is_told(tmp_path):
    problem = next(rd.problem(id) for id in rd.problems("cde") if any(rd.problem(id).meanings.values()))
    meaning = next(filter(None, problem.meanings.values()))
    for describe in (True, False):
        judge = gp_llm_judge.Judge(judged(tmp_path, describe=describe), problem, Questions(None))
        (message,) = judge.messages("x0", "x0*x1")
        assert "dx0/dt = x0*x1" in message["content"] and (meaning in message["content"]) == describe


# ---- its four criteria

PLAIN = '{"context": 4, "plausibility": 4, "conciseness": 3, "coherence": 5}'
LONG = "{context_alignment: 5, scientific_plausibility: 4, conciseness_and_clarity: 5, logical_coherence: 2,}"


@pytest.mark.parametrize(
    ("reply", "scores", "opinion"),
    [
        (PLAIN, [4, 4, 3, 5], 7.5),
        (f"```json\n{PLAIN}\n```", [4, 4, 3, 5], 7.5),
        (f"Of a scale of {{1, 5}}:\n{PLAIN}\nThat is my opinion.", [4, 4, 3, 5], 7.5),
        (f'First {{"context": 1}}, but then\n```json\n{PLAIN}\n```', [4, 4, 3, 5], 7.5),  # the fence goes before
        (f"```json\n{{}}\n```\n{PLAIN}", [4, 4, 3, 5], 7.5),
        (f"```json\n{PLAIN}", [4, 4, 3, 5], 7.5),  # cut off behind the scores
        (LONG, [5, 4, 5, 2], 7.5),
        ('{"scores": {"Context": "5", "Plausibility": 5, "Conciseness": 5, "Coherence": "5/5"}}', [5, 5, 5, 5], 10.0),
        ('{"context": 1, "plausibility": 1, "conciseness": 1, "coherence": 1}', [1, 1, 1, 1], 0.0),
        ('{"context": 4.5}', [4.5, None, None, None], 8.75),
        ('{"context": 4, "plausibility": 3, "coherence": 2}', [4, 3, None, 2], 5.0),  # one is missing
        ('{"context": 7, "plausibility": 3, "conciseness": 2, "coherence": 4}', [None, 3, 2, 4], 5.0),
        ('{"context": 0, "plausibility": -3, "conciseness": "good", "coherence": 5}', [None, None, None, 5], 10.0),
        ('{"context": 4, "context_again": 1}', [4, None, None, None], 7.5),
        ('{"context_reason": "2 variables", "context": 5}', [5, None, None, None], 10.0),
        (f'Into {{"context": <1-5>, "coherence": <1-5>}} go these:\n{PLAIN}', [4, 4, 3, 5], 7.5),
        ('{"context": 7}', [None] * 4, 0.0),
        ('{"context": 1e0, "coherence": 3.1.2}', [None] * 4, 0.0),
        ("8", [None] * 4, 0.0),
        ('{"context": 4', [None] * 4, 0.0),
        ("", [None] * 4, 0.0),
    ],
)
def test_scores_of_criteria_in_replies(reply, scores, opinion):
    wanted = {name: score for name, score in zip(gp_llm_judge.CRITERIA, scores, strict=True) if score is not None}
    found = gp_llm_judge.scores_in(reply)
    assert found == wanted and gp_llm_judge.opinion_of(found) == pytest.approx(opinion)


def rate(prompt: str) -> str:
    """Four scores, three, or none, by what is proposed."""
    proposed = next(line for line in prompt.splitlines() if " = " in line)
    if "log" in proposed:
        return "8"
    return '{"context": 2, "plausibility": 1, "coherence": 9}' if "sin" in proposed else f"```json\n{PLAIN}\n```"


@pytest.mark.parametrize("problem", [EQUATION, NETWORK])
def test_a_run_with_criteria_and_its_replay(problem, author, tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "reply_to", rate)
    server = author()
    settings = {"criteria": True, "generations": 5}
    front = judged(tmp_path, **settings).solve(problem)
    notes, bodies = front[0].notes, [seen[2] for seen in server.seen]
    prompts = [body["messages"][0]["content"] for body in bodies]
    assert notes["criteria"] and notes["completions"] == len(prompts) == len(set(prompts)) == notes["judged"]
    proposed = [next(line for line in prompt.splitlines() if " = " in line) for prompt in prompts]
    logs = sum("log" in line for line in proposed)
    assert notes.get("unread", 0) == logs
    assert notes.get("missing_scores", 0) == 2 * sum("sin" in line and "log" not in line for line in proposed)
    assert {body["max_tokens"] for body in bodies} == {256} and not any("$" in prompt for prompt in prompts)
    assert loops.told(judged(tmp_path, **settings).solve(problem)) == loops.told(front)
    for variable in loops.PLACES:
        monkeypatch.delenv(variable)
    assert loops.told(judged(tmp_path, "recorded", **settings).solve(problem)) == loops.told(front)
    assert len(server.seen) == len(prompts)
    with pytest.raises(MissingRecord):  # which asks for one number
        judged(tmp_path, "recorded", generations=5).solve(problem)


def test_what_a_judge_with_criteria_is_told(tmp_path):
    system = next(rd.problem(id) for id in rd.problems("cde") if any(rd.problem(id).meanings.values()))
    for seed in (0, 1):
        judge = gp_llm_judge.Judge(judged(tmp_path, criteria=True), system, Questions(None), seed)
        (message,) = judge.messages("x0", "x0*x1")
        wanted = ["dx0/dt = x0*x1", next(filter(None, system.meanings.values())), *gp_llm_judge.CRITERIA]
        assert all(text in message["content"] for text in wanted)
        assert f"x0: {system.observed(seed)[0, 0]:.3f}, " in message["content"]
    network = rd.problem(NETWORK)
    judge = gp_llm_judge.Judge(judged(tmp_path, criteria=True), network, Questions(None))
    (message,) = judge.messages(network.outputs[0], "!x1")
    assert all(text in message["content"] for text in (f"{network.outputs[0]}' = !x1", " -> ", *gp_llm_judge.CRITERIA))


def test_criteria_change_nothing_by_default(tmp_path):
    plain, other = judged(tmp_path), judged(tmp_path, criteria=True)
    assert "criteria" not in plain.settings and other.settings == plain.settings | {"criteria": True}
    assert dict(plain.parameters(0)) == {"temperature": 1.0, "max_tokens": 64}
    (message,) = gp_llm_judge.Judge(plain, rd.problem(EQUATION), Questions(None)).messages("x0", "c*x0")
    assert hashlib.sha256(message["content"].encode()).hexdigest()[:16] == "8d8591c534b89e68"
    (message,) = gp_llm_judge.Judge(plain, rd.problem(NETWORK), Questions(None)).messages("x1", "!x1")
    assert hashlib.sha256(message["content"].encode()).hexdigest()[:16] == "f07c0e54bb7573dc"


def test_a_control_of_criteria_counts_longer_prompts_and_replies(tmp_path):
    one, four = (judged(tmp_path, "genetic", criteria=criteria).solve(EQUATION)[0] for criteria in (False, True))
    assert one.solution == four.solution and one.notes["requests"] == four.notes["requests"]
    assert "criteria" not in one.notes and four.notes["request_tokens"] > 2 * one.notes["request_tokens"]
    spent = [cost("gp_llm_judge", each.notes, "gpt-4o-mini").completion_tokens for each in (one, four)]
    assert spent[1] == 8 * spent[0] > 0


# ---- the predictor

SYSTEMS = ['{"eq": "c*x0 + c*x0*x0"}, {"eq": "c*sin(x0)"}', "None.", '{"eq": "c*x0**3"}, {"eq": "exp(c*x0)"}']


def seeded(folder, proposer="model", **settings):
    settings = {"epochs": 4, "calls": 1, "tolerance": 2.0, "records": str(folder), **settings}
    return methods.method("gp_llm_seeded", proposer=proposer, model=loops.MODEL, **settings)


def test_a_run_with_a_predictor_and_its_replay(author, tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "reply_to", lambda prompt: SYSTEMS[len(prompt) % 3])
    server = author()
    front = seeded(tmp_path / "a").solve(EQUATION)
    notes = front[0].notes
    assert notes["completions"] == len(server.seen) == 4 and 1 <= notes["bred"] <= 3
    assert notes["gp_evaluations"] == 250 * notes["bred"]
    told = loops.told(front)
    assert loops.told(seeded(tmp_path / "b").solve(EQUATION)) == told
    assert loops.replies(tmp_path / "a") == loops.replies(tmp_path / "b") and len(server.seen) == 8
    for variable in loops.PLACES:
        monkeypatch.delenv(variable)
    assert loops.told(seeded(tmp_path / "a", "recorded").solve(EQUATION)) == told
    with pytest.raises(MissingRecord):
        seeded(tmp_path / "a", "recorded", seeding="released", strategy="context").solve(EQUATION)


def test_the_systems_of_the_pool_are_the_first_population(tmp_path, monkeypatch):
    monkeypatch.setattr(gp_llm_seeded, "GENERATIONS", 3)  # after 50 the law is lost: gplearn keeps no elite
    X = np.random.default_rng(0).uniform(0.5, 2, (60, 2))
    law = "1.25*sin(x0*x1) - 0.75*x0**3/x1"
    task = Task(("x0", "x1"), "x0", X, 1.25 * np.sin(X[:, 0] * X[:, 1]) - 0.75 * X[:, 0] ** 3 / X[:, 1])
    found = {way: seeded(tmp_path, seeding=way).equation(task, [law, "x0"], 0) for way in ("paper", "released")}
    errors = {way: np.mean((parse(text)({"x0": X[:, 0], "x1": X[:, 1]}) - task.y) ** 2) for way, text in found.items()}
    assert errors["paper"] < 1e-12 < 1e-2 < errors["released"]


@pytest.mark.parametrize("proposer", ["grammar", "genetic"])
def test_controls_of_the_predictor(proposer, tmp_path):
    method = seeded(tmp_path, proposer, epochs=3)
    front = method.solve(EQUATION)
    assert method.available() is None and front[0].notes["requests"] == 3
    assert loops.told(front) == loops.told(method.solve(EQUATION))
    assert cost("gp_llm_seeded", front[0].notes, "gpt-4o-mini").usd > 0


RULES = [
    json.dumps({"eq": "; ".join(f"{node} <- {rule}" for node in rd.problem(NETWORK).outputs)})
    for rule in ("x1", "x2 & !x1", "x1 ^ x2")
]


def test_a_run_on_a_network_and_its_replay(author, tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "reply_to", lambda prompt: RULES[len(prompt) % 3])
    server = author()
    front = seeded(tmp_path / "a", matched=2.0).solve(NETWORK)
    notes, nodes = front[0].notes, len(rd.problem(NETWORK).outputs)
    assert notes["completions"] == len(server.seen) == 4 and notes["bred"] == 3
    assert notes["gp_evaluations"] == 3 * nodes * 15 * 16 and front[0].evaluations == 7
    assert set(front[0].solution) == set(rd.problem(NETWORK).outputs) and front[0].loss < 0.3
    told = loops.told(front)
    assert loops.told(seeded(tmp_path / "b", matched=2.0).solve(NETWORK)) == told
    assert loops.replies(tmp_path / "a") == loops.replies(tmp_path / "b") and len(server.seen) == 8
    for variable in loops.PLACES:
        monkeypatch.delenv(variable)
    assert loops.told(seeded(tmp_path / "a", "recorded", matched=2.0).solve(NETWORK)) == told
    with pytest.raises(MissingRecord):
        seeded(tmp_path / "a", "recorded", matched=2.0).solve(NETWORK, seed=1)


def test_a_run_on_a_network_that_broke_off_asks_nothing_twice(author, tmp_path, monkeypatch):
    replies = [RULES[0], None]

    def breaks(prompt):
        reply = replies.pop(0) if replies else RULES[1]
        if reply is None:
            raise RuntimeError  # the server hangs up
        return reply

    monkeypatch.setattr(loops, "reply_to", breaks)
    monkeypatch.setattr(test_llm.llm, "PAUSE", 0.01)
    server = author()
    front = seeded(tmp_path, matched=2.0).solve(NETWORK)
    assert front[0].notes["completions"] == len(loops.replies(tmp_path)) == len(server.seen) - 1 == 4
    assert loops.told(seeded(tmp_path, matched=2.0).solve(NETWORK)) == loops.told(front) and len(server.seen) == 5


@pytest.mark.parametrize(
    ("rule", "gene"),
    [
        ("a", "a"),
        ("!a & (b | c)", "&!|abc"),
        ("a & b & !c | c", "|&c&!abc"),
        ("a ^ b", "&!|&abab"),
        ("!a -> b", "|!b!a"),
        ("a & b | b & c | a & c", "||&&&acabbc"),
        ("a & b & a & c & a & b & c", None),  # six functions
        ("!(a ^ b) & c", None),  # the fifth is beyond the head
        ("a & 1", None),
        ("a &", None),
    ],
)
def test_rules_as_genes(rule, gene):
    assert planted_genes.gene_of(rule, 5) == (gene and tuple(gene))
    if gene:
        whole, wanted = parse(express((*gene, *"a" * 6)), logic=True), parse(rule, logic=True)
        assert rules_equivalent({"x": whole}, {"x": wanted}) == 1.0


def planted(seeds, node=5, generations=15, seed=1):
    train = rd.problem(NETWORK).data(0)["train"]
    columns = {name: bits(train.X[:, i]) for i, name in enumerate(rd.problem(NETWORK).inputs)}
    settings = dataclasses.replace(gp_llm_seeded.GENES, generations=generations)
    rng = random.Random(seed)
    return planted_genes.Planted(seeds, settings, columns, bits(train.y[:, node]), len(train.y), rng)


def test_the_fitness_of_a_gene_is_its_f1_and_few_operations():
    train, names = rd.problem(NETWORK).data(0)["train"], rd.problem(NETWORK).inputs
    run = planted([])
    for gene in (("x9", *["x1"] * 10), ("&", "x9", "!", "x1", *["x1"] * 7), ("|", "!", "x2", "x3", *["x1"] * 7)):
        predicted = next_states({"x": parse(express(gene), logic=True)}, train.X, names)
        assert run.fitness(gene) == (f1_pooled(predicted, train.y[:, [5]]), -sum(s in "&|!" for s in gene))


def test_rules_of_the_pool_are_among_the_first_genes():
    law = "!x3 & x9 | x3 & x6"
    run = planted([law, "x1 & 1", "z", "x2"])
    first = run.first(15)
    assert len(first) == 15 and {len(gene) for gene in first} == {11}
    assert [express(gene) for gene in first[:2]] == ["((!x3 & x9) | (x3 & x6))", "x2"]
    best = planted([law], generations=1).run()
    assert run.fitness(best)[0] >= run.fitness(first[0])[0] > planted([]).fitness(planted([]).first(1)[0])[0]
    assert planted([]).first(15) == Evolution(*arguments_of(planted([]))).first(15)


def arguments_of(run):
    return run.settings, run.columns, run.target, run.n, random.Random(1)


@pytest.mark.parametrize("proposer", ["grammar", "genetic"])
def test_controls_of_the_predictor_on_networks(proposer, tmp_path):
    told = {}
    for seeding in ("paper", "released"):
        method = seeded(tmp_path, proposer, epochs=4, matched=2.0, seeding=seeding)
        front = method.solve(NETWORK)
        told[seeding] = loops.told(front)
        assert front[0].notes["requests"] == 4 and told[seeding] == loops.told(method.solve(NETWORK))
    assert told["paper"] != told["released"]
    assert cost("gp_llm_seeded", front[0].notes, "gpt-4o-mini").usd > 0


def test_the_predictor_is_not_for_graphs(tmp_path):
    with pytest.raises(methods.Unsupported, match="gp_llm_seeded does not treat problems of the kind series"):
        seeded(tmp_path, "grammar").solve(rd.problem("causal/C007", series_from="equations"))


@pytest.mark.parametrize("settings", [{"seeding": "none"}, {"strategy": "long"}, {"epochs": 0}])
def test_settings_of_the_predictor_that_cannot_be(settings):
    with pytest.raises(ValueError, match=f"gp_llm_seeded: {next(iter(settings))}"):
        methods.method("gp_llm_seeded", **settings)


@pytest.mark.parametrize(
    "settings", [{"proposer": "grammar"}, {"control": "taste"}, {"weight": -1.0}, {"generations": 0}]
)
def test_settings_that_cannot_be(settings):
    with pytest.raises(ValueError, match=f"gp_llm_judge: {next(iter(settings))}"):
        methods.method("gp_llm_judge", **settings)
    assert "model" in methods.method("gp_llm_judge").available()
    assert json.loads(json.dumps(methods.method("gp_llm_judge").settings))["weight"] == 1.0
