"""Cross-scoring: which rankings of methods turn round with the definition, and one wrapper on every study.

A method's number under each of `cross.DEFINITIONS` is made as that paper makes it. The ranking of the competitors (the
controls are shown, never ranked) is compared with the harmonised one of its family by Kendall's tau-b; the interval is
a bootstrap over problems, drawn within each study.
"""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from ...methods import methods
from ...metrics.complexity import complexity
from ...problems import Field, Regression, Trajectories, generator, problem, problems
from ...problems.srsd import difficulty_set
from ...report.comparisons import build_methods
from ...report.plots import colour, marker, order, style
from ...report.tables import CONTROLS, number
from .definitions import DEFINITIONS, FAMILIES, reference

DRAWS = 2000
BOUNDS = (0.025, 0.975)
ACCURATE = 0.9  # R2 of a trajectory from the second initial state: SymbolBench's ACC out of distribution
FIELD = {"split": "space", "stencil": "direct"}  # how MDBench's generic methods see a field
SOURCES = {  # study -> table of its scores, what counts as recovered there, the error shown, rows
    "surfaces": ("surfaces_scores", "symbolic_accuracy", "nmse_variance", ""),
    "srsd": ("srsd_scores", "solution_rate", "nmse_variance", ""),
    "odes": ("mdbench_odes_scores", "identified", "nmse_per_output", "noise == 0"),
    "pdes": ("mdbench_pdes_scores", "identified", "nmse_per_output", "noise == 0"),
    "cde": ("cde_scores", "accurate_ood", "nmse_variance", ""),
}


def chosen(ids) -> list:
    """The problems of the study, fields on the split that generic methods are published on.

    Raises
    ------
    ValueError
        If the truth of a problem is no right-hand side of its table (an implicit surface, a network, ...).
    """
    found = [problem(id, **(FIELD if id.startswith("pdes/") else {})) for id in ids]
    for item in found:
        if not isinstance(item, Regression | Trajectories | Field):
            raise ValueError(f"{item.id}: a {item.kind} has no table of right-hand sides to score")
    return found


def solvers(params) -> list:
    """The methods; searches work on `params.max_rows` rows."""
    return build_methods(params.methods, max_rows=params.max_rows)


# ---------------------------------------------------------------------------------------------- rankings


