"""Laws of several inputs behind noise: a monomial times powers of features, and sums of monomials.

Added after laws with noise had been scored (``studies/outside``), where what an exact target gives away by lookup was
missed; set up on formulas of ``problems/fresh.py`` drawn under names that judge nothing.
"""

import functools
import itertools
from collections.abc import Callable, Sequence

import numpy as np

from .enumeration import Features, enumerate_features
from .formula import Found, Tree, evaluate, found, leaf, logarithm, polished, times
from .grammar import DIV, INPUT, INVERSE, MUL, POWER, ROOT
from .library import Builder
from .meeting import Undone, quantile_rows, undone
from .noisy_targets import Model, best_models, choices_of, extensions, fitted_table, slopes, sum_of, written
from .physics import monomials
from .polynomials import monomial
from .short_constants import description
from .term_pairs import normed_pairs, pairs, singles
from .variable_projection import refined

ROWS = 240  # on which features are ranked
POOL = 60_000
POWERS = 4_000  # monomials that stand in an exponential
SHIFTED, SHIFTS = 1_000, np.geomspace(0.03, 30.0, 12)  # monomials m of m + c and m - c, and c over the median of m
WAVES, RATES = 120, np.geomspace(0.1, 30.0, 10)  # monomials m of f(k*m), and k times the median of m
PAIRED = 1_500  # features of which all pairs are compared
CHEAP = 800  # the cheapest of the pool among them
SINGLES, PAIRS = 60, 40  # products that are written
LOOKED_THROUGH = 3_000  # features, the best first, from which one of each shape is taken
STEPS = 8  # of a fit of constants in features
WRITTEN = 36  # products of one undone target whose constants are fitted on all rows
HALF = 0.5  # exponents are multiples of it
OFF = 0.1  # by what an exponent may miss one, over its size if that is more than 1
SMALL = 0.1  # weight, over the root of the mean square, up to which a row is left out of logarithms
DEFINED = 0.95  # of the rows
ONE_SIGN = 0.95  # of the weight of all rows, where the target has the sign of the rest
TERMS = 8_000  # features that may be terms of sums
BEAM, EXTENSIONS, DEPTH, KEPT = 8, 8, 2, 36
UNDONE = ("id", "log", "exp")  # in products; the inverse and powers are among the exponents
OFFSETS = (0.0, 1.0, -1.0)
SUMS = ("id", "square", "inverse", "inverse square", "root", "log")


