"""The Symbolic Transformer trained again: from the laws' own bigrams to weights. Needs PyTorch (extra neural)."""

import math
from pathlib import Path

import numpy as np

from ... import problem, problems
from ...expressions import parse
from ...search.bigrams import Bigrams, preorder
from ...search.skeleton_network import INPUTS
from ...search.skeleton_sets import SkeletonSet, skeleton_sets


def bigrams() -> Bigrams:
    """Counted on all truths, as in the release: whoever trains on draws from them knows the answers' distribution."""
    laws = map(problem, problems("srsd"))
    return Bigrams.of([preorder(parse(text, law.inputs), law.inputs) for law in laws for text in law.truth.values()])


def training_sets(seed: int = 0) -> list[SkeletonSet]:
    """Random equations in random order; the paper has 24,232."""
    rng = np.random.default_rng(seed)
    sets = list(skeleton_sets(bigrams(), INPUTS, rng))
    return [sets[k] for k in rng.permutation(len(sets))]


def pretrain(folder: Path, seed: int = 0, seconds: float = math.inf) -> Path | None:
    """Train, or go on with it, and write ``weights.npz``; None if the time is up before.

    Parameters
    ----------
    folder : of the checkpoint, the log and the weights
    """
    from ...search import skeleton_training

    network = skeleton_training.train(training_sets(seed), folder, seed=seed, seconds=seconds)
    if network is None:
        return None
    skeleton_training.export(network, folder / "weights.npz")
    return folder / "weights.npz"
