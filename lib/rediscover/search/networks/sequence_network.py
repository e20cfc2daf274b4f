"""Skeletons from a network that has read the data, in NumPy: sampling and beam search that write whole trees only.

The rows of a table are vectors, of features of their numbers, that attend to each other. A decoder reads them and the
tokens so far, in prefix order, each token its place and those before it, whose keys and values are kept. A token may
follow where the tree can still be completed within the limit and the table has the input.

References
----------
L. Biggio et al., Neural symbolic regression that scales, ICML 2021, has both parts, far larger
"""

import itertools
from collections.abc import Callable, Iterable

import numpy as np

from ...expressions.trees import fold
from ..programs.operators import ARITIES
from .bigrams import NUMBER, START
from .network_layers import Weights, attend, feed_forward, linear, mixed, normal, projected
from .tree_samplers import PRIORS, Tree

WIDTH, HEADS, LAYERS, HIDDEN = 64, 4, 2, 256  # layers of each part, and hidden units of each layer
PRIOR = PRIORS["nesymres"]
INPUTS = 3
MOST_TOKENS = 20  # a draw from the prior has at most 19
OPERATORS = [name for name in ARITIES if name in PRIOR.binary or name in PRIOR.unary]
TOKENS = (START, NUMBER, *(f"x{k}" for k in range(INPUTS)), *OPERATORS)
NUMBERS = {token: number for number, token in enumerate(TOKENS)}
OPERANDS = np.array([ARITIES.get(token, 0) for token in TOKENS])
# How many inputs a table must have for a token; the first token follows no other.
NEEDED = np.array([INPUTS + 1, 0, *range(1, INPUTS + 1), *[0] * len(OPERATORS)])
SCALES = np.array([0.1, 1, 10, 100, 1000], np.float32)
FREQUENCIES = np.array([0.5, 1, 2, 4], np.float32)
FEATURES = (INPUTS + 1) * (len(SCALES) + 2 * len(FREQUENCIES))


def tokens_of(tree: Tree) -> tuple[str, ...]:
    """Tokens in prefix order.

    >>> tokens_of(("+", (2.5,), ("sin", (0,))))
    ('+', 'c', 'sin', 'x0')
    """

    def token(label) -> str:
        return NUMBER if type(label) is float else f"x{label}" if type(label) is int else label

    return fold(tree, lambda label, operands: (token(label), *itertools.chain(*operands)))


def tree_of(tokens: Iterable[str], number: Callable[[], float]) -> Tree:
    """The tree of tokens in prefix order, its constants asked for in turn.

    >>> tree_of(["+", "c", "sin", "x0"], lambda: 2.5)
    ('+', (2.5,), ('sin', (0,)))
    """
    rest = iter(tokens)

    def build() -> Tree:
        token = next(rest)
        if token in ARITIES:
            return (token, *[build() for _ in range(ARITIES[token])])
        return (number(),) if token == NUMBER else (int(token[1:]),)

    return build()


def features(table: np.ndarray) -> np.ndarray:
    """What is told of each row: inverse hyperbolic sines and waves of its numbers, at several scales.

    Parameters
    ----------
    table : ndarray, shape (rows, inputs + 1)
        With the target last; inputs that there are not are told as 0.

    Returns
    -------
    ndarray of float32, shape (rows, FEATURES)
    """
    columns = np.zeros((len(table), INPUTS + 1, 1), np.float32)
    columns[:, : table.shape[1] - 1, 0], columns[:, -1, 0] = table[:, :-1], table[:, -1]
    waves = columns * FREQUENCIES
    return np.concatenate([np.arcsinh(columns * SCALES), np.sin(waves), np.cos(waves)], axis=2).reshape(len(table), -1)


def encode(weights: Weights, table: np.ndarray) -> np.ndarray:
    """One vector a row, shape (rows, WIDTH)."""
    x = linear(weights, "rows.2", np.maximum(linear(weights, "rows.0", features(table)), 0))
    for layer in (f"encoder.layers.{k}" for k in range(LAYERS)):
        x = normal(weights, f"{layer}.norm1", x + attend(weights, f"{layer}.self_attn", x, x, HEADS))
        x = normal(weights, f"{layer}.norm2", x + feed_forward(weights, layer, x))
    return x


