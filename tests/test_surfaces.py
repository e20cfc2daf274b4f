"""The 183 surfaces, their samples and level sets."""

import dataclasses
import math
from pathlib import Path

import rediscover as rd
from rediscover.expressions import parse
from rediscover.numerics import level_sets
from rediscover.problems import surfaces

import numpy as np
import pytest
import yaml

ALL = surfaces.ids()
IMPLICIT = surfaces.ids("implicit")
BOX = ((-2.0, 2.0),) * 3
SPHERE = parse("x**2 + y**2 + z**2 - 1")


def load(name, **options):
    return rd.problem(f"surfaces/{name}", **options)


def same(a, b):
    return all(np.array_equal(p.X, q.X) and np.array_equal(p.y, q.y) for p, q in zip(a, b, strict=True))


FACTS = yaml.safe_load((Path(__file__).parent / "data" / "surfacebench.yaml").read_text())


def test_counts_of_the_paper():
    assert [len(surfaces.ids(kind)) for kind in surfaces.REPRESENTATIONS] == [129, 24, 30]
    assert len(ALL) == len(set(ALL)) == 183
    assert len(set(surfaces.categories().values())) == 15
    assert rd.problems("surfaces", "TCS") == [f"surfaces/TCS{i}" for i in range(1, 11)]
    with pytest.raises(KeyError, match="no subset 'Explicit'"):
        surfaces.ids("Explicit")


def test_flags_count_what_the_data_file_says():
    flags = [flag for name in ALL for flag in load(name).flags]
    text = (Path(surfaces.__file__).parent / "data" / "surfaces.yaml").read_text()
    listed = {line.split()[1]: int(line.rsplit(" ", 1)[1].strip("()\n")) for line in text.splitlines()
              if line.startswith("#   ")}  # fmt: skip
    assert {flag: flags.count(flag) for flag in flags} == listed
    assert load("TCS1").source == "substitute"


@pytest.mark.parametrize("name", surfaces.ids("explicit") + surfaces.ids("parametric"))
def test_samples_are_finite_and_true(name):
    problem = load(name)
    data = problem.data(seed=3)
    low, high = np.transpose(problem.domain)
    assert {key: len(split.X) for key, split in data.items()} == {"train": 5000, "test": 500, "ood": 500}
    for split in data.values():
        assert np.isfinite(split.X).all() and np.isfinite(split.y).all()
        assert np.array_equal(split.y, problem.evaluate(dict(zip(problem.inputs, split.X.T, strict=True))))
    for key in ("train", "test"):
        assert np.all((data[key].X >= low) & (data[key].X <= high))
    outside = np.maximum(low - data["ood"].X, data["ood"].X - high)
    assert np.all((outside >= 0) & (outside <= (high - low) / 2))


@pytest.mark.parametrize("name", IMPLICIT)
def test_implicit_samples_lie_on_the_surface(name):
    problem = load(name, resolution=48, n_train=400)
    data = problem.data()
    assert ("ood" in data) == ("no_ood" not in problem.flags)
    for key, split in data.items():
        assert len(split.X) == {"train": 400, "test": 500, "ood": 500}[key]
        assert not split.y.any()
        assert level_sets.distance(problem.F, split.X).max() < 1e-6
    assert np.abs(data["test"].X).max() <= 5
    if "ood" in data:
        assert np.abs(data["ood"].X[:, :2]).min() >= 5 and np.abs(data["ood"].X).max() <= 10


def test_equal_to_an_independent_evaluation():
    sympy = pytest.importorskip("sympy")
    rng = np.random.default_rng(0)
    for entry in FACTS:
        problem = load(entry["id"])
        low, high = np.transpose(problem.domain)
        X = rng.uniform(low, high, (60, len(low)))
        if entry.get("integer_domain"):
            X = np.rint(X)
        symbols = sympy.symbols(entry["variables"], real=True)
        names = dict(zip(entry["variables"], symbols, strict=True))
        texts = entry.get("expressions") or {problem.outputs[0]: entry["expression"]}
        assert tuple(entry["variables"]) == problem.inputs and tuple(texts) == problem.outputs
        expected = [
            np.broadcast_to(sympy.lambdify(symbols, sympy.sympify(text, locals=names))(*X.T), 60)
            for text in texts.values()
        ]
        actual = np.reshape(problem.evaluate(dict(zip(problem.inputs, X.T, strict=True))), (60, -1)).T
        scale = np.maximum(1, np.abs(expected))
        assert np.max(np.abs(actual - expected) / scale) < 1e-9, entry["id"]


