"""The regularised evolution: its parts against worked values, the whole against exact laws."""

import dataclasses
import os
import subprocess
import sys
from collections import Counter

from rediscover.search.evolution import phases
from rediscover.search.evolution.choice import choose, scores_of
from rediscover.search.evolution.evolution import Search, Settings, front_of, migrate, move_window, search
from rediscover.search.evolution.limits import legal, limits
from rediscover.search.evolution.simplification import simplify
from rediscover.search.programs.draws import below, normal, stream, uniform
from rediscover.search.programs.evaluation import structure
from rediscover.search.programs.operators import CODES
from rediscover.search.programs.programs import Programs, from_text, losses, to_text, valid
from rediscover.search.programs.variation import (
    Tree,
    add_node,
    change_constant,
    delete_node,
    graft,
    grow,
    insert_node,
    palette,
    pick_pivot,
    random_programs,
    rotate,
    swap_operands,
)

import numpy as np
import pytest

NAMES = ("x1", "x2", "x3")
ROOM = 80
SMALL = Settings(populations=2, ncycles_per_iteration=60, unary_operators="cos,exp")


def tree(text):
    programs = from_text([text], NAMES, length=ROOM)
    return Tree(programs.tokens[0], programs.constants[0]), int(programs.sizes[0])


def blank():
    return Tree(np.zeros(ROOM, np.int16), np.zeros(ROOM))


def text(tree, size):
    return to_text(Programs(tree.tokens[None], tree.constants[None], np.array([size])), NAMES)[0]


def marks(tokens, size):
    lefts, begins = np.zeros((2, ROOM), np.int64)
    assert structure(tokens, size, lefts, begins)
    return lefts, begins


def rotations(source, count=300):
    start, size = tree(source)
    lefts, found = marks(start.tokens, size)[0], set()
    state = stream(0)
    for _ in range(count):
        out = blank()
        found.add(text(out, rotate(start, size, lefts, out, state)))
    return found


class TestDraws:
    def test_streams_are_named_and_repeat(self):
        draws = [[uniform(state) for _ in range(4)] for state in (stream(1, 2), stream(1, 2), stream(2, 1))]
        assert draws[0] == draws[1] != draws[2]

    def test_moments(self):
        state = stream(7)
        u, z = np.array([[uniform(state), normal(state)] for _ in range(40_000)]).T
        assert 0 <= u.min() and u.max() < 1 and u.mean() == pytest.approx(0.5, abs=0.005)
        assert [z.mean(), z.std(), (z**4).mean()] == pytest.approx([0, 1, 3], abs=0.1)
        assert Counter(below(state, 3) for _ in range(3000)).keys() == {0, 1, 2}


