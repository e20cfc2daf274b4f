"""The study of SymbolBench's Boolean networks: its pictures, tables, claims and ledger."""

import math

import numpy as np
import pandas as pd
from scipy import stats

from ...methods import method
from ...metrics.boolean import truth_table_inputs
from ...problems.boolean import extra_ids, ids, load
from ...report.ledger import combine, compare
from ...report.papers import catalogue, published
from ...report.plots import intervals, style
from ...report.statistics import holm, paired_wilcoxon
from ...report.summaries import interval, summary

CLAIMS = ("SY-03", "SY-04", "SY-14")  # of SymbolBench's fifteen, those about Boolean networks alone
NETWORKS = 65
REFERENCES = ("identity", "majority")
SPLITS = ("id", "ood")
PUBLISHED = {  # measure of the paper -> what the release computes
    "precision": "precision_pooled",
    "recall": "recall_pooled",
    "f1": "f1_pooled",
    "accuracy": "accuracy_pooled",
    "bookmaker_informedness": "informedness_pooled",
}
SHORT = {"precision": "P", "recall": "R", "accuracy": "acc", "bookmaker_informedness": "BI"}
RELEASED_SIZES = {7: 6}  # Figure 4b as released, where it differs from the networks
TABLE7 = {"population": 15, "generations": 15, "elites": 3}  # LogicGEP's settings there, as released


def census(networks) -> pd.DataFrame:
    """Number of networks, inputs, rules and transitions for each number of nodes."""
    rows = []
    for network in networks:
        data = network.data(0)
        rows.append(
            {
                "nodes": len(network.inputs),
                "networks": 1,
                "inputs": len(network.inputs) - len(network.truth),
                "rules": len(network.truth),
                "transitions, training": len(data["train"].X),
                "transitions, test": len(data["test"].X),
            }
        )
    return pd.DataFrame(rows).groupby("nodes").sum()


def smallest_extra(count: int) -> list:
    """The smallest networks of the Cell Collective."""
    networks = [load(name) for name in extra_ids()]
    return sorted(networks, key=lambda network: (len(network.inputs), network.id))[:count]


def sizes():
    """Figure 4b: how many networks have how many nodes, and where the released figure counts otherwise."""
    import matplotlib.pyplot as plt

    nodes = [len(load(name).inputs) for name in ids()]
    counts = pd.Series(nodes).value_counts().sort_index()
    with style():
        figure, ax = plt.subplots(figsize=(5, 2.6))
        ax.bar(counts.index, counts, color="#0072b2", label=f"the {counts.sum()} networks")
        released = {"mfc": "none", "mec": "black", "label": "released figure"}
        ax.plot(RELEASED_SIZES.keys(), RELEASED_SIZES.values(), "d", **released)
        ax.set(xlabel="nodes", ylabel="networks", xticks=range(min(nodes), max(nodes) + 1, 3))
        ax.legend(loc="upper left")
    return figure


def state_graph(network):
    """All states of a small network: a run from each of 30 random starts, and which state follows which.

    States stand in columns by the number of steps to their attractor, which is the first column.
    """
    import matplotlib.pyplot as plt

    states = truth_table_inputs(len(network.inputs))
    after = network.step(states) @ (1 << np.arange(len(network.inputs))[::-1])
    steps = distance(after)
    place = np.zeros(len(states))
    for column in range(steps.max() + 1):
        rows = np.flatnonzero(steps == column)
        place[rows] = np.linspace(-1, 1, len(rows) + 2)[1:-1]
    train = network.data(0)["train"]
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[1, 2])
        left.imshow(np.hstack([train.X, train.y]), cmap="Greys", aspect="auto", interpolation="nearest")
        left.axvline(train.X.shape[1] - 0.5, color="#d55e00")
        left.set(title="training: state | next values", xlabel="node", ylabel="transition", xticks=[])
        left.grid(False)
        for state, following in enumerate(after):
            start, end = (steps[state], place[state]), (steps[following], place[following])
            if state != following:
                right.annotate(
                    "", end, start, arrowprops={"arrowstyle": "->", "color": "#56b4e9", "lw": 0.8, "shrinkB": 3}
                )
        right.scatter(steps, place, c=np.where(steps, "#0072b2", "#d55e00"), s=16, zorder=3)
        right.set(title="state-transition graph", xlabel="steps to the attractor", yticks=[])
        right.set_xticks(range(steps.max() + 1))
    return figure


