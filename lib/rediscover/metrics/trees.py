"""Distance between ordered, labelled trees: nodes to insert, delete or rename (Zhang and Shasha, 1989).

A tree is a nested tuple ``(label, child, ...)``, as ``Expression.tree`` is. Written here rather than taken
from the package zss because that one changes its costs when a package for string distances happens to be
installed, and because the tables of a study ask for tens of thousands of distances.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from . import metric


class Edit(NamedTuple):
    """One step from the prediction's tree to the truth's.

    Attributes
    ----------
    operation : 'keep', 'rename', 'delete' (from the prediction) or 'insert' (of the truth)
    prediction, truth : int or None
        The nodes, counted in postorder from 0.
    """

    operation: str
    prediction: int | None
    truth: int | None


def tuples(tree: Any) -> tuple | None:
    """A tree of lists, as JSON gives it back, as nested tuples; None stays None.

    Examples
    --------
    >>> tuples(["+", ["x"], ["sin", ["y"]]])
    ('+', ('x',), ('sin', ('y',)))
    """
    return tree and (tree[0], *map(tuples, tree[1:]))


def size(tree: tuple) -> int:
    """Number of nodes.

    Examples
    --------
    >>> size(("+", ("x",), ("sin", ("y",))))
    4
    """
    return 1 + sum(map(size, tree[1:]))


class _Postorder(NamedTuple):
    labels: list
    left: np.ndarray  # postorder index of each node's leftmost leaf
    roots: np.ndarray  # the highest node above each leftmost leaf, ascending


def _postorder(tree: tuple) -> _Postorder:
    labels: list = []
    left: list[int] = []
    stack: list[tuple[tuple, int | None]] = [(tree, None)]
    while stack:
        (label, *children), first = stack.pop()
        if first is not None or not children:
            labels.append(label)
            left.append(len(left) if first is None else first)
        else:
            # The node comes back after its children; its leftmost leaf is the next leaf to be numbered.
            stack.append(((label,), len(labels)))
            stack.extend((child, None) for child in reversed(children))
    highest = {first: node for node, first in enumerate(left)}
    return _Postorder(labels, np.array(left), np.array(sorted(highest.values())))


@njit(cache=True)
def _forests(
    i: int,
    j: int,
    labels_a: np.ndarray,
    left_a: np.ndarray,
    labels_b: np.ndarray,
    left_b: np.ndarray,
    trees: np.ndarray,
    forests: np.ndarray,
) -> None:
    """Fill `forests` for the subtrees at i and j: [x, y] is the distance of their first x and y nodes.

    `trees` holds the distances of smaller subtrees; those of the subtrees at the left edges are entered.
    """
    a, b = left_a[i], left_b[j]
    forests[0, 0] = 0
    for x in range(1, i - a + 2):
        forests[x, 0] = x
    for y in range(1, j - b + 2):
        forests[0, y] = y
    for x in range(1, i - a + 2):
        for y in range(1, j - b + 2):
            p, q = a + x - 1, b + y - 1
            cost = min(forests[x - 1, y], forests[x, y - 1]) + 1
            if left_a[p] == a and left_b[q] == b:
                forests[x, y] = min(cost, forests[x - 1, y - 1] + (labels_a[p] != labels_b[q]))
                trees[p, q] = forests[x, y]
            else:
                forests[x, y] = min(cost, forests[left_a[p] - a, left_b[q] - b] + trees[p, q])


@njit(cache=True)
def _distances(
    labels_a: np.ndarray,
    left_a: np.ndarray,
    roots_a: np.ndarray,
    labels_b: np.ndarray,
    left_b: np.ndarray,
    roots_b: np.ndarray,
) -> np.ndarray:
    trees = np.zeros((len(labels_a), len(labels_b)), np.int64)
    forests = np.zeros((len(labels_a) + 1, len(labels_b) + 1), np.int64)
    for i in roots_a:
        for j in roots_b:
            _forests(i, j, labels_a, left_a, labels_b, left_b, trees, forests)
    return trees


def _prepare(
    prediction: tuple, truth: tuple
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    a, b = _postorder(prediction), _postorder(truth)
    # Labels are compared with their types: the number 1 is not True.
    codes: dict[tuple, int] = {}
    labels = [np.array([codes.setdefault((type(x), x), len(codes)) for x in t.labels]) for t in (a, b)]
    return (labels[0], a.left, a.roots), (labels[1], b.left, b.roots)


@metric("lower")
def tree_edit_distance(prediction: tuple, truth: tuple) -> int:
    """Least number of node insertions, deletions and renamings between two ordered trees.

    Parameters
    ----------
    prediction, truth : nested tuples ``(label, child, ...)``

    Returns
    -------
    int
        At least 0.

    Notes
    -----
    K. Zhang and D. Shasha, SIAM J. Comput. 18 (1989) 1245, with unit costs. A distance in the mathematical
    sense; at most the sum of the sizes minus 1.

    Examples
    --------
    >>> tree_edit_distance(("+", ("x",), ("y",)), ("*", ("x",), ("+", ("y",), ("z",))))
    3
    """
    a, b = _prepare(prediction, truth)
    return int(_distances(*a, *b)[-1, -1])


def edit_script(prediction: tuple, truth: tuple) -> list[Edit]:
    """One cheapest way from the prediction to the truth: the truth's nodes in postorder, then deletions.

    The number of steps that are not ``keep`` is the `tree_edit_distance`.

    Parameters
    ----------
    prediction, truth : nested tuples ``(label, child, ...)``

    Returns
    -------
    list of Edit

    Examples
    --------
    >>> [edit.operation for edit in edit_script(("sin", ("x",)), ("*", ("2",), ("x",)))]
    ['insert', 'keep', 'rename']
    """
    (labels_a, left_a, roots_a), (labels_b, left_b, roots_b) = _prepare(prediction, truth)
    trees = _distances(labels_a, left_a, roots_a, labels_b, left_b, roots_b)
    forests = np.zeros((len(labels_a) + 1, len(labels_b) + 1), np.int64)
    edits, pairs = [], [(len(labels_a) - 1, len(labels_b) - 1)]
    while pairs:
        i, j = pairs.pop()
        _forests(i, j, labels_a, left_a, labels_b, left_b, trees, forests)
        a, b = left_a[i], left_b[j]
        p, q = i, j  # the last nodes of the two forests that remain
        while p >= a or q >= b:
            here = forests[p - a + 1, q - b + 1]
            if p >= a and here == forests[p - a, q - b + 1] + 1:
                edits.append(Edit("delete", int(p), None))
                p -= 1
            elif q >= b and here == forests[p - a + 1, q - b] + 1:
                edits.append(Edit("insert", None, int(q)))
                q -= 1
            elif left_a[p] == a and left_b[q] == b:
                edits.append(Edit("keep" if labels_a[p] == labels_b[q] else "rename", int(p), int(q)))
                p, q = p - 1, q - 1
            else:  # two whole subtrees correspond
                pairs.append((p, q))
                p, q = left_a[p] - 1, left_b[q] - 1
    return sorted(edits, key=lambda edit: (edit.truth is None, edit.truth or 0, edit.prediction or 0))
