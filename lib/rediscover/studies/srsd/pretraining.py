"""The Symbolic Transformer trained again: from the laws' own bigrams to weights. Needs PyTorch (extra neural)."""

import argparse
import hashlib
import math
import sys
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


def main() -> int:
    """Train for at most so many hours; what is done is kept, and the same command goes on from there."""
    parser = argparse.ArgumentParser(prog="pretraining", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/pretrain"), help="of checkpoint, log and weights")
    parser.add_argument("--seed", type=int, default=0, help="of the training tables and of the network")
    parser.add_argument("--hours", type=float, default=math.inf, help="stop at the next check after so many")
    options = parser.parse_args()
    try:
        made = pretrain(options.folder, options.seed, 3600 * options.hours)
    except ModuleNotFoundError as missing:
        print(f"pretraining: {missing}: pip install -e '.[neural]'", file=sys.stderr)
        return 2
    if made is None:
        print(f"the time is up; the same command goes on from {options.folder}")
        return 1
    print(f"{made}, sha256 {hashlib.sha256(made.read_bytes()).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
