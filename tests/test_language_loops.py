"""Loops around a language model, played by a real server on loopback; and the same loops without one."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter

import rediscover as rd
import test_llm
from loopback import serving
from rediscover import methods
from rediscover.expressions import parse
from rediscover.expressions.programs import ProgramError
from rediscover.llm.client import MissingRecord, Records, Unusable
from rediscover.llm.tokens import tokens_in
from rediscover.methods import Budget, icsr, language_loops, llm_sr, openevolve
from rediscover.methods.endpoint import PLACES
from rediscover.methods.language_costs import FACTS, cost
from rediscover.problems import Task
from rediscover.search.loops.proposers import Function

import numpy as np
import pytest

serve = test_llm.serve
KEY, MODEL = test_llm.KEY, test_llm.MODEL
PROBLEM = "surfaces/TFS4"  # z = x*y
LOOPS = ("icsr", "llm_sr", "openevolve")

BODIES = [
    "    return params[0]*x + params[1]*y",
    "```python\nimport numpy as np\n\ndef equation_v2(x, y, params):\n    return params[0]*np.sin(x) + params[1]\n```",
    "    a = params[0]*x\n    return a*np.tanh(params[1]*y) + params[2]\nThat bends.",
    "I cannot help with that.",
    "    __import__('os').system('touch hacked')\n    return x",
    "    return open('/etc/passwd').read()",
    "<think>product?</think>    return params[0]*x**2 + params[1]*y**2 + params[2]*np.cos(x)",
    "    return equation_v0(x, y, params)",
    "    return np.where(x > 0, params[0]*y, params[1]*x) + params[2]",
    "```python\n    return params[0]*np.exp(-params[1]*x**2) + params[2]*y\n```",
    "    return np.log(params[0]*x)",
]
FORMULAS = [
    "1. f1 = c*x + c\n2. f2 = c*sin(x) + c*y\n3. f3 = c\n4. f4 = c*x**2 + c*y\n5. f5 = exp(c*x) + c",
    "Here you are:\n`f1(x, y) = c*x + c*y + c`\n`f2(x, y) = c*cos(y)*x`",
    "No formula today.",
    "f1 = __import__('os')\nf2 = c*z\nf3 = c*x*x + c*y*y\nf4 = c*sqrt(abs(x))\nf5 = c*x +",
]
EDITS = [
    "More.\n<<<<<<< SEARCH\n    return {last}\n=======\n    return {last} + params[3]*np.sin(x[:, 0])\n>>>>>>> REPLACE",
    "<<<<<<< SEARCH\nno such line\n=======\nnothing\n>>>>>>> REPLACE",
    "I would rather not.",
    "<<<<<<< SEARCH\n    return {last}\n=======\n    return params[0]*x[:, 0]**2 + params[1]*x[:, 1]\n>>>>>>> REPLACE",
]


def reply_to(prompt: str) -> str:
    """What the server writes: the same for the same prompt, and the truth once a prompt is long enough."""
    number = int(hashlib.sha256(prompt.encode()).hexdigest(), 16)
    if "SEARCH" in prompt:
        last = prompt.rpartition("# The program to be improved")[2].partition("    return ")[2].partition("\n")[0]
        return EDITS[number % len(EDITS)].replace("{last}", last)
    if "symbolic regression" in prompt:
        return FORMULAS[number % len(FORMULAS)] if number % 7 else "f1 = c*x*y"
    return BODIES[number % len(BODIES)] if number % 13 else "    return params[0]*x*y + params[1]"


class Author(test_llm.Server):
    """Answers every prompt, at first so many; the others have to wait until the gate opens."""

    def __init__(self, first=10**9):
        super().__init__(self.write)
        self.answered, self.first, self.gate = Counter(), first, threading.Event()

    def write(self, handler):
        with self.lock:
            waits = sum(self.answered.values()) >= self.first and not self.gate.is_set()
            if not waits:
                self.answered[handler.prompt] += 1
        if waits:
            self.gate.wait(30)
            handler.close_connection = True
            return
        test_llm.good(reply_to(handler.prompt))(handler)


class Handler(test_llm.Handler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = body["messages"][-1]["content"]
        self.prompt = content if isinstance(content, str) else content[0]["text"]  # beside a picture
        with self.server.lock:
            self.server.seen.append((self.path, self.headers.get("Authorization"), body, time.monotonic()))
        self.server.behaviours[0](self)


@pytest.fixture
def author(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    running = []

    def start(**options):
        server = Author(**options)
        server.RequestHandlerClass = Handler
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        running.append(server)
        return server

    yield start
    for server in running:
        server.gate.set()
        server.shutdown()
        server.server_close()


def played(name, folder, proposer="model", samples=40, **settings):
    settings = {"max_rows": 150, **settings}
    return methods.method(name, proposer=proposer, model=MODEL, records=str(folder), samples=samples, **settings)


def told(front):
    """All of a front that a proposer's name is no part of, as text."""
    rows = []
    for each in front:
        notes = {key: value for key, value in each.notes.items() if key != "proposer"}
        rows.append([dict(each.solution), each.loss, each.complexity, each.evaluations, notes])
    return json.dumps(rows, sort_keys=True)


