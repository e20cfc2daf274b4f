"""Brute force in reverse Polish notation: templates, order, worked values, and agreement with plain evaluation."""

import itertools

from rediscover.expressions import Expression
from rediscover.search.enumeration.reverse_polish import (
    PRECISION,
    SETS,
    SYMBOLS,
    VARIABLE,
    Formula,
    _log2,
    brute_force,
    operands,
    templates,
    text,
    tree,
)

import numpy as np
import pytest

X = np.random.default_rng(0).uniform(1, 5, (300, 3))


def found(y, symbols, evaluations=200_000, factor=True, X=X):
    formulas, used = brute_force(X, y, symbols, factor=factor, evaluations=evaluations)
    return formulas, used


class TestTemplates:
    def test_their_numbers_are_motzkin_s(self):
        numbers = [len(templates(n)[0]) for n in range(1, 15)]
        assert numbers == [1, 1, 2, 4, 9, 21, 51, 127, 323, 835, 2188, 5798, 15511, 41835]

    def test_of_more_than_one_symbol_there_are_as_many_as_in_the_package(self):
        assert sum(len(templates(n)[0]) for n in range(2, 15)) == 66_705

    def test_each_is_one_formula_and_all_that_are_come_in_order(self):
        def is_one(row):
            depths = np.cumsum(1 - np.array(row))
            return (depths >= 1).all() and depths[-1] == 1

        expected = [row for row in itertools.product((0, 1, 2), repeat=6) if is_one(row)]
        assert [tuple(row) for row in templates(6)[0].tolist()] == expected

    def test_first_operands(self):
        arities, lefts = templates(5)
        assert lefts[arities.tolist().index([0, 0, 0, 2, 2])].tolist()[3:] == [1, 0]
        assert lefts[arities.tolist().index([0, 0, 2, 0, 2])].tolist()[2::2] == [0, 2]


class TestSymbols:
    @pytest.mark.parametrize(
        "name, counts", [("7ops", (1, 3, 3)), ("10ops", (2, 6, 2)), ("14ops", (1, 9, 4)), ("19ops", (3, 12, 4))]
    )
    def test_sets(self, name, counts):
        kinds = [operands(symbol) for symbol in SETS[name]]
        assert tuple(kinds.count(n) for n in range(3)) == counts and sum(counts) == int(name.removesuffix("ops"))

    @pytest.mark.parametrize("symbol", [s for s in SYMBOLS if operands(s)])
    def test_each_is_computed_as_it_is_written(self, symbol):
        """y = x0 op x1, or op of a small x0: the search must give no error to that formula, and only from its tree."""
        names, columns = ("x0", "x1"), X[:, :2] / 6
        codes = (*range(VARIABLE, VARIABLE + operands(symbol)), ord(symbol))
        written = Expression(tree(Formula(codes, 0.0, 0.0), names, factor=False))
        y = written(dict(zip(names, columns.T, strict=True)))
        best = found(y, symbol, 3000, factor=False, X=columns)[0][-1]
        again = Expression(tree(best, names, factor=False))(dict(zip(names, columns.T, strict=True)))
        assert best.bits == 0 and again == pytest.approx(y, abs=2e-9)


class TestSearch:
    def test_worked_order_and_count(self):
        """One input and one binary symbol: x, then xx+, then xx+x+ and so on, one formula a template."""
        x = X[:, :1]
        formulas, used = found(3 * x[:, 0] ** 2, "*", X=x)
        assert (text(formulas[-1].codes, "x"), formulas[-1].number, used) == ("xx*", pytest.approx(3), 2)
        formulas, used = found(np.log(x[:, 0]), "*", X=x, factor=False, evaluations=100)
        assert used == 100

    @pytest.mark.parametrize(
        "law, symbols, polish",
        [
            (lambda a, b, c: a * b * c, "+*", "abc**"),
            (lambda a, b, c: a / c, "*D", "acD"),
            (lambda a, b, c: np.sqrt(a + b), "+R", "ab+R"),
            (lambda a, b, c: np.exp(-a) * b, "*~E", "ba~E*"),
        ],
    )
    def test_the_shortest_and_first_formula_is_found(self, law, symbols, polish):
        y = law(*X.T)
        best = found(y, symbols)[0][-1]
        assert len(best.codes) == len(polish) and best.bits == 0
        values = Expression(tree(best, "abc", factor=True))(dict(zip("abc", X.T, strict=True)))
        assert values == pytest.approx(y, rel=1e-8)

    def test_offset_and_factor_are_medians(self):
        assert found(X[:, 0] + 0.3, "*", factor=False)[0][-1].number == pytest.approx(0.3)
        assert found(X[:, 0] * 0.3, "*", factor=True)[0][-1].number == pytest.approx(0.3)

    def test_improvements_only_and_their_bits(self):
        y = np.sin(X[:, 0]) + X[:, 1] ** 2
        formulas, _ = found(y, SETS["14ops"], 20_000, factor=False)
        bits = [formula.bits for formula in formulas]
        assert bits == sorted(bits, reverse=True) and len(set(bits)) == len(bits) > 3
        for formula in formulas:
            values = Expression(tree(formula, "abc", factor=False))(dict(zip("abc", X.T, strict=True)))
            assert formula.bits == pytest.approx(
                np.mean(np.log2(np.maximum(1, np.abs(values - y) / PRECISION))), abs=1e-4
            )

    def test_nothing_better_was_passed_over(self):
        """All formulas of up to three symbols of two inputs, by hand."""
        y = np.abs(X[:, 0] - 1.3 * X[:, 1])
        best = found(y, "+*L", 2 + 2 + 2 + 8, factor=False, X=X[:, :2])[0][-1].bits
        a, b = X[:, 0], X[:, 1]
        once = [a, b, np.log(a), np.log(b)]
        with np.errstate(all="ignore"):
            every = [*once, a + b, a * b, a + a, b + b, a * a, b * b, np.log(np.log(a)), np.log(np.log(b))]
        losses = [
            np.mean(np.log2(np.maximum(1, np.abs(f + np.median((y - f)[:15]) - y) / PRECISION)))
            for f in every
            if np.isfinite(f).all()
        ]
        assert best == pytest.approx(min(losses), abs=1e-4)

    def test_what_is_undefined_on_a_row_is_no_answer(self):
        x = np.linspace(-1, 1, 50)[:, None]
        formulas, _ = found(np.where(x[:, 0] > 0, np.sqrt(np.abs(x[:, 0])), 0.0), "R*", 2000, X=x)
        assert all("R" not in text(formula.codes, "x") or "xx*" in text(formula.codes, "x") for formula in formulas)

    @pytest.mark.parametrize("unit", [1e-12, 1e12])
    def test_the_window(self, unit):
        y = unit * X[:, 0]
        formulas, used = found(y, "P*", 1000, factor=unit > 1)
        if unit < 1:
            assert formulas[-1].bits == 0 and used <= 4, "any constant will do"
        else:
            assert not formulas, "factors beyond 2^30 are refused"

    def test_bits_of_numbers(self):
        for x in [1.0, 2.0, 1024.0, 1.5, 3.7e8, 1.999999999]:
            assert _log2(x) == pytest.approx(np.log2(x), abs=3e-6)
        assert _log2(2.0**30) == 30
