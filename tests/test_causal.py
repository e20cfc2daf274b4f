"""Causal graphs: data, metrics, methods and the released runs."""

import gzip
import json
import pickle

import numpy as np
import pytest

import rediscover as rd
from rediscover.metrics import causal as metrics
from rediscover.problems import causal
from rediscover.released import ReleasedError
from rediscover.scores.causal import score

REFERENCES = {  # F1, precision, recall in percent: the paper's two rules
    "self_edges": {"pairs": (59.3, 100.0, 43.0), "triples": (48.8, 100.0, 32.9)},
    "complete_graph": {"pairs": (70.4, 57.7, 100.0), "triples": (59.0, 44.7, 100.0)},
}


@pytest.fixture
def mirror(shared, monkeypatch):
    folder = shared / "data" / "upstream"
    if not folder.exists():
        pytest.skip("no mirror of the released files")
    monkeypatch.setenv("REDISCOVER_MIRROR", str(folder))


class TestGraphs:
    def test_counts_are_those_of_the_benchmark(self):
        problems = [causal.load(name) for name in causal.ids()]
        assert len(problems) == 190 and len(causal.ids("odebench")) == 12
        assert sum(len(p.edges) for p in problems) == 8168
        assert sum(parent == child for p in problems for parent, child, _ in p.edges) == 2058
        assert sum(len(p.inputs) == 10 for p in problems) == 11
        assert max(len(p.inputs) for p in problems) == 103

    def test_graph_is_what_the_rule_makes_of_the_equations(self):
        """j is a parent of i where x_j occurs in the right-hand side of i, and every state of itself."""
        checked = 0
        for name in causal.ids():
            problem = causal.load(name)
            if not problem.equations:
                continue
            system = rd.problem(f"cde/{problem.equations}")
            derived = {(j, i, 1) for i, right in system.expressions.items() for j in (*right.names, i)}
            assert problem.edges == derived, name
            checked += 1
        assert checked == 38

    def test_series_from_equations_needs_no_released_file(self, monkeypatch, tmp_path):
        monkeypatch.setenv("REDISCOVER_MIRROR", str(tmp_path))
        causal._records.cache_clear()
        problem = rd.problem("causal/C178", series_from="equations")
        assert problem.series().shape == (512, 3)
        with pytest.raises(ReleasedError, match="mirror"):
            rd.problem("causal/C178").series()

    def test_released_series(self, mirror):
        causal._records.cache_clear()
        ours = rd.problem("causal/C012", series_from="equations").series()
        theirs = rd.problem("causal/C012").series()
        assert np.allclose(ours, theirs, rtol=1e-3, atol=1e-6 * np.abs(theirs).max())
        flags = [causal.load(name).flags for name in causal.ids()]
        short = [len(causal.load(name).series()) < 100 for name in causal.ids()]
        still = [(np.ptp(causal.load(name).series(), axis=0) == 0).any() for name in causal.ids()]
        assert short == ["truncated" in f for f in flags] and sum(short) == 10
        assert still == ["constant" in f for f in flags]

    def test_unknown_source(self):
        with pytest.raises(ValueError, match="not in the catalogue"):
            rd.problem("causal/C000", series_from="equations")

    def test_pickles_that_run_something_are_refused(self, tmp_path):
        class Harmful:
            def __reduce__(self):
                return (print, ("ran",))

        path = tmp_path / "bad.npy"
        np.save(path, np.array([Harmful()], dtype=object), allow_pickle=True)
        with pytest.raises(pickle.UnpicklingError, match="not plain data"):
            causal.plain_array(path)
        np.save(path, np.array([{"a": np.arange(3.0), "b": [1, "c"]}], dtype=object), allow_pickle=True)
        assert causal.plain_array(path)[0]["a"].tolist() == [0.0, 1.0, 2.0]


TRUTH = {("a", "a", 1), ("b", "b", 1), ("c", "c", 1), ("a", "b", 1), ("b", "c", 1)}
FOUND = {("a", "a", 1), ("b", "a", 1), ("b", "c", 1), ("a", "c", 2)}


