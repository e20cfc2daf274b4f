"""Targets with noise: what is found again, what noise alone gives, and that clean targets keep their answers."""

import json
import lzma
from pathlib import Path

from rediscover import methods, problem
from rediscover.expressions import Expression, parse
from rediscover.methods import Budget
from rediscover.metrics.equivalence import equivalent
from rediscover.problems import Task
from rediscover.runs.records import data_digest
from rediscover.search.enumeration.formula import found
from rediscover.search.enumeration.meeting import undone
from rediscover.search.enumeration.noisy_pieces import noisy_pieces
from rediscover.search.enumeration.noisy_quotients import noisy_quotients
from rediscover.search.enumeration.noisy_targets import noisy, slopes
from rediscover.search.enumeration.short_constants import (
    constant_bits,
    description,
    folded,
    shorter,
    with_short_constants,
)
from rediscover.search.enumeration.term_pairs import pairs, products, singles

import numpy as np
import pytest

SQUARE = {"x": (0.5, 3.0), "y": (0.5, 3.0)}
EVALUATIONS = 3_000_000


@pytest.fixture(autouse=True)
def _overflow():
    """As in `regress`: features that overflow are left out where they are made."""
    with np.errstate(all="ignore"):
        yield


def table(text, noise=0.01, n=600, seed=0):
    rng = np.random.default_rng(seed)
    columns = dict(zip(SQUARE, rng.uniform(0.5, 3, (2, n)), strict=True))
    y = parse(text)(columns)
    return columns, y + noise * np.std(y) * rng.normal(size=n)


def shortest(finds, columns, y):
    """The find of least description length, constants of the best made short."""

    def length(find):
        return description(find.expression, find.error / np.var(y), len(y))

    best = sorted(finds, key=length)[:30]
    return min([*best, *(with_short_constants(find, columns, y, len(y)) for find in best)], key=length)


@pytest.mark.parametrize("text", ["x**2*cos(y) - 1", "x/(1 + y**2)"])
def test_a_target_with_noise_is_found(text):
    columns, y = table(text)
    finds, used = noisy(columns, y, ("x", "y"), EVALUATIONS)
    assert used <= EVALUATIONS and equivalent(shortest(finds, columns, y).expression, text, SQUARE)


def test_noise_alone_gives_something_short():
    rng = np.random.default_rng(0)
    task = Task(("x", "y"), "z", rng.uniform(-1, 1, (300, 2)), rng.normal(size=300))
    best = methods.method("bidirectional").fit(task, budget=Budget(evaluations=2_000_000), rng=rng)[0]
    assert not best.notes["exact"] and best.complexity <= 5


def test_the_same_finds_every_time():
    columns, y = table("sin(x*y) + x")
    one, other = (noisy(columns, y, ("x", "y"), 500_000) for _ in range(2))
    assert [str(find.expression) for find in one[0]] == [str(find.expression) for find in other[0]]
    assert one[1] == other[1] <= 500_000


@pytest.mark.parametrize("id", ["surfaces/TFS4", "srsd/I.12.1", "srsd/B1"])
def test_an_exact_answer_is_the_recorded_one(id):
    path = Path(__file__).parents[2] / "records" / id.split("/")[0] / "bidirectional.jsonl.xz"
    records = [json.loads(line) for line in lzma.open(path, "rt", encoding="utf-8")]
    asked = {"problem": id, "data": data_digest(problem(id), 0), "noise": 0, "seed": 0}  # and no dummy columns
    record = next(r for r in records if asked.items() <= r.items())
    assert record["candidates"][0]["notes"]["exact"]
    method = methods.method("bidirectional", **record["settings"])
    front = method.solve(problem(id), budget={"evaluations": record["evaluations"]}, seed=0)
    assert [c.solution for c in front] == [c["solution"] for c in record["candidates"]]


def test_pairs_and_products_by_hand():
    rng = np.random.default_rng(1)
    values, ones = rng.normal(size=(40, 200)), np.ones(200)
    assert singles(values, 3 * values[7] + 1, ones, 5)[0].first == 7
    best = pairs(values, values[4] - 2 * values[21] + 5, ones, 5)[0]
    assert (best.first, best.second) == (4, 21) and best.gain == pytest.approx(1, abs=1e-4)
    alone = products(values, 2 * values[3] * values[30] - 1, ones, 5)
    assert not alone[0].both and {alone[0].first, alone[0].second} == {3, 30}
    both = next(c for c in products(values, values[9] * (values[2] + 3), ones, 5) if c.both)
    assert (both.first, both.second) == (2, 9) and both.gain == pytest.approx(1, abs=1e-4)


def test_weights_make_the_noise_even():
    y = np.linspace(1, 3, 50)
    for item in undone(y, offsets=(0.0,)):
        if item.name in ("log", "inverse", "square", "root"):
            ahead = next(other for other in undone(y + 1e-6, offsets=(0.0,)) if other.name == item.name)
            moved = np.abs(ahead.values - item.values) * slopes(item, y)
            assert np.ptp(moved) < 1e-4 * moved.max(), item.name


def test_constants_become_short_where_the_data_allow_it():
    columns, y = table("2*x - 0.5*y + 0.3")
    near = found(parse("2.0003*x - 0.4996*y + 0.3002").tree, columns, y, "test")
    assert with_short_constants(near, columns, y, 600).expression.constants[:2] == (2, 0.5)
    far = found(parse("2.3179*x - 0.5*y - 0.3").tree, columns, parse("2.3179*x - 0.5*y - 0.3")(columns), "test")
    assert with_short_constants(far, columns, y, 600).expression.constants[0] == 2.3179


def test_functions_of_numbers_are_numbers():
    assert folded(parse("x*exp(0) + cos(0)*y").tree) == parse("x + y").tree
    assert 1.0 in shorter(0.98) and constant_bits(3, 100) < constant_bits(3.1416, 100)
    assert description(Expression(("x",)), 1e-4, 100) < description(parse("x + 0.1234"), 1e-4, 100)


@pytest.mark.parametrize("text", ["where(x < 1.5, x**2, 3)"])
def test_two_pieces_are_found_with_their_border(text):
    columns, y = table(text, n=800)
    finds, used = noisy_pieces(columns, y, ("x", "y"), 10_000_000)
    best = min(finds, key=lambda find: description(find.expression, find.error / np.var(y), len(y)))
    assert used <= 10_000_000 and equivalent(best.expression, text, SQUARE)


def test_a_smooth_target_is_not_cut():
    columns, y = table("x + 2*y")
    assert noisy_pieces(columns, y, ("x", "y"), 10_000_000)[0] == []


def test_a_quotient_with_noise_loses_the_terms_that_it_does_not_need():
    columns, y = table("(x**2 - 3*y)/(2 + y**2)")
    finds, _ = noisy_quotients(columns, y, ("x", "y"))
    best = min(finds, key=lambda find: description(find.expression, find.error / np.var(y), len(y)))
    assert equivalent(best.expression, "(x**2 - 3*y)/(2 + y**2)", SQUARE) and len(best.expression.constants) <= 4
