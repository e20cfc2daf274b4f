"""One run, and what identifies it: everything that its result depends on."""

import dataclasses
import functools
import hashlib
import json
import random
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..methods import Budget, Method
from ..problems import Problem
from ..system import user_classes
from ..system.code_version import code_version
from .worker import checked

PROSE = ("note", "source")  # fields of a problem for the reader only: to edit them costs no run


class Run(NamedTuple):
    """One method on one problem. Called, it does the work, in a worker."""

    problem: Problem
    method: Method
    seed: int
    budget: Budget

    def __call__(self) -> dict:
        # A method that draws from the common generators, which it should not, repeats nevertheless.
        random.seed(self.seed)
        np.random.seed(self.seed % 2**32)  # noqa: NPY002
        return checked(self.problem, self.method.solve(self.problem, budget=self.budget, seed=self.seed))

    @property
    def key(self) -> str:
        return key(*self)

    @property
    def shares(self) -> bool:
        """Whether only code of this package runs; numba compiles that, and keeps nothing else."""
        return user_classes.inside(self) and not set(self.method.requires) - {"numba"}

    @property
    def identity(self) -> dict:
        """What it is, for readers of the frame and of the store."""
        return {
            "study": self.problem.study,
            "problem": self.problem.id,
            "subset": self.problem.subset,
            "method": self.method.name,
            "settings": plain(self.method.settings),
            "noise": float(self.problem.noise),
            "seed": self.seed,
        }

    @property
    def options(self) -> dict:
        """Options of the problem, as they were asked for, that stand in the frame."""
        return {name: getattr(self.problem, name) for name in self.problem.reported}


def key(problem: Problem, method: Method, seed: int, budget: Budget) -> str:
    """What identifies a run: a hash of all that its result depends on.

    That is the problem's fields (noise among them, notes and sources not), the method's settings, the code of
    both modules and of all that they import of this package (comments and docstrings left out), the versions of the
    packages that the method declares, the seed and the budget.

    Parameters
    ----------
    problem : Problem
    method : Method
    seed : int
    budget : Budget

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    parts = {
        "problem": identity(problem),
        "method": [method.name, method.settings, method.version],
        "seed": seed,
        "budget": {name: float(value) for name, value in dataclasses.asdict(budget).items()},
    }
    return digest(parts)


def identity(problem: Problem) -> list:
    """What identifies a problem: class, fields (notes and sources not), and code (of its module and its imports).

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    list
    """
    fields = {f.name: getattr(problem, f.name) for f in dataclasses.fields(problem) if f.name not in PROSE}
    return [type(problem).__qualname__, fields, code_version(type(problem).__module__)]


def digest(parts: Any) -> str:
    """SHA-256 of the canonical JSON of fields and settings.

    Parameters
    ----------
    parts : plain data, arrays, problems' fields or methods' settings

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    TypeError
        If a part has no stable text.
    """
    return hashlib.sha256(_json(parts).encode()).hexdigest()


_json = functools.partial(json.dumps, sort_keys=True, default=lambda value: _plain(value))


def plain(value: Any) -> Any:
    """Fields or settings as plain data, as JSON would give them back."""
    return json.loads(_json(value))


def _plain(value: Any) -> Any:
    """Values in fields and settings that JSON does not know; what has no stable text is refused."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    if hasattr(value, "get_params") and not isinstance(value, type):  # an estimator of the scikit-learn kind
        return [type(value).__qualname__, value.get_params()]
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    raise TypeError(f"grid: a field or setting of type {type(value).__name__} cannot be part of a run's key")