class TestMetrics:
    def test_pairs_by_hand(self):  # aa, ab, bc are right, ac is not; bb and cc are missed
        assert metrics.precision_pairs(FOUND, TRUTH) == 3 / 4
        assert metrics.recall_pairs(FOUND, TRUTH) == 3 / 5
        assert metrics.f1_pairs(FOUND, TRUTH) == pytest.approx(6 / 9)

    def test_triples_by_hand(self):  # aa and bc are right
        assert metrics.precision_triples(FOUND, TRUTH) == 2 / 4
        assert metrics.recall_triples(FOUND, TRUTH) == 2 / 5
        assert metrics.fdr_triples(FOUND, TRUTH) == 0.5

    def test_directed_by_hand(self):  # of ba, bc, ac only bc is right; ab is missed
        assert metrics.precision_directed(FOUND, TRUTH) == pytest.approx(1 / 3)
        assert metrics.recall_directed(FOUND, TRUTH) == 1 / 2

    def test_distances_by_hand(self):
        assert metrics.shd(FOUND, TRUTH) == 5  # ba, ac too many; bb, cc, ab missing
        assert metrics.shd_transposed(FOUND, TRUTH) == 5  # predicted aa, ab, cb, ca: cb, ca; bb, cc, bc
        assert metrics.shd_transposed(TRUTH, TRUTH) == 4

    @pytest.mark.parametrize("rule", ["pairs", "triples", "directed"])
    def test_truth_is_perfect_and_f1_symmetric(self, rule):
        f1 = getattr(metrics, f"f1_{rule}")
        assert f1(TRUTH, TRUTH) == 1.0 and f1(FOUND, TRUTH) == f1(TRUTH, FOUND)

    @pytest.mark.parametrize("rule", ["pairs", "triples"])
    def test_empty_graph(self, rule):
        assert getattr(metrics, f"f1_{rule}")(set(), TRUTH) == 0.0
        assert getattr(metrics, f"fdr_{rule}")(set(), TRUTH) == 0.0
        assert metrics.shd(set(), TRUTH) == 5

    def test_partial_correlation_agrees_with_its_definition(self):
        rng = np.random.default_rng(0)
        series = dict(zip("abc", rng.normal(size=(3, 60)).cumsum(axis=1), strict=True))
        a, b, c = series["a"][:-1], series["b"][:-1], series["c"][1:]

        def left(y, x):
            X = np.stack([np.ones_like(x), x], axis=1)
            return y - X @ np.linalg.lstsq(X, y, rcond=None)[0]

        by_definition = [abs(np.corrcoef(left(p, o), left(c, o))[0, 1]) for p, o in ((a, b), (b, a))]
        found = metrics.ci_score_partial({("a", "c", 1), ("b", "c", 1)}, series)
        assert found == pytest.approx(np.mean(by_definition), rel=1e-9)

    def test_effective_score_sees_single_parents_only(self):
        series = {"a": np.arange(9.0), "b": np.arange(9.0) ** 2}
        both = {("a", "b", 1), ("b", "b", 1)}
        assert np.isnan(metrics.ci_score_effective(both, series))
        assert metrics.ci_score_effective({*both, ("a", "a", 1)}, series) == pytest.approx(1.0)

    @pytest.mark.parametrize("series", [{"a": [1.0]}, {"a": []}, {"a": [2.0, 2.0, 2.0]}])
    def test_one_point_empty_and_constant_series(self, series):
        assert np.isnan(metrics.ci_score_effective({("a", "a", 1)}, series))
        assert metrics.ci_score_partial({("a", "a", 1)}, series) in (0.0,) or len(series["a"]) < 3

    def test_largest_floats(self):
        series = {"a": np.array([1e300, -1e300, 1e300, 2e300, -3e300])}
        assert 0 <= metrics.ci_score_effective({("a", "a", 1)}, series) <= 1


class TestReferences:
    @pytest.mark.parametrize("name", REFERENCES)
    @pytest.mark.parametrize("rule", ["pairs", "triples"])
    def test_trivial_graphs(self, name, rule):
        rows = []
        for id in causal.ids():
            problem = causal.load(id)
            (answer,) = rd.method(name).solve(problem)
            found = metrics.edges(answer.solution)
            rows.append(
                [getattr(metrics, f"{m}_{rule}")(found, problem.edges) for m in ("f1", "precision", "recall")]
            )
        expected = REFERENCES[name][rule]
        assert np.mean(rows, axis=0) * 100 == pytest.approx(expected, abs=0.06)


