"""Verdict and finding on each of the fourteen claims of SRSD, from tests over laws that its notebook prints with it.

`scored` are scores here of the paper's methods under its labels (`report.papers.of_paper`): columns problem, subset,
method, seed and scores. A run without an answer solves nothing and has the largest distance, 1. `printed` asks the same
of the paper's own numbers, by means.
"""

import itertools
import re

import numpy as np
import pandas as pd
from scipy.stats import norm

from ...problems.srsd import SETS
from ...report.claim_cells import (
    SIGNIFICANT,
    Cell,
    by_counts,
    by_intervals,
    by_problem,
    by_tests,
    compare,
    family,
    not_run,
    power,
    spelt,
    trend,
)
from ...report.comparisons import labels
from ...report.ledger import Judged, more
from ...report.papers import catalogue, claims, published
from ...report.prediction import next_run
from ...report.statistics import detectable, holm, spearman
from ...report.summaries import bootstrap

RATINGS, RATED_LAWS = 552, 24  # 23 subjects rated 24 laws
WEAK = 0.2  # a correlation below it in size is next to none
STRONG = -0.5  # the rank correlation from which on two scores say much the same
SIZES = [30, 40, 50]  # laws of the three sets
QUARTER, SOME = 0.25, 0.05  # the share that SR-10 states, and how far off "about" goes in the words of a claim
LEAK = 0.05  # an overlap of sampling ranges up to which two data sets share next to nothing


def sr_01(raters: pd.DataFrame, ratings: pd.DataFrame | None = None) -> Judged:
    """People rate as the distance does, and not as R2 does: a cell each.

    Index of `raters` (what is printed): metric; columns: n_implied, p_laws, low_laws, high_laws. `ratings`, if there
    are any: r of each metric with ratings, and its interval low and high.
    """
    ned, r2 = raters.loc["normalized_edit_distance"], raters.loc["r2_score"]
    finding = (
        f"the ratings are not released; the printed p values follow from r at n = {ned['n_implied']:.0f} and "
        f"{r2['n_implied']:.0f}, that is {RATINGS} ratings taken as independent; with one value for each of "
        f"the {RATED_LAWS} laws p is {ned['p_laws']:.2g} for the edit distance, and the 95 % intervals of r "
        f"are {ned['low_laws']:.2f} to {ned['high_laws']:.2f} for it and "
        f"{r2['low_laws']:.2f} to {r2['high_laws']:.2f} for R2"
    )
    return Judged(_agree(ratings), finding)


def _agree(ratings: pd.DataFrame | None) -> list[Cell]:
    """The cells of SR-01; index of `ratings`: metric; columns: r and its 95 % interval low and high."""
    if ratings is None:
        return []
    falls = by_intervals(ratings.loc[["normalized_edit_distance"]], 0.0, -1)
    r2 = ratings.loc["r2_score"]
    inside, outside = max(-r2["low"], r2["high"]) < WEAK, r2["low"] > WEAK
    return [*falls, Cell(True if inside else False if outside else None, "interval")]


def _pairs(scored: pd.DataFrame, score: str, name: str, missing: float) -> tuple[pd.DataFrame, list[Cell]]:
    """A method against each other one on each set, over laws: the tests, and undecided cells of rivals without a row.

    AFP-FE is the search of AFP here, so it is no rival of its own.
    """
    rivals = [label for label in labels("srsd").index if label not in (name, "AFP-FE")]
    sets = [subset for subset in SETS if subset in set(scored["subset"])]
    values = {subset: by_problem(scored[scored["subset"] == subset], score, missing) for subset in sets}
    tests = family(
        compare(part[name], part[rival], (name, rival), method=name, condition=subset)
        for subset, part in values.items()
        for rival in rivals
        if {name, rival} <= set(part)
    )
    absent = [rival for rival in rivals if rival not in set(tests["b"])]
    return tests, not_run(absent, len(sets)) if len(tests) else []


def _beside_best_printed(tests: pd.DataFrame, cells: list, name: str, number: str, baseline: pd.DataFrame) -> Judged:
    """Index of `baseline`: table, set; columns: rediscover (a log-linear fit), printed, method (the best published)."""
    sets = baseline.loc[number].iterrows()
    pairs = (f"{name} {row.rediscover:.3f} against {row.printed:.3f} ({row.method})" for name, row in sets)
    known = catalogue("srsd").set_index("label")
    if tests.empty:
        finding = f"{name} did not run here: {known.loc[name, 'reason']}"
    else:
        missing = dict.fromkeys(cell.method for cell in cells if cell.by == "not run")
        reasons = "; ".join(f"{rival}: {known.loc[rival, 'unlike'] or known.loc[rival, 'reason']}" for rival in missing)
        finding = spelt(tests, 9) + (f"; without a cell, {reasons}" if reasons else "")
    return Judged(cells, f"{finding}; a log-linear fit here against the best published: {', '.join(pairs)}", tests)


