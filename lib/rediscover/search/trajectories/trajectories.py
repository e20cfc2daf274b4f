"""A trajectory, what lies between its times, and terms integrated along it.

x(t) = x(t_0) + sum_k c_k int phi_k(x(s)) ds is linear in c and needs no derivative of the data: noise stays what it is
in the states, where differences would divide it by the time step. Where the states move fast, a smooth curve through
them errs between their times; `Record.follow` puts the solution of a model there instead.
"""

import copy
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline, make_smoothing_spline

from ...expressions import parse
from ...expressions.numerics import Program
from .multiple_shooting import runge_kutta

NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)  # of the quadrature in an interval from -1 to 1
NODES_AT, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2  # from 0 to 1
SUBSTEPS = 2  # of a model's integration from node to node
ASTRAY = 0.2  # error of a model after one interval, over how far the states move, above which it is not followed
INNER = tuple(f"inner_{k}" for k in range(4))  # constants within a term, in programs
SMALL = 0.01  # values over the largest, below which noise that is proportional to them falls no further
FEWEST = 10  # values that tell whether there is noise


class Term(NamedTuple):
    """A function of the states with inner constants, written ``{0}``, ``{1}``, ... in its text.

    Attributes
    ----------
    start : constants that a fit starts from
    nodes : of its expression tree
    choice : bits that say which one it is of many
    """

    text: str
    start: tuple[float, ...] = ()
    nodes: int = 1
    choice: float = 0.0


@dataclass(frozen=True)
class Model:
    """Terms of one right-hand side with their constants; `loss` is the mean squared distance to the states."""

    terms: tuple[Term, ...]
    inner: tuple[tuple[float, ...], ...]
    coefficients: tuple[float, ...]
    loss: float
    bits: float = np.inf

    @property
    def text(self) -> str:
        parts = []
        for term, inner, c in zip(self.terms, self.inner, self.coefficients, strict=True):
            body = term.text.format(*(f"({k:.10g})" for k in inner))
            parts.append(f"({c:.10g})" if body == "1" else f"({c:.10g})*{body}")
        return " + ".join(parts) or "0"


@functools.lru_cache(maxsize=2**14)
def _program(text: str) -> Program:
    return Program([parse(text.format(*INNER)).tree])


def noise(column: np.ndarray) -> tuple[float, np.ndarray]:
    """Independent noise in equally spaced values: its standard deviation at their typical size, and its profile.

    The mean square of the k-th differences of noise is binom(2k, k) times its variance, so it more than triples from
    the fifth to the sixth; of anything smooth it falls. Noise is taken to be of one size, or proportional to the
    values, whichever makes the sixth differences more likely (as normal variables).

    Returns
    -------
    float, 0 where the values look smooth; ndarray of the shape of `column`, size of the noise over its typical size

    Examples
    --------
    >>> noise(np.sin(np.arange(50) / 2))[0]
    0.0
    >>> grown = np.exp(np.linspace(0, 3, 60)) * (1 + 0.05 * np.random.default_rng(0).standard_normal(60))
    >>> size, profile = noise(grown)
    >>> bool(profile[-1] > 5 * profile[0])
    True
    """
    flat = np.ones(len(column))
    if len(column) < FEWEST:
        return 0.0, flat
    fifth, sixth = np.diff(column, 5) ** 2, np.diff(column, 6) ** 2 / math.comb(12, 6)
    if sixth.mean() <= 2 * fifth.mean() / math.comb(12, 6):
        return 0.0, flat
    profile = np.sqrt(np.convolve(np.pad(column**2, 3, "edge"), np.ones(7) / 7, "valid"))
    profile = np.maximum(profile, SMALL * profile[3:-3].max())
    scaled = profile[3:-3]
    proportional = np.log(scaled).mean() + np.log((sixth / scaled**2).mean()) / 2 < np.log(sixth.mean()) / 2
    if not proportional:
        return math.sqrt(sixth.mean()), flat
    typical = math.sqrt((profile**2).mean())
    return float(np.sqrt((sixth / scaled**2).mean()) * typical), profile / typical


