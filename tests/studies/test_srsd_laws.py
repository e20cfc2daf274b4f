"""The 120 laws, their sampling, their difficulty and the scores of expressions."""

import math
from pathlib import Path

import rediscover as rd
from rediscover.expressions import ExpressionError, parse
from rediscover.metrics import regression, symbolic
from rediscover.numerics import single_precision
from rediscover.problems import generator, srsd
from rediscover.studies.srsd import scores as study_scores

import numpy as np
import pytest
import yaml

ALL = srsd.ids()
SMALL = (500, 100, 100)


pytestmark = pytest.mark.usefixtures("no_trees_from_disk")


def load(name, **options):
    return rd.problem(f"srsd/{name}", **options)


def columns(law, X):
    return dict(zip(law.inputs, X.T, strict=True))


@pytest.fixture(scope="session")
def facts():
    return yaml.safe_load((Path(__file__).parents[1] / "data" / "srsd_laws.yaml").read_text())


# ------------------------------------------------------------------------------------------------ laws


def test_three_sets_of_30_40_and_50_laws():
    assert [len(srsd.ids(name)) for name in srsd.SETS] == [30, 40, 50]
    assert len(set(ALL)) == 120 and ALL[0] == "I.12.1" and ALL[-1] == "B20"
    assert {load(name).subset for name in srsd.ids("hard")} == {"hard"}
    with pytest.raises(KeyError, match="no subset 'simple'"):
        srsd.ids("simple")


def test_a_law_by_hand():
    coulomb = load("I.12.2")
    assert coulomb.inputs == ("q_1", "q_2", "r") and coulomb.outputs == ("F",)
    assert coulomb.evaluate({"q_1": 1e-3, "q_2": 2e-3, "r": 0.5}) == pytest.approx(2e-6 / (math.pi * 8.854e-12))


@pytest.mark.parametrize("ranges", srsd.Law.choices["ranges"])
def test_values_agree_with_the_facts(facts, ranges):
    rng = np.random.default_rng(1)
    for name in ALL:
        law, entry = load(name, ranges=ranges), facts[name]
        constants = entry["constants"]
        values = columns(law, law.draw(50, rng).X)
        for ours, key in ((law.truth, "formula"), (law.upstream_targets, "upstream_formula")):
            text = ours if isinstance(ours, str) else next(iter(ours.values()))
            expected = parse(entry.get(key, entry["formula"]))(constants | values)
            np.testing.assert_allclose(parse(text)(values), expected, rtol=1e-12, err_msg=name)
        np.testing.assert_array_equal(
            parse(law.upstream_truth)(values),
            parse(entry.get("upstream_true_eq", entry["formula"]))(constants | values),
        )
        (symbol,) = law.outputs
        assert symbol == entry["target"]
        assert law.subset == entry["set"]


def test_the_released_code_differs_for_four_laws(facts):
    targets = {name for name in ALL if load(name).upstream_targets not in load(name).truth.values()}
    truths = {name for name in ALL if load(name).upstream_truth not in load(name).truth.values()}
    assert targets == {"I.34.14", "B6", "B13"} == {name for name in ALL if "upstream_formula" in facts[name]}
    assert truths == {"III.9.52", "B6"}


def test_the_original_variant_has_constants_as_inputs():
    law = load("I.12.2", variant="fsrd")
    assert law.inputs == ("q_1", "q_2", "r", "epsilon")
    assert law.evaluate(dict.fromkeys(law.inputs, 2.0)) == pytest.approx(4 / (4 * math.pi * 2 * 4))
    X = law.data()["train"].X
    assert X.min() >= 1 and X.max() <= 5
    assert not load("III.15.12", variant="fsrd").flags
    for name in ALL:
        assert len(load(name, variant="fsrd").draw(200, np.random.default_rng(0)).y) == 200


@pytest.mark.parametrize(
    ("name", "output", "inputs"),
    [("I.26.2", "theta_1", {"theta_2", "n"}), ("I.30.5", "theta", {"lam", "n", "d"}), ("B10", "theta_1", None)],
)
def test_three_original_laws_solve_for_an_angle(name, output, inputs):
    law = load(name, variant="fsrd")
    assert law.outputs == (output,)
    assert inputs is None or set(law.inputs) == inputs
    y = law.draw(500, np.random.default_rng(0)).y
    assert np.all(np.abs(y) <= math.pi)


