"""How the elements of arrays come by their type: casts, assignments to items, and ``dtype`` in a call."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ..syntax import as_number
from .kinds import Kind, named, names_kind
from .values import Formula, Item, List, Number, Table, Value, Vector, apply, derived, free, is_whole, kind_of, whole

# Functions that make an array of what they are given -> where a type stands among their arguments.
MAKERS = dict.fromkeys("array asarray asanyarray ascontiguousarray as_tensor astype to tensor".split(), 1)
MAKERS |= dict.fromkeys("zeros ones empty zeros_like ones_like empty_like".split(), 1)
MAKERS |= {"full": 2, "full_like": 2, "arange": 3}
CASTS = dict.fromkeys("float64 float32 double float_ float".split(), Kind.REAL)  # types that are called
# Keywords that change no value: of memory, devices, and shapes of which only one is possible here.
IDLE = """copy order subok requires_grad device keepdims keepdim non_blocking memory_format casting like ndmin
    nan posinf neginf""".split()


def cast(value: Value, kind: Kind) -> Value:
    """``astype``: what a value is in an array of a kind. Real numbers that are not known are not cut to integers."""
    if type(value) in (List, tuple):
        value = Vector(value)
    if isinstance(value, Vector | Table):
        elements = [cast(float(e) if is_whole(e) and kind is Kind.REAL else e, kind) for e in value]
        same = all(new is old for new, old in zip(elements, value, strict=True))
        return value if same else type(value)(elements)
    if isinstance(value, Formula) and len(value.tree) == 1 and isinstance(value.tree[0], Number) and not value.rows:
        value = value.tree[0]
    if isinstance(value, Number):
        return free(value) if kind is Kind.REAL else Item(value) if kind is Kind.INTEGER else bool(value)
    if not isinstance(value, Formula):
        raise ValueError("the type of what is no number is changed")
    if value.kind is kind:
        return value
    if kind is Kind.BOOLEAN:
        return apply("Ne", value, 0)
    if value.kind is Kind.REAL:
        raise ValueError("real numbers are cut to integers, which is no function of the language")
    return derived(as_number(value.tree), [value], (kind, value.largest if kind is Kind.INTEGER else math.inf))


def fitting(value: Value, kind: Kind) -> Value:
    """A value that is put into an array of a kind; one that numpy would cut is refused."""
    if isinstance(value, tuple):
        return type(value)(fitting(each, kind) for each in value)
    if isinstance(value, Number) and not math.isfinite(value):
        value = float(value)
    elif (
        isinstance(value, Number) and kind < Kind.REAL and value in ((0, 1) if kind is Kind.BOOLEAN else (int(value),))
    ):
        return bool(value) if kind is Kind.BOOLEAN else int(value)
    if kind_of(value) > kind:
        held = "Booleans" if kind is Kind.BOOLEAN else "integers"
        raise ValueError(f"a number is put into an array of {held}, which would cut it")
    if isinstance(value, Formula):
        return cast(value, kind) if value.tree[0] is not True else replace(whole(1), rows=value.rows)
    return float(value) if kind is Kind.REAL and is_whole(value) else value


def unified(elements: Sequence[Value], kind: Kind | None = None) -> list[Value]:
    """The elements of one array: Booleans beside numbers are numbers."""
    kind = kind_of(tuple(elements)) if kind is None else kind

    def one(value: Value) -> Value:
        if isinstance(value, Vector | Table):
            return type(value)(unified(value, kind))
        if isinstance(value, Formula):
            return cast(value, kind) if value.kind < kind else value
        return int(value) if type(value) is bool and kind > Kind.BOOLEAN else value

    return [one(value) for value in elements]


def called(name: str, function: Callable[..., Value], arguments: Sequence[Value], keywords: Mapping) -> Value:
    """The value of a call of a library's function, in the type that the call names.

    Raises
    ------
    ValueError
        If a type stands where none is read, or is none that is read.
    """
    arguments, keywords = list(arguments), {key: value for key, value in keywords.items() if key not in IDLE}
    wanted, place = keywords.pop("dtype", None), MAKERS.get(name, len(arguments))
    if name == "to":
        arguments = [each for each in arguments if not isinstance(each, str) or names_kind(each)]
    if len(arguments) > place and isinstance(arguments[place], str):
        wanted = arguments.pop(place)
    if any(names_kind(each) for each in (*arguments, *keywords.values())) and name not in ("isinstance", "hasattr"):
        raise ValueError(f"{name} is given a type")
    kind = CASTS.get(name) if wanted is None else named(wanted)
    if kind not in (None, Kind.REAL) and name not in MAKERS:
        raise ValueError(f"{name} in another type than real numbers")
    value = function(*arguments, **keywords)
    return value if kind is None or (name not in MAKERS and name not in CASTS) else cast(value, kind)
