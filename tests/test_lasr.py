"""LaSR: played by a real server on loopback, its library, its reader, and what it is without a model."""

import dataclasses
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import rediscover as rd
import test_language_loops as loops
from rediscover import methods
from rediscover.expressions import Expression, parse
from rediscover.llm.client import Records
from rediscover.llm.tokens import tokens_in
from rediscover.methods import Budget
from rediscover.methods.language_costs import cost
from rediscover.methods.language_loops import Described
from rediscover.methods.lasr import Writer, sketch
from rediscover.methods.questions import Questions
from rediscover.problems import Task
from rediscover.search.evolution.concepts import SHOWN, Concepts, strings
from rediscover.search.evolution.guided_evolution import Guided

import numpy as np
import pytest

author = loops.author
PROBLEM = "surfaces/TFS4"  # z = x*y
SIZES = {"populations": 2, "population_size": 20, "ncycles_per_iteration": 30, "optimize_probability": 0.03}
BUDGET = {"evaluations": 4000}
FORMULAS = [
    'A change.\n["C*x + y", "sin(x)*C", "x*y*C", "x^2 + y^2", "log(x + C)"]',
    '```json\n["C1*cos(c2*x)", "exp(w*x)"]\n```',
    "I would rather not.",
    "[\"__import__('os').system('touch hacked')\", \"open('/etc/passwd')\"]",
    '["sin(sin(x))", "tan(x)", "C", "x +"]',
    '<think>["cos(x)"]</think>["x/y - C"]',
    '["' + "x + " * 40 + 'y"]',
]


def reply_to(prompt: str) -> str:
    number = int(hashlib.sha256(prompt.encode()).hexdigest(), 16)
    if "suppositions" in prompt.lower():
        return json.dumps([f"supposition {number % 1000} of kind {i}" for i in range(5)])
    return FORMULAS[number % len(FORMULAS)]


def played(folder, proposer="model", **settings):
    settings = {"max_rows": 100, "share": 0.02, "evolution": SIZES, **settings}
    return methods.method("lasr", proposer=proposer, model=loops.MODEL, records=str(folder), **settings)


def solved(*arguments, seed=0, **settings):
    return played(*arguments, **settings).solve("surfaces/NCGS1", budget=BUDGET, seed=seed)


@pytest.fixture
def server(author, monkeypatch):
    monkeypatch.setattr(loops, "reply_to", reply_to)
    return author()


# ---- a whole run


def test_a_run_is_the_same_again_and_replayed_without_a_server(server, tmp_path, monkeypatch):
    front = solved(tmp_path / "a")
    notes, asked = front[0].notes, len(server.seen)
    assert notes["completions"] == asked == len(loops.replies(tmp_path / "a")) > 40
    assert notes["prompt_tokens"] == 1000 * asked and 0 < notes["taken"] < notes["handed"] < asked
    assert asked > notes["handed"] + notes["rounds"] and notes["concepts"] > SHOWN  # later rounds merge as well
    assert front[0].evaluations <= 4000
    assert loops.told(solved(tmp_path / "b")) == loops.told(front)
    assert loops.replies(tmp_path / "a") == loops.replies(tmp_path / "b") and len(server.seen) == 2 * asked
    for variable in loops.PLACES:
        monkeypatch.delenv(variable)
    recorded = played(tmp_path / "a", "recorded")
    assert recorded.available() is None and loops.told(solved(tmp_path / "a", "recorded")) == loops.told(front)
    with pytest.raises(loops.MissingRecord):
        solved(tmp_path / "a", "recorded", seed=1)


def test_nothing_that_a_model_writes_is_executed(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    solved(tmp_path / "a")
    texts = [reply["choices"][0]["message"]["content"] for reply in loops.replies(tmp_path / "a").values()]
    assert any("touch hacked" in text for text in texts) and not (tmp_path / "hacked").exists()


SCRIPT = """
import json, sys
from rediscover import methods
method = methods.method("lasr", **json.loads(sys.argv[1]))
method.solve("surfaces/NCGS1", budget=json.loads(sys.argv[2]))
"""


def test_a_run_that_was_killed_goes_on_and_asks_nothing_twice(author, tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "reply_to", reply_to)
    server = author(first=12)
    settings = json.dumps(played(tmp_path / "a").settings)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, settings, json.dumps(BUDGET)], env=env)
    end = time.monotonic() + 120
    while time.monotonic() < end and len(loops.replies(tmp_path / "a")) < 12:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and len(loops.replies(tmp_path / "a")) == 12
    server.gate.set()
    front = solved(tmp_path / "a")
    records = Records(next((tmp_path / "a").rglob("*.jsonl")))
    assert server.answered == Counter(r["request"]["messages"][-1]["content"] for r in records.values())
    assert loops.told(front) == loops.told(solved(tmp_path / "b"))


