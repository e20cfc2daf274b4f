"""Trees of pretrained transformers: their number, their exact distribution, operators, leaves, constants."""

import itertools
from collections import Counter

from rediscover.expressions import parse
from rediscover.expressions.trees import leaves
from rediscover.search.networks import tree_samplers as ts
from rediscover.search.programs.programs import evaluate, to_text, valid

import numpy as np
import pytest
from scipy.stats import chisquare

LEAST_P = 1e-3  # of a test of fit; seeds are fixed, so this fails always or never


def every_shape(operators, arities):
    """Prefix sequences of trees with so many operators, by trying all sequences."""
    found = set()
    for length in range(operators + 1, 2 * operators + 2):
        for word in itertools.product((0, *arities), repeat=length):
            open_nodes = np.cumsum([1, *(arity - 1 for arity in word)])
            if len(word) - word.count(0) == operators and (open_nodes[:-1] > 0).all() and open_nodes[-1] == 0:
                found.add(word)
    return found


def labels(tree):
    yield tree[0]
    for part in tree[1:]:
        yield from labels(part)


class TestShapes:
    @pytest.mark.parametrize("unary, arities", [(True, (1, 2)), (False, (2,))])
    @pytest.mark.parametrize("operators", [0, 1, 2, 3, 4])
    def test_their_number_is_that_of_all_there_are(self, operators, unary, arities):
        assert ts.count_shapes(1, operators, unary) == len(every_shape(operators, arities))

    def test_known_numbers(self):
        """Schroeder's for trees with both kinds of operators, Catalan's for binary ones."""
        assert [ts.count_shapes(1, n) for n in (5, 6, 10)] == [394, 1806, 1037718]
        assert [ts.count_shapes(1, n, unary=False) for n in (5, 10)] == [42, 16796]

    @pytest.mark.parametrize("operators, unary, arities", [(3, True, (1, 2)), (4, True, (1, 2)), (5, False, (2,))])
    def test_each_is_equally_likely(self, operators, unary, arities):
        expected = every_shape(operators, arities)
        rng = np.random.default_rng(operators)
        counts = Counter(tuple(ts.draw_shape(operators, rng, unary)) for _ in range(100 * len(expected)))
        assert set(counts) == expected
        assert chisquare(list(counts.values())).pvalue > LEAST_P


class TestExpressions:
    @pytest.mark.parametrize("name", ts.PRIORS)
    def test_operators_come_by_their_weights(self, name):
        prior, rng = ts.PRIORS[name], np.random.default_rng(1)
        for weights in (prior.binary, prior.unary):
            counts = Counter(ts.draw_operator(weights, rng) for _ in range(20_000))
            share = np.array(list(weights.values())) / sum(weights.values())
            assert chisquare([counts[operator] for operator in weights], 20_000 * share).pvalue > LEAST_P

    def test_number_of_operators(self):
        rng = np.random.default_rng(2)
        plain = ts.PRIORS["nesymres"]._replace(unary={"sin": 1.0})
        counts = Counter(
            sum(isinstance(label, str) for label in labels(ts.draw_expression(plain, 2, rng))) for _ in range(3000)
        )
        assert set(counts) == {3, 4, 5} and chisquare(list(counts.values())).pvalue > LEAST_P

    @pytest.mark.parametrize("inputs", [1, 2, 5, 9])
    def test_e2e_uses_every_input_and_counts_operators_from_their_number(self, inputs):
        rng = np.random.default_rng(inputs)
        trees = [ts.draw_expression(ts.PRIORS["e2e"], inputs, rng) for _ in range(300)]
        binary = [sum(label in ("+", "-", "*") for label in labels(tree)) for tree in trees]
        assert (min(binary), max(binary)) == (inputs - 1, inputs + 5)
        assert all(set(leaves(tree)) == set(range(inputs)) for tree in trees)
        unary = [sum(label in ts.PRIORS["e2e"].unary for label in labels(tree)) for tree in trees]
        assert max(unary) == 4

    def test_growing_leaves(self):
        """The second leaf repeats the first in half of the draws; of many inputs none is preferred."""
        rng = np.random.default_rng(3)
        pairs = [ts.draw_leaves("growing", 2, 4, rng) for _ in range(4000)]
        assert abs(np.mean([a == b for a, b in pairs]) - 0.5) < 0.03
        assert chisquare(np.bincount([a for a, _ in pairs])).pvalue > LEAST_P
        assert ts.draw_leaves("growing", 5, 1, rng) == [0] * 5

    def test_inserted_operators_leave_the_root_and_large_subtrees_alone(self):
        prior = ts.Prior({"+": 1.0}, {"sin": 1.0}, (1, 1), inserted=9)
        deep = ts.apply("+", (0,), ts.apply("+", (1,), ts.apply("+", (2,), ts.apply("+", (3,), (4,)))))
        full = ts.insert_unary(deep, prior, 9, np.random.default_rng(0))
        assert full[0] == "+" and list(labels(full)).count("sin") == 7
        assert ts.insert_unary(deep, prior, 0, np.random.default_rng(0)) == deep
        sizes = Counter(
            list(labels(ts.insert_unary(deep, prior, 2, np.random.default_rng(s)))).count("sin") for s in range(50)
        )
        assert sizes == {2: 50}


