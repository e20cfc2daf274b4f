"""Functions that vanish on a cloud and not off it."""

from rediscover.expressions import parse
from rediscover.search.enumeration.level_sets import libraries, null_combination
from rediscover.studies.surfaces import drawn

import numpy as np
import pytest

NAMES = ("x", "y", "z")


def cloud(text, n=600, seed=0):
    """Points of F = 0 in [-3, 3]^3, by bisection along z."""
    F, rng = parse(text), np.random.default_rng(seed)
    x, y = rng.uniform(-3, 3, (2, 40 * n))
    nodes = np.linspace(-3, 3, 61)
    values = F({"x": x[:, None], "y": y[:, None], "z": nodes})
    rows, cells = np.nonzero(values[:, :-1] * values[:, 1:] < 0)
    pick = np.sort(rng.permutation(len(rows))[:n])
    x, y, low, high = x[rows[pick]], y[rows[pick]], nodes[cells[pick]], nodes[cells[pick] + 1]
    sign = np.sign(F({"x": x, "y": y, "z": low}))
    for _ in range(80):
        middle = (low + high) / 2
        left = np.sign(F({"x": x, "y": y, "z": middle})) == sign
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    return np.column_stack([x, y, (low + high) / 2])


@pytest.mark.parametrize(
    "text",
    [
        "x**2 + y**2 + z**2 - 4",
        "x**4 + y**4 + z**4 - 3*x*y*z - 5",
        "sin(x) + cos(y) + sin(z) - 0.5",
        "sin(x)*cos(y) + sin(y)*cos(z) + sin(z)*cos(x)",
        "abs(x) + abs(y) + abs(z) - 3",
        "x**2 + sin(x*y) - z",
        "exp(x)*z - y - 1",
        "y*z - cos(y) + sin(3*x)",
    ],
)
def test_finds(text):
    (best, *_) = null_combination(cloud(text), NAMES, 100_000)
    assert best.exact
    # one is a multiple of the other, wherever one looks
    X = dict(zip(NAMES, np.random.default_rng(1).uniform(-3, 3, (3, 200)), strict=True))
    ratio = best.expression(X) / parse(text)(X)
    assert np.allclose(ratio, np.median(ratio), rtol=1e-6)


@pytest.mark.parametrize("kind", ["polynomials", "moved"])
def test_finds_drawn_surfaces_whose_terms_are_in_the_libraries(kind):
    assert {drawn.reached(drawn.level_set(kind, seed), added=False) for seed in range(4)} == {"found"}


# In the first two of these trees a polynomial of degree eight comes near the cloud, and is far from small off it.
@pytest.mark.parametrize("kind, seed", [("trees", 2), ("trees", 4), ("trees", 0), ("sums", 4), ("sums", 2)])
def test_what_is_called_exact_vanishes_off_the_sample(kind, seed):
    assert drawn.reached(drawn.level_set(kind, seed), added=True) != "wrong"


def test_a_drawn_surface_is_the_same_every_time_and_another_for_another_seed():
    texts = [drawn.level_set(kind, seed) for kind in drawn.KINDS for seed in (0, 1)]
    assert texts == [drawn.level_set(kind, seed) for kind in drawn.KINDS for seed in (0, 1)]
    assert len(set(texts)) == len(texts) and all(len(drawn.cloud(text, n=20)) == 20 for text in texts)


def test_one_list_can_be_left_out():
    added = {len(features) for features in libraries(NAMES)} - {len(features) for features in libraries(NAMES, False)}
    assert len(added) == 1 and len(libraries(NAMES)) == len(libraries(NAMES, False)) + 1


def test_an_identity_is_not_taken_for_a_surface():
    # sin(x)**2 + cos(x)**2 = 1 and abs(x**2) = x**2 hold on every cloud
    points = np.random.default_rng(0).uniform(-3, 3, (500, 3))
    assert not any(null.exact for null in null_combination(points, NAMES, 450))


def test_a_half_space_is_no_evidence():
    # abs(x) = x on a cloud with x > 0, and on half of all points
    points = cloud("x**2 + y**2 + z**2 - 4")
    points = points[points[:, 0] > 0]
    (best, *_) = null_combination(points, NAMES, 100_000)
    assert best.exact and set(best.expression.names) == set(NAMES)


def test_noise_gives_the_nearest_and_says_so():
    points = cloud("x**2 + y**2 + z**2 - 4")
    points[:, 2] += 0.01 * np.random.default_rng(0).normal(size=len(points))
    (best, *_) = null_combination(points, NAMES, 100)
    assert not best.exact
    # the sphere again, within the noise
    X = dict(zip(NAMES, np.random.default_rng(1).uniform(-2, 2, (3, 500)), strict=True))
    a, b = best.expression(X), parse("x**2 + y**2 + z**2 - 4")(X)
    assert abs(np.corrcoef(a, b)[0, 1]) > 0.99


def test_the_same_answer_every_time():
    points = cloud("sin(x) + cos(y) + sin(z) - 0.5")
    one, other = (null_combination(points, NAMES, 100_000) for _ in range(2))
    assert [str(n.expression) for n in one] == [str(n.expression) for n in other]


def test_budget_is_kept():
    points = cloud("exp(x)*z - y - 1")
    for allowed in (1, 9, 30):
        assert all(null.evaluations <= allowed for null in null_combination(points, NAMES, allowed))


def test_libraries_grow_and_hold_no_constant():
    sizes = [len(features) for features in libraries(NAMES)]
    assert sizes[0] == 9 and max(sizes[:3]) < max(sizes)
    assert all((1,) not in features for features in libraries(NAMES))


@pytest.mark.parametrize("points", [np.ones((5, 3)), np.full((50, 3), np.nan)])
def test_refuses_what_is_no_cloud(points):
    with pytest.raises(ValueError, match="points"):
        null_combination(points, NAMES, 100)