def replies(folder):
    """Key -> response of every record below a folder."""
    files = sorted(folder.rglob("*.jsonl"))
    return {key: record["response"] for file in files for key, record in Records(file).items()}


# ---- a whole run


@pytest.mark.parametrize("name", LOOPS)
def test_a_run_is_the_same_again_and_replayed_without_a_server(name, author, tmp_path, monkeypatch):
    server = author()
    front = played(name, tmp_path / "a").solve(PROBLEM)
    notes = front[0].notes
    assert notes["asked"] == front[0].evaluations <= 40 and notes["proposer"] == "model"
    assert notes["unreadable"] > 0 and notes["scored"] > 0  # some of what it writes is no program
    assert notes["asked"] == notes["unreadable"] + notes["undefined"] + notes["scored"]
    assert notes["completions"] == len(server.seen) == len(replies(tmp_path / "a"))
    assert notes["prompt_tokens"] == 1000 * len(server.seen)
    assert told(played(name, tmp_path / "b").solve(PROBLEM)) == told(front)
    assert replies(tmp_path / "a") == replies(tmp_path / "b")
    asked = len(server.seen)
    assert told(played(name, tmp_path / "a").solve(PROBLEM)) == told(front) and len(server.seen) == asked

    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    recorded = played(name, tmp_path / "a", "recorded")
    assert recorded.available() is None and told(recorded.solve(PROBLEM)) == told(front)
    assert len(server.seen) == asked
    with pytest.raises(MissingRecord):
        recorded.solve(PROBLEM, seed=1)


@pytest.mark.parametrize(("name", "asked"), [("llm_sr", 8), ("icsr", 15)])
def test_the_truth_ends_the_search_when_the_model_writes_it(name, asked, serve, tmp_path, monkeypatch):
    wrong, right = "    return params[0]*x\nf1 = c*x", "    return x*y\nf1 = x*y"
    server = serve(*[test_llm.good(wrong)] * (4 if name == "llm_sr" else 2), test_llm.good(right))
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    front = played(name, tmp_path).solve(PROBLEM)
    assert front[0].evaluations == asked and front[0].notes["sample"] in (5, 11)
    assert rd.score(rd.problem(PROBLEM), front)["symbolic_accuracy"] == 1.0


