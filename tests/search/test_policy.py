"""The policy: its network, its sampler, its loss and the search."""

from rediscover.search.policy import lstm
from rediscover.search.policy.batches import Batch, packed
from rediscover.search.policy.policy import Finds, Training, judge, lesson, sample, search, threshold
from rediscover.search.policy.priors import lawful, look, look_back, rules
from rediscover.search.policy.rewards import Rewards
from rediscover.search.policy.tokens import Library

import numpy as np
import pytest
import scipy

KOZA = Library(("x",), ("add", "sub", "mul", "div", "sin", "cos", "exp", "log"))
TOY = Library(("x",), ("add", "exp"))
TOY_RULES = rules(TOY, min_length=1, max_length=4)
# All expressions of at most four tokens; each token has equal chances among those that can still be closed.
TOY_CHANCES = {
    "x": 1 / 3,
    "exp,x": 1 / 9,
    "exp,exp,x": 1 / 18,
    "exp,exp,exp,x": 1 / 18,
    "exp,add,x,x": 1 / 9,
    "add,x,x": 1 / 12,
    "add,x,exp,x": 1 / 12,
    "add,exp,x,x": 1 / 6,
}


def network(library, dtype=np.float64, spread=0.5, seed=0):
    """Weights that are all other than 0."""
    rng = np.random.default_rng(seed)
    weights = lstm.initial(len(library.names), 5, rng, dtype)
    return {name: (value + spread * rng.normal(size=value.shape)).astype(dtype) for name, value in weights.items()}


def shares(weights, n=20_000):
    tokens, lengths = sample(weights, TOY_RULES, n, np.random.default_rng(1))
    texts = [TOY.text(row[:length]) for row, length in zip(tokens, lengths, strict=True)]
    return {text: texts.count(text) / n for text in TOY_CHANCES}


def close(found, expected, n=20_000):
    return all(abs(found[text] - p) < 4.5 * np.sqrt(p * (1 - p) / n) for text, p in expected.items())


class TestNetwork:
    def test_gradient_against_finite_differences(self):
        library = Library(("x", "y"), ("add", "mul", "sin", "exp", "const"))
        law = rules(library, uniform_arity=True, soft_length=6.0, max_length=12)
        weights = network(library)
        rng = np.random.default_rng(2)
        tokens, lengths = sample(weights, law, 7, rng)
        assert len(set(lengths)) > 1
        pull, spread = rng.uniform(-1, 1, 7), rng.uniform(0, 1, 7)
        gradient = judge(weights, law, tokens, lengths, pull, spread, 0.7).gradient

        def loss(name, place, step):
            moved = {key: value.copy() for key, value in weights.items()}
            moved[name][place] += step
            return judge(moved, law, tokens, lengths, pull, spread, 0.7).loss

        for name, slopes in gradient.items():
            assert slopes.shape == weights[name].shape
            for _ in range(12):
                place = tuple(rng.integers(slopes.shape))
                expected = (loss(name, place, 1e-5) - loss(name, place, -1e-5)) / 2e-5
                assert slopes[place] == pytest.approx(expected, rel=1e-6, abs=1e-8)

    def test_a_new_network_says_nothing(self):
        weights = lstm.initial(4, 32, np.random.default_rng(0))
        logits, _ = lstm.unroll(weights, np.array([[-1, 2], [3, 0]]), np.array([[-1, -1], [1, -1]]))
        assert logits.shape == (2, 2, 4) and not logits.any()
        assert np.abs(weights["dense"]).max() < np.sqrt(6 / 36)

    def test_one_step_of_adam_by_hand(self):
        # The first step is rate * g / (|g| + 1e-8) whatever the size of g.
        weights = {"a": np.array([1.0, 1.0])}
        lstm.Adam(weights, 0.1).step({"a": np.array([4.0, -0.02])})
        assert weights["a"] == pytest.approx([0.9, 1.1], abs=1e-5)


