"""Crossing and mutation of token sequences, worked by hand, and the breeding of a batch."""

from rediscover.search.policy.batches import Batch, packed
from rediscover.search.policy.policy import Training, search
from rediscover.search.policy.priors import lawful, rules
from rediscover.search.policy.rewards import Rewards
from rediscover.search.policy.token_genetics import (
    Breeding,
    breed,
    crossed,
    full,
    insert,
    mutated,
    rename,
    replant,
    shrink,
)
from rediscover.search.policy.tokens import Library

import numpy as np
import pytest

LIBRARY = Library(("x", "y"), ("add", "mul", "sin", "exp"))
LAW = rules(LIBRARY, max_length=12)
X = np.random.default_rng(0).uniform(-1, 1, (20, 2))
TARGET = np.sin(X[:, 0] * X[:, 1]) + X[:, 1] ** 3


class Dice:
    """A generator whose integers are given."""

    def __init__(self, *values):
        self.values = list(values)

    def integers(self, *bounds):
        value = self.values.pop(0)
        low, high = (0, *bounds)[-2:]
        assert low <= value < high
        return value


def names(sequence):
    return LIBRARY.text(sequence)


def tokens(text):
    return LIBRARY.sequence(text).tolist()


def test_crossing_exchanges_subtrees():
    a, b = tokens("add,sin,x,y"), tokens("mul,x,exp,mul,y,y")
    first, second = crossed(a, b, LIBRARY.arity, Dice(1, 2))
    assert (names(first), names(second)) == ("add,exp,mul,y,y,y", "mul,x,sin,x")


def test_crossing_leaves_a_leaf():
    assert crossed([0], [2, 0, 1], LIBRARY.arity, Dice()) == ([0], [2, 0, 1])


def test_mutations():
    sequence = tokens("add,sin,mul,x,y,y")
    # at mul: a tree of depth 1, the second function, leaves y and x
    assert names(replant(sequence, LIBRARY.arity, 3, Dice(2, 1, 1, 1, 0))) == "add,sin,mul,y,x,y"
    assert names(rename(sequence, LIBRARY.arity, Dice(1, 1))) == "add,exp,mul,x,y,y"
    # above sin: add, whose leaves would be x and y; the second gives way
    assert names(insert(sequence, LIBRARY.arity, Dice(1, 0, 0, 1, 1))) == "add,add,x,sin,mul,x,y,y"
    # the functions below the root are sin and mul; mul's second argument takes its place
    assert names(shrink(sequence, LIBRARY.arity, Dice(1, 1))) == "add,sin,y,y"
    assert names(mutated(sequence, LIBRARY.arity, 3, Dice(3, 0, 0))) == "add,mul,x,y,y"


def test_nothing_to_shrink_or_rename():
    assert shrink(tokens("add,x,y"), LIBRARY.arity, Dice()) == tokens("add,x,y")
    assert rename([0], LIBRARY.arity, Dice()) == [0]


def test_full_tree():
    tree = full(LIBRARY.arity, 2, Dice(0, 2, 0, 3, 1))
    assert names(tree) == "add,sin,x,exp,y"


def drawn(n=60):
    judge = Rewards(LIBRARY, X, TARGET, max_length=12)
    sequences = ["add,sin,x,y", "mul,x,exp,y", "add,x,mul,y,y", "mul,sin,x,exp,y", "add,exp,y,add,x,x"]
    token_rows, lengths = packed([LIBRARY.sequence(sequences[k % 5]) for k in range(n)])
    return Batch(token_rows, lengths, judge(token_rows, lengths)), judge


def test_children_keep_the_rules_and_the_best_come_back():
    batch, judge = drawn()
    seen = []

    def counted(token_rows, lengths):
        assert lawful(token_rows, lengths, LAW).all()
        seen.append(len(lengths))
        return judge(token_rows, lengths)

    best = breed(batch, counted, LAW, Breeding(generations=8, elites=10), 10_000, np.random.default_rng(0))
    assert seen == [60] * 8
    assert len(best.lengths) == len({row.tobytes() for row in best.sequences()}) == 10
    assert (np.diff(best.rewards) <= 0).all() and best.rewards[0] > batch.rewards.max()
    assert best.rewards == pytest.approx(judge(best.tokens, best.lengths))


@pytest.mark.parametrize("evaluations, generations", [(0, 0), (19, 0), (20, 1), (59, 2)])
def test_no_generation_beyond_the_budget(evaluations, generations):
    batch, judge = drawn()
    best = breed(batch, judge, LAW, Breeding(population=20), evaluations, np.random.default_rng(0))
    assert bool(len(best.lengths)) == (generations > 0)
    calls = []
    breed(
        batch,
        lambda *rows: calls.append(1) or judge(*rows),
        LAW,
        Breeding(population=20),
        evaluations,
        np.random.default_rng(0),
    )
    assert len(calls) == generations


def test_without_chances_children_are_winners_of_tournaments():
    batch, judge = drawn()
    idle = Breeding(generations=30, crossover=0, mutation=0)
    best = breed(batch, judge, LAW, idle, 10_000, np.random.default_rng(0))
    assert {row.tobytes() for row in best.sequences()} <= {row.tobytes() for row in batch.sequences()}
    assert best.rewards[0] == batch.rewards.max()


def test_breeding_within_a_search_is_counted_and_repeats():
    training = Training(batch=50, breeding=Breeding(generations=4, population=20), queue=5)

    def run(seed):
        judge = Rewards(LIBRARY, X, TARGET * np.pi, max_length=12)
        return search(judge, LAW, training, 400, np.random.default_rng(seed))

    finds = run(1)
    # 50 + 4 x 20 each; the fourth batch has only 10 left
    assert finds.evaluations == 400 and finds.steps == 4
    again = run(1)
    assert [e.sequence.tobytes() for _, e in finds.front()] == [e.sequence.tobytes() for _, e in again.front()]


@pytest.mark.parametrize(
    "settings", [{"generations": 0}, {"population": 0}, {"elites": 0}, {"crossover": 1.5}, {"depth": -1}]
)
def test_bad_settings(settings):
    with pytest.raises(ValueError):
        Breeding(**settings)
