"""What both notebooks on differential equations need, or a verdict rests on: scores, cells, paired tests."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from ...problems import problem
from ...report.comparisons import labels, paired_test
from ...report.papers import published
from ...report.trials import rules
from ...runs import scoring
from ...runs.schema import read_csv

# Methods of the paper; sindy_cross is ours.
GENETIC = ("gplearn", "operon", "pysr", "regularised_evolution")
LINEAR = ("sindy", "esindy", "pdefind", "bayesian", "wsindy", "ewsindy")
SYSTEMS_OF_FIGURE_2 = tuple(f"pdes/{name}" for name in ("advection", "burgers", "kdv", "ks", "ad", "heat_1d"))
ROUNDING = 1e-9
CELL = ["status", "exponent", "complexity"]


def label(id: str) -> str:
    """A problem's name in the published tables.

    Examples
    --------
    >>> label("odes/24"), label("pdes/heat_1d")
    ('I24-D2', 'Heat (Solar) 1D')
    """
    loaded: Any = problem(id)  # an ODE or a PDE
    return f"I{loaded.number}-D{loaded.subset}" if loaded.study == "odes" else loaded.title


def score(grid: pd.DataFrame, problems, store=None) -> pd.DataFrame:
    """Scores of a grid over `problems`: as `scoring.table`, with complexity_own, seconds, snr_db and solution.

    Methods that are not installed here have no rows; those that gave no answer have the worst scores.
    """
    scored = scoring.table(grid[grid["status"] != "unavailable"], problems, store=store)
    extra = grid.loc[scored.index, ["solution", "seconds", "complexity", "snr_db"]]
    return scored.join(extra.rename(columns={"complexity": "complexity_own"})).reset_index(drop=True)


def scores_of_odes(params) -> pd.DataFrame:
    """The scores that 40_mdbench_odes wrote in this profile: those of `score`, without seconds."""
    path = params.tables / "mdbench_odes_scores.csv"
    if not path.exists():
        command = f"make all STUDY=40_mdbench_odes PROFILE={params.profile}"
        raise FileNotFoundError(f"the claims need the scores on ordinary equations: run {command} first")
    return read_csv(path)


def printed_cells(table: str) -> pd.DataFrame:
    """The cells of Table 3, A5 or A6, typed, by file and line.

    Columns: dataset; method; status: found (a check mark), value or failed; exponent of the error's power of ten and
    complexity, where the status is value.
    """
    cells = published(table).rename(columns={"nmse_exponent": "exponent"})
    cells["status"] = cells["status"].map({"identified": "found", "failed": "failed"}).fillna("value")
    return cells.assign(**{name: pd.to_numeric(cells[name]).astype("Int64") for name in CELL[1:]})


def printed_marks(tables: Iterable[str]) -> pd.Series:
    """Check marks that published tables print for each method, fewest first."""
    cells = pd.concat([printed_cells(table) for table in tables])
    return (cells["status"] == "found").groupby(cells["method"]).sum().sort_values()


def texts(cells: pd.DataFrame, suffix: str = "") -> list[str]:
    """Cells as the ledger shows them.

    Examples
    --------
    >>> texts(pd.DataFrame({"status": ["found", "failed", "value"], "exponent": [0, 0, -9], "complexity": [0, 0, 12]}))
    ['found', '-', '1e-9 (12)']
    """
    rows = zip(*(cells[name + suffix] for name in CELL), strict=True)
    return [{"found": status, "failed": "-"}.get(status, f"1e{power} ({size})") for status, power, size in rows]


def compare_cells(scored: pd.DataFrame, tables, named: str = "method") -> pd.DataFrame:
    """Clean cells beside the published ones; `named`: which column of `labels` has the methods, or ``package``.

    Two cells are equal if both are check marks, or have the same power of ten (to which the paper rounds the error) and
    the same complexity; two failures are no numbers. Size is counted by each method's published rule: nodes of SymPy's
    expression for linear methods, what the package itself states for genetic programming and uDSR, and for EQL what it
    prints.

    Returns dataset and method as printed; the columns of `printed_cells`, with ``_printed`` and with ``_rediscover``
    behind their names; partial: whether the answer here has one term too many or too few; equal; and not_run: whether
    the method refuses the system here, and the paper has more than a failure. Methods are in the order of methods.yaml.
    """
    names = labels("mdbench")[named].rename("method").rename_axis("label").reset_index()
    clean = names.merge(scored[np.isinf(scored["snr_db"])], on="method")
    error = clean["nmse_power"].where(clean["nmse_power"].between(0, np.inf, inclusive="neither"))
    own = clean["method"].isin([*GENETIC, "eql_released", "udsr_released"])
    size = clean["complexity_own"].where(own, clean["complexity_mdbench"])
    cells = pd.DataFrame({"dataset": clean["problem"].map(label), "method": clean["label"]})
    cells["refused"] = clean["status"] == "unsupported"
    cells["partial"] = clean["partial"] == 1
    cells["status"] = np.select([clean["identified"] == 1, error.isna()], ["found", "failed"], "value")
    for name, values in (("exponent", np.log10(error)), ("complexity", size)):
        cells[name] = values.where(cells["status"] == "value").round().astype("Int64")
    printed = pd.concat(map(printed_cells, tables))
    table = cells.merge(printed, on=["dataset", "method"], suffixes=("_rediscover", "_printed"))
    same = [table[f"{name}_printed"] == table[f"{name}_rediscover"] for name in CELL]
    number = (table["status_printed"] == "value") & same[1] & same[2]
    equal = same[0] & ((table["status_printed"] == "found") | number)
    columns = [f"{name}_{source}" for source in ("printed", "rediscover") for name in CELL]
    not_run = table["refused"] & (table["status_printed"] != "failed")
    return table[["dataset", "method", *columns, "partial"]].assign(equal=equal.astype(bool), not_run=not_run)


def count_equal(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells of `compare_cells` per method: all but those not run, equal ones, check marks printed, recovered, new."""
    cells = cells[~cells["not_run"]]
    printed, found = (cells[f"status_{source}"] == "found" for source in ("printed", "rediscover"))
    marks = {"printed_marks": printed, "recovered_marks": printed & found, "new_marks": ~printed & found}
    counted = cells.assign(cells=1, **marks).groupby("method", sort=False)
    return counted[["cells", "equal", *marks]].sum()


