"""Agreement, intervals and tests: worked by hand, by properties, and against the libraries underneath."""

from rediscover.report import statistics as agreement
from rediscover.report import summaries

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
import statsmodels.stats.multitest


def test_bootstrap_is_the_known_interval_of_a_mean():
    values = np.random.default_rng(0).normal(5, 2, 400)
    estimate, low, high = summaries.bootstrap(values, n=4000)
    assert estimate == pytest.approx(values.mean())
    half = 1.96 * values.std() / 20  # 20 = sqrt(400)
    assert (low, high) == pytest.approx((estimate - half, estimate + half), abs=0.02)


@pytest.mark.parametrize("size", [1, 7, 156, 1000])
def test_bootstrap_of_a_mean_at_once_has_the_bits_of_one_after_the_other(size):
    values = np.random.default_rng(size).normal(size=size)
    assert summaries.bootstrap(values) == summaries.bootstrap(values, lambda drawn: np.mean(drawn))


def test_bootstrap_of_clusters_is_wider_and_repeats():
    paper = np.repeat(np.arange(40), 10)
    values = np.random.default_rng(1).normal(size=40)[paper]
    rows, papers = summaries.bootstrap(values), summaries.bootstrap(values, clusters=paper)
    assert papers[2] - papers[1] > 2.5 * (rows[2] - rows[1])  # sqrt(10) in theory
    assert papers == summaries.bootstrap(values, clusters=paper)
    assert papers != summaries.bootstrap(values, clusters=paper, seed=1)


def test_bootstrap_does_not_need_sorted_clusters():
    values, labels = np.array([1.0, 5.0, 1.0, 5.0]), ["a", "b", "a", "b"]
    estimate, low, high = summaries.bootstrap(values, clusters=labels)
    assert (estimate, low, high) == (3.0, 1.0, 5.0)


def test_bootstrap_of_pairs_and_of_missing_values():
    pairs = np.column_stack([np.arange(30), np.arange(30) * 2 + 1])
    assert summaries.bootstrap(pairs, lambda rows: np.corrcoef(rows.T)[0, 1], n=50) == pytest.approx((1, 1, 1))
    assert np.isnan(summaries.bootstrap([1.0, np.nan])).all()
    assert summaries.bootstrap([2.0, 2.0, np.nan, 2.0] * 9, np.nanmean) == (2.0, 2.0, 2.0)


@pytest.mark.parametrize(
    ("values", "clusters", "message"), [([], None, "no values"), ([1.0, 2.0], ["a"], "2 values but 1 cluster labels")]
)
def test_bootstrap_refuses(values, clusters, message):
    with pytest.raises(ValueError, match=message):
        summaries.bootstrap(values, clusters=clusters)


def test_wilcoxon_by_hand():
    # Differences 1, -2, 3, 4, 0: without the zero R+ = 1 + 3 + 4 and R- = 2. Of the 16 sign patterns 3 have
    # R- <= 2 (none negative, {1}, {2}), so the two-sided p is 2 * 3/16.
    result = agreement.paired_wilcoxon([2, 0, 5, 6, 1], [1, 2, 2, 2, 1])
    assert result[["n_pairs", "n_zeros", "statistic"]].tolist() == [5, 1, 2]
    assert result.effect == pytest.approx((8 - 2) / 10)
    assert result["median"] == 1
    flipped = agreement.paired_wilcoxon([1, 2, 2, 2, 1], [2, 0, 5, 6, 1])
    assert flipped.effect == -result.effect and flipped.p == result.p
    exact = agreement.paired_wilcoxon([2, 0, 5, 6], [1, 2, 2, 2])
    assert exact.p == pytest.approx(2 * 3 / 16)


def test_wilcoxon_sides_and_zeros():
    a, b = np.arange(1.0, 21.0), np.zeros(20)
    assert agreement.paired_wilcoxon(a, b, alternative="greater").p < 1e-5
    assert agreement.paired_wilcoxon(a, b, alternative="less").p > 0.99
    equal = agreement.paired_wilcoxon(b, b)
    assert (equal.p, equal.effect, equal.n_zeros) == (1.0, 0.0, 20)
    # The zero is left out, so the others have ranks 1, 2, 3: effect (2 + 3 - 1) / 6.
    assert agreement.paired_wilcoxon([0, -1, 2, 3], [0, 0, 0, 0]).effect == pytest.approx(4 / 6)
    assert agreement.paired_wilcoxon([np.inf, np.inf, 1], [np.inf, 0, 0]).n_zeros == 1


def test_wilcoxon_refuses_missing_scores():
    with pytest.raises(ValueError, match="NaN"):
        agreement.paired_wilcoxon([1, np.nan], [1, 2])
    with pytest.raises(ValueError, match="equally long"):
        agreement.paired_wilcoxon([1, 2, 3], [1, 2])


def test_holm_equals_statsmodels_and_keeps_the_index():
    p = np.random.default_rng(2).uniform(size=12) ** 3
    assert agreement.holm(p) == pytest.approx(statsmodels.stats.multitest.multipletests(p, method="holm")[1])
    named = agreement.holm(pd.Series([0.2, np.nan, 0.01], index=["a", "b", "c"]))
    assert named["a"] == pytest.approx(0.2) and named["c"] == pytest.approx(0.02) and np.isnan(named["b"])
    with pytest.raises(ValueError, match="between 0 and 1"):
        agreement.holm([0.5, 1.5])


# ---- coefficients


