import math

from rediscover.metrics import declared
from rediscover.metrics import regression as r

import numpy as np
import pytest

HARMONISED = [r.mse, r.nmse_variance, r.nmse_per_output, r.nmse_power]
TRUTH = np.array([[0.0, 10.0], [2.0, 10.0], [4.0, 40.0]])  # deviations from the mean: 8 and 600


def test_values_worked_by_hand():
    prediction = TRUTH + np.array([[1, 0], [0, 0], [0, 3]])  # squared errors 1 and 9
    assert r.mse(prediction, TRUTH) == pytest.approx(10 / 6)
    assert r.nmse_variance(prediction, TRUTH) == pytest.approx(10 / 608)
    assert r.nmse_per_output(prediction, TRUTH) == pytest.approx((1 / 8 + 9 / 600) / 2)
    assert r.nmse_power(prediction, TRUTH) == pytest.approx(10 / (20 + 1800))
    assert r.nmse_release_parametric(prediction, TRUTH) == pytest.approx(5 / 608)
    assert r.r2(prediction, TRUTH) == pytest.approx(1 - 10 / 608)


@pytest.mark.parametrize("function", HARMONISED)
def test_a_perfect_prediction_has_no_error(function):
    assert function(TRUTH, TRUTH) == 0


@pytest.mark.parametrize("function", [*HARMONISED, r.nmse_release_parametric])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_one_prediction_that_is_not_finite_is_infinitely_wrong(function, bad):
    prediction = TRUTH.copy()
    prediction[1, 0] = bad
    assert function(prediction, TRUTH) == math.inf


def test_the_mean_predictor_by_definition():
    mean = np.broadcast_to(TRUTH.mean(axis=0), TRUTH.shape)
    assert r.nmse_variance(mean, TRUTH) == pytest.approx(1)
    assert r.nmse_per_output(mean, TRUTH) == pytest.approx(1)
    three = np.column_stack([TRUTH, TRUTH[:, 0]])
    assert r.nmse_release_parametric(np.broadcast_to(three.mean(0), (3, 3)), three) == pytest.approx(1 / 3)
    assert r.nmse_power(0.0, TRUTH) == pytest.approx(1)
    assert r.r2(mean, TRUTH) == pytest.approx(0)


def test_the_release_drops_nan_but_not_infinity():
    truth = [1.0, 2.0, 3.0, 6.0]
    # without the last row: squared error 1 over 3, variance 2 / 3
    assert r.nmse_release([1, 3, 3, math.nan], truth) == pytest.approx(0.5)
    assert r.nmse_release([1, 3, 3, math.inf], truth) == math.inf
    assert r.nmse_release([math.nan] * 4, truth) == math.inf
    assert r.nmse_variance([1, 3, 3, math.nan], truth) == math.inf


@pytest.mark.parametrize("function", [r.nmse_variance, r.nmse_per_output, r.nmse_release])
def test_constant_truth(function):
    assert function([0.1, 0.1, 0.1], [0.1, 0.1, 0.1]) == 0
    assert function([0.1, 0.1, 0.2], [0.1, 0.1, 0.1]) == math.inf


def test_scale_and_order_do_not_matter():
    rng = np.random.default_rng(0)
    truth, prediction = rng.normal(size=50), rng.normal(size=50)
    order = rng.permutation(50)
    for function in (r.nmse_variance, r.nmse_per_output, r.nmse_power, r.nmse_release, r.r2):
        value = function(prediction, truth)
        assert function(1e3 * prediction, 1e3 * truth) == pytest.approx(value, rel=1e-6)
        assert function(prediction[order], truth[order]) == pytest.approx(value)
    assert r.nmse_variance(prediction + 5, truth + 5) == pytest.approx(r.nmse_variance(prediction, truth))
    assert r.nmse_power(prediction + 5, truth + 5) < r.nmse_power(prediction, truth)  # a known weakness


@pytest.mark.parametrize("unit", [1e-320, 1e-200, 1e-34, 1e200])
def test_squares_do_not_leave_double_precision(unit):
    truth = unit * np.array([100.0, 200.0, 300.0])
    assert r.r2(truth + unit * np.array([0, 0, 100]), truth) == pytest.approx(0.5, rel=1e-2)
    assert r.r2(truth, truth) == 1.0 and r.r2_accuracy(0 * truth, truth) == 0.0


def test_accuracy_is_strict():
    truth = [0.0, 2.0]  # deviations 2
    assert r.r2_accuracy([0, 3], truth, threshold=0.5) == 0.0  # r2 is 0.5
    assert r.r2_accuracy([0, 2.9], truth, threshold=0.5) == 1.0


@pytest.mark.parametrize(
    ("prediction", "truth", "message"),
    [
        ([1, 2], [1, 2, 3], "shape"),
        ([], [], "truth must have shape"),
        ([1, 2], [1, math.nan], "not finite"),
        (np.zeros((2, 2, 2)), np.zeros((2, 2, 2)), "truth must have shape"),
    ],
)
def test_bad_input(prediction, truth, message):
    with pytest.raises(ValueError, match=message):
        r.nmse_variance(prediction, truth)


def test_every_metric_declares_its_direction():
    names = {name for name, function in declared().items() if function.__module__ == r.__name__}
    assert len(names) == 9
    assert {name for name in names if declared()[name].direction == "higher"} == {"r2", "r2_accuracy"}
