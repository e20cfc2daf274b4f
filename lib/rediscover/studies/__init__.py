"""One folder a study: what it scores, computes and claims, with the numbers that its paper prints."""

import importlib
from collections.abc import Sequence
from typing import Any

from ..params import read
from ..problems import problem
from ..report.comparisons import build_methods
from ..runs import plan
from ..runs.run import Run
from ..system.committed import committed
from ..system.studies import FOLDER, owner, studies


def planned(notebook: str, profile: str = "reference") -> list[Run]:
    """The runs that a notebook asks for; none if its study has no module ``grids``.

    Parameters
    ----------
    notebook : such as ``10_surface_benchmark``
    profile : str

    Returns
    -------
    list of Run
    """
    [key] = [key for key, study in studies().items() if notebook in study["notebooks"]]
    grids = _grids(key, read(committed("params") / f"{notebook}.yaml", profile))
    return [run for chosen in grids.values() for run in plan(**{k: v for k, v in chosen.items() if k != "store"})]


def _grids(key: str, parameters: Any) -> dict[str, dict[str, Any]]:
    """What the study's module ``grids`` plans; nothing where it has none."""
    if not (FOLDER / key / "grids.py").exists():
        return {}
    return importlib.import_module(f"{__name__}.{key}.grids").grids(parameters)


def _ids(value: Any, prefix: str) -> bool:
    """Whether the value of a parameter is a list of ids of these problems."""
    return isinstance(value, list) and all(str(item).startswith(f"{prefix}/") for item in value)


def notebooks() -> list[str]:
    """All notebooks that belong to a study."""
    return sorted(name for study in studies().values() for name in study["notebooks"])


def asked(ids: Sequence[str], methods: Sequence[str], profile: str, seeds: Sequence[int] = ()) -> dict[str, Any]:
    """Arguments of `runs.grid` for methods on some problems of a study, as its notebook runs them first, on clean data.

    Parameters
    ----------
    ids : of problems with one prefix
    methods : names
    profile : str
    seeds : by default the profile's

    Returns
    -------
    dict
        With problems, methods, seeds, budget, evaluations, and store, where the notebook keeps its runs.
    """
    prefix = ids[0].partition("/")[0]
    key = owner(prefix)
    for notebook in studies()[key]["notebooks"]:
        file = committed("params") / f"{notebook}.yaml"
        chosen: dict[str, list] = {
            name: [] for name, value in read(file, profile) if _ids(value, prefix) and "sample" not in name
        }  # an empty list means all, but of a sample, which is never empty
        changed = {"methods": [*methods], **chosen} | ({"seeds": [*seeds]} if seeds else {})
        p: Any = read(file, profile, **changed)
        for grid in _grids(key, p).values():
            listed = [problem(each) if isinstance(each, str) else each for each in grid["problems"]]
            first = {each.id: each for each in reversed(listed)}
            if {*ids} <= {*first}:
                beside = {*getattr(p, "opponents", ())} - {*methods}
                chosen_methods = [each for each in grid["methods"] if each.name not in beside]
                return {**grid, "problems": [first[id] for id in ids], "methods": chosen_methods}
    built = build_methods(p.methods, settings=getattr(p, "settings", None), max_rows=getattr(p, "max_rows", None))
    return {"problems": [problem(id) for id in ids], "methods": built, **p.work}
