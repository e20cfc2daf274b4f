"""Units as texts: what ``kg m/s^2`` stands for, and how it is written.

A unit is a vector: the logarithm of its size to base 10, in the base units of the SI, and the powers of these. Products
of units are sums of vectors. Names, sizes and prefixes stand in ``units.yaml``.
"""

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ..problems import did_you_mean
from .names import Name

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d_]+|[%‰°])|(?P<sign>\*\*|[*/^()·⋅.-]))"
)
POWER = re.compile(r"\s*(?:\*\*|\^)?\s*(\(?)([+-]?\d+(?:\.\d+)?)(?:/(\d+))?(\)?)")
MOST = 12  # known units of which a product is tried
OFFSET = {"°C": "K", "°F": "K", "degC": "K", "degF": "K"}  # zero is not none of it


@functools.cache
def table() -> dict[str, Any]:
    """The contents of ``units.yaml``."""
    return dict(yaml.safe_load(Path(__file__).with_name("units.yaml").read_text("utf-8")))


def unit(text: str) -> np.ndarray:
    """The vector of a unit.

    Parameters
    ----------
    text : such as ``m/s^2``, ``kg m² s⁻²``, ``kWh``; read from left to right, so that J/kg K is J K/kg

    Returns
    -------
    ndarray, shape (8,)
        Logarithm of the size to base 10, and the powers of kg, m, s, A, K, mol and cd.

    Raises
    ------
    ValueError
        If it cannot be read.

    Examples
    --------
    >>> unit("km/s^2").tolist()
    [3.0, 0.0, 1.0, -2.0, 0.0, 0.0, 0.0, 0.0]
    """
    plain = unicodedata.normalize("NFKC", text).replace("−", "-").replace("µ", "μ").strip()
    if plain in OFFSET or plain.replace(" ", "") in OFFSET:
        raise ValueError(
            f"the unit {text!r} does not begin at zero; give the column in {OFFSET[plain.replace(' ', '')]}"
        )
    reader = _Reader(plain, text)
    found = reader.product()
    if reader.rest:
        raise reader.unreadable()
    return found


class _Reader:
    """Reads the text of a unit from left to right."""

    def __init__(self, plain: str, text: str) -> None:
        self.rest, self.text = plain, text

    def unreadable(self) -> ValueError:
        return ValueError(f"the unit {self.text!r} cannot be read at {self.rest!r}; write it as in kg m/s^2")

    def product(self) -> np.ndarray:
        found, sign = self.factor(), 1
        while self.rest and not self.rest.startswith(")"):
            sign = 1
            if match := re.match(r"(\*|/|·|⋅|\.)\s*", self.rest):
                sign, self.rest = -1 if match[1] == "/" else 1, self.rest[match.end() :]
            found = found + sign * self.factor()
        return found

    def factor(self) -> np.ndarray:
        match = TOKEN.match(self.rest)
        if match is None:
            raise self.unreadable()
        if match["number"]:
            size = float(match["number"])
            if not size > 0:
                raise self.unreadable()
            self.rest = self.rest[match.end() :].lstrip()
            return self.powered(np.array([np.log10(size), *[0.0] * 7]), marked=True)
        if match["name"]:
            self.rest = self.rest[match.end() :]
            return self.powered(_named(match["name"], self.text))
        if match["sign"] != "(":
            raise self.unreadable()
        self.rest = self.rest[match.end() :]
        found = self.product()
        if not self.rest.startswith(")"):
            raise self.unreadable()
        self.rest = self.rest[1:]
        return self.powered(found)

    def powered(self, base: np.ndarray, marked: bool = False) -> np.ndarray:
        """To the power that follows; of a number, if ^ says that one does."""
        match = POWER.match(self.rest) if not marked or self.rest.startswith(("^", "**")) else None
        # m 2 is no power: without a sign it must follow at once
        if match and (match[0][:1] != " " or match[0].strip()[:1] in "*^") and bool(match[1]) == bool(match[4]):
            self.rest = self.rest[match.end() :]
            base = base * float(match[2]) / float(match[3] or 1)
        self.rest = self.rest.lstrip()
        return base


