"""Tables as people have them: names, kinds of numbers, sizes; each is answered rightly or refused in one sentence."""

import builtins
import dataclasses
import keyword
import re
from typing import ClassVar

from rediscover.expressions import parse
from rediscover.expressions.syntax import unreadable
from rediscover.methods import Budget, Candidate, Method, method
from rediscover.metrics import solution
from rediscover.problems import Regression, Split, Task, generator
from rediscover.runs.selection import by_fitness

import numpy as np
import pytest
import sympy

NAMES = [
    ("E", "pi"),
    ("I", "N"),
    ("lambda", "S"),
    ("beta", "gamma"),
    ("x_1", "x_11"),
    ("e", "Q"),
    ("O", "zeta"),
    ("E", "E1"),
]
GOOD = ("polynomial", "operon_log_scaled", "bidirectional", "least_squares", "power_law", "mean")
BUDGET = Budget(evaluations=2000)


def table(names=("a", "b"), rows=60, scales=(1.0, 1.0), unit=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 3, (rows, 2))
    y = 2.5 * X[:, 0] * X[:, 1] + 0.5
    return Task(names, "q", X * scales, y * unit)


def fit(name, task):
    return method(name).fit(task, budget=BUDGET, rng=generator(0, "table"))


def values(candidate, task):
    expression = parse(candidate.solution["q"], task.inputs)
    return np.broadcast_to(expression(dict(zip(task.inputs, np.asarray(task.X, float).T, strict=True))), len(task.y))


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("name", ("polynomial", "operon_log_scaled", "bidirectional"))
def test_a_name_changes_nothing(name, names):
    plain, named = table(("a", "b")), table(names)
    validation = Split(plain.X, plain.y)
    plain, named = (dataclasses.replace(task, validation=validation) for task in (plain, named))
    expected, found = fit(name, plain), fit(name, named)
    assert len(found) == len(expected)
    for one, other in zip(expected, found, strict=True):
        assert np.array_equal(values(one, plain), values(other, named), equal_nan=True)
    front = [Candidate({"q": text}, complexity=3) for text in ("2.5*{}*{}", "1.0*{}*{}")]
    fitted = [
        [Candidate({"q": c.solution["q"].format(*task.inputs)}, complexity=3) for c in front] for task in (plain, named)
    ]
    chosen = [by_fitness(each, task)[0].solution["q"] for each, task in zip(fitted, (plain, named), strict=True)]
    assert chosen == [c.format(*t.inputs) for c, t in zip(("2.5*{}*{}",) * 2, (plain, named), strict=True)]


def test_the_truth_of_ones_own_problem_keeps_an_input_called_E():
    law = Regression(id="own/energy", truth={"f": "E*m*exp(1)"}, inputs=("E", "m"))
    assert law.expressions["f"].names == ("E", "m")
    assert law.evaluate({"E": 2.0, "m": 3.0}) == pytest.approx(6 * np.e)


# What SymPy, numpy or Python call something by, and constants of physics that are also functions there.
MEANT = {name for module in (sympy, np, builtins) for name in vars(module) if not name.startswith("_")}
MEANT = sorted(MEANT | {*keyword.kwlist, *keyword.softkwlist})
ODD = ["E", "pi", "I", "N", "S", "Q", "O", "e", "lambda", "beta", "gamma", "zeta", "exp_", "x_1", "x_11", "nan", "inf"]
NONE = ["speed [m/s]", "a 1", "1", "", "a+b", "log", "True", "x.y", "Δt", "E*2"]


def drawn_names(rng):
    """Two names of inputs, the first one oftener of those that have been mistaken for something else."""
    pools = [[ODD, MEANT, NONE][rng.choice(3, p=chances)] for chances in ((0.5, 0.4, 0.1), (0.2, 0.8, 0.0))]
    return tuple(str(rng.choice(pool)) for pool in pools)


LAWS = ("2.5*{}*{} + 0.5", "{}/(1 + {})", "exp(1)*{} - {}**2", "sqrt({}) + 3.25*{}", "{}**3 - 1/{}")
NAMED = ("polynomial", "power_law", "least_squares", "bidirectional")


