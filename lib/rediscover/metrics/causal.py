"""How well a causal graph was found.

A graph is a set of edges ``(parent, child, lag)``. SymbolBench scores the graphs of language models
and of its baselines by two different rules, so that the two halves of its Table 4 do not compare:

- *pairs*, the rule for language models: unordered pairs of variables, self pairs included, lag and direction
  ignored;
- *triples*, the rule for baselines: parent, child and lag must all be right.

The harmonised rule, *directed*, asks for parent and child and leaves out self edges, which the truth holds
for every variable whether or not its equation does. A measure whose denominator is empty is 0, as released.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import floats
from . import metric

NEGLIGIBLE = 1e-9  # what is left of a column that others determine, relative to its spread

Edge = tuple[str, str, int]
GRAPHS = "set of (parent, child, lag)"


def edges(graph: Mapping[str, Iterable[tuple[str, int]]]) -> set[Edge]:
    """Edges of a graph given as child -> (parent, lag) pairs.

    A lag that is no whole number, or negative, is refused.

    >>> sorted(edges({"x0": [("x0", 1), ("x1", 1)], "x1": []}))
    [('x0', 'x0', 1), ('x1', 'x0', 1)]
    """
    return {(parent, child, _whole(lag)) for child, parents in graph.items() for parent, lag in parents}


def _whole(lag: object) -> int:
    # endless and undefined ones have no remainder of 0
    if not isinstance(lag, int | float | np.integer | np.floating) or not (lag >= 0 and lag % 1 == 0):
        raise ValueError(f"a lag is {lag!r}: give a number of whole steps, 0 or more")
    return int(lag)


def pairs(graph: Iterable[Edge]) -> set:
    """Unordered pairs of variables: the published rule for language models."""
    return {frozenset((parent, child)) for parent, child, _ in graph}


def triples(graph: Iterable[Edge]) -> set:
    """Edges as they are: the published rule for baselines. A lag that is no whole number, or negative, is refused."""
    return {(parent, child, _whole(lag)) for parent, child, lag in graph}


def directed(graph: Iterable[Edge]) -> set:
    """Ordered pairs without self edges, lags ignored: the harmonised rule."""
    return {(parent, child) for parent, child, _ in graph if parent != child}


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _precision(prediction: set, truth: set) -> float:
    return _share(len(prediction & truth), len(prediction))


def _f1(prediction: set, truth: set) -> float:
    """As released, from precision and recall: rounding puts some scores of 0.8 below the level 0.8."""
    precision, recall = _precision(prediction, truth), _precision(truth, prediction)
    return _share(2 * precision * recall, precision + recall)


@metric("higher", upper=1.0, of=GRAPHS)
def precision_pairs(prediction: set[Edge], truth: set[Edge]) -> float:
    """Share of predicted pairs that are true pairs, TP / (TP + FP), by the rule for language models.

    >>> precision_pairs({("a", "b", 1), ("a", "c", 1)}, {("b", "a", 1)})
    0.5
    """
    return _precision(pairs(prediction), pairs(truth))


@metric("higher", upper=1.0, of=GRAPHS)
def recall_pairs(prediction: set[Edge], truth: set[Edge]) -> float:
    """Share of true pairs that were predicted, TP / (TP + FN), by the rule for language models.

    >>> recall_pairs({("a", "b", 1)}, {("b", "a", 1), ("a", "a", 1)})
    0.5
    """
    return _precision(pairs(truth), pairs(prediction))


@metric("higher", upper=1.0, of=GRAPHS)
def f1_pairs(prediction: set[Edge], truth: set[Edge]) -> float:
    """Harmonic mean of `precision_pairs` and `recall_pairs`, 2 TP / (2 TP + FP + FN); symmetric.

    >>> f1_pairs({("a", "b", 1), ("a", "c", 1)}, {("b", "a", 1)})
    0.6666666666666666
    """
    return _f1(pairs(prediction), pairs(truth))


@metric("lower", upper=1.0, of=GRAPHS)
def fdr_pairs(prediction: set[Edge], truth: set[Edge]) -> float:
    """False discovery rate, FP / (TP + FP), by the rule for language models; 0 for a graph without edges.

    >>> fdr_pairs({("a", "b", 1), ("a", "c", 1)}, {("b", "a", 1)}), fdr_pairs(set(), {("b", "a", 1)})
    (0.5, 0.0)
    """
    return 1.0 - precision_pairs(prediction, truth) if prediction else 0.0


@metric("higher", upper=1.0, of=GRAPHS)
def precision_triples(prediction: set[Edge], truth: set[Edge]) -> float:
    """Share of predicted edges that are right in parent, child and lag: the published rule for baselines.

    >>> precision_triples({("a", "b", 1), ("b", "b", 1)}, {("b", "a", 1), ("b", "b", 1)})
    0.5
    """
    return _precision(triples(prediction), triples(truth))


@metric("higher", upper=1.0, of=GRAPHS)
def recall_triples(prediction: set[Edge], truth: set[Edge]) -> float:
    """Share of true edges that were predicted with the right direction and lag.

    >>> recall_triples({("b", "b", 1)}, {("b", "a", 1), ("b", "b", 1)})
    0.5
    """
    return _precision(triples(truth), triples(prediction))


@metric("higher", upper=1.0, of=GRAPHS)
def f1_triples(prediction: set[Edge], truth: set[Edge]) -> float:
    """Harmonic mean of `precision_triples` and `recall_triples`; symmetric.

    >>> f1_triples({("a", "b", 1), ("b", "b", 1)}, {("b", "a", 1), ("b", "b", 1)})
    0.5
    """
    return _f1(triples(prediction), triples(truth))


@metric("lower", upper=1.0, of=GRAPHS)
def fdr_triples(prediction: set[Edge], truth: set[Edge]) -> float:
    """False discovery rate, FP / (TP + FP), by the rule for baselines; 0 for a graph without edges.

    >>> fdr_triples({("a", "b", 1), ("b", "b", 1)}, {("b", "b", 1)})
    0.5
    >>> fdr_triples({("a", "b", 1)}, {("b", "a", 1)}), fdr_triples(set(), {("b", "a", 1)})
    (1.0, 0.0)
    """
    return 1.0 - precision_triples(prediction, truth) if prediction else 0.0


@metric("higher", upper=1.0, of=GRAPHS)
def precision_directed(prediction: set[Edge], truth: set[Edge]) -> float:
    """Share of predicted edges between different variables that are true ones (harmonised).

    >>> precision_directed({("a", "b", 1), ("b", "b", 1)}, {("a", "b", 1)})
    1.0
    """
    return _precision(directed(prediction), directed(truth))


@metric("higher", upper=1.0, of=GRAPHS)
def recall_directed(prediction: set[Edge], truth: set[Edge]) -> float:
    """Share of true edges between different variables that were predicted (harmonised).

    >>> recall_directed({("a", "b", 1), ("b", "b", 1)}, {("a", "b", 1), ("b", "a", 1)})
    0.5
    """
    return _precision(directed(truth), directed(prediction))


@metric("higher", upper=1.0, of=GRAPHS)
def f1_directed(prediction: set[Edge], truth: set[Edge]) -> float:
    """Harmonic mean of `precision_directed` and `recall_directed`; 1 where neither graph has an edge; symmetric.

    >>> f1_directed({("a", "b", 1)}, {("a", "b", 1), ("b", "a", 1)})
    0.6666666666666666
    >>> f1_directed({("a", "a", 1)}, {("b", "b", 1)})
    1.0
    """
    predicted, true = directed(prediction), directed(truth)
    return _f1(predicted, true) if predicted or true else 1.0


@metric("lower", upper=1.0, of=GRAPHS)
def fdr_directed(prediction: set[Edge], truth: set[Edge]) -> float:
    """False discovery rate between different variables (harmonised); 0 where nothing was predicted.

    >>> fdr_directed({("a", "b", 1), ("a", "a", 1)}, {("b", "a", 1)})
    1.0
    """
    return 1.0 - precision_directed(prediction, truth) if directed(prediction) else 0.0


@metric("lower", of=GRAPHS)
def shd(prediction: set[Edge], truth: set[Edge]) -> int:
    """Structural Hamming distance: entries in which the two directed adjacency matrices differ, lags ignored.

    >>> shd({("a", "b", 1)}, {("b", "a", 1)}), shd({("a", "b", 1)}, {("a", "b", 2)})
    (2, 0)
    """
    return len({edge[:2] for edge in prediction} ^ {edge[:2] for edge in truth})


@metric("lower", of=GRAPHS)
def shd_transposed(prediction: set[Edge], truth: set[Edge]) -> int:
    """The distance as released for language models: the predicted matrix is filled child to parent.

    >>> shd_transposed({("a", "b", 1)}, {("a", "b", 1)})
    2
    """
    return shd({(child, parent, lag) for parent, child, lag in prediction}, truth)


def _lagged(graph: Iterable[Edge], series: Mapping[str, ArrayLike]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For every child with parents: its values, and the matrix of its lagged parents, both from the largest lag on.

    A series with fewer than two such points yields nothing. That a variable equals itself, its own parent at lag 0, is
    left out: it says nothing about it."""
    parents: dict[str, list] = {}
    for parent, child, lag in sorted((parent, child, _whole(lag)) for parent, child, lag in graph):
        if lag or parent != child:
            parents.setdefault(child, []).append((parent, lag))
    values = _values({*parents, *(parent for sources in parents.values() for parent, _ in sources)}, series)
    for child, sources in parents.items():
        start, y = max(lag for _, lag in sources), values[child]
        if len(y) < start + 2:
            continue
        yield y[start:], np.stack([values[parent][start - lag : len(y) - lag] for parent, lag in sources], axis=-1)