class TestVariation:
    """Rotations are those of SymbolicRegression.jl's own tests."""

    def test_rotations_of_a_tree_with_one_pivot_undo_each_other(self):
        assert rotations("1.5*x1 + x2") == {"1.5*(x1 + x2)"}
        assert rotations("1.5*(x1 + x2)") == {"1.5*x1 + x2"}

    def test_rotations_of_a_sum(self):
        assert rotations("1.5*exp(x1) + 2.5/x3") == {
            "(1.5*exp(x1) + 2.5)/x3",
            "1.5*(exp(x1) + 2.5/x3)",
            "exp(1.5*x1) + 2.5/x3",
        }

    def test_rotations_below_and_through_a_function(self):
        assert rotations("exp(1.5*x1 + 2.5/x3)") == {
            "exp((1.5*x1 + 2.5)/x3)",
            "exp(1.5*(x1 + 2.5/x3))",
            "1.5*x1 + exp(2.5/x3)",
        }

    def test_the_root_is_the_pivot_as_often_as_any(self):
        start, size = tree("1.5*exp(x1) + 2.5/x3")
        lefts, state = marks(start.tokens, size)[0], stream(3)
        roots = sum(pick_pivot(start, size, lefts, state) == size - 1 for _ in range(4000))
        assert roots == pytest.approx(2000, abs=150)

    def test_a_leaf_has_no_pivot(self):
        assert rotations("x1", 3) == {"x1"} and rotations("x1 + x2", 3) == {"x1 + x2"}

    def test_swap(self):
        start, size = tree("exp(x1) - x2*x3")
        out, found, state = blank(), set(), stream(0)
        for _ in range(50):
            found.add(text(out, swap_operands(start, size, *marks(start.tokens, size), out, state)))
        assert found == {"x2*x3 - exp(x1)", "exp(x1) - x3*x2"}

    def test_delete_goes_up_one_level(self):
        start, size = tree("exp(x1*x2) - x3")
        out, found, state = blank(), set(), stream(0)
        drawn = palette(["+"], 3)
        for _ in range(300):
            new = delete_node(start, size, *marks(start.tokens, size), out, drawn, state)
            found.add(text(out, new) if new < size else "leaf")
        assert found == {"x1*x2 - x3", "exp(x1) - x3", "exp(x2) - x3", "leaf"}

    def test_a_constant_changes_by_the_factor_at_most_and_its_sign_with_the_probability_given(self):
        start, size = tree("2.0*x1")
        out, state, seen = blank(), stream(0), []
        for _ in range(2000):
            change_constant(start, size, out, 1.229, 0.99257, state)
            seen.append(out.constants[0])
        seen = np.array(seen)
        assert np.abs(seen).min() > 2 / 1.229 and np.abs(seen).max() < 2 * 1.229
        assert (seen < 0).mean() == pytest.approx(0.99257, abs=0.006)

    @pytest.mark.parametrize("move", [add_node, insert_node])
    def test_additions_keep_the_old_leaves_and_make_programs(self, move):
        programs, state, drawn = random_programs(200, 15, CODES, 3, 1), stream(0), palette(CODES, 3)
        for k in range(200):
            start, out = Tree(programs.tokens[k], programs.constants[k]), blank()
            size = move(start, 15, out, drawn, state)
            assert 1 <= size - 15 <= 2
            marks(out.tokens, size)

    def test_crossover_makes_programs_and_keeps_the_tokens(self):
        (a, m), (b, n) = tree("exp(x1)*2.5"), tree("x2 + x3/x1")
        one, two = blank(), blank()
        sizes = graft(a, m, 0, 2, b, 1, 4, one), graft(b, n, 1, 4, a, 0, 2, two)
        assert (text(one, sizes[0]), text(two, sizes[1])) == ("x3/x1*2.5", "x2 + exp(x1)")

    def test_growth_reaches_its_target(self):
        out, state = blank(), stream(2)
        for target in range(1, 30):
            assert grow(out, target, palette(["+", "sin"], 2), state) == target
            assert grow(out, target, palette(["+"], 2), state) == target - (target % 2 == 0)


class TestLimits:
    def allowed(self, source, depth=99, largest=99, **options):
        start, size = tree(source)
        lefts, begins, count = np.zeros((3, ROOM), np.int64)
        return legal(start, size, largest, lefts, begins, limits(depth, **options), count)

    def test_nesting(self):
        source = "cos(cos(x1)) + cos(x1) + exp(cos(x1))"
        assert not self.allowed(source, nesting={"cos": {"cos": 0}})
        assert not self.allowed(source, nesting={"exp": {"cos": 0}})
        assert self.allowed(source, nesting={"cos": {"cos": 1}})
        assert self.allowed(source, nesting={"cos": {"exp": 0}})

    @pytest.mark.parametrize("source, depth", [("(x1 + x2) + (x3 + x1)", 3), ("cos(cos(cos(x1)))", 4), ("x1", 1)])
    def test_depth(self, source, depth):
        assert self.allowed(source, depth) and not self.allowed(source, depth - 1)

    def test_size_and_arguments(self):
        assert self.allowed("x1 + x2", largest=3) and not self.allowed("x1 + x2", largest=2)
        assert not self.allowed("x1/(x2 + x3)", arguments={"/": [-1, 2]})
        assert self.allowed("(x2 + x3)/x1", arguments={"/": [-1, 2]})
        assert not self.allowed("x1*sin(x2 + x3)", arguments={"sin": 2})

    def test_what_is_no_program_is_not_legal(self):
        broken = blank()
        broken.tokens[:2] = 32, CODES["+"]
        assert not legal(broken, 2, 9, *np.zeros((2, ROOM), np.int64), limits(9), np.zeros(ROOM, np.int64))


