"""The functions of numpy, math, torch and Python itself that programs may call, on the values of `values`."""

import functools
import math
from collections.abc import Sequence
from dataclasses import replace

from ..syntax import is_boolean
from .values import (
    ROWS,
    Formula,
    List,
    Number,
    RowCount,
    Table,
    Value,
    Vector,
    apply,
    broadcast,
    checked,
    chosen,
    condition,
    formula,
    inverted,
    limited,
    negative,
    operate,
    repeated,
    total,
)

# Read by name alone; what the language calls otherwise stands behind the colon.
POINTWISE = """sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh asin acos atan asinh acosh
    atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt square abs absolute fabs sign floor ceil reciprocal power pow
    float_power:pow add subtract multiply divide true_divide:div maximum:max minimum:min fmax:max fmin:min mod
    remainder:mod arctan2 atan2 hypot less:Lt less_equal:Le greater:Gt greater_equal:Ge equal:Eq not_equal:Ne
    expit:sigmoid sigmoid relu sgn:sign""".split()
POINTWISE = dict((*name.split(":"), name)[:2] for name in POINTWISE)
OPERATORS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "true_divide": "/",
    "floor_divide": "//",
}
OPERATORS |= {"power": "**", "pow": "**", "float_power": "**", "mod": "mod", "remainder": "mod"}
FOLDED = {"floor": math.floor, "ceil": math.ceil, "abs": abs, "fabs": abs, "absolute": abs}
FOLDED |= {"maximum": lambda a, b: max(a, b), "minimum": lambda a, b: min(a, b)}
CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "tau": math.tau, "newaxis": None}
VIEWS = """asarray asanyarray ascontiguousarray atleast_1d ravel squeeze real reshape view broadcast_to unsqueeze
    contiguous detach to as_tensor float64 float32 double float_ float nan_to_num""".split()
COPIES = "array copy flatten astype tensor clone".split()
TYPES = {
    "ndarray": "array",
    "Tensor": "array",
    "list": "list",
    "tuple": "tuple",
    "float": "float",
    "int": "int",
    "bool": "bool",
    "str": "str",
    "dict": "dict",
    "floating": "scalar",
    "float64": "scalar",
    "number": "scalar",
    "integer": "none",
    "Iterable": "array",
    "Sequence": "list",
}


class Named(str):
    """The name of a function or a type in a library."""


class BuiltIn(Named):
    """The name of one of Python's own."""


def pointwise(
    name: str, *values: Value, out: Value = None, where: Value = True, dtype: Value = None
) -> Value:
    """A function that numpy applies to each element; ``out`` holds what stands where ``where`` is false."""
    if name in OPERATORS and len(values) == 2:
        result = operate(OPERATORS[name], *values)
    elif name in FOLDED and all(isinstance(value, Number) for value in values):
        result = checked(FOLDED[name](*values))
    else:
        result = apply(POINTWISE[name], *values)
    return result if where is True else chosen(where, result, 0 if out is None else out)


def clip(a, low=None, high=None, *, a_min=None, a_max=None, min=None, max=None) -> Value:
    for label, *bounds in (("max", low, a_min, min), ("min", high, a_max, max)):
        for bound in bounds:
            if bound is not None and not (isinstance(bound, float) and math.isinf(bound)):
                a = apply(label, a, bound)
    return a


def where(test, a=None, b=None) -> Value:
    if a is None or b is None:
        raise ValueError("positions of rows are no values")
    return chosen(test, a, b)


def logical(label: str):
    def join(a, b):
        return broadcast(lambda a, b: joined_conditions(label, a, b), a, b)

    return join


def joined_conditions(label: str, a: Value, b: Value) -> Value:
    return operate(label, as_test(a), as_test(b))


def as_test(value: Value) -> Value:
    return value if is_test(value) or isinstance(value, bool) else operate("!=", value, 0)


def is_test(value: Value) -> bool:
    return isinstance(value, Formula) and is_boolean(value.tree)


def view(value: Value, *_, **__) -> Value:
    """What only changes type or shape; a list becomes an array."""
    return as_array(value) if type(value) in (List, tuple) else value


def copied(value: Value, *_, **__) -> Value:
    value = view(value)
    return (
        replace(value)
        if isinstance(value, Formula)
        else type(value)(value)
        if isinstance(value, tuple)
        else value
    )


def as_array(values: Sequence) -> Vector:
    return Vector(as_array(value) if type(value) in (List, tuple) else value for value in values)


def filled(number: Value):
    """``zeros``, ``ones``: by the shape they are given."""

    def fill(shape, *_, **__):
        return full(shape, number)

    return fill


