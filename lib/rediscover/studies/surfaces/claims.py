"""Verdicts on the claims of SurfaceBench, each from tests over surfaces that its notebook prints with it.

`scored` are scores here of the paper's methods under its labels (`report.papers.of_paper`): columns problem, subset,
method, seed and scores. What a run without a finite error is worth: an infinite one. Rows of language models are those
of methods that Table 1 prints with a backbone. `printed` asks the same of the paper's own numbers, by means.
"""

import itertools
from typing import Any

import numpy as np
import pandas as pd

from ...report.claim_cells import by_intervals, by_problem, by_tests, compare, family, not_run, spelt
from ...report.ledger import Judged, more
from ...report.papers import published
from ...report.summaries import bootstrap
from .analysis import as_released

ERRORS = ("nmse", "chamfer", "hausdorff")
DISTANCES = ("chamfer", "hausdorff")
SCALED = {"chamfer": "chamfer_distance_relative", "hausdorff": "hausdorff_relative"}  # by the diagonal
FEW = 0.1  # share of surfaces up to which few are recovered: the largest that Table 2 prints
ORDER = ("PySR", "TPSR", "uDSR", "E2E", "DSR", "gplearn", "NeSymReS")  # of SB-05
FALL = 0.01  # an error that falls by more than this share has fallen


def frameworks() -> list[str]:
    """The labels that Table 1 prints with a backbone."""
    rows = published("surfacebench_table1")
    return list(rows.loc[rows["backbone"] != "", "method"].unique())


def _values(scored: pd.DataFrame, kind: str, metric: str) -> pd.DataFrame:
    """A printed column here. Index: surface; columns: method."""
    accuracy = metric == "symbolic_accuracy"
    part = scored[scored["subset"] == kind]
    return by_problem(part, as_released(metric, kind), 0.0 if accuracy else np.inf)


def _of(values: pd.DataFrame, names) -> list[str]:
    return [name for name in names if name in values and values[name].notna().any()]


def _needs(scored: pd.DataFrame) -> str:
    """Which of both kinds of rows are there, for a claim that needs both."""
    here = list(scored["method"].unique())
    others = ", ".join(name for name in ORDER if name in here) or "none"
    language = sum(name in here for name in frameworks())
    return f"needs rows of language models ({language} here) and of the paper's other methods (here {others})"


def _against(scored: pd.DataFrame, metric: str, kind: str, pairs) -> list[dict[str, Any]]:
    """A paired test over surfaces for each pair of methods that ran; a is the first."""
    values = _values(scored, kind, metric)
    return [
        compare(values[a], values[b], (a, b), method=a, condition=f"{kind} {metric}")
        for a, b in pairs
        if {a, b} <= set(_of(values, (a, b)))
    ]


def sb_01(scored: pd.DataFrame) -> Judged:
    """Few are recovered, and by language models no more: cells are pairs of both, and shares, by representation."""
    needs, kinds = _needs(scored), scored["subset"].unique()
    if not set(scored["method"]) & set(frameworks()):
        return Judged([], needs)
    pairs = list(itertools.product(ORDER, frameworks()))
    tests = family(row for kind in kinds for row in _against(scored, "symbolic_accuracy", kind, pairs))
    shares = [_values(scored, kind, "symbolic_accuracy") for kind in kinds]
    rows = {name: bootstrap(part[name].dropna()) for part in shares for name in _of(part, [*ORDER, *frameworks()])}
    few = pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"])
    return Judged([*by_tests(tests), *by_intervals(few, FEW, -1, named=True)], f"{needs}; {spelt(tests)}", tests)


def sb_02(scored: pd.DataFrame) -> Judged:
    """Explicit surfaces are recovered more often than implicit ones: cells are methods."""
    both = [_values(scored, kind, "symbolic_accuracy") for kind in ("explicit", "implicit")]
    tests = family(
        compare(both[0][name], both[1][name], ("explicit", "implicit"), method=name, condition=name, paired=False)
        for name in _of(both[0], both[1].columns)
    )
    return Judged(by_tests(tests), f"share recovered: {spelt(tests)}", tests)


