"""EQL as MDBench's release runs it, with the network that it prints."""

from dataclasses import dataclass
from typing import ClassVar

from .eql import EQL


@dataclass(frozen=True)
class EQLReleased(EQL):
    """`rediscover.methods.eql` with what is printed as in the release: the row beside MDBench's EQL.

    A setting that overflows is chosen before all others, gates of the last layer are left out of what is printed, and
    its numbers are rounded to three decimals; see ``as_released`` there.
    """

    as_released: bool = True
    name: ClassVar[str] = "eql_released"
    reference: ClassVar[str] = "Martius and Lampert 2016; Sahoo et al. 2018; as released with MDBench 2025"
