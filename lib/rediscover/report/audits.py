"""The index of all audits: what the notebooks show to be wrong in a published pipeline, found by its marks.

An audit is a code cell with the tag ``audit`` after a markdown cell with a paragraph ``**N. What.** text`` (without N,
the audits count themselves). The paragraph says what is published and what the released code or data do; the output of
the cell shows the number that this changes. It is taken from the notebook as the tables' profile executed it, where
there is such a one with the same cell, else from the committed notebook.
"""

import itertools
import re
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd

SILENT = "nothing: it reads released files that are not bundled"
_MARK = re.compile(r"^\*\*(?:(\d+)\.\s+)?(.+?)\.?\*\*\s*(.+)", flags=re.S | re.M)


def audits(folder: Path, executed: Path | None = None) -> pd.DataFrame:
    """Every audit of the notebooks in `folder`.

    Parameters
    ----------
    folder : of the committed notebooks, which are of the smoke profile
    executed : of the notebooks as another profile executed them, named by it, such as ``build/reference``

    Returns
    -------
    DataFrame
        notebook, number, title, text, cell (its execution count in the committed notebook), profile, and shows: what
        the cell printed in that profile

    Raises
    ------
    ValueError
        If an audit has no title before it, or a number that is not its place among the audits of the notebook.
    """
    found = []
    for path in sorted(folder.glob("[0-9]*.ipynb")):
        again = executed / path.name if executed else path
        run = {cell.source: cell for _, cell in pairs(nbformat.read(again, as_version=4))} if again.exists() else {}
        for number, (before, cell) in enumerate(pairs(nbformat.read(path, as_version=4)), 1):
            entry = {"notebook": path.stem, "number": number} | _title(path, before, number)
            profile = executed.name if executed and cell.source in run else "smoke"
            shows = {"shows": _printed(run.get(cell.source, cell)), "cell": cell.execution_count, "profile": profile}
            found.append(entry | shows)
    return pd.DataFrame(found, columns=["notebook", "number", "title", "text", "shows", "cell", "profile"])


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