def distance(after) -> np.ndarray:
    """Steps from each state to a cycle of the map state -> after[state]; 0 on a cycle.

    >>> distance([1, 0, 1, 2]).tolist()
    [0, 0, 1, 2]
    """
    after = np.asarray(after)
    on = np.arange(len(after))
    for _ in range(len(after)):
        on = np.unique(after[on])  # what is left after many steps are the cycles
    cyclic = np.isin(np.arange(len(after)), on)
    steps, at = np.zeros(len(after), dtype=int), np.arange(len(after))
    while not cyclic[at].all():
        steps += ~cyclic[at]
        at = np.where(cyclic[at], at, after[at])
    return steps


def columns(measures=tuple(PUBLISHED)) -> list[str]:
    return [f"{PUBLISHED[measure]}_{split}" for split in SPLITS for measure in measures]


def row(scored, total: int | None = None) -> dict[tuple[str, str], float]:
    """A row of Tables 3 and 7 in the paper's units: (split, measure) -> percent, or a count where split is ''.

    Parameters
    ----------
    scored : scores of one method and seed
    total : networks in the denominators of the levels, those without a result among them; by default those scored
    """
    cells = {}
    for split in SPLITS:
        for measure, column in PUBLISHED.items():
            cells[split, measure] = 100 * scored[f"{column}_{split}"].mean()
        for level in (0.5, 0.7, 0.8):
            passed = (scored[f"f1_pooled_{split}"] >= level).sum()
            cells[split, f"acc_{level}"] = 100 * passed / (total or len(scored))
    cells["", "symbolic_proximity"] = scored["proximity_classes"].mean()
    cells["", "complexity"] = scored["operations"].mean()
    return cells


def table(scored, out, name: str, caption: str) -> str:
    """Percent by method, mean over networks and seeds; printed rows of Table 3 that bound the models below them."""
    rows = {}
    for key, group in scored.groupby("method", sort=False):
        cells = row(group)
        rows[key] = {f"{label} {s}": cells[s, m] for s in SPLITS for m, label in SHORT.items()}
        for column in ("f1_macro_id", "f1_macro_ood", "rules_equivalent"):
            rows[key][column.replace("_", " ")] = 100 * group[column].mean()
    printed = published("symbolbench_table3")
    for label, part in (
        ("LogicGep, printed", printed[printed["model"] == "LogicGep"]),
        ("best language model, printed", printed[printed["model"] != "LogicGep"]),
    ):
        best = part.assign(value=part["value"].astype(float)).groupby(["split", "metric"])["value"].max()
        rows[label] = {f"{short} {s}": best.get((s, m), np.nan) for s in SPLITS for m, short in SHORT.items()}
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
    return out.table(frame, name, caption=caption)


def overview(scored):
    """Informedness of each method on training and test transitions, with 95 % intervals over networks (mean over
    seeds), LogicGep's printed values as diamonds, and the best printed language model as a line."""
    panels = {
        "informedness_pooled_id": "informedness, training transitions\n(higher is better)",
        "informedness_pooled_ood": "informedness, unseen states\n(higher is better)",
    }
    means = scored.groupby(["method", "problem"], sort=False)[list(panels)].mean().reset_index()
    tidy = summary(means, ["method"], list(panels))
    known = catalogue("symbolbench").set_index("label")["ours"]
    printed = published("symbolbench_table3").query("metric == 'bookmaker_informedness'")
    reference = {
        (known[r.model], f"informedness_pooled_{r.split}"): float(r.value) / 100
        for r in printed.itertuples()
        if known.get(r.model) in set(scored["method"])
    }
    figure = intervals(tidy, row="method", panel="metric", label=panels, reference=reference, linear=list(panels))
    best = _models().query("metric == 'bookmaker_informedness'").groupby("split")["value"].max() / 100
    for ax, split in zip(figure.axes, SPLITS, strict=True):
        ax.axvline(best[split], color="#777777", lw=1, ls="--", zorder=0)
        ax.set(xlim=(min(0.0, ax.get_xlim()[0]), 1.03), xticks=[0, 0.25, 0.5, 0.75, 1])
        ax.set_xticklabels(["0", "", "0.5", "", "1"])
    figure.axes[0].annotate("best printed\nlanguage model", (best["id"] + 0.02, 0.3), size=7, va="center")
    figure.axes[1].annotate("diamonds: LogicGep, printed", (best["ood"] + 0.02, 4.3), size=7, va="center")
    return figure


def headline(scored) -> pd.DataFrame:
    """References that learn nothing beside the printed language models, in percent.

    Returns
    -------
    DataFrame by method, split and measure: value with its 95 % interval over networks (mean over seeds), the best
    printed language model, and how many of the printed rows are below and above the interval
    """
    printed = _models()
    rows = []
    for name in (name for name in (*REFERENCES, "truth_table") if name in set(scored["method"])):
        means = scored[scored["method"] == name].groupby("problem")[columns()].mean()
        for split in SPLITS:
            for measure, label in SHORT.items():
                found = interval(100 * means[f"{PUBLISHED[measure]}_{split}"])
                values = printed.query("split == @split and metric == @measure")["value"]
                rows.append(
                    {
                        "method": name,
                        "measure": f"{label} {split}",
                        **{key: found[key] for key in ("value", "low", "high")},
                        "best model": values.max(),
                        "models below": int((values < found["low"]).sum()),
                        "models above": int((values > found["high"]).sum()),
                        "models": len(values),
                    }
                )
    return pd.DataFrame(rows).set_index(["method", "measure"])