def _values(names: Iterable[str], series: Mapping[str, ArrayLike]) -> dict[str, np.ndarray]:
    """The series of these variables as floats, equally long."""
    values: dict[str, np.ndarray] = {}
    for name in sorted(names):
        if name not in series:
            raise ValueError(f"there is no series of {name!r}: give its values, or leave its edges out")
        column = floats(series[name]) if np.ma.is_masked(series[name]) else np.asarray(series[name])
        if column.dtype.kind not in "biuf" or column.ndim != 1:
            shape, kind = column.shape, column.dtype
            raise ValueError(f"the series of {name!r} is {kind} of shape {shape}: give a real number for each time")
        values[name] = column.astype(float)
    lengths = {len(column): name for name, column in values.items()}
    if len(lengths) > 1:
        (n, a), (m, b) = sorted(lengths.items())[:2]
        raise ValueError(f"the series of {a!r} has {n} points, that of {b!r} {m}: give values at the same times")
    return values


def _unit(values: np.ndarray) -> np.ndarray:
    """Columns without their mean and of length 1; of zeros where they never change, of NaN where a value is missing."""
    values = np.where(np.all(np.isfinite(values), axis=0), values, np.nan)
    # the largest floats have no square
    values = values / np.maximum(np.max(np.abs(values), axis=0), np.finfo(float).tiny)
    values = np.where(np.ptp(values, axis=0) == 0, 0.0, values - values.mean(axis=0))
    length = np.linalg.norm(values, axis=0)
    return values / np.where(length > 0, length, 1.0)