def test_the_formula_of_a_model_enters_the_search(author, tmp_path, monkeypatch):
    """One that evolution would hardly find in so few evaluations, with constants other than 1."""
    monkeypatch.setattr(loops, "reply_to", lambda prompt: '["C*sin(C*x)*exp(C*x) + C*y", "C*sin(C*x)*exp(C*x) + C*y"]')
    author()
    x, y = np.random.default_rng(0).uniform(-2, 2, (2, 100))
    task = Task(("x", "y"), "z", np.column_stack([x, y]), 1.4 * np.sin(1.2 * x) * np.exp(0.7 * x) + 2.5 * y)
    found = {}
    for proposer in ("model", "genetic"):
        method = played(tmp_path, proposer, share=0.05, evolution={**SIZES, "optimize_probability": 0.14})
        found[proposer] = method.fit(task, budget=Budget(4000), rng=np.random.default_rng(0))
    least = {proposer: min(candidate.loss for candidate in front) for proposer, front in found.items()}
    assert least["model"] < 1e-12 < least["genetic"]


def test_after_so_many_questions_the_search_goes_on_without_the_model(server, tmp_path):
    front = solved(tmp_path, samples=7)
    assert len(server.seen) == 7 == front[0].notes["completions"]
    assert front[0].evaluations > 3900 and front[0].notes["handed"] > 7


# ---- without a model


@pytest.mark.parametrize("share", [0.005, 0.3])
def test_without_a_model_it_is_regularised_evolution(share, tmp_path):
    task = rd.problem("surfaces/NCGS1").tasks(0)[0]
    method = played(tmp_path, "genetic", share=share, samples=10**6)
    base = dataclasses.replace(method.base(), max_rows=method.max_rows)
    ours, plain = (each.fit(task, budget=Budget(6000), rng=np.random.default_rng(1)) for each in (method, base))
    assert [(c.solution, c.loss, c.evaluations) for c in ours] == [(c.solution, c.loss, c.evaluations) for c in plain]
    assert ours[0].notes["requests"] > ours[0].notes["handed"] > 0 == ours[0].notes["taken"]
    assert cost("lasr", ours[0].notes, "gpt-4o-mini").usd > 0


def test_random_expressions_in_the_place_of_the_model(tmp_path):
    front = solved(tmp_path, "grammar")
    assert 0 < front[0].notes["taken"] <= front[0].notes["handed"]
    assert loops.told(front) == loops.told(solved(tmp_path, "grammar")) != loops.told(solved(tmp_path, "genetic"))


def test_every_control_counts_what_a_model_would_have_been_sent(server, tmp_path):
    solved(tmp_path, samples=1)
    sent = tokens_in(server.seen[0][2]["messages"])
    for proposer in ("grammar", "genetic"):
        notes = solved(tmp_path, proposer, samples=1)[0].notes
        assert notes == notes | {"requests": 1, "request_tokens": sent}


@pytest.mark.parametrize("problem", ["surfaces/AMHD1", "cde/S001"])  # a level set, a system of equations
def test_other_kinds_of_problem(problem, tmp_path):
    (best, *_) = played(tmp_path, "grammar").solve(problem, budget={"evaluations": 500})
    assert set(best.solution) == ({"z"} if problem.startswith("surfaces") else set(rd.problem(problem).outputs))


@pytest.mark.parametrize("unit", [1e-20, 1e20])
def test_with_units_taken_off_the_answer_is_the_same_in_any(unit, tmp_path):
    X = np.random.default_rng(0).uniform(1, 3, (100, 2)) * unit
    task = Task(("a", "b"), "z", X, 2.5 * X[:, 0] * X[:, 1] / unit)
    front = played(tmp_path, "genetic", scale="unit").fit(task, budget=Budget(4000), rng=np.random.default_rng(0))
    for candidate in front:
        found = parse(candidate.solution["z"])({"a": X[:, 0], "b": X[:, 1]})
        mse = np.mean((found / unit - task.y / unit) ** 2)
        assert mse == pytest.approx(candidate.loss / unit**2, rel=1e-6, abs=1e-20)
    assert front[0].loss / unit**2 < 1e-12


# ---- the library


def test_the_newest_concepts_are_in_front_and_thirty_are_shown():
    library, rng = Concepts(), np.random.default_rng(0)
    for i in range(20):
        library.add([f"{i}a", f"{i}b", f"{i}a"], 2, rng)
    assert len(library.ideas) == 40 and set(library.ideas[:2]) == {"19a", "19b"} and library.ideas[-1][0] == "0"
    shown, old = set(library.ideas[:SHOWN]), set(library.ideas[SHOWN:])
    hints = [library.hints(rng) for _ in range(300)]
    assert all(len(set(each)) == 3 for each in hints) and {hint for each in hints for hint in each} == shown
    merged = [library.old(rng) for _ in range(300)]
    assert {idea for each in merged for idea in each} == old and any(len(set(each)) < 5 for each in merged)
    assert Concepts(library.ideas[:SHOWN]).old(rng) == []
    library.add([], 2, rng)
    library.add(["  ", "x" * 10_000, "two\nlines"], 2, rng)
    assert len(library.ideas) == 42 and {len(library.ideas[0]), len(library.ideas[1])} == {300, 9}


