"""Chaotic flows in this study: what runs on them by the rules of ``flows.yaml``."""

from typing import Any

from ...problems import problems
from ...report.comparisons import build_methods
from ...runs.selection import Fittest
from .fresh import added
from .params import Outside
from .sample import rules, some


def sample() -> list[str]:
    """Ids of the flows that all methods run on, drawn by the seed of the rules without replacement.

    Examples
    --------
    >>> len(sample())
    40
    """
    laid = rules("flows")
    return some(problems("flows"), laid["sample"], laid["seed"], "flows")


def grids(p: Outside) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`, by block, all on the same flows: ``flows`` (our own method) and ``flows_opponents``.

    Opponents are those of the rules. Of their candidates for an equation the one of highest fitness counts. In
    ``flows_added`` is one that came after results had been read.

    Parameters
    ----------
    p : parameters of the study, whose budgets are those of the rules
    """
    laid = rules("flows")
    shared = {**p.work, "problems": p.flows or sample(), "noise": laid["noise"], "seeds": laid["seeds"]}
    others = build_methods(laid["opponents"], max_rows=p.max_rows, settings=laid["settings"])
    early = {name: p.early[name] for name in laid["registered"]["evaluations_by_method"] if name in p.early}
    shared["evaluations"] = {**shared["evaluations"], **early}  # each equation has as many
    return {
        "flows": {**shared, "methods": build_methods(p.methods, max_rows=p.max_rows)},
        "flows_opponents": {**shared, "methods": [Fittest(method) for method in others]},
        "flows_added": {**shared, **added(p, "flows")},
    }
