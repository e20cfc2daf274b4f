"""The output of one study: tables as CSV and LaTeX, figures as PNG (PDF under build/), and a provenance file."""

import hashlib
import html
import importlib.metadata
import json
import math
import os
import platform
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..methods import CONTROLS as CONTROLS
from ..runs.schema import to_csv
from ..system.studies import of_notebook, studies
from ..system.writing import replacing
from .names import readable, title
from .rules import SEEDS

TABLE_DIGITS = 6  # in tables; more would show the rounding of least squares, which differs from one time to the next
ARROWS = {"lower": " ↓", "higher": " ↑"}  # which way is better
PACKAGES = (
    "numpy",
    "scipy",
    "sympy",
    "pandas",
    "scikit-learn",
    "statsmodels",
    "matplotlib",
    "gplearn",
    "pyoperon",
    "pysindy",
)


class Table(str):
    """A table as text, which a notebook shows in HTML."""

    html: str

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.html


class Output:
    """Where a study's tables and figures go.

    Parameters
    ----------
    params : Parameters
        Give the profile, the folder and the study's name.

    Raises
    ------
    PermissionError
        At once, if figures/ or tables/ cannot be written.
    """

    def __init__(self, params) -> None:
        self.params = params
        self.tables, self.figures = params.folder / "tables", params.folder / "figures"
        self.pdf = params.pdf
        self.emitted: dict[str, str] = {}
        self.stated = False
        for folder in (self.tables, self.figures, self.pdf):
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise PermissionError(f"cannot write to {folder}: make the folder writable")

    def runs(self, frame: pd.DataFrame, name: str) -> None:
        """Write runs as CSV, with their first candidate; timings go to a file of their own: the table is stable.

        All candidates are in ``records/`` and in the store. Runs of methods that are unavailable here have no row.
        """
        if "status" in frame:
            frame = frame[frame["status"] != "unavailable"]
        timings = [column for column in ("seconds", "peak_mb", "reused") if column in frame]
        self._csv(frame.drop(columns=[*timings, "candidates"], errors="ignore"), name)
        if timings:
            identity = [c for c in ("problem", "method", "settings", "noise", "seed") if c in frame]
            folder = self.params.store.parent / "timings"
            folder.mkdir(parents=True, exist_ok=True)
            to_csv(frame[identity + timings], folder / f"{name}.csv")

    def table(
        self,
        frame: pd.DataFrame,
        name: str,
        *,
        caption: str,
        best: dict | None = None,
        digits: int = 3,
        footnotes: tuple[str, ...] = (),
        intervals: tuple[pd.DataFrame, pd.DataFrame] | None = None,
        effort: pd.DataFrame | None = None,
    ) -> Table:
        """Write a table as CSV (6 digits) and LaTeX (booktabs), and return it as text that a notebook shows in HTML.

        Parameters
        ----------
        frame : DataFrame
            The index is shown as the first columns, unless it only counts rows.
        best : column -> 'lower' or 'higher'
            In these columns the best finite value of each group (first index level, where there are several) is bold;
            values that display alike are bold together. Controls are left out.
        digits : int
            Significant digits shown.
        footnotes : sentences under the table.
        intervals : low and high, shaped like `frame`, shown in brackets behind each value that has them.
        effort : seeds and evaluations by levels of the frame's index (`budgets.effort`), put beside the scores. Where
            a search has fewer than three seeds, a footnote gives the study's reason, ``seeds`` in its study.yaml.
        """
        if effort is not None:
            frame = frame.join(effort, on=effort.index.names)
            footnotes += self._few_seeds(frame)
        labelled = frame.rename_axis("row") if frame.index.names == [None] else frame
        self._csv(labelled.reset_index() if _levels(frame.index) else frame, name, TABLE_DIGITS)
        shown = frame.map(lambda value: number(value, digits))
        if effort is not None:
            shown["evaluations"] = ["" if pd.isna(n) else f"{n:,}" for n in frame["evaluations"]]
        if intervals:
            whole = (bound.reindex(columns=frame.columns) for bound in intervals)
            low, high = (bound.map(lambda value: number(value, digits - 1)) for bound in whole)
            shown += (" [" + low + ", " + high + "]").where((shown != "") & (low != ""), "")
        bold = pd.DataFrame("", shown.index, shown.columns)
        for column, direction in (best or {}).items():
            bold.loc[winners(frame[column], shown[column], direction), column] = "textbf:--rwrap;"
        numeric = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
        self._write(self.tables / f"{name}.tex", _latex(shown, numeric, bold, name, caption, footnotes))
        text = Table(_wrapped(shown) + "".join(f"\n{note}" for note in footnotes))
        text.html = _html(shown, numeric, bold != "", best or {}, caption, footnotes)
        return text

    # Of a mesh with holes matplotlib projects memory that nobody wrote, too (Poly3DCollection): at times it overflows.
    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def figure(self, figure: Any, name: str, *, alt: str) -> None:
        """Write a figure as PNG, its description within, and as PDF under build/; in a notebook, show it."""
        from matplotlib import pyplot, rc_context

        with replacing(self.pdf / f"{name}.pdf") as path, rc_context({"pdf.fonttype": 42}):
            figure.savefig(path, format="pdf", bbox_inches="tight", metadata={"CreationDate": None})
        with replacing(self.figures / f"{name}.png") as path:
            figure.savefig(path, format="png", bbox_inches="tight", dpi=160)
            _finish(path, alt)
        self._record(self.figures / f"{name}.png")
        pyplot.close(figure)  # shown once, below, and not by the notebook's own habits
        if "IPython" in sys.modules and sys.modules["IPython"].get_ipython():
            from IPython.display import Image, display

            display(Image(filename=self.figures / f"{name}.png", width=figure.get_figwidth() * 100, alt=alt))

    def provenance(self) -> None:
        """Write what made these files: profile, parameters, versions, and the SHA-256 of each file.

        Files that are written later, by audits, are added then.
        """
        self.stated = True
        versions = {name: importlib.metadata.version(name) for name in PACKAGES}
        record = {
            "notebook": self.params.notebook,
            "profile": self.params.profile,
            "parameters": self.params.model_dump(exclude={"explored"}),
            "command": f"make all STUDY={self.params.notebook} PROFILE={self.params.profile}",
            "python": ".".join(platform.python_version_tuple()[:2]),  # a patch release changes no output
            "packages": versions,
            "files": dict(sorted(self.emitted.items())),
        }
        path = self.tables / f"{self.params.notebook}.provenance.json"
        with replacing(path) as part:
            Path(part).write_text(json.dumps(record, indent=1) + "\n")

    def _few_seeds(self, frame) -> tuple[str, ...]:
        """The study's reason, where a search among the rows has fewer than three seeds."""
        if not (frame["evaluations"].notna() & (frame["seeds"] < SEEDS)).any() or self.params.profile == "smoke":
            return ()
        return (studies()[of_notebook(self.params.notebook)]["seeds"],)

    def _csv(self, frame, name, digits=10) -> None:
        with replacing(self.tables / f"{name}.csv") as path:
            to_csv(frame, path, float_format=f"%.{digits}g")
        self._record(self.tables / f"{name}.csv")

    def _write(self, path, text) -> None:
        with replacing(path) as part:
            Path(part).write_text(text)
        self._record(path)

    def _record(self, path) -> None:
        relative = path.relative_to(self.params.folder).as_posix()
        self.emitted[relative] = hashlib.sha256(path.read_bytes()).hexdigest()
        if self.stated:
            self.provenance()


