"""The functions of numpy, math, torch and Python itself that programs may call, by name from these tables."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence

from . import arrays
from .arrays import as_test, is_rows, joined_conditions
from .casts import called, cast, fitting
from .kinds import SPELLED, Kind
from .values import (
    Formula,
    Item,
    List,
    Number,
    Table,
    Value,
    Vector,
    apply,
    checked,
    chosen,
    condition,
    free,
    held,
    inverted,
    is_whole,
    kind_of,
    limited,
    negative,
    operate,
    total,
)

# Read by name alone; what the language calls otherwise stands behind the colon.
_POINTWISE = """sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh asin acos atan
    asinh acosh atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt square abs absolute fabs sign floor
    ceil reciprocal power pow float_power:pow add subtract multiply divide true_divide:div maximum:max
    minimum:min fmax:max fmin:min mod remainder:mod arctan2 atan2 hypot less:Lt less_equal:Le greater:Gt
    greater_equal:Ge equal:Eq not_equal:Ne expit:sigmoid sigmoid relu sgn:sign""".split()
POINTWISE: dict[str, str] = {name.partition(":")[0]: name.partition(":")[2] or name for name in _POINTWISE}
OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/"}
OPERATORS |= {"power": "**", "pow": "**", "float_power": "**", "mod": "mod", "remainder": "mod"}
FOLDED: dict[str, Callable] = {"floor": math.floor, "ceil": math.ceil, "abs": abs, "fabs": abs, "absolute": abs}
FOLDED |= {"maximum": lambda a, b: max(a, b), "minimum": lambda a, b: min(a, b)}
REAL = ("float_power", "fabs")  # functions that make real numbers of integers
CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "tau": math.tau, "newaxis": None}
TYPES = {name: name for name in ("list", "tuple", "float", "int", "bool", "str", "dict")}
TYPES |= {"ndarray": "array", "Tensor": "array", "Iterable": "array", "Sequence": "list"}
TYPES |= dict.fromkeys(("floating", "float64", "number"), "scalar") | {"integer": "none"}


class Named(str):
    """The name of a function or a type in a library."""


class BuiltIn(Named):
    """The name of one of Python's own."""


def pointwise(name: str, *values: Value, out: Value = None, where: Value = True) -> Value:
    """A function that numpy applies to each element; ``out`` holds what stands where ``where`` is false."""
    if name == "log" and len(values) != 1:
        raise ValueError("log takes one argument")
    values = tuple(free(value) if name in REAL else held(value) for value in values)
    if name in OPERATORS and len(values) == 2:
        result = operate(OPERATORS[name], *values)
    elif name in FOLDED and all(isinstance(value, Number) for value in values):
        if any(type(value) is bool for value in values):
            raise ValueError(f"{name} of Booleans")
        found = FOLDED[name](*values)
        result = checked(held(found) if all(type(value) is Item for value in values) else found)
    else:
        result = apply(POINTWISE[name], *values)
    result = result if out is None else fitting(result, kind_of(out))
    return result if where is True else chosen(where, result, 0 if out is None else out)


def smallest(label: str, choose: Callable[[Value], Value]) -> Callable[..., Value]:
    def over(*values: Value, **named: Value) -> Value:
        if named:
            raise ValueError(f"{choose.__name__} with {', '.join(named)}")
        values = tuple(values[0]) if len(values) == 1 and isinstance(values[0], tuple) else values
        if all(isinstance(value, Number) for value in values):
            return choose(values)
        return apply(label, *values)

    return over


def integer(function: Callable[[Number], int]) -> Callable[[Value], int]:
    """What makes a Python integer of a number, which must be known: numpy's arrays of integers are others."""

    def make(value: Value) -> int:
        if not isinstance(value, Number):
            raise ValueError("an integer is made of what is not known")
        return int(checked(function(value)))

    return make


def real(value: Value = 0.0) -> Value:
    if isinstance(value, str):
        if value.strip().lower().lstrip("+-") not in ("inf", "nan", "infinity"):
            raise ValueError("a number is made of text")
        return float(value)
    return float(value) if isinstance(value, Number) else cast(value, Kind.REAL)


