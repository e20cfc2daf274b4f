"""What is run for the notebooks of ordinary and partial differential equations."""

from typing import Any

from ...problems import problem, problems
from ...report.comparisons import build_methods
from ...runs.selection import Fittest
from .params import Dynamics, ODEs


def grids(p: Dynamics) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`: ``odes``, every system at every level of noise."""
    if not isinstance(p, ODEs):
        return {}
    systems = [problem(id, snr_db=level) for level in p.snr_db for id in p.systems or problems("odes")]
    methods = [Fittest(method) for method in build_methods(p.methods, settings=p.settings)]
    work = {"seeds": p.seeds, "budget": p.budget, "evaluations": p.evaluations_by_method, "store": p.store}
    return {"odes": {"problems": systems, "methods": methods, **work}}
