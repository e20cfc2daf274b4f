"""Verdict and finding on each of the fourteen claims of SRSD, from the statistic that its notebook prints."""

from functools import partial

import numpy as np

from ...report.comparisons import labels
from ...report.ledger import claim_verdict
from ...report.summaries import bootstrap

RATINGS, RATED_LAWS = 552, 24  # 23 subjects rated 24 laws
STRONG = -0.5  # the rank correlation from which on two scores say much the same
SIZES = [30, 40, 50]  # laws of the three sets


def sr_01(raters):
    """People rate as the distance does. Index: metric; columns: n_implied, p_laws, low_laws, high_laws."""
    ned, r2 = raters.loc["normalized_edit_distance"], raters.loc["r2_score"]
    return "untestable here", (
        f"the ratings are not released; the printed p values follow from r at n = {ned['n_implied']:.0f} and "
        f"{r2['n_implied']:.0f}, that is {RATINGS} ratings taken as independent; with one value for each of "
        f"the {RATED_LAWS} laws p is {ned['p_laws']:.2g} for the edit distance, and the 95 % intervals of r "
        f"are {ned['low_laws']:.2f} to {ned['high_laws']:.2f} for it and "
        f"{r2['low_laws']:.2f} to {r2['high_laws']:.2f} for R2"
    )


def _beside_best_printed(table, absent, baseline):
    """A method that does not run here leads. Index: table, set; columns: rediscover, printed, method."""
    sets = baseline.loc[table].iterrows()
    pairs = (f"{name} {row.rediscover:.3f} against {row.printed:.3f} ({row.method})" for name, row in sets)
    reason = labels("srsd").loc[absent, "reason"]
    finding = f"{absent} was not run: {reason}; a log-linear fit here against the best published: "
    return "untestable here", finding + ", ".join(pairs)


sr_02 = partial(_beside_best_printed, "Table 2", "DSR")
sr_03 = partial(_beside_best_printed, "Table 3", "DSR")
sr_04 = partial(_beside_best_printed, "Table 4", "ST")


def sr_05(means):
    """The sets rise in difficulty. Index: method; columns: score and set, the sets from easy to hard."""
    counts, agree = [], []
    for score in means.columns.unique(0):
        steps = means[score].diff(axis=1).iloc[:, 1:] * (1 if score.startswith("ned") else -1)
        harder = (steps >= 0).all(axis=1) & (steps.sum(axis=1) > 0)
        agree += list(harder)
        counts.append(f"{score} {harder.sum()} of {len(means)}")
    finding = f"methods for which each set is at least as hard as the one before: {', '.join(counts)}"
    return claim_verdict(agree), finding


def sr_06(rho, printed_rho):
    """R2 and distance disagree. Series of rank correlations: of each law here, of each set in the paper."""
    sets = ", ".join(f"{name} {value:+.2f}" for name, value in printed_rho.items())
    finding = f"published Tables 2 and 4 over six methods: {sets}"
    if rho.empty:
        return "untestable here", finding
    median, low, high = bootstrap(rho, np.median)
    weak = f"{len(rho)} laws, weaker than {STRONG} on {(rho > STRONG).mean():.0%} of them"
    spread = f"median {median:+.2f} [{low:+.2f}, {high:+.2f}] over {weak}"
    finding = f"rank correlation of R2 with distance over methods: {spread}; {finding}"
    return claim_verdict([low > STRONG, high > STRONG]), finding


def sr_07(paired):
    """New ranges are harder. Index: method; columns: original, new (shares of laws solved), p."""
    change = paired["new"] - paired["original"]
    parts = (paired[change < 0], paired[change > 0])
    fewer, more = (f"{len(part)} ({(part['p'] < 0.05).sum()} with p < 0.05)" for part in parts)
    rates = ", ".join(f"{name} {row.original:.1%} / {row.new:.1%}" for name, row in paired.iterrows())
    finding = f"fewer laws solved on the new ranges by {fewer} of {len(paired)} methods, more by {more}: {rates}"
    return claim_verdict(change < 0), finding


def sr_08(rises, least, most):
    """Noise raises the distance. Index: method; columns: value, low, high of the rise from least to most."""
    each = (f"{name} {row.value:+.3f} [{row.low:+.3f}, {row.high:+.3f}]" for name, row in rises.iterrows())
    finding = f"Easy distance at noise {most:g} minus that at {least:g} [95 %]: {', '.join(each)}"
    return claim_verdict(rises["low"] > 0), f"{finding}; Symbolic Transformer was not run"


def sr_09():
    """Pretraining data do not leak the test sets; they cannot be had."""
    return "untestable here", "needs the 24,232 pretraining sets, which were not released"


def sr_10(twins):
    """A quarter of the original problems have duplicates; `twins` from `analysis.duplicates`."""
    (same, scaled), (most, most_scaled) = ((twins > 0).mean()[["twins", "scaled"]], twins.max()[["twins", "scaled"]])
    return "holds" if abs(scaled - 0.25) < 0.05 else "mixed" if scaled else "fails", (
        f"{scaled:.1%} of {len(twins)} original problems have 1 to {most_scaled} twins with the same ranges "
        f"and the same function up to a constant factor, {same:.1%} have 1 to {most} with the very same one"
    )


def _skeletons(skeletons):
    """The distances printed for a law. Columns: method, printed, ned_published."""
    same = np.isclose(skeletons["printed"].astype(float), skeletons["ned_published"], atol=5e-4)
    each = ", ".join(f"{row.method} {row.ned_published:.3f}" for row in skeletons.itertuples())
    finding = f"{same.sum()} of {len(skeletons)} printed distances recomputed: {each}"
    return "holds" if same.all() else "fails", finding


sr_11 = sr_12 = _skeletons


def sr_13(sizes):
    """There are 120 problems of 10,000 rows. Index: law; columns: set, paper, upstream (rows drawn)."""
    counts = sizes["set"].value_counts(sort=False).tolist()
    full = (sizes[["paper", "upstream"]] == 10_000).sum()
    return claim_verdict([counts == SIZES, full["upstream"] == sum(SIZES)]), (
        f"{' / '.join(map(str, counts))} laws; 10,000 accepted rows can be drawn for {full['paper']} of "
        f"them on the ranges of the paper and for {full['upstream']} on those of the released code"
    )


def sr_14(slopes, misplaced, laws):
    """Distance grows with operations and decades. `misplaced`: how many of the `laws` a rule puts elsewhere.

    Index of `slopes`: method; columns: operations, p_operations, decades, p_decades, r_squared.
    """
    if slopes.empty:
        return "untestable here", f"{laws} laws are too few for a regression"
    up, wide = (((slopes[x] > 0) & (slopes[f"p_{x}"] < 0.05)).sum() for x in ("operations", "decades"))
    least, most = slopes["r_squared"].min(), slopes["r_squared"].max()
    return "holds" if min(up, wide) == len(slopes) else "mixed" if max(up, wide) else "fails", (
        f"distance grows with operations for {up} and with decades for {wide} of {len(slopes)} methods "
        f"(p < 0.05); both explain {least:.0%} to {most:.0%} of its variance; "
        f"of {laws} laws eq. (1) misplaces {misplaced['paper']}, the code's rule {misplaced['code']}"
    )