class TestSimplification:
    def simplified(self, source):
        start, size = tree(source)
        out = blank()
        return text(out, simplify(start, size, *np.zeros((2, ROOM), np.int64), out))

    @pytest.mark.parametrize(
        "source, expected",
        [
            ("2.0*3.0 + x1", "x1 + 6.0"),
            ("cos(0.0)*x1", "x1*1.0"),
            ("(x1 + 1.0) + 2.0", "x1 + 3.0"),
            ("2.0*(3.0*(x1 + x2))", "(x1 + x2)*6.0"),
            ("4.0 - (1.0 - x1*x2)", "x1*x2 - (-3.0)"),
            ("4.0 - (x1 - 1.0)", "5.0 - x1"),
            ("(4.0 - exp(x1)) - 1.0", "3.0 - exp(x1)"),
            ("(x1 - 4.0) - 1.0", "x1 - 5.0"),
            ("1.0/0.0 + x1", "x1 + 1.0/0.0"),
            ("x1 - x1", "x1 - x1"),
            ("(x1/2.0)/3.0", "x1/2.0/3.0"),
        ],
    )
    def test_worked(self, source, expected):
        if expected == "x1 + 1.0/0.0":  # what is not finite stays, and is then no constant to be moved
            expected = source
        assert self.simplified(source) == expected

    def test_values_stay(self):
        programs = random_programs(500, 19, ["+", "-", "*", "/", "exp"], 3, seed=2)
        X, short = np.random.default_rng(0).normal(size=(30, 3)), random_programs(500, 19, ["+"], 1)
        for k in range(500):
            start, out = Tree(programs.tokens[k], programs.constants[k]), blank()
            size = simplify(start, programs.sizes[k], *np.zeros((2, ROOM), np.int64), out)
            assert size <= programs.sizes[k]
            short.tokens[k, :size], short.constants[k, :size] = out.tokens[:size], out.constants[:size]
            short.sizes[k] = size
        assert short.sizes.mean() < 0.85 * programs.sizes.mean()
        y = np.zeros(30)
        before, after = losses(programs, X, y), losses(short, X, y)
        finite = np.isfinite(before)
        assert finite.sum() > 100 and np.isfinite(after[finite]).all()
        close = np.isclose(before[finite], after[finite], rtol=1e-6)
        assert close.mean() > 0.99  # sums of large constants may cancel in another order


def island(costs, sizes=None):
    group = phases.population(len(costs), ROOM)
    group.sizes[:], group.births[:] = sizes if sizes is not None else 1, np.arange(len(costs))
    group.losses[:] = group.costs[:] = costs
    return group


def rules(**options):
    return Settings(**options).rules(3, 1.0)


def tools(members):
    search = Search(
        np.ones((2, 3)),
        np.ones(2),
        dataclasses.replace(SMALL, population_size=members, tournament_selection_n=1),
        10,
        0,
    )
    return search.tools


