"""Evaluation, reward, constants and the linear token, worked by hand."""

from rediscover.search.policy.batches import packed
from rediscover.search.policy.linear_token import Polynomials, inverted
from rediscover.search.policy.rewards import Rewards
from rediscover.search.policy.sequence_constants import value
from rediscover.search.policy.sequences import error, factor, folded
from rediscover.search.policy.tokens import FUNCTIONS, Library

import numpy as np
import pytest
import scipy

LIBRARY = Library(("x", "y"), (*FUNCTIONS, "const", "poly"))
RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 2.0, (30, 2))
A, B = X.T


def rewards(target, inputs=X, **settings):
    return Rewards(LIBRARY, inputs, target, max_length=30, **settings)


def fitted(text, target, **settings):
    return rewards(target, **settings).fitted(LIBRARY.sequence(text))


class TestEvaluation:
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_every_function_has_the_value_of_its_expression(self, name):
        text = f"add,{name},x,y,x" if FUNCTIONS[name].arity == 2 else f"add,{name},x,y"
        sequence = LIBRARY.sequence(text)
        values = LIBRARY.expression(sequence)({"x": A, "y": B})
        assert np.ptp(values) > 0.1
        assert fitted(text, values)[0] == pytest.approx(0, abs=1e-14)
        assert fitted(text, values + 3 * np.std(values))[0] == pytest.approx(3)

    def test_order_of_arguments(self):
        values = (A - B) / (B + A / 3)
        error, numbers = fitted("div,sub,x,y,add,y,div,x,const", values)
        assert error < 1e-6 and numbers == pytest.approx([3], rel=1e-4)


class TestReward:
    def test_by_hand(self):
        # y = 0, 2 has the standard deviation 1; x = 0, 1 misses by 0, 1, so e = sqrt(1/2).
        judge = rewards(np.array([0.0, 2.0]), np.array([[0.0, 1.0], [1.0, 1.0]]))
        sequences = [LIBRARY.sequence(t) for t in ("x", "add,x,x", "log,x", "div,x,x", "sub,x,add,y,y")]
        found = judge(*packed(sequences))
        # 0 - 2 and 1 - 2 miss by 2 and 3: e = sqrt(13/2)
        expected = [1 / (1 + np.sqrt(0.5)), 1.0, 0.0, 0.0, 1 / (1 + np.sqrt(6.5))]
        assert found == pytest.approx(expected)

    @pytest.mark.parametrize(
        "text, value, valid",
        [
            ("exp,x", 709.0, True),
            ("exp,x", 710.0, False),  # overflow
            ("exp,x", -708.0, True),
            ("exp,x", -709.0, False),  # underflow
            ("mul,x,x", 1e-153, True),
            ("mul,x,x", 1e-155, False),
            ("mul,x,x", 0.0, True),
            ("n2,x", 1e-155, False),
            ("div,y,x", 0.0, False),
            ("sub,x,x", 3e-308, True),  # differences are exact
            ("sqrt,x", -1e-9, False),
            ("log,x", 0.0, False),
            ("inv,x", 0.0, False),
        ],
    )
    def test_invalid_is_what_is_not_finite_or_underflows(self, text, value, valid):
        judge = rewards(np.array([0.0, 1.0]), np.array([[value, 1.0], [1.0, 1.0]]))
        assert np.isnan(judge.fitted(LIBRARY.sequence(text))[0]) != valid
        if not valid:
            assert judge(*packed([LIBRARY.sequence(text)])) == [0.0]

    def test_complexity_by_hand(self):
        judge = rewards(3 + 0.5 * A**2 * B - 0.25 * B)
        sequences = [LIBRARY.sequence(t) for t in ("mul,x,exp,y", "add,const,sin,x", "sub,poly,div,x,x")]
        # 1 + 1 + 4 + 1; 1 + 1 + 3 + 1; the polynomial has three terms: 1 + 3 + 2 + 1 + 1
        assert judge.complexity(*packed(sequences)).tolist() == [7, 6, 8]

    def test_units_far_from_one(self):
        assert fitted("x", A * 1e-200, inputs=X * 1e-200)[0] == pytest.approx(0, abs=1e-14)
        assert fitted("y", B * 1e250, inputs=X * 1e250)[0] == pytest.approx(0, abs=1e-14)

    def test_fitted_sequences_are_remembered(self):
        judge = rewards(A + B)
        sequence = LIBRARY.sequence("add,x,mul,const,y")
        assert judge.fitted(sequence) is judge.fitted(sequence.copy())
        assert list(judge.known) == [sequence.tobytes()]

    @pytest.mark.parametrize(
        "inputs, target, reason",
        [
            (X, np.ones(30), "must vary"),
            (X, np.zeros(30), "must vary"),
            (X[:, :1], A, "1\\) for 2 inputs"),
            (X[:9], A, "9, 2\\) for 2 inputs and 30 targets"),
            (X, np.where(A > 1, np.nan, A), "finite"),
        ],
    )
    def test_bad_data(self, inputs, target, reason):
        with pytest.raises(ValueError, match=reason):
            rewards(target, inputs)


