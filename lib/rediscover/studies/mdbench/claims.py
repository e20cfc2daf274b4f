"""MDBench's claims: each function takes the statistic that the notebook prints, and says which cells go as claimed.

Medians and means are by kind of method (columns linear and genetic). `printed` asks the same of the paper's
own numbers, in which a check mark is an error below all others and a failure one above all.
"""

import re

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from ...report.comparisons import labels
from ...report.ledger import Judged, above, more
from ...report.papers import claims, published
from .analysis import GENETIC, LINEAR, printed_cells

ACCURATE = 0.01  # an NMSE up to which MD-08 and MD-15 call an answer accurate
NO_BETTER = 1.0  # the NMSE of zero: an error of at least that finds nothing
KINDS = dict.fromkeys(LINEAR, "linear") | dict.fromkeys(GENETIC, "genetic")


def md_01(medians: pd.DataFrame) -> Judged:
    """`medians` of the error: index (PDEs or ODEs, clean or noisy), each a cell.

    Where neither kind is better than zero, no kind has the lowest error.
    """
    shown = [f"{' '.join(at)}: {row['linear']:.2g} against {row['genetic']:.2g}" for at, row in medians.iterrows()]
    cells: list[bool | None] = []
    for (systems, _), row in medians.dropna().iterrows():
        low, high = ("linear", "genetic") if systems == "PDEs" else ("genetic", "linear")
        cells.append(None if row.min() >= NO_BETTER else more(row[high], row[low]))
    return Judged(cells, "median NMSE, linear against genetic programming. " + "; ".join(shown))


def md_02(medians: pd.DataFrame) -> Judged:
    """`medians` of log10 of the error with noise over the clean one: index ODEs, PDEs, each a cell."""
    shown = [f"{at} {row['linear']:+.2f} against {row['genetic']:+.2f}" for at, row in medians.iterrows()]
    text = "median log10 of the error with noise over the clean one, linear against genetic programming: "
    return Judged(medians.dropna().eval("linear < genetic"), text + "; ".join(shown))


def signed_rank(published: pd.Series, test: pd.Series | None) -> Judged:
    """MD-03 to MD-07: a row of the published tests, and that of the test on our scores, if there is one: the cell."""
    one, two = (_span(published[f"{side}_min"], published[f"{side}_max"]) for side in ("one_sided", "two_sided"))
    if published["missing"]:
        pairs = f"one-sided {one}, two-sided {two}, of {published['maximum']}"
        return Judged([], f"{published['missing']}; pairs that the published W and p allow: {pairs}")
    if test is None:
        return Judged([], "no pair of finite errors in this profile")
    finding = (
        f"{test['n_pairs']:.0f} pairs, {test['n_zeros']:.0f} equal: W {test['w_minus']:g} as claimed, "
        f"{test['w_plus']:g} against, one-sided p {test['p']:.1g}, effect {-test['rank_biserial']:+.2f}; "
        f"the published W allows {one} pairs"
    )
    return Judged([True if test["p"] < 0.05 else False if test["p"] > 0.95 else None], finding)


def _span(least, most) -> str:
    return "none" if pd.isna(least) else f"{least:g}-{most:g}"


def md_08(by_level: pd.DataFrame, missing: str) -> Judged:
    """ODEFormer is accurate up to 30 dB, and worse and larger with more noise; `missing`: why it does not run.

    Index of `by_level`: snr_db, each a cell; columns: medians of nmse_power and complexity_mdbench.
    """
    quiet, noisy = by_level[by_level.index >= 30], by_level[by_level.index <= 20]
    cells = list(quiet["nmse_power"] <= ACCURATE)
    for _, row in noisy.iterrows() if len(quiet) else ():
        cells += [more(row[score], quiet[score].max()) for score in ("nmse_power", "complexity_mdbench")]
    shown = ", ".join(f"{level:g} dB {row['nmse_power']:.2g}" for level, row in by_level.iterrows())
    return Judged(cells, f"median NMSE {shown}" if shown else missing)


