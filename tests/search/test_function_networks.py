"""Networks of functions: derivatives, gates, texts, and training on formulas of their own."""

from rediscover.expressions import from_sympy
from rediscover.methods.eql import LISTS
from rediscover.metrics.regression import nmse_power
from rediscover.search.networks import function_networks as networks
from rediscover.search.networks.function_networks import FUNCTIONS, Network, expected_mask, objective
from rediscover.search.networks.gated_training import LINE_SEARCH, polish, polish_closed, train

import numpy as np
import pytest


def network_at_random(functions, layers, inputs=2, outputs=2, seed=0):
    """A network with parameters all other than at the start, of which some gates are closed by the noise."""
    rng = np.random.default_rng(seed)
    network = Network(tuple(functions), layers, inputs, outputs)
    parameters = network.start(rng)
    parameters[network.weights :] += rng.normal(size=len(parameters) - network.weights)
    noise = 2 * rng.normal(size=network.weights)
    return network, parameters, noise, rng.normal(size=(inputs, 13)), rng.normal(size=(outputs, 13))


def loss_and_gradient(network, parameters, noise, X, Y, penalty=0.03):
    gradient = np.empty_like(parameters)
    return objective(network.units, network.shapes, parameters, noise, X, Y, penalty, gradient), gradient


class TestDerivatives:
    @pytest.mark.parametrize("layers", [1, 2])
    @pytest.mark.parametrize("functions", [*([name, "id", name] for name in FUNCTIONS), FUNCTIONS, LISTS["B"]])
    def test_equal_finite_differences(self, functions, layers):
        network, parameters, *rest = network_at_random(functions, layers, seed=1)  # no row is near a pole
        found = loss_and_gradient(network, parameters, *rest)[1]
        step = 1e-6
        moved = [(parameters + step * e, parameters - step * e) for e in np.eye(len(parameters))]
        expected = [
            (loss_and_gradient(network, up, *rest)[0] - loss_and_gradient(network, down, *rest)[0]) / (2 * step)
            for up, down in moved
        ]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(found).max())
        parts = network.parts(found)
        assert all(part.any() for part in parts), "weights, gates and biases all matter"

    def test_of_the_penalty_alone_are_those_of_the_gates(self):
        network, parameters, noise, X, Y = network_at_random(FUNCTIONS, 1)
        without, with_penalty = (loss_and_gradient(network, parameters, noise, X, Y, p) for p in (0.0, 1.0))
        a = network.parts(parameters)[1]
        p = 1 / (1 + np.exp(-a - 2 / 3 * np.log(11)))
        assert with_penalty[0] - without[0] == pytest.approx(p.sum())
        weights, gates, biases = network.parts(with_penalty[1] - without[1])
        np.testing.assert_allclose(gates, p * (1 - p), atol=1e-12)
        assert not weights.any() and not biases.any()


class TestGates:
    def test_at_the_start_0_832_of_them_are_open(self):
        network = Network(LISTS["A"], 2, 3, 3)
        _, a, biases = network.parts(network.start(np.random.default_rng(1)))
        count = networks.open_gates(a, np.empty_like(a))
        assert count / network.weights == pytest.approx(0.832, abs=2e-4) and not biases.any()

    def test_are_open_as_often_as_they_should(self):
        u = (np.arange(100_000) + 0.5) / 100_000
        mask, slopes = np.empty_like(u), np.empty_like(u)
        networks.gated(np.full_like(u, -0.7), np.log(u / (1 - u)), mask, slopes)
        assert np.mean(mask > 0) == pytest.approx(1 / (1 + np.exp(0.7 - 1.5986)), abs=1e-4)
        assert mask.min() == 0 and mask.max() == 1
        assert not slopes[(mask == 0) | (mask == 1)].any() and (slopes[(mask > 0) & (mask < 1)] > 0).all()

    def test_without_noise_by_hand(self):
        # 1.2/(1 + e^-a) - 0.1 is 0.5 at 0, and leaves [0, 1] at a = -log 11 and log 11
        edge = np.log(11)
        assert expected_mask(np.array([0.0, -edge - 0.01, edge + 0.01])).tolist() == pytest.approx([0.5, 0, 1])

    def test_weights_at_the_start_have_the_variance_of_their_layer(self):
        network = Network(LISTS["A"], 2, 3, 400)
        weights = network.parts(network.start(np.random.default_rng(0)))[0][-400 * 15 :]
        assert np.std(weights) == pytest.approx(15**-0.5, rel=0.03) and np.abs(weights).max() < 2.28 * 15**-0.5


class TestEquations:
    @pytest.mark.parametrize("layers", [1, 2])
    @pytest.mark.parametrize("functions", [[name] for name in FUNCTIONS] + [FUNCTIONS])
    def test_have_the_values_of_the_network(self, functions, layers):
        network, parameters, _, X, _ = network_at_random(functions, layers)
        weights, _, biases = network.parts(parameters)
        weights[::5] = 0
        expected = network.predict(weights, biases, X)
        for equation, row in zip(network.equations(weights, biases, ("x", "y")), expected, strict=True):
            found = from_sympy(equation)({"x": X[0], "y": X[1]})
            np.testing.assert_allclose(np.broadcast_to(found, row.shape), row, rtol=1e-9, atol=1e-12)

    def test_arguments_are_assigned_in_the_order_of_the_list(self):
        network = Network(("mul", "id", "div"), 1, 5, 1)
        biases = np.zeros(6)
        equation = network.equations(np.concatenate([np.eye(5).ravel(), [1.0, 3.0, 5.0]]), biases, tuple("abcde"), True)
        assert str(equation[0]) == "1.0*a*b + 3.0*c + 5.0*d/e"

    def test_numbers_are_the_shortest_of_their_precision(self):
        network = Network(("id",), 1, 1, 1)
        single = np.array([0.1, 1.0], np.float32), np.array([0.0, 0.7], np.float32)
        assert str(network.equations(*single, ("x",))[0]) == "0.1*x + 0.7"