def test_nothing_that_a_model_writes_is_executed(author, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    author()
    played("llm_sr", tmp_path / "a", samples=60).solve(PROBLEM)
    texts = [reply["choices"][0]["message"]["content"] for reply in replies(tmp_path / "a").values()]
    assert any("touch hacked" in text for text in texts) and not (tmp_path / "hacked").exists()


def test_seeds_ask_for_draws_of_their_own(author, tmp_path):
    server, run = author(), played("llm_sr", tmp_path, samples=4)
    first = [run.solve(PROBLEM, seed=seed) for seed in (0, 1)]
    draws = sorted(r["request"]["draw"] for r in Records(next(tmp_path.rglob("*.jsonl"))).values())
    assert draws == [0, 1, 2, 3, 1_000_000, 1_000_001, 1_000_002, 1_000_003]  # both begin with the same prompt
    assert len(server.seen) == 8 and len(first[0]) == len(first[1])


SCRIPT = """
import sys
from rediscover import methods
method = methods.method(sys.argv[1], proposer="model", model=sys.argv[2], records=sys.argv[3], samples=40, max_rows=150)
method.solve(sys.argv[4])
"""


@pytest.mark.parametrize("name", ["llm_sr", "icsr"])
def test_a_run_that_was_killed_goes_on_and_asks_nothing_twice(name, author, tmp_path):
    first = 14 if name == "llm_sr" else 3
    server = author(first=first)
    command = [sys.executable, "-c", SCRIPT, name, MODEL, str(tmp_path / "a"), PROBLEM]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, env=env)
    end = time.monotonic() + 60
    while time.monotonic() < end and len(replies(tmp_path / "a")) < first:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and len(replies(tmp_path / "a")) == first
    server.gate.set()
    front = played(name, tmp_path / "a").solve(PROBLEM)
    records = Records(next((tmp_path / "a").rglob("*.jsonl")))
    assert server.answered == Counter(r["request"]["messages"][-1]["content"] for r in records.values())
    assert told(front) == told(played(name, tmp_path / "b").solve(PROBLEM))
    assert replies(tmp_path / "a") == replies(tmp_path / "b")


def test_a_key_is_in_no_file_log_or_exception(author, serve, tmp_path, monkeypatch, caplog, capfd):
    caplog.set_level("DEBUG")
    author()
    played("llm_sr", tmp_path, samples=8).solve(PROBLEM)
    leak = f"wrong key {KEY}"
    server = serve(test_llm.status(401, leak))
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    with pytest.raises(Unusable) as error:
        played("icsr", tmp_path, samples=8).solve(PROBLEM)
    assert server.seen[0][1] == f"Bearer {KEY}"
    written = [file.read_text() for file in tmp_path.rglob("*") if file.is_file()]
    shown = ["".join(traceback.format_exception(error.value)), caplog.text, *capfd.readouterr()]
    method = played("llm_sr", tmp_path)
    assert written and not [text for text in [*written, *shown, repr(method), method.version] if KEY in text]


def test_what_was_recorded_before_a_failure_is_not_asked_again(author, serve, tmp_path, monkeypatch):
    run = played("icsr", tmp_path, samples=15)
    answer = "f1 = c*x\nf2 = c*y\nf3 = c\nf4 = c*x*x\nf5 = c*sin(y)"
    server = serve(test_llm.good(answer), test_llm.status(400))
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    with pytest.raises(Exception, match="HTTP 400"):
        run.solve(PROBLEM)
    assert len(server.seen) == 2 and len(replies(tmp_path)) == 1
    again = author()
    assert run.solve(PROBLEM)[0].notes["completions"] == len(again.seen) + 1 > 1


# ---- prompts


def messages(name, author, folder, problem=PROBLEM, samples=9, **settings):
    server = author()
    played(name, folder, samples=samples, **settings).solve(problem)
    return [seen[2]["messages"] for seen in server.seen], [seen[2] for seen in server.seen]


def test_the_prompt_of_llm_sr(author, tmp_path):
    asked, bodies = messages("llm_sr", author, tmp_path)
    (message,) = asked[-1]
    text = message["content"]
    assert text.startswith("You are an assistant") and "gives z from x, y." in text and "MAX_NPARAMS = 10" in text
    assert text.count("def equation_v0(") == 1 and text.rstrip().endswith('"""')
    assert bodies[0]["temperature"] == 0.8 and bodies[0]["max_tokens"] == 1024
    assert "temperature" not in messages("llm_sr", author, tmp_path / "b", profile="code")[1][0]
    assert not any(word in text for word in ("score", "error", "mse"))  # order is all that it says of quality


def test_the_first_prompt_of_llm_sr_in_full(author, tmp_path):
    text = messages("llm_sr", author, tmp_path, samples=1)[0][0][0]["content"]
    arguments = "x: np.ndarray, y: np.ndarray, params: np.ndarray"
    assert text.partition("params = [1.0]*MAX_NPARAMS\n")[2] == (
        f'\ndef equation_v0({arguments}) -> np.ndarray:\n    """Values of z as a function.\n\n    Args:\n'
        "        x: array of values of x\n        y: array of values of y\n"
        "        params: array of constants that are fitted\n\n    Returns:\n        array of values of z\n"
        '    """\n    return params[0]*x + params[1]*y + params[2]\n\n'
        f"def equation_v1({arguments}) -> np.ndarray:\n"
        '    """A better version of `equation_v0`."""\n'
    )


