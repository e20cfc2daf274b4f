"""Units: how they are read, which equations they leave out, and which constants get one."""

from rediscover import cli
from rediscover.estimators import EquationRegressor, EquationSystem
from rediscover.estimators.constants import Form
from rediscover.estimators.dimensions import Dimensions
from rediscover.estimators.names import named
from rediscover.estimators.units import table, unit, vectors, with_units, written
from rediscover.expressions import parse

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

pytestmark = pytest.mark.filterwarnings(
    "ignore::rediscover.estimators.NoClearEquation", "ignore::rediscover.estimators.NoisyData"
)
COLUMNS = {"m": "kg", "v": "m/s", "h": "m", "t": "s", "n": None}


def dimensions(target="J", constants="free"):
    columns = {name: text and unit(text) for name, text in COLUMNS.items()}
    return Dimensions(columns, target and unit(target), constants)


@pytest.mark.parametrize(
    "text, same",
    [
        ("N", "kg m/s^2"),
        ("kg m² s⁻²", "J"),
        ("kg*m**2/s**2", "J"),
        ("N·m", "J"),
        ("W m-2", "W/m^2"),
        ("m3", "1000 l"),
        ("km/h", "1000 m / (3600 s)"),
        ("kWh", "3.6 MJ"),
        ("m^(1/2)", "m^0.5"),
        ("µm", "1e-6 m"),
        ("J/kg K", "J K/kg"),
        ("%", "1e-2"),
        ("mm", "1e-3 m"),
        ("min", "60 s"),
        ("dam", "10 m"),
        ("(m/s)^2", "m2/s2"),
    ],
)
def test_units_are_read_as_people_write_them(text, same):
    np.testing.assert_allclose(unit(text), unit(same), atol=1e-12)


def test_every_unit_of_the_table_can_be_read_and_written_again():
    for name in [*table()["plain"], *table()["prefixed"], *table()["base"]]:
        vector = unit(name)
        np.testing.assert_allclose(unit(written(vector) or "1"), vector, atol=1e-5)


@pytest.mark.parametrize(
    "text, known, shown",
    [
        ("yr au^-1.5", ["au", "yr"], "yr/au^1.5"),
        ("km^2/h^2", ["km/h", "kg"], "(km/h)^2"),
        ("kg h/km", ["kg", "km/h"], "kg/(km/h)"),
        ("m/s^2", ["m", "min"], "m/s^2"),
        ("1000/s", ["kg"], "1000/s"),
    ],
)
def test_units_are_written_in_those_of_the_columns(text, known, shown):
    assert written(unit(text), known) == shown
    np.testing.assert_allclose(unit(shown), unit(text), atol=1e-9)


@pytest.mark.parametrize(
    "text, part", [("EUR", "unknown"), ("°C", "in K"), ("m//s", "read"), ("(m", "read"), ("0", "read")]
)
def test_what_is_no_unit_is_refused_in_a_sentence_that_names_the_column(text, part):
    with pytest.raises(ValueError, match=part) as caught:
        list(vectors(named([f"price [{text}]"])))
    assert str(caught.value).startswith("price")


def test_given_units_replace_those_in_names():
    names = with_units(named(["speed [km/h]", "mass"]), {"speed": "m/s", "mass": None})
    assert [name.unit for name in names] == ["m/s", ""]
    with pytest.raises(ValueError, match="did you mean 'speed'"):
        with_units(names, {"sped": "m/s"})


@pytest.mark.parametrize(
    "text, free, dimensionless",
    [
        ("m*v**2", True, True),
        ("0.5*m*v**2", True, True),
        ("9.81*m*h", True, False),
        ("m*h + v", False, False),
        ("2.5*(m*h + v)", False, False),
        ("3.1*exp(-2.1*t)", True, False),
        ("3.1*exp(-t)", False, False),
        ("3.1/exp(t)**2.1", True, False),
        ("m*v**2*exp(-h/(2.0*h))", True, True),
        ("3.1*log(t)", False, False),
        ("m*v**2*sqrt(h/(h + 1.5))", True, False),
        ("m*v**2 + n", True, True),
        ("m*v**2*sin(n)", True, True),
        ("2.2*h/(1.3*h + 0.8)", True, False),
        ("m*v**2*2**h", False, False),
        ("m*v**2*abs(h)/h", True, True),
        ("max(m*v**2, v)", False, False),
        ("where(h < v, m*v**2, m*v**2)", False, False),
        ("where(h < 1.5, m*v**2, 2*m*v**2)", True, False),
        ("m*v**2*sign(h)", True, True),
        ("m*v**2*(h/h)**(t/t)", True, True),
        ("m*v**2*atan2(h, t)", False, False),
    ],
)
def test_which_forms_units_leave_out(text, free, dimensionless):
    form = Form(parse(text))
    assert (dimensions().refused(form) == "") is free
    assert (dimensions(constants="dimensionless").refused(form) == "") is dimensionless


