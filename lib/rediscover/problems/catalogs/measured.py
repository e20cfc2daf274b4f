"""SRBench's data sets: a table, and beside it ``metadata.yaml``, whose description states the formula in one line."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ...expressions import parse
from .. import Regression, Split, generator
from ..srsd import noisy
from .formulas import STUDY

TARGET = "target"  # SRBench's name of the column
TRAINING, MOST = 0.75, 10_000  # share of the rows for training, and so many of them at most: SRBench's rule
TABLES = (".tsv.gz", ".csv.gz", ".tsv", ".csv")
LEAST = 8  # rows


@dataclass(frozen=True, eq=False, kw_only=True)
class Tabled(Regression):
    """A table whose formula is known.

    Attributes
    ----------
    X : ndarray, shape (n, n_inputs)
    y : ndarray, shape (n,)
    noise : float
        The training target gets normal noise of standard deviation ``noise * sqrt(mean(y**2))``, SRBench's rule.
    """

    X: np.ndarray = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    y: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)

    @property
    def study(self) -> str:
        return STUDY

    def data(self, seed: int = 0) -> dict[str, Split]:
        """Three quarters of the rows for training, 10,000 at most, and the others for the scores; drawn by the seed."""
        order = generator(seed, self.id, "rows").permutation(len(self.y))
        cut = int(TRAINING * len(order))
        parts = {"train": order[:cut][:MOST], "test": order[cut:]}
        return noisy({name: Split(self.X[rows], self.y[rows]) for name, rows in parts.items()}, self, seed)

    def draw(self, rows: int, rng: np.random.Generator) -> Split:
        """Rows of the table, drawn with replacement."""
        chosen = rng.integers(len(self.y), size=rows)
        return Split(self.X[chosen], self.y[chosen])


def describes(held: Mapping) -> bool:
    """Whether a mapping describes a table, as SRBench's metadata.yaml does."""
    return isinstance(held.get("description"), str) and bool({"dataset", "features", "task"} & {*held})


def maker(path: Path) -> Callable[[str], Tabled]:
    """A function that makes the problem of a metadata.yaml from its id."""
    return partial(_problem, path)


def formula(description: str) -> str:
    """The right-hand side that a description states.

    Examples
    --------
    >>> formula("A model of mass.  m = m_0/sqrt(1-v**2/c**2)  m_0 in [1.0,5.0]".replace("  ", chr(10)))
    'm_0/sqrt(1-v**2/c**2)'
    """
    stated = [line for line in description.splitlines() if re.match(r"\s*\w+('|\*)?\s*=[^=]", line)]
    if not stated:
        raise ValueError("its description states no formula; add a line such as y = x**2")
    return stated[0].partition("=")[2].strip()


def _problem(path: Path, id: str) -> Tabled:
    try:
        held = yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError):
        raise ValueError(f"{path} is no YAML") from None
    if not isinstance(held, Mapping) or not describes(held):
        raise ValueError(f"{path} has no description of a table")
    table = _table(path, held)
    inputs = tuple(name for name in table if name != TARGET)
    if TARGET not in table or not inputs:
        raise ValueError(f"its table has no column {TARGET!r} beside inputs; name the columns in the first line")
    X, y = np.column_stack([table[name] for name in inputs]), table[TARGET]
    if len(y) < LEAST or not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise ValueError(f"its table has fewer than {LEAST} rows or values that are not finite; leave those out")
    text = str(parse(formula(held["description"]), inputs))
    source = str(held.get("source") or path.name).strip()
    return Tabled(id=id, truth={TARGET: text}, inputs=inputs, X=X, y=y, source=source)


def _table(path: Path, held: Mapping) -> dict[str, np.ndarray]:
    """Column -> numbers of the table beside a metadata.yaml."""
    import pandas as pd

    name = str(held.get("dataset") or path.resolve().parent.name)
    places = [path.parent / f"{name}{ending}" for ending in TABLES]
    place = next((each for each in places if each.exists()), None)
    if place is None:
        raise ValueError(f"there is no {places[0].name} beside its {path.name}; put it there")
    frame: Any
    try:
        frame = pd.read_csv(place, sep="\t" if ".tsv" in place.name else ",")
        return {str(column): frame[column].to_numpy(dtype=float) for column in frame}
    except (ValueError, OSError, EOFError, pd.errors.ParserError):
        raise ValueError(f"{place.name} is no table of numbers; fetch it again") from None