# -------------------------------------------------------------------------------------------- sampling


@pytest.mark.parametrize("ranges", srsd.Law.choices["ranges"])
def test_ranges_agree_with_the_facts(facts, ranges):
    families = {"loguniform": "log", "uniform": "uniform", "integer_uniform": "integer"}
    for name in ALL:
        law = load(name, ranges=ranges)
        for symbol, variable in facts[name]["variables"].items():
            spec = variable.get(ranges, variable["srsd"])
            family, low, high, *sign = law.samplers[symbol]
            assert low == spec[1]
            if variable["dtype"] == "integer":  # the facts state the largest value of the released sampler
                assert family == "integer"
                assert high == spec[2] + (spec[0] != "loguniform")
            else:
                assert (family, high) == (families[spec[0]], spec[2])
            assert ("signed" in sign, "negative" in sign) == ("signed" in spec, "negate" in spec)


def test_draws_keep_to_range_sign_and_type():
    rng = np.random.default_rng(0)
    for name in ALL:
        law = load(name)
        for symbol, (family, low, high, *sign) in law.samplers.items():
            values = srsd.sample([family, low, high, *sign], 2000, rng)
            size = -values if sign == ["negative"] else np.abs(values) if sign and low >= 0 else values
            slack = 1e-12 * max(abs(low), abs(high))
            assert low - slack <= size.min() and size.max() <= high + slack, (name, symbol)
            if family == "integer":
                assert set(np.unique(values)) <= {float(s * k) for k in range(low, high) for s in (1, -1)}
            if sign == ["signed"]:
                assert 0.44 < np.mean(values > 0) + np.mean(values == 0) / 2 < 0.56, (name, symbol)


def test_log_uniform_is_uniform_in_the_exponent():
    exponents = np.log10(srsd.sample(["log", 1e-3, 10.0], 40_000, np.random.default_rng(0)))
    counts, _ = np.histogram(exponents, bins=[-3, -2, -1, 0, 1])
    assert np.all(np.abs(counts / 10_000 - 1) < 0.05)
    with pytest.raises(ValueError, match="family 'normal'"):
        srsd.sample(["normal", 0, 1], 3, np.random.default_rng(0))


def test_every_target_is_a_normal_single_precision_number():
    for name in ALL:
        y = load(name, sizes=(2000, 10, 10)).data()["train"].y
        assert len(y) == 2000
        with np.errstate(over="raise", under="raise", invalid="raise"):
            assert np.all(np.abs(y.astype(np.float32)) >= np.finfo(np.float32).tiny), name


def accepted_targets(law, rows, rng):
    """Targets of so many rows that single precision can hold."""
    y = law._batch(rows, rng)[:, -1]
    return y[single_precision.accepted(y)]


def test_acceptance_agrees_with_the_facts(facts):
    for name in set(ALL) - {"B7"}:  # the facts have the 2022 code's k_f in {-1, 0} before its sign is drawn
        law = load(name)
        accepted = len(accepted_targets(law, 10_000, generator(0, name))) / 10_000
        assert accepted == pytest.approx(facts[name]["accept_rate"], abs=0.02), name
    assert len(accepted_targets(load("B7"), 10_000, generator(0, "B7"))) == pytest.approx(6667, abs=150)


def test_the_overflowing_law_falls_back_to_the_released_range():
    law = load("III.21.20", sizes=SMALL)
    assert law.flags == ("overflow",) and "1e41" in law.note
    data = law.data()["train"]
    assert np.all(np.abs(data.X[:, law.inputs.index("rho")]) <= 1e-27)
    assert load("III.21.20", ranges="upstream").flags == ()
    assert not len(accepted_targets(law, 1000, np.random.default_rng(0)))


def test_laws_that_cancel_say_so():
    assert [name for name in ALL if "cancellation" in load(name).flags] == ["III.15.12", "I.41.16"]
    law = load("III.15.12")
    test = law.data()["test"]
    exact = parse("4*A*sin(k*d/2)**2")(columns(law, test.X))
    assert 0.05 < np.median(np.abs(test.y / exact - 1)) < 0.2


def test_a_law_without_valid_rows_is_an_error(monkeypatch):
    law = load("I.12.1")
    monkeypatch.setattr(single_precision, "SMALLEST", 1e9)
    with pytest.raises(RuntimeError, match=r"srsd/I\.12\.1: only 0 of 100 rows"):
        law.draw(100, np.random.default_rng(0))


