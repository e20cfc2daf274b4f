"""MDBench's claims: each function takes scores, tests them over systems, and says which cells go as claimed.

`scored` are scores here of the paper's methods under its labels (`report.papers.of_paper`), with columns systems (ODEs
or PDEs), problem, kind (linear, genetic or other), snr_db and the scores. A system's levels of noise and methods depend
on each other, so they are averaged before a test, and a system is one pair. `printed` asks the same of the paper's own
numbers, in which a check mark is an error below all others and a failure one above all.
"""

import re

import numpy as np
import pandas as pd

from ...report.claim_cells import Cell, by_counts, by_tests, compare, family, not_run, of_ranks, power, spelt
from ...report.comparisons import labels
from ...report.ledger import Judged, more
from ...report.papers import claims, published
from ...report.statistics import detectable
from .analysis import GENETIC, LINEAR, printed_cells

ACCURATE = 0.01  # an NMSE up to which MD-08 and MD-15 call an answer accurate
NO_BETTER = 1.0  # the NMSE of zero: an error of at least that finds nothing, and counts as that
LEAST = 1e-12  # an NMSE below it is rounding
KINDS = dict.fromkeys(LINEAR, "linear") | dict.fromkeys(GENETIC, "genetic")
SIDES = ("linear", "genetic")


def kinds() -> dict[str, str]:
    """Label of each method of the paper -> linear, genetic or other."""
    return labels("mdbench")["method"].map(KINDS).fillna("other").to_dict()


def _logs(scored: pd.DataFrame) -> pd.Series:
    """Log10 of the error, which counts as that of zero where it is no better or there is no answer."""
    return np.log10(scored["nmse_power"].replace([np.inf, -np.inf], np.nan).fillna(NO_BETTER).clip(LEAST, NO_BETTER))


def _by_kind(scored: pd.DataFrame, value: pd.Series) -> pd.DataFrame:
    """The median over methods of a kind, then the mean over levels of noise. Index: problem; columns: kind."""
    frame = scored.assign(value=value)
    medians = frame.groupby(["problem", "kind", "snr_db"])["value"].median()
    return medians.groupby(["problem", "kind"]).mean().unstack("kind").reindex(columns=SIDES)


def md_01(scored: pd.DataFrame) -> Judged:
    """Which kind has the lower error: cells are PDEs and ODEs, clean and noisy."""
    rows, lower = [], {"PDEs": "linear", "ODEs": "genetic"}
    for systems, low in lower.items():
        of_kind = scored[scored["systems"] == systems]
        for noise, part in {"clean": of_kind[np.isinf(of_kind["snr_db"])], "noisy": _noisy(of_kind)}.items():
            errors = _by_kind(part, _logs(part)).dropna()
            high = next(side for side in SIDES if side != low)
            rows.append(compare(errors[high], errors[low], (high, low), condition=f"{systems} {noise}"))
    tests = family(rows)
    return Judged(by_tests(tests), f"median over systems of log10 NMSE: {spelt(tests)}", tests)


def _noisy(scored: pd.DataFrame) -> pd.DataFrame:
    return scored[np.isfinite(scored["snr_db"])]


def ratios(scored: pd.DataFrame) -> pd.DataFrame:
    """Log10 of each error with noise over the clean one: the rows with noise for which both are finite."""
    keys = ["systems", "problem", "method", "kind"]
    errors = scored.pivot_table(index=keys, columns="snr_db", values="nmse_power")
    errors = errors.reindex(columns=sorted({np.inf, *errors.columns}))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(errors.drop(columns=np.inf).div(errors[np.inf], axis=0))
    return logs.replace([np.inf, -np.inf], np.nan).stack().dropna().rename("ratio").reset_index()


def md_02(changes: pd.DataFrame) -> Judged:
    """Linear methods lose less by noise (`ratios`): cells are ODEs and PDEs."""
    rows = []
    for systems in ("ODEs", "PDEs"):
        part = changes[changes["systems"] == systems]
        loss = _by_kind(part, part["ratio"]).dropna()
        rows.append(compare(loss["genetic"], loss["linear"], ("genetic", "linear"), condition=systems))
    tests = family(rows)
    finding = f"median over systems of log10 of the error with noise over the clean one: {spelt(tests)}"
    return Judged(by_tests(tests), finding, tests)


