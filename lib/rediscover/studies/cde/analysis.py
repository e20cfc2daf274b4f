"""The study of SymbolBench's coupled differential equations: its pictures, tables and ledger."""

import json

import numpy as np
import pandas as pd

from ...expressions import parse
from ...problems import problem, problems
from ...problems.cde import simulate
from ...report.ledger import combine, compare
from ...report.papers import catalogue, published
from ...report.plots import colour, intervals, marker, style
from ...report.statistics import holm, paired_wilcoxon
from ...report.summaries import interval
from ...report.tables import CONTROLS

SPLITS = ("id", "ood")
ROUNDING = 0.005  # what rounding in the columns of Table 2 does to a correlation


def census(systems) -> pd.DataFrame:
    """Systems and flags by number of states."""
    flags = ("duplicate", "altered", "degenerate", "chaotic")
    rows = [{"states": int(s.subset), "systems": 1} | {flag: int(flag in s.flags) for flag in flags} for s in systems]
    return pd.DataFrame(rows).groupby("states").sum()


def dimensions(systems):
    """Figure 4 (a): number of systems by number of states, from ODEBench and from published models."""
    import matplotlib.pyplot as plt

    rows = [(int(s.subset), "S" if s.id.split("/")[1][0] == "S" else "P", "duplicate" in s.flags) for s in systems]
    parts = {
        "ODEBench": ("#0072b2", "", [d for d, source, _ in rows if source == "S"]),
        "published models": ("#e69f00", "", [d for d, source, again in rows if source == "P" and not again]),
        "the same model again": ("#e69f00", "////", [d for d, source, again in rows if source == "P" and again]),
    }
    with style():
        figure, ax = plt.subplots(figsize=(4.2, 2.6))
        bottom = np.zeros(4)
        for label, (face, hatch, found) in parts.items():
            counts = np.bincount(found, minlength=5)[1:5]
            ax.bar(range(1, 5), counts, bottom=bottom, color=face, hatch=hatch, edgecolor="white", label=label)
            bottom += counts
        for x, total in enumerate(bottom, 1):
            ax.annotate(f"{total:.0f}", (x, total), ha="center", va="bottom")
        ax.set(xlabel="number of states", ylabel="systems", xticks=range(1, 5), ylim=(0, 1.25 * bottom.max()))
        ax.grid(axis="x", visible=False)
        ax.legend(loc="upper left", ncols=1, bbox_to_anchor=(1.0, 1.0))
    return figure


def look(system, answers):
    """True trajectories from both initial states (lines) and those of answers (dashes).

    Parameters
    ----------
    system : CoupledODE
    answers : method -> (state -> text of its right-hand side)
    """
    import matplotlib.pyplot as plt

    t = system.times()
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True)
        for ax, split in zip(axes, SPLITS, strict=True):
            for i, state in enumerate(system.solution(split).T):
                ax.plot(t, state, color="#999999", lw=2.5, label="" if i else "truth")
            for name, texts in answers.items():
                equations = {state: parse(texts[state]) for state in system.inputs}
                states = simulate(equations, system.initial_state(split), t)
                ax.plot(t, states[:, 0], "--", color=colour(name), label=name)
                ax.plot(t, states[:, 1:], "--", color=colour(name))
            ax.set(xlabel="time", title={"id": "in distribution", "ood": "out of distribution"}[split])
        axes[0].set_ylabel("states")
        axes[0].legend()
    return figure


MEASURES = {  # (split, measure) of Table 2 -> our column
    ("id", "sr2"): "SR2, in distribution",
    ("id", "acc_0.9"): "ACC, in distribution",
    ("ood", "sr2"): "SR2, out of distribution",
    ("ood", "acc_0.9"): "ACC, out of distribution",
}


def shares(scored, failures: str = "kept") -> pd.DataFrame:
    """Contribution of each run to the measures of Table 2, in percent: their means are SR2 and ACC.

    Parameters
    ----------
    scored : DataFrame from `scores.table`
    failures : 'kept' (they count 0) or 'dropped' (NaN, as released, ID and OOD separately)

    Returns
    -------
    DataFrame, the identity of `scored` and the columns of `MEASURES`
    """
    out = scored[["problem", "subset", "method", "seed"]].copy()
    for split in SPLITS:
        r2 = scored[f"r2_trajectories_{split}"]
        r2 = r2.where(np.isfinite(r2))
        values = {"sr2": 100 * r2.clip(lower=0), "acc_0.9": (100.0 * (r2 >= 0.9)).where(r2.notna())}
        for measure, column in values.items():
            out[MEASURES[split, measure]] = column.fillna(0.0) if failures == "kept" else column
    return out


