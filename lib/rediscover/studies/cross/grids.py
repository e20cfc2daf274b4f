"""What is run for the notebook that scores every method by every paper's definitions."""

from typing import Any

from ...report.comparisons import build_methods
from .analysis import tabular_problems
from .params import CrossScoring


def grids(p: CrossScoring) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`: ``problems``, a sample of each study, and another for each number of evaluations."""
    problems = tabular_problems(p.problems)
    planned = {"problems": {"problems": problems, "methods": build_methods(p.methods, max_rows=p.max_rows), **p.work}}
    problems = tabular_problems(p.budget_problems)
    for n in sorted({n for counts in p.budgets.values() for n in counts}):
        names = [name for name, counts in p.budgets.items() if n in counts]
        work = p.work | {"seeds": p.budget_seeds, "evaluations": dict.fromkeys(names, n)}
        methods = build_methods(names, max_rows=p.max_rows)
        planned[f"{n} evaluations"] = {"problems": problems, "methods": methods, **work}
    return planned