def md_09(change: pd.DataFrame) -> Judged:
    """Mean `change` of complexity from clean: index (ODEs or PDEs, noisiest level), columns are cells with it."""
    cells = [more(0, value) for value in change["linear"].dropna()]
    cells += [more(value, 0) for value in change.drop(columns="linear").stack().dropna()]
    shown = [
        f"{at[0]}, {at[1]:g} dB: linear {row['linear']:+.1f} nodes, genetic {row['genetic']:+.1f}"
        for at, row in change.iterrows()
    ]
    return Judged(cells, "mean change of complexity from clean. " + "; ".join(shown))


def md_10(ratios: pd.DataFrame) -> Judged:
    """Log10 of the error at 40 dB over the clean one: index PDEs and ODEs, columns mean, std and size."""
    if len(ratios) < 2:
        return Judged([], "needs 40 dB for both kinds of systems")
    shown = [
        f"{k} {r['mean']:.2f} ± {r['std']:.2f} ({np.log(10) * r['mean']:.2f} in base e), {r['size']:.0f} pairs"
        for k, r in ratios.iterrows()
    ]
    text = "log10 of the error at 40 dB over the clean one: " + "; ".join(shown)
    return Judged([more(ratios.loc["PDEs", "mean"], ratios.loc["ODEs", "mean"])], text)


def md_11(found: pd.DataFrame, missing: str) -> Judged:
    """EQL and End2end identify no ODE system, others some: cells are methods as printed. Columns: sum and size.

    `missing`: why EQL and End2end do not run.
    """
    neither = found.index.isin(["EQL", "End2end"])
    cells = [*(found["sum"][neither] == 0), *(found["sum"][~neither] > 0)]
    shown = ", ".join(f"{method} {row['sum']:.0f} of {row['size']:.0f}" for method, row in found.iterrows())
    return Judged(cells if neither.sum() == 2 else [], f"identify: {shown}" + (f"; {missing}" if missing else ""))


def md_12(found: pd.DataFrame) -> Judged:
    """Identified cells of systems with one variable and several (index): columns sum and size."""
    (one, many) = (f"{row['sum']:.0f} of {row['size']:.0f} cells" for _, row in found.iterrows())
    if (found["size"] == 0).any():
        return Judged([], f"one variable {one}, several variables {many}")
    few, lots = (proportion_confint(row["sum"], row["size"], method="wilson") for _, row in found.iloc[::-1].iterrows())
    return Judged([above(lots[0] - few[1], lots[1] - few[0])], f"one variable {one}, several variables {many}")


def md_13(errors: pd.DataFrame, other_library=()) -> Judged:
    """`errors` on Heat (Solar): index method (each a cell), columns 1D, 2D, 3D.

    Methods of `other_library` have another in 2D and 3D than in 1D.
    """
    if errors.empty:
        return Judged([], "needs Heat (Solar) in 2D or 3D, which this profile leaves out")
    rows = {method: row.dropna() for method, row in errors.iterrows() if row.notna().sum() > 1}
    grows = [row.is_monotonic_increasing for row in rows.values()]
    shown = "; ".join(f"{m} " + ", ".join(f"{d} {v:.1g}" for d, v in row.items()) for m, row in rows.items())
    care = f"; other libraries in 2D and 3D than in 1D: {', '.join(other_library)}" if len(other_library) else ""
    return Judged(grows, f"error grows for {sum(grows)} of {len(grows)} methods: {shown}{care}")


def md_14(ratios: pd.DataFrame) -> Judged:
    """Median time on Heat (Solar) over that in 1D: index linear and genetic, columns 2D and 3D, each a cell."""
    if len(ratios) < 2:
        return Judged([], "needs Heat (Solar) in 2D or 3D, with the library of 1D, for both kinds of methods")
    known = ratios.dropna(axis=1)
    shown = "; ".join(f"{d} linear {r['linear']:.0f}x, genetic {r['genetic']:.0f}x" for d, r in known.items())
    text = f"median time over that in 1D: {shown}; Operon sees a draw of the rows here, so its time cannot grow"
    return Judged(known.loc["linear"] > known.loc["genetic"], text)


