"""Numbers derived from released files that may not be passed on: committed beside the study that reads them.

Such a study has a module ``derive`` with ``TABLES``, and a folder ``derived`` with a CSV for each: ids and numbers, no
text and no formula. ``sources.yaml`` there names the function that made a file, the SHA-256 of what it was made from,
and the file's own. ``rediscover derive`` makes them again. Analyses read these files, be the sources here or not.
"""

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import yaml
from pandas.api.types import is_numeric_dtype

from .cells import marked, unmarked
from .file_digest import file_digest
from .studies import FOLDER, studies
from .upstream_files import files, unavailable
from .writing import write_text


class Table(NamedTuple):
    """One file: the function that makes it (perhaps with arguments), and the released files that it reads."""

    function: Callable[..., pd.DataFrame]
    repository: str
    paths: tuple[str, ...]
    arguments: tuple = ()

    def made(self) -> pd.DataFrame:
        """The numbers, from the released files; `upstream_files.ReleasedError` if they cannot be had."""
        return self.function(*self.arguments)

    def source(self) -> dict:
        """What sources.yaml says of it, but for the file's own SHA-256."""
        registered = files().set_index(["repository", "path"])["sha256"]
        name = f"{self.function.__module__}.{self.function.__name__}"
        read = {path: str(registered[self.repository, path]) for path in self.paths}
        return {"function": name, "arguments": list(self.arguments), "repository": self.repository, "files": read}


def tables(*chosen: str) -> dict[tuple[str, str], Table]:
    """(study, name of the file) -> `Table`, of the chosen studies, or of all that have any."""
    found: dict[tuple[str, str], Table] = {}
    for key in studies():
        if (FOLDER / key / "derive.py").exists() and key in (chosen or studies()):
            module = importlib.import_module(f"{__package__.rpartition('.')[0]}.studies.{key}.derive")
            found |= {(key, name): table for name, table in module.TABLES.items()}
    if not found:
        raise KeyError(f"no numbers are derived for {', '.join(chosen)}")
    return found


def path(study: str, name: str) -> Path:
    """Where a file is."""
    return FOLDER / study / "derived" / f"{name}.csv"


def read(study: str, name: str) -> pd.DataFrame:
    """The committed numbers of a file; an empty field is NaN."""
    return unmarked(pd.read_csv(path(study, name)))


def digest(study: str, name: str) -> str:
    """SHA-256 of a file."""
    return file_digest(path(study, name))


def write(study: str) -> list[Path]:
    """Make all files of a study again, and sources.yaml.

    Raises
    ------
    upstream_files.ReleasedError
        If a released file cannot be had; what there was stays.
    """
    made = {name: (table, table.made()) for (_, name), table in tables(study).items()}
    said = {}
    for name, (table, frame) in made.items():
        path(study, name).parent.mkdir(exist_ok=True)
        write_text(path(study, name), marked(frame).to_csv(index=False))
        said[name] = table.source() | {"sha256": digest(study, name)}
    text = "# Written by `rediscover derive`: what made each file, of what, and the SHA-256 of both.\n"
    index = path(study, "").with_name("sources.yaml")
    write_text(index, text + yaml.safe_dump(said, sort_keys=False, width=160))
    return [path(study, name) for name in made]


def checked(*chosen: str) -> Iterator[tuple[str, bool | None]]:
    """Each file of the chosen studies made again: a line on how it compares with what is kept, and whether it differs.

    None in place of the latter: its source cannot be had.
    """
    for (study, name), table in tables(*chosen).items():
        if reason := unavailable(table.repository):
            yield f"{study}/{name}: not checked, {reason}", None
            continue
        found = differences(table.made(), read(study, name))
        said = f"{len(found)} differ, such as {found[0]}" if found else "as kept"
        yield f"{study}/{name}: {said}", bool(found)


def differences(made: pd.DataFrame, kept: pd.DataFrame, rtol: float = 1e-9) -> list[str]:
    """Where numbers made again are not the kept ones: ``column, row: made, kept``.

    Examples
    --------
    >>> differences(pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": [2.0, 1.0]}))
    ['a, 0: 1.0, kept 2.0', 'a, 1: 2.0, kept 1.0']
    """
    if made.shape != kept.shape or list(made.columns) != list(kept.columns):
        return [f"made: {made.shape}, {', '.join(made)}; kept: {kept.shape}, {', '.join(kept)}"]
    found = []
    for column in made:
        a, b = made[column], kept[column]
        same = (a == b) | (a.isna() & b.isna())
        if is_numeric_dtype(a) and a.dtype != bool:
            same |= (a - b).abs() <= rtol * b.abs()
        found += [f"{column}, {i}: {a[i]}, kept {b[i]}" for i in same.index[~same]]
    return found
