"""The surface study: its runs, its tables and its failure analysis."""

import json

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from ...methods import method
from ...metrics.failure_modes import failure
from ...problems import problem, problems
from ...problems.surfaces import categories
from ...report.plots import order
from ...report.statistics import holm, paired_wilcoxon
from ...report.summaries import summary
from ...report.tables import CONTROLS
from ...runs.scoring import metric

GENETIC = ("gplearn", "operon", "pysr")
PUBLISHED = {  # column of the paper -> what the release computes
    "symbolic_accuracy": "symbolic_accuracy",
    "nmse": "nmse_release",
    "chamfer": "chamfer_distance",
    "hausdorff": "hausdorff",
}
HARMONISED = ("symbolic_accuracy", "nmse_variance", "chamfer_squared_relative", "hausdorff_relative")


def as_released(metric: str, representation: str) -> str:
    """The score that a published column holds; only parametric Chamfer distances were squared."""
    squared = metric == "chamfer" and representation == "parametric"
    return "chamfer_squared" if squared else PUBLISHED[metric]


def solvers(params) -> list:
    """The methods of the study; searches work on `params.max_rows` rows."""
    return [method(name, max_rows=params.max_rows) if name in GENETIC else method(name) for name in params.methods]


def searchers(methods) -> list:
    """Those of the methods that fit something and run here."""
    return [m for m in methods if m.name not in CONTROLS and not m.available()]


def census(surfaces) -> pd.DataFrame:
    """How many surfaces of each representation there are, and how many carry which flag."""
    flags = sorted({flag for surface in surfaces for flag in surface.flags})
    rows = {
        kind: {"surfaces": sum(s.subset == kind for s in surfaces)}
        | {flag: sum(flag in s.flags for s in surfaces if s.subset == kind) for flag in flags}
        for kind in dict.fromkeys(s.subset for s in surfaces)
    }
    return pd.DataFrame(rows).T


def footnotes(scored) -> tuple[str, ...]:
    """What a reader of a table must know about the surfaces in it."""
    counts = {}
    for id in scored["problem"].unique():
        for flag in problem(id).flags:
            counts.setdefault(flag, []).append(id.split("/")[1])
    said = ("substitute", "coefficients_chosen", "ocr_repair", "narrow_domain", "integer_grid")
    return tuple(
        f"{flag.replace('_', ' ')}: {', '.join(counts[flag]) if len(counts[flag]) <= 4 else len(counts[flag])}"
        for flag in said
        if flag in counts
    )


def tables(scored, out) -> list[str]:
    """Tables 1 and 2 with controls: as released and harmonised, means and medians with intervals."""
    texts = []
    for table, kinds in (("1", ("explicit", "implicit")), ("2", ("parametric",))):
        for variant in ("released", "harmonised"):
            for label, statistic in (("mean", np.mean), ("median", np.median)):
                tidy = pd.concat([_summary(scored, kind, variant, statistic) for kind in kinds])
                value, *interval = (_wide(tidy, column) for column in ("value", "low", "high"))
                how = "as released" if variant == "released" else variant
                caption = f"SurfaceBench Table {table}, {how}, {label}s [95 % interval]"
                text = out.table(
                    value,
                    f"surfaces_table{table}_{variant}_{label}",
                    caption=caption,
                    footnotes=footnotes(scored),
                    best={column: metric(column).direction for column in value},
                    intervals=tuple(interval),
                )
                out.runs(tidy, f"surfaces_table{table}_{variant}_{label}_intervals")
                texts.append(f"{caption}\n{text}")
    return texts


def _summary(scored, kind, variant, statistic) -> pd.DataFrame:
    part = scored[scored["subset"] == kind]
    part = part.set_index("method").loc[order(part["method"])].reset_index()
    columns = [as_released(name, kind) for name in PUBLISHED] if variant == "released" else list(HARMONISED)
    return summary(part, ["subset", "method"], columns, statistic)


def _wide(tidy, column) -> pd.DataFrame:
    wide = tidy.pivot(index=["subset", "method"], columns="metric", values=column)
    rows = list(dict.fromkeys(zip(tidy["subset"], tidy["method"], strict=True)))
    return wide.loc[rows, list(dict.fromkeys(tidy["metric"]))].rename_axis(columns=None)


