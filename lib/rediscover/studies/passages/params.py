"""Parameters of text to equation."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator

from ...params import Parameters, unique


class Passages(Parameters):
    """50_text_to_equation.

    Attributes
    ----------
    papers : papers of the bundled corpus, by id; an empty list means all of them.
    """

    notebook: ClassVar[str] = "50_text_to_equation"
    papers: Annotated[list[str], AfterValidator(unique)]