class TestReleasedRuns:
    def test_stored_ci_scores_come_back(self, shared, mirror):
        causal._records.cache_clear()
        with gzip.open(shared / "data" / "symbolbench" / "released_outputs.json.gz") as file:
            runs = [r for r in json.load(file)["items"] if r["task"] == "SCM" and r["noise"] == 0]
        checked = 0
        for run in runs:
            problem = causal.load(run["truth"])
            series = dict(zip(problem.inputs, problem.series().T, strict=True))
            for graph, stored, complexity in run["candidates"][:5]:
                found = [(parent, child, lag) for child, parents in graph.items() for parent, lag in parents]
                if not {name for edge in found for name in edge[:2]} <= set(series):
                    continue
                expected = np.nan if stored is None else stored
                assert metrics.ci_score_effective(found, series) == pytest.approx(
                    expected, abs=1e-9, nan_ok=True
                )
                assert len(found) == complexity
                checked += 1
        assert checked > 100


class Linear(causal.CausalSeries):
    """b follows a, c follows b, with noise."""

    def series(self):
        rng = np.random.default_rng(1)
        x = np.zeros((300, 3))
        for t in range(1, 300):
            a, b, c = x[t - 1]
            x[t] = np.array([0.6 * a, 0.5 * b + 0.7 * a, 0.5 * c - 0.7 * b]) + rng.normal(size=3)
        return x


LINEAR = {"x0": (("x0", 1),), "x1": (("x0", 1), ("x1", 1)), "x2": (("x1", 1), ("x2", 1))}


def linear():
    return Linear(id="causal/linear", truth=LINEAR, inputs=("x0", "x1", "x2"))


class Short(causal.CausalSeries):
    def series(self):
        return np.ones((1, 2))


class Still(causal.CausalSeries):
    def series(self):
        return np.column_stack([np.ones(50), np.random.default_rng(0).normal(size=50)])


SEARCHES = ["granger", "var_lasso", "pcmci", "lpcmci", "jpcmci_plus"]


@pytest.mark.parametrize("name", SEARCHES)
class TestSearches:
    def method(self, name):
        reason = rd.method(name).available()
        if reason:
            pytest.skip(reason)
        return rd.method(name)

    def test_finds_a_linear_chain(self, name):
        problem = linear()
        (answer,) = self.method(name).solve(problem)
        assert metrics.recall_triples(metrics.edges(answer.solution), problem.edges) == 1.0
        assert metrics.f1_directed(metrics.edges(answer.solution), problem.edges) > 0.6

    def test_one_point_is_unsupported(self, name):
        problem = Short(id="causal/short", truth={"x0": (), "x1": ()}, inputs=("x0", "x1"))
        with pytest.raises(rd.methods.Unsupported, match="1 points"):
            self.method(name).solve(problem)

    def test_constant_column_has_no_edges(self, name):
        problem = Still(id="causal/still", truth={"x0": (), "x1": ()}, inputs=("x0", "x1"))
        (answer,) = self.method(name).solve(problem)
        assert not any("x0" in edge[:2] for edge in metrics.edges(answer.solution))


class TestScores:
    def test_the_truth_is_perfect(self):
        problem = linear()
        scores = score(problem, problem.truth)
        assert scores["f1_pairs"] == scores["f1_triples"] == scores["f1_directed"] == 1.0
        assert scores["shd"] == 0 and scores["edges"] == 5

    def test_empty_graph_and_unknown_variables(self):
        problem = linear()
        assert score(problem, {})["f1_directed"] == 0.0
        scores = score(problem, {"x0": [("y", 1)]})
        assert scores["precision_pairs"] == 0.0 and np.isnan(scores["ci_score_partial"])

    def test_limit_on_variables(self):
        with pytest.raises(rd.methods.Unsupported, match="the limit is 2"):
            rd.method("pcmci", max_variables=2).solve(linear())
