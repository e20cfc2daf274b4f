"""The text-to-equation study's ledger, and verdicts on the fourteen claims, each from conditions on a statistic."""

import re

import numpy as np
import pandas as pd

from ...problems import passages
from ...report import statistics as agreement
from ...report.ledger import COLUMNS, claim_verdict, compare, verdict
from ...report.papers import published
from . import analysis as study
from . import scores as scores

PAPER = "SciText2Eq"
PRINTED = "the printed digit"
SAMPLED = 100  # formulas per model behind the published Table 5

# Numbers of the text that say how something was done, not what came out.
DEFINITIONS = {
    "number of equation-count groups": "a definition: papers are grouped here in the same way",
    "equation-count groups": "a definition: papers are grouped here in the same way",
    "Jaccard threshold for exact": "a definition, used here as well",
    "Jaccard threshold for high / low": "a definition, used here as well",
    "generated equations sampled per model": "which formulas were drawn was not released; all of them are scored here",
}


# ---- the ledger


def ledger(data: study.Released | None, reason: str) -> pd.DataFrame:
    """Every cell of Tables 1, 3 and 5, of the notebook behind Figure 6, and every number of the text, beside ours."""
    text = published("scitext2eq_text_numbers")
    nothing = {part: {} for part in ("counts", "means", "overlap", "pairing", "text")}
    ours = nothing if data is None else _measured(data, dict(zip(text["quantity"], text["value"], strict=True)))
    absent = {"*": ("not run", reason)}
    parts = [
        *_tables(ours, absent),
        compare(
            PAPER,
            "Figure 6, released notebook",
            published("scitext2eq_agreement"),
            ours["pairing"],
            keys=["model", "rubric", "statistic"],
            row="{model}",
            column="{rubric} {statistic}",
            absent=absent,
            definition="judge and people paired by position, as released (on keys: passages_alignment.csv)",
            tolerance=f"{PRINTED}, the sixth",
        ),
        compare(
            PAPER,
            "Sections 5 and 6",
            text,
            ours["text"],
            keys=["quantity"],
            row="{location}",
            column="{quantity}",
            absent=absent | {name: ("not comparable", why) for name, why in DEFINITIONS.items()},
            definition="the released rows, all models",
            tolerance=PRINTED,
        ),
    ]
    return pd.concat(parts, ignore_index=True)[COLUMNS]


def _tables(ours: dict, absent: dict) -> list[pd.DataFrame]:
    """Tables 1, 3 (its means, then their deviations) and 5."""
    table3 = published("scitext2eq_table3")
    deviations = table3[table3["sd"] != ""].assign(value=lambda t: t["sd"], metric=lambda t: t["metric"] + " sd")
    return [
        compare(
            PAPER,
            "Table 1",
            published("scitext2eq_table1"),
            ours["counts"],
            keys=["venue", "quantity"],
            row="{venue}",
            column="{quantity}",
            absent=absent,
            definition="strings per paper (total average: entries)",
            tolerance=f"{PRINTED}, rounded twice",
        ),
        *(
            compare(
                PAPER,
                "Table 3",
                rows,
                ours["means"],
                keys=["model", "metric"],
                row="{model}",
                column="{metric}",
                absent=absent,
                definition=definition,
                tolerance=tolerance,
            )
            for rows, definition, tolerance in (
                (table3, "mean over the released rows of the stored values", PRINTED),
                (deviations, "population deviation of the printed means", f"{PRINTED}, rounded twice"),
            )
        ),
        compare(
            PAPER,
            "Table 5",
            published("scitext2eq_table5"),
            ours["overlap"],
            keys=["model", "jaccard_band"],
            row="{model}",
            column="{jaccard_band}",
            absent=absent,
            definition="all released rows, operator set of latex.yaml",
            tolerance="two standard errors of the published sample of 100",
        ),
    ]


def _exact(value, slack=0.0):
    return {"value": value, "low": value - slack, "high": value + slack}


