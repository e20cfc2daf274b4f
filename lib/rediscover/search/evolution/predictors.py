"""Fitness predictors: few rows, found by evolution, that order programs as all rows do.

References
----------
M. Schmidt and H. Lipson, Coevolution of fitness predictors, IEEE Trans. Evol. Comput. 12 (2008) 736
"""

import numpy as np

from ..programs.draws import uniform
from ..programs.programs import Programs, evaluate
from .phases import Data, Population

DRAWN = 50  # programs of which trainers are taken


def discordance(estimated: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Share of pairs of programs that each predictor orders otherwise than the exact error does.

    Parameters
    ----------
    estimated : ndarray, shape (predictors, programs)
    exact : ndarray, shape (programs,)

    >>> discordance(np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]]), np.array([0.1, 0.2, 0.3])).round(3).tolist()
    [0.0, 0.333]
    """
    first, second = np.triu_indices(len(exact), 1)
    if not len(first):
        return np.zeros(len(estimated))
    wrong = np.sign(estimated[:, first] - estimated[:, second]) != np.sign(exact[first] - exact[second])
    return wrong.mean(axis=1)


class Predictors:
    """A population of lists of row numbers, and the programs (trainers) on which they are judged.

    Attributes
    ----------
    rows : ndarray of int, shape (predictors, rows of each)
    errors : squared errors of the trainers on all rows
    fitness : `discordance` of each predictor
    cost : evaluations that `train` takes at most
    """

    def __init__(self, data: Data, state, count: int = 100, rows: int = 10, trainers: int = 10):
        self.data, self.trainers, self.cost = data, trainers, trainers + DRAWN
        self.rng = np.random.default_rng(int(uniform(state) * 2**53))
        self.rows = self.rng.integers(len(data.y), size=(count, rows))
        self.errors = np.zeros((0, len(data.y)))
        self.fitness = np.zeros(count)

    def train(self, group: Population) -> int:
        """Renew the trainers: the programs on which predictors disagree most; the number of evaluations.

        Those are looked for among `DRAWN` at random, on the rows of the predictors alone.
        """
        drawn = self.rng.choice(len(group.sizes), min(DRAWN, len(group.sizes)), replace=False)
        known = np.unique(self.rows)
        spread = np.std(self.estimates(self.squares(group, drawn, known), np.searchsorted(known, self.rows)), axis=0)
        chosen: list[int] = []
        seen: set[bytes] = set()
        for k in np.argsort(-spread, kind="stable"):
            formula = group.tokens[drawn[k], : group.sizes[drawn[k]]].tobytes()
            if formula not in seen and len(chosen) < self.trainers:
                seen.add(formula)
                chosen.append(drawn[k])
        self.errors = self.squares(group, chosen, slice(None))
        self.judge()
        return len(chosen) + -(-len(drawn) * len(known) // len(self.data.y))

    def squares(self, group: Population, members, rows) -> np.ndarray:
        """Squared errors of programs on rows, 1e20 at most and where undefined; shape (programs, rows)."""
        programs = Programs(group.tokens[members], group.constants[members], group.sizes[members])
        with np.errstate(all="ignore"):
            errors = (evaluate(programs, self.data.X.T[rows]) - self.data.y[rows]) * self.data.weight
            return np.minimum(np.nan_to_num(errors**2, nan=1e20, posinf=1e20), 1e20)

    @staticmethod
    def estimates(errors: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Mean errors on each predictor's rows; shape (predictors, programs)."""
        return errors[:, rows].mean(axis=2).T

    def judge(self) -> None:
        self.fitness = discordance(self.estimates(self.errors, self.rows), self.errors.mean(axis=1))

    def evolve(self) -> np.ndarray:
        """One generation; the rows of the best predictor.

        Tournaments of two, one-point crossover, one row drawn anew; the best lives on unchanged.
        """
        count, length = self.rows.shape
        pairs = self.rng.integers(count, size=(2, count, 2))
        parents = np.take_along_axis(pairs, np.argmin(self.fitness[pairs], axis=2)[..., None], axis=2)[..., 0]
        cut = self.rng.integers(length, size=(count, 1))
        children = np.where(np.arange(length) < cut, self.rows[parents[0]], self.rows[parents[1]])
        children[np.arange(count), self.rng.integers(length, size=count)] = self.rng.integers(
            len(self.data.y), size=count
        )
        children[0] = self.rows[np.argmin(self.fitness)]
        self.rows = children
        self.judge()
        return np.sort(self.rows[np.argmin(self.fitness)])
