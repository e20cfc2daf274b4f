"""How well it was found: pure functions, prediction first, truth second.

A metric declares its range and direction once, with the decorator below; tables read them to know what is best.
Metrics import nothing of this package but `expressions`, `system` and `numerics`.
"""

import importlib
import math
import pkgutil
from collections.abc import Callable
from typing import Any, Protocol, TypeVar


class Metric(Protocol):
    """A declared metric: a function with its direction and the range of its finite values."""

    __name__: str
    direction: str
    bounds: tuple[float, float]

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


_DECLARED: dict[str, Metric] = {}
Function = TypeVar("Function", bound=Callable[..., Any])


def metric(direction: str, *, lower: float = 0.0, upper: float = math.inf) -> Callable[[Function], Function]:
    """Declare a function as a metric.

    Parameters
    ----------
    direction : 'lower' or 'higher', whichever is better
    lower, upper : float
        The range of finite values.
    """
    if direction not in ("lower", "higher"):
        raise ValueError(f"direction must be 'lower' or 'higher', got {direction!r}")

    def declare(function: Function) -> Function:
        declared: Any = function  # which becomes a Metric here
        declared.direction, declared.bounds = direction, (lower, upper)
        _DECLARED[function.__name__] = declared
        return function

    return declare


def declared() -> dict[str, Metric]:
    """All metrics by name, each with ``direction`` and ``bounds``."""
    for info in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{info.name}")
    return dict(sorted(_DECLARED.items()))
