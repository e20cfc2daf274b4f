"""What the study of surfaces computes beside its scores: why answers fail, and what its audits need."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd

from ...metrics.failure_modes import failure
from ...numerics import level_sets
from ...problems import problem
from ...report.comparisons import names_in
from ...report.papers import published
from ...report.plots import order

UNKNOWN = {"mod", "floor", "atan2", "a power"}  # to the search of our own: also a number to a variable power
ARITHMETIC = {"+", "-", "*", "/", "neg", "**"}  # a whole power is a product
NODES = 1001  # values of z at which a change of sign is looked for
REMARKS = {  # flag -> what a footnote says of it
    "substitute": "not in the paper, so another equation",
    "coefficients_chosen": "coefficients chosen here, since the paper gives none",
    "ocr_repair": "delimiters of the paper's text restored",
    "narrow_domain": "a narrower domain than [-5, 5]",
    "integer_grid": "inputs are integers",
}
REPRESENTATIONS = ("explicit", "implicit", "parametric")
PRINTED = {  # column of the paper -> what the release computes
    "symbolic_accuracy": "symbolic_accuracy",
    "nmse": "nmse_release",
    "chamfer": "chamfer_distance",
    "hausdorff": "hausdorff",
}


def as_released(metric: str, representation: str) -> str:
    """The score that a published column holds; only parametric Chamfer distances were squared."""
    squared = metric == "chamfer" and representation == "parametric"
    return "chamfer_squared" if squared else PRINTED[metric]


def as_printed(methods) -> pd.MultiIndex:
    """Methods by the labels that the paper prints, with a backbone where they are language models."""
    names = names_in("surfacebench")
    rows = published("surfacebench_table1")
    language = set(rows.loc[rows["backbone"] != "", "method"])
    pairs = [(name := names.get(method, method), "here" if name in language else "") for method in methods]
    return pd.MultiIndex.from_tuples(pairs, names=["method", "backbone"])


def means(scored) -> pd.DataFrame:
    """Tables 1 and 2 from scores here, of finite values: index `as_printed`, columns representation and metric.

    Representations without surfaces here are the last columns, and NaN.
    """
    parts = {}
    for kind, part in scored.groupby("subset", sort=False):
        for metric in PRINTED:
            score = part[as_released(metric, kind)].replace([np.inf, -np.inf], np.nan)
            parts[kind, metric] = score.groupby(part["method"]).mean()
    absent = [kind for kind in REPRESENTATIONS if kind not in set(scored["subset"])]
    parts |= {pair: pd.Series(dtype=float) for pair in itertools.product(absent, PRINTED)}
    wide = pd.concat(parts, axis=1, names=["representation", "metric"])
    return wide.set_axis(as_printed(wide.index))


def remarks(surfaces) -> tuple[str, ...]:
    """A footnote on surfaces that are not quite the paper's: each of `REMARKS` with at most four names, or a count."""
    parts = []
    for flag, words in REMARKS.items():
        names = [surface.id.partition("/")[2] for surface in surfaces if flag in surface.flags]
        if names:
            parts.append(f"{words}: {', '.join(names) if len(names) <= 4 else f'{len(names)} surfaces'}")
    return ("; ".join(parts),) if parts else ()


def failures(records, scored):
    """Why each wrong answer to an explicit surface is wrong, as shares of a method's answers.

    Columns: success, fitting error, search error, and the lenient share of fitting errors that forgives families the
    truth does not have.
    """
    rows = []
    judged = records.assign(solved=scored["symbolic_accuracy"].to_numpy(bool))
    for run in judged[judged["subset"] == "explicit"].itertuples():
        surface = problem(run.problem)
        test, truth = surface.split("test"), surface.truth["z"]
        values = dict(zip(surface.inputs, test.X.T, strict=True))
        answer = run.solution["z"] if run.status == "ok" else "0"
        why = [failure(answer, truth, values, test.y, solved=run.solved, lenient=lenient) for lenient in (False, True)]
        rows.append({"method": run.method, "strict": why[0], "lenient": why[1]})
    frame = pd.DataFrame(rows)
    counts = pd.crosstab(frame["method"], frame["strict"], normalize="index")
    counts = counts.reindex(columns=["success", "fitting error", "search error"], fill_value=0.0)
    counts["fitting error, lenient"] = (frame["lenient"] == "fitting error").groupby(frame["method"]).mean()
    return counts.loc[order(counts.index)]


