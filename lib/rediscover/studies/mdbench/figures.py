"""The figures that both notebooks on differential equations draw, from scores of `analysis.score`.

Where they take the names of published `tables`, they show what the paper prints on clean data of the same systems.
"""

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from ...report import plots
from ...report.comparisons import labels, recovery
from ...report.tables import CONTROLS
from .analysis import label, printed_cells

NODES = "complexity (nodes)"
# Of the maps: title, limits of the colours, these from the least to the largest, and what they mean.
MAPS = {
    "nmse_power": ("error", (1e-4, 1e4), ["#4393c3", "#f7f7f7", "#d6604d"], "NMSE (1: the answer 0)"),
    "complexity_mdbench": ("complexity", (1, 100), ["#ffffe5", "#78c679", "#00441b"], NODES),
}
FAILED = "#999999"
LIMITS = plots.DECADES, 1 / plots.DECADES  # beyond, errors stand at the edge
INTERVAL = ["low", "value", "high"]


def decibels(level: float) -> str:
    return "clean" if np.isinf(level) else f"{level:g} dB"


def _levels(scored: pd.DataFrame) -> list[float]:
    return sorted(scored["snr_db"].unique(), reverse=True)


def _searched(scored: pd.DataFrame, *controls: str) -> pd.DataFrame:
    """Scores of methods that search, and of `controls`; all scores if there are none of these."""
    kept = ~scored["method"].isin(set(CONTROLS) - set(controls))
    return scored[kept] if kept.any() else scored


def _printed(scored: pd.DataFrame, tables: Collection[str]) -> pd.DataFrame:
    """Cells that the paper prints on the clean systems of `scored`; the method is as there, or as printed."""
    known = {label(id): id for id in scored.loc[np.isinf(scored["snr_db"]), "problem"].unique()}
    cells = pd.concat(map(printed_cells, tables))
    cells = cells.assign(problem=cells["dataset"].map(known)).dropna(subset="problem")
    ours = cells["method"].map(labels("mdbench")["method"])
    return cells.assign(method=ours.where(ours.isin(scored["method"]), cells["method"]))


def _median_printed(cells: pd.DataFrame) -> float:
    """The median of the printed powers of ten: of check marks, which have none, it is 0, and of failures infinite."""
    error = (10.0 ** cells["exponent"].astype(float)).mask(cells["status"] == "found", 0)
    return float(error.mask(cells["status"] == "failed", np.inf).quantile(interpolation="lower"))


def against_noise(scored: pd.DataFrame, tables: Collection[str]):
    """Figures 2 and A10: error and complexity of each method and of the truth at each level of noise."""
    parts, shown = [], _searched(scored, "oracle")
    for measure in MAPS:
        # An answer that failed counts in the error alone.
        values = shown[measure].where(np.isfinite(shown[measure]) | (measure == "nmse_power"))
        at = values.groupby([shown["method"], shown["snr_db"]]).quantile([0.25, 0.5, 0.75], interpolation="lower")
        parts.append(at.unstack().set_axis(INTERVAL, axis=1).clip(*LIMITS).assign(panel=measure))
    cells = _printed(scored, tables)
    printed = pd.Series({name: _median_printed(part) for name, part in cells.groupby("method")}, dtype=float)
    others = ~printed.index.isin(shown["method"])
    checked = plots.order(printed.index[~others & (printed == 0)])
    if (printed[others] == 0).any():  # the best has no number
        printed = printed[~others]
    printed = printed[printed.between(0, np.inf, inclusive="neither")]
    titles = {"nmse_power": "error: lower is better", "complexity_mdbench": "complexity: lower is simpler"}
    figure, axes, keys = _rows(pd.concat(parts).reset_index(), titles, printed.to_dict(), min)
    if checked and "published, clean" in keys:
        names = ", ".join(map(plots.display_name, checked))
        keys[f"published, clean (median of {names}: a check mark, no number)"] = keys.pop("published, clean")
    keys["NMSE of the answer 0"] = axes[0].axvline(1, color="#777777", lw=1, ls=":", zorder=0)
    for ax, unit in zip(axes, ("NMSE, at least $10^{-9}$", NODES), strict=True):
        if any(np.isfinite(line.get_xdata()).any() for line in ax.lines):
            plots.logarithmic(ax, ax.xaxis)
        ax.set_xlabel(f"{unit}: median and quartiles")
    return _legend(figure, keys, "upper")


