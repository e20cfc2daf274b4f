"""The SRSD study's claims and ledger."""

import numpy as np
import pandas as pd

from ...problems import problem, problems
from ...problems.srsd import RANGES, SETS
from ...report.ledger import claim_verdict, combine, compare
from ...report.papers import catalogue, published
from ...report.plots import order
from ...report.statistics import bootstrap
from ...report.summaries import interval
from .analysis import CONTROLS, METRICS, RATED, RATINGS, agreement, published_agreement, yardstick

STRONG = -0.5  # the rank correlation from which on two scores say much the same


def claims(scored, noise, paired, frame, fits, twins, printed, raters) -> dict[str, tuple[str, str]]:
    """Verdict and finding for each claim of SRSD.

    Parameters
    ----------
    scored, noise : scores of the main grid and of the noisy one
    paired, frame, fits, twins, printed, raters : from `ranges`, `difficulty`, `regress`, `duplicates`, `examples`
        and `user_study`
    """
    found = scored[~scored["method"].isin(CONTROLS)]
    trivial = yardstick(scored)
    labels = catalogue("srsd").set_index("label")
    return {
        "SR-01": ("untestable here", _user_study_finding(raters)),
        "SR-02": ("untestable here", _trivial_finding(trivial, "Table 2", labels)),
        "SR-03": ("untestable here", _trivial_finding(trivial, "Table 3", labels)),
        "SR-04": ("untestable here", _trivial_finding(trivial, "Table 4", labels, needs="ST")),
        "SR-05": _difficulty_claim(found),
        "SR-06": _rank_claim(found),
        "SR-07": _ranges_claim(paired),
        "SR-08": _noise_claim(noise),
        "SR-09": ("untestable here", "needs the 24,232 pretraining sets, which were not released"),
        "SR-10": _twins_claim(twins),
        "SR-11": _skeleton_claim(printed[printed["equation_id"] == "I.12.4"]),
        "SR-12": _skeleton_claim(printed[printed["equation_id"] == "I.14.3"]),
        "SR-13": _size_claim(),
        "SR-14": _complexity_claim(frame, fits),
    }


def _user_study_finding(raters) -> str:
    ned, r2 = raters.loc["normalized_edit_distance"], raters.loc["r2_score"]
    return (
        f"the ratings are not released; the printed p values follow from r at n = {ned['n_implied']:.0f} and "
        f"{r2['n_implied']:.0f}, that is {RATINGS} ratings taken as independent; with one value for each of the "
        f"{RATED} laws p is {ned['p_laws']:.2g} for the edit distance, and the 95 % intervals of r are "
        f"{ned['low_laws']:.2f} to {ned['high_laws']:.2f} for it and "
        f"{r2['low_laws']:.2f} to {r2['high_laws']:.2f} for R2"
    )


def _trivial_finding(trivial, table, labels, needs="DSR") -> str:
    part = trivial.loc[table]
    pairs = ", ".join(
        f"{name} {row.value:.3f} against {row.published:.3f} ({row.method})" for name, row in part.iterrows()
    )
    why = labels.loc[needs, "reason"]
    return f"{needs} was not run: {why}; a log-linear fit here against the best published: {pairs}"


def _difficulty_claim(found):
    parts, agree = [], []
    for _, score, _ in METRICS.values():
        means = found.groupby(["method", "subset"])[score].mean().unstack()
        means = means[[s for s in SETS if s in means]]
        steps = np.diff(means.to_numpy(), axis=1) * (1 if score.startswith("ned") else -1)
        harder = (steps >= 0).all(axis=1) & (steps.sum(axis=1) > 0)
        agree += list(harder)
        parts.append(f"{score} {harder.sum()} of {len(means)}")
    told = "methods for which each set is at least as hard as the one before: "
    return claim_verdict(agree), told + ", ".join(parts)


def _twins_claim(twins):
    shares = (twins > 0).mean()
    most = twins.max().tolist()
    return (
        "holds" if abs(shares["scaled"] - 0.25) < 0.05 else "mixed" if shares["scaled"] else "fails",
        f"{shares['scaled']:.1%} of {len(twins)} original problems have 1 to {most[1]} twins with the same ranges and "
        f"the same function up to a constant factor, {shares['twins']:.1%} have 1 to {most[0]} with the very same one",
    )


