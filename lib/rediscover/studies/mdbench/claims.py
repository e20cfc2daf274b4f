"""What the studies of differential equations say about MDBench's claims."""

import numpy as np
import pandas as pd

from ...problems import problem
from ...report.ledger import claim_verdict
from ...runs import scoring as scores
from .analysis import GENETIC, LINEAR, SIX, alike, missing


def claims(odes: pd.DataFrame, pdes: pd.DataFrame, tests: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Verdict and finding for each claim of MDBench.

    Parameters
    ----------
    odes, pdes : from `run`
    tests : from `published_tests`
    """
    results = {row["claim"]: _test_claim(row) for _, row in tests.iterrows()}
    results["MD-01"] = _lowest(odes, pdes)
    results["MD-02"] = _robust(odes, pdes)
    results["MD-08"] = "untestable here", missing(odes, ["ODEFormer"])
    results["MD-09"] = _growing(odes, pdes)
    results["MD-10"] = _sensitive(odes, pdes)
    results["MD-11"] = _none_found(odes)
    results["MD-12"] = _variables(pdes)
    results["MD-13"] = _heat_error(pdes)
    results["MD-14"] = _heat_time(pdes)
    results["MD-15"] = _hidden(pdes)
    return results


def _kind(scored: pd.DataFrame) -> pd.Series:
    kinds = dict.fromkeys(LINEAR, "linear") | dict.fromkeys(GENETIC, "genetic")
    return scored["method"].map(kinds)


def _test_claim(row) -> tuple[str, str]:
    if not pd.isna(row.get("reason", np.nan)):
        counts = f"one-sided {row['one_sided']}, two-sided {row['two_sided']}, of {row['maximum']}"
        return "untestable here", f"{row['reason']}; pairs that the published W and p allow: {counts}"
    if not row["n_pairs"]:
        return "untestable here", "no pair of finite errors in this profile"
    finding = (
        f"{row['n_pairs']:.0f} pairs, {row['n_zeros']:.0f} equal: W {row['W_claim']:g} as claimed, "
        f"{row['W_against']:g} against, one-sided p {row['p_one_sided']:.1g}, effect {-row['effect']:+.2f}; "
        f"the published W allows {row['one_sided']} pairs"
    )
    verdict = "holds" if row["p_one_sided"] < 0.05 else "mixed" if row["effect"] < 0 else "fails"
    return verdict, finding


def _medians(scored: pd.DataFrame, score: str) -> dict[tuple[str, str], float]:
    """(kind, 'clean' or 'noisy') -> median score over cells; NaN where there is none."""
    level = np.where(np.isinf(scored["snr"]), "clean", "noisy")
    found = scored.groupby([_kind(scored), level])[score].median()
    return {(k, n): found.get((k, n), np.nan) for k in ("linear", "genetic") for n in ("clean", "noisy")}


def _lowest(odes, pdes):
    o, p = _medians(odes, "nmse_power"), _medians(pdes, "nmse_power")
    points = [p["linear", n] < p["genetic", n] for n in ("clean", "noisy")]
    points += [o["genetic", n] < o["linear", n] for n in ("clean", "noisy")]
    shown = [
        f"{title} {n}: {table['linear', n]:.2g} against {table['genetic', n]:.2g}"
        for title, table in (("PDEs", p), ("ODEs", o))
        for n in ("clean", "noisy")
    ]
    return claim_verdict(points), "median NMSE, linear against genetic programming. " + "; ".join(shown)


def _ratios(scored: pd.DataFrame, level: float | None = None) -> pd.DataFrame:
    """log10 of the error with noise over the clean one, per (problem, method, level)."""
    wide = scored.pivot_table(index=["problem", "method"], columns="snr", values="nmse_power")
    wide = wide.drop(columns=[c for c in wide if level not in (None, c) and np.isfinite(c)])
    if np.inf not in wide or wide.shape[1] < 2:
        return pd.DataFrame({"problem": [], "method": [], "ratio": []})
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(wide.drop(columns=np.inf).div(wide[np.inf], axis=0))
    tidy = logs.replace([np.inf, -np.inf], np.nan).stack().dropna().rename("ratio")
    return tidy.reset_index()


def _robust(odes, pdes):
    points, shown = [], []
    for title, scored in (("ODEs", odes), ("PDEs", pdes)):
        ratios = _ratios(scored)
        by = ratios.groupby(_kind(ratios))["ratio"].median().reindex(["linear", "genetic"])
        points.append(by["linear"] < by["genetic"])
        shown.append(f"{title} {by['linear']:+.2f} against {by['genetic']:+.2f}")
    text = "median log10 of the error with noise over the clean one, linear against genetic programming: "
    return claim_verdict(points), text + "; ".join(shown)


def _growing(odes, pdes):
    points, shown = [], []
    for title, scored in (("ODEs", odes), ("PDEs", pdes)):
        worst = scored["snr"].min()
        wide = scored.pivot_table(index=["problem", "method"], columns="snr", values="complexity_mdbench")
        change = (wide[worst] - wide[np.inf]).dropna().rename("change").reset_index()
        by = change.groupby(_kind(change))["change"].mean().reindex(["linear", "genetic"])
        points += [by["linear"] < 0, by["genetic"] > 0]
        shown.append(f"{title}, {worst:g} dB: linear {by['linear']:+.1f} nodes, genetic {by['genetic']:+.1f}")
    return claim_verdict(points), "mean change of complexity from clean. " + "; ".join(shown)


def _sensitive(odes, pdes):
    six = _ratios(pdes[pdes["problem"].isin(SIX)], 40.0)
    both = {"PDEs": six[_kind(six).notna()]["ratio"]}
    all_odes = _ratios(odes, 40.0)
    both["ODEs"] = all_odes[_kind(all_odes).notna()]["ratio"]
    if not all(len(ratio) for ratio in both.values()):
        return "untestable here", "needs 40 dB for both kinds of systems"
    shown = [
        f"{k} {r.mean():.2f} ± {r.std():.2f} ({np.log(10) * r.mean():.2f} in base e), {len(r)} pairs"
        for k, r in both.items()
    ]
    text = "log10 of the error at 40 dB over the clean one: "
    return claim_verdict([both["PDEs"].mean() > both["ODEs"].mean()]), text + "; ".join(shown)


def _none_found(odes):
    clean = odes[np.isinf(odes["snr"]) & _kind(odes).notna()]
    counts = clean.groupby("method")["identified"].agg(["sum", "size"])
    shown = ", ".join(f"{m} {row['sum']:.0f} of {row['size']:.0f}" for m, row in counts.iterrows())
    return "untestable here", f"others identify {shown}; {missing(odes, ['EQL', 'End2end'])}"


def _variables(pdes):
    clean = pdes[np.isinf(pdes["snr"]) & _kind(pdes).notna()]
    single = clean["problem"].map(lambda id: len(problem(id).outputs) == 1)
    counts = clean.groupby(single)["identified"].agg(["sum", "size"]).reindex([True, False], fill_value=0)
    if not counts["size"].all():
        return "untestable here", "needs systems with one and with several variables"
    one, many = (f"{row['sum']:.0f} of {row['size']:.0f} cells" for _, row in counts.iterrows())
    rate = counts["sum"] / counts["size"]
    return claim_verdict([rate[True] > rate[False]]), f"one variable {one}, several variables {many}"


def _heats(pdes, value: str) -> pd.DataFrame:
    answered = np.isfinite(pdes["nmse_power"])
    clean = pdes[np.isinf(pdes["snr"]) & _kind(pdes).notna() & answered]
    wide = clean.pivot_table(index="method", columns="problem", values=value)
    wide = wide.reindex(columns=[f"pdes/heat_{d}d" for d in (1, 2, 3)]).set_axis(["1D", "2D", "3D"], axis=1)
    return wide[wide["1D"].notna() & wide[["2D", "3D"]].notna().any(axis=1)]


def _heat_error(pdes):
    wide = _heats(pdes, "nmse_power")
    if wide.empty:
        return "untestable here", "needs Heat (Solar) in 2D or 3D, which this profile leaves out"
    grows = [row.dropna().is_monotonic_increasing for _, row in wide.iterrows()]
    shown = "; ".join(
        f"{m} " + ", ".join(f"{d} {v:.1g}" for d, v in row.dropna().items()) for m, row in wide.iterrows()
    )
    line, other = (
        pdes[pdes["problem"].isin(ids)].groupby("method")["settings"].agg(set)
        for ids in (["pdes/heat_1d"], ["pdes/heat_2d", "pdes/heat_3d"])
    )
    changed = [m for m in wide.index if line[m] != other[m]]
    care = f"; other libraries in 2D and 3D than in 1D: {', '.join(changed)}" if changed else ""
    return claim_verdict(grows), f"error grows for {sum(grows)} of {len(grows)} methods: {shown}{care}"


def _heat_time(pdes):
    wide = _heats(alike(pdes), "seconds")
    kinds = {k: wide[[m in names for m in wide.index]] for k, names in (("linear", LINEAR), ("genetic", GENETIC))}
    if any(part.empty for part in kinds.values()):
        return ("untestable here", "needs Heat (Solar) in 2D or 3D, with the library of 1D, for both kinds of methods")
    ratio = {k: part[["2D", "3D"]].div(part["1D"], axis=0).median() for k, part in kinds.items()}
    dims = [d for d in ("2D", "3D") if all(np.isfinite(r[d]) for r in ratio.values())]
    shown = "; ".join(f"{d} linear {ratio['linear'][d]:.0f}x, genetic {ratio['genetic'][d]:.0f}x" for d in dims)
    return (
        claim_verdict(ratio["linear"][d] > ratio["genetic"][d] for d in dims),
        f"median time over that in 1D: {shown}; Operon sees a draw of the rows here, so its time cannot grow",
    )


def _hidden(pdes):
    clean = pdes[np.isinf(pdes["snr"]) & _kind(pdes).notna()]
    forced = clean[clean["problem"].isin(["pdes/laser", "pdes/rd_cylinder"])]
    low = clean[(clean["nmse_power"] <= 1e-2) & (clean["identified"] == 0)]
    channel = problem("pdes/ns_channel", split="space", stencil="direct")
    law, truth = (
        scores.score(channel, answer)["nmse_power"] for answer in ({"u0": "8 + u0_yy", "u1": "0"}, dict(channel.truth))
    )
    laser = forced.loc[forced["problem"] == "pdes/laser", "nmse_power"]
    text = (
        f"{len(low)} of {len(clean)} cells have NMSE up to 0.01 without the equations; none of {len(forced)} "
        f"forced cells is found, least error on Heat (Laser) {laser.min():.2g}; but 8 + u_yy on NS (Channel), "
        f"called wrong, scores {law:.1g} where the full equations score {truth:.1g}"
    )
    if forced.empty:
        return "untestable here", "needs Heat (Laser) or RD (Cylinder), which this profile leaves out"
    return claim_verdict([not forced["identified"].any(), len(low) > 0, law > truth]), text
