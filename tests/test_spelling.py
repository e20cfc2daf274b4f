"""Formulas in the spellings of language models, and what the strict parser says of them."""

import random
import re

from rediscover.expressions import ExpressionError, parse
from rediscover.expressions.spelling import respelled, right_hand_side

import numpy as np
import pytest

NAMES = ("x", "y", "x0")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("2x", "2*x"),
        ("2(x + 1)", "2*(x + 1)"),
        ("(x + 1)(y - 1)", "(x + 1)*(y - 1)"),
        ("x(y + 1)", "x*(y + 1)"),
        ("3 x^{2} y", "3*x**2*y"),
        ("1e-3x + 2.5e2", "1e-3*x + 2.5e2"),
        ("sin^2(x)", "sin(x)**2"),
        ("sin²(x)·cos^{2}(y)", "sin(x)**2*cos(y)**2"),
        ("|x||y|", "abs(x)*abs(y)"),
        ("2|x - |y||", "2*abs(x - abs(y))"),
        ("x if y > 0 else 2x", "where(y > 0, x, 2*x)"),
        ("1 if x > 1 else 2 if x > 0 else 3", "where(x > 1, 1, where(x > 0, 2, 3))"),
        ("ifelse(x > 0, x, y)", "where(x > 0, x, y)"),
        ("e^x", "exp(1)**x"),
        ("e**(-x) + Log(x) + Sqrt(y)", "exp(1)**(-x) + log(x) + sqrt(y)"),
        ("Mul(2, x, Add(x, y))", "2*x*(x + y)"),
        ("np.int64(3)*x - np.float32(0.5)", "3*x - 0.5"),
        ("`x*y`", "x*y"),
        ("$x y$", "x*y"),
        ("x × y − 2·x³ ÷ 4", "x*y - 2*x**3/4"),
        ("√x + √(x + 1)", "sqrt(x) + sqrt(x + 1)"),
        ("x ≤ y", "x <= y"),
        ("αx + 2β", "alpha*x + 2*beta"),
        ("ｘ + １", "x + 1"),
        ("\ufeffx\u00a0+ x₀", "x + x0"),
        (r"\frac{x}{\frac{y}{2}}", "x/(y/2)"),
        (r"\left( x_{0} + 1 \right) \cdot \sqrt{y}", "(x0 + 1)*sqrt(y)"),
        (r"\sqrt[3]{x}\times\exp(-x_0)", "x**(1/3)*exp(-x0)"),
    ],
)
def test_spellings(text, plain):
    assert parse(respelled(text, NAMES)) == parse(plain)


FORMULAS = ["x + 1", "-x**2", "2*|x|", "x^-2", "max(x, 1)", "np.sin(x)*E", "a & b | x > 1", "x_1/x1", "log(x, 2)"]


@pytest.mark.parametrize(
    "text", ["sin x", "2 3", "x y2(", "foo(x)", "x'", "", "(x", "x)", "np.int64(x)", "x =", "∫x", "sin^{-1}(x)"]
)
def test_what_is_not_known_is_left_to_the_parser(text):
    with pytest.raises(ExpressionError):
        parse(respelled(text, NAMES), [*NAMES, "sin"])


def test_names_decide():
    assert parse(respelled("e^x", ["e", "x"])) == parse("e**x")
    assert respelled("x_1", ["x1"]) == "x1" and respelled("x_1", ["x_1", "x1"]) == "x_1" == respelled("x_1", [])


def test_what_the_parser_reads_stays_the_same_expression():
    texts = [*FORMULAS, *(str(parse(text)) for text in FORMULAS)]
    rng = random.Random(3)
    for _ in range(500):
        a, b, c = (rng.choice(texts) for _ in range(3))
        texts.append(
            rng.choice([f"({a})*({b})", f"sin({a}) - {b}", f"where({a} < {b}, {c}, 2.5e-3)", f"-({a})**{c}"])[:2_000]
        )
    read = 0
    for text in texts:
        try:
            expression = parse(text)
        except ExpressionError:
            continue
        read += 1
        assert parse(respelled(text, expression.names)) == expression, text
    assert read > 350


def test_no_text_makes_it_fail():
    rng = random.Random(5)
    pieces = [
        "x",
        "2",
        "+",
        "-",
        "*",
        "^",
        "**",
        "(",
        ")",
        "|",
        "sin",
        "e",
        "if",
        "else",
        "{",
        "}",
        "\\frac",
        "_",
        "²",
        "×",
    ]
    pieces += ["α", ",", " ", "Mul", "np.int64", "=", "<", "√", "$", "\\", "\n", "é", "\ud800", "1e", "."]
    for _ in range(5_000):
        text = "".join(rng.choice(pieces) for _ in range(rng.randint(0, 25)))
        assert isinstance(respelled(text, NAMES), str)
        right_hand_side(text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("x − y", "'−'; write '-'"),
        ("x × y", "'×'; write '*'"),
        ("x²", "'²'; write '**2'"),
        ("√x", "'√'; write 'sqrt'"),
        ("x ≥ y", "'≥'; write '>='"),
        ("ω*x", "'ω'; write 'omega'"),
        ("ｘ", "'ｘ'; write 'x'"),
        ("x\u00a0+ y", "unexpected character '\\xa0'; write ' '"),
        ("\ufeffx", "unexpected character '\\ufeff'; leave it out"),
        ("é", "unexpected character 'é'"),
    ],
)
def test_the_strict_parser_says_which_sign_to_write(text, hint):
    with pytest.raises(ExpressionError, match=re.escape(hint)):
        parse(text)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.float32, np.float64, np.float16])
def test_numbers_as_numpy_prints_them(kind):
    number = kind(3)
    assert parse(f"{number!r}*x")({"x": 2.0}) == 6.0
    assert parse(repr(np.True_), ["x"]) == parse("True")


def test_an_integer_of_numpy_cuts_nothing():
    for text in ("np.int64(2.7)", "np.int64(x)", "np.int64(1, 2)", "np.int64()"):
        with pytest.raises(ExpressionError):
            parse(text)
