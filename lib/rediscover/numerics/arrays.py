"""Numbers as people have them: arrays of floats, or one sentence that says what is wrong."""

import math
from collections.abc import Mapping
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from .differences import even_step

LEAST_TIMES = 12  # of a trajectory: with fewer, blocks for training and validation have too few rows for differences


def floats(values: ArrayLike | None) -> np.ndarray:
    """Values as floats of 64 bits; what is None or hidden by a mask is missing, so NaN.

    Examples
    --------
    >>> floats(np.ma.array([1, 2], mask=[False, True]))
    array([ 1., nan])
    """
    return np.asarray(_shown(values), dtype=float)


def real_numbers(values: ArrayLike, what: str) -> np.ndarray:
    """Values as real numbers: floats as they are, integers and Booleans as floats, whose products do not overflow.

    Parameters
    ----------
    values : array_like
        None stands for what is missing, as NaN and a mask do.
    what : str
        They are, for the message.

    Returns
    -------
    ndarray of floats, of the same shape

    Raises
    ------
    ValueError
        If one is complex, a text, a date or another thing.

    Examples
    --------
    >>> real_numbers([1, None], "the target")
    array([ 1., nan])
    """
    found = np.asarray(_shown(values))
    if found.dtype.kind == "O":
        with suppress(TypeError, ValueError):
            found = found.astype(float)
    if found.dtype.kind == "c":
        raise ValueError(f"{what} holds complex numbers; give real and imaginary parts as columns of their own")
    if found.dtype.kind not in "fiub":
        odd = next((value for value in found.ravel().tolist() if not isinstance(value, int | float)), "")
        raise ValueError(f"{what} holds something that is no number, such as {odd}")
    return found if found.dtype.kind == "f" else found.astype(float)


def _shown(values: ArrayLike | None) -> ArrayLike | None:
    """The values, with None for each that a mask hides."""
    if not np.ma.is_masked(values):
        return values
    # As objects, since what a mask hides may be of a kind that has no NaN.
    masked: np.ma.MaskedArray = np.ma.asarray(values)
    shown = masked.data.astype(object)
    shown[np.ma.getmaskarray(masked)] = None
    return shown


def size_of(y: np.ndarray) -> float:
    """Root mean square, without overflow; 1 for zeros.

    >>> round(size_of(np.array([3e200, -4e200, 0.0, 0.0])) / 1e200, 12)
    2.5
    """
    largest = float(np.max(np.abs(y))) or 1.0
    return largest * math.sqrt(float(np.mean((y / largest) ** 2))) or 1.0


def checked_table(X: ArrayLike, y: ArrayLike, columns: int, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and target as floats of matching shapes.

    Parameters
    ----------
    X : array_like, shape (n, n_inputs)
    y : array_like, shape (n,) or (n, 1)
    columns : how many names the inputs have
    what : the table is, for the message

    Returns
    -------
    X, y : ndarray, shapes (n, n_inputs) and (n,)

    Raises
    ------
    ValueError
        If a value is no real number (`real_numbers`), or the shapes do not go together.

    Examples
    --------
    >>> checked_table([[1], [2]], [[3], [4]], 1, "y")[1]
    array([3., 4.])
    """
    X, y = real_numbers(X, f"{what}: each of the inputs"), real_numbers(y, f"{what}: the target")
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if X.ndim != 2 or y.ndim != 1 or len(X) != len(y) or not len(y):
        shapes = f"inputs have the shape {X.shape}, the target {y.shape}"
        raise ValueError(f"{what}: {shapes}; give (n, n_inputs) and (n,) with n at least 1")
    if not columns or X.shape[1] != columns:
        raise ValueError(
            f"{what}: {columns} names for {X.shape[1]} columns of inputs; give at least one column, and a name for each"
        )
    return X, y


def check_times(t: np.ndarray, states: np.ndarray, what: str) -> None:
    """Refuse a record in time that no right-hand side can be fitted to.

    Parameters
    ----------
    t : ndarray, shape (n,)
    states : ndarray, shape (n, n_states)
    what : the record is, for the message

    Raises
    ------
    ValueError
        If there are fewer than `LEAST_TIMES` times, times that do not increase, or a number that is not finite.
    """
    if len(t) < LEAST_TIMES:
        raise ValueError(f"{what}: {len(t)} times are too few; give at least {LEAST_TIMES}")
    for values, name in ((t, "time"), (states, "state")):
        if not np.isfinite(values).all():
            raise ValueError(f"{what}: a {name} is missing or infinite; leave out its row")
    if not (np.diff(t) > 0).all():
        raise ValueError(f"{what}: the times do not increase; sort the rows by time and keep one of each time")


def check_grid(axes: Mapping[str, np.ndarray], t: np.ndarray, what: str) -> None:
    """Refuse a grid that is not even: derivatives in space, and weak forms, rest on its steps.

    Raises
    ------
    ValueError
        If the points of an axis or the times are not evenly spaced.
    """
    named = {f"points of {name}": points for name, points in axes.items()} | {"times": t}
    for name, points in named.items():
        if len(points) > 1 and even_step(points) is None:
            raise ValueError(f"{what}: the {name} are not evenly spaced; interpolate to an even grid first")


def time_splits(n: int, split: str = "published") -> dict[str, slice]:
    """Blocks of a record of n times: the published ones, or 60 / 20 / 20 % without overlap.

    Examples
    --------
    >>> time_splits(150)["validation"], time_splits(150, "corrected")["validation"]
    (slice(72, 96, None), slice(90, 120, None))
    """
    if split not in ("published", "corrected"):
        raise ValueError(f"split must be 'published' or 'corrected', got {split!r}")
    kept, test = int(0.8 * n), int(0.2 * n)
    cut = int(0.2 * kept) if split == "published" else test
    # As published, the validation block is cut from the end of the training block, not from behind it.
    end = kept - cut if split == "published" else kept
    return {
        "train": slice(0, kept - cut),
        "validation": slice(end - cut, end),
        "refit": slice(0, kept),
        "test": slice(n - test, n),
    }
