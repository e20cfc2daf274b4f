"""The network of `trained_skeletons`: kept keys against whole prefixes, whole trees only, beams, its data, training."""

from rediscover.search.networks import network_layers as layers
from rediscover.search.networks import sequence_network as net
from rediscover.search.networks.bigrams import NUMBER, START
from rediscover.search.networks.sequence_sets import LARGEST, WIDEST, draw_equation, table, units
from rediscover.search.networks.tree_samplers import draw_constants, draw_expression, to_programs
from rediscover.search.programs.programs import valid

import numpy as np
import pytest

WIDTH = net.WIDTH
GIVEN = draw_equation(np.random.default_rng(5)).sample()[1]
PLAIN = np.random.default_rng(1).uniform(-3, 3, (30, 2))


def affine(name, out, width):
    return {f"{name}.weight": (out, width), f"{name}.bias": (out,)}


@pytest.fixture(scope="module")
def weights():
    """Random numbers in the places of a trained network's."""
    shapes = affine("rows.0", WIDTH, net.FEATURES) | affine("rows.2", WIDTH, WIDTH)
    shapes |= {"embedding.weight": (len(net.TOKENS), WIDTH), "positions.weight": (net.MOST_TOKENS, WIDTH)}
    for part, attentions in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "multihead_attn"])):
        for layer in (f"{part}.layers.{k}" for k in range(net.LAYERS)):
            for k, name in enumerate(attentions):
                shapes[f"{layer}.{name}.in_proj_weight"] = (3 * WIDTH, WIDTH)
                shapes[f"{layer}.{name}.in_proj_bias"] = (3 * WIDTH,)
                shapes |= affine(f"{layer}.{name}.out_proj", WIDTH, WIDTH)
                shapes |= {f"{layer}.norm{k + 1}.weight": (WIDTH,), f"{layer}.norm{k + 1}.bias": (WIDTH,)}
            last = len(attentions) + 1
            shapes |= {f"{layer}.norm{last}.weight": (WIDTH,), f"{layer}.norm{last}.bias": (WIDTH,)}
            shapes |= affine(f"{layer}.linear1", net.HIDDEN, WIDTH) | affine(f"{layer}.linear2", WIDTH, net.HIDDEN)
    shapes |= affine("head", len(net.TOKENS), WIDTH)
    rng = np.random.default_rng(0)
    sizes = {name: 1.0 if "norm" in name or "embed" in name else shape[-1] ** -0.5 for name, shape in shapes.items()}
    return {name: rng.normal(0, sizes[name], shape).astype(np.float32) for name, shape in shapes.items()}


def numbers(sequence):
    return np.array([[net.NUMBERS[token] for token in (START, *sequence)]])


def test_kept_keys_and_values_change_nothing(weights):
    sequence = numbers(("+", "c", "*", "c", "sin", "x0"))
    whole = net.Prefixes(weights, PLAIN).read(sequence)
    prefixes = net.Prefixes(weights, PLAIN)
    for place in range(sequence.shape[1]):
        told = prefixes.read(sequence[:, place : place + 1])
        np.testing.assert_allclose(told[0, 0], whole[0, place], atol=1e-4)


def test_what_is_sampled_is_drawn_with_the_probabilities_that_are_told(weights):
    """Of two tokens at most, there are 2 + 2*9 skeletons of one input."""
    likely = {tokens: np.exp(log) for log, tokens in net.beam(weights, PLAIN, 100, most=2)}
    drawn = net.sample(weights, PLAIN, 4000, np.random.default_rng(0), most=2)
    assert len(likely) == 20 and set(drawn) <= set(likely)
    for tokens, chance in likely.items():
        assert abs(drawn.count(tokens) / 4000 - chance) < 4 * np.sqrt(chance / 4000) + 1e-3


@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_all_that_is_written_is_a_tree_within_the_limits(weights, inputs):
    X = np.random.default_rng(2).uniform(-2, 2, (30, inputs))
    given = table(X, X.sum(axis=1))
    sampled = net.sample(weights, given, 200, np.random.default_rng(0))
    beamed = [tokens for _, tokens in net.beam(weights, given, 30)]
    assert len(sampled) == 200 and len(set(beamed)) == len(beamed) == 30
    trees = [net.tree_of(tokens, lambda: 1.0) for tokens in (*sampled, *beamed)]
    assert valid(to_programs(trees), inputs).all()
    for tokens, tree in zip((*sampled, *beamed), trees, strict=True):
        assert len(tokens) <= net.MOST_TOKENS and net.tokens_of(tree) == tokens


def test_masks():
    may = net.allowed(np.array([1, 2, 3]), 17, 2, 20)
    assert {net.TOKENS[k] for k in np.flatnonzero(may[2])} == {NUMBER, "x0", "x1"}
    assert {net.TOKENS[k] for k in np.flatnonzero(may[0])} == {NUMBER, "x0", "x1", *net.OPERATORS}
    assert not may[1, net.NUMBERS["+"]] and may[1, net.NUMBERS["sin"]] and not may[:, net.NUMBERS[START]].any()


