"""How well a Boolean network was found.

Predictions and truths are next states: arrays of shape (n transitions, n regulated nodes) with values 0 and
1; other numbers are refused, as no threshold is stated. A prediction may be NaN where a rule has no value (unknown
variable, unreadable rule): all measures count it as wrong. The released code takes it for 1; so does who scores
`missing_as_true` of the prediction. Undefined quotients are 0, as released.
"""

import functools
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..expressions import Expression
from ..numerics.arrays import floats
from . import metric
from .trees import tree_edit_distance

STATES = """array_like, shape (n_transitions, n_nodes)
    Next states, 0 or 1; a prediction may be NaN."""
RULES = "node -> logical Expression"
LARGEST_TABLE = 20  # variables of a truth table that is still written out: 2**20 rows


def _pair(prediction: ArrayLike, truth: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Both as Booleans, a missing prediction as the opposite of the truth."""
    prediction, truth = floats(prediction), floats(truth)
    if prediction.shape != truth.shape:
        raise ValueError(f"prediction has shape {prediction.shape}, truth {truth.shape}")
    missing = np.isnan(prediction)
    for name, states in (("prediction", prediction[~missing]), ("truth", truth)):
        odd = states[(states != 0) & (states != 1)]
        if odd.size:
            raise ValueError(f"the {name} holds {odd[0]:g}: give states 0 or 1")
    return np.where(missing, truth == 0, prediction == 1), truth == 1


def missing_as_true(prediction: ArrayLike) -> np.ndarray:
    """Next states as the released code takes them: 1 where a rule has no value.

    Parameters
    ----------
    prediction : array_like, shape (n_transitions, n_nodes)

    Returns
    -------
    ndarray of the same shape

    Examples
    --------
    >>> missing_as_true([[0.0, np.nan]]).tolist()
    [[0.0, 1.0]]
    """
    prediction = floats(prediction)
    return np.where(np.isnan(prediction), 1.0, prediction)


def _confusion(prediction: ArrayLike, truth: ArrayLike) -> tuple[int, ...]:
    """True and false positives, false and true negatives."""
    predicted, truth = _pair(prediction, truth)
    counted = (predicted & truth, predicted & ~truth, ~predicted & truth, ~predicted & ~truth)
    return tuple(int(np.sum(cells)) for cells in counted)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


@metric("higher", upper=1.0, of=STATES)
def precision_pooled(prediction: ArrayLike, truth: ArrayLike) -> float:
    """TP / (TP + FP), counted over all nodes and transitions of a network together (as published).

    >>> precision_pooled([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.6666666666666666
    """
    tp, fp, _, _ = _confusion(prediction, truth)
    return _share(tp, tp + fp)


@metric("higher", upper=1.0, of=STATES)
def recall_pooled(prediction: ArrayLike, truth: ArrayLike) -> float:
    """TP / (TP + FN), counted over all nodes and transitions together (as published).

    >>> recall_pooled([[1, 0], [0, 0]], [[1, 0], [0, 1]])
    0.5
    """
    tp, _, fn, _ = _confusion(prediction, truth)
    return _share(tp, tp + fn)


@metric("higher", upper=1.0, of=STATES)
def f1_pooled(prediction: ArrayLike, truth: ArrayLike) -> float:
    """2 P R / (P + R) of the pooled precision and recall (as published); symmetric.

    >>> f1_pooled([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.8
    """
    tp, fp, fn, _ = _confusion(prediction, truth)
    return _share(2 * tp, 2 * tp + fp + fn)


@metric("higher", upper=1.0, of=STATES)
def accuracy_pooled(prediction: ArrayLike, truth: ArrayLike) -> float:
    """Share of right bits; symmetric. A missing one is wrong.

    >>> accuracy_pooled([[1, 1], [0, 1]], [[1, 0], [0, 1]]), accuracy_pooled([[1, np.nan]], [[1, 1]])
    (0.75, 0.5)
    """
    tp, fp, fn, tn = _confusion(prediction, truth)
    return _share(tp + tn, tp + fp + fn + tn)


@metric("higher", lower=-1.0, upper=1.0, of=STATES)
def informedness_pooled(prediction: ArrayLike, truth: ArrayLike) -> float:
    """Bookmaker informedness, recall + specificity - 1, of the pooled counts (as published); 0 for guessing.

    >>> informedness_pooled([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.5
    """
    tp, fp, fn, tn = _confusion(prediction, truth)
    return _share(tp, tp + fn) + _share(tn, tn + fp) - 1.0


@metric("higher", upper=1.0, of=STATES)
def f1_macro(prediction: ArrayLike, truth: ArrayLike) -> float:
    """Mean over nodes of the F1 of each node (harmonised; the paper's formula averages over nodes).

    A node that never is 1, neither in truth nor in prediction, counts 1; a NaN is a wrong prediction. NaN where there
    is no node.

    >>> f1_macro([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.8333333333333333
    """
    predicted, truth = _pair(prediction, truth)
    twice = 2 * np.sum(predicted & truth, axis=0)
    whole = twice + np.sum(predicted ^ truth, axis=0)
    return float(np.mean(np.where(whole > 0, twice / np.maximum(whole, 1), 1.0))) if whole.size else np.nan


@metric("higher", upper=1.0, of=RULES)
def rules_equivalent(prediction: Mapping, truth: Mapping) -> float:
    """Share of nodes whose predicted rule has the same truth table as the true one (harmonised).

    A node that is missing in the prediction counts as wrong. NaN where a pair of rules has more than 20 variables or
    where there is no node.

    >>> from rediscover.expressions import parse
    >>> rule = {"x1": parse("x1 & x2", logic=True)}
    >>> rules_equivalent({"x1": parse("!(!x2 | !x1)", logic=True)}, rule), rules_equivalent({}, rule)
    (1.0, 0.0)
    """
    same = [node in prediction and _equivalent(prediction[node], rule) for node, rule in truth.items()]
    return float(np.mean(same)) if same else np.nan


def _equivalent(a: Expression, b: Expression) -> float:
    names = sorted({*a.names, *b.names})
    if len(names) > LARGEST_TABLE:
        return np.nan
    states = truth_table_inputs(len(names))
    values = {name: states[:, i] for i, name in enumerate(names)}
    return float(np.all(a(values) == b(values)))


@metric("lower", of=RULES)
def proximity_classes(prediction: Mapping, truth: Mapping) -> float:
    """Symbolic proximity as released: tree edit distance of the rules, mean over the nodes that have both rules.

    A node of a tree is labelled with its sympy class, so that all variables are alike. Not normalised; NaN
    where no node has both rules.

    >>> from rediscover.expressions import parse
    >>> proximity_classes({"x": parse("a & b", logic=True)}, {"x": parse("!a & b", logic=True)})
    1.0
    """
    distances = [
        tree_edit_distance(_class_tree(prediction[node]), _class_tree(rule))
        for node, rule in truth.items()
        if node in prediction
    ]
    return float(np.mean(distances)) if distances else np.nan


@functools.lru_cache(maxsize=4096)  # one truth is compared with many answers
def _class_tree(rule: Expression) -> tuple:
    def tree(node: Any) -> tuple:
        return (type(node).__name__, *map(tree, node.args))

    return tree(rule.sympy())


def truth_table_inputs(n: int) -> np.ndarray:
    """All states of `n` variables in counting order, shape (2**n, n), bool.

    >>> truth_table_inputs(2).astype(int).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return (np.arange(2**n)[:, None] >> np.arange(n)[::-1] & 1).astype(bool)


def next_states(rules: Mapping, states: ArrayLike, names: Sequence[str]) -> np.ndarray:
    """What rules predict.

    A rule with a variable that the network does not have is evaluated as far as it goes: where its value does
    not depend on that variable it is that value, elsewhere NaN.

    Parameters
    ----------
    rules : node -> logical Expression, or None for a rule that cannot be read
    states : array of bool, shape (n, n_names)
    names : the columns of `states`

    Returns
    -------
    ndarray of float, shape (n, n_rules)

    Examples
    --------
    >>> from rediscover.expressions import parse
    >>> next_states({"x1": parse("x1 & y", logic=True)}, [[0], [1]], ["x1"]).tolist()
    [[0.0], [nan]]
    """
    states = np.asarray(states, dtype=bool)
    known = {name: states[:, i] for i, name in enumerate(names)}
    columns = [_values(rule, known, len(states)) for rule in rules.values()]
    return np.stack(columns, axis=-1) if columns else np.empty((len(states), 0))


def _values(rule: Expression | None, known: Mapping[str, np.ndarray], n: int) -> np.ndarray:
    unknown = [] if rule is None else [name for name in rule.names if name not in known]
    if rule is None or len(unknown) > LARGEST_TABLE // 2:
        return np.full(n, np.nan)
    cases = [
        np.broadcast_to(rule({**known, **dict(zip(unknown, case, strict=True))}), n)
        for case in product([False, True], repeat=len(unknown))
    ]
    return np.where(np.all(cases, axis=0), 1.0, np.where(np.any(cases, axis=0), np.nan, 0.0))
