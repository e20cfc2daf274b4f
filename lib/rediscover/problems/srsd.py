"""SRSD: 120 laws of physics with realistic sampling ranges, and the same laws on the original Feynman ranges.

Values, ranges and the differences between the paper and its released code are in ``data/srsd.yaml``.
Sampling, the acceptance rule and dummy columns follow the released code (omron-sinicx/srsd-benchmark).
"""

import dataclasses
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..numerics.single_precision import kept_rows
from . import Regression, Split, facts, generator

SETS = ("easy", "medium", "hard")
SPLITS = ("train", "validation", "test")
# The rule of the released code: a law belongs to the first set whose operations and decades it stays below.
BOUNDS = {"easy": (5, 4), "medium": (8, 20)}
DUMMIES = 3  # at most


def ids(subset: str | None = None) -> list[str]:
    """Names of the laws in the order of the paper's tables, optionally of one set (easy, medium, hard)."""
    if subset is not None and subset not in SETS:
        raise KeyError(f"srsd has no subset {subset!r} (subsets: {', '.join(SETS)})")
    return [name for name, law in facts("srsd")["laws"].items() if subset in (None, law["set"])]


def difficulty_set(operations: int, decades: float) -> str:
    """The set that a law belongs to by the thresholds of the released code, `BOUNDS`.

    Parameters
    ----------
    operations : int
        In the law, by SymPy's ``count_ops``.
    decades : float
        Width of its sampling ranges, as `Law.domain_range` measures it.

    Examples
    --------
    >>> difficulty_set(3, 2.0), difficulty_set(3, 4.0), difficulty_set(9, 2.0)
    ('easy', 'medium', 'hard')
    """
    for name, (most_operations, most_decades) in BOUNDS.items():
        if operations < most_operations and decades < most_decades:
            return name
    return "hard"