def floor(surface, n: int = 2000) -> float:
    """The lowest NMSE by the variance that any function z(x, y) can have on an implicit surface.

    That is the variance of z around its mean over all sheets above the same (x, y), over the variance of z. A sheet
    counts by its area over a small (x, y) square, norm(grad F) / abs(dF/dz), as in a sample uniform by area.

    Parameters
    ----------
    surface : ImplicitSurface
    n : points of the surface, each a place (x, y) to look above
    """
    points = replace(surface, n_train=n).split("train").X
    x, y, z = points.T
    low, high = surface.domain[2]
    step = (high - low) / NODES
    heights = low + step * (np.arange(NODES) + 0.381966)  # no round numbers: a sheet on a node changes no sign
    values = surface.F({"x": x[:, None], "y": y[:, None], "z": heights})
    with np.errstate(all="ignore"):
        change = values[:, :-1] * values[:, 1:] < 0
        share = values[:, :-1] / (values[:, :-1] - values[:, 1:])
    rows, columns = np.nonzero(change)
    found = heights[columns] + share[rows, columns] * step
    sheets = level_sets.project(surface.F, np.column_stack([x[rows], y[rows], found]))
    on = level_sets.distance(surface.F, sheets) < level_sets.CLOSE  # a pole changes sign as well
    rows, sheets = rows[on], sheets[on]
    slope = level_sets.value_and_gradient(surface.F, sheets)[1]
    weight = np.linalg.norm(slope, axis=1) / np.maximum(np.abs(slope[:, 2]), 1e-3)
    total = np.bincount(rows, weight, minlength=n)
    seen = total > 0
    mean = np.bincount(rows, weight * sheets[:, 2], minlength=n)[seen] / total[seen]
    square = np.bincount(rows, weight * sheets[:, 2] ** 2, minlength=n)[seen] / total[seen]
    return float((square - mean**2).mean() / z.var())


def hidden_by(surface) -> str:
    """What the truth of an explicit surface has that hides it: an operator, or numbers inside functions.

    Examples
    --------
    >>> hidden_by(problem("surfaces/NLDSS8"))
    'inner constants, two or more'
    """
    labels, numbers = _inside(surface.expressions["z"].tree)
    if labels & UNKNOWN:
        return "an operator that it does not have"
    return ("no inner constant", "one inner constant", "inner constants, two or more")[min(numbers, 2)]


def within_operators(scored: pd.DataFrame, methods, best: str) -> pd.DataFrame:
    """How many explicit truths a method's operators can write as they stand, and how many of these are recovered.

    A truth counts if it has arithmetic, whole powers and the method's own functions alone. Another writing of it may do
    with fewer, so that the count is no bound.

    Parameters
    ----------
    scored : DataFrame
        One row an answer: problem, subset, method, symbolic_accuracy.
    methods : methods whose functions are a setting; others are left out
    best : method to compare with on the same truths

    Returns
    -------
    DataFrame
        Index: methods. Columns: truths, recovered, and recovered by `best`, all of answers.
    """
    explicit = scored[scored["subset"] == "explicit"]
    used = {id: _inside(problem(id).expressions["z"].tree)[0] for id in explicit["problem"].unique()}
    rows = {}
    for method in methods:
        settings = [getattr(method, name, "") for name in ("function_set", "symbols", "unary_operators")]
        functions = {"a power" if name == "pow" else name for text in settings for name in text.split(",")}
        can = explicit[explicit["problem"].map(lambda id, own=ARITHMETIC | functions: used[id] <= own)]
        found = can.groupby("method")["symbolic_accuracy"].agg(["size", "sum"])
        if any(settings) and method.name in set(explicit["method"]):
            size, recovered = found.loc[method.name] if method.name in found.index else (0, 0)
            theirs = found["sum"].get(best, 0)
            rows[method.name] = {"truths": size, "recovered": recovered, f"recovered by {best}": theirs}
    return pd.DataFrame.from_dict(rows, orient="index").astype(int)


def _inside(tree: tuple, within: bool = False) -> tuple[set, int]:
    """The operators of a tree, and how many numbers stand inside functions."""
    label, *children = tree
    if not children:
        return set(), int(within and isinstance(label, float | int))
    deeper = within or (str(label).isalpha() and label not in ("neg", "where"))
    parts = [_inside(child, deeper) for child in children]
    power = label == "**" and not isinstance(children[1][0], float | int)
    labels = {"a power" if power else label}.union(*(found for found, _ in parts))
    counted = parts[:1] if label == "**" and not power else parts  # a whole exponent is no inner constant
    return labels, sum(n for _, n in counted)
