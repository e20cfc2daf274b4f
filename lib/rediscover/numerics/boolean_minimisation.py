"""From truth tables to rules: two-level minimisation by Quine and McCluskey."""

import functools
import operator
from collections.abc import Iterable, Sequence

import numpy as np

LARGEST = 8  # inputs of a table that is minimised in one piece; larger ones are split on an input first


def minimal_rule(names: Sequence[str], ones: Iterable[int], unknown: Iterable[int] = ()) -> str:
    """A short sum of products with a given truth table.

    All prime implicants (Quine 1952, McCluskey 1956), then a cover of the ones: essential primes first, the
    rest greedily, so that the rule is irredundant but not always the shortest. Tables with more than eight
    inputs are split on the first input (Shannon expansion).

    Parameters
    ----------
    names : sequence of str
        The inputs; the first is the most significant bit of a row number.
    ones, unknown : iterable of int
        Row numbers of the table where the rule must be true, and where it may be anything. It is false elsewhere.

    Returns
    -------
    str
        In ``!``, ``&``, ``|``; ``0`` or ``1`` for a constant.

    Examples
    --------
    >>> minimal_rule(["a", "b"], ones=[1, 3]), minimal_rule(["a", "b"], ones=[1], unknown=[2, 3])
    ('b', 'b')
    >>> minimal_rule(["a", "b"], ones=[1, 2])
    '!a & b | a & !b'
    """
    ones, unknown, width = set(ones), set(unknown), len(names)
    rows = range(1 << width)
    if not ones <= set(rows) or not unknown <= set(rows):
        raise ValueError(f"row numbers of a table with {width} inputs are 0 to {len(rows) - 1}")
    if not ones:
        return "0"
    if len(ones | unknown) == len(rows):
        return "1"
    if width > LARGEST:
        return _split(names, ones, unknown)
    terms = [_product(names, cube) for cube in _cover(_primes(ones | unknown, width), ones - unknown or ones)]
    return " | ".join(sorted(terms, key=lambda term: (len(term), term)))


def _split(names: Sequence[str], ones: set[int], unknown: set[int]) -> str:
    half = 1 << (len(names) - 1)
    low, high = (
        minimal_rule(names[1:], *({row % half for row in rows if (row >= half) == side} for rows in (ones, unknown)))
        for side in (False, True)
    )
    if low == high:
        return low
    sides = [(f"!{names[0]}", low), (names[0], high)]
    return " | ".join((literal if rule == "1" else f"{literal} & ({rule})") for literal, rule in sides if rule != "0")


def _primes(minterms: set[int], width: int) -> set[tuple[int, int]]:
    """Prime implicants as (value, mask of the free inputs).

    Cubes with the same free inputs are one integer with a bit for each value. To free one input more is to join
    each cube with its partner; what finds no partner on any input is prime.
    """
    primes, joined = set(), {0: sum(1 << term for term in minterms)}
    for free in range(1 << width):
        cubes = left = joined.get(free, 0)
        if not cubes:
            continue
        for bit, without in _inputs(width):
            if not free & bit:
                both = cubes & (cubes >> bit) & without
                joined[free | bit] = both
                left &= ~(both | both << bit)
        while left:
            primes.add(((left & -left).bit_length() - 1, free))
            left &= left - 1
    return primes


@functools.cache
def _inputs(width: int) -> list[tuple[int, int]]:
    """For each input its bit in a row number, and the rows without it as the bits of an integer."""
    rows = range(1 << width)
    return [(1 << i, sum(1 << row for row in rows if not row >> i & 1)) for i in range(width)]


def _cover(primes: Iterable[tuple[int, int]], ones: Iterable[int]) -> list[tuple[int, int]]:
    """Primes that together hold all ones: at each step the one with most new ones, the shortest first."""
    primes = sorted(primes, key=lambda cube: (-cube[1].bit_count(), cube))
    holds = [sum(1 << row for row in ones if row & ~free == value) for value, free in primes]
    once, more = 0, 0
    for rows in holds:
        once, more = once | rows, more | once & rows
    sole, every = once & ~more, once
    chosen = [i for i, rows in enumerate(holds) if rows & sole]
    left = every & ~_union(holds[i] for i in chosen)
    while left:
        best = max(range(len(primes)), key=lambda i: (holds[i] & left).bit_count())
        chosen.append(best)
        left &= ~holds[best]
    for i in sorted(chosen, reverse=True):  # drop what the others cover
        rest = [j for j in chosen if j != i]
        if _union(holds[j] for j in rest) == every:
            chosen = rest
    return [primes[i] for i in chosen]


def _union(rows: Iterable[int]) -> int:
    return functools.reduce(operator.or_, rows, 0)


def _product(names: Sequence[str], cube: tuple[int, int]) -> str:
    value, free = cube
    bits = [1 << i for i in reversed(range(len(names)))]
    literals = [name if value & bit else f"!{name}" for name, bit in zip(names, bits, strict=True) if not free & bit]
    return " & ".join(literals)


def bits(column: np.ndarray) -> int:
    """A column of Booleans as one integer, its first value as the lowest bit.

    >>> bits([True, True, False, True])
    11
    """
    return int.from_bytes(np.packbits(column, bitorder="little").tobytes(), "little")