def _measured(data: study.Released, printed: dict[str, str]) -> dict[str, dict]:
    """What `compare` takes as measured, for each part of the ledger."""
    means, overlap, aligned = scores.table3(data.outputs), study.jaccard(data.outputs), study.alignment(data)
    return {
        "counts": _counts(data),
        "means": _means(means),
        "overlap": _overlap(overlap),
        "pairing": {
            (row.model, row.rubric, statistic): _exact(getattr(row, statistic))
            for row in aligned[aligned.pairing == "position"].itertuples()
            for statistic in ("spearman", "kendall")
        },
        "text": {(name,): found for name, found in _text(data, printed, means, overlap, aligned).items()},
    }


def _counts(data):
    cells = {}
    for venue, row in study.table1(data.papers).iterrows():
        average = row["entries per paper" if venue == "Total" else "strings per paper"]
        cells[venue, "n_papers"] = _exact(row["papers"])
        cells[venue, "avg_equations_per_paper"] = _exact(average, 0.005)
        for name, text in (("2-5", "2_to_5"), ("6-10", "6_to_10"), ("11+", "11_or_more")):
            cells[venue, f"papers_with_{text}_equations"] = _exact(row[f"strings {name}"])
    return cells


def _means(means):
    cells = {}
    for metric in scores.TABLE3:
        name = {column: stored for stored, column in study.STORED.items()}.get(metric, metric)
        for model in means.index[:-1]:
            cells[model, name] = _exact(means.loc[model, metric])
        cells["Overall", f"{name} sd"] = _exact(means.loc["sd", metric], 0.005)
    return cells


def _overlap(overlap):
    cells = {}
    for model, row in overlap.iterrows():
        label = {"LLaMA3-70B": "LLaMA3.3-70B"}.get(model, model)
        bands = {"exact (J = 1.0)": row.exact, "high (J >= 0.8)": row.high, "low (J < 0.8)": 100 - row.high}
        cells |= {(label, band): _exact(percent, _two_errors(percent)) for band, percent in bands.items()}
    return cells


def _two_errors(percent: float) -> float:
    """Two standard errors of a share, in percent, in a sample as large as the published one."""
    return 2 * np.sqrt(percent * (100 - percent) / SAMPLED)


def _text(data, printed, means, overlap, aligned) -> dict[str, dict]:
    """The numbers in the text of Sections 5 and 6: quantity -> ours, with its verdict."""
    return (
        _text_on_metrics(printed, means, overlap)
        | _text_on_rubrics(data, printed)
        | _text_on_density(study.by_density(data, "entries")["lexicality"])
        | _text_on_agreement(data, printed, aligned)
        | {
            "number of venues compared": _exact(data.papers["venue"].nunique()),
            "number of metrics compared across venues": {
                **_exact(len(scores.LEXICAL) + 1 + len(passages.RUBRICS)),
                "definition": "released scores of an entry: four lexical metrics, TED, five rubrics",
            },
        }
    )


def _text_on_metrics(printed, means, overlap) -> dict[str, dict]:
    bound = "upper bound stated for the best score of the four lexical metrics"
    shortfall = 'Syntax shortfall against Lexicality ("higher error")'
    best = means.iloc[:-2][list(scores.LEXICAL)].max().max()
    gap = means.loc["Overall", "lexicality"] - means.loc["Overall", "syntax"]
    shares = {
        "generated equations with exact operator equivalence": overlap.exact,
        "generated equations with high operator overlap": overlap.high,
    }
    return {
        bound: {
            **_exact(best),
            "verdict": "reproduced" if best < _number(printed[bound]) else "differs",
            "definition": "largest mean of a model in one of the four metrics, percent",
            "tolerance": "below the bound",
        },
        "number of lexical similarity metrics": _exact(len(scores.LEXICAL)),
        shortfall: {
            **_exact(gap, 5),
            "verdict": verdict(f"{_number(printed[shortfall]):g}", gap - 5, gap + 5),
            "definition": "difference of the overall means, percentage points",
            "tolerance": "5 points: the text says approximately",
        },
        **{
            name: _range(printed[name], values, "two standard errors of the published sample of 100", _two_errors)
            for name, values in shares.items()
        },
    }


def _number(text: str) -> float:
    return float(re.search(r"\d+", text)[0])