def row(scored, failures: str = "kept") -> dict[tuple[str, str], float]:
    """(split, measure) -> percent, for the systems of one method and dimension."""
    parts = shares(scored, failures)
    return {key: float(parts[column].mean()) for key, column in MEASURES.items()}


def printed() -> pd.DataFrame:
    """The measures of Table 2 as printed for language models and baselines, with values as numbers."""
    rows = published("symbolbench_table2").query("value != '' and split != ''")
    return rows.assign(value=rows["value"].astype(float), language=rows["setting"] != "")


def best_printed(dim: str, language: bool = True) -> dict[tuple[str, str], float]:
    """The largest printed value of a language model (or of a baseline), cell by cell."""
    part = printed().query("dim == @dim and language == @language")
    best = part.groupby(["split", "metric"])["value"].max()
    return {key: float(best.get(key, np.nan)) for key in MEASURES}


def table(scored, out, failures: str = "kept") -> str:
    """Table 2: SR2 and accuracy with intervals over systems, by dimension, and the largest printed values."""
    values, low, high, parts = {}, {}, {}, shares(scored, failures)
    valid = shares(scored, "dropped")
    for (dim, name), group in parts.groupby(["subset", "method"], sort=False):
        cells = {column: interval(group[column]) for column in MEASURES.values()}
        key = dim, name
        counts = [valid.loc[group.index, MEASURES[split, "sr2"]].count() for split in SPLITS]
        values[key] = {"valid": " ".join(map(str, counts))}
        values[key] |= {title: cell["value"] for title, cell in cells.items()}
        low[key], high[key] = ({t: cell[end] for t, cell in cells.items()} for end in ("low", "high"))
    for dim in dict.fromkeys(parts["subset"]):
        for label, language in (("best language model, printed", True), ("best baseline, printed", False)):
            values[dim, label] = {MEASURES[k]: v for k, v in best_printed(dim, language).items()}
    frame = pd.DataFrame.from_dict(values, orient="index").sort_index(level=0, sort_remaining=False)
    frame["valid"] = frame["valid"].fillna("")
    frame.index.names = ["states", "method"]
    bounds = [
        pd.DataFrame.from_dict(ends, orient="index").reindex(frame.index, columns=frame.columns) for ends in (low, high)
    ]
    caption = f"SymbolBench Table 2, percent, failures {failures}; valid: runs with a score, ID and OOD"
    texts = _bracketed(frame, *bounds)
    out.runs(frame.reset_index(), f"coupled_table2_{failures}_values")
    return f"{caption}\n" + out.table(texts, f"coupled_table2_{failures}", caption=caption)


def _bracketed(frame, low, high) -> pd.DataFrame:
    """Values as texts with one decimal, their intervals in brackets where they have one."""

    def cell(value, a, b):
        if isinstance(value, str):
            return value
        if np.isnan(value):
            return ""
        return f"{value:.1f}" + ("" if np.isnan(a) else f" [{a:.0f}, {b:.0f}]")

    return pd.DataFrame(
        {c: [cell(*x) for x in zip(frame[c], low[c].astype(float), high[c].astype(float), strict=True)] for c in frame},
        index=frame.index,
    )


def headline(scored, method: str = "least_squares") -> pd.DataFrame:
    """SR2 of one method with its interval over systems beside the best printed language model, cell by cell.

    ``ahead`` or ``behind``: the printed value lies outside the interval; ``within``: inside.
    """
    rows, parts = [], shares(scored[scored["method"] == method])
    for dim, group in parts.groupby("subset"):
        for split in SPLITS:
            ours, best = interval(group[MEASURES[split, "sr2"]]), best_printed(dim)[split, "sr2"]
            verdict = "behind" if best > ours["high"] else "ahead" if best < ours["low"] else "within"
            rows.append({"states": dim, "split": split, "systems": ours["n"], "SR2": ours["value"]})
            rows[-1] |= {"low": ours["low"], "high": ours["high"], "printed": best, method: verdict}
    return pd.DataFrame(rows).set_index(["split", "states"]).sort_index()


