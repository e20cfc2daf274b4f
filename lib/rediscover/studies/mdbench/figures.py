"""The two figures that both notebooks on differential equations draw."""

import itertools

import numpy as np
import pandas as pd

from ...report.plots import colour, display_name, order, style
from ...report.tables import CONTROLS
from .analysis import label

# The largest error drawn: what is beyond stands there, so that one error does not squeeze all others.
WALL = 1e12
PANELS = {"nmse_power": "NMSE", "complexity_mdbench": "complexity"}


def decibels(level: float) -> str:
    return "clean" if np.isinf(level) else f"{level:g} dB"


def boxes(scored: pd.DataFrame):
    """Figures 2 and A10: error and complexity per method and noise level, from scores of `analysis.score`."""
    import matplotlib.pyplot as plt

    levels = sorted(scored["snr_db"].unique(), reverse=True)
    names = order(set(scored["method"]) - set(CONTROLS))
    shades, height = 1 - 0.75 * np.arange(len(levels)) / len(levels), len(levels) + 1
    lines = {"patch_artist": True, "medianprops": {"color": "black"}, "flierprops": {"ms": 2}, "manage_ticks": False}
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(7, 0.8 + 0.18 * len(names) * height), sharey=True)
        for ax, (measure, title) in zip(axes, PANELS.items(), strict=True):
            for (i, name), (j, level) in itertools.product(enumerate(names), enumerate(levels)):
                values = scored.loc[(scored["method"] == name) & (scored["snr_db"] == level), measure]
                values = values[np.isfinite(values) & (values > 0)].clip(upper=WALL)
                look = {"widths": 0.7, "boxprops": {"facecolor": colour(name), "alpha": shades[j]}, **lines}
                if len(values):
                    ax.boxplot(values, positions=[i * height + j], orientation="horizontal", **look)
            ax.set(xscale="log", xlabel=title)
        axes[0].set_yticks([i * height + (len(levels) - 1) / 2 for i in range(len(names))], [*map(display_name, names)])
        axes[0].invert_yaxis()
        keys = [plt.Rectangle((0, 0), 1, 1, facecolor="black", alpha=shade) for shade in shades]
        figure.legend(keys, map(decibels, levels), loc="outside lower center", ncols=len(levels))
    return figure


def strips(scored: pd.DataFrame):
    """Figures A12 to A15: error and complexity on every problem, a row per method; a star marks ``coarse_grid``."""
    import matplotlib.pyplot as plt

    levels = sorted(scored["snr_db"].unique(), reverse=True)
    names = order(set(scored["method"]) - set(CONTROLS))
    place = {id: i + 1 for i, id in enumerate(dict.fromkeys(scored["problem"]))}
    size, shades = (9, 0.9 * len(names) + 1.2), plt.get_cmap("magma")(np.linspace(0.1, 0.85, len(levels)))
    with style():
        figure, axes = plt.subplots(len(names), 2, figsize=size, sharex=True, sharey="col", squeeze=False)
        for row, name in zip(axes, names, strict=True):
            row[0].set_ylabel(display_name(name))
            for ax, measure in zip(row, PANELS, strict=True):
                for level, shade in zip(levels, shades, strict=True):
                    part = scored[(scored["method"] == name) & (scored["snr_db"] == level)]
                    part = part[np.isfinite(part[measure]) & (part[measure] > 0)]
                    x, y = part["problem"].map(place), part[measure].clip(upper=WALL)
                    ax.plot(x, y, ".", c=shade, ms=4, label=decibels(level))
                ax.set_yscale("log")
        coarse = set(scored.loc[scored["coarse_grid"], "problem"]) if "coarse_grid" in scored else set()
        starred = [label(id) + " *" * (id in coarse) for id in place] if len(place) <= 20 else None
        for top, bottom, title in zip(axes[0], axes[-1], PANELS.values(), strict=True):
            top.set_title(title)
            if starred:
                bottom.set_xticks(list(place.values()), starred, rotation=45, ha="right")
            else:
                bottom.set_xlabel("number of the system")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(levels))
    return figure
