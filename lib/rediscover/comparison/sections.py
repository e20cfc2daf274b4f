"""A table of a comparison with its intervals: as text, as HTML, and as LaTeX that can be printed as it is."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..report.names import title as head
from ..report.tables import blocks, escape, number, winners

Bounds = tuple[pd.Series, pd.Series]
ARROWS = {"\N{DOWNWARDS ARROW}": r"$\downarrow$", "\N{UPWARDS ARROW}": r"$\uparrow$"}
POWER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?e[+-]?\d+")
HEADS = {"p_holm": r"$p_\mathrm{Holm}$", "effect": "effect"}


@dataclass(frozen=True)
class Section:
    """A table, the intervals of its columns, and which way each is better.

    Attributes
    ----------
    title : str
    frame : DataFrame
        Numbers and texts; an index without a name only counts rows.
    bounds : column -> lower and upper ends, Series shaped like the column; NaN where there is none
    best : column -> 'lower' or 'higher': its best value in each block of rows is bold, controls left out
    """

    title: str
    frame: pd.DataFrame
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    best: Mapping[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """Whether the index only counts rows."""
        return self.frame.index.names == [None]

    def shown(self) -> pd.DataFrame:
        """Cells as text, intervals in brackets behind their values."""
        shown = self.frame.map(cell)
        for name, (low, high) in self.bounds.items():
            shown[name] = [
                f"{text} [{cell(a, 2)}, {cell(b, 2)}]" if text and not (_missing(a) or _missing(b)) else text
                for text, a, b in zip(shown[name], low, high, strict=True)
            ]
        return shown

    def csv(self) -> pd.DataFrame:
        """The numbers, the ends of each interval in columns of their own."""
        frame = self.frame.copy()
        for name, (low, high) in self.bounds.items():
            place = list(frame.columns).index(name) + 1
            frame.insert(place, f"{name}, low", np.asarray(low))
            frame.insert(place + 1, f"{name}, high", np.asarray(high))
        return frame if self.counts else frame.reset_index()

    def html(self) -> str:
        """The table for a page."""
        return self.shown().to_html(border=0, index=not self.counts)

    def latex(self, caption: str, label: str) -> str:
        r"""The table by booktabs, ``\usepackage{booktabs}``: best values bold, powers of ten as such.

        Parameters
        ----------
        caption : one or more sentences
        label : what stands behind ``tab:``

        Returns
        -------
        str
        """
        written = self.frame.map(_written)
        for name, (low, high) in self.bounds.items():
            written[name] = [
                f"{text} [{_written(a, 2)}, {_written(b, 2)}]" if text and not (_missing(a) or _missing(b)) else text
                for text, a, b in zip(written[name], low, high, strict=True)
            ]
        for name, direction in self.best.items():
            rows = winners(self.frame[name], self.frame[name].map(cell), direction)
            written.loc[rows, name] = [rf"\textbf{{{text}}}" for text in written.loc[rows, name]]
        labels = self.frame.index.to_frame(index=False).map(lambda text: escape(head(str(text))))
        cells = written.reset_index(drop=True)
        cells = cells if self.counts else pd.concat([labels, cells], axis=1)
        texts = [not pd.api.types.is_numeric_dtype(self.frame[name]) for name in self.frame]
        kinds = "l" * (0 if self.counts else labels.shape[1]) + "".join("l" if text else "r" for text in texts)
        starts = {*blocks(cells.iloc[:, 0])}
        lines = [
            rf"{chr(92) + 'addlinespace ' if i in starts else ''}{' & '.join(row)} \\"
            for i, row in enumerate(cells.itertuples(index=False, name=None))
        ]
        top = [r"\begin{table}", r"\centering", rf"\caption{{{_sentence(caption)}}}", rf"\label{{tab:{label}}}"]
        top += [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", " & ".join(map(_head, cells.columns)) + r" \\"]
        return "\n".join([*top, r"\midrule", *lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])

    def __str__(self) -> str:
        frame = self.shown()
        return f"{self.title}\n{(frame if self.counts else frame.reset_index()).to_string(index=False)}"


def cell(value: Any, digits: int = 3) -> str:
    """A cell of a comparison as text.

    Parameters
    ----------
    value : object
    digits : int
        Significant digits.

    Returns
    -------
    str

    Examples
    --------
    >>> cell(True), cell(0.25), cell(float("nan"))
    ('yes', '0.250', '')
    """
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e5:
        return f"{value:g}"
    return number(float(value) if isinstance(value, np.floating) else value, digits)


def latex_number(text: str) -> str:
    r"""A number that `cell` wrote, as LaTeX: a minus is a minus, an exponent a power of ten.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> [latex_number(text) for text in ("0.250", "-1", "3.88e-22", "inf")]
    ['0.250', '$-1$', '$3.88 \\times 10^{-22}$', '$\\infty$']
    """
    mantissa, e, exponent = text.partition("e")
    if e and exponent.lstrip("+-").isdigit():
        return rf"${mantissa} \times 10^{{{int(exponent)}}}$"
    return f"${text.replace('inf', chr(92) + 'infty')}$" if text.startswith("-") or text == "inf" else text


def _missing(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _written(value: Any, digits: int = 3) -> str:
    """A cell as LaTeX: numbers by `latex_number`, texts as readers know them."""
    if isinstance(value, str):
        return escape(head(value))
    return latex_number(cell(value, digits))


def _head(name: str) -> str:
    if name in HEADS:
        return HEADS[name]
    first, comma, rest = name.partition(", ")
    text = escape(head(first) + comma + rest)
    for sign, arrow in ARROWS.items():
        text = text.replace(sign, arrow)
    return text


def _sentence(text: str) -> str:
    """A caption: words that are numbers as LaTeX has them."""
    return POWER.sub(lambda found: latex_number(found[0]), escape(text))
