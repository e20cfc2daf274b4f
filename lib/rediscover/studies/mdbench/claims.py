"""MDBench's claims: each function takes the statistic that the notebook prints, and gives (verdict, finding)."""

import numpy as np
import pandas as pd

from ...report.ledger import claim_verdict

UNTESTABLE = "untestable here"


def md_01(medians: pd.DataFrame) -> tuple[str, str]:
    """`medians` of the error: index (PDEs or ODEs, clean or noisy), columns linear and genetic."""
    lower = [("linear", "genetic") if systems == "PDEs" else ("genetic", "linear") for systems, _ in medians.index]
    points = [row[a] < row[b] for (_, row), (a, b) in zip(medians.iterrows(), lower, strict=True)]
    shown = [f"{' '.join(at)}: {row['linear']:.2g} against {row['genetic']:.2g}" for at, row in medians.iterrows()]
    return claim_verdict(points), "median NMSE, linear against genetic programming. " + "; ".join(shown)


def md_02(medians: pd.DataFrame) -> tuple[str, str]:
    """`medians` of log10 of the error with noise over the clean one: index ODEs, PDEs, columns linear, genetic."""
    shown = [f"{at} {row['linear']:+.2f} against {row['genetic']:+.2f}" for at, row in medians.iterrows()]
    text = "median log10 of the error with noise over the clean one, linear against genetic programming: "
    return claim_verdict(medians["linear"] < medians["genetic"]), text + "; ".join(shown)


def signed_rank(published: pd.Series, test: pd.Series | None) -> tuple[str, str]:
    """MD-03 to MD-07: a row of the published tests, and that of the test on our scores, if there is one."""
    one, two = (_span(published[f"{side}_min"], published[f"{side}_max"]) for side in ("one_sided", "two_sided"))
    if published["missing"]:
        pairs = f"one-sided {one}, two-sided {two}, of {published['maximum']}"
        return UNTESTABLE, f"{published['missing']}; pairs that the published W and p allow: {pairs}"
    if test is None:
        return UNTESTABLE, "no pair of finite errors in this profile"
    finding = (
        f"{test['n_pairs']:.0f} pairs, {test['n_zeros']:.0f} equal: W {test['w_minus']:g} as claimed, "
        f"{test['w_plus']:g} against, one-sided p {test['p']:.1g}, effect {-test['rank_biserial']:+.2f}; "
        f"the published W allows {one} pairs"
    )
    return "holds" if test["p"] < 0.05 else "mixed" if test["rank_biserial"] < 0 else "fails", finding


def _span(least, most) -> str:
    return "none" if pd.isna(least) else f"{least:g}-{most:g}"


def md_08(missing: str) -> tuple[str, str]:
    """`missing`: why ODEFormer does not run."""
    return UNTESTABLE, missing


def md_09(change: pd.DataFrame) -> tuple[str, str]:
    """Mean `change` of complexity from clean: index (ODEs or PDEs, noisiest level), columns linear and genetic."""
    points = [*(change["linear"] < 0), *(change["genetic"] > 0)]
    shown = [
        f"{at[0]}, {at[1]:g} dB: linear {row['linear']:+.1f} nodes, genetic {row['genetic']:+.1f}"
        for at, row in change.iterrows()
    ]
    return claim_verdict(points), "mean change of complexity from clean. " + "; ".join(shown)


def md_10(ratios: pd.DataFrame) -> tuple[str, str]:
    """Log10 of the error at 40 dB over the clean one: index PDEs and ODEs, columns mean, std and size."""
    if len(ratios) < 2:
        return UNTESTABLE, "needs 40 dB for both kinds of systems"
    shown = [
        f"{k} {r['mean']:.2f} ± {r['std']:.2f} ({np.log(10) * r['mean']:.2f} in base e), {r['size']:.0f} pairs"
        for k, r in ratios.iterrows()
    ]
    text = "log10 of the error at 40 dB over the clean one: " + "; ".join(shown)
    return claim_verdict([ratios.loc["PDEs", "mean"] > ratios.loc["ODEs", "mean"]]), text


def md_11(found: pd.DataFrame, missing: str) -> tuple[str, str]:
    """ODE systems that the other methods identify (columns sum and size), and why EQL and End2end do not run."""
    shown = ", ".join(f"{method} {row['sum']:.0f} of {row['size']:.0f}" for method, row in found.iterrows())
    return UNTESTABLE, f"others identify {shown}; {missing}"


def md_12(found: pd.DataFrame) -> tuple[str, str]:
    """Cells that are identified (columns sum and size): index one, several (variables)."""
    if not found["size"].all():
        return UNTESTABLE, "needs systems with one and with several variables"
    one, many = (f"{row['sum']:.0f} of {row['size']:.0f} cells" for _, row in found.iterrows())
    share = found["sum"] / found["size"]
    return claim_verdict([share["one"] > share["several"]]), f"one variable {one}, several variables {many}"


def md_13(errors: pd.DataFrame, other_library) -> tuple[str, str]:
    """`errors` on Heat (Solar): index method, columns 1D, 2D, 3D; methods with other libraries in 2D and 3D."""
    if errors.empty:
        return UNTESTABLE, "needs Heat (Solar) in 2D or 3D, which this profile leaves out"
    rows = {method: row.dropna() for method, row in errors.iterrows()}
    grows = [row.is_monotonic_increasing for row in rows.values()]
    shown = "; ".join(f"{m} " + ", ".join(f"{d} {v:.1g}" for d, v in row.items()) for m, row in rows.items())
    care = f"; other libraries in 2D and 3D than in 1D: {', '.join(other_library)}" if len(other_library) else ""
    return claim_verdict(grows), f"error grows for {sum(grows)} of {len(grows)} methods: {shown}{care}"


def md_14(ratios: pd.DataFrame) -> tuple[str, str]:
    """Median time on Heat (Solar) over that in 1D: index linear and genetic, columns 2D and 3D."""
    if len(ratios) < 2:
        return UNTESTABLE, "needs Heat (Solar) in 2D or 3D, with the library of 1D, for both kinds of methods"
    known = ratios.dropna(axis=1)
    shown = "; ".join(f"{d} linear {r['linear']:.0f}x, genetic {r['genetic']:.0f}x" for d, r in known.items())
    text = f"median time over that in 1D: {shown}; Operon sees a draw of the rows here, so its time cannot grow"
    return claim_verdict(known.loc["linear"] > known.loc["genetic"]), text


def md_15(forced: pd.DataFrame, clean: pd.DataFrame, channel: pd.Series) -> tuple[str, str]:
    """`clean` cells, those of them on `forced` systems, and the errors of law and truth on NS (Channel)."""
    if forced.empty:
        return UNTESTABLE, "needs Heat (Laser) or RD (Cylinder), which this profile leaves out"
    low = clean[(clean["nmse_power"] <= 1e-2) & (clean["identified"] == 0)]
    laser = forced.loc[forced["problem"] == "pdes/laser", "nmse_power"]
    text = (
        f"{len(low)} of {len(clean)} cells have NMSE up to 0.01 without the equations; none of {len(forced)} forced "
        f"cells is found, least error on Heat (Laser) {laser.min():.2g}; but 8 + u_yy on NS (Channel), called wrong, "
        f"scores {channel['law']:.1g} where the full equations score {channel['truth']:.1g}"
    )
    return claim_verdict([not forced["identified"].any(), len(low) > 0, channel["law"] > channel["truth"]]), text
