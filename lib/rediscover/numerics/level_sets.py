"""Points on surfaces F(x, y, z) = 0: marching cubes, Newton's method, sampling uniform by area.

``F`` is a `Function`, such as an expression in x, y and z. A box is ``((x0, x1), (y0, y1), (z0, z1))``.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..system.extras import extra

CLOSE = 1e-6  # of a point to its surface


Box = Sequence[tuple[float, float]]  # (low, high) along x, y and z


class Function(Protocol):
    """A function of x, y and z that knows its derivatives, such as `expressions.Expression`."""

    def __call__(self, values: Mapping[str, Any], /) -> np.ndarray:
        """Values at points given by coordinate."""

    def __hash__(self) -> int:
        """Meshes are kept by function."""

    def gradient(self, values: Mapping[str, Any], names: Sequence[str] | None = None, /) -> np.ndarray:
        """Derivatives in `names`, the first axis of the result."""


class Mesh(NamedTuple):
    """Triangles of a surface.

    Attributes
    ----------
    vertices : ndarray, shape (n_vertices, 3)
    faces : ndarray of int, shape (n_faces, 3)
    """

    vertices: np.ndarray
    faces: np.ndarray


def value_and_gradient(F: Function, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F, shape (n,), and its gradient, shape (n, 3), at points of shape (n, 3)."""
    at = dict(zip("xyz", points.T, strict=True))
    return F(at), F.gradient(at, "xyz").T


def distance(F: Function, points: np.ndarray) -> np.ndarray:
    """First-order distance of points from the surface, abs(F) / norm(grad F); inf where that is undefined."""
    value, gradient = value_and_gradient(F, points)
    with np.errstate(all="ignore"):
        ratio = np.abs(value) / np.linalg.norm(gradient, axis=1)
    return np.where(np.isfinite(ratio), ratio, np.inf)


def project(F: Function, points: np.ndarray, steps: int = 2) -> np.ndarray:
    """Move points onto the surface by Newton steps along the gradient; NaN where that vanishes."""
    points = np.array(points, dtype=float)
    for _ in range(steps):
        value, gradient = value_and_gradient(F, points)
        with np.errstate(all="ignore"):
            step = (value / np.sum(gradient**2, axis=1))[:, None] * gradient
        points -= np.where((value == 0)[:, None], 0.0, step)
    return points


def inside(points: np.ndarray, box: Box) -> np.ndarray:
    """Which points lie in the box; NaN does not."""
    low, high = np.transpose(box)
    return np.all((points >= low) & (points <= high), axis=1)


@lru_cache(maxsize=128)  # all implicit surfaces with their corner boxes; about 2 MB each
def mesh(F: Function, box: Box, resolution: int = 128) -> Mesh:
    """Triangulate the surface within a box.

    Vertices come from marching cubes at level 0 and are moved by two Newton steps. A triangle is dropped
    where a vertex then is farther than half a cell from the surface, has moved by more than a cell, or has
    left the box: this removes most of the sheets that marching cubes sees at poles (`sample` the rest).

    Parameters
    ----------
    F : Function
    box : ((x0, x1), (y0, y1), (z0, z1))
    resolution : int
        Grid nodes per axis.

    Returns
    -------
    Mesh
        Without faces where F does not change sign.
    """
    with extra("fields"):
        from skimage.measure import marching_cubes

    axes = [np.linspace(low, high, resolution) for low, high in box]
    grid = F(dict(zip("xyz", np.ix_(*axes), strict=True)))
    known = np.isfinite(grid)
    # marching cubes works in single precision and cannot take infinities
    grid = np.clip(np.nan_to_num(np.broadcast_to(grid, (resolution,) * 3)), -1e30, 1e30)
    known = np.broadcast_to(known, grid.shape)
    if not (grid[known] < 0).any() or not (grid[known] > 0).any():
        return Mesh(np.empty((0, 3)), np.empty((0, 3), int))
    cell = np.array([axis[1] - axis[0] for axis in axes])
    try:
        start, faces, *_ = marching_cubes(grid, 0.0, mask=None if known.all() else known)
    except RuntimeError:  # every cell with a change of sign is masked
        return Mesh(np.empty((0, 3)), np.empty((0, 3), int))
    start = start * cell + [axis[0] for axis in axes]
    vertices = project(F, start)
    with np.errstate(invalid="ignore"):
        moved = np.linalg.norm((vertices - start) / cell, axis=1)
        kept = inside(vertices, box) & (moved <= 1) & (distance(F, vertices) < 0.5 * cell.min())
    return Mesh(vertices, faces[kept[faces].all(axis=1)])


def sample(F: Function, boxes: Sequence[Box], n: int, rng: np.random.Generator, resolution: int = 128) -> np.ndarray:
    """Points of the surface within boxes, uniform by area.

    Points of the triangles go onto the surface by Newton's method. One that does not arrive within `CLOSE`,
    moves by more than a cell or leaves the boxes is drawn again: near a pole, where F / |grad F| is small as
    well, this is what tells the surface from the pole.

    Parameters
    ----------
    F : Function
    boxes : sequence of boxes of one size that do not overlap
    n : int
    rng : numpy.random.Generator
    resolution : int
        Grid nodes per axis and box.

    Returns
    -------
    ndarray, shape (n, 3), or (0, 3) where the boxes hold no surface
    """
    meshes = [mesh(F, box, resolution) for box in boxes]
    corners = np.concatenate([vertices[faces] for vertices, faces in meshes])
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    if not area.sum() > 0:
        return np.empty((0, 3))
    cell = (np.transpose(boxes[0])[1] - np.transpose(boxes[0])[0]) / (resolution - 1)
    found, missing = [], n
    for _ in range(40):
        draw = corners[rng.choice(len(area), size=missing, p=area / area.sum())]
        r, s = np.sqrt(rng.random((missing, 1))), rng.random((missing, 1))
        start = (1 - r) * draw[:, 0] + r * (1 - s) * draw[:, 1] + r * s * draw[:, 2]
        points = project(F, start, steps=10)
        with np.errstate(invalid="ignore"):
            kept = (np.linalg.norm((points - start) / cell, axis=1) <= 1) & (distance(F, points) < CLOSE)
        found.append(points[kept & np.any([inside(points, box) for box in boxes], axis=0)])
        missing -= len(found[-1])
        if missing == 0:
            return np.concatenate(found)
    return np.empty((0, 3))