def _models() -> pd.DataFrame:
    """Rows of Table 3 that are language models."""
    printed = published("symbolbench_table3")
    return printed[printed["model"] != "LogicGep"].assign(value=lambda frame: frame["value"].astype(float))


def by_seed(scored, name: str) -> pd.DataFrame:
    """Informedness in percent of one method, by seed; transitions and search are both drawn anew."""
    part = scored[scored["method"] == name].groupby("seed")
    return 100 * part[columns(["bookmaker_informedness"])].mean()


def next_run(values) -> dict[str, float]:
    """Mean of some runs, and where one run more would lie with probability 95 %.

    The prediction interval of Student, mean ± t s √(1 + 1/n): what a printed number, which is one run, is
    compared with. The range of n runs would miss one run more of the same program 2 times in n + 1.

    Examples
    --------
    >>> {key: round(value, 2) for key, value in next_run([1.0, 2.0, 3.0]).items()}
    {'value': 2.0, 'low': -2.97, 'high': 6.97}
    """
    values = np.asarray(values, dtype=float)
    n, mean = len(values), float(values.mean())
    width = stats.t.ppf(0.975, n - 1) * values.std(ddof=1) * math.sqrt(1 + 1 / n) if n > 1 else 0.0
    return {"value": mean, "low": float(mean - width), "high": float(mean + width)}


def pairwise(scored) -> pd.DataFrame:
    """Wilcoxon tests over networks (mean over seeds) of `truth_table` against the others, Holm-corrected."""
    rows = []
    for split in SPLITS:
        column = f"informedness_pooled_{split}"
        wide = scored.pivot_table(index="problem", columns="method", values=column)
        for other in (name for name in wide if name != "truth_table"):
            test = paired_wilcoxon(wide["truth_table"], wide[other])
            rows.append(test.rename(f"truth_table - {other}, {split}"))
    frame = pd.DataFrame(rows)[["n_pairs", "n_zeros", "median", "effect", "p"]].infer_objects()
    frame["p_holm"] = holm(frame["p"].astype(float))
    return frame.rename_axis("pair")


def variants(released, complete) -> pd.DataFrame:
    """Informedness in percent on the transitions as released, and with the steps that close a run."""
    frames = {"released": released, "complete": complete}
    parts = {
        f"BI {split}, {name}": 100 * f.groupby("method", sort=False)[f"informedness_pooled_{split}"].mean()
        for name, f in frames.items()
        for split in SPLITS
    }
    return pd.DataFrame(parts).rename_axis("method")


def table7_method():
    """LogicGEP as Table 7 has it."""
    return method("logicgep", **TABLE7)


def claims(scored, small) -> dict[str, tuple[str, str]]:
    """Verdict and finding for each of `CLAIMS`; `scored` and `small` as in `ledger`."""
    printed = _models().query("metric == 'bookmaker_informedness'").groupby("split")["value"]
    best, worst, models = printed.max(), printed.min(), printed.count()
    n = scored["problem"].nunique()
    ours = 100 * scored.groupby(["method", "problem"])[columns(["bookmaker_informedness"])].mean()
    ours.columns = SPLITS
    gep = {split: interval(ours.loc["logicgep", split]) for split in SPLITS}
    identity = {split: interval(ours.loc["identity", split]) for split in SPLITS}

    def both(values, key=None):
        numbers = (values[split] if key is None else values[split][key] for split in SPLITS)
        return " and ".join(f"{number:.1f}" for number in numbers)

    ahead = all(gep[s]["low"] > best[s] for s in SPLITS)
    beats = (
        f"informedness, in distribution and out of it, on {n} of {NETWORKS} networks: logicgep "
        f"{both(gep, 'value')} (95 % from {both(gep, 'low')}), best printed model {both(best)}; truth_table "
        f"{both(ours.loc['truth_table'].mean())}"
    )
    below = {s: sum(value < identity[s]["low"] for value in printed.get_group(s)) for s in SPLITS}
    above = {s: sum(value > identity[s]["high"] for value in printed.get_group(s)) for s in SPLITS}
    chance = (
        f"models were not run; all printed values are above 0 (least {both(worst)}, best {both(best)}), but the "
        f"identity map, which learns nothing, has {both(identity, 'value')} (95 % to {both(identity, 'high')}): of "
        f"{models['id']} printed models {below['id']} and {below['ood']} are below its interval, {above['id']} and "
        f"{above['ood']} above"
    )
    rows = published("symbolbench_table7").query("metric == 'f1'").astype({"value": float})
    rows = rows.pivot(index="split", columns="method", values="value")
    gain = rows["LogicGep + LLM-as-Judge"] - rows["LogicGep"]
    seeds = 100 * small.groupby("seed")[["f1_pooled_id", "f1_pooled_ood"]].mean()
    width = (seeds.max() - seeds.min()).set_axis(SPLITS)
    judged = (
        f"the judge was not run; the printed gains in F1, {both(gain)}, are of one run each, and {len(seeds)} runs of "
        f"LogicGEP without a judge differ by up to {both(width)}"
    )
    return {
        "SY-03": ("untestable here" if n < NETWORKS else "holds" if ahead else "fails", beats),
        "SY-04": ("untestable here", chance),
        "SY-14": ("untestable here", judged),
    }


