"""Whatever a language model writes, its reader gives a value or refuses it: nothing of it ends a paid run."""

import inspect
import random
import textwrap
from collections import Counter

import test_programs_reader as examples
from rediscover.expressions import ExpressionError, parse
from rediscover.expressions.edits import apply_edits, evolve_block, read_completion, read_edits, read_rewrite
from rediscover.expressions.programs import ProgramError, Reading, evaluation, read_function, read_module
from rediscover.expressions.spelling import respelled, respelled_rule
from rediscover.methods import icsr, llm_sr, openevolve, sga, symbolbench_forms
from rediscover.methods.gp_llm_judge import opinion_in, scores_in
from rediscover.search.evolution.concepts import strings
from rediscover.search.loops.proposals import Scored, search
from rediscover.search.loops.proposers import Function, Skeleton
from rediscover.search.loops.slot_fits import Fit, table

import numpy as np
import pytest

# By hand: what Python allows and a reader may not think of.
ODD = """
def f(x, params, *rest):\n    return x
def f(x, params, **rest):\n    return x
def f(x, *, params):\n    return x*params[0]
def f(x, x, params):\n    return x
def f(x, params=):\n    return x
def f(x, params, y=f):\n    return x
def f(x, params, y=lambda *a: a):\n    return y(x)
def f(params):\n    return params
def f():\n    return 1
def f(*, x, params):\n    return (lambda *a: 1)(x)
def f(x, /, params):\n    return x[()]*params[None]
async def f(x, params):\n    return x
f = lambda x, params: x
def f(x, params):\n    return {1: x}[1.5]
def f(x, params):\n    return {}.get({}, x)
def f(x, params):\n    return params[{}]
def f(x, params):\n    return params[::0]
def f(x, params):\n    return params[10**30]
def f(x, params):\n    return x.shape[x]
def f(x, params):\n    return np.zeros(-1)
def f(x, params):\n    return np.zeros({})
def f(x, params):\n    return np.full()
def f(x, params):\n    return sum()
def f(x, params):\n    return zip(1, 2)
def f(x, params):\n    return np.where()
def f(x, params):\n    return np.dot(1)
def f(x, params):\n    return np.select([x > 0], [])
def f(x, params):\n    return np.piecewise(x, 3, 4)
def f(x, params):\n    return np.pad(params, (1, 2, 3))
def f(x, params):\n    return np.linspace('a', 'b', 3)
def f(x, params):\n    return max([])
def f(x, params):\n    return [][0]
def f(x, params):\n    return next(iter(x))
def f(x, params):\n    return float('é')
def f(x, params):\n    return int('3')
def f(x, params):\n    return np.sin(*[x]*3)
def f(x, params):\n    return np.array([[1, 2], [3]])
def f(x, params):\n    return np.array([])*x
def f(x, params):\n    return np.sum([])*x
def f(x, params):\n    return 1e400*x
def f(x, params):\n    return -1e308*10*x
def f(x, params):\n    return True + x if x else None
def f(x, params):\n    return __chain__(x)
def f(x, params):\n    return __chain__(x, '+')
def f(x, params):\n    return __chain__(*params)
def f(x, params):\n    __chain__ = 3\n    return x
def f(x, params):\n    x.y.z = 3\n    return x
def f(x, params):\n    a, *b = params\n    return a
def f(x, params):\n    for x in params: pass\n    else: return x
def f(x, params):\n    del x\n    return x
def f(x, params):\n    with np.errstate() as e: return x
def f(x, params):\n    return f(x, params)
def f(x, params):\n    return (y := x)*y
def f(x, params):\n    return x is params
def f(x, params):\n    return x in params
def f(x, params):\n    return not []
def f(x, params):\n    return [x] < [x]
def f(x, params):\n    return params @ params @ x
def f(x, params):\n    return x.T.T[0].T
def f(x, params):\n    return params.sum(axis='rows')
def f(x, params):\n    return f'{x}'
def f(x, params):\n    return b'1'*x
def f(x, params):\n    return ...
def f(x, params):\n    return np
def f(x, params):\n    return np.pi(x)
def f(x, params):\n    return np.float64
def f(x, params):\n    return x.astype
def f(x, params):\n    return x.astype()
def f(x, params):\n    return np.array(x, dtype='<f8,<i4')
def f(x, params):\n    return np.array(x, dtype=[('a', int)])
def f(x, params):\n    return np.exp(x, out=params)
def f(x, params):\n    return np.exp(x, where=3)
def f(x, params):\n    np.exp(x, out=y)\n    return x
class M(nn.Module):\n    def forward(self, x, *args):\n        return x
class M(nn.Module):\n    def forward(*x):\n        return x
class M(nn.Module):\n    def forward():\n        return 1
class M(nn.Module):\n    def __init__(self, **k):\n        self.a = 1\n    def forward(self, x):\n        return x*self.a
class M(nn.Module):\n    def __init__(self):\n        self.a = nn.Parameter(torch.tensor('a'))\n    def forward(self, x):\n        return x
class M(nn.Module):\n    def __init__(this):\n        this.a = nn.Parameter()\n    def forward(self, x):\n        return x
class M(nn.Module):\n    forward = lambda self, x: x
class M:\n    def forward(self, x):\n        return self
class M:\n    def forward(self, x):\n        return super().forward(x)
class M:\n    def forward(self, x):\n        return self.forward(x)
"""  # noqa: E501
HAND = [entry.replace("\\n", "\n") for entry in ODD.strip().split("\n") if entry]
PIECES = [
    "*",
    "**",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "=",
    "==",
    ">=",
    "\n",
    "\r\n",
    "    ",
    "'",
    '"',
    "\\",
    "```",
]
PIECES += [
    "```python\n",
    "\ufeff",
    "\u00a0",
    "×",
    "²",
    "\ud800",
    "\x00",
    "lambda *a:",
    " if ",
    " else ",
    "x",
    "params",
    "None",
]
PIECES += [
    "1e999",
    "0",
    "-1",
    ".T",
    "np.",
    "def ",
    "return ",
    "class ",
    "@",
    "~",
    "in",
    "|",
    "&",
    "<<<<<<< SEARCH\n",
    "%",
]
PIECES += [
    "=======\n",
    ">>>>>>> REPLACE",
    '{"eq": "',
    '"}',
    '{"scm": [',
    "x0 <- ",
    "_{0}",
    "^{",
    "\\frac{",
    "### Code\n",
]
REPLIES = [
    "<<<<<<< SEARCH\nreturn x\n=======\nreturn 2*x\n>>>>>>> REPLACE",
    "### Analysis\na\n### Plan\nb\n### Code\n```python\nclass M:\n  def forward(self, x):\n    return x\n```",
    'Two: {"eq": "c*x0 | -c*x_1", "dim": 2}, {"eq": ["x0 <- x1", "x1 <- !x0"]} {"scm": "x0 <- x1_(lag=1) | x1 <- "}',
    '1. f1 = c*x + c\n2. `f2(x) = where(x >= 0, x, c)`\n["c*x", "sin(x)"]',
]
FUNCTION = Function("def f(x, params):", "f", {"x": "x"})
PARENT = Scored("def f(x, params):\n    return x", None, (), 0.0, 0.0, 1)


