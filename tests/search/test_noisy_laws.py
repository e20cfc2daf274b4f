"""Laws of several inputs behind noise, and constants that stand for one another."""

from rediscover import methods
from rediscover.expressions import parse
from rediscover.methods import Budget
from rediscover.metrics.equivalence import equivalent
from rediscover.problems import Task
from rediscover.search.enumeration.enumeration import enumerate_features
from rediscover.search.enumeration.formula import found, polished
from rediscover.search.enumeration.noisy_laws import functions, law_terms, noisy_laws
from rediscover.search.enumeration.related_constants import multiples_of_pi, related_bits, with_related_constants
from rediscover.search.enumeration.short_constants import description, with_short_constants

import numpy as np
import pytest

EVALUATIONS = 8_000_000


@pytest.fixture(autouse=True)
def _overflow():
    """As in `regress`: features that overflow are left out where they are made."""
    with np.errstate(all="ignore"):
        yield


def table(text, names, noise=0.01, n=600, seed=0):
    rng = np.random.default_rng(seed)
    columns = dict(zip(names, rng.uniform(1, 4, (len(names), n)), strict=True))
    y = parse(text)(columns)
    return columns, y + noise * np.sqrt(np.mean(y**2)) * rng.normal(size=n)


def shortest(finds, columns, y):
    def length(find):
        return description(find.expression, find.error / np.var(y), len(y), related_bits)

    best = sorted(finds, key=length)[:15]
    best += [with_short_constants(find, columns, y, len(y)) for find in best]
    return min([*best, *(with_related_constants(find, columns, y, len(y)) for find in best)], key=length)


@pytest.mark.parametrize(
    "text",
    [
        "m/sqrt(1 - v**2/(20*c**2))",  # a monomial times a power of one feature
        "a*exp(-(m*v/(c*a)))",
        "a*sin(2*v)*m/c**3",
        "sqrt(m**2*v/a + 2*c)",  # a sum behind a root
        "1/(m/a + m*c/(7*v))",
    ],
)
def test_a_law_of_four_inputs_is_found_behind_noise(text):
    names = ("m", "v", "c", "a")
    columns, y = table(text, names)
    finds, used = noisy_laws(columns, y, names, EVALUATIONS)
    best = shortest(finds, columns, y)
    shape = parse(text)
    assert used <= EVALUATIONS
    # the numbers carry the noise: the form is right if constants fitted to values without it make it exact
    clean = shape(columns)
    again = polished(found(best.expression.tree, columns, clean, ""), columns, clean, 200)
    assert again.error < 1e-12 * np.var(clean), best.expression


def test_noise_alone_gives_nothing_that_is_worth_its_bits():
    columns, _ = table("x*y", ("x", "y"), n=400)
    y = 5 + np.random.default_rng(1).normal(size=400)
    finds, _ = noisy_laws(columns, y, ("x", "y"), 2_000_000)
    constant = description(parse("5.01"), 1.0, 400)
    assert all(description(f.expression, f.error / np.var(y), 400) > constant - 25 for f in finds)


def test_an_input_that_is_zero_leaves_sums():
    columns, _ = table("x*y", ("x", "y"))
    columns["x"][:3] = 0
    y = columns["x"] ** 2 / columns["y"] + columns["y"] + 0.01 * np.random.default_rng(0).normal(size=600)
    finds, _ = noisy_laws(columns, y, ("x", "y"), EVALUATIONS)
    assert {find.stage for find in finds} == {"sum with noise"}
    assert equivalent(str(shortest(finds, columns, y).expression), "x**2/y + y", {"x": (1, 4), "y": (1, 4)})


def test_terms_and_functions_are_finite_and_many():
    columns, _ = table("x*y", ("x", "y", "z"))
    few = {name: column[:50] for name, column in columns.items()}
    X = np.array(list(few.values())).T
    terms = law_terms(enumerate_features(X, 500), 3)
    assert np.isfinite(terms.at(X)).all() and len(terms) > 500
    texts = {str(terms.tree(i, ("x", "y", "z"))) for i in range(len(terms))}
    assert str(("/", ("*", ("x",), ("**", ("y",), (2,))), ("z",))) in texts
    assert len(functions(few, ("x", "y", "z"))) > 1_000


@pytest.mark.parametrize(
    ("truth", "start", "expected"),
    [
        ("10*y - 10*(x**3 - x)/3", "-3.3*x**3 + 3.2*x + 9.9*y", {"x**3": -1, "x": 1}),
        ("2.345*x + 7.035*y", "2.3*x + 7*y", {"x": 1, "y": 3}),
    ],
)
def test_constants_that_are_multiples_of_one_another_are_tied(truth, start, expected):
    columns, y = table(truth, ("x", "y"), noise=0.001)
    find = polished(found(parse(start).tree, columns, y, ""), columns, y)
    tied = with_related_constants(find, columns, y, len(y))
    numbers = tied.expression.constants
    first, second = (abs(v) for v in numbers[:2])
    ratio = {abs(v) for v in expected.values()}
    assert second / first == pytest.approx(max(ratio) / min(ratio), rel=1e-8)
    # it is allowed, as it saves bits
    bits = [description(f.expression, f.error / np.var(y), len(y), related_bits) for f in (find, tied)]
    assert bits[1] < bits[0] and tied.error < 1.05 * find.error


def test_a_relation_that_would_move_a_constant_to_infinity_is_refused():
    columns, y = table("2.961*x + 0.958*y", ("x", "y"), noise=0.001)
    find = found(parse("1e-155*x*2.9e155 + 1e-155*9.5e154*y").tree, columns, y, "")
    tied = with_related_constants(find, columns, y, len(y))
    assert np.isfinite(tied.expression.constants).all() and tied.error <= find.error * (1 + 1e-9)


def test_a_multiple_of_pi_is_named_and_an_idle_constant_goes():
    columns, y = table("sqrt(12.566370614359172*x*y + z**2)", ("x", "y", "z"), noise=0.0002)
    find = polished(found(parse("sqrt(12.5*x*y + z**2) + 0.0001").tree, columns, y, ""), columns, y)
    (number,) = with_related_constants(find, columns, y, len(y)).expression.constants
    assert number == pytest.approx(4 * np.pi, rel=1e-9)


def test_multiples_of_pi_are_near_and_unrelated_constants_cost_what_they_did():
    assert (8 / 3, 8 / 3 * np.pi) in [(r, pytest.approx(v)) for r, v in multiples_of_pi(8.377)]
    assert list(multiples_of_pi(1e9)) == []
    assert related_bits([0.4142, 0.7321], 1024) == 18.0


def test_the_later_version_takes_the_stage():
    columns, y = table("m/sqrt(1 - v**2/(20*c**2))", ("m", "v", "c"), n=150)
    task = Task(("m", "v", "c"), "y", np.array(list(columns.values())).T, y)
    later = methods.method("bidirectional_noise", without=["pieces", "laws"])
    front = later.fit(task, budget=Budget(8_000_000), rng=np.random.default_rng(0))
    assert {candidate.notes["stage"] for candidate in front} & {"product with noise", "sum with noise"}


def test_the_later_version_is_a_preset_and_an_unknown_part_is_named():
    assert methods.method("bidirectional_noise").settings["also"] == ("laws with noise",)
    assert "also" not in methods.method("bidirectional").settings
    with pytest.raises(TypeError, match=r"no part 'law' can be added .*laws with noise"):
        methods.method("bidirectional", also=["law"])
