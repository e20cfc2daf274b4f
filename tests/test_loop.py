"""The verification loop, its proposers and the two fits of skeletons."""

import rediscover as rd
from rediscover.expressions import ExpressionError, parse
from rediscover.search.loops import skeleton_fits
from rediscover.search.loops import verification_loop as loop
from rediscover.search.loops.verification_loop import Verified
from rediscover.search.trajectories import multiple_shooting

import numpy as np
import pytest

RNG = np.random.default_rng


def count_up(context):
    """Proposes 0, 1, 2, ...: two an epoch."""
    return [2 * context.epoch, 2 * context.epoch + 1]


def even_is_valid(answer):
    return Verified(answer, answer, score=float(answer), complexity=1.0) if answer % 2 == 0 else None


class TestSearch:
    def test_keeps_the_valid_best_first_and_counts_the_rest(self):
        outcome = loop.search(None, count_up, even_is_valid, epochs=3, rng=RNG(0))
        assert [answer.score for answer in outcome.pool] == [4.0, 2.0, 0.0]
        assert outcome.progress[-1] == (2, 4.0, 1.0, 6, 3)

    def test_stops_at_the_tolerance_and_at_the_budget(self):
        assert len(loop.search(None, count_up, even_is_valid, epochs=9, rng=RNG(0), tolerance=2.0).progress) == 2
        outcome = loop.search(None, count_up, even_is_valid, epochs=9, rng=RNG(0), proposals=3)
        assert outcome.progress[-1].proposed == 3

    def test_proposer_sees_the_pool(self):
        seen = []

        def propose(context):
            seen.append([answer.proposal for answer in context.pool])
            return [2 * context.epoch]

        loop.search(None, propose, even_is_valid, epochs=3, rng=RNG(0))
        assert seen == [[], [0], [2, 0]]

    def test_pool_has_no_duplicates_and_a_limit(self):
        outcome = loop.search(None, lambda _: [2, 2, *range(0, 400, 2)], even_is_valid, epochs=2, rng=RNG(0))
        assert len(outcome.pool) == loop.POOL and len({a.proposal for a in outcome.pool}) == loop.POOL

    def test_judge_is_off_by_default_and_can_turn_the_order(self):
        def judge(answer):
            return 1.0 if answer.proposal == 0 else 0.0

        off = loop.search(None, count_up, even_is_valid, epochs=2, rng=RNG(0), judge=judge)
        on = loop.search(None, count_up, even_is_valid, epochs=2, rng=RNG(0), judge=judge, judge_weight=9.0)
        assert [a.proposal for a in off.pool] == [2, 0] and [a.proposal for a in on.pool] == [0, 2]
        assert on.pool[0].judged == 1.0
        with pytest.raises(ValueError, match="needs a judge"):
            loop.search(None, count_up, even_is_valid, epochs=1, rng=RNG(0), judge_weight=1.0)

    def test_nothing_valid(self):
        outcome = loop.search(None, lambda _: [1], even_is_valid, epochs=2, rng=RNG(0))
        assert outcome.pool == () and outcome.progress[-1].failed == 2
        assert loop.select(outcome.pool) is None

    def test_final_choice(self):
        def answer(score, complexity):
            return Verified(score, score, score, complexity)

        pool = [answer(0.999, 9), answer(0.991, 5), answer(0.95, 1)]
        assert loop.select(pool).score == 0.991
        assert loop.select(pool[2:]).score == 0.95
        assert loop.select([answer(0.3, 9), answer(0.2, 1)]).score == 0.3


