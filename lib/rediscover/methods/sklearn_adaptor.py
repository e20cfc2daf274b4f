"""Any regressor of the scikit-learn kind as a method: ``fit``, and a function that writes what was fitted as text.

Without such a function there is no expression; what needs predictions alone can still be measured (`runs.predictions`).
"""

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problems import LevelSet, Problem, Regression, Task, generator
from . import Budget, Candidate, Unsupported
from .tables import Tabular, complete_rows


@dataclass(frozen=True)
class Estimator(Tabular):
    """A fitted copy of `estimator`, written by `to_text`; made by `from_sklearn`."""

    estimator: ClassVar[Any] = None
    to_text: ClassVar[Callable[[Any, Any], str] | None] = None

    @property
    def only_predicts(self) -> bool:
        """Whether there are no expressions."""
        return self.to_text is None

    def predictions(self, problem: Problem, seed: int = 0) -> dict[str, np.ndarray]:
        """What is predicted on each split of a regression table.

        Parameters
        ----------
        problem : Regression or LevelSet
        seed : int

        Returns
        -------
        dict
            Split -> ndarray, shape (n,) or (n, n_outputs).
        """
        if not isinstance(problem, Regression | LevelSet):
            raise Unsupported(f"{self.name} only predicts, and problems of the kind {problem.kind} ask for equations")
        rng = generator(seed, problem.id, self.name)
        tasks = problem.tasks(seed)
        fitted = [self._fitted(complete_rows(task)[0], rng) for task in tasks]
        predicted = {}
        for name, split in problem.data(seed).items():
            X = split.X[:, [problem.inputs.index(column) for column in tasks[0].inputs]]
            columns = [np.asarray(estimator.predict(X), float) for estimator in fitted]
            predicted[name] = columns[0] if len(columns) == 1 else np.column_stack(columns)
        return predicted

    def _fitted(self, task: Task, rng: np.random.Generator) -> Any:
        estimator = copy.deepcopy(self.estimator)
        if hasattr(estimator, "get_params") and "random_state" in estimator.get_params():
            estimator.set_params(random_state=int(rng.integers(2**31)))
        estimator.fit(task.X, task.y)  # whose value need not be itself
        return estimator

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        import pandas as pd

        from ..expressions import parse

        write = type(self).to_text
        if write is None:
            raise Unsupported(f"{self.name} only predicts: `rediscover run --study` scores it, or give it to_text")
        X = pd.DataFrame(task.X, columns=list(task.inputs))
        text = str(write(self._fitted(task, rng), X))
        expression = parse(text, names=task.inputs)
        values = expression({name: X[name].to_numpy() for name in task.inputs})
        return [Candidate({task.output: text}, float(((values - task.y) ** 2).mean()), expression.size)]


def from_sklearn(
    estimator: Any, to_text: Callable[[Any, Any], str] | None, name: str, *, reference: str = ""
) -> type[Estimator]:
    """A method class from a regressor with ``fit(X, y)`` and a function that writes it as an expression.

    Assigned at the top of a file in this folder, it is in the registry; of any other file, ``file.py:name`` names it.

    Parameters
    ----------
    estimator : object
        Copied before every fit; a parameter ``random_state`` is set from the run's generator. Whatever limits
        its search is its own affair: the budget's evaluations do not reach it.
    to_text : callable or None
        ``to_text(fitted, X)``, X a DataFrame with the task's input names as columns, returns infix text in
        these names. This is SRBench's ``model(est, X)``, so its modules plug in as ``from_sklearn(module.est,
        module.model, name)``. With None there are predictions only.
    name : str
        As in tables and parameter files.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> def line(fitted, X):
    ...     return " + ".join(f"{c:.6f}*{x}" for c, x in zip(fitted.coef_, X.columns))
    >>> Line = from_sklearn(LinearRegression(fit_intercept=False), line, "line", reference="Gauss (1809)")
    >>> import numpy as np
    >>> from rediscover.problems import Task
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> task = Task(("u", "v"), "z", X, np.array([2.0, 3.0, 5.0]))
    >>> Line().fit(task, budget=None, rng=np.random.default_rng(0))[0].solution
    {'z': '2.000000*u + 3.000000*v'}
    """
    if not callable(getattr(estimator, "fit", None)):
        raise TypeError(f"{name}: {type(estimator).__name__} has no fit(X, y)")
    if to_text is None and not callable(getattr(estimator, "predict", None)):
        raise TypeError(f"{name}: {type(estimator).__name__} has no predict(X): give a function to_text")
    body = {
        "__module__": sys._getframe(1).f_globals["__name__"],  # the caller's file is the method's file
        "__doc__": f"{type(estimator).__name__}, through its scikit-learn interface.",
        "name": name,
        "reference": reference,
        "estimator": estimator,
        "to_text": to_text and staticmethod(to_text),
    }
    return dataclass(frozen=True)(type(name, (Estimator,), body))
