"""The figures that both notebooks on differential equations draw, from scores of `analysis.score`.

Where they take the names of published `tables`, they show what the paper prints on clean data of the same systems.
"""

from collections.abc import Collection, Mapping
from textwrap import fill

import numpy as np
import pandas as pd

from ...report import plots
from ...report.comparisons import labels, recovery
from ...report.tables import CONTROLS
from .analysis import label, printed_cells

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
    """Errors of Figures 2 and A10: those of each method and of the truth at each level of noise."""
    shown = _searched(scored, "oracle")
    by_level = shown.groupby(["method", "snr_db"])["nmse_power"]
    errors = by_level.quantile([0.25, 0.5, 0.75], interpolation="lower").unstack()
    errors = errors.set_axis(INTERVAL, axis=1).clip(*LIMITS).reset_index()
    cells = _printed(scored, tables)
    printed = pd.Series({name: _median_printed(part) for name, part in cells.groupby("method")}, dtype=float)
    others = ~printed.index.isin(shown["method"])
    checked = plots.order(printed.index[~others & (printed == 0)])
    if (printed[others] == 0).any():  # the best has no number
        printed = printed[~others]
    printed = printed[printed.between(0, np.inf, inclusive="neither")]
    figure, ax, keys = _rows(errors, printed.to_dict(), min)
    if checked and "published, clean" in keys:
        names = ", ".join(map(plots.display_name, checked))
        keys[f"published, clean (median of {names}: a check mark, no number)"] = keys.pop("published, clean")
    keys["NMSE of the answer 0"] = ax.axvline(1, color="#777777", lw=1, ls=":", zorder=0)
    if any(np.isfinite(line.get_xdata()).any() for line in ax.lines):
        plots.logarithmic(ax, ax.xaxis)
    ax.set_xlabel("NMSE, at least $10^{-9}$, median and quartiles: lower is better")
    most = errors[(errors["method"] != "oracle") & (errors["snr_db"] == errors["snr_db"].min())]
    where = "on clean data" if np.isinf(most["snr_db"]).all() else f"at {decibels(most['snr_db'].iloc[0])}"
    below = (most["value"] < 1).sum()
    count = f"{below} have" if below > 1 else "one has" if below else "none has"
    _titled(figure, f"Of {len(most)} methods that ran {where}, {count} a median error below that of the answer 0")
    return _legend(figure, keys, "upper")


def identified(scored: pd.DataFrame, tables: Collection[str]):
    """Systems whose equations are identified, of each method at each level of noise."""
    shown = _searched(scored)
    tidy = recovery(shown["identified"], [shown["method"], shown["snr_db"]])
    tidy[INTERVAL] = tidy[["low", "share", "high"]].mul(tidy["n"], axis=0)
    marks = (cells := _printed(scored, tables))["status"].eq("found").groupby(cells["method"]).sum()
    figure, ax, keys = _rows(tidy.reset_index(), marks.to_dict(), max)
    ax.set_xlabel(f"systems identified, of {tidy['n'].max()}, with Wilson intervals: higher is better")
    most = tidy["recovered"].groupby(level="snr_db").max().sort_index(ascending=False)
    where = [f"from {decibels(level)} data" if np.isinf(level) else f"at {decibels(level)}" for level in most.index]
    title = f"No method identifies more than {most.iloc[0]} of {tidy['n'].max()} systems {where[0]}"
    _titled(figure, title + (f", or more than {most.iloc[-1]} {where[-1]}" if len(most) > 1 else ""))
    return _legend(figure, keys, "upper")


def _rows(tidy: pd.DataFrame, printed: Mapping[str, float], best):
    """Values with intervals, a block of rows per method: a row per level of noise, clean data at the top.

    Parameters
    ----------
    tidy : DataFrame with columns method, snr_db, low, value, high
    printed : method -> published value on clean data
    best : which of those without rows is drawn, min or max

    Returns
    -------
    Figure with a legend of the levels, its axis, and what a legend says of published values
    """
    import matplotlib.pyplot as plt

    names, levels, shown, keys = plots.order(tidy["method"]), _levels(tidy), {}, {}
    above = pd.Series({name: int(name in printed) for name in names})  # a row for what is published
    blocks = tidy.groupby("method")["snr_db"].nunique()[names] + 1 + above  # of what has clean data alone, it is small
    top, end = dict(zip(names, blocks.cumsum() - blocks, strict=True)), blocks.sum()
    row = tidy.groupby("method")["snr_db"].rank("dense", ascending=False) - 1
    tidy = tidy.assign(y=tidy["method"].map(above + pd.Series(top)) + row)
    with plots.style():
        figure, ax = plt.subplots(figsize=(5.5, 1.8 + max(0.085, 0.2 / blocks.max()) * end))
        for level, shade in zip(levels, plots.shades(len(levels)), strict=True):
            part = tidy[tidy["snr_db"] == level]
            ax.hlines(part["y"], part["low"], part["high"], color=shade, lw=2)
            (shown[decibels(level)],) = ax.plot(part["value"], part["y"], "o", color=shade, ms=4)
        for name, y in list(top.items())[::2]:
            ax.axhspan(y - 1, y + blocks[name] - 1, color="black", alpha=0.04, lw=0)
        ax.set(ylim=(end - 1, -1))
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
        if own := {top[name]: value for name, value in printed.items() if name in top}:
            look = plots.PRINTED | {"ms": 5}
            (keys["published, clean"],) = ax.plot([*own.values()], [y - 0.2 for y in own], **look)
        if others := {name: value for name, value in printed.items() if name not in top}:
            value = best(others.values())
            which = ", ".join(name for name in others if others[name] == value)
            name = f"best published of methods without a row, clean ({which})"
            keys[name] = ax.axvline(value, zorder=0, **plots.BEST)
        ax.set_yticks([y + blocks[name] / 2 - 1 for name, y in top.items()], [*map(plots.display_name, names)])
    return _legend(figure, shown, "lower"), ax, keys


def _titled(figure, title: str) -> None:
    """Write a sentence above the axis; the upper edge of the figure is a legend's."""
    figure.axes[0].set_title(fill(title, 50), loc="left", size="large")


def _legend(figure, keys, side):
    look = {"fontsize": 8, "frameon": False, "columnspacing": 1.2, "handletextpad": 0.4}
    if keys:
        ncols = len(keys) if sum(map(len, keys)) < 110 else 1
        figure.legend(keys.values(), keys, loc=f"outside {side} center", ncols=ncols, **look)
    return figure
