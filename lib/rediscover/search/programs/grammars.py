"""Probabilistic context-free grammars of expressions, after ProGED.

A rule rewrites a symbol into one of several sequences, each with a probability; what no rule rewrites is written
as it stands. A sentence is drawn from the start symbol, always rewriting the leftmost; the probability of a
derivation is the product of those of its rules, and its code says which production each rule chose.

References
----------
J. Brence, L. Todorovski, S. Dzeroski, Probabilistic grammars for equation discovery, Knowledge-Based Systems 224
(2021) 107077
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...expressions import Expression, ExpressionError, algebra, parse
from ...expressions.trees import fold, replace_leaves

DEEPEST = 100  # rules inside one another; a deeper derivation is given up
Production = tuple[float, tuple[str, ...]]


class Grammar(NamedTuple):
    """Symbol -> its productions, each a probability and the symbols in its place; the first symbol is the start."""

    rules: Mapping[str, tuple[Production, ...]]

    @property
    def start(self) -> str:
        return next(iter(self.rules))


class Sentence(NamedTuple):
    """A derivation: the words, its probability, and the numbers of the productions that were chosen."""

    words: tuple[str, ...]
    probability: float
    code: tuple[int, ...]


def grammar(text: str) -> Grammar:
    """Read rules, one a line: ``symbol: words probability | words probability``.

    >>> grammar("S: S + F 0.2 | F 0.8").rules["S"]
    ((0.2, ('S', '+', 'F')), (0.8, ('F',)))
    """
    rules: dict[str, tuple[tuple[float, tuple[str, ...]], ...]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        symbol, productions = line.split(":")
        parts = [production.split() for production in productions.split("|")]
        rules[symbol.strip()] = tuple((float(words[-1]), tuple(words[:-1])) for words in parts)
    for symbol, choices in rules.items():
        if not abs(sum(probability for probability, _ in choices) - 1) < 1e-9:
            raise ValueError(f"the probabilities of {symbol} do not sum to 1")
    return Grammar(rules)


# ------------------------------------------------------------------------------------------- sampling and counting


def draw(rules: Grammar, random: Callable[[], float]) -> Sentence | None:
    """Draw a sentence; None if it would be deeper than `DEEPEST`.

    Parameters
    ----------
    random : numbers from U(0, 1), one for each rule that is used, also where there is no choice
    """
    words, code, probability = [], [], 1.0
    waiting = [(rules.start, 0)]
    while waiting:
        symbol, depth = waiting.pop()
        if symbol not in rules.rules:
            words.append(symbol)
            continue
        if depth > DEEPEST:
            return None
        productions = rules.rules[symbol]
        bounds = np.cumsum([chance for chance, _ in productions])
        chosen = min(int(np.searchsorted(bounds / bounds[-1], random(), side="right")), len(productions) - 1)
        code.append(chosen)
        probability *= productions[chosen][0]
        waiting.extend((part, depth + 1) for part in reversed(productions[chosen][1]))
    return Sentence(tuple(words), probability, tuple(code))


def coverage(rules: Grammar, height: int, symbol: str | None = None) -> float:
    """Probability that a derivation is no higher than `height`; a word has height 0.

    >>> coverage(grammar("S: S + F 0.2 | F 0.8 \\n F: x 0.5 | y 0.5"), 2)
    0.8
    """
    return _total(rules, height, symbol or rules.start, lambda chance: chance)


def count_trees(rules: Grammar, height: int, symbol: str | None = None) -> int:
    """Number of derivations no higher than `height`.

    >>> count_trees(grammar("S: S + F 0.2 | F 0.8 \\n F: x 0.5 | y 0.5"), 5)
    30
    """
    return _total(rules, height, symbol or rules.start, lambda chance: 1)


def _total(rules: Grammar, height: int, start: str, weigh: Callable):
    """Sum over derivations up to a height of the product of their productions' weights."""
    totals = dict.fromkeys(rules.rules, 0)
    for _ in range(height):
        totals = {
            symbol: sum(
                weigh(chance) * np.prod([totals.get(part, 1) for part in parts], dtype=object)
                for chance, parts in productions
            )
            for symbol, productions in rules.rules.items()
        }
    return totals[start]


# --------------------------------------------------------------------------------------------- built-in grammars

