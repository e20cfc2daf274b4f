"""Constants by least squares: worked fits, scales, starts, and the count of evaluations."""

from rediscover.expressions import parse, refit
from rediscover.numerics.arrays import size_of
from rediscover.search.programs.constants import guess, optimise
from rediscover.search.programs.operators import CONSTANT
from rediscover.search.programs.programs import from_text, losses, to_text
from rediscover.search.programs.variation import random_programs

import numpy as np
import pytest


def fit(text, X, y, names=("x",), **options):
    found, loss, used = optimise(from_text([text], names), X, y, **options)
    return parse(to_text(found, names)[0]), loss[0], used[0]


def line(rows=30, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 2, (rows, 1))


def test_a_linear_fit_is_that_of_lstsq():
    X = np.random.default_rng(1).normal(size=(50, 2))
    y = np.random.default_rng(2).normal(size=50)
    expected = np.linalg.lstsq(np.column_stack([X, np.ones(50)]), y, rcond=None)[0]
    expression, loss, used = fit("1.0*x + 1.0*y + 1.0", X, y, ("x", "y"), starts=1)
    assert expression.constants == pytest.approx(expected, rel=1e-6)
    residual = y - np.column_stack([X, np.ones(50)]) @ expected
    assert loss == pytest.approx(np.mean(residual**2) / np.mean(y**2), rel=1e-12)
    assert used < 30


def test_constants_of_the_package_s_own_test():
    """SymbolicRegression.jl, test of the optimisation of constants: recovered to 1e-3."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = np.sin(2.1 * X[:, 0] + 0.8) + X[:, 1] ** 2
    expression, loss, _ = fit("sin(1.9*x + 0.2) + y*y", X, y, ("x", "y"), starts=1)
    assert expression.constants == pytest.approx((2.1, 0.8), abs=1e-8) and loss < 1e-20


def test_several_starts_leave_a_local_minimum():
    X = np.linspace(0, 3, 60)[:, None]
    y = np.sin(6 * X[:, 0])
    alone, many = (fit("sin(0.7*x)", X, y, starts=starts, evaluations=20_000)[1] for starts in (1, 200))
    assert alone > 0.1 and many < 1e-20


@pytest.mark.parametrize("x_unit, y_unit", [(1e-30, 1e20), (1e12, 1e-25), (1.0, 1e120)])
def test_units_do_not_matter(x_unit, y_unit):
    X = line() * x_unit
    y = y_unit * (2.5 * (X[:, 0] / x_unit) ** 2 + 1)
    expression, loss, _ = fit(f"{y_unit / x_unit**2!r}*x*x + {0.3 * y_unit!r}", X, y, starts=1)
    assert loss < 1e-24
    assert np.array(expression.constants) * [x_unit**2 / y_unit, 1 / y_unit] == pytest.approx([2.5, 1])


def test_agrees_with_the_project_s_own_refit():
    X = line(40)
    y = 3 * np.exp(-1.7 * X[:, 0]) + 0.2
    _, loss, _ = fit("1.0*exp(-1.0*x) + 1.0", X, y)
    reference = refit(parse("1.0*exp(-1.0*x) + 1.0"), {"x": X[:, 0]}, y)
    error = np.mean((reference({"x": X[:, 0]}) - y) ** 2) / np.mean(y**2)
    assert max(loss, error) < 1e-20


def test_constants_that_the_data_cannot_tell_apart():
    X, y = line(), 4 * line()[:, 0]
    expression, loss, _ = fit("1.0*(1.0*x)", X, y)
    assert loss < 1e-24 and np.prod(expression.constants) == pytest.approx(4)


def test_never_worse_and_what_is_undefined_stays_so():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    programs = random_programs(300, 14, ["+", "-", "*", "/", "log", "exp", "sin"], 2, seed=5)
    before = losses(programs, X, y, 1 / size_of(y))
    found, after, used = optimise(programs, X, y, evaluations=40)
    assert (after <= before).all() and (after < 0.999 * before)[np.isfinite(before)].mean() > 0.3
    np.testing.assert_array_equal(after, losses(found, X, y, 1 / size_of(y)))
    assert used.max() == 40 and used.min() == 1
    free = ~((programs.tokens == CONSTANT).any(axis=1))
    assert free.any() and (used[free] == 1).all()


@pytest.mark.parametrize("evaluations", [1, 2, 3, 7])
def test_the_count_of_evaluations_is_kept(evaluations):
    X = line()
    _, loss, used = fit("1.0*exp(0.5*x) + 2.0*x", X, np.cos(3 * X[:, 0]), evaluations=evaluations)
    assert used == evaluations and np.isfinite(loss)


def test_repeats_exactly_and_leaves_its_input_alone():
    X = line()
    programs = from_text(["1.0*sin(2.0*x)", "1.0/(x + 0.3)"], ["x"])
    before = programs.constants.copy()
    first, second = (optimise(programs, X, X[:, 0] ** 3) for _ in range(2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first[0] + first[1:], second[0] + second[1:], strict=True))
    assert programs.constants.tobytes() == before.tobytes()


def test_guesses_keep_the_first_start_and_move_zeros():
    constants, rng = np.array([[0.0, 2.0]]), np.random.default_rng(0)
    assert guess(constants, 0, rng).tolist() == [[0.0, 2.0]]
    assert (guess(constants, 1, rng) != 0).all() and (guess(constants, 2, rng) != constants).all()


def test_zeros_as_target():
    assert fit("1.0*x + 1.0", line(), np.zeros(30))[0].constants == pytest.approx((0, 0), abs=1e-12)


@pytest.mark.parametrize(
    "options, message",
    [({"starts": 0}, "at least 1"), ({"evaluations": 0}, "at least 1"), ({"y": [1.0, np.nan]}, "finite")],
)
def test_bad_input(options, message):
    y = options.pop("y", [1.0, 2.0])
    with pytest.raises(ValueError, match=message):
        optimise(from_text(["1.0*x"], ["x"]), np.ones((2, 1)), np.array(y), **options)
