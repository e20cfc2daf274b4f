"""Verdicts on the fourteen claims: each function takes the statistic that the notebook prints just before.

Each gives the cells that the rule of docs/ledger.md judges. The thresholds are ours and stand in the finding: "far
below" is 10 points, "little" a tenth of the mean, "high" 4 and "moderate" 2.5 to 3.5 of 5, "near zero" a rank
correlation under 0.2 in size, a difference a p value under 0.05 by Holm or a 95 % interval over papers on one side of
zero. Tables of leads are as `analysis.over_papers` returns them. `printed` asks the same of the paper's own numbers.
"""

import re

import numpy as np
import pandas as pd

from ...problems.passages import MODELS, RUBRICS
from ...report.ledger import Judged, above
from ...report.papers import published
from ...report.statistics import holm
from .scores import LEXICAL


def _span(values, digits: int) -> str:
    return f"{np.min(np.asarray(values)):.{digits}f} to {np.max(np.asarray(values)):.{digits}f}"


def st_01(table3: pd.DataFrame) -> Judged:
    """No lexical mean of a model in Table 3 reaches 60 %."""
    best = table3.loc[list(MODELS), list(LEXICAL)].max(axis=None)
    return Judged([best < 60], f"the best of 20 means is {best:.1f} %")


def st_02(table3: pd.DataFrame, parsed_gap: float, parsed_share: float) -> Judged:
    """Syntax is far below Lexicality, over all pairs and over those (a share of them) with a distance under 1."""
    gap = table3.loc["Overall", "lexicality"] - table3.loc["Overall", "syntax"]
    finding = (
        f"Lexicality less Syntax is {gap:.1f} points (far: over 10), but {parsed_gap:.1f} over pairs with a "
        f"distance under 1, {parsed_share:.0%} of all (the rest are nearly all parse failures)"
    )
    return Judged([gap > 10, parsed_gap > 10], finding)


def st_03(table3: pd.DataFrame) -> Judged:
    """The deviation over models is little beside the mean, in every metric."""
    relative = 100 * (table3.loc["sd"] / table3.loc["Overall"])
    finding = f"standard deviation over models {_span(table3.loc['sd'], 1)} points, at most {relative.max():.1f} % of "
    return Judged(relative < 10, finding + "the mean (little: under 10 %)")


def st_04(leads: pd.DataFrame) -> Judged:
    """GPT-4.1 is ahead of every other model in both scores; index of `leads`: score, other model."""
    nearest = {score: part["low"].droplevel(0) for score, part in leads.groupby(level=0, sort=False)}
    finding = "difference to the nearest other model, lower end of its 95 % interval: " + ", ".join(
        f"{score} {100 * low.min():+.1f} points ({low.idxmin()})" for score, low in nearest.items()
    )
    return Judged([above(row.low, row.high) for row in leads.itertuples()], finding)


def st_05(judged: pd.DataFrame) -> Judged:
    """Valid and fitting, seldom equivalent; `judged` has the mean of each rubric (columns) for each model."""
    sound, same = judged[["Validity", "Appropriateness"]], judged["Equivalence"]
    finding = f"Validity and Appropriateness {_span(sound, 2)} (above 4), Equivalence {_span(same, 2)} (below 3)"
    return Judged([*(sound > 4).stack(), *(same < 3)], finding)


def st_06(judged: pd.DataFrame) -> Judged:
    """Coverage is high, Clarity moderate; `judged` as for `st_05`."""
    coverage, clarity = judged["Coverage"], judged["Clarity"]
    finding = f"Coverage {_span(coverage, 2)} (above 4), Clarity {_span(clarity, 2)} (2.5 to 3.5)"
    return Judged([*(coverage > 4), *clarity.between(2.5, 3.5)], finding)


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
    return Judged([above(row.low, row.high) for row in leads.itertuples()], finding)


def st_08(groups: pd.DataFrame, tests: pd.DataFrame) -> Judged:
    """Rubric scores fall with density; columns of `tests` (index: score): rho_entries, p_entries."""
    rho, p = (tests.loc[list(RUBRICS), column] for column in ("rho_entries", "p_entries"))
    shown = pd.Series(holm(p) < 0.05, rho.index)
    falling = (rho < 0) & shown & (groups[list(RUBRICS)].diff().iloc[1:] < 0).all()
    cells = [True if falling[name] else False if shown[name] else None for name in rho.index]
    others = ", ".join(f"{name} (rho {rho[name]:.2f})" for name in falling.index[~falling])
    finding = (
        f"{falling.sum()} of 5 rubrics fall from group to group with a rank correlation below 0 (p < 0.05 by Holm)"
    )
    return Judged(cells, finding + (f"; not {others}" if others else ""))


