"""The Symbolic Transformer of SRSD: a network that reads a table and writes a skeleton, in NumPy.

Its encoder has no nonlinearity but maxima over rows and over columns, and is computed by what follows from that. Up
to the first maximum over columns everything is affine in the number of a cell; after it, everything is affine in that
number and in the maximum of its row. So matrices meet rows, never cells, and the result is that of the layers applied
cell by cell. The decoder has neither positions nor a mask: a prefix is read anew for each token.

References
----------
Y. Matsubara et al., Rethinking symbolic regression datasets and benchmarks for scientific discovery, DMLR 2024
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .bigrams import ARITIES, NUMBER, START

HALF = 256  # half the width: of what a cell is, beside what its row or column is
WIDTH, HEADS, LAYERS = 2 * HALF, 4, 4  # of the decoder
INPUTS = 8  # that have a token of their own
TOKENS = (START, NUMBER, *ARITIES, *(f"x{k}" for k in range(INPUTS)))
MOST_TOKENS = 20
Weights = Mapping[str, np.ndarray]


def read(path: Path) -> dict[str, np.ndarray]:
    """Weights from a file that `write` made, in single precision."""
    with np.load(path, allow_pickle=False) as arrays:
        weights = {name: arrays[name].astype(np.float32) for name in arrays.files}
    units = {name: weights.pop(f"{name}.unit") for name in list(weights) if f"{name}.unit" in weights}
    return {name: each * units[name] if name in units else each for name, each in weights.items()}


def write(weights: Weights, path: Path) -> None:
    """Matrices in 8 bits, as multiples of a 127th of the largest number of their row, and vectors in half precision."""
    arrays: dict[str, Any] = {}
    for name, each in weights.items():
        if each.ndim == 1:
            arrays[name] = each.astype(np.float16)
        else:
            unit = np.abs(each).max(axis=1, keepdims=True).astype(np.float32) / 127
            arrays[f"{name}.unit"] = unit
            arrays[name] = np.divide(each, unit, out=np.zeros_like(each), where=unit > 0).round().astype(np.int8)
    np.savez_compressed(path, **arrays)


def linear(weights: Weights, name: str, x: np.ndarray) -> np.ndarray:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def composed(weights: Weights, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Matrix, shape (HALF, inputs), and offset, shape (HALF,), of two linear layers with nothing between them."""
    matrix = weights[f"{name}.second.weight"] @ weights[f"{name}.first.weight"]
    return matrix, linear(weights, f"{name}.second", weights[f"{name}.first.bias"])


def encode(weights: Weights, x: np.ndarray) -> np.ndarray:
    """One vector a column, shape (columns, WIDTH), of a table with numbers in 0..1, shape (rows, columns)."""
    slope, offset = composed(weights, "encoder.cell")
    slope = slope[:, 0]
    highest = np.maximum(slope * x.max(0)[:, None], slope * x.min(0)[:, None]) + offset
    slope, offset = beside(weights, "encoder.by_column", slope, offset, highest)
    of_rows = (x[..., None] * slope + offset).max(axis=1)
    matrix, shift = composed(weights, "encoder.cell_again")
    slope, offset = matrix[:, :HALF] @ slope, offset @ matrix[:, :HALF].T + shift
    shared = of_rows @ matrix[:, HALF:].T
    highest = (x[..., None] * slope + offset + shared[:, None]).max(axis=0)
    matrix, _ = composed(weights, "encoder.by_column_again")
    shared = shared @ matrix[:, :HALF].T
    slope, offset = beside(weights, "encoder.by_column_again", slope, offset, highest)
    last = x[..., None] * slope + offset + shared[:, None]
    return np.concatenate([last.max(0), np.broadcast_to(last.max((0, 1)), highest.shape)], axis=1)


def beside(weights, name, slope, offset, highest) -> tuple[np.ndarray, np.ndarray]:
    """Slope, shape (HALF,), and offset, (columns, HALF), after layers on cells beside the maximum of their column."""
    matrix, shift = composed(weights, name)
    return matrix[:, :HALF] @ slope, offset @ matrix[:, :HALF].T + highest @ matrix[:, HALF:].T + shift


def attend(weights: Weights, name: str, x: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Attention of each place in x, shape (places, WIDTH), to all of `to`, in `HEADS` heads."""
    matrices = np.split(weights[f"{name}.in_proj_weight"], 3)
    shifts = np.split(weights[f"{name}.in_proj_bias"], 3)
    queries, keys, values = (
        (each @ matrix.T + shift).reshape(len(each), HEADS, -1).swapaxes(0, 1)
        for each, matrix, shift in zip((x, to, to), matrices, shifts, strict=True)
    )
    scores = queries @ keys.swapaxes(1, 2) / np.sqrt(np.float32(WIDTH // HEADS))
    shares = np.exp(scores - scores.max(axis=2, keepdims=True))
    mixed = (shares / shares.sum(axis=2, keepdims=True)) @ values
    return linear(weights, f"{name}.out_proj", mixed.swapaxes(0, 1).reshape(len(x), WIDTH))


def normal(weights: Weights, name: str, x: np.ndarray) -> np.ndarray:
    """Layer normalisation."""
    centred = x - x.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + np.float32(1e-5))
    return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def scores(weights: Weights, columns: np.ndarray, prefix: Sequence[str]) -> np.ndarray:
    """Scores of each token to follow a prefix, which starts with `START`; shape (tokens,).

    Parameters
    ----------
    columns : from `encode`
    """
    x = weights["embedding.weight"][[TOKENS.index(token) for token in prefix]]
    for layer in (f"decoder.layers.{k}" for k in range(LAYERS)):
        x = normal(weights, f"{layer}.norm1", x + attend(weights, f"{layer}.self_attn", x, x))
        x = normal(weights, f"{layer}.norm2", x + attend(weights, f"{layer}.multihead_attn", x, columns))
        inner = np.maximum(linear(weights, f"{layer}.linear1", x), 0)
        x = normal(weights, f"{layer}.norm3", x + linear(weights, f"{layer}.linear2", inner))
    for place in range(3):
        x = linear(weights, f"head.{place}", x)
    return x[-1]


def greedy(weights: Weights, table: np.ndarray) -> tuple[str, ...] | None:
    """The skeleton that the network writes, the likeliest token at each place; None if not complete in `MOST_TOKENS`.

    Parameters
    ----------
    table : ndarray of float32, shape (rows, inputs + 1)
        With the target last, each column scaled to 0..1.
    """
    columns = encode(weights, table)
    barred = [START, *(f"x{k}" for k in range(table.shape[1] - 1, INPUTS))]
    allowed = np.where(np.isin(TOKENS, barred), -np.inf, 0.0)
    prefix, missing = [START], 1
    while missing and len(prefix) <= MOST_TOKENS:
        prefix.append(TOKENS[int(np.argmax(scores(weights, columns, prefix) + allowed))])
        missing += ARITIES.get(prefix[-1], 0) - 1
    return None if missing else tuple(prefix[1:])