def test_rejected_rows_are_replaced(monkeypatch):
    law = load("III.15.12")  # it keeps 12 % of its rows
    assert len(law.draw(500, np.random.default_rng(0)).y) == 500
    monkeypatch.setattr(single_precision, "REFILLS", 0)
    with pytest.raises(RuntimeError, match="rows have targets within single precision"):
        law.draw(500, np.random.default_rng(0))


def test_splits_have_the_sizes_of_the_paper_and_repeat():
    law = load("I.12.4")
    first, again, other = law.data(0), load("I.12.4").data(0), law.data(1)
    assert {name: split.X.shape for name, split in first.items()} == {
        "train": (8000, 2),
        "validation": (1000, 2),
        "test": (1000, 2),
    }
    for name, split in first.items():
        np.testing.assert_array_equal(split.X, again[name].X)
        np.testing.assert_array_equal(split.y, law.evaluate(columns(law, split.X)))
        assert not np.intersect1d(split.X, other[name].X).size
    assert not np.intersect1d(first["train"].X[:, 0], first["test"].X[:, 0]).size


def test_noise_is_on_the_training_target_only():
    clean, noisy = load("I.12.4").data(), load("I.12.4", noise=0.1).data()
    np.testing.assert_array_equal(clean["train"].X, noisy["train"].X)
    np.testing.assert_array_equal(clean["test"].y, noisy["test"].y)
    np.testing.assert_array_equal(clean["validation"].y, noisy["validation"].y)
    added = noisy["train"].y - clean["train"].y
    assert np.std(added) == pytest.approx(0.1 * np.sqrt(np.mean(clean["train"].y ** 2)), rel=0.05)
    with pytest.raises(ValueError, match="noise"):
        load("I.12.4", noise=-1.0)


def test_dummy_columns_leave_the_law_alone():
    counts = set()
    for name in ALL[:40]:
        law = load(name, dummies=True, sizes=SMALL)
        dummies = [i for i in law.inputs if i.startswith("dummy_")]
        counts.add(len(dummies))
        assert dummies == [f"dummy_{k + 1}" for k in range(len(dummies))]
        assert [i for i in law.inputs if i not in dummies] == list(load(name).inputs)
        data = law.data()
        np.testing.assert_array_equal(data["test"].y, law.evaluate(columns(law, data["test"].X)))
        for dummy in dummies:
            sizes = np.abs(columns(law, data["train"].X)[dummy])
            assert 1 < sizes.max() / sizes.min() <= 100.1
    assert counts == {1, 2, 3}
    assert len(load("I.12.1", dummies=3).inputs) == 5