def _text_on_rubrics(data, printed) -> dict[str, dict]:
    judged = _judged(data)
    ranges = {
        "range of Validity and Appropriateness scores (1-5 scale)": judged[["Validity", "Appropriateness"]],
        "range of Equivalence scores across models (1-5 scale)": judged["Equivalence"],
        "range of description Clarity scores (1-5 scale)": judged["Clarity"],
        "range of Coverage scores (1-5 scale)": judged["Coverage"],
    }
    ends = "the printed digits of both ends, rounded twice"
    return {
        **{name: _range(printed[name], values, ends, lambda _: 0.005) for name, values in ranges.items()},
        "example: LLM-judge Equivalence score": {
            **_exact(_example(data)),
            "definition": "stored score of DeepSeek-R1 for entry 2 of 2024.acl-short.3, the formula in Table 4",
        },
    }


def _text_on_density(groups: pd.Series) -> dict[str, dict]:
    last = groups.index[-1] if groups.iloc[-1] < groups.iloc[-2] else "none"
    return {
        "group with a slight increase of automatic metrics": _group(groups, groups.idxmax(), "6-10", "highest"),
        "group with a decrease of automatic metrics": _group(groups, last, "11+", "lower than the one before"),
    }


def _text_on_agreement(data, printed, aligned) -> dict[str, dict]:
    number = "number of metrics on which humans score above the LLM judge"
    kappa = "Cohen's kappa of LLM judges with humans, all models"
    higher = [rubric for rubric, (_, low, _) in _people_above(data).items() if low > 0]
    return {
        number: {
            **_exact(len(higher)),
            "verdict": verdict(printed[number].split()[0], len(higher), len(higher)),
            "definition": "rubrics with a difference above 0, 95 % interval over papers, 500 rated entries",
            "reason": f"higher on {', '.join(higher)}",
        },
        kappa: _kappa(printed[kappa], aligned),
    }


def _range(printed: str, values, tolerance: str, slack) -> dict:
    """A printed range beside the smallest and largest of ours: reproduced if both ends are."""
    low, high = np.min(np.asarray(values)), np.max(np.asarray(values))
    ends = zip(re.findall(r"\d+(?:\.\d+)?", printed)[:2], (low, high), strict=True)
    same = [verdict(text, end - slack(end), end + slack(end)) == "reproduced" for text, end in ends]
    return {
        "value": _span([low, high], 2),
        "low": low,
        "high": high,
        "verdict": "reproduced" if all(same) else "differs",
        "definition": "smallest and largest mean of the five models",
        "tolerance": tolerance,
    }


def _group(groups: pd.Series, found: str, expected: str, which: str) -> dict:
    listed = ", ".join(f"{name}: {value:.3f}" for name, value in groups.items())
    return {
        "value": found,
        "low": np.nan,
        "high": np.nan,
        "verdict": "reproduced" if found == expected else "differs",
        "definition": f"group of papers whose mean Lexicality is {which} ({listed})",
        "tolerance": "the order of the means; their intervals overlap",
    }


def _kappa(printed: str, aligned) -> dict:
    """Cohen's kappa, mostly around a value: the middle half of the 25 cells should hold it."""
    cells = {pairing: part["kappa"] for pairing, part in aligned.groupby("pairing")}
    low, middle, high = cells["position"].quantile([0.25, 0.5, 0.75])
    joined = cells["keys"].median()
    return {
        "value": middle,
        "low": low,
        "high": high,
        "verdict": verdict(re.search(r"[\d.]+", printed)[0], low, high),
        "definition": "median of the 25 cells, rows paired by position as released",
        "tolerance": "the middle half of the cells",
        "reason": f"joined on keys the median is {joined:.2f}",
    }


def _example(data) -> float:
    entry = {"model": "DeepSeek-R1", "paper_id": "2024.acl-short.3", "equation_id": 2}
    return data.judged.set_index(list(entry)).loc[tuple(entry.values()), "Equivalence"]


# ---- the claims


