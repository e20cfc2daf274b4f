"""The PDE fields: accuracy by the residual of the true equation, stencils, splits, noise and the cache."""

import dataclasses
import math

import rediscover as rd
from rediscover.expressions import ExpressionError
from rediscover.problems import pde_solvers, pdes
from rediscover.problems.pde_solvers import finite_elements

import findiff
import numpy as np
import pytest

LIGHT = ["burgers", "kdv", "ks", "advection", "nls", "ad", "rd", "heat_1d", "heat_2d", "heat_3d", "ns_channel"]
VIEWS = {"time": ("time", "shared"), "direct": ("space", "direct"), "repeated": ("space", "repeated")}


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """A cache of their own, so that tests simulate with the code as it is."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pooch.os_cache", lambda name: folder)
        pdes.simulate.cache_clear()
        yield
        pdes.simulate.cache_clear()


def residual(p, **options):
    """NMSE of the true equation; a state without one is predicted as constant."""
    return rd.score(dataclasses.replace(p, **options), {**dict.fromkeys(p.states, "0"), **p.truth})["nmse_power"]


@pytest.mark.parametrize("name", LIGHT)
def test_the_true_equation_leaves_the_stated_residual(name):
    p = rd.problem(f"pdes/{name}")
    assert p.residual
    for view, expected in p.residual.items():
        split, stencil = VIEWS[view]
        measured = residual(p, split=split, stencil=stencil)
        assert measured == pytest.approx(expected, rel=0.06), (view, measured)


@pytest.mark.parametrize("name", ["heat_3d", "laser", "ns_cylinder", "rd_cylinder"])
def test_reduced_grids_stay_near_the_stated_residual(name):
    p = rd.problem(f"pdes/{name}", reduced=True)
    assert "reduced" in p.flags
    assert residual(p) == pytest.approx(p.residual["time"], rel=0.15)


def test_solitons_keep_their_speed_and_mass():
    samples = rd.problem("pdes/kdv").samples()
    x, u = samples.axes["x"], samples.u[..., 0]
    fast = x[u.argmax(axis=0)]
    speed = np.polyfit(samples.t[20:], fast[20:], 1)[0]
    assert speed == pytest.approx(1.0, abs=0.01)
    np.testing.assert_allclose(u.sum(axis=0), u[:, 0].sum(), rtol=1e-10)


def test_channel_flow_follows_the_exact_series():
    samples = rd.problem("pdes/ns_channel").samples()
    y, t = samples.axes["y"][:, None], samples.t[None, :]
    n = np.arange(1, 40, 2)[:, None, None]
    decaying = 32 / (math.pi * n) ** 3 * np.sin(math.pi * n * y) * np.exp(-((math.pi * n) ** 2) * t)
    exact = 4 * y * (1 - y) - decaying.sum(axis=0)
    assert np.abs(samples.u[4, :, :, 0] - exact).max() < 7e-3
    assert np.abs(samples.u[..., 1]).max() < 2e-3


def test_finite_elements_integrate_linear_functions_exactly():
    """Mass and stiffness of a box: volume, and the energy of x + 2y - z, which is 1 + 4 + 1 per volume."""
    vertices, simplices = finite_elements.box_mesh([np.linspace(0, 2, 3), np.linspace(0, 1, 2), np.linspace(0, 3, 4)])
    mass, stiffness = finite_elements.assemble(vertices, simplices)
    assert mass.sum() == pytest.approx(6.0)
    slope = vertices @ [1.0, 2.0, -1.0]
    assert slope @ (stiffness @ slope) == pytest.approx(36.0)
    skin, _ = finite_elements.assemble(vertices, finite_elements._boundary(simplices))
    assert skin.sum() == pytest.approx(2 * (2 + 6 + 3))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_stencils_are_those_of_the_published_packages(order):
    from pysindy.differentiation import FiniteDifference

    x = 0.3 * np.arange(14)
    u = np.random.default_rng(0).normal(size=(14, 3))
    direct = findiff.Diff(0, x[1] - x[0], acc=2) ** order
    np.testing.assert_allclose(pdes.derivative(u, 0.3, order, 0, "direct"), direct(u), rtol=1e-9, atol=1e-8)
    shared = FiniteDifference(order=2, d=order, axis=0)._differentiate(u, x)
    np.testing.assert_allclose(pdes.derivative(u, 0.3, order, 0, "shared"), shared, rtol=1e-8, atol=1e-8)
    repeated = u
    for _ in range(order):
        repeated = np.gradient(repeated, 0.3, axis=0, edge_order=2)
    np.testing.assert_allclose(pdes.derivative(u, 0.3, order, 0, "repeated"), repeated, rtol=1e-9, atol=1e-9)


def test_a_four_point_axis_has_no_fourth_derivative():
    x = np.arange(4.0)
    for stencil in ("shared", "direct"):
        np.testing.assert_allclose(pdes.derivative(x**2, 1.0, 2, 0, stencil), 2.0)
        with pytest.raises(ValueError, match="order 4 needs 5 points"):
            pdes.derivative(x, 1.0, 4, 0, stencil)


def test_features_have_the_published_order():
    assert rd.problem("pdes/nls").inputs[:6] == ("u0", "u1", "u0_x", "u1_x", "u0_xx", "u1_xx")
    assert rd.problem("pdes/rd").inputs[:8] == ("u0", "u1", "u0_x", "u1_x", "u0_y", "u1_y", "u0_xx", "u1_xx")
    counts = {name: len(rd.problem(f"pdes/{name}").inputs) for name in pdes.ids()}
    assert counts["kdv"] == 5 and counts["ad"] == 9 and counts["rd"] == 18 and counts["laser"] == 10
    assert counts["ns_cylinder"] == 27 and counts["rd_cylinder"] == 54


def test_splits_in_time_and_in_space():
    time, space = (rd.problem("pdes/burgers", split=split).data() for split in ("time", "space"))
    assert {name: len(part.X) // 256 for name, part in time.items()} == {
        "train": 64,
        "validation": 16,
        "refit": 80,
        "test": 20,
    }
    assert list(space) == ["train", "test"] and len(space["train"].X) + len(space["test"].X) >= 256 * 101 - 1
    u = rd.problem("pdes/burgers").samples().u
    assert space["test"].X[-1, 0] == u[-1, -1, 0] and space["train"].X[0, 0] == u[0, 0, 0]


def test_tasks_draw_rows_when_asked():
    tasks = rd.problem("pdes/nls", split="space", max_rows=500).tasks(seed=3)
    assert [(task.output, task.X.shape, task.y.shape) for task in tasks] == [
        ("u0", (500, 10), (500,)),
        ("u1", (500, 10), (500,)),
    ]
    again = rd.problem("pdes/nls", split="space", max_rows=500).tasks(seed=3)
    np.testing.assert_array_equal(tasks[0].X, again[0].X)


def test_noise_is_the_published_stream():
    stream = np.random.RandomState(42)
    first = stream.randn(256, 101, 1)
    clean, noisy = rd.problem("pdes/burgers").samples().u, rd.problem("pdes/burgers", snr_db=40).samples().u
    np.testing.assert_array_equal(noisy, clean * (1 + 0.01 * first))
    for _ in range(3):
        stream.randn(256, 101, 1)
    np.testing.assert_allclose(pdes.noise_draw("kdv", 40, (512, 201, 1)), stream.randn(512, 201, 1), rtol=0)


def test_evaluate_takes_the_names_of_the_field_too():
    p = rd.problem("pdes/kdv")
    assert p.evaluate({"u0": 1.0, "u0_x": 2.0, "u0_xxx": 3.0}) == -15
    assert p.evaluate({"u": 1.0, "u_x": 2.0, "u_xxx": 3.0}) == -15
    with pytest.raises(KeyError, match="u0_xxx"):
        p.evaluate({"u": 1.0, "u_x": 2.0})


def test_pressure_has_no_equation():
    p = rd.problem("pdes/ns_cylinder")
    assert p.outputs == ("u0", "u1", "u2") and list(p.truth) == ["u0", "u1"]
    needed = {name for e in p.expressions.values() for name in e.names}
    values = p.evaluate(dict.fromkeys(needed, 1.0))
    assert values.shape == (3,) and np.isnan(values[2]) and values[0] == pytest.approx(-3 + 0.002)


def test_a_damaged_cache_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path)
    pdes.simulate.cache_clear()
    record = pdes.simulate("heat_1d")
    (file,) = tmp_path.glob("pdes/*.npz")
    assert file.with_suffix(".sha256").read_text() == pdes.digest(record)
    assert sorted(p.suffix for p in (tmp_path / "pdes").iterdir()) == [".npz", ".sha256"]
    wrong = pde_solvers.Simulation(record.u + 1)
    np.savez(file, u=wrong.u)
    pdes.simulate.cache_clear()
    np.testing.assert_array_equal(pdes.simulate("heat_1d").u, record.u)
    pdes.simulate.cache_clear()


def test_a_simulation_that_diverges_is_an_error_and_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path)
    monkeypatch.setitem(pde_solvers.SOLVERS, "heat_1d", lambda s: pde_solvers.Simulation(np.full((51, 576, 1), np.nan)))
    pdes.simulate.cache_clear()
    with pytest.raises(ArithmeticError, match="pdes/heat_1d: the simulation diverged"):
        pdes.simulate("heat_1d")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"split": "rows"}, "split must be"),
        ({"stencil": "spectral"}, "stencil must be"),
        ({"snr_db": 15}, "published noise exists"),
        ({"reduced": True}, "no reduced grid"),
        ({"max_rows": 0}, "max_rows must be positive"),
    ],
)
def test_bad_options_are_refused(options, error):
    with pytest.raises(ValueError, match=error):
        rd.problem("pdes/heat_1d", **options).data()


def test_a_name_that_is_no_column_is_refused():
    with pytest.raises(ExpressionError, match="u0_w"):
        rd.score(rd.problem("pdes/heat_1d"), "u0_w")
