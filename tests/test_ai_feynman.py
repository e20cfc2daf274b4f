"""The method ai_feynman: the laws of minutes, both windows, units, budget, and what it cannot use."""

from rediscover import methods
from rediscover.expressions import Expression, parse
from rediscover.methods import Budget
from rediscover.methods.ai_feynman import gathered, units
from rediscover.problems import Split, Task
from rediscover.search.enumeration.divide_and_conquer import Meter, Settings, discover
from rediscover.search.enumeration.reverse_polish import SETS

import numpy as np
import pytest

# Solved by brute force alone in minutes, and so by the first stage here, on the Feynman set's range.
MINUTES = {
    "I.12.1": "x0*x1",
    "I.12.5": "x0*x1",
    "I.14.3": "x0*x1*x2",
    "I.25.13": "x0/x1",
    "I.29.4": "x0/x1",
    "I.39.1": "3/2*x0*x1",
    "I.34.27": "x0*x1/(2*pi)",
    "II.27.18": "x0*x1**2",
}


def table(rows=300, columns=3, seed=0):
    return np.random.default_rng(seed).uniform(1, 5, (rows, columns))


def fit(X, y, evaluations=20_000, seed=0, validation=None, **settings):
    task = Task(tuple(f"x{i}" for i in range(X.shape[1])), "y", X, y, validation)
    return methods.method("ai_feynman", **settings).fit(
        task, budget=Budget(evaluations=evaluations), rng=np.random.default_rng(seed)
    )


def values(text, X):
    return np.broadcast_to(parse(text)({f"x{i}": column for i, column in enumerate(X.T)}), len(X))


@pytest.mark.parametrize("law", MINUTES)
def test_the_minutes_long_list_is_solved(law):
    X, unseen = table(), table(seed=1)
    best = fit(X, values(MINUTES[law], X), divides=False)[0]
    assert best.notes["solved"] and values(best.solution["y"], unseen) == pytest.approx(values(MINUTES[law], unseen))


LONGER = {
    "I.12.2": "x0*x1/(4*pi*x2*x3**2)",
    "I.18.12": "x0*x1*sin(x2)",
    "I.27.6": "1/(1/x0 + x2/x1)",
    "I.43.31": "x0*x1*x2",
    "I.39.22": "x0*x1*x2/x3",
    "sum of two parts": "sin(x0)*x1 + exp(-x2)",
    "product of two parts": "exp(-(x0 - x1)**2)*(x2 + sqrt(x3))",
}


@pytest.mark.minutes
@pytest.mark.parametrize("law", LONGER)
def test_laws_of_more_inputs_are_solved_with_symmetries_and_separation(law):
    X, unseen = table(1000, 4), table(columns=4, seed=1)
    used = X[:, : 4 if "x3" in LONGER[law] else 3]
    best = fit(used, values(LONGER[law], X), 2_000_000)[0]
    assert values(best.solution["y"], unseen) == pytest.approx(values(LONGER[law], unseen), rel=1e-6)


@pytest.mark.parametrize("size", [1e-12, 1e-30, 1e20])
def test_the_released_window_ends_with_a_constant_or_nothing_and_the_normalised_one_with_the_law(size):
    X = table(columns=2)
    y = size * X[:, 0] * X[:, 1]
    best = fit(X, y)[0]
    assert values(best.solution["y"], X) == pytest.approx(y, rel=1e-9, abs=0)
    if size < 1:
        (released,) = fit(X, y, variant="as_released")
        assert parse(released.solution["y"]).names == () and released.evaluations == 0
        row = methods.method("ai_feynman_released")
        assert row.settings == methods.method("ai_feynman", variant="as_released").settings


def test_tiny_and_huge_inputs():
    X = table(columns=3) * [1e-30, 1e20, 1.0]
    y = 6.7e-11 * X[:, 0] * X[:, 1] / X[:, 2]
    best = fit(X, y)[0]
    assert best.solution["y"].count("e") == 1, "one factor holds all units"
    assert values(best.solution["y"], X) == pytest.approx(y, rel=1e-9, abs=0)


