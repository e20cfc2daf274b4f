"""What is run for the notebook of physical laws."""

from typing import Any

from ...problems import problem, problems
from ...report import budgets
from ...report.ablations import variants
from ...report.comparisons import build_methods
from .params import Laws


def grids(p: Laws) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`, by block.

    ``laws``; ``noise``, the easy ones at several levels; ``fsrd``, on original ranges; ``dummies``, with input columns
    that the law does not have. Also the variants of `bidirectional`, see `report.ablations`, and several numbers of
    evaluations, see `report.budgets`.
    """
    ids = p.laws or problems("srsd")
    laws = [problem(id, ranges=p.ranges) for id in ids]
    methods = build_methods(p.methods, max_rows=p.max_rows, settings=p.settings)
    ablation, beside_dummies = (
        [method for method in methods if method.name in names] for names in (p.ablation_methods, p.dummy_methods)
    )
    with_dummies = [problem(id, ranges=p.ranges, dummies=True) for id in ids]
    easy = [law for law in laws if law.subset == "easy"]
    return {
        "laws": {"problems": laws, "methods": methods, **p.work},
        "noise": {"problems": easy, "methods": ablation, "noise": p.relative_noise, **p.work},
        "fsrd": {"problems": [problem(id, variant="fsrd") for id in ids], "methods": ablation, **p.work},
        "dummies": {"problems": with_dummies, "methods": beside_dummies, **p.work},
        **{name: {**grid, **p.work} for name, grid in variants(p.ablated, laws, methods).items()},
        **budgets.grids([problem(id, ranges=p.ranges) for id in p.budget_problems or problems("srsd")], p),
    }