class Record:
    """A trajectory with what lies between its times, on which terms are integrated.

    First that is a smooth curve; `follow` puts the solution of a model in its place.

    Parameters
    ----------
    t : ndarray, shape (n,)
        Increasing.
    states : ndarray, shape (n, n_states)
    names : of the states
    smoothed : bool
        Whether the curve smooths noise, or goes through every state.

    Attributes
    ----------
    columns : name -> values at the nodes of the quadrature in each interval, shape ((n - 1) * n_nodes,)
    curve : ndarray, shape (n, n_states), its states at the times
    rates : ndarray, shape (n_states,), the highest of the curve
    noise : ndarray, shape (n_states,), its standard deviation over the range of the state
    profile : ndarray, shape (n, n_states), its size over the typical one
    """

    def __init__(self, t: np.ndarray, states: np.ndarray, names: Sequence[str], smoothed: bool = False):
        self.t, self.states, self.names = np.asarray(t, float), np.asarray(states, float), list(names)
        self.step = np.diff(self.t)
        self.known: dict[str, np.ndarray] = {}  # values of terms without inner constants
        fine = (self.t[:-1, None] + self.step[:, None] * NODES_AT).ravel()
        found = [noise(column) for column in self.states.T]
        self.noise = np.array(
            [size / (np.ptp(column) or 1.0) for (size, _), column in zip(found, self.states.T, strict=True)]
        )
        self.profile = np.column_stack([profile for _, profile in found])
        weights = self.profile.T**-2.0 if smoothed else [None] * len(self.names)
        splines = [_spline(self.t, column, w) for column, w in zip(self.states.T, weights, strict=True)]
        self.curve = np.column_stack([spline(self.t) for spline in splines])
        self.columns = {name: spline(fine) for name, spline in zip(self.names, splines, strict=True)}
        rates = np.array([np.abs(spline.derivative()(fine)).max() for spline in splines])
        self.rates = np.where(rates > 0, rates, 1.0)

    def values(self, term: Term, inner: Sequence[float]) -> np.ndarray:
        """Values of a term at the nodes."""
        if term.text in self.known:
            return self.known[term.text]
        with np.errstate(all="ignore"):
            (values,) = _program(term.text)(self.columns | dict(zip(INNER, inner, strict=False)))
        values = np.broadcast_to(np.asarray(values, float), len(self.step) * len(NODES_AT))
        if not term.start:
            self.known[term.text] = values
        return values

    def integral(self, values: np.ndarray) -> np.ndarray:
        """Integrals from the first time to each, shape (n,)."""
        pieces = self.step * (values.reshape(len(self.step), -1) @ WEIGHTS)
        return np.concatenate([[0.0], np.cumsum(pieces)])

    def follow(self, system: Sequence[Model]) -> "Record | None":
        """The record with solutions of a system between its times, each bent to end at the next state.

        None where the system does not follow the record: where in one interval it errs by more than `ASTRAY` of how far
        the states move.
        """
        right = Program([parse(model.text, names=self.names).tree for model in system])
        x, path = self.curve[:-1], []
        last = 0.0
        with np.errstate(all="ignore"):
            for at in (*NODES_AT, 1.0):
                h = (self.step * (at - last) / SUBSTEPS)[:, None]
                for _ in range(SUBSTEPS):
                    x = runge_kutta(right, self.names, x, h)
                path.append(x)
                last = at
            off = self.curve[1:] - path.pop()
            moved = np.sqrt(np.mean(np.diff(self.curve, axis=0) ** 2, axis=0))
            if not (np.sqrt(np.mean(off**2, axis=0)) <= ASTRAY * moved).all():
                return None
        new = copy.copy(self)
        bent = np.stack(path, axis=1) + off[:, None] * NODES_AT[:, None]
        new.known = {}
        new.columns = dict(zip(self.names, np.moveaxis(bent, 2, 0).reshape(len(self.names), -1), strict=True))
        return new


def _spline(t: np.ndarray, column: np.ndarray, weights: np.ndarray | None) -> BSpline:
    """A curve through the values; with `weights`, a smoothing one."""
    y = column / (spread := np.ptp(column) or 1.0)
    found = make_interp_spline(t, y, min(5, len(t) - 1)) if weights is None else make_smoothing_spline(t, y, weights)
    return BSpline(found.t, spread * found.c, found.k)
