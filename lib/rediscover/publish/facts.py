r"""Facts in prose: the numbers of pages and of the essays in notebooks/.

A fact of tables/facts.csv stands between marks that no reader sees, ``<!--surfaces.count-->183<!--/-->``; the paper
asks for it by ``\fact{surfaces.count}``.
"""

import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from ..system.paths import root

MARKED = re.compile(r"<!--([^/\s][^\s>]*)-->((?:(?!<!--).)*)<!--/-->", re.S)
LEFT = re.compile(r"<!--(?:/|[^/\s>][^\s>]*)-->")  # a mark without its other half


def texts() -> dict[str, str]:
    """The facts of tables/facts.csv, as prose has them."""
    frame = pd.read_csv(root() / "tables" / "facts.csv", dtype=str, keep_default_na=False)
    return dict(zip(frame["fact"], frame["text"], strict=True))


def filled(text: str, facts: Mapping[str, str]) -> str:
    """Prose with the present text of each fact between its marks, with a capital where there is one.

    Where only line breaks differ, it stays as it stands.

    Raises
    ------
    ValueError
        For a mark that names no fact, or has no other half.

    Examples
    --------
    >>> filled("all <!--toys.count-->7<!--/--> toys", {"toys.count": "8"})
    'all <!--toys.count-->8<!--/--> toys'
    """
    if stray := LEFT.search(MARKED.sub("", text)):
        raise ValueError(f"{stray[0]} stands alone: a fact's text is between <!--its.name--> and <!--/-->")

    def now(match):
        name, standing = match.groups()
        if name not in facts:
            like = difflib.get_close_matches(name, facts, n=1)
            raise ValueError(f"no fact is called {name!r}" + "".join(f"; did you mean {other!r}?" for other in like))
        present = facts[name]
        if standing[:1].isupper():  # at the start of a sentence, or a name
            present = present[:1].upper() + present[1:]
        same = " ".join(standing.split()) == present
        return match[0] if same else f"<!--{name}-->{present}<!--/-->"

    return MARKED.sub(now, text)


def essay(path: Path, facts: Mapping[str, str]) -> str:
    """The file of a notebook, its prose filled.

    Raises
    ------
    ValueError
        As `filled`, with the name of the notebook.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            try:
                cell["source"] = filled("".join(cell["source"]), facts).splitlines(keepends=True)
            except ValueError as error:
                raise ValueError(f"{path.name}: {error}") from None
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
