"""Flows of dysts: the package's numbers, solutions that hold, and runs by the rules that were laid down."""

import dataclasses

import rediscover as rd
from rediscover import params
from rediscover.problems import facts, flows
from rediscover.runs.selection import Fittest
from rediscover.studies.outside import flows as study
from rediscover.studies.outside import sample, scores, sparse_choice
from rediscover.system.paths import root
from rediscover.system.studies import rules

import numpy as np
import pandas as pd
import pytest
import sympy
from scipy.integrate import solve_ivp

REFERENCE = params.read(root() / "params" / "80_outside.yaml", "reference")
# What the right-hand sides of the package itself give at its first states.
RATES = {
    "AnishchenkoAstakhov": [0.43429830912412104, -3.6225814, 5.56289089981298],
    "ExcitableCell": [9.43603855137529, 0.0724212030435595, -0.0081985508570716],
    "Hopfield": [
        *(-0.23149042570427053, -0.40319307999998244, 0.5221707472075838),
        *(0.36120820416599986, 0.3188954756036728, -0.5417986925598259),
    ],
    "MultiChua": [11.630437328318994, 5.212910400000002, -14.746517781599998],
    "SwingingAtwood": [0.019985454545454546, 13.825975890058352, -22.532607495333853, -1.11256672],
}


def rates_at_the_start(problem):
    return problem.evaluate(dict(zip(problem.inputs, problem.initial, strict=True)))


def test_all_flows_of_the_package_are_here_or_left_out_with_a_reason():
    left_out = facts("flows")["left_out"]
    assert (len(flows.ids()), len(flows.ids("polynomial")), len(left_out)) == (103, 75, 32)
    assert not set(flows.ids()) & set(left_out) and all(left_out.values())


@pytest.mark.parametrize("name", RATES)
def test_rates_are_those_of_the_package(name):
    np.testing.assert_allclose(rates_at_the_start(rd.problem(f"flows/{name}")), RATES[name], rtol=1e-12)


def test_rates_by_hand():
    x, y, z = -8.6807408, -2.4741399, 0.070775762
    by_hand = [-1.4 * x - 4 * (y + z) - y**2, -1.4 * y - 4 * (z + x) - z**2, -1.4 * z - 4 * (x + y) - x**2]
    problem = rd.problem("flows/Halvorsen")
    np.testing.assert_allclose(rates_at_the_start(problem), by_hand, rtol=1e-12)
    assert problem.meanings == {"x0": "x", "x1": "y", "x2": "z"}


def test_subsets_tell_polynomials_from_others():
    for name in flows.ids():
        problem = flows.load(name)
        states = sympy.symbols(problem.inputs)
        sides = [expression.sympy() for expression in problem.expressions.values()]
        assert all(side.is_polynomial(*states) for side in sides) == (problem.subset == "polynomial"), name


def test_every_flow_moves_and_stays_within_reason():
    for name in flows.ids():
        t, u, du = flows.load(name).clean()
        assert len(t) == 1000 and np.isfinite(du).all() and np.abs(u).max() < 2000, name
        assert (np.ptp(u, axis=0) > 1e-3).all(), name


def test_a_solution_is_that_of_another_integrator():
    problem = rd.problem("flows/SprottJ")
    t, u, _ = problem.clean()
    assert t[200] == pytest.approx(problem.period) and u[0].tolist() == list(problem.initial)
    found = solve_ivp(
        lambda _, x: problem.evaluate(dict(zip(problem.inputs, x, strict=True))),
        *((0, t[-1]), problem.initial),
        **{"method": "DOP853", "t_eval": t, "rtol": 1e-11, "atol": 1e-12},
    )
    np.testing.assert_allclose(u, found.y.T, atol=1e-5 * np.abs(u).max())


def test_splits_are_blocks_of_time_with_exact_rates_to_test():
    problem = rd.problem("flows/SprottC", noise=0.01)
    t, u, du = problem.trajectory()
    data = problem.data()
    rows = {"train": 600, "validation": 200, "refit": 800, "test": 200}
    assert {name: len(split.y) for name, split in data.items()} == rows
    np.testing.assert_array_equal(data["test"].X, u[800:])
    np.testing.assert_array_equal(data["test"].y, du[800:])
    np.testing.assert_allclose(data["train"].y[1], (u[2] - u[0]) / (2 * t[1]), rtol=1e-10)
    assert [task.validation.y.shape for task in problem.tasks()] == [(200,)] * 3


def test_noise_is_a_share_of_the_spread_of_each_state_and_follows_from_the_seed():
    clean, noisy = rd.problem("flows/Halvorsen").clean(), rd.problem("flows/Halvorsen", noise=0.01)
    off = (noisy.trajectory().u - clean.u) / clean.u.std(axis=0)
    np.testing.assert_allclose(off.std(axis=0), 0.01, rtol=0.1)
    np.testing.assert_array_equal(noisy.trajectory().u, noisy.trajectory(0).u)
    np.testing.assert_array_equal(noisy.trajectory().du, clean.du)
    assert not np.array_equal(noisy.trajectory(0).u, noisy.trajectory(1).u)


