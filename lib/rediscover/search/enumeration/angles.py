"""Laws with an angle: sums of monomials and quotients of polynomials in which cos(u) and sin(u) are inputs.

Chosen after truths of SRSD's laws had been read. The formulas of ``tests/data/physics_formulas.yaml``, which are not
among those laws, were written down before these stages were run on them.
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .formula import Found, Tree, evaluate, found, polished
from .physics import monomials, power_of_sum
from .polynomials import monomial, quotient, sparse
from .pursuit import Terms, pursue, usable

MOST_ANGLES = 24  # arguments u that are tried
MONOMIALS = 4_000  # in the inputs, cos(u) and sin(u)
MOST_TERMS = 4
ROWS = 120  # on which sums are sought
NEAR = 1e-14  # share of the sum of squares that a sum may leave to be looked at on all rows
WHOLE = {0, 1, -1, 2, -2}  # exponents of the most usual monomials
POWERS = (1, -1, 2, -2)  # of the target that may be a sum of monomials


class Inputs(NamedTuple):
    """A table in which some inputs are replaced by cos(u) and sin(u).

    Attributes
    ----------
    columns : name -> values
    names : the inputs
    trees : name -> tree in the inputs of the table, of the new ones
    """

    columns: dict[str, np.ndarray]
    names: tuple[str, ...]
    trees: dict[str, Tree]

    def back(self, tree: Tree) -> Tree:
        """The tree in the inputs of the table."""
        label, *children = tree
        if not children:
            return self.trees.get(label, tree)
        parts = [self.back(child) for child in children]
        if label == "**" and parts[0][0] == "sqrt" and parts[1][0] % 2 == 0:
            half = int(parts[1][0]) // 2
            return parts[0][1] if half == 1 else (label, parts[0][1], (half,))
        return (label, *parts)


def angles(columns, names) -> Iterator[Inputs]:
    """Tables with cos(u) and sin(u) in place of the inputs of u: an input, a difference, a product."""
    pairs = list(itertools.combinations(names, 2))
    arguments: list[tuple[tuple[str, ...], Tree]] = [((name,), (name,)) for name in names]
    arguments += [((a, b), ("-", (a,), (b,))) for a, b in pairs]
    arguments += [((a, b), ("*", (a,), (b,))) for a, b in pairs]
    new = tuple(_unused(("c", "s"), names))
    for used, u in arguments[:MOST_ANGLES]:
        trees = {new[0]: ("cos", u), new[1]: ("sin", u)}
        values = evaluate(list(trees.values()), columns)
        if np.isfinite(values).all() and np.ptp(values, axis=1).min() > 1e-3:
            kept = {name: columns[name] for name in names if name not in used}
            made = dict(zip(trees, values, strict=True))
            yield Inputs({**made, **kept}, (*made, *kept), trees)


def _unused(wanted, names) -> list[str]:
    out = []
    for name in wanted:
        while name in names:
            name += "_"
        out.append(name)
    return out


def _signed(inputs: Inputs, y) -> Tree | None:
    """The input, or product of two, whose sign is the target's on all rows; 1 where the target has one sign."""
    if (y > 0).all():
        return (1,)
    mixed = [name for name in inputs.names if (inputs.columns[name] < 0).any()]
    for chosen in [(name,) for name in mixed] + list(itertools.combinations(mixed, 2)):
        signs = np.prod([np.sign(inputs.columns[name]) for name in chosen], axis=0) * np.sign(y)
        if abs(signs.sum()) == len(y):
            tree: Tree = (chosen[0],) if len(chosen) == 1 else ("*", *((name,) for name in chosen))
            return tree if signs[0] > 0 else ("neg", tree)
    return None


def sums_with_angles(columns, y, names, rows, evaluations: int) -> tuple[list[Found], int]:
    """Sums of monomials in inputs, cos(u) and sin(u), for powers of the target.

    Parameters
    ----------
    columns, y : the table
    names : names of the inputs
    rows : ndarray of int
        Rows that are fitted.
    evaluations : int
        Most monomials that are compared.

    Returns
    -------
    finds : list of Found
        Those that are exact, of the first argument u with any.
    evaluations : int
    """
    used = 0
    tables = [Inputs(columns, tuple(names), {}), *angles(columns, names)]
    for p, inputs in itertools.product(POWERS, tables):
        sign = (1,) if p == 1 else _signed(inputs, y)
        if used >= evaluations or sign is None:
            continue
        rest = y / evaluate([sign], inputs.columns)[0]
        for way in (_eliminated, _relative, _absolute):
            finds, count = way(inputs, rest, p, rows, evaluations - used)
            used += count
            finds = [_in_inputs(inputs, find, sign, columns, y) for find in finds]
            if any(find.exact for find in finds):
                return finds, used
    return [], used


