"""Whether an equation's units agree, and which units its constants have: the eighth rule of `choice`.

With u a unit as a vector (`units`), that of a product is a sum and that of a power p is p u, so that a node has

    u = a + sum_k b_k u_k        u_k the units that are not known: of free constants and of columns without one

What a node asks of its children, such as equal units of two terms, is linear in the u_k. The units agree if all these
conditions can be met at once.

References
----------
Cranmer (2023), arXiv:2305.01582: PySR's ``dimensional_constraint_penalty`` and ``dimensionless_constants_only``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..expressions import Expression
from ..expressions.trees import COMPARISONS, CONNECTIVES, NAMED, fold, is_number
from .constants import Form
from .units import written

CONSTANTS = ("free", "dimensionless")
SAME = ("+", "-", "min", "max", "mod", "neg", "abs")  # of terms of one unit, which is that of the result
ROOTS = {"sqrt": 1 / 2, "cbrt": 1 / 3}
ROUNDING = 1e-7


class _Node(NamedTuple):
    """A unit: what is known of it and the share of each unknown, shape (8 + n_unknown,); and a value if it has one."""

    unit: np.ndarray
    value: float | None


@dataclass(frozen=True)
class Dimensions:
    """Units of the columns of a table and of what an equation is for.

    Attributes
    ----------
    columns : search's name -> unit as a vector, or None where it may have any
    target : unit of the equation's value, or None
    constants : ``free``, or ``dimensionless`` where constants have no unit but may have a size, such as 1000 m/km
    known : texts of units in which those of constants are written if they are the same
    """

    columns: Mapping[str, np.ndarray | None]
    target: np.ndarray | None
    constants: str = "free"
    known: tuple[str, ...] = field(default=())

    def refused(self, form: Form) -> str:
        """Why a form is none for these units; empty where it may be one."""
        return "" if _Conditions(self, form).met() else "with units that do not agree"

    def of_constants(self, form: Form) -> dict[int, str]:
        """Place of a constant -> its unit as text; without those that are held or plain numbers.

        Where the equation leaves a choice, as in c0 x/(c1 x + c2), a constant is a plain number if it may be one, in
        their order.
        """
        conditions = _Conditions(self, form)
        if not conditions.met():
            return {}
        for k in range(conditions.constants):
            conditions.ask(k)
            if not conditions.met():
                conditions.rows.pop()
        solved = conditions.solution()
        count = conditions.constants + len(form.held)
        places = [i for i in range(count) if f"k{i}" not in form.held]
        texts = {place: written(solved[k], self.known) for k, place in enumerate(places)}
        return {place: text for place, text in texts.items() if text}


class _Conditions:
    """What a form asks of the units that are not known: free constants first, then columns, then the target."""

    def __init__(self, dimensions: Dimensions, form: Form) -> None:
        self.dimensions, self.held = dimensions, form.values
        self.constants = len(form.expression.constants)
        unknown = [name for name in form.expression.names if dimensions.columns.get(name, 0) is None]
        self.places = {name: self.constants + i for i, name in enumerate([*unknown, ""])}
        self.rows: list[np.ndarray] = []
        markers = iter(range(self.constants))
        # a constant is a leaf of its own kind, so that it can be told from numbers that are not fitted
        tree = form.expression._with_leaves(lambda value: (_Constant(next(markers), value),))
        whole = fold(fold(tree, _exponential), self.node)
        target = self.unknown("") if dimensions.target is None else self.of(dimensions.target)
        self.rows.append(whole.unit - target)

    def of(self, vector: np.ndarray) -> np.ndarray:
        return np.concatenate([vector, np.zeros(len(self.places) + self.constants)])

    def unknown(self, name: str | int) -> np.ndarray:
        found = self.of(np.zeros(8))
        found[8 + (name if isinstance(name, int) else self.places[name])] = 1.0
        return found

    def ask(self, constant: int) -> None:
        """That a constant be a plain number."""
        self.rows.append(self.unknown(constant))

    def node(self, label: Any, children: list[_Node]) -> _Node:
        if not children:
            return self.leaf(label)
        units, none = [child.unit for child in children], self.of(np.zeros(8))
        value = self.value(label, children)
        if label in SAME:
            self.rows += [unit - units[0] for unit in units[1:]]
            return _Node(units[0], value)
        if label in ("*", "/"):
            return _Node(units[0] + units[1] if label == "*" else units[0] - units[1], value)
        if label in ROOTS:
            return _Node(units[0] * ROOTS[label], value)
        if label == "**":
            self.rows.append(units[1])
            if children[1].value is not None:
                return _Node(units[0] * children[1].value, value)
            self.rows.append(units[0])
        elif label in (*COMPARISONS, "atan2"):
            self.rows.append(units[1] - units[0])
        elif label == "where":
            self.rows += [unit - units[1] for unit in units[2:]]
            return _Node(units[1], None)
        elif label != "sign" and label not in CONNECTIVES:
            self.rows += units
        return _Node(none, value)

    def leaf(self, label: Any) -> _Node:
        if isinstance(label, _Constant):
            return _Node(self.unknown(label.place), label.value)
        if is_number(label) or isinstance(label, bool) or label in NAMED:
            return _Node(self.of(np.zeros(8)), float(NAMED.get(label, label) if isinstance(label, str) else label))
        if label in self.held:
            return _Node(self.of(np.zeros(8)), self.held[label])
        vector = self.dimensions.columns[label]
        return _Node(self.unknown(label) if vector is None else self.of(vector), None)

    @staticmethod
    def value(label: Any, children: list[_Node]) -> float | None:
        values = [child.value for child in children]
        if None in values:
            return None
        with np.errstate(all="ignore"):
            return float(Expression((label, *((value,) for value in values)))({}))

    def met(self) -> bool:
        solved = self.solution()
        rows = np.array(self.rows)
        off = rows[:, :8] + rows[:, 8:] @ solved
        return bool(np.abs(off).max() <= ROUNDING * max(1.0, np.abs(rows[:, :8]).max()))

    def solution(self) -> np.ndarray:
        """Units that are not known, shape (n_unknown, 8), by least squares of the conditions."""
        rows = np.array(self.rows)
        A, b = rows[:, 8:], -rows[:, :8]
        found = np.linalg.lstsq(A, b, rcond=None)[0]
        if self.dimensions.constants == "dimensionless":
            # a size they may have, powers they may not
            found[:, 1:] = 0.0
            found[self.constants :, 1:] = np.linalg.lstsq(A[:, self.constants :], b[:, 1:], rcond=None)[0]
        return found


def _exponential(label: Any, children: list[tuple]) -> tuple:
    """A power of exp as exp of a product, in which the exponent may have the unit that the argument lacks."""
    if label == "**" and children[0][0] == "exp":
        return ("exp", ("*", children[1], children[0][1]))
    return (label, *children)


class _Constant(NamedTuple):
    """A constant that is fitted, as the label of a leaf."""

    place: int
    value: float