def signed_rank(published: pd.Series, test: pd.Series | None, as_published: pd.Series | None = None) -> Judged:
    """MD-03 to MD-07: a row of the published tests, our test over systems (the cell), and ours over their pairs.

    `test` is a row of `analysis.signed_rank` with p_holm; one-sided, so that a p near 1 says the contrary.
    """
    one, two = (_span(published[f"{side}_min"], published[f"{side}_max"]) for side in ("one_sided", "two_sided"))
    if published["missing"]:
        pairs = f"one-sided {one}, two-sided {two}, of {published['maximum']}"
        return Judged([], f"{published['missing']}; pairs that the published W and p allow: {pairs}")
    if test is None:
        return Judged([], "no pair of finite errors in this profile")
    finding = (
        f"{test['n_pairs']:.0f} systems, {test['n_zeros']:.0f} equal: W {test['w_minus']:g} as claimed, "
        f"{test['w_plus']:g} against, one-sided p {test['p']:.1g}, by Holm {test['p_holm']:.1g}, "
        f"effect {-test['rank_biserial']:+.2f}"
    )
    if as_published is not None:
        finding += f"; over pairs of system and noise, which depend on each other, p {as_published['p']:.1g}"
    way = True if test["p_holm"] < 0.05 else False if test["p"] > 0.95 else None
    if way is None:
        finding += f"; {power([detectable(of_ranks(test['n_pairs'] - test['n_zeros']))])}"
    return Judged(
        [Cell(way, "test", str(published.name).partition(" vs ")[0])], f"{finding}; the published W allows {one} pairs"
    )


def _span(least, most) -> str:
    return "none" if pd.isna(least) else f"{least:g}-{most:g}"


def md_08(former: pd.DataFrame, missing: str) -> Judged:
    """ODEFormer is accurate up to 30 dB, and worse and larger with more noise; `missing`: why it does not run."""
    if former.empty:
        return Judged([], missing)
    wide = {
        name: former.assign(value=value).pivot_table("value", "problem", "snr_db")
        for name, value in {"log10 NMSE": _logs(former), "complexity": former["complexity_mdbench"]}.items()
    }
    name, levels = "ODEFormer", sorted(former["snr_db"].unique())
    errors = wide["log10 NMSE"]
    rows = [
        compare(np.log10(ACCURATE) - errors[level], errors[level] * 0, ("accurate", "not"), method=name)
        for level in levels
        if level >= 30
    ]
    rows += [
        compare(values[level], values[np.inf], (f"{level:g} dB", "clean"), method=name, condition=score)
        for score, values in wide.items()
        for level in levels
        if level <= 20 and np.inf in values
    ]
    tests = family(rows)
    return Judged(by_tests(tests), spelt(tests), tests)


def md_09(scored: pd.DataFrame) -> Judged:
    """Equations get simpler (linear) or longer (genetic, ODEFormer) at the most noise: cells are systems and kinds."""
    rows, sign = [], []
    scored = scored.assign(kind=scored["kind"].mask(scored["method"] == "ODEFormer", "transformer"))
    for systems, part in scored.groupby("systems", sort=True):
        for kind, way in (("linear", -1), ("genetic", 1), ("transformer", 1)):
            sizes = part[part["kind"] == kind].pivot_table("complexity_mdbench", ["problem", "method"], "snr_db")
            if np.inf not in sizes or len(sizes.columns) < 2:
                continue
            noisiest = min(sizes.columns)
            change = (sizes[noisiest] - sizes[np.inf]).dropna().groupby("problem").mean()
            condition = f"{systems} {kind}, nodes more than without noise:"
            rows.append(compare(change, change * 0, (f"at {noisiest:g} dB", "none"), condition=condition))
            sign.append(way)
    tests = family(rows)
    cells = [cell for way, row in zip(sign, tests.index, strict=True) for cell in by_tests(tests.loc[[row]], way)]
    return Judged(cells, f"median over systems: {spelt(tests)}", tests)