def odd_texts():
    """Programs and replies, as they are, and changed in up to six places; the seed is stated."""
    rng = random.Random(4_711)
    whole = HAND + REPLIES + [inspect.getsource(function) for function in examples.PROGRAMS] + [examples.SPRING]
    yield from whole
    for _ in range(600):
        text = rng.choice(whole if rng.random() < 0.7 else REPLIES)
        for _ in range(rng.randint(1, 6)):
            place = rng.randrange(len(text) + 1)
            cut = place + rng.choice([0, 0, 1, 2, 20])
            text = text[:place] + rng.choice([*PIECES, ""]) + text[cut:]
        yield text


PROGRAM_READERS = {
    "function": lambda text: read_function(text, name="f"),
    "any function": read_function,
    "module": read_module,
    "function in a loop": FUNCTION.read,
    "module in a loop": sga.Module({"x": "x"}).read,
    "skeleton in a loop": Skeleton(("x",)).read,
}
REPLY_READERS = {
    "edits": lambda text: apply_edits(PARENT.text, read_edits(text)),
    "rewrite": read_rewrite,
    "last rewrite": lambda text: read_rewrite(text, last=True),
    "completion": lambda text: read_completion("def f(x, params):", text),
    "block": evolve_block,
    "openevolve": lambda text: openevolve.edited(text, PARENT, Counter()),
    "llm_sr": lambda text: read_completion("def f(x, params):", llm_sr.unfenced(text)),
    "sga": sga.sections,
    "icsr": icsr.formulas,
    "lasr": strings,
    "systems": lambda text: symbolbench_forms.systems(text, ("x0", "x1")),
    "networks": lambda text: symbolbench_forms.networks(text, ("x0", "x1")),
    "graphs": lambda text: symbolbench_forms.causes(text, ("x0", "x1")),
    "judge": opinion_in,
    "judge with criteria": scores_in,
    "formula": lambda text: respelled(text, ["x"]),
    "rule": respelled_rule,
}