def full(shape, value, *_, **__) -> Value:
    shape = (shape,) if not isinstance(shape, tuple) else tuple(shape)
    if not shape:
        return value
    first, *rest = shape
    if isinstance(first, RowCount):
        return replace(formula(value), rows=True) if not rest else Table(full(tuple(rest), rows_of(value)))
    if type(first) is not int or first < 0:
        raise ValueError("a shape is no number of elements")
    return Vector(repeated((full(tuple(rest), value),), first))


def rows_of(value: Value) -> Formula:
    return replace(formula(value), rows=True)


def filled_like(number: Value):
    def fill(value, *_, **__):
        return full_like(value, number)

    return fill


def full_like(value, number, *_, **__) -> Value:
    return broadcast(lambda v: replace(formula(number), rows=True) if is_rows(v) else number, value)


def is_rows(value: Value) -> bool:
    return isinstance(value, Formula) and value.rows


def reduced(values: Value, axis: Value, what: str) -> Sequence[Value]:
    """The elements that a reduction runs over; over the rows of the data there is none."""
    if isinstance(values, Table) and axis in (1, -1):
        return values
    if isinstance(values, Vector | tuple) and not isinstance(values, Table):
        values = as_array(values)
        nested = any(is_rows(value) or isinstance(value, Vector) for value in values)
        if values and (axis == 0 or (not nested and axis in (None, -1))):
            return values
    if isinstance(values, Formula) and not values.rows:
        return [values]
    raise ValueError(f"the {what} over the rows of the data is no function of one row")


def array_sum(values, axis=None, dim=None, **_) -> Value:
    return total(reduced(values, dim if axis is None else axis, "sum"))


def array_mean(values, axis=None, dim=None, **_) -> Value:
    values = reduced(values, dim if axis is None else axis, "mean")
    return operate("/", total(values), len(values))


def product(values, axis=None, **_) -> Value:
    result = 1
    for value in reduced(values, axis, "product"):
        result = operate("*", result, value)
    return result


def extreme(label: str):
    def over(values, axis=None, **_):
        if isinstance(axis, Formula):  # torch.max(a, b)
            return apply(label, values, axis)
        return apply(label, *reduced(values, axis, label))

    return over


def dot(a, b) -> Value:
    """The product of vectors, or of a table with a vector."""
    a, b = (as_array(v) if type(v) in (List, tuple) else v for v in (a, b))
    if isinstance(a, Vector) and isinstance(b, Table):
        raise ValueError("a vector stands before a table")
    if not isinstance(a, Vector | Table) or not isinstance(b, Vector):
        if isinstance(a, Vector | Table) or isinstance(b, Vector | Table) or is_rows(a) or is_rows(b):
            raise ValueError("a product over the rows of the data is no function of one row")
        return operate("*", a, b)
    if len(a) != len(b):
        raise ValueError(f"arrays of {len(a)} and {len(b)} elements are multiplied")
    if isinstance(a, Vector) and any(is_rows(v) for v in a) and any(is_rows(v) for v in b):
        raise ValueError("a product over the rows of the data is no function of one row")
    return total([operate("*", x, y) for x, y in zip(a, b, strict=True)])


def stack(values, axis=0, dim=None, **_) -> Value:
    values = limited(values)
    return (Table if (axis if dim is None else dim) in (1, -1) else Vector)(values)


def concatenate(values, *_, **__) -> Value:
    parts = [as_array(value) if type(value) in (List, tuple) else value for value in values]
    if not all(isinstance(part, Vector) for part in parts):
        raise ValueError("columns are put behind one another")
    return limited(Vector(value for part in parts for value in part))


def append(a, b, *_) -> Value:
    return concatenate([a, b if isinstance(b, tuple) else (b,)])


def pad(values, width, mode="constant", *, constant_values=0) -> Value:
    if not isinstance(values, Vector) or mode != "constant":
        raise ValueError("only vectors are padded, with a number")
    width = width[0] if isinstance(width, tuple) and len(width) == 1 else width
    before, after = width if isinstance(width, tuple) else (width, width)
    if type(before) is not int or type(after) is not int or before < 0 or after < 0:
        raise ValueError("a width of padding is no number of elements")
    fill = constant_values if isinstance(constant_values, tuple) else (constant_values,) * 2
    return limited(Vector((*repeated((fill[0],), before), *values, *repeated((fill[1],), after))))


def polyval(coefficients, x) -> Value:
    result = 0
    for coefficient in as_array(coefficients):
        result = operate("+", operate("*", result, x), coefficient) if result != 0 else coefficient
    return result


def linspace(start, stop, num=50, **_) -> Value:
    if type(num) is not int or not 2 <= num <= 1000:
        raise ValueError("a grid has 2 to 1000 points")
    return Vector(start + (stop - start) * i / (num - 1) for i in range(num))


