"""How well it was found: pure functions, prediction first, truth second.

A metric declares its range and direction once, with the decorator below; tables read them to know what is best.
Metrics import nothing of this package but `expressions`, `system` and `numerics`.
"""

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from ..system.code_version import PACKAGE


class Metric(Protocol):
    """A declared metric: a function with its direction and the range of its finite values."""

    __name__: str
    direction: str
    bounds: tuple[float, float]

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


_DECLARED: dict[str, Metric] = {}
Function = TypeVar("Function", bound=Callable[..., Any])


def metric(
    direction: str, *, lower: float = 0.0, upper: float = math.inf, of: str = ""
) -> Callable[[Function], Function]:
    """Declare a function as a metric.

    Parameters
    ----------
    direction : 'lower' or 'higher', whichever is better
    lower, upper : float
        The range of finite values.
    of : str
        What predictions and truths are, said once where the metrics of a module take the same: the sections
        Parameters, Returns and Examples of the docstring are then made from this declaration.
    """
    if direction not in ("lower", "higher"):
        raise ValueError(f"direction must be 'lower' or 'higher', got {direction!r}")

    def declare(function: Function) -> Function:
        declared: Any = function  # which becomes a Metric here
        declared.direction, declared.bounds = direction, (lower, upper)
        if of and function.__doc__:
            function.__doc__ = _with_sections(function, of, lower, upper)
        _DECLARED[function.__name__] = declared
        return function

    return declare


def _with_sections(function: Callable[..., Any], of: str, lower: float, upper: float) -> str:
    text, prompt, example = inspect.cleandoc(str(function.__doc__)).partition(">>>")
    examples = f"\n\nExamples\n--------\n>>>{example}" if prompt else ""
    if math.isinf(lower) or math.isinf(upper):
        span = f"At most {upper:g}." if math.isinf(lower) else f"At least {lower:g}."
    else:
        span = f"In [{lower:g}, {upper:g}]."
    kind = function.__annotations__.get("return", float).__name__
    sections = f"Parameters\n----------\nprediction, truth : {of}\n\nReturns\n-------\n{kind}\n    {span}"
    return f"{text.rstrip()}\n\n{sections}{examples}\n"


def declared() -> dict[str, Metric]:
    """All metrics by name, each with ``direction`` and ``bounds``; without those of an extra that is not installed."""
    for info in pkgutil.iter_modules(__path__):
        try:
            importlib.import_module(f"{__name__}.{info.name}")
        except ModuleNotFoundError as missing:
            if str(missing.name).startswith(PACKAGE):
                raise
    return dict(sorted(_DECLARED.items()))
