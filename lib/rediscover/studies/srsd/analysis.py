"""The SRSD study: model selection, tables and tests; modules beside this one have its figures, audits and verdicts."""

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

from ...expressions import parse
from ...methods import method
from ...metrics import regression, symbolic
from ...problems import problem
from ...problems.srsd import SETS
from ...report.papers import published
from ...report.plots import order
from ...report.summaries import interval, summary

CONTROLS = ("oracle", "mean", "zero")
BASELINES = ("power_law", "polynomial", "polynomial_log_scaled")
SEARCHES = tuple(f"{name}{scaled}" for name in ("gplearn", "operon", "pysr") for scaled in ("", "_log_scaled"))
METRICS = {  # table -> its title, the score as published, the harmonised score
    "table2": ("accuracy, share of laws with R2 > 0.999", "r2_accuracy", "r2"),
    "table3": ("solution rate", "solution_rate", "solution_or_limit"),
    "table4": ("normalised edit distance", "ned_published", "ned_harmonised"),
}
BOUNDS = {"easy": (5, 4), "medium": (8, 20)}  # operations and decades that a set stays below
DECIMALS = 9  # of R2 where answers are ranked by it
RATINGS, RATED = 552, 24  # 23 subjects rated 24 laws


# ------------------------------------------------------------------------------------ runs and selection


def solvers(params) -> list:
    """The methods of the study; searches work on `params.max_rows` rows."""
    return [method(name, max_rows=params.max_rows) if name in SEARCHES else method(name) for name in params.methods]


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
    return regression.relative_squared_error(answer(dict(zip(law.inputs, validation.X.T, strict=True))), validation.y)


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


# ----------------------------------------------------------------------------------------- one law, looked at


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
        said = {"r2": "median R2", "solution_or_limit": "or limit", "ned_harmonised": "harmonised"}[harmonised]
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

    Negative is agreement: what fits better is closer. R2 counts to nine decimals: the order of answers that fit
    better is that of their rounding errors.

    Returns
    -------
    DataFrame
        Index: kind (``law`` or ``method``), name; columns: n, rho (NaN where one of the two does not vary).
    """
    found = scored[~scored["method"].isin(CONTROLS)].assign(r2=scored["r2"].round(DECIMALS))
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
        rows[metric] |= {"p_least": pearson_p(abs(r) + half, RATINGS), "p_most": pearson_p(abs(r) - half, RATINGS)}
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
