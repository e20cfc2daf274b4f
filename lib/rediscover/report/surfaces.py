"""The surface study: its pictures, its failure analysis, its claims and its ledger."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from ..expressions import parse
from ..methods import catalogue, method
from ..metrics.agreement import holm, paired_wilcoxon
from ..metrics.families import failure
from ..problems import problem, problems
from ..problems.surfaces import categories, ids
from .figures import against, intervals, order, style
from .ledger import combine, compare, published
from .summaries import interval, summary

CONTROLS = ("oracle", "mean", "zero")
GENETIC = ("gplearn", "operon", "pysr")
INTEGERS = 8  # surfaces on integers are drawn from -INTEGERS to INTEGERS
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
    """Tables 1 and 2 with controls: as published and harmonised, means and medians with intervals."""
    texts = []
    for name, kinds in (("table1", ("explicit", "implicit")), ("table2", ("parametric",))):
        for variant in ("published", "harmonised"):
            for statistic, label in ((np.mean, "mean"), (np.median, "median")):
                tidy = []
                for kind in kinds:
                    part = scored[scored["subset"] == kind]
                    part = part.set_index("method").loc[order(part["method"])].reset_index()
                    columns = [as_released(m, kind) for m in PUBLISHED] if variant == "published" else list(HARMONISED)
                    tidy.append(summary(part, ["subset", "method"], columns, statistic))
                frame = pd.concat(tidy)
                wide = frame.pivot(index=["subset", "method"], columns="metric", values="value")
                wide = wide.loc[list(dict.fromkeys(zip(frame["subset"], frame["method"], strict=True)))]
                wide = wide[list(dict.fromkeys(frame["metric"]))]
                out.runs(frame, f"surfaces_{name}_{variant}_{label}_intervals")
                caption = f"SurfaceBench {name.capitalize()}, {variant if variant != 'published' else 'as released'}, {label}"
                text = out.table(
                    wide, f"surfaces_{name}_{variant}_{label}", caption=caption, footnotes=footnotes(scored), best=None
                )
                texts.append(f"{caption}\n{text}")
    return texts


def overview(scored):
    """Explicit surfaces: every method's scores with intervals, published values as diamonds."""
    part = scored[(scored["subset"] == "explicit") & (scored["method"] != "oracle")]
    accuracy = summary(part, ["method"], ["symbolic_accuracy"])
    medians = summary(part, ["method"], ["nmse_variance", "chamfer_squared_relative", "hausdorff_relative"], np.median)
    printed = published("surfacebench_table1").query("representation == 'explicit' and metric == 'symbolic_accuracy'")
    known = catalogue("surfacebench").set_index("label")["ours"]
    reference = {
        (known[row.method], "symbolic_accuracy"): float(row.value)
        for row in printed.itertuples()
        if known.get(row.method) in set(part["method"])
    }
    panels = {
        "symbolic_accuracy": "symbolic accuracy, mean\n(higher is better)",
        "nmse_variance": "NMSE by the variance, median\n(lower is better)",
        "chamfer_squared_relative": "Chamfer squared / diagonal$^2$,\nmedian (lower is better)",
        "hausdorff_relative": "Hausdorff / diagonal,\nmedian (lower is better)",
    }
    tidy = pd.concat([accuracy, medians])
    return intervals(tidy, row="method", panel="metric", label=panels, reference=reference, linear=["symbolic_accuracy"])


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
    "nmse_variance": "NMSE by the variance",
    "chamfer_distance_relative": "Chamfer / diagonal",
    "hausdorff_relative": "Hausdorff / diagonal",
}


def noise_table(noise, out) -> str:
    """Medians over surfaces and seeds for each noise level."""
    tidy = summary(noise, ["method", "noise"], list(NOISE_PANELS), np.median)
    wide = tidy.pivot(index=["metric", "method"], columns="noise", values="value")
    wide = wide.loc[[(m, name) for m in NOISE_PANELS for name in order(noise["method"])]]
    wide.columns = [f"noise {level:.0%}" for level in wide.columns]
    return out.table(wide, "surfaces_noise", caption="Medians on clean test data against training noise")


def noise_figure(noise):
    tidy = summary(noise, ["method", "noise"], list(NOISE_PANELS), np.median)
    return against(tidy, x="noise", label_x="noise / standard deviation of z", panels=NOISE_PANELS)


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
    rows = [
        paired_wilcoxon(wide[a], wide[b]).rename(f"{a} - {b}") for i, a in enumerate(names) for b in names[i + 1 :]
    ]
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
        rows[name] = {"recovered": int(values.sum()), "surfaces": len(values), "share": values.mean(), "low": low, "high": high}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")