class Reader:
    """A library that hears what the search shows it."""

    def __init__(self):
        self.rounds = []

    def propose(self, parents, rng):
        return []

    def learn(self, front, worst, rng):
        self.rounds.append((front, worst))


def test_a_guide_sees_the_front_and_the_worst_of_each_population(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 1))
    settings, reader = played(tmp_path).base(), Reader()
    search = Guided(X, X[:, 0] ** 2, settings, 3000, 0, ["x"], reader, 0.1)
    found = search.run()
    assert len(reader.rounds) == found.rounds
    front, worst = reader.rounds[-1]
    assert len(front) == len(found.losses) and 0 < len(worst) <= 2
    known = [np.mean((Expression(tree)({"x": X[:, 0]}) - X[:, 0] ** 2) ** 2) for tree in front]
    assert np.allclose(known, found.losses * np.mean(X[:, 0] ** 4))


# ---- replies


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('["a", "b"]', ["a", "b"]),
        ('First ["a"], then ["b", "c"] and [1, 2]', ["b", "c"]),
        ('```json\n["x[0]"]\n``` done', ["x[0]"]),
        ('[["a"], ["b"]]', ["b"]),
        ("['a']", []),
        ('["a", 1]', []),
        ("[]", []),
        ('["a"', []),
        ("", []),
        ("[" * 30_000, []),
        ("[" * 900 + '"a"' + "]" * 900, []),
    ],
)
def test_lists_of_texts(reply, found):
    begin = time.process_time()
    assert strings(reply) == found and time.process_time() - begin < 1


@pytest.fixture
def writer(tmp_path):
    X = np.ones((2, 2))
    return Writer(played(tmp_path), Described(("x", "C"), "z", X, X[:, 0]), Questions(None))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("K*x + K", "1.0*x + 1.0"),
        ("c*x + c1 + K_2", "1.0*x + 1.0 + 1.0"),
        ("C*x", "C*x"),  # a column
        ("alpha*x^2", "x*x**2"),  # a name that is unknown
        ("2.5*pi", "2.5*pi"),
        ("print(x)", None),
        ("x; import os", None),
        ("().__class__", None),
        ("", None),
    ],
)
def test_the_reader_of_formulas(writer, text, read):
    tree = writer.read(text)
    assert (tree and str(Expression(tree))) == read


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("x**2 + 3*x", "x**2.0 + 3.0*x"),
        ("-x", "-1.0*x"),
        ("sin(exp(x))", "sin(exp(x))"),
        ("sin(cos(x))", None),  # nesting
        ("x**(1 + exp(x + x + x + x + x + x + x + x + x + x))", None),  # size of the exponent
        ("tan(x)", None),  # no operator of the search
        ("abs(x)", None),
        ("where(x > 0, x, 1)", None),
        ("1 + 2", None),  # constant
        (" + ".join(["x"] * 16), None),  # size
    ],
)
def test_a_child_keeps_the_limits_of_the_search(text, program, tmp_path):
    X = np.ones((5, 1))
    search = Guided(X, X[:, 0], played(tmp_path).base(), 100, 0, ["x"], Reader(), 0.1)
    child = search.child(30)(parse(text).tree)
    assert (child and str(Expression(search.tree(child, 0)))) == program


def test_constants_are_shown_as_a_letter():
    assert sketch(parse("2*x**3.0 - 0.5*sin(7*x) + 4").tree, "C") == "2*x**3 - C*sin(C*x) + 4"


# ---- prompts


def test_the_prompts(server, tmp_path):
    solved(tmp_path)
    bodies = [seen[2] for seen in server.seen]
    assert all([m["role"] for m in body["messages"]] == ["system", "user"] for body in bodies)
    assert bodies[0]["max_tokens"] == 1024
    systems = {body["messages"][0]["content"] for body in bodies}
    users = [body["messages"][1]["content"] for body in bodies]
    assert len(systems) == 1 and "z from x, y" in next(iter(systems)) and not any("$" in text for text in users)
    kinds = Counter("change" if "different changes" in t else "join" if "join" in t else "other" for t in users)
    assert kinds["change"] > kinds["join"] > 0
    assert "Nothing yet" in users[0]
    abstracts = [text for text in users if "fit badly" in text]
    assert len(abstracts) == len(set(abstracts)) >= 10
    later = [text for text in users if "different changes" in text][-1]
    assert later.count("- supposition ") == 3
    assert sum("Suppositions on formulas" in text for text in users) > 0


@pytest.mark.parametrize(
    "settings", [{"share": 2}, {"evolution": {"islands": 3}}, {"evolution": {"maxsize": 1}}, {"proposer": "oracle"}]
)
def test_settings_that_cannot_be(settings):
    with pytest.raises(ValueError, match=next(iter(settings.get("evolution", settings)))):
        methods.method("lasr", **settings)