def _wrapped(shown) -> str:
    """A table as text; one with long texts as a list, a block of lines for each row."""
    if not len(shown) or shown.map(len).max().max() <= 60:
        return shown.to_string()
    blocks = []
    for row, values in shown.iterrows():
        key = " ".join(map(str, row)) if isinstance(row, tuple) else str(row)
        lines = [f"{name}: {text}" for name, text in values.items() if text]
        blocks.append(
            "\n".join(
                [key, *(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent="    ") for line in lines)]
            )
        )
    return "\n".join(blocks)


def number(value: Any, digits: int = 3) -> str:
    """A cell as text: `digits` significant digits, powers of ten where they are needed.

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
    >>> [number(x) for x in (0.123456, 999.96, 1234.5, 1.2e-9, 3, float("inf"), None, pd.NA, "gplearn")]
    ['0.123', '1000', '1234', '1.20e-09', '3', 'inf', '', '', 'gplearn']
    """
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, float) or not math.isfinite(value) or value == 0:
        return f"{value:g}" if isinstance(value, float) else str(value)
    if not 1e-4 <= abs(value) < 1e5:
        return f"{value:.{digits - 1}e}"
    text = f"{value:#.{digits}g}".rstrip(".")
    return f"{value:.0f}" if "e" in text else text  # no digits left behind the point, or none after rounding


