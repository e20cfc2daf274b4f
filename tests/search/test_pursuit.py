"""Inner constants, sums of terms, products, polynomials and pieces, each on a case with a known answer."""

from rediscover.expressions import Expression, parse
from rediscover.search.enumeration.formula import combination, found, is_exact, polished, simpler, tidy
from rediscover.search.enumeration.meeting import undone
from rediscover.search.enumeration.physics import factors, monomials, power_law, product, sums
from rediscover.search.enumeration.piecewise import piecewise, simplest_between
from rediscover.search.enumeration.polynomials import exponents, polynomial, quotient
from rediscover.search.enumeration.pursuit import Terms, pursue, usable
from rediscover.search.enumeration.regression import one_formula
from rediscover.search.enumeration.variable_projection import affine, hardened, project, refined, soften

import numpy as np
import pytest

NAMES = ("x", "y")


@pytest.fixture(scope="module")
def columns():
    x, y = np.random.default_rng(2).uniform(0.5, 3, (2, 300))
    return {"x": x, "y": y}


def tree(text):
    return parse(text).tree


class TestInnerConstants:
    def test_softened_trees_have_the_value_of_the_tree(self, columns):
        for text in ("sin(2*x)", "exp(-x)*cos(y)", "1/(1 + x**2)", "log(2 + x*y)", "tanh(3*x - 1)", "x*y"):
            soft = soften(tree(text))
            assert np.allclose(Expression(hardened(soft.tree, soft.start))(columns), parse(text)(columns)), text

    def test_affine_by_hand(self):
        assert affine(tree("3*(x - 2) + 1")) == (3.0, ("x",), -5.0)
        assert affine(tree("-x")) == (-1.0, ("x",), 0.0)
        assert affine(tree("1 - 2*x")) == (-2.0, ("x",), 1.0)

    def test_projection_is_least_squares(self):
        rng = np.random.default_rng(0)
        rows, target = rng.normal(size=(3, 50)), rng.normal(size=50)
        fit = project(rows, target)
        assert np.allclose(fit.coefficients, np.linalg.lstsq(rows.T, target, rcond=None)[0])
        assert np.allclose(fit.residual, target - fit.coefficients @ rows)

    def test_dependent_columns_have_no_projection(self):
        assert project(np.ones((2, 10)), np.arange(10.0)) is None

    def test_more_columns_than_rows_have_no_projection(self):
        assert project(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), np.ones(2)) is None

    def test_a_frequency_and_a_rate_are_found_from_nearby(self, columns):
        target = 2 * np.sin(2.3 * columns["x"] + 0.4) - 3 * np.exp(-0.7 * columns["y"]) + 1
        ones = np.ones(300)
        trees, error, _ = refined([tree("sin(2*x)"), tree("exp(-y)")], columns, target, ones, ones[None], 60)
        constants = sorted(abs(c) for t in trees for c in Expression(t).constants)
        assert error < 1e-18 and np.allclose(constants, [0.4, 0.7, 2.3])

    def test_never_worse_than_the_start(self, columns):
        target, ones = np.random.default_rng(0).normal(size=300), np.ones(300)
        start = project(np.vstack([ones, np.sin(columns["x"])]), target).residual
        _, error, used = refined([tree("sin(x)")], columns, target, ones, ones[None], 10)
        assert error <= start @ start and used <= 10


class TestPursuit:
    def test_chooses_the_terms_of_a_sum(self):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(40, 200))
        ones = np.ones(200)
        normal, kept = usable(x, ones[None])
        terms = Terms(normal, lambda i: (f"v{kept[i]}",), ones[None], {f"v{i}": row for i, row in enumerate(x)}, ones)
        models, used = pursue(terms, 3 * x[7] - 0.5 * x[11] + x[30] + 2, 10**5)
        assert {t[0] for t in models[-1].trees} == {"v7", "v11", "v30"} and len(models) == 3
        assert used < 10**5
        assert pursue(terms, x[7], 0) == ([], 0)

    def test_constant_and_undefined_features_are_not_usable(self):
        values = np.array([[1.0, 1.0, 1.0], [1.0, np.nan, 2.0], [1.0, 2.0, 4.0], [0.0, 0.0, 0.0]])
        assert usable(values, np.ones((1, 3)))[1].tolist() == [2]


