"""The SRSD study: model selection, pictures of trees, tables, claims and ledger."""

import itertools
import json
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import scipy.stats
from scipy.optimize import brentq
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.tools import add_constant

from ..expressions import parse
from ..methods import catalogue, method
from ..metrics import regression, symbolic
from ..problems import generator, problem, problems
from ..problems.srsd import SETS
from .figures import colour, logarithmic, marker, order, style
from .ledger import combine, compare, published
from .summaries import interval, summary

CONTROLS = ("oracle", "mean", "zero")
BASELINES = ("power_law", "polynomial", "polynomial_log_scaled")
SEARCHES = tuple(
    f"{name}{scaled}" for name in ("gplearn", "operon", "pysr") for scaled in ("", "_log_scaled")
)
METRICS = {  # table -> its title, the score as published, the harmonised score
    "table2": ("accuracy, share of laws with R2 > 0.999", "r2_accuracy", "r2"),
    "table3": ("solution rate", "solution_rate", "solution_or_limit"),
    "table4": ("normalised edit distance", "ned_published", "ned_harmonised"),
}
BOUNDS = {"easy": (5, 4), "medium": (8, 20)}  # operations and decades that a set stays below
RATINGS, RATED = 552, 24  # 23 subjects rated 24 laws


# ------------------------------------------------------------------------------------ runs and selection


def solvers(params) -> list:
    """The methods of the study; searches work on `params.max_rows` rows."""
    return [
        method(name, max_rows=params.max_rows) if name in SEARCHES else method(name)
        for name in params.methods
    ]


def select(records, laws) -> pd.DataFrame:
    """The records of a grid with each answer chosen among the run's candidates by eq. (4).

    That is the least mean relative squared error on the validation rows; the first of equal ones. As in the
    released code, constants are passed over, unless there is nothing else.

    Parameters
    ----------
    records : DataFrame
        From `runs.grid`.
    laws : list of Law
        Those of the grid.

    Returns
    -------
    DataFrame
        Like `records`, with other solutions, and the column ``chosen``: which candidate it was, from 0, -1
        where there is none.
    """
    known = {law.id: law for law in laws}
    data, out = {}, records.copy()
    solutions, chosen = list(records["solution"]), []
    for i, row in enumerate(records.itertuples()):
        candidates = json.loads(row.candidates)
        law = known[row.problem]
        if len(candidates) > 1 and (row.problem, row.seed) not in data:
            data[row.problem, row.seed] = law.data(row.seed)["validation"]
        best = 0
        if len(candidates) > 1:
            errors = [validation_error(c["solution"], law, data[row.problem, row.seed]) for c in candidates]
            best = int(np.argmin(errors))
        if candidates:
            solutions[i] = json.dumps(candidates[best]["solution"])
        chosen.append(best if candidates else -1)
    return out.assign(solution=solutions, chosen=chosen)


def validation_error(solution, law, validation) -> float:
    """Eq. (4) of one candidate; inf for a constant."""
    (output,) = law.outputs
    answer = parse(solution[output])
    if not answer.names:
        return np.inf
    return regression.relative_squared_error(
        answer(dict(zip(law.inputs, validation.X.T, strict=True))), validation.y
    )


def scored_with_limits(scored) -> pd.DataFrame:
    """The scores, and the lenient solution rate that also accepts what the sampled range cannot tell apart."""
    return scored.assign(solution_or_limit=scored["solution_rate"] + scored["solution_indistinguishable"])


def census(laws) -> pd.DataFrame:
    """How many laws, inputs and flags each set has."""
    rows = [
        {
            "set": law.subset,
            "laws": 1,
            "inputs": len(law.inputs),
            "cancellation": "cancellation" in law.flags,
            "overflow": "overflow" in law.flags,
        }
        for law in laws
    ]
    return pd.DataFrame(rows).groupby("set", sort=False).sum()


# ----------------------------------------------------------------------------------------- one law, drawn


def answer_of(records, law, method: str) -> str:
    """The text of a method's answer to a law."""
    row = records[(records["problem"] == law.id) & (records["method"] == method)].iloc[0]
    (text,) = json.loads(row["solution"]).values()
    return text


def edits(law, answer: str):
    """Comparison with the law as published, and the cheapest edit script between the trees."""
    (truth,) = law.truth.values()
    details = symbolic.ned_details(answer, truth, law.inputs)
    return details, symbolic.edit_script(details.prediction, details.truth)


def look(law, answer: str):
    """One law: its data, and the trees of an answer and of the truth with the edit script between them."""
    import matplotlib.pyplot as plt

    details, script = edits(law, answer)
    X, y = law.data()["test"]
    with style():
        figure, (data, trees) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(1, 2.4))
        shade = np.log10(np.abs(X[:, 1])) if X.shape[1] > 1 else None
        data.scatter(np.abs(X[:, 0]), np.abs(y), c=shade, s=6, lw=0, rasterized=True)
        for axis in (data.xaxis, data.yaxis):
            logarithmic(data, axis)
        (output,) = law.outputs
        data.set(xlabel=law.inputs[0], ylabel=output)
        data.set_title(
            f"{law.id.split('/')[1]}: {output}" + (f", shade: log {law.inputs[1]}" if X.shape[1] > 1 else "")
        )
        _draw_script(trees, details, script, law.inputs)
    return figure


