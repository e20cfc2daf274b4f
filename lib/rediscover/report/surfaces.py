"""Pictures of surfaces: the gallery, and truth beside prediction."""

import json

import numpy as np

from ..expressions import parse
from ..problems import problem
from .figures import style


def draw(ax, surface, solution=None, *, n: int = 70, points: int = 1500) -> None:
    """One surface in a 3-D axes; with `solution` the predicted one, seen within the bounds of the truth.

    An explicit or parametric surface is drawn as a mesh over its inputs; an implicit one as points of its test split,
    and a prediction z(x, y) of it as a mesh within the box.
    """
    truth = _extent(surface)
    ax.set(xlim=truth[0], ylim=truth[1], zlim=truth[2])
    if surface.kind == "level set" and solution is None:
        cloud = surface.split("test").X[:points]
        ax.scatter(*cloud.T, c=cloud[:, 2], s=1.5, cmap="viridis", rasterized=True)
    elif solution is not None and set(solution) == {"F"}:
        cloud = surface.cloud(parse(solution["F"]), "test", points, np.random.default_rng(0))
        ax.scatter(*cloud.T, c=cloud[:, 2], s=1.5, cmap="viridis", rasterized=True)
    else:
        x, y, z = _mesh(surface, solution, n)
        inside = (z >= truth[2][0]) & (z <= truth[2][1])
        z = np.where(inside, z, np.nan)
        ax.plot_surface(x, y, z, cmap="viridis", rstride=1, cstride=1, lw=0, antialiased=False, rasterized=True)
    ax.set(xticks=[], yticks=[], zticks=[])


def gallery(ids):
    """One 3-D picture per surface, titled with its id, expression sizes permitting."""
    import matplotlib.pyplot as plt

    columns = 5
    rows = -(-len(ids) // columns)
    with style():
        figure = plt.figure(figsize=(9, 1.95 * rows))
        for i, id in enumerate(ids):
            ax = figure.add_subplot(rows, columns, i + 1, projection="3d")
            surface = problem(id)
            draw(ax, surface)
            ax.set_title(f"{id.split('/')[1]}\n{surface.subset}", size=7, pad=0)
    return figure


def side_by_side(records, titles):
    """Truth (top) against prediction (bottom) for a few runs.

    Parameters
    ----------
    records : list of rows with problem and solution (JSON)
    titles : one text per record
    """
    import matplotlib.pyplot as plt

    with style():
        figure = plt.figure(figsize=(2.6 * len(records), 4.8))
        for i, (record, title) in enumerate(zip(records, titles, strict=True)):
            surface = problem(record["problem"])
            for row, solution in enumerate((None, json.loads(record["solution"]))):
                ax = figure.add_subplot(2, len(records), 1 + i + row * len(records), projection="3d")
                draw(ax, surface, solution)
                ax.set_title(title if row == 0 else "prediction", size=8, pad=0)
    return figure


def _mesh(surface, solution, n):
    axes = [np.linspace(low, high, n) for low, high in surface.domain[:2]]
    grid = dict(zip(surface.inputs, np.meshgrid(*axes), strict=False))
    if surface.subset == "parametric":
        expressions = {name: parse(text) for name, text in (solution or surface.truth).items()}
        return tuple(np.broadcast_to(expressions[name](grid), (n, n)) for name in "xyz")
    text = solution["z"] if solution else surface.truth["z"]
    return grid["x"], grid["y"], np.broadcast_to(parse(text)(grid), (n, n))


def _extent(surface):
    """(low, high) per axis: the domain, and for outputs the central 98 % with a margin."""
    test = surface.split("test")
    cloud = test.X if surface.kind == "level set" else surface.points(*test)
    low, high = np.nanpercentile(cloud, [1, 99], axis=0)
    margin = 0.1 * np.where(high > low, high - low, 1.0)
    return list(zip(low - margin, high + margin, strict=True))