def test_without_structure_to_look_for_a_formula_of_many_symbols_is_missed():
    X = table(400, 4)
    y = np.exp(-((X[:, 0] - X[:, 1]) ** 2)) * (X[:, 2] + np.sqrt(X[:, 3]))
    divided, whole = (fit(X, y, 200_000, divides=divides)[0] for divides in (True, False))
    assert divided.loss < 1e-20 * np.mean(y**2) < whole.loss


def test_a_factor_that_overflows_on_all_rows_has_no_formula():
    y, meter = np.full(300, np.inf), Meter(1000)
    with np.errstate(invalid="ignore"):
        front = discover({"x0": table()[:, 0]}, y, Settings((SETS["7ops"],), 4, True), meter)
    assert not front.members and meter.used == 0


def test_candidates_are_a_front_smallest_error_first():
    X = table()
    front = fit(X, np.sin(X[:, 0]) + 0.123 * X[:, 1] ** 1.7, 50_000)
    assert len(front) > 4
    sizes, errors = zip(*((c.complexity, c.notes["error_bits"]) for c in front), strict=True)
    assert list(sizes) == sorted(sizes, reverse=True) and list(errors) == sorted(errors)
    for candidate in front:
        assert candidate.loss == pytest.approx(np.mean((values(candidate.solution["y"], X) - y_of(X)) ** 2))


def y_of(X):
    return np.sin(X[:, 0]) + 0.123 * X[:, 1] ** 1.7


def test_validation_rows_decide_the_order():
    X, V = table(), table(100, seed=2)
    y = X[:, 0] * X[:, 1] + np.random.default_rng(1).normal(size=300)
    front = fit(X, y, 5_000, validation=Split(V, V[:, 0] * V[:, 1]))
    errors = [np.mean((values(c.solution["y"], V) - V[:, 0] * V[:, 1]) ** 2) for c in front]
    assert errors == sorted(errors)


@pytest.mark.parametrize("evaluations", [1, 30, 1000, 5000])
def test_the_budget_is_kept(evaluations):
    X = table(200)
    front = fit(X, np.sin(X[:, 0] * X[:, 1]) / X[:, 2], evaluations)
    assert front and all(candidate.evaluations <= evaluations for candidate in front)


def test_same_seed_same_front():
    X = table(200)
    y = np.cos(X[:, 0]) * X[:, 1] + X[:, 2]
    assert fit(X, y, 5_000, seed=4) == fit(X, y, 5_000, seed=4)


def test_units_are_shared_by_like_inputs_and_none_for_ordinary_ones():
    X = np.array([[3e8, 1e8, 4e-20, 2.0], [2e8, 1e8, 3e-20, 500.0]])
    assert units(X)[0] == units(X)[1] > 2.0**26 and units(X)[2] < 2.0**-60 and units(X)[3] == 1
    assert units(np.zeros((3, 2))).tolist() == [1, 1]


@pytest.mark.parametrize(
    "text", ["2.0*x/(3.0*y)", "sqrt(4.0*x*2)*y", "(2.0*x)**3 - y", "-2*x + (-2)*y", "sin(2.0*x)/0.5", "exp(3.0)*x"]
)
def test_numbers_are_gathered_in_front_and_the_value_stays(text):
    factor, rest = gathered(parse(text).tree)
    point = {"x": 1.3, "y": 0.7}
    assert factor * Expression(rest)(point) == pytest.approx(parse(text)(point))


@pytest.mark.parametrize(
    "change", [{"variant": "other"}, {"operators": "8ops"}, {"operators": ""}, {"degree": 0}, {"max_rows": 0}]
)
def test_settings_that_cannot_be_used(change):
    with pytest.raises(ValueError, match="ai_feynman: "):
        methods.method("ai_feynman", **change)
