"""Gene expression programming that begins with given rules, and judges by F1."""

import random
from collections.abc import Iterable
from typing import Any

from ..expressions import ExpressionError, parse
from ..expressions.trees import build, fold
from .logicgep import ARITY, Evolution, LogicGEP, expressed

SYMBOLS = {"and": "&", "or": "|", "not": "!"}


class Planted(Evolution):
    """The search for the rule of one node among genes, some of which are given.

    Fitness is lexicographic: F1 of the node's next values, then few operations. What a given rule leaves of its gene is
    random.

    Parameters
    ----------
    seeds : rules; those that no gene can hold are left out.
    settings, columns, target, n, rng : as for `Evolution`
    """

    def __init__(
        self, seeds: Iterable[str], settings: LogicGEP, columns: dict[str, int], target: int, n: int, rng: random.Random
    ) -> None:
        super().__init__(settings, columns, target, n, rng)
        self.judged = dict[tuple, tuple]()
        written = (gene_of(rule, settings.head) for rule in seeds)
        self.seeds = [used for used in written if used and set(used) <= {*SYMBOLS.values(), *columns}]

    def first(self, size: int) -> list[tuple]:
        genes = super().first(size)
        for k, used in enumerate(self.seeds[:size]):
            genes[k] = (*used, *genes[k][len(used) :])
        return genes

    def fitness(self, gene: tuple) -> tuple:
        if gene not in self.judged:
            used = expressed(gene)
            predicted = self.values(used) & self.every
            both, either = (predicted & self.target).bit_count(), predicted.bit_count() + self.target.bit_count()
            operations = sum(symbol in ARITY for symbol in used)
            self.judged[gene] = (2 * both / either if either else 0.0, -operations)
        return self.judged[gene]


def gene_of(rule: str, head: int) -> tuple[str, ...] | None:
    """The part of a gene that a rule's tree uses; None where the rule cannot be read or no gene can hold it.

    Genes have no constants; an implication and an exclusive or are written with ``!``, ``&`` and ``|``.

    >>> gene_of("a & !b", 5), gene_of("a -> b", 5), gene_of("1", 5)
    (('&', 'a', '!', 'b'), ('|', '!', 'b', 'a'), None)
    """
    try:
        tree = fold(parse(rule, logic=True).tree, _with_three)
    except ExpressionError:
        return None
    used, waiting = list[Any](), [tree]
    for label, *children in waiting:  # breadth first: children go to the end of what is read
        used.append(SYMBOLS.get(label, label))
        waiting += children
        if len(used) > 2 * head + 1:
            return None
    functions = [place for place, label in enumerate(used) if label in ARITY]
    fits = not functions or functions[-1] < head
    return tuple(used) if fits and all(isinstance(label, str) for label in used) else None


def _with_three(label: Any, children: list[tuple]) -> tuple:
    """A node of and, or and not alone."""
    if label == "implies":
        return ("or", ("not", children[0]), children[1])
    if label == "xor":
        return ("and", ("not", ("and", *children)), ("or", *children))
    return build(label, *children)
