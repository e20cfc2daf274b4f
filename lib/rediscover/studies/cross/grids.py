"""What is run for the notebook that scores every method by every paper's definitions."""

from typing import Any

from ...report.comparisons import build_methods
from .analysis import tabular_problems
from .params import CrossScoring


def grids(p: CrossScoring) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`: ``problems``, a sample of each study, and the same for each smaller budget."""
    problems = tabular_problems(p.problems)
    planned = {"problems": {"problems": problems, "methods": build_methods(p.methods, max_rows=p.max_rows), **p.work}}
    for n in sorted({n for fewer in p.fewer_evaluations.values() for n in fewer}):
        names = [name for name, fewer in p.fewer_evaluations.items() if n in fewer]
        methods = build_methods(names, max_rows=p.max_rows)
        work = p.work | {"evaluations": dict.fromkeys(names, n)}
        planned[f"{n} evaluations"] = {"problems": problems, "methods": methods, **work}
    return planned
