"""One look for all figures: method -> colour, marker, display name and order, fixed in plots.yaml."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import yaml

from .axes import logarithmic

if TYPE_CHECKING:  # loaded on first use
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHOD_STYLE: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
DECADES = 1e-9  # a logarithmic axis spans no more than this: below it, an error is rounding
PRINTED: dict[str, Any] = {"marker": "d", "mfc": "none", "mec": "black", "ms": 7, "ls": "none"}  # a published value
ENDS = ["value", "low", "high"]  # columns of an estimate with its interval
BEST: dict[str, Any] = {"color": "black", "ls": "--", "lw": 1}  # the best published value, as a line
STROKES = "|+x12"  # markers made of lines
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
