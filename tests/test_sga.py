"""SGA: played by a real server on loopback, its reader, its training, and the loop without a model."""

import hashlib
import json

import rediscover as rd
import test_language_loops as loops
from rediscover import methods
from rediscover.expressions.programs import ProgramError, read_module
from rediscover.llm.client import Records
from rediscover.llm.tokens import tokens_in
from rediscover.methods.language_costs import cost
from rediscover.methods.sga import Module, sections
from rediscover.search.loops.adam import Adam, adam
from rediscover.search.loops.slot_fits import table

import numpy as np
import pytest

author = loops.author
PROBLEM = "surfaces/TFS4"  # z = x*y


def module(formula, *constants):
    lines = "".join(f"        self.{name} = nn.Parameter(torch.tensor({value}))\n" for name, value in constants)
    return (
        "class Formula(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"{lines}\n    def forward(self, x, y):\n        return {formula}"
    )


def reply(code, plan="Try it."):
    return f"### Analysis\nIt bends.\n\n### Plan\n{plan}\n\n### Code\n```python\n{code}\n```\n"


REPLIES = [
    reply(module("self.a*x + self.b*torch.sin(y)", ("a", 1.0), ("b", 0.5)), plan="A sine.\nThen train."),
    reply(module("self.a*x**2", ("a", 1.0))),
    "### Analysis\nno code\n### Plan\nnone",
    reply(module("self.a*x", ("a", "{}"))),
    reply(module("torch.log(self.a*x)", ("a", 1.0))),  # undefined on some row
    reply(module("__import__('os').system('touch hacked')")),
    reply("import torch\n\nclass Formula(nn.Module):\n    def forward(self, x, y):\n        return nn.Linear(2, 1)(x)"),
]


def played(folder, proposer="model", samples=24, **settings):
    return loops.played("sga", folder, proposer, samples=samples, **{"max_rows": 60, **settings})


@pytest.fixture
def server(author, monkeypatch):
    """Answers by the whole conversation and by the temperature, the last of all it knows."""

    class Handler(loops.Handler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told = json.dumps([body["messages"], body["temperature"]]).encode()
            self.prompt = REPLIES[int(hashlib.sha256(told).hexdigest(), 16) % len(REPLIES)]
            with self.server.lock:
                self.server.seen.append((self.path, "", body, 0.0))
            self.server.behaviours[0](self)

    monkeypatch.setattr(loops, "Handler", Handler)
    monkeypatch.setattr(loops, "reply_to", lambda answer: answer)
    return author()


# ---- a whole run


def test_a_run_is_the_same_again_and_replayed_without_a_server(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    front = played(tmp_path / "a").solve(PROBLEM)
    notes, asked = front[0].notes, len(server.seen)
    assert notes["asked"] == notes["completions"] == asked == 24 == len(loops.replies(tmp_path / "a"))
    assert notes["unreadable"] > 0 and notes["scored"] > 0
    assert notes["asked"] == notes["unreadable"] + notes["undefined"] + notes["scored"]
    assert not (tmp_path / "hacked").exists()
    assert loops.told(played(tmp_path / "b").solve(PROBLEM)) == loops.told(front)
    assert loops.replies(tmp_path / "a") == loops.replies(tmp_path / "b") and len(server.seen) == 2 * asked
    for variable in loops.PLACES:
        monkeypatch.delenv(variable)
    assert loops.told(played(tmp_path / "a", "recorded").solve(PROBLEM)) == loops.told(front)
    with pytest.raises(loops.MissingRecord):
        played(tmp_path / "a", "recorded").solve(PROBLEM, seed=1)


def test_half_of_a_round_is_cold(server, tmp_path):
    played(tmp_path, samples=16, exploit=3, explore=5).solve(PROBLEM)
    for seed in (0, 1):
        played(tmp_path, samples=8, exploit=3, explore=5).solve(PROBLEM, seed=seed)
    draws = [r["request"] for r in Records(next(tmp_path.rglob("*.jsonl"))).values()]
    cold = [request["draw"] % 1_000_000 for request in draws if request["parameters"]["temperature"] == 0.5]
    assert len(draws) == 24 and set(cold) == {0, 1, 2} and len(cold) == 9


def test_what_was_recorded_before_a_break_is_not_asked_again(server, tmp_path):
    played(tmp_path, samples=8).solve(PROBLEM)
    first = [seen[2] for seen in server.seen]
    front = played(tmp_path, samples=24).solve(PROBLEM)
    assert len(server.seen) == 24 and front[0].notes["completions"] == 24
    assert not any(seen[2]["messages"] == first[0]["messages"] for seen in server.seen[8:])


def test_the_prompt_shows_modules_and_their_training(server, tmp_path):
    played(tmp_path).solve(PROBLEM)
    begin, last = server.seen[0][2]["messages"], server.seen[-1][2]["messages"]
    assert [m["role"] for m in begin] == ["system", "assistant", "user", "user"]
    assert "gives z from x, y" in begin[0]["content"] and "self.c2" in begin[-1]["content"]
    trained = [m["content"] for m in last if m["content"].startswith("Trained")]
    least = [float(text.rpartition(": ")[2]) for text in trained]
    assert least == sorted(least, reverse=True) and 2 <= len(least) <= 5
    curve = next(line for line in trained[-1].splitlines() if "every 10" in line).partition(": ")[2].split(", ")
    assert len(curve) == 101 and min(map(float, curve)) == least[-1]
    # With fewer than five of them, modules that could not be read come first.
    kinds = ["used" if m["content"].startswith("Trained") else "failed" for m in last[2:-1:2]]
    assert 3 <= len(kinds) <= 5 and kinds == sorted(kinds) and kinds[0] == "failed"
    assert not any("$" in m["content"] for m in last)


# ---- replies


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("### Analysis\na\n### Plan\nb", "no section 'Code'"),
        ("### Plan\nb\n### Code\n```python\nx\n```", "no section 'Analysis'"),
        (reply("a = {}"), "'{'"),
        (reply("for i in range(3):\n    pass"), "for i in"),
        ("### Analysis\n### Plan\n### Code\n", "no program"),
        ("", "no section 'Analysis'"),
    ],
)
def test_replies_that_are_refused(text, reason):
    with pytest.raises(ProgramError, match=reason):
        sections(text)


