"""rediscover in SRBench: `est`, `model`, `complexity` and `eval_kwargs`, as its contribution guide asks."""

from rediscover.estimators import EquationRegressor

import numpy as np
import sympy

SEARCH = 0.9  # share of the time for the search; constants are fitted in the rest


class Regressor(EquationRegressor):
    """The regressor under SRBench's names: `max_time` in seconds, `random_state`.

    Where an equation is undefined it predicts the mean of the training target, as SRBench's scores refuse anything that
    is not finite; the text of the model is the equation itself.
    """

    def __init__(self, max_time=3600.0, max_evaluations=150_000_000, random_state=0):
        super().__init__(max_evaluations=max_evaluations, random_state=random_state)
        self.max_time = max_time

    def fit(self, X, y):
        self.time_limit = SEARCH * self.max_time
        self.mean_ = float(np.mean(y))
        return super().fit(X, np.ravel(y))

    def predict(self, X):
        values = super().predict(X)
        return np.where(np.isfinite(values), values, self.mean_)


est = Regressor()


def model(est, X=None):
    """The equation as text for SymPy, in the names of the columns of X."""
    columns = [name.column for name in est._names] if X is None else [str(column) for column in X.columns]
    names = {sympy.Symbol(name.shown): sympy.Symbol(c) for name, c in zip(est._names, columns, strict=True)}
    return str(est.sympy().xreplace(names))


def complexity(est):
    """Nodes of the equation as SymPy has it, which is how SRBench counts."""
    return sum(1 for _ in sympy.preorder_traversal(est.sympy()))


def get_population(est):
    return [est]


def get_best_solution(est):
    return est


# One configuration, which is not tuned; the search looks for laws in the units of the data, so nothing is scaled.
hyper_params = [{}]
eval_kwargs = {"scale_x": False, "scale_y": False, "test_params": {"max_time": 60.0, "max_evaluations": 20_000}}
