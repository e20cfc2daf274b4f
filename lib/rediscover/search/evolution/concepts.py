"""LaSR's library of concepts: what a language model holds to distinguish good expressions, newest first.

References
----------
A. Grayeli et al., Symbolic regression with a learned concept library, arXiv:2409.09359
"""

import json
from collections.abc import Sequence

import numpy as np

SHOWN = 30  # concepts from which hints are drawn; those behind them are merged
LONGEST = 300  # characters of a concept that are kept
CHARACTERS, LISTS = 20_000, 200  # of a reply that are read, and beginnings of lists in it


class Concepts:
    """A list of sentences, the newest first.

    Attributes
    ----------
    ideas : list of str
    """

    def __init__(self, ideas: Sequence[str] = ()) -> None:
        self.ideas = list(ideas)

    def hints(self, rng: np.random.Generator, count: int = 3) -> list[str]:
        """Different ones of the first `SHOWN`."""
        return sample(self.ideas[:SHOWN], count, rng)

    def old(self, rng: np.random.Generator, count: int = 5) -> list[str]:
        """From beyond the first `SHOWN`, with replacement; none where there are none."""
        old = self.ideas[SHOWN:]
        return [old[i] for i in rng.integers(len(old), size=count)] if old else []

    def add(self, ideas: Sequence[str], count: int, rng: np.random.Generator) -> None:
        """Put different ones of some ideas in front.

        >>> library = Concepts(["a", "b"])
        >>> library.add(["c"], 2, np.random.default_rng(0))
        >>> library.ideas
        ['c', 'a', 'b']
        """
        different = list(dict.fromkeys(" ".join(idea.split())[:LONGEST] for idea in ideas if idea.strip()))
        self.ideas[:0] = sample(different, count, rng)


def sample(items: Sequence, count: int, rng: np.random.Generator) -> list:
    """At most so many different items, in random order."""
    return [items[i] for i in rng.permutation(len(items))[:count]]


def strings(reply: str) -> list[str]:
    """The texts of the last list of texts in a reply, as JSON; none where there is no such list.

    >>> strings('Try ["a"]. Better: ```json\\n["C*x", "x[0]"]\\n```')
    ['C*x', 'x[0]']
    """
    reply, at = reply[-CHARACTERS:], 0
    found: list[str] = []
    for _ in range(LISTS):
        at = reply.find("[", at)
        if at < 0:
            break
        try:
            value, end = json.JSONDecoder().raw_decode(reply, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
        texts = isinstance(value, list) and value and all(isinstance(item, str) for item in value)
        found, at = (value, end) if texts else (found, at + 1)
    return found
