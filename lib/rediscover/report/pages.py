"""Tables in the pages of docs/ that take too long for `make publish`: written by what computes them."""

import re

import pandas as pd

from ..system.paths import root
from ..system.writing import write_text


def put(frame: pd.DataFrame, page: str, mark: str) -> None:
    """Write a frame of text, its first column being names, between the two marks of a page.

    Raises
    ------
    ValueError
        If the page does not have the mark twice.
    """
    path = root() / page
    text = path.read_text("utf-8")
    if text.count(mark) != 2:
        raise ValueError(f"{page}: write {mark} twice where the table goes")
    rows = [list(frame.columns), ["---"] + ["---:"] * (frame.shape[1] - 1), *frame.to_numpy().tolist()]
    table = "\n".join([mark, *("| " + " | ".join(row) + " |" for row in rows), mark])
    write_text(path, re.sub(f"{re.escape(mark)}.*{re.escape(mark)}", lambda _: table, text, flags=re.DOTALL))
