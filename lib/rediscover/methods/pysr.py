"""PySR: multi-population regularised evolution, where Julia is present."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..problems import Task
from ..system.extras import command
from . import Budget, Candidate
from .tables import Tabular


@dataclass(frozen=True)
class Pysr(Tabular):
    """The hall of fame of one deterministic, serial search, ordered by PySR's ``model_selection="best"``.

    Importing pysr downloads Julia where there is none, so `available` looks for both without importing.

    Attributes
    ----------
    niterations, populations, population_size, ncycles_per_iteration, maxsize, maxdepth : as in PySR (maxdepth
        0: maxsize).
    binary_operators, unary_operators : comma-separated.
    parsimony : as in PySR.

    References
    ----------
    M. Cranmer, Interpretable Machine Learning for Science with PySR and SymbolicRegression.jl,
    arXiv:2305.01582
    """

    niterations: int = 30
    populations: int = 31
    population_size: int = 27
    ncycles_per_iteration: int = 380
    maxsize: int = 30
    maxdepth: int = 0
    binary_operators: str = "+,-,*,/"
    unary_operators: str = "sin,cos,tan,exp,log"
    parsimony: float = 0.0
    name: ClassVar[str] = "pysr"
    reference: ClassVar[str] = "Cranmer, PySR and SymbolicRegression.jl (2023), arXiv:2305.01582"
    searches: ClassVar[bool] = True
    requires: ClassVar[tuple[str, ...]] = ("pysr",)

    def available(self) -> str | None:
        if find_spec("pysr") is None:
            return f"package pysr is not installed: {command('pysr')}, or the conda environment, which brings Julia"
        if not julia():
            return "pysr is installed but finds no Julia: put julia on PATH or name it in PYTHON_JULIACALL_EXE"
        return None

    @property
    def version(self) -> str:
        return super().version if find_spec("pysr") else "unavailable"

    def arguments(self, budget: Budget, seed: int, output_directory: str) -> dict[str, Any]:
        """Keyword arguments of ``PySRRegressor``: the settings, the budget, and what makes a run repeat exactly."""
        return {
            **{name: value for name, value in self.settings.items() if name != "max_rows"},
            "maxdepth": self.maxdepth or None,
            "binary_operators": self.binary_operators.split(","),
            "unary_operators": [name for name in self.unary_operators.split(",") if name],
            "nested_constraints": {"tan": {"tan": 1}} if "tan" in self.unary_operators.split(",") else None,
            "model_selection": "best",
            "max_evals": int(budget.evaluations),
            "precision": 64,
            "random_state": seed,
            "deterministic": True,
            "parallelism": "serial",
            "progress": False,
            "verbosity": 0,
            "output_directory": output_directory,
        }

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        from pysr import PySRRegressor

        with tempfile.TemporaryDirectory() as folder:
            estimator = PySRRegressor(**self.arguments(budget, int(rng.integers(2**31)), folder))
            # Plain names: PySR refuses some (E, S, I, ...) that physics uses.
            estimator.fit(task.X, task.y, variable_names=[f"x{i}" for i in range(len(task.inputs))])
            best = int(np.asarray(estimator.get_best()["complexity"]))
            return candidates(estimator.equations_.to_dict("records"), task.inputs, task.output, best)


def candidates(
    equations: Iterable[Mapping[str, Any]], inputs: tuple[str, ...], output: str, best: int | None = None
) -> list[Candidate]:
    """PySR's table of equations as candidates.

    Parameters
    ----------
    equations : rows with ``complexity``, ``loss`` and ``equation``, whose variables are x0, x1, ...
    inputs : names of those columns
    output : name of the target
    best : the complexity of the row to put first; the rest follow by loss. None: by loss alone.

    Examples
    --------
    >>> square = {"complexity": 3, "loss": 0.5, "equation": "x0 ^ 2.0"}
    >>> rows = [{"complexity": 1, "loss": 2.0, "equation": "x1"}, square]
    >>> [c.solution["z"] for c in candidates(rows, ("a", "b"), "z")]
    ['a ^ 2.0', 'b']
    """

    def named(match):
        index = int(match[1])
        if index >= len(inputs):
            raise ValueError(f"{output}: the equation uses x{index}, but there are {len(inputs)} inputs")
        return inputs[index]

    rows = sorted(equations, key=lambda row: (row["complexity"] != best, row["loss"]))
    return [
        Candidate(
            {output: re.sub(r"\bx(\d+)\b", named, str(row["equation"]))}, float(row["loss"]), int(row["complexity"])
        )
        for row in rows
    ]


def julia() -> str | None:
    """The Julia that juliacall would use without a download: PYTHON_JULIACALL_EXE, PATH, or one that juliapkg
    installed."""
    named = os.environ.get("PYTHON_JULIACALL_EXE")
    if named:
        return shutil.which(named)
    default = Path(os.environ.get("CONDA_PREFIX") or sys.prefix) / "julia_env"
    project = Path(os.environ.get("PYTHON_JULIAPKG_PROJECT") or default)
    return shutil.which("julia") or shutil.which("julia", path=str(project / "pyjuliapkg" / "install" / "bin"))
