"""Laws whose inputs have units: one monomial, a monomial times functions of monomials, and sums of monomials."""

import functools
import itertools

import numpy as np

from .formula import Found, Tree, combination, evaluate, found, leaf, logarithm, polished, times
from .polynomials import monomial
from .pursuit import Terms, pursue, usable

EXPONENTS = (1, -1, 2, -2, 0.5, -0.5, 3, -3)  # of inputs in a monomial, by how usual they are
MOST_FACTORS = 6  # inputs in a monomial
RATES = np.geomspace(0.03, 100.0, 15)  # k times the median of a monomial
MONOMIALS = 20_000
ARGUMENTS = 300  # monomials that are put into functions
FACTORS = 40_000  # functions of monomials
POWERS = (1, 2, -1, -2, 0.5)  # of the target that may be a sum of monomials
NEAR = 1e-3  # median relative error from which constants are worth fitting on all rows


def power_law(columns, y, names) -> list[Found]:
    """One monomial with real exponents, by least squares in logarithms."""
    kept = [name for name in names if np.ptp(columns[name]) > 0]
    find = product([(name,) for name in kept], columns, y) if kept else None
    return [find] if find else []


@functools.cache
def monomials(n_inputs: int, most: int) -> list[tuple[float, ...]]:
    """Exponents of monomials, those with few inputs and usual exponents first; at most so many.

    Examples
    --------
    >>> monomials(2, 4)
    [(1, 0), (0, 1), (-1, 0), (0, -1)]
    """
    found: list[tuple[float, ...]] = []
    depths = {1: len(EXPONENTS), 2: len(EXPONENTS), 3: 4}
    counts = range(1, min(n_inputs, MOST_FACTORS) + 1)
    for total in range(1, max(counts) + len(EXPONENTS)):
        for count in counts:
            if not 0 <= total - count < depths.get(count, 2):
                continue
            for inputs in itertools.combinations(range(n_inputs), count):
                if len(found) >= most:
                    return found[:most]
                for chosen in itertools.product(range(total - count + 1), repeat=count):
                    if max(chosen) == total - count:
                        powers: list[float] = [0] * n_inputs
                        for i, rank in zip(inputs, chosen, strict=True):
                            powers[i] = EXPONENTS[rank]
                        found.append(tuple(powers))
    return found[:most]


def _values(powers, X) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.array([np.prod(X ** np.array(p)[:, None], axis=0) for p in powers])


