"""One look for all figures: method -> colour, marker and order, fixed here."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:  # loaded on first use
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's colours, distinguishable with colour-vision deficiency, then tints of them.
METHOD_STYLE = {
    "oracle": ("#000000", "*"),
    "mean": ("#999999", "|"),
    "zero": ("#cccccc", "x"),
    "polynomial": ("#0072b2", "o"),
    "polynomial_log_scaled": ("#7fb8d8", "o"),
    "power_law": ("#56b4e9", "s"),
    "gplearn": ("#e69f00", "^"),
    "gplearn_log_scaled": ("#f2cf7f", "^"),
    "operon": ("#d55e00", "D"),
    "operon_log_scaled": ("#eaae7f", "D"),
    "pysr": ("#cc79a7", "v"),
    "pysr_log_scaled": ("#e5bcd3", "v"),
    "sindy": ("#009e73", "P"),
    "published": ("#f0e442", "h"),
    "self_edges": ("#777777", "s"),
    "complete_graph": ("#444444", "s"),
    "granger": ("#88ccee", "o"),
    "var_lasso": ("#332288", "o"),
    "pcmci": ("#882255", "D"),
    "lpcmci": ("#999933", "D"),
    "jpcmci_plus": ("#44aa99", "D"),
}
DECADES = 1e-9  # a logarithmic axis spans no more than this: below it, an error is rounding
_OTHERS = ("#332288", "#88ccee", "#44aa99", "#117733", "#999933", "#ddcc77", "#cc6677", "#882255", "#aa4499")


def colour(method: str) -> str:
    """The colour of a method; methods without an entry get one that depends on the name alone.

    Parameters
    ----------
    method : str
        Its name.

    Returns
    -------
    str
        Hexadecimal, such as ``#0072b2``.
    """
    if method in METHOD_STYLE:
        return METHOD_STYLE[method][0]
    return _OTHERS[sum(map(ord, method)) % len(_OTHERS)]


def marker(method: str) -> str:
    """The marker of a method; methods without an entry have a point.

    Parameters
    ----------
    method : str
        Its name.

    Returns
    -------
    str
        As matplotlib writes it, such as ``o``.
    """
    return METHOD_STYLE.get(method, ("", "."))[1]


def order(methods: Iterable[str]) -> list[str]:
    """Methods in the order of all tables and figures: controls, then as listed above, then by name.

    Parameters
    ----------
    methods : iterable of str
        Names.

    Returns
    -------
    list of str
        Each once.
    """
    known = list(METHOD_STYLE)
    return sorted(set(methods), key=lambda name: (known.index(name) if name in known else len(known), name))


@contextmanager
def style() -> Iterator[None]:
    """matplotlib settings of all figures, as a context.

    Yields
    ------
    None
    """
    import matplotlib

    settings: dict[Any, Any] = {
        "figure.constrained_layout.use": True,
        "figure.dpi": 100,
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "legend.frameon": False,
        "image.cmap": "viridis",
    }
    with matplotlib.rc_context(settings):
        yield


def logarithmic(ax: "Axes", axis: "Axis") -> None:
    """Make an axis logarithmic, with labels that stay apart: plain numbers within two decades, else powers.

    Parameters
    ----------
    ax : Axes
    axis : Axis
        One of the two axes of `ax`.
    """
    import math

    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    (ax.set_xscale if axis is ax.xaxis else ax.set_yscale)("log")
    low, high = sorted(axis.get_view_interval())
    axis.set_minor_formatter(NullFormatter())
    if low > 0 and math.log10(high / low) < 2:
        subs = (1.0, 2.0, 5.0) if math.log10(high / low) < 1.5 else (1.0, 3.0)
        axis.set_major_locator(LogLocator(subs=subs))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def intervals(
    tidy: "pd.DataFrame",
    *,
    row: str,
    panel: str,
    label: dict[str, str],
    reference: Mapping[tuple[str, str], float] | None = None,
    linear: Collection[str] = (),
    columns: int | None = None,
) -> "Figure":
    """Estimates with intervals: one panel per value of `panel`, one line per method.

    Parameters
    ----------
    tidy : DataFrame with columns `row`, `panel`, value, low, high
    row, panel : names of two columns
    label : panel -> title with unit and direction, in the order of the panels
    reference : mapping (row, panel) -> published value, drawn as hollow diamonds
    linear : panels with a linear axis; on the others, which are logarithmic, values below the axis stand at its edge.
    columns : panels in a row of the figure, by default all

    Returns
    -------
    Figure
    """
    import matplotlib.pyplot as plt
    import numpy as np

    names = order(tidy[row])[::-1]
    with style():
        across = columns or len(label)
        down = -(-len(label) // across)
        size = (2.6 * across + 1, (0.28 * len(names) + 1.2) * down)
        figure, axes = plt.subplots(down, across, figsize=size, sharey=True, squeeze=False)
        for ax, (name, title) in zip(axes.flat, label.items(), strict=True):
            log = name not in linear
            part = tidy[tidy[panel] == name].set_index(row).reindex(names)
            finite = part[["value", "low", "high"]].to_numpy(float)
            positive = finite[np.isfinite(finite) & (finite > 0)]
            floor = max(positive.min() / 3, positive.max() * DECADES) if log and positive.size else 0.0
            for y, (method, line) in enumerate(part.iterrows()):
                value, low, high = (max(line[c], floor) if log else line[c] for c in ("value", "low", "high"))
                if not np.isfinite(value):
                    ax.annotate("no finite value", (0.02, y), xycoords=("axes fraction", "data"), va="center", size=7)
                    continue
                ax.plot([low, high], [y, y], color=colour(method), lw=2, solid_capstyle="butt")
                ax.plot(value, y, marker(method), color=colour(method), ms=6)
                if reference and (method, name) in reference:
                    ax.plot(reference[method, name], y, "d", mfc="none", mec="black", ms=7)
            if log:
                logarithmic(ax, ax.xaxis)
            ax.set_yticks(range(len(names)), names)
            ax.set_ylim(-0.7, len(names) - 0.3)
            ax.set_title(title)
    return figure


def against(tidy: "pd.DataFrame", *, x: str, label_x: str, panels: dict[str, str]) -> "Figure":
    """Lines with intervals against a condition such as the noise level, one panel per metric.

    Parameters
    ----------
    tidy : DataFrame with columns method, `x`, metric, value, low, high
    x : name of the column of the condition
    label_x : its name on the axis, with the unit
    panels : metric -> title

    Returns
    -------
    Figure
    """
    import matplotlib.pyplot as plt
    import numpy as np

    with style():
        figure, axes = plt.subplots(1, len(panels), figsize=(3.0 * len(panels) + 1.2, 2.6), squeeze=False)
        for ax, (name, title) in zip(axes[0], panels.items(), strict=True):
            part = tidy[tidy["metric"] == name]
            names = order(part["method"])
            for i, method in enumerate(names):
                line = part[part["method"] == method].sort_values(x)
                position = np.arange(len(line)) + 0.05 * (i - len(names) / 2)
                bars = np.abs(line[["low", "high"]].to_numpy(float).T - line["value"].to_numpy(float))
                ax.errorbar(
                    position, line["value"], bars, marker=marker(method), color=colour(method), label=method, ms=4
                )
            ax.set_xticks(range(len(line)), [f"{value:g}" for value in line[x]])
            logarithmic(ax, ax.yaxis)
            ax.set_xlabel(label_x)
            ax.set_title(title)
        axes[0][-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