def test_a_beam_that_is_wide_enough_finds_all_and_the_likeliest_first(weights):
    """Of three tokens at most: 2, 2*9, and 2*9*9 + 4*2*2 skeletons, whose probabilities are all there is."""
    found = net.beam(weights, PLAIN, 1000, most=3)
    logs = [log for log, _ in found]
    assert len(found) == 2 + 18 + 162 + 16 and logs == sorted(logs, reverse=True)
    assert np.exp(logs).sum() == pytest.approx(1)
    log, tokens = found[0]
    told, total, missing = net.Prefixes(weights, PLAIN).read(numbers(tokens))[0], 0.0, 1
    for place, token in enumerate(tokens):
        may = net.allowed(np.array([missing]), place, 1, 3)
        total += net.chances(told[place : place + 1], may)[0, net.NUMBERS[token]]
        missing += net.OPERANDS[net.NUMBERS[token]] - 1
    assert total == pytest.approx(log, abs=1e-4)


def test_draws_follow_the_generator(weights):
    first, again, other = (net.sample(weights, GIVEN, 20, np.random.default_rng(s)) for s in (1, 1, 2))
    assert first == again != other


def test_rows_may_come_in_any_order(weights):
    scores = [net.Prefixes(weights, rows).read(numbers(())) for rows in (GIVEN, GIVEN[::-1])]
    np.testing.assert_allclose(*scores, atol=1e-4)


def test_every_draw_of_the_prior_has_tokens_and_room():
    rng = np.random.default_rng(3)
    for _ in range(300):
        tree = draw_constants(draw_expression(net.PRIOR, 3, rng), net.PRIOR, rng)
        tokens = net.tokens_of(tree)
        assert set(tokens) <= set(net.TOKENS[1:]) and len(tokens) < net.MOST_TOKENS
        assert net.tokens_of(net.tree_of(tokens, rng.normal)) == tokens


def test_equations_are_within_the_limits():
    rng = np.random.default_rng(4)
    for drawn in (draw_equation(rng) for _ in range(50)):
        _, rows = drawn.sample()
        assert rows.shape == (64, drawn.X.shape[1] + 1) and np.isfinite(net.features(rows)).all()
        assert np.abs(drawn.X).max() <= WIDEST and np.abs(drawn.y).max() <= LARGEST
        assert rows[:, -1].std() == pytest.approx(1)


@pytest.mark.parametrize("size", [1e-320, 1e-12, 0.05, 0.1, 10.0, 11.0, 1e308])
def test_units_bring_inputs_into_the_range_that_is_known(size):
    (unit,) = units(np.array([[size], [-size / 2]]))
    assert 0 < unit < np.inf and np.isfinite(1 / unit)
    assert size < 1e-300 or 0.1 <= size / unit <= 10 * (1 + 1e-12)


def test_weights_are_kept(weights, tmp_path):
    layers.write(weights, tmp_path / "w.npz")
    kept = layers.read(tmp_path / "w.npz")
    assert (tmp_path / "w.npz").stat().st_size < 500_000
    told = [net.chances(net.Prefixes(each, GIVEN).read(numbers(()))[0], np.True_) for each in (weights, kept)]
    np.testing.assert_allclose(*told, atol=0.2)


class TestTraining:
    """What needs PyTorch."""

    @pytest.fixture
    def training(self, monkeypatch):
        pytest.importorskip("torch", reason="the extra neural is not installed")
        from rediscover.search.networks.training import trained_skeletons

        for name, value in {"BATCH": 4, "STEPS": 7, "WARM": 2, "HELD": 1, "CHECK": 2, "LOOK": 4}.items():
            monkeypatch.setattr(trained_skeletons, name, value)
        return trained_skeletons

    def test_torch_and_numpy_compute_the_same(self, training, weights):
        import torch

        network = training.Network().eval()
        network.load_state_dict({name: torch.from_numpy(each) for name, each in weights.items()})
        sequence = numbers(("+", "c", "*", "c", "sin", "x0"))
        told = network(torch.from_numpy(net.features(GIVEN))[None], torch.from_numpy(sequence)).detach().numpy()
        np.testing.assert_allclose(net.Prefixes(weights, GIVEN).read(sequence), told, atol=1e-3)

    def test_stopped_and_gone_on_with_it_ends_alike(self, training, tmp_path):
        import torch

        whole, _ = training.train(tmp_path / "whole", seed=3)
        assert not training.train(tmp_path / "parts", seed=3, seconds=0)[1]
        parts, done = training.train(tmp_path / "parts", seed=3)
        assert done
        for mine, other in zip(whole.parameters(), parts.parameters(), strict=True):
            assert torch.equal(mine, other)
        logs = [(tmp_path / name / "log.csv").read_text() for name in ("whole", "parts")]
        assert logs[0] == logs[1] and logs[0].startswith("step,loss,held\n2,")
