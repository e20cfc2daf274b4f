"""One's own data: equations for a table, for records in time, for a cloud of points, in scikit-learn's conventions."""

from .base import NoClearEquation, NoisyData
from .implicit import ImplicitEquation
from .reading import example, examples
from .regressor import EquationRegressor
from .system import EquationSystem

__all__ = [
    "EquationRegressor",
    "EquationSystem",
    "ImplicitEquation",
    "NoClearEquation",
    "NoisyData",
    "example",
    "examples",
]