class TestFaults:
    def test_name_the_function_and_its_argument(self):
        network = Network(("id", "exp"), 1, 1, 1)
        X = np.array([[1.0, 100.0]], np.float32)
        kernel, biases = np.ones(4, np.float32), np.zeros(3, np.float32)
        assert network.fault(kernel, biases, X) == "exp of 100 overflowed in single precision"
        assert network.fault(kernel.astype(float), biases.astype(float), X.astype(float)) is None
        assert network.fault(kernel, biases, 1e30 * X[:, :1]) == "exp of 1e+30 overflowed in single precision"
        assert network.largest(kernel, biases, X[:, :1]) == "exp of 1"
        assert network.fault(1e30 * kernel, biases, 1e30 * X) == "a weighted sum overflowed in single precision"
        assert network.fault(np.nan * kernel, biases, X) == "a derivative overflowed in single precision"

    def test_in_training_stop_the_network_and_no_other(self):
        network, X = Network(("id", "square"), 1, 1, 1), np.linspace(0, 3, 20)[None]
        alone, both = (train(network, X, X**2, reg, 30, np.random.default_rng(0)) for reg in ([1e-3], [1e-3, 3e38]))
        assert alone.faults == [None] and alone.steps.tolist() == [30]
        assert both.faults[0] is None and both.faults[1].startswith("step 1: the squared error overflowed, of ")
        assert both.steps.tolist() == [30, 1]
        np.testing.assert_array_equal(both.parameters[0], alone.parameters[0])
        assert np.isfinite(both.parameters).all(), "what is returned is what the fault met"


class TestTraining:
    def test_one_step_of_adam_by_hand(self):
        # The first step is rate * g / (|g| + 1e-8), whatever the size of g.
        network, X = Network(("id", "sin"), 1, 1, 1), np.linspace(0, 1, 9)[None]
        before = network.start(np.random.default_rng(3))
        after = train(network, X, X, [0.1], 1, np.random.default_rng(3), float)
        gradient = loss_and_gradient(network, before, after.noise, X, X, 0.1)[1]
        np.testing.assert_allclose(after.parameters[0], before - 0.01 * gradient / (np.abs(gradient) + 1e-8))

    def test_is_the_same_for_the_same_seed_and_in_any_company(self):
        network, X = Network(LISTS["B"], 2, 1, 1), np.linspace(-1, 1, 40)[None]
        first, again, other = (train(network, X, X**2, [1e-3], 150, np.random.default_rng(s)) for s in (1, 1, 2))
        many = train(network, X, X**2, [1e-2, 1e-3], 150, np.random.default_rng(1))
        np.testing.assert_array_equal(first.parameters, again.parameters)
        np.testing.assert_array_equal(first.parameters[0], many.parameters[1])
        assert not np.array_equal(first.parameters, other.parameters)

    def test_the_last_fit_lowers_its_loss_and_keeps_to_its_calls(self):
        network, X = Network(LISTS["A"], 1, 1, 1), np.linspace(-1, 1, 40)[None]
        Y = np.sin(2 * X) + X**2
        after = train(network, X, Y, [1e-3], 300, np.random.default_rng(0))
        own, noise = after.parameters[0], after.noise
        polished, calls = polish(network, own, noise, X, Y, 1e-3, 20)
        assert 0 < calls <= 20 + LINE_SEARCH and polished.dtype == np.float32

        def loss(parameters):
            return loss_and_gradient(network, *(v.astype(float) for v in (parameters, noise, X, Y)), 1e-3)[0]

        assert loss(polished) < loss(own)
        weights, biases, calls = polish_closed(network, own, X, Y, 20)
        before, a, own_biases = (part.astype(float) for part in network.parts(own))
        assert 0 < calls <= 20 + LINE_SEARCH
        assert np.array_equal(weights == 0, expected_mask(a) == 0)
        unpolished = network.predict(before * expected_mask(a), own_biases, X)
        assert np.mean((network.predict(weights, biases, X) - Y) ** 2) < np.mean((unpolished - Y) ** 2)

    def test_formulas_of_its_own_are_found(self):
        """Formulas of unit variance, of a network with three open units: an NMSE below 1e-3 in 7 of 10."""
        network, errors = Network(LISTS["A"], 1, 1, 1), []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            weights, _, biases = network.parts(network.start(rng))
            weights[len(weights) - 15 + rng.permutation(15)[3:]] = 0
            X = rng.uniform(-1, 1, (1, 400))
            Y = network.predict(weights, biases, X)
            Y /= Y.std()
            own = train(network, X, Y, [1e-3], 10_000, rng).parameters[0]
            errors.append(nmse_power(network.predict(*polish_closed(network, own, X, Y, 50)[:2], X), Y))
        assert sum(error < 1e-3 for error in errors) >= 7, errors