def md_10(changes: pd.DataFrame, at_40: pd.DataFrame) -> Judged:
    """PDEs lose more by 40 dB than ODEs (`ratios` at 40 dB); index of `at_40`: PDEs, ODEs; columns mean, std, size."""
    if len(at_40) < 2:
        return Judged([], "needs 40 dB for both kinds of systems")
    by_system = changes.groupby(["systems", "problem"])["ratio"].mean()
    tests = family([compare(by_system["PDEs"], by_system["ODEs"], ("PDEs", "ODEs"), paired=False)])
    shown = [
        f"{k} {r['mean']:.2f} ± {r['std']:.2f} ({np.log(10) * r['mean']:.2f} in base e), {r['size']:.0f} pairs"
        for k, r in at_40.iterrows()
    ]
    text = "log10 of the error at 40 dB over the clean one: " + "; ".join(shown)
    return Judged(by_tests(tests), f"{text}; medians over systems: {spelt(tests)}", tests)


def md_11(found: pd.DataFrame, missing: str) -> Judged:
    """EQL and End2end identify no ODE system, others some: cells are the methods that the paper runs on ODEs.

    A system that is found is found, so these are counts. Index of `found`: method; columns: sum and size.
    `missing`: why some do not run; their cells are undecided.
    """
    ran = found["sum"].groupby(level=0).first()
    goes = [(count == 0) == (name in ("EQL", "End2end")) for name, count in ran.items()]
    printed = published("mdbench_table_a5")["method"].unique()
    absent = not_run(name for name in printed if name not in ran) if len(ran) else []
    shown = ", ".join(f"{method} {row['sum']:.0f} of {row['size']:.0f}" for method, row in found.iterrows())
    return Judged([*by_counts(goes, ran.index), *absent], f"identify: {shown}" + (f"; {missing}" if missing else ""))


def md_12(clean: pd.DataFrame) -> Judged:
    """PDEs of one variable are identified more often: the cell is a test of shares of methods over systems.

    Columns of `clean`: problem, variables (one or several) and identified.
    """
    shares = clean.groupby(["variables", "problem"])["identified"].mean()
    one, several = (shares[shares.index.get_level_values(0) == name] for name in ("one", "several"))
    counts = clean.groupby("variables")["identified"].agg(["sum", "size"])
    cells = ", ".join(
        f"{name} variable{'s' * (name != 'one')} {row['sum']:.0f} of {row['size']:.0f} cells"
        for name, row in counts.iterrows()
    )
    if one.empty or several.empty:
        return Judged([], cells)
    tests = family([compare(one, several, ("one variable", "several"), paired=False)])
    return Judged(by_tests(tests), f"{cells}; share of methods by system, medians: {spelt(tests)}", tests)


def md_13(errors: pd.DataFrame, other_library=()) -> Judged:
    """Error grows on Heat (Solar): cells are 1D against 2D and 2D against 3D, by signs over methods.

    It is one system and one run each, so that no method alone has a test. Index of `errors`: method; columns 1D, 2D,
    3D. Methods of `other_library` have another in 2D and 3D than in 1D.
    """
    if errors.empty:
        return Judged([], "needs Heat (Solar) in 2D or 3D, which this profile leaves out")
    rows = []
    for low, high in (("1D", "2D"), ("2D", "3D")):
        both = errors[[low, high]].dropna()
        up = (both[high] > both[low]).astype(float)
        rows.append(compare(up, 1 - up, (f"larger in {high}", f"in {low}")))
    tests = family(rows)
    shown = "; ".join(
        f"{m} " + ", ".join(f"{d} {v:.1g}" for d, v in row.dropna().items()) for m, row in errors.iterrows()
    )
    care = f"; other libraries in 2D and 3D than in 1D: {', '.join(other_library)}" if len(other_library) else ""
    return Judged(by_tests(tests), f"share of methods: {spelt(tests)}; errors: {shown}{care}", tests)


def md_14(slower: pd.DataFrame) -> Judged:
    """Linear methods slow down more: cells are 2D and 3D. Index of `slower`: method, kind; time over that in 1D."""
    kind, rows = slower.index.get_level_values("kind"), []
    for name, part in np.log10(slower).items():
        linear, genetic = (part[kind == side].dropna() for side in SIDES)
        rows.append(compare(linear, genetic, SIDES, condition=str(name), paired=False))
    tests = family(rows)
    tests = tests[tests["p"].notna()]
    if tests.empty:
        return Judged([], "needs Heat (Solar) in 2D or 3D, with the library of 1D, for both kinds of methods")
    text = f"median log10 of the time over that in 1D: {spelt(tests)}"
    return Judged(by_tests(tests), f"{text}; Operon sees a draw of the rows here, so its time cannot grow", tests)


