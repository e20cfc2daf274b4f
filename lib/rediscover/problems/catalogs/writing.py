"""Our own problems as a catalog in symbolic-data's form, for other people's programs."""

from collections.abc import Sequence

import yaml

from ...expressions import Expression
from ...expressions.trees import replace_leaves
from .. import Problem
from ..srbench import Drawn
from .formulas import FAMILIES, SIGNS

TYPES = {family: base for base, family in FAMILIES.items()}
MARKS = {sign: mark for mark, sign in SIGNS.items()}


def text(problems: Sequence[Problem]) -> str:
    """Formulas and ranges as YAML, which `catalogs.read` reads as the same problems.

    Parameters
    ----------
    problems : formulas whose inputs are drawn independently, of one study

    Returns
    -------
    str

    Raises
    ------
    TypeError
        If a problem is of another kind.
    """
    name = problems[0].id.partition("/")[0]
    about = {"name": name, "version": 1, "description": f"{name} as rediscover has it", "sources": [problems[0].source]}
    entries = {problem.id.partition("/")[2]: _entry(problem) for problem in problems}
    return yaml.safe_dump({"metadata": about, "expressions": entries}, sort_keys=False, width=120, allow_unicode=True)


def _entry(problem: Problem) -> dict:
    if not isinstance(problem, Drawn):
        raise TypeError(f"{problem.id} is no formula with independent inputs: write problems such as those of phybench")
    ((output, expression),) = problem.expressions.items()
    places = {name: f"v{i}" for i, name in enumerate(problem.inputs, 1)}
    numbered = Expression(replace_leaves(expression.tree, lambda leaf: (places.get(leaf, leaf),)))
    variables = {place: {"name": name, **_drawn(*problem.samplers[name])} for name, place in places.items()}
    return {
        "raw": str(expression),
        "prepared": str(numbered),
        "n_variables": len(places),
        "rows": list(problem.rows),
        "subset": problem.subset,
        "vars": variables | {"v0": {"name": output}},
    }


def _drawn(family: str, low: float, high: float, *sign: str) -> dict:
    ends = [int(low), int(high) - 1] if family == "integer" else [float(low), float(high)]
    return {"sample_range": ends, "sample_type": [TYPES[family], MARKS[sign]]}
