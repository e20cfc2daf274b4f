"""The Symbolic Transformer as a method: its network, its skeletons, and the two ways of writing and fitting them."""

import rediscover as rd
from rediscover import methods, runs
from rediscover.expressions import parse
from rediscover.methods import symbolic_transformer as st
from rediscover.methods import trained
from rediscover.problems import Task
from rediscover.search.networks.network_layers import write
from rediscover.system.file_digest import file_digest

import numpy as np
import pytest

X = np.random.default_rng(0).uniform(1, 3, (60, 2))
GIVEN = Task(("a", "b"), "y", X, 2.5 * X[:, 0] * X[:, 1])


@pytest.fixture
def writes(monkeypatch):
    """The method with a network that writes what is asked for."""

    def method(skeleton, **settings):
        monkeypatch.setattr(st.SymbolicTransformer, "network", lambda self: {})
        monkeypatch.setattr(st, "greedy", lambda weights, rows: skeleton and tuple(skeleton.split()))
        return rd.method("symbolic_transformer", **settings)

    return method


def answer(method, task=GIVEN):
    return method.fit(task, budget=methods.Budget(), rng=np.random.default_rng(0))


def test_as_meant_constants_fit_the_columns_as_they_are(writes):
    (found,) = answer(writes("BiMul c BiMul x0 x1", as_released=False))
    np.testing.assert_allclose(parse(found.solution["y"])({"a": X[:, 0], "b": X[:, 1]}), GIVEN.y, rtol=1e-4)
    assert found.complexity == 5 and found.notes["skeleton"] == "BiMul c BiMul x0 x1"


def test_as_released_constants_fit_scaled_columns(writes):
    """On columns scaled to 0..1 the best factor of a product is near 1, far from 2.5."""
    (found,) = answer(writes("BiMul c BiMul x0 x1"))
    factor = parse(found.solution["y"])({"a": 1.0, "b": 1.0})
    assert 0.5 < abs(factor) < 1.6


def test_as_released_parentheses_are_lost(writes):
    (released,), (meant,) = (answer(writes("BiMul BiAdd x0 x1 x1", as_released=released)) for released in (True, False))
    values = {"a": 2.0, "b": 3.0}
    assert (parse(released.solution["y"])(values), parse(meant.solution["y"])(values)) == (11.0, 15.0)


def test_an_unfinished_skeleton_is_no_answer(writes):
    assert answer(writes(None)) == []


def test_what_it_cannot_read_is_named(writes):
    method = writes("x0")
    with pytest.raises(methods.Unsupported, match="tokens for 8 inputs, y has 9"):
        answer(method, Task(tuple("abcdefghi"), "y", np.random.default_rng(0).random((20, 9)), np.arange(20.0)))


def test_an_input_that_does_not_vary_is_zero(writes, monkeypatch):
    method, seen = writes("x0"), []
    monkeypatch.setattr(st, "greedy", lambda weights, rows: seen.append(rows) or ("x0",))
    answer(method, Task(("a",), "y", np.ones((20, 1)), np.arange(20.0)))
    assert (seen[0][:, 0] == 0).all() and (np.ptp(seen[0], axis=0) == [0, 1]).all()


def test_answers_to_the_laws_are_on_record_and_others_need_the_network(monkeypatch, tmp_path):
    monkeypatch.setattr(trained, "user_cache", lambda: tmp_path)
    method = rd.method("symbolic_transformer")
    assert "make pretrain MODEL=symbolic_transformer" in method.available()
    budget = {"evaluations": 100_000, "seconds": 60}
    asked = {"methods": [method], "budget": budget, "progress": False, "workers": 1}
    recorded = runs.grid([rd.problem("srsd/I.12.1", ranges="paper")], **asked).iloc[0]
    assert recorded["status"] == "ok" and recorded["reused"]
    assert set(parse(recorded["solution"]["F"]).names) <= {"mu", "N_n"}
    other = runs.grid(["surfaces/NCGS1"], **asked).iloc[0]
    assert (other["status"], other["reason"]) == ("unavailable", method.available())


def test_a_network_of_ones_own_training_is_used_by_its_digest(monkeypatch, tmp_path):
    monkeypatch.setattr(trained, "user_cache", lambda: tmp_path)
    made = trained.training_folder("symbolic_transformer") / "weights.npz"
    made.parent.mkdir(parents=True)
    write({"embedding.weight": np.ones((2, 3), np.float32)}, made)
    assert file_digest(made) in rd.method("symbolic_transformer").available()
    own = rd.method("symbolic_transformer", sha256=file_digest(made))
    assert own.available() is None
    np.testing.assert_allclose(own.network()["embedding.weight"], 1, rtol=1e-6)
