"""One folder a study: what it scores, computes and claims, with the numbers that its paper prints."""

import importlib
from collections.abc import Sequence
from typing import Any

from ..params import read
from ..problems import Problem, problem
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


def _all_if_empty(p: Any, name: str, prefix: str) -> bool:
    """Whether a parameter is a list of ids of these problems that means all of them if it is empty."""
    value, limits = getattr(p, name), type(p).model_fields[name].metadata
    ids = isinstance(value, list) and all(str(item).startswith(f"{prefix}/") for item in value)
    return ids and not any(getattr(limit, "min_length", 0) for limit in limits)


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
        p: Any = read(file, profile)
        whole: dict[str, list] = {name: [] for name, _ in p if _all_if_empty(p, name, prefix)}
        p = read(file, profile, methods=[*methods], **whole, **({"seeds": [*seeds]} if seeds else {}))
        grids = [(grid, _listed(grid["problems"])) for grid in _grids(key, p).values()]
        grids = [(grid, listed) for grid, listed in grids if {*ids} <= {*listed}]
        if grids:
            grid, listed = max(grids, key=lambda each: len(each[1]))  # the first of those with most problems
            chosen = [each if isinstance(each := listed[id], Problem) else problem(each) for id in ids]
            return _clean(grid, methods, p) | {"problems": chosen} | ({"seeds": [*seeds]} if seeds else {})
    built = build_methods(p.methods, settings=getattr(p, "settings", None), max_rows=getattr(p, "max_rows", None))
    return {"problems": [problem(id) for id in ids], "methods": built, **p.work}


def _listed(problems: Sequence[str | Problem]) -> dict[str, str | Problem]:
    """Problems of a grid by id, each as it comes first."""
    return {each if isinstance(each, str) else each.id: each for each in reversed(problems)}


def _clean(grid: dict[str, Any], methods: Sequence[str], p: Any) -> dict[str, Any]:
    """A grid without its levels of noise, and without the opponents that its study puts beside other methods."""
    beside = {*getattr(p, "opponents", ())} - {*methods}
    built = [each for each in grid["methods"] if each.name not in beside]
    once = [each for i, each in enumerate(built) if each not in built[:i]]  # one that is an opponent, too
    return {name: value for name, value in grid.items() if name != "noise"} | {"methods": once}
