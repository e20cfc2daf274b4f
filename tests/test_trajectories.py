"""Metrics of trajectories, against hand-worked values."""

from rediscover.expressions import parse
from rediscover.metrics.trajectories import accuracy, dependent_tree, proximity_dependent, r2_trajectories, sr2

import numpy as np
import pytest
from sklearn.metrics import r2_score

NAN = float("nan")


class TestR2:
    def test_by_hand(self):
        truth = np.array([[0.0, 1.0], [2.0, 3.0]])
        assert r2_trajectories(truth + np.array([[1, 0], [0, 0]]), truth) == 1 - 0.5 * (1 / 2)

    @pytest.mark.parametrize("seed", range(5))
    def test_agrees_with_scikit_learn(self, seed):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=(20, 3)) * [1, 1e6, 1e-6]
        truth[:, seed % 3] = 4.0 if seed else truth[:, 0]
        prediction = truth + rng.normal(size=(20, 3)) * (seed > 2)
        assert r2_trajectories(prediction, truth) == pytest.approx(r2_score(truth, prediction), rel=1e-12)

    def test_failures_are_nan(self):
        truth = np.arange(6.0).reshape(3, 2)
        assert np.isnan(r2_trajectories(truth[:2], truth))
        assert np.isnan(r2_trajectories(np.where(truth == 3, np.inf, truth), truth))
        assert np.isnan(r2_trajectories(truth[:1], truth[:1]))

    def test_constant_state_counts_one_or_zero(self):
        assert r2_trajectories([3.0, 3.0], [3.0, 3.0]) == 1.0
        assert r2_trajectories([3.0, 3.1], [3.0, 3.0]) == 0.0


class TestAggregates:
    def test_denominators(self):
        r2 = [1.0, 0.91, 0.5, -7.0, NAN]
        assert sr2(r2) == pytest.approx(2.41 / 5)
        assert sr2(r2, failures="dropped") == pytest.approx(2.41 / 4)
        assert accuracy(r2) == 2 / 5 and accuracy(r2, failures="dropped") == 2 / 4

    def test_nothing_is_nan(self):
        assert np.isnan(sr2([])) and np.isnan(accuracy([NAN], failures="dropped"))

    def test_unknown_denominator(self):
        with pytest.raises(ValueError, match="'kept' or 'dropped'"):
            sr2([1.0], failures="some")


class TestProximity:
    @pytest.mark.parametrize(
        "a, b, distance",
        [
            ("x**2", "x**3", 0),
            ("exp(-2*x)", "exp(x)", 0),
            ("x", "y", 1),
            ("1/x", "x", 2),
            ("3*x", "x", 0),
            ("x + 2", "x", 0),
            ("3*x + 2", "x", 2),
            ("0.5", "2.5", 0),
            ("x*y", "x", 2),
        ],
    )
    def test_by_hand(self, a, b, distance):
        a, b = {"x": parse(a)}, {"x": parse(b)}
        assert proximity_dependent(a, b) == proximity_dependent(b, a) == distance

    def test_states_add_up_and_a_missing_one_is_nan(self):
        one, two = {"x": parse("x"), "y": parse("y")}, {"x": parse("y"), "y": parse("x")}
        assert proximity_dependent(one, two) == 2
        assert np.isnan(proximity_dependent({"x": parse("x")}, two))

    def test_tree(self):
        assert dependent_tree(parse("2*sin(3*x)")) == ("sin", ("x",))
