"""The package PySINDy beside our own code: which cells are the package's, and how far apart both are."""

import numpy as np
import pandas as pd

from ...methods.sparse_dynamics import coefficients
from ...report.comparisons import labels
from ...report.verdicts import recorded
from .analysis import ROUNDING, compare_cells, texts

COLUMNS = ["problem", "method", "status", "same_terms", "difference"]
COLUMNS += ["nmse_power", "nmse_power_own", "identified", "identified_own"]


def in_place(cells: pd.DataFrame, packages: pd.DataFrame, tables) -> pd.DataFrame:
    """Cells of `analysis.compare_cells`, a package's where it answered.

    Parameters
    ----------
    packages : scores of packages, as of `analysis.score`; where one refused, our own cell stays

    Returns
    -------
    DataFrame
        As `cells`, with two columns more: ours (our own cell as `analysis.texts`, beside one of a package) and kind (of
        evidence, of a cell of a package), which are empty elsewhere.
    """
    keys, answered = ["dataset", "method"], packages[packages["status"] == "ok"]
    cells = cells.assign(ours="", kind="")
    theirs = compare_cells(answered, tables, "package").merge(cells[keys]).set_index(keys)
    cells = cells.set_index(keys)
    prefixes = answered["problem"].str.split("/").str[0].unique()
    names = labels("mdbench")["package"].reindex(theirs.index.get_level_values("method"))
    theirs["kind"] = ["recorded" if any(recorded(one, name) for one in prefixes) else "rerun" for name in names]
    theirs["ours"] = texts(cells.loc[theirs.index], "_rediscover")
    rest = cells[~cells.index.isin(theirs.index)]
    return pd.concat([rest, theirs[cells.columns]]).loc[cells.index].reset_index()


def beside(packages: pd.DataFrame, scored: pd.DataFrame) -> pd.DataFrame:
    """Each clean answer of a package and our own: a row for each system that both treat.

    Returns
    -------
    DataFrame
        Columns: problem, method (the package), status (of the package), same_terms, difference (the largest of a
        coefficient, relative, where the terms are the same; 0 where it is rounding), nmse_power and identified, each
        also with ``_own``.
    """
    own = {row.package: row.method for row in labels("mdbench").itertuples() if row.package}
    clean = scored[np.isinf(scored["snr_db"])].set_index(["problem", "method"])
    rows = []
    for one in packages.itertuples():
        if (key := (one.problem, own[one.method])) not in clean.index:
            continue
        other, same, difference = clean.loc[key], False, np.nan
        if one.status == other["status"] == "ok":
            theirs, ours = ({s: coefficients(t) for s, t in x.items()} for x in (one.solution, other["solution"]))
            same = all(theirs[state].keys() == ours[state].keys() for state in ours)
            pairs = [(theirs[s][t], c) for s, terms in ours.items() for t, c in terms.items()] if same else []
            difference = max((abs(a / b - 1) for a, b in pairs), default=np.nan)
            difference = 0.0 if difference < ROUNDING else difference
        row = {"problem": one.problem, "method": one.method, "status": one.status}
        row |= {"same_terms": same, "difference": difference}
        for name in ("nmse_power", "identified"):
            row |= {name: getattr(one, name), f"{name}_own": other[name]}
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def summary(pairs: pd.DataFrame) -> pd.DataFrame:
    """Of `beside`, by package: systems, answered by it, with the same terms, and the largest difference among these.

    Also how many systems it and we identify.
    """
    grouped = pairs.assign(answered=pairs["status"] == "ok").groupby("method", sort=False)
    table = grouped[["answered", "same_terms", "identified", "identified_own"]].sum().astype(int)
    table.insert(0, "systems", grouped.size())
    return table.assign(
        largest_difference=grouped["difference"].max(), median_difference=grouped["difference"].median()
    )
