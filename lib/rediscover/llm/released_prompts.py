"""Prompts that the authors of a framework released: fetched at a commit, checked by SHA-256, read and never executed.

No word of them is part of this project. ``released_prompts.yaml`` says where each stands in which file, and which of
our blanks are in place of theirs.
"""

import re
from pathlib import Path

import yaml

from ..system import upstream_files
from ..system.upstream_files import ReleasedError

RELEASED = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
PLACE = re.compile(r"(\w+)#L(\d+)C(\d+)-L(\d+)C(\d+)")


def texts(method: str) -> dict[str, str]:
    """Name of one of our texts -> theirs, with our blanks.

    Parameters
    ----------
    method : str
        Name of a method.

    Raises
    ------
    ReleasedError
        If there is none for this method, or a file cannot be had, or is another one.
    """
    entry = RELEASED.get(method, {})
    if "texts" not in entry:
        raise ReleasedError(f"{method} has no released prompts: {entry.get('why', 'none are known')}")
    repository, licence = entry["repository"], entry["licence"]
    files = {
        name: upstream_files.pinned(repository, file["commit"], file["path"], file["sha256"], licence)
        for name, file in entry["files"].items()
    }
    read = {name: file.read_bytes().decode() for name, file in files.items()}
    return {key: "".join(_piece(piece, read) for piece in pieces) for key, pieces in entry["texts"].items()}


def missing(method: str) -> str | None:
    """Why a method cannot have released prompts here; None if it can. They are fetched if need be."""
    try:
        texts(method)
    except ReleasedError as error:
        return str(error)
    return None


def cut(text: str, start: tuple[int, int], end: tuple[int, int]) -> str:
    r"""What is between two places of a text, each a line and a column, from 1; what is at the second is left out.

    >>> cut("one\ntwo\n", (1, 3), (2, 2))
    'e\nt'
    """
    lines = text.split("\n")
    first, last = (sum(len(each) + 1 for each in lines[: line - 1]) + column - 1 for line, column in (start, end))
    return text[first:last]


def _piece(piece: str, files: dict[str, str]) -> str:
    """A part of a text: one of a file, in which a dollar sign begins no blank, or as it stands."""
    if not (found := PLACE.fullmatch(piece)):
        return piece
    name, *places = found.groups()
    line, column, to_line, to_column = map(int, places)
    return cut(files[name], (line, column), (to_line, to_column)).replace("$", "$$")
