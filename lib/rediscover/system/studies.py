"""The studies that there are, found by the ``study.yaml`` in each folder of `rediscover.studies`.

What is below the studies (scoring, report) knows them only through this index, never by name.
"""

import functools
import importlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from .file_digest import file_digest

FOLDER = Path(__file__).parents[1] / "studies"


@functools.cache
def studies() -> dict[str, dict[str, Any]]:
    """Key of each study -> what its study.yaml says, in the order of the notebooks.

    Returns
    -------
    dict
        Each value has notebooks, and, for a study of a paper: paper, problems (id prefixes), scored (prefixes of what
        else its rules score), tables (file in published/ -> table, notebook, cells, describes) and sections (notebook
        -> heading -> claims).

    Examples
    --------
    >>> studies()["mdbench"]["problems"]
    ['odes', 'pdes']
    """
    read = {
        path.parent.name: {"problems": [], "scored": [], "tables": {}, "sections": {}}
        | yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in FOLDER.glob("*/study.yaml")
    }
    return dict(sorted(read.items(), key=lambda item: item[1]["notebooks"]))


def module(problems: str, name: str) -> ModuleType:
    """A module of the study that owns the problems with this id prefix, such as its ``scores``.

    Examples
    --------
    >>> module("pdes", "scores").__name__
    'rediscover.studies.mdbench.scores'
    """
    return importlib.import_module(f"{__package__.rpartition('.')[0]}.studies.{owner(problems)}.{name}")


def of_notebook(name: str) -> str:
    """Key of the study that a notebook belongs to.

    Examples
    --------
    >>> of_notebook("41_mdbench_pdes")
    'mdbench'
    """
    return next(key for key, about in studies().items() if name in about["notebooks"])


def owner(problems: str) -> str:
    """Key of the study that owns the problems with this id prefix, or whose rules score them.

    Raises
    ------
    KeyError
        If no study has such problems.
    """
    for key, study in studies().items():
        if problems in study["problems"] or problems in study["scored"]:
            return key
    known = [prefix for study in studies().values() for prefix in study["problems"]]
    raise KeyError(f"no study has the problems {problems!r} (known: {', '.join(known)})")


def rules(problems: str) -> str:
    """Digest of the rules that are written down for problems with this id prefix.

    They are in ``rules.yaml`` of their study, or in the file that its study.yaml names for the prefix under ``rules``.
    Each record carries it, so that what a run is judged by is known to have been written before the run.

    Returns
    -------
    str
        Sixteen hexadecimal digits; empty where there are no rules, or the problems are of no study.

    Examples
    --------
    >>> rules("odes"), len(rules("lsr"))
    ('', 16)
    """
    for key, study in studies().items():
        path = FOLDER / key / study.get("rules", {}).get(problems, "rules.yaml")
        if problems in study["problems"] and path.exists():
            return file_digest(path)[:16]
    return ""


def stated_measures() -> dict[str, dict[str, Any]]:
    """Id prefix -> what stands for the scores of its problems, as far as studies state it.

    Examples
    --------
    >>> stated_measures()["surfaces"]["table"]
    'surfaces_scores'
    """
    return {prefix: about for study in studies().values() for prefix, about in _stated(study).items()}


def _stated(study: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {**study.get("everywhere", {}), **study.get("shown", {})}


def measures_of(problems: str) -> dict[str, Any]:
    """What stands for the scores of these problems: table (of tables/), and measures, what is decisive first.

    Examples
    --------
    >>> measures_of("surfaces")["measures"]
    ['symbolic_accuracy', 'nmse_variance']
    """
    rules = _stated(studies()[owner(problems)])
    if problems not in rules:
        line = f"shown: {{{problems}: {{table: {problems}_scores, measures: [...]}}}}"
        own = f"of a study of your own, write `{line}` into its study.yaml"
        raise KeyError(f"no scores of {problems} are shown: `run --problems {problems}` runs them without; {own}")
    stated = rules[problems]
    measures = [stated.get(name) for name in ("recovered", "error", "r_squared")]
    return {"measures": list(dict.fromkeys(filter(None, measures))), **stated}
