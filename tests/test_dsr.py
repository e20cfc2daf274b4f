"""DSR, NGGP and uDSR as methods."""

import dataclasses
import math
from pathlib import Path

from rediscover import methods, problem, problems, score
from rediscover.expressions import parse
from rediscover.methods import Budget, Unsupported
from rediscover.methods.dsr import FUNCTIONS
from rediscover.problems import Split, Task

import numpy as np
import pytest
import sympy
import yaml

DATA = Path(__file__).parent / "data"
RNG = np.random.default_rng(3)
X = RNG.uniform(0.5, 2.0, (40, 2))
A, B = X.T
NAMES = ("dsr", "nggp", "udsr")
ARITHMETIC = "add,sub,mul,div,sin,exp"


def fit(name, y, evaluations=2000, seed=0, inputs=X, validation=None, columns=("a", "b"), **settings):
    task = Task(columns[: inputs.shape[1]], "z", inputs, y, validation)
    budget = Budget(evaluations=evaluations)
    return methods.method(name, **settings).fit(task, budget=budget, rng=np.random.default_rng(seed))


def predicted(candidate, columns=("a", "b")):
    return np.broadcast_to(parse(candidate.solution["z"])(dict(zip(columns, X.T, strict=True))), len(X))


@pytest.mark.parametrize("name", NAMES)
class TestEach:
    def test_front_is_ordered_and_says_its_errors(self, name):
        y = A * B + np.sin(B)
        front = fit(name, y, 1500, batch_size=200)
        assert [c.loss for c in front] == sorted(c.loss for c in front)
        assert [c.complexity for c in front] == sorted((c.complexity for c in front), reverse=True)
        for candidate in front:
            error = np.sqrt(np.mean((y - predicted(candidate)) ** 2)) / np.std(y)
            assert candidate.loss == pytest.approx(error, rel=1e-6, abs=1e-12)
            assert candidate.notes["tokens"] >= 4

    @pytest.mark.parametrize("evaluations", [1, 999, 1130])
    def test_budget(self, name, evaluations):
        front = fit(name, np.tan(50 * A), evaluations, batch_size=100, function_set=ARITHMETIC)
        assert all(c.evaluations == evaluations for c in front)

    def test_same_seed_same_answer(self, name):
        first, second, other = (fit(name, A / B + 1.7, 400, s, batch_size=100) for s in (2, 2, 3))
        assert first == second != other

    def test_stops_when_exact(self, name):
        front = fit(name, A + B * B, 20_000, function_set=ARITHMETIC)
        assert front[0].evaluations < 20_000 and front[0].loss < 1e-6

    def test_rows(self, name):
        front = fit(name, A * B, 100, max_rows=7)
        assert front[0].notes["rows_used"] == 7

    @pytest.mark.parametrize(
        "settings, reason",
        [
            ({"function_set": "add,sinh"}, "unknown function 'sinh'"),
            ({"function_set": "sin,exp"}, "two arguments"),
            ({"min_length": 99}, "min_length < max_length"),
            ({"quantile": 0.0}, "quantile"),
            ({"batch_size": 0}, "batch"),
            ({"gtol": 0.0}, "gtol"),
            ({"max_rows": 0}, "max_rows"),
        ],
    )
    def test_bad_settings_are_refused_by_name(self, name, settings, reason):
        with pytest.raises(ValueError, match=f"^{name}: .*{reason}"):
            methods.method(name, **settings)

    def test_too_many_inputs(self, name):
        columns = tuple(f"v{j}" for j in range(125))
        with pytest.raises(Unsupported, match=f"^{name}.* 125 inputs"):
            fit(name, A, inputs=RNG.uniform(size=(40, 125)), columns=columns)


@pytest.mark.parametrize("name", ["dsr", "nggp"])
def test_polynomials_are_of_another_method(name):
    with pytest.raises(ValueError, match=f"{name}: poly belongs to udsr"):
        methods.method(name, function_set="add,poly")