@pytest.mark.parametrize("seed", range(60))
def test_a_drawn_name_changes_nothing_or_is_refused(seed, monkeypatch):
    # in this process, since a hundred others would take long to begin
    monkeypatch.setattr(solution, "attempt", lambda function, *arguments: function(*arguments))
    rng = np.random.default_rng(seed)
    names, law = drawn_names(rng), LAWS[rng.integers(len(LAWS))]
    refused = [name for i, name in enumerate(names) if unreadable((name,)) is not None or name in names[:i]]
    if refused:
        one = "|".join(re.escape(repr(name)) for name in refused)
        with pytest.raises(ValueError, match=f"no expression can hold the input ({one}); give"):
            table(names, seed=seed)
        return
    plain, named = (table(inputs, seed=seed) for inputs in (("a", "b"), names))
    y = parse(law.format("a", "b"), ("a", "b"))(dict(zip("ab", plain.X.T, strict=True)))
    plain, named = (dataclasses.replace(task, y=y, validation=Split(plain.X, y)) for task in (plain, named))
    answered = str(rng.choice(NAMED))
    for one, other in zip(fit(answered, plain), fit(answered, named), strict=True):
        assert np.array_equal(values(one, plain), values(other, named), equal_nan=True), (names, answered)
    own = Regression(id="own/named", truth={"f": law.format(*names)}, inputs=names)
    assert {*own.expressions["f"].names} == {*names}
    assert np.array_equal(own.evaluate(dict(zip(names, plain.X.T, strict=True))), y)
    texts = [law, law.replace("{}", "{}**2", 1), f"3*({law})"]
    text = texts[rng.integers(3)]
    kinds = [
        solution.relation(*(t.format(*names) for t in (text, law)), dict(zip(names, plain.X.T, strict=True))).kind
        for names in (plain.inputs, names)
    ]
    assert kinds[0] == kinds[1] == ("equal", "different", "factor")[texts.index(text)], (names, text)


REFUSED_NAMES = [
    *[("speed [m/s]", "m"), ("a 1", "b-2"), ("log", "sin"), ("", "x"), ("1", "x"), ("True", "x"), ("x", "x")],
    *[("Δt", "x"), ("x.y", "z"), ("a+b", "c"), ("where", "x"), ("a\n", "b"), ("__import__('os')", "x")],
]


@pytest.mark.parametrize("names", REFUSED_NAMES)
def test_a_name_that_no_answer_can_hold_is_refused_before_anything_runs(names):
    with pytest.raises(ValueError, match="no expression can hold the input"):
        table(names)


X, Y = np.ones((5, 2)) * np.arange(1, 6)[:, None], np.arange(5.0)
SHAPES = {
    "no columns": ((), np.ones((5, 0)), Y, "give at least one column"),
    "no rows": (("a", "b"), np.ones((0, 2)), np.ones(0), "n at least 1"),
    "one name": (("a",), X, Y, "a name for each"),
    "flat inputs": (("a",), np.ones(5), Y, r"give \(n, n_inputs\)"),
    "two targets": (("a", "b"), X, np.ones((5, 2)), r"and \(n,\)"),
    "other lengths": (("a", "b"), X, np.ones(4), r"and \(n,\)"),
    "complex target": (("a", "b"), X, Y * 1j, "the target holds complex"),
    "complex inputs": (("a", "b"), X * 1j, Y, "each of the inputs holds complex"),
    "text": (("a", "b"), X, np.array(list("abcde")), "no number, such as a"),
    "mixed": (("a", "b"), X, np.array([1, "b", 2, 3, 4], dtype=object), "no number, such as b"),
    "dates": (("a", "b"), X, np.array(["2020-01-01"] * 5, dtype="datetime64[D]"), "no number"),
}


@pytest.mark.parametrize("case", SHAPES)
def test_a_table_that_is_none_is_refused_in_one_sentence(case):
    names, X, y, reason = SHAPES[case]
    with pytest.raises(ValueError, match=f"q: .*{reason}"):
        Task(names, "q", X, y)