COEFFICIENTS = ["pearson", "spearman", "kendall", "kappa", "kappa_quadratic", "alpha"]


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_coefficients_are_symmetric_bounded_and_leave_missing_pairs_out(name):
    def coefficient(a, b):
        return agreement.agreement(a, b)[name]

    rng = np.random.default_rng(3)
    a, b = rng.integers(1, 6, 60), rng.integers(1, 6, 60)
    value = coefficient(a, b)
    assert -1 <= value <= 1 and value == pytest.approx(coefficient(b, a))
    assert coefficient([*a, np.nan, 3], [*b, 2, np.nan]) == pytest.approx(value)
    assert coefficient(a, a) == pytest.approx(1)
    assert np.isnan(coefficient([5, 5, 5], [5, 5, 5]))
    with pytest.raises(ValueError, match="equally long"):
        coefficient([1, 2], [1])


@pytest.mark.parametrize(("name", "weights"), [("kappa", None), ("kappa_quadratic", "quadratic")])
def test_kappa_equals_scikit_learn_where_all_values_occur(name, weights):
    rng = np.random.default_rng(4)
    a, b = rng.integers(1, 6, 200), rng.integers(1, 6, 200)
    expected = sklearn.metrics.cohen_kappa_score(a, b, weights=weights)
    assert agreement.agreement(a, b)[name] == pytest.approx(expected)


def test_weighted_kappa_knows_the_scale():
    # Nobody gave a 3, but 2 and 4 are two steps apart. Raters (2, 4, 5) and (2, 5, 5): the cost is 1 of
    # expected (0 + 9 + 9 + 4 + 1 + 1 + 9 + 0 + 0) / 3 = 11.
    assert agreement.agreement([2, 4, 5], [2, 5, 5])["kappa_quadratic"] == pytest.approx(1 - 1 / 11)


def test_alpha_of_krippendorffs_own_example():
    # Krippendorff (2011), section D: four observers, twelve units, missing values; ordinal 0.815.
    x = np.nan
    ratings = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, x, x, x],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, x, 3],
        [x, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, x],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, x],
    ]
    assert agreement.krippendorff_alpha(ratings) == pytest.approx(0.815, abs=5e-4)
    assert np.isnan(agreement.krippendorff_alpha([[1, x], [x, 2]]))
    with pytest.raises(ValueError, match="shape"):
        agreement.krippendorff_alpha([1, 2])


def test_all_at_once_is_each_alone():
    a, b = [1, 2, 3, 4, 4], [1, 2, 2, 5, 4]
    row = agreement.agreement(a, b)
    assert row.n == 5 and row.spearman == agreement.spearman(a, b)
    assert row.kendall == pytest.approx(pd.Series(a).corr(pd.Series(b), method="kendall"))
    assert row.pearson == pytest.approx(np.corrcoef(a, b)[0, 1])
    assert row.alpha == agreement.krippendorff_alpha([a, b])


# ---- pairing


def test_pairing_by_position_joins_whatever_stands_beside_each_other():
    judge = pd.DataFrame({"paper": ["a", "b", "c"], "n": [1, 1, 2], "score": [1, 3, 5]})
    human = pd.DataFrame({"paper": ["c", "b", "a"], "n": [2, 1, 1], "score": [5, 3, 1]})
    wrong = agreement.pair_by_position(judge, human, ["paper", "n"])
    assert agreement.spearman(wrong.score_a, wrong.score_b) == -1 and wrong.same.tolist() == [False, True, False]
    with pytest.raises(ValueError, match="cannot pair 3 rows with 1"):
        agreement.pair_by_position(judge, human[:1], ["paper", "n"])


# ---- groups


def test_kruskal_wallis_by_hand_and_at_its_ends():
    # Ranks 1, 2, 3 against 4, 5, 6: H = 12 / (6 * 7) * (36 / 3 + 225 / 3) - 3 * 7.
    row = agreement.kruskal_wallis([1, 2, 3, 4, 5, 6], list("aaabbb"))
    assert row.statistic == pytest.approx(12 / 42 * (12 + 75) - 21) and row.effect == pytest.approx(row.statistic / 5)
    same = agreement.kruskal_wallis([2, 2, 2], list("abb"))
    assert (same.statistic, same.p) == (0, 1)
    with pytest.raises(ValueError, match="at least two groups"):
        agreement.kruskal_wallis([1, 2], ["a", "a"])


def test_mixed_model_finds_the_slopes_it_was_made_with():
    rng = np.random.default_rng(5)
    paper = np.repeat(np.arange(60), 8)
    density, position = rng.normal(size=60)[paper], rng.normal(size=480)
    score = 3 - 0.5 * density + 0.2 * position + rng.normal(size=60)[paper] * 0.2 + rng.normal(size=480) * 0.1
    frame = pd.DataFrame({"paper": paper, "density": density * 10, "position": position, "score": score})
    table = agreement.mixed_model(frame, "score", ["density", "position"], "paper")
    assert table.estimate["density"] == pytest.approx(-0.5 * density.std(ddof=1), abs=0.08)
    assert table.low["position"] < 0.2 * position.std(ddof=1) < table.high["position"] and (table.p < 1e-6).all()
    with pytest.raises(ValueError, match="position is the same everywhere"):
        agreement.mixed_model(frame.assign(position=1.0), "score", ["density", "position"], "paper")
    with pytest.raises(ValueError, match="NaN in score"):
        agreement.mixed_model(frame.assign(score=np.nan), "score", ["density"], "paper")
