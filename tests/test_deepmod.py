"""DeepMoD as a method: equations of known fields, what is chosen, scaled and left out, and what it refuses."""

import dataclasses
import json

from rediscover import methods, report
from rediscover.methods import Budget, Unsupported
from rediscover.methods.deepmod import Library, Search, Units
from rediscover.methods.sparse_dynamics import sample
from rediscover.metrics.symbolic import complexity
from rediscover.problems import Field, Regression
from rediscover.runs.worker import checked

import numpy as np
import pytest
from scipy.special import erfc

SMALL = {"degrees": (1,), "orders": (2,), "thresholds": (0.1,), "steps": 200, "points": 200}
BUDGET = Budget(evaluations=10**6)
INPUTS = ("u0", "u1", *(f"{u}_{d}" for u in ("u0", "u1") for d in ("x", "y", "xx", "yy", "xy")))


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Known(Field):
    """A field with a formula u(t, x, ...) on given lines, that of time first."""

    formula: object = None
    lines: tuple = ()
    unit: float = 1.0
    split: str = "published"

    def samples(self, seed=0):
        t, *axes = self.lines
        grid = np.meshgrid(*axes, t, indexing="ij")
        made = self.formula(grid[-1], *grid[:-1])
        u = self.unit * np.stack(made if isinstance(made, tuple) else (made,), axis=-1)
        return dict(zip("xyz", axes, strict=False)), t, u, np.gradient(u, t[1] - t[0], axis=-2, edge_order=2)


def known(formula, truth, *lines, **options):
    truth = {"u0": truth} if isinstance(truth, str) else truth
    return Known(id="test/field", truth=truth, formula=formula, lines=lines, inputs=INPUTS, **options)


def burgers():
    """A delta peak of size 1 at t = 0, viscosity 0.1 (Cole and Hopf)."""

    def u(t, x):
        v, r = 0.1, np.expm1(1 / 0.2)
        peak = np.exp(-(x**2) / (4 * v * t)) * r * np.sqrt(v / (np.pi * t))
        return peak / (1 + r / 2 * erfc(x / np.sqrt(4 * v * t)))

    return known(u, "0.1*u0_xx - u0*u0_x", np.linspace(0.5, 5, 50), np.linspace(-3, 4, 100))


def solitons():
    """Two of them, of the speeds 1 and 0.25, by Hirota's formula: u = 2 (log f)_xx."""

    def u(t, x):
        k, c = (1.0, 0.5), (5.0, 0.0)
        overlap = ((k[0] - k[1]) / (k[0] + k[1])) ** 2
        e = [np.exp(a * x - a**3 * t + b) for a, b in zip(k, c, strict=True)]
        f = 1 + e[0] + e[1] + overlap * e[0] * e[1]
        slope = k[0] * e[0] + k[1] * e[1] + overlap * sum(k) * e[0] * e[1]
        bend = k[0] ** 2 * e[0] + k[1] ** 2 * e[1] + overlap * sum(k) ** 2 * e[0] * e[1]
        return 2 * (bend / f - (slope / f) ** 2)

    return known(u, "-u0_xxx - 6*u0*u0_x", np.linspace(0, 10, 101), np.linspace(-12, 14, 200))


def pulse():
    def u(t, x):
        return np.exp(-2 * (x - t) ** 2)

    return known(u, "-u0_x", np.linspace(0, 2, 60), np.linspace(-2, 4, 60))


def heat(**options):
    def u(t, x):
        return np.exp(-0.5 * t) * np.sin(x) + 0.5 * np.exp(-2 * t) * np.cos(2 * x)

    return known(u, "0.5*u0_xx", np.linspace(0, 1, 60), np.linspace(-2, 2, 60), **options)


def turning():
    def u(t, x):
        return np.sin(x - t), np.cos(x - t) * np.exp(-t)

    truth = {"u0": "-u0_x", "u1": "-u1 - u1_x"}
    return known(u, truth, np.linspace(0, 2, 40), np.linspace(0, 3, 40))