def sr_02(scored: pd.DataFrame, baseline: pd.DataFrame) -> Judged:
    """DSR has the highest R2 accuracy: cells are sets and rivals."""
    tests, absent = _pairs(scored, "r2_accuracy", "DSR", 0.0)
    return _beside_best_printed(tests, [*by_tests(tests), *absent], "DSR", "Table 2", baseline)


def sr_03(scored: pd.DataFrame, baseline: pd.DataFrame) -> Judged:
    """DSR has the highest solution rate: cells are sets and rivals."""
    tests, absent = _pairs(scored, "solution_rate", "DSR", 0.0)
    return _beside_best_printed(tests, [*by_tests(tests), *absent], "DSR", "Table 3", baseline)


def sr_04(scored: pd.DataFrame, baseline: pd.DataFrame) -> Judged:
    """The Symbolic Transformer has the best distance, though it fits no law: cells are sets and rivals, and sets.

    One law that it fits is enough against the second half, so that is a count.
    """
    tests, absent = _pairs(scored, "ned_published", "ST", 1.0)
    fits = scored[scored["method"] == "ST"].groupby("subset", sort=False)["r2_accuracy"].sum()
    none = by_counts(fits == 0, ["ST"] * len(fits)) if len(tests) else []
    return _beside_best_printed(tests, [*by_tests(tests, -1), *absent, *none], "ST", "Table 4", baseline)


def sr_05(scored: pd.DataFrame) -> Judged:
    """The sets rise in difficulty: cells are methods and scores, by the trend over laws from easy to hard."""
    sets = [subset for subset in SETS if subset in set(scored["subset"])]
    if len(sets) < 2:
        return Judged([], "needs laws of several sets")
    rows = []
    for score, name in itertools.product(("r2_accuracy", "solution_rate", "ned_published"), scored["method"].unique()):
        part = scored[scored["method"] == name]
        worst = float(score.startswith("ned"))
        value = part[score].astype(float).fillna(worst) * (1 if worst else -1)  # difficulty
        level = part["subset"].map(sets.index)
        rows.append(trend(level, value, (sets[-1], sets[0]), method=name, condition=f"{name} {score}"))
    tests = family(rows)
    up = tests[(tests["p_holm"] < SIGNIFICANT) & (tests["effect"] > 0)]
    counts = ", ".join(
        f"{score} {up['condition'].str.endswith(score).sum()} of {tests['condition'].str.endswith(score).sum()}"
        for score in ("r2_accuracy", "solution_rate", "ned_published")
    )
    finding = f"methods for which the laws get harder from set to set (Kendall's tau, p < {SIGNIFICANT} by Holm): "
    open_ = tests.loc[tests["p_holm"] >= SIGNIFICANT, "detectable"]
    counts += f"; in the others {power(open_)}" if len(open_) else ""
    return Judged(by_tests(tests), f"{finding}{counts}; it speaks for {', '.join(scored['method'].unique())}", tests)


def sr_06(rho: pd.Series, printed_rho: pd.Series, others: dict[str, pd.Series] | None = None) -> Judged:
    """R2 and distance disagree. Rank correlations: of each law here (the median is the cell), of each printed set.

    `others`: over which other methods -> rank correlations of each law over these, of which the finding has the median.
    """
    sets = ", ".join(f"{name} {value:+.2f}" for name, value in printed_rho.items())
    finding = f"published Tables 2 and 4 over six methods: {sets}"
    if rho.empty:
        return Judged([], finding)
    median, low, high = bootstrap(rho, np.median)
    weak = f"{len(rho)} laws, weaker than {STRONG} on {(rho > STRONG).mean():.0%} of them"
    spread = f"median {median:+.2f} [{low:+.2f}, {high:+.2f}] over {weak}"
    spread += "".join(f", {name} median {part.median():+.2f}" for name, part in (others or {}).items() if len(part))
    finding = f"rank correlation of R2 with distance over methods of the paper: {spread}; {finding}"
    return Judged(by_intervals(pd.DataFrame({"low": [low], "high": [high]}), STRONG), finding)


def sr_07(original: pd.DataFrame, new: pd.DataFrame) -> Judged:
    """New ranges are harder: cells are methods. Scores on the original ranges and on the new ones, of the same laws."""
    old, now = (by_problem(part, "solution_rate", 0.0) for part in (original, new))
    tests = family(
        compare(old[name], now[name], ("original", "new"), method=name, condition=name) for name in old if name in now
    )
    return Judged(by_tests(tests), f"share of laws solved: {spelt(tests)}", tests)


