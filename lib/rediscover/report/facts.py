"""What a study states in words: named facts, computed from tables/.

``studies/<key>/facts.py`` has one public function, ``facts()``: name -> a value, a pair of value and form, or more of
them, whose names follow after a dot. A form is a number of significant digits, a format such as ``.1f``, or ``word``.
`rediscover.publish.facts` collects them.
"""

import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd

from ..system.paths import root
from .tables import number

WORDS = (
    "none one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()


class Interval(NamedTuple):
    """A value and the ends of its interval, shown as ``value [low, high]``."""

    value: float
    low: float
    high: float


def table(name: str) -> pd.DataFrame:
    """A table as the notebooks wrote it."""
    return pd.read_csv(root() / "tables" / f"{name}.csv")


def setting(notebook: str, name: str) -> Any:
    """A parameter of the run that made the tables of a notebook; None where it has no such parameter."""
    path = root() / "tables" / f"{notebook}.provenance.json"
    return json.loads(path.read_text(encoding="utf-8"))["parameters"].get(name)


def one(frame: pd.DataFrame, **where: Any) -> pd.Series:
    """The one row with these values.

    Raises
    ------
    ValueError
        If there is none, or more than one.
    """
    rows = frame[frame[list(where)].eq(pd.Series(where)).all(axis=1)]
    if len(rows) != 1:
        raise ValueError(f"{len(rows)} rows with {where}, where one was expected")
    return rows.iloc[0]


def listed(numbers: Iterable[int]) -> str:
    """Whole numbers in words.

    Examples
    --------
    >>> listed([1]), listed([2, 3, 4]), listed([1, 3]), listed([])
    ('one', 'two to four', 'one and three', 'none')
    """
    found = sorted(numbers)
    words = [WORDS[number] for number in found]
    if len(found) > 2 and found == list(range(found[0], found[-1] + 1)):
        return f"{words[0]} to {words[-1]}"
    return " and ".join(words) or "none"


def shared(*found: str) -> str:
    """What several texts have in common, or all of them where a sentence should no longer speak of one.

    Examples
    --------
    >>> shared("six", "six"), shared("six", "five")
    ('six', 'six or five')
    """
    return " or ".join(dict.fromkeys(found))


def how_many(true: Iterable[bool]) -> str:
    """Of some comparisons: all, some or no."""
    found = list(true)
    return "all" if all(found) else "some" if any(found) else "no"


def shown(value: Any, form: int | str | None = None) -> str:
    """A fact as prose has it.

    Parameters
    ----------
    value : text, number or Interval (its ends have one significant digit less)
    form : significant digits, a format, or ``word``; by default thousands are set off, and of others 3 digits shown

    Raises
    ------
    ValueError
        For a value that is not finite.

    Examples
    --------
    >>> shown(1281), shown(3, "word"), shown(0.0123456), shown(0.98, 2), shown(0.667, ".0%"), shown(2.0)
    ('1,281', 'three', '0.0123', '0.98', '67%', '2')
    >>> shown(Interval(27.04, 23.5, 30.2), ".1f"), shown(Interval(0.3582, 0.13, 0.5621))
    ('27.0 [23.5, 30.2]', '0.358 [0.13, 0.56]')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Interval):
        ends = (form or 3) - 1 if not isinstance(form, str) else form
        return f"{shown(value.value, form)} [{shown(value.low, ends)}, {shown(value.high, ends)}]"
    if not math.isfinite(value):
        raise ValueError("no number to show")
    if form == "word":
        return WORDS[int(value)]
    if isinstance(form, str):
        return format(value, form)
    return f"{int(value):,}" if value == int(value) else number(float(value), form or 3)
