"""What the study of coupled differential equations says about SymbolBench's claims."""

import numpy as np

from ...report.ledger import claim_verdict
from ...report.papers import published
from ...report.statistics import means_of_draws
from ...report.tables import CONTROLS
from .analysis import MEASURES, SPLITS, best_printed, correlations, headline, printed, row, shares
from .released_runs import figure3, refinement

SYSTEMS = 156
NEEDS_MODEL = {
    "SY-07": "PySR, which needs Julia, and language models",
    "SY-11": "language models, or their released runs, which are not on this machine",
    "SY-12": "language models; in the released code their proposals never enter gplearn (audit)",
    "SY-13": "a language model as judge",
    "SY-15": "language models",
}
CLAIMS = tuple(sorted((*NEEDS_MODEL, "SY-01", "SY-05", "SY-06", "SY-08", "SY-09", "SY-10")))


def claims(scored, released=None) -> dict[str, tuple[str, str]]:
    """Verdict and finding for each of `CLAIMS`; controls do not count.

    Parameters
    ----------
    scored : scores of the main grid
    released : runs of `coupled_released.runs`, or None
    """
    results = {claim: ("untestable here", f"needs {what}") for claim, what in NEEDS_MODEL.items()}
    part = scored[~scored["method"].isin(CONTROLS)]
    whole = part["problem"].nunique() == SYSTEMS
    for claim, judge in (("SY-01", _against_baselines), ("SY-05", _with_dimension), ("SY-06", _beyond)):
        verdict, finding = judge(part)
        results[claim] = (verdict if whole else "untestable here", finding)
    results["SY-08"] = ("untestable here", f"needs language models; as printed, {_signs('context', 'cot')}")
    results["SY-09"] = ("untestable here", f"needs language models; as printed, {_signs('naive', 'context')}")
    results["SY-10"] = _correlated()
    if released:
        results["SY-11"] = _refined(released)
    return results


def _against_baselines(part) -> tuple[str, str]:
    """SY-01: the best printed language model against the printed baselines and all that was run, ID."""
    wins, texts, ahead = [], [], []
    for dim, group in part.groupby("subset"):
        lines = {name: headline(rows.assign(subset=dim), name) for name, rows in group.groupby("method")}
        top = max(lines, key=lambda name: lines[name].loc[("id", dim), "SR2"])
        line = lines[top].loc[("id", dim)]
        wins.append(bool(line["printed"] > line["high"]))
        ahead.append(bool(line["printed"] > best_printed(dim, False)["id", "sr2"]))
        texts.append(
            f"{dim}: {line['printed']:.1f} against {line['SR2']:.1f} [{line['low']:.1f}, {line['high']:.1f}] ({top})"
        )
    return claim_verdict([*wins, *ahead]), (
        f"as printed the best language model is ahead of the three baselines in {sum(ahead)} of {len(ahead)} "
        "dimensions; the best printed language model against the best method run here, SR2 ID by dimension: "
        f"{'; '.join(texts)}; ahead of its interval in {sum(wins)} of {len(wins)}"
    )


def _with_dimension(part) -> tuple[str, str]:
    """SY-05: SR2 of systems with the most states minus that of those with the fewest, intervals over systems."""
    parts, dims, falls, rises = shares(part), sorted(part["subset"].unique()), [], []
    for _, group in parts.groupby("method"):
        for split in SPLITS:
            ends = [group.loc[group["subset"] == d, MEASURES[split, "sr2"]].to_numpy() for d in (dims[0], dims[-1])]
            low, high = _difference(*ends)
            falls, rises = [*falls, high < 0], [*rises, low > 0]
    return claim_verdict(falls), (
        f"from {dims[0]} to {dims[-1]} states SR2 falls by more than chance (95 % bootstrap over systems) in "
        f"{sum(falls)} of {len(falls)} rows of method and split, and rises so in {sum(rises)}"
    )


def _difference(a, b, draws: int = 2000) -> tuple[float, float]:
    """95 % bootstrap interval of mean(b) - mean(a)."""
    rng = np.random.default_rng(0)
    means = [means_of_draws(x, draws, rng) for x in (a, b)]
    return tuple(np.quantile(means[1] - means[0], (0.025, 0.975)))


def _beyond(part) -> tuple[str, str]:
    """SY-06: SR2 out of distribution below that in distribution, cell by cell."""
    cells = [row(group) for _, group in part.groupby(["method", "subset"])]
    falls = [cell["ood", "sr2"] < cell["id", "sr2"] for cell in cells]
    found = f"SR2 is lower out of distribution in {sum(falls)} of {len(falls)} cells of method and dimension"
    return claim_verdict(falls), found


def _signs(before: str, after: str) -> str:
    """How often a printed value of Table 2 is higher in one setting than in another, by split."""
    rows = printed().query("metric == 'sr2' and language").set_index(["model", "modality", "dim", "split", "setting"])
    wide = rows["value"].unstack("setting")[[before, after]].dropna()
    rises = (wide[after] > wide[before]).groupby("split").agg(["sum", "size"])
    return ", ".join(
        f"SR2 {split} rises from {before} to {after} in {r['sum']} of {r['size']} pairs"
        for split, r in rises.iterrows()
    )


def _correlated() -> tuple[str, str]:
    """SY-10: recomputed from the printed Table 2; weak if below 0.5, the size of half of the printed ones."""
    found = correlations().set_index(["condition", "dim"])["r"]
    printed = published("symbolbench_table5_9").set_index(["condition", "dim"])["value"].astype(float)
    gap = (found - printed).abs().groupby("condition").max()
    weak = (found.abs() < WEAK).groupby("condition").agg(["sum", "size"])
    texts = [f"{c.replace('_', ' ')} |r| < {WEAK} in {r['sum']} of {r['size']} dimensions" for c, r in weak.iterrows()]
    return claim_verdict(found.abs() < WEAK), (
        f"recomputed from the printed Table 2, {' and '.join(texts)}; the printed values with context come back within "
        f"{gap['with_context']:.3f}, those without are off by up to {gap['without_context']:.2f}"
    )


def _refined(released) -> tuple[str, str]:
    """SY-11, from the released runs."""
    found = refinement(released)
    points = figure3(released)["SR2"].unstack("reasoning").dropna()
    rises = points["with"] > points["without"]
    signs = [found["improved"] > 0.5, found["complexity"] > 0.5, bool(rises.all())]
    return claim_verdict(signs), (
        f"in {found['runs']} released runs the best R2 rose after the first epoch in {found['improved']:.0%} (median "
        f"gain {found['gain']:.3f}), and the answer got more complex in {found['complexity']:.0%} of these; longer "
        f"reasoning raises SR2 for {rises.sum()} of {len(rises)} models of Figure 3"
    )


WEAK = 0.5  # a correlation below it explains less than a quarter of the variance
