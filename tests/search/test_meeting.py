"""Undone functions, worked by hand, and the lookup."""

from rediscover.expressions import Expression
from rediscover.search.enumeration.enumeration import enumerate_features
from rediscover.search.enumeration.meeting import line, meet, quantile_rows, undone

import numpy as np
import pytest

Y = np.array([0.25, 0.5, 0.75])
BY_HAND = {
    "id": Y,
    "inverse": [4.0, 2.0, 4 / 3],
    "square": [0.0625, 0.25, 0.5625],
    "root": [0.5, np.sqrt(0.5), np.sqrt(0.75)],
    "inverse square": [16.0, 4.0, 16 / 9],
    "log": np.log(Y),
    "exp": np.exp(Y),
    "logit": [-np.log(3), 0.0, np.log(3)],
    "atanh": [0.5 * np.log(5 / 3), 0.5 * np.log(3), 0.5 * np.log(7)],
    "tan": np.tan(Y),
}


def test_undone_functions_by_hand():
    items = {item.name: item for item in undone(Y, offsets=(0.0,))}
    assert items.keys() == BY_HAND.keys()
    for name, item in items.items():
        assert np.allclose(item.values, BY_HAND[name]), name


@pytest.mark.parametrize("offset", [0.0, 1.0, -2.0])
def test_back_undoes_what_was_undone(offset):
    # t stands for the undone values; the tree on the way back must give the target again
    for y in (Y, -Y, Y + 2, np.array([-0.5, 0.2, 0.7])):
        for item in undone(y, offsets=(offset,)):
            again = Expression(item.back(("t",)))({"t": item.values})
            assert np.allclose(again, y, rtol=1e-12), (item.name, offset)


def test_what_is_not_one_to_one_is_not_undone():
    names = {item.name for item in undone(np.array([-1.5, 0.5, 2.0]), offsets=(0.0,))}
    assert names == {"id", "inverse", "exp"}
    assert "inverse" not in {item.name for item in undone(np.array([0.0, 1.0, 2.0]), offsets=(0.0,))}


def test_quantile_rows_start_with_the_extremes():
    y = np.random.default_rng(0).normal(size=500)
    rows = quantile_rows(y, 64)
    assert len(rows) == len(set(rows)) == 64
    assert y[rows[0]] == y.min() and y[rows[1]] == y.max()


def test_a_line_through_points():
    assert line(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])) == (2.0, 1.0)


def lookup(target, X, size=20_000, evaluations=10**6):
    rows = quantile_rows(target, 64)
    columns = {"x": X[:, 0], "y": X[:, 1]}
    return meet(enumerate_features(X[rows], size), rows, columns, target, ("x", "y"), evaluations)


@pytest.mark.parametrize(
    "truth", ["exp(x)*sin(y) + sin(x*y)", "(x + cos(y))/(x**2 + y**2)", "1/(exp(x) + x*sin(y) + 4)"]
)
def test_meets_in_the_middle(truth, square):
    from rediscover.expressions import parse

    target = parse(truth)({"x": square[:, 0], "y": square[:, 1]})
    finds, _ = lookup(target, square)
    assert finds and all(find.exact for find in finds)
    fresh = np.random.default_rng(7).uniform(-4, 4, (2, 200))
    values = {"x": fresh[0], "y": fresh[1]}
    assert any(np.allclose(f.expression(values), parse(truth)(values), rtol=1e-8, equal_nan=True) for f in finds)


def test_noise_meets_nothing(square):
    finds, used = lookup(np.random.default_rng(3).normal(size=len(square)), square, 3_000)
    assert finds == [] and used > 0


def test_looks_up_no_more_than_allowed(square):
    target = np.random.default_rng(3).normal(size=len(square))
    assert lookup(target, square, 3_000, 1_000)[1] <= 1_000
    assert lookup(target, square, 3_000, 0) == ([], 0)


def test_one_dominating_row_is_no_evidence(square):
    # any feature is a line of any other one if a single row is a million times as large as the rest
    target = np.random.default_rng(3).normal(size=len(square))
    target[0] = 1e9
    assert lookup(target, square, 3_000)[0] == []