def heaviside(x, half) -> Value:
    return chosen(apply("Lt", x, 0), 0, chosen(apply("Eq", x, 0), half, 1))


def sinc(x) -> Value:
    angle = operate("*", math.pi, x)
    return chosen(apply("Eq", x, 0), 1, operate("/", apply("sin", angle), angle))


def softplus(x, **_) -> Value:
    return apply("log1p", apply("exp", x))


def logaddexp(a, b) -> Value:
    return apply("log", operate("+", apply("exp", a), apply("exp", b)))


def log_of(x, base=None) -> Value:
    return apply("log", x) if base is None else apply("log", x, base)


def select(tests, values, default=0) -> Value:
    for test, value in reversed(List(zip(tests, values, strict=True))):
        default = chosen(test, value, default)
    return default


def shape(value) -> tuple:
    if isinstance(value, Table):
        return (ROWS, len(value))
    if isinstance(value, tuple):
        return (len(value), *(shape(value[0]) if value and not isinstance(value, Table) else ()))
    return (ROWS,) if is_rows(value) else ()


def size(value) -> int | RowCount:
    shape_ = shape(value)
    if len(shape_) > 1 and ROWS in shape_:
        raise ValueError("it depends on the number of rows")
    return ROWS if ROWS in shape_ else math.prod(shape_)


def length(value) -> int | RowCount:
    if isinstance(value, Table) or is_rows(value):
        return ROWS
    if isinstance(value, tuple | dict | str):
        return len(value)
    raise ValueError("a number has no length")


def transposed(value) -> Value:
    if isinstance(value, Table):
        return Vector(value)
    if isinstance(value, Vector) and any(map(is_rows, value)):
        return Table(value)
    return value


# ---------------------------------------------------------------------------------------------------- Python's own


def smallest(label: str, choose):
    def over(*values, **named):
        if named:
            raise ValueError(f"{choose.__name__} with {', '.join(named)}")
        values = tuple(values[0]) if len(values) == 1 and isinstance(values[0], tuple) else values
        if all(isinstance(value, Number) for value in values):
            return choose(values)
        return apply(label, *values)

    return over


def integer(value) -> int:
    if not isinstance(value, Number):
        raise ValueError("an integer is made of what is not known")
    return checked(int(value))


def real(value=0.0) -> Value:
    if isinstance(value, str):
        if value.strip().lower().lstrip("+-") not in ("inf", "nan", "infinity"):
            raise ValueError("a number is made of text")
        return float(value)
    return float(value) if isinstance(value, Number) else value


def rounded(value, digits=None) -> Number:
    if not isinstance(value, Number) or not (digits is None or type(digits) is int):
        raise ValueError("rounding to even is no function of the language")
    if digits is not None and abs(digits) > 20:
        raise ValueError("rounding to that many digits")
    return round(value, digits)


def ranged(*bounds) -> tuple[int, ...]:
    if not all(type(bound) is int for bound in bounds):
        raise ValueError("a range does not have known integers as bounds")
    return tuple(limited(range(*bounds)))


def listed(kind):
    def make(values=()):
        return kind(limited(values))

    return make


def every(label: str, neutral: bool):
    """``all`` and ``any`` of tests in a list; over rows there is none."""

    def over(values):
        if is_rows(values) or isinstance(values, Table):
            raise ValueError("a test over the rows of the data is no function of one row")
        result = neutral
        for value in values if isinstance(values, tuple) else [values]:
            result = joined_conditions(label, result, value) if result is not neutral else condition(value)
        return result

    return over


def is_instance(value, types) -> bool:
    types = types if isinstance(types, tuple) else (types,)
    if not all(isinstance(kind, Named) and kind in TYPES for kind in types):
        raise ValueError("the type of a value is compared with what is no type")
    return any(TYPES[kind] in kinds(value) for kind in types)


def kinds(value) -> set[str]:
    if is_rows(value) or isinstance(value, Vector | Table):
        return {"array"}
    if isinstance(value, Formula):
        return {"float", "scalar"}
    return {type(value).__name__.lower()}


def has_attribute(value, name) -> bool:
    if not isinstance(name, str):
        raise ValueError("the name of an attribute is no text")
    if is_rows(value) or isinstance(value, Vector | Table):
        return (
            name in "__len__ __getitem__ __iter__ shape size ndim dtype T copy astype tolist reshape".split()
        )
    if isinstance(value, Formula):
        return name in "shape size ndim dtype".split()
    return name in "__len__ __getitem__ __iter__".split() and isinstance(value, tuple)


def is_finite(value) -> Value:
    """True where a value is finite: a number that is not, is not equal to itself minus itself."""
    return broadcast(lambda v: operate("==", operate("-", v, v), 0), value)