class Prefixes:
    """Sequences over one table that grow together; of their tokens, keys and values are kept.

    Parameters
    ----------
    weights, table : as of `sample`
    """

    def __init__(self, weights: Weights, table: np.ndarray):
        self.weights, self.places = weights, 0
        self.layers = [f"decoder.layers.{k}" for k in range(LAYERS)]
        rows = encode(weights, table)
        self.rows = [projected(weights, f"{layer}.multihead_attn", rows, HEADS, "kv") for layer in self.layers]
        self.kept: list[list[np.ndarray]] = [[] for _ in self.layers]

    def read(self, tokens: np.ndarray) -> np.ndarray:
        """Scores of each token to follow, after the next tokens of each prefix.

        Parameters
        ----------
        tokens : ndarray of int, shape (n, new places)

        Returns
        -------
        ndarray, shape (n, new places, tokens)
        """
        weights, seen = self.weights, self.places
        self.places += tokens.shape[1]
        x = weights["embedding.weight"][tokens] + weights["positions.weight"][seen : self.places]
        barred = np.arange(self.places) > np.arange(seen, self.places)[:, None]
        for k, layer in enumerate(self.layers):
            queries, *new = projected(weights, f"{layer}.self_attn", x, HEADS, "qkv")
            old = self.kept[k] or [part[:, :, :0] for part in new]
            keys, values = self.kept[k] = [np.concatenate(pair, axis=2) for pair in zip(old, new, strict=True)]
            found = linear(weights, f"{layer}.self_attn.out_proj", mixed(queries, keys, values, barred))
            x = normal(weights, f"{layer}.norm1", x + found)
            (queries,) = projected(weights, f"{layer}.multihead_attn", x, HEADS, "q")
            found = linear(weights, f"{layer}.multihead_attn.out_proj", mixed(queries, *self.rows[k]))
            x = normal(weights, f"{layer}.norm2", x + found)
            x = normal(weights, f"{layer}.norm3", x + feed_forward(weights, layer, x))
        return linear(weights, "head", x)

    def keep(self, which: np.ndarray) -> None:
        """Go on with some prefixes only, each as often as it is named."""
        self.kept = [[part[which] for part in kept] for kept in self.kept]


def allowed(missing: np.ndarray, written: int, inputs: int, most: int) -> np.ndarray:
    """Which tokens may follow prefixes of so many tokens that lack so many operands; shape (n, tokens).

    >>> [token for token, may in zip(TOKENS, allowed(np.array([2]), 1, 1, 4)[0]) if may and token not in PRIOR.unary]
    ['c', 'x0']
    """
    return (written + missing[:, None] + OPERANDS <= most) & (NEEDED <= inputs)


def chances(scores: np.ndarray, may: np.ndarray) -> np.ndarray:
    """Logarithms of the probabilities of tokens, among those that may follow."""
    scores = np.where(may, scores.astype(float), -np.inf)
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


def names(tokens: np.ndarray) -> tuple[str, ...]:
    return tuple(TOKENS[number] for number in tokens if TOKENS[number] != START)


def sample(
    weights: Weights, table: np.ndarray, count: int, rng: np.random.Generator, most: int = MOST_TOKENS
) -> list[tuple[str, ...]]:
    """So many skeletons, each drawn with the probability that the network gives it.

    Parameters
    ----------
    table : ndarray, shape (rows, inputs + 1)
        As `sequence_sets.table` makes it.
    most : tokens of a skeleton
    """
    prefixes = Prefixes(weights, table)
    tokens = np.full((count, 1), NUMBERS[START])
    missing = np.ones(count, int)
    while missing.any():
        may = allowed(missing, tokens.shape[1] - 1, table.shape[1] - 1, most)
        told = chances(prefixes.read(tokens[:, -1:])[:, -1], may)
        chosen = np.argmax(told + rng.gumbel(size=told.shape), axis=1)
        open_ = missing > 0
        missing = np.where(open_, missing + OPERANDS[chosen] - 1, 0)
        tokens = np.column_stack([tokens, np.where(open_, chosen, NUMBERS[START])])
    return [names(row) for row in tokens]


def beam(
    weights: Weights, table: np.ndarray, width: int, most: int = MOST_TOKENS
) -> list[tuple[float, tuple[str, ...]]]:
    """Likely skeletons after the logarithms of their probabilities, the likeliest first.

    At each length the likeliest prefixes are kept, and the likeliest of what is complete.

    Parameters
    ----------
    table, most : as of `sample`
    width : prefixes that are kept, and skeletons at most
    """
    prefixes = Prefixes(weights, table)
    tokens, missing, total = np.full((1, 1), NUMBERS[START]), np.ones(1, int), np.zeros(1)
    complete: list[tuple[float, tuple[str, ...]]] = []
    while len(tokens):
        may = allowed(missing, tokens.shape[1] - 1, table.shape[1] - 1, most)
        told = total[:, None] + chances(prefixes.read(tokens[:, -1:])[:, -1], may)
        best = np.argsort(-told, axis=None, kind="stable")[: min(width, int(may.sum()))]
        parents, chosen = np.divmod(best, len(TOKENS))
        tokens, total = np.column_stack([tokens[parents], chosen]), told.ravel()[best]
        missing = missing[parents] + OPERANDS[chosen] - 1
        complete += [(float(total[k]), names(tokens[k])) for k in np.flatnonzero(missing == 0)]
        prefixes.keep(parents[missing > 0])
        tokens, total, missing = (part[missing > 0] for part in (tokens, total, missing))
    return sorted(complete, key=lambda each: -each[0])[:width]
