"""Planned decoding on toy models: the best leaf is found, nothing is computed twice, and limits hold."""

import itertools
import math

from rediscover.search.networks.planning import UNDEFINED, Planner, Settings, tpsr_reward

import numpy as np
import pytest

END = 3


class Bigrams:
    """A toy decoder: four of three tokens, then the end; how likely each is depends on the token before."""

    end = END

    def __init__(self, seed, length=4):
        self.rng = np.random.default_rng(seed)
        self.table = np.log(self.rng.dirichlet(np.ones(3), size=4))
        self.length, self.asked = length, []

    def next(self, prefix):
        self.asked.append(prefix)
        if len(prefix) == self.length:
            return np.array([-math.inf] * 3 + [0.0])
        return np.append(self.table[prefix[-1] if prefix else END], -math.inf)


class Rewards(dict):
    """A reward for each leaf, and how often each was asked for."""

    def __init__(self, seed, length=4):
        leaves = [(*leaf, END) for leaf in itertools.product(range(3), repeat=length)]
        super().__init__(zip(leaves, np.random.default_rng(seed + 1000).random(3**length), strict=True))
        self.asked = []

    def __call__(self, sequence):
        self.asked.append(sequence)
        return self[sequence]


@pytest.mark.parametrize("seed", range(20))
class TestToy:
    def test_the_best_of_81_leaves_is_found(self, seed):
        decoder, rewards = Bigrams(seed), Rewards(seed)
        plan = Planner(decoder, rewards, Settings(rollouts=800)).plan()
        assert plan.sequence == max(rewards, key=rewards.get)
        assert plan.reward == max(rewards.values())

    def test_nothing_is_computed_twice(self, seed):
        decoder, rewards = Bigrams(seed), Rewards(seed)
        plan = Planner(decoder, rewards, Settings(rollouts=100)).plan()
        assert len(set(rewards.asked)) == len(rewards.asked) == len(plan.rewards)
        assert len(set(decoder.asked)) == len(decoder.asked) == plan.decoded

    def test_what_is_written_is_the_best_seen_and_no_worse_than_greedy_decoding(self, seed):
        decoder, rewards = Bigrams(seed), Rewards(seed)
        plan = Planner(decoder, rewards).plan()
        greedy = ()
        while greedy[-1:] != (END,):
            greedy = (*greedy, int(np.argmax(decoder.next(greedy))))
        assert rewards.asked[0] == greedy
        assert plan.reward == max(plan.rewards.values()) >= rewards[greedy]
        assert len(plan.rewards) <= 3 * len(plan.sequence)

    @pytest.mark.parametrize("evaluations", [1, 2, 5])
    def test_the_budget_is_kept(self, seed, evaluations):
        rewards = Rewards(seed)
        plan = Planner(Bigrams(seed), rewards, Settings(rollouts=50)).plan(evaluations)
        assert len(rewards.asked) == evaluations
        assert plan.reward == max(map(rewards.get, rewards.asked))


def test_three_rollouts_by_hand():
    """Tokens by likelihood 0, 1, 2 and a reward for the first token only: all three are tried, then 2 is written."""

    class Falling:
        end = END

        def next(self, prefix):
            return np.array([3.0, 2.0, 1.0, -math.inf]) if not prefix else np.array([-math.inf] * 3 + [0.0])

    plan = Planner(Falling(), lambda sequence: {0: 0.5, 1: 0.25, 2: 0.75}[sequence[0]]).plan()
    assert list(plan.rewards) == [(0, END), (1, END), (2, END)]
    assert plan.sequence == (2, END) and plan.decoded == 4


def test_width_bars_what_is_unlikely():
    rewards = Rewards(3)
    decoder = Bigrams(3)
    plan = Planner(decoder, rewards, Settings(rollouts=300, width=1)).plan()
    assert len(plan.rewards) == 1


def test_without_exploration_the_first_good_way_is_kept():
    """Values decide alone, so a better leaf behind a prefix that looked bad is not found; exploration finds it."""

    class Two:
        end = 2

        def next(self, prefix):
            return np.array([-math.inf, -math.inf, 0.0]) if len(prefix) == 3 else np.array([0.0, -1.0, -math.inf])

    def hidden(sequence):
        return {(0, 0, 0, 2): 0.6, (1, 1, 1, 2): 1.0}.get(sequence, 0.1)

    found = [Planner(Two(), hidden, Settings(rollouts=100, exploration=c)).plan().reward for c in (0.0, 1.0)]
    assert found == [0.6, 1.0]


def test_horizon_cuts_off():
    class Endless:
        end = 1

        def next(self, prefix):
            return np.array([0.0, -math.inf])

    assert Planner(Endless(), len, Settings(horizon=7)).plan().sequence == (0,) * 7


def test_a_decoder_without_a_token_is_named():
    class Mute:
        end = 0

        def next(self, prefix):
            return np.array([-math.inf])

    with pytest.raises(ValueError, match=r"no token after \(\)"):
        Planner(Mute(), len).plan()


@pytest.mark.parametrize("wrong", [{"rollouts": 0}, {"width": 0}, {"horizon": 0}, {"exploration": math.inf}])
def test_bad_settings(wrong):
    with pytest.raises(ValueError, match="must be"):
        Settings(**wrong)


def test_bad_budget():
    with pytest.raises(ValueError, match="evaluations must be at least 1"):
        Planner(Bigrams(0), Rewards(0)).plan(0)


def test_reward():
    assert tpsr_reward(1.0, 200) == pytest.approx(0.5 + 0.1 / math.e)
    assert tpsr_reward(0.1, 5) > tpsr_reward(0.1, 50) > tpsr_reward(0.2, 50)
    assert tpsr_reward(math.inf, 5) == tpsr_reward(math.nan, 5) == UNDEFINED < 0 < tpsr_reward(1e9, 199)
