"""Which of many columns a search is given: the tenth rule of `choice`.

Beside each column a copy is put whose rows are shuffled, and extremely randomised trees are grown on all. A column
stays if its importance is above that of every copy: what chance gives to the best of as many columns that say nothing.

References
----------
Geurts, Ernst, Wehenkel (2006), Extremely randomized trees, Machine Learning 63. Kursa, Rudnicki (2010), Feature
selection with the Boruta package, Journal of Statistical Software 36.
"""

import numpy as np

ROWS = 2_000  # that trees are grown on
LEAST_ROWS = 25  # of fewer nothing is left out
TREES, LEAF = 100, 5
LEAST = 10  # columns that stay at least


def screened(X: np.ndarray, y: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> list[int]:
    """Places of the columns that stay.

    Parameters
    ----------
    X : ndarray, shape (n, n_columns)
    y, weights : ndarray, shape (n,)
    rng : of the copies and of the rows, where there are more than `ROWS`

    Returns
    -------
    list of int

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> kept = screened(X, X[:, 3] * X[:, 7], np.ones(200), np.random.default_rng(1))
    >>> len(kept) < 16, {3, 7} <= set(kept)
    (True, True)
    """
    from sklearn.ensemble import ExtraTreesRegressor

    rows = rng.permutation(len(y))[:ROWS]
    X, y, weights = X[rows], y[rows], weights[rows]
    trees = ExtraTreesRegressor(
        TREES, min_samples_leaf=LEAF, max_features=1.0, random_state=int(rng.integers(2**31 - 1))
    )
    trees.fit(np.hstack([X, rng.permuted(X, axis=0)]), y, sample_weight=weights / weights.mean())
    real, copies = np.split(trees.feature_importances_, 2)
    least = min(float(copies.max()), float(np.sort(real)[-min(LEAST, len(real))]))
    return np.flatnonzero(real >= least).tolist()
