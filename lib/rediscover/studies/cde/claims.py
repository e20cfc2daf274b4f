"""Verdict and finding for each of SymbolBench's claims about differential equations, from its statistic."""

import pandas as pd

from ...report.ledger import claim_verdict

WEAK = 0.5  # a correlation below it explains less than a quarter of the variance
Judged = tuple[str, str]


def _on_all_systems(conditions, complete: bool) -> str:
    return claim_verdict(conditions) if complete else "untestable here"


def sy_01(top: pd.DataFrame, complete: bool) -> Judged:
    """The best printed language model against the printed baselines and the best method run here, SR2 ID.

    Parameters
    ----------
    top : DataFrame
        Index: states. Columns: method, value, low, high, printed and printed_baseline, in percent.
    complete : whether all systems were run, without which there is no verdict; so in all claims here.
    """
    ahead, wins = top["printed"] > top["printed_baseline"], top["printed"] > top["high"]
    rows = [
        f"{t.Index}: {t.printed:.1f} against {t.value:.1f} [{t.low:.1f}, {t.high:.1f}] ({t.method})"
        for t in top.itertuples()
    ]
    return _on_all_systems([*wins, *ahead], complete), (
        f"as printed the best language model is ahead of the three baselines in {sum(ahead)} of {len(ahead)} "
        "dimensions; the best printed language model against the best method run here, SR2 ID by dimension: "
        f"{'; '.join(rows)}; ahead of its interval in {sum(wins)} of {len(wins)}"
    )


def sy_05(change: pd.DataFrame, complete: bool) -> Judged:
    """SR2 falls from the fewest states to the most: first and last number of states, low and high of the change."""
    falls, rises, ends = change["high"] < 0, change["low"] > 0, change.iloc[0]
    return _on_all_systems(falls, complete), (
        f"from {ends['first']:.0f} to {ends['last']:.0f} states SR2 falls by more than chance (95 % bootstrap over "
        f"systems) in {sum(falls)} of {len(falls)} rows of method and split, and rises so in {sum(rises)}"
    )


def sy_06(sr2: pd.DataFrame, complete: bool) -> Judged:
    """SR2 out of distribution (column ood) is below that in distribution (column id), row by row."""
    falls = sr2["ood"] < sr2["id"]
    found = f"SR2 is lower out of distribution in {sum(falls)} of {len(falls)} cells of method and dimension"
    return _on_all_systems(falls, complete), found


def higher_after(rises: pd.DataFrame, before: str, after: str) -> Judged:
    """SY-08 and SY-09, as printed: higher and pairs (columns) by split (index) of two settings."""
    found = [
        f"SR2 {split} rises from {before} to {after} in {r['higher']} of {r['pairs']} pairs"
        for split, r in rises.iterrows()
    ]
    return "untestable here", f"needs language models; as printed, {', '.join(found)}"


def sy_10(correlations: pd.DataFrame) -> Judged:
    """`analysis.correlations`; weak if below `WEAK`, the size of half of the printed ones."""
    gap = (correlations["r"] - correlations["printed"]).abs().groupby("condition").max()
    weak = (correlations["r"].abs() < WEAK).groupby("condition").agg(["sum", "size"])
    found = [f"{c.replace('_', ' ')} |r| < {WEAK} in {r['sum']} of {r['size']} dimensions" for c, r in weak.iterrows()]
    return claim_verdict(correlations["r"].abs() < WEAK), (
        f"recomputed from the printed Table 2, {' and '.join(found)}; the printed values with context come back "
        f"within {gap['with_context']:.3f}, those without are off by up to {gap['without_context']:.2f}"
    )


def sy_11(refinement: dict[str, float], points: pd.DataFrame) -> Judged:
    """`analysis.refinement`, and `analysis.figure3` with its SR2 without and with longer reasoning."""
    sr2 = points["SR2"].unstack("reasoning").dropna()
    rises = sr2["with"] > sr2["without"]
    signs = [refinement["improved"] > 0.5, refinement["more_complex"] > 0.5, bool(rises.all())]
    return claim_verdict(signs), (
        f"in {refinement['runs']} released runs the best R2 rose after the first epoch in "
        f"{refinement['improved']:.0%} (median gain {refinement['gain']:.3f}), and the answer got more complex in "
        f"{refinement['more_complex']:.0%} of these; longer reasoning raises SR2 for {rises.sum()} of {len(rises)} "
        "models of Figure 3"
    )
