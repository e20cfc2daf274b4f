"""In-context symbolic regression: a language model improves on the five best formulas so far."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..expressions.programs import Reading
from ..expressions.spelling import right_hand_side
from ..search.evolution.concepts import strings
from ..search.loops.pools import Top
from ..search.loops.proposals import Scored
from ..search.loops.proposers import Skeleton
from ..search.loops.slot_fits import Fit
from .endpoint import texts
from .language_loops import Described, LanguageLoop, Parts, seed_of

POINTS, DECIMALS = 40, 3  # that a prompt shows
WEIGHT, SCALE = 0.05, 30.0  # of the length in the score
R2 = 0.99999  # that ends the search


@dataclass(frozen=True)
class Icsr(LanguageLoop):
    """Prompts with points and the five best formulas, worst first; five new ones in each reply.

    The score is 1/(1 + NMSE) + 0.05 exp(-nodes/30). A model's formulas are read, never evaluated as code. Other
    than in the released code, constants are fitted by BFGS, from the same five starts in U(-5, 5); the first
    formulas come from a prompt without any; the search ends by the R2 of all rows.

    Attributes
    ----------
    points : that a prompt shows, drawn once for a run.

    References
    ----------
    M. Merler et al., In-context symbolic regression: leveraging large language models for function discovery,
    arXiv:2404.19094
    """

    points: int = POINTS
    name: ClassVar[str] = "icsr"
    reference: ClassVar[str] = "after Merler et al., In-context symbolic regression (2024), arXiv:2404.19094"
    texts: ClassVar[dict] = texts(__file__)
    EACH: ClassVar[int] = 5

    def parts(self, task: Described, data: Any, rng: np.random.Generator) -> Parts:
        variance = float(np.var(data.y))
        rows = np.sort(rng.choice(len(data.y), min(self.points, len(data.y)), replace=False))
        known = {
            "inputs": ", ".join(self.about(task, name) for name in task.inputs),
            "variables": len(task.inputs),
            "output": self.about(task, task.output),
            "sentence": self.sentence or "Nothing else is known of it.",
            "points": "\n".join(point(data.X[:, row], data.y[row]) for row in rows),
            "lines": "\n".join(self.text("line", number=i) for i in range(1, self.EACH + 1)),
            "count": self.EACH,
        }
        opening, form = self.text("task", **known), self.text("form", **known)

        def prompt(shown):
            tried = "\n".join(self.tried(program, variance) for program in shown.programs)
            asked = self.text("next" if tried else "first", functions=tried, **known)
            return [{"role": "user", "content": "\n\n".join(filter(None, [opening, asked, form]))}]

        return Parts(
            Top(shown=self.EACH),
            Skeleton(task.inputs),
            Fit(5, -5.0, 5.0, decimals=4, seed=seed_of(task)),
            lambda mse, reading: score(mse / variance, reading),
            prompt,
            lambda reply, shown: formulas(reply),
            each=self.EACH,
            joint=True,
            enough=(1 - R2) * variance,
        )

    def tried(self, program: Scored, variance: float) -> str:
        return self.text(
            "function", formula=program.text, error=f"{1 / score(program.mse / variance, program.reading):.4g}"
        )


def score(nmse: float, reading: Reading) -> float:
    return 1 / (1 + nmse) + WEIGHT * math.exp(-reading.expression.size / SCALE)


def point(x: np.ndarray, y: float) -> str:
    """
    >>> point(np.array([0.12345, 2.0]), -1.0)
    '(0.123, 2.0) -> -1.0'
    """
    return f"({', '.join(number(value) for value in x)}) -> {number(y)}"


def number(value: float) -> str:
    """With `DECIMALS` decimals, or as many digits where it is small."""
    return repr(round(float(value), DECIMALS)) if abs(value) >= 0.1 or value == 0 else f"{value:.3g}"


def formulas(reply: str) -> list[str]:
    """What stands behind the last equality sign of each line that has one, without marks of formatting.

    Without such a line it is the last list of texts in the reply.

    >>> formulas("Sure!\\n1. f1 = c*x + c\\n- `f2(x) = where(x >= 0, x, c)`.\\n")
    ['c*x + c', 'where(x >= 0, x, c)']
    """
    lines = ((right_hand_side(line) or "").strip(" \t\r`$*;,.") for line in reply.splitlines())
    return [line for line in lines if line] or strings(reply)