def test_published_facts_agree():
    names = {entry["category"] for entry in FACTS}
    assert set(surfaces.categories().values()) == names
    marks = {"substitute", "coefficients_chosen", "ocr_repair"}
    for entry in FACTS:
        problem = load(entry["id"])
        assert surfaces.categories()[problem.category] == entry["category"]
        assert problem.subset == entry["representation"]
        assert marks & set(problem.flags) == set(entry.get("marks", ()))
        special = entry.get("domain_narrow") or ("integer_domain" in entry and entry["domain_alt"])
        assert dict(zip(problem.inputs, map(list, problem.domain), strict=True)) == (special or entry["domain"])
        if "zero_set" in entry:
            assert ("multivalued" in problem.flags) == (entry["zero_set"]["columns_with_several"] >= 0.05)
            assert ("no_ood" in problem.flags) == (entry["zero_set"]["ood_columns_with_root"] <= 0.01)


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("NCGS2", {"x": 2, "y": 1}, 3 / 6),
        ("NCGS3", {"x": 1, "y": 0}, math.pi / 2 * math.exp(-1)),
        ("PRS4", {"x": 1, "y": 2}, 5),
        ("PRS4", {"x": 2, "y": 1}, 3),
        ("PRS10", {"x": 2, "y": 1.6}, 3.2),
        ("SNCS9", {"x": 0, "y": math.sqrt(math.pi / 2)}, 2.5),
        ("CSS6", {"x": 0, "y": 0}, 2),
        ("DSGS2", {"x": -3, "y": 4}, -1),
        ("DSGS3", {"x": -4, "y": -1}, 3),  # -4 mod 3 = 2, -1 mod 2 = 1
        ("DSGS4", {"x": 3, "y": 4}, 5),
        ("DSGS9", {"x": 2, "y": 0}, -1),  # sin 4 < 0
        ("QIS10", {"x": 1, "y": 1}, 2 / 5),
        ("AMHD2", {"x": 1, "y": 2, "z": 3}, 2 + 24 + 27),
        ("TRPS7", {"u": 0, "v": math.pi / 2}, [0, math.pi / 2, 1.2]),
    ],
)
def test_values_worked_by_hand(name, at, value):
    assert load(name).evaluate(at) == pytest.approx(value)


def test_data_depends_on_the_seed_only():
    for name in ("NLDSS2", "DSGS1", "TRPS4"):
        first, again, other = (load(name, noise=0.1).data(seed) for seed in (0, 0, 1))
        assert same(first.values(), again.values())
        assert not np.array_equal(first["test"].X, other["test"].X)
        small = load(name, n_train=50).data(0)
        assert same((small["test"], small["ood"]), (first["test"], first["ood"]))


def test_noise_is_on_training_outputs_only():
    clean, noisy = load("TRPS4", n_train=4000).data(), load("TRPS4", n_train=4000, noise=0.1).data()
    assert same((clean["test"], clean["ood"]), (noisy["test"], noisy["ood"]))
    assert np.array_equal(clean["train"].X, noisy["train"].X)
    error = (noisy["train"].y - clean["train"].y).std(axis=0) / clean["train"].y.std(axis=0)
    assert error == pytest.approx([0.1] * 3, rel=0.05)
    options = {"resolution": 32, "n_train": 2000}
    clean, noisy = load("AMHD3", **options).split("train"), load("AMHD3", noise=0.1, **options).split("train")
    error = noisy.X - clean.X
    assert not error[:, :2].any() and error[:, 2].std() == pytest.approx(0.1 * clean.X[:, 2].std(), rel=0.1)


