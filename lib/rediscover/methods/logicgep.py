"""Gene expression programming for Boolean rules: the baseline that SymbolBench calls LogicGep."""

import functools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..numerics.boolean_minimisation import bits
from ..problems import Transitions
from . import Budget, Candidate, Method, generator

ARITY = {"&": 2, "|": 2, "!": 1}
FUNCTIONS = tuple(ARITY)


@dataclass(frozen=True)
class LogicGEP(Method):
    """One population per node; a chromosome is one gene, its rule the expression tree written breadth first.

    Fitness is lexicographic: matched transitions, then few regulators. Each generation keeps the elite,
    selects the rest by tournaments, and applies point mutation, inversion, both transpositions and both
    crossovers, each with `rate`. Pieces and points are drawn as the package geppy draws them, on which the
    paper's LogicGep is built, and rules are simplified as it does. The defaults are those of Table 3; Table 7
    has population 15, generations 15, elites 3.

    Attributes
    ----------
    population, generations, elites, tournament : sizes.
    head : length of the part of the gene that may hold functions; the tail has one symbol more.
    rate : probability of each operator per individual or pair.
    """

    population: int = 25
    generations: int = 50
    elites: int = 5
    tournament: int = 3
    head: int = 5
    rate: float = 0.5
    name: ClassVar[str] = "logicgep"
    reference: ClassVar[str] = "gene expression programming: Ferreira, Complex Systems 13 (2001) 87-129; LogicGep"
    accepts: ClassVar[tuple[type, ...]] = (Transitions,)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        train = problem.data(seed)["train"]
        columns = {name: bits(train.X[:, i]) for i, name in enumerate(problem.inputs)}
        rules, evaluations = {}, 0
        for i, node in enumerate(problem.outputs):
            rng = random.Random(int(generator(seed, problem.id, self.name, node).integers(2**63)))
            gene = Evolution(self, columns, bits(train.y[:, i]), len(train.y), rng).run()
            rules[node] = simplified(express(gene))
            evaluations += self.population * (self.generations + 1)
        return [Candidate(rules, evaluations=evaluations)]