class TestSampler:
    def test_toy_chances_sum_to_one(self):
        assert sum(TOY_CHANCES.values()) == pytest.approx(1)

    def test_first_batch_follows_the_prior_alone(self):
        assert close(shares(lstm.initial(3, 32, np.random.default_rng(0))), TOY_CHANCES)

    def test_likelihoods_are_the_chances_of_the_sampler(self):
        weights = network(TOY)
        tokens, lengths = packed([TOY.sequence(text) for text in TOY_CHANCES])
        nothing = np.zeros(len(lengths))
        chances = np.exp(judge(weights, TOY_RULES, tokens, lengths, nothing, nothing).likelihood)
        assert chances.sum() == pytest.approx(1, abs=1e-12)
        assert not close(TOY_CHANCES, dict(zip(TOY_CHANCES, chances, strict=True)))
        assert close(shares(weights), dict(zip(TOY_CHANCES, chances, strict=True)))

    @pytest.mark.parametrize("uniform_arity", [False, True])
    def test_first_token_and_its_entropy(self, uniform_arity):
        law = rules(KOZA, uniform_arity=uniform_arity)
        prior = look(np.full((1, 30), -1, np.int8), np.array([0]), 0, law)[2][0]
        chances = np.exp(prior) / np.exp(prior).sum()
        for arity in (1, 2):  # leaves are barred; there are four functions of either arity
            assert chances[KOZA.arity == arity].sum() == pytest.approx(1 / 2)
        weights = lstm.initial(len(KOZA.names), 32, np.random.default_rng(0))
        tokens, lengths = sample(weights, law, 50, np.random.default_rng(0))
        first = judge(weights, law, tokens, lengths, np.zeros(50), np.ones(50), 1e-12)
        assert first.entropy == pytest.approx(np.full(50, np.log(8)), rel=1e-9)

    def test_entropies_of_the_first_batch_are_those_of_the_prior(self):
        law = rules(KOZA, uniform_arity=True, soft_length=10.0)
        weights = lstm.initial(len(KOZA.names), 32, np.random.default_rng(0))
        tokens, lengths = sample(weights, law, 20, np.random.default_rng(0))
        found = judge(weights, law, tokens, lengths, np.zeros(20), np.ones(20)).entropy
        prior = look_back(tokens, lengths, law)[2]
        chances = np.exp(prior) / np.exp(prior).sum(axis=2, keepdims=True)
        entropies = scipy.stats.entropy(chances, axis=2)
        expected = [entropies[:length, k].sum() for k, length in enumerate(lengths)]
        assert found == pytest.approx(expected, rel=1e-9)

    def test_entropy_fades_from_token_to_token(self):
        # x, add or exp; then one of x, exp, as add could not be closed; then x alone.
        tokens, lengths = packed([TOY.sequence("add,exp,x,x")])
        weights = lstm.initial(3, 32, np.random.default_rng(0))
        found = judge(weights, TOY_RULES, tokens, lengths, np.zeros(1), np.ones(1), 0.7)
        assert found.entropy == pytest.approx([np.log(3) + 0.7 * np.log(2)], rel=1e-6)
        assert found.loss == pytest.approx(-(np.log(3) + 0.7 * np.log(2)), rel=1e-6)

    def test_every_rule_holds_for_what_is_drawn(self):
        library = Library(("x", "y"), ("add", "mul", "div", "sin", "cos", "exp", "log", "n2", "sqrt", "const", "poly"))
        law = rules(library, max_length=20, uniform_arity=True, soft_length=8.0)
        tokens, lengths = sample(network(library, np.float32), law, 3000, np.random.default_rng(0))
        assert lawful(tokens, lengths, law).all()
        assert lengths.min() >= 4 and lengths.max() <= 20
        assert ((tokens == -1) == (np.arange(tokens.shape[1]) >= lengths[:, None])).all()

    def test_same_seed_same_bytes(self):
        law, weights = rules(KOZA), network(KOZA, np.float32)
        first, second, other = (sample(weights, law, 200, np.random.default_rng(s))[0].tobytes() for s in (5, 5, 6))
        assert first == second != other