def test_integer_grids_do_not_overlap():
    for domain in (load("DSGS1").domain, ((-5, 5), (-5, 5))):
        data = load("DSGS1", domain=domain).data()
        assert all(np.array_equal(split.X, np.rint(split.X)) for split in data.values())
        train, test = ({tuple(row) for row in data[name].X.tolist()} for name in ("train", "test"))
        assert not train & test
        edge = int(domain[0][1])
        assert set(np.abs(data["ood"].X).ravel()) == set(range(edge + 1, 2 * edge + 1))
    assert len(train) + len(test) == 121  # all of the small grid


def test_curvature_sampler_goes_where_the_surface_bends():
    def share(sampler):  # a ridge at x = y, flat elsewhere
        X = load("HMMSS4", sampler=sampler).split("train").X
        return np.mean((X[:, 0] - X[:, 1] > 0) & (X[:, 0] - X[:, 1] < 1.5))

    assert share("uniform") == pytest.approx(0.1388, abs=0.015)  # (10**2 - 8.5**2) / 2 of 100
    assert share("curvature") > 0.25
    options = {"resolution": 32, "n_train": 1000}
    assert (
        len(
            {
                load("AMHD1", sampler=s, **options).split("train").X.tobytes()
                for s in surfaces.Surface.choices["sampler"]
            }
        )
        == 2
    )
    for name in ("PRS8", "TRPS6"):
        problem = load(name, sampler="curvature")
        assert same(problem.data().values(), problem.data().values())
        assert len(np.unique(problem.split("train").X, axis=0)) == 5000
        assert same([problem.split("test")], [load(name).split("test")])


def test_curvature_of_known_surfaces():
    X = np.random.default_rng(0).uniform(0.5, 1.0, (20, 2))
    bowl = surfaces._curvature(lambda X: X[..., 0] ** 2 + 3 * X[..., 0] * X[..., 1], X, ((0, 1), (0, 1)))
    x, y = X.T
    assert bowl == pytest.approx((2 + 0 + 6) / (1 + (2 * x + 3 * y) ** 2 + 9 * x**2), rel=1e-4)

    def cylinder(X):
        return np.stack([2 * np.cos(X[..., 0]), 2 * np.sin(X[..., 0]), X[..., 1]], axis=-1)

    assert surfaces._curvature(cylinder, X, ((0, 1), (0, 1))) == pytest.approx(1 / 4, rel=1e-4)
    points = level_sets.sample(SPHERE, [BOX], 50, np.random.default_rng(0), 24)
    assert surfaces._bending(SPHERE, points, BOX) == pytest.approx(2, rel=1e-3)  # sum of principal curvatures