class TestNggp:
    def test_readings_differ_in_what_they_learn_from(self):
        training = {r: methods.method("nggp", reading=r)._training() for r in ("merged", "named", "paper")}
        merged, named, paper = training.values()
        assert merged.breeding and merged.queue == 10 and not merged.policy_gradient
        assert named.breeding is None and named.queue == 0 and named.policy_gradient
        assert paper.breeding and paper.queue == 0 and paper.policy_gradient
        assert (merged.breeding.generations, merged.breeding.elites, merged.queue_weight) == (20, 50, 200)

    def test_named_is_dsr_with_the_same_settings(self):
        named = methods.method("nggp", reading="named").settings
        settings = {k: v for k, v in named.items() if k in methods.method("dsr").settings}
        assert fit("nggp", A * B + 1, 300, reading="named") == fit("dsr", A * B + 1, 300, **settings)

    def test_breeding_is_counted(self):
        front = fit("nggp", np.tan(50 * A), 650, batch_size=100, generations=3, function_set=ARITHMETIC)
        assert front[0].evaluations == 650  # 100 + 3 x 100, then 100 and one generation, then 50

    def test_unknown_reading(self):
        with pytest.raises(ValueError, match="nggp: unknown reading 'other'"):
            methods.method("nggp", reading="other")


class TestDsrReleased:
    def test_offers_the_answers_without_and_with_constants(self):
        y = A * B + 2.7
        front = fit("dsr_released", y, 1000, batch_size=100)
        halves = []
        rng = np.random.default_rng(0)
        task = Task(("a", "b"), "z", X, y)
        for functions in (FUNCTIONS, f"{FUNCTIONS},const"):
            method = methods.method("nggp", reading="named", function_set=functions, batch_size=100)
            halves += method.search(task, budget=Budget(evaluations=500), rng=rng)
        assert {c.solution["z"] for c in front} == {c.solution["z"] for c in halves}
        assert [c.loss for c in front] == sorted(c.loss for c in front)
        assert {c.evaluations for c in front} == {1000}


class TestUdsr:
    def test_polynomials_are_found_at_once(self):
        y = B / np.sqrt(A**2 + 2 * B**2 + 0.5)
        front = fit("udsr", y, 15_000, function_set="add,sub,mul,div,sin,cos,exp,sqrt,poly", soft_length=None)
        assert front[0].loss < 1e-6
        assert predicted(front[0]) == pytest.approx(y)

    def test_as_released_drops_what_holds_a_fitted_polynomial(self):
        y = A**3 - 0.7 * A * B + 1.3
        mended, released = (fit("udsr", y, 1500, as_released=flag) for flag in (False, True))
        assert mended[0].loss < 1e-10
        assert released != mended and all(candidate in mended for candidate in released)
        lost = [candidate for candidate in mended if candidate not in released]
        assert mended[0] in lost
        assert all(candidate.loss > 1e-3 for candidate in released)

    def test_the_released_row_is_the_same_method(self):
        assert dataclasses.asdict(methods.method("udsr_released")) == dataclasses.asdict(
            methods.method("udsr", as_released=True)
        )

    def test_as_released_keeps_a_polynomial_without_variables(self):
        method = methods.method("udsr", as_released=True)
        library = method._library(("a", "b"))
        sequence = library.sequence("mul,a,exp,poly")
        coefficients = np.zeros(math.comb(5, 3))
        coefficients[0] = 2.5
        assert method._kept(library, sequence, coefficients)
        coefficients[4] = 1e-3
        assert not method._kept(library, sequence, coefficients)
        assert method._kept(library, library.sequence("add,a,sin,b"), np.empty(0))
        assert methods.method("udsr")._kept(library, sequence, coefficients)

    def test_too_many_terms(self):
        wide = RNG.uniform(size=(30, 12))
        names = tuple(f"v{j}" for j in range(12))
        with pytest.raises(Unsupported, match="455 terms"):
            fit("udsr", wide[:, 0] + wide[:, 1] ** 2, inputs=wide, columns=names)
        front = fit("udsr", wide[:, 0] + wide[:, 1] ** 2, 1100, inputs=wide, columns=names, degree=2)
        assert front[0].loss < 1e-6

    def test_bad_degree(self):
        with pytest.raises(ValueError, match="udsr: degree"):
            methods.method("udsr", degree=-1)


def test_validation_rows_decide_the_order():
    y = A * B + 0.5 * RNG.normal(size=40)
    V = RNG.uniform(0.5, 2.0, (50, 2))
    front = fit("dsr", y, 1000, validation=Split(V, V[:, 0] * V[:, 1]))
    values = [parse(c.solution["z"])({"a": V[:, 0], "b": V[:, 1]}) for c in front]
    errors = [np.mean((value - V[:, 0] * V[:, 1]) ** 2) for value in values]
    errors = [error if np.isfinite(error) else np.inf for error in errors]
    assert errors == sorted(errors)