def test_bad_input_is_refused(monkeypatch):
    with pytest.raises(KeyError, match="unknown problem 'flows/Lorenz'"):
        rd.problem("flows/Lorenz")
    with pytest.raises(ValueError, match="noise must be a finite number"):
        rd.problem("flows/SprottC", noise=-0.1)
    with pytest.raises(TypeError, match="no option 'snr_db'"):
        rd.problem("flows/SprottC", snr_db=20)
    explosive = dataclasses.replace(flows.load("SprottC"), truth={"x0": "x0**2", "x1": "x1", "x2": "x2"})
    monkeypatch.setattr(flows, "load", lambda name: dataclasses.replace(explosive, initial=(9.0, 0.0, 0.0)))
    flows._integrate.cache_clear()
    with pytest.raises(ArithmeticError, match="flows/SprottC: cannot be integrated"):
        explosive.clean()
    flows._integrate.cache_clear()


def test_scores_by_hand():
    problem = rd.problem("flows/SprottC")
    assert scores.score(problem, problem.truth) == {
        "identified": 1.0,
        "identified_equations": 1.0,
        "nmse_per_output": 0,
    }
    close = scores.score(problem, {"x0": "0.96*x1*x2", "x1": "x0 - 1.06*x1", "x2": "1 - x0**2"})
    assert close["identified"] == 0 and close["identified_equations"] == pytest.approx(2 / 3)
    assert 0 < close["nmse_per_output"] < 0.01
    for wrong in ({"x0": "x1*(", "x1": "x0", "x2": "1"}, {"x0": "x1", "x1": "x0"}, {"x0": "v", "x1": "1", "x2": "1"}):
        assert scores.score(problem, wrong) == scores.FLOW


def test_the_truth_of_every_flow_of_the_sample_is_identified():
    for id in study.sample():
        problem = rd.problem(id)
        assert scores.score(problem, problem.truth)["identified"] == 1.0, id


def test_what_sparse_regression_keeps_is_what_is_stored():
    kept = pd.read_csv(sparse_choice.RESULTS).set_index(["problem", "noise"])
    assert {*kept.index} == {(id, level) for id in study.sample() for level in (0.0, 0.01)}
    for id, all_three in (("HyperYan", [True, False, False]), ("BeerRNN", [False] * 3), ("SprottB", [True] * 3)):
        found = sparse_choice.stages(rd.problem(f"flows/{id}"))
        assert [*found.values()] == all_three and kept.loc[(f"flows/{id}", 0.0)].to_dict() == found, id


def test_the_weak_form_integrates_where_differences_do_not_hold():
    flow = rd.problem("flows/DequanLi")
    found = {name: rd.method(name).solve(flow)[0].solution for name in ("sindy_cross", "wsindy_cross")}
    assert [scores.score(flow, each)["identified"] for each in found.values()] == [0.0, 1.0]


def test_parameters_are_those_that_were_laid_down():
    laid_down = sample.rules("flows")
    registered = dict(laid_down["registered"])
    allowed = study.grids(REFERENCE)["flows_opponents"]["evaluations"]
    for name, evaluations in registered.pop("evaluations_by_method").items():
        assert allowed[name] == evaluations
    assert {name: getattr(REFERENCE, name) for name in registered} == registered
    assert laid_down["frozen"] == sample.rules()["frozen"]
    assert len(rules("flows")) == 16 and rules("flows") not in (rules("lsr"), rules("fresh"))


def test_all_methods_run_on_the_draw_of_the_stated_seed():
    planned = study.grids(REFERENCE)
    drawn = sample.some(rd.problems("flows"), 40, 2026, "flows")
    assert {*map(tuple, (grid["problems"] for grid in planned.values()))} == {tuple(drawn)} and len(set(drawn)) == 40
    assert all((grid["noise"], grid["seeds"]) == ([0.0, 0.01], [0]) for grid in planned.values())
    assert [method.name for method in planned["flows"]["methods"]] == ["bidirectional"]
    others = planned["flows_opponents"]["methods"]
    assert [m.name for m in others] == sample.rules("flows")["opponents"] and {type(m) for m in others} == {Fittest}
    assert others[3].settings["symbols"] == sample.rules("flows")["settings"]["operon"]["symbols"]
    assert [method.name for method in planned["flows_added"]["methods"]] == ["wsindy_cross"]
    smoke = params.read(root() / "params" / "80_outside.yaml", "smoke")
    assert not {*smoke.flows} & {*drawn}  # the check that the code works is on others