# V stands for any variable, C for a constant, whose value is to be fitted.
BUILT_IN = {
    "polynomial": """S: S + R 0.4 | R 0.6
        R: T 1
        T: T * V 0.4 | C 0.6""",
    "simplerational": """S: P / R 0.2 | P 0.8
        P: P + C * R 0.4 | C * R 0.3 | C 0.3
        R: exp( C * M ) 0.4 | M 0.6
        M: M * V 0.4 | V 0.6""",
    "rational": """S: ( E ) / ( E ) 1
        E: E + R 0.4 | R 0.6
        R: T 0.6 | C * exp( T ) 0.4
        T: T * V 0.4 | C 0.6""",
    "universal": """S: S + F 0.2 | S - F 0.2 | F 0.6
        F: F * T 0.2 | F / T 0.2 | T 0.6
        T: R 0.2 | C 0.4 | V 0.4
        R: ( S ) 0.6 | sin( S ) 0.1 | cos( S ) 0.1 | sqrt( S ) 0.1 | exp( S ) 0.1""",
    "trigonometric": """S: T1 ( V ) 0.8 | T1 ( V ) * T1 ( V ) 0.2
        T1: sin 0.4 | cos 0.4 | tan 0.2""",
}


def built_in(name: str, variables: Sequence[str], chances: Sequence[float] | None = None) -> Grammar:
    """One of ProGED's grammars over some variables, by default each as likely.

    Raises
    ------
    ValueError
        If there is no such grammar, or there are no variables.
    """
    if name not in BUILT_IN:
        raise ValueError(f"unknown grammar {name!r} (grammars: {', '.join(BUILT_IN)})")
    if not variables:
        raise ValueError("a grammar needs at least one variable")
    chances = chances or [1 / len(variables)] * len(variables)
    leaves = tuple((float(chance), (variable,)) for chance, variable in zip(chances, variables, strict=True))
    return Grammar({**grammar(BUILT_IN[name]).rules, "V": leaves})


# ------------------------------------------------------------------------------------------------ canonical form


class Skeleton(NamedTuple):
    """An expression whose fitted constants are 1.0, and what is the same for equal forms."""

    expression: Expression
    form: str


def canonical(words: Sequence[str], variables: Sequence[str]) -> Skeleton | None:
    """The expression of a sentence, with constants merged; None if it has no variable or is nowhere defined.

    What contains constants only is one constant, and so are the constant terms of a sum and factors of a product.

    >>> canonical("C * x * C + exp( C )".split(), ["x"]).form
    "('+', ('*', ('C',), ('x',)), ('C',))"
    """
    import sympy

    text, letters = [], itertools.count()
    constants = set()
    for word in words:
        if word == "C":
            word = f"c_{next(letters)}"
            constants.add(sympy.Symbol(word))
        text.append(word)
    try:
        known = [*variables, *(symbol.name for symbol in constants)]
        merged = _merged(parse(" ".join(text), known).sympy(), constants, letters)
        tree = algebra.from_sympy(merged)
    except (ExpressionError, ValueError, RecursionError):
        return None
    names = {symbol.name for symbol in constants}
    expression = Expression(replace_leaves(tree, lambda leaf: (1.0,) if leaf in names else (leaf,)))
    if not set(expression.names) & set(variables):
        return None
    return Skeleton(expression, repr(fold(tree, lambda label, children: _sorted(label, children, names))))


def _merged(expression, constants: set, letters):
    """A SymPy expression with constants merged; the new symbols join `constants`."""
    import sympy

    def fresh():
        symbol = sympy.Symbol(f"c_{next(letters)}")
        constants.add(symbol)
        return symbol

    if not expression.args:
        return expression
    if expression.free_symbols and expression.free_symbols <= constants:
        return fresh()
    parts = [_merged(part, constants, letters) for part in expression.args]
    if expression.is_Add or expression.is_Mul:
        others = [part for part in parts if not part.free_symbols <= constants]
        fixed = [part for part in parts if part.free_symbols <= constants]
        if any(part.free_symbols for part in fixed):
            return expression.func(fresh(), *others)
    return expression.func(*parts)


def _sorted(label, children: list, names: set) -> tuple:
    """A node whose order of terms or factors is fixed, every constant ("C",)."""
    if not children:
        return ("C",) if label in names else (label,)
    if label not in ("+", "*"):
        return (label, *children)
    parts = [part for child in children for part in (child[1:] if child[0] == label else [child])]
    return (label, *sorted(parts, key=repr))
