"""Verdicts on the fourteen claims: each function takes the statistic that the notebook prints just before.

Each gives the cells that the rule of docs/ledger.md judges. The thresholds are ours and stand in the finding: "far
below" is 10 points, "little" a tenth of the mean, "high" 4 and "moderate" 2.5 to 3.5 of 5, "near zero" a rank
correlation under 0.2 in size, a difference a p value under 0.05 by Holm or a 95 % interval over papers on one side of
zero. Tables with intervals are as `analysis.over_papers` returns them. `printed` asks the paper's own numbers.
"""

import re

import numpy as np
import pandas as pd

from ...problems.passages import MODELS, RUBRICS
from ...report.claim_cells import SIGNIFICANT, Cell, by_counts, by_intervals, power
from ...report.ledger import Judged, more
from ...report.papers import published
from ...report.statistics import detectable, detectable_groups, holm
from .scores import LEXICAL

LOW, HIGH = 2.5, 3.5  # of a moderate rubric score


def _span(values, digits: int) -> str:
    return f"{np.min(np.asarray(values)):.{digits}f} to {np.max(np.asarray(values)):.{digits}f}"


def _inside(rows: pd.DataFrame, low: float, high: float) -> list[Cell]:
    """A cell for each interval: whether it lies between two values, None where it holds one of them."""
    pairs = zip(by_intervals(rows, low), by_intervals(rows, high, -1), strict=True)
    return [
        Cell(False if False in (a, b) else None if None in (a, b) else True, "interval") for (a, *_), (b, *_) in pairs
    ]


def st_01(means: pd.DataFrame) -> Judged:
    """No lexical mean of a model reaches 60 %: cells are means, in percent, of models and metrics."""
    best = means["value"].idxmax()
    interval = f"[{means.loc[best, 'low']:.1f}, {means.loc[best, 'high']:.1f}]"
    return Judged(
        by_intervals(means, 60, -1), f"the best of {len(means)} means is {means['value'].max():.1f} {interval} %"
    )


def st_02(gaps: pd.DataFrame, parsed_share: float) -> Judged:
    """Syntax is far below Lexicality, over all pairs and over those (a share of them) with a distance under 1.

    Index of `gaps`: all, parsed; in points.
    """
    spelt = {name: f"{row.value:.1f} [{row.low:.1f}, {row.high:.1f}]" for name, row in gaps.iterrows()}
    finding = (
        f"Lexicality less Syntax is {spelt['all']} points (far: over 10), but {spelt['parsed']} over pairs with a "
        f"distance under 1, {parsed_share:.0%} of all (the rest are nearly all parse failures)"
    )
    return Judged(by_intervals(gaps, 10), finding)


def st_03(spread: pd.DataFrame, deviations: pd.Series) -> Judged:
    """The deviation over models is little beside the mean; index: metric; `spread` in percent of the mean."""
    finding = (
        f"standard deviation over models {_span(deviations, 1)} points, at most {spread['value'].max():.1f} % of the "
        f"mean (little: under 10 %; 95 % interval to {spread['high'].max():.1f} %)"
    )
    return Judged(by_intervals(spread, 10, -1), finding)


def st_04(leads: pd.DataFrame) -> Judged:
    """GPT-4.1 is ahead of every other model in both scores; index of `leads`: score, other model."""
    nearest = {score: part["low"].droplevel(0) for score, part in leads.groupby(level=0, sort=False)}
    finding = "difference to the nearest other model, lower end of its 95 % interval: " + ", ".join(
        f"{score} {100 * low.min():+.1f} points ({low.idxmin()})" for score, low in nearest.items()
    )
    return Judged(by_intervals(leads), finding)


def st_05(judged: pd.DataFrame) -> Judged:
    """Valid and fitting, seldom equivalent: cells are means; index of `judged`: model, rubric."""
    rubric = judged.index.get_level_values(1)
    sound, same = judged[rubric.isin(["Validity", "Appropriateness"])], judged[rubric == "Equivalence"]
    finding = (
        f"Validity and Appropriateness {_span(sound['value'], 2)} (above 4), Equivalence {_span(same['value'], 2)} "
        f"(below 3; 95 % intervals to {same['high'].max():.2f})"
    )
    return Judged([*by_intervals(sound, 4), *by_intervals(same, 3, -1)], finding)