def _skeleton_claim(printed):
    same = np.isclose(printed["printed"].astype(float), printed["published"], atol=5e-4)
    return (
        "holds" if same.all() else "fails",
        f"{same.sum()} of {len(printed)} printed distances recomputed: "
        + ", ".join(f"{row.method} {row.published:.3f}" for row in printed.itertuples()),
    )


def _size_claim():
    """Whether there are 30, 40 and 50 laws, and each has all its rows by the acceptance rule."""
    counts = [len(problems("srsd", subset)) for subset in SETS]
    full = {}
    for ranges in RANGES:
        laws = [problem(id, ranges=ranges) for id in problems("srsd")]
        full[ranges] = sum("overflow" not in law.flags and rows_of(law) == 10_000 for law in laws)
    return (
        claim_verdict([counts == [30, 40, 50], full["upstream"] == sum(counts)]),
        f"{' / '.join(map(str, counts))} laws; 10,000 accepted rows can be drawn for {full['paper']} of them on the "
        f"ranges of the paper and for {full['upstream']} on those of the released code",
    )


def rows_of(law) -> int:
    """Rows of all splits together; 0 if the acceptance rule leaves too few."""
    try:
        return sum(len(split.y) for split in law.data().values())
    except RuntimeError:
        return 0


def _complexity_claim(frame, fits):
    if fits.empty:
        return "untestable here", f"{len(frame)} laws are too few for a regression"
    wrong = [(frame["set"] != frame[f"set_{rule}"]).sum() for rule in ("paper", "code")]
    up = ((fits["operations"] > 0) & (fits["p_operations"] < 0.05)).sum()
    wide = ((fits["decades"] > 0) & (fits["p_decades"] < 0.05)).sum()
    return (
        "holds" if min(up, wide) == len(fits) else "mixed" if max(up, wide) else "fails",
        f"distance grows with operations for {up} and with decades for {wide} of {len(fits)} methods (p < 0.05); "
        f"both explain {fits['explained'].min():.0%} to {fits['explained'].max():.0%} of its variance; "
        f"of {len(frame)} laws eq. (1) misplaces {wrong[0]}, the code's rule {wrong[1]}",
    )


def _ranges_claim(paired):
    change = paired["new"] - paired["original"]
    counts = [
        f"{len(part)} ({(part['p'] < 0.05).sum()} with p < 0.05)" for part in (paired[change < 0], paired[change > 0])
    ]
    return (
        claim_verdict(change < 0),
        f"fewer laws solved on the new ranges by {counts[0]} of {len(paired)} methods, more by {counts[1]}: "
        + ", ".join(f"{m} {row.original:.1%} / {row.new:.1%}" for m, row in paired.iterrows()),
    )


def _noise_claim(noise):
    """Whether the distance of each method rises from the lowest to the highest noise, paired by law."""
    values = noise.pivot_table(index=["method", "problem"], columns="noise", values="ned_published")
    least, most = values.columns[[0, -1]]
    rises = (values[most] - values[least]).groupby("method").agg(interval)
    rises = {name: rises[name] for name in order(rises.index)}
    return (
        claim_verdict(rise["low"] > 0 for rise in rises.values()),
        f"Easy distance at noise {most:g} minus that at {least:g} [95 %]: "
        + ", ".join(f"{name} {r['value']:+.3f} [{r['low']:+.3f}, {r['high']:+.3f}]" for name, r in rises.items())
        + "; Symbolic Transformer was not run",
    )


def _rank_claim(found):
    """Whether R2 ranks the methods of a law as the distance does, by the interval of the median correlation."""
    rho = agreement(found)["rho"].loc["law"].dropna()
    told = ", ".join(f"{name} {value:+.2f}" for name, value in published_agreement().items())
    told = f"published Tables 2 and 4 over six methods: {told}"
    if rho.empty:
        return "untestable here", told
    median, *bounds = bootstrap(rho, np.median)
    return (
        claim_verdict(bound > STRONG for bound in bounds),
        f"rank correlation of R2 with distance over methods: median {median:+.2f} [{bounds[0]:+.2f}, "
        f"{bounds[1]:+.2f}] over {len(rho)} laws, weaker than {STRONG} on {(rho > STRONG).mean():.0%} of them; {told}",
    )