def draw(ax, surface, solution=None, *, n: int = 70, points: int = 6000) -> None:
    """One surface in a 3-D axes; with `solution` the predicted one, seen within the bounds of the truth.

    An explicit or parametric surface is drawn as a mesh over its inputs, one on integers as points around the origin;
    an implicit one as points of the surface, and a prediction z(x, y) of it as a mesh within the box.
    """
    truth = _extent(surface)
    ax.set(xlim=truth[0], ylim=truth[1], zlim=truth[2])
    if surface.kind == "level set" and (solution is None or "F" in solution):
        F = parse(solution["F"]) if solution else surface.F
        cloud = surface.cloud(F, "test", points, np.random.default_rng(0))
        ax.scatter(*cloud.T, c=cloud[:, 2], s=1, lw=0, cmap="viridis", rasterized=True)
    else:
        mesh = np.stack(_mesh(surface, solution, n))
        low, high = np.array(truth).T[:, :, None, None]
        x, y, z = np.where(((mesh >= low) & (mesh <= high)).all(axis=0), mesh, np.nan)
        if "integer_grid" in surface.flags:
            ax.scatter(x, y, z, c=z, s=3, lw=0, cmap="viridis", rasterized=True)
        else:
            ax.plot_surface(x, y, z, cmap="viridis", rstride=1, cstride=1, lw=0, antialiased=False, rasterized=True)
    ax.set(xticks=[], yticks=[], zticks=[])


def one_per_category() -> list[str]:
    """The id of the second surface of each category (the first of some is a substitute)."""
    codes = {name: code for code, name in reversed(categories().items())}
    return [problems("surfaces", code)[1] for code in list(codes.values())[::-1]]


def gallery(ids):
    """One 3-D picture per surface, titled with its id."""
    import matplotlib.pyplot as plt

    columns = 5
    rows = -(-len(ids) // columns)
    with style():
        figure = plt.figure(figsize=(9, 1.95 * rows))
        for i, id in enumerate(ids):
            ax = figure.add_subplot(rows, columns, i + 1, projection="3d")
            surface = problem(id)
            draw(ax, surface)
            ax.set_title(f"{id.split('/')[1]}\n{surface.subset}", size=7, pad=0)
    return figure


def side_by_side(records, titles):
    """Truth (top) against prediction (bottom) for a few runs.

    Parameters
    ----------
    records : list of rows with problem and solution (JSON)
    titles : one text per record
    """
    import matplotlib.pyplot as plt

    with style():
        figure = plt.figure(figsize=(2.6 * len(records), 4.8))
        for i, (record, title) in enumerate(zip(records, titles, strict=True)):
            surface = problem(record["problem"])
            for row, solution in enumerate((None, json.loads(record["solution"]))):
                ax = figure.add_subplot(2, len(records), 1 + i + row * len(records), projection="3d")
                draw(ax, surface, solution)
                ax.set_title(title if row == 0 else "prediction", size=8, pad=0)
    return figure


def _axes(surface, n):
    """Nodes along the first two inputs; integers near the origin for a surface on integers."""
    if "integer_grid" in surface.flags:
        return [np.arange(-INTEGERS, INTEGERS + 1.0)] * 2
    return [np.linspace(low, high, n) for low, high in surface.domain[:2]]


def _mesh(surface, solution, n):
    grid = dict(zip(surface.inputs, np.meshgrid(*_axes(surface, n)), strict=False))
    shape = grid[surface.inputs[0]].shape
    texts = dict(solution or surface.truth)
    if surface.subset == "parametric":
        return tuple(np.broadcast_to(parse(texts[name])(grid), shape) for name in "xyz")
    return grid["x"], grid["y"], np.broadcast_to(parse(texts["z"])(grid), shape)


def _extent(surface):
    """(low, high) per axis with a margin: of the box for an implicit surface, else of nearly all of the truth."""
    if surface.kind == "level set":
        low, high = np.transpose(surface.domain)
    else:
        mesh = np.stack(_mesh(surface, None, 70)).reshape(3, -1)
        low, high = np.nanpercentile(np.where(np.isfinite(mesh), mesh, np.nan), [0.5, 99.5], axis=1)
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    return list(zip(low - margin, high + margin, strict=True))
