"""Verdict and finding for each of SymbolBench's claims about differential equations, with the tests behind it.

`parts` is what each system adds to SR2, in percent, for methods of Table 2 that ran here (`analysis.parts_of_paper`):
a test over systems is then one of the means that Table 2 prints. `released` is what language models that the authors
ran answered on these systems, in the same columns (`analysis.released_parts`); model and reasoning make the name.
`printed` asks the same of the paper's own numbers.
"""

from typing import Any

import numpy as np
import pandas as pd

from ...report.claim_cells import Cell, by_counts, by_intervals, by_problem, by_tests, compare, family, spelt
from ...report.ledger import Judged, more
from ...report.papers import published
from ...report.summaries import bootstrap, means_of_draws
from .analysis import INDEX, correlations, printed_means

WEAK = 0.5  # a correlation below it explains less than a quarter of the variance
GREATLY = 2  # times as high
BASELINES = ("PySR", "ProGED", "ODEformer")


def _sr2(parts: pd.DataFrame, split: str) -> pd.DataFrame:
    """Index: system; columns: method."""
    return by_problem(parts[parts["split"] == split], "sr2", 0.0)


def sy_01(released: pd.DataFrame, parts: pd.DataFrame, top: pd.DataFrame) -> Judged:
    """Language models lead the best of the paper's baselines: cells are models and splits, over the same systems.

    Index of `top`: states. Columns: method (the best here, baseline of the paper or not), value, low, high, printed.
    """
    rows = []
    for split in ("id", "ood"):
        models, baselines = (_sr2(frame, split) for frame in (released, parts))
        baselines = baselines[baselines.columns.intersection(BASELINES)].loc[baselines.index.isin(models.index)]
        best = baselines.mean().idxmax() if baselines.size else None
        for name in models if best else ():
            about = {"method": name.partition(" (")[0], "condition": split}
            rows.append(compare(models[name].dropna(), baselines[best], (name, str(best)), **about))
    tests = family(rows)
    shown = [f"{t.Index}: {t.printed:.1f} against {t.value:.1f} [{t.low:.1f}, {t.high:.1f}]" for t in top.itertuples()]
    finding = (
        f"SR2 of released runs, all of four states, against the best baseline here on the same systems: "
        f"{spelt(tests)}; the best printed model against the best method of any kind here, SR2 ID by states: "
        f"{'; '.join(shown)}"
    )
    return Judged(by_tests(tests), finding, tests)


def falls(parts: pd.DataFrame) -> pd.DataFrame:
    """Change of SR2 from the fewest states to the most. Index: method, split; columns: first, last, low, high.

    The interval is a 95 % bootstrap over systems, which are other ones at either end.
    """
    first, last = parts["states"].min(), parts["states"].max()
    change: dict[Any, dict] = {}
    for key, group in parts.groupby(["method", "split"]):
        rng = np.random.default_rng(0)
        ends = [group.loc[group["states"] == n].groupby("problem")["sr2"].mean().to_numpy() for n in (first, last)]
        fewest, most = (means_of_draws(values, 2000, rng) for values in ends)
        low, high = np.quantile(most - fewest, (0.025, 0.975))
        change[key] = {"first": first, "last": last, "low": low, "high": high}
    frame = pd.DataFrame.from_dict(change, orient="index", columns=["first", "last", "low", "high"])
    return frame.rename_axis(["method", "split"]) if len(frame) else frame


def sy_05(parts: pd.DataFrame) -> Judged:
    """SR2 falls from the fewest states to the most: cells are methods and splits, by their intervals (`falls`)."""
    if parts["states"].nunique() < 2:
        return Judged([], "needs systems of several numbers of states")
    change = falls(parts)
    cells = [
        Cell(cell.goes, cell.by, str(name))
        for (name, _), cell in zip(change.index, by_intervals(change, sign=-1), strict=True)
    ]
    ways, ends = [cell.goes for cell in cells], change.iloc[0]
    finding = (
        f"from {ends['first']:.0f} to {ends['last']:.0f} states SR2 falls by more than chance (95 % bootstrap over "
        f"systems, {(change['high'] - change['low']).median() / 2:.0f} points to either side) in {ways.count(True)} of "
        f"{len(cells)} rows of method and split, and rises so in {ways.count(False)}; it "
        f"speaks for {', '.join(parts['method'].unique())}, and for no language model"
    )
    return Judged(cells, finding)


