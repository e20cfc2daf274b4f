"""What the audits of the surface study compute."""

from dataclasses import replace

import numpy as np
import pandas as pd

from ...numerics import level_sets


def attainable(table, sizes):
    """Which printed symbolic accuracies can be a share of that many surfaces, rounded to two decimals.

    Parameters
    ----------
    table : DataFrame with representation and value (text), symbolic accuracy only
    sizes : representation -> number of surfaces

    Returns
    -------
    DataFrame
        Index: representation; columns: surfaces, cells, attainable, and attainable_of_20.
    """
    rows = []
    for representation, group in table.groupby("representation", sort=False):
        values = group["value"].astype(float)

        def possible(n, values=values):
            shares = {round(k / n + shift, 2) for k in range(n + 1) for shift in (-1e-9, 1e-9)}
            return int(values.isin(shares).sum())

        n = sizes[representation]
        rows.append((representation, n, len(values), possible(n), possible(20)))
    columns = ["representation", "surfaces", "cells", "attainable", "attainable_of_20"]
    return pd.DataFrame(rows, columns=columns).set_index("representation")


def floor(surface, n: int = 2000, nodes: int = 1001) -> float:
    """The lowest NMSE by the variance that any function z(x, y) can have on an implicit surface.

    That is the variance of z around its mean over all sheets above the same (x, y), over the variance of z. A sheet
    counts by its area over a small (x, y) square, norm(grad F) / abs(dF/dz), as in a sample uniform by area.

    Parameters
    ----------
    surface : ImplicitSurface
    n : points of the surface, each a place (x, y) to look above
    nodes : values of z at which a change of sign is looked for
    """
    points = replace(surface, n_train=n).split("train").X
    x, y, z = points.T
    low, high = surface.domain[2]
    step = (high - low) / nodes
    heights = low + step * (np.arange(nodes) + 0.381966)  # no round numbers: a sheet on a node changes no sign
    values = surface.F({"x": x[:, None], "y": y[:, None], "z": heights})
    with np.errstate(all="ignore"):
        change = values[:, :-1] * values[:, 1:] < 0
        share = values[:, :-1] / (values[:, :-1] - values[:, 1:])
    rows, columns = np.nonzero(change)
    found = heights[columns] + share[rows, columns] * step
    sheets = level_sets.project(surface.F, np.column_stack([x[rows], y[rows], found]))
    on = level_sets.distance(surface.F, sheets) < level_sets.CLOSE  # a pole changes sign as well
    rows, sheets = rows[on], sheets[on]
    slope = level_sets.value_and_gradient(surface.F, sheets)[1]
    weight = np.linalg.norm(slope, axis=1) / np.maximum(np.abs(slope[:, 2]), 1e-3)
    total = np.bincount(rows, weight, minlength=n)
    seen = total > 0
    mean = np.bincount(rows, weight * sheets[:, 2], minlength=n)[seen] / total[seen]
    square = np.bincount(rows, weight * sheets[:, 2] ** 2, minlength=n)[seen] / total[seen]
    return float((square - mean**2).mean() / z.var())