def test_a_size_without_a_power_is_no_unit():
    columns = {"a": unit("m"), "b": unit("km")}
    strict = Dimensions(columns, unit("m"), "dimensionless")
    assert strict.refused(Form(parse("a + b")))
    assert not strict.refused(Form(parse("a + 1000.0*b")))
    assert strict.of_constants(Form(parse("a + 1000.0*b"))) == {0: "0.001"}


def test_constants_get_units_and_short_numbers_none():
    form = Form(parse("0.5*m*v**2 + 9.81*m*h"))
    assert dimensions().of_constants(form) == {1: "m/s^2"}
    half = form.holding(0, "1/2")
    assert not dimensions().refused(half) and dimensions().of_constants(half) == {1: "m/s^2"}
    assert dimensions().refused(form.holding(1, "2"))
    assert dimensions().of_constants(Form(parse("3.1*exp(-2.1*t)"))) == {0: "kg m^2/s^2", 1: "1/s"}


def energy(n=200):
    rng = np.random.default_rng(0)
    m, v, h = rng.uniform(1, 5, n), rng.uniform(1, 5, n), rng.uniform(0, 3, n)
    exact = 0.5 * m * v**2 + 9.81 * m * h
    X = pd.DataFrame({"mass [kg]": m, "speed [m/s]": v, "height": h})
    return X, pd.Series(exact + 0.01 * exact.std() * rng.normal(size=n), name="energy [J]")


def test_a_constant_is_shown_with_its_unit():
    X, y = energy()
    found = EquationRegressor(units={"height": "m"}, max_evaluations=30_000).fit(X, y)
    rows = found.constants_.set_index("unit")
    assert rows.loc["m/s^2", "value"] == pytest.approx(9.81, rel=0.01)
    assert rows.loc["m/s^2", "shown"].endswith(" m/s^2")
    assert rows.loc["", "shown"] in ("1/2", f"{rows.loc['', 'value']:.6g}")
    assert "with units that do not agree" in found.message_
    assert "unit" not in EquationRegressor(max_evaluations=500).fit(X, y).constants_


def test_only_equations_whose_units_agree_are_on_the_front():
    X, y = energy()
    found = EquationRegressor(units={"height": "m"}, constants="dimensionless", max_evaluations=30_000).fit(X, y)
    assert len(found.equations_) >= 1
    for text in found.equations_["equation"][1:]:
        form = Form(parse(text.replace("mass", "m").replace("speed", "v").replace("height", "h")))
        assert not dimensions(constants="dimensionless").refused(form)


def test_a_rate_has_the_unit_of_its_state_over_time():
    t = np.linspace(0, 4, 60)
    frame = pd.DataFrame({"t [s]": t, "x [m]": 2 * np.exp(-0.53 * t)})
    found = EquationSystem(time="t [s]", units=True, max_evaluations=5_000).fit(frame)
    assert found.constants_["unit"].tolist() == ["1/s"]
    assert found.constants_["shown"].tolist() == ["-0.53 1/s"]


def test_settings_are_kept_and_looked_at():
    asked = EquationRegressor(units={"a": "m"}, constants="dimensionless")
    assert clone(asked).get_params()["units"] == {"a": "m"}
    with pytest.raises(ValueError, match="constants is 'some'"):
        EquationRegressor(constants="some").fit(np.eye(4), np.arange(4.0))


def test_units_that_no_column_has_are_refused():
    with pytest.raises(ValueError, match="no column has one"):
        EquationRegressor(units=True).fit(np.eye(4), np.arange(4.0))


def test_units_from_the_shell(tmp_path, capsys):
    X, y = energy(60)
    path = tmp_path / "table.csv"
    X.assign(**{"energy [J]": y}).to_csv(path, index=False)
    status = cli.main(["fit", str(path), "--target", "energy", "--units", "--max-evaluations", "20000"])
    printed = capsys.readouterr().out
    assert status == 0 and " unit" in printed
    X.columns = ["mass [kg]", "speed [m/s]", "height [°C]"]
    X.assign(**{"energy [J]": y}).to_csv(path, index=False)
    assert cli.main(["fit", str(path), "--target", "energy", "--units"]) == 2
    assert "height: the unit '°C' does not begin at zero" in capsys.readouterr().err