def test_the_released_ranges_of_b12_have_one_input_more():
    assert load("B12").inputs == ("q", "y", "V_c", "d")
    law = load("B12", ranges="upstream")
    assert law.inputs == ("q", "epsilon", "y", "V_c", "d")
    assert next(iter(law.truth.values())).count("epsilon") == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranges": "wide"}, "ranges must be paper or upstream, got 'wide'"),
        ({"variant": "new"}, "variant must be srsd or fsrd"),
        ({"dummies": 4}, "dummies must be 0 to 3 or True"),
        ({"sizes": (8000, 0, 1000)}, "three positive integers"),
        ({"sizes": (8000, 1000)}, "three positive integers"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        load("I.12.1", **options)


# ------------------------------------------------------------------------------------------ difficulty


def test_widths_of_ranges_agree_with_the_facts(facts):
    for name in ALL:
        complexity = facts[name]["complexity"]
        assert load(name).domain_range()["paper"] == complexity["domain_range"], name
        code = load(name, ranges="upstream").domain_range()["code"]
        assert code == pytest.approx(complexity["upstream_domain_range"], abs=1e-4), name


def test_counts_of_operations_agree_with_the_facts(facts):
    # Two released truths write 3/2 as 1.5, which has no division.
    more = {"I.39.10": 1, "B5": 3}
    for name in ALL:
        counted = symbolic.complexity(load(name, ranges="upstream").upstream_truth, "count_ops")
        assert counted == facts[name]["complexity"]["n_ops"] + more.get(name, 0), name


@pytest.mark.parametrize(
    ("operations", "decades", "subset"),
    [
        (4, 3.9, "easy"),
        (5, 3.9, "medium"),
        (4, 4.0, "medium"),
        (7, 19.9, "medium"),
        (8, 1.0, "hard"),
        (1, 20.0, "hard"),
    ],
)
def test_thresholds_of_the_sets(operations, decades, subset):
    assert srsd.difficulty_set(operations, decades) == subset


def test_eq_1_misplaces_five_laws_and_the_released_rule_none():
    wrong = {"paper": set(), "code": set()}
    for name in ALL:
        operations = symbolic.complexity(load(name).upstream_truth, "count_ops")
        for rule, decades in load(name).domain_range().items():
            if srsd.difficulty_set(operations, decades) != load(name).subset:
                wrong[rule].add(name)
    assert wrong == {"paper": {"I.14.4", "I.38.12", "II.8.7", "II.34.29a", "III.17.37"}, "code": set()}


@pytest.mark.parametrize(("name", "least", "most"), [("I.12.1", 1.0, 1.0), ("B13", -np.inf, 0.9)])
def test_the_law_fits_released_targets_unless_they_are_another(name, least, most):
    law = load(name)
    X, y = law.data()["test"]
    released = parse(law.upstream_targets)(columns(law, X))
    assert np.isfinite(released).all() and least <= regression.r2(y, released) <= most


# ---------------------------------------------------------------------------------------------- scores


def test_the_truth_scores_best():
    for name in ("I.34.27", "III.15.12", "B7"):
        law = load(name, sizes=SMALL)
        scores = rd.score(law, dict(law.truth))
        assert scores["r2"] == scores["r2_accuracy"] == scores["solution_rate"] == 1.0
        assert scores["relative_squared_error"] == scores["ned_published"] == scores["ned_harmonised"] == 0.0
        assert scores["ned_published_simplified"] == scores["ned_harmonised_simplified"] == 1.0


def test_a_constant_solves_and_fits_nothing():
    scores = rd.score(load("I.34.27", sizes=SMALL), "1e-34")
    assert scores["r2_accuracy"] == scores["solution_rate"] == scores["solution_indistinguishable"] == 0.0


def test_a_scaled_truth_is_a_solution_that_fits_nothing():
    scores = rd.score(load("I.34.27", sizes=SMALL), "omega")
    assert scores["solution_rate"] == 1.0 and scores["r2_accuracy"] == 0.0
    assert scores["ned_published"] == pytest.approx(2 / 3)


def test_a_limit_of_the_law_is_no_solution_but_marked():
    scores = rd.score(load("III.4.32", sizes=SMALL), "1.380649e-23*2*pi*T/(6.626e-34*omega)")
    assert (scores["solution_rate"], scores["solution_indistinguishable"]) == (0.0, 1.0)
    assert scores["ned_published"] == pytest.approx(7 / 11)


@pytest.mark.parametrize("text", ["omega*", "omega + mass", "", "__import__('os')"])
def test_unreadable_answers_score_worst_in_the_tables_and_are_refused_by_hand(text):
    law = load("I.34.27", sizes=SMALL)
    with pytest.raises(ExpressionError, match="cannot read expression"):
        rd.score(law, text)
    scores = study_scores.score(law, {law.outputs[0]: text})
    assert scores["r2"] == -math.inf and scores["relative_squared_error"] == math.inf
    assert scores["ned_published"] == scores["ned_harmonised"] == 1.0
    assert scores["solution_rate"] == scores["r2_accuracy"] == 0.0
    assert math.isnan(scores["complexity_tree"])
    assert scores.keys() == rd.score(law, "omega").keys()


@pytest.mark.parametrize("text", ["sqrt(omega - 1e10)", "log(-omega)", "omega/0"])
def test_answers_that_are_not_real_everywhere_fit_nothing(text):
    scores = rd.score(load("I.34.27", sizes=SMALL), text)
    assert scores["r2"] == -math.inf and scores["relative_squared_error"] == math.inf
    assert scores["solution_rate"] == 0.0
    assert 0 <= scores["ned_published"] <= 1 and 0 < scores["ned_harmonised"] <= 1


def test_an_answer_may_use_dummies_and_is_no_solution():
    law = load("I.12.1", dummies=1, sizes=SMALL)
    assert rd.score(law, "mu*N_n + 0*dummy_1")["solution_rate"] == 1.0
    assert rd.score(law, "mu*N_n*dummy_1")["solution_rate"] == 0.0