LOOKS = {"keep": "#999999", "rename": "#e69f00", "delete": "#d55e00", "insert": "#0072b2"}


def _draw_script(ax, details, script, inputs):
    left, right = _layout(details.prediction), _layout(details.truth)
    shift = max(x for _, x, _, _ in left) + 2.2
    for nodes, offset in ((left, 0.0), (right, shift)):
        for _, x, y, parent in nodes:
            if parent is not None:
                ax.plot(
                    [x + offset, nodes[parent][1] + offset],
                    [y, nodes[parent][2]],
                    color="#bbbbbb",
                    lw=1,
                    zorder=1,
                )
    done = set()
    for edit in script:
        for nodes, i, offset in ((left, edit.prediction, 0.0), (right, edit.truth, shift)):
            if i is None:
                continue
            label, x, y, _ = nodes[i]
            column = re.fullmatch(r"x(\d+)", label)
            text = inputs[int(column[1])] if column else {"Const": "C"}.get(label, label)
            known = edit.operation not in done
            ax.plot(
                x + offset,
                y,
                "o",
                ms=19,
                mfc="white",
                mew=2,
                mec=LOOKS[edit.operation],
                label=edit.operation if known else None,
                zorder=2,
            )
            done.add(edit.operation)
            ax.text(x + offset, y, text, ha="center", va="center", size=7, zorder=3)
        if None not in (edit.prediction, edit.truth) and edit.operation == "rename":
            (_, x, y, _), (_, u, v, _) = left[edit.prediction], right[edit.truth]
            ax.plot([x, u + shift], [y, v], ":", color=LOOKS["rename"], lw=1, zorder=0)
    ax.set_title(
        f"answer (left) to truth (right): {details.distance} edits, "
        f"{len(right)} nodes, distance {details.value:.3f}"
    )
    ax.legend(loc="lower left", bbox_to_anchor=(1.0, 0.0), markerscale=0.4)
    ax.set_axis_off()
    ax.margins(0.08)


def _layout(tree):
    """(label, x, y, parent) of the nodes in postorder, leaves side by side."""
    nodes, leaves = [], itertools.count()

    def place(branch, depth):
        label, *children = branch
        below = [place(child, depth + 1) for child in children]
        x = float(np.mean([nodes[i][1] for i in below])) if below else float(next(leaves))
        nodes.append([label, x, -float(depth), None])
        for i in below:
            nodes[i][3] = len(nodes) - 1
        return len(nodes) - 1

    place(tree, 0)
    return [tuple(node) for node in nodes]


# --------------------------------------------------------------------------------------- Tables 2, 3 and 4


def as_printed(name: str) -> pd.DataFrame:
    """A published table by set, methods as rows, shares as fractions."""
    table = published(f"srsd_{name}")
    value = table["value"].astype(float) / np.where(table["unit"] == "percent", 100, 1)
    wide = table.assign(value=value).pivot(index="method", columns="set", values="value")
    return wide.loc[table["method"].unique(), list(SETS)]


def tables(scored, out) -> list[str]:
    """Tables 2, 3 and 4 with controls, ours above the published ones."""
    texts = []
    for name, (title, score, harmonised) in METRICS.items():
        reduce = "median" if harmonised == "r2" else "mean"
        said = {"r2": "median R2", "solution_or_limit": "or limit", "ned_harmonised": "harmonised"}[
            harmonised
        ]
        out.runs(summary(scored, ["subset", "method"], [score, harmonised]), f"srsd_{name}_intervals")
        ours = [
            scored.pivot_table(index="method", columns="subset", values=column, aggfunc=how)
            .reindex(columns=[s for s in SETS if s in set(scored["subset"])])
            .rename(columns=lambda s, label=label: f"{s}{label}")
            for column, how, label in ((score, "mean", ""), (harmonised, reduce, f", {said}"))
        ]
        frame = pd.concat(ours, axis=1).loc[order(scored["method"])]
        printed = as_printed(name).rename(index=lambda label: f"{label} (published)")
        frame = pd.concat([frame, printed[[c for c in printed if c in frame]]]).rename_axis("method")
        caption = f"SRSD Table {name[-1]}: {title}"
        texts.append(f"{caption}\n{out.table(frame, f'srsd_{name}', caption=caption)}")
    return texts