def sb_03(scored: pd.DataFrame) -> Judged:
    """Implicit surfaces are nearer: cells are methods and distances, as released and scaled by the diagonal.

    Undecided for the frameworks that did not run, of which the paper's claim is.
    """
    rows = []
    for metric, scale in itertools.product(DISTANCES, ("as released", "scaled")):
        column = SCALED[metric] if scale == "scaled" else as_released(metric, "explicit")
        explicit, implicit = (
            by_problem(scored[scored["subset"] == kind], column, np.inf) for kind in ("explicit", "implicit")
        )
        rows += [
            compare(
                explicit[name],
                implicit[name],
                ("explicit", "implicit"),
                method=name,
                condition=f"{name} {metric} {scale}",
                paired=False,
            )
            for name in _of(explicit, implicit.columns)
        ]
    tests = family(rows)
    absent = [name for name in frameworks() if name not in set(tests["method"])] if len(tests) else []
    finding = f"medians: {spelt(tests)}; frameworks that did not run: {', '.join(absent)}"
    return Judged([*by_tests(tests), *not_run(absent, 2 * len(DISTANCES))], finding, tests)


def sb_04(scored: pd.DataFrame) -> Judged:
    """PySR has the lowest explicit errors: cells are errors and rivals, undecided for rivals that did not run."""
    rivals = [name for name in published("surfacebench_table1")["method"].unique() if name != "PySR"]
    tests = family(row for e in ERRORS for row in _against(scored, e, "explicit", [("PySR", name) for name in rivals]))
    absent = [name for name in rivals if name not in set(tests["b"])]
    cells = [*by_tests(tests, -1), *not_run(absent, len(ERRORS))] if len(tests) else []
    finding = f"medians: {spelt(tests)}; rivals that did not run: {', '.join(absent)}"
    return Judged(cells, finding, tests)


def sb_05(scored: pd.DataFrame) -> Judged:
    """The order of seven methods by explicit NMSE: cells are pairs, undecided where one did not run."""
    pairs = list(itertools.combinations(ORDER, 2))
    tests = family(_against(scored, "nmse", "explicit", pairs))
    present = list(dict.fromkeys([*tests["a"], *tests["b"]]))
    missing = [f"{a} and {b}" for a, b in pairs if not {a, b} <= set(present)]
    cells = [*by_tests(tests, -1), *not_run(missing)] if len(tests) else []
    return Judged(cells, f"medians: {spelt(tests)}; {len(missing)} of {len(pairs)} pairs did not run", tests)


def sb_06(scored: pd.DataFrame) -> Judged:
    """OpenEvolve leads the language models on explicit surfaces: cells are rivals and metrics."""
    pairs = [("OpenEvolve", name) for name in frameworks() if name != "OpenEvolve"]
    tests = family(
        row for metric in ("symbolic_accuracy", *ERRORS) for row in _against(scored, metric, "explicit", pairs)
    )
    larger = tests["condition"].str.contains("accuracy")
    cells = [*by_tests(tests[larger]), *by_tests(tests[~larger], -1)]
    ran = sum(name in set(scored["method"]) for name in frameworks())
    return Judged(
        cells, f"needs rows of OpenEvolve and of another framework; {ran} rows of language models here", tests
    )


def sb_07(scored: pd.DataFrame) -> Judged:
    """Every other method fits explicit surfaces better than every language model: cells are such pairs and errors."""
    pairs = list(itertools.product(ORDER, frameworks()))
    tests = family(row for e in ERRORS for row in _against(scored, e, "explicit", pairs))
    return Judged(by_tests(tests, -1), "; ".join(filter(None, (_needs(scored), spelt(tests)))), tests)


def sb_08(before: pd.DataFrame, after: pd.DataFrame) -> Judged:
    """Constants are badly fitted, so that most answers gain by refitting: cells are scores.

    `before`, `after`: scores of the same answers of the paper's methods, row by row, with their constants as found and
    refitted. A surface is drawn with the answers of all methods to it.
    """
    rows = {}
    for score in ("nmse_variance", "chamfer_distance", "hausdorff"):
        falls = (after[score] < before[score] * (1 - FALL)).to_numpy(float)
        rows[score] = bootstrap(falls, clusters=before["problem"]) if len(falls) else (np.nan,) * 3
    gains = pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"])
    shown = "; ".join(f"{n} in {r.value:.0%} [{r.low:.0%}, {r.high:.0%}]" for n, r in gains.iterrows())
    more_found = int(after["symbolic_accuracy"].sum() - before["symbolic_accuracy"].sum())
    finding = (
        f"errors that fall by more than {FALL:.0%}, of {len(after)} answers: {shown}; {more_found} more are recovered"
    )
    return Judged(by_intervals(gains, 0.5) if len(after) else [], finding, None)


