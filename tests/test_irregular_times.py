"""Trajectories at any times: methods use the times there are, or refuse in one sentence."""

import dataclasses

from rediscover.expressions import parse
from rediscover.methods import method, registry
from rediscover.numerics.arrays import LEAST_TIMES
from rediscover.numerics.differences import even_step, rates
from rediscover.problems import InitialValueProblem, Split, problem
from rediscover.search.trajectories.multiple_shooting import refine

import numpy as np
import pytest


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Oscillator(InitialValueProblem):
    """x' = w y, y' = -w x at given times, exact."""

    t: np.ndarray
    speed: float = 1.0
    states: np.ndarray | None = None
    split: str = "time"

    equations = constants = property(lambda self: {})

    def times(self):
        return self.t

    def observed(self, seed=0):
        if self.states is not None:
            return self.states
        return np.c_[np.cos(self.speed * self.t), -np.sin(self.speed * self.t)]

    def initial_state(self):
        return self.observed()[0]

    def trajectory(self, seed=0):
        x = self.observed(seed)
        return self.t, x, self.speed * np.c_[x[:, 1], -x[:, 0]]

    def data(self, seed=0):
        _, x, _ = self.trajectory(seed)
        return {"train": Split(x, rates(x, self.t)), "refit": Split(x, rates(x, self.t))}


def oscillator(t, **given):
    truth = {"x": "1.0*y", "y": "-1.0*x"}
    return Oscillator(id="own/oscillator", truth=truth, inputs=("x", "y"), t=np.asarray(t, float), **given)


def drawn_times(seed):
    """Increasing times of one of five patterns: drawn, jittered, with a gap, growing, or even after one short step."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(150, 400))
    even = np.linspace(0, 10, n)
    pattern = seed % 5
    if pattern == 0:
        return np.sort(rng.uniform(0, 10, n))
    if pattern == 1:
        return np.sort(even + rng.uniform(-0.3, 0.3, n) * 10 / n)
    if pattern == 2:
        return even[(even < 4) | (even > 4.5)]
    if pattern == 3:
        return 10 * np.geomspace(0.05, 1, n)
    return np.r_[0.0, even[1:] - even[1] * rng.uniform(0.5, 0.95)]


@pytest.mark.parametrize("seed", range(50))
def test_coefficients_do_not_depend_on_how_times_are_spaced(seed):
    t, speed = drawn_times(seed), float(np.random.default_rng(seed).uniform(0.5, 1.5))
    problem = oscillator(t, speed=speed)
    found = method("sindy").solve(problem)[0].solution
    at = {"x": np.array([0.3]), "y": np.array([-0.7])}
    assert float(parse(found["x"])(at)[0]) == pytest.approx(-0.7 * speed, rel=0.02, abs=0.01)
    assert float(parse(found["y"])(at)[0]) == pytest.approx(-0.3 * speed, rel=0.02, abs=0.01)


@pytest.mark.parametrize("seed", range(50))
def test_shooting_goes_from_one_time_to_the_next(seed):
    t, speed = drawn_times(seed), float(np.random.default_rng(seed).uniform(0.5, 1.5))
    problem = oscillator(t, speed=speed)
    start = {"x": f"{1.1 * speed}*y", "y": f"-{0.9 * speed}*x"}
    found = refine(start, problem.observed(), t)
    constants = [abs(float(parse(found[name])({"x": 1.0, "y": 1.0}))) for name in ("x", "y")]
    assert constants == pytest.approx([speed, speed], rel=1e-4)


def test_differences_are_those_of_even_times_to_the_bit_where_times_are_even():
    t = np.linspace(0, 10, 200)
    x = np.c_[np.cos(t), np.sin(t)]
    assert np.array_equal(rates(x, t), np.gradient(x, t[1] - t[0], axis=-2, edge_order=2))
    printed = np.round(t, 8)  # as a file may have them
    assert even_step(printed) is not None and even_step(1e6 + t) is not None
    assert even_step(np.sort(np.random.default_rng(0).uniform(0, 10, 200))) is None
    assert even_step(1e6 + np.r_[0.0, 0.1, 0.15, 0.3]) is None


EVEN = np.linspace(0, 10, 100)
REFUSED = {
    "shuffled": (np.random.default_rng(0).permutation(EVEN), "do not increase"),
    "repeated": (np.r_[EVEN[:50], EVEN[49:]], "do not increase"),
    "backwards": (EVEN[::-1], "do not increase"),
    "one time": (EVEN[:1], "too few"),
    "few": (EVEN[: LEAST_TIMES - 1], "too few"),
    "none": (EVEN[:0], "too few"),
    "missing": (np.where(np.arange(100) == 50, np.nan, EVEN), "missing or infinite"),
    "infinite": (np.r_[EVEN[:-1], np.inf], "missing or infinite"),
}
TAKES = [name for name, cls in registry().items() if issubclass(InitialValueProblem, cls.accepts)]


@pytest.mark.parametrize("name", TAKES)
@pytest.mark.parametrize("case", REFUSED)
def test_other_times_are_refused_in_one_sentence_by_every_method(name, case):
    t, reason = REFUSED[case]
    problem = oscillator(t, states=np.zeros((len(t), 2)))
    with pytest.raises(ValueError, match=f"own/oscillator: .*{reason}.*"):
        method(name).solve(problem)


def test_a_missing_state_is_refused():
    states = np.c_[np.cos(EVEN), -np.sin(EVEN)]
    states[3, 1] = np.nan
    with pytest.raises(ValueError, match="a state is missing or infinite"):
        method("sindy").solve(oscillator(EVEN, states=states))


FAST = ("sindy", "esindy", "sindy_cross", "least_squares", "integral_matching", "polynomial")


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("seed", range(3))
def test_the_least_number_of_times_is_enough(name, seed):
    t = np.sort(np.random.default_rng(seed).uniform(0, 4, LEAST_TIMES))
    assert method(name).solve(oscillator(t), budget={"evaluations": 200})


def test_a_field_on_uneven_points_is_refused():
    field = problem("pdes/burgers")
    axes, t, u, du = field.samples()
    uneven = {name: np.r_[points[:-1], points[-1] + 1.0] for name, points in axes.items()}
    for given, word in (((uneven, t), "points of x"), ((axes, np.r_[t[:-1], t[-1] + 1.0]), "times")):
        odd = dataclasses.replace(field)
        object.__setattr__(odd, "samples", lambda seed=0, given=given: (*given, u, du))
        with pytest.raises(ValueError, match=f"pdes/burgers: the {word} are not evenly spaced"):
            method("pdefind").solve(odd)