def by_set(scored):
    """Tables 2, 3 and 4 as lines over the sets, published methods in grey."""
    import matplotlib.pyplot as plt

    names = order(set(scored["method"]) - {"oracle"})
    with style():
        figure, axes = plt.subplots(1, 3, figsize=(11, 3.4))
        for ax, (name, (title, score, _)) in zip(axes, METRICS.items(), strict=True):
            printed = as_printed(name).sort_values("hard")
            ax.plot(range(3), printed.T, color="#bbbbbb", lw=1, zorder=1)
            height = -1.0
            for label, value in printed["hard"].items():
                height = max(value, height + 0.045)  # labels above each other where lines end together
                ax.annotate(
                    label, (2.15, height), size=6, color="#777777", va="center", annotation_clip=False
                )
            for i, kind in enumerate(names):
                part = scored[scored["method"] == kind].groupby("subset")[score]
                lines = [interval(part.get_group(s)) if s in part.groups else None for s in SETS]
                where = [k for k, line in enumerate(lines) if line]
                value, low, high = (
                    np.array([lines[k][key] for k in where]) for key in ("value", "low", "high")
                )
                ax.errorbar(
                    np.array(where) + 0.025 * (i - len(names) / 2),
                    value,
                    np.abs([value - low, high - value]),
                    marker=marker(kind),
                    color=colour(kind),
                    ms=4,
                    lw=1,
                    label=kind,
                )
            ax.set_xticks(range(3), SETS)
            ax.set_xlim(-0.2, 2.6)
            ax.set_ylim(-0.03, 1.03)
            better = "lower" if "ned" in score else "higher"
            ax.set_title(f"Table {name[-1]}: {title}\n({better} is better)")
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title="ours")
    return figure


def yardstick(scored, baseline: str = "power_law") -> pd.DataFrame:
    """A trivial baseline beside the best published method, by table and set.

    Returns
    -------
    DataFrame
        Index: table, set; columns: ours, low, high, published (the best), method (whose it is), gain (how
        much better ours is; negative if worse).
    """
    rows = []
    for name, (_, score, _) in METRICS.items():
        lower = score.startswith("ned")
        for subset in [s for s in SETS if s in set(scored["subset"])]:
            values = scored[(scored["method"] == baseline) & (scored["subset"] == subset)][score]
            column = as_printed(name)[subset]
            best = column.idxmin() if lower else column.idxmax()
            ours = interval(values)
            rows.append(
                {
                    "table": f"Table {name[-1]}",
                    "set": subset,
                    **{key: ours[key] for key in ("value", "low", "high")},
                    "published": column[best],
                    "method": best,
                    "gain": (column[best] - ours["value"]) * (1 if lower else -1),
                }
            )
    return pd.DataFrame(rows).set_index(["table", "set"])


# -------------------------------------------------------------------------------- noise and original ranges


def noise_table(noise, out) -> str:
    """Table S15: mean edit distance on the Easy laws by noise level, ours above the published ones."""
    ours = noise.pivot_table(index="method", columns="noise", values="ned_published")
    ours = ours.loc[order(ours.index)]
    printed = published("srsd_table_s15")
    printed = printed.assign(noise=printed["noise_level"].astype(float), value=printed["value"].astype(float))
    printed = printed.pivot(index="method", columns="noise", values="value").loc[printed["method"].unique()]
    printed = printed[[c for c in printed if c in ours]]
    frame = pd.concat([ours, printed.rename(index=lambda label: f"{label} (published)")])
    frame.columns = [f"noise {level:g}" for level in frame.columns]
    caption = "SRSD Table S15: edit distance on the Easy set against noise"
    return out.table(frame.rename_axis("method"), "srsd_table_s15", caption=caption)


