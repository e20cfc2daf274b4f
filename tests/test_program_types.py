"""Types of arrays in programs that are read: a cast is computed as numpy computes it, or refused, and never dropped."""

import itertools
import math
import textwrap
import warnings

from rediscover.expressions.programs import ProgramError, read_function

import numpy as np
import pytest

RNG = np.random.default_rng(7)
COLUMNS = {"x": np.concatenate([RNG.normal(size=40), [0.0, 1.0, -2.0]]), "v": RNG.normal(size=43)}
CONSTANTS = np.array([1.75, 0.5, -0.25, 2.5, 0.0, 3.0, -1.5, 0.7, 1.0, 2.0])

COLUMN = """
    x | x > 0 | np.where(x > 0, 2, 1) | np.zeros_like(x) | np.zeros_like(x, dtype=int) | np.full_like(x, 2)
    np.ones_like(x > 0) | (x > 0).astype(int) | (v > 0).astype(float) | np.sign(x) | np.floor(x) | x.astype(bool)
    np.zeros_like(np.where(x > 0, 2, 1)) | np.array(x > 0, dtype=float) | np.full(len(x), 3) | np.full(x.shape, 2.5)
    x // 0.7 | np.where(x > 0, True, False) | (x > 0)*(v > 0) | (x > 0) + (v > 0) | np.logical_not(x > 0)
    np.full_like(x, 1, dtype=bool) | np.where(x > 0, 1.0, 0) | np.heaviside(x, 1) | np.float64(x > 0) | x*0 + True
    np.array(x, dtype=int) | x.astype('int') | np.full_like(x > 0, 2.5) | np.ones(len(x), dtype=int)
"""
COLUMN_USES = """
    y*params[0] | y + y | y + (x > 1) | y*y + (v > 0)*(x > 0) | y - (x > 0) | -y | +y | y/2 | y//2 | y % 2 | y**2
    y**-1 | y**0.5 | 2**y | 3//(y + 5)
    7 % y | np.reciprocal(y) | np.exp(y) | np.sqrt(np.abs(y)) | np.maximum(y, 1)
    abs(y) | np.square(y) | np.power(y, 2) | np.power(y, -1) | y.astype(int)*x | y.astype(float) + y.astype(float)
    y.astype(bool) + y.astype(bool) | np.array(y, dtype=int)*x | np.asarray(y, int)*x | np.add(y, y) | y == 1
    np.where(x > 0.5, y, y) + (v > 0) | np.select([x > 0], [y], default=1) | np.piecewise(y, [x > 0], [0.5, 1])
    np.clip(y, 0, 1)*x | np.full_like(y, 2.7) | np.zeros_like(y) + 0.5 | np.ones_like(y) + np.ones_like(y)
    bool(params[0])*y | int(params[0])*y
    (params[0] and params[4])*y | (params[4] or params[0])*y | (0 or params[1])*y
    (not params[4])*y | (len(params) or 3)*y
    (params[0] > 1) + (params[1] < 1) + y | y.astype(y.dtype) | np.log1p(y)
    np.zeros(len(x), dtype=y.dtype) + y | np.sum([y, y], axis=0) | np.sum([y > 0, x > 0], axis=0)*x | sum([y, y])
    np.mean([y, y], axis=0) | np.prod([y, y], axis=0)
    np.column_stack([y, x])[:, 0] + (x > 0) | y if y.dtype == int else x
    np.max([y, 0*x], axis=0) | np.stack([y, x])[0] + (v > 0)
    np.float32(2)*y | np.average([y, x], axis=0, weights=[1, 2])
"""
COLUMN_CHANGES = """
    y[x > 0.3] = 0.5 | y[x > 0.3] = 2 | y[x > 0.3] = x[x > 0.3]
    y[:] = 1; y[x > 0] = 0.5 | y[...] = 2.5 | y[x > 0] += 0.5
    y[x > 0] *= 2 | y += 0.5 | y += 1 | y *= 2 | y /= 2 | y *= x | y **= 2 | y //= 2 | y = y + 0.5 | y[x > 0] = True
    y = np.empty_like(y); y[:] = 2.5 | np.add(x, v, out=y) | np.divide(x, 2, out=y, where=x > 0) | y[y > 0] = -1
    np.floor(x, out=y) | y = np.zeros_like(y); y[x > 0] = 0.5 | y = np.array(y, copy=True); y[x > 0] = 0.25
"""
VECTOR = """
    np.array([1, 2]) | np.array([1, 2.5]) | np.zeros(2) | np.zeros(2, int) | np.array([True, False]) | np.arange(2)
    np.ones(2, dtype=bool) | np.full(2, 7) | np.array([1.5, -2.5]).astype(int) | np.array([1, 2], dtype=float)
    np.array(params[:2]) | np.array([1, params[0]]) | np.array([params[0] > 1, 2]) | np.full(2, 2.7, dtype=int)
    np.ones_like(np.array([3, 4])) | np.array([0, 3]).astype(bool)
    np.linspace(0, 1, 2) | np.asarray([1, 0.5], dtype=int)
    np.array([1, 2.5])[:1].repeat(2) | np.zeros_like(params[:2])
    np.arange(2)*2 | np.array((1, True)) | np.array(range(2))
"""
VECTOR_USES = """
    a*params[:2] | a + a | a - a | -a | a/2 | a//2 | a % 2 | a**2 | a**-1 | 2**a | 2**(a - 1) | np.reciprocal(a + 1)
    np.exp(a) | np.abs(a) | np.square(a) | a.astype(int)
    a.astype(bool) | a.astype(float)/3 | np.zeros_like(a) | ~(a > 1)
    np.full_like(a, 0.5) | np.full_like(a, 2) | np.concatenate([a, [0.5]])[:2] | np.append(a, 0.5)[1:]
    np.pad(a, (0, 1), constant_values=0.5)[1:]
    np.stack([a, a])[0] | np.array([a, params[:2]])[0] + np.array([True, True])
    np.maximum(a, 1.5) | np.array(a, dtype=int) | np.array(a, dtype=float)
    a > 1 | (a > 0) + (a > 1) | (a > 0)*(a > 1) | (a[0] + a[1])*params[:2] | -a[0]*params[:2] | (a[0] - a[1])*params[:2]
    (a[0]*a[1] + a[0])*params[:2] | (sum(a) + a[1])*params[:2] | sum([a[0], a[1]])*params[:2]
    np.sum(a)*params[:2] | np.prod(a)*params[:2]
    np.mean(a)*params[:2] | np.dot(a, a)*params[:2] | np.power(a, 20.0)
    np.linspace(0, 1, 2, endpoint=False) | np.linspace(0, 3, 2, dtype=int)
    np.sum(a, initial=5)*params[:2] | a*10**9*10**9
"""
VECTOR_CHANGES = """
    a[0] = 2.7 | a[0] = 3 | a[1] = True | a[:] = 0.5 | a[0] = params[0]
    a += 0.5 | a += 1 | a *= 2 | a /= 2 | a **= 2
    a[0] += 0.5 | a[0] *= 2 | a[0] = 2; a[1] = 3; a[0] = 0.5 | a = a*1; a[0] = 0.25 | a = a.copy(); a[0] = 0.25
    a = np.array([a[0], a[1]]); a[0] = 0.25 | a = np.zeros_like(a); a[1] = 0.75 | a = np.full(2, a[0]); a[1] = 0.75
"""