def overview(scored, split: str):
    """SR2 by method and dimension with 95 % intervals over systems; dashed is the best printed language model."""
    tidy = pd.DataFrame(
        [
            {"method": name, "states": dim, **interval(group[MEASURES[split, "sr2"]])}
            for (name, dim), group in shares(scored).groupby(["method", "subset"])
        ]
    )
    dims = sorted(tidy["states"].unique())
    label = {dim: f"{dim} state{'s' * (dim > '1')}" for dim in dims}
    figure = intervals(tidy, row="method", panel="states", label=label, linear=dims)
    for ax, dim in zip(figure.axes, dims, strict=True):
        ax.axvline(best_printed(dim)[split, "sr2"], color="black", ls="--", lw=1, zorder=0)
        ax.set_xlim(-4, 104)
    where = {"id": "in distribution", "ood": "out of distribution"}[split]
    with style():
        figure.supxlabel(f"SR2 {where}, percent (higher is better); dashed: best printed language model", size=9)
    return figure


def pairwise(scored, method: str = "least_squares") -> pd.DataFrame:
    """Wilcoxon tests over systems (mean over seeds) of one method against the others, Holm-corrected."""
    rows, parts = [], shares(scored)
    for split in SPLITS:
        tidy = parts[["problem", "method"]].assign(value=parts[MEASURES[split, "sr2"]])
        wide = tidy.pivot_table(index="problem", columns="method", values="value")
        for other in (name for name in wide if name not in (method, *CONTROLS)):
            test = paired_wilcoxon(wide[method], wide[other])
            rows.append(test.rename(f"{method} - {other}, {split}"))
    frame = pd.DataFrame(rows)[["n_pairs", "n_zeros", "median", "effect", "p"]].infer_objects()
    frame["p_holm"] = holm(frame["p"].astype(float))
    return frame.rename_axis("pair")


def fits(scored) -> pd.DataFrame:
    """Percent of systems with R2 >= 0.9, by how the constants of the true skeleton were fitted."""
    parts = shares(scored).assign(fit=[json.loads(text)["fit"] for text in scored["settings"]])
    means = parts.groupby(["subset", "fit"], sort=False)[list(MEASURES.values())].mean()
    means.insert(0, "systems", parts.groupby(["subset", "fit"]).size())
    return means.rename_axis(["states", "fit"]).sort_index(level=0, sort_remaining=False)


def without_duplicates(scored, methods=("least_squares", "integral_matching", "sindy_cross")) -> pd.DataFrame:
    """SR2 of methods on all systems and on those that repeat no other, by dimension."""
    kept = [("duplicate" not in problem(id).flags) for id in scored["problem"]]
    rows = {}
    for name, part in (("all", scored), ("distinct", scored[kept])):
        part = part[part["method"].isin(methods)]
        for (method, dim), group in part.groupby(["method", "subset"], sort=False):
            cells = row(group)
            rows.setdefault((method, dim), {})[f"systems, {name}"] = group["problem"].nunique()
            rows[method, dim] |= {f"SR2 {split}, {name}": cells[split, "sr2"] for split in SPLITS}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["method", "states"])


def denominators(most: int = 50) -> pd.DataFrame:
    """Numbers of systems that the accuracies of Table 2 can be shares of, ID and OOD apart.

    A printed percentage p with one decimal is a share of N systems if some k/N rounds to it. ``possible`` counts
    columns whose value is a share of all systems of that dimension; ``needed`` are the largest N up to `most` that
    explain the others.
    """
    rows = []
    whole = {dim: len(problems("cde", dim)) for dim in "1234"}
    for (dim, split), part in printed().query("metric == 'acc_0.9'").groupby(["dim", "split"]):
        columns = [{n for n in range(15, most + 1) if is_share(v, n)} for v in part["value"]]
        others = sorted({max(found) for found in columns if found and whole[dim] not in found})
        entry = {"dim": dim, "split": split, "systems": whole[dim], "columns": len(columns)}
        entry["possible"] = sum(whole[dim] in found for found in columns)
        rows.append(entry | {"needed": " ".join(map(str, others))})
    return pd.DataFrame(rows).set_index(["dim", "split"])


def is_share(percent: float, n: int) -> bool:
    """Whether some k of n is this percentage, to one decimal.

    >>> is_share(85.7, 35), is_share(85.7, 36)
    (True, False)
    """
    k = round(percent * n / 100)
    return abs(100 * k / n - percent) <= 0.05 + 1e-9


def seeding() -> dict[str, bool]:
    """Whether programs put into gplearn before a fit take part in it, as the released script does, and with warm
    start."""
    from gplearn.genetic import SymbolicRegressor

    x = np.linspace(1, 2, 30)[:, None]
    y = x[:, 0] ** 5 - 3 * np.sin(x[:, 0])
    options = {"population_size": 25, "random_state": 0, "function_set": ("add", "mul", "sin")}
    plain = SymbolicRegressor(generations=2, **options).fit(x, y)
    donor = SymbolicRegressor(generations=1, **options | {"random_state": 1}).fit(x, y)
    found = {}
    for warm in (False, True):
        seeded = SymbolicRegressor(generations=2, warm_start=warm, **options)
        seeded._programs = [list(donor._programs[0])]
        seeded.run_details_ = {key: list(values) for key, values in donor.run_details_.items()}
        seeded.fit(x, y)
        found["warm start" if warm else "as released"] = str(seeded._program) != str(plain._program)
    return found