def noise_figure(noise):
    """Mean edit distance and accuracy on Easy against the noise level."""
    import matplotlib.pyplot as plt

    titles = {
        "ned_published": "normalised edit distance\n(lower is better)",
        "r2_accuracy": "R2 > 0.999 on clean test data\n(higher is better)",
    }
    tidy = summary(noise, ["method", "noise"], list(titles))
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(7.5, 2.8))
        for ax, (score, title) in zip(axes, titles.items(), strict=True):
            part = tidy[tidy["metric"] == score]
            levels = sorted(part["noise"].unique())
            for i, name in enumerate(names := order(part["method"])):
                line = part[part["method"] == name].sort_values("noise")
                value = line["value"].to_numpy()
                ax.errorbar(
                    np.arange(len(line)) + 0.05 * (i - len(names) / 2),
                    value,
                    np.abs(line[["low", "high"]].to_numpy().T - value),
                    marker=marker(name),
                    color=colour(name),
                    ms=4,
                    label=name,
                )
            ax.set_xticks(range(len(levels)), [f"{level:g}" for level in levels])
            ax.set(xlabel="noise level", title=title, ylim=(-0.03, 1.03))
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def ranges(new, original) -> pd.DataFrame:
    """Table S16: solution rates on the original and on the new ranges, paired by law.

    Returns
    -------
    DataFrame
        Index: method; columns: laws, original, new (shares), only_original, only_new (laws solved on one
        only), p (McNemar's exact test).
    """
    keys = ["problem", "seed"]
    rows = {}
    for name in order(original["method"]):
        pair = [f[f["method"] == name].set_index(keys)["solution_rate"].astype(bool) for f in (original, new)]
        a, b = pair[0].align(pair[1], join="inner")
        counts = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
        rows[name] = {
            "laws": len(a),
            "original": a.mean(),
            "new": b.mean(),
            "only_original": counts[0][1],
            "only_new": counts[1][0],
            "p": float(mcnemar(counts, exact=True).pvalue),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


# ------------------------------------------------------------------------------ complexity, Figure 1, SR-14


def difficulty(laws) -> pd.DataFrame:
    """Operations and width of the ranges of each law, and the sets that follow.

    Returns
    -------
    DataFrame
        Index: law; columns: set, operations (SymPy's count_ops of the truth), paper and code (decades, by
        eq. (1) and by the released rule), set_paper and set_code (the sets that the thresholds then give).
    """
    rows = {}
    for law in laws:
        operations, decades = symbolic.complexity(law.upstream_truth, "count_ops"), law.domain_range()
        rows[law.id] = {
            "set": law.subset,
            "operations": operations,
            **decades,
            **{f"set_{rule}": placed(operations, value) for rule, value in decades.items()},
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("law")


def placed(operations: int, decades: float) -> str:
    """The set of a law by the thresholds of the released code.

    Examples
    --------
    >>> placed(3, 2.0), placed(3, 4.0), placed(9, 2.0)
    ('easy', 'medium', 'hard')
    """
    for name, (most, widest) in BOUNDS.items():
        if operations < most and decades < widest:
            return name
    return "hard"


def complexity_map(frame):
    """Figure 1 by eq. (1) and by the rule of the released code; misplaced laws are named."""
    import matplotlib.pyplot as plt

    colours = dict(zip(SETS, ("#009e73", "#e69f00", "#d55e00"), strict=True))
    titles = {"paper": "eq. (1), as printed", "code": "the rule of the released code"}
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
        for ax, (rule, title) in zip(axes, titles.items(), strict=True):
            for most, widest in BOUNDS.values():
                ax.plot([0, most - 0.5, most - 0.5], [widest, widest, -1], ":", color="#555555", lw=1)
            for name, group in frame.groupby("set", sort=False):
                ax.plot(
                    group["operations"], group[rule], "o", ms=4, alpha=0.6, color=colours[name], label=name
                )
            wrong = frame[frame["set"] != frame[f"set_{rule}"]]
            ax.plot(wrong["operations"], wrong[rule], "o", ms=9, mfc="none", mec="black")
            for place, laws in wrong.groupby(["operations", rule]):
                text = ", ".join(law.split("/")[1] for law in laws.index)
                side, align = (-8, "right") if place[0] == wrong["operations"].min() else (8, "left")
                ax.annotate(text, place, (side, -2), textcoords="offset points", size=6, ha=align)
            ax.set(xlabel="operations in the truth", title=f"{title}: {len(wrong)} misplaced")
        axes[0].set_ylabel("width of the ranges, decades")
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def regress(scored, frame) -> pd.DataFrame:
    """Edit distance of each method regressed on the law's operations and decades (the code's rule).

    Returns
    -------
    DataFrame
        Index: method; columns: operations, decades (change of the distance per unit), p_operations,
        p_decades, explained (R2 of the fit).
    """
    rows = {}
    for name in order(set(scored["method"]) - set(CONTROLS)):
        part = scored[scored["method"] == name].set_index("problem")
        axes = frame.loc[part.index, ["operations", "code"]].astype(float)
        if len(part) < 5:  # three coefficients need more
            continue
        fit = OLS(part["ned_published"], add_constant(axes)).fit()
        rows[name] = {
            "operations": fit.params["operations"],
            "p_operations": fit.pvalues["operations"],
            "decades": fit.params["code"],
            "p_decades": fit.pvalues["code"],
            "explained": fit.rsquared,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


# --------------------------------------------------------------------- fit against distance, SR-05 and SR-06


def agreement(scored) -> pd.DataFrame:
    """Spearman correlation between R2 and edit distance: over methods for each law, and over laws for each method.

    Negative is agreement: what fits better is closer.

    Returns
    -------
    DataFrame
        Index: kind (``law`` or ``method``), name; columns: n, rho (NaN where one of the two does not vary).
    """
    found = scored[~scored["method"].isin(CONTROLS)]
    rows = []
    for kind, column in (("law", "problem"), ("method", "method")):
        for name, group in found.groupby(column, sort=False):
            varies = group["r2"].nunique() > 1 and group["ned_published"].nunique() > 1
            rho = scipy.stats.spearmanr(group["r2"], group["ned_published"]).statistic if varies else np.nan
            rows.append({"kind": kind, "name": name, "n": len(group), "rho": rho})
    return pd.DataFrame(rows).set_index(["kind", "name"])


def published_agreement() -> pd.Series:
    """The same correlation over the published methods, by set: Table 2 against Table 4."""
    accuracy, distance = as_printed("table2"), as_printed("table4")
    return pd.Series(
        {s: scipy.stats.spearmanr(accuracy[s], distance[s]).statistic for s in SETS}, name="rho"
    ).rename_axis("set")


def fit_against_distance(scored):
    """Each answer's error against its edit distance, a panel per set."""
    import matplotlib.pyplot as plt

    sets = [s for s in SETS if s in set(scored["subset"])]
    with style():
        figure, axes = plt.subplots(
            1, len(sets), figsize=(3.4 * len(sets) + 1.2, 3.2), sharey=True, squeeze=False
        )
        jitter = generator(0, "fit against distance")
        for ax, subset in zip(axes[0], sets, strict=True):
            for name in order(set(scored["method"]) - set(CONTROLS)):
                part = scored[(scored["method"] == name) & (scored["subset"] == subset)]
                error = np.clip(1 - part["r2"], 1e-16, 1e2)
                height = part["ned_published"] + jitter.uniform(-0.012, 0.012, len(part))
                ax.plot(error, height, marker(name), color=colour(name), ms=4, alpha=0.6, ls="", label=name)
            ax.axvline(1e-3, color="#555555", lw=1, ls=":")
            ax.set_xscale("log")
            ax.set_xticks([1e-16, 1e-12, 1e-8, 1e-4, 1])
            ax.set(title=subset, xlabel="1 - R2 (clipped)")
        axes[0][0].set_ylabel("normalised edit distance")
        axes[0][-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


# ---------------------------------------------------------------------------- printed examples and user study


def examples() -> pd.DataFrame:
    """Tables S13 and S14 recomputed from the printed skeletons.

    Returns
    -------
    DataFrame
        Columns: equation_id, method, skeleton, printed, published, harmonised (our values).
    """
    rows = []
    for name in ("s13", "s14"):
        table = published(f"srsd_table_{name}")
        for row in table[table["ned"] != ""].itertuples():
            law = problem(f"srsd/{row.equation_id}")
            (truth,) = law.truth.values()
            text = from_skeleton(row.skeleton, law.inputs)
            rows.append(
                {
                    "equation_id": row.equation_id,
                    "method": row.method,
                    "skeleton": row.skeleton,
                    "printed": row.ned,
                    "published": symbolic.ned_published(text, truth, law.inputs),
                    "harmonised": symbolic.ned_harmonised(text, truth, law.inputs),
                }
            )
    return pd.DataFrame(rows)


def from_skeleton(skeleton: str, inputs) -> str:
    """An expression with a printed skeleton: inputs by number, constants 1.3, 1.7, 2.1, ...

    Examples
    --------
    >>> from_skeleton("c_1*x_2^{c_2}", ["q", "r"])
    '1.3*r**(1.7)'
    """
    text = re.sub(r"sqrt\{(.*)\}", r"sqrt(\1)", skeleton)
    text = re.sub(r"\^\{([^}]*)\}", r"**(\1)", text)
    text = re.sub(r"c_(\d+)", lambda found: f"{0.9 + 0.4 * int(found[1]):.1f}", text)
    return re.sub(r"x_(\d+)", lambda found: inputs[int(found[1]) - 1], text)


def user_study() -> pd.DataFrame:
    """Table S17: what the printed correlations and p values imply.

    Returns
    -------
    DataFrame
        Index: metric; columns: r and p_printed; n_implied, the number of independent pairs at which r has
        that p; p, low, high at the 552 ratings taken as independent (95 % interval by Fisher's z), p_least and
        p_most there for the rounding of r; p_laws, low_laws, high_laws at 24, one pair for each law, which is
        what is left if the subjects agree with each other.
    """
    table = published("srsd_table_s17").pivot(index="metric", columns="statistic", values="value")
    rows = {}
    for metric, row in table.iterrows():
        r, p = float(row["pearson_r"]), float(row["p_value"])
        half = 0.5 * 10.0 ** Decimal(row["pearson_r"]).as_tuple().exponent
        rows[metric] = {"r": r, "p_printed": p, "n_implied": pairs_implied(r, p)}
        for n, suffix in ((RATINGS, ""), (RATED, "_laws")):
            width = scipy.stats.norm.ppf(0.975) / np.sqrt(n - 3)
            low, high = np.tanh(np.arctanh(r) + np.array([-width, width]))
            rows[metric] |= {f"p{suffix}": pearson_p(r, n), f"low{suffix}": low, f"high{suffix}": high}
        rows[metric] |= {
            "p_least": pearson_p(abs(r) + half, RATINGS),
            "p_most": pearson_p(abs(r) - half, RATINGS),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("metric")


def pairs_implied(r: float, p: float) -> float:
    """The number of independent pairs at which a correlation r has the p value p.

    Examples
    --------
    >>> round(pairs_implied(0.6, pearson_p(0.6, 11)), 6)
    11.0
    """

    def excess(n):
        return abs(r) * np.sqrt((n - 2) / (1 - r * r)) - scipy.stats.t.isf(p / 2, n - 2)

    return float(brentq(excess, 3, 1e6))


def pearson_p(r: float, n: float) -> float:
    """Two-sided p value of a Pearson correlation of n independent pairs.

    Examples
    --------
    >>> round(pearson_p(0.6, 11), 4)  # t = 0.6 * sqrt(9) / sqrt(1 - 0.36) = 2.25 with 9 degrees of freedom
    0.051
    """
    return float(2 * scipy.stats.t.sf(abs(r) * np.sqrt((n - 2) / (1 - r * r)), n - 2))


# ----------------------------------------------------------------------------------------- duplicates, SR-10


def duplicates(laws) -> pd.DataFrame:
    """Groups of laws that are the same problem: the same function of inputs with the same ranges.

    Inputs may be renamed. Compared by values at 40 points, and by a constant factor if not by values.

    Parameters
    ----------
    laws : list of Law, variant 'fsrd'

    Returns
    -------
    DataFrame
        Index: law; columns: twins (laws with the same function), scaled (up to a constant factor).
    """
    groups = {}
    for law in laws:
        groups.setdefault(tuple(sorted(map(repr, law.samplers.values()))), []).append(law)
    rows = {law.id: {"twins": 0, "scaled": 0} for law in laws}
    for group in groups.values():
        for a, b in itertools.combinations(group, 2):
            for kind, scaled in (("twins", False), ("scaled", True)):
                if same_problem(a, b, scaled=scaled):
                    rows[a.id][kind] += 1
                    rows[b.id][kind] += 1
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("law")


def same_problem(a, b, *, scaled: bool, points: int = 40) -> bool:
    """Whether some renaming of inputs with equal ranges makes two laws the same function, or a multiple of it."""
    rng = generator(0, "duplicates")
    share = rng.uniform(size=(points, 1))

    def ratio(X, Y):
        with np.errstate(all="ignore"):
            return a.evaluate(dict(zip(a.inputs, X.T, strict=True))) / b.evaluate(
                dict(zip(b.inputs, Y.T, strict=True))
            )

    def agrees(values):
        values = values[np.isfinite(values)]
        if not len(values):
            return False
        return np.allclose(values, values[0] if scaled else 1.0, rtol=1e-9, atol=0)

    specs = [list(law.samplers.values()) for law in (a, b)]
    diagonal = [
        np.array([low + share[:, 0] * (high - low) for _, low, high in map(tuple, s)]).T for s in specs
    ]
    if not agrees(ratio(*diagonal)):  # the same whatever the renaming
        return False
    low, high = np.array([spec[1:3] for spec in specs[0]], float).T
    X = low + rng.uniform(size=(points, len(low))) * (high - low)
    for order_ in itertools.permutations(range(len(low))):
        if all(specs[0][i] == specs[1][k] for k, i in enumerate(order_)) and agrees(ratio(X, X[:, order_])):
            return True
    return False


# --------------------------------------------------------------------------------------------------- audits


def released_targets(law, seed: int = 0) -> dict[str, float]:
    """How the released targets of a law differ from the law.

    Returns
    -------
    dict with rows (where they are defined), r2 (of the law, on the released targets), ratio (released to true, median)
    """
    X, y = law.data(seed)["test"]
    released = parse(law.upstream_targets)(dict(zip(law.inputs, X.T, strict=True)))
    finite = np.isfinite(released)
    return {
        "rows": int(finite.sum()),
        "r2": regression.r2(y[finite], released[finite]),
        "ratio": float(np.median(released[finite] / y[finite])),
    }


def string_distance(a: str, b: str) -> int:
    """Edit distance of strings, as the distance of trees without branches."""

    def chain(text):
        tree = ("end",)
        for character in reversed(text):
            tree = (character, tree)
        return tree

    return symbolic.tree_edit_distance(chain(a), chain(b))


# --------------------------------------------------------------------------------------------- claims, ledger


def claims(scored, noise, paired, frame, fits, twins, printed, raters) -> dict[str, tuple[str, str]]:
    """Verdict and finding for each claim of SRSD.

    Parameters
    ----------
    scored, noise : scores of the main grid and of the noisy one
    paired, frame, fits, twins, printed, raters : from `ranges`, `difficulty`, `regress`, `duplicates`, `examples`
        and `user_study`
    """
    found = scored[~scored["method"].isin(CONTROLS)]
    trivial = yardstick(scored)
    labels = catalogue("srsd").set_index("label")
    results = {
        "SR-01": ("untestable here", _user_study_finding(raters)),
        "SR-02": ("untestable here", _trivial_finding(trivial, "Table 2", labels)),
        "SR-03": ("untestable here", _trivial_finding(trivial, "Table 3", labels)),
        "SR-04": ("untestable here", _trivial_finding(trivial, "Table 4", labels, needs="ST")),
        "SR-05": _difficulty_claim(found),
        "SR-06": _rank_claim(found),
        "SR-09": ("untestable here", "needs the 24,232 pretraining sets, which were not released"),
    }
    harder = paired[paired["new"] < paired["original"]]
    easier = paired[paired["new"] > paired["original"]]
    sure = harder[harder["p"] < 0.05]
    results["SR-07"] = (
        "holds" if len(harder) == len(paired) else "fails" if harder.empty else "mixed",
        f"fewer laws solved on the new ranges by {len(harder)} of {len(paired)} methods ({len(sure)} with p < 0.05), "
        f"more by {len(easier)}: "
        + ", ".join(f"{m} {row.original:.1%} / {row.new:.1%}" for m, row in paired.iterrows()),
    )
    levels = noise.groupby(["method", "noise"])["ned_published"].mean().unstack()
    rises = levels[levels.columns[-1]] - levels[levels.columns[0]]
    results["SR-08"] = (
        "holds" if (rises > 0).all() else "fails" if (rises <= 0).all() else "mixed",
        f"Easy distance at noise {levels.columns[-1]:g} minus that at 0: "
        + ", ".join(f"{name} {rise:+.3f}" for name, rise in rises.loc[order(rises.index)].items())
        + "; Symbolic Transformer was not run",
    )
    shares = (twins > 0).mean()
    most = twins.max().tolist()
    results["SR-10"] = (
        "holds" if abs(shares["scaled"] - 0.25) < 0.05 else "mixed" if shares["scaled"] else "fails",
        f"{shares['scaled']:.1%} of {len(twins)} original problems have 1 to {most[1]} twins with the same ranges and "
        f"the same function up to a constant factor, {shares['twins']:.1%} have 1 to {most[0]} with the very same one",
    )
    for claim, law in (("SR-11", "I.12.4"), ("SR-12", "I.14.3")):
        part = printed[printed["equation_id"] == law]
        same = np.isclose(part["printed"].astype(float), part["published"], atol=5e-4)
        results[claim] = (
            "holds" if same.all() else "fails",
            f"{same.sum()} of {len(part)} printed distances recomputed: "
            + ", ".join(f"{row.method} {row.published:.3f}" for row in part.itertuples()),
        )
    counts = [len(problems("srsd", subset)) for subset in SETS]
    rows = {sum(problem(id).sizes) for id in problems("srsd")}
    results["SR-13"] = (
        "holds" if counts == [30, 40, 50] and rows == {10_000} else "fails",
        f"{' / '.join(map(str, counts))} laws; rows per law: {', '.join(map(str, sorted(rows)))}",
    )
    wrong = [(frame["set"] != frame[f"set_{rule}"]).sum() for rule in ("paper", "code")]
    if fits.empty:
        results["SR-14"] = ("untestable here", f"{len(frame)} laws are too few for a regression")
    else:
        up = ((fits["operations"] > 0) & (fits["p_operations"] < 0.05)).sum()
        wide = ((fits["decades"] > 0) & (fits["p_decades"] < 0.05)).sum()
        results["SR-14"] = (
            "holds" if min(up, wide) == len(fits) else "mixed" if max(up, wide) else "fails",
            f"distance grows with operations for {up} and with decades for {wide} of {len(fits)} methods (p < 0.05); "
            f"both explain {fits['explained'].min():.0%} to {fits['explained'].max():.0%} of its variance; "
            f"of {len(frame)} laws eq. (1) misplaces {wrong[0]}, the code's rule {wrong[1]}",
        )
    return results


def _user_study_finding(raters) -> str:
    ned, r2 = raters.loc["normalized_edit_distance"], raters.loc["r2_score"]
    return (
        f"the ratings are not released; the printed p values follow from r at n = {ned['n_implied']:.0f} and "
        f"{r2['n_implied']:.0f}, that is {RATINGS} ratings taken as independent; with one value for each of the "
        f"{RATED} laws p is {ned['p_laws']:.2g} for the edit distance, and the 95 % intervals of r are "
        f"{ned['low_laws']:.2f} to {ned['high_laws']:.2f} for it and "
        f"{r2['low_laws']:.2f} to {r2['high_laws']:.2f} for R2"
    )


def _trivial_finding(trivial, table, labels, needs="DSR") -> str:
    part = trivial.loc[table]
    pairs = ", ".join(
        f"{name} {row.value:.3f} against {row.published:.3f} ({row.method})" for name, row in part.iterrows()
    )
    why = labels.loc[needs, "reason"]
    return f"{needs} was not run: {why}; a log-linear fit here against the best published: {pairs}"


def _difficulty_claim(found):
    parts, agree, total = [], 0, 0
    for _, score, _ in METRICS.values():
        means = found.groupby(["method", "subset"])[score].mean().unstack()
        means = means[[s for s in SETS if s in means]]
        steps = np.diff(means.to_numpy(), axis=1) * (1 if score.startswith("ned") else -1)
        harder = (steps >= 0).all(axis=1) & (steps.sum(axis=1) > 0)
        agree, total = agree + harder.sum(), total + len(means)
        parts.append(f"{score} {harder.sum()} of {len(means)}")
    verdict = "holds" if agree == total else "fails" if not agree else "mixed"
    return verdict, "methods for which each set is at least as hard as the one before: " + ", ".join(parts)


def _rank_claim(found):
    rho = agreement(found)["rho"]
    within = rho.loc["law"].dropna()
    told = published_agreement()
    disagree = (within > -0.5).mean() if len(within) else np.nan
    return (
        "holds" if disagree > 0.5 else "mixed" if disagree > 0.1 else "fails",
        f"rank correlation of R2 with distance over methods: median {within.median():+.2f} over {len(within)} laws, "
        f"weaker than -0.5 on {disagree:.0%} of them; published Tables 2 and 4 over six methods: "
        + ", ".join(f"{name} {value:+.2f}" for name, value in told.items()),
    )


def ledger(scored, noise, paired, printed, raters) -> pd.DataFrame:
    """Published Tables 2, 3, 4 and S13 to S17 of SRSD beside ours."""
    known = catalogue("srsd").set_index("label")
    label = {row.ours: name for name, row in known.iterrows() if row.ours}
    absent = {
        name: ("not run", reason or "no runs in this profile") for name, reason in known["reason"].items()
    }
    within = "printed digit within the 95 % bootstrap interval of our mean over laws"
    tables_ = [
        compare(
            "SRSD",
            f"Table {name[-1]}",
            published(f"srsd_{name}"),
            _means(scored, ["subset"], score, label, 1 if name == "table4" else 100),
            keys=["method", "set"],
            row="{method}",
            column="{set}",
            absent=absent,
            definition=score,
            tolerance=within,
        )
        for name, (_, score, _) in METRICS.items()
    ]
    s15 = published("srsd_table_s15")
    s15 = s15.assign(noise=s15["noise_level"].astype(float))
    options = {"row": "{method}", "absent": absent, "tolerance": within}
    measured = _means(noise, ["noise"], "ned_published", label)
    tables_.append(
        compare(
            "SRSD",
            "Table S15",
            s15,
            measured,
            keys=["method", "noise"],
            column="noise {noise_level}",
            definition="ned_published, training noise gamma * sqrt(mean(y^2))",
            **options,
        )
    )
    tables_.append(
        compare(
            "SRSD",
            "Table S16",
            published("srsd_table_s16"),
            _paired_rates(paired, label),
            keys=["method", "dataset"],
            column="{dataset}",
            definition="solution_rate, same method and budget",
            **options,
        )
    )
    for name in ("s13", "s14"):
        rows = published(f"srsd_table_{name}").query("ned != ''").rename(columns={"ned": "value"})
        ours = {
            (row.method, row.equation_id): {
                "value": row.published,
                "low": row.published,
                "high": row.published,
            }
            for row in printed.itertuples()
        }
        tables_.append(
            compare(
                "SRSD",
                f"Table {name.upper()}",
                rows,
                ours,
                keys=["method", "equation_id"],
                row="{method}",
                column="{equation_id}",
                absent={},
                definition="ned_published of the printed skeleton with constants filled in",
                tolerance="rounding of the printed digit",
            )
        )
    p = {
        (metric, "p_value"): {"value": row["p"], "low": row["p_least"], "high": row["p_most"]}
        for metric, row in raters.iterrows()
    }
    tables_.append(
        compare(
            "SRSD",
            "Table S17",
            published("srsd_table_s17"),
            p,
            keys=["metric", "statistic"],
            row="{metric}",
            column="{statistic}",
            absent={"*": ("not comparable", "the ratings are not released")},
            definition=f"p of the printed r at n = {RATINGS}, two-sided t test",
            tolerance="p for the r that round to the printed one",
        )
    )
    return combine(tables_)


def _means(frame, keys, score, label, factor=1):
    """Means of a score with intervals, by published method name and `keys`."""
    measured = {}
    for key, group in frame[frame["method"].isin(label)].groupby(["method", *keys]):
        ours = interval(group[score])
        reason = f"mean over {ours['n_finite']} of {ours['n']} laws; budget and settings differ"
        measured[label[key[0]], *key[1:]] = {
            name: factor * ours[name] for name in ("value", "low", "high")
        } | {"reason": reason}
    return measured


def _paired_rates(paired, label):
    measured = {}
    for name in paired.index.intersection(list(label)):
        for dataset, column in (("FSRD", "original"), ("SRSD", "new")):
            n = int(paired.loc[name, "laws"])
            solved = round(paired.loc[name, column] * n)
            ours = interval(np.repeat([1.0, 0.0], [solved, n - solved]))
            measured[label[name], dataset] = {k: 100 * ours[k] for k in ("value", "low", "high")} | {
                "reason": f"{solved} of {n} laws; budget and settings differ"
            }
    return measured
