"""Tables, figures and verdicts of the text-to-equation study."""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import judge, released
from ..metrics import agreement, latex
from ..problems import passages
from ..scores import passages as scores
from . import figures
from .ledger import COLUMNS, compare, published

GROUPS = {"2-5": (2, 5), "6-10": (6, 10), "11+": (11, 99)}
STORED = {"levenshtein": "levenshtein_similarity"}
COEFFICIENTS = ("spearman", "kendall", "kappa", "kappa_quadratic", "alpha")
PAPER = "SciText2Eq"


@dataclass(frozen=True)
class Released:
    """What SciText2Eq released: outputs with stored metrics, judge and human scores, and a row per paper."""

    outputs: pd.DataFrame
    judged: pd.DataFrame
    human: pd.DataFrame
    papers: pd.DataFrame
    entries: pd.DataFrame


def released_data() -> tuple[Released | None, str]:
    """The released files, or None and the reason; nothing is downloaded without being asked for."""
    if released.unavailable(passages.REPOSITORY):
        how = f"set {released.MIRROR} or call rediscover.released.fetch_all({passages.REPOSITORY!r})"
        return (
            None,
            f"the released files are not on this machine (they have no licence, so none are bundled): {how}",
        )
    outputs = passages.released_outputs().rename(columns=STORED)
    outputs["lexicality"] = outputs[list(scores.LEXICAL)].mean(axis=1)
    outputs["syntax"] = 1 - outputs["ted"]
    found = passages.released_papers()
    papers = pd.DataFrame(
        {
            "paper_id": [paper.id for paper in found],
            "venue": [passages.venue(paper.id) for paper in found],
            "entries": [len(paper.equations) for paper in found],
            "strings": [sum(len(entry.equations) for entry in paper.equations) for paper in found],
        }
    )
    entries = pd.DataFrame(
        [
            {
                "paper_id": paper.id,
                "equation_id": int(entry.number),
                "position": i,
                "length": len(entry.context),
            }
            for paper in found
            for i, entry in enumerate(paper.equations)
        ]
    )
    judged, human = passages.released_scores("judge"), passages.released_scores("human")
    return Released(outputs, judged, human, papers, entries), "released files: from the mirror or the cache"


def grouped(counts) -> pd.Series:
    """Density group of each count of equations."""
    edges = [low - 1 for low, _ in GROUPS.values()] + [99]
    return pd.cut(counts, edges, labels=list(GROUPS)).astype(str)


def rule_judged(records, chosen) -> pd.DataFrame:
    """Scores of the rule judge on every answer, mean per method."""
    known = {problem.id: problem for problem in chosen}
    rows = []
    for record in records[records["status"] == "ok"].itertuples():
        first = json.loads(record.candidates)[0]
        description = (first.get("notes") or {}).get("description", "")
        answer = first["solution"]["latex"]
        rows.append(
            {"method": record.method, **judge.rule_scores(known[record.problem], answer, description)}
        )
    return pd.DataFrame(rows).groupby("method", sort=False).mean()


def table1(papers: pd.DataFrame) -> pd.DataFrame:
    """Papers and equations per venue, counted as strings and as entries."""
    frames = {}
    for venue, group in [*papers.groupby("venue"), ("Total", papers)]:
        row = {"papers": len(group)}
        for unit in ("strings", "entries"):
            row[f"{unit} per paper"] = group[unit].mean()
            counts = grouped(group[unit]).value_counts()
            row |= {f"{unit} {name}": int(counts.get(name, 0)) for name in GROUPS}
        frames[venue] = row
    return pd.DataFrame(frames).T.loc[[*passages.VENUES, "Total"]]


def by_density(data: Released, unit: str) -> pd.DataFrame:
    """Lexicality, Syntax and rubric means by density group, all models pooled, counting `unit` per paper."""
    group = data.papers.set_index("paper_id")[unit].pipe(grouped)
    automatic = data.outputs.assign(group=data.outputs.paper_id.map(group))
    judged = data.judged.assign(group=data.judged.paper_id.map(group))
    left = automatic.groupby("group")[["lexicality", "syntax"]].mean()
    return left.join(judged.groupby("group")[list(passages.RUBRICS)].mean()).loc[list(GROUPS)]


