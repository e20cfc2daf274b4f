"""Metrics of trajectories, against hand-worked values and the released runs."""

import gzip
import json
import re

from rediscover.expressions import parse
from rediscover.metrics.trajectories import accuracy, dependent_tree, proximity_dependent, r2_trajectories, sr2
from rediscover.problems import cde
from rediscover.search.skeleton_fits import fit_released

import numpy as np
import pytest
from sklearn.metrics import r2_score

NAN = float("nan")


class TestR2:
    def test_by_hand(self):
        truth = np.array([[0.0, 1.0], [2.0, 3.0]])
        assert r2_trajectories(truth + np.array([[1, 0], [0, 0]]), truth) == 1 - 0.5 * (1 / 2)

    @pytest.mark.parametrize("seed", range(5))
    def test_agrees_with_scikit_learn(self, seed):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=(20, 3)) * [1, 1e6, 1e-6]
        truth[:, seed % 3] = 4.0 if seed else truth[:, 0]
        prediction = truth + rng.normal(size=(20, 3)) * (seed > 2)
        assert r2_trajectories(prediction, truth) == pytest.approx(r2_score(truth, prediction), rel=1e-12)

    def test_failures_are_nan(self):
        truth = np.arange(6.0).reshape(3, 2)
        assert np.isnan(r2_trajectories(truth[:2], truth))
        assert np.isnan(r2_trajectories(np.where(truth == 3, np.inf, truth), truth))
        assert np.isnan(r2_trajectories(truth[:1], truth[:1]))

    def test_constant_state_counts_one_or_zero(self):
        assert r2_trajectories([3.0, 3.0], [3.0, 3.0]) == 1.0
        assert r2_trajectories([3.0, 3.1], [3.0, 3.0]) == 0.0


class TestAggregates:
    def test_denominators(self):
        r2 = [1.0, 0.91, 0.5, -7.0, NAN]
        assert sr2(r2) == pytest.approx(2.41 / 5)
        assert sr2(r2, failures="dropped") == pytest.approx(2.41 / 4)
        assert accuracy(r2) == 2 / 5 and accuracy(r2, failures="dropped") == 2 / 4

    def test_nothing_is_nan(self):
        assert np.isnan(sr2([])) and np.isnan(accuracy([NAN], failures="dropped"))

    def test_unknown_denominator(self):
        with pytest.raises(ValueError, match="'kept' or 'dropped'"):
            sr2([1.0], failures="some")


class TestProximity:
    @pytest.mark.parametrize(
        "a, b, distance",
        [
            ("x**2", "x**3", 0),
            ("exp(-2*x)", "exp(x)", 0),
            ("x", "y", 1),
            ("1/x", "x", 2),
            ("3*x", "x", 0),
            ("x + 2", "x", 0),
            ("3*x + 2", "x", 2),
            ("0.5", "2.5", 0),
            ("x*y", "x", 2),
        ],
    )
    def test_by_hand(self, a, b, distance):
        a, b = {"x": parse(a)}, {"x": parse(b)}
        assert proximity_dependent(a, b) == proximity_dependent(b, a) == distance

    def test_states_add_up_and_a_missing_one_is_nan(self):
        one, two = {"x": parse("x"), "y": parse("y")}, {"x": parse("y"), "y": parse("x")}
        assert proximity_dependent(one, two) == 2
        assert np.isnan(proximity_dependent({"x": parse("x")}, two))

    def test_tree(self):
        assert dependent_tree(parse("2*sin(3*x)")) == ("sin", ("x",))


def pack(shared, name):
    path = shared / "data" / "symbolbench" / name
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    opened = gzip.open(path) if name.endswith(".gz") else path.open()
    with opened as file:
        return json.load(file)["items"]


def renamed(text):
    return re.sub(r"\bx_(\d+)\b", r"x\1", text)


T = np.linspace(0, 10, 150)
NAMES = ("x0", "x1", "x2", "x3")


