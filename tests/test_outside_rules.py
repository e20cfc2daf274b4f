"""Rules of other benchmarks: worked by hand, and what must not pass."""

from rediscover.expressions import Expression, parse
from rediscover.metrics.outside_rules import accepted_form, in_units, law_with_any_constants, rounded, symbolic_solution

import numpy as np
import pytest

SAMPLE = {"x": np.linspace(1.0, 2.0, 12), "y": np.linspace(3.0, 1.0, 12) ** 2}
D, LINE = {"x": (0.5, 2.0)}, "3.0*x"


@pytest.mark.parametrize(
    ("prediction", "solves"),
    [
        ("x*y", 1.0),
        ("-7*x*y", 1.0),  # a factor
        ("x*y + 12.5", 1.0),  # a summand
        ("x**1.0004*y**0.9996", 1.0),  # both round to one
        ("x**1.001*y", 0.0),
        ("x*y + 0.0004*x", 1.0),  # rounds to nothing
        ("x*y + 0.01*x", 0.0),
        ("4.2", 0.0),  # a constant is off by no constant
        ("x*(", 0.0),
        ("x*z", 0.0),
    ],
)
def test_srbenchs_symbolic_solution(prediction, solves):
    assert symbolic_solution(prediction, "x*y", SAMPLE) == solves


def test_constants_of_the_truth_are_rounded_too():
    """1/(2 pi) is 0.159 either way; within an exponential it is no factor."""
    truth = "exp(x/(2*pi))"
    assert symbolic_solution("exp(0.1592*x)", truth, SAMPLE) == 1.0
    assert symbolic_solution("exp(0.1601*x)", truth, SAMPLE) == 0.0


def test_a_truth_that_rounding_leaves_nothing_of_is_not_solved_by_that():
    assert symbolic_solution("1e-5*x + 1e-5*y**2", "1e-5*x + 1e-5*y", SAMPLE) == 0.0
    assert symbolic_solution("3e-34*x", "1e-34*x", SAMPLE) == 1.0


@pytest.mark.parametrize(
    ("prediction", "accepted"),
    [
        ("6.62607e-34*x*y", 1.0),
        ("y*6.626071e-34*x", 1.0),
        ("6.6261e-34*x*y", 1.0),
        ("6.626e-34*x*y", 0.0),
        ("x*y", 0.0),
    ],
)
def test_fastsrbs_accepted_form_has_five_digits(prediction, accepted):
    assert accepted_form(prediction, "6.62607015e-34*x*y", SAMPLE) == accepted


def test_numbers_are_gathered_before_they_are_rounded():
    assert str(Expression(rounded(parse("x/(6.2829*y)").tree, 3, False))) == "0.159*x/y"
    assert str(Expression(rounded(parse("123456.0*x**2.00000001").tree, 3, True))) == "123000*x**2"


@pytest.mark.parametrize(
    ("prediction", "law", "found"),
    [
        ("7*x", LINE, 1.0),
        ("7*x + 0.01", LINE, 0.0),
        ("7*x + 1e-3*sin(1417*x)", LINE, 0.0),
        ("7*x**2", LINE, 0.0),
        ("0.5*exp(2*x) - 1", "3*exp(x) + 1", 1.0),
        ("2.0", LINE, 0.0),
        ("2*log(x)", "3*log(x) + 1", 0.0),  # an offset is missing
        ("7*z", LINE, 0.0),
        ("7*(", LINE, 0.0),
    ],
)
def test_a_law_with_any_constants_and_none_too_many(prediction, law, found):
    assert law_with_any_constants(prediction, law, D) == found


def test_units_of_inputs_do_not_matter_and_add_no_constant():
    big = {"x": (1e20, 9e20)}
    assert law_with_any_constants("2*log(x) - 3e-21*x", "5*log(x) - 1e-20*x", big) == 1.0
    assert law_with_any_constants("2*log(x) - 3e-21*x + 1e-11*sqrt(x)", "5*log(x) - 1e-20*x", big) == 0.0
    assert law_with_any_constants("2*log(x) - 3e-21*x + 1", "5*log(x) - 1e-20*x + 2", big) == 1.0
    same = Expression(in_units(parse("log(x**2*y)").tree, {"x": 10.0, "y": 1.0}))
    np.testing.assert_allclose(same({"x": 0.3, "y": 2.0}), np.log(3.0**2 * 2.0))