def without_one(scored) -> list[dict[tuple[str, str], float]]:
    """Rows of Table 3 as if one network, each in turn, had no result: it leaves the means and stays in the levels.

    The printed row of LogicGep is one of them. Its levels 0.5 and 0.7 in distribution are 98.5, which is 64 of 65.
    """
    return [
        row(group[group["problem"] != network], total=len(group))
        for _, group in scored.groupby("seed")
        for network in group["problem"]
    ]


def ledger(scored, small) -> pd.DataFrame:
    """Published Tables 3 and 7 beside ours.

    A printed value is one run, and is reproduced where it lies within the range of ours, which draw transitions and
    search anew; in Table 3 within the range of `without_one`. The reason of each entry has the range over seeds alone
    too, and says where `next_run` expects one run more.

    Parameters
    ----------
    scored : scores of the main grid
    small : scores of `table7_method`
    """
    tables = []
    for name, file, part in (("Table 3", "table3", scored), ("Table 7", "table7", small)):
        part = part[part["method"] == "logicgep"]
        if name == "Table 7":
            part = part.assign(operations=part["operations"] / part["problem"].map(rules))
        seeds = [row(group) for _, group in part.groupby("seed")]
        rows = published(f"symbolbench_{file}").rename(columns={"method": "model"})
        possible, tolerance = seeds, "printed digit within the range over seeds"
        if name == "Table 3":
            possible, tolerance = without_one(part), f"{tolerance} and over the network without a result"
        tables.append(
            compare(
                "SymbolBench",
                name,
                rows if "setting" in rows else rows.assign(setting=""),
                _measured(seeds, possible, part["problem"].nunique()),
                keys=["model", "split", "metric"],
                row="{model} {setting}",
                column="{split} {metric}",
                absent={"*": ("not run", "needs a language model")},
                definition="as released, transitions simulated anew",
                tolerance=tolerance,
            )
        )
    return combine(tables)


def _measured(seeds: list[dict], possible: list[dict], networks: int) -> dict[tuple, dict]:
    """LogicGEP's cells for `compare`: the mean over `seeds`, the range of the `possible` rows."""
    measured = {}
    for split, measure in seeds[0]:
        values, others = ([cells[split, measure] for cells in rows] for rows in (seeds, possible))
        more = next_run(values)
        entry = {"value": more["value"], "low": min(others), "high": max(others)}
        entry["reason"] = (
            f"{len(values)} seeds {min(values):.4g} to {max(values):.4g}; "
            f"one run more {more['low']:.4g} to {more['high']:.4g}; {networks} networks"
        )
        if networks < NETWORKS:
            entry |= {"verdict": "not comparable", "reason": f"{networks} of {NETWORKS} networks"}
        for where in (split,) if split else ("", *SPLITS):  # Table 7 prints the complexity beside both splits
            measured["LogicGep", where, measure] = entry
    return measured


def logicgep_rows(ledger) -> pd.DataFrame:
    """LogicGep's entries of the ledger: printed, ours, the range that decides, those of seeds and of one run more."""
    part = ledger[ledger["row"] == "LogicGep"].copy()
    for column, pattern in (("seeds", r"seeds (.*?);"), ("one run more", r"one run more (.*?);")):
        part[column] = part["reason"].str.extract(pattern)[0]
    part["cell"] = part["table"].str.replace("Table ", "T") + " " + part["column"]
    columns = ["published", "measured", "low", "high", "seeds", "one run more", "verdict"]
    return part.set_index("cell")[columns]


def rules(id: str) -> int:
    """Number of rules of a network."""
    return len(load(id.split("/")[1]).truth)
