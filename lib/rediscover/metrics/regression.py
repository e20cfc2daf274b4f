"""Errors of predicted values.

The field means several things by "NMSE"; each has its own name here and none is called plainly so. ``prediction`` and
``truth`` have shape (n,), or (n, n_outputs) where there are several outputs. Harmonised metrics never drop a row: a
prediction that is not finite anywhere is infinitely wrong. Metrics named after a release drop what it drops.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import floats
from . import metric

OUTPUTS = "array_like, shape (n,) or (n, n_outputs)"


def _pair(prediction: ArrayLike, truth: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    prediction, truth = floats(prediction), floats(truth)
    if truth.ndim not in (1, 2) or truth.size == 0:
        raise ValueError(f"truth must have shape (n,) or (n, n_outputs) with n > 0, got {truth.shape}")
    if prediction.ndim == 0:  # a constant prediction
        prediction = np.broadcast_to(prediction, truth.shape)
    if prediction.shape != truth.shape:
        raise ValueError(f"prediction has shape {prediction.shape}, truth {truth.shape}")
    if not np.isfinite(truth).all():
        raise ValueError("truth holds values that are not finite")
    return prediction, truth


def _sums(prediction: ArrayLike, truth: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Squared error (inf where not all is finite) and squared deviation from the mean, per output."""
    prediction, truth = _pair(prediction, truth)
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.sum((prediction - truth) ** 2, axis=0)
        spread = np.sum((truth - truth.mean(axis=0)) ** 2, axis=0)
    error = np.where(np.isnan(error), np.inf, error)
    # the mean of equal numbers may be off by rounding
    spread = np.where(np.ptp(truth, axis=0) == 0, 0.0, spread)
    return np.atleast_1d(error), np.atleast_1d(spread)