def st_06(judged: pd.DataFrame) -> Judged:
    """Coverage is high, Clarity moderate; `judged` as for `st_05`."""
    rubric = judged.index.get_level_values(1)
    coverage, clarity = judged[rubric == "Coverage"], judged[rubric == "Clarity"]
    finding = (
        f"Coverage {_span(coverage['value'], 2)} (above 4; 95 % intervals from {coverage['low'].min():.2f}), "
        f"Clarity {_span(clarity['value'], 2)} ({LOW} to {HIGH}; 95 % intervals from {clarity['low'].min():.2f} to "
        f"{clarity['high'].max():.2f})"
    )
    return Judged([*by_intervals(coverage, 4), *_inside(clarity, LOW, HIGH)], finding)


def st_07(groups: pd.DataFrame, leads: pd.DataFrame) -> Judged:
    """Both automatic scores peak at 6-10 entries; index of `groups`: density, of `leads`: score, other group."""
    parts = {score: part for score, part in leads.groupby(level=0, sort=False)}
    spelt = {
        s: ", ".join(f"{r.value:+.3f} [{r.low:.3f}, {r.high:.3f}]" for r in p.itertuples()) for s, p in parts.items()
    }
    lexicality, syntax = (", ".join(f"{value:.2f}" for value in groups[s]) for s in ("lexicality", "syntax"))
    finding = (
        f"Lexicality {lexicality}, Syntax {syntax} for 2-5, 6-10 and 11 or more entries; lead of 6-10 over the "
        "groups before and after: " + "; ".join(f"{score} {text}" for score, text in spelt.items())
    )
    return Judged(by_intervals(leads), finding)


def st_08(tests: pd.DataFrame, papers: int) -> Judged:
    """Rubric scores fall with density, over `papers`; columns of `tests` (index: score): rho_entries, p_entries."""
    rho, p = (tests.loc[list(RUBRICS), column] for column in ("rho_entries", "p_entries"))
    shown = pd.Series(holm(p) < SIGNIFICANT, rho.index)
    cells = [Cell(bool(rho[name] < 0) if shown[name] else None, "test") for name in rho.index]
    others = ", ".join(f"{name} (rho {rho[name]:.2f})" for name in rho.index[~(shown & (rho < 0))])
    finding = (
        f"{(shown & (rho < 0)).sum()} of 5 rubrics have a rank correlation with density below 0 (p < 0.05 by Holm)"
    )
    least = power([detectable((papers - 1) ** -0.5, len(rho))])
    return Judged(cells, finding + (f"; not {others}: {least}" if others else ""))


def st_09(leads: pd.DataFrame) -> Judged:
    """People score above the judge on all five rubrics; index of `leads`: rubric."""
    listed = (f"{row.Index} {row.value:+.2f} [{row.low:.2f}, {row.high:.2f}]" for row in leads.itertuples())
    return Judged(by_intervals(leads), f"people less judge: {', '.join(listed)}")


def st_10(rho: pd.DataFrame, leads: pd.DataFrame, model: str = "DeepSeek-R1") -> Judged:
    """One model agrees best, the others hardly: cells are its `leads` over them, and their `rho`.

    `rho`: Spearman's correlation of judge and people on keys; index: model, rubric.
    """
    equivalence = rho.xs("Equivalence", level=1)["value"]
    near = _inside(rho.drop(model, level=0), -0.2, 0.2)
    count = sum(cell.goes is True for cell in near)
    finding = (
        f"on keys Spearman of Equivalence is {_span(equivalence, 2)}, highest for {equivalence.idxmax()}; "
        f"{model} is ahead of {(leads['low'] > 0).sum()} of {len(leads)} models (95 % intervals over papers, of "
        f"{((leads['high'] - leads['low']) / 2).median():.2f} to either side), and "
        f"{count} of the {len(near)} cells of the other models are near zero (interval under 0.2 in size)"
    )
    return Judged([*by_intervals(leads), *near], finding)


def st_11(tests: pd.DataFrame, papers: int, venues: int) -> Judged:
    """Venues do not differ: a test that finds a difference is against it, none is for it.

    Column of `tests` (index: score): venue_p_holm. Effects are shares of the variance of ranks.
    """
    p = tests["venue_p_holm"]
    apart = ", ".join(f"{name} (p {value:.2g})" for name, value in p[p < SIGNIFICANT].items())
    least = power([detectable_groups(papers, venues, len(p))])
    finding = f"no difference is found by Kruskal-Wallis and Holm in {(p >= SIGNIFICANT).sum()} of {len(p)} scores"
    finding += f" ({least}, as a share of the variance of ranks)"
    cells = [Cell(False if value < SIGNIFICANT else None, "test") for value in p]
    return Judged(cells, finding + (f", but one in {apart}" if apart else ""))


