"""Trees to SymPy and back, node by node; SymPy never sees text."""

import functools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .numerics import UFUNCS
from .syntax import call
from .trees import CHAINS, COMPARISONS, DEPTH, NAMED, build, fold, spine

LARGEST_EXACT = 2**53  # integer powers beyond it become floats: 9**9**9 would fill the memory
LARGEST_EXPONENT = 1000
# Binary digits of an exact number's numerator and denominator; beyond, it becomes a float. Powers of powers have a
# thousandfold at each step: (((1/3)**1000)**1000)**1000 would never end. Text of up to 4,300 digits can be written.
LARGEST_BITS = 8192
# Terms that SymPy may multiply out by itself, as it does for remainders and for the real parts of roots of powers.
LARGEST_TERMS = 128


def to_sympy(tree: tuple, *, as_written: bool = False) -> Any:
    """The SymPy expression, with plain Symbols. Constant parts that overflow or are undefined: oo or nan.

    With `as_written`, a decimal number has as many digits as its text, 15 at least, as `sympy.sympify` reads it.
    """
    import sympy

    relations = dict(zip(COMPARISONS, (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge, sympy.Eq, sympy.Ne), strict=True))
    makers: dict[str, Any] = {
        "+": sympy.Add,
        "-": lambda a, b: a - b,
        "*": sympy.Mul,
        "/": lambda a, b: a / b,
        "neg": lambda a: -a,
        "log2": lambda a: sympy.log(a, 2),
        "log10": lambda a: sympy.log(a, 10),
        "cbrt": lambda a: sympy.sign(a) * sympy.Abs(a) ** sympy.Rational(1, 3),
        "abs": sympy.Abs,
        "ceil": sympy.ceiling,
        "min": sympy.Min,
        "max": sympy.Max,
        "mod": sympy.Mod,
        "and": sympy.And,
        "or": sympy.Or,
        "not": sympy.Not,
        "xor": sympy.Xor,
        "implies": sympy.Implies,
        "where": lambda c, a, *b: sympy.Piecewise((a, c), *((other, True) for other in b)),
        **relations,
    }

    def power(base: Any, exponent: Any, value: float | None) -> Any:
        if value is not None and abs(value) > LARGEST_EXACT:
            base = sympy.Float(base) if base.is_Integer else base
        elif exponent.is_Integer and abs(exponent) > LARGEST_EXPONENT:
            exponent = sympy.Float(exponent)
        # For a root of a power SymPy multiplies out real and imaginary part, whatever the number of variables.
        base = base if exponent.is_Integer else _closed(base, 1)
        return _bounded(base, abs(exponent) if exponent.is_comparable else 1) ** exponent

    def combine(
        label: Any, children: list[tuple]
    ) -> tuple[Any, float | None]:  # results are (object, value of a constant part or None)
        if not children:
            if label in NAMED:
                return {"π": sympy.pi, "ℯ": sympy.E}[label], NAMED[label]
            if isinstance(label, str):
                return sympy.Symbol(label), None
            if isinstance(label, bool):
                return sympy.true if label else sympy.false, None
            if isinstance(label, int):
                return sympy.Integer(label), float(label)
            return sympy.Float(repr(label) if as_written else label), label
        parts, values = zip(*children, strict=True)
        value = None
        if None not in values and label in UFUNCS and label not in relations:
            with np.errstate(all="ignore"):
                value = float(_evaluate(label, values))
            if math.isnan(value):
                return sympy.nan, value
            if math.isinf(value):
                return sympy.oo if value > 0 else -sympy.oo, value
        if sympy.nan in parts and label in relations:
            return sympy.false, None
        if label == "**":
            base, exponent = parts
            return power(base, exponent, value), value
        if label == "mod":
            parts = tuple(_closed(part, len(part.atoms(sympy.Symbol, sympy.Function))) for part in parts)
        elif label == "sqrt":
            parts = (_closed(parts[0], 1),)
        try:
            maker: Any = makers.get(label, getattr(sympy, label, None))
            return _bounded(maker(*parts)), value
        except (ZeroDivisionError, TypeError, ValueError):  # a modulus of 0, an order of complex numbers
            return sympy.nan, value

    return fold(tree, combine)[0]


def gathered(tree: tuple) -> tuple:
    """The tree with each chain of more than `DEPTH` operands as one node: SymPy would sort a sum at each term."""
    operands = spine(tree)
    if len(operands) == 1:
        return (tree[0], *map(gathered, tree[1:]))
    terms = [(label, gathered(operand)) for label, operand in operands]
    if len(terms) <= DEPTH or CHAINS[tree[0]] == "xor":
        return functools.reduce(lambda left, term: (term[0], left, term[1]), terms[1:], terms[0][1])
    whole = {"sum": "+", "product": "*"}.get(CHAINS[tree[0]], tree[0])
    turned = {"-": lambda term: build("neg", term), "/": lambda term: ("**", term, (-1,))}
    return (whole, *(turned[label](term) if label in turned else term for label, term in terms))