def correlations() -> pd.DataFrame:
    """Tables 5 and 9 from the printed columns of Table 2: Pearson's r of complexity and OOD accuracy.

    With context: the columns with context or chain of thought; without: all others.
    """
    rows = published("symbolbench_table2").query("value != ''")
    keys = ["model", "modality", "setting"]
    found = []
    for condition in ("without_context", "with_context"):
        context = rows["setting"].isin(("context", "cot"))
        part = rows[context if condition == "with_context" else ~context]
        for dim, group in part.groupby("dim"):
            size = group[group["metric"] == "complexity"].set_index(keys)["value"].astype(float)
            right = group.query("metric == 'acc_0.9' and split == 'ood'").set_index(keys)["value"].astype(float)
            both = pd.concat([size, right], axis=1, keys=["size", "right"]).dropna()
            found.append({"condition": condition, "dim": dim, "columns": len(both), "r": both.corr().iloc[0, 1]})
    return pd.DataFrame(found)


def convergence(records):
    """Best R2 of the loop so far (at least 0), mean over systems and seeds, against the epoch, by proposer.

    Parameters
    ----------
    records : DataFrame from `runs.grid`; runs of methods without a curve do not count.
    """
    import matplotlib.pyplot as plt

    with style():
        figure, ax = plt.subplots(figsize=(4.8, 2.8))
        for name, curves in progress(records).items():
            bands = [interval(column) for column in curves.T]
            middle, low, high = ([band[key] for band in bands] for key in ("value", "low", "high"))
            epochs = np.arange(1, curves.shape[1] + 1)
            label = f"{name} ({len(curves)} runs)"
            ax.plot(epochs, middle, marker=marker(name), color=colour(name), label=label, ms=4)
            ax.fill_between(epochs, low, high, color=colour(name), alpha=0.15, lw=0)
        ax.set(xlabel="epoch", ylabel="best $R^2$ so far, mean\n(higher is better)", ylim=(0, 1))
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(loc="lower right")
    return figure


def progress(records) -> dict[str, np.ndarray]:
    """Method -> best R2 so far, at least 0, shape (n runs, n epochs); a run that stopped keeps its last value."""
    found: dict[str, list] = {}
    for run in records[records["status"] == "ok"].itertuples():
        first, *_ = json.loads(run.candidates) or [{}]
        if curve := first.get("notes", {}).get("curve"):
            found.setdefault(run.method, []).append([max(0.0, score or 0.0) for _, score, _ in curve])
    longest = max((len(curve) for curves in found.values() for curve in curves), default=0)
    return {
        name: np.array([curve + [curve[-1]] * (longest - len(curve)) for curve in curves])
        for name, curves in found.items()
    }


TABLE6 = tuple(f"cde/S{number:03d}" for number in range(1, 30))  # of ODEBench, as in the released script


def table6(scored) -> pd.DataFrame:
    """gplearn's row of Table 6 by seed: failures count 0 in SR2 and leave the means of the other two."""
    rows = {}
    for seed, part in scored.groupby("seed"):
        cells, valid = row(part), part[np.isfinite(part["r2_trajectories_id"])]
        rows[seed] = {"systems": len(part), "valid": len(valid)}
        rows[seed] |= {f"{split} sr2": cells[split, "sr2"] for split in SPLITS}
        rows[seed][" symbolic_proximity"] = valid["proximity_dependent"].mean()
        rows[seed][" complexity"] = valid["operations"].mean()
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("seed")


def table6_shown(scored) -> pd.DataFrame:
    """`table6` with the printed row below."""
    frame, rows = table6(scored), published("symbolbench_table6").query("method == 'GPLearn'")
    last = {f"{r.split} {r.metric}": float(r.value) for r in rows.itertuples()} | {"systems": len(TABLE6)}
    whole = pd.concat([frame, pd.DataFrame([last], index=["printed"]).reindex(columns=frame.columns)])
    return whole.rename(columns=lambda name: name.strip().replace("_", " ")).rename_axis("seed").round(2)