class TestSelection:
    def winners(self, costs, sizes=None, frequency=None, count=300, **options):
        group, chosen = island(np.array(costs, float), sizes), []
        frequency = np.zeros(31) if frequency is None else frequency
        state, room = stream(0), tools(len(costs))
        for _ in range(count):
            chosen.append(
                phases.tournament(group, rules(population_size=len(costs), **options), frequency, state, room)
            )
        return np.array(chosen)

    def test_the_package_s_own_check(self):
        won = self.winners(np.arange(10) / 9, tournament_selection_n=10, tournament_selection_p=0.999, count=100)
        assert (won / 9).mean() < 0.1

    def test_places_win_as_often_as_they_should(self):
        won = self.winners(range(5), tournament_selection_n=5, tournament_selection_p=0.6, count=4000)
        p = 0.6 * 0.4 ** np.arange(5)
        assert np.bincount(won, minlength=5) / 4000 == pytest.approx(p / p.sum(), abs=0.025)

    def test_members_are_drawn_without_replacement_and_evenly(self):
        won = self.winners([0.0] * 6, tournament_selection_n=1, count=6000)
        assert np.bincount(won) == pytest.approx([1000] * 6, abs=120)

    def test_a_crowded_size_loses_and_beyond_single_precision_all_the_same(self):
        frequency = np.zeros(31)
        frequency[5], frequency[7] = 0.02, 0.2
        pair = {"tournament_selection_n": 2, "tournament_selection_p": 1.0}
        # exp(1040 * 0.02) = 1.08e9
        assert set(self.winners([1.0, 1e8], [5, 3], frequency, **pair)) == {1}
        assert set(self.winners([1.0, 1e10], [5, 3], frequency, **pair)) == {0}
        won = self.winners(
            [1e-300, 2e-300, 5.0], [7, 7, 3], frequency, tournament_selection_n=3, tournament_selection_p=1.0
        )
        assert set(won) == {2}
        assert set(self.winners([0.0, 1.0], [7, 7], frequency, **pair)) == {0, 1}

    def test_acceptance_looks_at_frequencies_alone_unless_annealed(self):
        frequency, state = np.full(31, 0.02), stream(1)
        frequency[9] = 0.08

        def share(old, new, before=1.0, after=1e9, **options):
            chosen = rules(**options)
            return np.mean(
                [phases.accepted(old, new, before, after, 0.5, frequency, chosen, state) for _ in range(3000)]
            )

        assert share(5, 6) == 1 and share(9, 5) == 1
        assert share(5, 9) == pytest.approx(0.25, abs=0.03)
        assert share(5, 40) == 1 and share(40, 5) < 0.01
        annealed = share(5, 6, 1.0, 1.0 + 0.5 * 3.17, annealing=True)
        assert annealed == pytest.approx(np.exp(-1), abs=0.03)
        assert share(5, 6, 1.0, np.inf, annealing=True) == 0

    def test_the_window(self):
        counts = np.ones(30)
        np.add.at(counts, np.random.default_rng(0).integers(0, 30, 1000), 1)
        assert counts.sum() == 1030
        move_window(counts, 500)
        assert counts.sum() == pytest.approx(500) and counts.min() >= 1

    def test_mutations_that_do_not_apply_have_no_weight(self):
        weights, state, chosen = np.zeros(len(phases.KINDS)), stream(0), rules()
        for source, absent in (("x1", ("mutate_constant", "optimize")), ("1.5", ())):
            start, size = tree(source)
            phases.draw_kind(start, size, 30, chosen, state, weights)
            drawn = dict(zip(phases.KINDS, weights, strict=True))
            for kind in (*absent, "mutate_operator", "swap_operands", "delete_node", "simplify"):
                assert drawn[kind] == 0
            assert drawn["add_node"] == 2.47
        start, size = tree("exp(1.5 + x1*2.5)")
        phases.draw_kind(start, size, size, chosen, state, weights)
        drawn = dict(zip(phases.KINDS, weights, strict=True))
        assert drawn["mutate_constant"] == pytest.approx(0.0346 * 2 / 8)
        assert drawn["add_node"] == drawn["insert_node"] == 0 and drawn["rotate_tree"] == 4.26

    def test_the_oldest_goes(self):
        group = island([1.0, 2.0, 3.0])
        group.births[:] = 5, 1, 9
        child, size = tree("x1 + x2")
        phases.succeed(group, child, size, 7.0, 8.0)
        assert group.births.tolist() == [5, 10, 9] and group.sizes.tolist() == [1, 3, 1]
        assert group.losses.tolist() == [1.0, 7.0, 3.0] and group.costs.tolist() == [1.0, 8.0, 3.0]

    def test_the_hall_keeps_the_lowest_cost_and_the_front_the_falling_losses(self):
        hall = island([np.inf] * 6, [0] * 6)
        phases.note(hall, island([5.0, 4.0, 4.5, np.inf, 4.2], [1, 1, 3, 2, 9]))
        assert hall.costs.tolist() == [np.inf, 4.0, np.inf, 4.5, np.inf, np.inf]
        phases.note(hall, island([1.0, 1.0], [3, 5]))
        assert front_of(hall).tolist() == [1, 3]

    def test_migration_copies_donors_and_renews_their_births(self):
        group, donors = island([9.0] * 100), island([1.0, 2.0], [4, 5])
        migrate(group, donors, 2, 0.5, stream(0))
        assert set(group.costs[group.sizes > 1]) <= {1.0, 2.0} and 1 <= (group.sizes > 1).sum() <= 2
        assert group.births.max() > 99
        before = group.costs.copy()
        migrate(group, donors, 2, 0.0, stream(0))
        assert (group.costs == before).all()


