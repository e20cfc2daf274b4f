"""What is run for the notebook of coupled equations."""

from typing import Any

from ...problems import problem, problems
from ...report.comparisons import build_methods
from .params import CoupledEquations


def grids(p: CoupledEquations) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`: ``systems``, every method on every system."""
    systems = [problem(id) for id in p.systems or problems("cde")]
    return {"systems": {"problems": systems, "methods": build_methods(p.methods, settings=p.settings), **p.work}}
