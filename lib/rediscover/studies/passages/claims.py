"""Verdicts on the fourteen claims: each function takes the statistic that the notebook prints just before.

A claim holds if all of its conditions are met, fails if none is, else it is mixed. The thresholds are ours and stand
in the finding: "far below" is 10 points, "little" a tenth of the mean, "high" 4 and "moderate" 2.5 to 3.5 of 5, "near
zero" a rank correlation under 0.2 in size, a difference a p value under 0.05 by Holm or a 95 % interval over papers on
one side of zero. Tables of leads are as `analysis.over_papers` returns them.
"""

import numpy as np
import pandas as pd

from ...problems.passages import MODELS, RUBRICS
from ...report.ledger import claim_verdict
from ...report.statistics import holm
from .scores import LEXICAL

Verdict = tuple[str, str]


def _span(values, digits: int) -> str:
    return f"{np.min(np.asarray(values)):.{digits}f} to {np.max(np.asarray(values)):.{digits}f}"


def st_01(table3: pd.DataFrame) -> Verdict:
    """No lexical mean of a model in Table 3 reaches 60 %."""
    best = table3.loc[list(MODELS), list(LEXICAL)].max(axis=None)
    return claim_verdict([best < 60]), f"the best of 20 means is {best:.1f} %"


def st_02(table3: pd.DataFrame, parsed_gap: float, parsed_share: float) -> Verdict:
    """Syntax is far below Lexicality, over all pairs and over those (a share of them) with a distance under 1."""
    gap = table3.loc["Overall", "lexicality"] - table3.loc["Overall", "syntax"]
    return claim_verdict([gap > 10, parsed_gap > 10]), (
        f"Lexicality less Syntax is {gap:.1f} points (far: over 10), but {parsed_gap:.1f} over pairs with a "
        f"distance under 1, {parsed_share:.0%} of all (the rest are nearly all parse failures)"
    )


def st_03(table3: pd.DataFrame) -> Verdict:
    """The deviation over models is little beside the mean, in every metric."""
    relative = 100 * (table3.loc["sd"] / table3.loc["Overall"]).max()
    span = _span(table3.loc["sd"], 1)
    return claim_verdict([relative < 10]), (
        f"standard deviation over models {span} points, at most {relative:.1f} % of the mean (little: under 10 %)"
    )


def st_04(leads: pd.DataFrame) -> Verdict:
    """GPT-4.1 is ahead of every other model in both scores; index of `leads`: score, other model."""
    nearest = {score: part["low"].droplevel(0) for score, part in leads.groupby(level=0, sort=False)}
    return claim_verdict(low.min() > 0 for low in nearest.values()), (
        "difference to the nearest other model, lower end of its 95 % interval: "
        + ", ".join(f"{score} {100 * low.min():+.1f} points ({low.idxmin()})" for score, low in nearest.items())
    )


def st_05(judged: pd.DataFrame) -> Verdict:
    """Valid and fitting, seldom equivalent; `judged` has the mean of each rubric (columns) for each model."""
    sound, same = judged[["Validity", "Appropriateness"]], judged["Equivalence"]
    finding = f"Validity and Appropriateness {_span(sound, 2)} (above 4), Equivalence {_span(same, 2)} (below 3)"
    return claim_verdict([sound.min(axis=None) > 4, same.max() < 3]), finding


def st_06(judged: pd.DataFrame) -> Verdict:
    """Coverage is high, Clarity moderate; `judged` as for `st_05`."""
    coverage, clarity = judged["Coverage"], judged["Clarity"]
    finding = f"Coverage {_span(coverage, 2)} (above 4), Clarity {_span(clarity, 2)} (2.5 to 3.5)"
    return claim_verdict([coverage.min() > 4, clarity.between(2.5, 3.5).all()]), finding


def st_07(groups: pd.DataFrame, leads: pd.DataFrame) -> Verdict:
    """Both automatic scores peak at 6-10 entries; index of `groups`: density, of `leads`: score, other group."""
    parts = {score: part for score, part in leads.groupby(level=0, sort=False)}
    spelt = {
        s: ", ".join(f"{r.value:+.3f} [{r.low:.3f}, {r.high:.3f}]" for r in p.itertuples()) for s, p in parts.items()
    }
    lexicality, syntax = (", ".join(f"{value:.2f}" for value in groups[s]) for s in ("lexicality", "syntax"))
    return claim_verdict((part["low"] > 0).all() for part in parts.values()), (
        f"Lexicality {lexicality}, Syntax {syntax} for 2-5, 6-10 and 11 or more entries; lead of 6-10 over the groups "
        "before and after: " + "; ".join(f"{score} {text}" for score, text in spelt.items())
    )


