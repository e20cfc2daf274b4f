"""Every published number of MDBench with a verdict; how it is compared is in study.yaml."""

import re
from typing import Any

import pandas as pd

from ...problems import problem, problems
from ...problems.pdes import settings
from ...report.comparisons import exact, labels
from ...report.ledger import combine, compare_table
from ...report.papers import catalogue, published
from ...report.prediction import meets
from ...report.released import settings as released
from .analysis import label, printed_cells, texts

COARSE = {"verdict": "not comparable", "reason": "with a small library or on a coarser grid in this profile"}
FAILED = "failed in the paper and here: no number to compare"
REFUSED = {"verdict": "not run", "reason": "the method refuses here what has so many states and derivatives"}
CLOCK = 1.2  # by how much processor seconds vary here
LONGEST = 43200  # seconds that the paper allows
UNTIMED = "seconds of another machine; not timed here at the published settings on the full grid"
ANSWERED = "the paper prints a failure, and not why; here there is an answer"
NEARLY = "one term too many or too few here by our rule, where people gave the check mark"
OFFSET = "an offset too many here by our rule, where people gave the check mark (notebook 41, audit 6)"


def of_cells(cells: pd.DataFrame, tables, coarse=()) -> pd.DataFrame:
    """Every cell of published tables with a verdict; `coarse`: datasets.

    `cells` as from `analysis.compare_cells` or `packages.in_place`; where a cell is of a package, ours stands in its
    parameters as ``own``.
    """
    chance, measured = catalogue("mdbench").set_index("label")["chance"].to_dict(), {}
    for cell, text in zip(cells.itertuples(), texts(cells, "_rediscover"), strict=True):
        failed = cell.status_printed == "failed"
        entry: dict[str, Any] = {"value": text, "rule": "cell_seeds" if chance[cell.method] else "cell"}
        why = FAILED if cell.status_rediscover == "failed" else ANSWERED
        nearly = cell.partial and cell.status_printed == "found"
        near = (OFFSET if cell.method == "Operon" else NEARLY) if nearly else ""
        entry |= {"parameters": {"values": [text]}, "reason": why if failed else near}
        if kind := getattr(cell, "kind", ""):
            entry["kind"], entry["parameters"]["own"] = kind, cell.ours
            both = f"PySINDy itself {text}, our own code {cell.ours}"
            entry["reason"] = "; ".join(filter(None, [both, entry["reason"]]))
        if cell.not_run:
            entry |= REFUSED
        if cell.dataset in coarse:
            entry |= COARSE
        measured[cell.method, cell.dataset] = entry
    known = {**labels("mdbench")["reason"], "*": ""}
    absent = {name: ("not run", reason or "not in this profile") for name, reason in known.items()}
    printed = {table: printed_cells(table) for table in tables}
    return combine(compare_table(table, measured, absent, p.assign(value=texts(p))) for table, p in printed.items())