def sy_06(parts: pd.DataFrame, released: pd.DataFrame) -> Judged:
    """SR2 is lower out of distribution: cells are methods, or models that the authors ran, and numbers of states."""
    rows = []
    for (name, states), group in pd.concat([parts, released]).groupby(["method", "states"], sort=False):
        inside, outside = (_sr2(group, split)[name].dropna() for split in ("id", "ood"))
        about: dict[str, Any] = {"method": name.partition(" (")[0], "condition": f"{name}, {states} states"}
        rows.append(compare(inside, outside, ("in", "out of distribution"), **about))
    tests = family(rows)
    here = ", ".join(parts["method"].unique()) or "no method"
    finding = f"SR2: {spelt(tests)}; it speaks for {here} and {released['method'].nunique()} rows of released runs"
    return Judged(by_tests(tests), finding, tests)


def sy_07(parts: pd.DataFrame) -> Judged:
    """PySR leads the models with one state, and baselines fall faster than they: cells are models and splits of both.

    A model that runs here is none of `BASELINES`.
    """
    models = [name for name in parts["method"].unique() if name not in BASELINES]
    baselines = [name for name in parts["method"].unique() if name in BASELINES]
    finding = f"needs language models on systems of one to four states ({len(models)} here, and {', '.join(baselines)})"
    if "PySR" not in baselines or not models or parts["states"].nunique() < 2:
        return Judged([], finding)
    rows, cells = [], []
    for split in ("id", "ood"):
        one = _sr2(parts[parts["states"] == parts["states"].min()], split)
        rows += [compare(one["PySR"], one[name], ("PySR", name), method="PySR", condition=split) for name in models]
    tests, change = family(rows), falls(parts)
    for split in ("id", "ood"):
        ends = change.xs(split, level="split")
        fall = {name: (-row.high, -row.low) for name, row in ends.iterrows()}
        for name in models:
            low = min(fall[other][0] for other in baselines) - fall[name][1]
            high = max(fall[other][1] for other in baselines) - fall[name][0]
            (cell,) = by_intervals(pd.DataFrame({"low": [low], "high": [high]}, [name]), named=True)
            cells.append(cell)
    return Judged([*by_tests(tests), *cells], f"{finding}; with one state: {spelt(tests)}", tests)


def settings(parts: pd.DataFrame, before: str, after: str) -> pd.DataFrame:
    """Tests of SR2 in one setting of a prompt against another, for each model, modality and split, over systems.

    Models that run here have model, modality and setting among their settings (column ``settings``).
    """
    rows: list[dict[str, Any]] = []
    stated = parts["settings"].map(lambda chosen: tuple(chosen.get(name, "") for name in INDEX))
    for (model, modality), group in parts.groupby([stated.str[0], stated.str[1]]):
        used = stated.loc[group.index].str[2]
        for split in ("id", "ood"):
            one, two = (
                group[(used == name) & (group["split"] == split)].groupby("problem")["sr2"].mean()
                for name in (after, before)
            )
            if len(one) and len(two):
                condition = " ".join(filter(None, (model, modality, split)))
                rows.append(compare(one, two, (after, before), method=model, condition=condition))
    return family(rows)


def _rises(means: pd.DataFrame, before: str, after: str) -> pd.Series:
    """Whether SR2 rises between two settings of a model, as printed. Index: model, modality, split, states."""
    sr2 = means["sr2"].stack(["split", "states"]).unstack("setting").reindex(columns=[before, after]).dropna()
    return sr2[after] > sr2[before]


def _pairs(before: str, after: str) -> str:
    """How often SR2 rises between two settings in the printed Table 2."""
    parts = _rises(printed_means(), before, after).groupby("split").agg(["sum", "size"]).iterrows()
    return "as printed, " + ", ".join(
        f"SR2 {s} rises from {before} to {after} in {row['sum']} of {row['size']} pairs" for s, row in parts
    )


def sy_08(parts: pd.DataFrame) -> Judged:
    """Reasoning does not help consistently, but for ChatTS: cells are models, modalities and splits.

    A test that finds it worse goes as claimed, one that finds it better does not; for ChatTS the other way round.
    """
    tests = settings(parts, "context", "cot")
    exception = tests["method"].str.startswith("ChatTS")
    cells = [*by_tests(tests[~exception], -1), *by_tests(tests[exception])]
    finding = f"needs language models with and without reasoning ({len(cells)} here); {_pairs('context', 'cot')}"
    return Judged(cells, finding, tests)