def rounded(value: Value, digits: Value = None) -> Number:
    if not isinstance(value, Number) or not (digits is None or is_whole(digits)):
        raise ValueError("rounding to even is no function of the language")
    if digits is not None and abs(digits) > 20:
        raise ValueError("rounding to that many digits")
    return round(value, digits)


def ranged(*bounds: Value) -> tuple[int, ...]:
    if not all(is_whole(bound) for bound in bounds):
        raise ValueError("a range does not have known integers as bounds")
    return tuple(limited(range(*bounds)))


def listed(kind: Callable[[Sequence[Value]], Value]) -> Callable[..., Value]:
    def make(values: Value = ()) -> Value:
        return kind(limited(values))

    return make


def every(label: str, neutral: bool) -> Callable[[Value], Value]:
    """``all`` and ``any`` of tests in a list; over rows there is none."""

    def over(values: Value) -> Value:
        if is_rows(values) or isinstance(values, Table):
            raise ValueError("a test over the rows of the data is no function of one row")
        result: Value = neutral
        for value in values if isinstance(values, tuple) else [values]:
            result = joined_conditions(label, result, value) if result is not neutral else truth(value)
        return result

    return over


def truth(value: Value) -> Value:
    """``bool(value)`` of what is one value for all rows."""
    if is_rows(value):
        raise ValueError("an array of several elements is neither true nor false")
    decided = condition(value)
    return as_test(decided) if isinstance(decided, Formula) else decided


def is_instance(value: Value, types: Value) -> bool:
    types = types if isinstance(types, tuple) else (types,)
    if not all(isinstance(kind, Named) and kind in TYPES for kind in types):
        raise ValueError("the type of a value is compared with what is no type")
    return any(TYPES[kind] in kinds(value) for kind in types)


def kinds(value: Value) -> set[str]:
    if is_rows(value) or isinstance(value, Vector | Table):
        return {"array"}
    if isinstance(value, Formula):
        return {"float", "scalar"}
    return {type(value).__name__.lower()}


def has_attribute(value: Value, name: Value) -> bool:
    if not isinstance(name, str):
        raise ValueError("the name of an attribute is no text")
    if is_rows(value) or isinstance(value, Vector | Table):
        return name in "__len__ __getitem__ __iter__ shape size ndim dtype T copy astype tolist reshape".split()
    if isinstance(value, Formula):
        return name in "shape size ndim dtype".split()
    return name in "__len__ __getitem__ __iter__".split() and isinstance(value, tuple)


VIEWS = """asarray asanyarray ascontiguousarray atleast_1d ravel squeeze real reshape view broadcast_to
    unsqueeze contiguous detach to as_tensor float64 float32 double float_ float nan_to_num""".split()
