"""The 13 tables of SRBench 2025's first-principles track: measured values, or nearly so, beside an accepted law.

All rows are for training, as there is nothing else; how an answer predicts is asked by leaving out one row at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from . import Regression, Split, facts


@dataclass(frozen=True, eq=False, kw_only=True)
class Measured(Regression):
    """A table with a law that is accepted for it, whose constants are fitted to the table.

    Attributes
    ----------
    table : rows of inputs and target
    judged : input -> ends of the box in which answers are compared with the law
    """

    table: tuple[tuple[float, ...], ...] = field(default=(), repr=False)
    judged: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def data(self, seed: int = 0) -> dict[str, Split]:
        """One split, ``train``; the same for every seed."""
        rows = np.array(self.table, float)
        return {"train": Split(np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, -1]))}


def box(judged: Mapping[str, list] | None, table: np.ndarray, inputs: tuple[str, ...]) -> dict[str, tuple]:
    """Where answers are compared: as stated, or what the columns of a table span."""
    if judged:
        return {name: tuple(map(float, judged[name])) for name in inputs}
    return {name: (float(x.min()), float(x.max())) for name, x in zip(inputs, table.T, strict=False)}


def ids(subset: str | None = None) -> list[str]:
    """Names of the tables, optionally of those that are ``measured`` or ``drawn``."""
    if subset not in (None, "measured", "drawn"):
        raise KeyError(f"first_principles has no subset {subset!r} (subsets: measured, drawn)")
    return [name for name, about in facts("first_principles").items() if subset in (None, _subset(about))]


def _subset(about: Mapping) -> str:
    return "drawn" if about["drawn"] else "measured"


def load(name: str) -> Measured:
    about = facts("first_principles")[name]
    inputs = tuple(about["inputs"])
    (target,) = about["target"]
    return Measured(
        id=f"first_principles/{name}",
        truth={target: about["law"]},
        inputs=inputs,
        table=tuple(map(tuple, about["rows"])),
        judged=box(about.get("judged"), np.array(about["rows"], float), inputs),
        subset=_subset(about),
        note=about["target"][target],
        source="PMLB first_principles_* (SRBench 2025); laws: EmpiricalBench, MvSR, Bazin (2009)",
    )
