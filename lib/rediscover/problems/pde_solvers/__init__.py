"""The numerical solutions behind the fields of MDBench, each by the discretisation that the published data came from.

Every solver takes a `Setting` and returns a `Simulation`. What is discretised, and to which accuracy the
published arrays are met, stands with each solver; the equations and numbers are in ``data/pdes.yaml``.
"""

from collections.abc import Callable

from .finite_elements import heat, laser
from .flow import ns_channel, ns_cylinder, rd_cylinder
from .setting import Setting, Simulation, slope
from .spectral import ad, advection, burgers, kdv, ks, nls, rd

__all__ = ["SOLVERS", "Setting", "Simulation", "slope"]

SOLVERS: dict[str, Callable[[Setting], Simulation]] = {
    "advection": advection,
    "burgers": burgers,
    "kdv": kdv,
    "ks": ks,
    "nls": nls,
    "ad": ad,
    "rd": rd,
    "heat_1d": heat,
    "heat_2d": heat,
    "heat_3d": heat,
    "ns_channel": ns_channel,
    "ns_cylinder": ns_cylinder,
    "laser": laser,
    "rd_cylinder": rd_cylinder,
}
