"""Problems from outside the papers: as many as their benchmarks state, by their rules, and with truths that hold."""

import rediscover as rd
from rediscover.problems import facts, generator, lsr, srbench, srsd

import numpy as np
import pytest

STUDIES = ("lsr", "srbench", "phybench", "empirical", "first_principles")
COUNTS = {"lsr": 111, "srbench": 130, "phybench": 90, "empirical": 10, "first_principles": 13}
SMALL = {"rows": (60, 40)}


def of(study):
    return [rd.problem(id) for id in rd.problems(study)]


def drawn(problem, n=200):
    return problem.draw(n, generator(1, problem.id, "test"))


def truth_at(problem, X):
    return problem.evaluate(dict(zip(problem.inputs, X.T, strict=True)))


def test_there_are_as_many_as_the_benchmarks_have():
    assert {study: len(rd.problems(study)) for study in STUDIES} == COUNTS
    assert (len(srbench.ids("feynman")), len(srbench.ids("strogatz"))) == (116, 14)
    assert lsr.ids("both branches") == ["I.29.16_0_0", "I.29.16_1_0", "I.37.4_0_1", "I.37.4_1_1"]


@pytest.mark.parametrize("study", STUDIES)
def test_an_unknown_subset_is_refused_with_those_that_there_are(study):
    with pytest.raises(KeyError, match=f"{study} has no subset 'easy' .subsets: "):
        rd.problems(study, "easy")


@pytest.mark.parametrize("study", ["lsr", "srbench", "phybench"])
def test_rows_are_finite_the_same_for_the_same_seed_and_lie_on_the_truth(study):
    for problem in of(study):
        X, y = drawn(problem)
        assert np.isfinite(X).all() and np.isfinite(y).all() and X.shape == (200, len(problem.inputs)), problem.id
        assert np.array_equal(X, drawn(problem).X)
        if study != "lsr":
            np.testing.assert_allclose(truth_at(problem, X), y, rtol=1e-12)


def test_a_solution_holds_on_the_rows_up_to_its_sign_where_one_branch_has_them_all():
    signs = {}
    for problem in of("lsr"):
        X, y = drawn(problem)
        ratio = truth_at(problem, X) / y
        if problem.subset == "one branch":
            np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4, err_msg=problem.id)
            signs[problem.id] = round(ratio[0], 4)
        else:
            assert 0 < np.isclose(ratio, 1).mean() < 1, problem.id
    assert set(signs.values()) == {1, -1} and list(signs.values()).count(-1) == 13


def test_solutions_made_again_are_the_committed_ones():
    chosen = generator(0, "solutions").choice(lsr.ids(), 12, replace=False)
    committed = facts(lsr.SOLUTIONS)
    assert {name: lsr.solution(name) for name in chosen.tolist()} == {name: committed[name] for name in chosen}
    assert all(committed[name] for name in lsr.ids())


def test_names_of_lsr_transform_say_what_is_asked_for():
    """Newton's law: the fourth input in the database's order is a distance, which the law's own order has third."""
    problem = rd.problem("lsr/I.13.12_3_0")
    assert problem.law == "v4*v0*v1*(1/v3 - 1/v2)" and problem.asked == 3
    assert problem.inputs == ("x0", "x1", "x2", "x3", "x4")
    X, y = drawn(problem)
    m1, m2, r1, G, w = X.T
    np.testing.assert_allclose(w, G * m1 * m2 * (1 / y - 1 / r1), rtol=1e-12)


def test_srbench_adds_noise_by_the_root_mean_square_of_the_training_target_alone():
    clean, noisy = (rd.problem("srbench/feynman_I_12_1", noise=level, rows=(20_000, 100)).data(3) for level in (0, 0.1))
    off = noisy["train"].y - clean["train"].y
    assert np.array_equal(clean["test"].y, noisy["test"].y) and np.array_equal(clean["train"].X, noisy["train"].X)
    assert np.std(off) == pytest.approx(0.1 * np.sqrt(np.mean(clean["train"].y ** 2)), rel=0.02)


def test_formulas_that_srsd_corrects_are_those_of_the_database():
    X = np.array([[2.0, 3.0, 1.0, 1.0 + np.pi]])  # opposite phases: the database's minus adds, SRSD's plus subtracts
    assert truth_at(rd.problem("srbench/feynman_I_29_16"), X) == pytest.approx([5.0])
    assert truth_at(srsd.Law(id="srsd/I.29.16", variant="fsrd"), X) == pytest.approx([1.0])


def test_laws_are_those_of_srsd_but_where_the_data_file_says_otherwise():
    stated = facts("srbench")
    for name, law in srbench.laws().items():
        same = srbench.feynman(law)
        problem = rd.problem(f"srbench/{name}")
        assert (problem.truth == dict(same.truth)) is (law not in stated["formulas"])
        assert (problem.samplers == same.samplers) is (law not in stated["ranges"])
    assert srbench.load("feynman_I_6_2").truth == srsd.load("I.6.20").truth


def test_phybench_has_a_hundred_rows_an_input():
    for problem in of("phybench")[:8]:
        assert len(problem.data()["train"].y) == 100 * len(problem.inputs)


def test_too_few_finite_targets_are_said():
    problem = srbench.Drawn(id="srbench/x", truth={"y": "log(x)"}, inputs=("x",), samplers={"x": ["uniform", -2, -1]})
    with pytest.raises(RuntimeError, match="too few rows have a finite target"):
        problem.draw(10, generator(0, "x"))


@pytest.mark.parametrize("study", ["empirical", "first_principles"])
def test_laws_explain_their_tables(study):
    for problem in of(study):
        X, y = problem.data()["train"]
        explained = 1 - np.sum((truth_at(problem, X) - y) ** 2) / np.sum((y - y.mean()) ** 2)
        assert explained > (0.7 if problem.id.endswith(("hubble", "empirical/tully_fisher")) else 0.93), problem.id
        assert set(problem.judged) == set(problem.inputs)


def test_measured_tables_are_the_same_for_every_seed_and_drawn_ones_are_not():
    for problem in of("empirical"):
        same = np.array_equal(problem.data(0)["train"].X, problem.data(1)["train"].X)
        assert same is (problem.subset == "measured"), problem.id


def test_bodes_planets_are_counted_from_venus():
    X, y = rd.problem("empirical/bode").data()["train"]
    assert X[:, 0].tolist() == [-1000, 0, 1, 2, 3, 4, 5, 6]
    assert np.exp(y[:3]).tolist() == pytest.approx([0.39, 0.72, 1.0])


def test_rydbergs_second_number_is_above_the_first():
    X, _ = rd.problem("empirical/rydberg").data(5)["train"]
    assert (X[:, 1] > X[:, 0]).all() and set(X[:, 0]) <= set(range(1, 7)) and X[:, 1].max() <= 7


def test_noise_of_a_drawn_table_is_relative_before_the_logarithm():
    problem = rd.problem("empirical/ideal_gas", rows=20_000)
    X, y = problem.data()["train"]
    assert np.std(np.exp(y - truth_at(problem, X))) == pytest.approx(0.1, rel=0.02)