def test_plan_and_last_block_of_a_reply():
    text = "## analysis: x\na\n## Plan\none\ntwo\n## CODE\n```python\nold\n```\nBetter:\n```python\nnew\n```"
    assert sections(text) == ("one\ntwo", "new")


def test_modules_that_cannot_be_read_are_remembered():
    notation = Module({"x": "x", "y": "y"})
    more = module("x*w").replace("x, y)", "x, y, w)")
    for text, reason in ((more, "'w' is no column"), (module("nn.Linear(1, 1)(x)"), ""), ("x = 1", "no class")):
        with pytest.raises(ProgramError):
            notation.read(text)
        assert reason in notation.failed[text]


def test_a_module_of_our_own_is_read_again():
    notation = Module({"x": "x", "lambda_": "lambda"})
    tree = ("+", ("*", ("#0",), ("sin", ("x",))), ("/", ("lambda",), ("#1",)))
    reading = notation.read(notation.write(tree))
    assert str(reading.expression) == "c0*sin(x) + lambda/c1" and [slot.start for slot in reading.slots] == [1.0, 1.0]


# ---- training


def test_the_first_step_of_adam_is_its_rate_and_gradients_are_clipped():
    seen = []

    def steep(c):
        seen.append(c.copy())
        return float(1e6 * c @ c), 2e6 * c

    _, errors = adam(steep, np.array([3.0, -4.0]), rate=0.03, epochs=1, every=1)
    assert np.allclose(seen[1], [2.97, -3.97]) and len(errors) == 2


def test_adam_finds_a_line_and_looks_at_101_errors():
    x = np.linspace(-1, 1, 50)
    reading = read_module(module("self.a*x + self.b + 0*y", ("a", 1.0), ("b", 0.5)))
    fit = Adam()
    values, error = fit(reading, table(["x", "y"], np.column_stack([x, x]), 2 * x - 1))
    (curve,) = fit.curves.values()
    assert np.allclose(values, [2, -1], atol=1e-3) and len(curve) == 101 and error == min(curve) < 1e-6
    assert curve[0] == pytest.approx(np.mean((x - 1.5) ** 2))


def test_a_loss_that_is_not_a_number_ends_the_training():
    def broken(c):
        return (float(c[0]) if c[0] > 0.8 else np.nan), np.ones(1)

    values, errors = adam(broken, np.ones(1), rate=0.03, epochs=1000, every=1)
    assert 0.8 < values[0] < 0.84 and errors == sorted(errors, reverse=True) and len(errors) == 7
    assert adam(broken, np.zeros(1), rate=0.03, epochs=10, every=1)[1] == []


# ---- without a model


@pytest.mark.parametrize("proposer", ["grammar", "genetic"])
def test_controls(proposer, server, tmp_path):
    method = played(tmp_path, proposer, samples=16)
    front = method.solve(PROBLEM)
    notes = front[0].notes
    assert loops.told(front) == loops.told(method.solve(PROBLEM)) and notes["requests"] == notes["asked"] <= 16
    one = played(tmp_path, proposer, samples=1).solve("surfaces/NCGS1")[0].notes
    played(tmp_path, samples=1).solve("surfaces/NCGS1")
    assert one["request_tokens"] == tokens_in(server.seen[0][2]["messages"])
    assert cost("sga", notes, "gpt-4o-mini").usd > 0


def test_each_coordinate_of_a_parametric_surface_has_a_search(tmp_path):
    problem = rd.problem(rd.problems("surfaces", "parametric")[0])
    (best, *_) = played(tmp_path, "grammar", samples=8).solve(problem)
    assert set(best.solution) == {"x", "y", "z"} and best.evaluations == 24


@pytest.mark.parametrize("settings", [{"exploit": -1}, {"exploit": 0, "explore": 0}, {"samples": 0}, {"prior": "no"}])
def test_settings_that_cannot_be(settings):
    with pytest.raises(ValueError, match=f"sga: {next(iter(settings))}"):
        methods.method("sga", **settings)
