"""Integration of systems of expressions: known solutions, and failures as results."""

from rediscover.expressions import parse
from rediscover.expressions.integration import Solver, simulate

import numpy as np
import pytest


class TestSimulate:
    t = np.linspace(0, 10, 150)

    def run(self, text, **options):
        return simulate({"x": parse(text)}, [1.0], self.t, **options)

    def test_known_solution(self):
        assert np.allclose(self.run("-x")[:, 0], np.exp(-self.t), atol=1e-5)

    @pytest.mark.parametrize("text", ["x**2", "1/(x - 1)", "log(-x)", "exp(exp(exp(x)))", "x*y"])
    def test_divergent_undefined_or_unknown_is_nan_not_an_error(self, text):
        states = self.run(text)
        assert states.shape == (150, 1) and np.isnan(states).all()

    def test_too_stiff_is_nan(self):
        assert np.isnan(self.run("sin(1e6*x)*1e9 + 1e9*cos(x*1e5)", evaluations=500)).all()

    def test_constant(self):
        assert (self.run("0") == 1.0).all()

    @pytest.mark.parametrize("n", [1, 2])
    def test_one_and_two_points(self, n):
        states = simulate({"x": parse("-x")}, [1.0], np.linspace(0, 1, 2)[:n])
        assert states.shape == (n, 1) and states[0, 0] == 1.0

    def test_stiff_but_tractable(self):
        states = self.run("-1e6*(x - 2)")
        assert states[-1, 0] == pytest.approx(2.0, rel=1e-4)

    def test_a_smaller_tolerance_is_nearer(self):
        rough, fine = (
            np.abs(self.run("-x", solver=Solver(rtol=r, atol=r))[:, 0] - np.exp(-self.t)).max() for r in (1e-3, 1e-9)
        )
        assert fine < 1e-7 < rough
