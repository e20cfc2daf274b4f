"""Field networks: derivatives of outputs and loss, libraries, the lasso, and the schedule of training."""

from rediscover.search.networks.field_equations import Objective, cells, columns, fitted, pull, setup
from rediscover.search.networks.field_networks import Direction, FieldNetwork, bend
from rediscover.search.networks.field_training import PERIOD, Schedule, State, Training, Watch, adam, mask
from rediscover.search.networks.lasso import lasso

import numpy as np
import pytest
from sklearn.linear_model import LassoCV


def network_of(axes, order, outputs=1, width=6, depth=3):
    return FieldNetwork(1 + axes, outputs, setup(axes, order).directions, width, depth)


def objective_of(axes, order, states, degree=2, n=40, dtype=float, width=6):
    rng = np.random.default_rng(axes + order)
    network = network_of(axes, order, states, width)
    given = setup(axes, order)
    X = rng.uniform(-1, 1, (1 + axes, n)).astype(dtype)
    Y = np.stack([np.sin(X.sum(axis=0) + i) for i in range(states)]).astype(dtype)
    powers = cells(degree, states, len(given.multi))
    return Objective(network, given.rows, powers, np.full(states, 0.3), X, Y)


class TestDerivatives:
    def test_of_tanh_by_hand(self):
        """tanh(e) = e - e^3/3 + O(e^5); tanh(a + e) begins with tanh a and 1 - tanh^2 a."""
        z = np.zeros((1, 5, 2))
        z[0, 0, 1], z[0, 1] = 0.7, 1
        jets = bend(z, np.array([4]))[0]
        np.testing.assert_allclose(jets[:, 0], [0, 1, 0, -1 / 3, 0], atol=1e-15)
        np.testing.assert_allclose(jets[:2, 1], [np.tanh(0.7), 1 - np.tanh(0.7) ** 2], rtol=1e-14)

    def test_large_sums_are_flat(self):
        z = np.ones((1, 3, 2), np.float32) * np.float32([1000, -1000])
        np.testing.assert_array_equal(bend(z, np.array([2]))[0], [[1, -1], [0, 0], [0, 0]])

    def test_along_a_line_are_those_of_a_polynomial_through_it(self):
        network = network_of(1, 4)
        parameters = network.start(np.random.default_rng(3))
        place = np.array([0.2, -0.4])

        def line(direction, h):
            X = (place[:, None] + np.array(direction)[:, None] * h).reshape(2, -1)
            return network.forward(parameters, network.lifted(X))[-1][0]

        here = line((0, 0), np.zeros(1))[:, 0]
        h = np.linspace(-0.5, 0.5, 21)
        for direction, channels in (((1, 0), here[:2]), ((0, 1), here[[0, 2, 3, 4, 5]])):
            fit = np.polynomial.Polynomial.fit(h, line(direction, h)[0], 14).convert().coef
            np.testing.assert_allclose(channels, fit[: len(channels)], rtol=1e-6, atol=1e-9)

    def test_mixed_ones_come_from_the_diagonal(self):
        objective = objective_of(2, 2, 1)
        parameters = objective.network.start(np.random.default_rng(1))
        h = 1e-4

        def value(dx, dy):
            moved = objective.X + np.array([0, dx, dy])[:, None]
            return objective.network.forward(parameters, objective.network.lifted(moved))[-1][0, 0]

        seen = objective.look(parameters).quantities
        mixed = (value(h, h) - value(h, -h) - value(-h, h) + value(-h, -h)) / (4 * h * h)
        np.testing.assert_allclose(seen[5], mixed, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(seen[4], (value(0, h) - 2 * value(0, 0) + value(0, -h)) / h**2, atol=1e-6)
        assert seen[0] == pytest.approx(value(0, 0) + 0.3)

    @pytest.mark.parametrize(("axes", "order", "states"), [(1, 1, 1), (1, 4, 1), (1, 2, 2), (2, 2, 1)])
    def test_of_the_loss_by_each_parameter(self, axes, order, states):
        objective = objective_of(axes, order, states)
        parameters = 2 * objective.network.start(np.random.default_rng(0))
        masks = np.random.default_rng(1).random((states, len(objective.powers))) < 0.5
        _, gradient = objective.loss(parameters, masks)
        h = 1e-5
        differences = [
            (objective.loss(parameters + h * e, masks)[0] - objective.loss(parameters - h * e, masks)[0]) / (2 * h)
            for e in np.eye(objective.network.size)
        ]
        assert np.abs(gradient - differences).max() < 1e-6 * np.abs(gradient).max()

    def test_single_precision_is_close(self):
        double, single = objective_of(1, 3, 1), objective_of(1, 3, 1, dtype=np.float32)
        parameters = double.network.start(np.random.default_rng(0))
        masks = np.ones((1, len(double.powers)), bool)
        (loss, slope), (rough, short) = double.loss(parameters, masks), single.loss(parameters.astype("f4"), masks)
        assert rough == pytest.approx(loss, rel=1e-4) and short.dtype == np.float32
        np.testing.assert_allclose(short, slope, atol=1e-4 * np.abs(slope).max())

    def test_a_network_without_directions_has_values_only(self):
        whole = network_of(1, 3)
        plain = FieldNetwork(2, 1, (), 6, 3)
        parameters, X = whole.start(np.random.default_rng(0)), np.random.default_rng(1).normal(size=(2, 7))
        values = plain.forward(parameters, plain.lifted(X))[-1]
        assert values.shape == (1, 1, 7)
        np.testing.assert_allclose(values[:, 0], whole.forward(parameters, whole.lifted(X))[-1][:, 0], rtol=1e-12)

    def test_parameters_start_within_the_inverse_root_of_the_inputs(self):
        network = FieldNetwork(2, 1, (Direction((1, 0), 1),))
        layers = network.layers(network.start(np.random.default_rng(0)))
        assert [w.shape for w, _ in layers] == [(50, 2), (50, 50), (50, 50), (50, 50), (1, 50)]
        for weights, biases in layers:
            bound = weights.shape[1] ** -0.5
            assert max(np.abs(weights).max(), np.abs(biases).max()) <= bound
        assert np.abs(layers[1][0]).max() > 0.99 * 50**-0.5


class TestLibraries:
    def test_derivatives_run_fastest(self):
        """1, u_x, u_xx, u, u u_x, u u_xx."""
        assert cells(1, 1, 2).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 0, 1]]

    @pytest.mark.parametrize(("degree", "order"), [(1, 1), (2, 3), (4, 4)])
    def test_size_for_one_state(self, degree, order):
        assert len(cells(degree, 1, order)) == (degree + 1) * (order + 1)

    def test_two_dimensions_have_twelve_columns(self):
        assert len(cells(1, 1, len(setup(2, 2).multi))) == 12

    def test_several_states_have_no_column_twice(self):
        """u, v; u_x, v_x: 1 u v uv, u_x v_x and both alone, and each power with each derivative."""
        found = {tuple(row) for row in cells(1, 2, 1).tolist()}
        products = {(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (1, 1, 0, 0)}
        slopes = {(0, 0, 1, 0), (0, 0, 0, 1), (0, 0, 1, 1)}
        mixed = {(1, 0, 1, 0), (1, 0, 0, 1), (0, 1, 1, 0), (0, 1, 0, 1)}
        assert found == products | slopes | mixed and len(cells(1, 2, 1)) == len(found)

    def test_columns_and_their_derivatives(self):
        powers, values = np.array([[2, 1], [0, 3]]), np.array([[2.0], [5.0]])
        assert columns(powers, values).tolist() == [[20.0], [125.0]]
        by = np.ones((2, 1))
        pull(powers, values, np.array([10.0, 1.0]), by)
        assert by.tolist() == [[1 + 10 * 2 * 2 * 5], [1 + 10 * 4 + 3 * 25]]

    def test_derivatives_that_there_are_not(self):
        with pytest.raises(ValueError, match="derivatives up to order 3 in 2 dimensions"):
            setup(2, 3)

    def test_coefficients_are_of_least_squares_on_the_chosen_columns(self):
        theta = np.random.default_rng(0).normal(size=(4, 50)) * np.array([1, 1e-6, 1e6, 1])[:, None]
        rate = 3 * theta[0] + 2e6 * theta[1]
        chosen = np.array([True, True, False, True])
        np.testing.assert_allclose(fitted(theta, rate, chosen), [3, 2e6, 0, 0], rtol=1e-9, atol=1e-9)
        assert not fitted(theta, rate, np.zeros(4, bool)).any()

    def test_a_column_of_zeros_or_one_twice_does_not_hurt(self):
        theta = np.stack([np.arange(5.0), np.arange(5.0), np.zeros(5)])
        assert fitted(theta, 4 * theta[0], np.ones(3, bool)) == pytest.approx([2, 2, 0])


class TestLasso:
    @pytest.mark.parametrize("seed", range(4))
    def test_agrees_with_scikit_learn(self, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(203, 6)) @ rng.normal(size=(6, 6))
        X /= np.linalg.norm(X, axis=0)
        y = X @ [1.0, 0, 0, -0.5, 0, 0.1] + 0.02 * rng.normal(size=203)
        y /= np.linalg.norm(y)
        reference = LassoCV(alphas=100, cv=5, fit_intercept=False, tol=1e-6, max_iter=100_000).fit(X, y).coef_
        np.testing.assert_allclose(lasso(X, y), reference, atol=1e-2)  # the penalty next to it

    def test_nothing_to_explain(self):
        assert not lasso(np.ones((10, 2)), np.zeros(10)).any()
        assert not lasso(np.zeros((10, 2)), np.ones(10)).any()

    def test_the_mask_is_of_columns_of_length_one(self):
        theta = np.random.default_rng(0).normal(size=(3, 400)) * np.array([1e-3, 1, 1e3])[:, None]
        rate = 1e6 * theta[0] + theta[2]  # both of length 1000
        assert mask(theta, rate, 0.1).tolist() == [True, False, True]
        assert not mask(theta, rate, 0.9).any()


class TestTraining:
    def training(self, schedule, steps):
        objective = objective_of(1, 2, 1, n=60, dtype=np.float32, width=8)
        test = objective.X[:, :10], objective.Y[:, :10]
        return Training(objective, test, schedule, steps), objective.network.start(np.random.default_rng(0)).astype(
            "f4"
        )

    def test_adam_by_hand(self):
        """Step 1 moves by the rate against the sign; a smaller gradient later is divided by the largest."""
        parameters, moments = np.zeros(2), np.zeros((3, 2))
        adam(parameters, moments, np.array([4.0, -0.1]), 1)
        assert parameters == pytest.approx([-1e-3, 1e-3], rel=1e-6)
        adam(parameters, moments, np.array([0.0, 0.0]), 2)
        mean, largest = 0.99 * 0.04, 0.01 * 16
        step = 1e-3 * (mean / (1 - 0.99**2)) / np.sqrt(largest / (1 - 0.99**2))
        assert parameters[0] == pytest.approx(-1e-3 - step, rel=1e-6)

    def test_training_lowers_the_loss(self):
        training, start = self.training(Schedule(10**6, 1e-5, 400), 400)
        every = np.ones((1, 9), bool)
        before, _ = training.objective.loss(start, every)
        state = State.new(start.copy())
        training.advance(state, every, 400)
        assert training.objective.loss(state.parameters, every)[0] < before / 5 and training.taken == 400

    def test_the_first_mask_comes_without_a_gain_and_takes_the_best_state_back(self):
        training, start = self.training(Schedule(10, 1e9, 400), 400)
        every = np.ones((1, 9), bool)
        best, first, _ = training.before(State.new(start.copy()), every)
        assert (best.step, first) == (25, 50), "nothing is better than the first by so much"
        patient, start = self.training(Schedule(100, 1e9, 400), 400)
        assert patient.before(State.new(start.copy()), every)[1] == 125
        short, start = self.training(Schedule(100, 1e9, 75), 400)
        assert short.before(State.new(start.copy()), every)[1] == 75

    def test_thresholds_share_the_way_to_the_first_mask(self):
        training, start = self.training(Schedule(10**6, 1e-5, 100, settled=0.0), 200)
        both = list(training.run(start.copy(), [0.05, 0.2]))
        assert training.taken == 100 + 100 + 100
        alone = []
        for threshold in (0.05, 0.2):
            again, start = self.training(Schedule(10**6, 1e-5, 100, settled=0.0), 200)
            alone += again.run(start.copy(), [threshold])
        for one, other in zip(both, alone, strict=True):
            np.testing.assert_array_equal(one.coefficients, other.coefficients)
            assert one.steps == 200 and one.first == 100

    def test_without_a_term_there_is_no_training(self):
        training, start = self.training(Schedule(10**6, 1e-5, 50), 200)
        (ended,) = training.run(start, [1e9])
        assert not ended.coefficients.any() and ended.steps == 50 == training.taken

    def test_a_loss_that_is_not_finite_is_told(self):
        training, start = self.training(Schedule(10, 1e-5, 50), 100)
        start[-1] = np.inf
        with pytest.raises(FloatingPointError, match="the loss is not finite at step 1"):
            list(training.run(start, [0.1]))

    def test_coefficients_have_settled_after_200_steps_within_a_band(self):
        watch, ends = Watch(Schedule(10, 1e-5, 50)), []
        for i, norm in enumerate([1.0, 1.0005, *[0.5] * 8, *[0.4] * 9], 1):
            watch.look(25 * i, norm)
            ends.append(watch.over)
        assert ends == [False] * 18 + [True]
        watch.look(500, np.nan)
        assert not watch.over

    def test_from_the_start_training_may_end_before_a_mask_and_keeps_all_columns(self):
        calm = Schedule(10**6, 1e-5, 400, settled=1e9, from_start=True)
        training, start = self.training(calm, 400)
        (ended,) = training.run(start, [1e9])
        assert ended.steps == ended.first == 225 and ended.coefficients.all()
        training, start = self.training(calm._replace(settled=0.0), 100)
        (ended,) = training.run(start, [1e9])
        assert ended.steps == 100 == training.taken and ended.coefficients.all()

    def test_masks_are_renewed_among_all_columns(self, monkeypatch):
        training, start = self.training(Schedule(10**6, 1e-5, 50, settled=0.0), 200)
        seen = []
        own = Training.masks

        def spy(self, state, threshold):
            seen.append(state.step)
            return own(self, state, threshold)

        monkeypatch.setattr(Training, "masks", spy)
        list(training.run(start, [0.01]))
        assert seen[1:] == [seen[0] + PERIOD * i for i in range(1, len(seen))] and len(seen) >= 3
