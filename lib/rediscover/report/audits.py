"""The index of all audits: what the notebooks show to be wrong in a published pipeline, found by its marks.

An audit is a code cell with the tag ``audit`` after a markdown cell that ends in a paragraph ``**N. What.** text``.
"""

import itertools
import re
from pathlib import Path

import nbformat
import pandas as pd

_MARK = re.compile(r"\*\*(\d+)\.\s+(.+?)\.?\*\*\s*(.+)", flags=re.S)


def audits(folder: Path) -> pd.DataFrame:
    """Every audit of the notebooks in `folder`: notebook, number, title, text, and the cell that shows it.

    Raises
    ------
    ValueError
        If an audit has no title before it, or the audits of a notebook are not numbered 1, 2, 3, ...
    """
    found = []
    for path in sorted(folder.glob("[0-9]*.ipynb")):
        story = nbformat.read(path, as_version=4).cells
        mine = [
            {"notebook": path.stem} | _title(path, before) | {"cell": cell.get("execution_count") or i}
            for i, (before, cell) in enumerate(itertools.pairwise(story), 1)
            if "audit" in cell.metadata.get("tags", [])
        ]
        numbers = [entry["number"] for entry in mine]
        if numbers != list(range(1, len(mine) + 1)):
            raise ValueError(f"{path.name}: audits are numbered {numbers}, not 1 to {len(mine)}")
        found += mine
    return pd.DataFrame(found, columns=["notebook", "number", "title", "text", "cell"])


def _title(path, cell):
    match = _MARK.search(cell.source) if cell.cell_type == "markdown" else None
    if not match:
        raise ValueError(
            f"{path.name}: no paragraph `**N. What.** text` before an audit: {cell.source[:60]!r}"
        )
    number, title, text = match.groups()
    return {"number": int(number), "title": title, "text": " ".join(text.split())}