def identified(scored: pd.DataFrame, tables: Collection[str]):
    """Systems whose equations are identified, of each method at each level of noise."""
    shown = _searched(scored)
    tidy = recovery(shown["identified"], [shown["method"], shown["snr_db"]])
    tidy[INTERVAL] = tidy[["low", "share", "high"]].mul(tidy["n"], axis=0)
    marks = (cells := _printed(scored, tables))["status"].eq("found").groupby(cells["method"]).sum()
    figure, (ax,), keys = _rows(tidy.reset_index().assign(panel=0), {0: ""}, marks.to_dict(), max)
    ax.set_xlabel(f"systems identified, of {tidy['n'].max()}, with Wilson intervals: higher is better")
    return _legend(figure, keys, "upper")


def _rows(tidy: pd.DataFrame, titles: Mapping, printed: Mapping[str, float], best):
    """Values with intervals, a block of rows per method: a row per level of noise, clean data at the top.

    Parameters
    ----------
    tidy : DataFrame with columns method, snr_db, panel, low, value, high
    titles : panel -> title
    printed : method -> published value on clean data, for the first panel
    best : which of those without rows is drawn, min or max

    Returns
    -------
    Figure with a legend of the levels, its axes, and what a legend says of published values
    """
    import matplotlib.pyplot as plt

    names, levels, shown, keys = plots.order(tidy["method"]), _levels(tidy), {}, {}
    above = pd.Series({name: int(name in printed) for name in names})  # a row for what is published
    blocks = tidy.groupby("method")["snr_db"].nunique()[names] + 1 + above  # of what has clean data alone, it is small
    top, end = dict(zip(names, blocks.cumsum() - blocks, strict=True)), blocks.sum()
    row = tidy.groupby("method")["snr_db"].rank("dense", ascending=False) - 1
    tidy = tidy.assign(y=tidy["method"].map(above + pd.Series(top)) + row)
    with plots.style():
        size = (3.75 * len(titles) if len(titles) > 1 else 5.5, 1.2 + max(0.085, 0.2 / blocks.max()) * end)
        figure, axes = plt.subplots(1, len(titles), figsize=size, sharey=True, squeeze=False)
        for ax, (panel, title) in zip(axes[0], titles.items(), strict=True):
            for level, shade in zip(levels, plots.shades(len(levels)), strict=True):
                part = tidy[(tidy["panel"] == panel) & (tidy["snr_db"] == level)]
                ax.hlines(part["y"], part["low"], part["high"], color=shade, lw=2)
                (shown[decibels(level)],) = ax.plot(part["value"], part["y"], "o", color=shade, ms=4)
            for name, y in list(top.items())[::2]:
                ax.axhspan(y - 1, y + blocks[name] - 1, color="black", alpha=0.04, lw=0)
            ax.set(title=title, ylim=(end - 1, -1))
            ax.grid(visible=False, axis="y")
            ax.tick_params(axis="y", length=0)
        if own := {top[name]: value for name, value in printed.items() if name in top}:
            look = plots.PRINTED | {"ms": 5}
            (keys["published, clean"],) = axes[0, 0].plot([*own.values()], [y - 0.2 for y in own], **look)
        if others := {name: value for name, value in printed.items() if name not in top}:
            value = best(others.values())
            which = ", ".join(name for name in others if others[name] == value)
            name = f"best published of other methods, clean ({which})"
            keys[name] = axes[0, 0].axvline(value, zorder=0, **plots.BEST)
        axes[0, 0].set_yticks([y + blocks[name] / 2 - 1 for name, y in top.items()], [*map(plots.display_name, names)])
        if len(titles) > 1:
            plots.letter(axes[0])
            figure.align_xlabels(axes[0])
            for ax in axes[0]:  # on one line, whether or not one of them has an exponent
                ax.xaxis.label.set_verticalalignment("baseline")
                ax.xaxis.labelpad = 13
    return _legend(figure, shown, "lower"), axes[0], keys