@pytest.mark.parametrize("name", PROGRAM_READERS)
def test_a_program_is_read_or_refused(name):
    seen = Counter()
    for text in odd_texts():
        try:
            assert isinstance(PROGRAM_READERS[name](text), Reading)
            seen["read"] += 1
        except ProgramError as error:
            assert error.reason and error.line >= 0
            seen["refused"] += 1
    assert seen.total() > 650 and seen["refused"] > 100


@pytest.mark.parametrize("name", REPLY_READERS)
def test_a_reply_is_read_or_refused(name):
    seen = Counter()
    for text in odd_texts():
        try:
            REPLY_READERS[name](text)
            seen["read"] += 1
        except ProgramError as error:
            assert error.reason
    assert seen["read"] > 3


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("G = 1\ndef f(x, params, *rest):\n    return x", 2, "any number of arguments"),
        ("def f(x, params, y):\n    return y(x)", 2, "is called"),
        ("def f(x, x):\n    return x", 1, "duplicate argument"),
        ("def f(x, params):\n    return np.sum(x, axis=0, axis=1)", 2, "keyword argument repeated"),
        ("def f(x, params):\n    break\n    return x", 2, "outside loop"),
        ("def f(x, params):\n\n    return {1: x}[[]]", 3, "not known"),
    ],
)
def test_a_refusal_has_line_and_reason(text, line, reason):
    with pytest.raises(ProgramError, match=reason) as caught:
        read_function(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "error", [RecursionError, AttributeError("of our own"), MemoryError, StopIteration, OSError("no")]
)
def test_a_fault_of_the_reader_itself_is_a_refusal(error, monkeypatch):
    def fail(self, node, frame):
        raise error

    monkeypatch.setattr(evaluation.Evaluation, "read_Subscript", fail)
    with pytest.raises(ProgramError) as caught:
        read_function("def f(x, params):\n    y = x\n    return params[0]*y")
    assert caught.value.line == 3 and caught.value.reason


def test_a_program_that_cannot_be_read_costs_one_sample(monkeypatch):
    class Keep:
        def add(self, program, place):
            self.program = program

        def show(self, rng):
            return sga.Shown(())

    answers = iter(["def f(x, params, *rest):\n    return x", "def f(x, params):\n    return params[0]*x"])
    data = table(["x"], np.arange(1.0, 5.0)[:, None], np.arange(1.0, 5.0))
    outcome = search(
        lambda shown, count, rng: [next(answers)],
        Keep(),
        FUNCTION,
        data,
        Fit(),
        lambda mse, reading: -mse,
        samples=2,
        rng=np.random.default_rng(0),
    )
    assert outcome.counts["unreadable"] == 1 and outcome.counts["scored"] == 1


