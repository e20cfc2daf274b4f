"""What the SRSD study finds in the released problems and code: twins, wrong targets, a distance of strings."""

import itertools

import numpy as np
import pandas as pd

from ...expressions import parse
from ...metrics import regression, symbolic
from ...problems import generator


def duplicates(laws) -> pd.DataFrame:
    """Groups of laws that are the same problem: the same function of inputs with the same ranges.

    Inputs may be renamed. Compared by values at 40 points, and by a constant factor if not by values.

    Parameters
    ----------
    laws : list of Law, variant 'fsrd'

    Returns
    -------
    DataFrame
        Index: law; columns: twins (laws with the same function), scaled (up to a constant factor).
    """
    groups = {}
    for law in laws:
        groups.setdefault(tuple(sorted(map(repr, law.samplers.values()))), []).append(law)
    rows = {law.id: {"twins": 0, "scaled": 0} for law in laws}
    for group in groups.values():
        for a, b in itertools.combinations(group, 2):
            for kind, scaled in (("twins", False), ("scaled", True)):
                if same_problem(a, b, scaled=scaled):
                    rows[a.id][kind] += 1
                    rows[b.id][kind] += 1
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("law")


def same_problem(a, b, *, scaled: bool, points: int = 40) -> bool:
    """Whether some renaming of inputs with equal ranges makes two laws the same function, or a multiple of it."""
    rng = generator(0, "duplicates")
    share = rng.uniform(size=(points, 1))

    def ratio(X, Y):
        with np.errstate(all="ignore"):
            return a.evaluate(dict(zip(a.inputs, X.T, strict=True))) / b.evaluate(dict(zip(b.inputs, Y.T, strict=True)))

    def agrees(values):
        values = values[np.isfinite(values)]
        if not len(values):
            return False
        return np.allclose(values, values[0] if scaled else 1.0, rtol=1e-9, atol=0)

    specs = [list(law.samplers.values()) for law in (a, b)]
    diagonal = [np.array([low + share[:, 0] * (high - low) for _, low, high in map(tuple, s)]).T for s in specs]
    if not agrees(ratio(*diagonal)):  # the same whatever the renaming
        return False
    low, high = np.array([spec[1:3] for spec in specs[0]], float).T
    X = low + rng.uniform(size=(points, len(low))) * (high - low)
    for order_ in itertools.permutations(range(len(low))):
        if all(specs[0][i] == specs[1][k] for k, i in enumerate(order_)) and agrees(ratio(X, X[:, order_])):
            return True
    return False


def released_targets(law, seed: int = 0) -> dict[str, float]:
    """How the released targets of a law differ from the law.

    Returns
    -------
    dict with rows (where they are defined), r2 (of the law, on the released targets), ratio (released to true, median)
    """
    X, y = law.data(seed)["test"]
    released = parse(law.upstream_targets)(dict(zip(law.inputs, X.T, strict=True)))
    finite = np.isfinite(released)
    return {
        "rows": int(finite.sum()),
        "r2": regression.r2(y[finite], released[finite]),
        "ratio": float(np.median(released[finite] / y[finite])),
    }


def string_distance(a: str, b: str) -> int:
    """Edit distance of strings, as the distance of trees without branches."""

    def chain(text):
        tree = ("end",)
        for character in reversed(text):
            tree = (character, tree)
        return tree

    return symbolic.tree_edit_distance(chain(a), chain(b))
