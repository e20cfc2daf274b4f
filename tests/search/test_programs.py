"""Programs: values, derivatives, losses, text, and what is refused."""

import os
import subprocess
import sys

from rediscover.expressions import ExpressionError, parse
from rediscover.search.programs import elementary
from rediscover.search.programs.operators import ARITIES, CODES, CONSTANT, VARIABLE
from rediscover.search.programs.programs import (
    Programs,
    derivatives,
    empty,
    evaluate,
    from_text,
    losses,
    subtrees,
    to_text,
    valid,
)
from rediscover.search.programs.throughput import workload
from rediscover.search.programs.variation import random_programs

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = ("x", "y", "z")
EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.5, -3.0, 0.5, 1e-320, 1e300, 709.5, -746.0, 1e7]
NUMPY = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": np.power,
    "min": np.minimum,
    "max": np.maximum,
    "neg": np.negative,
    "abs": np.abs,
    "inv": np.reciprocal,
    "square": np.square,
    "cube": lambda a: a * a * a,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
} | {name: getattr(np, name) for name in ("sqrt exp log sin cos tan sinh cosh tanh").split()}


def batch(*rows, length=None):
    """Programs from rows of tokens, in which a float is a constant and a name an operator or a variable."""
    programs = empty(len(rows), length or max(map(len, rows)))
    for k, row in enumerate(rows):
        programs.sizes[k] = len(row)
        for i, token in enumerate(row):
            if isinstance(token, float):
                programs.constants[k, i] = token
            else:
                programs.tokens[k, i] = CODES[token] if token in CODES else VARIABLE + NAMES.index(token)
    return programs


def table(rows=150, seed=0):
    return np.random.default_rng(seed).uniform(-2, 2, (rows, len(NAMES)))


def columns(X):
    return dict(zip(NAMES, X.T, strict=True))


class TestValues:
    @pytest.mark.parametrize("name", CODES)
    def test_every_operator_is_numpy_s(self, name):
        a, b = (grid.ravel() for grid in np.meshgrid(EDGES, EDGES))
        operands = (a, b)[: ARITIES[name]]
        got = evaluate(batch([*NAMES[: ARITIES[name]], name]), np.column_stack([a, b]))[0]
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(got, NUMPY[name](*operands), rtol=1e-15, atol=0)

    def test_worked_values_of_programs_of_several_sizes(self):
        programs = batch(["x", "y", "*", 2.0, "+"], ["y"], [3.0, "x", "-"])
        assert evaluate(programs, [[2.0, 5.0], [0.0, 1.0]]).tolist() == [[12.0, 2.0], [5.0, 1.0], [1.0, 3.0]]

    @pytest.mark.parametrize("rows", [0, 1, 127, 128, 129, 300])
    def test_rows_are_computed_one_by_one(self, rows):
        programs, X = random_programs(20, 12, CODES, 3, seed=1), table(rows)
        one_by_one = [evaluate(programs, X[i : i + 1])[:, 0] for i in range(rows)]
        got = evaluate(programs, X)
        assert got.shape == (20, rows)
        if rows:
            np.testing.assert_array_equal(got, np.transpose(one_by_one))

    @given(st.integers(0, 10**6), st.integers(1, 30))
    @settings(max_examples=60, deadline=None, derandomize=True)
    def test_the_text_has_the_same_values(self, seed, size):
        programs, X = random_programs(3, size, CODES, 3, seed), table(40, seed)
        for text, got in zip(to_text(programs, NAMES), evaluate(programs, X), strict=True):
            expected = parse(text, NAMES)(columns(X))
            # Rounding in the last digits grows where large numbers cancel: compare where a change of the
            # input in its last digits does not show.
            nearby = parse(text, NAMES)(columns(X * (1 + 1e-14)))
            with np.errstate(all="ignore"):
                stable = ~(np.abs(nearby - expected) > 1e-9 * np.abs(expected))
            np.testing.assert_allclose(got[stable], expected[stable], rtol=1e-6, err_msg=text)