COPIES = "array copy flatten astype tensor clone".split()
ARRAY: dict[str, Callable] = {
    **dict.fromkeys(VIEWS, arrays.view),
    **dict.fromkeys(COPIES, arrays.copied),
    **dict.fromkeys(("clip", "clamp"), arrays.clip),
    **dict.fromkeys(("mean", "average"), arrays.mean),
    **dict.fromkeys(("dot", "matmul", "inner", "vdot"), arrays.dot),
    **dict.fromkeys(("max", "amax"), arrays.extreme("max")),
    **dict.fromkeys(("min", "amin"), arrays.extreme("min")),
    **dict.fromkeys(("stack", "vstack"), arrays.stack),
    **dict.fromkeys(("concatenate", "hstack", "cat"), arrays.concatenate),
    **dict.fromkeys(("zeros", "empty"), arrays.filled(0.0)),
    **dict.fromkeys(("zeros_like", "empty_like"), arrays.filled_like(0.0)),
    **dict.fromkeys(("deg2rad", "radians"), lambda x: operate("*", x, math.pi / 180)),
    **dict.fromkeys(("rad2deg", "degrees"), lambda x: operate("*", x, 180 / math.pi)),
    **dict.fromkeys(("negative", "neg"), negative),
    "all": every("and", True),
    "any": every("or", False),
    "append": arrays.append,
    "arange": lambda *bounds: Vector(ranged(*bounds)),
    "chunk": arrays.chunk,
    "column_stack": lambda values: arrays.stack(values, 1),
    "floor_divide": lambda a, b: operate("//", a, b),
    "full": arrays.full,
    "full_like": arrays.full_like,
    "heaviside": arrays.heaviside,
    "isfinite": arrays.is_finite,
    "isnan": lambda x: operate("!=", x, x),
    "isscalar": lambda value: not arrays.shape(value),
    "linspace": arrays.linspace,
    "logaddexp": arrays.logaddexp,
    "logb": arrays.log_of,
    "logical_and": arrays.logical("and"),
    "logical_not": inverted,
    "logical_or": arrays.logical("or"),
    "logical_xor": arrays.logical("xor"),
    "ndim": lambda value: len(arrays.shape(value)),
    "ones": arrays.filled(1.0),
    "ones_like": arrays.filled_like(1.0),
    "pad": arrays.pad,
    "polyval": arrays.polyval,
    "prod": arrays.product,
    "select": arrays.select,
    "shape": arrays.shape,
    "sinc": arrays.sinc,
    "size": arrays.size,
    "softplus": arrays.softplus,
    "split": arrays.split,
    "sum": arrays.sum_of,
    "transpose": arrays.transposed,
    "unbind": arrays.unbind,
    "where": arrays.where,
}
BUILTINS: dict[str, Callable] = {
    "abs": lambda x: abs(x) if type(x) is int else pointwise("abs", x),
    "all": every("and", True),
    "any": every("or", False),
    "bool": truth,
    "enumerate": lambda values, start=0: List(enumerate(limited(values), start)),
    "float": real,
    "hasattr": has_attribute,
    "int": integer(int),
    "isinstance": is_instance,
    "len": arrays.length,
    "list": listed(List),
    "math.ceil": integer(math.ceil),
    "math.floor": integer(math.floor),
    "max": smallest("max", max),
    "min": smallest("min", min),
    "pow": lambda a, b: operate("**", a, b),
    "range": ranged,
    "reversed": lambda values: List(reversed(limited(values))),
    "round": rounded,
    "sum": total,
    "tuple": listed(tuple),
    "zip": lambda *lists, **_: List(zip(*map(limited, lists))),  # noqa: B905 (as Python's own)
}
METHODS = """clip clamp copy astype reshape view ravel flatten squeeze unsqueeze sum mean prod dot min max
    abs sqrt square exp log sin cos tan tanh sigmoid pow sign floor ceil transpose float contiguous clone
    detach to relu all any unbind split chunk""".split()
ATTRIBUTES: dict[str, Callable] = {
    "shape": arrays.shape,
    "size": arrays.size,
    "ndim": ARRAY["ndim"],
    "T": arrays.transposed,
}
ATTRIBUTES |= {
    "dtype": lambda value: Named(SPELLED[kind_of(value)]),
    "device": lambda value: None,
    "real": arrays.view,
    "data": arrays.view,
}


def is_known(name: str) -> bool:
    return name in POINTWISE or name in ARRAY or name in TYPES or name in ("Parameter", "piecewise")


def value_of_call(name: Named, arguments: Sequence[Value], keywords: Mapping) -> Value:
    """What the function of a name gives."""
    if isinstance(name, BuiltIn) and name in BUILTINS:
        return BUILTINS[name](*arguments, **keywords)
    if name not in ARRAY and name not in POINTWISE:
        raise ValueError(f"{name} is no function")
    return called(name, ARRAY.get(name) or functools.partial(pointwise, name), arguments, keywords)


def of_dictionary(name: str, values: dict, *arguments: Value) -> Value:
    if name == "get":
        return values.get(*arguments)
    return {"items": List(values.items()), "keys": List(values), "values": List(values.values())}[name]
