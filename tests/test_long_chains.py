"""Sums and products of thousands of terms: read, printed, evaluated, sent and converted, without deep recursion."""

import ast
import pickle
import random
import time
import warnings

from rediscover.expressions import ExpressionError, parse
from rediscover.expressions.edits import read_completion
from rediscover.expressions.programs import chains, read_function, read_module
from rediscover.expressions.trees import DEPTH, checked_size
from rediscover.search.loops.verification_loop import _terms

import numpy as np
import pytest

TERMS = 10_000
CHAINS = {
    "sum": " + ".join(f"{i % 97 + 0.5}*x{i % 3}" for i in range(TERMS)),
    "difference": " - ".join(f"x{i % 3}**{i % 5}" for i in range(2_000)),
    "product": "*".join(f"x{i % 3}" for i in range(TERMS)),
    "quotient": "/".join(f"x{i % 3}" for i in range(2_000)),
    "inside": "sin(" + " + ".join(["x0*x1", "x2"] * 1_000) + ")",
}
VALUES = {f"x{i}": np.array([1.0, -1.0]) for i in range(3)}


@pytest.mark.parametrize("name", CHAINS)
def test_a_long_chain(name):
    began = time.process_time()
    expression = parse(CHAINS[name])
    assert time.process_time() - began < 2
    assert parse(str(expression)) == expression == pickle.loads(pickle.dumps(expression))
    values = expression(VALUES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [_left_to_right(CHAINS[name], i) for i in range(2)]
    np.testing.assert_allclose(values, wanted, rtol=1e-9)
    assert len(expression.skeleton()) > 4_000 and expression.substitute({"x0": 2.0}).size == expression.size
    if expression.size < 10_000:
        assert expression.gradient(VALUES).shape == (3, 2)


def _left_to_right(text, row):
    """Python's value of a chain, a thousand terms at a time; its own parser cannot read more."""
    names = {name: float(column[row]) for name, column in VALUES.items()}
    if text.startswith("sin"):
        return np.sin(_left_to_right(text[4:-1], row))
    sign = next(sign for sign in (" + ", " - ", "*", "/") if sign in text)
    terms = [eval(term, {}, names) for term in text.split(sign)]
    total = terms[0]
    for term in terms[1:]:
        total = {" + ": total + term, " - ": total - term, "*": total * term, "/": total / term}[sign]
    return total


def test_the_same_in_sympy():
    e = parse(" + ".join(f"{i + 1}*x{i % 3}*y{i % 2}" for i in range(1_000)))
    found = e.sympy()
    assert len(found.args) == 6
    point = {"x0": 0.5, "x1": 2.0, "x2": -1.0, "y0": 3.0, "y1": 0.25}
    assert float(found.subs(point)) == pytest.approx(float(e(point)), rel=1e-12)
    assert parse("/".join(["x"] * 1_001)).sympy() == parse("x**-999").sympy()
    assert parse(" - ".join(["x"] * 1_001)).sympy() == parse("-999*x").sympy()
    assert len(parse(" | ".join(f"x{i}" for i in range(1_000)), logic=True).sympy().args) == 1_000
    assert parse("x - y + 2/z").sympy() == parse("2/z - y + x").sympy()


def test_depth_counts_nesting():
    assert parse("+".join("x" * 5 * DEPTH)).size == 10 * DEPTH - 1
    deep = ("x",)
    for _ in range(DEPTH - 1):
        deep = ("sin", deep)
    assert checked_size(deep) == DEPTH
    right = ("x",)
    for _ in range(DEPTH):
        right = ("-", ("x",), right)
    for tree in (("sin", deep), right):
        with pytest.raises(ExpressionError, match=f"deeper than {DEPTH}"):
            checked_size(tree)


@pytest.mark.parametrize(("sign", "count"), [("+", TERMS), ("-", 3_500), ("*", TERMS), ("/", 3_500)])
def test_a_long_chain_in_a_program(sign, count):
    terms = [f"params[{i % 10}]*x**{i % 4}" if sign in "+-" else f"(x + params[{i % 10}])" for i in range(count)]
    text = "def f(x, params):\n    y = 2*x\n    return " + f" {sign} ".join(terms)
    began = time.process_time()
    reading = read_function(text)
    assert time.process_time() - began < 4
    constants, x = np.linspace(0.9, 1.1, 10), np.array([0.1, 0.2])
    names, wanted = {"x": x, "params": constants}, None
    with np.errstate(all="ignore"):
        for term in terms:
            value = eval(term, {}, names)
            wanted = (
                value
                if wanted is None
                else {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[sign](wanted, value)
            )
    np.testing.assert_allclose(reading.with_constants(constants)({"x": x}), wanted, rtol=1e-9)


def test_long_chains_in_replies_and_modules():
    body = "    return " + " + ".join(["params[0]*x"] * 3_500)
    text = read_completion("def f(x, params):", f"{body}\nThat is long.")
    assert text == f"def f(x, params):\n{body}" and read_function(text).expression.size == 4 * 3_500 - 1
    module = f"class M(nn.Module):\n    def forward(self, x):\n        return {'*'.join(['x'] * 3_500)}"
    assert read_module(module).expression.size == 2 * 3_500 - 1


def test_terms_of_a_long_sum():
    assert len(_terms(parse("+".join(["x"] * 5_000)).tree)) == 5_000


OPERATORS = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "//": ast.FloorDiv,
    "%": ast.Mod,
    "@": ast.MatMult,
}


class Written(ast.NodeTransformer):
    """Calls of a chain as the operators that they stand for."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if getattr(node.func, "id", None) != chains.CHAIN:
            return node
        result = node.args[0]
        for operator, operand in zip(node.args[1::2], node.args[2::2], strict=True):
            result = ast.BinOp(result, OPERATORS[operator.value](), operand)
        return result


def python(rng, depth):
    """A random expression of Python."""
    if not depth:
        return rng.choice(["x", "1.5", "'s'", "f(a, *b, k=c+d)", "-x", "z[1:a-b]", "None", "...", "{1: a+b}"])
    a, b, c = (python(rng, depth - 1) for _ in range(3))
    operator = rng.choice(["+", "-", "*", "/", "//", "%", "@"])
    forms = [f"{a}{operator}{b}"] * 6 + [
        f"({a})",
        f"{a}**-x",
        f"({a} if {b} else {c})",
        f"({a} < {b} and not {c} or x)",
    ]
    forms += [
        f"[{a} for i in {b} if {c}]",
        f"(lambda a, b={a}: {b})",
        f"(\n {a} # c + d\n + {b})",
        f"f({a}, *{b}, **k).T",
    ]
    return rng.choice([*forms, f"-{a}"])


def test_rewriting_chains_keeps_the_program(monkeypatch):
    monkeypatch.setattr(chains, "LONG", 1)
    rng, changed = random.Random(1), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(300):
            a, b, c, d = (python(rng, depth) for depth in (2, 3, 4, 4))
            text = f"@dec\ndef g(x: int = {a}, *a):\n    q: int = {b}\n    q += {c}; return {d}\n"
            again = chains.rewritten(text)
            changed += again != text
            assert ast.dump(Written().visit(ast.parse(again))) == ast.dump(ast.parse(text)), text
    assert changed > 100
