"""The method with a network of this project: its weights, its units, and what it shares with the blind control."""

import rediscover as rd
from rediscover import methods
from rediscover.expressions import parse
from rediscover.methods import trained, trained_skeletons
from rediscover.problems import Task
from rediscover.search.networks import network_layers
from rediscover.system.file_digest import file_digest

import numpy as np
import pytest

X = np.random.default_rng(0).uniform(1, 3, (60, 2))
METHOD = rd.method("trained_skeletons")
here = pytest.mark.skipif(METHOD.available() is not None, reason=str(METHOD.available()))


def fit(method, task, evaluations=1000, seed=0):
    return method.fit(task, budget=methods.Budget(evaluations=evaluations), rng=np.random.default_rng(seed))


@pytest.fixture
def writes(monkeypatch):
    """The method with a network that writes what is asked for."""

    def method(skeleton):
        monkeypatch.setattr(trained.Trained, "network", lambda self: {})
        monkeypatch.setattr(
            trained_skeletons, "sample", lambda weights, table, count, rng: [tuple(skeleton.split())] * count
        )
        return METHOD

    return method


def test_constants_are_fitted_and_the_whole_can_be_scaled(writes):
    best = fit(writes("* x0 x1"), Task(("a", "b"), "y", X, 2.5 * X[:, 0] * X[:, 1]), evaluations=50)[0]
    assert best.loss < 1e-20 and best.notes["skeletons"] == 1
    assert parse(best.solution["y"])({"a": 1.0, "b": 1.0}) == pytest.approx(2.5)


def test_an_input_far_from_what_is_known_stands_in_multiples_of_a_power_of_ten(writes):
    far = X * [1e6, 1]
    best = fit(writes("+ x1 sin x0"), Task(("a", "b"), "y", far, X[:, 1] + np.sin(X[:, 0])), evaluations=200)[0]
    assert best.loss < 1e-20
    assert parse(best.solution["y"])({"a": 1e6, "b": 0.0}) == pytest.approx(np.sin(1))


def test_what_it_cannot_read_is_named(writes):
    method = writes("x0")
    with pytest.raises(methods.Unsupported, match="reads at most 3 inputs, y has 4"):
        fit(method, Task(tuple("abcd"), "y", np.random.default_rng(0).random((20, 4)), np.arange(20.0)))


def test_settings_of_the_control_but_its_prior():
    control = rd.method("random_skeletons").settings
    assert {name: METHOD.settings[name] for name in control if name != "prior"}.items() <= control.items()
    assert "prior" not in METHOD.settings


@here
def test_the_trained_network_solves_what_is_easy_with_few_evaluations():
    best = fit(METHOD, Task(("a", "b"), "y", X, 2.5 * X[:, 0] * np.sin(X[:, 1])), evaluations=3000)[0]
    assert best.loss < 1e-12


@here
def test_the_trained_network_answers_alike_and_never_more_than_its_budget():
    task = Task(("a",), "y", X[:, :1], np.log(X[:, 0]) + X[:, 0])
    first, again = (fit(METHOD, task, evaluations=300) for _ in range(2))
    assert first == again and all(each.evaluations <= 300 for each in first)


@here
def test_the_card_tells_the_size():
    size = sum(each.size for each in network_layers.read(METHOD.path).values())
    assert f"{size:,} numbers" in METHOD.path.with_suffix(".md").read_text()
    assert file_digest(METHOD.path) == METHOD.sha256


@here
def test_training_adds_on_laws():
    """Four laws of the comparison in the card, in which the network was ahead in all seeds."""
    solved = {"trained_skeletons": 0, "random_skeletons": 0}
    for law in ("I.18.12", "II.27.16", "II.4.23", "III.7.38"):
        rows = rd.problem(f"srsd/{law}", variant="fsrd").data()["train"]
        task = Task(tuple(f"x{k}" for k in range(rows.X.shape[1])), "y", rows.X[:200], rows.y[:200].ravel())
        for name in solved:
            loss = fit(rd.method(name), task, evaluations=5000)[0].loss * np.mean(task.y**2) / np.var(task.y)
            solved[name] += loss < 1e-6
    assert solved["trained_skeletons"] >= 3 > solved["random_skeletons"]