# Replies as servers cut them and as models write them


def test_what_a_reply_leaves_open_or_ends_with_carriage_returns():
    assert (
        read_rewrite("```python\nG=1\n") == "G=1" == read_rewrite("```\r\nG=1\r\n```\r\n") == read_rewrite("G=1\n```")
    )
    edits = read_edits("<<<<<<< SEARCH\r\na\r\n=======\r\nb\r\n>>>>>>> REPLACE\r\n")
    assert apply_edits("x\r\na\r\ny", edits) == ("x\nb\ny", ())
    body = "```python\r\ndef f(x, params):\r\n    return x\r\nDone.\r\n"
    assert read_completion("def f(x, params):", llm_sr.unfenced(body)) == "def f(x, params):\n    return x"
    cut = REPLIES[1].removesuffix("\n```").replace("\n", "\r\n")
    assert read_module(sga.sections(cut)[1]).inputs == ("x",)


@pytest.mark.parametrize(
    ("reply", "found", "unread"),
    [
        ('{"eq": "x0 >= c | c*x1"}', [("x0 >= c", "c*x1")], 0),
        ('{"eq": "x0 = where(x1 == 0, c, x1) | x1 = c"}', [("where(x1 == 0, c, x1)", "c")], 0),
        ('{"eq": ["c*x_{0}", "dx1/dt = x0"]} {"eq": ["c"]}', [("c*x0", "x0")], 1),
        ('{"eq": "c*|x0| | x1"}', [("c*|x0|", "x1")], 0),
        ('{"eq": "\\\\frac{c}{x_{1}} | x0² − 1"}', [("((c)/(x1))", "x0**(2)-1")], 0),
        ('{"eq": "x0 | x1"', [], 1),
        ("I cannot say.", [], 1),
    ],
)
def test_systems_of_a_reply_and_how_many_are_dropped(reply, found, unread):
    form = symbolbench_forms.Equations.__new__(symbolbench_forms.Equations)
    assert symbolbench_forms.systems(reply, ("x0", "x1")) == [
        dict(zip(("x0", "x1"), each, strict=True)) for each in found
    ]
    object.__setattr__(form, "problem", type("Problem", (), {"inputs": ("x0", "x1")}))
    assert form.unread(reply) == unread


def test_rules_and_graphs_in_lists_and_other_signs():
    rules = symbolbench_forms.networks('{"eq": ["x0 <- ¬x1 ∧ x0", "x1 := NOT x_{0}"]}', ("x0", "x1"))
    assert rules == [{"x0": "!x1 & x0", "x1": "not x0"}]
    assert symbolbench_forms.networks('{"eq": "x0 == x1; x1 <- x0"}', ("x0", "x1")) == []
    graphs = symbolbench_forms.causes('{"scm": ["x_{0} <- x1", "x1 <-"]}', ("x0", "x1"))
    assert graphs == [{"x0": (("x1", 1),), "x1": ()}]


def test_formulas_are_split_at_equality_signs_only():
    assert icsr.formulas("f1 = where(x >= 0, x, c)\nf2: x <= c\n3. y = f3(x) = c*x.") == ["where(x >= 0, x, c)", "c*x"]
    assert icsr.formulas('["c*x", "x + c"]') == ["c*x", "x + c"]


def test_edits_that_find_nothing_are_counted():
    dropped = Counter()
    reply = "<<<<<<< SEARCH\nnot there\n=======\nb\n>>>>>>> REPLACE\n" * 2
    assert openevolve.edited(reply, PARENT, dropped) == PARENT.text and dropped == {"missed": 2}


def test_a_skeleton_in_other_signs_is_read():
    reading = Skeleton(("x",)).read("c·x² + 2sin^2(c x)")
    assert parse(str(reading.expression)) == parse("c_0_*x**2 + 2*sin(c_1_*x)**2")


def test_texts_of_this_file_are_odd():
    assert len(list(odd_texts())) > 650
    with pytest.raises(ExpressionError):
        parse(textwrap.dedent(HAND[0]))