def plane(states=1, axes=2):
    def u(t, x, y, *z):
        wave = np.exp(-t) * np.sin(x) * np.cos(2 * y)
        return (wave,) * states

    lines = [np.linspace(0, 1, 20), np.linspace(-1, 1, 12), np.linspace(0, 2, 14), np.linspace(0, 1, 6)]
    truth = {f"u{i}": "0.2*u0_xx + 0.2*u0_yy" for i in range(states)}
    return known(u, truth, *lines[: axes + 1])


def solve(problem, budget=BUDGET, seed=0, **settings):
    return methods.method("deepmod", **{**SMALL, **settings}).solve(problem, budget=budget, seed=seed)


def coefficients(text):
    import sympy

    return {str(term): float(c) for term, c in sympy.sympify(text).as_coefficients_dict().items()}


def within(text, truth, share=0.05):
    """All terms and no others, and every coefficient within a share of the true one."""
    found, true = coefficients(text), coefficients(truth)
    return found.keys() == true.keys() and all(abs(found[t] / true[t] - 1) <= share for t in true)


class TestKnownFields:
    def test_a_moving_pulse_within_five_per_cent(self):
        (found,) = solve(pulse(), steps=1000, points=300)
        assert within(found.solution["u0"], "-u0_x"), found

    @pytest.mark.minutes
    def test_burgers_within_five_per_cent(self):
        (found,) = solve(burgers(), degrees=(2,), steps=8000, points=1250)
        assert within(found.solution["u0"], "0.1*u0_xx - u0*u0_x"), found

    @pytest.mark.minutes
    def test_kdv_within_five_per_cent(self):
        (found,) = solve(solitons(), degrees=(2,), orders=(3,), steps=4000, points=1250)
        assert within(found.solution["u0"], "-u0_xxx - 6*u0*u0_x"), found

    @pytest.mark.parametrize("field", [burgers, solitons, pulse, heat])
    def test_the_fields_obey_their_equations(self, field):
        """Of the tests themselves: by differences, away from the edges."""
        problem = field()
        data = sample(problem, 0)
        library = Library.of(("u0",), ("x",), 1, 3)
        theta = dict(zip(library.texts, library.values(data, slice(None)), strict=True))
        rate = sum(c * theta[t.replace(" ", "")] for t, c in coefficients(problem.truth["u0"]).items())
        inner = np.s_[4:-4, 4:-4]
        left = (rate.reshape(data.u.shape[:2]) - data.target[..., 0])[inner]
        assert np.abs(left).max() < 0.05 * np.abs(data.target).max()


class TestAnswers:
    @pytest.mark.parametrize("field", [heat, turning, plane])
    def test_small_fields_end_to_end(self, field):
        problem = field()
        (found,) = solve(problem)
        outcome = checked(problem, [found])
        assert outcome["status"] == "ok", outcome["reason"]
        assert found.solution.keys() == problem.truth.keys() and found.evaluations <= 200
        json.dumps(dict(found.notes), allow_nan=False)

    def test_same_seed_same_answer(self):
        first, again, other = (solve(heat(), seed=seed) for seed in (2, 2, 3))
        assert first == again != other

    def test_another_unit_of_the_states_changes_nothing(self):
        """A power of 2, so that scaled numbers are the same to the bit."""
        (one,), (other,) = solve(heat()), solve(heat(unit=2.0**-20))
        ours, theirs = coefficients(one.solution["u0"]), coefficients(other.solution["u0"])
        assert ours.keys() == theirs.keys()
        for term, c in ours.items():
            power = {"1": -1, "u0*u0_x": 1, "u0*u0_xx": 1}.get(term, 0)
            assert theirs[term] == pytest.approx(c * 2.0 ** (20 * power), rel=1e-9)

    def test_the_best_of_a_grid_is_trained_again(self):
        grid = {"degrees": (1, 2), "thresholds": (0.05, 0.2)}
        (found,) = solve(heat(), **grid)
        search = Search(methods.method("deepmod", **{**SMALL, **grid}), heat(), sample(heat(), 0), 0, 200)
        fits = [(s, f) for s, f in search.fits("train", [(1, 2), (2, 2)], (0.05, 0.2)) if not isinstance(f, str)]
        score = {tuple(s.values()): search.score(f) for s, f in fits}
        fitness = {s: 1 / (1 + error) + np.exp(-size / 200) for s, (size, error) in score.items()}
        best = max(fitness, key=fitness.get)
        assert tuple(found.notes["setting"].values()) == best and found.loss == score[best][1]
        assert search.evaluations < found.evaluations <= search.evaluations + 200

    def test_complexity_is_that_of_the_text(self):
        (found,) = solve(heat())
        assert found.complexity == complexity(found.solution, "preorder")


