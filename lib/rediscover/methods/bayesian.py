"""Variational Bayes with a spike-and-slab prior, started from PDEFIND's terms."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, gammaln, xlogy

from ..problems import Field
from ..search.trajectories.sparse_regression import Equations, Rows, stlsq
from .sindy import ThresholdedRidge
from .sparse_dynamics import Prepared

SLAB = 10.0  # slab variance over noise variance
SHAPE = RATE = 1e-4  # inverse-gamma prior of the noise variance
PRECISION = 1000.0  # of the noise, at the start
MAX_ITER = 100


def spike_and_slab(gram, moment, power: float, n: int, start, tol: float, rng: np.random.Generator, hard: bool = True):
    r"""Posterior mean of sparse coefficients by mean-field variational Bayes.

    The model is :math:`y = X (z \odot \theta) + \epsilon`, with :math:`\theta \sim N(0, 10 \sigma^2)`,
    :math:`z_j \sim \mathrm{Bernoulli}(p_0)`, :math:`p_0 = 1 / (1 + e^{\sqrt n / 2})` and an inverse-gamma
    :math:`\sigma^2`. It sees the data through their Gram matrix only. The first column, the constant, is
    always in.

    Parameters
    ----------
    gram : ndarray, shape (m, m)
        X'X.
    moment : ndarray, shape (m,)
        X'y.
    power : float
        y'y.
    n : int
        Rows of X.
    start : ndarray of bool, shape (m,)
        Terms included at the start.
    tol : float
        Stop when the lower bound of the likelihood rises by less.
    rng : numpy Generator, for the order of the sweeps over terms
    hard : bool
        As released, where inclusion probabilities are kept as whole numbers: any below 1 becomes 0, so terms
        can only leave unless they are certain. False for the method as derived.

    Returns
    -------
    coefficients : ndarray, shape (m,)
        Posterior means.
    inclusion : ndarray, shape (m,)

    References
    ----------
    More, Tripura, Nayek & Chakraborty 2023, Physica D 456, 133927; Ormerod, You & Müller 2017.
    """
    m = len(gram)
    z = start.astype(float)
    z[0] = 1.0
    odds = -0.5 * np.sqrt(n)  # logit of p0
    tau, shape = PRECISION, SHAPE + 0.5 * n + 0.5 * m
    bound = -np.inf
    for iteration in range(MAX_ITER):
        # A term with z = 0 has its prior for a posterior, and whole numbers never bring it back.
        kept = np.flatnonzero(z) if hard else np.arange(m)
        left = m - len(kept)
        G, b, own = gram[np.ix_(kept, kept)], moment[kept], z[kept]
        inner = G * (np.outer(own, own) + np.diag(own * (1 - own))) + np.eye(len(kept)) / SLAB
        covariance = np.linalg.inv(tau * (inner + inner.T) / 2)
        mean = tau * (covariance @ (own * b))
        spread = power - 2 * (own * b) @ mean + np.sum(inner * (np.outer(mean, mean) + covariance)) + left / tau
        volume = np.linalg.slogdet(covariance)[1] + left * np.log(SLAB / tau)
        rate = RATE + 0.5 * abs(spread)  # negative only by rounding
        tau = shape / rate
        place = dict(zip(kept, range(len(kept)), strict=True))
        for j in (place[term] for term in rng.permutation(np.arange(1, m)) if term in place):
            second = mean * mean[j] + covariance[:, j]
            cross = (G[j] * own) @ second - G[j, j] * own[j] * second[j]
            eta = odds - 0.5 * tau * second[j] * G[j, j] + tau * (b[j] * mean[j] - cross)
            own[j] = np.floor(expit(eta)) if hard else expit(eta)
        z[kept] = own
        entropy = -np.sum(xlogy(z, z) + xlogy(1 - z, 1 - z))
        prior = -np.sum(z * np.logaddexp(0, -odds) + (1 - z) * np.logaddexp(0, odds))
        new = 0.5 * volume - shape * np.log(rate) + gammaln(shape) + entropy + prior
        if iteration > 1 and 0 <= new - bound < tol:
            break
        bound = new
    coefficients = np.zeros(m)
    coefficients[kept] = mean
    return coefficients, z


@dataclass(frozen=True)
class Bayesian(ThresholdedRidge):
    """Bayesian PDE discovery as MDBench runs it: PDEFIND's support, then the posterior mean, unfiltered.

    The published grid has inclusion thresholds too, but they have no effect in the released code and are left out.

    Attributes
    ----------
    tols : changes of the bound at which to stop
    hard : see `spike_and_slab`
    """

    name: ClassVar[str] = "bayesian"
    reference: ClassVar[str] = "More et al. 2023; MDBench 2025, Table A2"
    accepts: ClassVar[tuple[type, ...]] = (Field,)

    families: tuple[tuple[str, ...], ...] = ((),)
    tols: tuple[float, ...] = (1e-4, 1e-3, 1e-2)
    hard: bool = True

    def posterior(self, rows: Rows, columns, threshold, alpha, tol, rng: np.random.Generator, known: dict) -> Equations:
        found = []
        for i in range(rows.Y.shape[1]):
            start = np.isin(columns, stlsq(rows, i, columns, threshold, alpha, self.max_iter))
            key = (i, columns.tobytes(), start.tobytes(), tol)
            if key not in known:
                data = (rows.gram[np.ix_(columns, columns)], rows.moment[columns, i], float(np.sum(rows.Y[:, i] ** 2)))
                mean, _ = spike_and_slab(*data, rows.n, start, tol, rng, self.hard)
                known[key] = (columns[mean != 0], mean[mean != 0])
            found.append(known[key])
        return found

    def search(self, p: Prepared, rng: np.random.Generator) -> Iterator[tuple[dict[str, Any], Equations]]:
        rows = p.rows("train")
        known: dict = {}
        for library, columns in p.usable(rows):
            for threshold, alpha, tol in itertools.product(self.thresholds, self.alphas, self.tols):
                setting = {**library, "threshold": threshold, "alpha": alpha, "tol": tol}
                yield setting, self.posterior(rows, columns, threshold, alpha, tol, rng, known)

    def refit(self, p: Prepared, setting: Mapping[str, Any], rng: np.random.Generator) -> Equations:
        own = setting["threshold"], setting["alpha"], setting["tol"]
        return self.posterior(p.rows("refit"), p.columns(setting), *own, rng, {})
