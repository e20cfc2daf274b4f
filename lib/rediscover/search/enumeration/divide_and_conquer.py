"""Formulas for a table by brute force, and where that does not solve it, for the smaller tables that it falls into.

The recursion of AI Feynman, as described: brute force and polynomials on the target and on the target behind a
function, then the structure that fits best, then the same for what it leaves. Parts of a sum or a product are found
one after the other: the first is fitted to the surrogate, the second to what the first one leaves of the data, so
that errors of the surrogate end there.

References
----------
S.-M. Udrescu and M. Tegmark, AI Feynman: A physics-inspired method for symbolic regression, Science Advances 6
(2020) eaay2631
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ...expressions.trees import replace_leaves
from .description_length import Front
from .formula import Tree, combination, leaf
from .meeting import Undone
from .polynomials import exponents, monomial, needed, sparse
from .reverse_polish import brute_force, tree
from .symmetries import COMBINE, LEAST, most_fits, separated, smoothness, structure

MOST_TERMS = 84  # of a polynomial


@dataclass
class Meter:
    """Evaluations that may be used, and those that were."""

    limit: int
    used: int = 0

    @property
    def left(self) -> int:
        return self.limit - self.used


@dataclass(frozen=True)
class Settings:
    """What is the same for all tables of a search.

    Attributes
    ----------
    operators : symbols of each brute force, of `reverse_polish.SYMBOLS`.
    degree : of polynomials.
    divides : whether structure is looked for.
    """

    operators: tuple[str, ...]
    degree: int = 4
    divides: bool = True


def behind(y: np.ndarray) -> Iterator[Undone]:
    """The target, and the target behind each function that can be undone on all rows.

    >>> [item.name for item in behind(np.array([0.2, 0.5]))][:4]
    ['id', 'acos', 'asin', 'atan']
    """
    low, high, half = y.min(), y.max(), np.pi / 2
    unit, small = -1 <= low and high <= 1, -half < low and high < half
    ways: list[tuple[str, bool, Callable, Callable[[Tree], Tree]]] = [
        ("id", True, np.positive, lambda t: t),
        ("acos", unit, np.arccos, lambda t: ("cos", t)),
        ("asin", unit, np.arcsin, lambda t: ("sin", t)),
        ("atan", True, np.arctan, lambda t: ("tan", t)),
        ("cos", low >= 0 and high <= np.pi, np.cos, lambda t: ("acos", t)),
        ("exp", max(-low, high) < 300, np.exp, lambda t: ("log", t)),
        ("inverse", bool((y != 0).all()), np.reciprocal, lambda t: ("/", (1,), t)),
        ("log", low > 0, np.log, lambda t: ("exp", t)),
        ("sin", small, np.sin, lambda t: ("asin", t)),
        ("sqrt", low >= 0, np.sqrt, lambda t: ("**", t, (2,))),
        ("square", low >= 0, np.square, lambda t: ("sqrt", t)),
        ("square", high <= 0, np.square, lambda t: ("neg", ("sqrt", t))),
        ("tan", small, np.tan, lambda t: ("atan", t)),
    ]
    with np.errstate(all="ignore"):
        items = [Undone(name, function(y), back) for name, allowed, function, back in ways if allowed]
    return (item for item in items if np.isfinite(item.values).all() and np.ptp(item.values) > 0)


def discover(columns: dict[str, np.ndarray], y: np.ndarray, settings: Settings, meter: Meter) -> Front:
    """The front of formulas for a table.

    Parameters
    ----------
    columns : input name -> ndarray, shape (rows,); rows in no order
    y : ndarray, shape (rows,)
    settings : Settings
    meter : Meter
        What may be used; half of it on the table itself, where it can be divided.

    Returns
    -------
    Front
        With the median of y at least.
    """
    front = Front(columns, y)
    front.add(leaf(float(np.median(y))))
    if front.solved:
        return front
    divides = settings.divides and len(columns) > 1
    whole(front, settings, meter, meter.left // 2 if divides else meter.left)
    if divides and not front.solved:
        divide(front, settings, meter)
    meter.used += front.polish(meter.left)
    return front


def whole(front: Front, settings: Settings, meter: Meter, evaluations: int) -> None:
    """Brute force with an offset, with a factor, and polynomials, on each form of the target, until it is solved."""
    items, names = list(behind(front.y)), list(front.columns)
    if not items:  # of a factor that overflows on all rows
        return
    X = np.column_stack(list(front.columns.values()))
    each = (evaluations - settings.degree * len(items)) // (2 * len(items) * len(settings.operators))
    for item in items:
        for symbols, factor in itertools.product(settings.operators, (False, True)):
            found, used = brute_force(X, item.values, symbols, factor=factor, evaluations=max(each, 0))
            meter.used += used
            for formula in found:
                front.add(item.back(tree(formula, names, factor=factor)))
            if front.solved:
                return
        for fitted in itertools.islice(polynomials(item, front.columns, settings.degree), max(meter.left, 0)):
            meter.used += 1
            front.add(fitted)
            if front.solved:
                return


def polynomials(item: Undone, columns: dict[str, np.ndarray], degree: int) -> Iterator[Tree]:
    """The polynomial of each degree for the target behind a function, without the terms that it does not need."""
    X, y, names = np.array(list(columns.values())), item.values, list(columns)
    spread = float(np.linalg.norm(y - y.mean()))
    for d in range(1, degree + 1):
        powers = exponents(len(names), d)
        if len(powers) > MOST_TERMS or 2 * len(powers) > len(y):
            return
        with np.errstate(over="ignore"):
            terms = np.array([np.prod(X ** np.array(p)[:, None], axis=0) for p in powers])
        size = np.linalg.norm(terms, axis=1)
        if not np.isfinite(size).all() or not (size > 0).all():
            return
        c = sparse(terms, y, 1e-9 * spread)
        if c is None:
            fit = np.linalg.lstsq((terms / size[:, None]).T, y, rcond=None)[0] / size
            c = sparse(terms, y, needed(len(y)) * float(np.linalg.norm(fit @ terms - y)))
        if c is not None:
            yield item.back(combination(c[1:], [monomial(p, names) for p in powers[1:]], c[0]))


def divide(front: Front, settings: Settings, meter: Meter) -> None:
    """Add the formulas that follow from those of smaller tables."""
    names, values = list(front.columns), list(front.columns.values())
    if meter.left <= most_fits(len(names)):
        return
    found, fits = structure(values, front.y)
    meter.used += fits
    if found is None:
        return
    if found.kind in COMBINE:
        i, j = found.inputs
        new = next(name for k in itertools.count() if (name := f"u{k}") not in front.columns)
        joined = {new: COMBINE[found.kind](values[i], values[j])}
        kept = {name: x for name, x in front.columns.items() if name not in (names[i], names[j])}
        meant = (found.kind, (names[i],), (names[j],))
        for member in discover(kept | joined, front.y, settings, meter).members:
            front.add(replace_leaves(member.expression.tree, lambda leaf: meant if leaf == new else (leaf,)))
        return
    group = found.inputs if found.kind == "sum" else positive(values, found.inputs, front.y)
    first = {names[i]: values[i] for i in group}
    others = {name: x for name, x in front.columns.items() if name not in first}
    total = front.y if found.kind == "sum" else np.log(np.abs(front.y))
    part = separated(values, group, total)
    with np.errstate(over="ignore"):
        part = part if found.kind == "sum" else np.exp(part)
    share = Meter(meter.left // 2)
    parts = discover(first, part, settings, share).members
    meter.used += share.used
    parts = parts[: meter.left]
    meter.used += len(parts)
    best, rest = remainder(parts, front.columns, front.y, others, found.kind)
    if best is not None:
        sign = "+" if found.kind == "sum" else "*"
        for member in discover(others, rest, settings, meter).members:
            front.add((sign, best, member.expression.tree))


def positive(values: list[np.ndarray], group: tuple[int, ...], y: np.ndarray) -> tuple[int, ...]:
    """Of a group of inputs and the others the one that says less of the sign of y; the group, where y has one sign.

    >>> x, z = np.random.default_rng(0).uniform(0, 1, (2, 800))
    >>> positive([x, z], (0,), z * (x - 0.5)), positive([x, z], (1,), z * (x - 0.5))
    ((1,), (1,))
    """
    others = tuple(i for i in range(len(values)) if i not in group)
    if abs(np.sign(y).sum()) == len(y):
        return group
    return min(group, others, key=lambda part: -smoothness([values[i] for i in part], np.sign(y)))


def remainder(parts, columns, y, others, kind: str) -> tuple[Tree | None, np.ndarray]:
    """The shortest first part that leaves about as smooth a function of the other inputs as any, and what it leaves."""
    left = []
    for member in parts:
        value = np.broadcast_to(member.expression(columns), y.shape)
        with np.errstate(all="ignore"):
            rest = y - value if kind == "sum" else y / value
            seen = rest if kind == "sum" else np.log(np.abs(rest))
        if np.isfinite(seen).all():
            error = smoothness(list(others.values()), seen) * np.std(seen) if np.ptp(seen) > 0 else 0.0
            left.append((float(error), member.expression.tree, rest))
    scale = np.std(y) if kind == "sum" else 1.0
    least = 2 * max(LEAST * scale, min((error for error, _, _ in left), default=0.0))
    return next(((tree, rest) for error, tree, rest in left if error <= least), (None, y))