class TestElementary:
    CASES = (
        ("exps", mpmath.exp, np.random.default_rng(0).uniform(-708, 708, 300)),
        ("logs", mpmath.log, np.exp(np.random.default_rng(1).uniform(-300, 300, 300))),
        ("logs", mpmath.log, np.random.default_rng(2).uniform(0.9, 1.1, 300)),
        ("sines", mpmath.sin, np.random.default_rng(3).normal(size=300) * 10),
        ("sines", mpmath.sin, np.random.default_rng(4).uniform(-1e6, 1e6, 300)),
        ("sines", mpmath.sin, np.arange(1, 300) * np.pi / 2),
        ("cosines", mpmath.cos, np.arange(1, 300) * np.pi / 2),
    )

    @pytest.mark.parametrize("name, exact, x", CASES)
    def test_within_two_units_in_the_last_place(self, name, exact, x):
        got = np.empty(len(x))
        getattr(elementary, name)(x, got, len(x))
        with mpmath.workprec(200):
            true = [exact(mpmath.mpf(float(value))) for value in x]
            errors = [abs(mpmath.mpf(float(g)) - t) / np.spacing(abs(float(t))) for g, t in zip(got, true, strict=True)]
        assert max(errors) <= 2

    @pytest.mark.parametrize("many, one", [("exps", "exp"), ("logs", "log"), ("sines", "sin"), ("cosines", "cos")])
    def test_one_number_gives_the_bits_of_many(self, many, one):
        x = np.append(np.random.default_rng(5).normal(size=200) * 100, EDGES)
        got = np.empty(len(x))
        getattr(elementary, many)(x, got, len(x))
        assert got.tobytes() == np.array([getattr(elementary, one)(value) for value in x]).tobytes()


