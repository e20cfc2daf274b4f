"""The rules that were laid down, and the problems that opponents are run on: a draw by their seed and numbers."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from ...problems import generator, problems


@functools.cache
def rules(name: str = "rules") -> dict[str, Any]:
    """What was laid down before any run: ``rules.yaml``, or ``fresh.yaml`` or ``flows.yaml`` for some problems."""
    return yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8"))


def some(ids: Sequence[str], number: int, seed: int, stream: str) -> list[str]:
    """So many of the ids, drawn without replacement."""
    return sorted(generator(seed, stream).choice(sorted(ids), number, replace=False).tolist())


def drawn(name: str) -> list[str]:
    """Ids of a sample (``sample``, ``noisy_sample``), drawn without replacement from each of its groups.

    Examples
    --------
    >>> len(drawn("sample")), len(drawn("noisy_sample"))
    (50, 30)
    """
    chosen = []
    for group, number in rules()["samples"][name].items():
        chosen += some(problems(*group.split("/")), number, rules()["seed"], group)
    return chosen
