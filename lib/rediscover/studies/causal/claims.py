"""The verdict on SymbolBench's claim about causal graphs, from the statistics printed before it."""

from collections.abc import Mapping

import pandas as pd

from ...report.ledger import Judged, above, more
from ...report.papers import published

BASELINES = ("PCMCI", "LPCMCI", "j-PCMCI+")
LOWER = ("fdr", "shd")  # the measures in which less is better


def sy_02(
    best: float, printed: float, references: pd.Series, graphs: int, recorded: Mapping[str, Mapping[str, float]]
) -> Judged:
    """Language models beat the paper's baselines: cells are these.

    Parameters
    ----------
    best, printed : F1 of the best language model (rule: pairs) and printed F1 of PCMCI (rule: triples), in percent
    references : F1 by pairs of self_edges and complete_graph on all the `graphs`, in percent
    recorded : method -> value, low, high and n of F1 by pairs of the stored runs, in percent
    """
    finding = (
        f"language models were not run; the best printed F1 is {best:.1f} by their rule (pairs), by which self edges "
        f"only have {references['self_edges']:.1f} and the complete graph {references['complete_graph']:.1f} on all "
        f"{graphs} graphs"
    )
    if recorded:
        ours = [f"{name} {f1['value']:.1f} [{f1['low']:.1f}, {f1['high']:.1f}]" for name, f1 in recorded.items()]
        n = min(f1["n"] for f1 in recorded.values())
        finding += (
            f"; printed F1 {printed:.1f} of PCMCI is by another rule (triples), by theirs, on {n} graphs and more, "
        )
        finding += ", ".join(ours)
    return Judged([above(-f1["high"], -f1["low"], -best) for f1 in recorded.values()], finding)


def printed() -> dict[str, list]:
    """The cells by the paper's own numbers: the best language model against each baseline, in each measure."""
    rows = published("symbolbench_table4").query("metric in ('f1', 'precision', 'recall', 'fdr', 'shd')")
    values = rows["value"].astype(float) * rows["metric"].map(lambda name: -1 if name in LOWER else 1)
    rows = rows.assign(value=values)
    best = rows[~rows["model"].isin(BASELINES)].groupby("metric")["value"].max()
    others = rows[rows["model"].isin(BASELINES)]
    return {"SY-02": [more(best[row.metric], row.value) for row in others.itertuples()]}
