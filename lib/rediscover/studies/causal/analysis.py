"""Table 4: a row of it, and the verdicts on its printed cells."""

import itertools

import pandas as pd

from ...problems import problem, problems
from ...report.comparisons import exact, labels
from ...report.ledger import combine, compare_table
from ...report.papers import published
from ...report.prediction import meets
from ...report.summaries import interval
from ...system.studies import studies
from .paper_runs import CONSTRAINT_BASED

F1_THRESHOLDS = (0.5, 0.7, 0.8)
MEASURES = ("f1", "precision", "recall", "fdr", *(f"acc_{level}" for level in F1_THRESHOLDS), "shd", "complexity")
GRAPHS = len(problems("causal"))
SLOWEST = 10  # graphs: how far the effect of the time limit on LPCMCI is followed


def row(scored: pd.DataFrame, rule: str = "triples", total: int | None = None) -> dict[str, float]:
    """A row of Table 4: measure -> percent, or a count (shd, complexity); means over graphs with an answer.

    Parameters
    ----------
    scored : DataFrame
        Scores of one method, a row a graph. Columns: scoring (empty where there is an answer) and those of
        `graph_scores`.
    rule : one of `scores.RULES`
    total : graphs that the shares at the thresholds of F1 are of; by default the rows of `scored`
    """
    answered = scored[scored["scoring"] == ""]
    cells = {m: 100 * answered[f"{m}_{rule}"].mean() for m in ("f1", "precision", "recall", "fdr")}
    for threshold in F1_THRESHOLDS:
        cells[f"acc_{threshold}"] = 100 * (answered[f"f1_{rule}"] >= threshold).sum() / (total or len(scored))
    return cells | {"shd": answered["shd"].mean(), "complexity": answered["edges"].mean()}


def printed_labels() -> dict[str, str]:
    """Label in Table 4 -> constraint-based method here."""
    names = labels("symbolbench")["method"]
    return names[names.isin(CONSTRAINT_BASED)].to_dict()


def time_limit(stored: pd.DataFrame, left_out=None) -> pd.DataFrame:
    """The row of LPCMCI if some of its graphs had met a limit, and how many of the cells round to the print.

    Parameters
    ----------
    stored : from `paper_runs`
    left_out : sets of graphs; by default the slowest 0, 1, 2, ... `SLOWEST`

    Returns
    -------
    DataFrame
        Index: without (the names of the graphs left out). Columns: scored, `MEASURES`, as_printed.
    """
    printed = published("symbolbench_table4").query("model == 'LPCMCI'").set_index("metric")["value"]
    answered, rows = slowest_first(stored), []
    default = [answered["problem"][:n] for n in range(min(SLOWEST, len(answered)) + 1)]
    for names in (default if left_out is None else left_out) if len(answered) else ():
        part = answered[~answered["problem"].isin(names)]
        cells = row(part, total=GRAPHS)
        same = [meets(printed[name], cells[name], cells[name]) for name in MEASURES]
        without = ", ".join(name.removeprefix("causal/") for name in names)
        rows.append({"without": without, "scored": len(part)} | cells | {"as_printed": sum(same)})
    return pd.DataFrame(rows, columns=["without", "scored", *MEASURES, "as_printed"]).set_index("without")


def slowest_first(stored: pd.DataFrame) -> pd.DataFrame:
    """The answers of LPCMCI among the stored runs."""
    answered = stored[(stored["method"] == "lpcmci") & (stored["scoring"] == "")]
    return answered.sort_values("seconds", ascending=False, kind="stable")


def stopped(stored: pd.DataFrame, most: int = 2) -> list[str]:
    """Sets of up to `most` of the slowest graphs, such as ``C001, C002``, without which LPCMCI's row is printed."""
    slow = sorted(slowest_first(stored)["problem"][:SLOWEST])
    rows = time_limit(stored, itertools.chain(*(itertools.combinations(slow, n) for n in range(most + 1))))
    return rows.index[rows["as_printed"] == len(MEASURES)].tolist()


def beside_reference(released: pd.DataFrame, reference: pd.DataFrame) -> pd.DataFrame:
    """F1 of released runs, in percent, beside that of a graph without data on the same graphs.

    Parameters
    ----------
    released : from `claims.quietest`
    reference : scores of one graph, indexed by problem. Columns: f1_pairs, f1_directed

    Returns
    -------
    DataFrame
        Index: method. Columns: graphs, pairs, reference_pairs, directed, reference_directed, and the mean of directed
        minus reference_directed (difference) with its bootstrap interval over graphs (low, high).
    """
    rows = {}
    for name, part in released.dropna(subset="f1_directed").groupby("method"):
        found = 100 * part.groupby("problem")[["f1_pairs", "f1_directed"]].mean()
        other = 100 * reference.loc[found.index, list(found)]
        apart = interval((found - other)["f1_directed"])
        row = {"graphs": len(found), "pairs": found["f1_pairs"].mean(), "reference_pairs": other["f1_pairs"].mean()}
        row |= {"directed": found["f1_directed"].mean(), "reference_directed": other["f1_directed"].mean()}
        rows[name] = row | {"difference": apart["value"], "low": apart["low"], "high": apart["high"]}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def figures(released: pd.DataFrame) -> pd.DataFrame:
    """Figure 3 (b) from the released runs (`derive.released`), and Figure 4 (c) from the graphs."""
    runs = released[(released["model"] == "Qwen3-1.7B") & (released["noise"] == 0)].groupby("reasoning")
    means = runs[[f"{name}_triples" for name in ("precision", "recall", "f1")]].mean()
    bars = exact({(c.removesuffix("_triples"), kind): means.loc[kind, c] for kind in means.index for c in means})
    for (_, kind), cell in bars.items():
        cell["reason"] = f"{runs.size()[kind]} released runs"
    sizes = pd.Series([len(problem(id).inputs) for id in problems("causal")]).value_counts()
    counts = exact({(str(variables),): int(graphs) for variables, graphs in sizes.items()})
    return combine([compare_table("symbolbench_figure3b_graphs", bars), compare_table("symbolbench_figure4c", counts)])


def ledger(stored: pd.DataFrame) -> pd.DataFrame:
    """Published Table 4 beside the stored runs (from `paper_runs`) by the rule for baselines."""
    measured, rounded = {}, studies()["causal"]["arithmetic"]
    for label, name in printed_labels().items():
        part = stored[stored["method"] == name]
        if part.empty:
            continue
        reason = f"{(part['scoring'] == '').sum()} of {len(part)} recorded graphs answered"
        if name == "lpcmci":
            cuts = time_limit(part)
            reason += "".join(f"; the printed row without {names}" for names in stopped(part))
        for measure, value in row(part, total=GRAPHS).items():
            entry = {"value": value, "low": value, "high": value, "reason": reason}
            if len(part) < GRAPHS:
                entry["verdict"] = "not comparable"  # of runs that were not finished
            elif name == "lpcmci":
                entry |= {"low": cuts[measure].min(), "high": cuts[measure].max(), "rule": "time_limit"}
            elif other := rounded.get(label, {}).get(measure):
                entry |= {"rule": "last_bit", "reason": f"{reason}; {' '.join(other)}"}
            measured[label, measure] = entry
    return compare_table("symbolbench_table4", measured)
