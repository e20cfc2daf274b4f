"""One look for all figures: method -> colour, marker, display name and order, fixed in plots.yaml."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import yaml

from .axes import front, logarithmic, rings

if TYPE_CHECKING:  # loaded on first use
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHOD_STYLE: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
DECADES = 1e-9  # a logarithmic axis spans no more than this: below it, an error is rounding
PRINTED: dict[str, Any] = {"marker": "d", "mfc": "none", "mec": "black", "ms": 7, "ls": "none"}  # a published value
ENDS = ["value", "low", "high"]  # columns of an estimate with its interval
BEST: dict[str, Any] = {"color": "black", "ls": "--", "lw": 1}  # the best published value, as a line
FRONT: dict[str, Any] = {"color": "#444444", "ls": (0, (3, 2)), "lw": 1}  # what no other method beats
STROKES = "|+x12"  # markers made of lines
GAP, RING = 5, 5  # points: marks nearer than this are rings about one place, each so much larger than the one before
SHARED = "several in one place"
GREEK = "alpha beta gamma delta epsilon theta kappa lambda mu nu rho sigma tau phi chi psi omega".split()
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
    ('J-PCMCI+', 'power law')
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


def shades(n: int) -> list[tuple[float, ...]]:
    """Colours of `n` ordered levels, such as noise or difficulty, from dark to light.

    Parameters
    ----------
    n : int

    Returns
    -------
    list of tuple
        Red, green, blue and opacity, each in [0, 1].
    """
    import matplotlib

    return [tuple(shade) for shade in matplotlib.colormaps["magma"](np.linspace(0.12, 0.8, n))]


def symbol(name: str) -> str:
    """A variable as it is typeset.

    Parameters
    ----------
    name : str
        As in expressions: letters, then digits or an underscore and an index.

    Returns
    -------
    str
        For matplotlib, between dollar signs.

    Examples
    --------
    >>> symbol("d_1"), symbol("x0"), symbol("theta"), symbol("u_xx"), symbol("Int")
    ('$d_{1}$', '$x_{0}$', '$\\\\theta$', '$u_{xx}$', '$\\\\mathrm{Int}$')
    """
    letters, index = re.fullmatch(r"([A-Za-z]*)_?(.*)", name).groups()  # type: ignore[union-attr]
    letters = "\\" + letters if letters in GREEK else letters if len(letters) < 2 else rf"\mathrm{{{letters}}}"
    return f"${letters}_{{{index}}}$" if index else f"${letters}$"


def letter(axes: Iterable["Axes"]) -> None:
    """Name panels a, b, c, ... before their titles.

    Parameters
    ----------
    axes : iterable of Axes
    """
    for ax, name in zip(axes, "abcdefghijklmnopqrstuvwxyz", strict=False):
        ax.set_title(rf"$\bf{{{name}}}$  {ax.get_title()}")


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
        "figure.titlesize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "legend.frameon": False,
        "image.cmap": "viridis",
    }
    with matplotlib.rc_context(settings):
        yield


def palette(methods: Iterable[str]) -> dict[str, str]:
    """Colours of methods, as seaborn takes them.

    Parameters
    ----------
    methods : iterable of str
        Names.

    Returns
    -------
    dict of str
        Name -> hexadecimal colour, in `order`.
    """
    return {name: colour(name) for name in order(methods)}


def spread(tidy: pd.DataFrame) -> pd.DataFrame:
    """Each estimate as three rows, whose median is the value and whose ends are the interval.

    Parameters
    ----------
    tidy : DataFrame with columns value, low, high

    Returns
    -------
    DataFrame
        Its other columns, and ``at``: the value, the lower and the upper end; what is not finite is left out.

    Examples
    --------
    >>> spread(pd.DataFrame({"method": ["mean"], "value": [2.0], "low": [1.0], "high": [4.0]}))["at"].tolist()
    [2.0, 1.0, 4.0]
    """
    rows = tidy.melt([name for name in tidy if name not in ENDS], ENDS, value_name="at")
    return rows[np.isfinite(rows["at"].astype(float))]


def points(tidy: pd.DataFrame, *, hue: str, dodge: float = 0, **look: Any) -> "Axes":
    """`seaborn.pointplot` of estimates with the intervals that they came with.

    Parameters
    ----------
    tidy : DataFrame with columns value, low, high
    hue : column of the colours
    dodge : how far apart the colours stand, of the distance of two categories; 0 with one colour
    **look : passed on; the axis of the estimates is ``at``

    Returns
    -------
    Axes
    """
    import seaborn as sns

    rows = spread(tidy)
    apart = dodge if len(look.get("hue_order", rows[hue].unique())) > 1 else False
    return sns.pointplot(rows, hue=hue, dodge=apart, estimator="median", errorbar=("pi", 100), **look)


def intervals(
    tidy: pd.DataFrame,
    *,
    row: str,
    panel: str,
    label: dict[str, str],
    title: str,
    printed: pd.DataFrame | None = None,
    colours: Mapping[str, str] | None = None,
    log: Collection[str] = (),
) -> "Figure":
    """Estimates with intervals: one panel per value of `panel`, one line per method, published values hollow below.

    Parameters
    ----------
    tidy : DataFrame with columns `row`, `panel`, value, low, high
    row, panel : names of two columns
    label : panel -> what it shows, in the order of the panels
    title : what is seen, a sentence
    printed : published values, the same statistic, with columns `row`, `panel` and value
        A row that is not in `tidy` has a line at the end.
    colours : row -> colour, in the order of the rows; by default those of methods
    log : panels with a logarithmic axis

    Returns
    -------
    Figure
    """
    import matplotlib.pyplot as plt

    colours = colours or palette(tidy[row])
    published = pd.DataFrame(columns=[row, panel, "value"]) if printed is None else printed
    names = list(dict.fromkeys([*colours, *published[row]]))
    marks = [marker(name) if name in METHOD_STYLE else "o" for name in colours]
    look: dict[str, Any] = {"palette": dict(colours), "markers": marks, "linestyle": "none"}
    with style():
        size = (7.5, 0.26 * len(names) + 1.7)
        figure, axes = plt.subplots(1, len(label), figsize=size, sharey=True, squeeze=False)
        for ax, (name, what) in zip(axes.flat, label.items(), strict=True):
            part, apart = tidy[tidy[panel] == name], published[published[panel] == name]
            about: dict[str, Any] = {"x": "at", "y": row, "hue": row, "hue_order": list(colours), "order": names}
            points(part, **about, **look, ax=ax, legend=False, markersize=5, err_kws={"linewidth": 2})
            places = [names.index(method) + 0.35 * (method in colours) for method in apart[row]]
            ax.plot(apart["value"].astype(float), places, **PRINTED | {"ms": 5}, label="published")
            if name in log:
                logarithmic(ax, ax.xaxis)
            ax.set(title=what, xlabel="", ylabel="")
        figure.suptitle(fill(title, 95))
        axes[0, 0].set_yticks(range(len(names)), map(display_name, names))
        if len(published):
            figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", fontsize=8)
    return figure


def trade_off(
    tidy: pd.DataFrame,
    *,
    error: str,
    size: str,
    xlabel: str,
    ylabel: str,
    panel: str | None = None,
    sharey: bool = True,
) -> "Figure":
    """Error against size of each method, medians and quartiles; the front that no other method beats is a line.

    Marks are hollow and stand where they belong; those that would hide each other are rings of different sizes.

    Parameters
    ----------
    tidy : DataFrame with columns method, `error`, `size`
        An answer each; one that failed has the error infinity and no size, and counts in the error alone.
    error, size : names of two columns
        Errors, less is better, on a logarithmic axis; those below its floor, which are rounding, stand there.
    xlabel, ylabel : str
    panel : column
        Its values have a panel each; by default there is one panel.
    sharey : bool
        Whether the panels have one range of errors.

    Returns
    -------
    Figure
    """
    import matplotlib.pyplot as plt

    groups = [("", tidy)] if panel is None else list(tidy.groupby(panel, sort=False))
    across, ncols = min(len(groups), 2), 3 if len(groups) == 1 else 4
    down, lines = -(-len(groups) // across), -(-(tidy["method"].nunique() + 3) // ncols)
    lines *= len(groups) % across == 0  # else the legend stands in place of a panel
    with style():
        about: dict[str, Any] = {"figsize": (2.5 + 2.5 * across, 0.7 + 2.6 * down + 0.2 * lines), "squeeze": False}
        figure, axes = plt.subplots(down, across, sharey=sharey, **about)
        drawn, spare = axes.flat[: len(groups)], axes.flat[len(groups) :]
        middles = [_quartiles(ax, part, size, error) for ax, (_, part) in zip(drawn, groups, strict=True)]
        for ax, (title, _) in zip(drawn, groups, strict=True):
            ax.set(xlabel=xlabel, title=title)
        for ax in axes[:, 0]:
            ax.set_ylabel(ylabel)
        _logarithmic([ax for ax, middle in zip(drawn, middles, strict=True) if len(middle)])
        if panel is not None:
            letter(drawn)
        keys = _keys(order(set().union(*(middle.index for middle in middles))))
        for ax in spare:
            ax.set_axis_off()
        beside = {"loc": "center", "ncols": 1 if len(keys) < 10 else 2, "columnspacing": 1.2}
        below = {"loc": "outside lower center", "ncols": ncols, "columnspacing": 1.2}
        place, look = (spare[0], beside) if len(spare) else (figure, below)
        legend = place.legend(keys.values(), keys, **look)
        figure.draw_without_rendering()  # from here on, the places of marks in the figure are known
        sizes = [_marks(ax, middle.loc[order(middle.index)]) for ax, middle in zip(drawn, middles, strict=True)]
        if not any(map(any, sizes)):
            legend.remove()
            del keys[SHARED]
            place.legend(keys.values(), keys, **look)
    return figure


def _quartiles(ax: "Axes", part: pd.DataFrame, size: str, error: str) -> pd.DataFrame:
    """Draw quartiles of size and error as lines; the medians, a row for each method that has answers."""
    at = part.groupby("method")[[size, error]].quantile([0.25, 0.5, 0.75], interpolation="lower").unstack()
    at[error] = at[error].clip(DECADES, 1 / DECADES)
    middle: pd.DataFrame = at.xs(0.5, axis=1, level=1).dropna()
    for name, x, y in middle.itertuples():
        look: dict[str, Any] = {"color": colour(name), "lw": 0.6, "alpha": 0.4, "zorder": 1}
        ax.plot(at.loc[name, size][[0.25, 0.75]], [y, y], **look)
        ax.plot([x, x], at.loc[name, error][[0.25, 0.75]], **look)
    ax.margins(0.08, 0.1)
    return middle


def _logarithmic(axes: Sequence["Axes"]) -> None:
    """Make panels that are not empty logarithmic: sizes in plain numbers, errors in all panels alike."""
    for ax in axes:
        ax.set(xscale="log", yscale="log")
    plain = 2 * all(np.ptp(np.log10(ax.get_ylim())) < 2 for ax in axes)
    for ax in axes:
        logarithmic(ax, ax.xaxis, most=6 if len(axes) == 1 else 5, plain=np.inf)
        logarithmic(ax, ax.yaxis, plain=plain)
        ax.tick_params(axis="y", which="minor", length=0)


def _keys(methods: Iterable[str]) -> dict[str, Any]:
    """What a legend says of marks and lines."""
    from matplotlib.lines import Line2D

    keys: dict[str, Any] = {display_name(name): Line2D([], [], ls="none", **_hollow(name)) for name in methods}
    grey = _hollow("") | {"marker": "o", "color": "#777777"}
    keys[SHARED] = tuple(Line2D([], [], ls="none", **grey | {"ms": ms}) for ms in (grey["ms"] + RING, 4))
    keys["quartiles"] = Line2D([], [], ls="none", marker="+", color="#777777", ms=10, mew=0.7)
    keys["front"] = Line2D([], [], **FRONT)
    return keys


def _hollow(method: str, ring: int = 0) -> dict[str, Any]:
    """Look of a mark over lines and other marks; those made of lines, such as +, are larger."""
    from matplotlib.patheffects import Normal, Stroke

    look = {"marker": marker(method), "color": colour(method), "mfc": "white", "mew": 1.2}
    size = (7.5 if marker(method) in STROKES else 4.7) + RING * ring
    return {**look, "ms": size, "path_effects": [Stroke(linewidth=2.2, foreground="white"), Normal()]}


def _marks(ax: "Axes", middle: pd.DataFrame) -> list[int]:
    """Draw medians (size, error), small ones on top, and their front, to the edges of the axes; the rings they are."""
    from matplotlib.lines import Line2D

    if middle.empty:
        return []
    ahead = middle[front(middle.to_numpy())].sort_values([*middle]).to_numpy()
    (_, right), (_, top) = ax.get_xlim(), ax.get_ylim()
    path = np.concatenate([[(ahead[0, 0], top)], ahead, [(right, ahead[-1, 1])]])
    ax.add_artist(Line2D(*path.T, drawstyle="steps-post", label="front", zorder=2, **FRONT))
    places = 72 / ax.figure.dpi * ax.transData.transform(middle.to_numpy())
    sizes = rings(places, GAP)
    for (name, x, y), ring in zip(middle.itertuples(), sizes, strict=True):
        above = 5 if marker(name) in STROKES else 4 - 0.1 * ring  # what hides least
        look: dict[str, Any] = {"label": display_name(name), "ls": "none", "clip_on": False, "zorder": above}
        ax.add_artist(Line2D([x], [y], **look, **_hollow(name, ring)))
    return sizes
