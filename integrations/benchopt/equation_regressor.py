"""rediscover in benchopt: a solver for benchmarks whose objective hands over X and y and evaluates a fitted model."""

from rediscover.estimators import EquationRegressor

import numpy as np
from benchopt import BaseSolver


class Solver(BaseSolver):
    """An equation for y, as a regressor with `predict`."""

    name = "rediscover"
    install_cmd = "conda"
    requirements = ["pip::git+https://github.com/rediscover/rediscover"]
    references = ["https://github.com/rediscover/rediscover"]
    sampling_strategy = "run_once"  # a search with another budget is another search: the budget is a parameter
    parameters = {"method": ["bidirectional"], "max_evaluations": [10_000_000], "time_limit": [60.0]}
    test_config = {"max_evaluations": 2000, "time_limit": 10.0}

    def skip(self, X, y, **others):
        target = np.asarray(y)
        if target.dtype.kind not in "fiu" or target.squeeze().ndim != 1:
            return True, "rediscover needs one column of numbers as the target"
        return False, None

    def set_objective(self, X, y, **others):
        self.X, self.y = X, np.ravel(y)

    def run(self, n_iter):
        self.model = EquationRegressor(
            method=self.method, max_evaluations=self.max_evaluations, time_limit=self.time_limit, random_state=0
        ).fit(self.X, self.y)

    def get_result(self):
        return {"model": self.model}