def test_choice_by_the_package_s_own_check():
    found, scores = [1, 0.1, 0.01, 0.0014, 0.001], [0.5, 1, 0.5, 0.5, 0.3]
    assert [choose(found, scores, selection) for selection in ("accuracy", "best", "score")] == [4, 3, 1]
    with pytest.raises(ValueError, match="model_selection"):
        choose(found, scores, "worst")


def test_choice_ignores_losses_that_are_rounding():
    sizes, found = np.array([1, 3, 5, 9]), np.array([1.0, 0.5, 1e-31, 1e-33])
    assert choose(found, scores_of(found, sizes)) == 2


def table(rows=60, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, 3))


class TestSearch:
    def test_finds_a_multiple(self):
        X = table(100)
        found = search(X, 1.23456789 * X[:, 1], SMALL, evaluations=100_000)
        assert found.losses[found.front.sizes == 3].min() < 1e-20

    @pytest.mark.parametrize("evaluations", [1, 2, 53, 54, 55, 300, 3000, 3001])
    def test_the_budget_is_kept(self, evaluations):
        found = search(table(), table()[:, 0] * 2 + np.cos(table()[:, 1]), SMALL, evaluations=evaluations)
        assert evaluations - 1 <= found.evaluations <= evaluations

    def test_the_budget_is_kept_on_batches(self):
        found = search(table(), table()[:, 0] ** 3, dataclasses.replace(SMALL, batch_size=20), evaluations=5000)
        assert 4900 <= found.evaluations <= 5000 and found.rounds > 1

    def test_losses_of_the_front_are_those_of_its_programs(self):
        X, y = table(), np.exp(table()[:, 0]) * table()[:, 1] + 1
        found = search(X, y, SMALL, evaluations=20_000)
        again = losses(found.front, X, y) / np.mean(y**2)
        np.testing.assert_allclose(again, found.losses, rtol=1e-6)
        assert (np.diff(found.losses) < 0).all() and (np.diff(found.front.sizes) > 0).all()
        assert valid(found.front, 3).all() and found.front.sizes.max() <= SMALL.maxsize

    def test_limits_hold_in_every_answer(self):
        X, y = table(), np.exp(np.cos(table()[:, 0] * 3) + table()[:, 1])
        chosen = dataclasses.replace(
            SMALL, maxsize=12, maxdepth=4, constraints={"exp": 3}, nested_constraints={"cos": {"cos": 0}}
        )
        found = search(X, y, chosen, evaluations=20_000)
        lefts, begins, count = np.zeros((3, ROOM), np.int64)
        old = [Tree(t, c) for t, c in zip(found.front.tokens, found.front.constants, strict=True)]
        ok = [
            legal(t, s, 12, lefts, begins, chosen.limits(), count) for t, s in zip(old, found.front.sizes, strict=True)
        ]
        assert len(ok) > 2 and sum(ok) >= len(ok) - 1  # a tree of the start is not checked, as in the package

    def test_a_round_counts_sizes_and_raises_births(self):
        running = Search(table(), table()[:, 0] ** 2, SMALL, 10_000, 0)
        running.start()
        running.round(np.arange(2))
        assert running.counts.sum() == 30 + 2 * SMALL.population_size
        assert 0 < running.steps <= 2 * 60 * 2 and 54 < running.used <= 10_000
        assert all((island.births > 26).any() for island in running.islands)

    def test_the_order_of_the_phases_of_a_round_does_not_matter(self):
        results = []
        for order in ([0, 1], [1, 0]):
            running = Search(table(), table()[:, 0] ** 2 + table()[:, 1], SMALL, 10**6, 0)
            running.start()
            running.rounds = 1
            frequency = running.counts / running.counts.sum()
            for i in order:
                running.phase(i, frequency, 30)
            results.append([array.tobytes() for island in running.islands for array in island])
        assert results[0] == results[1]

    @pytest.mark.parametrize("unit", [1e-200, 1e-30, 1e200])
    def test_losses_are_relative_in_any_unit(self, unit):
        X = table()
        found = search(X * unit, (X[:, 0] + 2 * X[:, 1]) * unit, SMALL, evaluations=20_000)
        expected = losses(found.front, X * unit, (X[:, 0] + 2 * X[:, 1]) * unit, 1 / unit)
        np.testing.assert_allclose(
            found.losses, expected / np.mean((X[:, 0] + 2 * X[:, 1]) ** 2), rtol=1e-6, atol=1e-28
        )
        assert found.losses.min() < 0.3

    def test_warmup_lets_sizes_grow(self):
        chosen = dataclasses.replace(SMALL, warmup_maxsize_by=0.5)
        running = Search(table(), table()[:, 0], chosen, 1000, 0)
        assert running.largest() == 3
        running.used = 250
        assert running.largest() == 16
        running.used = 501
        assert running.largest() == 30

    def test_rounds_can_be_limited(self):
        assert search(table(), table()[:, 0], dataclasses.replace(SMALL, niterations=2), evaluations=10**6).rounds == 2

    @pytest.mark.parametrize(
        "change, message",
        [
            ({"maxsize": 2}, "maxsize"),
            ({"populations": 0}, "at least 1"),
            ({"tournament_selection_n": 28}, "exceeds population_size"),
            ({"unary_operators": "bessel"}, "unknown operator 'bessel'"),
            ({"constraints": {"bessel": 3}}, "unknown operator 'bessel'"),
            ({"sign_flip": "never"}, "sign_flip"),
        ],
    )
    def test_settings_that_cannot_be_used(self, change, message):
        with pytest.raises(ValueError, match=message):
            search(table(), table()[:, 0], dataclasses.replace(SMALL, **change), evaluations=10)

    def test_data_that_cannot_be_used(self):
        for X, y in ((table(), table()[:5, 0]), (table() * np.nan, table()[:, 0]), (table()[:0], table()[:0, 0])):
            with pytest.raises(ValueError, match="must be finite numbers"):
                search(X, y, SMALL, evaluations=10)

    def test_costs_of_small_targets_under_both_scales(self):
        for scale, price in (("target", 1.0), ("package", 1e-4)):
            assert Settings(cost_scale=scale).rules(1, 1e-6).price == pytest.approx(price)
            assert Settings(cost_scale=scale).rules(1, 4.0).price == 1.0


SAME = """
import numpy as np
from rediscover.search.evolution.evolution import Settings, search
X = np.random.default_rng(0).normal(size=(50, 2))
chosen = Settings(populations=2, ncycles_per_iteration=60, unary_operators="sin,exp")
found = search(X, np.sin(X[:, 0]) + X[:, 1] ** 2, chosen, evaluations=8000, seed=3)
print(*(array.tobytes().hex() for array in (*found.front, found.losses)), found.steps)
"""


def answers(environment=None):
    code = [sys.executable, "-c", SAME]
    return subprocess.run(code, capture_output=True, text=True, check=True, env=os.environ | (environment or {})).stdout


def test_same_seed_same_bytes_in_another_process():
    assert answers() == answers() != ""


@pytest.mark.minutes
def test_same_bytes_from_machine_code_made_anew(tmp_path):
    assert answers() == answers({"NUMBA_CACHE_DIR": str(tmp_path)})
