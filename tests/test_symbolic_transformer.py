"""The Symbolic Transformer as a method: its weights, its skeletons, and the two ways of writing and fitting them."""

import rediscover as rd
from rediscover import methods
from rediscover.expressions import parse
from rediscover.methods import symbolic_transformer as st
from rediscover.problems import Task

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


class TestTheTrainedNetwork:
    """The weights that come with the package."""

    method = rd.method("symbolic_transformer")

    def test_it_is_here_and_answers_alike(self):
        assert self.method.available() is None
        law = rd.problem("srsd/I.12.1")
        first, again = (self.method.solve(law, seed=0) for _ in range(2))
        assert [each.solution for each in first] == [each.solution for each in again]
        assert set(parse(first[0].solution["F"]).names) <= set(law.inputs)

    def test_a_product_of_two_is_written(self):
        """The commonest skeleton of its training: 2.5*a*b of scaled columns."""
        rng = np.random.default_rng(1)
        columns = 10 ** rng.uniform(-1, 1, (1000, 2))
        task = Task(("a", "b"), "y", columns, 3e5 * columns[:, 0] * columns[:, 1])
        (found,) = answer(self.method, task)
        assert set(parse(found.solution["y"]).names) == {"a", "b"}
