"""The coupled differential equations of SymbolBench, their simulation and their scores."""

from collections import Counter
from pathlib import Path

import rediscover as rd
from rediscover.expressions import parse
from rediscover.problems import cde
from rediscover.studies.cde.scores import score

import numpy as np
import pandas as pd
import pytest

DATA = Path(__file__).parents[1] / "data"
ALTERED = {"P018", "P098", "P107", "P157", "P425"}


class TestCatalogue:
    def test_counts_are_those_of_the_paper(self):
        assert len(cde.ids()) == 156
        assert [len(cde.ids(d)) for d in "1234"] == [35, 43, 50, 28]
        assert sum(name.startswith("S") for name in cde.ids()) == 63

    def test_flags(self):
        flags = Counter(flag for name in cde.ids() for flag in cde.load(name).flags)
        assert flags == {"duplicate": 21, "altered": 5, "degenerate": 7, "chaotic": 3}
        assert {name for name in cde.ids() if "altered" in cde.load(name).flags} == ALTERED

    def test_a_duplicate_names_its_original_and_has_its_truth(self):
        problem = rd.problem("cde/P299")
        assert "the same model as P006" in problem.note
        assert problem.truth == rd.problem("cde/P006").truth

    def test_every_truth_has_only_states(self):
        for name in cde.ids():
            problem = cde.load(name)
            assert {n for right in problem.expressions.values() for n in right.names} <= set(problem.inputs)

    def test_unknown_id_offers_the_nearest(self):
        with pytest.raises(KeyError, match="did you mean 'cde/P006'"):
            rd.problem("cde/P0006")


class TestTrajectories:
    def test_agree_with_the_benchmark(self):
        """Every entry whose equation the benchmark did not alter; chaotic ones to the tolerance of the solver."""
        stored = pd.read_csv(DATA / "symbolbench_trajectories.csv", comment="#").set_index(["system", "point"])
        for name, points in stored.groupby("system"):
            states = cde.load(name).solution()
            spread = np.maximum(np.ptp(states, axis=0), 1e-12 + 1e-6 * np.abs(states).max(axis=0))
            rows = points.index.get_level_values("point")
            gap = np.abs(states[rows] - points.to_numpy()[:, : states.shape[1]]) / spread
            assert (gap.max() < 0.05) == (name not in ALTERED), (name, gap.max())
        assert stored.index.unique("system").size == 156

    def test_second_initial_state_is_seeded(self):
        problem = rd.problem("cde/P028")
        assert np.array_equal(problem.initial_state("ood", 3), problem.initial_state("ood", 3))
        assert not np.array_equal(problem.initial_state("ood", 3), problem.initial_state("ood", 4))
        assert (problem.initial_state("ood") >= 0).all()

    def test_odebench_has_its_own_second_state(self):
        assert rd.problem("cde/S001").initial_state("ood", 5).tolist() == [3.54]

    def test_data_are_states_and_rates(self):
        splits = rd.problem("cde/S024").data()
        assert splits["train"].X.shape == splits["train"].y.shape == (150, 2)
        one = rd.problem("cde/S002").data()["train"]
        assert one.y.shape == (150,)
        assert np.allclose(one.y, 0.23 * one.X[:, 0], rtol=1e-3)

    def test_noise_is_relative_and_repeats(self):
        problem = rd.problem("cde/S002", noise=0.1)
        clean, noisy = problem.solution(), problem.observed(1)
        assert np.std(noisy - clean) == pytest.approx(0.1 * clean.std(), rel=0.3)
        assert np.array_equal(noisy, problem.observed(1))

    def test_unknown_split(self):
        with pytest.raises(ValueError, match="'id' or 'ood'"):
            rd.problem("cde/S001").solution("train")


