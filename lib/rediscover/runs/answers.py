"""Work on answers of finished runs: scoring them, refitting them, in isolated workers and kept in the store."""

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..problems import Problem
from ..system import given_up
from ..system.code_version import code_version
from . import compute, digest, identity

if TYPE_CHECKING:  # loaded on first use
    import pandas as pd


class OnAnswer(NamedTuple):
    """A function of one answer, as work for `compute`.

    Attributes
    ----------
    function : ``module:name`` of ``function(problem, solution, seed) -> dict`` of plain data, where solution maps
        outputs to texts. The module may have a function ``external() -> str`` that names what else its results need,
        and the names of modules that it imports on first use, ``LOADS``.
    problem, solution, seed : the run's.
    """

    function: str
    problem: Problem
    solution: dict[str, str]
    seed: int

    @property
    def counted(self) -> str:
        """What a bar counts: scores, or what else the function makes of an answer."""
        return self.function.rpartition(":")[2]

    @property
    def loads(self) -> tuple[str, ...]:
        """What workers import before they fork: an import in a worker would count as something that it changed."""
        module = self.function.partition(":")[0]
        return (module, *getattr(importlib.import_module(module), "LOADS", ()))

    @property
    def shares(self) -> bool:
        """It is no code of a method's author, so that a process may do one after another."""
        return True

    def __call__(self) -> dict:
        module, _, name = self.function.partition(":")
        function = getattr(importlib.import_module(module), name)
        return {"status": "ok", "reason": "", "result": function(self.problem, self.solution, self.seed)}

    @property
    def key(self) -> str:
        module = self.function.partition(":")[0]
        external = getattr(importlib.import_module(module), "external", str)()
        listed = sorted(given_up.listed())  # what is given up on now may have ended before
        version = code_version(module) + external + digest(listed)
        return digest([self.function, identity(self.problem), self.solution, self.seed, version])

    @property
    def identity(self) -> dict:
        return {self.function: self.solution, "problem": self.problem.id, "seed": self.seed}


def on_answers(function: str, records: "pd.DataFrame", problems: Iterable[Problem], **options: Any) -> list[dict]:
    """Outcomes of a function for every row of a grid's frame, which must all have answers.

    Parameters
    ----------
    function : as for `OnAnswer`
    records : DataFrame
        Rows of `grid` with status ok.
    problems : list of Problem
        Those of the grid. Where one is given at several noise levels, each answer meets the one it was found on.
    options : store, workers and progress, as for `compute`

    Returns
    -------
    list of dict
        status and reason, and result where the status is ok.
    """
    known = {problem.id: problem for problem in problems}
    noisy = {(problem.id, problem.noise): problem for problem in problems}
    several = len(known) < len(noisy)
    works = [
        OnAnswer(function, noisy[row.problem, row.noise] if several else known[row.problem], row.solution, row.seed)
        for row in records.itertuples()
    ]
    return compute(works, **options)
