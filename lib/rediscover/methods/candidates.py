"""A proposed answer, and what a function may return as a list of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..system.display import Displayed


@dataclass(frozen=True)
class Candidate(Displayed):
    """One proposed answer.

    Attributes
    ----------
    solution : output name -> text of its expression, rule or formula, as ``problem.truth`` has it. For a level set
        either ``{"F": ...}`` or ``{"z": ...}``.
    loss : the method's own training loss (NaN where it has none).
    complexity : the method's own size measure, if it has one.
    evaluations : expressions evaluated by the whole search that led here, if known.
    notes : anything the tables or audits should know, JSON values only.
    """

    solution: Mapping[str, Any]
    loss: float = math.nan
    complexity: float | None = None
    evaluations: int | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)


def not_candidates(answer: Any) -> str:
    """What was returned that is no list of candidates, and what was expected, as the end of a sentence."""
    inside = f" of {type(answer[0]).__name__}" if isinstance(answer, list) and answer else ""
    said = f"returned {type(answer).__name__}{inside} instead of a list of Candidate"
    return f"{said}: write `return [Candidate({{output: text}})]`"


def check_front(function: str, front: Any, output: str) -> None:
    """Raise a TypeError, in one sentence, if what a function returned for a table is no list of candidates for it.

    Parameters
    ----------
    function : its name, for the message
    front : what it returned
    output : the column that is to be found
    """
    if not isinstance(front, list) or not all(isinstance(item, Candidate) for item in front):
        raise TypeError(f"{function} {not_candidates(front)}")
    for item in front:
        solution = item.solution
        if not isinstance(solution, Mapping):
            kind = type(solution).__name__
            raise TypeError(f"{function} returned a Candidate of a {kind}, expected a mapping: {{{output!r}: text}}")
        for name, text in solution.items():
            if not isinstance(text, str):
                kind = type(text).__name__
                raise TypeError(
                    f"{function} returned a solution for {name} of type {kind}, expected a text such as 'x'"
                )
        try:
            float(item.loss)
        except (TypeError, ValueError):
            raise TypeError(f"{function} returned the loss {item.loss!r:.40}, expected a number") from None
