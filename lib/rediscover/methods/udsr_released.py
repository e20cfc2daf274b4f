"""uDSR as MDBench's release reads its answers, without those that hold a polynomial."""

from dataclasses import dataclass
from typing import ClassVar

from .udsr import Udsr


@dataclass(frozen=True)
class UdsrReleased(Udsr):
    """`rediscover.methods.udsr` without the answers that MDBench's wrapper loses: the row beside MDBench's uDSR.

    The wrapper cannot read back a fitted polynomial; see ``as_released`` there.
    """

    as_released: bool = True
    name: ClassVar[str] = "udsr_released"
    reference: ClassVar[str] = "Landajuela et al. (NeurIPS 2022), as released with MDBench 2025"
