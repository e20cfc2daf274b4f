"""The ODE systems: their numbers against the verified facts, noise, splits and what goes wrong."""

import dataclasses
from pathlib import Path

import rediscover as rd
from rediscover import problems
from rediscover.problems import odes

import numpy as np
import pytest
import sympy
import yaml
from scipy.integrate import solve_ivp


def test_there_are_63_systems_by_dimension():
    assert len(odes.ids()) == 63
    assert [len(odes.ids(str(d))) for d in (1, 2, 3, 4)] == [23, 28, 10, 2]
    assert sum(rd.problem(f"odes/{n}").univariate for n in odes.ids()) == 17


SYSTEMS = yaml.safe_load((Path(__file__).parent / "data" / "odebench.yaml").read_text())


def test_equations_and_initial_conditions_are_the_verified_ones():
    assert len(SYSTEMS) == 63
    for entry in SYSTEMS:
        p = rd.problem(f"odes/{entry['id']}")
        assert list(p.equations) == entry["equations"] and p.constants == entry["constants"]
        assert [list(start) for start in p.initial] == entry["initial"]
        assert p.univariate == entry["univariate"]


def test_power_of_the_test_derivatives_is_the_verified_one():
    """Known to three digits; a trajectory on the wrong branch would be off by orders of magnitude."""
    for entry in SYSTEMS:
        du = rd.problem(f"odes/{entry['id']}").clean().du
        assert np.sum(du[120:] ** 2) == pytest.approx(entry["test_power"], rel=6e-3), entry["id"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(1, 64))
def test_trajectories_are_to_the_bit_those_of_the_published_generator(number):
    """Which reads the equations by SymPy; system 35 tells a quotient from a cotangent, the chaotic ones anything."""
    problem = rd.problem(f"odes/{number}")
    known = {sympy.Symbol(name): value for name, value in problem.constants.items()}
    states = sympy.symbols(problem.inputs)
    functions = [sympy.lambdify(states, sympy.sympify(e).subs(known), "numpy") for e in problem.equations]
    found = solve_ivp(
        lambda t, x: np.array([f(*x) for f in functions]),
        (0, 10),
        problem.initial[0],
        t_eval=np.linspace(0, 10, 150),
        **{"method": "LSODA", "rtol": 1e-5, "atol": 1e-7, "first_step": 1e-6, "min_step": 1e-10},
    )
    np.testing.assert_array_equal(problem.clean().u, found.y.T)


@pytest.mark.parametrize(
    ("number", "snr_db", "expected"),
    [(1, 40, [[10.17640523], [9.82002598]]), (63, 10, [[0.40262916, 0.19784495, 0.07979759, 0.01459924]])],
)
def test_noise_is_the_published_realisation(number, snr_db, expected):
    u = rd.problem(f"odes/{number}", snr_db=snr_db).trajectory().u
    np.testing.assert_allclose(u[: len(expected)], expected, rtol=0, atol=5.1e-9)  # printed to 8 decimals


def test_noise_follows_from_the_level_and_the_seed():
    assert rd.problem("odes/3", snr_db=20).noise == pytest.approx(0.1)
    assert rd.problem("odes/3", noise=0.1).snr_db == 20 and rd.problem("odes/3").snr_db == np.inf
    noisy, other = (rd.problem("odes/3", snr_db=20).trajectory(seed).u for seed in (0, 1))
    assert not np.array_equal(noisy, other)
    np.testing.assert_array_equal(noisy, rd.problem("odes/3", snr_db=20).trajectory(0).u)
    np.testing.assert_array_equal(rd.problem("odes/3").clean().du, rd.problem("odes/3", snr_db=20).trajectory(0).du)


def test_exponential_growth_has_its_closed_form():
    t, u, du = rd.problem("odes/2").clean()
    np.testing.assert_allclose(u[:, 0], 4.78 * np.exp(0.23 * t), rtol=3e-5)
    np.testing.assert_allclose(du, 0.23 * u, rtol=1e-15)