def paper_means(data: Released) -> pd.DataFrame:
    """One row per paper: mean of each score over entries and models, with venue and counts."""
    automatic = data.outputs.groupby("paper_id")[["lexicality", "syntax"]].mean()
    judged = data.judged.groupby("paper_id")[list(passages.RUBRICS)].mean()
    return data.papers.set_index("paper_id").join(automatic).join(judged)


def density_tests(data: Released) -> pd.DataFrame:
    """Rank correlation with the number of entries and of strings, and the venue test, per score over 170 papers."""
    table = paper_means(data)
    rows = {}
    for score in ("lexicality", "syntax", *passages.RUBRICS):
        venue = agreement.kruskal_wallis(table[score], table["venue"])
        rows[score] = {
            "rho, entries": agreement.spearman(table["entries"], table[score]),
            "rho, strings": agreement.spearman(table["strings"], table[score]),
            "venue H": venue.statistic,
            "venue p": venue.p,
        }
    frame = pd.DataFrame(rows).T
    return frame.assign(**{"venue p, Holm": agreement.holm(frame["venue p"])})


def density_model(data: Released, outcome: str = "Equivalence") -> pd.DataFrame:
    """Effect of density on a judge score with position and context length held fixed, papers as clusters."""
    frame = data.judged.merge(data.entries, on=passages.KEYS).merge(data.papers, on="paper_id")
    frame["log length"] = np.log1p(frame["length"])
    return agreement.mixed_model(frame, outcome, ["entries", "position", "log length"], "paper_id")


def alignment(data: Released) -> pd.DataFrame:
    """Agreement of judge and people per model and rubric: rows paired by position as published, and joined on keys."""
    rows = []
    for model in passages.MODELS:
        human = data.human[data.human.model == model].drop(columns="model")
        drawn = passages.judged_in_notebook_order(model, data.judged).drop(columns="model")
        for pairing, pair in (("position", agreement.pair_by_position), ("keys", agreement.pair_by_key)):
            pairs = pair(drawn, human, passages.KEYS)
            for rubric in passages.RUBRICS:
                found = agreement.agreement(pairs[f"{rubric}_a"], pairs[f"{rubric}_b"])
                rows.append({"model": model, "rubric": rubric, "pairing": pairing, **found})
    return pd.DataFrame(rows)


def side_by_side(aligned: pd.DataFrame, coefficient: str = "spearman") -> pd.DataFrame:
    """A coefficient per model for each rubric, position beside keys."""
    return (
        aligned.pivot(index="model", columns=["rubric", "pairing"], values=coefficient)
        .loc[list(passages.MODELS), list(passages.RUBRICS)]
        .pipe(lambda t: t.set_axis([f"{rubric} ({pairing})" for rubric, pairing in t.columns], axis=1))
    )


def model_tests(outputs: pd.DataFrame) -> pd.DataFrame:
    """Lexicality of every pair of models on their common entries: Wilcoxon, Holm, and a cluster bootstrap by paper."""
    wide = outputs.pivot(index=passages.KEYS, columns="model", values="lexicality")
    rows = []
    for i, a in enumerate(passages.MODELS):
        for b in list(passages.MODELS)[i + 1 :]:
            both = wide[[a, b]].dropna()
            test = agreement.paired_wilcoxon(both[a], both[b])
            papers = both.index.get_level_values("paper_id")
            mean, low, high = agreement.bootstrap(both[a] - both[b], clusters=papers, n=1000)
            row = {"a": a, "b": b, "n": test.n_pairs, "mean difference": mean, "low": low, "high": high}
            rows.append({**row, "effect": test.effect, "p": test.p})
    frame = pd.DataFrame(rows)
    return frame.assign(**{"p, Holm": agreement.holm(frame["p"])}).set_index(["a", "b"])


def jaccard(outputs: pd.DataFrame) -> pd.DataFrame:
    """Share of formulas with the same operators, and with an overlap of 0.8 and more, per model, in percent."""
    pairs = zip(outputs.prediction, outputs.truth, strict=True)
    found = pd.Series([latex.operator_jaccard(a, b) for a, b in pairs], index=outputs.index)
    by_model = found.groupby(outputs.model, sort=False)
    return 100 * pd.DataFrame(
        {
            "exact": by_model.apply(lambda j: (j == 1).mean()),
            "high": by_model.apply(lambda j: (j >= 0.8).mean()),
        }
    )