def md_15(forced: pd.DataFrame, clean: pd.DataFrame, channel: pd.Series | None = None) -> Judged:
    """`clean` cells, those of them on `forced` systems, and the errors of law and truth on NS (Channel).

    Columns: problem, method, nmse_power and identified. Cells: no forced system is found; some low errors are wrong;
    and the law scores worse than the truth.
    """
    if forced.empty:
        return Judged([], "needs Heat (Laser) or RD (Cylinder), which this profile leaves out")
    low = clean[(clean["nmse_power"] <= ACCURATE) & (clean["identified"] == 0)]
    cells = [not forced["identified"].any(), len(low) > 0]
    text = (
        f"{len(low)} of {len(clean)} cells have NMSE up to {ACCURATE} without the equations; "
        f"{forced['identified'].sum():.0f} of {len(forced)} forced cells is found, least error there "
        f"{forced['nmse_power'].min():.2g}"
    )
    if channel is not None:
        cells.append(channel["law"] > channel["truth"])
        text += f"; but 8 + u_yy on NS (Channel), called wrong, scores {channel['law']:.1g} where the full equations "
        text += f"score {channel['truth']:.1g}"
    return Judged(cells, text)


def _printed_errors() -> pd.DataFrame:
    """Clean cells of Tables 3, A5 and A6: dataset, method, systems, kind, nmse_power and identified."""
    tables = {"PDEs": ["mdbench_table3"], "ODEs": ["mdbench_table_a5", "mdbench_table_a6"]}
    cells = pd.concat({kind: pd.concat(map(printed_cells, names)) for kind, names in tables.items()}, names=["systems"])
    cells = cells.reset_index("systems")
    ends = cells["status"].map({"found": 0.0, "failed": np.inf})
    cells["nmse_power"] = (10.0 ** cells["exponent"].astype(float)).fillna(ends)
    kinds = labels("mdbench")["method"].map(KINDS)
    return cells.assign(identified=cells["status"] == "found", kind=cells["method"].map(kinds))


def printed() -> dict[str, list]:
    """The cells of each claim by the paper's own numbers."""
    cells = _printed_errors()
    medians = cells.assign(level="clean").groupby(["systems", "level", "kind"])["nmse_power"].median().unstack("kind")
    heat = cells[cells["dataset"].str.startswith("Heat (Solar)")]
    heat = heat.assign(space=heat["dataset"].str[-2:]).pivot(index="method", columns="space", values="nmse_power")
    of_test = published("mdbench_tests").set_index("comparison")["p"].str.extract(r"(\d.*)")[0].astype(float)
    ratio = re.findall(r"(\d\.\d+) ±", claims("mdbench").loc["MD-10", "direction_or_number"])
    ratios = pd.DataFrame({"mean": map(float, ratio), "std": np.nan, "size": np.nan}, ["PDEs", "ODEs"][: len(ratio)])
    found = cells[cells["systems"] == "ODEs"].groupby("method")["identified"].agg(["sum", "size"])
    several = published("mdbench_table_a1").query("property == 'n_state_variables'").set_index("dataset")["value"]
    pdes = cells[cells["systems"] == "PDEs"]
    by_variables = pdes.groupby(pdes["dataset"].map(several).astype(int) > 1)["identified"].agg(["sum", "size"])
    seconds = published("mdbench_table_a7")
    seconds = seconds[seconds["dataset"].str.startswith("Heat (Solar)")]
    seconds = seconds.assign(space=seconds["dataset"].str[-2:], value=pd.to_numeric(seconds["runtime_seconds"]))
    seconds = seconds.pivot(index="method", columns="space", values="value")
    slower = seconds[["2D", "3D"]].div(seconds["1D"], axis=0)
    kinds = cells.drop_duplicates("method").set_index("method")["kind"]
    forced = pdes[pdes["dataset"].isin(["Heat (Laser)", "RD (Cylinder)"])]
    return {
        "MD-01": md_01(medians).cells,
        "MD-03": [of_test["WSINDy vs PySR"] < 0.05],
        "MD-04": [of_test["WSINDy vs Operon"] < 0.05],
        "MD-05": [of_test["PySR vs ESINDy"] < 0.05],
        "MD-06": [of_test["SINDy vs EQL"] < 0.05],
        "MD-07": [of_test["End2end vs EQL"] < 0.05],
        "MD-10": md_10(ratios).cells,
        "MD-11": md_11(found, "").cells,
        "MD-12": md_12(by_variables).cells,
        "MD-13": md_13(heat.replace(np.inf, np.nan)).cells,
        "MD-14": md_14(slower.groupby(slower.index.map(kinds)).median()).cells,
        "MD-15": md_15(forced, pdes).cells,
    }