def missing(scored: pd.DataFrame, printed, snr_db=()) -> str:
    """Why methods, by the labels of the paper, have no scores, or none at a level of noise; empty if all do."""
    known = labels("mdbench").loc[list(printed)]
    ran = [set(scored.loc[scored["method"] == name, "snr_db"]) for name in known["method"]]
    reasons = []
    for name, reason, levels in zip(known.index, known["reason"], ran, strict=True):
        if not levels:
            reasons.append(f"{name}: {reason or 'not in this profile'}")
        elif not levels >= set(snr_db):
            reasons.append(f"{name}: not run at all levels of noise")
    return "; ".join(reasons)


def signed_rank(scored, a, b, measure, snr_db, *, condition="", log=False, by_system=True) -> dict | None:
    """One-sided signed-rank test that `a` is lower, over systems, or over (problem, noise) cells as published.

    Pairs are cells in which both have a finite value; cells of one system depend on each other, so `by_system` averages
    them first. Pairs whose relative difference is `ROUNDING` at most are one answer found by two ways, and count as
    equal. With `log` differences of logarithms are ranked, as in the paper for errors on ODEs; `snr_db` are the levels
    that count. In the row, of `schema.PAIRED_TEST`, w_minus is the sum of the ranks that go as claimed. None without
    pairs.
    """
    scored = scored[scored["snr_db"].isin(snr_db) & scored["method"].isin([a, b])]
    pair = scored.pivot_table(index=["problem", "snr_db"], columns="method", values=measure)
    pair = pair.reindex(columns=[a, b]).astype(float)
    pair[b] = pair[b].where(~np.isclose(pair[a], pair[b], rtol=ROUNDING, atol=0), pair[a])
    with np.errstate(divide="ignore"):
        pair = np.log10(pair) if log else pair
    pair = pair.replace([np.inf, -np.inf], np.nan).dropna()
    if pair.empty:
        return None
    pair = pair.groupby("problem").mean() if by_system else pair
    title = f"log10 {measure}" if log else measure
    return paired_test(pair[a], pair[b], (a, b), measure=title, condition=condition, alternative="less")


