"""Chaotic flows in this study: what runs on them, by the rules of ``flows.yaml``."""

from typing import Any

from ...problems import problems
from ...report.comparisons import build_methods
from .params import Outside
from .sample import rules, some


def sample() -> list[str]:
    """Ids of the flows, drawn by the seed of the rules without replacement.

    Examples
    --------
    >>> len(sample())
    30
    """
    laid = rules("flows")
    return some(problems("flows"), laid["sample"], laid["seed"], "flows")


def grids(p: Outside) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`: ``flows``, for our own method and the opponents of the rules.

    Parameters
    ----------
    p : parameters of the study, whose budgets are those of the rules
    """
    methods = build_methods([*p.methods, *p.flow_opponents], max_rows=p.max_rows)
    noise = p.flow_noise or rules("flows")["relative_noise"]
    return {"flows": {**p.work, "problems": p.flows or sample(), "methods": methods, "noise": noise}}