def _values(inputs: Inputs, powers, rows) -> np.ndarray:
    """Monomials on some rows; NaN where a root of a negative input is in one."""
    X = np.array([inputs.columns[name][rows] for name in inputs.names])
    E = np.array(powers)
    with np.errstate(all="ignore"):
        values = np.exp(E @ np.maximum(np.log(np.abs(X)), -700.0))
    negative = X < 0
    values[(E % 1 != 0) @ negative.any(axis=1) > 0] = np.nan
    return values * (1 - 2 * ((E % 2 == 1) @ negative.astype(int) % 2))


def _eliminated(inputs: Inputs, y, p, rows, evaluations) -> tuple[list[Found], int]:
    """The sum of few among the most usual monomials, by leaving out what is not needed."""
    powers = [e for e in monomials(len(inputs.names), 4 * len(rows)) if set(e) <= WHOLE and np.count_nonzero(e) <= 2]
    powers = [tuple([0] * len(inputs.names)), *powers[: len(rows) // 3]]
    with np.errstate(all="ignore"):
        target, values = y[rows] ** p, _values(inputs, powers, rows)
    size = float(np.linalg.norm(target))
    if evaluations < len(powers) or not np.isfinite(size):
        return [], 0
    c = sparse(values, target, 1e-9 * size)
    if c is None:
        return [], 1
    trees = [monomial(powers[i], inputs.names) if any(powers[i]) else (1,) for i in np.flatnonzero(c)]
    return power_of_sum(trees, p, inputs.columns, y), len(powers)


def _relative(inputs: Inputs, y, p, rows, evaluations) -> tuple[list[Found], int]:
    with np.errstate(all="ignore"):
        return _pursued(inputs, y, p, rows[:ROWS], 1 / np.abs(y[rows[:ROWS]] ** p), evaluations)


def _absolute(inputs: Inputs, y, p, rows, evaluations) -> tuple[list[Found], int]:
    with np.errstate(all="ignore"):
        size = np.std(y[rows[:ROWS]] ** p)
        return _pursued(inputs, y, p, rows[:ROWS], np.full(len(rows[:ROWS]), 1 / size), evaluations)


def _pursued(inputs: Inputs, y, p, rows, weights, evaluations) -> tuple[list[Found], int]:
    """Sums of few monomials by pursuit, every row with its weight."""
    powers = [tuple([0] * len(inputs.names)), *monomials(len(inputs.names), MONOMIALS)]
    if evaluations < len(powers):
        return [], 0
    with np.errstate(all="ignore"):
        target = y[rows] ** p
    if not np.isfinite(weights).all() or not np.isfinite(target).all():
        return [], 0
    base = np.empty((0, len(rows)))
    normal, kept = usable(_values(inputs, powers, rows) * weights, base)
    few = {name: inputs.columns[name][rows] for name in inputs.names}
    terms = Terms(normal, lambda i: monomial(powers[kept[i]], inputs.names), base, few, weights)
    models, used = pursue(terms, target * weights, evaluations, most_terms=MOST_TERMS)
    finds: list[Found] = []
    for model in models:
        if model.error < NEAR * float(np.sum((target * weights) ** 2)):
            finds += power_of_sum(model.trees, p, inputs.columns, y)
    return finds, used


def _in_inputs(inputs: Inputs, find: Found, sign: Tree, columns, y, stage="sum with angles") -> Found:
    tree = inputs.back(find.expression.tree if sign == (1,) else ("*", sign, find.expression.tree))
    again = found(tree, columns, y, stage)
    return find if again is None else polished(again, columns, y)


def quotients_with_angles(columns, y, names, rows) -> tuple[list[Found], int]:
    """Quotients of polynomials in inputs, cos(u) and sin(u), for the target and its square."""
    used = 0
    tables = [Inputs(columns, tuple(names), {}), *angles(columns, names)]
    for p in (1, 2):
        for inputs in tables:
            if p == 1 and not inputs.trees:
                continue
            sign = (1,) if p == 1 else _signed(inputs, y)
            if sign is None:
                continue
            # of the two functions one is enough for a quotient: fewer columns
            for name in inputs.trees or [None]:
                some = tuple(n for n in inputs.names if n not in inputs.trees or n == name)
                if len(some) > 4:
                    continue
                t = (y / evaluate([sign], inputs.columns)[0]) ** p
                finds, count = quotient(inputs.columns, t, some, rows)
                used += count
                for find in finds:
                    tree = find.expression.tree if p == 1 else ("sqrt", find.expression.tree)
                    tree = tree if sign == (1,) else ("*", sign, tree)
                    again = found(inputs.back(tree), columns, y, "quotient with angles")
                    again = again and polished(again, columns, y)
                    if again is not None and again.exact:
                        return [again], used
    return [], used