def sums(columns, y, names, rows, evaluations: int) -> tuple[list[Found], int]:
    """Sums of monomials for powers of the target, every row with a relative weight.

    Parameters
    ----------
    columns, y : the table
    names : names of the inputs
    rows : ndarray of int
        Rows that are fitted.
    evaluations : int
        Most monomials that are compared.
    """
    few = {name: columns[name][rows] for name in names}
    X = np.array([few[name] for name in names])
    powers = [tuple([0] * len(names)), *monomials(len(names), min(MONOMIALS, evaluations // 30))]
    values, finds, used = _values(powers, X), [], 0
    for p in POWERS:
        with np.errstate(all="ignore"):
            target = y[rows] ** p
            weights = 1 / np.abs(target)
        if not np.isfinite(target).all() or not np.isfinite(weights).all():
            continue
        base = np.empty((0, len(rows)))
        normal, kept = usable(values * weights, base)
        terms = Terms(normal, functools.partial(_monomial, [powers[j] for j in kept], names), base, few, weights)
        models, count = pursue(terms, target * weights, (evaluations - used) // 2, most_terms=5)
        used += count
        for model in models:
            finds += power_of_sum(model.trees, p, columns, y)
        if any(find.exact for find in finds):
            break
    return finds, used


def _monomial(powers, names, i: int) -> Tree:
    return monomial(powers[i], names)


def power_of_sum(trees, p, columns, y) -> list[Found]:
    with np.errstate(all="ignore"):
        target = y**p
        weights = 1 / np.abs(target)
    table = evaluate(trees, columns) * weights
    size = np.linalg.norm(table, axis=1)
    if not np.isfinite(size).all() or not (size > 0).all():
        return []
    c = np.linalg.lstsq((table / size[:, None]).T, target * weights, rcond=None)[0] / size
    constant = sum(v for v, tree in zip(c, trees, strict=True) if tree == (1,))
    pairs = [(v, tree) for v, tree in zip(c, trees, strict=True) if tree != (1,)]
    tree = combination([v for v, _ in pairs], [t for _, t in pairs], constant)
    undo = {1: tree, -1: ("/", (1,), tree), 2: ("sqrt", tree), -2: ("/", (1,), ("sqrt", tree)), 0.5: ("**", tree, (2,))}
    tree = undo[p]
    if p in (2, -2) and (y < 0).all():
        tree = ("neg", tree)
    find = found(tree, columns, y, "sum of monomials")
    return [] if find is None else [near(find, columns, y)]


def near(find: Found, columns, y) -> Found:
    """The find with constants fitted on all rows, if it is close enough for that to be worth it."""
    with np.errstate(all="ignore"):
        gap = np.median(np.abs(find.expression(columns) / y - 1))
    return polished(find, columns, y) if gap < NEAR else find


def factors(columns, y, names, rows, evaluations: int) -> tuple[list[Found], int]:
    """A monomial times functions of monomials, in logarithms: the monomial is free, the functions are sought."""
    few = {name: columns[name][rows] for name in names}
    X = np.array([few[name] for name in names])
    if (X == 0).any() or (y[rows] == 0).any():
        return [], 0
    varying = [i for i in range(len(names)) if np.ptp(X[i]) > 0]
    weights = np.ones(len(rows))
    base = np.vstack([weights, *(np.log(np.abs(X[i])) for i in varying)])
    base = base[_independent(base)]
    trees = functions(few, names, min(FACTORS, evaluations // 20))
    with np.errstate(all="ignore"):
        logs = np.log(np.abs(evaluate(trees, few)))
    normal, kept = usable(logs, base)
    terms = Terms(normal, lambda i: trees[kept[i]], base, few, weights, logarithm)
    models, used = pursue(terms, np.log(np.abs(y[rows])), evaluations, most_terms=3)
    inputs = [(names[i],) for i in varying]
    finds = [product([*model.trees, *inputs], columns, y) for model in models]
    return [find for find in finds if find is not None], used


def _independent(base) -> list[int]:
    """Indices of columns that those before do not span."""
    kept: list[int] = []
    for i in range(len(base)):
        if np.linalg.matrix_rank(base[[*kept, i]]) == len(kept) + 1:
            kept.append(i)
    return kept


def functions(few, names, most: int) -> list[Tree]:
    """f(k*m) for monomials m, functions f and scales k near the inverse of m's size.

    In logarithms exp(k*m) is k*m: one k will do.
    """
    X = np.array([few[name] for name in names])
    powers = monomials(len(names), ARGUMENTS)
    sizes = [(monomial(p, names), np.median(np.abs(v))) for p, v in zip(powers, _values(powers, X), strict=True)]
    sizes = [(m, size) for m, size in sizes if np.isfinite(size) and size > 0]
    out: list[Tree] = [("exp", ("*", (float(1 / size),), m)) for m, size in sizes]
    for m, size in sizes:
        for rate in RATES:
            k, c = float(rate / size), float(size / rate)
            inner = ("*", (k,), m)
            out += [("+", m, (c,)), ("-", m, (c,)), ("-", ("exp", inner), (1.0,)), ("+", ("exp", inner), (1.0,))]
            out += [("sin", inner), ("cos", inner), ("tanh", inner)]
            out += [("+", ("cos", inner), (2.0,)), ("-", ("cos", inner), (1.01,))]
        if len(out) > most:
            break
    return out[:most]


def product(trees, columns, y) -> Found | None:
    """C times powers of the trees, exponents from the logarithms, the sign from those that are odd."""
    values = evaluate(trees, columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.vstack([np.log(np.abs(values)), np.ones(len(y))])
        target = np.log(np.abs(y))
    rows = np.isfinite(logs).all(axis=0) & np.isfinite(target)
    if rows.sum() < len(trees) + 2:
        return None
    c = np.linalg.lstsq(logs[:, rows].T, target[rows], rcond=None)[0]
    powers = [round(2 * p) / 2 if abs(2 * p - round(2 * p)) < 2e-3 else float(p) for p in c[:-1]]
    above: list[Tree] = []
    below: list[Tree] = []
    sign = np.sign(y)
    for base, p, v in zip(trees, powers, values, strict=True):
        if p == 0:
            continue
        negative = (v < 0).any()
        odd = p == int(p) and int(p) % 2 == 1
        sign = sign * np.sign(v) if odd else sign
        size = abs(p)
        whole = ("abs", base) if negative and p != int(p) else base
        power = whole if size == 1 else ("sqrt", whole) if size == 0.5 else ("**", whole, leaf(size))
        (above if p > 0 else below).append(power)
    tree = None
    for power in above:
        tree = power if tree is None else ("*", tree, power)
    with np.errstate(all="ignore"):
        shape = evaluate([tree], columns)[0] if tree else np.ones(len(y))
        for power in below:
            shape = shape / evaluate([power], columns)[0]
        ratio = (y / shape)[rows]
    factor = float(np.median(ratio))
    if not np.isfinite(factor) or factor == 0:
        return None
    tree = times(factor, tree) if tree else leaf(factor)
    for power in below:
        tree = ("/", tree, power)
    find = found(tree, columns, y, "product")
    return None if find is None else near(find, columns, y)