class TestConstants:
    def test_known_constants(self):
        error, numbers = fitted("add,mul,const,x,mul,const,exp,y", 2.5 * A - 0.3 * np.exp(B))
        assert error < 1e-6
        assert numbers == pytest.approx([2.5, -0.3], rel=1e-5)

    def test_start_is_one(self):
        # The slope of sin(c x) at c = 1 leads to the nearby minimum.
        error, numbers = fitted("sin,mul,const,x", np.sin(1.2 * A))
        assert error < 1e-6 and numbers == pytest.approx([1.2])

    def test_an_invalid_start_counts_as_one_and_stays(self):
        # log(x - c) has no value at c = 1 for x < 1: the objective is flat there.
        error, numbers = fitted("log,sub,x,const", A)
        assert np.isnan(error) and numbers.tolist() == [1.0]

    @pytest.mark.parametrize("text", ["mul,x,add,const,y", "add,const,mul,const,sin,x", "exp,mul,const,x"])
    def test_the_minimum_of_scipy(self, text):
        target = A * B + np.sin(3 * A)
        judge, sequence, start = rewards(target), LIBRARY.sequence(text), np.ones(text.count("const"))
        data = (start, sequence, LIBRARY.codes, judge.X, judge.y, judge.scale, judge.stack)
        other = scipy.optimize.minimize(value, start, args=data, method="BFGS")
        error, numbers = judge.fitted(sequence)
        assert error == pytest.approx(value(numbers, *data)) == pytest.approx(other.fun, abs=1e-6)
        assert error < value(start, *data) - 1e-3
        assert numbers == pytest.approx(other.x, rel=1e-2, abs=1e-2)

    @pytest.mark.parametrize(
        "text, place",
        [
            ("mul,const,x", 1),
            ("mul,x,mul,y,const", 4),
            ("div,mul,x,const,y", 3),
            ("const", 0),
            ("div,x,const", -1),
            ("mul,div,x,add,y,const,const", 6),
            ("add,mul,const,x,y", -1),
            ("mul,exp,mul,const,x,y", -1),
        ],
    )
    def test_constants_that_multiply_the_whole(self, text, place):
        assert factor(LIBRARY.sequence(text), LIBRARY.arity, LIBRARY.codes) == place

    def test_scaled_start_reaches_constants_far_from_one(self):
        # Newton's law in SI units: 6.674e-11 x y^2; the other constant has its own start.
        target = 6.674e-11 * A * B**2
        plain, scaled = (fitted("mul,mul,const,x,n2,y", target, scaled_start=flag) for flag in (False, True))
        assert plain[0] > 0.5
        assert scaled[0] < 1e-12 and scaled[1] == pytest.approx([6.674e-11])
        error, numbers = fitted("mul,exp,mul,const,x,mul,y,const", 3e20 * B * np.exp(1.1 * A), scaled_start=True)
        assert error < 1e-5 and numbers == pytest.approx([1.1, 3e20], rel=1e-3)

    def test_bad_tolerance(self):
        with pytest.raises(ValueError, match="gtol must be positive"):
            rewards(A, gtol=0.0)