def alignment_figure(aligned: pd.DataFrame):
    """Spearman of judge and people per model and rubric, both pairings."""
    import matplotlib.pyplot as plt

    with figures.style():
        figure, axes = plt.subplots(1, len(passages.RUBRICS), figsize=(9, 2.4), sharey=True)
        for axis, rubric in zip(axes, passages.RUBRICS, strict=True):
            part = aligned[aligned.rubric == rubric].pivot(
                index="model", columns="pairing", values="spearman"
            )
            part = part.loc[list(passages.MODELS)]
            axis.hlines(part.index, part["position"], part["keys"], color="0.7")
            axis.plot(
                part["position"], part.index, "D", mfc="white", color="C1", label="by position, as published"
            )
            axis.plot(part["keys"], part.index, "o", color="C0", label="joined on keys")
            axis.axvline(0, color="0.4", lw=0.8)
            axis.set(title=rubric, xlim=(-0.3, 0.8), xlabel="Spearman")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncol=2)
    plt.close(figure)
    return figure


def ledger(data: Released | None, reason: str) -> pd.DataFrame:
    """Every cell of Tables 1, 3 and 5 beside ours."""
    absent = {"*": ("not run", reason)}
    measured1, measured3, measured5 = ({}, {}, {}) if data is None else _measured(data)
    printed = "the printed digit"
    table3 = published("scitext2eq_table3")
    common = {"row": "{model}", "absent": absent}
    parts = [
        compare(
            PAPER,
            "Table 1",
            published("scitext2eq_table1"),
            measured1,
            keys=["venue", "quantity"],
            row="{venue}",
            column="{quantity}",
            absent=absent,
            definition="strings per paper (total average: entries)",
            tolerance=f"{printed}, rounded twice",
        ),
        compare(
            PAPER,
            "Table 3",
            table3,
            measured3,
            keys=["model", "metric"],
            column="{metric}",
            definition="mean over the released rows of the stored values",
            tolerance=printed,
            **common,
        ),
        compare(
            PAPER,
            "Table 3",
            table3[table3["sd"] != ""].assign(value=lambda t: t["sd"], metric=lambda t: t["metric"] + " sd"),
            measured3,
            keys=["model", "metric"],
            column="{metric}",
            definition="population deviation of the printed means",
            tolerance=f"{printed}, rounded twice",
            **common,
        ),
        compare(
            PAPER,
            "Table 5",
            published("scitext2eq_table5"),
            measured5,
            keys=["model", "jaccard_band"],
            column="{jaccard_band}",
            definition="all released rows, operator set of latex.yaml",
            tolerance="two standard errors of the published sample of 100",
            **common,
        ),
    ]
    return pd.concat(parts, ignore_index=True)[COLUMNS]


def _measured(data: Released):
    def exact(value, slack=0.0):
        return {"value": value, "low": value - slack, "high": value + slack}

    counted = table1(data.papers)
    one = {}
    for venue, row in counted.iterrows():
        average = row["entries per paper" if venue == "Total" else "strings per paper"]
        one[venue, "n_papers"] = exact(row["papers"])
        one[venue, "avg_equations_per_paper"] = exact(average, 0.005)
        for name, text in (("2-5", "2_to_5"), ("6-10", "6_to_10"), ("11+", "11_or_more")):
            one[venue, f"papers_with_{text}_equations"] = exact(row[f"strings {name}"])
    means = scores.table3(data.outputs)
    three = {}
    for metric in scores.TABLE3:
        name = {column: stored for stored, column in STORED.items()}.get(metric, metric)
        for model in means.index[:-1]:
            three[model, name] = exact(means.loc[model, metric])
        three["Overall", f"{name} sd"] = exact(means.loc["sd", metric], 0.005)
    five = {}
    for model, row in jaccard(data.outputs).iterrows():
        label = {"LLaMA3-70B": "LLaMA3.3-70B"}.get(model, model)
        for band, percent in (
            ("exact (J = 1.0)", row.exact),
            ("high (J >= 0.8)", row.high),
            ("low (J < 0.8)", 100 - row.high),
        ):
            five[label, band] = exact(percent, 2 * np.sqrt(percent * (100 - percent) / 100))
    return one, three, five


