"""The studies that there are, found by the ``study.yaml`` in each folder of `rediscover.studies`.

What is below the studies (scoring, report) knows them only through this index, never by name.
"""

import functools
import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

FOLDER = Path(__file__).parents[1] / "studies"


@functools.cache
def studies() -> dict[str, dict[str, Any]]:
    """Key of each study -> what its study.yaml says, in the order of the notebooks.

    Returns
    -------
    dict
        Each value has notebooks, and, for a study of a paper: paper, problems (id prefixes), tables (file in published/
        -> table, notebook, cells, describes) and sections (notebook -> heading -> claims).

    Examples
    --------
    >>> studies()["mdbench"]["problems"]
    ['odes', 'pdes']
    """
    read = {
        path.parent.name: {"problems": [], "tables": {}, "sections": {}}
        | yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in FOLDER.glob("*/study.yaml")
    }
    return dict(sorted(read.items(), key=lambda item: item[1]["notebooks"]))


def module(problems: str, name: str) -> ModuleType:
    """A module of the study that owns the problems with this id prefix, such as its ``scores``.

    Raises
    ------
    KeyError
        If no study has such problems.

    Examples
    --------
    >>> module("pdes", "scores").__name__
    'rediscover.studies.mdbench.scores'
    """
    for key, study in studies().items():
        if problems in study["problems"]:
            return importlib.import_module(f"{__package__.rpartition('.')[0]}.studies.{key}.{name}")
    raise KeyError(f"no study has the problems {problems!r}")