def sb_09(scored: pd.DataFrame, answered: pd.Series | None = None) -> Judged:
    """Recovery of parametric surfaces is low: cells are the methods that Table 2 prints.

    That only these can return coupled outputs is no cell: here every method does, one coordinate at a time. Index of
    `answered`: method; whether it answered every task.
    """
    values = _values(scored, "parametric", "symbolic_accuracy")
    names = _of(values, published("surfacebench_table2")["method"].unique())
    rows = {name: bootstrap(values[name].dropna()) for name in names}
    shares = pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"])
    shown = ", ".join(f"{n} {r.value:.2f} [{r.low:.2f}, {r.high:.2f}]" for n, r in shares.iterrows()) or "none ran"
    finding = f"recovery of the methods of Table 2: {shown}, published 0.02 to {FEW:.2f}"
    if answered is not None:
        finding += f"; {answered.sum()} of {len(answered)} methods answer every task, one coordinate at a time"
    return Judged(by_intervals(shares, FEW, -1, named=True), finding)


def priors(scored: pd.DataFrame, condition: str, against: str) -> pd.DataFrame:
    """Tests of distances of frameworks under one condition (setting ``priors``) against another, over surfaces."""
    stated = scored["settings"].map(lambda settings: settings.get("priors"))
    rows = []
    for metric, kind in itertools.product(DISTANCES, ("explicit", "implicit")):
        ours, theirs = (_values(scored[stated == name], kind, metric) for name in (condition, against))
        rows += [
            compare(ours[name], theirs[name], (condition, against), method=name, condition=f"{name} {kind} {metric}")
            for name in _of(ours, theirs.columns)
        ]
    return family(rows)


def sb_10(scored: pd.DataFrame) -> Judged:
    """Correct priors bring language models nearer: cells are methods, representations and distances."""
    tests = priors(scored, "with_priors", "without_priors")
    finding = f"needs frameworks of language models run with correct priors and without: {len(tests)} pairs"
    return Judged(by_tests(tests, -1), finding, tests)


def sb_11(scored: pd.DataFrame) -> Judged:
    """With priors still behind the paper's other methods: cells are such pairs, representations and distances."""
    stated = scored["settings"].map(lambda settings: settings.get("priors"))
    own = scored[scored["method"].isin(frameworks())]
    helped = own[stated.loc[own.index] == "with_priors"]
    both = pd.concat([helped, scored[scored["method"].isin(ORDER)]])
    pairs = list(itertools.product(frameworks(), ORDER))
    tests = family(
        row
        for metric, kind in itertools.product(DISTANCES, ("explicit", "implicit"))
        for row in _against(both, metric, kind, pairs)
    )
    return Judged(by_tests(tests), f"needs frameworks of language models run with priors; {_needs(both)}", tests)


def sb_12(scored: pd.DataFrame) -> Judged:
    """Wrong priors move language models away: cells as in SB-10."""
    tests = priors(scored, "wrong_priors", "without_priors")
    finding = f"needs frameworks of language models run with wrong priors and without: {len(tests)} pairs"
    return Judged(by_tests(tests), finding, tests)


def sb_13(noise: pd.DataFrame) -> Judged:
    """Noise makes errors larger: cells are methods; `noise`: scores with a column noise, test data are clean."""
    least, most = noise["noise"].min(), noise["noise"].max()
    clean, noisy = (by_problem(noise[noise["noise"] == x], "nmse_variance", np.inf) for x in (least, most))
    ends = (f"at {most:.0%}", f"at {least:.0%}")
    tests = family(compare(noisy[name], clean[name], ends, method=name, condition=name) for name in clean)
    return Judged(by_tests(tests), f"median NMSE on clean test data: {spelt(tests)}", tests)


def sb_14(scored: pd.DataFrame, control: pd.DataFrame) -> Judged:
    """Methods are worse out of the domain than a constant is: cells are methods.

    A larger cloud is farther from everything, so distances are scaled by its diagonal, and what a constant loses by
    leaving the domain is no failure of a method. `control`: scores of the mean.
    """
    if control.empty:
        return Judged([], "needs the mean, which this selection of methods leaves out")
    ratios, constant = (_out_over_in(part) for part in (scored, control))
    tests = family(
        compare(ratios[name], constant.iloc[:, 0], (name, "the mean"), method=name)
        for name in ratios
        if ratios[name].notna().any()
    )
    finding = f"log10 of the scaled Hausdorff distance out of the domain over that in it, medians: {spelt(tests)}"
    return Judged(by_tests(tests), finding, tests)


