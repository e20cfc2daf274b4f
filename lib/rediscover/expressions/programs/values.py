"""What a program that is read computes with: formulas, and vectors and tables of them.

Nothing here computes numbers from data. An operation on formulas gives a longer formula; an operation on
numbers and lists gives what Python gives, within limits. What is refused raises ValueError with the reason.
"""

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..syntax import as_condition, as_number, call
from ..trees import COMPARISONS, CONNECTIVES, DEPTH, NODES, build, depth_of, is_boolean
from .kinds import LARGEST, Kind, Typed, of_function, of_operation

LENGTH = 1_000  # of a list or array, with all that is in it


@dataclass(frozen=True, eq=False, slots=True)
class Formula:
    """A tree with its size and depth; `rows` if it has a value in each row of the data, not one for all.

    `mask` is the condition of the rows that an index such as ``x[x > 0]`` has picked. `kind` is what numpy holds it
    as, and `largest` the greatest magnitude that an integer can have.
    """

    tree: tuple
    size: int = 1
    depth: int = 1
    rows: bool = False
    mask: tuple | None = None
    kind: Kind = Kind.REAL
    largest: float = math.inf

    @property
    def typed(self) -> Typed:
        return self.kind, self.largest


class Item(int):
    """An integer as numpy holds it, of 64 bits: it has no negative powers and no more than so many digits."""


class Vector(tuple):
    """An array of fixed length along its first axis, whose elements are numbers, formulas or vectors."""

    def __new__(cls, elements: Iterable[Any] = ()) -> "Vector":
        return super().__new__(cls, map(held, elements))


class Table(tuple):
    """An array with one row for each row of the data; the elements are its columns."""


class List(tuple):
    """A list of Python. It never changes: what changes is what its names mean."""


class RowCount:
    """The number of rows: unknown, but not 0."""


ROWS = RowCount()
Number = bool | int | float
Value = Any  # Number, str, None, Formula, Vector, Table, List, tuple, dict and the reader's own


def held(value: Value) -> Value:
    """A value as numpy holds it."""
    return Item(value) if type(value) is int else value


def free(value: Value) -> Value:
    """A value as Python holds it."""
    return int(value) if type(value) is Item else value


def is_whole(value: Value) -> bool:
    return type(value) in (int, Item)


# ------------------------------------------------------------------------------------------ formulas


def formula(value: Value) -> Formula:
    """A number or an array of one element as a formula."""
    if isinstance(value, Formula):
        return value
    if isinstance(value, tuple) and len(value) == 1:
        return formula(value[0])
    if not isinstance(value, Number):
        raise ValueError(f"{described(value)} stands where a number is wanted")
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number")
    return Formula((value,)) if isinstance(value, float) else whole(value)


def whole(value: int) -> Formula:
    return Formula((free(value),), kind=kind_of(value), largest=max(1.0, abs(value)))


def kind_of(value: Value) -> Kind:
    """What numpy would hold a value as; that of an array is the last kind among its elements."""
    if isinstance(value, Formula):
        return value.kind
    if isinstance(value, tuple):
        return max(map(kind_of, value), default=Kind.REAL)
    whole = dict.fromkeys((int, Item, RowCount), Kind.INTEGER)
    return {bool: Kind.BOOLEAN, **whole}.get(type(value), Kind.REAL)


def typed_of(value: Value) -> Typed:
    return formula(value).typed if type(value) is not float else (Kind.REAL, math.inf)


def described(value: Value) -> str:
    if isinstance(value, tuple):
        return f"an array of {len(value)} elements"
    return "nothing" if value is None else f"a {type(value).__name__}"


def derived(tree: tuple, parts: Sequence[Formula], typed: Typed = (Kind.REAL, math.inf)) -> Formula:
    """The formula of a tree that was built from those of `parts`, within the limits of expressions."""
    known = {id(part.tree): (part.size, part.depth) for part in parts}

    def measure(node: tuple) -> tuple[int, int]:
        if id(node) in known:
            return known[id(node)]
        if len(node) == 1:
            return 1, 1
        sizes, depths = zip(*map(measure, node[1:]), strict=True)
        return 1 + sum(sizes), depth_of(node[0], [(d, child[0]) for d, child in zip(depths, node[1:], strict=True)])

    size, depth = measure(tree)
    if size > NODES:
        raise ValueError(f"the expression has more than {NODES} nodes")
    if depth > DEPTH:
        raise ValueError(f"the expression is deeper than {DEPTH}")
    masks = [part.mask for part in parts if part.mask is not None]
    if any(mask != masks[0] for mask in masks):
        raise ValueError("rows picked by different masks are combined")
    return Formula(tree, size, depth, any(part.rows for part in parts), masks[0] if masks else None, *typed)