class TestDerivatives:
    def test_worked(self):
        values, jacobians = derivatives(from_text(["2.0*x + 3.0", "x"], ["x"]), [[5.0], [7.0]])
        assert values.tolist() == [[13.0, 17.0], [5.0, 7.0]]
        assert jacobians.tolist() == [[[5.0, 7.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]]

    @given(st.integers(0, 10**6), st.integers(2, 25))
    @settings(max_examples=60, deadline=None, derandomize=True)
    def test_equal_those_of_the_expression_with_variables_for_the_constants(self, seed, size):
        programs, X = (
            random_programs(1, size, [n for n in CODES if n not in ("min", "max")], 3, seed),
            table(40, seed),
        )
        places = np.flatnonzero(programs.tokens[0, : programs.sizes[0]] == CONSTANT)
        letters = [f"c{i}" for i in range(len(places))]
        opened = Programs(programs.tokens.copy(), programs.constants, programs.sizes)
        opened.tokens[0, places] = VARIABLE + 3 + np.arange(len(places))
        expression = parse(to_text(opened, [*NAMES, *letters])[0])
        values = columns(X) | dict(zip(letters, programs.constants[0, places], strict=True))
        expected = expression.gradient(values, letters)
        got = derivatives(programs, X)[1][0]
        plain = np.isfinite(expected) & np.isfinite(got) & (np.abs(expected) < 1e6) & (np.abs(expected) > 1e-6)
        np.testing.assert_allclose(got[plain], expected[plain], rtol=1e-5, err_msg=str(expression))

    @pytest.mark.parametrize("name", CODES)
    def test_every_operator_by_finite_differences(self, name):
        step = 1e-6
        rows = [[0.7 + shift, *[0.4][: ARITIES[name] - 1], name] for shift in (-step, 0.0, step)]
        below, _, above = evaluate(batch(*rows), np.empty((1, 0)))[:, 0]
        slope = derivatives(batch(rows[1]), np.empty((1, 0)))[1][0, 0, 0]
        assert slope == pytest.approx((above - below) / (2 * step), rel=1e-7)
        if ARITIES[name] == 2:
            rows = [[0.7, 0.4 + shift, name] for shift in (-step, 0.0, step)]
            below, _, above = evaluate(batch(*rows), np.empty((1, 0)))[:, 0]
            slope = derivatives(batch(rows[1]), np.empty((1, 0)))[1][0, 1, 0]
            assert slope == pytest.approx((above - below) / (2 * step), rel=1e-7, abs=1e-12)


class TestLosses:
    def test_are_mean_squares_times_the_weight_squared(self):
        programs, X = from_text(["x", "x + y"], NAMES), table(300)
        expected = [np.mean((f - X[:, 2]) ** 2) for f in (X[:, 0], X[:, 0] + X[:, 1])]
        assert losses(programs, X, X[:, 2]) == pytest.approx(expected, rel=1e-13)
        assert losses(programs, X, X[:, 2], weight=3.0) == pytest.approx(9 * np.array(expected), rel=1e-13)

    @pytest.mark.parametrize(
        "text", ["exp(exp(exp(exp(101.0))))", "cos(x/0.0)", "sqrt(-1.0)", "(-1.0)**0.5", "atan(1.0/(x - x))"]
    )
    def test_what_is_undefined_even_inside_has_infinite_loss(self, text):
        X = table(5)
        assert losses(from_text([text], NAMES), X, X[:, 0]).tolist() == [np.inf]

    def test_one_undefined_row_of_many_is_enough(self):
        X = np.ones((1000, 1))
        X[999] = -1.0
        assert losses(from_text(["log(x)"], ["x"]), X, X[:, 0]).tolist() == [np.inf]

    def test_overflow_of_the_sum_is_infinite(self):
        assert losses(from_text(["x"], ["x"]), [[1e200]], [0.0]).tolist() == [np.inf]


class TestText:
    @given(st.integers(0, 10**6), st.integers(1, 30))
    @settings(max_examples=60, deadline=None, derandomize=True)
    def test_there_and_back(self, seed, size):
        programs = random_programs(3, size, [name for name in CODES if name != "neg"], 3, seed)
        back = from_text(to_text(programs, NAMES), NAMES, length=size)
        assert all(np.array_equal(a, b) for a, b in zip(back, programs, strict=True))

    def test_short_operators_are_marked_by_integers(self):
        programs = batch(["x", "square"], ["x", 2.0, "**"], ["x", "inv"], [1.0, "x", "/"], ["x", "cube", "neg"])
        texts = to_text(programs, NAMES)
        assert texts == ["x**2", "x**2.0", "1/x", "1.0/x", "-x**3"]
        assert from_text(texts, NAMES).tokens.tolist() == programs.tokens.tolist()

    def test_named_constants_and_negative_numbers(self):
        assert to_text(from_text(["-(2.5)*x + pi"], NAMES), NAMES) == [f"-2.5*x + {np.pi!r}"]

    @pytest.mark.parametrize("text", ["floor(x)", "where(x > 0, x, y)", "min(x, y, z)", "w", "x +"])
    def test_what_no_operator_stands_for_is_named(self, text):
        with pytest.raises(ExpressionError):
            from_text([text], NAMES)

    def test_a_constant_that_is_not_finite_has_no_text(self):
        with pytest.raises(ValueError, match="neither a finite number"):
            to_text(batch([np.inf]), NAMES)

    def test_room_that_is_too_small(self):
        with pytest.raises(ValueError, match="3 tokens, there is room for 2"):
            from_text(["x + y"], NAMES, length=2)


class TestStructure:
    def test_subtrees(self):
        programs = batch(["x", "y", "sin", "*", 2.0, "+"], ["y"])
        assert subtrees(programs).tolist() == [[0, 1, 1, 0, 4, 0], [0, -1, -1, -1, -1, -1]]

    def test_programs_are_valid_and_what_is_not_is_found(self):
        rows = [["x"], ["x", "y"], ["+"], ["x", "+"], ["x", "y", "+", "sin"], ["z", "sin"], ["x", "x", "+", "+"]]
        assert valid(batch(*rows), 2).tolist() == [True, False, False, False, True, False, False]

    def test_unknown_tokens_and_wrong_sizes_are_invalid(self):
        programs = batch(["x"], ["x"], ["x"], ["x"], length=2)
        programs.tokens[:2, 0] = -1, len(CODES) + 1
        programs.sizes[2:] = 0, 3
        assert not valid(programs, 1).any()

    @pytest.mark.parametrize("function", [evaluate, derivatives, lambda p, X: losses(p, X, X[:, 0])])
    def test_what_is_no_program_is_refused(self, function):
        with pytest.raises(ValueError, match=r"row 1, \[32, 1\], is not one program over 3 columns"):
            function(batch(["x"], ["x", "+"]), table())
        with pytest.raises(ValueError, match="is not one program over 3 columns"):
            function(batch(["y", "y", "+"])._replace(sizes=np.array([9])), table())
        with pytest.raises(ValueError, match="not one program"):
            subtrees(batch(["x", "+"]))

    def test_tables_of_wrong_shape_are_refused(self):
        with pytest.raises(ValueError, match="not \\(rows, columns\\)"):
            evaluate(batch(["x"]), np.ones(3))
        with pytest.raises(ValueError, match="rows must agree"):
            losses(batch(["x"]), np.ones((3, 1)), np.ones(2))

    def test_random_programs_have_the_size_and_the_operators_asked_for(self):
        programs = random_programs(200, 9, ["+", "sin"], 2, seed=4)
        assert set(programs.sizes) == {9} and valid(programs, 2).all()
        assert {CODES["+"], CODES["sin"], CONSTANT, VARIABLE, VARIABLE + 1} == set(np.unique(programs.tokens))
        assert set(random_programs(50, 8, ["+"], 1).sizes) == {7}
        with pytest.raises(ValueError, match="unknown operator 'bessel'"):
            random_programs(1, 3, ["bessel"], 1)


SAME = """
from rediscover.search.programs.programs import losses, derivatives
from rediscover.search.programs.throughput import workload
programs, X, y = workload(n=300)
print(losses(programs, X, y).tobytes().hex(), derivatives(programs, X)[1].sum(axis=2).tobytes().hex())
"""


def test_machine_code_made_anew_gives_the_same_bytes(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    cold, warm = (
        subprocess.run([sys.executable, "-c", SAME], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    programs, X, y = workload(n=300)
    here = losses(programs, X, y).tobytes().hex(), derivatives(programs, X)[1].sum(axis=2).tobytes().hex()
    assert cold.stdout == warm.stdout == " ".join(here) + "\n"
