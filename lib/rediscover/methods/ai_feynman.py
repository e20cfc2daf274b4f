"""AI Feynman: brute force over short formulas, and division of the table where it shows symmetry or separability."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..expressions import Expression
from ..expressions.trees import replace_leaves
from ..search.enumeration.divide_and_conquer import Meter, Settings, discover
from ..search.enumeration.formula import Tree, times
from ..search.enumeration.reverse_polish import SETS
from . import Candidate
from .tables import Tabular

ORDINARY = 10  # sizes from 2^-10 to 2^10 are left as they are
DECADE = math.log2(10)
VARIANTS = ("normalised", "as_released")


@dataclass(frozen=True)
class AiFeynman(Tabular):
    """The front of a recursive search: short formulas, polynomials, symmetries, separable groups of inputs.

    Our own code after a description of AI Feynman. On each table: brute force over formulas in reverse Polish
    notation, with an offset and with a factor, and polynomials, on the target and on the target behind eleven
    functions; then the symmetry in two inputs or the separable group of inputs that fits best, and the same for the
    smaller tables; then snapping and fitting of constants. Candidates are those that no other one beats in both the
    bits of the formula and of its errors, smallest error first.

    Other than there: structure is read from fitted polynomials, not from a network; neither compositionality nor
    generalised symmetry (both of version 2.0) is looked for; evaluations are shared out in place of seconds; the
    second part of a sum or a product is fitted to what the first one leaves.

    The search calls an error below 2^-30 none and refuses offsets and factors beyond 2^30. 'as_released' leaves units
    alone, so that a tiny target is "solved" by the first constant and a huge one by nothing. 'normalised' is the
    control: sizes (root mean squares) beyond 2^10 either way are divided out by powers of two, one for all inputs
    whose sizes are within a decade of each other, so that sums of like quantities stay sums.

    Attributes
    ----------
    variant : 'normalised' or 'as_released'.
    operators : names of operator sets, comma-separated, which share the evaluations: 7ops, 10ops, 14ops, 19ops.
    degree : of the polynomials.
    divides : whether symmetries and separable groups are looked for; if not, this is the first stage alone.

    References
    ----------
    S.-M. Udrescu and M. Tegmark, Science Advances 6 (2020) eaay2631;
    S.-M. Udrescu, A. Tan, J. Feng, O. Neto, T. Wu and M. Tegmark, AI Feynman 2.0, NeurIPS 2020
    """

    variant: str = "normalised"
    operators: str = "7ops,14ops"
    degree: int = 4
    divides: bool = True
    name: ClassVar[str] = "ai_feynman"
    reference: ClassVar[str] = "after Udrescu and Tegmark, AI Feynman (2020), and Udrescu et al., AI Feynman 2.0 (2020)"
    searches: ClassVar[bool] = True
    requires: ClassVar[tuple[str, ...]] = ("numba",)

    def __post_init__(self):
        super().__post_init__()
        if self.variant not in VARIANTS:
            raise ValueError(f"ai_feynman: variant is 'normalised' or 'as_released', got {self.variant!r}")
        unknown = [name for name in self.operators.split(",") if name not in SETS]
        if unknown:
            raise ValueError(f"ai_feynman: unknown operator set {unknown[0]!r} (sets: {', '.join(SETS)})")
        if self.degree < 1:
            raise ValueError(f"ai_feynman: degree must be at least 1, got {self.degree}")

    def search(self, task, *, budget, rng):
        order = rng.permutation(len(task.y))
        X, y = task.X[order], task.y[order]
        released = self.variant == "as_released"
        scales = np.ones(X.shape[1] + 1) if released else np.append(units(X), units(y[:, None]))
        names = [f"x{i}" for i in range(X.shape[1])]
        columns = {name: x / scale for name, x, scale in zip(names, X.T, scales, strict=False)}
        settings = Settings(tuple(SETS[name] for name in self.operators.split(",")), self.degree, self.divides)
        meter = Meter(int(budget.evaluations))
        front = discover(columns, y / scales[-1], settings, meter)
        inputs = {
            name: times(float(1 / scale), (own,)) for name, own, scale in zip(names, task.inputs, scales, strict=False)
        }
        found = []
        for member in front.members[::-1]:
            tree = in_units(member.expression.tree, inputs, float(scales[-1]))
            predicted = Expression(tree)(dict(zip(task.inputs, X.T, strict=True)))
            loss = float(np.mean((predicted - y) ** 2))
            found.append(
                Candidate(
                    {task.output: str(Expression(tree))},
                    loss,
                    round(member.size, 2),
                    meter.used,
                    {"error_bits": member.error, "solved": front.solved},
                )
            )
        return found


def units(X: np.ndarray) -> np.ndarray:
    """Powers of two that bring the columns' sizes near 1: the same for sizes with less than a decade between them.

    Parameters
    ----------
    X : ndarray, shape (rows, columns)

    Returns
    -------
    ndarray, shape (columns,)
        1 where sizes are ordinary, see `ORDINARY`.

    >>> units(np.array([[3e8, 2e8, 1.5, 1e-12]])).tolist() == [2.0**28, 2.0**28, 1.0, 2.0**-40]
    True
    """
    top = np.abs(X).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.log2(top) + np.log2(np.mean((X / top) ** 2, axis=0)) / 2
    order = np.argsort(sizes, kind="stable")
    out = np.ones(X.shape[1])
    for group in np.split(order, np.flatnonzero(np.diff(sizes[order]) > DECADE) + 1):
        middle = sizes[group].mean()
        if np.isfinite(middle) and abs(middle) > ORDINARY:
            out[group] = 2.0 ** np.round(middle)
    return out


def in_units(tree: Tree, inputs: Mapping[str, Tree], scale: float) -> Tree:
    """The formula for the data as they were: `scale` times the tree of inputs in units, with one factor in front.

    >>> str(Expression(in_units(("*", (3,), ("sqrt", ("x0",))), {"x0": ("*", (4.0,), ("t",))}, 2.0)))
    '12*sqrt(t)'
    """
    factor, rest = gathered(replace_leaves(tree, lambda leaf: inputs.get(leaf, (leaf,))))
    return times(factor * scale, rest) if rest != (1,) else times(1, (factor * scale,))


def gathered(tree: Tree) -> tuple[float, Tree]:
    """A number and a tree whose product is the tree, with the numbers out of its products, quotients and powers."""
    label, *children = tree
    if not children:
        return (float(label), (1,)) if isinstance(label, int | float) else (1.0, tree)
    parts = [gathered(child) for child in children]
    (a, u), (b, v) = parts[0], parts[-1]
    if label == "neg":
        return -a, u
    if label == "*":
        return a * b, u if v == (1,) else v if u == (1,) else (label, u, v)
    if label == "/" and b != 0:
        return a / b, u if v == (1,) else (label, u, v)
    if label == "sqrt" and a > 0:
        return math.sqrt(a), (label, u) if u != (1,) else u
    if label == "**" and isinstance(children[1][0], int) and len(children[1]) == 1 and a != 0:
        power = children[1]
        return a ** power[0], (label, u, power) if u != (1,) else u
    if label in ("+", "-") and a == b:
        return a, (label, u, v)
    return 1.0, (label, *(times(c, w) if w != (1,) else _number(c) for c, w in parts))


def _number(value: float) -> Tree:
    return (int(value),) if value == int(value) and abs(value) < 1e6 else (value,)