def sr_08(scored: pd.DataFrame) -> Judged:
    """Noise raises the distance, least that of ST: cells are methods, and ST against each. Column noise of `scored`."""
    least, most = scored["noise"].min(), scored["noise"].max()
    quiet, noisy = (by_problem(scored[scored["noise"] == level], "ned_published", 1.0) for level in (least, most))
    rises = noisy - quiet
    ends = (f"at noise {most:g}", f"at {least:g}")
    rows = [compare(noisy[name], quiet[name], ends, method=name, condition=name) for name in rises if name != "ST"]
    if "ST" in rises:
        rows += [
            compare(rises[name], rises["ST"], ("rise", "of ST"), method=name, condition=name)
            for name in rises.columns.drop("ST")
        ]
    tests = family(rows)
    return Judged(by_tests(tests), f"Easy distance, medians: {spelt(tests, 8)}", tests)


def sr_09(overlap: pd.Series | None = None) -> Judged:
    """Pretraining data do not leak the test sets; `overlap`: mean IoU of the ranges of equal equations, one a draw."""
    if overlap is None:
        return Judged([], "the training data were not drawn as the paper draws them")
    finding = (
        f"mean overlap {overlap.min():.4f} to {overlap.max():.4f} in {len(overlap)} draws of the training data; "
        "this is of ranges alone: skeletons, which come from a bigram model of the test truths, are not asked"
    )
    several = len(overlap) > 1  # one draw says nothing of the next
    draws = pd.DataFrame([next_run(overlap) if several else {"low": np.nan, "high": np.nan}])
    return Judged(by_intervals(draws, LEAK, -1), finding)


def sr_10(twins: pd.DataFrame) -> Judged:
    """A quarter of the original problems have duplicates, as the same function or up to a factor: a cell each."""
    (same, scaled), (most, most_scaled) = ((twins > 0).mean()[["twins", "scaled"]], twins.max()[["twins", "scaled"]])
    finding = (
        f"{scaled:.1%} of {len(twins)} original problems have 1 to {most_scaled} twins with the same ranges "
        f"and the same function up to a constant factor, {same:.1%} have 1 to {most} with the very same one"
    )
    return Judged(by_counts(abs(share - QUARTER) < SOME for share in (same, scaled)), finding)


def _each(ned: pd.Series) -> str:
    """Distances of the printed skeletons of a law, by method."""
    return ", ".join(f"{name} {value:.3f}" for name, value in ned.items())


def sr_11(ned: pd.Series) -> Judged:
    """The simple skeleton of ST is nearer than the others: cells are these. Index: method, one law."""
    return Judged(by_counts(ned["ST"] < ned.drop("ST")), f"distances of the printed skeletons: {_each(ned)}")


def sr_12(ned: pd.Series) -> Judged:
    """Three methods are exact, ST is close and DSR is not: cells are methods. Index as in SR-11."""
    exact = list(ned.drop(["ST", "DSR"]) == 0)
    return Judged(
        by_counts([*exact, 0 < ned["ST"] < 0.5, ned["DSR"] > 0.5]), f"distances of the printed skeletons: {_each(ned)}"
    )


def sr_13(sizes: pd.DataFrame) -> Judged:
    """There are 120 problems of 10,000 rows. Index: law; columns: set, and paper, upstream (rows drawn) if known."""
    counts = sizes["set"].value_counts(sort=False).tolist()
    if "upstream" not in sizes:
        return Judged(by_counts([counts == SIZES]), "")
    full = (sizes[["paper", "upstream"]] == 10_000).sum()
    finding = (
        f"{' / '.join(map(str, counts))} laws; 10,000 accepted rows can be drawn for {full['paper']} of "
        f"them on the ranges of the paper and for {full['upstream']} on those of the released code"
    )
    return Judged(by_counts([counts == SIZES, full["upstream"] == sum(SIZES)]), finding)


