"""rediscover in srbf: a worker, which srbf's own runner serves in the environment where rediscover is installed.

``options``: ``method``, ``operators``, ``max_complexity``, ``max_evaluations``, ``time_limit`` (seconds) and
``random_state`` of `rediscover.estimators.EquationRegressor`.
"""

import warnings

import rediscover
from rediscover.estimators import EquationRegressor, NoClearEquation, NoisyData

import numpy as np
import sympy


def load(options):
    """The parameters of the regressor; an option that it has not ends the run before the first problem."""
    EquationRegressor(**options)
    return dict(options)


def info(state):
    return {"worker": "rediscover", "rediscover": rediscover.__version__, **state}


def fit(x, y, *, x_val, variables, meta, options, state):
    """The chosen equation in the names of the variables, and the front; a message where there can be none."""
    try:
        X, target = np.array(x, float), np.array(y, float).ravel()
        if X.ndim != 2 or X.shape[1] != len(variables):
            raise ValueError(f"x has the shape {X.shape} for {len(variables)} variables; give a row for each point")
        with warnings.catch_warnings(record=True) as doubts:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", NoClearEquation)
            warnings.simplefilter("always", NoisyData)
            found = EquationRegressor(**state).fit(X, target)
    except (ValueError, TypeError) as error:
        return {"expression": None, "error": " ".join(str(error).split())}
    names = {sympy.Symbol(f"x{i}"): sympy.Symbol(name) for i, name in enumerate(variables)}
    front = [str(found.sympy(i).xreplace(names)) for i in range(len(found.equations_))]
    extra = {"front": front, "evaluations": found.evaluations_, "ended": found.ended_, "clear": found.clear_}
    return {
        "expression": str(found.sympy().xreplace(names)),
        "constants": found.constants_["value"].tolist(),
        "extra": extra | {"doubts": [str(each.message) for each in doubts]},
    }
