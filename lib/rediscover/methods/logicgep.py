"""Gene expression programming for Boolean rules: the baseline that SymbolBench calls LogicGep."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..problems import Transitions
from . import Candidate, Method, Unsupported, generator

ARITY = {"&": 2, "|": 2, "!": 1}
FUNCTIONS = tuple(ARITY)


@dataclass(frozen=True)
class LogicGEP(Method):
    """One population per node; a chromosome is one gene, its rule the expression tree written breadth first.

    Fitness is lexicographic: matched transitions, then few regulators. Each generation keeps the elite,
    selects the rest by tournaments, and applies point mutation, inversion, both transpositions and both
    crossovers, each with `rate`. The defaults are those of Table 3; Table 7 has population 15, generations
    15, elites 3.

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
    reference: ClassVar[str] = (
        "gene expression programming: Ferreira, Complex Systems 13 (2001) 87-129; LogicGep"
    )
    accepts: ClassVar[tuple[type, ...]] = (Transitions,)

    def solve(self, problem, *, budget=None, seed=0):
        if not isinstance(problem, Transitions):
            raise Unsupported(f"{self.name} does not treat a {problem.kind}")
        train = problem.data(seed)["train"]
        columns = {name: _bits(train.X[:, i]) for i, name in enumerate(problem.inputs)}
        rules, evaluations = {}, 0
        for i, node in enumerate(problem.outputs):
            rng = generator(seed, problem.id, self.name, node)
            gene = Evolution(self, columns, _bits(train.y[:, i]), len(train.y), rng).run()
            rules[node] = express(gene)
            evaluations += self.population * (self.generations + 1)
        return [Candidate(rules, evaluations=evaluations)]


class Evolution:
    """The search for the rule of one node. A column of data is an integer with one bit per transition."""

    def __init__(
        self, settings: LogicGEP, columns: dict[str, int], target: int, n: int, rng: np.random.Generator
    ):
        self.settings, self.columns, self.target, self.rng = settings, columns, target, rng
        self.terminals, self.n, self.every = tuple(columns), n, (1 << n) - 1
        self.length = 2 * settings.head + 1
        self.known: dict[tuple, tuple[int, int]] = {}

    def run(self) -> tuple[str, ...]:
        """The best gene."""
        size, elites = self.settings.population, self.settings.elites
        genes = [tuple(self.symbol(i) for i in range(self.length)) for _ in range(size)]
        for _ in range(self.settings.generations):
            ranked = sorted(genes, key=self.fitness, reverse=True)
            chosen = self.rng.integers(0, size, size=(size - elites, self.settings.tournament)).min(axis=1)
            genes = ranked[:elites] + self.vary([ranked[i] for i in chosen])
        return max(genes, key=self.fitness)

    def fitness(self, gene) -> tuple[int, int]:
        if gene not in self.known:
            used = expressed(gene)
            values: list[int] = []
            stack = [self.columns.get(symbol, 0) for symbol in used]
            end = len(used)
            for i in range(len(used) - 1, -1, -1):  # children stand behind their parents, in order
                arity = ARITY.get(used[i], 0)
                values = stack[end - arity : end]
                end -= arity
                if arity:
                    stack[i] = self.apply(used[i], values)
            wrong = ((stack[0] ^ self.target) & self.every).bit_count()
            self.known[gene] = (self.n - wrong, -len(set(used) - set(FUNCTIONS)))
        return self.known[gene]

    def apply(self, function: str, values: list[int]) -> int:
        if function == "!":
            return ~values[0]
        return values[0] & values[1] if function == "&" else values[0] | values[1]

    def symbol(self, position: int) -> str:
        """A random symbol for a place: in the head a function as often as a terminal."""
        if position < self.settings.head and self.rng.random() < 0.5:
            return FUNCTIONS[self.rng.integers(len(FUNCTIONS))]
        return self.terminals[self.rng.integers(len(self.terminals))]

    def vary(self, genes: list[tuple]) -> list[tuple]:
        genes = [list(gene) for gene in genes]
        for gene in genes:
            for operator in (self.mutate, self.invert, self.transpose, self.transpose_to_root):
                if self.rng.random() < self.settings.rate:
                    operator(gene)
        for a, b in zip(genes[::2], genes[1::2], strict=False):
            for points in (1, 2):
                if self.rng.random() < self.settings.rate:
                    cuts = sorted(self.rng.integers(1, self.length, size=points))
                    start, end = cuts[0], cuts[1] if points == 2 else self.length
                    a[start:end], b[start:end] = b[start:end], a[start:end]
        return [tuple(gene) for gene in genes]

    def mutate(self, gene: list):
        """Two symbols of a gene on average."""
        for i in np.flatnonzero(self.rng.random(self.length) < 2 / self.length):
            gene[i] = self.symbol(i)

    def invert(self, gene: list):
        start, end = sorted(self.rng.integers(0, self.settings.head + 1, size=2))
        gene[start:end] = gene[start:end][::-1]

    def transpose(self, gene: list):
        """Insert a piece of the gene into the head behind the root."""
        head = self.settings.head
        self.insert(gene, int(self.rng.integers(self.length)), int(self.rng.integers(1, head)))

    def transpose_to_root(self, gene: list):
        """Move a piece of the head that begins with a function to the root."""
        starts = [i for i in range(self.settings.head) if gene[i] in ARITY]
        if starts:
            self.insert(gene, starts[self.rng.integers(len(starts))], 0)

    def insert(self, gene: list, start: int, target: int):
        head = self.settings.head
        piece = gene[start : start + int(self.rng.integers(1, head + 1))]
        gene[:head] = (gene[:target] + piece + gene[target:head])[:head]


def expressed(gene) -> tuple[str, ...]:
    """The part of a gene that its tree uses.

    >>> expressed(("&", "!", "a", "b", "c", "a", "b"))
    ('&', '!', 'a', 'b')
    """
    end, open_places = 0, 1
    while open_places:
        open_places += ARITY.get(gene[end], 0) - 1
        end += 1
    return tuple(gene[:end])


def express(gene) -> str:
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


def _bits(column: np.ndarray) -> int:
    """A column of Booleans as one integer, the first transition as its lowest bit."""
    return int.from_bytes(np.packbits(column, bitorder="little").tobytes(), "little")
