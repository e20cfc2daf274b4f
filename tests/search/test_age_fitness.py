"""Survival by age and fitness, and fitness predictors: parts against worked values, the whole on laws."""

import dataclasses

from rediscover.numerics.arrays import size_of
from rediscover.search.evolution.age_fitness import Search, Settings, eliminate, plant, scatter, search, survivors
from rediscover.search.evolution.phases import Data, population
from rediscover.search.evolution.predictors import Predictors, discordance
from rediscover.search.programs.draws import stream
from rediscover.search.programs.programs import losses, valid
from rediscover.search.programs.variation import Tree, palette, random_programs

import numpy as np
import pytest

SMALL = Settings(population_size=60)


def table(rows=80, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 2, (rows, 3))


def law(X):
    return X[:, 0] * X[:, 1] / X[:, 2]


def pool(found, ages):
    group = population(len(found), 8)
    group.losses[:], group.births[:], group.sizes[:] = found, ages, 1
    return group


class TestSurvival:
    def test_what_nothing_dominates_is_never_deleted(self):
        rng = np.random.default_rng(0)
        found, ages = rng.uniform(size=200), rng.integers(0, 30, 200)
        dominated = [
            any((found <= found[i]) & (ages <= ages[i]) & ((found < found[i]) | (ages < ages[i]))) for i in range(200)
        ]
        alive = np.arange(200)
        left = eliminate(found, ages, alive, 40, stream(1))
        assert set(np.flatnonzero(~np.array(dominated))) <= set(alive[:left]) and 40 <= left < 200
        assert sorted(alive) == list(range(200))

    def test_equals_do_not_delete_each_other(self):
        alive = np.arange(10)
        assert eliminate(np.ones(10), np.ones(10, np.int64), alive, 2, stream(0)) == 10

    def test_the_rest_is_cut_by_loss_and_of_equals_the_younger_stay(self):
        group = pool([3.0, 1.0, 2.0, 1.0], [0, 5, 2, 4])
        group.births[:] = 5, 5, 5, 4
        assert survivors(group, 2, stream(0)).tolist()[0] == 3
        assert survivors(pool([1.0] * 4, [7] * 4), 3, stream(0)).tolist() == [0, 1, 2]


class TestVariation:
    def test_planted_trees_are_programs_of_the_length_asked_for(self):
        drawn, state = palette(["+", "*", "sin"], 2), stream(0)
        for length in range(1, 40):
            out = Tree(np.zeros(64, np.int16), np.zeros(64))
            assert plant(out, 0, length, drawn, state) == length
            programs = random_programs(1, 1, ["+"], 1)._replace(
                tokens=out.tokens[None], constants=out.constants[None], sizes=np.array([length])
            )
            assert valid(programs, 2).all()
            assert plant(out, 0, length, palette(["+"], 2), state) in (length, length - 1)

    def test_scattered_tokens_keep_their_kind(self):
        programs, state = random_programs(1, 25, ["+", "-", "sin", "cos"], 3), stream(0)
        start, out = (Tree(programs.tokens[0], programs.constants[0]), Tree(np.zeros(25, np.int16), np.zeros(25)))
        assert scatter(start, 25, out, 1.0, palette(["+", "-", "sin", "cos"], 3), state) == 25
        assert valid(programs._replace(tokens=out.tokens[None], constants=out.constants[None]), 3).all()
        scatter(start, 25, out, 0.0, palette(["+"], 3), state)
        assert (out.tokens == start.tokens).all() and (out.constants == start.constants).all()


class TestPredictors:
    def data(self):
        X = table()
        return Data(np.ascontiguousarray(X.T), law(X), 1 / size_of(law(X)))

    def test_discordance_of_all_rows_is_zero(self):
        errors = np.random.default_rng(0).uniform(size=(10, 80))
        exact = errors.mean(axis=1)
        assert discordance(exact[None], exact).tolist() == [0.0]
        assert discordance(-exact[None], exact).tolist() == [1.0]

    def test_evolution_never_loses_its_best(self):
        predictors, group = (
            Predictors(self.data(), stream(0)),
            Search(table(), law(table()), SMALL, 100, 0, 1.0).group,
        )
        assert 0 < predictors.train(group) <= predictors.cost
        worst = predictors.fitness.max()
        best = [predictors.fitness.min()]
        for _ in range(15):
            rows = predictors.evolve()
            best.append(predictors.fitness.min())
        assert best == sorted(best, reverse=True) and best[-1] < worst
        assert rows.shape == (10,) and rows.max() < 80


class TestSearch:
    @pytest.mark.parametrize(
        "change", [{}, {"predictors": True}, {"survival": "tournament", "climbs": False}], ids=["afp", "fe", "gp"]
    )
    def test_budget_losses_and_repetition(self, change):
        chosen, X = dataclasses.replace(SMALL, **change), table()
        found, again = (search(X, law(X), chosen, evaluations=3000, seed=1) for _ in range(2))
        assert found.evaluations <= 3000 and found.front.tokens.tobytes() == again.front.tokens.tobytes()
        exact = losses(found.front, X, law(X), 1 / size_of(law(X)))
        np.testing.assert_allclose(found.losses, np.maximum(exact, 1e-20), rtol=1e-9)
        assert valid(found.front, 3).all() and found.losses.min() < 0.5

    @pytest.mark.parametrize("evaluations", [1, 59, 60, 61, 121, 500])
    def test_small_budgets(self, evaluations):
        for predictors in (False, True):
            chosen = dataclasses.replace(SMALL, predictors=predictors)
            assert search(table(), law(table()), chosen, evaluations=evaluations).evaluations <= evaluations

    def test_children_are_as_old_as_their_older_parent_and_one_is_new(self):
        running = Search(table(), law(table()), SMALL, 10**6, 0, 1.0)
        running.grade(running.group)
        for generation in range(1, 6):
            running.next_generation()
            assert running.group.births.max() <= generation and running.group.births.min() >= 0
        assert len(running.group.sizes) == 60

    def test_stops_at_the_threshold(self):
        X = table()
        found = search(X, 1e-12 * law(X), SMALL, evaluations=10**6, relative=False)
        assert found.rounds < 5 and found.losses.min() < 1e-6 and found.losses.min() >= 1e-20

    def test_bad_input(self):
        for change in ({"survival": "none"}, {"max_length_start": 70}, {"operators": "bessel"}):
            with pytest.raises(ValueError):
                search(table(), law(table()), dataclasses.replace(SMALL, **change), evaluations=10)
        with pytest.raises(ValueError, match="finite numbers"):
            search(table(), law(table())[:3], SMALL, evaluations=10)