@pytest.fixture(scope="module")
def released(shared):
    """Released runs on clean data: (true trajectory, candidates). The loop integrated its truth as its
    candidates."""
    items = {item["id"]: item for item in pack(shared, "cde.json")}
    runs = [r for r in pack(shared, "released_outputs.json.gz") if r["task"] == "DE" and r["noise"] == 0]
    truth = {}
    for name in {run["truth"] for run in runs}:
        equations = {f"x{i}": parse(renamed(text)) for i, text in enumerate(items[name]["numeric_equations"])}
        truth[name] = cde.simulate(equations, items[name]["init_id"], T, solver=cde.LOOP)
    return [(truth[run["truth"]], run["candidates"]) for run in runs if run["candidates"]]


def rederived(truth, candidate):
    equations = {f"x{i}": parse(renamed(text)) for i, text in enumerate(candidate[1])}
    return r2_trajectories(cde.simulate(equations, truth[0], T, solver=cde.LOOP), truth)


class TestReleasedRuns:
    def test_stored_r2_comes_back(self, released):
        """The best candidate of every run; the stored value has ten digits."""
        misses = []
        for truth, candidates in released:
            found, stored = rederived(truth, candidates[0]), candidates[0][2]
            if not abs(found - stored) <= 1e-6 * max(1.0, abs(stored)):
                misses.append((stored, found))
        assert len(released) > 400 and not misses

    def test_figure_3_comes_back(self, shared):
        """Every point but that of DeepSeek-R1 to the digits that are drawn."""
        from rediscover.studies.cde import released_runs as coupled_released

        runs = coupled_released.runs(shared.parent)
        if runs is None:
            pytest.skip("no released runs")
        points = coupled_released.figure3(runs)
        off = (points["SR2"] - points["SR2 drawn"]).abs() > 6e-5
        assert list(points.index[off]) == [("DeepSeek-R1-Distill-Llama-70B", "without")]
        accuracy = points.dropna()
        assert len(accuracy) == 10 and ((accuracy["ACC"] - accuracy["ACC drawn"]).abs() < 6e-4).all()
        gaps = coupled_released.gaps(runs[::50])
        assert len(gaps) > 5 and (gaps < 1e-6).all()

    def test_affine_fit_of_four_states_on_the_series_of_the_benchmark(self, shared):
        """Plain least squares: SR2 99.7 in distribution, 18.6 out of it, so one of 28 systems is worth 3.6."""
        items = [item for item in pack(shared, "cde.json") if item["dim"] == 4]
        scores = {"init_id": [], "init_ood": []}
        for item in items:
            states = np.array(item["traj_id"])
            table = np.column_stack([np.ones(len(states)), states])
            rates = np.gradient(states, T, axis=0, edge_order=2)
            fit = [
                parse(" + ".join(f"({c!r})*{x}" for c, x in zip(column, ("1", *NAMES), strict=True)))
                for column in np.linalg.lstsq(table, rates, rcond=None)[0].T.tolist()
            ]
            for start, found in scores.items():
                paths = [
                    cde.simulate(dict(zip(NAMES, right, strict=True)), item[start], T)
                    for right in (fit, [parse(renamed(text)) for text in item["numeric_equations"]])
                ]
                found.append(r2_trajectories(*paths))
        assert len(items) == 28 and 100 * sr2(scores["init_id"]) == pytest.approx(99.7, abs=0.1)
        assert 100 * sr2(scores["init_ood"]) == pytest.approx(18.6, abs=0.1)

    def test_stored_fits_come_back(self, released):
        """Where the least-squares problem is well posed the rounded coefficients are the same to the last
        digit."""
        same = total = 0
        for truth, candidates in released[::20]:
            skeletons = {f"x{i}": renamed(text) for i, text in enumerate(candidates[0][0])}
            values = dict(zip(skeletons, truth.T, strict=True))
            fitted = fit_released(skeletons, truth, T)
            for text, stored in zip(fitted.values(), candidates[0][1], strict=True):
                ours, theirs = parse(text)(values), parse(renamed(stored))(values)
                same += np.allclose(ours, theirs, rtol=1e-6, atol=1e-6 * np.abs(theirs).max())
                total += 1
        assert total > 50 and same / total > 0.9
