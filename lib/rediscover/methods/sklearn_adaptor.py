"""Any regressor of the scikit-learn kind as a method: ``fit``, and a function that writes what was fitted as text."""

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problems import Task
from . import Budget, Candidate
from .tables import Tabular


@dataclass(frozen=True)
class Estimator(Tabular):
    """A fitted copy of `estimator`, written by `to_text`; made by `from_sklearn`."""

    estimator: ClassVar[Any] = None
    to_text: ClassVar[Callable[[Any, Any], str]]

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        import pandas as pd

        from ..expressions import parse

        X = pd.DataFrame(task.X, columns=list(task.inputs))
        estimator = copy.deepcopy(self.estimator)
        if hasattr(estimator, "get_params") and "random_state" in estimator.get_params():
            estimator.set_params(random_state=int(rng.integers(2**31)))
        estimator.fit(task.X, task.y)
        text = str(type(self).to_text(estimator, X))
        expression = parse(text, names=task.inputs)
        values = expression({name: X[name].to_numpy() for name in task.inputs})
        return [Candidate({task.output: text}, float(((values - task.y) ** 2).mean()), expression.size)]


def from_sklearn(
    estimator: Any, to_text: Callable[[Any, Any], str], name: str, *, reference: str = ""
) -> type[Estimator]:
    """A method class from a regressor with ``fit(X, y)`` and a function that writes it as an expression.

    Assigned at the top of a file in this folder, it is in the registry.

    Parameters
    ----------
    estimator : object
        Copied before every fit; a parameter ``random_state`` is set from the run's generator. Whatever limits
        its search is its own affair: the budget's evaluations do not reach it.
    to_text : callable
        ``to_text(fitted, X)``, X a DataFrame with the task's input names as columns, returns infix text in
        these names. This is SRBench's ``model(est, X)``, so its modules plug in as ``from_sklearn(module.est,
        module.model, name)``.
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
    body = {
        "__module__": sys._getframe(1).f_globals["__name__"],  # the caller's file is the method's file
        "__doc__": f"{type(estimator).__name__}, through its scikit-learn interface.",
        "name": name,
        "reference": reference,
        "estimator": estimator,
        "to_text": staticmethod(to_text),
    }
    return dataclass(frozen=True)(type(name, (Estimator,), body))