def test_the_prompt_of_openevolve(author, tmp_path):
    system, user = messages("openevolve", author, tmp_path)[0][-1]
    assert system["role"] == "system" and "x[:, 0], x[:, 1]" in system["content"]
    text = user["content"]
    for part in ("Negative mean squared error", "Earlier attempts", "Best programs", "Further programs", "SEARCH"):
        assert part in text
    assert "# EVOLVE-BLOCK-START" in text and not any(f"${name}" in text for name in ("score", "program", "top"))


def test_the_prompt_of_icsr(author, tmp_path):
    asked = messages("icsr", author, tmp_path, samples=15)[0]
    first, last = asked[0][0]["content"], asked[-1][0]["content"]
    assert (
        sum(line.startswith("(") for line in first.splitlines()) == 40
        and "to begin with" in first
        and "error =" not in first
    )
    errors = [float(line.rpartition("= ")[2]) for line in last.splitlines() if ", error = " in line]
    assert 1 <= len(errors) <= 5 and errors == sorted(errors, reverse=True)


def test_prompts_of_a_file_stand_in_place_of_our_own(author, tmp_path):
    file = tmp_path / "prompts.yaml"
    file.write_text("instruction: Complete equation_v1, please.\n")
    sent, _ = messages("llm_sr", author, tmp_path, samples=4, prompts=str(file))
    own, _ = messages("llm_sr", author, tmp_path, samples=4)
    theirs = sent[0][0]["content"]
    assert theirs.startswith("Complete equation_v1, please.\n")
    assert own[0][0]["content"].partition("\n\n")[2] == theirs.partition("\n\n")[2]
    method = played("llm_sr", tmp_path, prompts=str(file))
    before = method.version
    assert before != played("llm_sr", tmp_path).version
    file.write_text("instruction: Complete it.\n")
    assert method.version != before
    assert "no file of prompts" in played("llm_sr", tmp_path, prompts="nowhere.yaml").available()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("intro: x", "texts of llm_sr are named argument, first, head, improved, instruction"),
        ("[1]", "texts of llm_sr are named"),
        ("instruction: 3", "texts of llm_sr are named"),
        ("head: $nobody", "head: 'nobody' is none of output, inputs, sentence, count"),
        ("head: 5 $ a day", "head: Invalid placeholder"),
    ],
)
def test_prompts_that_do_not_fit_are_refused(text, said, author, tmp_path):
    author()
    file = tmp_path / "prompts.yaml"
    file.write_text(text)
    with pytest.raises(ValueError, match=said):
        played("llm_sr", tmp_path, samples=4, prompts=str(file)).solve(PROBLEM)


@pytest.mark.parametrize("name", LOOPS)
def test_priors_and_meanings_are_said_only_when_asked_for(name, serve, tmp_path, monkeypatch):
    law = next(id for id in rd.problems("srsd", "easy") if any(rd.problem(id).meanings.values()))
    meaning = next(filter(None, rd.problem(law).meanings.values()))

    def first(**settings):
        server = serve(test_llm.good("f1 = c"))
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        played(name, tmp_path / str(settings), samples=1, **settings).solve(law)
        return "\n".join(message["content"] for message in server.seen[0][2]["messages"])

    sentence = methods.registry()[name].texts["priors"]["physics"]
    plain, described, with_prior = first(), first(describe=True), first(prior="physics")
    assert meaning not in plain and sentence not in plain
    assert meaning in described and sentence not in described
    assert sentence in with_prior and meaning not in with_prior


