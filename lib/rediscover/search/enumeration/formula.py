"""Trees put together, evaluated, fitted and written: what all stages of the enumeration do with a find."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...expressions import Expression, refit
from ...expressions.numerics import Program
from . import grammar

Tree = tuple


@dataclass(frozen=True, eq=False)
class Found:
    """An expression for the target.

    Attributes
    ----------
    expression : Expression
    error : float
        Mean squared error on the training rows; infinite where it is undefined on one.
    exact : bool
        No row deviates by more than rounding, see `is_exact`.
    stage : str
        The stage of the search that found it.
    """

    expression: Expression
    error: float
    exact: bool
    stage: str

    @property
    def size(self) -> int:
        return self.expression.size


def leaf(value: float) -> Tree:
    """A number as a tree: integers without a point."""
    value = float(value)
    return (int(value),) if abs(value) < 1e6 and value == int(value) else (value,)


def times(factor: float, tree: Tree) -> Tree:
    if factor == 1:
        return tree
    return ("neg", tree) if factor == -1 else ("*", leaf(factor), tree)


def logarithm(tree: Tree) -> Tree:
    """The logarithm of a tree's size."""
    return ("log", ("abs", tree))


def combination(coefficients: Iterable[float], trees: Sequence[Tree], constant: float = 0.0) -> Tree:
    """Sum of coefficients times trees, and a constant; zeros drop out.

    Examples
    --------
    >>> str(Expression(combination([2.0, -1.0, 0.0], [("x",), ("y",), ("z",)], 0.5)))
    '2*x - y + 0.5'
    """
    total = None
    for factor, tree in zip(coefficients, trees, strict=True):
        if factor == 0:
            continue
        if total is None:
            total = times(factor, tree)
        else:
            total = ("+" if factor > 0 else "-", total, times(abs(factor), tree))
    if total is None:
        return leaf(constant)
    if constant == 0:
        return total
    return ("+" if constant > 0 else "-", total, leaf(abs(constant)))


def tidy(tree: Tree) -> Tree:
    """The tree without factors of 1 and terms of 0, numbers times numbers multiplied.

    Examples
    --------
    >>> str(Expression(tidy(("*", (1,), ("+", ("x",), (0,))))))
    'x'
    """
    label, *children = tree
    if not children:
        return tree
    parts = [tidy(child) for child in children]
    if label == "*":
        if all(len(part) == 1 and type(part[0]) in (int, float) for part in parts):
            return leaf(parts[0][0] * parts[1][0])
        if (0,) in parts or (0.0,) in parts:
            return (0,)
        for one, other in ((0, 1), (1, 0)):
            if parts[one] in ((1,), (1.0,)):
                return parts[other]
            if parts[one] in ((-1,), (-1.0,)):
                return ("neg", parts[other])
    if label in ("+", "-") and parts[1] in ((0,), (0.0,)):
        return parts[0]
    if label == "+" and parts[0] in ((0,), (0.0,)):
        return parts[1]
    if label in ("/", "**") and parts[1] in ((1,), (1.0,)):
        return parts[0]
    if label == "+" and parts[0][0] == "neg":
        return ("-", parts[1], parts[0][1])
    return (label, *parts)


def evaluate(trees: Sequence[Tree], columns: dict[str, np.ndarray]) -> np.ndarray:
    """Values of trees, shape (n_trees, n_rows)."""
    shape = next(iter(columns.values())).shape
    return np.array([np.broadcast_to(row, shape) for row in Program(trees)(columns)], float)


def spread(y: np.ndarray) -> float:
    """Median distance from the median: what one huge row cannot change."""
    return float(np.median(np.abs(y - np.median(y)))) or float(np.mean(np.abs(y - np.mean(y))))


