"""Scores of SurfaceBench, as released and harmonised.

As released, prediction and truth are compared at the 500 test inputs that they share: `nmse_release` (one
third of the usual value for parametric surfaces), `chamfer_distance`, `chamfer_squared`, `hausdorff`. An
implicit surface is scored there as a table: z regressed on x and y at 500 points of the surface; of an answer
F = 0 the table takes the root in z next to the true one, NaN where there is none.

Harmonised: `nmse_variance`, and the three distances between clouds of 5,000 points, divided by the truth's
diagonal (``*_relative``); `aligned` gives them after alignment, too (``*_aligned``). Explicit and parametric
clouds are the images of shared uniform inputs; of an implicit surface, true and predicted clouds are uniform by
area within the box, or, where z(x, y) is predicted, the image of uniform (x, y) that lies in the box.

A suffix ``_ood`` marks the same out of the domain. What is not finite is infinitely wrong; the names are the
same for every answer to a problem.
"""

import dataclasses

import numpy as np

from ...expressions import parse
from ...metrics import equivalence, geometry, regression
from ...numerics import level_sets
from ...problems import generator
from ...problems.surfaces import ImplicitSurface

POINTS = 5000  # of harmonised clouds
CHECKED = 500  # points of level sets that are compared for equivalence


def score(problem, solution, seed=0) -> dict[str, float]:
    """All scores of one answer.

    Parameters
    ----------
    problem : Surface or ImplicitSurface
    solution : mapping of output name to text; for an implicit surface ``{"F": ...}`` or ``{"z": ...}``
    seed : int
        Of the data.

    Returns
    -------
    dict of name to float

    Raises
    ------
    ExpressionError
        If a text cannot be read or holds other variables than the problem's inputs.
    KeyError
        If the solution lacks an output.
    """
    answer = _read(problem, solution)
    rate, accuracy = _rules(problem)
    scores: dict[str, float] = {}
    for split in ("test", "ood"):
        if split in problem.splits:
            suffix = "" if split == "test" else "_ood"
            values = rate(problem, answer, split, seed) | _relative(*_clouds(problem, answer, split, seed))
            scores |= {name + suffix: value for name, value in values.items()}
    return scores | {"symbolic_accuracy": accuracy(problem, answer)}


def without_clouds(problem, solution, seed=0) -> dict[str, float]:
    """Of the scores those at the test inputs, as released, and `symbolic_accuracy`: half of the time of all.

    Parameters, result and errors as for `score`.
    """
    answer = _read(problem, solution)
    rate, accuracy = _rules(problem)
    return rate(problem, answer, "test", seed) | {"symbolic_accuracy": accuracy(problem, answer)}


def aligned(problem, solution, seed=0) -> dict[str, float]:
    """Distances on the test split as they are and with translation, rotation and scale removed (Section 3.2).

    Parameters and errors as for `score`. It takes half a second or more.

    Returns
    -------
    dict of name to float
        Names end in _relative and in _aligned; a cloud that cannot be aligned is infinitely far.
    """
    cloud, truth = _clouds(problem, _read(problem, solution), "test", seed)
    try:
        moved = geometry.align(cloud, truth)
    except ValueError:  # no points, a single one or not all finite
        moved = np.empty((0, 3))
    return _relative(cloud, truth) | _relative(moved, truth, "aligned")


def _rules(problem):
    """The functions that score an answer at shared inputs and that compare it with the truth."""
    implicit = isinstance(problem, ImplicitSurface)
    return (_rate_level_set, _same_surface) if implicit else (_rate, _same_expressions)


def _read(problem, solution):
    """The answer's expressions, by name."""
    implicit = isinstance(problem, ImplicitSurface)
    if implicit:
        name = "F" if "F" in solution else "z"
        names = problem.inputs if name == "F" else problem.inputs[:2]
        answer = {name: parse(solution[name], names)} if name in solution else {}
    else:
        answer = {name: parse(solution[name], problem.inputs) for name in problem.outputs if name in solution}
    if len(answer) < len(problem.outputs):
        wanted = "F or z" if implicit else ", ".join(problem.outputs)
        raise KeyError(f"{problem.id}: a solution needs {wanted}, got {', '.join(solution) or 'nothing'}")
    return answer


def _rate(problem, answer, split, seed):
    """Explicit and parametric surfaces, at the inputs that prediction and truth share."""
    shared = problem.split(split, seed)
    predicted = _evaluate(problem, answer, shared.X)
    parametric = problem.subset == "parametric"
    release = regression.nmse_release_parametric if parametric else regression.nmse_release
    return {
        "nmse_release": release(predicted, shared.y),
        "nmse_variance": regression.nmse_variance(predicted, shared.y),
        **geometry.distances(problem.points(shared.X, predicted), problem.points(*shared)),
    }