def ledger(scored, noise, paired, printed, raters) -> pd.DataFrame:
    """Published Tables 2, 3, 4 and S13 to S17 of SRSD beside ours."""
    known = catalogue("srsd").set_index("label")
    label = {row.ours: name for name, row in known.iterrows() if row.ours}
    absent = {name: ("not run", reason or "no runs in this profile") for name, reason in known["reason"].items()}
    runs = {
        "row": "{method}",
        "absent": absent,
        "tolerance": "printed digit within the 95 % bootstrap interval of our mean over laws",
    }
    by_set = [
        compare(
            "SRSD",
            f"Table {name[-1]}",
            published(f"srsd_{name}"),
            _means(scored, ["subset"], score, label, 1 if name == "table4" else 100),
            keys=["method", "set"],
            column="{set}",
            definition=score,
            **runs,
        )
        for name, (_, score, _) in METRICS.items()
    ]
    s15 = published("srsd_table_s15")
    by_noise = compare(
        "SRSD",
        "Table S15",
        s15.assign(noise=s15["noise_level"].astype(float)),
        _means(noise, ["noise"], "ned_published", label),
        keys=["method", "noise"],
        column="noise {noise_level}",
        definition="ned_published, training noise gamma * sqrt(mean(y^2))",
        **runs,
    )
    by_ranges = compare(
        "SRSD",
        "Table S16",
        published("srsd_table_s16"),
        _paired_rates(paired, label),
        keys=["method", "dataset"],
        column="{dataset}",
        definition="solution_rate, same method and budget",
        **runs,
    )
    return combine([*by_set, by_noise, by_ranges, *_skeletons(printed), _correlations(raters)])


def _skeletons(printed):
    """Tables S13 and S14."""
    ours = {
        (row.method, row.equation_id): dict.fromkeys(("value", "low", "high"), row.published)
        for row in printed.itertuples()
    }
    for name in ("s13", "s14"):
        yield compare(
            "SRSD",
            f"Table {name.upper()}",
            published(f"srsd_table_{name}").query("ned != ''").rename(columns={"ned": "value"}),
            ours,
            keys=["method", "equation_id"],
            row="{method}",
            column="{equation_id}",
            absent={},
            definition="ned_published of the printed skeleton with constants filled in",
            tolerance="rounding of the printed digit",
        )


def _correlations(raters):
    """Table S17."""
    p = {
        (metric, "p_value"): {"value": row["p"], "low": row["p_least"], "high": row["p_most"]}
        for metric, row in raters.iterrows()
    }
    return compare(
        "SRSD",
        "Table S17",
        published("srsd_table_s17"),
        p,
        keys=["metric", "statistic"],
        row="{metric}",
        column="{statistic}",
        absent={"*": ("not comparable", "the ratings are not released")},
        definition=f"p of the printed r at n = {RATINGS}, two-sided t test",
        tolerance="p for the r that round to the printed one",
    )


def _means(frame, keys, score, label, factor=1):
    """Means of a score with intervals, by published method name and `keys`."""
    measured = {}
    for key, group in frame[frame["method"].isin(label)].groupby(["method", *keys]):
        ours = interval(group[score])
        reason = f"mean over {ours['n_finite']} of {ours['n']} laws; budget and settings differ"
        measured[label[key[0]], *key[1:]] = {name: factor * ours[name] for name in ("value", "low", "high")} | {
            "reason": reason
        }
    return measured


def _paired_rates(paired, label):
    measured = {}
    for name in paired.index.intersection(list(label)):
        for dataset, column in (("FSRD", "original"), ("SRSD", "new")):
            n = int(paired.loc[name, "laws"])
            solved = round(paired.loc[name, column] * n)
            ours = interval(np.repeat([1.0, 0.0], [solved, n - solved]))
            measured[label[name], dataset] = {k: 100 * ours[k] for k in ("value", "low", "high")} | {
                "reason": f"{solved} of {n} laws; budget and settings differ"
            }
    return measured
