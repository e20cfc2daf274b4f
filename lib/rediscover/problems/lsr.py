"""LSR-Transform of LLM-SRBench (arXiv:2504.10415): 111 times a law of the Feynman database, solved for an input.

The benchmark's tables are not passed on, so these are stand-in data: the law's inputs are uniform in the ranges of the
database, the law's value is computed, the input that the name says is the target, and the inputs are the others in
the order of the database, then the law's value. Every row lies on the law, so that no branch is lost. Names are
anonymous. The reference is SymPy's solution of the number that the name says, in SymPy's order
(``data/lsr_solutions.yaml``, made by ``python -m rediscover.problems.lsr``); it solves all of them. For 13 names
that solution has another sign than the rows, which is a constant factor. On four, the subset ``both branches``, some
rows lie on one solution and some on another, so that none of them holds on all.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from ..expressions import ExpressionError, from_sympy, parse
from ..system.given_up import attempt
from ..system.writing import write_text
from . import Split, facts
from .srbench import LAW_ROWS, Drawn, feynman, formula, samplers

SOLUTIONS = "lsr_solutions"
BRANCHES = ("one branch", "both branches")  # that the rows of a name lie on


@dataclass(frozen=True, eq=False, kw_only=True)
class Solved(Drawn):
    """A law whose input of a place is what is asked for.

    Attributes
    ----------
    law : formula over ``v0``, ``v1``, ... in the order of the database
    asked : place of the input that is the target
    samplers : ``v0``, ``v1``, ... -> ``[family, low, high]``
    """

    law: str = ""
    asked: int = 0

    def draw(self, rows: int, rng: np.random.Generator) -> Split:
        """Rows of the law with a finite value."""
        whole = Drawn(id=self.id, truth={"law": self.law}, inputs=tuple(self.samplers), samplers=self.samplers).draw(
            rows, rng
        )
        X = np.column_stack([np.delete(whole.X, self.asked, axis=1), whole.y])
        return Split(X, np.ascontiguousarray(whole.X[:, self.asked]))


def ids(subset: str | None = None) -> list[str]:
    """The 111 names, optionally of those whose rows lie on ``one branch`` or on ``both branches``."""
    if subset not in (None, *BRANCHES):
        raise KeyError(f"lsr has no subset {subset!r} (subsets: {', '.join(BRANCHES)})")
    names = [f"{law}_{rest}" for law, several in facts("lsr")["names"].items() for rest in several]
    return [name for name in names if subset in (None, _subset(name))]


def _subset(name: str) -> str:
    return BRANCHES[name in facts("lsr")["both_branches"]]


def parts(name: str) -> tuple[str, int, int]:
    """Law, place of the input that is asked for, and number of the branch.

    Examples
    --------
    >>> parts("I.32.17_4_3")
    ('I.32.17', 4, 3)
    """
    law, asked, branch = name.rsplit("_", 2)
    return law, int(asked), int(branch)


@functools.cache
def numbered(law: str) -> tuple[str, dict[str, list]]:
    """The formula of a law over v0, v1, ... in the order of the database, and the range of each."""
    stated = facts("lsr")
    known = stated["laws"].get(law, law)
    order = stated["orders"].get(law, feynman(known).inputs)
    places = {name: f"v{i}" for i, name in enumerate(order)}
    text = str(parse(formula(known), order).substitute(places))
    ranges = samplers(known)
    return text, {v: ranges[name] for name, v in places.items()}


def load(name: str) -> Solved:
    law, asked, _ = parts(name)
    text, ranges = numbered(law)
    return Solved(
        id=f"lsr/{name}",
        truth={"y": facts(SOLUTIONS)[name]},
        inputs=tuple(f"x{i}" for i in range(len(ranges))),
        law=text,
        asked=asked,
        samplers=ranges,
        rows=LAW_ROWS,
        subset=_subset(name),
        flags=("stand-in data",),
        source="LLM-SRBench (arXiv:2504.10415), LSR-Transform; Feynman database",
    )


def solution(name: str) -> str:
    """SymPy's solution of a name, in the inputs of the problem; empty where it finds none, or none that is real.

    Examples
    --------
    >>> solution("I.12.2_3_0")
    '-sqrt(x0*x1/(x2*x3))/(2*sqrt(pi))'
    """
    law, asked, branch = parts(name)
    text, ranges = numbered(law)
    try:
        found = attempt(solutions, text, f"v{asked}")
    except (TimeoutError, NotImplementedError):  # which is how SymPy says that it knows no solution
        return ""
    if branch >= len(found):
        return ""
    others = [v for i, v in enumerate(ranges) if i != asked]
    places: Mapping[str, str] = {v: f"x{i}" for i, v in enumerate([*others, "w"])}
    return str(parse(found[branch], [*others, "w"]).substitute(places)) if found[branch] else ""


def solutions(text: str, asked: str) -> list[str]:
    """What SymPy solves ``text = w`` for an input to, in its order; empty text for what is no real expression."""
    import sympy

    law = parse(text).sympy()
    texts = []
    for found in sympy.solve(sympy.Eq(law, sympy.Symbol("w")), sympy.Symbol(asked)):
        try:
            texts.append(str(from_sympy(found)))
        except ExpressionError:
            texts.append("")
    return texts


def derive() -> str:
    """The text of the file of solutions."""
    head = "# Written by `python -m rediscover.problems.lsr`: name -> SymPy's solution, empty where it has none.\n"
    return head + yaml.safe_dump({name: solution(name) for name in ids()}, sort_keys=False, width=10_000)


if __name__ == "__main__":
    from rediscover.problems import lsr  # workers find functions by the module's name, which is another here

    write_text(Path(__file__).parent / "data" / f"{SOLUTIONS}.yaml", lsr.derive())
