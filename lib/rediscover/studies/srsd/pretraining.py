"""Networks trained here: the Symbolic Transformer from the laws' own bigrams, and that of `trained_skeletons`.

Training needs PyTorch (extra neural).
"""

import argparse
import functools
import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ... import problem, problems, runs
from ...expressions import parse
from ...methods.trained import training_folder
from ...search.networks.bigrams import Bigrams, preorder
from ...search.networks.skeleton_network import INPUTS
from ...search.networks.skeleton_sets import ATTEMPTS, SkeletonSet, printed, skeleton_sets, skeletons
from ...system.code_version import code_version
from ...system.file_digest import file_digest

MODELS = ("symbolic_transformer", "trained_skeletons")


def sequences() -> dict[str, tuple[str, ...]]:
    """Id of each law -> its truth in preorder."""
    laws = map(problem, problems("srsd"))
    return {law.id: preorder(parse(text), law.inputs) for law in laws for text in law.truth.values()}


def training_sets(seed: int = 0, attempts: int = ATTEMPTS) -> tuple[list[tuple[str, ...]], list[SkeletonSet]]:
    """What a network is trained on: skeletons from the bigrams of all truths, and random equations of them.

    As in the release, so that whoever trains on them knows the distribution of the answers.
    """
    rng = np.random.default_rng(seed)
    drawn = skeletons(Bigrams.of(sequences().values()), rng, attempts)
    sets = list(skeleton_sets(drawn, INPUTS, rng))
    return drawn, [sets[k] for k in rng.permutation(len(sets))]


def overlap(sets: Sequence[SkeletonSet]) -> pd.DataFrame:
    """How far the sampling ranges of the laws are those of training equations that are the same up to numbers.

    Eq. (S1): of each input, the length that both ranges share over the length that they span; negative where they are
    apart. Means over inputs, then over equations.

    Returns
    -------
    DataFrame
        Index: id of each law; columns: equal (number of equations), iou (0 where there is none), and iou_released,
        which takes all equations with as many inputs as soon as one is equal, as the released code does.
    """
    ranges: dict[int, list[np.ndarray]] = {}
    tokens: dict[int, list[tuple[str, ...]]] = {}
    for each in sets:
        ranges.setdefault(len(each.middles), []).append(each.ranges())
        tokens.setdefault(len(each.middles), []).append(each.tokens)
    rows = {}
    for law, sequence in sequences().items():
        X = problem(law).data()["test"].X
        equal = np.array([other == sequence for other in tokens.get(X.shape[1], [])], bool)
        if not equal.any():
            rows[law] = (0, 0.0, 0.0)
            continue
        low, high = np.moveaxis(np.array(ranges[X.shape[1]]), 2, 0)
        least, most = X.min(axis=0), X.max(axis=0)
        iou = (np.minimum(high, most) - np.maximum(low, least)) / (np.maximum(high, most) - np.minimum(low, least))
        rows[law] = (int(equal.sum()), float(iou[equal].mean()), float(iou.mean()))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["equal", "iou", "iou_released"])


class Drawing(NamedTuple):
    """Training sets of one seed, counted and compared with the laws, as work for `runs.compute`."""

    seed: int
    attempts: int

    def __call__(self) -> dict:
        drawn, sets = training_sets(self.seed, self.attempts)
        shared = overlap(sets)
        row: dict[str, float] = {"equations": len(drawn), "different": len(set(drawn)), "tables": len(sets)}
        row |= {"equal": int((shared["equal"] > 0).sum()), "iou": float(shared["iou"].mean())}
        row |= {"as released": float(shared["iou_released"].mean())}
        return {"status": "ok", "reason": "", "result": [row, Counter(printed(each.tokens) for each in sets)]}

    @property
    def key(self) -> str:
        return runs.digest([type(self).__name__, *self, code_version(__name__)])

    @property
    def identity(self) -> dict:
        return {"training_sets": self.attempts, "seed": self.seed}


def drawings(seeds: Sequence[int], attempts: int, **options: Any) -> tuple[pd.DataFrame, pd.Series]:
    """What networks of several seeds are trained on.

    Parameters
    ----------
    seeds : list of int
    attempts : drawings of a skeleton
    options : store, workers and progress, as for `runs.compute`

    Returns
    -------
    DataFrame
        Index: seed; columns: equations, different (of them), tables, equal (laws that are among them), iou and
        as released, as in `overlap`, means over laws.
    Series
        Skeletons as printed, of the last seed: how many tables each has.
    """
    outcomes = runs.compute([Drawing(seed, attempts) for seed in seeds], **options)
    rows, skeletons = zip(*(outcome["result"] for outcome in outcomes), strict=True)
    return pd.DataFrame(rows, pd.Index(seeds, name="seed")), pd.Series(skeletons[-1])


def pretrain(model: str, folder: Path, seed: int = 0, seconds: float = math.inf) -> tuple[Path, bool]:
    """Train, or go on with it, and write ``weights.npz``; its path, and whether all steps are done.

    Parameters
    ----------
    model : of `MODELS`
    folder : of the checkpoint, the log and the weights
    """
    from ...search.networks.training import descent, symbolic_transformer, trained_skeletons

    train: Callable[..., tuple[Any, bool]] = trained_skeletons.train
    if model == "symbolic_transformer":
        train = functools.partial(symbolic_transformer.train, training_sets(seed)[1])
    network, done = train(folder, seed=seed, seconds=seconds)
    descent.export(network, folder / "weights.npz")
    return folder / "weights.npz", done


def main() -> int:
    """Train for at most so many hours; what is done is kept, and the same command goes on from there."""
    parser = argparse.ArgumentParser(prog="pretraining", description=__doc__)
    parser.add_argument("--model", choices=MODELS, default=MODELS[0], help="the method that uses the network")
    parser.add_argument("--folder", type=Path, help="of checkpoint, log and weights; else in the user's cache")
    parser.add_argument("--seed", type=int, default=0, help="of the training tables and of the network")
    parser.add_argument("--hours", type=float, default=math.inf, help="stop at the next check after so many")
    options = parser.parse_args()
    folder = options.folder or training_folder(options.model)
    try:
        made, done = pretrain(options.model, folder, options.seed, 3600 * options.hours)
    except ModuleNotFoundError as missing:
        print(f"pretraining: {missing}: pip install -e '.[neural]'", file=sys.stderr)
        return 2
    print(f"{made}, sha256 {file_digest(made)}")
    if not done:
        print(f"the time is up; the same command goes on from {folder}")
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
