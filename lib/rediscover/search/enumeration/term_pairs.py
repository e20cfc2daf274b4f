"""All pairs of features beside one another: how much of a target their sum or their product explains."""

from typing import NamedTuple

import numpy as np

BLOCK = 500  # features that are compared with all others at a time
PER_BLOCK = 30
ALIKE = 0.9999  # correlation from which two features are one
LEAST = 1e-4  # share of a product that the rest of the model must leave


class Choice(NamedTuple):
    """Features, the share of the target that they explain, and for a product whether the second one is a term too."""

    gain: float
    first: int
    second: int = -1
    both: bool = False


def centred(values, target, weights):
    """Features and target in single precision, weighted, without what the intercept explains, of norm 1."""
    base = weights / np.linalg.norm(weights)
    t = target - base * (base @ target)
    V = values * weights
    with np.errstate(all="ignore"):
        V -= np.outer(V @ base, base)
        norm = np.linalg.norm(V, axis=1)
        good = np.isfinite(norm) & (norm > 1e-9 * np.linalg.norm(values * weights, axis=1))
        V = np.where(good[:, None], V / norm[:, None], 0.0)
    return V.astype(np.float32), (t / np.linalg.norm(t)).astype(np.float32)


def singles(values, target, weights, n: int) -> list[Choice]:
    """The features that explain most beside an intercept."""
    gains = []
    for i in range(0, len(values), 20_000):
        V, t = centred(values[i : i + 20_000], target, weights)
        gains.append((V @ t) ** 2)
    gain = np.round(np.concatenate(gains), 5)
    return [Choice(float(gain[i]), int(i)) for i in np.argsort(-gain, kind="stable")[:n]]


def pairs(values, target, weights, n: int) -> list[Choice]:
    """The pairs whose sum, with coefficients and an intercept, explains most."""
    V, t = centred(values, target, weights)
    return normed_pairs(V, t, n)


def normed_pairs(V, t, n: int) -> list[Choice]:
    """The pairs whose sum explains most of a target, all of norm 1."""
    c = V @ t
    out: list[Choice] = []
    for i in range(0, len(V), BLOCK):
        rho = V[i : i + BLOCK] @ V.T
        with np.errstate(all="ignore"):
            gain = (c[i : i + BLOCK, None] ** 2 + c**2 - 2 * c[i : i + BLOCK, None] * c * rho) / (1 - rho**2)
        gain[(np.abs(rho) > ALIKE) | ~np.isfinite(gain)] = 0
        gain[np.arange(len(V)) <= np.arange(i, i + len(rho))[:, None]] = 0
        out += _top(gain, i, False)
    return sorted(out, key=lambda choice: -choice.gain)[:n]


def products(values, target, weights, n: int) -> list[Choice]:
    """The products f*g, alone and beside g, that explain most with coefficients and an intercept."""
    size = np.linalg.norm(values, axis=1)
    with np.errstate(all="ignore"):
        V = np.where(np.isfinite(size)[:, None] & (size > 0)[:, None], values / size[:, None], 0.0)
    V = (V * np.sqrt(V.shape[1])).astype(np.float32)
    base = weights / np.linalg.norm(weights)
    t = target - base * (base @ target)
    t = t / np.linalg.norm(t)
    w2, squares = (weights**2).astype(np.float32), V**2
    wt, wb = (weights * t).astype(np.float32), (weights * base).astype(np.float32)
    along, mean, norm = V @ wt, V @ wb, squares @ w2
    own = norm - mean**2
    out: list[Choice] = []
    for i in range(0, len(V), BLOCK):
        F = V[i : i + BLOCK]
        y = (F * wt) @ V.T
        m = (F * wb) @ V.T
        raw = (squares[i : i + BLOCK] * w2) @ squares.T
        left = raw - m**2
        with np.errstate(all="ignore"):
            gain = np.where(left > LEAST * raw, y**2 / left, 0.0)
            upper = np.arange(len(V)) < np.arange(i, i + len(F))[:, None]
            out += _top(np.where(upper, 0.0, np.nan_to_num(gain)), i, False)
            cross = (F * w2) @ squares.T - m * mean
            # two columns, f*g and g, both without the intercept
            det = left * own - cross**2
            both = (y**2 * own + along**2 * left - 2 * y * along * cross) / det
            both = np.where((det > LEAST * left * own) & (own > LEAST * norm) & (left > LEAST * raw), both, 0.0)
        out += _top(np.nan_to_num(both), i, True)
    alone = sorted((c for c in out if not c.both), key=lambda choice: -choice.gain)[:n]
    return alone + sorted((c for c in out if c.both), key=lambda choice: -choice.gain)[:n]


def _top(gain, start: int, both: bool) -> list[Choice]:
    flat = np.round(gain, 5).ravel()
    best = np.argpartition(-flat, PER_BLOCK)[:PER_BLOCK] if flat.size > PER_BLOCK else np.arange(flat.size)
    edge = flat[best].min() if best.size else 0.0
    best = np.flatnonzero(flat >= edge)[: 4 * PER_BLOCK]
    return [Choice(float(flat[k]), start + int(k // gain.shape[1]), int(k % gain.shape[1]), both) for k in best]