class Evolution:
    """The search for the rule of one node. A column of data is an integer with one bit per transition."""

    def __init__(self, settings: LogicGEP, columns: dict[str, int], target: int, n: int, rng: random.Random) -> None:
        self.settings, self.columns, self.target, self.random = settings, columns, target, rng.random
        self.terminals, self.n, self.every = tuple(columns), n, (1 << n) - 1
        self.length = 2 * settings.head + 1
        self.known: dict[tuple, tuple[int, int]] = {}

    def run(self) -> tuple[str, ...]:
        """The best gene."""
        size, elites = self.settings.population, self.settings.elites
        genes = self.first(size)
        for _ in range(self.settings.generations):
            # of equals the first that was drawn wins, so that no place in the population is favoured
            chosen = [
                max((genes[self.below(size)] for _ in range(self.settings.tournament)), key=self.fitness)
                for _ in range(size - elites)
            ]
            genes = sorted(genes, key=self.fitness, reverse=True)[:elites] + self.vary(chosen)
        return max(genes, key=self.fitness)

    def first(self, size: int) -> list[tuple]:
        """The genes that the search begins with."""
        return [tuple(self.symbol(i) for i in range(self.length)) for _ in range(size)]

    def below(self, n: int) -> int:
        """A random number from 0 to n - 1."""
        return int(n * self.random())

    def fitness(self, gene: tuple) -> tuple[int, int]:
        """Matched transitions, and the number of regulators with a minus; more is better."""
        found = self.known.get(gene)
        if found is None:
            used = expressed(gene)
            wrong = (self.values(used) ^ self.target) & self.every
            found = self.known[gene] = (self.n - wrong.bit_count(), -len(set(used) - set(FUNCTIONS)))
        return found

    def values(self, used: Sequence[str]) -> int:
        """The column that an expressed gene predicts."""
        stack, end = [self.columns.get(symbol, 0) for symbol in used], len(used)
        for i in range(len(used) - 1, -1, -1):  # children stand behind their parents, in order
            symbol = used[i]
            if symbol == "!":
                end -= 1
                stack[i] = ~stack[end]
            elif symbol in ARITY:
                end -= 2
                a, b = stack[end], stack[end + 1]
                stack[i] = a & b if symbol == "&" else a | b
        return stack[0]

    def symbol(self, position: int) -> str:
        """A random symbol for a place: in the head a function as often as a terminal."""
        function = position < self.settings.head and self.random() < 0.5
        symbols = FUNCTIONS if function else self.terminals
        return symbols[self.below(len(symbols))]

    def vary(self, genes: list[tuple]) -> list[tuple]:
        varied = [list(gene) for gene in genes]
        for gene in varied:
            for operator in (self.mutate, self.invert, self.transpose, self.transpose_to_root):
                if self.random() < self.settings.rate:
                    operator(gene)
        for a, b in zip(varied[::2], varied[1::2], strict=False):
            if self.random() < self.settings.rate:
                self.swap(a, b, 0, self.below(self.length))
            if self.random() < self.settings.rate:
                self.swap(a, b, *sorted((self.below(self.length), self.below(self.length))))
        return [tuple(gene) for gene in varied]

    def swap(self, a: list, b: list, first: int, last: int) -> None:
        """Crossover: exchange the symbols from `first` to `last`."""
        a[first : last + 1], b[first : last + 1] = b[first : last + 1], a[first : last + 1]

    def piece(self, length: int, shortest: int, longest: int) -> slice:
        """A random piece of a sequence: first its length is drawn, then its place."""
        size = shortest + self.below(longest - shortest + 1)
        start = self.below(length - size + 1)
        return slice(start, start + size)

    def mutate(self, gene: list) -> None:
        """Change two symbols on average."""
        for i in range(self.length):
            if self.random() < 2 / self.length:
                gene[i] = self.symbol(i)

    def invert(self, gene: list) -> None:
        """Reverse a piece of the head, of two symbols or more."""
        chosen = self.piece(self.settings.head, 2, self.settings.head)
        gene[chosen] = gene[chosen][::-1]

    def transpose(self, gene: list) -> None:
        """Copy a piece of the gene into the head, behind the root; the end of the head is lost."""
        head = self.settings.head
        copied = gene[self.piece(self.length, 1, head - 1)]
        place = 1 + self.below(head - len(copied))
        gene[:head] = (gene[:place] + copied + gene[place:head])[:head]

    def transpose_to_root(self, gene: list) -> None:
        """Copy a piece that begins with a function of the head, of two symbols or more, to the root."""
        head = self.settings.head
        starts = [i for i in range(head) if gene[i] in ARITY]
        if starts:
            start = starts[self.below(len(starts))]
            copied = gene[start : start + 2 + self.below(head - 1)]
            gene[:head] = (copied + gene[:head])[:head]


def expressed(gene: Sequence[str]) -> tuple[str, ...]:
    """The part of a gene that its tree uses.

    >>> expressed(("&", "!", "a", "b", "c", "a", "b"))
    ('&', '!', 'a', 'b')
    """
    end, open_places = 0, 1
    while open_places:
        open_places += ARITY.get(gene[end], 0) - 1
        end += 1
    return tuple(gene[:end])


def express(gene: Sequence[str]) -> str:
    """The rule of a gene.

    >>> express(("&", "!", "a", "b", "c", "a", "b"))
    '(!b & a)'
    """
    used = expressed(gene)
    texts, end = list(used), len(used)
    for i in range(len(used) - 1, -1, -1):
        arity = ARITY.get(used[i], 0)
        children = texts[end - arity : end]
        end -= arity
        if arity:
            texts[i] = f"!{children[0]}" if arity == 1 else f"({children[0]} {used[i]} {children[1]})"
    return texts[0]


@functools.lru_cache(maxsize=10_000)  # short rules recur
def simplified(rule: str) -> str:
    """An equivalent rule as SymPy simplifies it, by what proximity and operations of the release are counted.

    >>> simplified("((a & b) | (a & !b))")
    'a'
    """
    import sympy

    from ..expressions import from_sympy, parse

    return str(from_sympy(sympy.simplify(parse(rule, logic=True).sympy())))
