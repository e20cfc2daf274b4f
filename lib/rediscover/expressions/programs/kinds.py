"""What numpy keeps in an array: Booleans, integers or real numbers. An array has one kind and never changes it.

The kind of a value decides what an operation gives (two Booleans are added by ``or``), and what a cast or an
assignment to an item loses. Nothing is lost silently: a cast is written out, or the program is refused.
"""

import math
from collections.abc import Sequence
from enum import IntEnum

from ..syntax import ALIASES, RELATIONS
from ..trees import COMPARISONS, CONNECTIVES

LARGEST = 10**18  # integer; those of an array overflow at 2**63


class Kind(IntEnum):
    """Kinds of arrays; an array of several has the last of them."""

    BOOLEAN = 0
    INTEGER = 1
    REAL = 2


# What programs call them; of the rest, such as int32, that wrap around early, none is read.
KINDS = dict.fromkeys("float float64 float_ double float32 floating number f8 f4 d f".split(), Kind.REAL)
KINDS |= dict.fromkeys(("int", "int64", "i8"), Kind.INTEGER) | dict.fromkeys(("bool", "?"), Kind.BOOLEAN)
SPELLED = {Kind.REAL: "float64", Kind.INTEGER: "int", Kind.BOOLEAN: "bool"}
KEPT = ("abs", "sign", "floor", "ceil", "min", "max", "relu")  # functions that give integers of integers
Typed = tuple[Kind, float]  # a kind, and the largest magnitude of an integer; infinite for real numbers


def of_operation(label: str, a: Typed, b: Typed, exponent: object = None) -> Typed:
    """What an operator gives; `exponent` is the second operand, where it is a known number.

    >>> of_operation("*", (Kind.INTEGER, 3.0), (Kind.BOOLEAN, 1.0))
    (<Kind.INTEGER: 1>, 3.0)
    """
    kind, (first, second) = max(a[0], b[0]), (a[1], b[1])
    if label in COMPARISONS or label in CONNECTIVES:
        return Kind.BOOLEAN, 1.0
    if label == "/" or kind is Kind.REAL:
        return Kind.REAL, math.inf
    if kind is Kind.BOOLEAN and label not in ("+", "*"):
        raise ValueError(f"arrays of Booleans have no {label}")
    if label in ("//", "mod") and not exponent:
        raise ValueError("integers are divided by what may be 0")
    if label == "**" and (not isinstance(exponent, int) or type(exponent) is bool or exponent < 0):
        raise ValueError("an integer is raised to what may be negative")
    if kind is Kind.BOOLEAN:
        return kind, 1.0
    largest = {"*": first * second, "**": first**second if label == "**" else 0, "//": first, "mod": second}
    return kind, within(largest.get(label, first + second))


def of_function(name: str, parts: Sequence[Typed]) -> Typed:
    """What a function of the expression language gives, of numpy's integers as numpy does it."""
    label = ALIASES.get(name, name)
    if label in RELATIONS:
        return Kind.BOOLEAN, 1.0
    values = parts[1:] if label == "where" else parts
    kind, largest = max(kind for kind, _ in values), max(largest for _, largest in values)
    if kind is Kind.REAL or (label == "where" and len(values) == 1):
        return Kind.REAL, math.inf
    if label == "where":
        return kind, largest
    # Of Booleans numpy takes the logarithm in half precision, and it has no reciprocal of integers but 0.
    if kind is Kind.BOOLEAN or label in ("inv", "mod", "pow", "cube"):
        raise ValueError(f"{name} of {'Booleans' if kind is Kind.BOOLEAN else 'integers'}")
    if label == "square":
        return kind, within(largest**2)
    return (kind, largest) if label in KEPT else (Kind.REAL, math.inf)


def within(largest: float) -> float:
    if largest > LARGEST:
        raise ValueError("the integers of an array are too large")
    return largest


def named(value: object) -> Kind:
    """The kind that a program names by ``dtype``."""
    if not isinstance(value, str) or value not in KINDS:
        raise ValueError(f"the type {value} is not read")
    return KINDS[value]


def names_kind(value: object) -> bool:
    return isinstance(value, str) and value in KINDS