class TestFolding:
    def test_the_same_bits_as_the_whole(self):
        rng, inputs, stack = np.random.default_rng(1), X.T.copy(), np.empty((20, len(X)))
        lengths, valid, nothing = [], 0, np.empty(0)
        tokens = LIBRARY.sequence(",".join(["x", "y", "const", *FUNCTIONS]))
        for _ in range(2000):
            sequence, missing = [], 1
            while missing:  # random prefixes that end within twenty tokens
                sequence.append(rng.choice(tokens[:3] if len(sequence) + missing > 18 else tokens))
                missing += LIBRARY.arity[sequence[-1]] - 1
            sequence = np.array(sequence)
            constants = rng.normal(size=np.count_nonzero(sequence == LIBRARY.token("const")))
            whole = error(sequence, LIBRARY.codes, inputs, A, 1.0, constants, nothing, stack)
            *shorter, fine = folded(sequence, LIBRARY.codes, LIBRARY.arity, inputs, stack)
            assert fine or np.isnan(whole)
            if fine:
                assert np.array_equal(error(*shorter, A, 1.0, constants, nothing, stack), whole, equal_nan=True)
                lengths.append(len(shorter[0]) / len(sequence))
                valid += np.isfinite(whole)
        assert valid > 500 and np.mean(lengths) < 0.8


class TestLinearToken:
    @pytest.mark.parametrize(
        "text, target",
        [
            ("poly", lambda y: y),
            ("add,poly,x", lambda y: y - A),
            ("add,x,poly", lambda y: y - A),
            ("sub,poly,x", lambda y: y + A),
            ("sub,x,poly", lambda y: A - y),
            ("mul,x,poly", lambda y: y / A),
            ("div,poly,x", lambda y: y * A),
            ("div,x,poly", lambda y: A / y),
            ("exp,poly", np.log),
            ("log,poly", np.exp),
            ("sqrt,poly", lambda y: y**2),
            ("tanh,poly", np.arctanh),
            ("n3,poly", np.cbrt),
            ("inv,poly", lambda y: 1 / y),
            ("neg,poly", lambda y: -y),
            ("add,mul,sin,x,exp,sub,poly,mul,x,y,y", lambda y: np.log((y - B) / np.sin(A)) + A * B),
        ],
    )
    def test_targets_by_inversion(self, text, target):
        y = np.linspace(0.1, 0.9, 30) + (B if text.startswith("add,mul,sin") else 0)
        stack = np.empty((10, 30))
        found = inverted(LIBRARY.sequence(text), LIBRARY.codes, LIBRARY.arity, X.T.copy(), y, stack)
        np.testing.assert_allclose(found, target(y), rtol=1e-13)

    @pytest.mark.parametrize(
        "text, wrap",
        [
            ("exp,poly", np.exp),
            ("mul,sin,x,poly", lambda p: np.sin(A) * p),
            ("div,x,sqrt,poly", lambda p: A / np.sqrt(p)),
            ("log,poly", np.log),
        ],
    )
    def test_known_polynomials_come_back(self, text, wrap):
        polynomial = 3 + 0.5 * A**2 * B - 0.25 * B
        error, coefficients = fitted(text, wrap(polynomial))
        assert error < 1e-12
        value = LIBRARY.expression(LIBRARY.sequence("poly"), coefficients, 3)({"x": A, "y": B})
        assert value == pytest.approx(polynomial)
        assert np.count_nonzero(coefficients) == 3

    def test_what_cannot_be_inverted_is_the_constant_one(self):
        error, coefficients = fitted("exp,poly", -A)
        assert coefficients.tolist() == [1.0] + [0.0] * 9
        assert error == pytest.approx(np.sqrt(np.mean((-A - np.e) ** 2)) / np.std(A))
        _, coefficients = fitted("mul,log,sub,x,x,poly", A)  # the other branch has no value
        assert coefficients.tolist() == [1.0] + [0.0] * 9

    def test_small_coefficients_are_dropped_by_size(self):
        x = np.linspace(0, 1, 9)[None]
        target = 2.0 + 1e-3 * x[0]
        assert Polynomials(x, 1, 1e-4).fit(target) == pytest.approx([2.0, 1e-3])
        assert Polynomials(x, 1, 1e-2).fit(target).tolist() == pytest.approx([2.0, 0.0])

    def test_monomials_beyond_the_largest_double(self):
        error, coefficients = fitted("poly", B, inputs=X * 1e200)
        assert coefficients.tolist() == [1.0] + [0.0] * 9 and np.isfinite(error)

    @pytest.mark.parametrize("settings", [{"degree": -1}, {"tolerance": -1.0}, {"tolerance": np.nan}])
    def test_bad_settings(self, settings):
        with pytest.raises(ValueError, match="at least 0"):
            rewards(A, **settings)
