"""EQL as a method: what is chosen, what is printed as released and mended, and what fails and why."""

import dataclasses
import json

import rediscover as rd
from rediscover import methods, report
from rediscover.expressions import parse
from rediscover.methods import Budget, Unsupported
from rediscover.methods.eql import LISTS, Search, _text, size
from rediscover.methods.sparse_dynamics import Scored
from rediscover.problems import Regression, Trajectories
from rediscover.runs.worker import checked
from rediscover.search.networks.gated_training import LINE_SEARCH

import numpy as np
import pytest
import sympy

SMALL = {"layers": (1,), "functions": ("A",), "reg": (1e-3, 1e-2), "steps": 300}
BUDGET = Budget(evaluations=10**6)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Decay(Trajectories):
    """States that decay at different rates, in units of `unit`."""

    unit: float = 1.0
    split: str = "published"

    def trajectory(self, seed=0):
        t = np.linspace(0, 2, 150)
        rates = np.arange(1.0, len(self.truth) + 1)
        u = self.unit * np.exp(-rates * t[:, None])
        return t, u, -rates * u


def decay(**options):
    return Decay(id="test/decay", truth={"x0": "-x0", "x1": "-2*x1"}, inputs=("x0", "x1"), **options)


def solve(problem, budget=BUDGET, seed=0, **settings):
    return methods.method("eql", **{**SMALL, **settings}).solve(problem, budget=budget, seed=seed)


class TestAnswers:
    @pytest.mark.parametrize("as_released", [False, True])
    def test_a_small_system_end_to_end(self, as_released):
        problem = rd.problem("odes/24")
        (found,) = solve(problem, steps=1500, as_released=as_released)
        outcome = checked(problem, [found])
        assert outcome["status"] == "ok", outcome["reason"]
        scored = rd.score(problem, found.notes.get("network", found.solution))
        assert scored["nmse_power"] < (np.inf if as_released else 0.3)
        assert found.loss < 1 and set(found.notes["setting"]) == {"layers", "functions", "reg"}
        json.dumps(dict(found.notes), allow_nan=False)

    def test_the_released_row_scores_the_network_and_counts_what_is_printed(self):
        problem = rd.problem("odes/24")
        row = methods.method("eql_released", **SMALL | {"steps": 1500})
        (found,) = row.solve(problem, budget=BUDGET, seed=0)
        assert dict(found.solution) == dict(found.notes["network"]) and found.notes["printed"] != found.solution
        assert found.complexity == size([sympy.sympify(text) for text in found.notes["printed"].values()])

    def test_same_seed_same_answer(self):
        first, again, other = (solve(decay(), seed=seed) for seed in (2, 2, 3))
        assert first == again != other

    def test_the_prediction_is_the_text(self):
        (found,) = solve(decay())
        u = decay().trajectory()[1]
        values = dict(zip(("x0", "x1"), u.T, strict=True))
        predicted = np.stack([np.broadcast_to(parse(text)(values), 150) for text in found.solution.values()])
        rates = np.gradient(u, 2 / 149, axis=0, edge_order=2).T
        cut = slice(72, 96)
        method = methods.method("eql", **SMALL)
        search = Search(method, decay(), 0, 300)
        reg = found.notes["setting"]["reg"]
        fits = {setting["reg"]: fit for setting, fit in search.fits("train", [(1, "A")], SMALL["reg"])}
        error = np.sum((fits[reg].predict(u.T[:, cut]) - rates[:, cut]) ** 2) / np.sum(rates[:, cut] ** 2)
        assert found.loss == pytest.approx(error)
        ((_, refit),) = search.fits("refit", [(1, "A")], (reg,))
        np.testing.assert_allclose(predicted, refit.predict(u.T), rtol=1e-9, atol=1e-12)

    def test_the_setting_of_highest_fitness_is_fitted_again(self):
        search = Search(methods.method("eql", **SMALL), decay(), 0, 300)
        scores = {s["reg"]: search.score(fit) for s, fit in search.fits("train", [(1, "A")], SMALL["reg"])}
        fitness = {reg: 1 / (1 + error) + np.exp(-size / 200) for reg, (size, error) in scores.items()}
        (found,) = solve(decay())
        assert found.notes["setting"]["reg"] == max(fitness, key=fitness.get)
        assert found.complexity == rd.metrics.symbolic.complexity(found.solution, "preorder")


class TestPrinted:
    def fits(self, as_released):
        method = methods.method("eql", **SMALL, as_released=as_released)
        search = Search(method, decay(), 0, 300)
        return search, [fit for _, fit in search.fits("train", [(1, "A")], SMALL["reg"])]

    def test_as_released_leaves_out_the_gates_of_the_last_layer_only(self):
        _, fits = self.fits(True)
        for fit in fits:
            last = np.arange(len(fit.shown)) >= len(fit.shown) - 2 * len(LISTS["A"])
            assert np.array_equal(fit.shown[~last], fit.weights[~last])
            assert (np.abs(fit.shown[last]) >= np.abs(fit.weights[last])).all()
            assert (fit.shown[last] != fit.weights[last]).any()

    def test_mended_prints_what_is_scored(self):
        _, fits = self.fits(False)
        assert all(fit.shown is fit.weights and fit.weights.dtype == float for fit in fits)
        assert any((fit.weights == 0).any() for fit in fits), "closed gates stay closed in the last fit"

    def test_three_decimals_without_guards_or_all_digits_with_them(self):
        (released, released_fits), (mended, mended_fits) = self.fits(True), self.fits(False)
        short = " ".join(str(e) for fit in released_fits for e in released.printed(fit))
        long = " ".join(str(e) for fit in mended_fits for e in mended.printed(fit))
        numbers = [n for fit in released_fits for e in released.printed(fit) for n in e.atoms() if n.is_Float]
        assert numbers and all(float(n) == round(float(n), 3) for n in numbers)
        assert "Abs" not in short and "Abs" in long and "log" in short and "log" in long
        assert max(map(len, long.split("*"))) > 15

    def test_what_is_scored_is_beside_it_as_released(self):
        (found,) = solve(decay(), as_released=True)
        assert found.notes["network"].keys() == found.solution.keys()
        assert parse(found.notes["network"]["x0"]) != parse(found.solution["x0"])
        (mended,) = solve(decay())
        assert "network" not in mended.notes

    def test_no_real_expression_is_told_as_unparsable(self):
        assert _text(sympy.sqrt(sympy.Float(-0.25)) + sympy.Symbol("x0")) == "x0 + 0.5*I"
        found = methods.Candidate({"x0": "x0 + 0.5*I", "x1": "1.0"})
        assert checked(decay(), [found])["status"] == "unparsable"