@pytest.mark.parametrize("number", [1, 10, 35, 42, 55, 63])
def test_the_truth_evaluates_to_the_exact_derivatives(number):
    p = rd.problem(f"odes/{number}")
    _, u, du = p.clean()
    values = p.evaluate(dict(zip(p.inputs, u.T, strict=True)))
    np.testing.assert_allclose(values.reshape(du.shape), du, rtol=1e-11, atol=1e-13 * np.abs(du).max())


def test_published_validation_lies_within_training_and_corrected_does_not():
    cuts = {name: (s.start, s.stop) for name, s in problems.time_splits(150).items()}
    assert cuts == {"train": (0, 96), "validation": (72, 96), "refit": (0, 120), "test": (120, 150)}
    cuts = {name: (s.start, s.stop) for name, s in problems.time_splits(150, "corrected").items()}
    assert cuts == {"train": (0, 90), "validation": (90, 120), "refit": (0, 120), "test": (120, 150)}


def test_splits_hold_noisy_states_and_the_right_targets():
    p = rd.problem("odes/24", snr_db=30)
    t, u, du = p.trajectory()
    data = p.data()
    np.testing.assert_array_equal(data["test"].X, u[120:])
    np.testing.assert_array_equal(data["test"].y, du[120:])
    step = t[1] - t[0]
    np.testing.assert_allclose(data["train"].y[1], (u[2] - u[0]) / (2 * step), rtol=1e-12)
    np.testing.assert_allclose(data["train"].y[0], (-3 * u[0] + 4 * u[1] - u[2]) / (2 * step), rtol=1e-12)
    assert data["validation"].y.shape == (24, 2) and rd.problem("odes/1").data()["train"].y.shape == (96,)


def test_tasks_hold_one_table_per_state():
    tasks = rd.problem("odes/24").tasks()
    assert [(task.output, task.X.shape, task.validation) for task in tasks] == [
        ("x0", (120, 2), None),
        ("x1", (120, 2), None),
    ]
    corrected = rd.problem("odes/24", split="corrected").tasks()[1]
    assert corrected.X.shape == (90, 2) and corrected.validation.y.shape == (30,)


def test_an_integration_that_diverges_says_where(monkeypatch):
    p = rd.problem("odes/11")
    explosive = dataclasses.replace(p, equations=("x0**3",), initial=((3.4,), (1.6,)))
    monkeypatch.setattr(odes, "load", lambda name: explosive)
    odes._integrate.cache_clear()
    with pytest.raises(ArithmeticError, match="odes/11: the integration stopped at t"):
        explosive.clean()
    odes._integrate.cache_clear()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"snr_db": 35}, "published noise exists for 40, 30, 20, 10 dB"),
        ({"noise": 0.05}, "published noise exists for 40, 30, 20, 10 dB"),
        ({"noise": 0.1, "snr_db": 40}, "contradict each other"),
        ({"split": "random"}, "split must be"),
        ({"initial_condition": 2}, "initial_condition must be 0 or 1"),
        ({"n_points": 3}, "n_points"),
        ({"snr_db": "loud"}, "published noise exists"),
    ],
)
def test_bad_options_are_refused(options, error):
    with pytest.raises((ValueError, TypeError), match=error):
        rd.problem("odes/1", **options).data()


def test_scores_of_the_truth_and_of_zero():
    p = rd.problem("odes/24")
    truth = rd.score(p, dict(p.truth))
    assert truth["nmse_power"] < 1e-20 and truth["identified"] == 1 and truth["complexity_mdbench"] == 4
    zero = rd.score(p, {"x0": "0", "x1": "0"})
    assert zero["nmse_power"] == pytest.approx(1.0) and zero["identified"] == zero["partial"] == 0
    with pytest.raises(KeyError, match="no right-hand side for x1"):
        rd.score(p, {"x0": "x1"})