def implied_pairs(w: float, p: float, maximum: int) -> dict[str, int]:
    """Least and largest pair counts, up to `maximum`, for which a published W and p go together.

    Read as one-sided, W is the sum of the larger ranks; as two-sided, the smaller of both sums. The p value is that of
    the normal approximation, and at most `p`. What allows no count is not in the result.

    Examples
    --------
    >>> implied_pairs(455.0, 1e-4, 42)
    {'one_sided_min': 30, 'one_sided_max': 31}
    """
    n = np.arange(1, maximum + 1)
    z = (w - n * (n + 1) / 4) / np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    one = n[(w <= n * (n + 1) / 2) & (norm.sf(z) <= p)]
    two = n[(z <= 0) & (2 * norm.cdf(z) <= p)]
    ends = {"one_sided_min": one[:1], "one_sided_max": one[-1:], "two_sided_min": two[:1], "two_sided_max": two[-1:]}
    return {name: int(end[0]) for name, end in ends.items() if len(end)}


def run_times() -> pd.DataFrame:
    """Seconds of Table A7 beside ours, of what both have.

    Ours are in run_times.csv, which benchmarks/run_times.py writes: processor seconds of one core with the settings of
    trials.yaml. What PySINDy has is PySINDy's own; where that is refused, our own code does not stand in.

    Returns
    -------
    DataFrame
        Columns: dataset, method, printed, seconds (mean over seeds), least, most, values (of each seed), package
        (whether they are of PySINDy itself), own (mean of our own code), unranked (why the seconds cannot be ranked
        beside printed ones: another program than the paper's, or other rows; empty where they can).
    """
    timed = pd.read_csv(Path(__file__).with_name("run_times.csv"))
    timed["package"] = timed["program"] == timed["method"].map(labels("mdbench")["package"])
    seconds = timed.groupby(["dataset", "method", "package"], sort=False)["seconds"]
    ours = seconds.agg(seconds="mean", least="min", most="max", values=list).reset_index()
    own = ours[~ours["package"]].set_index(["dataset", "method"])["seconds"].rename("own")
    ours = ours[ours["package"] == ours["method"].isin(timed.loc[timed["package"], "method"])]
    table = published("mdbench_table_a7").rename(columns={"runtime_seconds": "printed"})
    table["printed"] = pd.to_numeric(table["printed"])
    found = table.merge(ours, on=["dataset", "method"]).join(own, on=["dataset", "method"]).dropna(subset="printed")
    fewer_rows = {"Operon": rules("mdbench")["evaluations_fields"]["says"]}
    why = found["method"].map(fewer_rows).fillna("our own code, another program than the paper's")
    found["unranked"] = why.mask(found["package"], "")
    return found[["dataset", "method", "printed", "seconds", "least", "most", "values", "package", "own", "unranked"]]


def ratios() -> pd.DataFrame:
    """Seconds of PDEFIND over those of WSINDy on the fields where `run_times` has both by the paper's own program.

    Returns
    -------
    DataFrame
        Index: dataset. Columns: printed, seconds (ours).
    """
    times = run_times().query("unranked == ''").set_index(["dataset", "method"])[["printed", "seconds"]]
    over = times.xs("PDEFIND", level="method") / times.xs("WSINDy", level="method")
    return over.dropna()
