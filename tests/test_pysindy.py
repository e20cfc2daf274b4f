"""The package PySINDy as methods: the same answers as our own, silence, repetition, and what it refuses."""

import dataclasses
import warnings

import rediscover as rd
from rediscover import methods
from rediscover.methods import Unsupported
from rediscover.methods.pysindy import drawing
from rediscover.methods.sparse_dynamics import Prepared, coefficients

import numpy as np
import pytest

FEW = {"thresholds": (1e-4, 1e-3, 1e-2), "alphas": (1e-5,)}
SMALL = {"degrees": (1, 2), "orders": (2,), "families": ((),)}
ENSEMBLE = {"n_models": (5,), "ratios": (0.7,), "inclusions": (0.5,)}
FIELD = {"thresholds": (1e-3, 1e-2), **SMALL}
NAMES = ("pysindy_sindy", "pysindy_esindy", "pysindy_pdefind", "pysindy_wsindy", "pysindy_ewsindy")


def answers(method, id, seed=0, **settings):
    (found,) = rd.method(method, **settings).solve(rd.problem(id), seed=seed)
    return found


def assert_equal_terms(one, other, rtol):
    assert one.solution.keys() == other.solution.keys()
    for state, text in one.solution.items():
        ours, theirs = coefficients(other.solution[state]), coefficients(text)
        assert theirs.keys() == ours.keys()
        np.testing.assert_allclose([theirs[term] for term in ours], list(ours.values()), rtol=rtol)


@pytest.mark.parametrize(
    ("name", "id", "settings"),
    [
        ("sindy", "odes/3", {}),
        ("sindy", "odes/25", {}),
        ("pdefind", "pdes/burgers", FEW | SMALL),
        ("wsindy", "pdes/burgers", FIELD | {"boxes": (200,)}),
    ],
)
def test_the_package_answers_as_our_own_code(name, id, settings):
    theirs, ours = (answers(method, id, **settings) for method in (f"pysindy_{name}", name))
    assert_equal_terms(theirs, ours, rtol=1e-6)
    assert theirs.notes["setting"] == ours.notes["setting"] and theirs.complexity == ours.complexity
    assert theirs.evaluations == ours.evaluations, "the same grid"


@pytest.mark.parametrize(
    ("method", "id", "settings"),
    [
        ("pysindy_sindy", "odes/54", {}),
        ("pysindy_pdefind", "pdes/burgers", {}),
        ("pysindy_pdefind", "pdes/ns_channel", {"degrees": (1, 2), "orders": (1, 2)}),
    ],
)
def test_features_are_those_of_our_library(method, id, settings):
    """In the same order, on axes of space and on a plane; several states."""
    p = rd.method(method, **settings).prepare(rd.problem(id), 0)
    for block in ("train", "validation", "refit"):
        ours, theirs = (kind.every_row(p, block) for kind in (Prepared, type(p)))
        scale = np.abs(ours.X).max(axis=0)
        scale[scale == 0] = 1
        np.testing.assert_allclose(theirs.X / scale, ours.X / scale, atol=1e-9)
        np.testing.assert_array_equal(theirs.Y, ours.Y)


@pytest.mark.parametrize(
    ("method", "id", "settings"),
    [("pysindy_esindy", "odes/3", FEW | ENSEMBLE), ("pysindy_ewsindy", "pdes/burgers", FIELD | ENSEMBLE)],
)
def test_ensembles_repeat_by_their_seed_alone(method, id, settings):
    first, second = (answers(method, id, **settings) for _ in range(2))
    assert first == second != answers(method, id, seed=1, **settings)


def test_draws_leave_the_global_generator_as_it_was():
    np.random.seed(3)  # noqa: NPY002, the generator that PySINDy uses
    expected = np.random.uniform(size=2)  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    with pytest.raises(ZeroDivisionError), drawing(np.random.default_rng(1)):
        assert np.random.uniform() == np.random.default_rng(1).uniform()  # noqa: NPY002
        raise ZeroDivisionError
    assert (np.random.uniform(size=2) == expected).all()  # noqa: NPY002


def test_nothing_is_said(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        method = rd.method("pysindy_esindy", thresholds=(1e-3, 1e6), alphas=(1e-5,), **ENSEMBLE)
        method.answer(rd.problem("odes/3"), rd.Budget(), 0)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("method", "id"),
    [("pysindy_sindy", "odes/3"), ("pysindy_pdefind", "pdes/burgers"), ("pysindy_wsindy", "pdes/burgers")],
)
def test_what_is_too_large_is_refused_with_the_rule(method, id):
    with pytest.raises(Unsupported, match=r"\d+ rows times \d+ terms are more than max_values, 50"):
        rd.method(method, max_values=50).solve(rd.problem(id))


@pytest.mark.parametrize(("id", "points"), [("pdes/ns_channel", 9), ("pdes/heat_3d", 11), ("pdes/laser", 3)])
def test_axes_too_short_for_a_box_are_refused_since_the_package_draws_boxes_for_ever(id, points, monkeypatch):
    """As in its issue 327; with NumPy 2.4 it fails at the second draw, one number in an array, which is mended here."""
    method, problem, drawn = rd.method("pysindy_wsindy", boxes=(1,), **SMALL | {"orders": (1,)}), rd.problem(id), 0
    with pytest.raises(Unsupported, match=f"an axis has {points} points"):
        method.solve(problem)

    def uniform(low, high, size, draw=np.random.uniform):
        nonlocal drawn
        if (drawn := drawn + 1) > 20_000:
            raise TimeoutError
        return draw(low, high, None if size == 1 else size)

    monkeypatch.setattr(np.random, "uniform", uniform)
    monkeypatch.setattr("rediscover.methods.pysindy.refuse_short", lambda axes: None)
    with pytest.raises(TimeoutError):
        method.prepare(problem, 0).weak("train", 200)


def test_without_the_package_they_say_what_is_missing(monkeypatch):
    monkeypatch.setattr(methods, "_installed", lambda name: None if name == "pysindy" else "1")
    for name in NAMES:
        reason = rd.method(name).available()
        assert reason == "package pysindy is not installed: pip install '.[baselines]' in the folder of the clone"
    assert rd.method("sindy").available() is None


def test_their_grids_are_those_of_our_own_methods():
    for name in NAMES:
        theirs, ours = rd.method(name).settings, rd.method(name.removeprefix("pysindy_")).settings
        assert {key: theirs[key] for key in ours} == ours and theirs.keys() - ours.keys() == {"max_values"}
    assert {f.name for f in dataclasses.fields(rd.method("pysindy_sindy"))} >= {"thresholds", "alphas", "degrees"}