def _out_over_in(scored: pd.DataFrame) -> pd.DataFrame:
    with np.errstate(divide="ignore"):  # exact on one side: no ratio
        ratio = np.log10(scored["hausdorff_relative_ood"] / scored["hausdorff_relative"])
    return by_problem(scored.assign(ratio=ratio), "ratio")


def sb_15(failures: pd.DataFrame) -> Judged:
    """Language models fail in fitting, not in the family: cells are such methods. Index of `failures`: method.

    Columns: answers (to explicit surfaces) and, as shares of them, "fitting error" and "search error".
    """
    language = failures[failures.index.isin(frameworks())]
    others = failures.drop(language.index)["search error"]
    rows = []
    for name, row in language.iterrows():  # of wrong answers, those in fitting
        counts = [round(row["answers"] * row[why]) for why in ("fitting error", "search error")]
        flags = np.repeat([1.0, 0.0], counts)
        rows.append(compare(flags, 1 - flags, ("fitting", "search"), method=name, condition=name))
    tests = family(rows)
    finding = (
        f"needs answers of language models ({len(language)} rows here); of the other methods' explicit answers "
        f"{others.min():.0%} to {others.max():.0%} are search errors"
    )
    return Judged(by_tests(tests), finding, tests)


def _printed_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables 1 and 2 (index: method, backbone; columns: representation, metric), and Table 3."""
    tables = [published(f"surfacebench_table{number}").astype({"value": float}) for number in (1, 2)]
    means = pd.concat(tables).pivot(index=["method", "backbone"], columns=["representation", "metric"], values="value")
    table3 = published("surfacebench_table3").astype({"value": float})
    return means, table3.pivot(index=["method", "representation", "metric"], columns="condition", values="value")


def printed() -> dict[str, list]:
    """The cells of each claim by the paper's own numbers."""
    means, table3 = _printed_tables()
    backbone = means.index.get_level_values("backbone") != ""
    language, others = means[backbone], means[~backbone & means.index.isin(ORDER, level="method")].droplevel(1)
    explicit, accuracy = means["explicit"].droplevel(1), means.xs("symbolic_accuracy", axis=1, level="metric")
    shares = [accuracy.loc[part.index].mean() for part in (language, means[~backbone])]
    both = [kind for kind in accuracy if shares[0].notna()[kind] and shares[1].notna()[kind]]
    worst = {e: others["explicit", e].max() for e in ERRORS}
    best = {e: language["explicit", e].groupby(level=0).min() for e in ERRORS}
    best |= {"symbolic_accuracy": -language["explicit", "symbolic_accuracy"].groupby(level=0).max()}
    steps = itertools.combinations(ORDER, 2)
    helped, misled = (
        table3.reindex(columns=["without_priors", name]).dropna() for name in ("with_priors", "wrong_priors")
    )
    return {
        "SB-01": [shares[0][k] <= shares[1][k] for k in both] + [max(s[k] for s in shares) <= FEW for k in both],
        "SB-02": [more(*row) for row in accuracy[["explicit", "implicit"]].dropna().to_numpy()],
        "SB-03": [
            more(row["explicit", distance], row["implicit", distance])
            for _, row in means[["explicit", "implicit"]].dropna().iterrows()
            for distance in DISTANCES
        ],
        "SB-04": [(explicit.loc["PySR", e].item() < explicit[e].drop("PySR").dropna()).all() for e in ERRORS],
        "SB-05": [more(others.loc[b, ("explicit", "nmse")], others.loc[a, ("explicit", "nmse")]) for a, b in steps],
        "SB-06": [more(rows.drop("OpenEvolve").min(), rows["OpenEvolve"]) for rows in best.values()],
        "SB-07": [worst[e] < language["explicit", e].min() for e in ERRORS],
        "SB-09": list(accuracy["parametric"].dropna() <= FEW),
        "SB-10": [more(row.without_priors, row.with_priors) for row in helped.itertuples()],
        "SB-11": [more(row["with_priors"], others[kind, metric].max()) for (_, kind, metric), row in helped.iterrows()],
        "SB-12": [more(row.wrong_priors, row.without_priors) for row in misled.itertuples()],
    }