class TestReleasedFit:
    @pytest.mark.parametrize(
        "skeleton, terms, intercept",
        [
            ("c*x0 + c*x1", ["x0", "x1"], False),
            ("x0**2", ["x0"], False),
            ("c/x0", ["x0"], False),
            ("sqrt(c + x0)", ["x0"], False),
            ("x0/(c + x0)", ["x0**2"], False),
            ("exp(-c*x0)", ["exp(x0)"], False),
            ("c*x0 + c", ["x0"], True),
            ("c*(x0 - x1) + c*x0", ["x0", "x1"], True),
            ("c", [], True),
        ],
    )
    def test_what_is_left_of_a_skeleton(self, skeleton, terms, intercept):
        found, with_intercept = skeleton_fits.linear_terms(skeleton)
        assert (sorted(map(str, found)), with_intercept) == (terms, intercept)

    def test_inner_constants_are_lost_and_found(self):
        """dx/dt = -2 x / (0.5 + x): the released fit cannot say it, integral matching does."""
        from rediscover.expressions.integration import simulate

        t = np.linspace(0, 10, 150)
        x = simulate({"x0": parse("-2*x0/(0.5 + x0)")}, [3.0], t)
        skeleton = {"x0": "c*x0/(c + x0)"}
        released = parse(skeleton_fits.fit_released(skeleton, x, t)["x0"])
        assert released.names == ("x0",) and str(released).endswith("x0**2")
        a, b = parse(skeleton_fits.fit_integral(skeleton, x, t, starts=5)["x0"]).constants
        assert a == pytest.approx(-2, rel=0.02) and b == pytest.approx(0.5, rel=0.05)

    def test_search_for_inner_constants_leaves_a_wrong_basin(self):
        """Logistic growth: from 1 the capacity runs off to minus infinity; it is 74.3."""
        problem = rd.problem("cde/S003")
        fit = skeleton_fits.fit_integral(
            {"x0": "c*x0*(1 - x0/c)"}, problem.observed(), problem.times(), starts=10, rng=RNG(0)
        )
        rate, _, capacity = parse(fit["x0"]).constants
        assert rate == pytest.approx(0.79, rel=1e-4) and capacity == pytest.approx(74.3, rel=1e-4)

    def test_a_term_whose_integral_overflows_is_not_fitted(self):
        t = np.linspace(0, 100, 40)
        x = np.linspace(700, 709, 40)[:, None]
        fitted = parse(skeleton_fits.fit_integral({"x0": "c*exp(c*x0)"}, x, t, starts=3)["x0"])
        assert np.all(np.isfinite(fitted({"x0": x[:, 0]})))

    @pytest.mark.parametrize("skeleton", ["x0**c", "c", "c*x0 + c*x0", "-c*x0 - c", "c/(c + x0)", "2*x0"])
    def test_integral_fit_keeps_the_form_of_a_skeleton(self, skeleton):
        t = np.linspace(0, 1, 40)
        fitted = parse(skeleton_fits.fit_integral({"x0": skeleton}, np.exp(-t)[:, None], t)["x0"])
        assert fitted.names == parse(skeleton.replace("c", "1")).names
        assert np.all(np.isfinite(fitted({"x0": np.exp(-t)})))

    @pytest.mark.parametrize("fit", [skeleton_fits.fit_released, skeleton_fits.fit_integral])
    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_series_of_one_to_three_points_and_constant_ones(self, fit, n):
        t = np.linspace(0, 1, n)
        for x in (np.full((n, 1), 2.0), np.linspace(1, 2, n)[:, None]):
            fitted = parse(fit({"x0": "c*x0 + c"}, x, t)["x0"])
            assert np.all(np.isfinite(fitted({"x0": x[:, 0]})))

    def test_coefficients_are_rounded(self):
        t = np.linspace(0, 1, 50)
        x = np.exp(0.123456789 * t)[:, None]
        assert parse(skeleton_fits.fit_released({"x0": "c*x0"}, x, t)["x0"]).constants == (0.1235,)

    @pytest.mark.parametrize("fit", [skeleton_fits.fit_released, skeleton_fits.fit_integral])
    def test_unknown_variable(self, fit):
        with pytest.raises(ExpressionError, match="unknown variable 'x7'"):
            fit({"x0": "c*x7"}, np.ones((9, 1)), np.arange(9.0))

    def test_undefined_terms(self):
        with pytest.raises(ValueError, match="no finite value"):
            skeleton_fits.fit_released({"x0": "c*log(x0)"}, -np.ones((9, 1)), np.arange(9.0))