class TestUnits:
    def test_texts(self):
        assert Library.of(("u0",), ("x",), 2, 1).texts == ["1", "u0_x", "u0", "u0*u0_x", "u0**2", "u0**2*u0_x"]
        assert Library.of(("u0",), ("x", "y"), 1, 2).texts[3:7] == ["u0_xx", "u0_yy", "u0_xy", "u0"]
        assert "u0_x*u1_x" in Library.of(("u0", "u1"), ("x",), 1, 1).texts

    def test_coefficients_go_back_to_the_units_of_the_data(self):
        """u = 3 w, x = 2 ξ, t = 5 τ: w_τ = w w_ξ is u_t = (2/15) u u_x, and w_τ = w_ξξ is u_t = (4/5) u_xx."""
        library = Library.of(("u0",), ("x",), 1, 2)
        units = Units(np.zeros(2), np.array([5.0, 2.0]), np.zeros(1), np.array([3.0]))
        made = dict(zip(library.texts, library.in_units(np.ones((1, 6)), units)[0], strict=True))
        assert made["u0*u0_x"] == pytest.approx(2 / 15) and made["u0_xx"] == pytest.approx(4 / 5)
        assert made["1"] == pytest.approx(3 / 5)

    def test_points_are_of_the_block_and_belong_to_their_states(self):
        for released in (False, True):
            method = methods.method("deepmod", **SMALL, as_released=released)
            X, Y = Search(method, heat(), sample(heat(), 0), 0, 100).points("train")
            assert X.shape == (2, 200) and X[0].max() < 0.65 and len(set(zip(*X, strict=True))) == 200
            np.testing.assert_allclose(Y[0], heat().formula(*X))

    def test_as_released_coordinates_of_a_plane_do_not_belong_to_their_states(self):
        mended, released = (methods.method("deepmod", **SMALL, as_released=r) for r in (False, True))
        X, Y = Search(mended, plane(), sample(plane(), 0), 0, 100).points("train")
        np.testing.assert_allclose(Y, plane().formula(*X))
        Z, same = Search(released, plane(), sample(plane(), 0), 0, 100).points("train")
        assert np.array_equal(Y, same) and np.abs(plane().formula(*Z)[0] - Y[0]).max() > 0.1
        lines = sample(plane(), 0)
        assert {*Z[1]} <= {*lines.axes[0]} and {*Z[2]} <= {*lines.axes[1]}

    def test_as_released_nothing_is_scaled(self):
        method = methods.method("deepmod", **SMALL, as_released=True)
        units = Search(method, heat(), sample(heat(), 0), 0, 100).units(np.array([[3.0, 9.0]]), np.array([[5.0, 7.0]]))
        assert [part.tolist() for part in units] == [[0], [1], [0], [1]]


