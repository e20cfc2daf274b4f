"""EmpiricalBench (Cranmer 2023): ten tables of physics as it was found, five of them measured, five drawn with noise.

The measured ones are the same for every seed. The others are drawn anew for each seed by the stated ranges and noise:
the benchmark's own draws are another generator's (PMLB keeps one of each: `first_principles`). Where the benchmark's
plot has a logarithmic scale, the target is the logarithm, and noise multiplies the value before it is taken.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..expressions import parse
from . import Split, facts, generator, srsd
from .first_principles import Measured, box


@dataclass(frozen=True, eq=False, kw_only=True)
class Empirical(Measured):
    """A table of EmpiricalBench; one that is drawn has samplers, and the target is then a logarithm.

    Attributes
    ----------
    samplers : input -> ``[family, low, high]`` as in `srsd.sample`, or ``[above, input, high]``: whole numbers
    rows : how many are drawn
    relative : standard deviation of the noise, as a share of the value
    """

    samplers: Mapping[str, list] = field(default_factory=dict)
    rows: int = 0
    relative: float = 0.0

    def data(self, seed: int = 0) -> dict[str, Split]:
        """One split, ``train``."""
        if not self.samplers:
            return super().data(seed)
        rng = generator(seed, self.id, "train")
        values: dict[str, np.ndarray] = {}
        for name, (family, low, high) in self.samplers.items():
            above = family == "above"
            values[name] = (
                rng.integers(values[low].astype(int) + 1, high).astype(float)
                if above
                else srsd.sample([family, low, high], self.rows, rng)
            )
        factors = 1 + generator(seed, self.id, "noise").normal(0, self.relative, self.rows)
        # Five standard deviations of the largest noise reach 0, where there is no logarithm.
        y = self.evaluate(values) + np.log(np.abs(factors))
        return {"train": Split(np.column_stack(list(values.values())), y)}


def ids(subset: str | None = None) -> list[str]:
    """Names of the tables, optionally of those that are ``measured`` or ``drawn``."""
    if subset not in (None, "measured", "drawn"):
        raise KeyError(f"empirical has no subset {subset!r} (subsets: measured, drawn)")
    return [name for name, about in facts("empirical").items() if subset in (None, _subset(about))]


def _subset(about: Mapping) -> str:
    return "measured" if "measured" in about else "drawn"


def load(name: str) -> Empirical:
    about = facts("empirical")[name]
    (target,) = about["target"]
    fields: dict[str, Any] = {
        "id": f"empirical/{name}",
        "truth": {target: about["law"]},
        "subset": _subset(about),
        "note": about["target"][target],
        "source": "EmpiricalBench (arXiv:2305.01582), pysr_paper at b3068743",
    }
    if "measured" in about:
        table, inputs = _made(about), tuple(about["inputs"])
        judged = box(about.get("judged"), table, inputs)
        return Empirical(**fields, inputs=inputs, table=tuple(map(tuple, table.tolist())), judged=judged)
    inputs = tuple(about["sampled"])
    fields |= {"samplers": about["sampled"], "rows": about["rows"], "relative": about["relative"]}
    ends = about.get("judged") or {x: spec[1:] for x, spec in about["sampled"].items()}
    return Empirical(**fields, inputs=inputs, judged={x: tuple(map(float, ends[x])) for x in inputs})


def _made(about: Mapping) -> np.ndarray:
    """Inputs and target from the columns of the measured table, shape (n, n_inputs + 1)."""
    source = facts("first_principles")[about["measured"]]
    names = (*source["inputs"], "target")
    columns = dict(zip(names, np.array(source["rows"], float).T, strict=True))
    made = [parse(str(text), names)(columns) for text in (*about["inputs"].values(), about["value"])]
    return np.column_stack(made)
