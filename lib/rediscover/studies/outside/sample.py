"""The problems that opponents are run on: a draw by the seed and the numbers of ``rules.yaml``."""

import functools
from pathlib import Path
from typing import Any

import yaml

from ...problems import generator, problems

RULES = Path(__file__).with_name("rules.yaml")


@functools.cache
def rules() -> dict[str, Any]:
    """What was laid down before any run."""
    return yaml.safe_load(RULES.read_text(encoding="utf-8"))


def drawn(name: str) -> list[str]:
    """Ids of a sample (``sample``, ``noisy_sample``), drawn without replacement from each of its groups.

    Examples
    --------
    >>> len(drawn("sample")), len(drawn("noisy_sample"))
    (50, 30)
    """
    chosen = []
    for group, number in rules()["samples"][name].items():
        ids = sorted(problems(*group.split("/")))
        chosen += sorted(generator(rules()["seed"], group).choice(ids, number, replace=False).tolist())
    return chosen