def claims(data: Released | None, reason: str) -> dict[str, tuple[str, str]]:
    """Verdicts on the fourteen claims."""
    ids = [f"ST-{i:02d}" for i in range(1, 15)]
    if data is None:
        return dict.fromkeys(ids, ("untestable here", reason))
    means = scores.table3(data.outputs)
    models = means.iloc[:-2]
    judged = data.judged.groupby("model")[list(passages.RUBRICS)].mean()
    groups, tests, aligned = by_density(data, "entries"), density_tests(data), alignment(data)
    equivalence = aligned[(aligned.rubric == "Equivalence") & (aligned.pairing == "keys")]["spearman"]
    kappa = aligned[aligned.pairing == "keys"]["kappa"]
    rated = data.judged.merge(data.human, on=["model", *passages.KEYS], suffixes=("_judge", "_human"))
    higher = [r for r in passages.RUBRICS if rated[f"{r}_human"].mean() > rated[f"{r}_judge"].mean()]
    overlap = jaccard(data.outputs)
    overlap = jaccard(data.outputs)
    shown = ["Validity", "Appropriateness"]
    gap = means.loc["Overall", "lexicality"] - means.loc["Overall", "syntax"]
    ones = 100 * (data.outputs["ted"] == 1).mean()
    listed = {name: ", ".join(f"{value:.2f}" for value in groups[name]) for name in groups}
    rho, venue = tests["rho, entries"], tests["venue p"]
    found = {
        "ST-01": ("holds", f"best {models[list(scores.LEXICAL)].max().max():.1f} %"),
        "ST-02": (
            "mixed",
            f"{gap:.1f} points, but {ones:.0f} % of the distances are 1, nearly all parse failures",
        ),
        "ST-03": ("holds", f"standard deviation over models {_span(means.loc['sd'], 1)}"),
        "ST-04": (
            "holds",
            f"best: {models['lexicality'].idxmax()} and {models['syntax'].idxmax()}, the first by little",
        ),
        "ST-05": (
            "holds",
            f"{_span(judged[shown], 2)} against Equivalence {_span(judged['Equivalence'], 2)}",
        ),
        "ST-06": ("holds", f"Coverage {_span(judged['Coverage'], 2)}, Clarity {_span(judged['Clarity'], 2)}"),
        "ST-07": ("mixed", f"Lexicality {listed['lexicality']}, but Syntax {listed['syntax']}"),
        "ST-08": (
            "mixed",
            f"Equivalence {listed['Equivalence']}; rho {rho['Equivalence']:.2f}, Coverage {rho['Coverage']:.2f}",
        ),
        "ST-09": ("holds" if len(higher) == 5 else "mixed", f"people score higher on {', '.join(higher)}"),
        "ST-10": (
            "fails",
            f"on keys Spearman of Equivalence is {_span(equivalence, 2)} in all models, kappa {kappa.median():.2f}",
        ),
        "ST-11": (
            "fails",
            f"p: Lexicality {venue['lexicality']:.2f}, Equivalence {venue['Equivalence']:.3f}",
        ),
        "ST-12": (
            "holds",
            f"exact {_span(overlap.exact, 0)} %, high {_span(overlap.high, 0)} % over all rows",
        ),
        "ST-13": (
            "mixed",
            f"{len(data.papers)} papers, {len(data.entries)} entries, {data.papers.strings.sum()} equations",
        ),
        "ST-14": ("holds", "Syntax below Lexicality, Equivalence below the other rubrics in every venue"),
    }
    means = paper_means(data).groupby("venue")[["lexicality", "syntax", *passages.RUBRICS]].mean()
    lowest = (means[list(passages.RUBRICS)].idxmin(axis=1) == "Equivalence") & (
        means.syntax < means.lexicality
    )
    if not lowest.all():
        found["ST-14"] = ("fails", f"not in {', '.join(lowest.index[~lowest])}")
    return found


def _span(values, digits: int) -> str:
    return f"{np.min(np.asarray(values)):.{digits}f} to {np.max(np.asarray(values)):.{digits}f}"
