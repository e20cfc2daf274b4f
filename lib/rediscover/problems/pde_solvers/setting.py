"""What a solver is given, and what it returns."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np


class Setting(NamedTuple):
    """What a solver needs: physical parameters, the axes of the stored grid, and the stored times.

    Attributes
    ----------
    parameters : name -> number of the system, in SI units unless the data file says otherwise
    axes : name -> ndarray, shape (n,)
    t : ndarray, shape (n_t,)
    """

    parameters: Mapping[str, Any]
    axes: Mapping[str, np.ndarray]
    t: np.ndarray


class Simulation(NamedTuple):
    """A simulated field.

    Attributes
    ----------
    u : ndarray, shape (n_x, [n_y, [n_z,]] n_t, d)
    du : ndarray of the shape of `u`, or None
        Time derivative by differences of the full record, where `u` is cut or thinned in time.
    """

    u: np.ndarray
    du: np.ndarray | None = None


def slope(u: np.ndarray, step: float) -> np.ndarray:
    """Time derivative of second order, one-sided at both ends, along the second to last axis.

    Parameters
    ----------
    u : ndarray, shape (..., n_t, d)
    step : float
        Between two times.

    Returns
    -------
    ndarray, of the shape of `u`
    """
    return np.gradient(u, step, axis=-2, edge_order=2)
