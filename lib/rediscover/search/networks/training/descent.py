"""Training of networks that write skeletons: loss, steps, log and checkpoint. Needs PyTorch."""

import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm

from ....system.progress import shown
from ..network_layers import write

STEEPEST = 1.0  # longest gradient
IGNORED = -255  # stands for no token


class Batch(NamedTuple):
    """Tables, what stands before each token, and the tokens."""

    tables: Tensor
    before: Tensor
    tokens: Tensor


def batch_of(tables: Sequence[np.ndarray], sequences: Sequence[Sequence[int]]) -> Batch:
    """Tables of one shape, and numbers of tokens, the first of which is before all."""
    before, tokens = ([torch.tensor(each[part]) for each in sequences] for part in (slice(-1), slice(1, None)))
    return Batch(
        torch.from_numpy(np.stack(tables)),
        pad_sequence(before, batch_first=True),
        pad_sequence(tokens, batch_first=True, padding_value=IGNORED),
    )


class Course(NamedTuple):
    """What a network is trained with.

    Attributes
    ----------
    network : which gives scores of the token after each prefix, shape (batch, places, tokens), from tables and what
        stands before the tokens.
    batch, rate : of a step, numbered from 1: what it is made on, and its learning rate.
    held : what is not trained on.
    check, look : steps between lines of the log, and between losses on what is held.
    """

    network: nn.Module
    optimiser: torch.optim.Optimizer
    steps: int
    batch: Callable[[int], Batch]
    rate: Callable[[int], float]
    held: Sequence[Batch]
    check: int
    look: int


def train(course: Course, folder: Path, *, seed: int, seconds: float = math.inf) -> bool:
    """Whether all steps are done; if not, the time is up.

    What is done is kept in the folder every `check` steps, and a call with the same arguments goes on from there to
    the same numbers. ``log.csv`` has the cross-entropy a token, of training and, every `look` steps, of what is held.

    Parameters
    ----------
    folder : of ``checkpoint.pt`` and ``log.csv``
    seed : of the dropout
    seconds : after which it stops, at the next check
    """
    ends = time.monotonic() + seconds
    done, log = restored(course, folder)
    recent: list[float] = []
    for step in tqdm(range(done + 1, course.steps + 1), desc="training", unit="step", disable=not shown()):
        torch.manual_seed(seed * 1_000_000 + step)
        recent.append(descend(course.network, course.optimiser, course.batch(step), course.rate(step)))
        last = step == course.steps
        if step % course.check == 0 or last:
            look = step % course.look == 0 or last
            log.append((step, float(np.mean(recent)), held_loss(course.network, course.held) if look else math.nan))
            recent = []
            save(course, folder, step, log)
            if time.monotonic() > ends and not last:
                return False
    return True


def rng_of(*words: int) -> np.random.Generator:
    return np.random.default_rng(words)


def ramp(step: int, steps: int, warm: int) -> float:
    """Share of the highest learning rate: linear up over so many steps, then linear down to 0.

    >>> ramp(5, 50, 10), ramp(10, 50, 10), ramp(30, 50, 10), ramp(50, 50, 10)
    (0.5, 1.0, 0.5, 0.0)
    """
    return step / warm if step < warm else (steps - step) / max(1, steps - warm)


def surprise(network: nn.Module, given: Batch) -> tuple[Tensor, int]:
    """Cross-entropy in nats, summed over all tokens, and their number."""
    told = network(given.tables, given.before).transpose(1, 2)
    total = nn.functional.cross_entropy(told, given.tokens, ignore_index=IGNORED, reduction="sum")
    return total, int((given.tokens != IGNORED).sum())


def descend(network: nn.Module, optimiser: torch.optim.Optimizer, given: Batch, rate: float) -> float:
    """One step down the loss, which is the sum over a sequence and the mean over tables; the loss a token before."""
    network.train()
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.zero_grad()
    total, tokens = surprise(network, given)
    (total / len(given.tables)).backward()
    nn.utils.clip_grad_norm_(network.parameters(), STEEPEST)
    optimiser.step()
    return float(total.detach()) / tokens


@torch.no_grad()
def held_loss(network: nn.Module, held: Sequence[Batch]) -> float:
    """Cross-entropy a token on batches that are not trained on."""
    network.eval()
    totals = [surprise(network, each) for each in held]
    return float(sum(total for total, _ in totals)) / sum(tokens for _, tokens in totals)


def restored(course: Course, folder: Path) -> tuple[int, list[tuple]]:
    """Steps that are done, and their log; network and optimiser are put where they were."""
    if not (folder / "checkpoint.pt").is_file():
        return 0, []
    kept = torch.load(folder / "checkpoint.pt", weights_only=True)
    course.network.load_state_dict(kept["network"])
    course.optimiser.load_state_dict(kept["optimiser"])
    return kept["step"], kept["log"]


def save(course: Course, folder: Path, step: int, log: Sequence[tuple]) -> None:
    """Keep what is done, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    states = {"network": course.network.state_dict(), "optimiser": course.optimiser.state_dict()}
    torch.save({**states, "log": list(log), "step": step}, folder / "checkpoint.tmp")
    lines = [",".join(f"{value:.6g}" for value in line) for line in log]
    (folder / "log.csv").write_text("\n".join(["step,loss,held", *lines, ""]), encoding="utf-8")
    os.replace(folder / "checkpoint.tmp", folder / "checkpoint.pt")


def export(network: nn.Module, path: Path) -> None:
    """Weights, as `network_layers.read` takes them."""
    write({name: each.numpy() for name, each in network.state_dict().items()}, path)