WHOLE = """
    a[0] | a[1] | a[-1] | b[0] | np.sum(a) | np.prod(a) | np.dot(a, b) | np.array(3) | np.square(2) | np.abs(-3)
    np.power(2, 3) | np.maximum(2, 1) | int(a[0]) | len(a) | sum(a) | max(a) | a.tolist()[0] | float(a[1]) | 2 | -3
    np.int64(2) | a.astype(float)[0] | np.arange(4)[3] | (a + 0.5)[1] | np.array([[4, 7], [2, 1]])[0][1] | a[:1][0]
    np.where(True, 2, 3) | np.floor(2.5) | round(a[1]) | np.array([True, False])[0] | np.zeros(2, int)[0] | np.size(a)
    np.float64(a[0]) | math.floor(2.5) | math.pow(a[0], 2) | np.float_power(a[0], 2) | np.full(2, 5)[0]
"""
EXPONENTS = ["-1", "-2", "2", "0", "-a[0]", "a[1]", "-1.0", "0.5", "40", "-len(a)"]


def drawn_items(count):
    """Bodies that compute with integers of arrays and of Python, as they are and beside one another."""
    rng = np.random.default_rng(11)
    for _ in range(count):
        one, other = rng.choice(listed(WHOLE), 2)
        operators = ["({})**" + rng.choice(EXPONENTS), "({0})//({1})", "({0}) % ({1})", "-({0})*({1})", "({0})**({1})"]
        operators += ["pow({0}, {1})", "np.power({0}, {1})", "({0})/({1})", "math.pow({0}, -1)", "abs({0})**-1"]
        value = str(rng.choice(operators)).format(one, other)
        again = str(rng.choice(["{}", "({})**-1", "({})**3", "({}) // 2", "({}) % -2", "-({})", "range(9)[int({})]"]))
        yield f"a, b = np.array([2, 3]), np.array({rng.integers(-5, 6, 2).tolist()})\nreturn x*({again.format(value)})"


def listed(text):
    return [entry.strip() for line in text.strip().splitlines() for entry in line.split(" | ")]