def st_08(groups: pd.DataFrame, tests: pd.DataFrame) -> Verdict:
    """Rubric scores fall with density; columns of `tests` (index: score): rho_entries, p_entries."""
    rho, p = (tests.loc[list(RUBRICS), column] for column in ("rho_entries", "p_entries"))
    falling = (rho < 0) & (holm(p) < 0.05) & (groups[list(RUBRICS)].diff().iloc[1:] < 0).all()
    others = ", ".join(f"{name} (rho {rho[name]:.2f})" for name in falling.index[~falling])
    finding = (
        f"{falling.sum()} of 5 rubrics fall from group to group with a rank correlation below 0 (p < 0.05 by Holm)"
    )
    return claim_verdict(falling), finding + (f"; not {others}" if others else "")


def st_09(above: pd.DataFrame) -> Verdict:
    """People score above the judge on all five rubrics; index of `above`: rubric."""
    listed = (f"{row.Index} {row.value:+.2f} [{row.low:.2f}, {row.high:.2f}]" for row in above.itertuples())
    return claim_verdict(above["low"] > 0), f"people less judge: {', '.join(listed)}"


def st_10(rho: pd.DataFrame, leads: pd.DataFrame, model: str = "DeepSeek-R1") -> Verdict:
    """One model agrees best, the others hardly; `rho`: Spearman on keys, models by rubrics; `leads` over the others."""
    equivalence, near = rho["Equivalence"], rho.drop(model).abs().stack() < 0.2
    return claim_verdict([leads["low"].min() > 0, near.mean() > 0.5]), (
        f"on keys Spearman of Equivalence is {_span(equivalence, 2)}, highest for {equivalence.idxmax()}; {model} is "
        f"ahead of {(leads['low'] > 0).sum()} of {len(leads)} models (95 % interval over papers), and {near.sum()} of "
        f"the {len(near)} cells of the other models are near zero (under 0.2 in size)"
    )


def st_11(tests: pd.DataFrame) -> Verdict:
    """Venues do not differ; column of `tests` (index: score): venue_p_holm."""
    p = tests["venue_p_holm"]
    apart = ", ".join(f"{name} (p {value:.2g})" for name, value in p[p < 0.05].items())
    finding = f"no difference by Kruskal-Wallis and Holm in {(p >= 0.05).sum()} of {len(p)} scores"
    return claim_verdict(p >= 0.05), finding + (f", but in {apart}" if apart else "")


def st_12(overlap: pd.DataFrame) -> Verdict:
    """A minority has the right operators; columns of `overlap` (index: model): exact, high, in percent."""
    return claim_verdict([overlap["exact"].max() < 50]), (
        f"the same operators in {_span(overlap['exact'], 0)} % (minority: under 50), overlap of 0.8 and more in "
        f"{_span(overlap['high'], 0)} %, over all rows"
    )


def st_13(totals: pd.DataFrame) -> Verdict:
    """170 papers and 1,043 equations; index of `totals`: strings, entries; columns: papers, total."""
    papers = int(totals.loc["entries", "papers"])
    entries, strings = (int(totals.loc[unit, "total"]) for unit in ("entries", "strings"))
    finding = f"{papers} papers and {entries} entries, which hold {strings} equations"
    return claim_verdict([papers == 170, entries == 1043, strings == 1043]), finding


def st_14(venues: pd.DataFrame) -> Verdict:
    """Syntax and Equivalence are lowest in every venue; columns of `venues`: all ten scores, from 0 to 1."""
    lowest = (venues["syntax"] < venues[list(LEXICAL)].min(axis=1)) & (
        venues[list(RUBRICS)].idxmin(axis=1) == "Equivalence"
    )
    both = [set(row.nsmallest(2).index) == {"syntax", "Equivalence"} for _, row in venues.iterrows()]
    return claim_verdict([lowest.all(), all(both)]), (
        f"lowest among the automatic metrics and among the rubrics in {lowest.sum()} of {len(lowest)} venues; "
        f"with all ten on a scale of 0 to 1 the two lowest in {sum(both)}"
    )
