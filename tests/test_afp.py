"""The methods afp and afp_fe: as described they find simple laws; as released they are one and the same."""

from rediscover import methods
from rediscover.expressions import parse
from rediscover.methods import Budget
from rediscover.problems import Task

import numpy as np
import pytest


def fit(name, X, y, evaluations=20_000, seed=0, **settings):
    task = Task(tuple(f"x{i}" for i in range(X.shape[1])), "y", X, y)
    return methods.method(name, **settings).fit(
        task, budget=Budget(evaluations=evaluations), rng=np.random.default_rng(seed)
    )


def table(columns, rows=200, seed=0):
    return np.random.default_rng(seed).uniform(1, 5, (rows, columns))


def test_as_released_both_are_the_same_search():
    X = table(3)
    y = X[:, 0] * X[:, 1] + X[:, 2]
    released = fit("afp_released", X, y)
    assert released == fit("afp", X, y, variant="as_released") == fit("afp_fe", X, y, variant="as_released")
    assert fit("afp", X, y) != fit("afp_fe", X, y)


def test_as_released_a_tiny_target_is_solved_by_a_constant_and_as_described_it_is_not():
    X = table(2)
    y = 1e-12 * X[:, 0] * X[:, 1]
    released = fit("afp", X, y, variant="as_released")
    assert released[0].notes["generations"] == 0 and released[0].evaluations <= 500
    described = fit("afp", X, y)
    assert described[0].notes["generations"] > 0


@pytest.mark.parametrize("name", ["afp", "afp_fe"])
def test_a_product_is_found(name):
    X = table(2)
    best = fit(name, X, X[:, 0] * X[:, 1], 50_000)[0]
    values = dict(zip(("x0", "x1"), X.T, strict=True))
    assert parse(best.solution["y"])(values) == pytest.approx(X[:, 0] * X[:, 1])


def test_the_last_rows_choose():
    X = table(2)
    y = X[:, 0] * np.sqrt(X[:, 1]) + np.random.default_rng(1).normal(size=200) * 0.1
    front = fit("afp", X, y)
    values = dict(zip(("x0", "x1"), X[160:].T, strict=True))
    errors = [np.mean((parse(c.solution["y"])(values) - y[160:]) ** 2) for c in front]
    assert errors == sorted(errors) and len(front) > 2


@pytest.mark.parametrize("change", [{"variant": "other"}, {"operators": "bessel"}, {"max_length": 2}])
def test_settings_that_cannot_be_used(change):
    with pytest.raises(ValueError, match="afp: "):
        methods.method("afp", **change)


# SRBench solves these with AFP in ten of ten runs; ranges of the Feynman set.
LAWS = {
    "I.12.1": ("x0*x1", 1, 5),
    "I.12.5": ("x0*x1", 1, 5),
    "I.14.3": ("x0*x1*x2", 1, 5),
    "I.25.13": ("x0/x1", 1, 5),
    "I.34.27": ("x0*x1/(2*pi)", 1, 5),
}


@pytest.mark.minutes
def test_laws_that_afp_is_on_record_to_solve():
    for seed in range(3):
        solved = 0
        for text, low, high in LAWS.values():
            X = np.random.default_rng(seed).uniform(low, high, (1000, 3))
            y = parse(text)(dict(zip(("x0", "x1", "x2"), X.T, strict=True)))
            best = min(c.loss for c in fit("afp", X, y, 500_000, seed, stop_threshold=1e-12))
            solved += best / np.mean(y**2) < 1e-10
        assert solved >= 4