class TestScores:
    @pytest.mark.parametrize("name", ["S001", "S031", "S055", "P002", "P064", "P127", "P190"])
    def test_the_truth_is_perfect(self, name):
        problem = cde.load(name)
        scores = score(problem, problem.truth)
        assert scores["r2_trajectories_id"] == scores["r2_trajectories_ood"] == 1.0
        assert scores["proximity_dependent"] == 0.0

    @pytest.mark.parametrize("answer", [{}, {"x0": "sin("}, {"x0": "x0**2 + exp(x0)"}, {"x0": "y"}])
    def test_failures_are_nan(self, answer):
        assert np.isnan(score(cde.load("S001"), answer)["r2_trajectories_id"])

    def test_least_squares_finds_a_linear_law(self):
        problem = rd.problem("cde/S001")
        (candidate, *_) = rd.method("least_squares").solve(problem)
        assert rd.score(problem, candidate)["r2_trajectories_ood"] > 0.9999

    @pytest.mark.parametrize("name", ["sindy", "sindy_cross", "esindy"])
    def test_sparse_methods_read_the_record_of_a_coupled_system(self, name):
        problem = rd.problem("cde/S002")
        settings = {"n_models": (5,), "ratios": (0.7,), "inclusions": (0.5,)} if name == "esindy" else {}
        (candidate, *_) = rd.method(name, **settings).solve(problem)
        assert rd.score(problem, candidate)["r2_trajectories_ood"] > 0.99

    def test_gplearn_as_released_has_its_own_budget_and_plain_functions(self):
        problem = rd.problem("cde/S006")
        (answer,) = rd.method("gplearn_released").solve(problem, budget={"evaluations": 10}, seed=3)
        assert answer.evaluations == 2500 and "where" not in answer.solution["x0"]
        again = rd.method("gplearn_released").solve(problem, seed=3)[0]
        assert again.solution == answer.solution

    @pytest.mark.parametrize("fit", ["released", "integral", "shooting"])
    def test_the_true_skeleton_with_fitted_constants(self, fit):
        """A saturation, 0.79 x0 (1 - x0/74.3) among them: the released fit cannot say it."""
        problem = rd.problem("cde/S003")
        (candidate,) = rd.method("true_skeleton", fit=fit).solve(problem)
        r2 = rd.score(problem, candidate)["r2_trajectories_id"]
        assert r2 > 0.9999 if fit != "released" else r2 < 0.99

    def test_unknown_fit_of_the_true_skeleton(self):
        with pytest.raises(ValueError, match="released, integral, shooting"):
            rd.method("true_skeleton", fit="best")

    def test_a_piecewise_answer_has_a_tree(self):
        """gplearn's protected division."""
        answer = {"x0": "where(abs(x0) > 0.001, 1/x0, 1.0)"}
        assert np.isfinite(score(cde.load("S001"), answer)["proximity_dependent"])

    def test_rounding_is_a_setting(self):
        problem = rd.problem("cde/S001")
        (candidate, *_) = rd.method("least_squares", decimals=1).solve(problem)
        assert all(round(c, 1) == c for c in parse(candidate.solution["x0"]).constants)

    @pytest.mark.parametrize("noise, tolerance", [(0.0, 1e-3), (0.02, 0.1)])
    def test_integral_matching_finds_the_constants_of_a_quadratic_law(self, noise, tolerance):
        """Logistic growth, 0.79 x0 (1 - x0 / 74.3), also from noisy states."""
        problem = rd.problem("cde/S003", noise=noise)
        (candidate,) = rd.method("integral_matching").solve(problem, seed=1)
        _, linear, quadratic = parse(candidate.solution["x0"].replace("- ", "+ -")).constants[:3]
        assert linear == pytest.approx(0.79, rel=tolerance)
        assert quadratic == pytest.approx(-0.79 / 74.3, rel=tolerance)


def test_conditions_within_conditions_have_no_size_in_sympy():
    """Of protected functions within each other; their conditions would be written out by cases."""
    system = rd.problem("cde/S024")
    plain, nested = "where(abs(x0) > 0.001, 1/x0, 1.0)", "where(abs(x0) > 0.001, 1/x0, 1.0)"
    for _ in range(6):
        nested = f"where(abs({nested}) > 0.001, x1/({nested}), 1.0)"
    sizes = [score(system, {"x0": right, "x1": "x0"})["operations"] for right in (plain, nested)]
    assert sizes[0] > 0 and np.isnan(sizes[1])
