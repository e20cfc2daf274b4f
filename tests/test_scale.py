"""Many columns, several targets, many short series, and whether the choice is made again on other rows."""

from rediscover import cli
from rediscover.estimators import EquationRegressor, EquationSystem
from rediscover.estimators.constants import Form
from rediscover.estimators.residuals import TableResiduals
from rediscover.estimators.screening import screened
from rediscover.estimators.stability import times_chosen
from rediscover.expressions import parse

import numpy as np
import pandas as pd
import pytest
from sklearn.multioutput import MultiOutputRegressor

pytestmark = pytest.mark.filterwarnings(
    "ignore::rediscover.estimators.NoClearEquation", "ignore::rediscover.estimators.NoisyData"
)


def table(rows=200, columns=2, seed=0, noise=0.01):
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 2, (rows, columns))
    y = 3 * X[:, 0] * X[:, 1]
    return X, y + noise * y.std() * rng.normal(size=rows)


def test_screening_keeps_inputs_and_says_which():
    X, y = table(columns=30)
    found = EquationRegressor(max_evaluations=2000).fit(X, y)
    assert {"x0", "x1"} <= set(found.screened_) and len(found.screened_) < 20
    assert "of 30 columns the search was given those that say most in randomised trees: x0, x1" in found.message_
    assert found.predict(X).shape == (200,)
    assert set(found.expressions_["y"].names) <= set(found.screened_)


def test_all_columns_are_searched_where_screening_is_not_wanted():
    X, y = table(60, 25)
    found = EquationRegressor(max_evaluations=500, screening=None, method="least_squares").fit(X, y)
    assert len(found.screened_) == 25 and "columns the search" not in found.message_


def test_screening_keeps_all_of_many_inputs():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 40))
    y = X[:, :25].sum(axis=1)
    kept = screened(X, y, np.ones(600), np.random.default_rng(2))
    assert len({*range(25)} & {*kept}) >= 24 and len(kept) <= 30


def test_several_targets_by_scikit_learn():
    X, y = table()
    quick = EquationRegressor(max_evaluations=1000)
    found = MultiOutputRegressor(quick).fit(pd.DataFrame(X, columns=["a", "b"]), np.column_stack([y, X[:, 0] ** 2]))
    assert found.predict(pd.DataFrame(X, columns=["a", "b"])).shape == (200, 2)
    assert [each.expressions_["y"].names for each in found.estimators_] == [("a", "b"), ("a",)]


def test_several_targets_from_the_shell(tmp_path, capsys):
    X, y = table(60)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "p [m]": y, "q": X[:, 0] ** 2})
    frame.to_csv(tmp_path / "table.csv", index=False)
    arguments = ["fit", str(tmp_path / "table.csv"), "--target", "p,q", "--max-evaluations", "1000"]
    assert cli.main([*arguments, "--out", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "\np = " in "\n" + out and "\nq = " in out
    assert (tmp_path / "out" / "p" / "report.html").exists() and (tmp_path / "out" / "q" / "equation.py").exists()
    assert cli.main([*arguments, "--inputs", "a,q"]) == 2
    assert "'q' is the target" in capsys.readouterr().err


def test_many_short_series():
    parts = []
    rng = np.random.default_rng(3)
    for k in range(60):
        t = np.sort(rng.uniform(0, 1.5, 7))
        x = rng.uniform(0.2, 0.5) * np.exp(0.8 * t)
        parts.append(pd.DataFrame({"run": k, "t": t, "x": x * (1 + 0.002 * rng.normal(size=7))}))
    found = EquationSystem(time="t", series="run", max_evaluations=3000).fit(pd.concat(parts))
    assert found.expressions_["x"].names == ("x",)
    x = np.array([0.3, 0.6, 1.0])
    rates = found.predict(pd.DataFrame({"run": 0, "t": 0.0, "x": x}))[:, 0]
    np.testing.assert_allclose(rates, 0.8 * x, rtol=0.03)


def test_a_law_is_chosen_again_on_resamples_of_the_rows():
    X, y = table()
    found = EquationRegressor(max_evaluations=3000).fit(X, y)
    again = found.stability(X, y, n=10)
    assert list(again.columns) == ["equation", "complexity", "share", "chosen"]
    assert again["share"].sum() == pytest.approx(1) and (again["share"] >= 0).all()
    assert again.loc[again["chosen"], "equation"].item() == found.skeleton_
    assert again.loc[again["chosen"], "share"].item() >= 0.8
    pd.testing.assert_frame_equal(again, found.stability(X, y, n=10))


def test_a_choice_within_noise_is_not_sure():
    rng = np.random.default_rng(4)
    x = rng.uniform(0, 3, 400)
    y = x + 0.12 * x**2 + 0.2 * rng.normal(size=400)  # on 80 held-out rows a standard error from a line
    forms = [Form(parse("1.0*x")), Form(parse("1.0*x + 0.1*x**2"))]

    def resampled(drawn, out):
        rest = TableResiduals(("x",), x[out][:, None], y[out], drawn[out])
        return TableResiduals(("x",), x[~out][:, None], y[~out], drawn[~out], rest)

    sure = times_chosen(forms, 400, resampled, 20, np.random.default_rng(5))
    assert sure.sum() == 20
    y[:] = x + 0.03 * x**2 + 0.2 * rng.normal(size=400)
    unsure = times_chosen(forms, 400, resampled, 20, np.random.default_rng(5))
    assert sure[1] > unsure[1] and unsure[0] > 0


def test_of_few_rows_resamples_are_decided_by_description_as_the_fit_is():
    """By the nearest error of each row left out, longer forms would be chosen on most resamples."""
    rng = np.random.default_rng(7)
    X = rng.uniform(0.1, 2, (40, 1))
    y = 475 * X[:, 0] + 180 * rng.normal(size=40)
    found = EquationRegressor(max_evaluations=30_000).fit(X, y)
    shares = found.stability(X, y, n=10)
    assert len(shares) > 3 and shares["share"].sum() <= 1
    assert shares.loc[shares["chosen"], "share"].item() >= 0.9
