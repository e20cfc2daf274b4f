"""Verdict and finding for each of SymbolBench's claims about differential equations, from its statistic.

`means` is Table 2, as printed or as run here (`analysis.by_label`): index model, modality and setting as printed (no
setting: not a language model), columns metric, split and states, in percent. `printed` asks the same of the paper.
"""

import pandas as pd

from ...report.ledger import Judged, above, more
from ...report.papers import published
from .analysis import correlations, printed_means

WEAK = 0.5  # a correlation below it explains less than a quarter of the variance
GREATLY = 2  # times as high


def _language(means: pd.DataFrame) -> pd.Series:
    return means.index.get_level_values("setting") != ""


def _both(means: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of language models, and of the paper's baselines."""
    language = _language(means)
    baselines = means.index.isin(["PySR", "ProGED", "ODEformer"], level="model")
    return means[language], means[~language & baselines]


def _needs(means: pd.DataFrame) -> str:
    language, baselines = _both(means)
    names = ", ".join(baselines.index.get_level_values("model")) or "none"
    return f"needs rows of language models ({len(language)} here) and of the paper's baselines (here {names})"


def _ahead(means: pd.DataFrame) -> list:
    """Whether the best language model leads the best baseline, SR2 in distribution, for each number of states."""
    language, baselines = (part["sr2", "id"].max() for part in _both(means))
    return [more(language[n], baselines[n]) for n in language.index if pd.notna(language[n]) and pd.notna(baselines[n])]


def sy_01(means: pd.DataFrame, top: pd.DataFrame) -> Judged:
    """Language models lead the baselines of the paper: cells are numbers of states.

    Index of `top`: states. Columns: method (the best here, baseline of the paper or not), value, low, high, printed.
    """
    wins = (top["printed"] > top["high"]).sum()
    rows = [
        f"{t.Index}: {t.printed:.1f} against {t.value:.1f} [{t.low:.1f}, {t.high:.1f}] ({t.method})"
        for t in top.itertuples()
    ]
    finding = (
        f"{_needs(means)}; the best printed language model against the best method of any kind here, SR2 ID by "
        f"dimension: {'; '.join(rows)}; ahead of its interval in {wins} of {len(top)}"
    )
    return Judged(_ahead(means), finding)


def sy_05(change: pd.DataFrame) -> Judged:
    """SR2 falls from the fewest states to the most: cells are rows of `change`, of method and split.

    Columns: first and last number of states, low and high of the change.
    """
    if change.empty or change["first"].iloc[0] == change["last"].iloc[0]:
        return Judged([], "needs systems of several numbers of states")
    cells, ends = [above(-row.high, -row.low) for row in change.itertuples()], change.iloc[0]
    finding = (
        f"from {ends['first']:.0f} to {ends['last']:.0f} states SR2 falls by more than chance (95 % bootstrap over "
        f"systems) in {cells.count(True)} of {len(cells)} rows of method and split, and rises so in "
        f"{cells.count(False)}"
    )
    return Judged(cells, finding)


def sy_06(sr2: pd.DataFrame) -> Judged:
    """SR2 out of distribution (column ood) is below that in distribution (column id): cells are rows."""
    cells = [more(row.id, row.ood) for row in sr2.dropna().itertuples()]
    found = f"SR2 is lower out of distribution in {cells.count(True)} of {len(cells)} cells of method and dimension"
    return Judged(cells, found)


def sy_07(means: pd.DataFrame) -> Judged:
    """PySR leads with one state, and baselines fall faster than language models: cells are splits of both."""
    cells, (language, baselines) = [], _both(means)
    for split in ("id", "ood") if len(language) and "PySR" in baselines.index.get_level_values("model") else ():
        falls = [part["sr2", split].iloc[:, 0] - part["sr2", split].iloc[:, -1] for part in (baselines, language)]
        one = baselines["sr2", split].iloc[:, 0].xs("PySR", level="model").iloc[0]
        cells += [one >= language["sr2", split].iloc[:, 0].median(), more(falls[0].mean(), falls[1].mean())]
    return Judged(cells, _needs(means))


def _rises(means: pd.DataFrame, before: str, after: str) -> pd.Series:
    """Whether SR2 rises between two settings of a model. Index: model, modality, split, states."""
    sr2 = means["sr2"].stack(["split", "states"]).unstack("setting").reindex(columns=[before, after]).dropna()
    return sr2[after] > sr2[before]


def _pairs(rises: pd.Series, before: str, after: str) -> str:
    parts = rises.groupby("split").agg(["sum", "size"]).iterrows()
    return ", ".join(
        f"SR2 {s} rises from {before} to {after} in {row['sum']} of {row['size']} pairs" for s, row in parts
    )


def sy_08(means: pd.DataFrame, of_paper: pd.DataFrame) -> Judged:
    """Reasoning does not help consistently, but for ChatTS: cells are models, modalities and splits."""
    rises = _rises(means, "context", "cot").groupby(["model", "modality", "split"]).all()
    cells = [always if name[0].startswith("ChatTS") else not always for name, always in rises.items()]
    shown = _pairs(_rises(of_paper, "context", "cot"), "context", "cot")
    return Judged(cells, f"needs language models with and without reasoning ({len(cells)} here); as printed, {shown}")


def sy_09(means: pd.DataFrame, of_paper: pd.DataFrame) -> Judged:
    """Context improves over the naive prompt: cells are models, splits and dimensions."""
    shown = _pairs(_rises(of_paper, "naive", "context"), "naive", "context")
    cells = list(_rises(means, "naive", "context"))
    return Judged(
        cells, f"needs language models with and without context ({len(cells)} pairs here); as printed, {shown}"
    )


def _other_tasks() -> list:
    """The cells of SY-09 in the printed Tables 3 and 4: networks and graphs."""
    networks = published("symbolbench_table3").query("metric in ('accuracy', 'bookmaker_informedness')")
    rows = pd.concat([networks, published("symbolbench_table4").query("metric == 'f1'").assign(split="")])
    wide = rows.astype({"value": float}).pivot(index=["model", "metric", "split"], columns="setting", values="value")
    wide = wide[["naive", "context"]].dropna()
    return [more(row.context, row.naive) for row in wide.itertuples()]


def sy_10(found: pd.DataFrame) -> Judged:
    """`analysis.correlations`; weak if below `WEAK` in size: cells are conditions and dimensions."""
    gap = (found["r"] - found["printed"]).abs().groupby("condition").max()
    weak = (found["r"].abs() < WEAK).groupby("condition").agg(["sum", "size"])
    each = [f"{c.replace('_', ' ')} |r| < {WEAK} in {r['sum']} of {r['size']} dimensions" for c, r in weak.iterrows()]
    finding = (
        f"recomputed from the printed Table 2, {' and '.join(each)}; the printed values with context are "
        f"reproduced within {gap['with_context']:.3f}, those without are off by up to {gap['without_context']:.2f}"
    )
    return Judged(found["r"].abs() < WEAK, finding)


def sy_11(refinement: dict[str, float], points: pd.DataFrame) -> Judged:
    """`analysis.refinement`, and `analysis.figure3` with its SR2 without and with longer reasoning."""
    sr2 = points["SR2"].unstack("reasoning").dropna()
    rises = sr2["with"] > sr2["without"]
    finding = (
        f"in {refinement['runs']} released runs the best R2 rose after the first epoch in "
        f"{refinement['improved']:.0%} (median gain {refinement['gain']:.3f}), and the answer got more complex in "
        f"{refinement['more_complex']:.0%} of these; longer reasoning raises SR2 for {rises.sum()} of {len(rises)} "
        "models of Figure 3"
    )
    return Judged([refinement["improved"] > 0.5, refinement["more_complex"] > 0.5, *rises], finding)


def _beside_gplearn(table6: pd.DataFrame, name: str, least: float, most: float) -> list:
    """Whether SR2 of a row of Table 6 is so many times that of GPLearn: cells are splits. Columns: split."""
    if not {name, "GPLearn"} <= set(table6.index):
        return []
    times = table6.loc[name] / table6.loc["GPLearn"]
    return list((times > least) & (times < most))


def sy_12(table6: pd.DataFrame) -> Judged:
    """Proposals as first population improve GPLearn greatly: SR2 is `GREATLY` higher."""
    cells = _beside_gplearn(table6, "LLM-as-Predictor + GPLearn", GREATLY, float("inf"))
    return Judged(cells, "needs gplearn seeded by a language model; in the released code proposals never enter (audit)")


def sy_13(table6: pd.DataFrame) -> Judged:
    """A judge in the fitness improves GPLearn a little: SR2 is higher, but not `GREATLY`."""
    cells = _beside_gplearn(table6, "GPLearn + LLM-as-Judge", 1, GREATLY)
    return Judged(cells, "needs gplearn with a language model as judge")


def sy_15(epochs: pd.DataFrame) -> Judged:
    """Context and reasoning speed up convergence: cells are models. Columns: epochs to the same score, by setting."""
    pairs = [epochs.reindex(columns=names).dropna() for names in (["naive", "context"], ["context", "cot"])]
    cells = [more(*row) for part in pairs for row in part.itertuples(index=False)]
    return Judged(cells, f"needs curves of language models by setting ({len(cells)} pairs here)")


def printed() -> dict[str, list]:
    """The cells of each claim by the paper's own numbers."""
    means, found = printed_means(), correlations()
    ends = means["sr2"].stack("split")
    fall = ends.iloc[:, -1] - ends.iloc[:, 0]
    change = pd.DataFrame({"first": 1, "last": 4, "low": fall, "high": fall}).dropna()
    table6 = published("symbolbench_table6").query("metric == 'sr2'").astype({"value": float})
    table6 = table6.pivot(index="method", columns="split", values="value")
    return {
        "SY-01": _ahead(means),
        "SY-05": sy_05(change).cells,
        "SY-06": sy_06(means["sr2"].stack("states")).cells,
        "SY-07": sy_07(means).cells,
        "SY-08": sy_08(means, means).cells,
        "SY-09": sy_09(means, means).cells + _other_tasks(),
        "SY-10": list(found["printed"].abs() < WEAK),
        "SY-12": sy_12(table6).cells,
        "SY-13": sy_13(table6).cells,
    }
