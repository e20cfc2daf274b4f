"""Known parts, bounds, monotony and symmetry: what is kept to, what is left out, and what is said."""

from rediscover import cli
from rediscover.estimators import EquationRegressor
from rediscover.estimators.constants import Form
from rediscover.estimators.constraints import constraints, mirrored
from rediscover.estimators.known import known
from rediscover.estimators.names import named
from rediscover.expressions import parse

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.filterwarnings(
    "ignore::rediscover.estimators.NoClearEquation", "ignore::rediscover.estimators.NoisyData"
)
NAMES = named(["a [m]", "b"])
QUICK = {"max_evaluations": 2000}


def on_square(**asked):
    """Constraints on 400 points of the square from 0 to 2."""
    X = np.random.default_rng(0).uniform(0, 2, (400, 2))
    asked = {"bounds": None, "increasing": None, "decreasing": None, "symmetric": None, **asked}
    return constraints(NAMES, **asked).on(X, X[:, 0], np.random.default_rng(1))


@pytest.mark.parametrize(
    "asked, kept, left",
    [
        ({"bounds": (0, 1)}, "x0/(x0 + 1.0)", "x0/(x0 + 1.0) - 0.1"),
        ({"bounds": (None, 2)}, "x0 - 9.0", "x0 + x1"),
        ({"bounds": (0, None)}, "x0**2", "1.0/(x0 - x0)"),
        ({"increasing": "a"}, "x0**2 + cos(x1)", "(x0 - 0.1)**2"),
        ({"increasing": ["a", "b"]}, "x0*x1", "x0 - x1"),
        ({"increasing": "a"}, "floor(x0)", "floor(-3.0*x0)"),
        ({"increasing": "a"}, "sqrt(x0 - x1)", "-sqrt(x0 - x1)"),
        ({"decreasing": 1}, "x0/(x1 + 1.0)", "x0*x1"),
        ({"decreasing": "a [m]"}, "3.0", "x0"),
        ({"symmetric": ("a", "b")}, "2.0*x0*x1 + x0 + x1", "2.0*x0 + x1"),
        ({"symmetric": [("a", "b")]}, "abs(x0 - x1)", "sqrt(x0 - x1)"),
    ],
)
def test_what_is_asked_is_kept_to(asked, kept, left):
    wanted = on_square(**asked)
    assert wanted.refused(Form(parse(kept))) == ""
    assert wanted.refused(Form(parse(left))) != ""