def test_implicit_as_a_table():
    problem = load("AMHD4", resolution=32, n_train=300)
    (task,) = problem.tasks()
    X = problem.split("train").X
    assert (task.inputs, task.output) == (("x", "y"), "z")
    assert np.array_equal(task.X, X[:, :2]) and np.array_equal(task.y, X[:, 2])
    assert [t.output for t in load("TRPS1", n_train=10).tasks()] == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampler": "dense"}, "sampler must be uniform or curvature"),
        ({"n_train": 0}, "n_train must be a whole number"),
        ({"n_test": 2.5}, "n_test must be a whole number"),
        ({"noise": -0.1}, "noise must be"),
        ({"domain": ((5, -5), (-5, 5))}, "domain must hold one"),
        ({"domain": "wide"}, "domain must hold one"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        load("NCGS1", **options)


def test_unknown_names():
    with pytest.raises(KeyError, match="did you mean 'surfaces/TRPS7'"):
        load("TRPS77")
    with pytest.raises(TypeError, match="no option 'nose'"):
        load("NCGS1", nose=0.1)


def test_nothing_finite_is_an_error():
    broken = dataclasses.replace(load("NCGS1"), truth={"z": "log(-1 - x**2)*y"})
    with pytest.raises(ValueError, match="no finite outputs"):
        broken.split("test")


def test_sphere_is_sampled_uniformly_by_area():
    points = level_sets.sample(SPHERE, [BOX], 20_000, np.random.default_rng(0), 48)
    assert np.linalg.norm(points, axis=1) == pytest.approx(1, abs=1e-9)
    # on a sphere, equal slices have equal areas
    counts, _ = np.histogram(points[:, 2], bins=10, range=(-1, 1))
    assert counts == pytest.approx(2000, rel=0.08)
    vertices, faces = level_sets.mesh(SPHERE, BOX, 48)
    corners = vertices[faces]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum() / 2
    assert area == pytest.approx(4 * math.pi, rel=0.01)


@pytest.mark.parametrize("text", ["tan(z)", "z/(z**2 - 1)", "tan(z + 0.1*x) + 0.001*y"])
def test_poles_are_no_surface(text):
    points = level_sets.sample(parse(text), [BOX], 2000, np.random.default_rng(0), 64)
    assert len(points) == 2000 and np.abs(points[:, 2]).max() < 0.25  # and none at the poles


@pytest.mark.parametrize("text", ["1 + x**2", "z*0", "log(-1 - x**2)", "1/(1 + z**2)", "sqrt(x - 5)"])
def test_no_surface_gives_no_points(text):
    assert level_sets.sample(parse(text), [BOX], 50, np.random.default_rng(0), 16).shape == (0, 3)


def test_undefined_parts_are_left_out():
    points = level_sets.sample(parse("log(x) - z"), [BOX], 500, np.random.default_rng(0), 48)
    assert len(points) == 500 and points[:, 0].min() > 0
    assert np.log(points[:, 0]) == pytest.approx(points[:, 2], abs=1e-6)


def test_gradient_and_distance_of_a_sphere():
    points = np.array([[2.0, 0, 0], [0, 0, 1]])
    value, gradient = level_sets.value_and_gradient(SPHERE, points)
    assert value == pytest.approx([3, 0])
    assert gradient == pytest.approx(2 * points, abs=1e-8)
    assert level_sets.distance(SPHERE, points) == pytest.approx([3 / 4, 0])
    assert level_sets.distance(parse("x*0 + 1"), points).tolist() == [math.inf, math.inf]
    assert level_sets.project(SPHERE, points, steps=6)[0] == pytest.approx([1, 0, 0])


def test_equations_of_a_figure_have_no_small_print():
    from rediscover.studies.surfaces.drawing import equation

    from matplotlib.mathtext import MathTextParser

    shown = {id.split("/")[1]: equation(rd.problem(id)) for id in rd.problems("surfaces")}
    assert shown["NCGS2"] == "$z = (x^{2} - y^{2}) / (x^{2} + y^{2} + 1)$"
    assert shown["PFS4"].splitlines() == [
        r"$z = \exp(- 0.1 x^{2} - 0.1 y^{2})$",
        r"$\cdot\, \sin{\left(x y \right)}$",  # a factor, and not an expression of its own
    ]
    assert not any(r"-$" + "\n" + r"$\cdot" in lines or r"+$" + "\n" + r"$\cdot" in lines for lines in shown.values())
    assert shown["TRPS8"].splitlines()[2] == r"$z = u / 2 + \cos{\left(3 v \right)}$"
    parser = MathTextParser("path")
    for lines in shown.values():
        if "cases" not in lines:
            assert r"\frac" not in lines and "e^" not in lines
            assert all(parser.parse(line) for line in lines.splitlines())


def test_a_surface_on_integers_is_drawn_as_steps():
    from rediscover.studies.surfaces import drawing

    x, y, z = drawing._mesh(rd.problem("surfaces/DSGS4"))
    assert x[0, :4].tolist() == [-8.5, -7.5, -7.5, -6.5] and y[:2, 0].tolist() == [-8.5, -7.5]
    assert (z[::2, ::2] == z[1::2, 1::2]).all() and z[16, 16] == 0 and z[16, 18] == 1
