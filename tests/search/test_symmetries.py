"""Structure of tables, and the recursion over it: worked symmetries and parts, front, snapping, substitution."""

import math

from rediscover.expressions import Expression, parse
from rediscover.search.enumeration.description_length import Front, error_bits, formula_bits, number_bits, snapped
from rediscover.search.enumeration.divide_and_conquer import Meter, Settings, behind, discover, polynomials, positive
from rediscover.search.enumeration.reverse_polish import SETS
from rediscover.search.enumeration.symmetries import groups, most_fits, separated, structure

import numpy as np
import pytest

RNG = np.random.default_rng(0)
X = RNG.uniform(1, 4, (4, 800))
a, b, c, d = X


class TestStructure:
    @pytest.mark.parametrize(
        "y, kind, inputs",
        [
            (np.sin(a - c) * b + d, "-", (0, 2)),
            (np.cos(b + c) / a, "+", (1, 2)),
            (np.exp(a * d) * b + c, "*", (0, 3)),
            (np.sin(c / b + a) + d * np.cos(c / b - a), "/", (1, 2)),
            (np.exp(-c / b) + a * d, "sum", (0, 3)),
        ],
    )
    def test_worked_structures(self, y, kind, inputs):
        found, fits = structure(list(X), y)
        assert fits == most_fits(4)
        assert found[:2] == (kind, inputs) and found.error < 0.02

    def test_two_inputs_with_nothing_in_common_are_a_sum_or_a_product(self):
        total, _ = structure([a, b], np.sin(a) + np.exp(b))
        assert total[:2] == ("sum", (0,))
        product, _ = structure([a, b], (2 + np.sin(3 * a)) * np.exp(np.sin(3 * b)))
        assert product[:2] == ("product", (0,))

    def test_a_product_may_change_its_sign(self):
        y = np.sin(3 * a) * np.exp(b)
        product, _ = structure([a, b], y)
        assert product.kind == "product" and positive([a, b], product.inputs, y) == (1,)

    def test_no_structure_in_noise_and_none_of_one_input(self):
        assert structure([a, b], RNG.normal(size=800))[0] is None
        assert structure([a], a) == (None, 0)
        assert structure([a[:10], b[:10]], a[:10] * b[:10]) == (None, 0)

    def test_parts_of_a_sum_are_known_up_to_a_constant(self):
        part = separated([a, b, c], (0, 2), np.sin(a) * c + np.exp(b))
        off = part - np.sin(a) * c
        assert np.ptp(off) < 1e-3

    def test_groups_are_one_of_each_pair_of_complements(self):
        for n in (2, 3, 4, 5, 6):
            found = [frozenset(group) for group in groups(n)]
            assert len({min(g, frozenset(range(n)) - g, key=sorted) for g in found}) == len(found) == 2 ** (n - 1) - 1
        assert len(list(groups(12))) == 12 + 66


class TestDescriptionLength:
    def test_numbers(self):
        assert (number_bits(0), number_bits(1), number_bits(-3), number_bits(0.5)) == (0, 1, 2, 2)
        assert number_bits(0.123456789) == pytest.approx(math.log2(0.123456789) + 30, abs=1e-6)

    def test_formulas(self):
        assert formula_bits(parse("x + y").tree) == pytest.approx(3 * math.log2(3))
        assert formula_bits(parse("x + x").tree) == pytest.approx(3)
        assert formula_bits(parse("3*x").tree) == pytest.approx(2 + 2)

    def test_errors(self):
        y = np.array([1.0, 2.0])
        assert error_bits(y, y) == 0 and error_bits(y + 2.0**-20, y) == pytest.approx(10, abs=0.01)
        assert error_bits(np.array([np.nan, 1.0]), y) == math.inf

    def test_a_front_keeps_what_nothing_beats(self):
        front = Front({"x": a}, 2 * a)
        assert front.add(("x",)) and front.add(parse("1.9*x").tree) and not front.add(parse("1.7*x + 0.1").tree)
        assert not front.solved and front.add(parse("2*x").tree) and front.solved
        assert [str(member.expression) for member in front.members] == ["x", "2*x"]
        assert not front.add(parse("log(x - 5)").tree)

    def test_snapping_and_fitting(self):
        front = Front({"x": a}, 1.5 * a + 2)
        front.add(parse("1.43*x + 2.04").tree)
        used = front.polish(1000)
        assert front.solved and 0 < used <= 1000
        assert front.members[-1].expression({"x": 2.0}) == 5
        assert Front({"x": a}, a, front.members).polish(3) == 0

    def test_snapped_constants(self):
        forms = [str(Expression(tree)) for tree in snapped(parse("0.334*x + 2.9"))]
        assert forms[:3] == ["2.9", "0.3333333333333333*x + 2.9", "0.334*x"]


class TestRecursion:
    def test_functions_are_undone(self):
        y = np.array([0.2, 0.9, 0.5])
        for item in behind(y):
            values = Expression(item.back(("t",)))({"t": item.values})
            assert values == pytest.approx(y), item.name
        assert {item.name for item in behind(-10 * y)} == {"id", "atan", "exp", "inverse", "square"}

    def test_a_polynomial_behind_a_function_is_found(self):
        y = np.exp(0.5 * a * b - 1)
        (log,) = (item for item in behind(y) if item.name == "log")
        *_, last = polynomials(log, {"a": a, "b": b}, 2)
        assert Expression(last)({"a": a, "b": b}) == pytest.approx(y)

    def solve(self, y, evaluations=40_000, **columns):
        meter = Meter(evaluations)
        front = discover(columns, y, Settings((SETS["7ops"], SETS["14ops"])), meter)
        assert meter.used <= evaluations
        return front

    def test_a_symmetry_is_used(self):
        y = np.exp(np.sin(a - c)) * b
        assert self.solve(y, a=a, b=b, c=c).solved

    def test_a_sum_and_a_product_are_put_together(self):
        for y in (np.sin(a) * c + np.exp(-b), np.exp(-(a**2)) * (1 + np.sin(b))):
            assert self.solve(y, a=a, b=b, c=c).solved

    def test_an_input_without_effect_is_left_out(self):
        assert self.solve(np.sqrt(a) + np.sin(b), 100_000, a=a, b=b, d=d).solved
