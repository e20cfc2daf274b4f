"""What is run for the notebooks of ordinary and partial differential equations."""

from typing import Any

from ...problems import problem, problems
from ...problems.pdes import coarser
from ...report.comparisons import build_methods
from ...runs.selection import Fittest
from .analysis import LINEAR
from .params import Dynamics, ODEs, PDEs


def grids(p: Dynamics) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`: ``odes``, every system at every level of noise; or those of fields, see `of_fields`."""
    if isinstance(p, PDEs):
        return of_fields(p)
    assert isinstance(p, ODEs)
    systems = [problem(id, snr_db=level) for level in p.snr_db for id in p.systems or problems("odes")]
    methods = [Fittest(method) for method in build_methods(p.methods, settings=p.settings)]
    return {"odes": {"problems": systems, "methods": methods, **p.work}}


def of_fields(p: PDEs) -> dict[str, dict[str, Any]]:
    """``linear`` methods and, on the split in space, ``tabular`` ones; ``heavy`` systems, ``coarse`` grids."""
    coarse = [id for id in p.coarse_grid if id in coarser()]
    heavy = [id for id in p.coarse_grid if id not in coarse]
    whole = p.systems or [id for id in problems("pdes") if id not in p.coarse_grid]
    small: dict[str, dict] = {m: p.settings.get(m, {}) | p.linear_settings for m in p.methods if m in LINEAR}
    tabular = [Fittest(method) for method in build_methods(p.tabular_methods, settings=p.settings)]
    space = {"split": "space", "stencil": "direct", "max_rows": p.max_rows}
    planned = {}
    for name, ids, settings, grid in [
        ("", whole, p.settings, {}),
        ("heavy ", heavy, p.settings | small, {}),
        ("coarse ", coarse, p.settings | small, {"reduced": True}),
    ]:
        linear = build_methods(p.methods, settings=settings)
        for kind, methods, view in (("linear", linear, {}), ("tabular", tabular, space)):
            seen = [problem(id, snr_db=level, **view, **grid) for level in p.snr_db for id in ids]
            if seen:
                planned[name + kind] = {"problems": seen, "methods": methods, **p.work}
    return planned