class TestConstants:
    def test_none_asked_for_changes_nothing(self):
        tree = ("+", ("*", (0,), (1,)), ("sin", ("-", (0,), (1,))))
        assert ts.place_constants(tree, lambda: None) == tree

    @pytest.mark.parametrize(
        "text, expected",
        [
            ("x", "1.0 + 1.0*x"),
            ("x*y", "1.0 + 1.0*(x*y)"),
            ("x + y", "1.0 + (1.0*x + 1.0*y)"),
            ("sin(x + y)/x", "1.0 + 1.0*(sin(1.0 + (1.0*x + 1.0*y))/x)"),
            ("x*(x - y)", "1.0 + 1.0*(x*(1.0*x - 1.0*y))"),
        ],
    )
    def test_places(self, text, expected):
        def number(node):
            return (["x", "y"].index(node[0]),) if len(node) == 1 else (node[0], *map(number, node[1:]))

        placed = ts.place_constants(number(parse(text).tree), lambda: 1.0)
        assert parse(to_text(ts.to_programs([placed]), ["x", "y"])[0]) == parse(expected)

    def test_numbers_of_constants(self):
        rng = np.random.default_rng(5)
        prior = ts.PRIORS["nesymres"]
        trees = [ts.draw_constants(ts.draw_expression(prior, 2, rng), prior, rng) for _ in range(500)]
        counts = Counter(sum(type(leaf) is float for leaf in leaves(tree)) for tree in trees)
        assert set(counts) <= {1, 2, 3, 4} and counts[1] > 50 and counts[4] > 50
        assert all(map(ts.scalable, trees))

    @pytest.mark.parametrize("name", ts.PRIORS)
    def test_programs_are_the_trees(self, name):
        prior, rng = ts.PRIORS[name], np.random.default_rng(6)
        trees = [ts.draw_constants(ts.draw_expression(prior, 3, rng), prior, rng) for _ in range(200)]
        programs, names = ts.to_programs(trees), ["a", "b", "c"]
        assert valid(programs, 3).all()
        X = rng.uniform(0.5, 2.0, (7, 3))
        texts = [parse(text)(dict(zip(names, X.T, strict=True))) for text in to_text(programs, names)]
        np.testing.assert_allclose(evaluate(programs, X), texts, rtol=1e-9)

    @pytest.mark.parametrize("name", ts.PRIORS)
    def test_equal_generators_draw_equal_trees(self, name):
        first, second = (
            [ts.draw_expression(ts.PRIORS[name], 4, rng) for _ in range(20)]
            for rng in (np.random.default_rng(7), np.random.default_rng(7))
        )
        assert first == second