def load(name: str) -> "Law":
    return Law(id=f"srsd/{name}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Law(Regression):
    """One law.

    Attributes
    ----------
    ranges : 'paper' or 'upstream'
        Sampling ranges of the paper's tables, or of the released code where they differ (20 inputs; law B12
        has one input more there).
    variant : 'srsd' or 'fsrd'
        'fsrd' is the original set: uniform ranges, and constants are inputs (after the others). Three of its
        laws solve for an angle.
    dummies : int or bool
        Number of irrelevant input columns, 0 to 3; True draws 1, 2 or 3 with equal chance.
    sizes : rows of train, validation and test
    noise : float
        The training target gets normal noise of standard deviation ``noise * sqrt(mean(y**2))``, as in
        SRBench (eq. (S2) of the paper lacks the square). Validation and test stay clean.
    truth, inputs, subset, flags, note
        Follow from the above. Flags: 'cancellation' where rounding in double precision dominates the targets,
        'overflow' where the paper's range cannot be used.
    """

    choices: ClassVar = {"ranges": ("paper", "upstream"), "variant": ("srsd", "fsrd")}
    truth: Mapping[str, str] = field(init=False)
    inputs: tuple[str, ...] = field(init=False)
    subset: str = field(init=False)
    flags: tuple[str, ...] = field(init=False)
    note: str = field(init=False)
    source: str = field(init=False, default="SRSD, Tables 1 and S1-S11")
    ranges: str = "paper"
    variant: str = "srsd"
    dummies: int | bool = 0
    sizes: tuple[int, int, int] = (8000, 1000, 1000)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.dummies, int) and 0 <= self.dummies <= DUMMIES):
            raise ValueError(f"{self.id}: dummies must be 0 to {DUMMIES} or True, got {self.dummies!r}")
        if len(self.sizes) != len(SPLITS) or not all(isinstance(n, int) and n > 0 for n in self.sizes):
            raise ValueError(f"{self.id}: sizes must be three positive integers, got {self.sizes!r}")
        entry = self.entry
        original = entry.get("fsrd", {}) if self.variant == "fsrd" else {}
        (target,) = [original["target"]] if original else entry["target"]
        flags = tuple(entry.get("flags", ())) if self.variant == "srsd" else ()
        columns = list(self.samplers)
        for position, name in self.dummy_columns:
            columns.insert(position, name)
        derived = {
            "truth": {target: self.with_constants(original.get("formula", entry["formula"]))},
            "inputs": tuple(columns),
            "subset": entry["set"],
            "flags": tuple(flag for flag in flags if flag != "overflow" or self.ranges == "paper"),
            "note": entry.get("note", ""),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def entry(self) -> dict[str, Any]:
        """The law's block in the data file."""
        return facts("srsd")["laws"][self.id.split("/", 1)[1]]

    @property
    def meanings(self) -> dict[str, str]:
        inputs = {name: spec.get("means", "") for name, spec in self.entry["inputs"].items()}
        constants = {name: spec["is"] for name, spec in self.entry.get("constants", {}).items()}
        known = inputs | constants | self.entry["target"]
        return {name: known.get(name, "") for name in super().meanings}

    @functools.cached_property
    def samplers(self) -> dict[str, list]:
        """Input -> ``[family, low, high]`` and perhaps ``signed`` or ``negative`` (see the data file)."""
        inputs, constants = self.entry["inputs"], self.entry.get("constants", {})
        if self.variant == "fsrd":
            inputs = {**inputs, **self.entry.get("fsrd", {}).get("inputs", {}), **constants}
            return {name: ["uniform", *spec["fsrd"]] for name, spec in inputs.items() if "fsrd" in spec}
        if self.ranges == "paper":
            return {name: spec["srsd"] for name, spec in inputs.items()}
        columns = [(name, spec.get("upstream", spec["srsd"])) for name, spec in inputs.items()]
        for name, spec in constants.items():  # a constant that the released code samples
            if "column" in spec:
                columns.insert(spec["column"], (name, spec["upstream"]))
        return dict(columns)

    def with_constants(self, formula: str) -> str:
        """The formula with the values of the constants that are not inputs."""
        constants, values = self.entry.get("constants", {}), facts("srsd")["constants"]
        numbers = {name: repr(values[spec["is"]]) for name, spec in constants.items() if name not in self.samplers}
        return re.sub(r"[A-Za-z_]\w*", lambda match: numbers.get(match[0], match[0]), formula)

    @property
    def upstream_targets(self) -> str:
        """The formula that made the released targets; it differs from the truth for I.34.14, B6 and B13."""
        return self.with_constants(self.entry.get("upstream_targets", self.entry["formula"]))

    @property
    def upstream_truth(self) -> str:
        """The released symbolic truth, used for edit distances; it differs for III.9.52 and B6."""
        return self.with_constants(self.entry.get("upstream_truth", self.entry["formula"]))

    @functools.cached_property
    def dummy_columns(self) -> list[tuple[int, str]]:
        """Positions at which to insert dummy columns, last position first, and their names."""
        rng = generator(0, self.id, "dummies")
        count = int(rng.integers(1, DUMMIES + 1)) if self.dummies is True else self.dummies
        positions = sorted(rng.integers(0, len(self.samplers) + 1, size=count).tolist(), reverse=True)
        return [(position, f"dummy_{count - i}") for i, position in enumerate(positions)]

    def domain_range(self) -> dict[str, float]:
        """Width of the sampling ranges on a log scale: ``paper`` by eq. (1), ``code`` by the released rule.

        Both ignore random signs. Eq. (1) is ``ceil(log10(max - min))`` over the bounds of all inputs, rounded
        to six decimals before the ceiling, as 1e10 + 1 counts as ten decades. The code has no ceiling but an
        absolute value around the logarithm, and an input that lowers the minimum cannot raise the maximum.
        """
        low, high = np.array([spec[1:3] for spec in self.samplers.values()], float).T
        least, most = low[0], high[0]
        for a, b in zip(low[1:], high[1:], strict=True):
            if a < least:
                least = a
            elif b > most:
                most = b
        return {
            "paper": float(np.ceil(np.log10(high.max() - low.min()).round(6))),
            "code": float(abs(np.log10(most - least))),
        }

    def draw(self, rows: int, rng: np.random.Generator) -> Split:
        """Accepted rows: those whose target is a normal single-precision number.

        Raises
        ------
        RuntimeError
            If rejected rows cannot be replaced within 10 further batches of twice the first shortfall.
        """
        if "overflow" in self.flags:
            return dataclasses.replace(self, ranges="upstream").draw(rows, rng)
        kept = kept_rows(functools.partial(self._batch, rng=rng), rows)
        if len(kept) < rows:
            raise RuntimeError(f"{self.id}: only {len(kept)} of {rows} rows have targets within single precision")
        X, y = np.ascontiguousarray(kept[:, :-1]), np.ascontiguousarray(kept[:, -1])
        for (position, _), sampler in zip(self.dummy_columns, self._dummy_samplers, strict=True):
            X = np.insert(X, position, sample(sampler, rows, rng), axis=1)
        return Split(X, y)

    def _batch(self, rows: int, rng: np.random.Generator) -> np.ndarray:
        values = {name: sample(spec, rows, rng) for name, spec in self.samplers.items()}
        (truth,) = self.expressions.values()
        return np.column_stack([*values.values(), truth(values)])

    @functools.cached_property
    def _dummy_samplers(self) -> list[list]:
        rng = generator(0, self.id, "dummies", "ranges")
        decades = rng.integers(-32, 32, size=len(self.dummy_columns), endpoint=True).tolist()
        signs = [("signed",) if signed else () for signed in rng.random(len(decades)) < 0.5]
        return [["log", 10.0 ** (k - 1), 10.0 ** (k + 1), *sign] for k, sign in zip(decades, signs, strict=True)]

    def data(self, seed: int = 0) -> dict[str, Split]:
        """Splits ``train``, ``validation``, ``test``; each has a random stream of its own."""
        splits = {
            name: self.draw(rows, generator(seed, self.id, name)) for name, rows in zip(SPLITS, self.sizes, strict=True)
        }
        return noisy(splits, self, seed)


def noisy(splits: dict[str, Split], problem: Regression, seed: int) -> dict[str, Split]:
    """Splits with noise on the training target alone, of ``problem.noise`` times the root mean square of the target."""
    if not problem.noise:
        return splits
    X, y = splits["train"]
    scale = problem.noise * np.sqrt(np.mean(y**2))
    return splits | {"train": Split(X, y + generator(seed, problem.id, "noise").normal(0, scale, len(y)))}


def sample(spec: list, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Draws from ``[family, low, high]`` and perhaps ``signed`` or ``negative`` (see ``data/srsd.yaml``).

    Returns
    -------
    ndarray of float, shape (rows,)
    """
    family, low, high, *sign = spec
    if family == "log":
        values = 10 ** rng.uniform(np.log10(low), np.log10(high), rows)
    elif family == "uniform":
        values = rng.uniform(low, high, rows)
    elif family == "integer":
        values = rng.integers(low, high, rows).astype(float)
    else:
        raise ValueError(f"unknown sampling family {family!r} (families: log, uniform, integer)")
    if sign == ["signed"]:
        values *= rng.choice([-1.0, 1.0], rows)
    elif sign == ["negative"]:
        values = -values
    return values
