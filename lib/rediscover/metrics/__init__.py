"""How well it was found: pure functions, prediction first, truth second.

A metric declares its range and direction once, with the decorator below; tables read them to know what is best.
Metrics import nothing of this package but `expressions`, `system` and `numerics`.
"""

import importlib
import math
import pkgutil
from collections.abc import Callable

_DECLARED: dict[str, Callable] = {}


def metric(direction: str, *, lower: float = 0.0, upper: float = math.inf):
    """Declare a function as a metric.

    Parameters
    ----------
    direction : 'lower' or 'higher', whichever is better
    lower, upper : float
        The range of finite values.
    """
    if direction not in ("lower", "higher"):
        raise ValueError(f"direction must be 'lower' or 'higher', got {direction!r}")

    def declare(function):
        function.direction, function.bounds = direction, (lower, upper)
        _DECLARED[function.__name__] = function
        return function

    return declare


def declared() -> dict[str, Callable]:
    """All metrics by name, each with ``direction`` and ``bounds``."""
    for info in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{info.name}")
    return dict(sorted(_DECLARED.items()))