class TestShooting:
    def test_improves_all_constants_of_a_system_together(self):
        t = np.linspace(0, 10, 150)
        true = {"x0": parse("0.7*x0 - 0.5*x0*x1"), "x1": parse("0.4*x0*x1 - 0.3*x1")}
        from rediscover.expressions.integration import simulate

        x = simulate(true, [2.0, 1.0], t)
        rough = {"x0": "0.6*x0 - 0.45*x0*x1", "x1": "0.45*x0*x1 - 0.35*x1"}
        found = multiple_shooting.refine(rough, x, t)
        for state, right in true.items():
            assert np.allclose(parse(found[state]).constants, right.constants, rtol=1e-3)

    @pytest.mark.parametrize("text, n", [("x0", 9), ("2.0*x0", 1), ("1e9*(1.0 - x0)", 50), ("2.0*log(x0 - 9)", 50)])
    def test_what_cannot_be_improved_comes_back(self, text, n):
        """No constants, one point, a stiff equation, an undefined one."""
        x = np.linspace(1, 2, n)[:, None] if n < 50 else np.ones((n, 1))
        assert multiple_shooting.refine({"x0": text}, x, np.linspace(0, 10, n)) == {"x0": text}

    def test_constant_series(self):
        x = np.full((30, 1), 3.0)
        found = multiple_shooting.refine({"x0": "0.5 - 0.1*x0"}, x, np.linspace(0, 10, 30))
        assert abs(float(parse(found["x0"])({"x0": 3.0}))) < 1e-6

    def test_windows_need_not_divide_the_record(self):
        t = np.linspace(0, 1, 23)
        found = multiple_shooting.refine({"x0": "0.9*x0"}, np.exp(t)[:, None], t, window=5)
        assert parse(found["x0"]).constants[0] == pytest.approx(1.0, rel=1e-5)


class TestProposers:
    problem = rd.problem("cde/S024")

    @pytest.mark.parametrize("proposer", [loop.Grammar(samples=30), loop.Genetic(samples=30)])
    def test_proposals_are_skeletons_in_the_states(self, proposer):
        seed = Verified({"x0": "c*x0 + c", "x1": "c*x1/(c + x0)"}, {}, 0.5, 1)
        answers = list(proposer(loop.Context(self.problem, 1, (seed,), RNG(3))))
        assert len(answers) == 30
        for answer in answers:
            for text in answer.values():
                assert set(parse(text).names) <= {"x0", "x1", "c"}
        again = list(proposer(loop.Context(self.problem, 1, (seed,), RNG(3))))
        assert again == answers

    def test_verifier_refuses_what_it_cannot_use(self):
        verify = loop.SkeletonVerifier(self.problem, fit="released")
        assert verify({"x0": "c*x0"}) is None
        assert verify({"x0": "c*(", "x1": "c"}) is None
        assert verify({"x0": "c*q", "x1": "c"}) is None
        assert verify({"x0": "c*x0 + c*x1", "x1": "c*x0 + c*x1"}).score > 0.99

    def test_unknown_fit(self):
        with pytest.raises(ValueError, match="released, integral"):
            loop.SkeletonVerifier(self.problem, fit="best")

    @pytest.mark.parametrize("name", ["loop_grammar", "loop_gp"])
    def test_methods_repeat_and_keep_to_the_budget(self, name):
        method = rd.method(name, epochs=3, samples=8, fit="released")
        first, second = (method.solve(self.problem, budget={"evaluations": 12}, seed=2) for _ in range(2))
        assert [c.solution for c in first] == [c.solution for c in second]
        assert first[0].evaluations <= 12
        assert rd.score(self.problem, first[0])["r2_trajectories_id"] == pytest.approx(1 - first[0].loss, abs=1e-4)