class TestFailures:
    def test_an_overflow_is_told_with_its_cause(self):
        """Large states: exp is infinite at once; list B has no exp, and its networks go on."""
        (found,) = solve(decay(unit=1000.0), functions=("A", "B"), steps=50)
        assert found.notes["setting"]["functions"] == "B"
        causes = found.notes["failed"]
        assert set(causes) == {"layers 1, functions A, reg 0.001", "layers 1, functions A, reg 0.01"}
        for cause in causes.values():
            assert cause.startswith("step ") and cause.endswith("overflowed in single precision") and "exp of" in cause

    def test_as_released_the_setting_that_overflows_is_chosen(self):
        reason = "eql: layers 1, functions A, reg 0.001, fitted again: step .* overflowed in single precision"
        with pytest.raises(FloatingPointError, match=reason):
            solve(decay(unit=1000.0), functions=("A", "B"), steps=50, as_released=True)

    def test_as_released_what_is_undefined_comes_first_or_not_at_all(self):
        """By hand: of two with the least nodes the first in the grid's order (penalty, layers, list) stands."""
        method = methods.method("eql", reg=(0.1, 0.2), layers=(1,), functions=("A", "B"))

        def chosen(*scores):
            settings = [(functions, reg) for functions in ("A", "B") for reg in (0.1, 0.2)]
            tried = [
                Scored(*score, {"layers": 1, "functions": functions, "reg": reg})
                for score, (functions, reg) in zip(scores, settings, strict=True)
            ]
            found = method.as_in_the_release(tried).setting
            return found["functions"], found["reg"]

        good, bad, least = (9, 0.0), (1, np.nan), (1, 5.0)
        assert chosen(good, bad, good, good) == ("A", 0.2)
        assert chosen(good, bad, least, good) == ("A", 0.1), "B with 0.1 comes before A with 0.2, and is worse than 9"
        assert chosen(good, (20, np.nan), good, least) == ("A", 0.1)

    def test_where_nothing_is_left_it_is_the_reason_of_the_run(self):
        reason = (
            "none of 2 settings is finite, such as layers 1, functions A, reg 0.001: step 1: .* in single precision"
        )
        with pytest.raises(FloatingPointError, match=reason):
            solve(decay(unit=1e20))

    def test_predictions_are_looked_at_too(self):
        search = Search(methods.method("eql", **SMALL), decay(), 0, 1)
        (_, fit), *_ = search.fits("train", [(1, "A")], (1e-3,))
        broken = fit._replace(weights=fit.weights * 1e200)
        with pytest.raises(FloatingPointError, match=r"validation rows: .* overflowed in double precision"):
            search.score(broken)


class TestBudget:
    def test_gradients_are_counted_and_the_limit_kept(self):
        evaluations = 3 * (50 + LINE_SEARCH + 100)
        (found,) = solve(decay(), budget=Budget(evaluations=evaluations))
        assert found.notes["steps"] == 100 and 3 * 100 < found.evaluations <= evaluations

    def test_too_few_for_a_step_are_refused(self):
        with pytest.raises(ValueError, match="eql: 3 networks need 213 evaluations or more, got 212"):
            solve(decay(), budget=Budget(evaluations=212))


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"functions": ["C"]}, r"eql: no list of functions 'C' \(lists: A, B\)"),
        ({"functions": []}, "eql: functions must be different values and at least one"),
        ({"layers": [1, 1]}, "eql: layers must be different values"),
        ({"layers": [0]}, "whole numbers, at least 1, got 0"),
        ({"steps": 2.5}, "whole numbers, at least 1, got 2.5"),
        ({"reg": ["1e-3"]}, "eql: reg must be numbers, at least 0 and finite, got '1e-3'"),
        ({"reg": [-1.0]}, "eql: reg must be numbers, at least 0 and finite, got -1.0"),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        methods.method("eql", **settings)


def test_sixteen_settings_are_mdbenchs():
    method = methods.method("eql")
    assert len(method.layers) * len(method.functions) * len(method.reg) == 16 and method.steps == 10_000
    table = report.published("mdbench_table_a3").query("method == 'EQL'")
    printed = dict(zip(table.iloc[:, 1], table.iloc[:, 2], strict=True))
    for name, column in (("A", "activation functions (layer 1)"), ("B", "activation functions (layer 2)")):
        assert ";".join(LISTS[name]) == printed[column].strip("[]")
    assert [float(value) for value in printed["regularization"].split(",")] == list(method.reg)


def test_it_is_in_the_catalogue_and_takes_systems_only():
    assert report.catalogue("mdbench").set_index("label").loc["EQL", ["status", "ours"]].tolist() == [
        "runs here",
        "eql_released",
    ]
    with pytest.raises(Unsupported, match="eql does not treat"):
        methods.method("eql").solve(Regression(id="test/plane", truth={"z": "x"}, inputs=("x",)))