def _clouds(problem, answer, split, seed):
    """Predicted and true points, harmonised."""
    if isinstance(problem, ImplicitSurface):
        if "F" in answer:
            cloud = problem.seeded_cloud(answer["F"], split, POINTS, seed, split)
        else:
            cloud = _image(answer["z"], problem.boxes(split), generator(seed, problem.id, split, "image"))
        return cloud, problem.seeded_cloud(problem.F, split, POINTS, seed, split)
    dense = _dense(problem, split, seed)
    return problem.points(dense.X, _evaluate(problem, answer, dense.X)), problem.points(*dense)


def _dense(problem, split, seed=0):
    """The split with as many rows as harmonised clouds have points."""
    return dataclasses.replace(problem, n_test=POINTS, n_ood=POINTS).split(split, seed)


def _evaluate(problem, answer, X):
    values = dict(zip(problem.inputs, X.T, strict=True))
    columns = [answer[name](values) for name in problem.outputs]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _relative(cloud, truth, name="relative"):
    distances = geometry.distances(cloud, truth, relative=True)
    return {f"{distance}_{name}": value for distance, value in distances.items()}


def _rate_level_set(problem, answer, split, seed):
    """Implicit surfaces as a table: z at (x, y) of points of the surface."""
    shared = problem.split(split, seed).X
    if "F" in answer:
        z = _roots(answer["F"], shared, problem.boxes(split)[0][2])
    else:
        z = answer["z"](dict(zip("xy", shared.T[:2], strict=True)))
    return {
        "nmse_release": regression.nmse_release(z, shared[:, 2]),
        "nmse_variance": regression.nmse_variance(z, shared[:, 2]),
        **geometry.distances(np.column_stack([shared[:, :2], z]), shared),
    }


def _roots(F, points, interval):
    """z of the surface F = 0 at (x, y) of the points, the one next to their z; NaN where F has no root.

    Roots are sought in the interval and as far again on either side.
    """
    x, y, z = points.T[..., None]
    width = interval[1] - interval[0]
    nodes = np.linspace(interval[0] - width, interval[1] + width, 385)
    nodes = np.broadcast_to(nodes, (len(points), len(nodes)))
    values = F({"x": x, "y": y, "z": nodes})
    low, high = nodes[:, :-1], nodes[:, 1:]
    with np.errstate(invalid="ignore"):
        crossing = np.sign(values[:, :-1]) * np.sign(values[:, 1:]) <= 0
    gap = np.where(crossing, np.maximum(0, np.maximum(low - z, z - high)), np.inf)
    rows, best = np.arange(len(points)), np.argmin(gap, axis=1)
    low, high, sign = low[rows, best], high[rows, best], np.sign(values[rows, best])
    for _ in range(50):
        middle = (low + high) / 2
        left = np.sign(F({"x": x[:, 0], "y": y[:, 0], "z": middle})) == sign
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    found = np.column_stack([points[:, :2], high])
    arrived = np.isfinite(gap[rows, best]) & (level_sets.distance(F, found) < level_sets.CLOSE)
    z = np.where(arrived, high, np.nan)
    # a point of the surface keeps its z: where the surface is steep, rounding of x and y moves roots far
    return np.where(level_sets.distance(F, points) < level_sets.CLOSE, points[:, 2], z)


def _image(z, boxes, rng):
    """Points (x, y, z(x, y)) within the boxes, for x and y uniform."""
    low, high = np.transpose(boxes, (2, 0, 1))[:, rng.integers(len(boxes), size=POINTS), :2]
    xy = rng.uniform(low, high)
    points = np.column_stack([xy, z(dict(zip("xy", xy.T, strict=True)))])
    return points[np.any([level_sets.inside(points, box) for box in boxes], axis=0)]


def _same_expressions(problem, answer):
    domain = dict(zip(problem.inputs, problem.domain, strict=True))
    integers = "integer_grid" in problem.flags
    return equivalence.symbolic_accuracy(answer, problem.expressions, domain, integers=integers)


def _same_surface(problem, answer):
    F = answer.get("F") or parse(f"z - ({answer['z']})")
    true = _accurate_points(problem, problem.F)
    if (level_sets.distance(F, true) >= equivalence.TOLERANCE).any():
        return 0.0  # as below, without points of F, which take a second
    predicted = _accurate_points(problem, F)
    return float(equivalence.same_level_set(F, problem.F, predicted, true, problem.domain))


def _accurate_points(problem, F):
    """Points of F = 0 to within rounding; those where Newton's method creeps (multiple roots) are left out."""
    points = problem.seeded_cloud(F, "test", CHECKED, 0, "equivalence")
    points = level_sets.project(F, points, steps=50)
    return points[level_sets.distance(F, points) < 1e-9]
