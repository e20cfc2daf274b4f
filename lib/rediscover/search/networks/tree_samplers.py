"""Random expressions as the data of pretrained transformers are made: a tree shape, operators, leaves, constants.

A shape is drawn uniformly from all trees with a number of operators, by the counts of Lample and Charton. An
expression is nested tuples whose labels are operators of `operators`, input columns (int) and constants (float).

References
----------
G. Lample and F. Charton, Deep learning for symbolic mathematics, ICLR 2020, appendix C;
L. Biggio et al., Neural symbolic regression that scales, ICML 2021;
P.-A. Kamienny et al., End-to-end symbolic regression with transformers, NeurIPS 2022;
S. d'Ascoli et al., ODEFormer: symbolic regression of dynamical systems with transformers, ICLR 2024
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...expressions.trees import fold, leaves
from ..programs.operators import CODES, CONSTANT, VARIABLE
from ..programs.programs import Programs, empty

Tree = tuple


class Prior(NamedTuple):
    """What a published generator draws expressions of D inputs from.

    Attributes
    ----------
    binary, unary : weights of the operators; ``id`` stands for no operator.
    operators : least and largest number of operators of a shape.
    per_input : whether the number of inputs, less one, is added to both.
    mixed : shapes have operators of one operand too. Else these are put in afterwards, 0 to `inserted`.
    inserted : above subtrees with fewer than `DEEPEST` nodes, the root excepted.
    leaves : 'growing' (an input that occurs or the next one), 'all' (each input once, then any), 'any'.
    constants : at most so many, at random places; None for one at every place.
    """

    binary: dict[str, float]
    unary: dict[str, float]
    operators: tuple[int, int]
    per_input: bool = False
    mixed: bool = False
    inserted: int = 0
    leaves: str = "any"
    constants: int | None = None


DEEPEST = 6
# pow4 is the square of a square. NeSymReS has pow5 as well, with weight 1 of 37: programs have no such operator.
PRIORS = {
    "nesymres": Prior(
        {"+": 10, "*": 10, "-": 5, "/": 5},
        dict(sqrt=4, square=4, cube=2, pow4=1, log=4, exp=4, sin=4, cos=4, tan=4, asin=2),
        operators=(3, 5),
        mixed=True,
        leaves="growing",
        constants=3,
    ),
    "e2e": Prior(
        {"+": 1, "-": 1, "*": 1},
        dict(abs=1, inv=3, sqrt=5, log=1, exp=1, sin=1, cos=1, tan=0.2, atan=0.2, square=3, cube=1),
        operators=(0, 6),
        per_input=True,
        inserted=4,
        leaves="all",
    ),
    "odeformer": Prior({"+": 3, "*": 1}, dict(sin=1, inv=1, square=1, id=3), operators=(1, 5), inserted=3),
}


# --------------------------------------------------------------------------------------------------------- shapes


@functools.cache
def count_shapes(empty_nodes: int, operators: int, unary: bool = True) -> int:
    """Number of ways to fill empty nodes with so many operators in all, the rest being leaves.

    The first empty node is a leaf, an operator of one operand (if `unary`), or one of two.

    >>> [count_shapes(1, n) for n in range(6)], [count_shapes(1, n, unary=False) for n in range(6)]
    ([1, 2, 6, 22, 90, 394], [1, 1, 2, 5, 14, 42])
    """
    if not empty_nodes:
        return int(not operators)
    filled = count_shapes(empty_nodes - 1, operators, unary)
    if operators:
        filled += count_shapes(empty_nodes + 1, operators - 1, unary)
        filled += count_shapes(empty_nodes, operators - 1, unary) if unary else 0
    return filled


def draw_shape(operators: int, rng: np.random.Generator, unary: bool = True) -> list[int]:
    """Arities in prefix order of a tree with so many operators, every such tree equally likely.

    >>> sorted({tuple(draw_shape(1, np.random.default_rng(seed))) for seed in range(9)})
    [(1, 0), (2, 0, 0)]
    """
    arities: list[int] = []
    empty_nodes = 1
    while empty_nodes:
        ways = [
            count_shapes(empty_nodes - 1, operators, unary),
            count_shapes(empty_nodes, operators - 1, unary) if unary and operators else 0,
            count_shapes(empty_nodes + 1, operators - 1, unary) if operators else 0,
        ]
        arity = int(np.searchsorted(np.cumsum(ways), rng.integers(sum(ways)), side="right"))
        arities.append(arity)
        operators -= arity > 0
        empty_nodes += arity - 1
    return arities


# ---------------------------------------------------------------------------------------------------- expressions


def draw_expression(prior: Prior, inputs: int, rng: np.random.Generator) -> Tree:
    """An expression without constants, its terms and factors in a fixed order; inputs are numbered from 0."""
    more = inputs - 1 if prior.per_input else 0
    low, high = prior.operators
    shape = draw_shape(int(rng.integers(low + more, high + more + 1)), rng, prior.mixed)
    leaves = iter(draw_leaves(prior.leaves, shape.count(0), inputs, rng))
    arities = iter(shape)

    def build() -> Tree:
        arity = next(arities)
        if not arity:
            return (next(leaves),)
        operator = draw_operator(prior.unary if arity == 1 else prior.binary, rng)
        return apply(operator, *[build() for _ in range(arity)])

    tree = build()
    return insert_unary(tree, prior, int(rng.integers(prior.inserted + 1)), rng) if prior.inserted else tree


def draw_leaves(rule: str, count: int, inputs: int, rng: np.random.Generator) -> list[int]:
    """Input of each leaf, by a rule of `Prior`; which input is the first has no meaning, so they are shuffled."""
    if rule == "growing":
        numbers: list[int] = []
        for _ in range(count):
            numbers.append(int(rng.integers(min(max(numbers, default=-1) + 2, inputs))))
    else:
        first = list(range(inputs))[:count] if rule == "all" else []
        numbers = [*first, *rng.integers(inputs, size=count - len(first)).tolist()]
        rng.shuffle(numbers)
    order = rng.permutation(inputs)
    return [int(order[number]) for number in numbers]


def draw_operator(weights: dict[str, float], rng: np.random.Generator) -> str:
    bounds = np.cumsum(list(weights.values()))
    return list(weights)[int(np.searchsorted(bounds, rng.random() * bounds[-1], side="right"))]


def apply(operator: str, *operands: Tree) -> Tree:
    """
    >>> apply("+", (1,), (0,)), apply("pow4", (0,))
    (('+', (0,), (1,)), ('square', ('square', (0,))))
    """
    if operator == "id":
        return operands[0]
    if operator == "pow4":
        return ("square", ("square", *operands))
    return (operator, *(sorted(operands, key=repr) if operator in ("+", "*") else operands))


def insert_unary(tree: Tree, prior: Prior, count: int, rng: np.random.Generator) -> Tree:
    """So many operators of one operand above subtrees that are drawn, as far as there are places."""
    sizes: list[int] = []

    def measure(node: Tree) -> int:
        place = len(sizes)
        sizes.append(1)
        sizes[place] += sum(map(measure, node[1:]))
        return sizes[place]

    measure(tree)
    places = [place for place, size in enumerate(sizes) if place and size < DEEPEST]
    chosen = set(rng.permutation(places)[:count].tolist())
    numbers = itertools.count()

    def build(node: Tree) -> Tree:
        here = next(numbers) in chosen
        rebuilt = apply(node[0], *map(build, node[1:])) if node[1:] else node
        return apply(draw_operator(prior.unary, rng), rebuilt) if here else rebuilt

    return build(tree)


# ------------------------------------------------------------------------------------------------------ constants


def place_constants(tree: Tree, take: Callable[[], float | None]) -> Tree:
    """The tree with constants where `take` gives one, asked at each place in turn.

    Places are a factor of each term of a sum, of each argument of a function and of the whole, unless that is a sum
    itself, and a summand of each argument and of the whole.

    >>> place_constants(("*", (0,), ("sin", (1,))), lambda: 1.0)
    ('+', (1.0,), ('*', (1.0,), ('*', (0,), ('sin', ('+', (1.0,), ('*', (1.0,), (1,)))))))
    """

    def inside(node: Tree) -> Tree:
        label, *operands = node
        if len(operands) == 1:
            return (label, whole(operands[0]))
        return (label, *map(term if label in ("+", "-") else inside, operands)) if operands else node

    def term(node: Tree) -> Tree:
        value = None if node[0] in ("+", "-") else take()
        return inside(node) if value is None else ("*", (value,), inside(node))

    def whole(node: Tree) -> Tree:
        value, scaled = take(), term(node)
        return scaled if value is None else ("+", (value,), scaled)

    return whole(tree)


def draw_constants(tree: Tree, prior: Prior, rng: np.random.Generator) -> Tree:
    """The tree with the constants of a prior, N(0, 1) each; the whole can always be scaled.

    For the last a factor is added where there is none: priors know no units.
    """
    count = sum(type(leaf) is float for leaf in leaves(place_constants(tree, lambda: 1.0)))
    number = count if prior.constants is None else int(rng.integers(min(prior.constants, count) + 1))
    chosen = set(rng.permutation(count)[:number].tolist())
    places = itertools.count()
    placed = place_constants(tree, lambda: float(rng.normal()) if next(places) in chosen else None)
    return placed if scalable(placed) else ("*", (float(rng.normal()),), placed)


def scalable(tree: Tree) -> bool:
    """Whether other constants of the tree can multiply all of it.

    >>> scalable(("+", (1.0,), (0,))), scalable(("+", (1.0,), ("*", (1.0,), (0,))))
    (False, True)
    """
    label, *operands = tree
    if label in ("+", "-"):
        return all(map(scalable, operands))
    return type(operands[0][0]) is float if label == "*" else type(label) is float


def to_programs(trees: Sequence[Tree]) -> Programs:
    """Trees as programs, which `programs.to_text` writes."""

    def tokens(label, operands: list) -> list[tuple[int, float]]:
        if not operands:
            return [(CONSTANT, label)] if type(label) is float else [(VARIABLE + label, 0.0)]
        return [*itertools.chain(*operands), (CODES[label], 0.0)]

    rows = [fold(tree, tokens) for tree in trees]
    batch = empty(len(rows), max(map(len, rows), default=1))
    for k, row in enumerate(rows):
        batch.tokens[k, : len(row)], batch.constants[k, : len(row)] = zip(*row, strict=True)
        batch.sizes[k] = len(row)
    return batch
