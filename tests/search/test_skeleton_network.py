"""The Symbolic Transformer: its encoder against the layers cell by cell, its decoder, greedy writing, training."""

from rediscover.search.networks import network_layers as layers
from rediscover.search.networks import skeleton_network as net
from rediscover.search.networks.bigrams import START, Bigrams
from rediscover.search.networks.skeleton_sets import skeleton_sets, skeletons

import numpy as np
import pytest

HALF, WIDTH = net.HALF, net.WIDTH
SHAPES = {
    "cell": (1, HALF),
    "by_column": (WIDTH, WIDTH),
    "cell_again": (WIDTH, HALF),
    "by_column_again": (WIDTH, WIDTH),
}


@pytest.fixture(scope="module")
def weights():
    """Random numbers in the places of a trained network's."""
    rng = np.random.default_rng(0)
    shapes = {"embedding.weight": (len(net.TOKENS), WIDTH)}
    for name, (width, hidden) in SHAPES.items():
        shapes |= affine(f"encoder.{name}.first", hidden, width) | affine(f"encoder.{name}.second", HALF, hidden)
    for layer in (f"decoder.layers.{k}" for k in range(net.LAYERS)):
        for part in ("self_attn", "multihead_attn"):
            shapes |= {
                f"{layer}.{part}.in_proj_weight": (3 * WIDTH, WIDTH),
                f"{layer}.{part}.in_proj_bias": (3 * WIDTH,),
            }
            shapes |= affine(f"{layer}.{part}.out_proj", WIDTH, WIDTH)
        for part in ("linear1", "linear2"):
            shapes |= affine(f"{layer}.{part}", WIDTH, WIDTH)
        for k in (1, 2, 3):
            shapes |= {f"{layer}.norm{k}.weight": (WIDTH,), f"{layer}.norm{k}.bias": (WIDTH,)}
    for k, size in enumerate((HALF, HALF, len(net.TOKENS))):
        shapes |= affine(f"head.{k}", size, WIDTH if k == 0 else HALF)
    sizes = {
        name: 1.0 if "embedding" in name or "norm" in name else shape[-1] ** -0.5 for name, shape in shapes.items()
    }
    return {name: rng.normal(0, sizes[name], shape).astype(np.float32) for name, shape in shapes.items()}


def affine(name, out, width):
    return {f"{name}.weight": (out, width), f"{name}.bias": (out,)}


def test_the_published_size(weights):
    assert sum(each.size for each in weights.values()) == 11_781_651  # 11.8 million


def test_the_encoder_is_its_layers_cell_by_cell(weights):
    x = np.random.default_rng(1).random((30, 4)).astype(np.float32)

    def both(name, cells):
        return layers.linear(weights, f"encoder.{name}.second", layers.linear(weights, f"encoder.{name}.first", cells))

    cells = x[..., None]
    for suffix in ("", "_again"):
        cells = both(f"cell{suffix}", cells)
        cells = np.concatenate([cells, np.broadcast_to(cells.max(0, keepdims=True), cells.shape)], axis=2)
        cells = both(f"by_column{suffix}", cells)
        cells = np.concatenate([cells, np.broadcast_to(cells.max(1, keepdims=True), cells.shape)], axis=2)
    np.testing.assert_allclose(net.encode(weights, x), cells.max(0), atol=1e-5)


def test_rows_may_come_in_any_order(weights):
    x = np.random.default_rng(1).random((30, 3)).astype(np.float32)
    np.testing.assert_allclose(net.encode(weights, x), net.encode(weights, x[::-1]), atol=1e-5)


def test_a_prefix_has_no_order_but_its_last_token(weights):
    """The decoder has neither positions nor a mask."""
    columns = net.encode(weights, np.random.default_rng(1).random((30, 3)).astype(np.float32))
    told, swapped = (net.scores(weights, columns, [*head, "x0"]) for head in (["sin", "c"], ["c", "sin"]))
    np.testing.assert_allclose(told, swapped, atol=1e-5)
    assert np.abs(told - net.scores(weights, columns, ["sin", "x0", "c"])).max() > 1e-3


