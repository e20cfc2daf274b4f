"""What is run for the notebook of coupled equations."""

from typing import Any

from ...methods import method
from ...problems import problem, problems
from ...report.ablations import variants
from ...report.comparisons import build_methods
from .ledger import TABLE6
from .params import CoupledEquations


def grids(p: CoupledEquations) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`: ``systems``, every method on every system; ``table6``, gplearn as released.

    Also `bidirectional` as first recorded, see `report.ablations`.
    """
    systems = [problem(id) for id in p.systems or problems("cde")]
    first29 = [system for system in systems if system.id in TABLE6]
    first29 = first29 or [problem(TABLE6[0])]  # where none of them was chosen
    small = {"seeds": p.table6_seeds, "budget": p.budget, "store": p.store}
    methods = build_methods(p.methods, settings=p.settings)
    return {
        "systems": {"problems": systems, "methods": methods, **p.work},
        "table6": {"problems": first29, "methods": [method("gplearn_released")], **small},
        **{name: grid | p.work for name, grid in variants({}, systems, methods).items()},
    }
