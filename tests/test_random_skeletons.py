"""Skeletons from a prior: what the control finds, what it costs, and that it does not look before it fits."""

import rediscover as rd
from rediscover import methods
from rediscover.expressions import parse
from rediscover.methods import Budget
from rediscover.methods.fitted_skeletons import front, unlike
from rediscover.problems import Task
from rediscover.search.networks.tree_samplers import PRIORS

import numpy as np
import pytest


def fit(X, y, names, evaluations=20_000, seed=0, **settings):
    method = methods.method("random_skeletons", **settings)
    budget = Budget(evaluations=evaluations)
    return method.fit(Task(names, "z", X, y), budget=budget, rng=np.random.default_rng(seed))


X = np.random.default_rng(8).uniform(0.5, 2.0, (150, 2))


@pytest.mark.parametrize("prior", PRIORS)
def test_front(prior):
    y = 3 * X[:, 0] * X[:, 1] + np.sin(X[:, 0])
    found = fit(X, y, ("u", "v"), prior=prior)
    losses, sizes = [c.loss for c in found], [c.complexity for c in found]
    assert losses == sorted(losses) and sizes == sorted(sizes, reverse=True) and len(set(sizes)) == len(sizes)
    for candidate in found:
        values = parse(candidate.solution["z"])({"u": X[:, 0], "v": X[:, 1]})
        assert np.mean((values - y) ** 2) / np.mean(y**2) == pytest.approx(candidate.loss, rel=1e-6, abs=1e-18)
        assert 0 < candidate.evaluations <= 20_000 and candidate.notes["skeletons"] > 100
    assert parse(found[-1].solution["z"]).constants == pytest.approx([np.mean(y)])
    assert found[0].loss < 1e-3


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_a_law_in_any_unit_of_the_target(unit):
    y = unit * X[:, 0] * X[:, 1] ** 2
    best = fit(X, y, ("u", "v"))[0]
    assert best.loss < 1e-20


def test_skeletons_are_drawn_before_the_data_are_seen():
    """With one evaluation each, nothing is fitted: the forms are the same for any data."""
    method = methods.method("random_skeletons")
    task = Task(("u", "v"), "z", X, X[:, 0])
    forms = [[*unlike(method.skeletons(task, 50, np.random.default_rng(s)))] for s in (3, 3, 4)]
    assert forms[0] == forms[1] != forms[2]
    assert len({repr(form) for form in forms[0]}) == len(forms[0])


def test_nothing_defined_is_answered_by_the_mean():
    y = np.linspace(1, 2, 20)
    only = fit(np.full((20, 1), 1e308), y, ("u",), evaluations=1)
    assert [c.solution for c in only] == [{"z": "1.5"}] and only[0].evaluations == 1


def test_right_hand_sides_of_a_system():
    problem = next(p for p in map(rd.problem, rd.problems("odes")) if len(p.outputs) == 2)
    answer = methods.method("random_skeletons").solve(problem, budget={"evaluations": 500})
    assert set(answer[0].solution) == set(problem.outputs)


def test_front_of_nothing():
    assert front({1: (np.inf, "x")}) == []


@pytest.mark.parametrize("settings", [{"prior": "gplearn"}, {"starts": 0}, {"each": 0}, {"max_rows": 0}])
def test_bad_settings_are_named(settings):
    with pytest.raises(ValueError, match=f"random_skeletons: .*{'prior' if 'prior' in settings else ''}"):
        methods.method("random_skeletons", **settings)
