"""The array functions of numpy and torch, on formulas, vectors and tables.

Over the rows of the data nothing is added up, sorted or compared: the result would be no function of one row.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..trees import is_boolean
from .casts import cast, fitting, unified
from .kinds import Kind
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
    chosen,
    formula,
    held,
    is_whole,
    kind_of,
    limited,
    operate,
    repeated,
    total,
)


def clip(
    a: Value,
    low: Value = None,
    high: Value = None,
    *,
    a_min: Value = None,
    a_max: Value = None,
    min: Value = None,
    max: Value = None,
) -> Value:
    for label, *bounds in (("max", low, a_min, min), ("min", high, a_max, max)):
        for bound in bounds:
            if bound is not None and not (isinstance(bound, float) and math.isinf(bound)):
                a = apply(label, a, bound)
    return a


def where(test: Value, a: Value = None, b: Value = None) -> Value:
    if a is None or b is None:
        raise ValueError("positions of rows are no values")
    return held(chosen(test, a, b))


def logical(label: str) -> Callable[[Value, Value], Value]:
    def join(a: Value, b: Value) -> Value:
        return broadcast(lambda a, b: joined_conditions(label, a, b), a, b)

    return join


def joined_conditions(label: str, a: Value, b: Value) -> Value:
    return operate(label, as_test(a), as_test(b))


def deciding(label: str, operands: Sequence[Value]) -> Value:
    """``a and b``, ``a or b``: the operand that decides, as in Python; tests are joined."""
    tests, last = all(is_test(value) or type(value) is bool for value in operands), operands[-1]
    neutral = isinstance(last, Number) and (not last if label == "or" else tests and last is True)
    operands = operands[:-1] if neutral and len(operands) > 1 else operands  # what is left has that value too
    if tests:
        return functools.reduce(lambda a, b: joined_conditions(label, a, b), operands)
    result = operands[-1]
    for value in reversed(operands[:-1]):
        result = chosen(as_test(value), *((result, value) if label == "and" else (value, result)))
    return result


def as_test(value: Value) -> Value:
    return value if is_test(value) or isinstance(value, bool) else operate("!=", value, 0)


def is_test(value: Value) -> bool:
    return isinstance(value, Formula) and is_boolean(value.tree)


def view(value: Value, *_: Value, axis: Value = None, dim: Value = None, shape: Value = None) -> Value:
    """What only changes type or shape; a list becomes an array."""
    return as_array(value) if type(value) in (List, tuple) else held(value)


def copied(value: Value, *_: Value) -> Value:
    value = view(value)
    if isinstance(value, Formula):
        return replace(value)
    return type(value)(value) if isinstance(value, tuple) else value


def as_array(values: Sequence) -> Vector:
    return Vector(unified([as_array(value) if type(value) in (List, tuple) else value for value in values]))


def filled(number: Value) -> Callable[..., Value]:
    """``zeros``, ``ones``: by the shape they are given."""

    def fill(shape: Value, *_: Value) -> Value:
        return full(shape, number)

    return fill


def full(shape: Value, value: Value, *_: Value) -> Value:
    shape = (shape,) if not isinstance(shape, tuple) else tuple(shape)
    if not shape:
        return held(value)
    first, *rest = shape
    if isinstance(first, RowCount):
        return replace(formula(value), rows=True) if not rest else Table(full(tuple(rest), rows_of(value)))
    if not is_whole(first) or first < 0:
        raise ValueError("a shape is no number of elements")
    return Vector(repeated((full(tuple(rest), value),), first))


def rows_of(value: Value) -> Formula:
    return replace(formula(value), rows=True)


def filled_like(number: Value) -> Callable[..., Value]:
    def fill(value: Value, *_: Value) -> Value:
        return full_like(value, number)

    return fill


def full_like(value: Value, number: Value, *_: Value) -> Value:
    def like(value: Value) -> Value:
        fit = fitting(number, kind_of(value))
        return replace(formula(fit), rows=True, kind=kind_of(value)) if is_rows(value) else fit

    return broadcast(like, value)


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


def sum_of(values: Value, axis: Value = None, dim: Value = None) -> Value:
    return total(reduced(values, dim if axis is None else axis, "sum"))


def mean(values: Value, axis: Value = None, dim: Value = None) -> Value:
    values = reduced(values, dim if axis is None else axis, "mean")
    return operate("/", total(values), len(values))


def product(values: Value, axis: Value = None) -> Value:
    result = 1
    for value in reduced(values, axis, "product"):
        result = operate("*", result, value)
    return result


def extreme(label: str) -> Callable[..., Value]:
    def over(values: Value, axis: Value = None) -> Value:
        if isinstance(axis, Formula):  # torch.max(a, b)
            return apply(label, values, axis)
        return apply(label, *reduced(values, axis, label))

    return over


def dot(a: Value, b: Value) -> Value:
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
    if kind_of(a) is kind_of(b) is Kind.BOOLEAN:
        raise ValueError("a product of arrays of Booleans")
    return total([operate("*", x, y) for x, y in zip(a, b, strict=True)])


def stack(values: Value, axis: Value = 0, dim: Value = None) -> Value:
    values = unified(limited(values))
    return (Table if (axis if dim is None else dim) in (1, -1) else Vector)(values)


def concatenate(values: Value, *_: Value, axis: Value = 0, dim: Value = 0) -> Value:
    parts = [as_array(value) if type(value) in (List, tuple) else value for value in values]
    if not all(isinstance(part, Vector) for part in parts):
        raise ValueError("columns are put behind one another")
    return limited(Vector(unified([value for part in parts for value in part])))


def append(a: Value, b: Value, *_: Value, axis: Value = 0) -> Value:
    return concatenate([a, b if isinstance(b, tuple) else (b,)])


def pad(values: Value, width: Value, mode: Value = "constant", *, constant_values: Value = 0) -> Value:
    if not isinstance(values, Vector) or mode != "constant":
        raise ValueError("only vectors are padded, with a number")
    width = width[0] if isinstance(width, tuple) and len(width) == 1 else width
    before, after = width if isinstance(width, tuple) else (width, width)
    if not is_whole(before) or not is_whole(after) or before < 0 or after < 0:
        raise ValueError("a width of padding is no number of elements")
    fill = constant_values if isinstance(constant_values, tuple) else (constant_values,) * 2
    fill = fill if kind_of(values) is Kind.REAL else fitting(tuple(fill), kind_of(values))
    return limited(Vector((*repeated((fill[0],), before), *values, *repeated((fill[1],), after))))


def polyval(coefficients: Value, x: Value) -> Value:
    return functools.reduce(lambda value, c: operate("+", operate("*", value, x), c), as_array(coefficients))


def linspace(start: Value, stop: Value, num: Value = 50) -> Value:
    if not is_whole(num) or not 2 <= num <= 1000:
        raise ValueError("a grid has 2 to 1000 points")
    return Vector(start + (stop - start) * i / (num - 1) for i in range(num))


def heaviside(x: Value, half: Value) -> Value:
    return cast(chosen(apply("Lt", x, 0), 0, chosen(apply("Eq", x, 0), half, 1)), Kind.REAL)


def sinc(x: Value) -> Value:
    angle = operate("*", math.pi, x)
    return chosen(apply("Eq", x, 0), 1, operate("/", apply("sin", angle), angle))


def softplus(x: Value) -> Value:
    return apply("log1p", apply("exp", x))


def logaddexp(a: Value, b: Value) -> Value:
    return apply("log", operate("+", apply("exp", a), apply("exp", b)))


def log_of(x: Value, base: Value = None) -> Value:
    return apply("log", x) if base is None else apply("log", x, base)


def split(table: Value, width: Value = 1, dim: Value = 1) -> tuple:
    """``torch.split`` along the columns."""
    if not isinstance(table, Table) or dim not in (1, -1) or not is_whole(width) or width < 1:
        raise ValueError("only the columns of a table are split")
    return tuple(Table(tuple(table)[i : i + width]) for i in range(0, len(table), width))


def chunk(table: Value, chunks: Value, dim: Value = 1) -> tuple:
    return split(table, -(-len(table) // chunks), dim)


def unbind(table: Value, dim: Value = 1) -> tuple:
    if not isinstance(table, Table) or dim not in (1, -1):
        raise ValueError("only the columns of a table are unbound")
    return tuple(table)


def piecewise(x: Value, tests: Sequence[Value], values: Sequence[Value]) -> Value:
    """``numpy.piecewise``: the last test that holds decides; one value more than tests stands elsewhere."""
    values = [fitting(value, kind_of(x)) for value in values]
    result = values[len(tests)] if len(values) > len(tests) else 0
    for test, value in zip(tests, values, strict=False):
        result = chosen(test, value, result)
    return result


def select(tests: Value, values: Value, default: Value = 0) -> Value:
    for test, value in reversed(List(zip(tests, values, strict=True))):
        default = chosen(test, value, default)
    return default


def shape(value: Value) -> tuple:
    if isinstance(value, Table):
        return (ROWS, len(value))
    if isinstance(value, tuple):
        return (len(value), *(shape(value[0]) if value and not isinstance(value, Table) else ()))
    return (ROWS,) if is_rows(value) else ()


def size(value: Value) -> int | RowCount:
    shape_ = shape(value)
    if len(shape_) > 1 and ROWS in shape_:
        raise ValueError("it depends on the number of rows")
    return ROWS if ROWS in shape_ else math.prod(shape_)


def length(value: Value) -> int | RowCount:
    if isinstance(value, Table) or is_rows(value):
        return ROWS
    if isinstance(value, tuple | dict | str):
        return len(value)
    raise ValueError("a number has no length")


def transposed(value: Value) -> Value:
    if isinstance(value, Table):
        return Vector(value)
    if isinstance(value, Vector) and any(map(is_rows, value)):
        return Table(value)
    return value


def is_finite(value: Value) -> Value:
    """True where a value is finite: a number that is not, is not equal to itself minus itself."""
    return broadcast(lambda v: operate("==", operate("-", v, v), 0), value)