@functools.cache
def _named(name: str, text: str) -> np.ndarray:
    known = table()
    if name in known["base"]:
        powers = [float(name == other) for other in known["base"]]
        return np.array([0.0, *powers])
    if name in known["plain"]:
        return unit(known["plain"][name])
    if name in known["prefixed"]:
        return unit(known["prefixed"][name])
    for prefix, power in known["prefixes"].items():
        if name.startswith(prefix) and name[len(prefix) :] in known["prefixed"]:
            return _named(name[len(prefix) :], text) + np.array([float(power), *[0.0] * 7])
    near = did_you_mean(name, [*known["base"], *known["plain"], *known["prefixed"]])
    raise ValueError(f"the unit {text!r} is unknown at {name!r}{near}; give one that is known, or none for the column")


def written(vector: np.ndarray, known: Sequence[str] = ()) -> str:
    """A unit as text: a known one, or base units, or where these leave a size a product of known ones.

    Parameters
    ----------
    vector : ndarray, shape (8,)
    known : texts of units that are tried first

    Returns
    -------
    str
        Empty for a plain number.

    Examples
    --------
    >>> written(unit("J") - unit("kg") - unit("m")), written(unit("N m"), ["J"]), written(unit("kJ/g"))
    ('m/s^2', 'J', '1e+06 m^2/s^2')
    >>> written(unit("yr") - 1.5 * unit("au"), ["au", "yr"])
    'yr/au^1.5'
    """
    if np.allclose(vector, 0, atol=1e-9):
        return ""
    for text in known:
        if np.allclose(unit(text), vector, atol=1e-9):
            return text
    if abs(vector[0]) < 1e-9:
        return _product(table()["base"], vector[1:])
    return _in_known(vector, known) or _product(table()["base"], vector[1:], f"{10 ** vector[0]:.6g}")


def _product(names: Sequence[str], powers: np.ndarray, size: str = "") -> str:
    over, under = [size] if size else [], list[str]()
    for name, power in zip(names, powers, strict=True):
        if abs(power) > 1e-9:
            exponent = f"{abs(power):.4g}"
            plain = re.fullmatch(r"[^\W\d_]+|\W", name) or (exponent == "1" and power > 0)
            whole = name if plain else f"({name})"
            (over if power > 0 else under).append(whole if exponent == "1" else f"{whole}^{exponent}")
    return f"{' '.join(over) or '1'}{'/'.join(['', *under])}"


def _in_known(vector: np.ndarray, known: Sequence[str]) -> str:
    """A unit as a product of powers of the fewest known ones, three at most; empty if it is none."""
    texts = [text for text in dict.fromkeys(known) if np.any(unit(text))][:MOST]
    for count in (1, 2, 3):
        for chosen in itertools.combinations(texts, count):
            A = np.array([unit(text) for text in chosen]).T
            powers = np.linalg.lstsq(A, vector, rcond=None)[0]
            plain = np.abs(12 * powers - np.round(12 * powers)) < 1e-5  # halves, thirds, quarters
            if plain.all() and np.abs(A @ powers - vector).max() < 1e-6:
                return _product(chosen, powers)
    return ""


def with_units(names: Sequence[Name], given: Mapping[str, str | None] | bool | None) -> tuple[Name, ...]:
    """Columns with the units that are given for them, in the place of those in their names.

    Parameters
    ----------
    names : list of Name
    given : column or shown name -> unit, None for a column that may have any; or whether units are used

    Returns
    -------
    tuple of Name

    Raises
    ------
    ValueError
        If there is no such column.
    """
    if not isinstance(given, Mapping):
        return tuple(names)
    places = {key: i for i, name in enumerate(names) for key in (name.shown, name.column)}
    found = list(names)
    for key, text in given.items():
        if key not in places:
            raise ValueError(f"units are given for {key!r}, which is no column{did_you_mean(str(key), list(places))}")
        found[places[key]] = found[places[key]]._replace(unit=text or "")
    return tuple(found)


def vectors(names: Sequence[Name]) -> Iterator[np.ndarray | None]:
    """The vector of each column's unit; None of those without one.

    Raises
    ------
    ValueError
        If a unit cannot be read; the message names the column.
    """
    for name in names:
        try:
            yield unit(name.unit) if name.unit else None
        except ValueError as error:
            raise ValueError(f"{name.shown}: {error}") from None