@pytest.mark.parametrize(
    "asked, part",
    [
        ({"bounds": (1, 0)}, "least and the largest"),
        ({"bounds": 3}, "least and the largest"),
        ({"bounds": (0, float("nan"))}, "least and the largest"),
        ({"increasing": "aa"}, "did you mean 'a'"),
        ({"increasing": "a", "decreasing": ["b", "a"]}, "a is to be increasing and decreasing"),
        ({"symmetric": ("a",)}, "two columns"),
        ({"symmetric": ("a", "a")}, "two columns"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(asked, part):
    with pytest.raises(ValueError, match=part):
        on_square(**asked)


def test_symmetric_rows_make_constants_equal():
    rng = np.random.default_rng(2)
    X = rng.uniform(1, 2, (80, 2))
    y = 2.3 * X[:, 0] + 2.3 * X[:, 1] + 0.3 * rng.normal(size=80)
    doubled, twice, weights = mirrored(X, y, np.ones(80), [(0, 1)])
    assert doubled.shape == (160, 2) and weights.sum() == 80 and twice[80] == y[0]
    found = EquationRegressor(symmetric=("x0", "x1"), **QUICK).fit(X, y)
    np.testing.assert_allclose(found.predict(X), found.predict(X[:, ::-1]), rtol=1e-6)
    assert found.score(X, y) > 0.8


def test_equations_that_break_the_bounds_are_left_out_and_counted():
    rng = np.random.default_rng(3)
    x = rng.uniform(0.05, 5, (150, 1))
    y = np.tanh(x[:, 0]) + 0.05 * rng.normal(size=150)
    free = EquationRegressor(max_evaluations=10_000).fit(x, y)
    kept = EquationRegressor(max_evaluations=10_000, bounds=(0, 1), increasing=0).fit(x, y)
    grid = np.linspace(0.05, 5, 300)[:, None]
    assert kept.predict(grid).max() <= 1 + 1e-6 and (np.diff(kept.predict(grid)) > -1e-9).all()
    assert "outside the bounds" in kept.message_ and "outside the bounds" not in free.message_


def test_where_nothing_is_left_the_mean_is_chosen_and_not_clear():
    x = np.linspace(1, 3, 60)[:, None]
    found = EquationRegressor(decreasing="x0", **QUICK).fit(x, 2 * x[:, 0])
    assert not found.clear_ and len(found.equations_) == 1
    assert "not decreasing where asked" in found.message_


def energy(n=120, seed=4):
    rng = np.random.default_rng(seed)
    m, v, h = rng.uniform(1, 5, n), rng.uniform(1, 5, n), rng.uniform(0, 3, n)
    exact = 0.6 * m * v**2 + 9.81 * m * h
    X = pd.DataFrame({"mass [kg]": m, "speed [m/s]": v, "height [m]": h})
    return X, pd.Series(exact + 0.005 * exact.std() * rng.normal(size=n), name="energy [J]")


def test_a_known_term_is_added_and_the_rest_is_found():
    X, y = energy()
    found = EquationRegressor(offset="9.81*mass*height", max_evaluations=3000).fit(X, y)
    assert found.skeleton_.endswith("+ 9.81*mass*height")
    assert found.constants_["value"].iloc[0] == pytest.approx(0.6, rel=0.02)
    assert "9.81" not in found.constants_["shown"].tolist()
    np.testing.assert_allclose(found.predict(X), y, atol=0.05 * y.std())
    space: dict = {}
    exec(found.to_python("law"), space)  # a text of this test's own making
    np.testing.assert_allclose(space["law"](*X.to_numpy().T), found.predict(X), rtol=1e-12)
    off = float(np.sqrt(np.mean((found.predict(X) - y) ** 2)))
    assert found.equations_.loc[found.equations_["chosen"], "training_error"].item() == pytest.approx(off, rel=0.2)
    assert len(found.plot().axes) == 3


def test_a_known_factor_multiplies_and_units_take_part():
    X, y = energy()
    asked = EquationRegressor(factor="mass", units=True, max_evaluations=30_000)
    found = asked.fit(X, y)
    assert sorted(found.expressions_["energy"].names) == ["height", "mass", "speed"]
    assert found.score(X, y) > 0.999
    assert "m/s^2" in found.constants_["unit"].tolist()
    off = float(np.sqrt(np.mean((found.predict(X) - y) ** 2)))
    assert found.equations_.loc[found.equations_["chosen"], "validation_error"].item() == pytest.approx(off, rel=0.4)


def test_errors_around_a_factor_are_those_of_the_whole():
    X = np.random.default_rng(0).uniform(1, 3, (50, 2))
    y, w = X[:, 0] * 2 + X[:, 1], np.ones(50)
    parts = known(named(["a", "b"]), "a", "b")
    rest, weights = parts.rest(X, y, w)
    np.testing.assert_allclose(rest, 2.0)
    f = 1.5  # any f: the weighted squares are those of the whole
    np.testing.assert_allclose(weights * (rest - f) ** 2, (y - (X[:, 0] * f + X[:, 1])) ** 2)


@pytest.mark.parametrize(
    "parts, part",
    [
        ({"offset": "9.81*mas"}, "offset: .*mass"),
        ({"offset": "9.81*"}, "offset"),
        ({"factor": "log(height - 9)"}, "factor is undefined in row 1"),
        ({"factor": "height - height"}, "factor is zero"),
        ({"factor": "__import__('os')"}, "factor"),
    ],
)
def test_parts_that_cannot_be_used_are_refused_in_a_sentence(parts, part):
    with pytest.raises(ValueError, match=part):
        EquationRegressor(**parts, **QUICK).fit(*energy(40))


def test_what_is_asked_from_the_shell(tmp_path, capsys):
    X, y = energy(60)
    path = tmp_path / "table.csv"
    X.assign(**{"energy [J]": y, "twice": 2 * y}).to_csv(path, index=False)
    quick = ["--max-evaluations", "2000"]
    asked = ["--bounds", "0,", "--increasing", "mass,speed", "--offset", "9.81*mass*height"]
    assert cli.main(["fit", str(path), "--target", "energy", "--inputs", "mass,speed,height", *asked, *quick]) == 0
    assert "9.81*mass*height" in capsys.readouterr().out
    for wrong, part in [
        (["--target", "energy", "--bounds", "x"], "--bounds is 'x'"),
        (["--target", "energy", "--symmetric", "mass,masss"], "no column 'masss'"),
        (["--implicit", "--increasing", "mass"], "--increasing goes with --target only"),
    ]:
        assert cli.main(["fit", str(path), *wrong, *quick]) == 2
        assert part in capsys.readouterr().err
