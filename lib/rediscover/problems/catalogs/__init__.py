"""Catalogs of other people as problems: formulas with the ranges of their inputs, and tables with their formula.

`read` takes

- the YAML of symbolic-data and of FastSRB, in which an entry has ``prepared``, a formula of v1, v2, ..., and ``vars``;
- a table (CSV, TSV) with a row for each formula: ``name``, ``formula`` and ``variables``, such as
  ``m in [1, 5], v in log [0.1, 10]``; or the Feynman database's columns, ``v1_name``, ``v1_low``, ``v1_high``;
- SRBench's ``metadata.yaml`` beside its table, or a folder of such folders.

Formulas are read by the library's own parser; nothing of a file is executed. An entry that cannot be used is left out,
and `Catalog.refused` says why in one sentence. (A package, as each module beside it is a study.)
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from ...system.writing import one_line
from .. import Problem, did_you_mean

__all__ = ["Catalog", "read"]

TABLES = "tables"  # the name of SRBench's data sets as a catalog, wherever their folder lies


@dataclass(frozen=True)
class Catalog:
    """What could be read of a file.

    Attributes
    ----------
    name : of the catalog, the first part of its problems' ids
    entries : id -> problem, in the order of the file
    refused : id -> why the entry is left out, a sentence that names it
    """

    name: str
    entries: dict[str, Problem] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def ids(self, subset: str | None = None) -> list[str]:
        """Ids of the problems, optionally of one subset.

        Raises
        ------
        KeyError
            If there is no such subset.
        """
        known = list(dict.fromkeys(problem.subset for problem in self.entries.values() if problem.subset))
        if subset is not None and subset not in known:
            raise KeyError(f"{self.name} has no subset {subset!r} (subsets: {', '.join(known) or 'none'})")
        return [id for id, problem in self.entries.items() if subset in (None, problem.subset)]

    def problem(self, id: str, **options: Any) -> Problem:
        """One problem by its id, or by the part behind the catalog's name.

        Raises
        ------
        KeyError
            If there is none; the message offers the nearest name.
        ValueError
            If the entry is left out; the message says why.
        """
        for whole in (id, f"{self.name}/{id}"):
            if whole in self.refused:
                raise ValueError(self.refused[whole])
            if whole in self.entries:
                return replace(self.entries[whole], **options)
        short = {whole.partition("/")[2] for whole in self.entries}
        raise KeyError(f"{self.name} has no entry {id!r}{did_you_mean(id, [*self.entries, *short])}")


def read(path: str | Path) -> Catalog:
    """The problems of a catalog.

    Parameters
    ----------
    path : of a YAML file, a table of formulas, SRBench's metadata.yaml, or a folder with such

    Returns
    -------
    Catalog

    Raises
    ------
    ValueError
        If this is no catalog, or none of its entries can be used.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no catalog {path}: name a YAML file, a table of formulas or a folder")
    name, found = _named(path)
    catalog = Catalog(name)
    for entry, make in found:
        id = f"{name}/{entry}"
        if id in catalog.entries or id in catalog.refused:
            catalog.refused[f"{id} (again)"] = f"{id} is left out: an entry before it has its name"
            continue
        try:
            catalog.entries[id] = make(id)
        except (ValueError, TypeError, RuntimeError) as error:
            catalog.refused[id] = f"{id} is left out: {one_line(str(error))}"
    if not catalog.entries:
        first = next(iter(catalog.refused.values()), "it has no entries")
        raise ValueError(f"nothing in {path} can be used: {first}")
    return catalog


Entries = Iterable[tuple[str, Callable[[str], Problem]]]


def _named(path: Path) -> tuple[str, Entries]:
    """The name of a catalog, and for each entry a function that makes its problem."""
    from . import formulas, measured

    if path.is_dir():
        files = sorted([*path.glob("metadata.yaml"), *path.glob("*/metadata.yaml")])
        return TABLES, [(file.resolve().parent.name, measured.maker(file)) for file in files]
    if path.suffix.lower() not in (".yaml", ".yml"):
        return path.stem, formulas.rows(path)
    try:
        held = yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no YAML: {one_line(str(error))}") from None
    if not isinstance(held, dict):
        raise ValueError(f"{path} is no catalog: it should map names to formulas with their variables")
    if measured.describes(held):
        return TABLES, [(path.resolve().parent.name, measured.maker(path))]
    return formulas.catalog(held, path.stem)
