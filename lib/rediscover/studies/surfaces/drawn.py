"""Level sets drawn by rules that follow no benchmark, to ask how far the search of level sets reaches.

The rules and the seeds were written down before the search was run on a single one of these surfaces. Four kinds:

- ``polynomials``: three to six monomials of degree 1 to 4, each equally likely, with coefficients between -2 and 2.
- ``sums``: a f(b x) + c g(d y) + e h(z), with functions of one variable; half of the inner scales are 1.
- ``moved``: an ellipsoid, a hyperboloid or a torus, turned by a random rotation and shifted.
- ``trees``: grown from the root, an operation, a function or a leaf at each node, until all coordinates are there.

Numbers have four decimals. The constant is such that a random point of the box lies on the surface.
"""

import numpy as np

from ...expressions import parse
from ...numerics import level_sets
from ...search.enumeration.level_sets import null_combination

NAMES = ("x", "y", "z")
BOX = ((-3.0, 3.0),) * 3
KINDS = ("polynomials", "sums", "moved", "trees")
FUNCTIONS = "sin({})", "cos({})", "exp({})", "tanh({})", "atan({})", "({})**2", "({})**3", "abs({})", "sqrt(1+({})**2)"
POINTS = 600  # of a cloud
RESOLUTION = 48  # nodes of the grid on which a surface is sought, along an axis
FEWEST = 0.02  # share of the nodes that must lie on either side, or the surface is drawn again
VANISHES = 1e-8  # largest distance from an exact answer, on points that it was not found on
EVALUATIONS = 1_210  # all lists of features but the two longest, which take seconds


def level_set(kind: str, seed: int) -> str:
    """The text of F for one surface F(x, y, z) = 0 within `BOX`.

    Parameters
    ----------
    kind : one of `KINDS`
    seed : int

    Raises
    ------
    KeyError
        If the kind is unknown.

    Examples
    --------
    >>> parse(level_set("sums", 0)).names
    ('x', 'y', 'z')
    """
    draw = {"polynomials": _polynomial, "sums": _sum, "moved": _moved, "trees": _tree}[kind]
    rng = np.random.default_rng([KINDS.index(kind), seed])
    axes = [np.linspace(low, high, 25) for low, high in BOX]
    grid = dict(zip(NAMES, np.meshgrid(*axes), strict=True))
    while True:
        body = draw(rng)
        F = parse(body)
        at = {name: rng.uniform(*side) for name, side in zip(NAMES, BOX, strict=True)}
        with np.errstate(all="ignore"):
            constant, values = float(F(at)), np.asarray(F(grid))
        if set(F.names) == set(NAMES) and np.isfinite(values).all():
            text = f"{body} - ({constant:.4f})"
            if FEWEST < np.mean(values < round(constant, 4)) < 1 - FEWEST:
                return text


def cloud(text: str, seed: int = 0, n: int = POINTS) -> np.ndarray:
    """Points, shape (n, 3), of F = 0 within `BOX`, uniform by area."""
    return level_sets.sample(parse(text), [BOX], n, np.random.default_rng(seed), RESOLUTION)


def reached(text: str, added: bool) -> str:
    """What the search says of a surface: ``found``, ``not found``, or ``wrong`` where it is exact and does not vanish.

    Parameters
    ----------
    text : of F
    added : bool
        With the list of features that was chosen after a benchmark's truths had been read, or without it.
    """
    best = null_combination(cloud(text), NAMES, EVALUATIONS, added=added)[0]
    if not best.exact:
        return "not found"
    fresh, anywhere = cloud(text, seed=1), np.random.default_rng(1).uniform(-3, 3, (POINTS, 3))
    on, off = (level_sets.distance(best.expression, points) for points in (fresh, anywhere))
    return "found" if on.max() < VANISHES < np.median(off) else "wrong"


def _number(rng, low=-2.0, high=2.0) -> str:
    return f"({rng.uniform(low, high):.4f})"


def _polynomial(rng) -> str:
    powers = [(i, j, k) for i in range(5) for j in range(5) for k in range(5) if 0 < i + j + k <= 4]
    chosen = rng.choice(len(powers), size=rng.integers(3, 7), replace=False)
    return " + ".join(
        "*".join([_number(rng), *(v if p == 1 else f"{v}**{p}" for v, p in zip(NAMES, powers[i], strict=True) if p)])
        for i in chosen
    )


def _sum(rng) -> str:
    parts = []
    for name in NAMES:
        inner = name if rng.random() < 0.5 else f"{_number(rng, 0.5, 2)}*{name}"
        parts.append(f"{_number(rng)}*{rng.choice(FUNCTIONS).format(inner)}")
    return " + ".join(parts)


def _moved(rng) -> str:
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    u, v, w = (
        "(" + " + ".join(f"({a:.4f})*({name}-({b:.4f}))" for a, name, b in zip(row, NAMES, shift, strict=True)) + ")"
        for shift in [rng.uniform(-1, 1, 3)]
        for row in turn
    )
    shape = rng.integers(3)
    if shape == 2:  # what is subtracted is the square of the tube's radius
        return f"(sqrt({u}**2 + {v}**2) - {_number(rng, 0.8, 1.8)})**2 + {w}**2"
    last = _number(rng, 0.5, 2) if shape == 0 else _number(rng, -2, -0.5)
    return f"{_number(rng, 0.5, 2)}*{u}**2 + {_number(rng, 0.5, 2)}*{v}**2 + {last}*{w}**2"


def _tree(rng, depth: int = 0) -> str:
    kind = rng.random()
    if depth == 4 or (depth > 1 and kind < 0.3):
        return rng.choice(NAMES) if rng.random() < 0.8 else _number(rng)
    if depth and kind < 0.55:
        function = rng.choice(["sin({})", "exp(-({})**2)", "tanh({})", "sqrt(1+({})**2)", "({})**2"])
        return function.format(_tree(rng, depth + 1))
    one, other = _tree(rng, depth + 1), _tree(rng, depth + 1)
    return rng.choice(["({} + {})", "({} - {})", "({} * {})", "({} / (1 + ({})**2))"]).format(one, other)