def md_15(forced: pd.DataFrame, clean: pd.DataFrame, channel: pd.Series | None = None) -> Judged:
    """`clean` cells, those of them on `forced` systems, and the errors of law and truth on NS (Channel).

    Columns: problem, method, nmse_power and identified. Cells, all counts: no forced system is found; some low errors
    are wrong; and the law, a given formula on given data, scores worse than the truth.
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
    return Judged(by_counts(cells), text)


def _printed_errors() -> pd.DataFrame:
    """Clean cells of Tables 3, A5 and A6: dataset, method, systems, kind, nmse_power and identified."""
    tables = {"PDEs": ["mdbench_table3"], "ODEs": ["mdbench_table_a5", "mdbench_table_a6"]}
    cells = pd.concat({kind: pd.concat(map(printed_cells, names)) for kind, names in tables.items()}, names=["systems"])
    cells = cells.reset_index("systems")
    ends = cells["status"].map({"found": 0.0, "failed": np.inf})
    cells["nmse_power"] = (10.0 ** cells["exponent"].astype(float)).fillna(ends)
    return cells.assign(identified=cells["status"] == "found", kind=cells["method"].map(kinds()))


def printed() -> dict[str, list]:
    """The cells of each claim by the paper's own numbers."""
    cells = _printed_errors()
    medians = cells.groupby(["systems", "kind"])["nmse_power"].median().unstack("kind")
    lower = (("PDEs", "genetic", "linear"), ("ODEs", "linear", "genetic"))
    heat = cells[cells["dataset"].str.startswith("Heat (Solar)")]
    heat = heat.assign(space=heat["dataset"].str[-2:]).pivot(index="method", columns="space", values="nmse_power")
    heat = [row.dropna() for _, row in heat.replace(np.inf, np.nan).iterrows() if row.notna().sum() > 1]
    of_test = published("mdbench_tests").set_index("comparison")["p"].str.extract(r"(\d.*)")[0].astype(float)
    ratio = [float(x) for x in re.findall(r"(\d\.\d+) ±", claims("mdbench").loc["MD-10", "direction_or_number"])]
    found = cells[cells["systems"] == "ODEs"].groupby("method")["identified"].sum()
    neither = found.index.isin(["EQL", "End2end"])
    several = published("mdbench_table_a1").query("property == 'n_state_variables'").set_index("dataset")["value"]
    pdes = cells[cells["systems"] == "PDEs"]
    share = pdes.groupby(pdes["dataset"].map(several).astype(int) > 1)["identified"].mean()
    seconds = published("mdbench_table_a7")
    seconds = seconds[seconds["dataset"].str.startswith("Heat (Solar)")]
    seconds = seconds.assign(space=seconds["dataset"].str[-2:], value=pd.to_numeric(seconds["runtime_seconds"]))
    seconds = seconds.pivot(index="method", columns="space", values="value")
    slower = seconds[["2D", "3D"]].div(seconds["1D"], axis=0)
    slower = slower.groupby(slower.index.map(cells.drop_duplicates("method").set_index("method")["kind"])).median()
    forced = pdes[pdes["dataset"].isin(["Heat (Laser)", "RD (Cylinder)"])]
    tests = {"MD-03": "WSINDy vs PySR", "MD-04": "WSINDy vs Operon", "MD-05": "PySR vs ESINDy"}
    tests |= {"MD-06": "SINDy vs EQL", "MD-07": "End2end vs EQL"}
    return {claim: [of_test[name] < 0.05] for claim, name in tests.items()} | {
        "MD-01": [more(medians.loc[at, high], medians.loc[at, low]) for at, high, low in lower],
        "MD-10": [more(*ratio)],
        "MD-11": [*(found[neither] == 0), *(found[~neither] > 0)],
        "MD-12": [more(share[False], share[True])],
        "MD-13": [row.is_monotonic_increasing for row in heat],
        "MD-14": list(slower.loc["linear"] > slower.loc["genetic"]),
        "MD-15": [cell.goes for cell in md_15(forced, pdes).cells],
    }