def of_tests(implied: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """The published W and p beside those of `tests`, rows of `analysis.signed_rank` by comparison.

    `implied`, by comparison: p_below (the published bound) and missing (why there is no such test here, or empty).
    """
    measured: dict[str, dict] = {"w": {}, "p": {}}
    rows = published("mdbench_tests")
    for name, row in tests.iterrows():
        reason = f"{row['n_pairs']:.0f} pairs, {row['n_zeros']:.0f} equal, one-sided p {row['p']:.1g}"
        parameters = {"bound": implied.loc[name, "p_below"], "value": row["p"]}
        for part, value in (("w", row["w_minus"]), ("p", row["p"])):
            measured[part][name,] = {"value": value, "parameters": parameters, "reason": reason}
    absent = {name: ("not run", reason) for name, reason in implied["missing"].items()}
    return combine(
        compare_table("mdbench_tests", numbers, absent, rows.rename(columns={part: "value"}), part)
        for part, numbers in measured.items()
    )


def of_counts() -> pd.DataFrame:
    """What Table 1 says of MDBench itself, counted; its other cells describe other benchmarks."""
    sizes = {f"n_{kind[:-1]}": len(problems(kind)) for kind in ("odes", "pdes")}
    sizes["n_methods"] = len(published("mdbench_table2"))
    rows = published("mdbench_table1").query("benchmark == 'MDBench' and quantity in @sizes")
    return compare_table("mdbench_table1", exact({("MDBench", name): size for name, size in sizes.items()}), rows=rows)


def of_runtimes(times: pd.DataFrame) -> pd.DataFrame:
    """Table A7 and the run times of Table 3: the rank of each method's seconds among those on the same system.

    `times` as from `analysis.run_times`; only programs of the paper on its rows are ranked.
    """
    chance, cells = catalogue("mdbench").set_index("label")["chance"].to_dict(), {}
    alike = times[times["unranked"] == ""]
    ranked = alike[alike.duplicated("dataset", keep=False)]
    for row in times.drop(ranked.index).itertuples():
        why = row.unranked or "no other method was timed on this field by the paper's own program"
        entry = {"value": row.seconds, "verdict": "not comparable", "reason": why}
        cells[row.method, row.dataset] = entry | ({"kind": "rerun"} if row.package else {})
    for dataset, part in ranked.groupby("dataset"):
        for method, row in part.set_index("method").iterrows():
            others = part[part["method"] != method]
            below = (others["most"] * CLOCK < row["least"]).sum()  # for certain, and at most
            at_most = (others["least"] < row["most"] * CLOCK).sum()
            printed, rank = sorted(others["printed"]), 1 + (others["printed"] < row["printed"]).sum()
            ends = printed[below - 1] + 1 if below else 0, [*printed, LONGEST + 1][at_most] - 1
            low, high = sorted(ends)  # the other way round between two methods with the same seconds
            ours = " to ".join(map(str, dict.fromkeys((below + 1, at_most + 1))))
            reason = f"rank {rank} of {len(part)} by the printed seconds, {ours} by ours"
            entry = {"value": row["seconds"], "low": low, "high": high, "reason": reason}
            if row["package"]:
                own = f", {row['own']:.2g} of our own code" if pd.notna(row["own"]) else ""  # not timed everywhere
                reason += f"; seconds of PySINDy itself{own}"
                entry |= {"kind": "rerun", "rule": "rank_package", "reason": reason}
            values = [f"{seconds:.3g} s" for seconds in row["values"]]
            seeds = {"rule": "rank_seeds", "parameters": {"values": values}} if chance[method] else {}
            cells[method, dataset] = entry | seeds
    rows = published("mdbench_table_a7").rename(columns={"runtime_seconds": "value"})
    absent = {"*": ("not comparable", UNTIMED)}
    totals = compare_table("mdbench_table3_runtime", {}, rows=published("mdbench_table3_runtime"))
    return combine([compare_table("mdbench_table_a7", cells, absent, rows), totals])


def of_settings(*names: str) -> pd.DataFrame:
    """Tables 2, A2 or A3 beside the released program; of Table 2 the systems, since a method's type is a name only."""
    columns = {"mdbench_table2": {"systems": "value"}}
    return combine(released(name, published(name).rename(columns=columns.get(name, {}))) for name in names)


def of_systems() -> pd.DataFrame:
    """Tables A1 and A4: the grids of the fields and the numbers of states, as they are here."""
    printed = published("mdbench_table_a1").set_index(["dataset", "property"])["value"]
    cells: dict[tuple, dict] = {}
    for id in problems("pdes"):
        entry, name = settings(id.partition("/")[2]), label(id)
        counts = {"n_state_variables": len(entry["names"]), "n_time_points": entry["time"][2]}
        counts["time_step"] = entry["time"][1]
        cells |= exact({(name, key): value for key, value in counts.items()})
        sizes = "x".join(str(points) for *_, points in entry["axes"].values())
        ends = {axis: (low, low + step * (points - 1)) for axis, (low, step, points) in entry["axes"].items()}
        # A periodic axis may be printed up to where it closes, one step beyond its last point.
        beyond = [step * entry.get("periodic", False) for _, step, _ in entry["axes"].values()]
        reach = [
            bounds for (a, b), more in zip(ends.values(), beyond, strict=True) for bounds in ((a, a), (b, b + more))
        ]
        numbers = re.findall(r"-?\d[\d.]*", printed[name, "spatial_domain"])
        places = [[text, *bounds] for text, bounds in zip(numbers, reach, strict=True)]
        domain = "; ".join(f"{axis} in [{low:.5g}, {high:.5g}]" for axis, (low, high) in ends.items())
        cells[name, "spatial_resolution"] = {"value": sizes, "rule": "text"}
        reason = "" if all(meets(*place) for place in places) else "by more than rounding"
        cells[name, "spatial_domain"] = {
            "value": domain,
            "rule": "axes",
            "parameters": {"ends": places},
            "reason": reason,
        }
    states = published("mdbench_table_a4").rename(columns={"dimension": "value"})
    dimensions = exact({(label(id),): len(problem(id).outputs) for id in problems("odes")})
    return combine(
        [compare_table("mdbench_table_a1", cells), compare_table("mdbench_table_a4", dimensions, rows=states)]
    )


def of_text(at_40: pd.DataFrame) -> pd.DataFrame:
    """Numbers of Section 4.2: ratios of Table A7's seconds, and beside the printed ratios of errors ours.

    `at_40`: mean and std of log10 of the error at 40 dB over the clean one; index: PDEs, ODEs.
    """
    cells = {}
    for systems, row in at_40.iterrows():
        for part, name in (("mean", "mean"), ("sd", "std")):
            about = {
                "verdict": "not comparable",
                "reason": "the base and what is averaged are not stated; ours is log10",
            }
            cells[systems, f"log error ratio of 40 dB over clean, {part}"] = {"value": row[name], **about}
    seconds = published("mdbench_table_a7").set_index(["method", "dataset"])["runtime_seconds"]
    for method in ("PDEFIND", "PySR"):
        for space in ("2D", "3D"):
            slow, fast = (float(seconds[method, f"Heat (Solar) {d}"]) for d in (space, "1D"))
            bounds = {"low": (slow - 0.5) / (fast + 0.5), "high": (slow + 0.5) / (fast - 0.5)}
            about = {"definition": "ratio of the seconds in Table A7"}
            cells[method, f"run time on Heat (Solar) {space} over 1D"] = {"value": slow / fast, **bounds, **about}
    return compare_table("mdbench_text_numbers", cells)