def _unit(prediction: ArrayLike, truth: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Both in a unit near the largest truth, so that squares of 1e-200 do not vanish; a power of two, so exactly."""
    prediction, truth = _pair(prediction, truth)
    shift = -int(np.frexp(np.abs(truth).max())[1])
    with np.errstate(over="ignore"):
        return np.ldexp(prediction, shift), np.ldexp(truth, shift)


def _ratio(error: float, spread: float) -> float:
    """error / spread; where there is no spread, 0 for a perfect prediction and inf otherwise."""
    if spread == 0:
        return 0.0 if error == 0 else math.inf
    return float(error / spread)


@metric("lower", of=OUTPUTS)
def mse(prediction: ArrayLike, truth: ArrayLike) -> float:
    """Mean squared error over all values, in squared units of the truth; inf where a prediction is not finite.

    >>> mse([1, 2, 5], [1, 2, 3])  # (0 + 0 + 4) / 3
    1.3333333333333333
    """
    error, _ = _sums(prediction, truth)
    return float(error.sum() / np.size(truth))


@metric("lower", of=OUTPUTS)
def nmse_variance(prediction: ArrayLike, truth: ArrayLike) -> float:
    r"""Squared error over squared deviation from the truth's mean: the harmonised NMSE.

    .. math:: \sum_{ij} (\hat y_{ij} - y_{ij})^2 \Big/ \sum_{ij} (y_{ij} - \bar y_j)^2

    Both sums run over all outputs j. The mean predictor has 1. SurfaceBench, section 4 (one output).
    Not finite: inf. Constant truth: 0 if the prediction is exact, else inf.

    >>> nmse_variance([1, 2, 5], [1, 2, 3])  # 4 / (1 + 0 + 1)
    2.0
    """
    error, spread = _sums(*_unit(prediction, truth))
    return _ratio(error.sum(), spread.sum())


@metric("lower", of=OUTPUTS)
def nmse_per_output(prediction: ArrayLike, truth: ArrayLike) -> float:
    """`nmse_variance` of each output, averaged: every output counts the same, whatever its scale.

    >>> nmse_per_output([[1, 0], [3, 20]], [[1, 0], [3, 10]])  # (0 + 100 / 50) / 2
    1.0
    """
    return float(np.mean([_ratio(*sums) for sums in zip(*_sums(prediction, truth), strict=True)]))


@metric("lower", of=OUTPUTS)
def nmse_power(prediction: ArrayLike, truth: ArrayLike) -> float:
    r"""Squared error over squared truth, all outputs together, as released by MDBench.

    .. math:: \sum (\hat y - y)^2 \Big/ \Big(\sum y^2 + 10^{-10}\Big)

    Zero has 1, whatever the truth's mean. Not finite: inf.

    >>> round(nmse_power([1, 2, 5], [1, 2, 3]), 6)  # 4 / 14
    0.285714
    """
    error, _ = _sums(prediction, truth)
    return float(error.sum() / (np.sum(np.square(floats(truth))) + 1e-10))


@metric("lower", of="array_like, shape (n,)")
def nmse_release(prediction: ArrayLike, truth: ArrayLike) -> float:
    """NMSE as released by SurfaceBench for one output: rows with a NaN prediction are dropped.

    Infinities are not. Mean squared error over variance of the rows left. No variance: 0 if the error is 0,
    else inf. No row left: inf. The release then leaves infinite scores out of its averages.

    >>> nmse_release([1, float("nan"), 5], [1, 2, 3])  # (0 + 4) / 2 over a variance of 1
    2.0
    """
    prediction, truth = _pair(prediction, truth)
    if truth.ndim != 1:
        raise ValueError("nmse_release is for one output; see nmse_release_parametric")
    kept = ~np.isnan(prediction)
    return _ratio(*(float(s.sum()) for s in _sums(prediction[kept], truth[kept]))) if kept.any() else math.inf


@metric("lower", of="array_like, shape (n, n_axes)")
def nmse_release_parametric(prediction: ArrayLike, truth: ArrayLike) -> float:
    """NMSE as released by SurfaceBench for parametric surfaces.

    The mean of the axes' squared errors over the sum of their variances.

    With three axes it is a third of `nmse_variance`: the mean predictor has 1/3. The release reports nothing
    where a prediction is not finite; here that is inf.

    >>> truth = [[0, 0, 0], [2, 4, 6]]
    >>> round(nmse_release_parametric([[1, 2, 3], [1, 2, 3]], truth), 9)  # the mean predictor
    0.333333333
    """
    error, spread = _sums(prediction, truth)
    return _ratio(error.mean(), spread.sum())


@metric("higher", lower=-math.inf, upper=1.0, of=OUTPUTS)
def r2(prediction: ArrayLike, truth: ArrayLike) -> float:
    """Coefficient of determination, 1 - `nmse_variance`; -inf where a prediction is not finite.

    >>> r2([1, 2, 4], [1, 2, 3])  # 1 - 1 / 2
    0.5
    """
    return 1.0 - nmse_variance(prediction, truth)


@metric("higher", upper=1.0)
def r2_accuracy(prediction: ArrayLike, truth: ArrayLike, *, threshold: float = 0.999) -> float:
    """1 if `r2` is greater than the threshold, else 0; averaged over problems, the share that is fitted.

    Parameters
    ----------
    prediction, truth : array_like, shape (n,) or (n, n_outputs)
    threshold : float
        Of `r2`.

    Returns
    -------
    float, 0 or 1

    Examples
    --------
    >>> r2_accuracy([1, 2, 3], [1, 2, 3]), r2_accuracy([1, 2, 4], [1, 2, 3])
    (1.0, 0.0)
    """
    return float(r2(prediction, truth) > threshold)


@metric("lower")
def relative_squared_error(prediction: ArrayLike, truth: ArrayLike) -> float:
    r"""Mean of ((y - f) / y)^2, by which SRSD chooses among models on validation data (eq. (4)).

    Parameters
    ----------
    prediction, truth : array_like, shape (n,)

    Returns
    -------
    float; inf where a prediction is not finite or a truth is zero, so that such a model is never chosen.

    Raises
    ------
    ValueError
        If the shapes differ or there are no rows.

    Examples
    --------
    >>> relative_squared_error([1.0, 3.0], [1.0, 2.0])  # (0 + 1/4) / 2
    0.125
    """
    prediction, truth = floats(prediction), floats(truth)
    if prediction.shape != truth.shape or truth.size == 0:
        raise ValueError(f"need values of one shape and at least one, got {prediction.shape} and {truth.shape}")
    with np.errstate(all="ignore"):
        error = np.mean(((truth - prediction) / truth) ** 2)
    return float(error) if np.isfinite(error) else math.inf