def _legend(figure, keys, side):
    look = {"fontsize": 8, "frameon": False, "columnspacing": 1.2, "handletextpad": 0.4}
    if keys:
        ncols = len(keys) if sum(map(len, keys)) < 110 else 1
        figure.legend(keys.values(), keys, loc=f"outside {side} center", ncols=ncols, **look)
    return figure


def trade_off(scored: pd.DataFrame):
    """Error against complexity on clean data, and at the level of noise that is nearest to 20 dB."""
    first, *noisy = _levels(scored)
    shown = [first, *sorted(noisy, key=lambda level: abs(level - 20))[:1]]
    tidy = _searched(scored, "oracle").replace({"complexity_mdbench": {np.inf: np.nan}})
    tidy = pd.concat(tidy[tidy["snr_db"] == level].assign(panel=decibels(level)) for level in shown)
    ylabel = "NMSE, at least $10^{-9}$"
    look = {"error": "nmse_power", "size": "complexity_mdbench", "xlabel": NODES, "ylabel": ylabel}
    return plots.trade_off(tidy, **look, panel="panel", sharey=False)


def every_system(scored: pd.DataFrame, tables: Collection[str]):
    """Figures A12 to A15: error and complexity on every system, a row per method and level of noise.

    Columns are grouped by the problems' subset; a star marks those of ``coarse_grid``.
    """
    import matplotlib.pyplot as plt

    shown = _searched(scored, "oracle")
    pairs = pd.MultiIndex.from_product([plots.order(shown["method"]), _levels(shown)])
    rows = pairs[pairs.isin(pd.MultiIndex.from_frame(shown[["method", "snr_db"]]))]
    edges = _edges(rows)
    systems = shown.drop_duplicates("problem").sort_values("subset", kind="stable").set_index("problem")["subset"]
    coarse = set(scored.loc[scored["coarse_grid"], "problem"]) if "coarse_grid" in scored else set()
    names = [label(id) + " *" * (id in coarse) for id in systems.index]
    failed, wide = False, len(names) > 20
    depth = min(max(0.075 * edges[-1], 0.7), 3.6 if wide else 4.2)
    size, shape = ((7.5, 2 * depth + 2.6), (2, 1)) if wide else ((7.5, depth + 2.6), (1, 2))
    with plots.style():
        figure, axes = plt.subplots(*shape, figsize=size, sharex=True, sharey=True, squeeze=False)
        for ax, measure in zip(axes.flat, MAPS, strict=True):
            values = shown.pivot_table(index=["method", "snr_db"], columns="problem", values=measure, aggfunc="median")
            failed |= _map(ax, values.reindex(index=rows, columns=systems.index), edges, measure)
            _groups(ax, systems, rows, edges)
            ax.set_title(MAPS[measure][0])
            ax.set_xlabel("system", labelpad=1)
            ax.tick_params(labelbottom=True, labelleft=True)
            if wide:
                ax.set_xticks(np.arange(4.5, len(names), 5), [name.partition("-")[0] for name in names[4::5]])
            else:
                ax.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90, size=8)
        levels = ", ".join(map(decibels, pairs.unique(1))) + "; single row: clean" * (len(rows) < len(pairs))
        figure.supylabel(f"rows of a method, from the top: {levels}", size=8)
        middle = pd.Series((edges[1:] + edges[:-1]) / 2, rows)
        keys = _marks(axes.flat[0], shown[shown["method"] != "oracle"], _printed(scored, tables), middle, systems.index)
        if failed:
            keys["no finite answer"] = plt.Rectangle((0, 0), 1, 1, color=FAILED)
        if coarse:
            keys["* coarser grid, small library"] = plt.Rectangle((0, 0), 0, 0, alpha=0)
        plots.letter(axes.flat)
    return _legend(figure, keys, "lower")


