"""Verdict and finding on each of the fourteen claims of SRSD, from the statistic that its notebook prints.

`table` is Tables 2, 3 and 4 together, as printed or as run here (`analysis.by_label`): index method as printed, columns
score and set. `printed` asks the same of the paper's own numbers.
"""

import re

import numpy as np
import pandas as pd

from ...problems.srsd import SETS
from ...report.comparisons import labels
from ...report.ledger import Judged, above, more
from ...report.papers import claims, published
from ...report.statistics import holm, spearman
from ...report.summaries import bootstrap

RATINGS, RATED_LAWS = 552, 24  # 23 subjects rated 24 laws
STRONG = -0.5  # the rank correlation from which on two scores say much the same
SIZES = [30, 40, 50]  # laws of the three sets
QUARTER, SOME = 0.25, 0.05  # the share that SR-10 states, and how far off "about" goes
LEAK = 0.05  # an overlap of sampling ranges up to which two data sets share next to nothing


def sr_01(raters: pd.DataFrame, ratings: pd.DataFrame | None = None) -> Judged:
    """People rate as the distance does, and not as R2 does: a cell each.

    Index of `raters` (what is printed): metric; columns: n_implied, p_laws, low_laws, high_laws. `ratings`, if there
    are any: columns p and r of each metric with ratings.
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


def _agree(ratings: pd.DataFrame | None) -> list:
    """The cells of SR-01; index of `ratings`: metric, columns: p and r."""
    if ratings is None:
        return []
    ned, r2 = ratings.loc["normalized_edit_distance"], ratings.loc["r2_score"]
    return [ned["p"] < 0.05 and ned["r"] < 0, r2["p"] >= 0.05]


def _leads(table: pd.DataFrame, score: str, name: str) -> list:
    """Whether a method is best among those of the paper on each set; no cell without it or without another."""
    of_paper = table[table.index.isin(labels("srsd").index)]
    values = of_paper[score].dropna() * (-1 if score.startswith("ned") else 1)
    if name not in values.index or len(values) < 2:
        return []
    return list(values.loc[name] >= values.drop(name).max())


def _beside_best_printed(cells: list, table: pd.DataFrame, absent: str, number: str, baseline: pd.DataFrame) -> Judged:
    """Index of `baseline`: table, set; columns: rediscover (a log-linear fit), printed, method (the best published)."""
    sets = baseline.loc[number].iterrows()
    pairs = (f"{name} {row.rediscover:.3f} against {row.printed:.3f} ({row.method})" for name, row in sets)
    here = table.index.intersection(labels("srsd").index)
    finding = f"of the paper's methods {', '.join(here)} ran here"
    if absent not in here:
        finding += f", {absent} did not: {labels('srsd').loc[absent, 'reason']}"
    return Judged(cells, f"{finding}; a log-linear fit here against the best published: {', '.join(pairs)}")


def sr_02(table: pd.DataFrame, baseline: pd.DataFrame) -> Judged:
    """DSR has the highest R2 accuracy: cells are sets."""
    return _beside_best_printed(_leads(table, "r2_accuracy", "DSR"), table, "DSR", "Table 2", baseline)


def sr_03(table: pd.DataFrame, baseline: pd.DataFrame) -> Judged:
    """DSR has the highest solution rate: cells are sets."""
    return _beside_best_printed(_leads(table, "solution_rate", "DSR"), table, "DSR", "Table 3", baseline)


def sr_04(table: pd.DataFrame, baseline: pd.DataFrame) -> Judged:
    """The Symbolic Transformer has the best distance, though it fits no law: cells are sets, of both."""
    return _beside_best_printed(_transformer(table), table, "ST", "Table 4", baseline)


def _transformer(table: pd.DataFrame) -> list:
    leads = _leads(table, "ned_published", "ST")
    return leads and leads + list(table.loc["ST", "r2_accuracy"] == 0)


def sr_05(means: pd.DataFrame) -> Judged:
    """The sets rise in difficulty: cells are methods and scores. Columns: score and set, the sets from easy to hard."""
    found = {score: _harder(means, score) for score in means.columns.unique(0)}
    counts = ", ".join(f"{score} {sum(harder)} of {len(harder)}" for score, harder in found.items())
    finding = f"methods for which each set is at least as hard as the one before: {counts}"
    return Judged([cell for harder in found.values() for cell in harder], finding)


def _harder(means: pd.DataFrame, score: str) -> list:
    steps = means[score].dropna().diff(axis=1).iloc[:, 1:] * (1 if score.startswith("ned") else -1)
    return list((steps >= 0).all(axis=1) & (steps.sum(axis=1) > 0))


def sr_06(rho: pd.Series, printed_rho: pd.Series) -> Judged:
    """R2 and distance disagree. Rank correlations: of each law here (the median is the cell), of each printed set."""
    sets = ", ".join(f"{name} {value:+.2f}" for name, value in printed_rho.items())
    finding = f"published Tables 2 and 4 over six methods: {sets}"
    if rho.empty:
        return Judged([], finding)
    median, low, high = bootstrap(rho, np.median)
    weak = f"{len(rho)} laws, weaker than {STRONG} on {(rho > STRONG).mean():.0%} of them"
    spread = f"median {median:+.2f} [{low:+.2f}, {high:+.2f}] over {weak}"
    finding = f"rank correlation of R2 with distance over methods: {spread}; {finding}"
    return Judged([above(low, high, STRONG)], finding)


def sr_07(paired: pd.DataFrame) -> Judged:
    """New ranges are harder: cells are methods. Columns: original, new (shares of laws solved), p (0 if printed)."""
    change = paired["new"] - paired["original"]
    cells = [None if row.p >= 0.05 else more(row.original, row.new) for row in paired.itertuples()]
    parts = (paired[change < 0], paired[change > 0])
    fewer, larger = (f"{len(part)} ({(part['p'] < 0.05).sum()} with p < 0.05)" for part in parts)
    rates = ", ".join(f"{name} {row.original:.1%} / {row.new:.1%}" for name, row in paired.iterrows())
    finding = f"fewer laws solved on the new ranges by {fewer} of {len(paired)} methods, more by {larger}: {rates}"
    return Judged(cells, finding)


def sr_08(rises: pd.DataFrame, least: float, most: float) -> Judged:
    """Noise raises the distance, least that of ST: cells are methods. Columns: value, low, high of the rise."""
    cells = [above(row.low, row.high) for row in rises.drop("ST", errors="ignore").itertuples()]
    if "ST" in rises.index and len(rises) > 1:
        cells.append(rises.loc["ST", "value"] < rises["value"].drop("ST").min())
    each = (f"{name} {row.value:+.3f} [{row.low:+.3f}, {row.high:+.3f}]" for name, row in rises.iterrows())
    finding = f"Easy distance at noise {most:g} minus that at {least:g} [95 %]: {', '.join(each)}"
    return Judged(cells, finding + ("" if "ST" in rises.index else "; Symbolic Transformer was not run"))


def sr_09(overlap: pd.Series | None = None) -> Judged:
    """Pretraining data do not leak the test sets; `overlap`: mean IoU of the ranges of equal equations, one a draw."""
    if overlap is None:
        return Judged([], "the training data were not drawn as the paper draws them")
    finding = (
        f"mean overlap {overlap.min():.4f} to {overlap.max():.4f} in {len(overlap)} draws of the training data; the "
        "ranges are apart, but the skeletons come from a bigram model of the test truths"
    )
    return Judged([overlap.max() < LEAK], finding)


def sr_10(twins: pd.DataFrame) -> Judged:
    """A quarter of the original problems have duplicates, as the same function or up to a factor: a cell each."""
    (same, scaled), (most, most_scaled) = ((twins > 0).mean()[["twins", "scaled"]], twins.max()[["twins", "scaled"]])
    finding = (
        f"{scaled:.1%} of {len(twins)} original problems have 1 to {most_scaled} twins with the same ranges "
        f"and the same function up to a constant factor, {same:.1%} have 1 to {most} with the very same one"
    )
    return Judged([abs(share - QUARTER) < SOME for share in (same, scaled)], finding)


def _each(ned: pd.Series) -> str:
    """Distances of the printed skeletons of a law, by method."""
    return ", ".join(f"{name} {value:.3f}" for name, value in ned.items())


def sr_11(ned: pd.Series) -> Judged:
    """The simple skeleton of ST is nearer than the others: cells are these. Index: method, one law."""
    return Judged(ned["ST"] < ned.drop("ST"), f"distances of the printed skeletons: {_each(ned)}")


def sr_12(ned: pd.Series) -> Judged:
    """Three methods are exact, ST is close and DSR is not: cells are methods. Index as in SR-11."""
    exact = list(ned.drop(["ST", "DSR"]) == 0)
    return Judged([*exact, 0 < ned["ST"] < 0.5, ned["DSR"] > 0.5], f"distances of the printed skeletons: {_each(ned)}")


def sr_13(sizes: pd.DataFrame) -> Judged:
    """There are 120 problems of 10,000 rows. Index: law; columns: set, and paper, upstream (rows drawn) if known."""
    counts = sizes["set"].value_counts(sort=False).tolist()
    if "upstream" not in sizes:
        return Judged([counts == SIZES], "")
    full = (sizes[["paper", "upstream"]] == 10_000).sum()
    finding = (
        f"{' / '.join(map(str, counts))} laws; 10,000 accepted rows can be drawn for {full['paper']} of "
        f"them on the ranges of the paper and for {full['upstream']} on those of the released code"
    )
    return Judged([counts == SIZES, full["upstream"] == sum(SIZES)], finding)


def sr_14(slopes: pd.DataFrame, misplaced: dict, laws: int) -> Judged:
    """Distance grows with operations and decades: cells are methods and both, p corrected by Holm over all.

    Index of `slopes`: method; columns: operations, p_operations, decades, p_decades, r_squared. `misplaced`: how many
    of the `laws` a rule puts elsewhere.
    """
    if slopes.empty:
        return Judged([], f"{laws} laws are too few for a regression")
    signs = np.sign(slopes[["operations", "decades"]].to_numpy(float))
    p = holm(slopes[["p_operations", "p_decades"]].to_numpy(float).ravel()).reshape(signs.shape)
    up, wide = ((p < 0.05) & (signs > 0)).sum(axis=0)
    least, most = slopes["r_squared"].min(), slopes["r_squared"].max()
    cells = [None if q >= 0.05 else sign > 0 for q, sign in zip(p.ravel(), signs.ravel(), strict=True)]
    finding = (
        f"distance grows with operations for {up} and with decades for {wide} of {len(slopes)} methods "
        f"(p < 0.05 by Holm); both explain {least:.0%} to {most:.0%} of its variance; "
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


def printed() -> dict[str, list]:
    """The cells of each claim by the paper's own numbers."""
    table = _printed_table()
    raters = (
        published("srsd_table_s17").astype({"value": float}).pivot(index="metric", columns="statistic", values="value")
    )
    noise = published("srsd_table_s15").astype({"value": float, "noise_level": float})
    noise = noise.pivot(index="method", columns="noise_level", values="value")
    rises = pd.DataFrame(dict.fromkeys(("value", "low", "high"), noise.iloc[:, -1] - noise.iloc[:, 0]))
    rates = (
        published("srsd_table_s16").astype({"value": float}).pivot(index="method", columns="dataset", values="value")
    )
    rates = rates.rename(columns={"FSRD": "original", "SRSD": "new"}).assign(p=0.0)
    skeletons = pd.concat(published(f"srsd_table_{number}") for number in ("s13", "s14")).query("ned != ''")
    by_law = {law: part.set_index("method")["ned"].astype(float) for law, part in skeletons.groupby("equation_id")}
    overlap = re.search(r"IoU (\d+\.\d+)", claims("srsd").loc["SR-09", "direction_or_number"])
    sizes = published("srsd_table2").drop_duplicates("set").astype({"n_problems": int})
    rho = [spearman(table["r2_accuracy", name], table["ned_published", name]) for name in SETS]
    return {
        "SR-01": _agree(raters.rename(columns={"pearson_r": "r", "p_value": "p"})),
        "SR-02": _leads(table, "r2_accuracy", "DSR"),
        "SR-03": _leads(table, "solution_rate", "DSR"),
        "SR-04": _transformer(table),
        "SR-05": sr_05(table).cells,
        "SR-06": [value > STRONG for value in rho],
        "SR-07": sr_07(rates).cells,
        "SR-08": sr_08(rises, 0.0, 0.1).cells,
        "SR-09": sr_09(pd.Series([float(overlap[1])]) if overlap else None).cells,
        "SR-11": sr_11(by_law["I.12.4"]).cells,
        "SR-12": sr_12(by_law["I.14.3"]).cells,
        "SR-13": sr_13(pd.DataFrame({"set": np.repeat(sizes["set"], sizes["n_problems"])})).cells,
        "SR-14": _harder(table, "solution_rate"),
    }