def claims(data: study.Released | None, reason: str) -> dict[str, tuple[str, str]]:
    """Verdicts on the fourteen claims: each holds if all of its conditions do, fails if none does, else it is mixed.

    The thresholds are ours and stand in the finding: "far below" is 10 points, "little" a tenth of the mean, "high" 4
    and "moderate" 2.5 to 3.5 of 5, "near zero" a rank correlation under 0.2 in size, a difference a p value under 0.05
    by Holm or a 95 % interval over papers on one side of zero.
    """
    if data is None:
        return dict.fromkeys((f"ST-{i:02d}" for i in range(1, 15)), ("untestable here", reason))
    means = scores.table3(data.outputs)
    found = _on_metrics(data, means) | _on_rubrics(data) | _on_density(data) | _on_agreement(data)
    found |= _on_venues(data) | _on_counts(data)
    return {id: (claim_verdict(conditions), finding) for id, (conditions, finding) in sorted(found.items())}


def _on_metrics(data, means) -> dict:
    models = means.iloc[:-2]
    best = models[list(scores.LEXICAL)].max().max()
    gap = means.loc["Overall", "lexicality"] - means.loc["Overall", "syntax"]
    part = data.outputs[data.outputs["ted"] < 1]
    parsed = 100 * (part["lexicality"] - part["syntax"]).mean()
    relative = 100 * (means.loc["sd"] / means.loc["Overall"]).max()
    ahead = {name: _ahead(data, name, "GPT-4.1") for name in ("lexicality", "syntax")}
    overlap = study.jaccard(data.outputs)
    return {
        "ST-01": ([best < 60], f"the best of 20 means is {best:.1f} %"),
        "ST-02": (
            [gap > 10, parsed > 10],
            f"Lexicality less Syntax is {gap:.1f} points (far: over 10), but {parsed:.1f} over pairs with a "
            f"distance under 1, {len(part) / len(data.outputs):.0%} of all (the rest are nearly all parse failures)",
        ),
        "ST-03": (
            [relative < 10],
            f"standard deviation over models {_span(means.loc['sd'], 1)} points, at most {relative:.1f} % of the mean "
            "(little: under 10 %)",
        ),
        "ST-04": (
            [low > 0 for low, _ in ahead.values()],
            "difference to the nearest other model, lower end of its 95 % interval: "
            + ", ".join(f"{name} {low:+.1f} points ({other})" for name, (low, other) in ahead.items()),
        ),
        "ST-12": (
            [overlap.exact.max() < 50],
            f"the same operators in {_span(overlap.exact, 0)} % (minority: under 50), overlap of 0.8 and more in "
            f"{_span(overlap.high, 0)} %, over all rows",
        ),
    }


def _ahead(data, score: str, model: str) -> tuple[float, str]:
    """Smallest lower bound (95 %, in points) of a model's lead over each other, and over which one."""
    leads = study.leads(data.outputs, score, model)
    return 100 * leads["low"].min(), leads["low"].idxmin()


def _judged(data) -> pd.DataFrame:
    return data.judged.groupby("model")[list(passages.RUBRICS)].mean()


def _on_rubrics(data) -> dict:
    judged = _judged(data)
    shown, rare = judged[["Validity", "Appropriateness"]], judged["Equivalence"]
    return {
        "ST-05": (
            [shown.min().min() > 4, rare.max() < 3],
            f"Validity and Appropriateness {_span(shown, 2)} (above 4), Equivalence {_span(rare, 2)} (below 3)",
        ),
        "ST-06": (
            [judged["Coverage"].min() > 4, judged["Clarity"].between(2.5, 3.5).all()],
            f"Coverage {_span(judged['Coverage'], 2)} (above 4), Clarity {_span(judged['Clarity'], 2)} (2.5 to 3.5)",
        ),
    }


