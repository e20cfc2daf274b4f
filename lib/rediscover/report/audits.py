"""The index of all audits: what the notebooks show to be wrong in a published pipeline, found by its marks.

An audit is a code cell with the tag ``audit`` after a markdown cell with a paragraph ``**N. What.** text`` (without N,
the audits count themselves). The paragraph says what is published and what the released code or data do; the output of
the cell shows the number that this changes.
"""

import itertools
import re
from pathlib import Path
from typing import Any

import pandas as pd

from ..system.extras import extra

with extra("notebooks"):
    import nbformat

SILENT = "nothing: it reads released files that are not bundled"
_MARK = re.compile(r"^\*\*(?:(\d+)\.\s+)?(.+?)\.?\*\*\s*(.+)", flags=re.S | re.M)


def audits(folder: Path) -> pd.DataFrame:
    """Every audit of the notebooks in `folder`.

    Parameters
    ----------
    folder : of the committed notebooks, whose outputs are those of the profile whose tables are committed

    Returns
    -------
    DataFrame
        notebook, number, title, text, shows (what the cell printed), and cell (its execution count)

    Raises
    ------
    ValueError
        If an audit has no title before it, or a number that is not its place among the audits of the notebook.
    """
    found = []
    for path in sorted(folder.glob("[0-9]*.ipynb")):
        for number, (before, cell) in enumerate(pairs(nbformat.read(path, as_version=4)), 1):
            entry = {"notebook": path.stem, "number": number} | _title(path, before, number)
            found.append(entry | {"shows": _printed(cell), "cell": cell.execution_count})
    return pd.DataFrame(found, columns=["notebook", "number", "title", "text", "shows", "cell"])


def pairs(notebook: Any) -> list[tuple]:
    """(the cell that says what, the cell that shows it) of each audit."""
    steps = itertools.pairwise(notebook.cells)
    return [(before, cell) for before, cell in steps if "audit" in cell.metadata.get("tags", [])]


def _printed(cell) -> str:
    """What a cell printed, pictures left out; or that it prints nothing in the committed notebook."""
    texts: list[str] = []
    for kind, outputs in itertools.groupby(cell.outputs, key=lambda output: output.get("output_type")):
        parts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]
        texts += ["".join(parts)] if kind == "stream" else parts  # a stream is cut wherever it was flushed
    return "\n".join(text.rstrip() for text in texts if text and not text.startswith("<")) or SILENT


def _title(path, cell, expected):
    text = re.sub("<!--.*?-->", "", cell.source)  # marks of facts
    match = _MARK.search(text) if cell.cell_type == "markdown" else None
    if not match:
        raise ValueError(f"{path.name}: no paragraph `**N. What.** text` before an audit: {cell.source[:60]!r}")
    number, title, text = match.groups()
    if number and int(number) != expected:
        raise ValueError(f"{path.name}: audit {expected} has the number {number}: {title}")
    return {"title": title, "text": " ".join(text.split())}