class TestPolynomials:
    def test_numbers_of_monomials(self):
        assert [len(exponents(2, d)) for d in (1, 2, 3)] == [3, 6, 10] and len(exponents(4, 2)) == 15

    def test_behind_a_logarithm(self, columns):
        y = np.exp(1 - columns["x"] ** 2 + 0.5 * columns["y"])
        item = next(item for item in undone(y, (0.0,)) if item.name == "log")
        finds, _ = polynomial(item, columns, y, NAMES)
        assert str(finds[-1].expression) == "exp(0.5*y - x**2 + 1)" and finds[-1].exact

    def test_quotient(self, columns):
        y = (columns["x"] ** 2 - 3) / (1 + columns["x"] * columns["y"])
        finds, _ = quotient(columns, y, NAMES, np.arange(300))
        at = {"x": np.array([-1.0, 5.0]), "y": np.array([2.0, 4.0])}
        assert np.allclose(finds[0].expression(at), [2.0, 22 / 21])

    def test_no_quotient_in_noise(self, columns):
        assert quotient(columns, np.random.default_rng(0).normal(size=300), NAMES, np.arange(300))[0] == []


class TestPhysics:
    def test_simple_monomials_first(self):
        assert monomials(3, 3) == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
        assert len(set(monomials(4, 500))) == 500

    def test_power_law_with_a_sign(self):
        rng = np.random.default_rng(0)
        x, y = rng.uniform(-2, 2, 200), rng.uniform(1, 2, 200)
        target = -6.7e-11 * x * y**-1.5
        (find,) = power_law({"x": x, "y": y}, target, NAMES)
        assert find.exact and str(find.expression) == "-6.7e-11*x/y**1.5"

    def test_root_of_a_sum_of_monomials(self, columns):
        y = np.sqrt(4 * columns["x"] ** 2 / columns["y"] + 9 * columns["y"])
        finds, _ = sums(columns, y, NAMES, np.arange(300), 10**6)
        assert any(find.exact for find in finds)

    def test_monomial_times_a_function(self, columns):
        y = 5e20 * columns["x"] ** 3 / (np.exp(1.7 * columns["x"] / columns["y"]) - 1)
        finds, _ = factors(columns, y, NAMES, np.arange(300), 10**6)
        assert any(find.exact for find in finds)

    def test_product_takes_the_sign_of_odd_powers(self):
        x = np.array([-2.0, -1.0, 1.0, 3.0, 4.0])
        find = product([("x",)], {"x": x}, 2 * x**3)
        assert find.exact and str(find.expression) == "2*x**3"


class TestPieces:
    @pytest.mark.parametrize(
        "text", ["where(x + y < 1, x*y, sin(x))", "max(x, y + 1)", "where(x**2 + y**2 < 2, 3, x - y)"]
    )
    def test_finds(self, text, square):
        columns = dict(zip(NAMES, square.T, strict=True))
        y = parse(text)(columns)
        (find,), _ = piecewise(columns, y, NAMES, one_formula(NAMES, 2_000), 10**7)
        fresh = dict(zip(NAMES, np.random.default_rng(9).uniform(-2, 2, (2, 2000)), strict=True))
        # the border is known to within the distance of the rows from it
        assert np.mean(np.isclose(find.expression(fresh), parse(text)(fresh), rtol=1e-8)) > 0.995

    def test_no_pieces_in_noise(self, square):
        columns = dict(zip(NAMES, square.T, strict=True))
        noise = np.random.default_rng(0).normal(size=len(square))
        assert piecewise(columns, noise, NAMES, one_formula(NAMES, 300), 2_000)[0] == []

    def test_simple_borders(self):
        assert simplest_between(-1e-3, 2e-3) == 0.0
        assert simplest_between(0.98, 1.01) == 1.0
        assert simplest_between(-2.52, -2.49) == -2.5


class TestFormulas:
    def test_sums_by_hand(self):
        assert str(Expression(combination([1.0, -2.5, 3.0], [("x",), ("y",), ("z",)], -1.0))) == "x - 2.5*y + 3*z - 1"
        assert str(Expression(combination([], [], 2.0))) == "2"

    def test_tidy(self):
        assert str(Expression(tidy(tree("1*x + 0*y + 0")))) == "x"

    def test_simple_numbers(self):
        assert simpler(3.0 + 1e-9) == [3] or simpler(3.0 + 1e-9)[0] == 3
        assert simpler(1 / 3 + 1e-13)[-1] == pytest.approx(1 / 3, abs=1e-9)
        assert simpler(np.pi / 2 - 1e-12)[0] == pytest.approx(np.pi / 2, abs=1e-15)
        assert simpler(0.5) == [] or 0.5 not in simpler(0.5)

    def test_exactness_is_of_every_row(self):
        y = np.array([1.0, 2.0, 1e12])
        assert is_exact(y * (1 + 1e-13), y)
        assert not is_exact(y + np.array([1e-3, 0, 0]), y)  # hidden by the largest row in a sum of squares
        assert not is_exact(np.array([1.0, np.nan, 1e12]), y)

    def test_constants_are_fitted_and_rounded(self, columns):
        y = 2 * np.exp(-0.5 * columns["x"])
        start = found(tree("1.999*exp(-0.5001*x)"), columns, y, "test")
        assert not start.exact and str(polished(start, columns, y).expression) == "2*exp(-0.5*x)"
