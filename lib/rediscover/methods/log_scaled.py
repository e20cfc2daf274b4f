"""Generic methods in units in which all numbers are near 1."""

import dataclasses

import numpy as np

from .gplearn import Gplearn
from .operon import Operon
from .polynomial import Polynomial
from .pysr import Pysr
from .tables import Tabular, divided, in_units


@dataclasses.dataclass(frozen=True)
class LogScaled(Tabular):
    """Another method, run on inputs and target divided by their geometric means.

    SI units of 1e-34 to 1e26 defeat searches that draw constants near 1 or compute in single precision.
    Each column is divided by s = exp(mean log|x|) over its non-zero entries, the other method searches there,
    and in its answer every x becomes x/s and the whole is multiplied by the target's s. Only constant factors
    are used: no logarithm is taken of inputs or target, so negative numbers and zeros are fine, and the
    expression is of the other method's family. A candidate's loss is that method's own, in scaled units.

    There is no variant for ``power_law``: logarithms do not see factors.
    """

    def search(self, task, *, budget, rng):
        scales = {name: geometric_mean(column) for name, column in zip(task.inputs, task.X.T, strict=True)}
        unit = geometric_mean(task.y)
        scaled = divided(dataclasses.replace(task, validation=None), scales, unit)
        front = super().search(scaled, budget=budget, rng=rng)
        return [in_units(candidate, task, scales, unit) for candidate in front]


def geometric_mean(values: np.ndarray) -> float:
    """exp(mean log|x|) over non-zero entries; 1 if there is none.

    >>> geometric_mean(np.array([1e-34, 0.0, -1e-30]))
    1e-32
    """
    sizes = np.abs(values[values != 0])
    return float(f"{np.exp(np.mean(np.log(sizes))):.6g}") if sizes.size else 1.0


def log_scaled(method: type[Tabular]) -> type[Tabular]:
    """The variant of a method, with its settings, on data divided by their geometric means."""
    body = {
        "__module__": __name__,
        "__doc__": f"``{method.name}`` on data divided by their geometric means, with its settings.",
        "name": f"{method.name}_log_scaled",
        "reference": f"{method.reference}; data divided by geometric means",
    }
    return dataclasses.dataclass(frozen=True)(type(f"{method.__name__}LogScaled", (LogScaled, method), body))


# Workers find a class by its name in the module.
GplearnLogScaled = log_scaled(Gplearn)
OperonLogScaled = log_scaled(Operon)
PolynomialLogScaled = log_scaled(Polynomial)
PysrLogScaled = log_scaled(Pysr)
