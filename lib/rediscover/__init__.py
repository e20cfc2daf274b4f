"""Five studies of equation discovery, run again over one library.

>>> import rediscover as rd
>>> p = rd.problem("surfaces/NCGS1")
>>> p.truth
{'z': 'sin(x**2+y**2)/(1+x**2+y**2)'}
"""

import importlib
import warnings
from typing import TYPE_CHECKING

from .system import reproducible_blas

reproducible_blas.fix()  # before anything imports numpy

# tqdm, which pooch imports, says in every notebook without ipywidgets that its bars will be plain.
warnings.filterwarnings("ignore", message="IProgress not found")

if TYPE_CHECKING:
    # These two modules can be called. mypy knows no such thing: to it they are the functions of the same name.
    from .methods import methods
    from .problems import problems
else:
    from . import methods, problems
from .methods import Budget, Candidate, method  # noqa: E402
from .problems import problem  # noqa: E402

__version__ = "0.1.0"
__all__ = ["Budget", "Candidate", "compare", "method", "methods", "problem", "problems", "score", "show"]

# They bring much with them, so they are loaded on first use.
_LATER = {"score": "runs.scoring", "compare": "comparison", "show": "comparison"}


def __getattr__(name):
    if name in _LATER:
        return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