def _bounded(expression: Any, exponent: Any = 1) -> Any:
    """The expression, its exact factor a float if that, to the exponent, would have more than `LARGEST_BITS`."""
    import sympy

    if not isinstance(expression, sympy.Expr):
        return expression
    factor, rest = expression.as_coeff_Mul(rational=True)
    bits = max(factor.p.bit_length(), factor.q.bit_length()) if factor.is_Rational else 0
    if bits < 2 or bits * exponent <= LARGEST_BITS:
        return expression
    return sympy.Float(factor) * rest


def _closed(expression: Any, variables: int) -> Any:
    """The expression, exponents of its powers as floats if it had more than `LARGEST_TERMS` when multiplied out."""
    import sympy

    if math.comb(min(_degree(expression), LARGEST_TERMS) + variables, variables) <= LARGEST_TERMS:
        return expression
    return expression.replace(
        lambda part: part.is_Pow and part.exp.is_Integer and abs(part.exp) > 1,
        lambda part: part.base ** sympy.Float(part.exp),
    )


def _degree(expression: Any) -> int:
    """The degree in symbols; what is no sum, product or whole power has the largest one among its arguments."""
    degrees = [_degree(part) for part in expression.args]
    if expression.is_Pow and expression.exp.is_Integer:
        return degrees[0] * abs(int(expression.exp))
    return sum(degrees) if expression.is_Mul else max(degrees, default=int(expression.is_Symbol))


def _evaluate(label: str, values: tuple[float, ...]) -> float:
    if len(values) > 2 and label in ("min", "max"):
        return {"min": min, "max": max}[label](values)
    return functools.reduce(UFUNCS[label], values[1:], values[0]) if len(values) > 2 else UFUNCS[label](*values)


def from_sympy(expression: Any) -> tuple:
    """The tree of a SymPy expression.

    Raises
    ------
    ValueError
        If it holds what this package has no label for (complex numbers, infinities, derivatives, integrals).
    """
    import sympy

    named = {sympy.pi: ("π",), sympy.E: ("ℯ",), sympy.true: (True,), sympy.false: (False,)}
    binary = {"StrictLessThan": "<", "LessThan": "<=", "StrictGreaterThan": ">", "GreaterThan": ">="}
    binary |= {"Equality": "==", "Unequality": "!=", "And": "and", "Or": "or", "Xor": "xor", "Implies": "implies"}

    def chain(label: str, trees: Iterable[tuple]) -> tuple:
        return functools.reduce(lambda left, right: (label, left, right), trees)

    def total(terms: Any) -> tuple:
        tree = read(terms[0])
        for term in terms[1:]:
            negative = term.could_extract_minus_sign() and not term.is_Add
            tree = ("-", tree, read(-term)) if negative else ("+", tree, read(term))
        return tree

    def product(node: Any) -> tuple:
        """``-a*b/(c*d)``: the sign first, then factors over factors."""
        coefficient, rest = node.as_coeff_Mul(rational=True)
        above, below = [], []
        for factor in sympy.Mul.make_args(rest):
            base, exponent = factor.as_base_exp()
            if exponent.is_Rational and exponent < 0:
                below.append(base**-exponent)
            elif factor != 1:
                above.append(factor)
        numerator, denominator = abs(coefficient.p), coefficient.q
        above = [(numerator,)] * (numerator != 1 or not above) + [read(factor) for factor in above]
        below = [(denominator,)] * (denominator != 1) + [read(factor) for factor in below]
        if coefficient < 0:
            above[0] = build("neg", above[0])
        tree = chain("*", above)
        return ("/", tree, chain("*", below)) if below else tree

    def read(node: Any) -> tuple:
        if node in named:
            return named[node]
        name = type(node).__name__
        if node.is_Symbol:
            return (node.name,)
        if node.is_Integer or node.is_Float:
            return (int(node) if node.is_Integer else float(node),)
        if node.is_Add:
            return total(node.args)
        if node.is_Mul or node.is_Rational:
            return product(node)
        if node.is_Pow:
            base, exponent = node.args
            if exponent.is_Rational and exponent < 0:
                return product(node)
            return ("sqrt", read(base)) if exponent == sympy.S.Half else ("**", read(base), read(exponent))
        if name == "Piecewise":
            tree: Any = None
            for value, condition in reversed(node.args):
                if condition == True:  # noqa: E712  (SymPy's true)
                    tree = None if value is sympy.nan else read(value)
                else:
                    tree = ("where", read(condition), read(value), *([] if tree is None else [tree]))
            return tree
        if name in binary:
            return chain(binary[name], map(read, node.args))
        if name == "Not":
            return ("not", read(node.args[0]))
        if not node.args:
            raise ValueError(f"{node} is no real number")
        return call(name, [read(argument) for argument in node.args])

    return read(expression)


def simplified(tree: tuple, logic: bool) -> tuple:
    """What SymPy simplifies a tree to; may run for ever."""
    import sympy

    expression = to_sympy(gathered(tree))
    return from_sympy(sympy.simplify_logic(expression) if logic else sympy.simplify(expression))
