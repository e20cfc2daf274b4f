"""A surface in three dimensions."""

import numpy as np

from ...expressions import parse

INTEGERS = 8  # surfaces on integers are drawn from -INTEGERS to INTEGERS


def draw(ax, surface, solution=None, *, n: int = 70, points: int = 6000) -> None:
    """One surface in a 3-D axes; with `solution` the predicted one, seen within the bounds of the truth.

    An explicit or parametric surface is drawn as a mesh over its inputs, one on integers as points around the origin;
    an implicit one as points of the surface, and a prediction z(x, y) of it as a mesh within the box.
    """
    truth = _extent(surface)
    ax.set(xlim=truth[0], ylim=truth[1], zlim=truth[2])
    if surface.kind == "level set" and (solution is None or "F" in solution):
        F = parse(solution["F"]) if solution else surface.F
        cloud = surface.cloud(F, "test", points, np.random.default_rng(0))
        ax.scatter(*cloud.T, c=cloud[:, 2], s=1, lw=0, cmap="viridis", rasterized=True)
    else:
        mesh = np.stack(_mesh(surface, solution, n))
        low, high = np.array(truth).T[:, :, None, None]
        x, y, z = np.where(((mesh >= low) & (mesh <= high)).all(axis=0), mesh, np.nan)
        if "integer_grid" in surface.flags:
            ax.scatter(x, y, z, c=z, s=3, lw=0, cmap="viridis", rasterized=True)
        else:
            ax.plot_surface(x, y, z, cmap="viridis", rstride=1, cstride=1, lw=0, antialiased=False, rasterized=True)
    ax.set(xticks=[], yticks=[], zticks=[])


def _axes(surface, n):
    """Nodes along the first two inputs; integers near the origin for a surface on integers."""
    if "integer_grid" in surface.flags:
        return [np.arange(-INTEGERS, INTEGERS + 1.0)] * 2
    return [np.linspace(low, high, n) for low, high in surface.domain[:2]]


def _mesh(surface, solution, n):
    grid = dict(zip(surface.inputs, np.meshgrid(*_axes(surface, n)), strict=False))
    shape = grid[surface.inputs[0]].shape
    texts = dict(solution or surface.truth)
    if surface.subset == "parametric":
        return tuple(np.broadcast_to(parse(texts[name])(grid), shape) for name in "xyz")
    return grid["x"], grid["y"], np.broadcast_to(parse(texts["z"])(grid), shape)


def _extent(surface):
    """(low, high) per axis with a margin: of the box for an implicit surface, else of nearly all of the truth."""
    if surface.kind == "level set":
        low, high = np.transpose(surface.domain)
    else:
        mesh = np.stack(_mesh(surface, None, 70)).reshape(3, -1)
        low, high = np.nanpercentile(np.where(np.isfinite(mesh), mesh, np.nan), [0.5, 99.5], axis=1)
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    return list(zip(low - margin, high + margin, strict=True))