def test_what_is_written_is_whole_or_nothing(weights):
    table = np.random.default_rng(1).random((20, 2)).astype(np.float32)
    for favourite, expected in (("x0", ("x0",)), ("x1", None), ("sin", None)):
        biased = weights | {"head.2.bias": np.where(np.isin(net.TOKENS, [favourite]), 1e3, 0).astype(np.float32)}
        found = net.greedy(biased, table)
        if favourite == "x1":  # a column that the table does not have, so another token is written
            assert found is None or "x1" not in found
        else:
            assert found == expected


def test_weights_are_kept_to_a_254th_of_the_largest_of_their_row(weights, tmp_path):
    layers.write(weights, tmp_path / "w.npz")
    kept = layers.read(tmp_path / "w.npz")
    assert kept.keys() == weights.keys() and {each.dtype for each in kept.values()} == {np.dtype(np.float32)}
    for name, each in weights.items():
        largest = np.abs(each).max(axis=-1, keepdims=True)
        near = 1.001 * largest / 254 if each.ndim == 2 else np.abs(each) / 2**11 + 2**-25
        assert (np.abs(kept[name] - each) <= near).all(), name


def test_a_row_of_zeros_is_kept(tmp_path):
    layers.write({"m": np.array([[0, 0], [127, -3]], np.float32)}, tmp_path / "w.npz")
    assert layers.read(tmp_path / "w.npz")["m"].tolist() == [[0, 0], [127, -3]]


class TestTraining:
    """What needs PyTorch."""

    @pytest.fixture
    def training(self):
        pytest.importorskip("torch", reason="the extra neural is not installed")
        from rediscover.search.networks.training import symbolic_transformer

        return symbolic_transformer

    @pytest.fixture
    def sets(self, training, monkeypatch):
        for name, value in {"HELD": 4, "EPOCHS": 1, "CHECK": 2, "LOOK": 4, "ROWS": 20}.items():
            monkeypatch.setattr(training, name, value)
        model = Bigrams.of([("sin", "x0"), ("BiMul", "c", "x0"), ("BiAdd", "x0", "x1")])
        drawn = skeleton_sets(skeletons(model, np.random.default_rng(0)), net.INPUTS, np.random.default_rng(0))
        return [each for each, _ in zip(drawn, range(68), strict=False)]

    def test_torch_and_numpy_compute_the_same(self, training):
        import torch

        torch.manual_seed(0)
        network = training.Network().eval()
        weights = {name: each.numpy() for name, each in network.state_dict().items()}
        table = np.random.default_rng(0).random((20, 3)).astype(np.float32)
        prefix = (START, "BiMul", "c", "x0")
        numbers = torch.tensor([[training.NUMBERS[token] for token in prefix]])
        told = network(torch.from_numpy(table)[None], numbers).detach().numpy()[0]
        for place in range(len(prefix)):
            ours = net.scores(weights, net.encode(weights, table), prefix[: place + 1])
            np.testing.assert_allclose(ours, told[place], atol=1e-5)

    def test_stopped_and_gone_on_with_it_ends_alike(self, training, sets, tmp_path):
        import torch

        whole, _ = training.train(sets, tmp_path / "whole", seed=3)
        assert not training.train(sets, tmp_path / "parts", seed=3, seconds=0)[1]
        parts, done = training.train(sets, tmp_path / "parts", seed=3)
        assert done
        for mine, other in zip(whole.parameters(), parts.parameters(), strict=True):
            assert torch.equal(mine, other)
        logs = [(tmp_path / name / "log.csv").read_text() for name in ("whole", "parts")]
        assert logs[0] == logs[1] and logs[0].startswith("step,loss,held\n2,")

    def test_exported_weights_write_the_same(self, training, sets, tmp_path):
        from rediscover.search.networks.training import descent

        network = training.Network().eval()
        descent.export(network, tmp_path / "w.npz")
        kept = layers.read(tmp_path / "w.npz")
        table = sets[0].table(50, np.random.default_rng(0))
        weights = {name: each.numpy() for name, each in network.state_dict().items()}
        columns = net.encode(weights, table)
        np.testing.assert_allclose(
            net.scores(kept, net.encode(kept, table), [START]), net.scores(weights, columns, [START]), atol=0.02
        )
