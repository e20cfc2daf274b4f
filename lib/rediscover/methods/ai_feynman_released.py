"""A search like AI Feynman without a change of units, as SRSD ran that."""

from dataclasses import dataclass
from typing import ClassVar

from .ai_feynman import AiFeynman


@dataclass(frozen=True)
class AiFeynmanReleased(AiFeynman):
    """`rediscover.methods.ai_feynman` on the data as they are: the row beside SRSD's AI Feynman, which it is only like.

    Errors below 2^-30 are none and offsets beyond 2^30 are refused, whatever the units; see ``variant`` there.
    """

    variant: str = "as_released"
    name: ClassVar[str] = "ai_feynman_released"
    reference: ClassVar[str] = "after Udrescu and Tegmark (2020), in the units of the data, as SRSD ran it"
