"""Printed settings and texts beside what the authors' released files say.

A study keeps what it found there in ``released_settings.csv``: table (file in published/), row and column (as in the
ledger), released (the value that the released program runs with, written anew), source (file and line, or function, at
a commit) and note. No sentence of a released file is copied.
"""

import re

import numpy as np
import pandas as pd

from ..system.studies import FOLDER, studies
from .ledger import compare_table
from .papers import published, tables

FILE = "released_settings.csv"
COLUMNS = ["table", "row", "column", "released", "source", "note"]
ABSENT = ("not comparable", "not laid down in what was released")
_TOKEN = re.compile(r"[()]|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[^\W\d][\w.]*|[^\s,;'\"()]")


def same(printed: str, released: str) -> bool:
    """Whether two texts state the same setting: numbers equal as numbers, lists as lists, words as words.

    Commas, semicolons, quotes and the kind of brackets do not count, nor do brackets around the whole.

    Examples
    --------
    >>> same("1e-5, 1e-4", "[0.00001, 0.0001]"), same("U(10^2, 10^3)", "U(100, 1000)")
    (True, True)
    >>> same("[polynomial], [polynomial, sin]", "[polynomial, polynomial, sin]"), same("0.8", "0.7")
    (False, False)
    """
    return _parts(printed) == _parts(released)


def _parts(text: str) -> list[str | float]:
    """The words, numbers and brackets of a setting in order."""
    text = re.sub(r"10\^(-?\d+)", r"1e\1", text.replace("×", "*"))
    for old, new in zip("[]{}", "()()", strict=True):
        text = text.replace(old, new)
    tokens = _TOKEN.findall(text)
    while _wrapped(tokens):
        tokens = tokens[1:-1]
    return [float(token) if re.match(r"[-+]?\d", token) and _is_number(token) else token for token in tokens]


def _wrapped(tokens: list[str]) -> bool:
    """Whether one pair of brackets holds everything."""
    if not tokens or tokens[0] != "(":
        return False
    depth = np.cumsum([(token == "(") - (token == ")") for token in tokens])
    return int(np.argmax(depth == 0)) == len(tokens) - 1


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def read(study: str) -> pd.DataFrame:
    """What a study's ``released_settings.csv`` says, as text."""
    return pd.read_csv(FOLDER / study / FILE, dtype=str, keep_default_na=False)[COLUMNS]


def settings(name: str, rows: pd.DataFrame | None = None) -> pd.DataFrame:
    """A ledger of a published table of settings: each cell beside what was released, or why there is nothing.

    Parameters
    ----------
    name : of the file, such as ``mdbench_table_a2``
    rows : the published table where it was changed before, by default as it is on file

    Returns
    -------
    DataFrame
        As `ledger.compare_table`; measured is the released setting.

    Raises
    ------
    ValueError
        If ``released_settings.csv`` names a cell that the table does not have.
    """
    rules = tables().loc[name, "ledger"]
    rows = published(name) if rows is None else rows
    (study,) = (key for key, about in studies().items() if name in about["tables"])
    known = read(study).query("table == @name").set_index(["row", "column"])
    measured = {}
    for record in rows.to_dict("records"):
        place = tuple(rules[part].format(**record).strip() for part in ("row", "column"))
        if place in known.index:
            found = known.loc[place]
            measured[tuple(record[key] for key in rules["keys"])] = beside(record["value"], found)
    if len(measured) != len(known):
        raise ValueError(
            f"{study}/{FILE}: {len(known) - len(measured)} rows of {name} are no cells of it; correct them"
        )
    return compare_table(name, measured, {"*": ABSENT}, rows)


def beside(printed: str, found: pd.Series) -> dict:
    """A printed setting beside what was released (released, source, note), as `ledger.compare` takes it."""
    expected = found["released"] if same(printed, found["released"]) else printed
    reason = "; ".join(filter(None, [found["note"], found["source"]]))
    return {"value": found["released"], "parameters": {"expected": expected}, "reason": reason}


def contradictions(*names: str) -> pd.DataFrame:
    """Settings that are not as printed, of several tables. Columns: table, row, column, published, measured."""
    whole = pd.concat([settings(name) for name in names])
    return whole.loc[whole["verdict"] == "differs", ["table", "row", "column", "published", "measured"]]
