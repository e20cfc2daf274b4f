"""Distances between point clouds, by k-d trees.

Clouds have shape (n, d), usually d = 3, and need not be of one size. A cloud without points, or with a
coordinate that is not finite, is infinitely far from every other.

The SurfaceBench paper defines the Chamfer distance with squared distances; its release computes explicit and implicit
surfaces with plain ones and parametric surfaces with squared ones. Both are here under their own names.
"""

import math
from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from ..numerics.arrays import floats
from . import metric

CLOUDS = "array_like, shape (n, d) and (m, d)"
NAMES = ("chamfer_squared", "chamfer_distance", "hausdorff")


def _nearest(prediction: ArrayLike, truth: ArrayLike) -> list[np.ndarray] | None:
    """Distances of predicted points to the truth and of true ones to the prediction; None if undefined."""
    clouds = [floats(cloud) for cloud in (prediction, truth)]
    if any(cloud.ndim != 2 for cloud in clouds) or clouds[0].shape[1] != clouds[1].shape[1]:
        shapes = " and ".join(str(cloud.shape) for cloud in clouds)
        raise ValueError(f"clouds must have shape (n, d) with the same d, got {shapes}")
    if any(len(cloud) == 0 or not np.isfinite(cloud).all() for cloud in clouds):
        return None
    # scaling keeps the squares of huge coordinates within range
    scale = max(np.abs(cloud).max() for cloud in clouds) or 1.0
    trees = [cKDTree(cloud / scale, balanced_tree=False, compact_nodes=False) for cloud in clouds]
    return [scale * trees[1 - i].query(trees[i].data)[0] for i in (0, 1)]


@metric("lower", of=CLOUDS)
def chamfer_squared(prediction: ArrayLike, truth: ArrayLike) -> float:
    r"""Chamfer distance of SurfaceBench, eq. 1, with squared distances; unit: length squared.

    .. math:: \frac{1}{|P|} \sum_{p \in P} \min_{q \in Q} \|p - q\|^2
        + \frac{1}{|Q|} \sum_{q \in Q} \min_{p \in P} \|q - p\|^2

    >>> chamfer_squared([[0, 0, 0]], [[0, 0, 3], [0, 4, 0]])  # 9 + (9 + 16) / 2
    21.5
    """
    return distances(prediction, truth)["chamfer_squared"]


@metric("lower", of=CLOUDS)
def chamfer_distance(prediction: ArrayLike, truth: ArrayLike) -> float:
    """Chamfer distance with plain distances, as the release has it for explicit and implicit surfaces.

    Unit: length.

    >>> chamfer_distance([[0, 0, 0]], [[0, 0, 3], [0, 4, 0]])  # 3 + (3 + 4) / 2
    6.5
    """
    return distances(prediction, truth)["chamfer_distance"]


@metric("lower", of=CLOUDS)
def hausdorff(prediction: ArrayLike, truth: ArrayLike) -> float:
    """Hausdorff distance, SurfaceBench, eq. 2: the farthest that a point of one cloud is from the other.

    Unit: length.

    >>> hausdorff([[0, 0, 0]], [[0, 0, 3], [0, 4, 0]])
    4.0
    """
    return distances(prediction, truth)["hausdorff"]


def diagonal(cloud: ArrayLike) -> float:
    """Diagonal of a cloud's bounding box.

    Examples
    --------
    >>> diagonal([[0, 0, 0], [1, 2, 2]])
    3.0
    """
    return float(np.linalg.norm(np.ptp(floats(cloud), axis=0)))


def distances(prediction: ArrayLike, truth: ArrayLike, *, relative: bool = False) -> dict[str, float]:
    """All three distances by name, from one search of neighbours.

    Parameters
    ----------
    relative : bool
        Divide by the `diagonal` of the truth (`chamfer_squared` by its square), so that surfaces of different
        extent can be averaged.

    Examples
    --------
    >>> distances([[0, 0, 0]], [[0, 0, 3], [0, 4, 0]], relative=True)["hausdorff"]  # 4 / 5
    0.8
    """
    near = _nearest(prediction, truth)
    if near is None:
        return dict.fromkeys(NAMES, math.inf)
    unit = diagonal(truth) if relative else 1.0
    if unit == 0:
        raise ValueError("a truth of one point has no extent to be relative to")
    near = [d / unit for d in near]
    with np.errstate(over="ignore"):
        squared = float(sum(np.mean(d**2) for d in near))
    return {
        "chamfer_squared": squared,
        "chamfer_distance": float(sum(np.mean(d) for d in near)),
        "hausdorff": float(max(np.max(d) for d in near)),
    }


