"""Genetic steps on token sequences: what a policy has written is bred further.

Trees are crossed and mutated as sequences; the rules of the policy's prior hold for every child.

References
----------
T. N. Mundhenk et al., Symbolic regression via neural-guided genetic programming population seeding, NeurIPS 2021.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from .batches import Batch, joined, packed, solved
from .priors import Rules, lawful
from .sequences import end as compiled_end

Sequence = list[int]
end = compiled_end.py_func  # sequences are lists here, which the compiled function does not take


@dataclass(frozen=True)
class Breeding:
    """How a batch is bred.

    Attributes
    ----------
    generations : at least 1.
    population : sequences drawn from the batch without replacement; None for all of it.
    elites : distinct best children of all generations that are handed back.
    tournament : sequences, drawn with replacement, of which the best becomes a parent.
    crossover, mutation : chances that a pair of neighbours is crossed, and that a sequence is mutated.
    depth : of the largest tree that a mutation plants.
    """

    generations: int = 20
    population: int | None = None
    elites: int = 50
    tournament: int = 5
    crossover: float = 0.5
    mutation: float = 0.5
    depth: int = 3

    def __post_init__(self):
        counts = [self.generations, self.elites, self.tournament]
        counts += [] if self.population is None else [self.population]
        if min(counts) < 1 or self.depth < 0:
            raise ValueError("generations, population, elites, tournament must be at least 1, depth at least 0")
        if not (0 <= self.crossover <= 1 and 0 <= self.mutation <= 1):
            raise ValueError("crossover and mutation are chances between 0 and 1")


def breed(
    batch: Batch,
    rewards: Callable[[np.ndarray, np.ndarray], np.ndarray],
    rules: Rules,
    breeding: Breeding,
    evaluations: int,
    rng: np.random.Generator,
) -> Batch:
    """The best children of some generations, of fewer if one of them is exact.

    Parameters
    ----------
    batch : the first parents are drawn from it
    rewards : tokens, lengths -> rewards; called once for each generation, with all of it
    evaluations : children at most; a generation that would exceed them is not bred

    Returns
    -------
    Batch
        At most ``breeding.elites`` distinct sequences, best first; none if there is no generation.
    """
    size = min(breeding.population or len(batch.lengths), len(batch.lengths))
    rows = rng.choice(len(batch.lengths), size, replace=False)
    parents = Batch(*(part[rows] for part in batch))
    elite = Batch(*(part[:0] for part in batch))
    for _ in range(min(breeding.generations, evaluations // size)):
        drawn = rng.integers(size, size=(size, breeding.tournament))
        winners = drawn[np.arange(size), parents.rewards[drawn].argmax(axis=1)]
        chosen = [parents.tokens[k, : parents.lengths[k]].tolist() for k in winners]
        tokens, lengths = packed(_mutated(_crossed(chosen, rules, breeding, rng), rules, breeding, rng))
        parents = Batch(tokens, lengths, rewards(tokens, lengths))
        elite = joined(elite, parents).best(breeding.elites)
        if solved(elite.rewards[0]):
            break
    return elite


def _crossed(sequences: list[Sequence], rules: Rules, breeding: Breeding, rng) -> list[Sequence]:
    """Neighbours exchange subtrees; a child that the rules forbid gives way to one of its two parents."""
    children = list(sequences)
    for k in range(0, len(sequences) - 1, 2):
        if rng.random() < breeding.crossover:
            children[k], children[k + 1] = crossed(sequences[k], sequences[k + 1], rules.arity, rng)
    for k in np.flatnonzero(~lawful(*packed(children), rules)).tolist():
        pair = k - k % 2
        children[k] = sequences[pair + int(rng.integers(2))]
    return children


def _mutated(sequences: list[Sequence], rules: Rules, breeding: Breeding, rng) -> list[Sequence]:
    """Some sequences are mutated, each in one of four ways; what the rules forbid is taken back."""
    children = list(sequences)
    for k in np.flatnonzero(rng.random(len(sequences)) < breeding.mutation):
        children[k] = mutated(sequences[k], rules.arity, breeding.depth, rng)
    for k in np.flatnonzero(~lawful(*packed(children), rules)):
        children[k] = sequences[k]
    return children


def crossed(a: Sequence, b: Sequence, arity: np.ndarray, rng) -> tuple[Sequence, Sequence]:
    """Two sequences with one subtree each exchanged, never the whole; leaves are left as they are."""
    if len(a) < 2 or len(b) < 2:
        return a, b
    i, j = int(rng.integers(1, len(a))), int(rng.integers(1, len(b)))
    after_i, after_j = end(a, arity, i), end(b, arity, j)
    return a[:i] + b[j:after_j] + a[after_i:], b[:j] + a[i:after_i] + b[after_j:]


def mutated(sequence: Sequence, arity: np.ndarray, depth: int, rng) -> Sequence:
    """The sequence after one of four mutations, with equal chances: `replant`, `rename`, `insert`, `shrink`."""
    kind = rng.integers(4)
    if kind == 0:
        return replant(sequence, arity, depth, rng)
    return (rename, insert, shrink)[kind - 1](sequence, arity, rng)


def replant(sequence: Sequence, arity: np.ndarray, depth: int, rng) -> Sequence:
    """A random full tree of depth 0 to `depth` in the place of any subtree."""
    start = int(rng.integers(len(sequence)))
    return sequence[:start] + full(arity, int(rng.integers(depth + 1)), rng) + sequence[end(sequence, arity, start) :]


def rename(sequence: Sequence, arity: np.ndarray, rng) -> Sequence:
    """Another token of as many arguments in the place of any but the first."""
    if len(sequence) < 2:
        return sequence
    place = int(rng.integers(1, len(sequence)))
    token = _any(arity == arity[sequence[place]], rng)
    return [*sequence[:place], token, *sequence[place + 1 :]]


def insert(sequence: Sequence, arity: np.ndarray, rng) -> Sequence:
    """A random function above any subtree; its other argument is a random leaf."""
    start = int(rng.integers(len(sequence)))
    after = end(sequence, arity, start)
    function = _any(arity > 0, rng)
    arguments = [[_any(arity == 0, rng)] for _ in range(arity[function])]
    arguments[rng.integers(len(arguments))] = sequence[start:after]
    return [*sequence[:start], function, *chain.from_iterable(arguments), *sequence[after:]]


def shrink(sequence: Sequence, arity: np.ndarray, rng) -> Sequence:
    """One of its arguments in the place of any function but the first."""
    functions = [place for place in range(1, len(sequence)) if arity[sequence[place]]]
    if not functions:
        return sequence
    start = functions[rng.integers(len(functions))]
    child = start + 1
    for _ in range(rng.integers(arity[sequence[start]])):
        child = end(sequence, arity, child)
    kept = sequence[child : end(sequence, arity, child)]
    return sequence[:start] + kept + sequence[end(sequence, arity, start) :]


def full(arity: np.ndarray, depth: int, rng) -> Sequence:
    """A random tree all of whose leaves lie at `depth`."""
    if depth == 0:
        return [_any(arity == 0, rng)]
    function = _any(arity > 0, rng)
    arguments = (full(arity, depth - 1, rng) for _ in range(arity[function]))
    return [function, *chain.from_iterable(arguments)]


def _any(allowed: np.ndarray, rng) -> int:
    tokens = np.flatnonzero(allowed)
    return int(tokens[rng.integers(len(tokens))])