def _partial_correlations(y: np.ndarray, X: np.ndarray) -> np.ndarray:
    """|corr(X_i, y | the other columns)| of each column; 0 for what the other columns determine entirely."""
    y, X = _unit(y), _unit(X)
    if not (np.all(np.isfinite(y)) and np.all(np.isfinite(X))):
        return np.full(X.shape[1], np.nan)
    U, S, Vt = np.linalg.svd(X, full_matrices=False)
    kept = S > NEGLIGIBLE * S[0]
    inverse = (Vt[kept].T / S[kept]) @ U[:, kept].T
    # Row i of the pseudo-inverse points along what the others leave of column i, and has the inverse length.
    share = np.linalg.norm(inverse, axis=1)
    own = (inverse @ y) / np.where(share > 0, share, 1.0)
    left = np.hypot(own, np.linalg.norm(y - X @ (inverse @ y)))
    determined = np.sum(Vt[kept] ** 2, axis=0) < 1 - 1e-6
    return np.where(determined | (left < NEGLIGIBLE), 0.0, np.abs(own) / np.maximum(left, NEGLIGIBLE))


@metric("higher", upper=1.0)
def ci_score_effective(prediction: set[Edge], series: Mapping[str, np.ndarray]) -> float:
    """The score that SymbolBench's loop maximises, as the released code computes it.

    Children with two or more parents raise an error that is swallowed, so the score is the mean over children
    with exactly one parent of ``|corr(parent(t - lag), child(t))|``.

    Parameters
    ----------
    prediction : set or list of (parent, child, lag)
        In a list, an edge that is given twice counts as two parents, as released. That a variable equals itself at
        the same time, an edge to itself at lag 0, does not count.
    series : variable -> array, shape (n,)

    Returns
    -------
    float
        NaN where no child has exactly one parent (such a graph is discarded), where a column never changes or lacks
        a value, and for a series without two lagged points.

    Raises
    ------
    ValueError
        If a lag is no whole number, or negative; if a variable of the graph has no series, or one that is not real; if
        their series are not equally long.

    Examples
    --------
    >>> ci_score_effective({("a", "b", 1)}, {"a": [1, 2, 3, 4], "b": [0, 2, 4, 6]})
    1.0
    """
    single = [(_unit(y), _unit(X[:, 0])) for y, X in _lagged(prediction, series) if X.shape[1] == 1]
    return float(np.mean([abs(y @ x) if y.any() and x.any() else np.nan for y, x in single])) if single else np.nan


@metric("higher", upper=1.0)
def ci_score_partial(prediction: set[Edge], series: Mapping[str, np.ndarray]) -> float:
    """The score as the paper defines it (appendix on the verifier): mean absolute partial correlation.

    For every child, the mean over its parents of ``|corr(parent(t - lag), child(t) | the other parents)|``; then the
    mean over children that have parents. The paper calls lower better in one place; the loop maximises.

    Parameters
    ----------
    prediction, series : as for `ci_score_effective`

    Returns
    -------
    float
        A correlation with something that the other parents determine entirely, or that never changes, counts
        0; NaN for a graph without edges, and where a value is missing in a series that the graph needs.

    Raises
    ------
    ValueError
        If a lag is no whole number, or negative; if a variable of the graph has no series, or one that is not real; if
        their series are not equally long.

    Examples
    --------
    A parent that adds nothing to another one counts 0, and so does that other one:

    >>> a = [1.0, 2.0, 4.0, 7.0, 11.0]
    >>> ci_score_partial({("a", "b", 1), ("c", "b", 1)}, {"a": a, "c": a, "b": a})
    0.0
    """
    scores = [_partial_correlations(y, X).mean() for y, X in _lagged(prediction, series)]
    return float(np.mean(scores)) if scores else np.nan