def programs():
    """Bodies of functions of x, v and params: each way to make an array, with each use and each change of it."""
    for made, used in itertools.product(listed(COLUMN), listed(COLUMN_USES)):
        yield f"y = {made}\nreturn {used}"
    for made, changed in itertools.product(listed(COLUMN), listed(COLUMN_CHANGES)):
        yield f"y = 1*({made})\n{changed}\nreturn y"
        yield f"y = np.array({made})\n{changed}\nreturn y + y"
    for made, used in itertools.product(listed(VECTOR), listed(VECTOR_USES)):
        yield f"a = {made}\na = {used}\nreturn a[0]*x + a[1]*v"
    for made, changed in itertools.product(listed(VECTOR), listed(VECTOR_CHANGES)):
        yield f"a = {made}\n{changed}\nreturn a[0]*x + a[1]*v"

    yield from drawn_items(600)


def executed(text):
    """What numpy computes; the texts are those of this file."""
    names = {"np": np, "math": math}
    exec(text, names)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return names["f"](*(column.copy() for column in COLUMNS.values()), CONSTANTS.copy())


def test_every_program_that_is_read_computes_what_numpy_computes():
    read, refused, wrong = 0, 0, []
    for body in programs():
        text = "def f(x, v, params):\n" + textwrap.indent(body, "    ")
        try:
            reading = read_function(text)
        except ProgramError:
            refused += 1
            continue
        read += 1
        got = reading.with_constants(CONSTANTS)(COLUMNS)
        try:
            wanted = np.broadcast_to(np.asarray(executed(text), float), got.shape)
        except Exception as error:
            wrong.append(f"{body}\n -> {reading.expression}, but {type(error).__name__}: {error}")
            continue
        if not np.allclose(got, wanted, rtol=1e-12, atol=1e-14, equal_nan=True):
            wrong.append(f"{body}\n -> {reading.expression}")
    assert not wrong, f"{len(wrong)} of {read}:\n" + "\n".join(wrong[:20])
    assert read > 1_000 and refused > 1_000


@pytest.mark.parametrize(
    "body, reason",
    [
        ("return x.astype(int)*params[0]", "cut to integers"),
        ("return np.array(x, dtype=int)", "cut to integers"),
        ("a = np.array([1, 2])\na[0] = 2.7\nreturn a[0]*x", "would cut it"),
        ("y = np.where(x > 0, 1, 0)\ny[x > 1] = 0.5\nreturn y", "would cut it"),
        ("y = x > 0\ny[x > 1] = 0.5\nreturn y", "would cut it"),
        ("y = np.where(x > 0, 1, 0)\ny += 0.5\nreturn y", "hold other numbers"),
        ("return np.array(x, dtype=np.int8)", "numpy.int8 is not read"),
        ("return x.astype('i2')", "the type i2 is not read"),
        ("a = np.array([math.floor(params[0]), 1])\na[1] = 0.5\nreturn a[1]*x", "not known"),
        ("return x.view(int)", "view is given a type"),
        ("return np.sum([x, v], axis=0, dtype=int)", "another type than real numbers"),
        ("return np.reciprocal(np.array([1, 2]))[0]*x", "of integers"),
        ("return np.exp(x > 0)", "of Booleans"),
        ("return (x > 0) - (v > 0)", "arrays of Booleans have no -"),
        ("return np.array([2, 3])**-1", "may be negative"),
        ("return np.array([2])[0]**-1*x", "raised to what is negative"),
        ("return np.power(2, -1)*x", "raised to what is negative"),
        ("return np.array([10])[0]**40*x", "too large"),
        ("return 3//np.where(x > 0, 1, 0)", "may be 0"),
        ("return np.where(x > 0, 10, 1)**19", "too large"),
        ("return x if x.dtype == int else v", "types are compared"),
    ],
)
def test_what_would_be_lost_is_refused(body, reason):
    with pytest.raises(ProgramError, match=reason):
        read_function("def f(x, v, params):\n" + textwrap.indent(body, "    "))


@pytest.mark.parametrize(
    "expression, text",
    [
        ("(x > 0).astype(int)*params[0]", "where(x > 0, 1, 0)*c0"),
        ("x.astype(bool)*params[0]", "where(x != 0, 1, 0)*c0"),
        ("bool(params[0])*x", "where(c0 != 0, 1, 0)*x"),
        ("(x > 0) + (v > 0)", "where((x > 0) | (v > 0), 1, 0)"),
        ("(params[0] or 2.0)*x", "where(c0 != 0, c0, 2.0)*x"),
        ("np.full(2, 2.7, dtype=int)[0]*x", "2*x"),
        ("np.arange(3)[2]*x", "2*x"),
        ("2**-1*x + 10**-3", "0.5*x + 0.001"),
        ("x*np.arange(9)[3]**2//math.pow(2, -1)", "floor(x*9/0.5)"),
    ],
)
def test_what_is_computed(expression, text):
    assert str(read_function(f"def f(x, v, params):\n    return {expression}").expression) == text
