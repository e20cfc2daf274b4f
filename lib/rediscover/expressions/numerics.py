"""Trees to numbers: values and derivatives, by numpy alone."""

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .syntax import Parser
from .trees import NAMED, UNARY, VARIADIC, fold

ARC = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}
ARC |= {"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
UFUNCS = {name: getattr(np, ARC.get(name, name)) for name in [*UNARY, "atan2", "mod", "where"]}
UFUNCS |= {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power, "neg": np.negative}
UFUNCS |= {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
UFUNCS |= {"==": np.equal, "!=": np.not_equal, "and": np.logical_and, "or": np.logical_or}
UFUNCS |= {"xor": np.logical_xor, "not": np.logical_not, "implies": np.less_equal}  # on Booleans
UFUNCS |= {"min": np.minimum, "max": np.maximum}

# Derivatives of f(a, b), given those of a and b as p and q. Steps have derivative 0 everywhere.
DERIVATIVES = {"+": "p + q", "-": "p - q", "*": "p*b + a*q", "/": "(p - a/b*q)/b", "neg": "-p"}
DERIVATIVES |= {"sin": "p*cos(a)", "cos": "-p*sin(a)", "tan": "p*(1 + tan(a)**2)"}
DERIVATIVES |= {"asin": "p/sqrt(1 - a**2)", "acos": "-p/sqrt(1 - a**2)", "atan": "p/(1 + a**2)"}
DERIVATIVES |= {"sinh": "p*cosh(a)", "cosh": "p*sinh(a)", "tanh": "p*(1 - tanh(a)**2)"}
DERIVATIVES |= {"asinh": "p/sqrt(1 + a**2)", "acosh": "p/sqrt(a**2 - 1)", "atanh": "p/(1 - a**2)"}
DERIVATIVES |= {"exp": "p*exp(a)", "log": "p/a", "log2": "p/(a*log(2))", "log10": "p/(a*log(10))"}
DERIVATIVES |= {"sqrt": "p/(2*sqrt(a))", "cbrt": "p/(3*cbrt(a)**2)", "abs": "p*sign(a)"}
DERIVATIVES |= {"sign": "0", "floor": "0", "ceil": "0", "mod": "p - q*floor(a/b)"}
DERIVATIVES |= {"atan2": "(b*p - a*q)/(a**2 + b**2)", "min": "where(a <= b, p, q)", "max": "where(a >= b, p, q)"}
RULES = {UFUNCS[label]: Parser(text, [*"abpq"], False).tree() for label, text in DERIVATIVES.items()}
POWER = Parser("b*a**(b - 1)*p", [*"abpq"], False).tree()
EXPONENTIAL = Parser("a**b*log(a)*q", [*"abpq"], False).tree()


def _quotient(a: float, b: float) -> float:
    return a / b if b else np.divide(a, b)


# What Python computes to the same bits as numpy, more than ten times as fast, where operands are numbers.
SCALAR = {np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.negative: operator.neg}
SCALAR[np.divide] = _quotient
LARGEST_PRODUCT = 6  # integer powers up to this are computed as products


class Program:
    """Trees as a list of ufunc calls on registers; equal subtrees are computed once.

    Plain numpy semantics in float64, silently.

    Parameters
    ----------
    trees : what to compute
    variables : names for whose values the derivatives of each tree are computed as well
    """

    def __init__(self, trees: Sequence[tuple], variables: Sequence[str] = ()) -> None:
        self.numbers: dict[tuple | str, int] = {}  # what is computed -> its number
        self.steps: list = []  # by number: a constant, a variable's name, or (function, operands)
        self.results = [fold(tree, self.emit) for tree in trees]
        values = len(self.steps)  # what follows are derivatives, which are not differentiated again
        for variable in variables:
            self.results += self.differentiate(self.results[: len(trees)], values, variable)
        self.assign()

    def emit(self, label: Any, operands: list[int]) -> int:
        """The number of a node, given those of its children."""
        if not operands:
            if isinstance(label, str) and label not in NAMED:
                return self.number(label, label)
            return self.constant(NAMED.get(label, label))
        if label == "**":
            return self.power(*operands)
        if label in VARIADIC:
            return functools.reduce(lambda a, b: self.apply(UFUNCS[label], a, b), operands)
        if label == "where" and len(operands) == 2:
            operands = [*operands, self.constant(math.nan)]
        return self.apply(UFUNCS[label], *operands)

    def number(self, key: tuple | str, step: Any) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.steps)
            self.steps.append(step)
        return self.numbers[key]

    def constant(self, value: float) -> int:
        value = value if isinstance(value, bool) else float(value)
        return self.number((type(value), repr(value)), value)

    def apply(self, function: Callable, *operands: int) -> int:
        steps = [self.steps[i] for i in operands]
        if all(isinstance(step, float | bool) for step in steps):
            with np.errstate(all="ignore"):
                return self.constant(function(*steps).item())
        return self.number((function, *operands), (function, operands))

    def power(self, base: int, exponent: int) -> int:
        n = self.steps[exponent]
        if n == 0.5:
            return self.apply(np.sqrt, base)
        if type(n) is not float or n == 0 or not abs(n) <= LARGEST_PRODUCT or n != int(n):  # NaN too
            return self.apply(np.power, base, exponent)
        if n < 0:
            base = self.apply(np.divide, self.constant(1.0), base)
        return self.product(base, abs(int(n)))

    def product(self, base: int, n: int) -> int:
        if n == 1:
            return base
        half = self.product(base, n // 2)
        square = self.apply(np.multiply, half, half)
        return self.apply(np.multiply, square, base) if n % 2 else square

    def differentiate(self, results: list[int], count: int, variable: str) -> list[int]:
        """Forward mode: the derivatives of the first `count` steps, in their order."""
        zero = self.constant(0.0)
        slopes = {}
        for i in range(count):
            step = self.steps[i]
            if type(step) is not tuple:
                slopes[i] = self.constant(1.0) if step == variable else zero
                continue
            function, operands = step
            p, q = (slopes[operands[0]], slopes[operands[-1]])
            if function is np.where:
                condition, *values = operands
                values = [slopes[value] for value in values]
                slopes[i] = zero if values == [zero, zero] else self.apply(np.where, condition, *values)
            elif p == q == zero or function not in {*RULES, np.power}:  # conditions have no slope
                slopes[i] = zero
            elif function is np.power:
                known = dict(zip("abpq", [*operands, p, q], strict=True))
                terms = [self.rule(rule, known) for rule, slope in ((POWER, p), (EXPONENTIAL, q)) if slope != zero]
                slopes[i] = functools.reduce(lambda a, b: self.apply(np.add, a, b), terms)
            else:
                slopes[i] = self.rule(RULES[function], {"a": operands[0], "b": operands[-1], "p": p, "q": q})
        return [slopes[i] for i in results]

    def rule(self, tree: tuple, known: Mapping[str, int]) -> int:
        """A rule's tree with numbers for its letters; times 0 vanishes, times 1 stays."""
        zero, one = self.constant(0.0), self.constant(1.0)

        def combine(label: Any, operands: list[int]) -> int:
            if not operands:
                return known[label] if label in known else self.emit(label, operands)
            if (label == "*" and zero in operands) or (label == "/" and operands[0] == zero):
                return zero
            if label in ("*", "+"):
                neutral = one if label == "*" else zero
                rest = [operand for operand in operands if operand != neutral]
                if len(rest) < 2:
                    return rest[0] if rest else neutral
            if label == "-" and operands[1] == zero:
                return operands[0]
            return self.emit(label, operands)

        return fold(tree, combine)

    def assign(self) -> None:
        """Give each step a register that is free again after its last use: arrays stay in the cache."""
        needed, last = set(self.results), dict.fromkeys(self.results, len(self.steps))
        for i in range(len(self.steps) - 1, -1, -1):
            if i in needed and type(self.steps[i]) is tuple:
                for operand in self.steps[i][1]:
                    needed.add(operand)
                    last.setdefault(operand, i)
        self.start: list = []
        self.inputs: list[tuple[str, int]] = []
        self.calls: list[tuple] = []
        register, free = {}, []
        for i in sorted(needed):
            if type(self.steps[i]) is not tuple:
                register[i] = len(self.start)
                self.start.append(self.steps[i])
                if isinstance(self.steps[i], str):
                    self.inputs.append((self.steps[i], register[i]))
        for i in sorted(needed):
            if type(self.steps[i]) is tuple:
                function, operands = self.steps[i]
                sources = [register[operand] for operand in operands]
                for operand in set(operands):
                    if last[operand] == i and type(self.steps[operand]) is tuple:
                        free.append(register[operand])
                if not free:
                    free.append(len(self.start))
                    self.start.append(None)
                register[i] = free.pop()
                self.calls.append((function, register[i], *sources, *[-1] * (3 - len(sources))))
        self.outputs = [register[i] for i in self.results]

    def __call__(self, columns: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """One array (or number, where nothing varies) per tree, then per variable and tree its derivative."""
        return self._run(self.calls, columns)

    def at(self, point: Mapping[str, float]) -> list[float]:
        """The same at one point, given as Python's numbers: to the bit what a call gives, but several times as fast."""
        return self._run(self.scalar_calls, point)

    @functools.cached_property
    def scalar_calls(self) -> list[tuple]:
        return [(SCALAR.get(function, function), *registers) for function, *registers in self.calls]

    def _run(self, calls: list[tuple], values: Mapping) -> list:
        registers = self.start.copy()
        for name, i in self.inputs:
            registers[i] = values[name]
        with np.errstate(all="ignore"):
            for function, target, a, b, c in calls:
                if b < 0:
                    registers[target] = function(registers[a])
                elif c < 0:
                    registers[target] = function(registers[a], registers[b])
                else:
                    registers[target] = function(registers[a], registers[b], registers[c])
        return [registers[i] for i in self.outputs]