ARRAY = dict.fromkeys(VIEWS, view) | dict.fromkeys(COPIES, copied)
ARRAY |= {"clip": clip, "clamp": clip, "where": where}
ARRAY |= {"logical_and": logical("and"), "logical_or": logical("or"), "logical_xor": logical("xor")}
ARRAY |= {"logical_not": inverted, "negative": negative, "neg": negative, "transpose": transposed}
ARRAY |= {
    "zeros": filled(0.0),
    "ones": filled(1.0),
    "empty": filled(0.0),
    "full": full,
    "full_like": full_like,
}
ARRAY |= {"zeros_like": filled_like(0.0), "ones_like": filled_like(1.0), "empty_like": filled_like(0.0)}
ARRAY |= {
    "sum": array_sum,
    "mean": array_mean,
    "average": array_mean,
    "prod": product,
    "dot": dot,
    "matmul": dot,
}
ARRAY |= {"inner": dot, "vdot": dot, "max": extreme("max"), "min": extreme("min"), "amax": extreme("max")}
ARRAY |= {
    "amin": extreme("min"),
    "stack": stack,
    "vstack": stack,
    "concatenate": concatenate,
    "append": append,
}
ARRAY |= {"hstack": concatenate, "cat": concatenate, "pad": pad, "polyval": polyval, "linspace": linspace}
ARRAY |= {
    "column_stack": lambda values: stack(values, 1),
    "heaviside": heaviside,
    "sinc": sinc,
    "select": select,
}
ARRAY |= {"logaddexp": logaddexp, "softplus": softplus, "shape": shape, "size": size, "isfinite": is_finite}
ARRAY |= {
    "ndim": lambda value: len(shape(value)),
    "isscalar": lambda value: not shape(value),
    "arange": ranged,
}
ARRAY |= {
    "deg2rad": lambda x: operate("*", x, math.pi / 180),
    "rad2deg": lambda x: operate("*", x, 180 / math.pi),
}
ARRAY |= {
    "radians": ARRAY["deg2rad"],
    "degrees": ARRAY["rad2deg"],
    "all": every("and", True),
    "any": every("or", False),
}
ARRAY |= {"isnan": lambda x: operate("!=", x, x), "floor_divide": lambda a, b: operate("//", a, b)}

BUILTINS = {"len": length, "range": ranged, "sum": total, "abs": lambda x: pointwise("abs", x), "float": real}
BUILTINS |= {
    "int": integer,
    "round": rounded,
    "bool": condition,
    "max": smallest("max", max),
    "min": smallest("min", min),
}
BUILTINS |= {"pow": lambda a, b: operate("**", a, b), "list": listed(List), "tuple": listed(tuple)}
BUILTINS |= {
    "isinstance": is_instance,
    "hasattr": has_attribute,
    "all": every("and", True),
    "any": every("or", False),
}
BUILTINS |= {"enumerate": lambda values, start=0: List(enumerate(limited(values), start))}
BUILTINS |= {"zip": lambda *lists, **_: List(zip(*map(limited, lists)))}  # noqa: B905 (as Python's own)
BUILTINS |= {"reversed": lambda values: List(reversed(limited(values)))}
METHODS = """clip clamp copy astype reshape view ravel flatten squeeze unsqueeze sum mean prod dot min max abs sqrt
    square exp log sin cos tan tanh sigmoid pow sign floor ceil transpose float contiguous clone detach to
    relu all any""".split()
ATTRIBUTES = {"shape": shape, "size": size, "ndim": lambda value: len(shape(value)), "T": transposed}
ATTRIBUTES |= {"dtype": lambda value: None, "device": lambda value: None, "real": view, "data": view}


def is_known(name: str) -> bool:
    return name in POINTWISE or name in ARRAY or name in TYPES or name in ("Parameter", "piecewise")


def function(name: Named):
    """The function of a name."""
    if isinstance(name, BuiltIn) and name in BUILTINS:
        return BUILTINS[name]
    if name in ARRAY:
        return ARRAY[name]
    if name not in POINTWISE:
        raise ValueError(f"{name} is no function")
    return functools.partial(pointwise, name)


def piecewise(tests: Sequence[Value], values: Sequence[Value]) -> Value:
    """``numpy.piecewise``: the last test that holds decides; one value more than tests stands elsewhere."""
    result = values[len(tests)] if len(values) > len(tests) else 0
    for test, value in zip(tests, values, strict=False):
        result = chosen(test, value, result)
    return result


def of_dictionary(name: str, values: dict, *arguments: Value) -> Value:
    if name == "get":
        return values.get(*arguments)
    return {"items": List(values.items()), "keys": List(values), "values": List(values.values())}[name]
