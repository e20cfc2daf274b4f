"""Training tables of the Symbolic Transformer: printing, numbers, ranges, acceptance, and the published count."""

from rediscover.expressions import parse
from rediscover.search.networks.bigrams import Bigrams
from rediscover.search.networks.skeleton_sets import (
    SkeletonSet,
    drawn_number,
    exponents,
    printed,
    scaled,
    skeleton_sets,
    skeletons,
)

import numpy as np
import pytest


@pytest.mark.parametrize(
    "sequence, released, meant",
    [
        ("x0", "x0", "x0"),
        ("BiMul BiAdd x0 x1 x2", "x0 + x1*x2", "((x0) + (x1))*(x2)"),
        ("Pow BiAdd x0 c c", "x0 + c0**c1", "((x0) + (c0))**(c1)"),
        ("sin BiMul c x0", "sin(c0*x0)", "sin((c0)*(x0))"),
    ],
)
def test_printed(sequence, released, meant):
    assert printed(sequence.split()) == released
    assert printed(sequence.split(), parentheses=True) == meant


def test_numbers_of_a_power_are_small_and_whole():
    rng = np.random.default_rng(0)
    assert exponents(parse("c0*sin(c1)**x0 + x0**(c2 + c3)").tree) == set()
    assert exponents(parse("x0**c0**c1").tree) == {"c0", "c1"}
    assert {drawn_number(True, rng) for _ in range(200)} == {-5, -4, -3, -2, 2, 3, 4, 5}
    sizes = np.log10([drawn_number(False, rng) for _ in range(2000)])
    assert -40 < sizes.min() < -28 and 28 < sizes.max() < 32


def test_rows_are_in_range_and_columns_are_scaled():
    made = SkeletonSet(("BiMul", "x0", "x1"), parse("x0*x1"), (3, -2), (False, True))
    rows = made.batch(4000, np.random.default_rng(0))
    assert 1e2 <= rows[:, 0].min() < 1.01e2 and 0.99e4 < rows[:, 0].max() <= 1e4
    assert (np.abs(rows[:, 1]) <= 0.1).all() and abs((rows[:, 1] > 0).mean() - 0.5) < 0.05
    np.testing.assert_allclose(rows[:, 2], rows[:, 0] * rows[:, 1])
    table = made.table(100, np.random.default_rng(0))
    assert table.shape == (100, 3) and (table.min(0) == 0).all() and (table.max(0) == 1).all()


def test_targets_beyond_single_precision_are_not_accepted():
    rng = np.random.default_rng(0)
    assert SkeletonSet((), parse("x0"), (40,), (False,)).table(50, rng) is None
    assert SkeletonSet((), parse("log(x0)"), (0,), (True,)).table(50, rng).shape == (50, 2)  # half of the rows
    assert SkeletonSet((), parse("1.5"), (0,), (False,)).table(50, rng) is None, "the target does not vary"
    assert scaled(np.ones((5, 2))).tolist() == np.zeros((5, 2)).tolist()


def test_tables_are_drawn_alike():
    model = Bigrams.of([("sin", "x0"), ("BiMul", "c", "x0")])
    first, again = (
        [(each.tokens, str(each.equation)) for each in skeleton_sets(skeletons(model, rng, 100), 8, rng)]
        for rng in (np.random.default_rng(5), np.random.default_rng(5))
    )
    assert first == again and {tokens for tokens, _ in first} == {("sin", "x0"), ("BiMul", "c", "x0")}