# The checks below take minutes. What they hold was written down before they were run, but where one says otherwise.
SUITES = {entry["id"]: entry for entry in yaml.safe_load((DATA / "public_suites.yaml").read_text(encoding="utf-8"))}
FUNCTIONS_OF_KOZA = {"function_set": FUNCTIONS}
EASY = """
I.12.1 I.12.5 I.12.11 I.14.3 I.18.12 I.25.13 I.27.6 I.29.4 I.34.8 I.39.22 I.43.16 I.43.31
II.10.9 II.15.4 II.15.5 II.27.16 II.27.18 II.37.1 II.38.3 II.38.14 III.17.37
""".split()


def solves(name, id, seed, evaluations, **settings):
    """Whether a problem of the public suites, 20 rows drawn for it alone, is solved to rounding."""
    suite = SUITES[id]
    rng = np.random.default_rng(list(id.encode()))
    columns = tuple(suite["domain"])
    inputs = np.column_stack([rng.uniform(*suite["domain"][column], 20) for column in columns])
    y = parse(suite["truth"])(dict(zip(columns, inputs.T, strict=True)))
    front = fit(name, y, evaluations, seed, inputs, columns=columns, **settings)
    return min(candidate.loss for candidate in front) ** 2 < 1e-12


@pytest.mark.minutes
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("number", [1, 2, 3, 4, 6, 9, 10, 11])
def test_nguyen_that_is_published_at_100_percent(number, seed):
    """DSR's paper, Table 1, with its 2 million samples."""
    assert solves("dsr", f"nguyen{number}", seed, 2_000_000, **FUNCTIONS_OF_KOZA)


@pytest.mark.minutes
@pytest.mark.parametrize("seed", range(3))
def test_nguyen_12_is_never_solved(seed):
    assert not solves("dsr", "nguyen12", seed, 2_000_000, **FUNCTIONS_OF_KOZA)


@pytest.mark.minutes
def test_breeding_helps_on_livermore():
    """Six problems that neural-guided breeding is published to solve nearly always, and the policy alone less often."""
    plain = {"uniform_arity": False, "soft_length": None, "entropy": 0.005, "entropy_decay": 1.0, **FUNCTIONS_OF_KOZA}
    solved = {
        name: sum(solves(name, f"livermore{number}", 0, 500_000, **settings) for number in (1, 2, 3, 4, 11, 12))
        for name, settings in (("dsr", plain), ("nggp", {"reading": "paper", **plain}))
    }
    assert solved["nggp"] > solved["dsr"]


@pytest.mark.minutes
def test_easy_problems_of_srbench():
    """Laws that DSR solves in 88 % of SRBench's trials and more; the 22nd, m*r*v*sin(theta), is none of SRSD's.

    With SRBench's million samples. The bar was first held to 200,000: then 15 of the 21 are solved, and 10 with a token
    for constants, which none of them has.
    """
    solved = 0
    for id in EASY:
        law = problem(f"srsd/{id}", variant="fsrd")
        front = methods.method("dsr", max_rows=500, **FUNCTIONS_OF_KOZA).solve(
            law, budget=Budget(evaluations=1_000_000)
        )
        solved += score(law, front[0])["solution_rate"]
    assert solved >= 17  # 18 of 22


@pytest.mark.minutes
def test_polynomial_systems_from_exact_derivatives():
    """Without the error of differences the polynomial token fits MDBench's polynomial systems, on and off the record.

    The bar of 30 stood before the run. That agreement off the record decides was chosen after it: term by term 11
    systems match, since remainders of 1e-15 of terms that cancel count as terms there.
    """
    right = [id for id in problems("odes") if cubic(problem(id)) and follows_everywhere(problem(id))]
    assert len(right) >= 30  # of 35


def cubic(system):
    """Whether all right-hand sides are polynomials of degree 3 at most."""
    sides = [side.sympy().as_poly(*map(sympy.Symbol, system.inputs)) for side in system.expressions.values()]
    return all(side is not None and side.total_degree() <= 3 for side in sides)


def follows_everywhere(system):
    """Whether uDSR's answers agree to 1e-6 with the truth in the box around a record that has exact derivatives."""
    states = system.data(0)["train"].X
    box = np.random.default_rng(0).uniform(states.min(0), states.max(0), (1000, states.shape[1]))
    for side in system.expressions.values():
        on_record, off_record = (
            np.broadcast_to(side(dict(zip(system.inputs, rows.T, strict=True))), len(rows)).astype(float)
            for rows in (states, box)
        )
        front = fit("udsr", on_record, 20_000, inputs=states, columns=system.inputs)
        (text,) = front[0].solution.values()
        found = np.broadcast_to(parse(text)(dict(zip(system.inputs, box.T, strict=True))), len(box))
        if np.mean((found - off_record) ** 2) > 1e-12 * np.mean(off_record**2):
            return False
    return True
