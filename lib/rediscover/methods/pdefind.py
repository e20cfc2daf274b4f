"""PDEFIND: SINDy's regression on states, space derivatives and their products."""

from dataclasses import dataclass
from typing import ClassVar

from ..problems import Field
from .sindy import ThresholdedRidge


@dataclass(frozen=True)
class PDEFIND(ThresholdedRidge):
    """PDEFIND with the grid of the released code, which the paper's Table A2 prints too."""

    name: ClassVar[str] = "pdefind"
    reference: ClassVar[str] = "Rudy et al. 2017; MDBench 2025, Table A2"
    accepts: ClassVar[tuple[type, ...]] = (Field,)
