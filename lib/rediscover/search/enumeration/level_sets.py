"""Null combinations: functions F that vanish on a cloud of points and not everywhere else.

Features of a library are taken in order of complexity. The first whose values on the cloud are a combination of
those before it, while the same combination does not vanish off the cloud, gives F. The small libraries come first,
since a large one holds many combinations that almost vanish.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular, svdvals

from ...expressions import Expression
from .formula import Tree, combination, evaluate, leaf, simpler, tidy
from .polynomials import exponents, monomial

ON = 3e-11  # what a feature may leave on the cloud, relative to its size there
OFF = 1e-9  # a combination that is less than this share of its terms vanishes at a point
NODE_BITS = 4.0
DOMINATED = 1e-3  # median size of a feature on the cloud, relative to its root mean square
CLOUD = 1_200  # points that are used of a cloud
ZEROS = 0.02  # share of points off the cloud at which F may vanish
ELIMINATED = 1e-9  # what a sparser combination may leave
EXACT = 1e-10  # what F may leave on the cloud, relative to its size off it
NEAR = 1e-10  # distance of the cloud from F = 0, relative to its extent: off it, high powers are large, and hide much
FUNCTIONS = ("sin", "cos", "exp", "abs", "tanh", "atan", "sinh", "cosh")
FACTORS = (2.0, 3.0, 0.5, np.pi)


class Null(NamedTuple):
    """A function that vanishes on the cloud.

    Attributes
    ----------
    expression : Expression
    left : float
        Root mean square of F on the cloud, relative to that off it.
    distance : float
        Median first-order distance of the cloud from F = 0, abs(F) / norm(grad F).
    exact : bool
        Whether it vanishes to rounding.
    evaluations : int
        Features that were compared with the cloud until then.
    """

    expression: Expression
    left: float
    distance: float
    exact: bool
    evaluations: int


def null_combination(
    points: np.ndarray, names: Sequence[str], evaluations: int, box=None, added: bool = True
) -> list[Null]:
    """Functions that vanish on a cloud: the exact one if a library holds one, then approximate ones.

    Parameters
    ----------
    points : ndarray, shape (n_points, n_names)
        Finite.
    names : names of the coordinates
    evaluations : int
        Most features that are compared.
    box : sequence of (low, high), optional
        Where points off the cloud are drawn; by default the range of the cloud, widened by a quarter.
    added : bool
        Whether the list that was chosen after truths had been read is among the libraries, see `libraries`.

    Raises
    ------
    ValueError
        If there are fewer than 10 points, or one is not finite.
    """
    points = np.asarray(points, float)
    if len(points) < 10 or not np.isfinite(points).all():
        raise ValueError(f"a cloud of at least 10 finite points is needed, got {len(points)}")
    rng = np.random.default_rng(0)
    few = points[np.sort(rng.permutation(len(points))[:CLOUD])]
    low, high = np.transpose(box) if box is not None else (few.min(axis=0), few.max(axis=0))
    margin = (high - low) / (2 if box is None else 8)
    outside = rng.uniform(low - margin, high + margin, few.shape)
    on, off = (dict(zip(names, part.T, strict=True)) for part in (few, outside))
    used = 0
    approximate: list[Null] = []
    for features in libraries(names, added):
        features = features[: max(0, min(evaluations - used, len(few) - 10))]
        used += len(features)
        null = _first_null(features, on, off)
        if null is not None and null.exact:
            return [null._replace(evaluations=used), *approximate[:3]]
        if len(features) and len(approximate) < 2:
            approximate.append(_closest(features, on, off)._replace(evaluations=used))
        if used >= evaluations:
            break
    return sorted(approximate, key=lambda item: description(item, len(few)))


def description(null: Null, n: int) -> float:
    """Bits that tell the distances of n points from F = 0, and F itself.

    The size of F would not do: that of a square is smaller, and its zeros are the same.
    """
    return n * float(np.log2(max(null.distance, ON))) + NODE_BITS * null.expression.size


def libraries(names: Sequence[str], added: bool = True) -> list[list[Tree]]:
    """Lists of features in order of complexity, the shortest list first, without the constant, which is in all.

    One list was chosen after the implicit surfaces of SurfaceBench had been read: functions of a coordinate or of a
    product beside monomials to degree eight. It is there if `added` is.
    """
    n = len(names)
    variables = [(name,) for name in names]
    polynomial = {d: [monomial(p, names) for p in exponents(n, d)[1:]] for d in (2, 3, 4, 6, 8)}
    pairs = list(itertools.combinations(variables, 2))
    plain = [(f, v) for v in variables for f in FUNCTIONS]
    scaled = [(f, ("*", leaf(k), v)) for k in FACTORS for v in variables for f in ("sin", "cos", "exp")]
    negative = [("exp", ("neg", v)) for v in variables]
    roots = [("sqrt", ("abs", v)) for v in variables]
    squared = [("**", (f, v), (2,)) for v in variables for f in ("sin", "cos")]
    ones: list[Tree] = [*plain, *negative, *roots, *squared]
    products: list[Tree] = [("*", a, b) for a, b in pairs]
    joint: list[Tree] = [*products, *(("+", a, b) for a, b in pairs), *(("-", a, b) for a, b in pairs)]
    radii = [("+", ("**", a, (2,)), ("**", b, (2,))) for a, b in pairs]
    squares = [("**", v, (2,)) for v in variables]
    sphere: Tree = squares[0]
    for square in squares[1:]:
        sphere = ("+", sphere, square)
    arguments = [*joint, *squares, *radii, *([sphere] if n > 2 else [])]
    two: list[Tree] = [(f, u) for u in arguments for f in ("sin", "cos", "exp", "abs", "tanh")]
    two += [("exp", ("neg", u)) for u in [*squares, *radii, sphere, *products]]
    two += [("sqrt", u) for u in [*radii, sphere]] + [("log", ("+", (1,), u)) for u in [*squares, *radii, sphere]]
    cross: list[Tree] = [("*", f, v) for f in ones for v in variables]
    waves = [("*", a, b) for a, b in itertools.combinations([(f, v) for v in variables for f in ("sin", "cos")], 2)]
    among: list[Tree] = [(f, v) for v in variables for f in ("sin", "cos", "exp", "tan")]
    among += [(f, u) for u in products for f in ("sin", "cos", "exp")]
    bumps = [("*", f, g) for f, g in itertools.combinations([*ones], 2)]
    lists = [
        polynomial[2],
        polynomial[4],
        [*polynomial[2], *ones],
        [*polynomial[2], *waves],
        [*polynomial[2], *two],
        [*polynomial[3], *ones, *scaled],
        [*polynomial[2], *ones, *cross],
        [*polynomial[2], *ones, *two, *waves],
        [*polynomial[2], *ones, *bumps],
        [*polynomial[2], *ones, *two, *(("*", f, m) for f in [*ones, *two] for m in polynomial[2])],
        polynomial[6],
        *([[*polynomial[2], *among, *polynomial[8][len(polynomial[2]) :]]] if added else []),
        [*polynomial[3], *ones, *two, *cross, *waves, *scaled],
    ]
    return sorted(lists, key=len)


def _values(features, on, off):
    """Features on and off the cloud, scaled by their size on it, where they are finite on both; and which those are."""
    here, there = evaluate(features, on), evaluate(features, off)
    size = np.sqrt(np.mean(here**2, axis=1))
    with np.errstate(invalid="ignore"):
        kept = np.isfinite(here).all(axis=1) & np.isfinite(there).all(axis=1) & (size > 0) & np.isfinite(size)
        kept &= np.median(np.abs(here), axis=1) > DOMINATED * size  # a few points would decide alone
    return here[kept] / size[kept, None], there[kept] / size[kept, None], size[kept], np.flatnonzero(kept)


def _first_null(features, on, off) -> Null | None:
    """The combination of the first feature that depends on those before it on the cloud only."""
    here, there, size, kept = _values(features, on, off)
    n = here.shape[1]
    here, there = np.vstack([np.ones(n), here]), np.vstack([np.ones(n), there])
    Q, R = np.empty((0, n)), np.empty((0, len(here)))  # here[chosen] = R.T[chosen] @ Q
    chosen: list[int] = []
    for j in range(len(here)):
        rest, shares = here[j], np.zeros(len(Q))
        for _ in range(2):  # once more: the first pass leaves rounding of the size of what it removed
            part = rest @ Q.T / n
            rest, shares = rest - part @ Q, shares + part
        left = np.sqrt(np.mean(rest**2))
        if left > ON * np.sqrt(len(Q) + 1):
            Q, chosen = np.vstack([Q, rest / left]), [*chosen, j]
            R = np.pad(R, ((0, 1), (0, 0)))
            R[:, j] = [*shares, left]
            continue
        c = np.append(solve_triangular(R[:, chosen], -shares), 1.0)
        c /= np.linalg.norm(c)
        if _vanishing(c, there[[*chosen, j]]) > ZEROS:
            continue  # an identity, everywhere or in a part of space
        support = _eliminated(here, np.array([*chosen, j]))
        c, left = _smallest(here[support])
        if _vanishing(c, there[support]) > ZEROS:
            continue
        return _as_null(support, c, features, kept, size, on, off)
    return None


def _smallest(rows) -> tuple[np.ndarray, float]:
    """The combination of norm 1 with the least mean square, and its root."""
    U, s, _ = np.linalg.svd(rows, full_matrices=False)
    return U[:, -1], float(s[-1] / np.sqrt(rows.shape[1]))


def _vanishing(c, there) -> float:
    """Share of points off the cloud at which a combination vanishes, relative to its terms there."""
    return float(np.mean(np.abs(c @ there) <= OFF * (np.abs(c) @ np.abs(there))))


def _eliminated(here, support) -> np.ndarray:
    """The support without what is not needed to vanish: the smallest coefficients first, at first many at once."""
    _, columns = np.linalg.qr(here[support].T / np.sqrt(here.shape[1]))  # few rows, the same singular values
    kept, at_once = np.arange(len(support)), len(support) // 2
    while at_once and len(kept) > 1:
        order = kept[np.argsort(np.abs(np.linalg.svd(columns[:, kept])[2][-1]), kind="stable")]
        tries = order[None, :at_once] if at_once > 1 else order[:, None]
        for dropped in tries:
            fewer = np.setdiff1d(kept, dropped)
            if svdvals(columns[:, fewer])[-1] < ELIMINATED:
                kept = fewer
                at_once = max(1, min(at_once, len(kept) // 2))
                break
        else:
            at_once //= 2
    return support[kept]


def _as_null(support, c, features, kept, size, on, off) -> Null:
    trees = [(1,) if j == 0 else features[kept[j - 1]] for j in support]
    scale = np.array([1.0 if j == 0 else size[j - 1] for j in support])
    raw = _simplest_scale(c / scale, c)
    nice = [next(iter(simpler(value)), value) for value in raw]
    for values in (nice, raw):
        constant = sum(v for v, tree in zip(values, trees, strict=True) if tree == (1,))
        rest = [(v, tree) for v, tree in zip(values, trees, strict=True) if tree != (1,)]
        tree = tidy(combination([v for v, _ in rest], [t for _, t in rest], constant))
        here, there = evaluate([tree], on)[0], evaluate([tree], off)[0]
        left = float(np.sqrt(np.mean(here**2) / np.mean(there**2)))
        distance = _distance(Expression(tree), on)
        near = NEAR * max(float(np.std(column)) for column in on.values())
        exact = left < EXACT and distance < near
        if exact:
            break
    return Null(Expression(tree), left, distance, exact, 0)


def _distance(F: Expression, on) -> float:
    with np.errstate(all="ignore"):
        ratio = np.abs(F(on)) / np.linalg.norm(F.gradient(on, list(on)), axis=0)
    return float(np.median(np.where(np.isfinite(ratio), ratio, np.inf)))


def _simplest_scale(raw, c) -> np.ndarray:
    """Coefficients divided by the one that makes most of them integers."""
    large = np.flatnonzero(np.abs(c) > 1e-6)

    def integers(i):
        return int(np.sum(np.abs(raw / raw[i] - np.rint(raw / raw[i])) < 1e-7))

    return raw / raw[max(large, key=lambda i: (integers(i), -i))]


def _closest(features, on, off) -> Null:
    """The combination that is smallest on the cloud relative to its size off it."""
    here, there, size, kept = _values(features, on, off)
    n = here.shape[1]
    here, there = np.vstack([np.ones(n), here]), np.vstack([np.ones(n), there])
    U, s, _ = np.linalg.svd(there, full_matrices=False)
    wide = s > 1e-8 * s[0]
    frame = U[:, wide] / s[wide]
    V, _, _ = np.linalg.svd(frame.T @ here, full_matrices=False)
    c = frame @ V[:, -1]
    return _as_null(np.arange(len(here)), c, features, kept, size, on, off)