def st_09(leads: pd.DataFrame) -> Judged:
    """People score above the judge on all five rubrics; index of `leads`: rubric."""
    listed = (f"{row.Index} {row.value:+.2f} [{row.low:.2f}, {row.high:.2f}]" for row in leads.itertuples())
    return Judged([above(row.low, row.high) for row in leads.itertuples()], f"people less judge: {', '.join(listed)}")


def st_10(rho: pd.DataFrame, leads: pd.DataFrame, model: str = "DeepSeek-R1") -> Judged:
    """One model agrees best, the others hardly; `rho`: Spearman on keys, models by rubrics; `leads` over the others."""
    equivalence, near = rho["Equivalence"], rho.drop(model).abs().stack() < 0.2
    finding = (
        f"on keys Spearman of Equivalence is {_span(equivalence, 2)}, highest for {equivalence.idxmax()}; "
        f"{model} is ahead of {(leads['low'] > 0).sum()} of {len(leads)} models (95 % interval over papers), and "
        f"{near.sum()} of the {len(near)} cells of the other models are near zero (under 0.2 in size)"
    )
    return Judged([*(above(row.low, row.high) for row in leads.itertuples()), *near], finding)


def st_11(tests: pd.DataFrame) -> Judged:
    """Venues do not differ; column of `tests` (index: score): venue_p_holm."""
    p = tests["venue_p_holm"]
    apart = ", ".join(f"{name} (p {value:.2g})" for name, value in p[p < 0.05].items())
    finding = f"no difference by Kruskal-Wallis and Holm in {(p >= 0.05).sum()} of {len(p)} scores"
    return Judged(p >= 0.05, finding + (f", but in {apart}" if apart else ""))


def st_12(overlap: pd.DataFrame) -> Judged:
    """A minority has the right operators; columns of `overlap` (index: model): exact, high, in percent."""
    finding = (
        f"the same operators in {_span(overlap['exact'], 0)} % (minority: under 50), overlap of 0.8 and more in "
        f"{_span(overlap['high'], 0)} %, over all rows"
    )
    return Judged(overlap["exact"] < 50, finding)


def st_13(totals: pd.DataFrame) -> Judged:
    """170 papers and 1,043 equations; index of `totals`: strings, entries; columns: papers, total."""
    papers = int(totals.loc["entries", "papers"])
    entries, strings = (int(totals.loc[unit, "total"]) for unit in ("entries", "strings"))
    finding = f"{papers} papers and {entries} entries, which hold {strings} equations"
    return Judged([papers == 170, entries == 1043, strings == 1043], finding)


def st_14(venues: pd.DataFrame) -> Judged:
    """Syntax and Equivalence are lowest in every venue; columns of `venues`: all ten scores, from 0 to 1."""
    lowest = (venues["syntax"] < venues[list(LEXICAL)].min(axis=1)) & (
        venues[list(RUBRICS)].idxmin(axis=1) == "Equivalence"
    )
    both = [set(row.nsmallest(2).index) == {"syntax", "Equivalence"} for _, row in venues.iterrows()]
    finding = (
        f"lowest among the automatic metrics and among the rubrics in {lowest.sum()} of {len(lowest)} venues; "
        f"with all ten on a scale of 0 to 1 the two lowest in {sum(both)}"
    )
    return Judged([*lowest, *both], finding)


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
        "ST-01": st_01(table3).cells,
        "ST-02": [table3.loc["Overall", "lexicality"] - table3.loc["Overall", "syntax"] > 10],
        "ST-03": st_03(table3).cells,
        "ST-04": st_04(_exactly(leads.T.stack())).cells,
        "ST-05": [*(end > 4 for end in sound), *(end <= 3 for end in same)],
        "ST-06": [*(end > 4 for end in coverage), *(2.5 <= end <= 3.5 for end in clarity)],
        "ST-09": [rubric < humans for rubric in range(len(RUBRICS))],
        "ST-10": st_10(rho, _exactly(best)).cells,
        "ST-12": st_12(table5.filter(regex="exact|high").set_axis(["exact", "high"], axis=1)).cells,
        "ST-13": [total["n_papers"] == 170, *(abs(1043 - n) <= rounding for n in (of_total, of_venues))],
    }


def _exactly(values: pd.Series) -> pd.DataFrame:
    """Printed differences as a table of leads: no interval is printed."""
    return pd.DataFrame(dict.fromkeys(("value", "low", "high"), values))
