"""Formulas by description length: bits of the formula against bits of its errors, their front, snapped constants.

References
----------
S.-M. Udrescu, A. Tan, J. Feng, O. Neto, T. Wu and M. Tegmark, AI Feynman 2.0: Pareto-optimal symbolic regression
exploiting graph modularity, NeurIPS 2020
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ...expressions import Expression, refit
from ...expressions.trees import fold
from .formula import Tree, found, is_exact, rounded, tidy
from .grammar import NEAR
from .reverse_polish import PRECISION

DENOMINATOR = 10  # largest of a rational that a constant is snapped to
REFITTED = 8  # members of a front whose constants are fitted
FIT = 30  # evaluations of one fit


def number_bits(value: float) -> float:
    """Bits of a number: log2(1 + |n|) of an integer, log2((1 + |p|) q) of a rational p/q, else to a precision of 2^-30.

    >>> number_bits(7), number_bits(1.5), round(number_bits(math.pi), 2)
    (3.0, 3.0, 31.65)
    """
    value = float(value)
    real = math.log2(math.hypot(1.0, value / PRECISION))
    ratio = Fraction(value).limit_denominator(100)
    if float(ratio) != value:
        return real
    return min(real, math.log2(1 + abs(ratio.numerator)) + math.log2(ratio.denominator))


def formula_bits(tree: Tree) -> float:
    """Bits of a formula: its numbers, and for each variable and operator log2 of how many different ones there are.

    >>> formula_bits(("*", (3,), ("sin", ("x",)))) == 2 + 3 * math.log2(3)
    True
    """
    symbols: list[str] = []
    numbers: list[float] = []
    fold(tree, lambda label, _: symbols.append(label) if isinstance(label, str) else numbers.append(label))
    return sum(map(number_bits, numbers)) + len(symbols) * math.log2(max(len(set(symbols)), 1))


def error_bits(predicted: np.ndarray, y: np.ndarray) -> float:
    """Mean of log2(1 + |error| / 2^-30), to a hundredth; infinite where a prediction is not finite.

    >>> error_bits(np.array([1.0, 2.0]), np.array([1.0, 2.0 + 7 * 2.0**-30]))
    1.5
    """
    with np.errstate(all="ignore"):
        bits = float(np.mean(np.log2(1 + np.abs(predicted - y) / PRECISION)))
    return round(bits, 2) if math.isfinite(bits) else math.inf


class Member(NamedTuple):
    """A formula of a front: bits of the formula and of its errors."""

    size: float
    error: float
    expression: Expression


@dataclass
class Front:
    """The formulas of a table that no other one beats in both lengths, shortest first.

    Attributes
    ----------
    columns, y : the table
    solved : whether one has no error but rounding.
    """

    columns: dict[str, np.ndarray]
    y: np.ndarray
    members: list[Member] = field(default_factory=list)
    solved: bool = False

    def add(self, tree: Tree) -> bool:
        """Add a formula, unless it is undefined, too large or beaten; whether it was added."""
        try:
            expression = Expression(tidy(tree))
        except ValueError:
            return False
        predicted = np.broadcast_to(expression(self.columns), self.y.shape)
        new = Member(formula_bits(expression.tree), error_bits(predicted, self.y), expression)
        if not math.isfinite(new.error + new.size):
            return False
        if any(old.size <= new.size and old.error <= new.error for old in self.members):
            return False
        self.members = [old for old in self.members if old.size < new.size or old.error < new.error]
        self.members.append(new)
        self.members.sort(key=lambda member: member.size)
        none = bool(np.all(np.abs(predicted - self.y) <= PRECISION))
        self.solved = self.solved or none or is_exact(predicted, self.y, NEAR)
        return True

    def polish(self, evaluations: int) -> int:
        """Snap constants, fit those of the best members to the data, snap again; evaluations that were used."""
        used = 0
        for member in self.members[::-1][:REFITTED]:
            expression = member.expression
            if not expression.constants:
                continue
            if used + FIT + 2 * (3 * len(expression.constants) + 1) > evaluations:
                break
            used += self._snap(expression)
            if not is_exact(np.broadcast_to(expression(self.columns), self.y.shape), self.y, NEAR):
                expression = refit(expression, self.columns, self.y, starts=1, evaluations=FIT)
                used += FIT + self._snap(expression)
                self.add(expression.tree)
            find = found(expression.tree, self.columns, self.y, "", NEAR)
            if find is not None and find.exact:
                self.add(rounded(find, self.columns, self.y, NEAR).expression.tree)
        return used

    def _snap(self, expression: Expression) -> int:
        trees = list(snapped(expression))
        for tree in trees:
            self.add(tree)
        return len(trees)


def snapped(expression: Expression) -> Iterator[Tree]:
    """The formula with one constant set to 0, to the next integer and to a rational; and with all at integers.

    >>> [str(Expression(tree)) for tree in snapped(Expression(("*", (2.49,), ("x",))))]
    ['0', '2*x', '2.5*x', '2*x']
    """
    constants = list(expression.constants)
    for i, value in enumerate(constants):
        ratio = Fraction(value).limit_denominator(DENOMINATOR) if abs(value) < 1e6 else None
        options = [0, round(value) if ratio is not None else 0, ratio if ratio is not None else 0]
        for option in dict.fromkeys(options):
            number = int(option) if option == int(option) else float(option)
            yield tidy(expression.with_constants([*constants[:i], number, *constants[i + 1 :]]).tree)
    if constants:
        whole = [round(value) if abs(value) < 1e6 else value for value in constants]
        yield tidy(expression.with_constants(whole).tree)