def broadcast(function: Callable, *values: Value) -> Value:
    """A pointwise function of values, element by element where they are arrays."""
    for kind in (Table, Vector):
        if any(isinstance(value, kind) for value in values):
            lengths = {len(value) for value in values if isinstance(value, Vector | Table | List)} - {1}
            if len(lengths) > 1:
                raise ValueError(f"arrays of {min(lengths)} and {max(lengths)} elements are combined")
            if not lengths:
                return kind([function(*map(formula, values))])
            length = lengths.pop()
            return kind(
                broadcast(function, *each) for each in zip(*(elements(value, length) for value in values), strict=True)
            )
    return function(*values)


def elements(value: Value, length: int) -> Sequence[Value]:
    if isinstance(value, Vector | Table | List):
        return value * length if len(value) == 1 else value
    if isinstance(value, Formula) and value.rows and length > 1:
        raise ValueError(f"a column is combined with an array of {length} elements")
    return [value] * length


def apply(name: str, *values: Value) -> Value:
    """A function of the expression language, element by element."""

    def one(*values: Value) -> Value:
        parts = [formula(value) for value in values]
        return derived(call(name, [part.tree for part in parts]), parts, of_function(name, [p.typed for p in parts]))

    return broadcast(one, *(Vector(value) if type(value) in (List, tuple) else value for value in values))


# ------------------------------------------------------------------------------------------ operators

ON_NUMBERS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "mod": operator.mod,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


def operate(label: str, a: Value, b: Value) -> Value:
    """A binary operator of Python."""
    if label in COMPARISONS and RowCount in (type(a), type(b)):
        return compare_count(label, a, b)
    if label in COMPARISONS and (isinstance(a, str) or isinstance(b, str) or a is None or b is None):
        if label not in ("==", "!="):
            raise ValueError(f"{described(a)} and {described(b)} have no order")
        same = type(a) is type(b) and a == b
        return same if label == "==" else not same
    if type(a) in (List, tuple) and type(a) is type(b) and label in ("+", "==", "!="):
        if label != "+":
            raise ValueError("lists are compared")
        return type(a)(limited(tuple(a) + tuple(b)))
    if label == "*" and (type(a) in (List, tuple) or type(b) in (List, tuple)):
        values, count = (a, b) if type(a) in (List, tuple) else (b, a)
        if is_whole(count):
            return repeated(values, count)
    if isinstance(a, Number) and isinstance(b, Number):
        return on_numbers(label, a, b)
    return broadcast(lambda a, b: on_formulas(label, a, b), a, b)


def compare_count(label: str, a: Value, b: Value) -> bool:
    """The number of rows against itself, or against 0 or 1 where only that it is not 0 matters."""
    if type(a) is type(b):
        return label in ("==", "<=", ">=")
    if isinstance(b, RowCount):
        mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
        return compare_count(mirrored.get(label, label), b, a)
    known = {("==", 0): False, ("!=", 0): True, (">", 0): True, (">=", 1): True, ("<", 1): False}
    known |= {("<=", 0): False, (">=", 0): True, ("<", 0): False}
    if (label, b) not in known:
        raise ValueError("it depends on the number of rows")
    return known[label, b]


def on_numbers(label: str, a: Number, b: Number) -> Number:
    if type(a) is bool and type(b) is bool:
        if label in ("+", "-"):
            raise ValueError(f"{label} of two Booleans, which Python counts as 1 and 0 and numpy does not")
        if label == "*":
            return a and b
    if label == "**":
        value = power(a, b)
    elif label in CONNECTIVES and not (type(a) is bool and type(b) is bool):
        raise ValueError("bits of numbers are combined")
    else:
        value = ON_NUMBERS[label](a, b)
    return checked(held(value) if Item in (type(a), type(b)) else value)


def power(a: Number, b: Number) -> Number:
    whole = isinstance(a, int) and isinstance(b, int)
    if whole and b >= 0 and (abs(a) < 2 or b * math.log2(abs(a)) < 60):
        return a**b
    if whole and not (type(a) is type(b) is int):
        raise ValueError("an integer of an array is raised to what is negative or gives one that is too large")
    value = float(a) ** b
    if isinstance(value, complex):
        raise ValueError("a negative number has no such power")
    return value


def checked(value: Number) -> Number:
    if is_whole(value) and abs(value) > LARGEST:
        raise ValueError("the number is too large")
    return value


def limited(values: Sequence) -> Sequence:
    if len(values) > LENGTH:
        raise ValueError(f"a list of more than {LENGTH} elements")
    return values


