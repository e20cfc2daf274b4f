"""AFP and AFP-FE as SRSD's release runs them: one search for both rows."""

from dataclasses import dataclass
from typing import ClassVar

from .afp import Afp


@dataclass(frozen=True)
class AfpReleased(Afp):
    """`rediscover.methods.afp` as released: the row beside SRSD's AFP, which as released is its AFP-FE, too.

    The last model of both is fitted without the settings that tell the two apart, so that neither estimates fitness;
    see ``variant`` there. The release draws generations
    between 250 and 2,500, of 500 programs each, and a threshold between 1e-10 and 1e-2: 500,000 evaluations are 1,000
    generations, and the threshold here is the geometric mean of the two.
    """

    variant: str = "as_released"
    name: ClassVar[str] = "afp_released"
    reference: ClassVar[str] = "after Schmidt and Lipson (2010), as released with SRSD 2023"
