"""Forms of laws: formulas of physics from elsewhere, and each stage on a case by hand."""

import zlib
from pathlib import Path

from rediscover.expressions import parse
from rediscover.search.enumeration.angles import angles, quotients_with_angles, sums_with_angles
from rediscover.search.enumeration.regression import FULL, Search, laws
from rediscover.search.enumeration.separable import separable
from rediscover.search.enumeration.single_functions import one_function, shifted_powers

import numpy as np
import pytest
import yaml

FORMULAS = yaml.safe_load((Path(__file__).parents[1] / "data" / "physics_formulas.yaml").read_text(encoding="utf-8"))
# The other 11 are not found by these stages. At the first run 11 of the 24 were; lens_maker and series_impedance came
# with parts that were added after they had been missed.
FOUND = """compton_energy malus_background fringes einstein_heat pendulum_amplitude lens_maker series_impedance
    inclined_plane thomson_scattering diatomic_frequency two_forces conical_pendulum gouy_chapman""".split()


def table(truth, domain, seed, n=1000):
    X = np.column_stack([np.random.default_rng([seed, i]).uniform(*d, n) for i, d in enumerate(domain.values())])
    columns = dict(zip(domain, X.T, strict=True))
    return columns, parse(truth)(columns)


def share_left(expression, truth, domain):
    columns, y = table(truth, domain, 99)
    return float(np.mean((expression(columns) - y) ** 2) / np.var(y))


@pytest.mark.parametrize("formula", [f for f in FORMULAS if f["id"] in FOUND], ids=lambda f: f["id"])
def test_formulas_of_physics_from_elsewhere(formula):
    columns, y = table(formula["truth"], formula["domain"], zlib.crc32(formula["id"].encode()))
    search = Search(columns, y, tuple(columns), FULL)
    with np.errstate(all="ignore"):
        for _ in laws(search):
            if search.exact:
                break
    best = min(search.exact, key=lambda find: find.size)
    assert share_left(best.expression, formula["truth"], formula["domain"]) < 1e-15


def run(stage, truth, domain, *more, rows=400):
    columns, y = table(truth, domain, 0)
    return stage(columns, y, tuple(columns), *([np.arange(rows)] if rows else []), *more)


POSITIVE = {"x": (0.5, 3), "y": (0.5, 3)}


def test_a_monomial_behind_a_square_less_one():
    finds, used = run(shifted_powers, "sqrt(1 + 3*x**4/y**2)", POSITIVE, rows=0)
    assert finds[0].exact and used <= 8 and str(finds[0].expression) == "sqrt(1 + 3*(x**4/y**2))"


def test_a_monomial_times_a_root_of_a_polynomial():
    finds, _ = run(separable, "y/sqrt(x**2 + 2*x + 5)", POSITIVE, 10_000)
    assert finds[0].exact


def test_the_scale_in_a_function_is_found_far_from_1():
    finds, _ = run(one_function, "x*y*tanh(0.0002*x/y)", POSITIVE, 100_000)
    assert finds and "tanh" in str(finds[0].expression)


def test_sums_and_quotients_with_an_angle():
    domain = {"x": (0.5, 3), "p": (-3, 3), "q": (-3, 3)}
    assert run(sums_with_angles, "x**2 + x*cos(p - q)/3", domain, 1_000_000)[0][0].exact
    assert run(quotients_with_angles, "(x - 1)/(x*sin(p - q) + 4)", domain)[0][0].exact


def test_names_of_inputs_are_not_taken():
    columns = {"c": np.linspace(0, 1, 50), "s": np.linspace(1, 3, 50) ** 2}
    for inputs in angles(columns, ("c", "s")):
        assert len(set(inputs.names)) == len(inputs.names) and set(inputs.trees) == {"c_", "s_"}


def test_noise_gives_no_exact_law():
    rng = np.random.default_rng(0)
    columns = {"x": rng.uniform(1, 2, 300), "y": rng.uniform(1, 2, 300)}
    search = Search(columns, rng.normal(size=300), ("x", "y"), 20_000)
    with np.errstate(all="ignore"):
        assert not [find for _ in laws(search) for find in search.exact]
    assert search.used <= 20_200