def _edges(rows: pd.MultiIndex) -> np.ndarray:
    """Where rows of methods and levels begin and end; a method has room for its name even with a single row."""
    counts = rows.to_frame(index=False).groupby(0, sort=False)[1].transform("size")
    heights = (min(2, counts.max()) / counts).clip(lower=1)
    return np.concatenate([[0.0], heights.cumsum()])


def _map(ax, values: pd.DataFrame, edges: np.ndarray, measure: str) -> bool:
    """Draw a map with its colour bar, grey where no value is finite; whether there is such a cell."""
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap, LogNorm

    _, (low, high), colours, unit = MAPS[measure]
    finite, failed = values.clip(low, high).where(np.isfinite(values)), np.isinf(values)
    look = {"edgecolors": "#cccccc", "lw": 0.3}  # on white paper, an error of 1 is white
    x = np.arange(values.shape[1] + 1)
    scale = {"cmap": LinearSegmentedColormap.from_list(measure, colours), "norm": LogNorm(low, high)}
    mesh = ax.pcolormesh(x, edges, np.ma.masked_invalid(finite), **scale, **look)
    ax.pcolormesh(x, edges, np.ma.masked_equal(failed, 0), cmap=ListedColormap([FAILED]), **look)
    below = {
        "ticks": np.geomspace(low, high, 5 if high / low > 1e4 else 3),
        "location": "bottom",
        "aspect": 40,
        "shrink": 0.8,
        "pad": 0.02,
    }
    ax.figure.colorbar(mesh, ax=ax, label=unit, extend="both", **below)
    return bool(failed.any(axis=None))


def _groups(ax, systems: pd.Series, rows: pd.MultiIndex, edges: np.ndarray) -> None:
    """Names of the methods and of groups of systems, and lines between them."""
    methods = rows.unique(0)
    starts = np.append(edges[:-1][~rows.get_level_values(0).duplicated()], edges[-1])
    counts = systems.groupby(systems, sort=False).size()
    ends, narrow = counts.cumsum(), counts < len(systems) / 20
    form = "{} state{}" if systems.index[0].startswith("odes/") else "{}-D"
    above = ax.secondary_xaxis("top")
    texts = [str(n) if narrow[n] else form.format(n, "s" * (str(n) != "1")) for n in ends.index]
    above.set_xticks([*(ends - counts / 2)], texts)
    above.tick_params(length=0, pad=1)
    ax.set_yticks((starts[1:] + starts[:-1]) / 2, [*map(plots.display_name, methods)], size=8)
    ax.tick_params(length=0)
    for side in (above, ax):
        side.spines[:].set_visible(False)
    lines = {"color": "white", "lw": 2.5}
    ax.hlines(starts[1:-1], 0, len(systems), **lines)
    ax.vlines(ends[:-1], 0, edges[-1], **lines)
    ax.set(xlim=(0, len(systems)), ylim=(edges[-1], 0))
    ax.grid(visible=False)


def _marks(ax, scored: pd.DataFrame, cells: pd.DataFrame, rows: pd.Series, systems: pd.Index) -> dict:
    """Mark what was identified here, and what has a check mark in the paper."""
    found = scored[scored["identified"] == 1]
    here = zip(found["method"], found["snr_db"], strict=True), found["problem"]
    clean = {method for method, level in rows.index if np.isinf(level)}
    marked = cells[(cells["status"] == "found") & cells["method"].isin(clean)]
    there = ((method, np.inf) for method in marked["method"]), marked["problem"]
    dots = {"marker": "o", "ms": 1.8, "color": "black", "ls": ""}
    looks = {"identified": dots, "check mark in the paper": plots.PRINTED | {"ms": 5.5, "mew": 0.7}}
    keys = {}
    for (name, look), (y, x) in zip(looks.items(), (here, there), strict=True):
        if len(x := systems.get_indexer([*x])):
            (keys[name],) = ax.plot(x + 0.5, rows.loc[[*y]], **look)
    return keys
