"""The pictures of the studies of differential equations."""

import numpy as np
import pandas as pd

from ...problems import problem
from ...report.plots import colour, order, style
from .analysis import label, searched

WALL = 1e12  # the largest error drawn


def portraits(ids):
    """Phase portraits of ODE systems (state against time in one dimension), noisy points over the clean curve."""
    import matplotlib.pyplot as plt

    with style():
        figure, axes = plt.subplots(1, len(ids), figsize=(3.0 * len(ids), 2.4))
        for ax, id in zip(np.atleast_1d(axes), ids, strict=True):
            clean, noisy = problem(id).trajectory(), problem(id, snr=20).trajectory()
            for data, look in ((noisy, {"marker": ".", "ls": "", "ms": 3, "color": "#999999"}), (clean, {"lw": 1.4})):
                x, y = (data.t, data.u[:, 0]) if data.u.shape[1] == 1 else data.u[:, :2].T
                ax.plot(x, y, **look)
            one = clean.u.shape[1] == 1
            ax.set(title=label(id), xlabel="t" if one else "x0", ylabel="x0" if one else "x1")
    return figure


def fields(ids):
    """Space-time pictures of the first state: x against t, through the middle of other axes."""
    import matplotlib.pyplot as plt

    with style():
        figure, axes = plt.subplots(1, len(ids), figsize=(3.0 * len(ids), 2.4))
        for ax, id in zip(np.atleast_1d(axes), ids, strict=True):
            samples = problem(id).samples()
            u = samples.u[..., 0]
            while u.ndim > 2:
                u = u[:, u.shape[1] // 2]
            x = next(iter(samples.axes.values()))
            mesh = ax.pcolormesh(samples.t, x, u, shading="auto", rasterized=True)
            figure.colorbar(mesh, ax=ax, label="u")
            ax.set(title=label(id), xlabel="t", ylabel="x")
            ax.grid(False)
    return figure


def decibels(level: float) -> str:
    return "clean" if np.isinf(level) else f"{level:g} dB"


def boxes(scored: pd.DataFrame):
    """Figures 2 and A10: error and complexity (both log) per method and noise level; errors beyond `WALL` are at it."""
    import matplotlib.pyplot as plt

    levels = sorted(scored["snr"].unique(), reverse=True)
    names = order(searched(scored)["method"])
    shades = 1 - 0.75 * np.arange(len(levels)) / max(len(levels), 1)
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(7, 0.8 + 0.18 * len(names) * (len(levels) + 1)), sharey=True)
        for ax, score, title in zip(axes, ("nmse_power", "complexity_mdbench"), ("NMSE", "complexity"), strict=True):
            for i, name in enumerate(names):
                for j, level in enumerate(levels):
                    values = scored[(scored["method"] == name) & (scored["snr"] == level)][score]
                    values = values[np.isfinite(values) & (values > 0)].clip(upper=WALL)
                    at = i * (len(levels) + 1) + j
                    faces = {"facecolor": colour(name), "alpha": shades[j]}
                    if len(values):
                        ax.boxplot(
                            values,
                            positions=[at],
                            orientation="horizontal",
                            widths=0.7,
                            patch_artist=True,
                            boxprops=faces,
                            medianprops={"color": "black"},
                            flierprops={"ms": 2},
                            manage_ticks=False,
                        )
            ax.set(xscale="log", xlabel=title)
        axes[0].set_yticks([i * (len(levels) + 1) + (len(levels) - 1) / 2 for i in range(len(names))], names)
        axes[0].invert_yaxis()
        keys = [plt.Rectangle((0, 0), 1, 1, facecolor="black", alpha=shade) for shade in shades]
        figure.legend(keys, [decibels(level) for level in levels], loc="outside lower center", ncols=len(levels))
    return figure


def strips(scored: pd.DataFrame):
    """Figures A12 to A15: error and complexity on every problem, a row per method, coloured by noise.

    Errors beyond `WALL` stand at it, so that one of them does not squeeze all others. A star marks a coarser grid.
    """
    import matplotlib.pyplot as plt

    levels = sorted(scored["snr"].unique(), reverse=True)
    names = order(searched(scored)["method"])
    ids = list(dict.fromkeys(scored["problem"]))
    place = {id: i + 1 for i, id in enumerate(ids)}
    coarse = set(scored.loc[scored["reduced"], "problem"]) if "reduced" in scored else set()
    with style():
        figure, axes = plt.subplots(
            len(names), 2, figsize=(9, 0.9 * len(names) + 1.2), sharex=True, sharey="col", squeeze=False
        )
        shades = plt.get_cmap("magma")(np.linspace(0.1, 0.85, len(levels)))
        for row, name in zip(axes, names, strict=True):
            for ax, score in zip(row, ("nmse_power", "complexity_mdbench"), strict=True):
                for level, shade in zip(levels, shades, strict=True):
                    part = scored[(scored["method"] == name) & (scored["snr"] == level)]
                    part = part[np.isfinite(part[score]) & (part[score] > 0)]
                    ax.plot(
                        part["problem"].map(place),
                        part[score].clip(upper=WALL),
                        ".",
                        c=shade,
                        ms=4,
                        label=decibels(level),
                    )
                ax.set_yscale("log")
            row[0].set_ylabel(name)
        for ax, title in zip(axes[0], ("NMSE", "complexity"), strict=True):
            ax.set_title(title)
        for ax in axes[-1]:
            if len(ids) > 20:
                ax.set_xlabel("number of the system")
            else:
                starred = [label(id) + " *" * (id in coarse) for id in ids]
                ax.set_xticks(range(1, len(ids) + 1), starred, rotation=45, ha="right")
        handles = axes[0, 0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=len(levels))
    return figure
