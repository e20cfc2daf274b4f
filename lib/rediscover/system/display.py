"""How objects look in a notebook, found where they are drawn when somebody looks: no result depends on it."""

import importlib
from types import ModuleType
from typing import Any

from .code_version import PACKAGE


class Displayed:
    """Base of what can be looked at; drawn by the module ``report.pictures``."""

    def latex(self) -> str:
        """The equations as LaTeX."""
        return _drawn().latex(self)

    def plot(self, *problem: Any, **options: Any) -> Any:
        """A matplotlib figure: of a problem its data (None without numbers), of a candidate its predictions on one."""
        return _drawn().plot(self, *problem, **options)

    def _repr_html_(self) -> str:
        return _drawn().page(self)


def _drawn() -> ModuleType:
    return importlib.import_module(f"{PACKAGE}.report.pictures")