def test_columns_whose_names_are_words_of_python(serve, tmp_path, monkeypatch):
    task = Task(("lambda", "params"), "in", np.random.default_rng(0).uniform(1, 2, (50, 2)), np.arange(50.0))
    for name in LOOPS:
        server = serve(test_llm.good("f1 = c*params + c*lambda"))
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        front = played(name, tmp_path).fit(task, budget=Budget(), rng=np.random.default_rng(0))
        assert front and len(server.seen) == front[0].notes["completions"]
        parse(front[0].solution["in"], names=task.inputs)


# ---- replies


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("    return x", "    return x"),
        ("```python\ndef equation(x):\n    return x\n```", "def equation(x):\n    return x"),
        ("Well:\n```\n    return x\n```\nDone", "    return x"),
    ],
)
def test_fences(reply, read):
    assert llm_sr.unfenced(reply) == read


def test_an_edit_that_misses_leaves_the_parent_and_a_reply_without_edits_is_lost():
    parent = language_loops.Scored("a\nb", None, (), 0.0, 0.0, 1)
    assert openevolve.edited("<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE", parent, Counter()) == "a\nb"
    for reply in ("b is bad", "<<<<<<< SEARCH\nb\n=======\n" + "x" * 10_001 + "\n>>>>>>> REPLACE"):
        with pytest.raises(ProgramError):
            openevolve.edited(reply, parent, Counter())


def test_a_program_with_a_further_argument_is_refused():
    notation = Function("def func(x, params):", "func", {"x[:, 0]": "a"})
    with pytest.raises(ProgramError, match="'w' is no column"):
        notation.read("def func(x, params, w=2.0):\n    return x[:, 0]*w")


def test_numbers_of_prompts():
    assert [icsr.number(value) for value in (0.0, 1234.56789, -0.5, 0.012345, 1e-9)] == [
        "0.0",
        "1234.568",
        "-0.5",
        "0.0123",
        "1e-09",
    ]


# ---- without a model


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("proposer", ["grammar", "genetic"])
def test_controls_run_without_endpoint_and_alike(name, proposer, monkeypatch):
    for variable in PLACES:
        monkeypatch.delenv(variable, raising=False)
    method = methods.method(name, proposer=proposer, samples=60, max_rows=150)
    assert method.available() is None
    assert told(method.solve(PROBLEM)) == told(method.solve(PROBLEM)) != told(method.solve(PROBLEM, seed=1))
    assert "completions" not in method.solve(PROBLEM)[0].notes


@pytest.mark.parametrize("name", ["llm_sr", "openevolve", "sga"])
def test_without_proposals_a_loop_is_that_of_a_model_which_says_nothing(name, tmp_path, monkeypatch):
    for variable in PLACES:
        monkeypatch.delenv(variable, raising=False)
    alone = methods.method(name, proposer="none", samples=8, max_rows=150)
    assert alone.available() is None
    (best, *_), where = alone.solve(PROBLEM), tmp_path / "records"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(lambda request: "I would rather not.") as web:
        monkeypatch.setenv("OPENAI_BASE_URL", web.url)
        (silent, *_) = played(name, where, samples=8).solve(PROBLEM)
    assert (best.solution, best.loss) == (silent.solution, silent.loss)
    assert best.notes["completions"] == silent.notes["completions"] == len(web.seen) and where.exists()
    assert best.notes["prompt_tokens"] == best.notes["completion_tokens"] == best.notes.get("scored", 0) == 0


def test_without_proposals_loops_that_begin_with_nothing_have_no_answer():
    with pytest.raises(ValueError, match="no program was defined"):
        methods.method("icsr", proposer="none", samples=10, max_rows=150).solve(PROBLEM)
    for name in ("symbolbench_loop", "gp_llm_seeded"):
        assert methods.method(name, proposer="none", epochs=3).solve("cde/S001") == []
    with pytest.raises(ValueError, match="proposer is one of 'model', 'genetic', 'recorded'"):
        methods.method("gp_llm_judge", proposer="none")


