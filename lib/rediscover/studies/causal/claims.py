"""The verdict on SymbolBench's claim about causal graphs, from the statistics printed before it."""

import pandas as pd

Judged = tuple[str, str]


def sy_02(best: float, printed: float, references: pd.Series, graphs: int, pcmci: dict[str, float] | None) -> Judged:
    """Language models beat PCMCI: (verdict, finding).

    Parameters
    ----------
    best, printed : printed F1 of the best language model (rule: pairs) and of PCMCI (rule: triples), in percent
    references : F1 by pairs of self_edges and complete_graph on all the `graphs`, in percent
    pcmci : value, low, high and n of F1 by pairs of the stored runs, in percent; None without them
    """
    finding = (
        f"language models were not run; the best printed F1 is {best:.1f} by their rule (pairs), by which self edges "
        f"only have {references['self_edges']:.1f} and the complete graph {references['complete_graph']:.1f} on all "
        f"{graphs} graphs"
    )
    if pcmci is None:
        return "untestable here", finding
    finding += (
        f"; printed F1 {printed:.1f} of PCMCI is by another rule (triples), by theirs it is {pcmci['value']:.1f} "
        f"[{pcmci['low']:.1f}, {pcmci['high']:.1f}] on {pcmci['n']} graphs"
    )
    return "holds" if best > pcmci["high"] else "fails" if best < pcmci["low"] else "mixed", finding
