"""What is run for the notebooks of ordinary and partial differential equations."""

import math
from typing import Any

from ...problems import problem, problems
from ...problems.pdes import coarser
from ...report import budgets
from ...report.ablations import variants
from ...report.comparisons import build_methods
from ...runs.selection import Fittest
from .analysis import LINEAR
from .params import Dynamics, ODEs, PDEs


def grids(p: Dynamics) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`: ``odes``; without noise ``clean`` and ``packages``; or those of fields, `of_fields`.

    Also ``fronts`` of Operon in its own order, the variants of `bidirectional`, see `report.ablations`, and, of ODEs,
    several numbers of evaluations, see `report.budgets`.
    """
    if isinstance(p, PDEs):
        return of_fields(p)
    assert isinstance(p, ODEs)
    clean = [db for db in p.snr_db if math.isinf(db)]
    levels = {"odes": (p.methods, p.snr_db), "clean": (p.clean_methods, clean), "packages": (p.packages, clean)}
    planned = {}
    for name, (methods, decibels) in levels.items():
        if systems := [problem(id, snr_db=db) for db in decibels for id in p.systems or problems("odes") if methods]:
            planned[name] = {"problems": systems, "methods": fittest(methods, p), **p.work}
    plain = build_methods(["operon"], settings=p.settings)
    planned["fronts"] = {"problems": [problem(id) for id in p.front_systems], "methods": plain, **p.work}
    own = variants(p.ablated, planned["odes"]["problems"], build_methods(p.methods, settings=p.settings))
    for name, grid in own.items():
        planned[name] = {**grid, "methods": [Fittest(method) for method in grid["methods"]], **p.work}
    return planned | budgets.grids(map(problem, p.budget_problems or problems("odes")), p)


def fittest(names: list[str], p: Dynamics) -> list[Fittest]:
    """Methods whose candidate of highest fitness is the answer."""
    return [Fittest(method) for method in build_methods(names, settings=p.settings)]


def of_fields(p: PDEs) -> dict[str, dict[str, Any]]:
    """``linear`` methods; on the split in space ``tabular clean`` and ``noisy``; ``heavy`` systems, ``coarse`` grids.

    ``packages`` run on clean fields that are neither heavy nor coarse, on the split of the linear methods.

    Also `bidirectional` as first recorded, on the fields of the linear methods, see `report.ablations`.

    Methods that see clean fields alone share a grid with others: where one refuses all its systems, what a failure
    scores is known from theirs.
    """
    coarse = [id for id in p.coarse_grid if id in coarser()]
    heavy = [id for id in p.coarse_grid if id not in coarse]
    whole = p.systems or [id for id in problems("pdes") if id not in p.coarse_grid]
    small: dict[str, dict] = {m: p.settings.get(m, {}) | p.linear_settings for m in p.methods if m in LINEAR}
    tabular = fittest(p.tabular_methods, p)
    clean = fittest([name for name in p.clean_methods if name not in p.tabular_methods], p)
    without_noise, noisy = ([level for level in p.snr_db if math.isinf(level) == kept] for kept in (True, False))
    space = {"split": "space", "stencil": "direct", "max_rows": p.max_rows}
    planned = {}
    for name, ids, settings, grid in [
        ("", whole, p.settings, {}),
        ("heavy ", heavy, p.settings | small, {}),
        ("coarse ", coarse, p.settings | small, {"reduced": True}),
    ]:
        linear = build_methods(p.methods, settings=settings)
        for kind, methods, view, levels in (
            ("linear", linear, {}, p.snr_db),
            ("tabular clean", tabular + clean, space, without_noise),
            ("tabular noisy", tabular, space, noisy),
        ):
            seen = [problem(id, snr_db=level, **view, **grid) for level in levels for id in ids]
            if seen and methods:
                planned[name + kind] = {"problems": seen, "methods": methods, **p.work}
    every = [field for name, grid in planned.items() if name.endswith("linear") for field in grid["problems"]]
    if p.packages and (seen := [problem(id) for id in whole]) and without_noise:
        packages = build_methods(p.packages, settings=p.settings)
        planned["packages"] = {"problems": seen, "methods": packages, **p.work}
    own = variants({}, every, build_methods(p.methods, settings=p.settings))
    return planned | {name: grid | p.work for name, grid in own.items()}