class TestReleased:
    def test_small_states_end_at_once(self):
        """Once the network is 0, gains are below 1e-5: the mask comes before it has learned anything."""
        (found,) = solve(heat(unit=1e-3), as_released=True, steps=1200, points=100, thresholds=(1e-3,))
        assert found.notes["first_mask"] <= 200 and found.notes["test_error"] > 1e-8
        (mended,) = solve(heat(unit=1e-3), steps=1200, points=100)
        assert mended.notes["first_mask"] > 500

    def test_a_mask_without_terms_is_an_error_of_the_run(self):
        with pytest.raises(FloatingPointError, match="deepmod: u0 has lost all terms at threshold 50"):
            solve(heat(), as_released=True, thresholds=(50.0,))

    def test_several_states_are_refused(self):
        with pytest.raises(Unsupported, match="columns twice"):
            solve(turning(), as_released=True)


class TestRefusals:
    def test_mended_a_setting_without_terms_is_out(self):
        (found,) = solve(heat(), thresholds=(0.05, 50.0))
        assert found.notes["setting"]["threshold"] == 0.05
        assert found.notes["failed"] == {"degree 1, order 2, threshold 50.0": "u0 has lost all terms at threshold 50"}
        with pytest.raises(Unsupported, match="no setting gave a right-hand side"):
            solve(heat(), thresholds=(50.0, 60.0))

    @pytest.mark.parametrize(
        ("problem", "reason"),
        [(plane(states=2), "in two dimensions is for one state, and test/field has 2"), (plane(axes=3), "has 3")],
    )
    def test_systems_without_a_library(self, problem, reason):
        with pytest.raises(Unsupported, match=reason):
            solve(problem)

    def test_orders_that_an_axis_has_too_few_points_for(self):
        thin = dataclasses.replace(heat(), lines=(np.linspace(0, 1, 60), np.linspace(-2, 2, 4)))
        (found,) = solve(thin, orders=(2, 4), steps=50)
        assert found.notes["setting"]["order"] == 2
        with pytest.raises(Unsupported, match="too few points for derivatives of order 4"):
            solve(thin, orders=(4,))

    def test_other_kinds(self):
        with pytest.raises(Unsupported, match="deepmod does not treat"):
            solve(Regression(id="test/plane", truth={"z": "x"}, inputs=("x",)))

    def test_the_budget_is_shared_among_the_trainings(self):
        (found,) = solve(heat(), budget=Budget(evaluations=300), thresholds=(0.05, 0.1))
        assert found.evaluations <= 300 and found.notes["steps"] == 100
        with pytest.raises(ValueError, match="deepmod: 3 trainings need 150 steps or more, got 149"):
            solve(heat(), budget=Budget(evaluations=149), thresholds=(0.05, 0.1))

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"degrees": []}, "deepmod: degrees must be different values and at least one"),
            ({"orders": [2, 2]}, "deepmod: orders must be different values"),
            ({"orders": [5]}, "deepmod: orders go up to 4, got 5"),
            ({"degrees": [0]}, "whole numbers from 1, got 0"),
            ({"points": 2.5}, "whole numbers from 1, got 2.5"),
            ({"points": 49}, "points must be 50 or more, got 49"),
            ({"steps": True}, "whole numbers from 1, got True"),
            ({"thresholds": ["0.1"]}, "deepmod: thresholds must be positive numbers, got '0.1'"),
            ({"thresholds": [0]}, "deepmod: thresholds must be positive numbers, got 0"),
        ],
    )
    def test_bad_settings(self, settings, message):
        with pytest.raises(ValueError, match=message):
            methods.method("deepmod", **settings)


def test_the_grid_is_mdbenchs():
    method = methods.method("deepmod")
    table = report.published("mdbench_table_a2").query("method == 'DeepMoD'")
    printed = dict(zip(table.iloc[:, 1], table.iloc[:, 2].astype(str), strict=True))
    assert json.loads(f"[{printed['derivative order']}]") == list(method.orders)
    assert json.loads(f"[{printed['polynomial order']}]") == list(method.degrees)
    assert json.loads(printed["threshold"]) == list(method.thresholds) and method.steps == 50_000


def test_it_is_in_the_catalogue():
    entry = report.catalogue("mdbench").set_index("label").loc["DeepMoD", ["status", "ours"]]
    assert entry.tolist() == ["runs here", "deepmod"]
