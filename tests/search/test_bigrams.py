"""Bigram models of skeletons: their tokens, their distribution, and the numbers published for the laws of SRSD."""

from collections import Counter

import rediscover as rd
from rediscover.expressions import parse
from rediscover.search.networks.bigrams import ARITIES, Bigrams, preorder, reindexed

import numpy as np
import pytest
from scipy.stats import chisquare


@pytest.mark.parametrize(
    "text, expected",
    [
        ("b", "x1"),
        ("3.5", "c"),
        ("a + b + 2", "BiAdd x0 BiAdd x1 c"),
        ("a/b", "BiMul x0 Pow x1 c"),
        ("-a", "BiMul c x0"),
        ("sqrt(a)", "Pow x0 c"),
        ("exp(-b)*tanh(a)", "BiMul exp BiMul c x1 tanh x0"),
    ],
)
def test_tokens(text, expected):
    assert sorted(preorder(parse(text), ["a", "b"])) == sorted(expected.split())
    open_nodes = np.cumsum([1, *(ARITIES.get(token, 0) - 1 for token in preorder(parse(text), ["a", "b"]))])
    assert (open_nodes[:-1] > 0).all() and open_nodes[-1] == 0


def test_a_function_without_a_token_is_named():
    with pytest.raises(ValueError, match="no token stands for asin"):
        preorder(parse("asin(x)"), ["x"])


def test_draws_follow_the_counts():
    model = Bigrams.of([("sin", "x0"), ("sin", "x0"), ("sin", "c"), ("cos", "x0")])
    rng = np.random.default_rng(0)
    draws = Counter(model.draw(rng) for _ in range(8000))
    expected = {("sin", "x0"): 4000, ("sin", "c"): 2000, ("cos", "x0"): 2000}
    assert set(draws) == set(expected)
    assert chisquare([draws[each] for each in expected], list(expected.values())).pvalue > 1e-3


def test_dead_ends_and_long_sequences_are_none():
    rng = np.random.default_rng(0)
    assert Bigrams.of([("BiAdd", "x0")]).draw(rng) is None  # nothing followed x0
    assert Bigrams.of([("sin", "sin")]).draw(rng) is None
    assert Bigrams.of([("x0",)]).draw(rng, most=1) == ("x0",)
    assert Bigrams({}).draw(rng) is None


def test_the_published_numbers():
    """Of 5,000 attempts 4,501 were complete and 1,841 of them different, inputs renumbered."""
    laws = map(rd.problem, rd.problems("srsd"))
    model = Bigrams.of([preorder(parse(text, law.inputs), law.inputs) for law in laws for text in law.truth.values()])
    complete, different = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        drawn = [each for each in (model.draw(rng) for _ in range(5000)) if each]
        complete.append(len(drawn))
        different.append(len(set(map(reindexed, drawn))))
    assert np.mean(complete) == pytest.approx(4501, abs=45)
    assert np.mean(different) == pytest.approx(1841, abs=60)
