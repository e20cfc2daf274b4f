"""The pictures of the surface study."""

import json

import numpy as np
import pandas as pd

from ...expressions import parse
from ...problems import problem
from ...report.papers import catalogue, published
from ...report.plots import against, intervals, style
from ...report.summaries import summary
from .analysis import NOISE_PANELS

INTEGERS = 8  # surfaces on integers are drawn from -INTEGERS to INTEGERS


def overview(scored):
    """Explicit surfaces: every method's scores with intervals, published values as diamonds."""
    part = scored[(scored["subset"] == "explicit") & (scored["method"] != "oracle")]
    accuracy = summary(part, ["method"], ["symbolic_accuracy"])
    medians = summary(part, ["method"], ["nmse_variance", "chamfer_squared_relative", "hausdorff_relative"], np.median)
    printed = published("surfacebench_table1").query("representation == 'explicit' and metric == 'symbolic_accuracy'")
    known = catalogue("surfacebench").set_index("label")["ours"]
    reference = {
        (known[row.method], "symbolic_accuracy"): float(row.value)
        for row in printed.itertuples()
        if known.get(row.method) in set(part["method"])
    }
    panels = {
        "symbolic_accuracy": "symbolic accuracy, mean\n(higher is better)",
        "nmse_variance": "NMSE by the variance, median\n(lower is better)",
        "chamfer_squared_relative": "Chamfer squared / diagonal$^2$,\nmedian (lower is better)",
        "hausdorff_relative": "Hausdorff / diagonal,\nmedian (lower is better)",
    }
    tidy = pd.concat([accuracy, medians])
    linear = ["symbolic_accuracy"]
    return intervals(tidy, row="method", panel="metric", label=panels, reference=reference, linear=linear, columns=2)


def noise_figure(noise):
    tidy = summary(noise, ["method", "noise"], list(NOISE_PANELS), np.median)
    return against(tidy, x="noise", label_x="noise / standard deviation of z", panels=NOISE_PANELS)


def gallery(ids):
    """One 3-D picture per surface, titled with its id."""
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
