"""Parameters of text to equation."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator

from ...params import Parameters, unique
from ...problems import did_you_mean, problem, problems


def _bundled(papers: list[str]) -> list[str]:
    """The papers, if each is one of the corpus."""
    known = sorted({problem(id).subset for id in problems("passages")})
    for paper in papers:
        if paper not in known:
            raise ValueError(f"unknown paper {paper!r}{did_you_mean(paper, known)} (known: {', '.join(known)})")
    return papers


class Passages(Parameters):
    """50_text_to_equation.

    Attributes
    ----------
    papers : papers of the bundled corpus, by id; an empty list means all of them.
    """

    notebook: ClassVar[str] = "50_text_to_equation"
    papers: Annotated[list[str], AfterValidator(unique), AfterValidator(_bundled)]
