"""The Symbolic Transformer of SRSD: a network that reads a table and writes a skeleton, in NumPy.

Its encoder has no nonlinearity but maxima over rows and over columns, and is computed by what follows from that. Up
to the first maximum over columns everything is affine in the number of a cell; after it, everything is affine in that
number and in the maximum of its row. So matrices meet rows, never cells, and the result is that of the layers applied
cell by cell. The decoder has neither positions nor a mask: a prefix is read anew for each token.

References
----------
Y. Matsubara et al., Rethinking symbolic regression datasets and benchmarks for scientific discovery, DMLR 2024
"""

from collections.abc import Sequence

import numpy as np

from .bigrams import ARITIES, NUMBER, START
from .network_layers import Weights, attend, feed_forward, linear, normal

HALF = 256  # half the width: of what a cell is, beside what its row or column is
WIDTH, HEADS, LAYERS = 2 * HALF, 4, 4  # of the decoder
INPUTS = 8  # that have a token of their own
TOKENS = (START, NUMBER, *ARITIES, *(f"x{k}" for k in range(INPUTS)))
MOST_TOKENS = 20


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


def scores(weights: Weights, columns: np.ndarray, prefix: Sequence[str]) -> np.ndarray:
    """Scores of each token to follow a prefix, which starts with `START`; shape (tokens,).

    Parameters
    ----------
    columns : from `encode`
    """
    x = weights["embedding.weight"][[TOKENS.index(token) for token in prefix]]
    for layer in (f"decoder.layers.{k}" for k in range(LAYERS)):
        x = normal(weights, f"{layer}.norm1", x + attend(weights, f"{layer}.self_attn", x, x, HEADS))
        x = normal(weights, f"{layer}.norm2", x + attend(weights, f"{layer}.multihead_attn", x, columns, HEADS))
        x = normal(weights, f"{layer}.norm3", x + feed_forward(weights, layer, x))
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
