"""Constants that stand for one another: a small multiple of another one, or a fraction of a power of pi."""

from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from .description_length import number_bits
from .formula import Found, found, polished, tidy
from .short_constants import TRIED, constant_bits, curvature, description, fitted_bits, folded, plain, squared_error

RATIOS = (1, 2, 1 / 2, 3, 1 / 3, 4, 1 / 4, 3 / 2, 2 / 3)  # of one constant to another
RELATION = 2.0  # bits of saying that there is one, beside those of the ratio
POWERS_OF_PI = (1, -1, 2, -2)
LARGEST = 12  # of its factor, the factor's inverse and the denominator
RIDGE = 1e-10  # of the curvature: a constant that another one can stand in for costs nothing
SAME = 1e-8  # relative, to which a relation holds


def related_bits(constants: Iterable[float], n: int) -> float:
    """Bits of the constants of an expression fitted to n rows, each the cheapest way there is.

    Examples
    --------
    >>> related_bits([0.4142], 1024), round(related_bits([0.4142, 0.8284], 1024), 2)
    (9.0, 12.58)
    >>> related_bits([4 * np.pi], 1024) < 9
    True
    """
    before: list[float] = []
    total = 0.0
    for value in constants:
        options = [constant_bits(value, n), pi_bits(value)]
        for other in before:
            options += [
                RELATION + number_bits(r) for r in RATIOS if abs(abs(value) - r * abs(other)) < SAME * abs(value)
            ]
        total += min(options)
        before.append(value)
    return total


def pi_bits(value: float) -> float:
    """Bits of a fraction of a power of pi; infinite if it is none."""
    bits = [number_bits(ratio) for ratio, near in multiples_of_pi(value) if abs(near - value) < SAME * abs(value)]
    return RELATION + min(bits) + 1 if bits else np.inf


def multiples_of_pi(value: float) -> Iterator[tuple[float, float]]:
    """Fractions whose product with a power of pi is near a value, and these products."""
    for power in POWERS_OF_PI:
        unit = np.pi**power
        ratio = Fraction(value / unit).limit_denominator(LARGEST) if 1 / LARGEST < abs(value / unit) < LARGEST else 0
        if ratio:
            yield float(ratio), float(ratio) * unit


def with_related_constants(find: Found, columns, y, n: int) -> Found:
    """The find with constants that are fitted free made fractions of pi, or multiples of others, where that saves bits.

    What a relation costs is foreseen from the curvature of the error, as in `short_constants.with_short_constants`.
    All other constants move along, by one step of Gauss and Newton.

    Parameters
    ----------
    find : Found
        Fitted to the table.
    columns, y : the table
    n : int
        Rows that the description length counts.
    """
    find = _without_idle(find, columns, y, n)
    expression, variance = find.expression, float(np.var(y)) or 1.0
    values = np.array(expression.constants, float)
    # constants are base + ways @ theta: a relation takes one of theta away
    free = [i for i, v in enumerate(values) if v and constant_bits(v, n) >= fitted_bits(n)]
    ways = np.eye(len(values))[:, free]
    refused: set[tuple[int, int, float]] = set()
    best = description(expression, find.error / variance, n, related_bits)
    while ways.shape[1] and len(refused) < TRIED:
        fit = curvature(expression, values, ways, columns, y, RIDGE)
        if fit is None:
            break
        options = [o for o in _relations(values, ways, fit[0], n, n / len(y)) if o[1:] not in refused]
        if not options:
            break
        _, a, b, goal = min(options)
        moved, fewer = _related(values, ways, fit[0], a, b, goal)
        if fewer.shape[1] and (step := curvature(expression, moved, fewer, columns, y, RIDGE)) is not None:
            moved = moved + fewer @ step[1]
        error = squared_error(expression, moved, columns, y) / variance
        bits = np.inf
        if np.isfinite(error):
            bits = description(expression.with_constants(plain(moved)), error, n, related_bits)
        if bits < best:
            values, ways, best, refused = moved, fewer, bits, set()
        else:
            refused.add((a, b, goal))
    again = found(folded(tidy(expression.with_constants(plain(values)).tree)), columns, y, find.stage)
    return again if again is not None and np.isfinite(again.error) else find


def _without_idle(find: Found, columns, y, n: int) -> Found:
    """The find with 0 for constants, one after the other, where what falls away with them saves bits."""
    variance = float(np.var(y)) or 1.0

    def length(find: Found) -> float:
        return description(find.expression, find.error / variance, n, related_bits)

    for i in reversed(range(len(find.expression.constants))):
        constants = list(find.expression.constants)
        if i >= len(constants):
            continue
        constants[i] = 0
        less = found(folded(tidy(find.expression.with_constants(constants).tree)), columns, y, find.stage)
        if less is not None and np.isfinite(less.error) and less.size < find.size:
            find = min(find, polished(less, columns, y), key=length)
    return find


def _relations(values, ways, scale, n: int, repeat: float) -> list[tuple[float, int, int, float]]:
    """What may be assumed, by what it costs less what it saves in bits, where it saves any.

    (bits, a, b, ratio): way a is a ratio of way b; (bits, a, -1, value): way a has a value.
    """
    theta = _theta(values, ways)
    fixed = [v for v, row in zip(values, ways, strict=True) if v and not row.any()]
    out = []
    for a, value in enumerate(theta):
        named = [(near, number_bits(ratio) + 1) for ratio, near in multiples_of_pi(value)]
        named += [(float(np.copysign(r * v, value)), number_bits(r)) for v in fixed for r in RATIOS]
        goals = [(-1, goal, value - goal, scale[a, a], bits) for goal, bits in named]
        for b in range(len(theta)):
            for r in RATIOS if b != a else ():
                r = float(np.copysign(r, value * theta[b]))
                variance = scale[a, a] - 2 * r * scale[a, b] + r**2 * scale[b, b]
                goals.append((b, r, value - r * theta[b], variance, number_bits(abs(r))))
        for b, goal, gap, variance, bits in goals:
            cost = gap**2 / max(variance, 1e-300) / (2 * np.log(2)) * repeat + bits + RELATION - fitted_bits(n)
            if cost < 0:
                out.append((round(float(cost), 6), a, b, goal))
    return out


def _related(values, ways, scale, a: int, b: int, goal: float) -> tuple[np.ndarray, np.ndarray]:
    """The constants moved to where a relation holds, and the ways that are left."""
    row = np.zeros(ways.shape[1])
    row[a] = 1.0
    if b >= 0:
        row[b] = -goal
    gap = row @ _theta(values, ways) - (goal if b < 0 else 0.0)
    moved = values - ways @ (scale @ row) * gap / (row @ scale @ row)
    fewer = ways.copy()
    if b >= 0:
        fewer[:, b] += goal * ways[:, a]
    return moved, np.delete(fewer, a, axis=1)


def _theta(values, ways) -> np.ndarray:
    """How far the constants are along each way."""
    first = [int(np.argmax(way != 0)) for way in ways.T]
    return np.array([values[i] / ways[i, a] for a, i in enumerate(first)])