def _on_density(data) -> dict:
    groups, tests = study.by_density(data, "entries"), study.density_tests(data)
    listed = {name: ", ".join(f"{value:.2f}" for value in groups[name]) for name in groups}
    leads = {name: study.peak(data, name) for name in ("lexicality", "syntax")}
    rubrics = tests.loc[list(passages.RUBRICS)]
    falling = (rubrics["rho, entries"] < 0) & (agreement.holm(rubrics["p, entries"]) < 0.05)
    falling &= (groups[list(passages.RUBRICS)].diff().iloc[1:] < 0).all()
    still = ", ".join(f"{name} (rho {rubrics.loc[name, 'rho, entries']:.2f})" for name in falling.index[~falling])
    return {
        "ST-07": (
            [(lead["low"] > 0).all() for lead in leads.values()],
            f"Lexicality {listed['lexicality']}, Syntax {listed['syntax']} for 2-5, 6-10 and 11 or more entries; lead "
            "of 6-10 over the groups before and after: "
            + "; ".join(f"{name} {_leads(lead)}" for name, lead in leads.items()),
        ),
        "ST-08": (
            falling,
            f"{falling.sum()} of 5 rubrics fall from group to group with a rank correlation below 0 (p < 0.05 by Holm)"
            + (f"; not {still}" if still else ""),
        ),
    }


def _leads(leads: pd.DataFrame) -> str:
    return ", ".join(f"{row.mean:+.3f} [{row.low:.3f}, {row.high:.3f}]" for row in leads.itertuples())


def _people_above(data) -> dict[str, tuple[float, float, float]]:
    """How far people score above the judge on the entries that both have scored, with its interval over papers."""
    rated = study.rated(data)
    return {
        rubric: agreement.bootstrap(
            rated[f"{rubric} people"] - rated[f"{rubric} judge"], clusters=rated["paper_id"], n=1000
        )
        for rubric in passages.RUBRICS
    }


def _on_agreement(data) -> dict:
    above = _people_above(data)
    aligned = study.alignment(data).query("pairing == 'keys'")
    rho = aligned[aligned["rubric"] == "Equivalence"].set_index("model")["spearman"]
    leads = study.spearman_leads(data, "DeepSeek-R1")
    near = aligned[(aligned["model"] != "DeepSeek-R1")]["spearman"].abs() < 0.2
    listed = ", ".join(f"{rubric} {value:+.2f} [{low:.2f}, {high:.2f}]" for rubric, (value, low, high) in above.items())
    return {
        "ST-09": ([low > 0 for _, low, _ in above.values()], f"people less judge: {listed}"),
        "ST-10": (
            [leads["low"].min() > 0, near.mean() > 0.5],
            f"on keys Spearman of Equivalence is {_span(rho, 2)}, highest for {rho.idxmax()}; DeepSeek-R1 is ahead of "
            f"{(leads['low'] > 0).sum()} of {len(leads)} models (95 % interval over papers), and {near.sum()} of the "
            f"{len(near)} cells of the other models are near zero (under 0.2 in size)",
        ),
    }


def _on_venues(data) -> dict:
    same = study.density_tests(data)["venue p, Holm"] >= 0.05
    p = study.density_tests(data)["venue p, Holm"]
    apart = ", ".join(f"{name} (p {p[name]:.2g})" for name in p.index[~same])
    table = study.by_venue(data)
    rubrics, both = list(passages.RUBRICS), ["syntax", "Equivalence"]
    family = (table["syntax"] < table[list(scores.LEXICAL)].min(axis=1)) & (
        table[rubrics].idxmin(axis=1) == "Equivalence"
    )
    lowest = [set(row.nsmallest(2).index) == set(both) for _, row in table.iterrows()]
    return {
        "ST-11": (
            same,
            f"no difference by Kruskal-Wallis and Holm in {same.sum()} of {len(same)} scores"
            + (f", but in {apart}" if apart else ""),
        ),
        "ST-14": (
            [family.all(), all(lowest)],
            f"lowest among the automatic metrics and among the rubrics in {family.sum()} of {len(family)} venues; "
            f"with all ten on a scale of 0 to 1 the two lowest in {sum(lowest)}",
        ),
    }


def _on_counts(data) -> dict:
    papers, entries, strings = len(data.papers), len(data.entries), int(data.papers["strings"].sum())
    return {
        "ST-13": (
            [papers == 170, entries == 1043, strings == 1043],
            f"{papers} papers and {entries} entries, which hold {strings} equations",
        )
    }


def _span(values, digits: int) -> str:
    return f"{np.min(np.asarray(values)):.{digits}f} to {np.max(np.asarray(values)):.{digits}f}"
