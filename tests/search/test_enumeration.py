"""The pool: which features there are, in which order, each once."""

from rediscover.expressions import Expression
from rediscover.search.enumeration import grammar
from rediscover.search.enumeration.enumeration import Features, enumerate_features

import numpy as np
import pytest

NAMES = ("x", "y")


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).uniform(-2, 3, (64, 2))


@pytest.fixture(scope="module")
def pool(rows):
    return enumerate_features(rows, 20_000)


def texts(pool, cost, names):
    return [str(Expression(pool.tree(i, names))) for i in np.flatnonzero(pool.cost == cost)]


def test_cost_1_is_the_inputs(pool):
    assert texts(pool, 1, NAMES) == ["x", "y"]


def test_cost_2_by_hand():
    # of one positive input: square, inverse, root, then 1 + x (1 - x is -(x - 1), another line), then functions;
    # abs(x) is x itself, log(-x) and sqrt(-x) are undefined
    pool = enumerate_features(np.linspace(0.5, 2, 20)[:, None], 500)
    assert texts(pool, 2, ("x",)) == [
        "x**2",
        "1/x",
        "sqrt(x)",
        "1 + x",
        "1 - x",
        "sin(x)",
        "cos(x)",
        "exp(x)",
        "exp(-x)",
        "log(x)",
        "tanh(x)",
        "atan(x)",
    ]


def test_sums_products_and_quotients_of_inputs_cost_3(pool):
    three = texts(pool, 3, NAMES)
    assert {"y + x", "y - x", "y*x", "y/x", "x/y"} <= set(three)
    # the other order of a sum, difference or product is the same feature up to its sign
    assert not {"x + y", "x - y", "x*y"} & set(three)


def test_a_function_within_a_function_costs_one_more(pool):
    assert "sin(sin(x))" in texts(pool, 4, NAMES) and "sin(sin(x))" not in texts(pool, 3, NAMES)
    assert "sin(2*x)" in texts(pool, 3, NAMES)


def test_in_order_of_cost(pool):
    assert (np.diff(pool.cost) >= 0).all() and pool.cost[0] == 1


def test_operands_come_before_what_is_made_of_them(pool):
    made = pool.op != grammar.INPUT
    assert (pool.a[made] < np.flatnonzero(made)).all() and (pool.b < np.arange(len(pool))).all()


def test_distinct_up_to_the_sign(pool):
    # each value to 9 significant digits: exp(x) and exp(1 + x) are two features, y - x and x - y are one
    v = pool.values * np.sign(pool.values @ np.random.default_rng(5).normal(size=pool.values.shape[1]))[:, None]
    mantissa, exponent = np.frexp(v)
    keys = np.column_stack([np.round(mantissa, 9), exponent])
    assert len(np.unique(keys, axis=0)) == len(pool)


def test_none_is_constant_and_all_are_finite(pool):
    assert np.isfinite(pool.values).all()
    assert (np.ptp(pool.values, axis=1) > 1e-9 * np.abs(pool.values).max(axis=1)).all()


def test_trees_have_the_values_of_the_features(pool, rows):
    columns = dict(zip(NAMES, rows.T, strict=True))
    for i in range(0, len(pool), 97):
        found = Expression(pool.tree(i, NAMES))(columns)
        assert np.allclose(found, pool.values[i], rtol=1e-12, atol=1e-14), Expression(pool.tree(i, NAMES))


def test_values_on_other_rows(pool, rows):
    assert np.array_equal(pool.at(rows), pool.values)
    assert pool.at(rows[:3], 10).shape == (10, 3)


def test_the_same_pool_every_time(rows):
    one, other = (enumerate_features(rows, 3_000) for _ in range(2))
    assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("op", "a", "b", "k", "values"))


def test_a_smaller_pool_is_the_beginning_of_a_larger_one(pool, rows):
    small = enumerate_features(rows, 500)
    assert len(small) == 500 and np.array_equal(small.op, pool.op[:500]) and np.array_equal(small.a, pool.a[:500])


def test_a_constant_input_is_no_feature(rows):
    X = np.column_stack([rows[:, 0], np.full(64, 3.0)])
    assert "y" not in {name for i in range(200) for name in Expression(enumerate_features(X, 200).tree(i, NAMES)).names}


def test_one_row_has_no_features():
    assert len(enumerate_features(np.array([[1.0, 2.0]]), 100)) == 0


def test_inputs_of_any_scale():
    X = np.random.default_rng(0).uniform(1, 2, (64, 2)) * [1e-30, 1e25]
    pool = enumerate_features(X, 2_000)
    assert "y*x" in texts(pool, 3, NAMES) and np.isfinite(pool.values).all()


@pytest.mark.parametrize("X", [np.array([[1.0], [np.nan]]), np.empty((5, 0)), np.ones(4)])
def test_refuses_what_is_no_table(X):
    with pytest.raises(ValueError, match="finite"):
        enumerate_features(X, 10)


def test_joined_features_are_evaluated_with_the_others(rows):
    pool = enumerate_features(rows, 2)
    more = Features(pool.op, pool.a, pool.b, pool.k, pool.cost).joined([grammar.SIN], [1], [-1], [7.5], [0])
    assert np.allclose(more.at(rows)[2], np.sin(7.5 * rows[:, 1]))
    assert str(Expression(more.tree(2, NAMES))) == "sin(7.5*y)"


@pytest.mark.minutes
def test_a_million_features_take_seconds():
    import time

    rows = np.random.default_rng(0).uniform(-3, 3, (64, 2))
    enumerate_features(rows, 100)
    start = time.process_time()
    assert len(enumerate_features(rows, 1_000_000)) == 1_000_000
    assert time.process_time() - start < 10
