"""Training of the network of `sequence_network`. Needs PyTorch; what was trained runs without."""

import math
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from ..bigrams import START
from ..sequence_network import FEATURES, HEADS, HIDDEN, LAYERS, MOST_TOKENS, NUMBERS, TOKENS, WIDTH, features
from ..sequence_sets import draw_equation
from . import descent
from .descent import Batch, Course, batch_of, ramp, rng_of

BATCH, STEPS = 64, 12_000
RATE, WARM = 1e-3, 500  # highest learning rate, and steps up to it
HELD = 20  # batches that are not trained on
CHECK, LOOK = 100, 1000  # steps between lines of the log, and between losses of the held batches


class Network(nn.Module):
    """Encoder of rows and decoder of tokens, a quarter of a million numbers."""

    def __init__(self):
        super().__init__()
        self.rows = nn.Sequential(nn.Linear(FEATURES, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        sizes = {"dim_feedforward": HIDDEN, "dropout": 0.0, "batch_first": True}
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(WIDTH, HEADS, **sizes), LAYERS, enable_nested_tensor=False
        )
        self.embedding, self.positions = nn.Embedding(len(TOKENS), WIDTH), nn.Embedding(MOST_TOKENS, WIDTH)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(WIDTH, HEADS, **sizes), LAYERS)
        self.head = nn.Linear(WIDTH, len(TOKENS))

    def forward(self, tables: Tensor, before: Tensor) -> Tensor:
        """Scores of the token after each prefix of each sequence.

        Parameters
        ----------
        tables : Tensor, shape (batch, rows, FEATURES)
        before : Tensor of int, shape (batch, places)

        Returns
        -------
        Tensor, shape (batch, places, tokens)
        """
        places = before.shape[1]
        barred = torch.ones(places, places, dtype=torch.bool).triu(1)
        x = self.embedding(before) + self.positions.weight[:places]
        return self.head(self.decoder(x, self.encoder(self.rows(tables)), tgt_mask=barred))


def batch(rng: np.random.Generator) -> Batch:
    """Features of the rows of new equations, and their skeletons."""
    samples = [draw_equation(rng).sample() for _ in range(BATCH)]
    numbers = [[NUMBERS[token] for token in (START, *tokens)] for tokens, _ in samples]
    return batch_of([features(table) for _, table in samples], numbers)


def train(folder: Path, *, seed: int = 0, seconds: float = math.inf) -> tuple[Network, bool]:
    """The network, and whether all steps are done; if not, the time is up. No equation comes twice but by chance.

    Parameters
    ----------
    folder, seconds : as of `descent.train`, which goes on from what is in the folder
    """
    torch.manual_seed(seed)
    network = Network()
    course = Course(
        network,
        torch.optim.Adam(network.parameters()),
        STEPS,
        lambda step: batch(rng_of(seed, 0, step)),
        lambda step: RATE * ramp(step, STEPS, WARM),
        [batch(rng_of(seed, 1, k)) for k in range(HELD)],
        CHECK,
        LOOK,
    )
    return network, descent.train(course, folder, seed=seed, seconds=seconds)
