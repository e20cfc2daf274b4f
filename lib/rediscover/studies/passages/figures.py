"""Figures of the text-to-equation study."""

import numpy as np
import pandas as pd

from ...problems import passages
from ...report import plots as figures
from ...report import statistics as agreement
from .analysis import GROUPS, Released, grouped, rated


def alignment_figure(aligned: pd.DataFrame):
    """Figure 6: Spearman of judge and people per model and rubric, both pairings.

    Parameters
    ----------
    aligned : as `passages.with_intervals` returns it
    """
    import matplotlib.pyplot as plt

    with figures.style():
        figure, axes = plt.subplots(1, len(passages.RUBRICS), figsize=(9, 2.4), sharey=True)
        for axis, rubric in zip(axes, passages.RUBRICS, strict=True):
            found = aligned[aligned.rubric == rubric].set_index("model")
            order = list(passages.MODELS)[::-1]
            keys, position = (found[found.pairing == name].loc[order] for name in ("keys", "position"))
            axis.hlines(keys.index, keys["low"], keys["high"], color="C0", lw=2, label="95 % interval over papers")
            axis.plot(keys["spearman"], keys.index, "o", color="C0", label="joined on keys")
            axis.plot(position["spearman"], order, "D", mfc="none", color="C1", label="by position, as published")
            axis.axvline(0, color="0.4", lw=0.8)
            axis.set(title=rubric, xlim=(-0.35, 0.85), xlabel="Spearman")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncol=3)
    return figure


def by_paper(frame: pd.DataFrame, by: str, columns) -> pd.DataFrame:
    """Mean of each column in each group with its 95 % interval, papers drawn as clusters; tidy."""
    rows = []
    for name, group in frame.groupby(by, sort=False):
        for column in columns:
            value, low, high = agreement.bootstrap(group[column], clusters=group["paper_id"], n=1000)
            rows.append({by: name, "score": column, "value": value, "low": low, "high": high})
    return pd.DataFrame(rows)


def strips(tidy: pd.DataFrame, rows: list[str], titles: dict[str, str], xlabel: str, ylabel: str = ""):
    """Means with intervals: a narrow panel per score, a line per row.

    Parameters
    ----------
    tidy : as `by_paper` returns it; its first column holds `rows`
    rows : from top to bottom
    titles : score -> title, in the order of the panels
    xlabel : what is averaged, and its scale
    ylabel : what the rows are, where their names do not say it
    """
    import matplotlib.pyplot as plt

    with figures.style():
        size = (1.25 * len(titles) + 1, 0.24 * len(rows) + 0.95)
        figure, axes = plt.subplots(1, len(titles), figsize=size, sharey=True)
        for axis, (score, title) in zip(axes, titles.items(), strict=True):
            part = tidy[tidy["score"] == score].set_index(tidy.columns[0]).loc[rows[::-1]]
            axis.hlines(part.index, part["low"], part["high"], color="C0", lw=2)
            axis.plot(part["value"], part.index, "o", color="C0", ms=5)
            axis.margins(x=0.15, y=0.12)
            axis.locator_params(axis="x", nbins=3)
            axis.set_title(title, fontsize=8)
        axes[0].set_ylabel(ylabel)
        figure.supxlabel(f"{xlabel}, mean and 95 % interval over papers", fontsize=9)
    return figure


def rubrics_figure(data: Released):
    """Figure 3: the judge's mean per model and rubric."""
    tidy = by_paper(data.judged, "model", passages.RUBRICS)
    return strips(tidy, list(passages.MODELS), {name: name for name in passages.RUBRICS}, "score, 1 to 5")


def groups_figure(data: Released, by: str):
    """Figure 4 (`by` is density, in entries) or 7 (`by` is venue): automatic scores and the judge's, models pooled."""
    papers = data.papers.assign(density=grouped(data.papers["entries"]))[["paper_id", by]]
    automatic = by_paper(data.outputs.merge(papers, on="paper_id"), by, ("lexicality", "syntax"))
    judged = by_paper(data.judged.merge(papers, on="paper_id"), by, passages.RUBRICS)
    rows = list(GROUPS) if by == "density" else list(passages.VENUES)
    titles = {"lexicality": "Lexicality", "syntax": "Syntax", **{name: name for name in passages.RUBRICS}}
    xlabel = "score (Lexicality and Syntax 0 to 1, rubrics 1 to 5)"
    ylabel = "entries\nper paper" if by == "density" else ""
    return strips(pd.concat([automatic, judged]), rows, titles, xlabel, ylabel)


def distributions(data: Released) -> pd.DataFrame:
    """Share of each score 1 to 5 per rubric, by people and by the judge, over the entries that both have scored."""
    columns = [f"{rubric} {rater}" for rubric in passages.RUBRICS for rater in ("people", "judge")]
    counts = rated(data)[columns].apply(lambda column: column.value_counts(normalize=True))
    return counts.reindex(range(1, 6)).fillna(0.0).T


def distributions_figure(data: Released):
    """Figure 5: how people and the judge spread their scores, as stacked shares."""
    import matplotlib.pyplot as plt

    shares = distributions(data)[::-1]
    with figures.style():
        figure, axis = plt.subplots(figsize=(6, 2.9))
        left = np.zeros(len(shares))
        for score, colour in zip(shares, plt.get_cmap("viridis")(np.linspace(0.05, 0.95, 5)), strict=True):
            axis.barh(shares.index, shares[score], left=left, color=colour, label=f"{score}")
            left += shares[score].to_numpy()
        axis.set(xlim=(0, 1), xlabel="share of the entries that both have scored")
        axis.grid(False)
        figure.legend(*axis.get_legend_handles_labels(), loc="outside right center", title="score")
    return figure


def figures_of(data: Released) -> dict:
    """Name -> (figure, description) of the paper's Figures 3, 4, 5 and 7."""
    groups = "with 95 % intervals over papers: Lexicality, Syntax and the five rubrics"
    return {
        "passages_rubrics": (
            rubrics_figure(data),
            "Mean score of the language-model judge for five models in five panels, one per rubric, with 95 % "
            "intervals over papers. Validity and Appropriateness are near 4.8, Equivalence is below 3.",
        ),
        "passages_density": (
            groups_figure(data, "density"),
            f"Mean scores of papers with 2 to 5, 6 to 10, and 11 or more entries {groups}. Intervals of the "
            "automatic scores overlap; Coverage falls.",
        ),
        "passages_distributions": (
            distributions_figure(data),
            "Stacked bars: share of the scores 1 to 5 given by people and by the judge for each rubric. "
            "People give more fives for all rubrics but Appropriateness.",
        ),
        "passages_venues": (
            groups_figure(data, "venue"),
            f"Mean scores of the papers of ACL, NAACL, NeurIPS, ICLR and ICML {groups}. "
            "Intervals of Lexicality overlap; Coverage and Equivalence differ.",
        ),
    }
