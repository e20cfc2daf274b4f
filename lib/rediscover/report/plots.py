"""One look for all figures: method -> colour, marker, display name and order, fixed in plots.yaml."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import yaml

if TYPE_CHECKING:  # loaded on first use
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

METHOD_STYLE: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
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


def display_name(method: str) -> str:
    """What a figure calls a method: as in plots.yaml, or its name with spaces.

    Parameters
    ----------
    method : str
        Its name.

    Returns
    -------
    str

    Examples
    --------
    >>> display_name("jpcmci_plus"), display_name("power_law")
    ('j-PCMCI+', 'power law')
    """
    return (METHOD_STYLE.get(method, [])[2:] or [method.replace("_", " ")])[0]


def order(methods: Iterable[str]) -> list[str]:
    """Methods in the order of all tables and figures: controls, then as in plots.yaml, then by name.

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
    tidy: pd.DataFrame,
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

    names, printed = order(tidy[row])[::-1], None
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
                    (printed,) = ax.plot(reference[method, name], y, "d", mfc="none", mec="black", ms=7)
            if log:
                logarithmic(ax, ax.xaxis)
            ax.set_yticks(range(len(names)), [*map(display_name, names)])
            ax.set_ylim(-0.7, len(names) - 0.3)
            ax.set_title(title)
        if printed:
            figure.legend([printed], ["published"], loc="outside lower right")
    return figure