def sr_14(slopes: pd.DataFrame, misplaced: dict, laws: int) -> Judged:
    """Distance grows with operations and decades: cells are methods and both, p corrected by Holm over all.

    Index of `slopes`: method; columns: operations, p_operations, decades, p_decades, r_squared. `misplaced`: how many
    of the `laws` a rule puts elsewhere.
    """
    if slopes.empty:
        return Judged([], f"{laws} laws are too few for a regression")
    signs = np.sign(slopes[["operations", "decades"]].to_numpy(float))
    raw = slopes[["p_operations", "p_decades"]].to_numpy(float)
    p = holm(raw.ravel()).reshape(signs.shape)
    errors = slopes["decades"].abs() / norm.isf(raw[:, 1] / 2)
    least = detectable(errors, raw.size)
    up, wide = ((p < 0.05) & (signs > 0)).sum(axis=0)
    ends = slopes["r_squared"]
    names = np.repeat(list(slopes.index), 2)
    cells = [
        Cell(bool(sign > 0) if q < SIGNIFICANT else None, "test", str(name))
        for q, sign, name in zip(p.ravel(), signs.ravel(), names, strict=True)
    ]
    finding = (
        f"distance grows with operations for {up} and with decades for {wide} of {len(slopes)} methods "
        f"(p < 0.05 by Holm; a slope of {least.min():.2g} to {least.max():.2g} a decade would be seen); both explain "
        f"{ends.min():.0%} to {ends.max():.0%} of its variance; "
        f"of {laws} laws eq. (1) misplaces {misplaced['paper']}, the code's rule {misplaced['code']}"
    )
    return Judged(cells, finding)


def _printed_table() -> pd.DataFrame:
    scores = {"srsd_table2": "r2_accuracy", "srsd_table3": "solution_rate", "srsd_table4": "ned_published"}
    wide = {
        score: published(name).astype({"value": float}).pivot(index="method", columns="set", values="value")[list(SETS)]
        for name, score in scores.items()
    }
    return pd.concat(wide, axis=1)


def _leads(table: pd.DataFrame, score: str, name: str) -> list:
    """Whether a method is best on each printed set."""
    values = table[score] * (-1 if score.startswith("ned") else 1)
    return list(values.loc[name] >= values.drop(name).max())


def _harder(table: pd.DataFrame, score: str) -> list:
    """Whether each printed set is at least as hard for a method as the one before, and the last one harder."""
    steps = table[score].diff(axis=1).iloc[:, 1:] * (1 if score.startswith("ned") else -1)
    return list((steps >= 0).all(axis=1) & (steps.sum(axis=1) > 0))


def printed() -> dict[str, list]:
    """The cells of each claim by the paper's own numbers."""
    table = _printed_table()
    raters = published("srsd_table_s17").astype({"value": float})
    raters = raters.pivot(index="metric", columns="statistic", values="value")
    ned, r2 = raters.loc["normalized_edit_distance"], raters.loc["r2_score"]
    noise = published("srsd_table_s15").astype({"value": float, "noise_level": float})
    noise = noise.pivot(index="method", columns="noise_level", values="value")
    rises = noise.iloc[:, -1] - noise.iloc[:, 0]
    rates = published("srsd_table_s16").astype({"value": float})
    rates = rates.pivot(index="method", columns="dataset", values="value")
    skeletons = pd.concat(published(f"srsd_table_{number}") for number in ("s13", "s14")).query("ned != ''")
    by_law = {law: part.set_index("method")["ned"].astype(float) for law, part in skeletons.groupby("equation_id")}
    overlap = re.search(r"IoU (\d+\.\d+)", claims("srsd").loc["SR-09", "direction_or_number"])
    sizes = published("srsd_table2").drop_duplicates("set").astype({"n_problems": int})
    sizes = pd.DataFrame({"set": np.repeat(sizes["set"], sizes["n_problems"])})
    rho = [spearman(table["r2_accuracy", name], table["ned_published", name]) for name in SETS]
    fits_none = list(table.loc["ST", "r2_accuracy"] == 0)
    counts = {"SR-11": sr_11(by_law["I.12.4"]), "SR-12": sr_12(by_law["I.14.3"]), "SR-13": sr_13(sizes)}
    return {
        "SR-01": [ned["p_value"] < 0.05 and ned["pearson_r"] < 0, r2["p_value"] >= 0.05],
        "SR-02": _leads(table, "r2_accuracy", "DSR"),
        "SR-03": _leads(table, "solution_rate", "DSR"),
        "SR-04": [*_leads(table, "ned_published", "ST"), *fits_none],
        "SR-05": [cell for score in table.columns.unique(0) for cell in _harder(table, score)],
        "SR-06": [value > STRONG for value in rho],
        "SR-07": [more(row.FSRD, row.SRSD) for row in rates.itertuples()],
        "SR-08": [*(rises.drop("ST") > 0), rises["ST"] < rises.drop("ST").min()],
        "SR-09": [float(overlap[1]) < LEAK] if overlap else [],
        "SR-14": _harder(table, "solution_rate"),
    } | {claim: [cell.goes for cell in judged.cells] for claim, judged in counts.items()}
