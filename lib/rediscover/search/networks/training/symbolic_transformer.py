"""Training of the Symbolic Transformer. Needs PyTorch; what was trained runs without (`skeleton_network`).

Architecture, loss, optimiser, learning rate and tables are those of SRSD's released code. Not as there, to be done in
an hour of one core: the true tokens are what stands before each token (the release feeds the network its own, past the
first), eight tables make a step (one there), a table has 200 rows (1,000 there) and comes twice (three times there),
and tokens past the twentieth, which are never written, are not learned. The last network is kept (there that of least
distance on tables held out).
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from ..bigrams import START
from ..skeleton_network import HALF, HEADS, LAYERS, MOST_TOKENS, TOKENS, WIDTH
from ..skeleton_sets import SkeletonSet
from . import descent
from .descent import Batch, Course, batch_of, ramp, rng_of

ROWS, BATCH, EPOCHS = 200, 8, 2
RATE, DECAY, WARM = 0.1, 1e-4, 1000  # WARM in tables
HELD = 500  # tables that are not trained on
CHECK, LOOK = 100, 1000  # steps between lines of the log, and between losses of the held tables
NUMBERS = {token: number for number, token in enumerate(TOKENS)}


class Affine(nn.Module):
    """Two linear layers with nothing between them."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.first, self.second = nn.Linear(width, hidden), nn.Linear(hidden, HALF)

    def composed(self) -> tuple[Tensor, Tensor]:
        """Matrix, shape (HALF, width), and offset, shape (HALF,), of both at once."""
        return self.second.weight @ self.first.weight, self.second(self.first.bias)


class Encoder(nn.Module):
    """Two blocks: cells beside the maximum over rows, then beside the maximum over columns; over rows at last.

    Computed as `skeleton_network.encode` says.
    """

    def __init__(self):
        super().__init__()
        self.cell, self.by_column = Affine(1, HALF), Affine(WIDTH, WIDTH)
        self.cell_again, self.by_column_again = Affine(WIDTH, HALF), Affine(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """One vector a column, shape (batch, columns, WIDTH), of tables, shape (batch, rows, columns)."""
        cells = x[..., None]
        slope, offset = self.cell.composed()
        slope = slope[:, 0]
        highest = torch.maximum(slope * cells.amax(1), slope * cells.amin(1)) + offset
        slope, offset = beside(self.by_column, slope, offset, highest)
        of_rows = (cells * slope + offset[:, None]).amax(2)
        matrix, shift = self.cell_again.composed()
        slope, offset = matrix[:, :HALF] @ slope, offset @ matrix[:, :HALF].T + shift
        shared = of_rows @ matrix[:, HALF:].T
        highest = (cells * slope + offset[:, None] + shared[:, :, None]).amax(1)
        matrix, _ = self.by_column_again.composed()
        shared = shared @ matrix[:, :HALF].T
        slope, offset = beside(self.by_column_again, slope, offset, highest)
        last = cells * slope + offset[:, None] + shared[:, :, None]
        return torch.cat([last.amax(1), last.amax((1, 2))[:, None].expand_as(highest)], dim=2)


def beside(layers: Affine, slope: Tensor, offset: Tensor, highest: Tensor) -> tuple[Tensor, Tensor]:
    """Slope, shape (HALF,), and offset, (batch, columns, HALF), after layers on cells beside their column's maximum."""
    matrix, shift = layers.composed()
    return matrix[:, :HALF] @ slope, offset @ matrix[:, :HALF].T + highest @ matrix[:, HALF:].T + shift


class Network(nn.Module):
    """Encoder, decoder and classifier: 11.8 million numbers."""

    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.embedding = nn.Embedding(len(TOKENS), WIDTH)
        layer = nn.TransformerDecoderLayer(WIDTH, HEADS, dim_feedforward=WIDTH, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, LAYERS)
        self.head = nn.Sequential(nn.Linear(WIDTH, HALF), nn.Linear(HALF, HALF), nn.Linear(HALF, len(TOKENS)))

    def forward(self, tables: Tensor, sequences: Tensor) -> Tensor:
        """Scores of the token after each prefix of each sequence.

        Parameters
        ----------
        tables : Tensor, shape (batch, rows, columns)
        sequences : Tensor of int, shape (batch, places)

        Returns
        -------
        Tensor, shape (batch, places, tokens)
        """
        columns = self.encoder(tables)
        edges = [0, *(2**k for k in range(sequences.shape[1].bit_length())), sequences.shape[1]]
        pairs = [(first, last) for first, last in itertools.pairwise(edges) if first < last]
        return torch.cat([self.after(columns, sequences[:, :last], first) for first, last in pairs], dim=1)

    def after(self, columns: Tensor, sequences: Tensor, first: int) -> Tensor:
        """Scores of the tokens after the prefixes with more than `first` tokens, each read on its own."""
        batch, last = sequences.shape
        prefixes = sequences[:, None].expand(batch, last - first, last).reshape(-1, last)
        unread = torch.ones(last, last, dtype=torch.bool).triu(1)[first:].repeat(batch, 1)
        given = columns.repeat_interleave(last - first, dim=0)
        x = self.decoder(self.embedding(prefixes), given, tgt_key_padding_mask=unread)
        x = x.reshape(batch, last - first, last, WIDTH)
        return self.head(x.diagonal(first, dim1=1, dim2=2).transpose(1, 2))


def batches(sets: Sequence[SkeletonSet], rng: np.random.Generator) -> Iterator[list[SkeletonSet]]:
    """Every set once, in a random order; a batch has tables with as many columns and skeletons of like lengths."""
    groups: dict[tuple[int, int], list[SkeletonSet]] = {}
    for k in rng.permutation(len(sets)):
        like = len(sets[k].middles), (len(sets[k].tokens) - 1).bit_length()
        group = groups.setdefault(like, [])
        group.append(sets[k])
        if len(group) == BATCH:
            yield groups.pop(like)
    yield from groups.values()


def batch(sets: Sequence[SkeletonSet], rng: np.random.Generator) -> Batch:
    """Tables drawn from sets with as many columns."""
    numbers = [[NUMBERS[token] for token in (START, *each.tokens[:MOST_TOKENS])] for each in sets]
    return batch_of([accepted(each, rng) for each in sets], numbers)


def accepted(given: SkeletonSet, rng: np.random.Generator) -> np.ndarray:
    """A table of a set, drawn again in the rare case that it is not accepted."""
    while (table := given.table(ROWS, rng)) is None:
        pass
    return table


def train(
    sets: Sequence[SkeletonSet], folder: Path, *, seed: int = 0, seconds: float = math.inf
) -> tuple[Network, bool]:
    """The network trained on all sets but `HELD`, and whether all steps are done; if not, the time is up.

    Parameters
    ----------
    sets : in random order
    folder, seconds : as of `descent.train`, which goes on from what is in the folder
    """
    torch.manual_seed(seed)
    network = Network()
    steps = [(epoch, each) for epoch in range(EPOCHS) for each in batches(sets[HELD:], rng_of(seed, epoch))]

    def of_step(step: int) -> Batch:
        epoch, each = steps[step - 1]
        return batch(each, rng_of(seed, epoch, step))

    course = Course(
        network,
        torch.optim.SGD(network.parameters(), lr=RATE, weight_decay=DECAY),
        len(steps),
        of_step,
        lambda step: RATE * ramp(step, len(steps), WARM // BATCH),
        [batch(each, rng_of(seed, EPOCHS)) for each in batches(sets[:HELD], rng_of(seed, EPOCHS))],
        CHECK,
        LOOK,
    )
    return network, descent.train(course, folder, seed=seed, seconds=seconds)