KINDS = {
    "float32": lambda a: a.astype(np.float32),
    "integers": lambda a: np.round(a * 4).astype(np.int64),
    "small integers": lambda a: np.round(a * 4).astype(np.int8),
    "Booleans": lambda a: a > np.median(a),
    "objects": lambda a: a.astype(object),
    "column": lambda a: a[:, None] if a.ndim == 1 else a,
    "lists": lambda a: a.tolist(),
    "other order": lambda a: np.asfortranarray(a)[::-1][::-1],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", GOOD)
def test_every_kind_of_number_is_answered_as_the_same_floats(name, kind):
    plain = table()
    X, y = KINDS[kind](plain.X), KINDS[kind](plain.y)
    given = Task(plain.inputs, "q", X, y)
    floats = Task(plain.inputs, "q", np.asarray(X, float), np.ravel(np.asarray(y, float)))
    assert [c.solution for c in fit(name, given)] == [c.solution for c in fit(name, floats)]


@pytest.mark.parametrize("seed", range(50))
def test_what_a_mask_hides_is_missing(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(1, 9, (20, 2)), rng.integers(1, 9, 20)
    hidden = rng.random(20) < 0.3
    if seed % 2:
        X, y = X.astype(float), y.astype(float)
    task = Task(("a", "b"), "q", X, np.ma.array(y, mask=hidden))
    assert np.array_equal(np.isnan(task.y), hidden) and np.array_equal(task.y[~hidden], y[~hidden])
    task = Task(("a", "b"), "q", np.ma.array(X, mask=np.c_[hidden, ~hidden]), y)
    assert np.array_equal(np.isnan(task.X), np.c_[hidden, ~hidden])


def test_rows_with_missing_numbers_are_left_out_and_counted():
    given = table()
    X, y = given.X.copy(), given.y.copy().astype(object)
    X[3, 0], y[5] = np.nan, None
    [best, *_] = fit("polynomial", Task(("a", "b"), "q", X, y))
    assert best.notes["rows_dropped"] == 2
    assert values(best, given) == pytest.approx(given.y)


EXACT = ("polynomial", "bidirectional", "operon_log_scaled")


@pytest.mark.parametrize("seed", range(50))
def test_units_do_not_decide_whether_a_product_is_found(seed):
    rng = np.random.default_rng(seed)
    scales, unit = 10.0 ** rng.integers(-250, 250, 2), 10.0 ** int(rng.integers(-250, 250))
    given = table(scales=scales, unit=unit, seed=seed)
    [best, *_] = fit("polynomial", given)
    assert values(best, given) / unit == pytest.approx(given.y / unit, rel=1e-6)


@pytest.mark.parametrize("unit", (1e200, 1e-200, 1e300, 1e-290))
@pytest.mark.parametrize("name", EXACT)
def test_extreme_units_of_inputs_and_of_the_target(name, unit):
    for scales, of_target in (((unit, unit), 1.0), ((1.0, 1.0), unit), ((unit, 1.0), unit)):
        given = table(scales=scales, unit=of_target)
        task = dataclasses.replace(given, validation=Split(given.X, given.y))
        [best, *_] = fit(name, task)
        assert values(best, given) / of_target == pytest.approx(given.y / of_target, rel=1e-5)


@pytest.mark.parametrize("evaluations", [1, 2, 3, 10, 50, 200, 300, 500, 700, 999, 1000])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 8, 13])
def test_the_enumeration_answers_any_table_with_any_budget(evaluations, rows):
    rng = np.random.default_rng(rows)
    X = rng.uniform(1, 3, (rows, 2))
    task = Task(("a", "b"), "q", X, np.sin(7 * X[:, 0]) + rng.normal(size=rows))
    found = method("bidirectional").fit(task, budget=Budget(evaluations=evaluations), rng=generator(0, "odd"))
    assert found and all(np.isfinite(values(c, task)).any() for c in found)


TARGETS = {
    "noise": lambda rng, X: rng.normal(size=len(X)),
    "product": lambda rng, X: 2.5 * X.prod(axis=1) + 0.5,
    "constant": lambda rng, X: np.full(len(X), 4.0),
    "whole": lambda rng, X: rng.integers(-3, 4, len(X)).astype(float),
    "huge": lambda rng, X: 1e200 * X[:, 0],
    "with gaps": lambda rng, X: np.where(rng.random(len(X)) < 0.5, np.nan, X[:, -1]),
}


@pytest.mark.parametrize("seed", range(60))
def test_the_enumeration_answers_drawn_tables_or_says_why_not(seed):
    rng = np.random.default_rng((14, seed))
    rows, columns = int(rng.integers(1, 41)), int(rng.integers(1, 7))
    evaluations = int(rng.integers(1, 3001))
    X = rng.uniform(-2, 3, (rows, columns))
    if rng.random() < 0.2:
        X[:, rng.integers(columns)] = X[0, 0]
    y = TARGETS[str(rng.choice(list(TARGETS)))](rng, X)
    task = Task(tuple(f"x{i}" for i in range(columns)), "q", X, y)
    finite = np.isfinite(y)
    try:
        found = method("bidirectional").fit(task, budget=Budget(evaluations=evaluations), rng=generator(seed, "drawn"))
    except ValueError as error:
        assert not finite.any() and re.fullmatch(r"[^\n]+[^.\n]", str(error))
        return
    assert found and all(np.isfinite(values(c, task)[finite]).any() for c in found)


def test_equal_inputs_with_two_targets_are_answered():
    task = Task(("a",), "q", np.ones((40, 1)), np.arange(40.0))
    assert fit("bidirectional", task)


@dataclasses.dataclass(frozen=True)
class Careless(Method):
    name: ClassVar[str] = "careless"
    reference: ClassVar[str] = "test"

    def fit(self, task, *, budget, rng):
        return [Candidate({task.output: "E*2"})]


def test_a_candidate_is_read_with_the_names_of_its_table():
    task = table(("E", "b"))
    [one] = Careless().fit(task, budget=BUDGET, rng=generator(0, "x"))
    assert values(one, task) == pytest.approx(2 * task.X[:, 0])
