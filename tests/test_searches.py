"""Contracts that every search of a regression problem must keep, found through the registry."""

import dataclasses
import json

from rediscover import methods
from rediscover.expressions import parse
from rediscover.methods import Budget, Candidate
from rediscover.methods.log_scaled import LogScaled
from rediscover.problems import Regression, Split

import numpy as np
import pytest

CONTROLS = ("blind_skeleton", "mean", "oracle", "zero")
# Methods that say of themselves that they take any regression problem.
GENERIC = [name for name, cls in methods.registry().items() if Regression in cls.accepts and cls().available() is None]
SEARCHING = [name for name in GENERIC if name not in CONTROLS]
# As released its numbers are fitted to scaled columns: the shape is right and the size is not.
MEANT = {"symbolic_transformer": {"as_released": False}}
BUDGET = Budget(evaluations=500)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Plane(Regression):
    """z = 2.5 x y0 + 1 in units of `x_unit` and `z_unit`; `edit` changes the training table in place."""

    x_unit: float = 1.0
    z_unit: float = 1.0
    rows: int = 200
    edit: object = None

    def data(self, seed=0):
        X = np.random.default_rng(seed).uniform(0.5, 2.0, (2 * self.rows, 2)) * self.x_unit
        z = self.evaluate(dict(zip(self.inputs, X.T, strict=True)))
        half = self.rows
        X_train, z_train = X[:half].copy(), z[:half].copy()
        if self.edit:
            self.edit(X_train, z_train)
        return {"train": Split(X_train, z_train), "test": Split(X[half:], z[half:])}


def plane(x_unit=1.0, z_unit=1.0, **options):
    truth = f"{2.5 * z_unit / x_unit**2!r}*x*y0 + {z_unit!r}"
    return Plane(id="test/plane", truth={"z": truth}, inputs=("x", "y0"), x_unit=x_unit, z_unit=z_unit, **options)


def predict(problem, candidate, split="test", seed=0):
    X = problem.data(seed)[split].X
    values = dict(zip(problem.inputs, X.T, strict=True))
    return np.broadcast_to(parse(candidate.solution["z"], names=problem.inputs)(values), len(X))


def r2(problem, candidate, split="test", seed=0):
    y = problem.data(seed)[split].y
    unit = np.abs(y).max()
    return 1 - np.mean(((predict(problem, candidate, split, seed) - y) / unit) ** 2) / np.var(y / unit)


def search(name):
    return methods.method(name, **MEANT.get(name, {}))


def check_front(front, problem):
    assert front and all(isinstance(candidate, Candidate) for candidate in front)
    for candidate in front:
        assert set(candidate.solution) == {"z"}
        expression = parse(candidate.solution["z"], names=problem.inputs)
        assert all(np.isfinite(expression.constants))
        json.dumps([candidate.complexity, candidate.evaluations, dict(candidate.notes)], allow_nan=False)


@pytest.mark.parametrize("name", SEARCHING)
class TestEverySearch:
    def test_solves_a_small_problem_better_than_the_mean(self, name, capsys):
        problem = plane()
        # A population of AFP is a thousand expressions, and two generations find nothing.
        budget = Budget(evaluations=20_000 if name == "afp" else 2_000)
        front = search(name).solve(problem, budget=budget)
        check_front(front, problem)
        # The law is a polynomial: the released uDSR finds it, stops, and loses it.
        assert r2(problem, front[0]) > (0.5 if name == "udsr_released" else 0.9)
        assert capsys.readouterr().out == ""

    def test_same_seed_same_answer(self, name):
        first, second = (search(name).solve(plane(), budget=BUDGET, seed=3) for _ in range(2))
        assert first == second

    @pytest.mark.parametrize("evaluations", [100, 300])
    def test_keeps_to_the_budget(self, name, evaluations):
        problem = plane()
        front = search(name).solve(problem, budget={"evaluations": evaluations})
        check_front(front, problem)
        assert all(c.evaluations is None or c.evaluations <= evaluations for c in front)

    def test_constant_target(self, name):
        def flat(X, z):
            z[:] = 3.25e-30

        problem = plane(edit=flat)
        front = search(name).solve(problem, budget=BUDGET)
        check_front(front, problem)
        assert predict(problem, front[0]) == pytest.approx(3.25e-30, rel=1e-12, abs=0)

    def test_one_row(self, name):
        problem = plane(rows=1)
        front = search(name).solve(problem, budget=BUDGET)
        check_front(front, problem)
        assert r"nan" not in front[0].solution["z"]
        assert predict(problem, front[0], "train") == pytest.approx(problem.data(0)["train"].y)

    def test_constant_input(self, name):
        def flat(X, z):
            X[:, 1] = 1.5
            z[:] = 3.75 * X[:, 0] + 1

        problem = plane(edit=flat)
        front = search(name).solve(problem, budget=BUDGET)
        check_front(front, problem)
        assert r2(problem, front[0], "train") > 0.2

    def test_rows_with_gaps_are_left_out_and_counted(self, name):
        def gaps(X, z):
            z[3], X[5, 0], X[7, 1] = np.nan, np.inf, np.nan

        problem = plane(edit=gaps)
        front = search(name).solve(problem, budget=BUDGET)
        check_front(front, problem)
        assert front[0].notes["rows_dropped"] == 3
        assert r2(problem, front[0]) > 0.2

    def test_a_table_of_gaps_is_an_error(self, name):
        def gaps(X, z):
            z[:] = np.nan

        with pytest.raises(ValueError, match="none of the 200 training rows"):
            search(name).solve(plane(edit=gaps), budget=BUDGET)

    @pytest.mark.parametrize("x_unit, z_unit", [(1e-34, 1e26), (1e26, 1e-34)])
    def test_units_far_from_one(self, name, x_unit, z_unit):
        problem = plane(x_unit, z_unit)
        try:
            front = search(name).solve(problem, budget=BUDGET)
        except ValueError as error:
            # Allowed, if it says so.
            assert {"operon": "single precision", "afp_released": "none had a loss below"}[name] in str(error)
        else:
            check_front(front, problem)
            if isinstance(methods.method(name), LogScaled) or name in ("polynomial", "power_law"):
                assert r2(problem, front[0]) > 0.2
