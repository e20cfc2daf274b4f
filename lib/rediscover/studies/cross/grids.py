"""What is run for the notebook that scores every method by every paper's definitions."""

from typing import Any

from ...report.comparisons import build_methods
from .analysis import tabular_problems
from .params import CrossScoring


def grids(p: CrossScoring) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`: ``problems``, a sample of each study."""
    methods = build_methods(p.methods, max_rows=p.max_rows)
    return {"problems": {"problems": tabular_problems(p.problems), "methods": methods, **p.work}}