class TestLesson:
    BATCH = Batch(
        *packed([TOY.sequence(t) for t in ("x", "add,x,x", "exp,x", "exp,exp,x", "add,exp,x,x")]),
        np.array([0.1, 0.5, 0.2, 0.9, 0.3]),
    )

    def test_threshold_is_the_higher_of_two(self):
        # 1000 rewards 0..999: the 0.95 quantile lies at 949.05, so 950, which leaves 50.
        assert threshold(np.arange(1000.0), 0.05) == 950

    def test_pull_by_hand(self):
        training = Training(quantile=0.3, entropy=0.03)
        tokens, lengths, pull, spread = lesson(self.BATCH, training, None)
        assert [TOY.text(row[:n]) for row, n in zip(tokens, lengths, strict=True)] == ["add,x,x", "exp,exp,x"]
        assert pull == pytest.approx([0, (0.9 - 0.5) / 2])
        assert spread == pytest.approx([0.015, 0.015])

    def test_a_queue_without_the_policy_gradient(self):
        training = Training(quantile=0.3, entropy=0.03, policy_gradient=False, queue=10)
        tokens, lengths, pull, spread = lesson(self.BATCH, training, TOY.sequence("add,exp,x,x"))
        assert lengths.tolist() == [3, 3, 4]
        assert TOY.text(tokens[2]) == "add,exp,x,x"
        assert pull.tolist() == [0, 0, 200] and spread == pytest.approx([0.015, 0.015, 0])

    def test_learning_raises_the_chance_of_what_is_rewarded(self):
        weights = lstm.initial(3, 32, np.random.default_rng(0))
        adam = lstm.Adam(weights, 0.01)
        tokens, lengths = packed([TOY.sequence("exp,exp,exp,x")])
        likelihoods = []
        for _ in range(30):
            found = judge(weights, TOY_RULES, tokens, lengths, np.ones(1), np.zeros(1))
            likelihoods.append(found.likelihood[0])
            adam.step(found.gradient)
        assert likelihoods[0] == pytest.approx(np.log(1 / 18))
        assert likelihoods[-1] > np.log(1 / 2)

    def test_best_of_a_batch_are_distinct(self):
        twice = Batch(*packed([[0], [1, 0, 0], [0], [2, 0]]), np.array([0.5, 0.2, 0.9, 0.4]))
        best = twice.best(2)
        assert [row.tolist() for row in best.sequences()] == [[0], [2, 0]]
        assert best.rewards.tolist() == [0.9, 0.4]


class TestFinds:
    def test_front_by_hand(self):
        finds = Finds()
        sequences = [TOY.sequence(t) for t in ("x", "exp,x", "add,x,x", "exp,exp,x", "add,x,exp,x")]
        finds.note(Batch(*packed(sequences), np.array([0.2, 0.5, 0.6, 0.4, 0.6])), np.array([1, 5, 3, 9, 7]))
        # what nothing smaller or equal beats is x and add,x,x
        assert sorted(finds.best) == [1, 3, 5, 7, 9]
        assert [(size, entry.reward) for size, entry in finds.front()] == [(3, 0.6), (1, 0.2)]

    def test_what_is_invalid_is_no_find(self):
        finds = Finds()
        finds.note(Batch(*packed([TOY.sequence("exp,x")]), np.array([0.0])), np.array([5]))
        assert finds.front() == []


X = np.random.default_rng(0).uniform(-1, 1, (20, 1))


def run(evaluations, seed=0, target=X[:, 0] ** 2 + X[:, 0], **settings):
    rewards = Rewards(KOZA, X, target, max_length=30)
    training = Training(**settings)
    return search(rewards, rules(KOZA), training, evaluations, np.random.default_rng(seed))


class TestSearch:
    def test_finds_a_short_polynomial(self):
        finds = run(60_000)
        size, entry = finds.front()[0]
        x = np.linspace(-1, 1, 8)  # not 0, where x/x may stand
        assert KOZA.expression(entry.sequence)({"x": x}) == pytest.approx(x**2 + x)
        assert finds.solved_at == finds.evaluations <= 60_000
        assert size == KOZA.complexity[entry.sequence].sum()

    @pytest.mark.parametrize("evaluations", [1, 7, 250, 301])
    def test_budget(self, evaluations):
        finds = run(evaluations, target=np.sin(1e3 * X[:, 0]), batch=100)
        assert finds.evaluations == evaluations and finds.steps == -(-evaluations // 100)

    def test_same_seed_same_bytes(self):
        fronts = [
            [(size, entry.reward, entry.sequence.tobytes()) for size, entry in run(3000, seed, batch=300).front()]
            for seed in (3, 3, 4)
        ]
        assert fronts[0] == fronts[1] != fronts[2]

    def test_no_budget(self):
        with pytest.raises(ValueError, match="evaluations must be at least 1"):
            run(0)

    @pytest.mark.parametrize(
        "settings",
        [{"batch": 0}, {"quantile": 1.0}, {"quantile": 0.0}, {"learning_rate": 0.0}, {"decay": 1.5}, {"queue": -1}],
    )
    def test_bad_settings(self, settings):
        with pytest.raises(ValueError):
            Training(**settings)