def sy_09(parts: pd.DataFrame) -> Judged:
    """Context improves over the naive prompt: cells are models, modalities and splits."""
    tests = settings(parts, "naive", "context")
    finding = f"needs language models with and without context ({len(tests)} pairs here); {_pairs('naive', 'context')}"
    return Judged(by_tests(tests), finding, tests)


def _other_tasks() -> list:
    """The cells of SY-09 in the printed Tables 3 and 4: networks and graphs."""
    networks = published("symbolbench_table3").query("metric in ('accuracy', 'bookmaker_informedness')")
    rows = pd.concat([networks, published("symbolbench_table4").query("metric == 'f1'").assign(split="")])
    wide = rows.astype({"value": float}).pivot(index=["model", "metric", "split"], columns="setting", values="value")
    wide = wide[["naive", "context"]].dropna()
    return [more(row.context, row.naive) for row in wide.itertuples()]


def sy_10(found: pd.DataFrame) -> Judged:
    """`analysis.correlations`; weak if below `WEAK` in size: cells are conditions and dimensions, all arithmetic."""
    gap = (found["r"] - found["printed"]).abs().groupby("condition").max()
    weak = (found["r"].abs() < WEAK).groupby("condition").agg(["sum", "size"])
    each = [f"{c.replace('_', ' ')} |r| < {WEAK} in {r['sum']} of {r['size']} dimensions" for c, r in weak.iterrows()]
    finding = (
        f"recomputed from the printed Table 2, {' and '.join(each)}; the printed values with context are "
        f"reproduced within {gap['with_context']:.3f}, those without are off by up to {gap['without_context']:.2f}"
    )
    return Judged(by_counts(found["r"].abs() < WEAK), finding)


def sy_11(runs: pd.DataFrame) -> Judged:
    """Refinement and reasoning bring gains and longer answers: cells are both shares, and models with and without.

    `runs`: `derive.released`. Shares are of runs, drawn by system; a model's R2 with reasoning and without is compared
    over systems.
    """
    curves = runs.dropna(subset="last_r2")
    gain = curves["last_r2"].clip(lower=0) - curves["first_r2"].clip(lower=0)
    better, longer = gain > 0, curves["last_complexity"] > curves["first_complexity"]
    shares = {"R2 rose": (better, curves), "of these, the answer got longer": (longer[better], curves[better])}
    ends = {
        name: bootstrap(part.astype(float), clusters=at["system"]) for name, (part, at) in shares.items() if len(part)
    }
    frame = pd.DataFrame.from_dict(ends, orient="index", columns=["value", "low", "high"])
    r2 = runs.assign(r2=runs["r2"].clip(lower=0), method=runs["model"], problem=runs["system"])
    with_, without = (by_problem(r2[r2["reasoning"] == name], "r2", 0.0) for name in ("with", "without"))
    both = [name for name in with_ if name in without]
    tests = family(
        compare(with_[name].dropna(), without[name].dropna(), ("with", "without"), method=name, condition=name)
        for name in both
    )
    shown = "; ".join(f"{name} in {row.value:.0%} [{row.low:.0%}, {row.high:.0%}]" for name, row in frame.iterrows())
    finding = (
        f"in {len(curves)} released runs, from the first epoch with an answer to the last: {shown} (median gain "
        f"{gain.median():.3f}); R2 with reasoning and without: {spelt(tests)}"
    )
    return Judged([*by_intervals(frame, 0.5), *by_tests(tests)], finding, tests)


def _times(table6: pd.DataFrame, name: str) -> pd.DataFrame:
    """How many times GPLearn's SR2 a hybrid's is, drawn over systems. Index: split; columns: value, low, high.

    `table6`: `analysis.contributions` of the methods of Table 6.
    """
    rows = {}
    for split in ("id", "ood"):
        sr2 = _sr2(table6, split)
        if {name, "GPLearn"} <= set(sr2):
            both = sr2[[name, "GPLearn"]].dropna().to_numpy()
            rows[split] = bootstrap(both, lambda drawn: drawn[:, 0].mean() / max(drawn[:, 1].mean(), 1e-9))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"])


def sy_12(table6: pd.DataFrame) -> Judged:
    """Proposals as first population improve GPLearn greatly: SR2 is `GREATLY` higher; cells are splits."""
    cells = by_intervals(_times(table6, "LLM-as-Predictor + GPLearn"), GREATLY)
    return Judged(cells, "needs gplearn seeded by a language model; in the released code proposals never enter (audit)")