def best_middle_worst(records, scored, method: str):
    """The runs of a method with the lowest, the median and the highest finite explicit error, and their titles."""
    part = scored[(scored["method"] == method) & (scored["subset"] == "explicit")]
    ranked = part[np.isfinite(part["nmse_variance"])].sort_values("nmse_variance")
    chosen = ranked.iloc[[0, len(ranked) // 2, -1]]
    titles = [
        f"{kind}: {row.problem.split('/')[1]}\nNMSE {row.nmse_variance:.1e}"
        for kind, row in zip(("best", "middle", "worst"), chosen.itertuples(), strict=True)
    ]
    return records.loc[chosen.index].to_dict("records"), titles


NOISE_PANELS = {
    "nmse_variance": "NMSE by the variance, median",
    "chamfer_distance_relative": "Chamfer / diagonal, median",
    "hausdorff_relative": "Hausdorff / diagonal, median",
}


def noise_table(noise, out) -> str:
    """Medians over surfaces and seeds for each noise level."""
    tidy = summary(noise, ["method", "noise"], list(NOISE_PANELS), np.median)
    wide = tidy.pivot(index=["metric", "method"], columns="noise", values="value")
    wide = wide.loc[[(m, name) for m in NOISE_PANELS for name in order(noise["method"])]]
    wide.columns = [f"noise {level:.0%}" for level in wide.columns]
    return out.table(wide, "surfaces_noise", caption="Medians on clean test data against training noise")


def ood_table(scored, out) -> str:
    """Median distances inside and outside the training range, by representation."""
    part = scored.dropna(subset=["hausdorff_ood"])
    part = part[~part["method"].isin(("oracle",))]
    columns = ["chamfer_distance", "chamfer_distance_ood", "hausdorff", "hausdorff_ood"]
    wide = part.groupby(["subset", "method"], sort=False)[columns].median()
    wide["hausdorff, out / in"] = wide["hausdorff_ood"] / wide["hausdorff"]
    return out.table(wide, "surfaces_ood", caption="Median distances in and out of domain")


def refit_table(scored, refit, out) -> str:
    """Medians before and after refitting all constants."""
    columns = ["nmse_variance", "chamfer_distance", "hausdorff", "symbolic_accuracy"]
    rows = {}
    for method_, group in refit.groupby("method"):
        before = scored.loc[group.index]
        rows[method_] = {"answers": len(group)}
        for column in columns:
            reduce = "mean" if column == "symbolic_accuracy" else "median"
            rows[method_] |= {f"{column}": before[column].agg(reduce), f"{column}, refitted": group[column].agg(reduce)}
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
    return out.table(frame, "surfaces_refit", caption="Explicit answers before and after refitting their constants")


def pairwise(scored) -> pd.DataFrame:
    """Wilcoxon tests of the explicit NMSE between all pairs of methods, Holm-corrected."""
    part = scored[(scored["subset"] == "explicit") & ~scored["method"].isin(("oracle", "zero"))]
    wide = part.pivot_table(index=["problem", "seed"], columns="method", values="nmse_variance", aggfunc="first")
    names = order(wide.columns)
    rows = [paired_wilcoxon(wide[a], wide[b]).rename(f"{a} - {b}") for i, a in enumerate(names) for b in names[i + 1 :]]
    frame = pd.DataFrame(rows)[["n_pairs", "n_zeros", "statistic", "effect", "p"]].infer_objects()
    frame["p_holm"] = holm(frame["p"].astype(float))
    frame.index.name = "pair"
    return frame


def recovery(scored) -> pd.DataFrame:
    """Recovered surfaces by method, over all representations."""
    rows = {}
    for name in order(scored["method"]):
        values = scored.loc[scored["method"] == name, "symbolic_accuracy"]
        low, high = proportion_confint(int(values.sum()), len(values), method="wilson")
        rows[name] = {
            "recovered": int(values.sum()),
            "surfaces": len(values),
            "share": values.mean(),
            "low": low,
            "high": high,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def one_per_category() -> list[str]:
    """The id of the second surface of each category (the first of some is a substitute)."""
    codes = {name: code for code, name in reversed(categories().items())}
    return [problems("surfaces", code)[1] for code in list(codes.values())[::-1]]


def failures(records, scored):
    """Why each wrong answer to an explicit surface is wrong.

    Returns
    -------
    DataFrame
        Rows: method; columns: success, fitting error, search error (shares), and the lenient share of fitting errors
        that forgives families the truth does not have.
    """
    rows = []
    for record, solved in zip(records.to_dict("records"), scored["symbolic_accuracy"], strict=True):
        if record["subset"] != "explicit":
            continue
        surface = problem(record["problem"])
        test = surface.split("test")
        values, prediction = dict(zip(surface.inputs, test.X.T, strict=True)), "0"
        if record["status"] == "ok":
            prediction = json.loads(record["solution"])["z"]
        strict, lenient = (
            failure(prediction, surface.truth["z"], values, test.y, solved=bool(solved), lenient=lenient)
            for lenient in (False, True)
        )
        rows.append({"method": record["method"], "strict": strict, "lenient": lenient})
    frame = pd.DataFrame(rows)
    counts = pd.crosstab(frame["method"], frame["strict"], normalize="index")
    counts = counts.reindex(columns=["success", "fitting error", "search error"], fill_value=0.0)
    counts["fitting error, lenient"] = (frame["lenient"] == "fitting error").groupby(frame["method"]).mean()
    return counts.loc[order(counts.index)]
