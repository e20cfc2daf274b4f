"""What is run for the notebook of Boolean networks, but for the Cell Collective's."""

from typing import Any

from ...methods import method
from ...problems import problem, problems
from ...report.comparisons import build_methods
from .params import BooleanNetworks

SMALL = {"population": 15, "generations": 15, "elites": 3}  # LogicGEP as in Table 7


def grids(p: BooleanNetworks) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`.

    ``networks``; ``complete``, the same with all transitions and the first seed; ``small logicgep``.
    """
    networks = [problem(id) for id in p.networks or problems("boolean", "symbolbench")]
    complete = [problem(network.id, transitions="complete") for network in networks]
    methods, first = build_methods(p.methods), {"seeds": p.seeds[:1]}
    return {
        "networks": {"problems": networks, "methods": methods, **p.work},
        "complete": {"problems": complete, "methods": methods, **p.work, **first},
        "small logicgep": {"problems": networks, "methods": [method("logicgep", **SMALL)], **p.work},
    }
