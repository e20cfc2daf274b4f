"""The methods proged and proged_released: small laws, the fits of ProGED's own tests, whole systems, budgets."""

from rediscover import methods, problem
from rediscover.expressions import parse
from rediscover.methods import Budget
from rediscover.methods.proged import Proged
from rediscover.methods.proged_released import ProgedReleased
from rediscover.problems import Task

import numpy as np
import pytest


def fit(X, y, evaluations=5000, seed=0, **settings):
    task = Task(tuple(f"x{i}" for i in range(X.shape[1])), "y", X, y)
    return methods.method("proged", **settings).fit(
        task, budget=Budget(evaluations=evaluations), rng=np.random.default_rng(seed)
    )


def test_the_fit_of_proged_s_own_test():
    """C*(x + C) on 2(x + 0.3): 2 and 0.3 to 1e-3."""
    x = np.linspace(0, 1, 50)
    form = parse("1.0*(x + 1.0)")
    found = Proged.fitted(form, {"x": x}, 2 * (x + 0.3), 200, np.random.default_rng(0))
    assert found.constants == pytest.approx((2, 0.3), abs=1e-3)


def test_a_decay_and_a_polynomial_are_found():
    X = np.random.default_rng(0).uniform(0.5, 2, (60, 1))
    for y in (-2 * X[:, 0], 1.5 * X[:, 0] + 0.25):
        best = fit(X, y)[0]
        assert parse(best.solution["y"])({"x0": X[:, 0]}) == pytest.approx(y, rel=1e-5)


def test_candidates_come_by_error_differ_and_name_their_grammar():
    X = np.random.default_rng(1).uniform(0.5, 2, (60, 2))
    front = fit(X, np.sin(X[:, 0]) + X[:, 1], 3000)
    losses = [candidate.loss for candidate in front]
    assert losses == sorted(losses) and len({candidate.notes["grammar"] for candidate in front}) == 1
    assert len({candidate.solution["y"] for candidate in front}) == len(front) > 5
    assert front[0].evaluations <= 3000


def test_no_form_has_more_constants_than_allowed():
    rng = np.random.default_rng(0)
    forms = Proged(max_constants=1).forms("polynomial", ["a", "b"], 20, rng)
    assert len(forms) > 3 and all(form.constants.count(1.0) <= 1 for form in forms)


@pytest.mark.parametrize("change", [{"grammars": "none"}, {"candidates": 0}, {"max_constants": -1}])
def test_settings_that_cannot_be_used(change):
    with pytest.raises(ValueError, match="proged: "):
        methods.method("proged", **change)


@pytest.mark.parametrize(("states", "least"), [("x", 0.9), ("xyzu", 0.2)])
def test_as_released_most_systems_of_four_states_have_too_many_constants(states, least):
    """Of systems that differ; of draws of the polynomial grammar 99 per cent with one state, 34 with four."""
    method, rng = ProgedReleased(candidates=100), np.random.default_rng(0)
    left = len(method.systems("polynomial", tuple(states), rng)) / 100
    assert left >= least and (len(states) == 1 or left < 0.6)
    for system in method.systems("rational", tuple(states), rng):
        assert sum(form.constants.count(1.0) for form in system.values()) <= 5
        assert all(set(form.names) & set(states) for form in system.values())


def test_as_released_systems_come_by_their_solution():
    system = problem("cde/S001")
    front = methods.method("proged_released", candidates=8).solve(system, budget={"evaluations": 20_000}, seed=0)
    losses = [candidate.loss for candidate in front]
    assert losses == sorted(losses) and losses[0] < 0.01 and front[0].evaluations <= 20_000
    again = methods.method("proged_released", candidates=8).solve(system, budget={"evaluations": 20_000}, seed=0)
    assert [c.solution for c in again] == [c.solution for c in front]
