"""Agreement, intervals and tests: worked by hand, by properties, and against the libraries underneath."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.stats.multitest

from rediscover.metrics import agreement


def test_bootstrap_is_the_known_interval_of_a_mean():
    values = np.random.default_rng(0).normal(5, 2, 400)
    estimate, low, high = agreement.bootstrap(values, n=4000)
    assert estimate == pytest.approx(values.mean())
    half = 1.96 * values.std() / 20  # 20 = sqrt(400)
    assert (low, high) == pytest.approx((estimate - half, estimate + half), abs=0.02)


def test_bootstrap_of_clusters_is_wider_and_repeats():
    paper = np.repeat(np.arange(40), 10)
    values = np.random.default_rng(1).normal(size=40)[paper]
    rows, papers = agreement.bootstrap(values), agreement.bootstrap(values, clusters=paper)
    assert papers[2] - papers[1] > 2.5 * (rows[2] - rows[1])  # sqrt(10) in theory
    assert papers == agreement.bootstrap(values, clusters=paper)
    assert papers != agreement.bootstrap(values, clusters=paper, seed=1)


def test_bootstrap_does_not_need_sorted_clusters():
    values, labels = np.array([1.0, 5.0, 1.0, 5.0]), ["a", "b", "a", "b"]
    estimate, low, high = agreement.bootstrap(values, clusters=labels)
    assert (estimate, low, high) == (3.0, 1.0, 5.0)


def test_bootstrap_of_pairs_and_of_missing_values():
    pairs = np.column_stack([np.arange(30), np.arange(30) * 2 + 1])
    assert agreement.bootstrap(pairs, lambda rows: np.corrcoef(rows.T)[0, 1], n=50) == pytest.approx(
        (1, 1, 1)
    )
    assert np.isnan(agreement.bootstrap([1.0, np.nan])).all()
    assert agreement.bootstrap([2.0, 2.0, np.nan, 2.0] * 9, np.nanmean) == (2.0, 2.0, 2.0)


@pytest.mark.parametrize(
    ("values", "clusters", "message"),
    [([], None, "no values"), ([1.0, 2.0], ["a"], "2 values but 1 cluster labels")],
)
def test_bootstrap_refuses(values, clusters, message):
    with pytest.raises(ValueError, match=message):
        agreement.bootstrap(values, clusters=clusters)


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


def test_wilcoxon_side_and_zero_rules():
    a, b = np.arange(1.0, 21.0), np.zeros(20)
    assert agreement.paired_wilcoxon(a, b, alternative="greater").p < 1e-5
    assert agreement.paired_wilcoxon(a, b, alternative="less").p > 0.99
    equal = agreement.paired_wilcoxon(b, b)
    assert (equal.p, equal.effect, equal.n_zeros) == (1.0, 0.0, 20)
    # Pratt ranks the zero (rank 1), so the others have ranks 2, 3, 4: effect (3 + 4 - 2) / 9.
    assert agreement.paired_wilcoxon([0, -1, 2, 3], [0, 0, 0, 0], zeros="pratt").effect == pytest.approx(
        5 / 9
    )
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