def is_exact(predicted: np.ndarray, y: np.ndarray, tolerance: float = grammar.EXACT) -> bool:
    """Whether every row agrees, relative to its own size and the spread of the target.

    Examples
    --------
    >>> is_exact(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0 + 1e-6]))
    False
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.all(np.abs(predicted - y) < tolerance * (np.abs(y) + spread(y)) + np.finfo(float).tiny))


def sums(tree: Tree) -> Iterator[list[Tree]]:
    """The terms of every sum in a tree, signs left out; those of an outer sum first.

    Examples
    --------
    >>> [len(terms) for terms in sums(("log", ("-", ("+", ("x",), ("y",)), ("*", (2,), ("x",)))))]
    [3]
    """
    label, *children = tree
    terms = [tree] if label in ("+", "-") else []
    while any(term[0] in ("+", "-", "neg") for term in terms):
        terms = [part for term in terms for part in (term[1:] if term[0] in ("+", "-", "neg") else [term])]
    if terms:
        yield terms
    for child in terms or children:
        yield from sums(child)


def idle_term(tree: Tree, columns) -> Tree | None:
    """The smallest term of a sum in a tree that the sum hardly needs; None if every sum needs all its terms.

    A sum of many fitted terms comes as near to a smooth target as is wanted, each term a little nearer. What is the
    target misses it clearly until its last term is there: without any, the others leave `grammar.NEEDED` of the spread
    of the sum.

    Examples
    --------
    >>> x = np.linspace(1.0, 1.2, 50)
    >>> idle_term(("+", ("x",), ("sin", ("x",))), {"x": x})
    >>> idle_term(("+", ("+", ("x",), ("**", ("x",), (2,))), ("*", (1e-9,), ("**", ("x",), (3,)))), {"x": x})
    ('*', (1e-09,), ('**', ('x',), (3,)))
    """
    for terms in sums(tree):
        values = evaluate(terms, columns)
        values = values - values.mean(axis=1, keepdims=True)
        size = np.linalg.norm(values, axis=1)
        kept = [i for i in np.argsort(size) if size[i] > 0]
        if not np.isfinite(size).all() or len(kept) < 3:
            continue
        total = np.linalg.norm(values.sum(axis=0)) or 1.0
        unit = values / np.where(size > 0, size, 1.0)[:, None]
        for i in kept:
            others = unit[[j for j in kept if j != i]]
            left = unit[i] - np.linalg.lstsq(others.T, unit[i], rcond=None)[0] @ others
            if np.linalg.norm(left) * size[i] < grammar.NEEDED * total:
                return terms[i]
    return None


def without(tree: Tree, term: Tree) -> Tree:
    """The tree with 0 in place of a term.

    Examples
    --------
    >>> x = ("x",)
    >>> without(("+", x, ("y",)), x)
    ('+', (0,), ('y',))
    """
    if tree is term:
        return (0,)
    label, *children = tree
    return (label, *(without(child, term) for child in children))


def needed(candidate: Found, columns, y) -> Found:
    """A find without the terms that its sums hardly need, fitted again, if it is exact then; else as it was."""
    tree = candidate.expression.tree
    while (idle := idle_term(tree, columns)) is not None:
        tree = tidy(without(tree, idle))
    if tree is candidate.expression.tree:
        return candidate
    again = found(tree, columns, y, candidate.stage)
    again = again and polished(again, columns, y)
    return again if again is not None and again.exact else candidate


def found(tree: Tree, columns, y, stage: str, tolerance: float = grammar.EXACT) -> Found | None:
    """An expression with its error; None if it is none (too large, or a number in it is not finite)."""
    try:
        expression = Expression(tree)
    except ValueError:
        return None
    predicted = np.broadcast_to(expression(columns), y.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.mean((predicted - y) ** 2))
    return Found(expression, error if np.isfinite(error) else np.inf, is_exact(predicted, y, tolerance), stage)


def polished(candidate: Found, columns, y, evaluations: int = 50) -> Found:
    """Constants refitted on all rows, if that helps, then rounded, if that harms nothing."""
    best = candidate
    if not candidate.exact and np.isfinite(candidate.error) and candidate.expression.constants:
        fitted = refit(candidate.expression, columns, y, starts=1, evaluations=evaluations)
        again = found(fitted.tree, columns, y, candidate.stage)
        if again is not None and (again.exact, -again.error) > (best.exact, -best.error):
            best = again
    return rounded(best, columns, y) if best.exact else best


def rounded(candidate: Found, columns, y, tolerance: float = grammar.EXACT) -> Found:
    """An exact expression with each constant the simplest number near it that keeps the expression exact."""
    constants = [leaf(value)[0] for value in candidate.expression.constants]
    for i, value in enumerate(constants):
        for simple in simpler(value):
            trial = candidate.expression.with_constants([*constants[:i], simple, *constants[i + 1 :]])
            if is_exact(np.broadcast_to(trial(columns), y.shape), y, tolerance):
                constants[i] = simple
                break
    again = found(tidy(candidate.expression.with_constants(constants).tree), columns, y, candidate.stage, tolerance)
    return again if again is not None and again.exact else candidate


def simpler(value: float) -> list[float | int]:
    """Numbers that `value` may stand for: integers, short decimals, fractions, multiples of pi; the simplest first.

    None comes behind the value itself.

    Examples
    --------
    >>> simpler(0.4999999999)[0], simpler(3.0000000001)[0]
    (0.5, 3)
    """
    near = 1e-6 * abs(value) + 1e-12
    options: list[float | int] = [round(value)] if abs(value) < 1e6 else []
    if value:
        options += [float(f"{value:.{digits}g}") for digits in (1, 2, 3, 4)]
    if 1e-3 < abs(value) < 1e3:
        options += [float(Fraction(value).limit_denominator(24))]
        options += [float(Fraction(value / np.pi).limit_denominator(12)) * np.pi]
    if value:
        options += [float(f"{value:.{digits}g}") for digits in (6, 8, 10, 12)]
    kept = list(dict.fromkeys(option for option in options if abs(option - value) < near))
    return kept[: kept.index(value)] if value in kept else kept
