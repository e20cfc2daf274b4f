"""Laws that a language model may remember, with their names, and the same laws in disguise.

``textbook/I.12.1`` is a law of SRSD on the ranges of the Feynman database; its columns have their symbols, and it is
stated what they stand for. ``textbook/I.12.1-disguised`` is the same law with inputs ``x0``, ``x1``, ... and output
``y``, of which nothing is said, and with each column in a unit of its own, so that its constants are others. What a
method does better on the first, it may remember, or read from the names; the constants change too, so that a method
that reads no names has to stand beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..expressions import parse
from . import generator, srsd
from .srbench import Drawn, feynman

SUBSETS = ("named", "disguised")
SUFFIX = "-disguised"
UNITS = (0.5, 2.0)  # ends of the factors between the units of a column, which are log-uniform
ROWS = (1000, 1000)  # for training, and for the scores


@dataclass(frozen=True, eq=False, kw_only=True)
class Textbook(Drawn):
    """A law whose columns may have a meaning.

    Attributes
    ----------
    stated : name of a column -> what it stands for
    """

    stated: Mapping[str, str] = field(default_factory=dict)

    @property
    def meanings(self) -> dict[str, str]:
        return super().meanings | dict(self.stated)


def ids(subset: str | None = None) -> list[str]:
    """Names of the 120 laws of SRSD, and of their disguises; optionally of one of `SUBSETS`.

    Examples
    --------
    >>> len(ids()), ids("disguised")[0]
    (240, 'I.12.1-disguised')
    """
    if subset not in (None, *SUBSETS):
        raise KeyError(f"textbook has no subset {subset!r} (subsets: {', '.join(SUBSETS)})")
    ends = {"named": "", "disguised": SUFFIX}
    return [name + end for part, end in ends.items() if subset in (None, part) for name in srsd.ids()]


def load(name: str) -> Textbook:
    """A law by its name in SRSD, as it is or in disguise."""
    law = feynman(name.removesuffix(SUFFIX))
    hidden = name.endswith(SUFFIX)
    about = _disguised(law) if hidden else _named(law)
    return Textbook(id=f"textbook/{name}", **about, subset=SUBSETS[hidden], rows=ROWS, source=law.source)


def _named(law: srsd.Law) -> dict[str, Any]:
    return {"truth": law.truth, "inputs": law.inputs, "samplers": law.samplers, "stated": law.meanings}


def _disguised(law: srsd.Law) -> dict[str, Any]:
    """Truth, inputs and samplers of a law whose columns have other names and other units."""
    low, high = np.log(UNITS)
    drawn = generator(0, law.id, "units").uniform(low, high, len(law.inputs) + 1)
    *factors, whole = np.exp(drawn).round(3).tolist()
    inputs = tuple(f"x{i}" for i in range(len(law.inputs)))
    units = dict(zip(inputs, factors, strict=True))
    old = dict(zip(law.inputs, inputs, strict=True))
    (formula,) = law.expressions.values()
    inner = formula.substitute({name: parse(f"{new}/{units[new]}") for name, new in old.items()})
    ranges = {new: law.samplers[name] for name, new in old.items()}
    samplers = {new: [kind, units[new] * least, units[new] * most] for new, (kind, least, most) in ranges.items()}
    return {"truth": {"y": f"{whole}*({inner})"}, "inputs": inputs, "samplers": samplers}
