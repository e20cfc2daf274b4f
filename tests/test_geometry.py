import math

from rediscover.metrics import geometry as g

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.spatial.transform import Rotation

ALL = [g.chamfer_squared, g.chamfer_distance, g.hausdorff]


def clouds(n=200, m=150, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=(m, 3)) * [1, 2, 0.5]


def test_values_worked_by_hand():
    p = [[0, 0, 0], [1, 0, 0]]
    q = [[0, 0, 0], [1, 0, 2], [5, 0, 0]]
    # p to q: 0 and 1; q to p: 0, 2 and 4
    assert g.chamfer_squared(p, q) == pytest.approx((0 + 1) / 2 + (0 + 4 + 16) / 3)
    assert g.chamfer_distance(p, q) == pytest.approx((0 + 1) / 2 + (0 + 2 + 4) / 3)
    assert g.hausdorff(p, q) == pytest.approx(4)


def test_equal_to_brute_force():
    p, q = clouds()
    d = cdist(p, q)
    assert g.chamfer_squared(p, q) == pytest.approx((d.min(0) ** 2).mean() + (d.min(1) ** 2).mean())
    assert g.chamfer_distance(p, q) == pytest.approx(d.min(0).mean() + d.min(1).mean())
    assert g.hausdorff(p, q) == pytest.approx(max(d.min(0).max(), d.min(1).max()))


@pytest.mark.parametrize("function", ALL)
def test_properties(function):
    p, q = clouds()
    turn = Rotation.from_euler("xyz", [0.3, 1.0, -2.0]).as_matrix()
    assert function(p, p) == 0
    assert function(p, q) == pytest.approx(function(q, p))
    assert function(p[::-1], q) == pytest.approx(function(p, q))
    assert function(p @ turn.T + 3, q @ turn.T + 3) == pytest.approx(function(p, q))
    assert function(p + np.array([1, 0, 0]), p) > 0  # without alignment, an offset counts


def test_units():
    p, q = clouds()
    assert g.chamfer_squared(10 * p, 10 * q) == pytest.approx(100 * g.chamfer_squared(p, q))
    assert g.chamfer_distance(10 * p, 10 * q) == pytest.approx(10 * g.chamfer_distance(p, q))
    for name, value in g.distances(p, q, relative=True).items():
        assert g.distances(10 * p, 10 * q, relative=True)[name] == pytest.approx(value)
        power = 2 if name == "chamfer_squared" else 1
        assert value == pytest.approx(getattr(g, name)(p, q) / g.diagonal(q) ** power)


@pytest.mark.parametrize("function", ALL)
def test_empty_or_not_finite_is_infinitely_far(function):
    p, _ = clouds()
    assert function(np.empty((0, 3)), p) == math.inf
    assert function(p, np.empty((0, 3))) == math.inf
    for bad in (math.nan, math.inf):
        broken = p.copy()
        broken[3, 2] = bad
        assert function(broken, p) == math.inf


def test_huge_coordinates_do_not_overflow():
    assert g.hausdorff([[1e200, 0, 0]], [[0, 0, 0]]) == pytest.approx(1e200)


def test_bad_shapes():
    with pytest.raises(ValueError, match="clouds must have shape"):
        g.hausdorff([1, 2, 3], [[1, 2, 3]])
    with pytest.raises(ValueError, match="clouds must have shape"):
        g.hausdorff([[1, 2]], [[1, 2, 3]])
    with pytest.raises(ValueError, match="no extent"):
        g.distances([[1, 2, 3]], [[1, 2, 3]], relative=True)


def test_umeyama_recovers_a_similarity():
    p, _ = clouds()
    turn = Rotation.from_euler("xyz", [0.3, 1.0, -2.0]).as_matrix()
    scale, rotation, shift = g.umeyama(p, 2.5 * p @ turn.T + [1, 2, 3])
    assert scale == pytest.approx(2.5)
    assert rotation == pytest.approx(turn)
    assert shift == pytest.approx([1, 2, 3])


def test_umeyama_never_mirrors():
    p, _ = clouds()
    assert np.linalg.det(g.umeyama(p, p * [1, 1, -1])[1]) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(3))
def test_alignment_removes_any_similarity(seed):
    rng = np.random.default_rng(seed)
    xy = rng.uniform(-5, 5, (800, 2))
    truth = np.column_stack([xy, xy[:, 0] * np.exp(-0.1 * xy[:, 1]) + np.sin(xy[:, 1])])
    turn = Rotation.random(rng=rng).as_matrix()
    moved = 3 * truth @ turn.T + rng.normal(size=3) * 10
    assert g.chamfer_distance(moved, truth) > 1
    assert g.chamfer_distance(g.align(moved, truth), truth) < 1e-6


def test_alignment_of_different_surfaces():
    rng = np.random.default_rng(0)
    xy = rng.uniform(-5, 5, (800, 2))
    saddle = np.column_stack([xy, xy[:, 0] * xy[:, 1] / 5])
    bowl = np.column_stack([xy, (xy**2).sum(axis=1) / 5])
    aligned = g.align(saddle + 20, bowl)
    assert 0.1 < g.chamfer_distance(aligned, bowl) < g.chamfer_distance(saddle + 20, bowl)
    assert np.array_equal(aligned, g.align(saddle + 20, bowl))


def test_clouds_that_cannot_be_aligned():
    p, _ = clouds()
    with pytest.raises(ValueError, match="all finite"):
        g.align(np.full((5, 3), np.nan), p)
    with pytest.raises(ValueError, match="all finite"):
        g.align(np.empty((0, 3)), p)
    with pytest.raises(ValueError, match="one point"):
        g.align(np.zeros((5, 3)), p)
