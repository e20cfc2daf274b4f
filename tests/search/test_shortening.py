"""Exact expressions that a search reached by a detour are written as they would be by hand."""

from rediscover.expressions import parse
from rediscover.search.enumeration.formula import found
from rediscover.search.enumeration.shortening import scaled, shortened

import numpy as np
import pytest

X, Y = np.random.default_rng(0).uniform(0.5, 2.0, (2, 200))
COLUMNS = {"x": X, "y": Y}


@pytest.mark.parametrize(
    ("detour", "short"),
    [
        ("exp(2.5*(x + y))**0.4", "exp(x + y)"),
        ("cos(x)/exp(0.0125*x**2)**80", "cos(x)/exp(x**2)"),
        ("cos(x) + 1e-13*tanh(y) - 1e-13", "cos(x)"),
        ("3e-6*x/atan(3e-6*y + 6e-6)", "x/(y + 2)"),
        ("x + sin(1e-6*y)/1e-6", "x + y"),
    ],
)
def test_a_detour_is_left(detour, short):
    y = np.broadcast_to(parse(short)(COLUMNS), X.shape)
    assert str(shortened(found(parse(detour).tree, COLUMNS, y, ""), COLUMNS, y).expression) == short


@pytest.mark.parametrize("text", ["x + 1e-5*y", "exp(x)**y", "sin(0.01*x)", "x/(y + 2)"])
def test_what_counts_stays(text):
    y = parse(text)(COLUMNS)
    candidate = found(parse(text).tree, COLUMNS, y, "")
    assert shortened(candidate, COLUMNS, y).expression == candidate.expression


def test_what_is_not_exact_stays():
    candidate = found(parse("1e-6*x/atan(1e-6*x)").tree, COLUMNS, X * Y, "")
    assert shortened(candidate, COLUMNS, X * Y) is candidate


@pytest.mark.parametrize("text", ["2*x", "x*3 + y/2 - 1", "-(x + 4)", "5", "x", "exp(2*x)"])
def test_scaling_is_a_product(text):
    expression = parse(text)
    got = type(expression)(scaled(expression.tree, 2.5))
    assert np.allclose(got(COLUMNS), 2.5 * expression(COLUMNS), rtol=1e-15)
