"""What is run for the notebook of surfaces."""

import dataclasses
from typing import Any

from ...problems import problem, problems
from ...report import budgets
from ...report.ablations import variants
from ...report.comparisons import build_methods
from ...report.tables import CONTROLS
from .params import Surfaces


def grids(p: Surfaces) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`: ``clean`` and ``one output``, without noise; ``noise``, some at several levels.

    Also the variants of `bidirectional`, see `report.ablations`, and several numbers of evaluations, see
    `report.budgets`.
    """
    methods = build_methods(p.methods, max_rows=p.max_rows, settings=p.settings)
    clean = [problem(id, sampler=p.sampler) for id in p.surfaces or problems("surfaces")]
    single = [surface for surface in clean if surface.subset != "parametric"]
    explicit = [surface for surface in clean if surface.subset == "explicit"]
    noisy = [problem(id, sampler=p.sampler) for id in p.noise_surfaces] or explicit
    fitting = [method for method in methods if method.name not in CONTROLS and not method.available()]
    searched = [problem(id, sampler=p.sampler) for id in p.budget_problems or problems("surfaces")]
    searched = [surface for surface in searched if surface.subset == "explicit"]
    leveled = [dataclasses.replace(each, noise=level) for level in p.relative_noise if level for each in noisy]
    others = [name for name in p.clean_methods if name not in p.methods]
    others = build_methods(others, max_rows=p.max_rows, settings=p.settings)
    return {
        "clean": {"problems": clean, "methods": methods, **p.work},
        **({"one output": {"problems": single, "methods": others, **p.work}} if others else {}),
        "noise": {"problems": noisy, "methods": fitting, "noise": p.relative_noise, **p.work, "seeds": p.noise_seeds},
        **{name: {**grid, **p.work} for name, grid in variants(p.ablated, clean + leveled, methods).items()},
        **budgets.grids(searched, p),
    }