def noisy_laws(columns, y, names, evaluations: int) -> tuple[list[Found], int]:
    """Products of powers of inputs and features, and sums of monomials, for the target with functions undone.

    Rows are weighted so that the noise of the target is even.

    Parameters
    ----------
    columns, y : the table
    names : names of the inputs
    evaluations : int
        Most features, pairs and models that are compared.

    Returns
    -------
    finds : list of Found
    evaluations : int
    """
    rows = quantile_rows(y, ROWS)
    X = np.array([columns[name][rows] for name in names]).T
    pool = enumerate_features(X, int(min(POOL, evaluations / 100)))
    if not len(pool):
        return [], 0
    finds, used = sums(columns, y, names, rows, pool, evaluations // 2)
    if (X != 0).all():
        more, count = products(columns, y, names, rows, pool, evaluations - used)
        finds, used = finds + more, used + count
    return finds, used


def products(columns, y, names, rows, pool, evaluations: int) -> tuple[list[Found], int]:
    """A monomial of all inputs times a power of one feature or of two, in logarithms.

    The monomial is free: what it explains is taken off the target's logarithm and off those of the features.
    """
    few = {name: columns[name][rows] for name in names}
    inputs = [name for name in names if np.ptp(few[name]) > 0]
    above = [monomial(powers, names) for powers in monomials(len(names), POWERS)]
    trees = functions(few, names)
    with np.errstate(all="ignore"):
        logs = [np.log(np.abs(part)) for part in (pool.values, evaluate(trees, few))]
        values = np.vstack([*logs, evaluate(above, few)])
    n_pool, n_logs = len(pool), len(pool) + len(trees)

    def factor(i: int) -> Tree:  # an exponential has no power of its own
        if i < n_pool:
            return pool.tree(i, names)
        return trees[i - n_pool] if i < n_logs else ("exp", above[i - n_logs])

    base = np.vstack([np.ones(len(rows)), *(np.log(np.abs(few[name])) for name in inputs)])
    first = [*range(min(CHEAP, n_pool)), *range(n_logs, min(n_logs + CHEAP // 4, len(values)))]
    finds: list[Found] = []
    used = 0
    for item in undone(y, OFFSETS):
        cost = len(values) + PAIRED**2 // 2 + STEPS * SINGLES
        if item.name not in UNDONE or used + cost > evaluations:
            continue
        part = Undone(item.name, item.values[rows], item.back)
        w, weights = _weights(part), _weights(item)
        used += cost
        picked = [[factor(i) for i in pick] for pick in _factors(values, part, w, base, factor, first)]
        closer = [_fitted(trees[0], part, w, base, few) for trees in picked if len(trees) == 1]
        picked += [[tree] for tree in closer if tree is not None]
        powers = (_product(trees, item, weights, inputs, columns, y) for trees in picked)
        finds += _polished([find for find in powers if find is not None and np.isfinite(find.error)], columns, y)
    return finds, used


def functions(few, names) -> list[Tree]:
    """m + c and m - c of many monomials m, and f(k*m) of some, with c and k at all scales of m."""
    sizes = []
    for powers in monomials(len(names), SHIFTED):
        m = monomial(powers, names)
        with np.errstate(all="ignore"):
            size = float(np.median(np.abs(evaluate([m], few)[0])))
        if np.isfinite(size) and size > 0:
            sizes.append((m, size))
    out: list[Tree] = [(sign, m, (float(c * size),)) for m, size in sizes for c in SHIFTS for sign in "+-"]
    for m, size in sizes[:WAVES]:
        for k in RATES:
            inner = ("*", (float(k / size),), m)
            out += [(sign, ("exp", inner), (1.0,)) for sign in "+-"]
            out += [(name, inner) for name in ("sin", "cos", "tanh")]
    return out


def _weights(item: Undone) -> np.ndarray:
    """Weights of rows that make the noise of the target even in log |T(y)|, from T(y); 0 where noise may rule it."""
    with np.errstate(all="ignore"):
        w = {"id": np.abs(item.values), "log": np.abs(np.exp(item.values) * item.values), "exp": 1 + 0 * item.values}
        weights = w[item.name]
    weights = np.where(np.isfinite(weights) & (item.values != 0), weights, 0.0)
    weights = weights / (np.sqrt(np.mean(weights**2)) or 1.0)
    return np.where(weights > SMALL, weights, 0.0)


def _factors(
    values, item: Undone, w, base, factor: Callable[[int], Tree], first: Sequence[int]
) -> list[tuple[int, ...]]:
    """No feature, the best ones, one of each shape, and the best pairs, as indices of values."""
    with np.errstate(all="ignore"):
        target = np.where(w > 0, np.log(np.abs(item.values)), 0.0) * w
    Q = np.linalg.qr((base * w).T)[0]
    target = target - Q @ (Q.T @ target)
    target = (target / (np.linalg.norm(target) or 1.0)).astype(np.float32)
    V = np.vstack([_apart(values[i : i + 20_000], w, Q) for i in range(0, len(values), 20_000)])
    gain = np.round((V @ target) ** 2, 6)
    order = np.argsort(-gain, kind="stable")
    shapes: dict = {}
    for i in order[:LOOKED_THROUGH]:
        shapes.setdefault(_shape(factor(int(i))), int(i))
    paired = np.unique([*first, *order[: PAIRED - len(first)]])
    both = [(int(paired[pair.first]), int(paired[pair.second])) for pair in normed_pairs(V[paired], target, PAIRS)]
    return [(), *((i,) for i in list(shapes.values())[:SINGLES]), *both]


def _apart(values, w, Q) -> np.ndarray:
    """Features, weighted, without what the base explains, of norm 1; 0 where nothing is left of one."""
    with np.errstate(all="ignore"):
        V = values * w
        size = np.linalg.norm(V, axis=1)
        V = V - (V @ Q) @ Q.T
        norm = np.linalg.norm(V, axis=1)
        good = np.isfinite(norm) & (norm > 1e-6 * size)
        return np.where(good[:, None], V / norm[:, None], 0.0).astype(np.float32)


def _shape(tree: Tree):
    """A tree with all numbers but exponents alike."""
    label, *children = tree
    if not children:
        return label if isinstance(label, str) else 0
    return (label, _shape(children[0]), children[1]) if label == "**" else (label, *map(_shape, children))


def _fitted(tree: Tree, item: Undone, w, base, columns) -> Tree | None:
    """A feature with the constants inside it fitted, the monomial and all powers being free; None if none is."""
    if tree[0] == "exp":
        return None
    rows = np.flatnonzero(w > 0)
    few = {name: column[rows] for name, column in columns.items()}
    target = np.log(np.abs(item.values[rows])) * w[rows]
    # row by row in memory: sums of floats hang on their order
    logs = np.ascontiguousarray(base[:, rows]) * w[rows]
    (closer,), error, _ = refined([tree], few, target, w[rows], logs, STEPS, logarithm)
    return closer if np.isfinite(error) and closer != tree else None


def _product(features: Sequence[Tree], item: Undone, w, inputs, columns, y) -> Found | None:
    """C times powers of features and inputs, all exponents multiples of a half; None where they are none.

    An exponential counts by its argument, whose coefficient is free.
    """
    trees = [*features, *((name,) for name in inputs)]
    arguments = [tree[1] if tree[0] == "exp" else None for tree in trees]
    values = evaluate([tree if inner is None else inner for tree, inner in zip(trees, arguments, strict=True)], columns)
    free = [inner is not None for inner in arguments]
    with np.errstate(all="ignore"):
        table = np.where(np.array(free)[:, None], values, np.log(np.abs(values)))
        target = np.log(np.abs(item.values))
    ok = np.isfinite(table).all(axis=0) & np.isfinite(target) & (w > 0)
    if np.isfinite(table).all(axis=0).mean() < DEFINED:
        return None
    powers = _exponents((np.vstack([table, np.ones(len(y))]) * w)[:, ok], (target * w)[ok], free)
    if powers is None:
        return None
    above: list[Tree] = []
    below: list[Tree] = []
    sign = np.sign(item.values)
    for tree, inner, p, v in zip(trees, arguments, powers[:-1], values, strict=True):
        if p == 0:
            continue
        if inner is not None:
            above.append(("exp", times(float(f"{p:.10g}"), inner)))
            continue
        size, whole = abs(p), p == int(p)
        sign = sign * np.sign(v) if whole and int(p) % 2 else sign
        root = tree if whole or (v > 0).all() else ("abs", tree)
        power = root if size == 1 else ("sqrt", root) if size == HALF else ("**", root, leaf(size))
        (above if p > 0 else below).append(power)
    side = float(np.sign(np.sum(sign[ok] * w[ok])))
    if side == 0 or w[ok] @ (sign[ok] == side) < ONE_SIGN * w[ok].sum():
        return None
    with np.errstate(all="ignore"):
        size = float(f"{side * np.exp(powers[-1]):.10g}")
    law = times(size, functools.reduce(lambda one, other: ("*", one, other), above)) if above else leaf(size)
    for power in below:
        law = ("/", law, power)
    return found(item.back(law), columns, y, "product with noise")


def _exponents(table, target, free) -> np.ndarray | None:
    """Least squares with the coefficients that are not free rounded to halves, the nearest to one first."""
    size = np.linalg.norm(table, axis=1)
    if not (size > 0).all():
        return None
    powers, left = np.zeros(len(table)), list(range(len(table)))
    to_round = [j for j, is_free in enumerate(free) if not is_free]
    while True:
        A = (table[left] / size[left, None]).T
        fitted = np.linalg.lstsq(A, target - powers @ table, rcond=1e-10)[0] / size[left]
        now = dict(zip(left, fitted, strict=True))
        if not to_round:
            powers[left] = fitted
            return powers
        gaps = [round(abs(now[j] / HALF - round(now[j] / HALF)), 9) for j in to_round]
        j = to_round.pop(int(np.argmin(gaps)))
        powers[j] = round(now[j] / HALF) * HALF
        if abs(now[j] - powers[j]) > OFF * max(1.0, abs(powers[j])):
            return None
        left.remove(j)


def _polished(finds, columns, y) -> list[Found]:
    """Those of least description length, one of each error, with constants fitted on all rows."""
    variance = float(np.var(y)) or 1.0
    kept: dict[str, Found] = {}
    for find in sorted(finds, key=lambda find: round(description(find.expression, find.error / variance, len(y)), 6)):
        kept.setdefault(f"{find.error:.6g}", find)
    return [polished(find, columns, y) for find in list(kept.values())[:WRITTEN]]


def sums(columns, y, names, rows, pool, evaluations: int) -> tuple[list[Found], int]:
    """Sums of monomials of all inputs and cheap features for the target with a function undone."""
    X = np.array([columns[name] for name in names]).T
    features = law_terms(pool, X.shape[1])
    wide = features.at(X[rows])
    tree, finds, used = functools.partial(features.tree, names=names), [], 0
    for item in undone(y, offsets=(0.0,)):
        weights = slopes(item, y) if item.name in SUMS else None
        cost = len(wide) * (1 + BEAM * DEPTH) + PAIRED**2 // 2
        if weights is None or used + cost > evaluations:
            continue
        used += cost
        t, w = item.values[rows] * weights[rows], weights[rows]
        best = singles(wide, t, w, PAIRED // 2)
        paired = np.unique([*range(min(PAIRED // 2, len(wide))), *(choice.first for choice in best)])
        starts: list[tuple[Tree, ...]] = [(tree(choice.first),) for choice in best[:KEPT]]
        for choice in pairs(wide[paired], t, w, PAIRS):
            starts.append((tree(int(paired[choice.first])), tree(int(paired[choice.second]))))
        for model in _grown(starts, item, weights, features, columns, y, names):
            find = written(model, item, columns, y, "sum with noise")
            finds += [find] if find is not None else []
    return finds, used


def law_terms(pool: Features, n_inputs: int) -> Features:
    """The cheapest features of a pool, and monomials with more inputs than those have."""
    start = pool.first(CHEAP)
    inputs = {int(start.a[i]): i for i in range(len(start)) if start.op[i] == INPUT}
    build = Builder(start, TERMS)
    powers: dict[tuple[int, float], int] = {}
    for j, i in inputs.items():
        powers[j, 1] = i
        for p in (2, 3):
            powers[j, p] = build.add(POWER, i, k=float(p))
        powers[j, HALF] = build.add(ROOT, i, k=1.0)
    for exponents in monomials(n_inputs, TERMS):
        parts = [(powers.get((j, abs(p))), p > 0) for j, p in enumerate(exponents) if p]
        if build.full or any(part is None for part, _ in parts):
            continue
        above, below = ([part for part, up in parts if up is side] for side in (True, False))
        at = functools.reduce(lambda one, other: build.add(MUL, one, other), above) if above else None
        for part in below:
            at = build.add(INVERSE, part) if at is None else build.add(DIV, at, part)
    return build.done()


def _grown(starts, item: Undone, weights, features: Features, columns, y, names) -> list[Model]:
    """Models of least description length that grow from these terms, one by one."""
    table = fitted_table(item, weights, columns, y)
    choices = choices_of(features, table.columns, names)
    states = best_models([model for start in starts if (model := sum_of(start, table)) is not None], KEPT)
    best = list(states)
    for _ in range(DEPTH):
        longer = [extensions(state, choices, table, EXTENSIONS, factors=False) for state in best_models(states, BEAM)]
        states = best_models(itertools.chain(*longer), KEPT)
        best += states
    return best_models(best, WRITTEN)
