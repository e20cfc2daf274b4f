"""Statistics of the SRSD study that decide verdicts; what else its notebook shows is made on its page."""

import itertools
import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...problems import generator
from ...problems.srsd import SETS
from ...report.comparisons import names_in
from ...report.statistics import spearman
from ...report.summaries import paired_shares

DECIMALS = 9  # of R2 where answers are ranked by it
POINTS = 40  # at which two laws are compared


def rank_agreement(scored: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation of R2 with the edit distance, of each law over methods and vice versa.

    Negative is agreement: what fits better is closer. R2 counts to nine decimals; beyond them rounding errors
    would be ranked.

    Returns
    -------
    DataFrame
        Index: kind (``law`` or ``method``), name; columns: n, rho (NaN where one of the two does not vary).
    """
    rows = {
        (kind, name): {"n": len(group), "rho": spearman(group["r2"].round(DECIMALS), group["ned_published"])}
        for kind, column in (("law", "problem"), ("method", "method"))
        for name, group in scored.groupby(column, sort=False)
    }
    index = pd.MultiIndex.from_tuples(list(rows), names=["kind", "name"])
    return pd.DataFrame(list(rows.values()), index, ["n", "rho"]).astype({"n": int, "rho": float})


def paired_solutions(a: pd.DataFrame, b: pd.DataFrame, names: tuple[str, str]) -> pd.DataFrame:
    """Laws that each method solves in one setting and in another, with McNemar's exact test.

    Parameters
    ----------
    a, b : scored runs with the columns method, problem, seed and solution_rate
    names : what the two settings are called

    Returns
    -------
    DataFrame
        Index: method, those of `a` in its order. Columns: laws (pairs; laws times seeds), the two rates,
        ``only_<name>`` (solved in this one alone) of both, p.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": "m", "problem": ["p", "q"], "seed": 0, "solution_rate": [1.0, 0.0]})
    >>> paired_solutions(runs, runs.assign(solution_rate=1.0), ("before", "after")).loc["m"].to_dict()
    {'laws': 2.0, 'before': 0.5, 'after': 1.0, 'only_before': 0.0, 'only_after': 1.0, 'p': 1.0}
    """
    solved = [frame.set_index(["method", "problem", "seed"])["solution_rate"].astype(bool) for frame in (a, b)]
    both = pd.concat(solved, axis=1, keys=names, join="inner")
    rows = {}
    for method, pair in both.groupby("method", sort=False):
        found = paired_shares(pair[names[0]], pair[names[1]])
        rows[method] = {"laws": len(pair), **pair.mean()}
        rows[method] |= {
            f"only_{names[0]}": found["ours_alone"],
            f"only_{names[1]}": found["theirs_alone"],
            "p": found["p"],
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def uses_dummy(solution: Mapping[str, str] | None) -> float:
    """Whether an answer uses a column that the law does not have; NaN where there is no answer.

    Examples
    --------
    >>> uses_dummy({"F": "mu*N_n + 0*dummy_1"}), uses_dummy({"F": "mu*N_n"}), uses_dummy(None)
    (1.0, 0.0, nan)
    """
    return float(bool(re.search(r"\bdummy_\d", " ".join(solution.values())))) if solution else np.nan


def by_label(scored: pd.DataFrame) -> pd.DataFrame:
    """Means of the scores of Tables 2, 3 and 4 by set. Index: method as printed, or its name here where it is not."""
    scores = ["r2_accuracy", "solution_rate", "ned_published"]
    names = names_in("srsd")
    means = scored.pivot_table(index="method", columns="subset", values=scores).rename(index=names)
    return means.reindex(columns=pd.MultiIndex.from_product([scores, [s for s in SETS if s in set(scored["subset"])]]))


def from_skeleton(skeleton: str, inputs) -> str:
    """An expression with a printed skeleton: inputs by number, constants 1.3, 1.7, 2.1, ...

    Examples
    --------
    >>> from_skeleton("c_1*x_2^{c_2}", ["q", "r"])
    '1.3*r**(1.7)'
    """
    text = re.sub(r"sqrt\{(.*)\}", r"sqrt(\1)", skeleton)
    text = re.sub(r"\^\{([^}]*)\}", r"**(\1)", text)
    text = re.sub(r"c_(\d+)", lambda found: f"{0.9 + 0.4 * int(found[1]):.1f}", text)
    return re.sub(r"x_(\d+)", lambda found: inputs[int(found[1]) - 1], text)


def duplicates(laws) -> pd.DataFrame:
    """How many other laws are the same problem as each: the same function of inputs with the same ranges.

    Index: law; columns: twins (laws with the same function), scaled (up to a constant factor).
    """
    ranges = {law.id: sorted(law.samplers.values()) for law in laws}
    counts = pd.DataFrame(0, pd.Index([law.id for law in laws], name="law"), ["twins", "scaled"])
    for a, b in itertools.combinations(laws, 2):
        if ranges[a.id] == ranges[b.id]:
            counts.loc[[a.id, b.id], "twins"] += _same_problem(a, b, scaled=False)
            counts.loc[[a.id, b.id], "scaled"] += _same_problem(a, b, scaled=True)
    return counts


def _same_problem(a, b, *, scaled: bool) -> bool:
    """Whether a renaming of inputs with equal ranges makes two laws the same function, or a multiple."""
    rng = generator(0, "duplicates")
    share = rng.uniform(size=(POINTS, 1))

    def agree(X, Y):
        with np.errstate(all="ignore"):
            ratio = a.evaluate(dict(zip(a.inputs, X.T, strict=True)))
            ratio = ratio / b.evaluate(dict(zip(b.inputs, Y.T, strict=True)))
        ratio = ratio[np.isfinite(ratio)]
        return len(ratio) > 0 and np.allclose(ratio, ratio[0] if scaled else 1.0, rtol=1e-9, atol=0)

    left, right = (list(law.samplers.values()) for law in (a, b))
    # On the diagonal of the box renaming changes nothing, and most pairs differ there already.
    if not agree(*(np.hstack([low + share * (high - low) for _, low, high in box]) for box in (left, right))):
        return False
    low, high = np.array([spec[1:3] for spec in left], float).T
    X = low + rng.uniform(size=(POINTS, len(low))) * (high - low)
    renamings = itertools.permutations(range(len(low)))
    return any(all(left[i] == right[k] for k, i in enumerate(r)) and agree(X, X[:, r]) for r in renamings)
