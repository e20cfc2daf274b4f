"""Grammars: draws, counts and canonical forms against the values of ProGED's own tests."""

from rediscover.search.programs.grammars import BUILT_IN, built_in, canonical, count_trees, coverage, draw, grammar

import numpy as np
import pytest

TOY = "S: S + F 0.2 | F 0.8 \n F: x 0.5 | y 0.5"


def code(name):
    return "_".join(map(str, draw(built_in(name, "xyz", (0.3, 0.3, 0.4)), np.random.RandomState(0).random_sample).code))


def test_the_first_draw_of_proged_s_own_test():
    sentence = draw(grammar(TOY), np.random.RandomState(0).random_sample)
    assert sentence == (("y",), pytest.approx(0.4), (1, 1))


@pytest.mark.parametrize(
    "name, expected",
    [("polynomial", "1_0_1"), ("trigonometric", "0_1_2"), ("simplerational", "1_2"), ("universal", "2_2_2_1")],
)
def test_first_draws_of_the_built_in_grammars(name, expected):
    """Codes of ProGED's tests after ``np.random.seed(0)``."""
    assert code(name) == expected


def test_counts_and_coverage():
    rules = grammar(TOY)
    assert [count_trees(rules, height) for height in range(6)] == [0, 0, 2, 6, 14, 30]
    assert coverage(rules, 2) == pytest.approx(0.8) and coverage(rules, 60) == pytest.approx(1)
    assert coverage(rules, 1, "F") == 1


def test_draws_have_the_probability_of_the_grammar():
    rules, rng = grammar(TOY), np.random.default_rng(0)
    drawn = [draw(rules, rng.random) for _ in range(4000)]
    assert np.mean([s.words == ("x",) for s in drawn]) == pytest.approx(0.4, abs=0.03)
    assert all(
        s.probability == pytest.approx(0.8 * 0.2 ** ((len(s.words) - 1) // 2) * 0.5 ** ((len(s.words) + 1) // 2))
        for s in drawn
    )


def test_a_polynomial_is_a_constant_as_often_as_was_measured():
    """47.4 per cent of the expressions of ProGED's polynomial grammar have no variable."""
    rules, rng = built_in("polynomial", ["x", "y"]), np.random.default_rng(1)
    constant = [not {"x", "y"} & set(draw(rules, rng.random).words) for _ in range(6000)]
    exact = 0.6 * 0.6 / (1 - 0.4 * 0.6)  # q = 0.6 r + 0.4 q r with r = 0.6
    assert exact == pytest.approx(0.474, abs=1e-3) and np.mean(constant) == pytest.approx(exact, abs=0.02)


def test_a_derivation_without_end_is_given_up():
    assert draw(grammar("S: S + S 1"), np.random.default_rng(0).random) is None


@pytest.mark.parametrize(
    "one, other",
    [
        ("C * C * x", "x * C"),
        ("C + x + C", "C + x"),
        ("exp( C ) + C * x * y", "y * C * x + C"),
        ("( C ) / ( C ) * x", "C * x"),
        ("C * x + C * y", "C * y + C * x"),
        ("x - C - C", "C + x"),
    ],
)
def test_equal_forms_are_one(one, other):
    forms = [canonical(words.split(), ["x", "y"]).form for words in (one, other)]
    assert forms[0] == forms[1]


def test_different_forms_are_not_and_constants_alone_are_refused():
    assert canonical("C * x".split(), ["x"]).form != canonical("C + x".split(), ["x"]).form
    assert canonical("C * C + exp( C )".split(), ["x"]) is None
    assert canonical("C / ( x - x )".split(), ["x"]) is None
    assert canonical(["E", "*", "C"], ["E"]).expression.names == ("E",)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_grammar_draws_expressions(name):
    rules, rng = built_in(name, ["a", "b"]), np.random.default_rng(0)
    drawn = [draw(rules, rng.random) for _ in range(60)]
    kept = [canonical(s.words, ["a", "b"]) for s in drawn if s is not None and len(s.words) < 60]
    assert sum(skeleton is not None for skeleton in kept) > 10


def test_bad_input():
    with pytest.raises(ValueError, match="do not sum to 1"):
        grammar("S: x 0.5")
    with pytest.raises(ValueError, match="unknown grammar"):
        built_in("none", ["x"])
    with pytest.raises(ValueError, match="at least one variable"):
        built_in("universal", [])