@pytest.mark.parametrize("name", LOOPS)
def test_controls_count_what_a_model_would_have_been_sent(name, author, tmp_path):
    server = author()
    notes = methods.method(name, proposer="genetic", samples=8, max_rows=150).solve("surfaces/NCGS1")[0].notes
    played(name, tmp_path, samples=8).solve("surfaces/NCGS1")
    assert notes["requests"] == len(server.seen) == (2 if name == "icsr" else 8)
    # The first prompt is the same for both, whoever answers.
    one = methods.method(name, proposer="grammar", samples=1, max_rows=150).solve("surfaces/NCGS1")[0].notes
    assert one == one | {"requests": 1, "request_tokens": tokens_in(server.seen[0][2]["messages"])}
    spent = cost(name, notes, "gpt-4o-mini")
    assert spent.usd == pytest.approx((0.15 * spent.prompt_tokens + 0.6 * spent.completion_tokens) / 1e6, abs=1e-6)
    assert spent.completion_tokens == FACTS[name]["completion"] * spent.requests
    assert np.isnan(cost(name, notes, "a model of my own").usd)


def test_a_budget_is_kept_and_smaller_than_samples():
    method = methods.method("llm_sr", proposer="grammar", max_rows=150)
    assert method.solve("surfaces/NCGS1", budget={"evaluations": 30})[0].evaluations == 30


@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
def test_with_units_taken_off_the_answer_is_the_same_in_any(unit):
    X = np.random.default_rng(0).uniform(1, 3, (100, 2)) * unit
    task = Task(("a", "b"), "z", X, 2.5 * X[:, 0] * X[:, 1] / unit + unit)
    method = methods.method("llm_sr", proposer="genetic", samples=120, scale="unit")
    (best, *_) = method.fit(task, budget=Budget(), rng=np.random.default_rng(0))
    found = parse(best.solution["z"])({"a": X[:, 0], "b": X[:, 1]})
    assert np.mean((found / unit - task.y / unit) ** 2) == pytest.approx(best.loss / unit**2, rel=1e-6, abs=1e-20)
    assert 1 - np.mean((found / unit - task.y / unit) ** 2) / np.var(task.y / unit) > 0.999


def test_each_coordinate_of_a_parametric_surface_has_a_search():
    problem = rd.problem(rd.problems("surfaces", "parametric")[0])
    method = methods.method("openevolve", proposer="grammar", samples=20, max_rows=100)
    (best, *_) = method.solve(problem)
    assert set(best.solution) == {"x", "y", "z"} and best.evaluations == 60


@pytest.mark.parametrize("problem", ["surfaces/AMHD1", "cde/S001"])  # a level set, a system of equations
def test_other_kinds_of_problem(problem):
    method = methods.method("llm_sr", proposer="genetic", samples=12, max_rows=100)
    (best, *_) = method.solve(problem)
    outputs = {"z"} if problem.startswith("surfaces") else set(rd.problem(problem).outputs)
    assert set(best.solution) == outputs and best.evaluations == 12 * len(outputs)


# ---- what is missing


def test_what_is_missing_is_said(tmp_path, monkeypatch):
    for variable in PLACES:
        monkeypatch.delenv(variable, raising=False)
    plain = methods.method("llm_sr")
    assert "set model=" in plain.available() and "endpoint" in plain.available()
    assert "set OPENAI_BASE_URL" in played("llm_sr", tmp_path).available()
    assert "no replies of gpt-4o-mini" in played("llm_sr", tmp_path, "recorded").available()
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert played("llm_sr", tmp_path).available() is None
    assert plain.available() is not None  # without a model's name nothing is ever asked


@pytest.mark.parametrize(
    "settings", [{"proposer": "oracle"}, {"profile": "fast"}, {"scale": "log"}, {"prior": "magic"}, {"samples": 0}]
)
@pytest.mark.parametrize("name", LOOPS)
def test_settings_that_cannot_be(name, settings):
    with pytest.raises(ValueError, match=f"{name}: {next(iter(settings))}"):
        methods.method(name, **settings)
    with pytest.raises(ValueError, match="sampling"):
        methods.method("openevolve", sampling="best")


def test_a_replay_depends_on_its_records(author, tmp_path):
    author()
    played("llm_sr", tmp_path, samples=4).solve(PROBLEM)
    recorded, live = played("llm_sr", tmp_path, "recorded"), played("llm_sr", tmp_path)
    before, same = recorded.version, live.version
    played("llm_sr", tmp_path, samples=4).solve(PROBLEM, seed=1)
    assert recorded.version != before and live.version == same