def repeated(values: Sequence, count: int) -> Sequence:
    if len(values) * max(count, 0) > LENGTH:
        raise ValueError(f"a list of more than {LENGTH} elements")
    kind: Any = type(values)
    return kind(tuple(values) * count)


def is_zero(value: Value) -> bool:
    return type(value) in (int, float) and value == 0


def on_formulas(label: str, a: Value, b: Value) -> Value:
    """An operator on formulas, or on elements of arrays, of which a known number may be one."""
    typed = of_operation(label, typed_of(a), typed_of(b), b if isinstance(b, Number) else None)
    either = label == "+" and typed[0] is Kind.BOOLEAN
    if isinstance(a, Number) and isinstance(b, Number):
        return a or b if either else kept(on_numbers(label, a, b), typed[0])
    if label not in CONNECTIVES and not either:  # True counts as 1
        a, b = (int(value) if isinstance(value, bool) else value for value in (a, b))
    a, b = formula(a), formula(b)
    if label == "//":
        quotient = derived(build("/", as_number(a.tree), as_number(b.tree)), [a, b])
        return replace(apply("floor", quotient), kind=typed[0], largest=typed[1])
    # Sums begin with 0 or zeros: these leave no trace.
    if label == "+" and not a.mask and not b.mask:
        for zero, rest in ((a, b), (b, a)):
            if is_zero(zero.tree[0]) and not is_boolean(rest.tree):
                return replace(rest, rows=a.rows or b.rows, kind=typed[0], largest=typed[1])
    if label in CONNECTIVES and not (is_boolean(a.tree) and is_boolean(b.tree)):
        raise ValueError("bits of numbers are combined")
    label = "or" if either else label
    convert = as_condition if label in CONNECTIVES else as_number
    return derived(build(label, convert(a.tree), convert(b.tree)), [a, b], typed)


def kept(value: Number, kind: Kind) -> Number:
    """A number that an array of a kind can hold."""
    if kind_of(value) > kind:
        raise ValueError("the integers of an array are too large")
    return bool(value) if kind is Kind.BOOLEAN else value


def negative(value: Value) -> Value:
    if type(value) is bool:
        raise ValueError("- of a Boolean, which Python counts as 1 or 0 and numpy does not")
    if isinstance(value, Number):
        return type(value)(-value)

    def one(value: Value) -> Formula:
        part = formula(value)
        if part.kind is Kind.BOOLEAN:
            raise ValueError("arrays of Booleans have no -")
        return derived(build("neg", as_number(part.tree)), [part], part.typed)

    return broadcast(one, value)


def inverted(value: Value) -> Value:
    """``~`` and ``not`` of a condition."""
    if isinstance(value, Number):
        return not value

    def one(value: Value) -> Formula:
        return derived(("not", as_condition(formula(value).tree)), [formula(value)], (Kind.BOOLEAN, 1.0))

    return broadcast(one, value)


def condition(value: Value) -> bool | Formula:
    """What a test of a value decides: known now, or a formula."""
    if isinstance(value, Vector) and len(value) == 1:
        value = value[0]
    if isinstance(value, Formula):
        fixed = value.tree[0] if len(value.tree) == 1 else None
        return bool(fixed) if isinstance(fixed, Number) else value
    if isinstance(value, Vector | Table):
        raise ValueError("an array of several elements is neither true nor false")
    if isinstance(value, RowCount):
        return True
    return bool(value)


def chosen(test: Value, a: Value, b: Value) -> Value:
    """``where(test, a, b)``, element by element; a choice of NaN is a choice of nothing."""
    if isinstance(test, Number):
        return a if test else b

    def one(test: Value, a: Value, b: Value) -> Value:
        if isinstance(a, float) and math.isnan(a):
            test, a, b = inverted(test), b, a
        if isinstance(b, float) and math.isnan(b):
            parts = [formula(test), formula(a)]
            return derived(("where", as_condition(parts[0].tree), as_number(parts[1].tree)), parts)
        return apply("where", test, a, b)

    return broadcast(one, test, a, b)


def merged(test: Formula, a: Value, b: Value) -> Value:
    """What a name means after two branches in which it was a and b."""
    if a is b or (type(a) is type(b) and isinstance(a, Number | str) and a == b):
        return a
    if isinstance(a, tuple) and type(a) is type(b) and len(a) == len(b):
        return type(a)(merged(test, x, y) for x, y in zip(a, b, strict=True))
    return chosen(test, a, b)


def total(values: Sequence[Value], start: Value = 0) -> Value:
    for value in values:
        start = operate("+", start, value)
    return start
