"""Tokens of which a policy writes expressions in prefix order, and the way back to expressions.

A sequence lists a tree from the root, each node before its children: ``mul, sin, x, const`` is sin(x)*c. With
the number of arguments of each token it needs no brackets.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...expressions import Expression

CONSTANT, POLYNOMIAL = "const", "poly"
MOST_TOKENS = 127  # a token is one byte


class Function(NamedTuple):
    """How a function is counted and written: number of arguments, complexity, and its tree."""

    arity: int
    complexity: int
    tree: tuple  # with 0 and 1 for the arguments


def _call(name: str) -> tuple:
    return (name, 0)


# The complexities are those of the released code of deep symbolic optimisation.
FUNCTIONS = {
    "add": Function(2, 1, ("+", 0, 1)),
    "sub": Function(2, 1, ("-", 0, 1)),
    "mul": Function(2, 1, ("*", 0, 1)),
    "div": Function(2, 2, ("/", 0, 1)),
    "sin": Function(1, 3, _call("sin")),
    "cos": Function(1, 3, _call("cos")),
    "tan": Function(1, 4, _call("tan")),
    "exp": Function(1, 4, _call("exp")),
    "log": Function(1, 4, _call("log")),
    "sqrt": Function(1, 4, _call("sqrt")),
    "tanh": Function(1, 4, _call("tanh")),
    "abs": Function(1, 2, _call("abs")),
    "neg": Function(1, 1, ("neg", 0)),
    "inv": Function(1, 2, ("/", (1,), 0)),
    "n2": Function(1, 2, ("**", 0, (2,))),
    "n3": Function(1, 3, ("**", 0, (3,))),
}
INVERSES = {"exp": "log", "log": "exp", "sqrt": "n2", "n2": "sqrt", "inv": "inv", "neg": "neg"}
TRIGONOMETRIC = {"sin", "cos", "tan"}
NOT_ABOVE_A_POLYNOMIAL = {"sin", "cos", "tan", "n2", "abs"}
# Codes of the compiled evaluation: functions by their order, input j as -1 - j.
CODES = {name: code for code, name in enumerate([*FUNCTIONS, CONSTANT, POLYNOMIAL])}


@dataclass(frozen=True)
class Library:
    """The tokens of a search: the inputs first, then functions, ``const`` and ``poly`` as listed.

    Attributes
    ----------
    inputs : names of the input columns.
    functions : names from `FUNCTIONS`, ``const`` (a number fitted to the data), ``poly`` (a polynomial in all
        inputs fitted to the data). At least one takes two arguments.

    >>> Library(("x",), ("add", "sin", "const")).names
    ('x', 'add', 'sin', 'const')
    """

    inputs: tuple[str, ...]
    functions: tuple[str, ...]

    def __post_init__(self):
        if not self.inputs:
            raise ValueError("a library needs at least one input")
        if len(self.names) > MOST_TOKENS:
            raise ValueError(f"a library has at most {MOST_TOKENS} tokens, got {len(self.names)}")
        for name in self.functions:
            if name not in CODES:
                raise ValueError(f"unknown function {name!r} (functions: {', '.join(CODES)})")
            if self.functions.count(name) > 1:
                raise ValueError(f"function {name!r} is listed twice")
        if not (self.arity == 2).any():
            raise ValueError("a library needs at least one function of two arguments")

    @property
    def names(self) -> tuple[str, ...]:
        return self.inputs + self.functions

    @cached_property
    def arity(self) -> np.ndarray:
        """Number of arguments of each token, shape (n_tokens,)."""
        counts = [FUNCTIONS[name].arity if name in FUNCTIONS else 0 for name in self.functions]
        return np.array([0] * len(self.inputs) + counts, np.int64)

    @cached_property
    def complexity(self) -> np.ndarray:
        """Complexity of each token, shape (n_tokens,); 1 for leaves."""
        sizes = [FUNCTIONS[name].complexity if name in FUNCTIONS else 1 for name in self.functions]
        return np.array([1] * len(self.inputs) + sizes, np.int64)

    @cached_property
    def codes(self) -> np.ndarray:
        """Code of each token in the compiled evaluation, shape (n_tokens,)."""
        inputs = [-1 - j for j in range(len(self.inputs))]
        return np.array(inputs + [CODES[name] for name in self.functions], np.int64)

    def token(self, name: str) -> int:
        """Number of a function, ``const`` or ``poly``; -1 where the library lacks it."""
        return len(self.inputs) + self.functions.index(name) if name in self.functions else -1

    def marked(self, names: set[str]) -> np.ndarray:
        """For each token, whether it is one of these functions, shape (n_tokens,)."""
        return np.array([False] * len(self.inputs) + [name in names for name in self.functions])

    def sequence(self, text: str) -> np.ndarray:
        """Tokens from their names, as ``"mul,sin,x,const"``."""
        return np.array([self.names.index(name) for name in text.split(",")], np.int8)

    def text(self, sequence: Sequence[int]) -> str:
        """Names of the tokens, comma-separated."""
        return ",".join(self.names[token] for token in sequence)

    def expression(self, sequence: Sequence[int], numbers: Sequence[float] = (), degree: int = 0) -> Expression:
        """The expression that a sequence writes.

        Parameters
        ----------
        sequence : tokens of one whole expression, in prefix order
        numbers : one value for each ``const``, or, in a sequence with ``poly``, the polynomial's coefficients
            in the order of `monomials`
        degree : of the polynomial

        >>> print(Library(("x",), ("mul", "sin", "const")).expression([1, 2, 0, 3], [2.5]))
        sin(x)*2.5
        """
        polynomial = self.token(POLYNOMIAL) in sequence
        left = list(numbers)
        stack: list[tuple] = []
        for token in reversed(sequence):
            name = self.names[token]
            if token < len(self.inputs):
                stack.append((name,))
            elif name == CONSTANT:
                stack.append((float(left.pop()),))
            elif name == POLYNOMIAL:
                stack.append(polynomial_tree(self.inputs, numbers, degree))
            else:
                function = FUNCTIONS[name]
                stack.append(_filled(function.tree, [stack.pop() for _ in range(function.arity)]))
        if len(stack) != 1 or (left and not polynomial):
            raise ValueError(f"{self.text(sequence)} with {len(numbers)} numbers is not one expression")
        return Expression(stack[0])


def _filled(template: tuple, arguments: list[tuple]) -> tuple:
    children = (arguments[part] if type(part) is int else part for part in template[1:])
    tree = (template[0], *children)
    return (-tree[1][0],) if tree[0] == "neg" and type(tree[1][0]) is float else tree


def monomials(n_inputs: int, degree: int) -> np.ndarray:
    """Exponents of all monomials up to a total degree, the constant first.

    Returns
    -------
    ndarray of int, shape (C(n_inputs + degree, degree), n_inputs)

    >>> monomials(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [0, 2], [1, 1], [2, 0]]
    """
    rows: list[tuple[int, ...]] = [()]
    for _ in range(n_inputs):
        rows = [(*row, power) for row in rows for power in range(degree + 1 - sum(row))]
    rows = sorted(rows, key=lambda row: (sum(row), row))
    assert len(rows) == math.comb(n_inputs + degree, degree)
    return np.array(rows, np.int64)


def polynomial_tree(inputs: Sequence[str], coefficients: Sequence[float], degree: int) -> tuple:
    """Sum of the monomials with coefficients other than 0; the number 0 where there is none."""
    terms: list[tuple] = []
    for coefficient, powers in zip(coefficients, monomials(len(inputs), degree), strict=True):
        if coefficient:
            tree: tuple = (float(coefficient),)
            for name, power in zip(inputs, powers.tolist(), strict=True):
                if power:
                    tree = ("*", tree, (name,) if power == 1 else ("**", (name,), (power,)))
            terms.append(tree)
    return functools.reduce(lambda total, term: ("+", total, term), terms) if terms else (0.0,)