def umeyama(source: ArrayLike, target: ArrayLike) -> tuple[float, np.ndarray, np.ndarray]:
    """Similarity (scale, rotation, shift) that brings points nearest to their partners in least squares.

    ``scale * source @ rotation.T + shift``; rotations are proper. Umeyama 1991, eqs. 40-42.

    Examples
    --------
    >>> scale, rotation, shift = umeyama(np.eye(3), 2 * np.eye(3) + 1)
    >>> round(float(scale), 9), np.round(shift, 9).tolist()
    (2.0, [1.0, 1.0, 1.0])
    """
    source, target = floats(source), floats(target)
    middle, goal = source.mean(axis=0), target.mean(axis=0)
    centred = source - middle
    u, s, vt = np.linalg.svd((target - goal).T @ centred / len(source))
    sign = np.ones(len(s))
    sign[-1] = np.sign(np.linalg.det(u) * np.linalg.det(vt)) or 1.0
    rotation = (u * sign) @ vt
    spread = np.mean(np.sum(centred**2, axis=1))
    scale = float(s @ sign / spread) if spread > 0 else 1.0
    return scale, rotation, goal - scale * rotation @ middle


def _turns() -> Iterator[np.ndarray]:
    """The 24 proper rotations that permute the axes."""
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            turn = np.eye(3)[list(order)] * np.array(signs)[:, None]
            if np.linalg.det(turn) > 0:
                yield turn


def align(
    prediction: ArrayLike, truth: ArrayLike, *, iterations: int = 50, tolerance: float = 1e-8, sample: int = 1000
) -> np.ndarray:
    """The predicted cloud moved, turned and scaled onto the true one.

    The paper aligns clouds and gives no procedure. Here: both are centred and brought to one root mean square radius;
    the principal axes of the one are turned onto those of the other in each of the 24 proper ways; the best of these
    starts is improved by iterated closest points, with the similarity re-estimated at each step (`umeyama`). No
    mirror images. A plane can be aligned with any plane: report unaligned distances first.

    Parameters
    ----------
    prediction, truth : array_like, shape (n, 3) and (m, 3), with at least two different points each
    iterations : int
        Of closest points, at most.
    tolerance : float
        Stop when the mean squared distance falls by less, relative to the truth's mean squared radius.
    sample : int
        Starts are compared on so many evenly spaced rows; all rows take part afterwards.

    Returns
    -------
    ndarray, shape (n, 3)
    """
    prediction, truth = floats(prediction), floats(truth)
    if not all(len(cloud) and np.isfinite(cloud).all() for cloud in (prediction, truth)):
        raise ValueError("only clouds with points, all finite, can be aligned")
    centre = truth.mean(axis=0)
    clouds = [cloud - cloud.mean(axis=0) for cloud in (prediction, truth)]
    radii = [np.sqrt(np.mean(np.sum(cloud**2, axis=1))) for cloud in clouds]
    if not min(radii) > 0:
        raise ValueError("a cloud of one point cannot be aligned")
    source, target = (cloud / radius for cloud, radius in zip(clouds, radii, strict=True))
    frames = [np.linalg.svd(cloud.T @ cloud)[0] for cloud in (source, target)]
    handed = np.diag([1.0, 1.0, np.linalg.det(frames[0]) * np.linalg.det(frames[1])])
    some, goal = (cloud[:: max(1, len(cloud) // sample)] for cloud in (source, target))
    starts = [np.eye(3), *(frames[1] @ turn @ handed @ frames[0].T for turn in _turns())]
    best = min(starts, key=lambda turn: distances(some @ turn.T, goal)["chamfer_squared"])
    start = moved = source @ best.T
    error, tree = math.inf, cKDTree(target)
    for _ in range(iterations):
        near, partner = tree.query(moved)
        previous, error = error, np.mean(near**2)
        if previous - error < tolerance:
            break
        scale, rotation, shift = umeyama(moved, target[partner])
        moved = scale * moved @ rotation.T + shift
    nearest = min((start, moved), key=lambda cloud: distances(cloud, target)["chamfer_squared"])
    return nearest * radii[1] + centre
