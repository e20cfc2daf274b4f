"""LogicGEP's rows of Tables 3 and 7, and the verdicts on the printed cells."""

import pandas as pd

from ...problems.boolean import ids
from ...problems.boolean import load as network
from ...report.ledger import compare_table
from ...report.prediction import interval
from ...report.scores import by_seed

NETWORKS = len(ids())
SPLITS = ("id", "ood")
# As the paper calls them -> as the scores do.
MEASURES = {name: f"{name}_pooled" for name in ("precision", "recall", "f1", "accuracy")}
MEASURES |= {"bookmaker_informedness": "informedness_pooled"}
F1_THRESHOLDS = (0.5, 0.7, 0.8)


def row(scored: pd.DataFrame, networks: int | None = None) -> dict[tuple[str, str], float]:
    """A row of Tables 3 and 7: (split, measure) -> percent, or a count where split is ''.

    Parameters
    ----------
    scored : DataFrame
        Scores of one method and seed, a row a network. Columns: those of `MEASURES` with ``_id`` and ``_ood``,
        proximity_classes, operations.
    networks : how many the shares at the thresholds of F1 are of; by default those scored
    """
    cells = {}
    for split in SPLITS:
        for measure, column in MEASURES.items():
            cells[split, measure] = 100 * scored[f"{column}_{split}"].mean()
        for threshold in F1_THRESHOLDS:
            passed = (scored[f"f1_pooled_{split}"] >= threshold).sum()
            cells[split, f"acc_{threshold}"] = 100 * passed / (networks or len(scored))
    cells["", "symbolic_proximity"] = scored["proximity_classes"].mean()
    cells["", "complexity"] = scored["operations"].mean()
    return cells


def without_one(scored: pd.DataFrame) -> list[dict[tuple[str, str], float]]:
    """Rows of Table 3 as if one network, each in turn, had no result: it leaves means, not denominators.

    The printed row is one of them: its shares at F1 0.5 and 0.7 in distribution are 98.5 %, which is 64 of 65.

    Parameters
    ----------
    scored : scores of one method, as for `row`, with problem and seed
    """
    return [
        row(group[group["problem"] != name], networks=len(group))
        for _, group in scored.groupby("seed")
        for name in group["problem"]
    ]


def cells(table: str, scored: pd.DataFrame) -> pd.DataFrame:
    """LogicGEP's numbers for a printed table, with the intervals that they are compared by.

    Parameters
    ----------
    table : ``symbolbench_table3`` (the printed row lacks a network) or ``symbolbench_table7`` (complexity is per rule)
    scored : scores of LogicGEP with the settings of that table, as for `without_one`

    Returns
    -------
    DataFrame
        Index: split, metric. Columns: parameters (`report.scores.by_seed`); value, low, high (`prediction.next_run`);
        seeds_low, seeds_high (range over seeds); without_low, without_high (over the network without a result too; in
        Table 3).
    """
    networks = scored["problem"].nunique()
    if table == "symbolbench_table7":
        rules = scored["problem"].map(lambda id: len(network(id.split("/")[1]).truth))
        scored = scored.assign(operations=scored["operations"] / rules)
    seeds = pd.DataFrame([row(group) for _, group in scored.groupby("seed")])
    found = {cell: by_seed(cell[1], runs, networks) for cell, runs in seeds.items()}
    frame = pd.DataFrame({cell: interval(parameters) for cell, parameters in found.items()}).T
    frame = frame.assign(seeds_low=seeds.min(), seeds_high=seeds.max(), parameters=pd.Series(found))
    if table == "symbolbench_table3":
        possible = pd.DataFrame(without_one(scored))
        frame = frame.assign(without_low=possible.min(), without_high=possible.max())
    frame.index = frame.index.set_names(["split", "metric"])
    # Table 7 prints the complexity beside both splits.
    return pd.concat([frame, *(frame.loc[[""]].rename({"": split}, level="split") for split in SPLITS)])


def ledger(table: str, scored: pd.DataFrame, networks: int = NETWORKS) -> pd.DataFrame:
    """Every printed cell of a table with its verdict (see `report.ledger.compare`).

    Parameters
    ----------
    table, scored : as for `cells`
    networks : with fewer than these nothing is comparable
    """
    found, measured = scored["problem"].nunique(), {}
    for cell in cells(table, scored).reset_index().to_dict("records"):
        entry = {"value": cell["value"], "parameters": cell["parameters"], "reason": f"{found} networks"}
        if "without_low" in cell:
            span = f"{cell['without_low']:.4g} to {cell['without_high']:.4g}"
            entry["reason"] += f", and {span} without one of them (the printed row lacks one)"
        if found < networks:
            entry |= {"verdict": "not comparable", "reason": f"{found} of {networks} networks"}
        measured["LogicGep", cell["split"], cell["metric"]] = entry
    return compare_table(table, measured)