def st_12(exact: pd.DataFrame, high: pd.Series) -> Judged:
    """A minority has the right operators: cells are models; `exact`, `high`: shares of all, and of 0.8 of them."""
    finding = (
        f"the same operators in {_span(exact['value'], 0)} % (minority: under 50), overlap of 0.8 and more in "
        f"{_span(high, 0)} %, over all rows"
    )
    return Judged(by_intervals(exact, 50, -1), finding)


def st_13(totals: pd.DataFrame) -> Judged:
    """170 papers and 1,043 equations; index of `totals`: strings, entries; columns: papers, total."""
    papers = int(totals.loc["entries", "papers"])
    entries, strings = (int(totals.loc[unit, "total"]) for unit in ("entries", "strings"))
    finding = f"{papers} papers and {entries} entries, which hold {strings} equations"
    return Judged(by_counts([papers == 170, entries == 1043, strings == 1043]), finding)


def st_14(venues: pd.DataFrame) -> Judged:
    """Syntax and Equivalence are lowest in every venue: cells are venues, both, and each other score.

    `venues`: by how much another score is above one of the two, all from 0 to 1; index: venue, low one, other.
    """
    cells = by_intervals(venues)
    ways = [cell.goes for cell in cells]
    against = venues.index[[way is False for way in ways]]
    shown = ", ".join(f"{other} below {low} in {venue}" for venue, low, other in against[:4])
    finding = (
        f"with all ten scores from 0 to 1, another one is above Syntax or Equivalence in {ways.count(True)} of "
        f"{len(ways)} comparisons (95 % interval over papers) and below in {ways.count(False)}"
    )
    return Judged(cells, finding + (f", such as {shown}" if shown else ""))


def printed() -> dict[str, list]:
    """The cells of each claim by the paper's own numbers: Tables 1, 3 and 5, the text, and the notebook of Figure 6."""
    rows = published("scitext2eq_table3").rename(columns={"model": "row"})
    table3 = rows.pivot(index="row", columns="metric", values="value").astype(float)
    table3 = table3.rename(columns={"levenshtein": "levenshtein_similarity"})
    spread = rows[rows["sd"] != ""].set_index("metric")["sd"].astype(float)
    table3.loc["sd"] = spread.rename({"levenshtein": "levenshtein_similarity"})
    models = table3.loc[[name for name in MODELS if name in table3.index]]
    leads = models.loc["GPT-4.1", ["lexicality", "syntax"]] - models.drop("GPT-4.1")[["lexicality", "syntax"]]
    text = published("scitext2eq_text_numbers").drop_duplicates("quantity").set_index("quantity")["value"]
    ranges = {name: [float(x) for x in re.findall(r"\d+\.?\d*", value)] for name, value in text.items()}
    sound, same, coverage, clarity = (
        next(ends for name, ends in ranges.items() if name.startswith(f"range of {start}"))
        for start in ("Validity", "Equivalence", "Coverage", "description Clarity")
    )
    rho = published("scitext2eq_agreement").query("statistic == 'spearman'")
    rho = rho.pivot(index="model", columns="rubric", values="value").astype(float)
    best = rho.loc["DeepSeek-R1", "Equivalence"] - rho["Equivalence"].drop("DeepSeek-R1")
    table5 = published("scitext2eq_table5").pivot(index="model", columns="jaccard_band", values="value").astype(float)
    sizes = published("scitext2eq_table1").pivot(index="venue", columns="quantity", values="value").astype(float)
    of_venues = (sizes["n_papers"] * sizes["avg_equations_per_paper"]).drop("Total").sum()
    total, rounding = sizes.loc["Total"], 0.05 * sizes.loc["Total", "n_papers"]
    of_total = total["n_papers"] * total["avg_equations_per_paper"]
    humans = ranges["number of metrics on which humans score above the LLM judge"][0]
    return {
        "ST-01": [models[list(LEXICAL)].max(axis=None) < 60],
        "ST-02": [table3.loc["Overall", "lexicality"] - table3.loc["Overall", "syntax"] > 10],
        "ST-03": list(100 * (table3.loc["sd"] / table3.loc["Overall"]) < 10),
        "ST-04": [more(lead, 0) for lead in leads.T.stack()],
        "ST-05": [*(end > 4 for end in sound), *(end <= 3 for end in same)],
        "ST-06": [*(end > 4 for end in coverage), *(2.5 <= end <= 3.5 for end in clarity)],
        "ST-09": [rubric < humans for rubric in range(len(RUBRICS))],
        "ST-10": [*(more(lead, 0) for lead in best), *(rho.drop("DeepSeek-R1").abs().stack() < 0.2)],
        "ST-12": list(table5.filter(regex="exact").iloc[:, 0] < 50),
        "ST-13": [total["n_papers"] == 170, *(abs(1043 - n) <= rounding for n in (of_total, of_venues))],
    }