def winners(values: pd.Series, shown: pd.Series, direction: str) -> list:
    """Labels of the rows that are best in their group (first index level, where there are several), controls left out.

    Parameters
    ----------
    values : Series
        Numbers; the last index level has the methods.
    shown : Series
        Their texts: values that display alike win together.
    direction : 'lower' or 'higher'

    Returns
    -------
    list
    """
    rows = values.index
    names = rows.get_level_values(-1)
    groups = rows.get_level_values(0) if rows.nlevels > 1 else pd.Index([""] * len(rows))
    numbers = pd.to_numeric(values, errors="coerce")
    competing = numbers[(numbers.abs() < math.inf) & ~names.isin(CONTROLS)].dropna()
    winners = []
    for group in groups.unique():
        part = competing[competing.index.isin(rows[groups == group])]
        if len(part):
            top = part.idxmax() if direction == "higher" else part.idxmin()
            winners += [row for row in part.index if shown[row] == shown[top]]
    return winners


def escape(text: str) -> str:
    """Text with LaTeX's special characters escaped (backslashes are not: they are for who writes LaTeX).

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    for character in "&%$#_{}":
        text = text.replace(character, "\\" + character)
    return text.replace("~", r"\textasciitilde{}").replace("^", r"\textasciicircum{}")


def _escaped(text: str) -> str:
    """A cell, which is a text: its backslashes are no commands."""
    return r"\textbackslash{}".join(map(escape, text.split("\\")))


def _levels(index) -> int:
    """How many columns of labels an index gives: none if it has no name and only counts the rows."""
    counts = index.names == [None] and (len(index) == 0 or pd.api.types.is_numeric_dtype(index))
    return 0 if counts else index.nlevels


def _latex(shown, numeric, bold, name, caption, footnotes) -> str:
    """A table by booktabs; `bold` is the style of each cell, `numeric` says which columns stand to the right."""
    levels = _levels(shown.index)
    long = [not n and shown[column].map(len).max() > 40 for n, column in zip(numeric, shown, strict=True)]
    paragraph = f"p{{{0.8 / max(1, sum(long)):.2f}\\linewidth}}"
    kinds = ["r" if n else paragraph if wide else "l" for n, wide in zip(numeric, long, strict=True)]
    labels = shown.index.set_names([level or "" for level in shown.index.names]).to_frame(index=False).iloc[:, :levels]
    cells = pd.concat([labels, shown.reset_index(drop=True)], axis=1).rename_axis(columns=None)
    written = cells.map(lambda cell: _escaped(readable(str(cell))))
    if levels > 1:
        starts = blocks(cells.iloc[:, 0])
        written.iloc[starts, 0] = "\\addlinespace\n" + written.iloc[starts, 0]
    styler = written.style.hide(axis="index").format_index(_stacked, axis="columns")
    styler.apply(lambda _: bold.reset_index(drop=True).reindex(columns=cells.columns, fill_value=""), axis=None)
    about = {"caption": escape(caption), "label": f"tab:{name}", "column_format": "l" * levels + "".join(kinds)}
    text = styler.to_latex(hrules=True, position_float="centering", **about)
    notes = "".join(rf"\par\footnotesize {escape(note)}" + "\n" for note in footnotes)
    return text.replace(r"\end{table}", notes + r"\end{table}")


def _stacked(heading) -> str:
    """A heading of a column, a long one on several lines, so that the table stays narrow."""
    lines = [*map(_escaped, textwrap.wrap(title(str(heading)), 14, break_long_words=False))]
    return r"\shortstack{" + r"\\".join(lines) + "}" if len(lines) > 1 else "".join(lines)


def blocks(labels: pd.Series) -> list[int]:
    """Where a new block of rows with one label starts, for a space before it.

    Parameters
    ----------
    labels : Series
        The first column.

    Returns
    -------
    list of int
        Positions; empty where no block has several rows.

    Examples
    --------
    >>> blocks(pd.Series(["easy", "easy", "hard", "hard"])), blocks(pd.Series(["a", "b", "a"]))
    ([2], [])
    """
    starts = [k for k in range(1, len(labels)) if labels.iloc[k] != labels.iloc[k - 1]]
    return starts if len(starts) + 1 < len(labels) else []


def _html(shown, numeric, bold, best, caption, footnotes) -> str:
    """A table for notebooks: the best in bold, arrows where there is a better direction, printed rows shaded."""
    levels = _levels(shown.index)
    names = [name or "" for name in shown.index.names[:levels]]
    heads = (" ".join(map(str, head)) if isinstance(head, tuple) else str(head) for head in shown.columns)
    titles = map(title, [*names, *heads])
    ways = [""] * levels + [ARROWS.get(best.get(column, ""), "") for column in shown.columns]
    head = "".join(f"<th>{_cell(text)}{way}</th>" for text, way in zip(titles, ways, strict=True))
    rows, before = [], [None] * levels
    for k, (label, cells) in enumerate(shown.iterrows()):
        labels = (list(label) if isinstance(label, tuple) else [label])[:levels]
        row = []
        for i, one in enumerate(labels):
            again = labels[: i + 1] == before[: i + 1] and i + 1 < levels
            row.append(f"<th>{'' if again else _cell(one)}</th>")
        for text, right, wins in zip(cells, numeric, bold.iloc[k], strict=True):
            side = "" if right else " style='text-align: left'"
            row.append(f"<td{side}>{'<b>' * wins}{_cell(text)}{'</b>' * wins}</td>")
        shade = " style='background: rgba(127, 127, 127, 0.2)'" if _is_published(labels) else ""
        rows.append(f"<tr{shade}>{''.join(row)}</tr>")
        before = labels
    notes = "".join(f"<p>{_cell(note)}</p>" for note in footnotes)
    about = f"<caption style='caption-side: top; text-align: left'>{_cell(caption)}</caption>"
    lines = "\n".join([f"<thead><tr>{head}</tr></thead><tbody>", *rows, "</tbody></table>"])
    return f"<table>{about}{lines}{notes}"


def _cell(text) -> str:
    return html.escape(readable(str(text)), quote=False)


def _is_published(labels) -> bool:
    return any(word in str(label) for label in labels for word in ("printed", "published"))


def _finish(path: Path, description: str) -> None:
    """Keep 256 colours of a PNG, each as near as the eye tells: a third of the bytes, of which each version is kept.

    The description is its text "Description", as the PNG specification has it.
    """
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    said = PngInfo()
    said.add_itxt("Description", description)
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    few.save(path, "png", optimize=True, pnginfo=said)