def _arrays(scored: pd.DataFrame, names: list[str]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Definition -> scores of shape (problems, seeds, methods), and the study of each problem."""
    arrays = {}
    for key in DEFINITIONS:
        wide = scored.pivot(index=["problem", "seed"], columns="method", values=key)[names]
        arrays[key] = wide.to_numpy().reshape(-1, scored["seed"].nunique(), len(names))
    studies = wide.index.get_level_values("problem")[:: scored["seed"].nunique()].str.partition("/")
    return arrays, studies.get_level_values(0).to_numpy()


def pooled(scored: pd.DataFrame) -> pd.DataFrame:
    """What each paper would print for each method.

    Returns
    -------
    DataFrame
        Index: family and paper; columns: methods, controls first.
    """
    names = order(scored["method"])
    arrays, _ = _arrays(scored, names)
    rows = {(d.family, d.paper): d.pool(arrays[key].reshape(-1, len(names))) for key, d in DEFINITIONS.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=names).set_axis(
        pd.MultiIndex.from_tuples(rows, names=["family", "paper"])
    )


def rankings(scored: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """How far each definition ranks the competitors as the harmonised one of its family does.

    Returns
    -------
    DataFrame
        Index: family and paper (the harmonised left out). tau, low, high: of the rankings by pooled numbers; same,
        same_low, same_high: tau within one problem, averaged over problems; flips: pairs of methods in the other
        order, with the share of draws in which they are; behind_mean: competitors behind the mean predictor.
    """
    names = [name for name in order(scored["method"]) if name not in CONTROLS]
    arrays, studies = _arrays(scored, [*names, "mean"])
    draws = _draws(studies, generator(seed, "cross"))
    signs, within, behind = {}, {}, {}
    for key, d in DEFINITIONS.items():
        values = arrays[key] * (1 if d.better == "lower" else -1)
        drawn = arrays[key][draws].reshape(len(draws), -1, len(names) + 1)
        pooled = d.pool(drawn) * (1 if d.better == "lower" else -1)
        signs[key] = _signs(pooled[:, :-1])
        within[key] = _signs(values[..., :-1])
        behind[key] = int(np.sum(_rounded(pooled[0, :-1]) > _rounded(pooled[0, -1:])))
    pairs = list(itertools.combinations(names, 2))
    rows = {}
    for key, d in DEFINITIONS.items():
        if key == (base := reference(d.family)):
            continue
        tau = _tau(signs[key], signs[base])
        one = _nanmean(_tau(within[key], within[base]))  # over seeds, for each problem
        same = _nanmean(one[draws])
        against = np.nan_to_num(signs[key] * signs[base]) < 0
        flips = [
            f"{a}/{b} ({share:.0%})"
            for (a, b), turned, share in zip(pairs, against[0], against[1:].mean(axis=0), strict=True)
            if turned
        ]
        rows[d.family, d.paper] = {
            **_interval(tau, ("tau", "low", "high")),
            **_interval(same, ("same", "same_low", "same_high")),
            "flips": ", ".join(flips),
            "pairs": len(pairs),
            "behind_mean": behind[key] if d.family != "complexity" else np.nan,  # a constant is small
        }
    index = pd.MultiIndex.from_tuples(rows, names=["family", "paper"])
    return pd.DataFrame(list(rows.values()), index=index)


def rankings_text(table: pd.DataFrame) -> pd.DataFrame:
    """`rankings` for the page: intervals in brackets."""

    def spread(row, names):
        value, low, high = (f"{getattr(row, name):.2f}" for name in names)
        return f"{value} [{low}, {high}]"

    rows = list(table.itertuples())
    return pd.DataFrame(
        {
            "tau": [spread(row, ("tau", "low", "high")) for row in rows],
            "within a problem": [spread(row, ("same", "same_low", "same_high")) for row in rows],
            "behind the mean": ["" if np.isnan(row.behind_mean) else f"{row.behind_mean:.0f}" for row in rows],
            "in the other order": [row.flips for row in rows],
        },
        index=table.index,
    )


def _draws(studies: np.ndarray, rng) -> np.ndarray:
    """Rows to take: first all of them as they are, then `DRAWS` samples with replacement within each study."""
    draws = np.tile(np.arange(len(studies)), (DRAWS + 1, 1))
    for study in np.unique(studies):
        rows = np.flatnonzero(studies == study)
        draws[1:, rows] = rng.choice(rows, (DRAWS, len(rows)))
    return draws


def _rounded(values):
    """To 6 digits: what displays alike is a tie."""
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = 10.0 ** (5 - np.floor(np.log10(np.abs(values))))
        return np.where(np.isfinite(values) & (values != 0), np.round(values * digits) / digits, values)


def _signs(values) -> np.ndarray:
    """Order of each pair of methods, shape (..., pairs): -1, 0 or 1; NaN where one has no number."""
    left, right = np.triu_indices(values.shape[-1], 1)
    values = _rounded(values)
    a, b = values[..., left], values[..., right]
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, np.where(np.isnan(a) | np.isnan(b), np.nan, np.sign(a - b)))


def _tau(a, b) -> np.ndarray:
    """Kendall's tau-b from the orders of pairs; NaN where one side ties them all."""
    known = ~(np.isnan(a) | np.isnan(b))
    a, b = np.where(known, a, 0), np.where(known, b, 0)
    with np.errstate(invalid="ignore"):
        return np.sum(a * b, axis=-1) / np.sqrt(np.sum(a**2, axis=-1) * np.sum(b**2, axis=-1))


def _nanmean(values) -> np.ndarray:
    """Mean over the last axis of what is there; NaN of nothing."""
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.sum(np.where(there, values, 0), axis=-1) / there.sum(axis=-1)


def _interval(values, names) -> dict[str, float]:
    """The first value, and the interval of the others; draws without a tau do not count."""
    drawn = values[1:][~np.isnan(values[1:])]
    bounds = np.quantile(drawn, BOUNDS) if len(drawn) else (np.nan, np.nan)
    return dict(zip(names, (values[0], *bounds), strict=True))


def difficulties() -> pd.DataFrame:
    """SRSD's two measures of how wide a law's ranges are, eq. (1) and its code: do they rank the laws alike?

    Returns
    -------
    DataFrame : tau, low, high (bootstrap over laws), laws and how many change their set
    """
    from scipy.stats import kendalltau

    from ...report.statistics import bootstrap

    laws = [problem(id) for id in problems("srsd")]
    operations = [complexity(law.upstream_truth, "count_ops") for law in laws]
    decades = pd.DataFrame([law.domain_range() for law in laws])
    sets = decades.apply(lambda widths: list(map(difficulty_set, operations, widths)))
    tau, low, high = bootstrap(decades[["paper", "code"]], lambda rows: kendalltau(*rows.T).statistic, n=500)
    moved = int((sets["paper"] != sets["code"]).sum())
    return pd.DataFrame([{"tau": tau, "low": low, "high": high, "laws": len(laws), "moved": moved}])


# ---------------------------------------------------------------------------------------------- pictures


def ranks_figure(scored: pd.DataFrame):
    """Rank of each method under each definition, a panel per family; the first column is the harmonised one."""
    import matplotlib.pyplot as plt

    table = pooled(scored).drop(columns="oracle", errors="ignore")
    with style():
        figure, axes = plt.subplots(2, 2, figsize=(10, 7), sharey=True)
        for ax, family in zip(axes.flat, FAMILIES, strict=True):
            part = table.loc[family]
            better = [d.better for d in DEFINITIONS.values() if d.family == family]
            signed = part.mul([1 if b == "lower" else -1 for b in better], axis=0)
            ranks = pd.DataFrame(_rounded(signed.to_numpy()), part.index, part.columns).rank(axis=1)
            spread = np.linspace(-0.12, 0.12, len(ranks.columns))  # ties side by side
            for shift, name in zip(spread, ranks, strict=True):
                look = {"color": colour(name), "marker": marker(name), "label": name}
                ax.plot(range(len(ranks)), ranks[name] + shift, ls=":" if name in CONTROLS else "-", **look)
            ax.set_xticks(range(len(ranks)), [paper.replace(", ", ",\n") for paper in ranks.index])
            ax.tick_params(axis="x", labelsize=8)
            ax.set_title(family)
            ax.grid(axis="x", visible=False)
        axes[0, 0].invert_yaxis()
        for ax in axes[:, 0]:
            ax.set_ylabel("rank (1 is best)")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def tau_figure(table: pd.DataFrame):
    """Kendall's tau with the harmonised ranking: of the printed tables (dots), and within problems (rings)."""
    import matplotlib.pyplot as plt

    with style():
        figure, ax = plt.subplots(figsize=(7.5, 0.42 * len(table) + 1.2))
        for y, row in enumerate(table.itertuples()):
            for shift, kind, look in (
                (-0.13, ("tau", "low", "high"), {"fmt": "o", "color": "#0072b2"}),
                (0.13, ("same", "same_low", "same_high"), {"fmt": "o", "color": "#d55e00", "mfc": "white"}),
            ):
                value, low, high = (getattr(row, name) for name in kind)
                ends = [[max(0.0, value - low)], [max(0.0, high - value)]]
                label = ("of the tables" if kind[0] == "tau" else "within one problem") if y == 0 else None
                ax.errorbar([value], [y + shift], xerr=ends, capsize=2, label=label, **look)
        ax.axvline(1, color="#999999", lw=0.8)
        ax.axvline(0, color="#999999", lw=0.8, ls=":")
        ax.set_yticks(range(len(table)), [f"{family}: {paper}" for family, paper in table.index])
        ax.set(xlabel="Kendall's tau-b with the harmonised ranking (95 % bootstrap interval)", xlim=(-1.05, 1.05))
        ax.invert_yaxis()
        ax.grid(axis="y", visible=False)
        figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


# -------------------------------------------------------------------------------- one wrapper, every study


def everywhere(scored: pd.DataFrame, folder: Path, names: list[str]) -> pd.DataFrame:
    """Every generic method on every study of equations: how often it recovers the truth, and its median error.

    Numbers are those of a study's own table in `folder` where the method is in it (all problems of the study, clean
    data), else those of the answers here.

    Returns
    -------
    DataFrame
        Tidy: study, method, n, recovered (share), low, high (Wilson), error (median NMSE by the variance), where
        (``study`` or ``here``), reason (why there is nothing, or empty).
    """
    known = methods().set_index("name")
    rows = []
    for study, (file, recovered, error, rule) in SOURCES.items():
        tables = [("here", scored[scored["study"] == study], "nmse_per_output")]
        if (path := folder / f"{file}.csv").exists():
            whole = pd.read_csv(path)
            whole = whole.query(rule) if rule else whole
            if "r2_trajectories_ood" in whole:
                r2 = whole["r2_trajectories_ood"].fillna(-np.inf)
                whole = whole.assign(r2=r2, accurate_ood=r2 >= ACCURATE)
            if "r2" in whole:
                whole = whole.assign(nmse_variance=1 - whole["r2"])
            tables.insert(0, ("study", whole, error))
        for name in names:
            row = {"study": study, "method": name, "reason": known.loc[name, "reason"]}
            for where, table, column in tables:
                part = table[table["method"] == name]
                if recovered in table and len(part):
                    row |= _found(part[recovered], part[column]) | {"where": where}
                    break
            rows.append(row)
    return pd.DataFrame(rows)


def _found(recovered, error) -> dict[str, float]:
    n, k = len(recovered), int(recovered.sum())
    low, high = proportion_confint(k, n, method="wilson")
    middle = np.sort(error.fillna(np.inf))[(n - 1) // 2]
    return {"n": n, "recovered": k / n, "low": low, "high": high, "error": float(middle)}


def everywhere_text(tidy: pd.DataFrame) -> pd.DataFrame:
    """`everywhere` as texts ``recovered of n; median error``, a column per study; ``*``: of the answers here."""

    def cell(row):
        if np.isnan(row.n):
            return "unavailable" if row.reason else ""
        star = "*" if row.where == "here" else ""
        return f"{round(row.recovered * row.n)} of {row.n:.0f}{star}; {number(float(row.error), 2)}"

    text = tidy.assign(cell=[cell(row) for row in tidy.itertuples()])
    wide = text.pivot(index="method", columns="study", values="cell")
    return wide.loc[tidy["method"].unique(), tidy["study"].unique()]
