"""Verdicts on the claims of SurfaceBench, each from the statistic that its notebook prints right before."""

import pandas as pd

from ...report.ledger import claim_verdict

UNTESTABLE = "untestable here"


def sb_01(recovery: pd.DataFrame) -> tuple[str, str]:
    """Few are recovered, by language models no more; `recovery`: `report.comparisons.recovery` over all surfaces."""
    best = recovery.loc[recovery["share"].sort_values().index[-1]]
    return UNTESTABLE, (
        f"classical half only: the best here, {best.name}, recovers {best['recovered']:.0f} of {best['n']:.0f} "
        f"({best['share']:.1%}, 95 % interval {best['low']:.1%} to {best['high']:.1%}); language models were not run"
    )


def sb_02(rates: pd.DataFrame) -> tuple[str, str]:
    """Explicit surfaces are recovered more often than implicit ones; `rates`: method by subset, shares recovered."""
    more, less = rates["explicit"] > rates["implicit"], rates["explicit"] < rates["implicit"]
    finding = f"explicit above implicit for {more.sum()} of {len(rates)} methods, below for {less.sum()}"
    return claim_verdict(more), finding


def sb_03(distances: pd.DataFrame) -> tuple[str, str]:
    """Implicit surfaces are nearer; `distances`: medians by (subset, method), a column for each scaled distance."""
    nearer = (distances.loc["implicit"] < distances.loc["explicit"]).to_numpy().ravel()
    finding = f"on clouds scaled by the diagonal, implicit is nearer in {nearer.sum()} of {len(nearer)} medians"
    return claim_verdict(nearer), finding


def sb_07(means: pd.Series) -> tuple[str, str]:
    """Language models have lower errors; `means`: explicit NMSE as released by method."""
    return UNTESTABLE, (
        f"language models were not run; here the explicit mean NMSE lies between {means.min():.3g} and "
        f"{means.max():.3g}, the best published one of a language model is 0.98"
    )


def sb_08(gains: pd.DataFrame, refitted: int, recovered: int) -> tuple[str, str]:
    """Constants are badly fitted; `refitted`: how many answers, `recovered`: how many more of them then.

    Index of `gains`: score; columns: share (of answers whose score falls by more than 1 %), rank_biserial.
    """
    parts = [
        f"{name} falls by more than 1 % in {gain.share:.0%} of {refitted} (effect {gain.rank_biserial:+.2f})"
        for name, gain in gains.iterrows()
    ]
    shares = gains["share"]
    verdict = "holds" if shares.min() > 0.5 else "mixed" if shares.max() > 0.25 else "fails"
    return verdict, "; ".join(parts) + f"; {recovered} more are recovered"


def sb_09(answered: pd.Series, tasks: int, rates: pd.Series) -> tuple[str, str]:
    """No generic method solves coupled outputs: whether it answered all parametric `tasks`, and the share recovered."""
    return claim_verdict([not answered.any(), rates.max() <= 0.1]), (
        f"{answered.sum()} of {len(answered)} generic methods answer every parametric task ({tasks}), one coordinate "
        f"at a time, as the release does itself; recovery is {rates.min():.2f} to {rates.max():.2f}, published 0.02 to "
        "0.10"
    )


def sb_13(medians: pd.DataFrame) -> tuple[str, str]:
    """Noise makes errors larger; `medians`: method by relative noise, NMSE on clean test data."""
    least, most = medians.columns[0], medians.columns[-1]
    grows = medians[most] > medians[least]
    return claim_verdict(grows), (
        f"median NMSE on clean test data is larger at {most:.0%} noise than at {least:.0%} "
        f"for {grows.sum()} of {len(medians)} methods"
    )


def sb_14(test: pd.Series) -> tuple[str, str]:
    """Distances are larger out of the domain; `test`: one-sided signed-rank test of the Hausdorff distances."""
    return "holds" if test["p"] < 0.05 else "fails", (
        f"Hausdorff distance out of domain above in domain: effect {test['effect']:+.2f}, {test['n_pairs']} runs, "
        f"p {test['p']:.1g}"
    )


def sb_15(search_errors: pd.Series) -> tuple[str, str]:
    """Most failures are search errors; `search_errors`: method -> share of explicit answers."""
    return UNTESTABLE, (
        f"language models were not run; of the classical methods' explicit answers "
        f"{search_errors.min():.0%} to {search_errors.max():.0%} are search errors"
    )
