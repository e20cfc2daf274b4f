"""Every published number of MDBench with a verdict; how it is compared is in study.yaml."""

import numpy as np
import pandas as pd

from ...report.comparisons import labels
from ...report.ledger import combine, compare_table
from ...report.papers import published
from .analysis import CELL, printed_cells

COARSE = "not comparable", "with a small library or on a coarser grid in this profile"
FAILED = "not comparable", "failed in the paper and here: no number to compare"
BOUNDS = {"low": np.nan, "high": np.nan}


def texts(cells: pd.DataFrame, suffix: str = "") -> list[str]:
    """Cells as the ledger shows them.

    Examples
    --------
    >>> texts(pd.DataFrame({"status": ["found", "failed", "value"], "exponent": [0, 0, -9], "complexity": [0, 0, 12]}))
    ['found', '-', '1e-9 (12)']
    """
    rows = zip(*(cells[name + suffix] for name in CELL), strict=True)
    return [{"found": status, "failed": "-"}.get(status, f"1e{power} ({size})") for status, power, size in rows]


def of_cells(cells: pd.DataFrame, tables, coarse=()) -> pd.DataFrame:
    """Every cell of published tables with a verdict; `cells` as from `analysis.compare_cells`, `coarse`: datasets."""
    measured = {}
    for cell, text in zip(cells.itertuples(), texts(cells, "_rediscover"), strict=True):
        found = ("reproduced" if cell.equal else "differs", "")
        if cell.equal and cell.status_printed == "failed":
            found = FAILED
        if cell.dataset in coarse:
            found = COARSE
        measured[cell.method, cell.dataset] = {"value": text, "verdict": found[0], "reason": found[1], **BOUNDS}
    reasons = {**labels("mdbench")["reason"], "*": ""}
    absent = {name: ("not run", reason or "not in this profile") for name, reason in reasons.items()}
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
        verdict = "reproduced" if row["p"] <= implied.loc[name, "p_below"] else "differs"
        for part, value in (("w", row["w_minus"]), ("p", row["p"])):
            measured[part][name,] = {"value": value, "verdict": verdict, "reason": reason, **BOUNDS}
    absent = {name: ("not run", reason) for name, reason in implied["missing"].items()}
    return combine(
        compare_table("mdbench_tests", numbers, absent, rows.rename(columns={part: "value"}), part)
        for part, numbers in measured.items()
    )


def of_runtimes() -> pd.DataFrame:
    """Table A7 and the runtimes of Table 3: seconds of their machine, which ours cannot be compared with."""
    columns = {"mdbench_table_a7": {"runtime_seconds": "value"}, "mdbench_table3_runtime": {}}
    tables = {name: published(name).rename(columns=changed) for name, changed in columns.items()}
    return combine(compare_table(name, {}, rows=table) for name, table in tables.items())