def sy_13(table6: pd.DataFrame) -> Judged:
    """A judge in the fitness improves GPLearn a little: SR2 is higher, but not `GREATLY`; cells are splits of both."""
    times = _times(table6, "GPLearn + LLM-as-Judge")
    cells = [*by_intervals(times, 1), *by_intervals(times, GREATLY, -1)]
    return Judged(cells, "needs gplearn with a language model as judge")


def sy_15(answers: pd.DataFrame) -> Judged:
    """Context and reasoning speed up convergence: cells are models with reasoning and without it, over systems.

    `answers`: `derive.answers`, whose epochs the released figure averages: a loop stops where its best R2 reaches the
    tolerance, and else runs to its end. Nothing released tells context from no context by system.
    """
    clean = answers[answers["noise"] == 0].rename(columns={"model": "method", "system": "problem"})
    with_, without = (by_problem(clean[clean["reasoning"] == name], "epochs") for name in ("with", "without"))
    tests = family(
        compare(
            without[name].dropna(), with_[name].dropna(), ("without", "with reasoning"), method=name, condition=name
        )
        for name in with_
        if name in without
    )
    bars = _figure6()
    drawn = "; ".join(
        f"{task} " + ", ".join(f"{name} {value:.1f}" for name, value in row.items()) for task, row in bars.iterrows()
    )
    finding = (
        f"epochs until a released run stops, medians: {spelt(tests)}; of context there are only the means that "
        f"Figure 6 draws: {drawn}"
    )
    return Judged(by_tests(tests), finding, tests)


def _figure6() -> pd.DataFrame:
    """The drawn epochs of systems and networks. Index: task; columns: setting."""
    bars = published("symbolbench_figure6").query("task != 'SCM'").astype({"value": float})
    return bars.pivot(index="task", columns="setting", values="value")[["naive", "base", "context", "cot"]]


def _both(means: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The printed rows of language models, and of baselines."""
    language = means.index.get_level_values("setting") != ""
    return means[language], means[~language & means.index.isin(BASELINES, level="model")]


def _printed_leads(means: pd.DataFrame) -> dict[str, list]:
    """SY-01, SY-05 to SY-09 by the printed Table 2."""
    (language, baselines), sr2 = _both(means), means["sr2"]
    ahead = [
        more(language["sr2", s][n].max(), baselines["sr2", s][n].max()) for s in ("id", "ood") for n in range(1, 5)
    ]
    ends = sr2.stack("split").iloc[:, [0, -1]].dropna()
    both = sr2.stack("states").dropna()
    faster: list[bool | None] = []
    for split in ("id", "ood"):
        fall = [part["sr2", split].iloc[:, 0] - part["sr2", split].iloc[:, -1] for part in (baselines, language)]
        one = baselines["sr2", split].iloc[:, 0].xs("PySR", level="model").iloc[0]
        faster += [one >= language["sr2", split].iloc[:, 0].median(), more(fall[0].mean(), fall[1].mean())]
    always = _rises(means, "context", "cot").groupby(["model", "modality", "split"]).all()
    return {
        "SY-01": ahead,
        "SY-05": [more(row.iloc[0], row.iloc[-1]) for _, row in ends.iterrows()],
        "SY-06": [more(row["id"], row["ood"]) for _, row in both.iterrows()],
        "SY-07": faster,
        "SY-08": [yes if name[0].startswith("ChatTS") else not yes for name, yes in always.items()],
        "SY-09": list(_rises(means, "naive", "context")) + _other_tasks(),
    }


def _printed_hybrid(name: str, least: float, most: float) -> list:
    """Whether the SR2 that Table 6 prints for a hybrid is so many times that of GPLearn: cells are splits."""
    table6 = published("symbolbench_table6").query("metric == 'sr2'").astype({"value": float})
    table6 = table6.pivot(index="method", columns="split", values="value")
    times = table6.loc[name] / table6.loc["GPLearn"]
    return list((times > least) & (times < most))


def printed() -> dict[str, list]:
    """The cells of each claim by the paper's own numbers, SY-15 by the bars that the authors' figure draws."""
    bars = _figure6()
    return _printed_leads(printed_means()) | {
        "SY-10": list(correlations()["printed"].abs() < WEAK),
        "SY-12": _printed_hybrid("LLM-as-Predictor + GPLearn", GREATLY, float("inf")),
        "SY-13": _printed_hybrid("GPLearn + LLM-as-Judge", 1, GREATLY),
        "SY-15": [
            more(row[a], row[b]) for _, row in bars.iterrows() for a, b in (("naive", "context"), ("context", "cot"))
        ],
    }