def ledger(scored6=None) -> pd.DataFrame:
    """Published Tables 2, 5 (and 9, the same) and 6; ours are the correlations and gplearn's row.

    Parameters
    ----------
    scored6 : scores of gplearn as released on `TABLE6`, several seeds; None where it was not run.
    """
    absent = {
        **{line.label: ("not run", line.reason) for line in catalogue("symbolbench").itertuples() if line.reason},
        "GPLearn": ("not run", "not in this profile"),
        "*": ("not run", "needs a language model"),
    }
    options = {"definition": "as released", "tolerance": "", "absent": absent}
    table2 = compare(
        "SymbolBench",
        "Table 2",
        published("symbolbench_table2"),
        {},
        keys=["model"],
        row="{model} {modality} {setting}",
        column="dimension {dim} {split} {metric}",
        **options,
    )
    lost = table2["published"] == ""
    table2.loc[lost, ["verdict", "reason"]] = ("not comparable", "the paper prints nothing here, or its text lost it")
    measured = {
        (c.condition, c.dim): {
            "value": c.r,
            "low": c.r - ROUNDING,
            "high": c.r + ROUNDING,
            "reason": f"over {c.columns} printed columns",
        }
        for c in correlations().itertuples()
    }
    options |= {"definition": "from the printed Table 2", "tolerance": f"{ROUNDING}: its columns are rounded"}
    table5 = compare(
        "SymbolBench",
        "Tables 5 and 9",
        published("symbolbench_table5_9"),
        measured,
        keys=["condition", "dim"],
        row="{condition}",
        column="dimension {dim}",
        **options,
    )
    options |= {"definition": "as released", "tolerance": "printed digit within the range over seeds"}
    table6 = compare(
        "SymbolBench",
        "Table 6",
        published("symbolbench_table6"),
        {} if scored6 is None else _measured6(scored6),
        keys=["method", "split", "metric"],
        row="{method}",
        column="{split} {metric}",
        **options,
    )
    return combine([table2, table5, table6])


def _measured6(scored) -> dict[tuple, dict]:
    """gplearn's cells of Table 6: mean and range over seeds."""
    frame, systems = table6(scored), scored["problem"].nunique()
    measured = {}
    for column in frame.columns[2:]:
        values = frame[column]
        entry = {"value": values.mean(), "low": values.min(), "high": values.max()}
        entry["reason"] = f"mean and range over {len(values)} seeds, {systems} systems"
        if systems < len(TABLE6):
            entry |= {"verdict": "not comparable", "reason": f"{systems} of {len(TABLE6)} systems"}
        measured["GPLearn", *column.split(" ")] = entry
    return measured


def displacements(systems, seed: int = 0) -> dict[str, int]:
    """How far the drawn second initial states of the published models are from the first.

    Returns
    -------
    dict with states; turned (negative ones, which the draw turns around), far (moved by more than their own
    size, zeros among them) and near (by less than a thousandth)
    """
    drawn = [s for s in systems if not s.second]
    first = np.concatenate([s.initial_state("id") for s in drawn])
    second = np.concatenate([s.initial_state("ood", seed) for s in drawn])
    moved = np.abs(second - first)
    return {
        "states": len(first),
        "turned": int((first < 0).sum()),
        "far": int((moved > np.abs(first)).sum()),
        "near": int((moved < 1e-3 * np.abs(first)).sum()),
    }


def failures(scored) -> pd.DataFrame:
    """Runs of each method without a score, ID and OOD, and its SR2 OOD with them kept and dropped."""
    rows = {}
    for name, group in scored.groupby("method", sort=False):
        failed = {s: int((~np.isfinite(group[f"r2_trajectories_{s}"])).sum()) for s in SPLITS}
        if any(failed.values()):
            rows[name] = {"runs": len(group)} | {f"failed {split}": n for split, n in failed.items()}
            for way in ("kept", "dropped"):
                rows[name][f"SR2 OOD, {way}"] = row(group, way)["ood", "sr2"]
    frame = pd.DataFrame.from_dict(rows, orient="index")
    return frame.rename_axis("method")


def side_by_side(variants, method: str) -> pd.DataFrame:
    """SR2 of a method by dimension in several score tables (name -> scores), ID and OOD."""
    cells = {
        (dim, name): {MEASURES[split, "sr2"]: row(group)[split, "sr2"] for split in SPLITS}
        for name, scored in variants.items()
        for dim, group in scored[scored["method"] == method].groupby("subset")
    }
    frame = pd.DataFrame.from_dict(cells, orient="index").sort_index(level=0, sort_remaining=False)
    return frame.rename_axis(["states", "coefficients"])
