"""Fresh problems in this study: what runs on them by the rules of ``fresh.yaml``, and what they are beside benchmarks.

``python -m rediscover.studies.outside.fresh`` writes the comparison into docs/outside.md.
"""

from typing import Any, Literal

import numpy as np
import pandas as pd

from ...expressions import Expression
from ...expressions.trees import UNARY, is_number, leaves, postfix
from ...problems import Problem, facts, fresh, problem, problems
from ...report.comparisons import build_methods
from ...report.pages import put
from ...system import arguments
from .params import Outside
from .sample import rules as laid_down
from .sample import some

BENCHMARKS = ("surfaces", "srsd", "srbench", "lsr", "phybench")
PAGE, MARK = "docs/outside.md", "<!--distribution of fresh problems-->"
PERIODIC = {"sin", "cos", "tan"}
STEPS = {"where", "floor", "ceil", "mod", "abs", "sign", "min", "max"}


def rules() -> dict[str, Any]:
    """What was laid down before the draw."""
    return laid_down("fresh")


def sample() -> list[str]:
    """Ids that opponents run on, drawn by the seed of the rules without replacement.

    Examples
    --------
    >>> len(sample())
    50
    """
    return some(problems("fresh", rules()["draw"]), rules()["sample"], rules()["seed"], "fresh")


def grids(p: Outside) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`, by block: ``fresh_sample`` (all), ``fresh`` (our own on the rest), ``early_fresh``.

    ``fresh_added`` has opponents that came after results had been read. A block ``later NAME`` has a later version of
    our own method beside the frozen one, on the sample of its own draw: on as many of it as `p` has problems, where it
    has any. ``opponents of NAME`` has the opponents there, at the same levels of noise.

    Parameters
    ----------
    p : parameters of the study, whose budgets and opponents are those of the rules
    """
    own, others = (build_methods(names, max_rows=p.max_rows) for names in (p.methods, p.opponents))
    shared = {**p.work, "noise": p.fresh_noise or rules()["relative_noise"], "seeds": rules()["seeds"]}
    sampled = {**shared, "problems": p.fresh or sample()}
    rest = [id for id in p.fresh or problems("fresh", rules()["draw"]) if id not in sampled["problems"]]
    read_early = [method for method in (*own, *others) if method.name in p.early]
    later = {name: {**p.work, **_later(p, name)} for name in rules()["later"]}
    return {
        **{f"later {name}": block for name, block in later.items()},
        **{f"opponents of {name}": {**block, "methods": others} for name, block in later.items()},
        "early_fresh": {**sampled, "methods": read_early, "evaluations": p.early},
        "fresh_sample": {**sampled, "methods": [*own, *others]},
        "fresh_added": {**sampled, **added(p, "fresh")},
        "fresh": {**shared, "problems": rest, "methods": own if rest else []},
    }


def added(p: Outside, to: Literal["fresh", "flows", "sample"]) -> dict[str, Any]:
    """Opponents that came after results had been read, with their evaluations, as arguments of `runs.grid`."""
    evaluations = p.added.get(to) or {}
    return {"methods": build_methods(list(evaluations), max_rows=p.max_rows), "evaluations": evaluations}


def _later(p: Outside, name: str) -> dict[str, Any]:
    laid, row = rules(), rules()["later"][name]
    chosen = some(problems("fresh", row["draw"]), laid["sample"], laid["seed"], "fresh")[: len(p.fresh) or None]
    methods = build_methods([*p.methods, name], max_rows=p.max_rows)
    return {"problems": chosen, "methods": methods, "noise": p.fresh_noise or row["noise"], "seeds": laid["seeds"][:1]}


def shape(expressions: list[Expression]) -> dict[str, Any]:
    """Size of expressions, added up: nodes, operators, numbers; and which functions they have.

    Examples
    --------
    >>> from rediscover.expressions import parse
    >>> shape([parse("2*x + sin(y)")]) | {"functions": 0}
    {'nodes': 6, 'operators': 3, 'numbers': 1, 'functions': 0}
    """
    labels = [label for expression in expressions for label in postfix(expression.tree)]
    inner = [label for label, children in labels if children]
    numbers = sum(not children and is_number(label) for label, children in labels)
    return {"nodes": len(labels), "operators": len(inner), "numbers": numbers, "functions": set(inner)}


def distribution(draws: tuple[str, ...] = ()) -> pd.DataFrame:
    """What fresh problems are like beside the benchmarks: inputs, size and functions of their formulas.

    Parameters
    ----------
    draws : names of draws; by default those that are listed

    Returns
    -------
    DataFrame
        Index: set. Columns: problems, distinct (formulas up to names of inputs and values of numbers), inputs,
        operators, nodes, numbers (``median (10 % to 90 %)`` each), and the shares with a periodic function, with
        exp, log or a hyperbolic function, with a root or a power that is not whole, and with steps or corners.
    """
    sets = {f"fresh, {part}": _of_draws(draws, part) for part in ("surfaces", "physics")}
    sets |= {name: [problem(id) for id in problems(name)] for name in BENCHMARKS}
    return pd.DataFrame({name: _described(found) for name, found in sets.items()}).T.rename_axis("set")


def _of_draws(draws: tuple[str, ...], part: str) -> list[Problem]:
    names = draws or tuple(about["name"] for about in fresh.draws())
    known = facts("fresh")[part]["families"]
    return [p for name in names for p in fresh.draw(name) if p.family in known]


def _described(found: list[Problem]) -> dict[str, str]:
    shapes = [shape(list(p.expressions.values())) | {"inputs": len(p.inputs)} for p in found]
    functions = [s["functions"] for s in shapes]
    skeletons = {" | ".join(map(_form, p.expressions.values())) for p in found}
    smooth = set(UNARY) - PERIODIC - STEPS - {"sqrt", "cbrt"}
    return {
        "problems": str(len(found)),
        "distinct": str(len(skeletons)),
        **{name: _spread([s[name] for s in shapes]) for name in ("inputs", "operators", "nodes", "numbers")},
        "periodic": _share(functions, PERIODIC),
        "exp, log, hyperbolic": _share(functions, smooth),
        "roots": _share(functions, {"sqrt", "cbrt"}),
        "steps, corners": _share(functions, STEPS),
    }


def _form(expression: Expression) -> str:
    """The skeleton with inputs named in the order of appearance."""
    names = dict.fromkeys(leaf for leaf in leaves(expression.tree) if leaf in expression.names)
    return expression.substitute({name: f"v{i}" for i, name in enumerate(names)}).skeleton()


def _spread(values: list[float]) -> str:
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    return f"{middle:.0f} ({low:.0f} to {high:.0f})"


def _share(functions: list[set], wanted: set) -> str:
    return f"{100 * np.mean([bool(found & wanted) for found in functions]):.0f} %"


if __name__ == "__main__":
    arguments.none(__doc__)
    put(distribution().reset_index(), PAGE, MARK)
