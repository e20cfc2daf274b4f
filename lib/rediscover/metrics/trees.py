"""Distance between ordered, labelled trees: nodes to insert, delete or rename (Zhang and Shasha, 1989).

A tree is a nested tuple ``(label, child, ...)``, as ``Expression.tree`` is. Written here rather than taken
from the package zss because that one changes its costs when a package for string distances happens to be
installed, and because the tables of a study ask for tens of thousands of distances.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ..system.compiled_cache import keep_somewhere
from . import metric

keep_somewhere(__file__)


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


# Of a tree in postorder: labels as codes, for each node the index of its leftmost leaf, and the highest node above each
# leftmost leaf, ascending.
Postorder = tuple[np.ndarray, np.ndarray, np.ndarray]


def _postorder(tree: tuple, codes: dict[tuple, int]) -> Postorder:
    """`codes` numbers the labels that have occurred. They are compared with their types: the number 1 is not True."""
    labels: list[int] = []
    left: list[int] = []
    stack: list[tuple[tuple, int | None]] = [(tree, None)]
    while stack:
        (label, *children), first = stack.pop()
        if first is not None or not children:
            labels.append(codes.setdefault((type(label), label), len(codes)))
            left.append(len(left) if first is None else first)
        else:
            # The node comes back after its children; its leftmost leaf is the next leaf to be numbered.
            stack.append(((label,), len(labels)))
            stack.extend((child, None) for child in reversed(children))
    highest = {first: node for node, first in enumerate(left)}
    return np.array(labels), np.array(left), np.array(sorted(highest.values()))


@njit(cache=True)
def _forests(i: int, j: int, a: Postorder, b: Postorder, trees: np.ndarray, forests: np.ndarray) -> None:
    """Fill `forests` for the subtrees at i and j: [x, y] is the distance of their first x and y nodes.

    `trees` holds the distances of smaller subtrees; those of the subtrees at the left edges are entered.
    """
    (labels_a, left_a, _), (labels_b, left_b, _) = a, b
    first_a, first_b = left_a[i], left_b[j]
    forests[0, 0] = 0
    for x in range(1, i - first_a + 2):
        forests[x, 0] = x
    for y in range(1, j - first_b + 2):
        forests[0, y] = y
    for x in range(1, i - first_a + 2):
        for y in range(1, j - first_b + 2):
            p, q = first_a + x - 1, first_b + y - 1
            cost = min(forests[x - 1, y], forests[x, y - 1]) + 1
            if left_a[p] == first_a and left_b[q] == first_b:
                forests[x, y] = min(cost, forests[x - 1, y - 1] + (labels_a[p] != labels_b[q]))
                trees[p, q] = forests[x, y]
            else:
                forests[x, y] = min(cost, forests[left_a[p] - first_a, left_b[q] - first_b] + trees[p, q])


@njit(cache=True)
def _distances(a: Postorder, b: Postorder) -> tuple[np.ndarray, np.ndarray]:
    """Distances of all pairs of subtrees, and room for `_forests`."""
    trees = np.zeros((len(a[0]), len(b[0])), np.int64)
    forests = np.zeros((len(a[0]) + 1, len(b[0]) + 1), np.int64)
    for i in a[2]:
        for j in b[2]:
            _forests(i, j, a, b, trees, forests)
    return trees, forests


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
    codes: dict[tuple, int] = {}
    trees, _ = _distances(_postorder(prediction, codes), _postorder(truth, codes))
    return int(trees[-1, -1])


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
    codes: dict[tuple, int] = {}
    a, b = _postorder(prediction, codes), _postorder(truth, codes)
    (labels_a, left_a, _), (labels_b, left_b, _) = a, b
    trees, forests = _distances(a, b)
    edits, pairs = [], [(len(labels_a) - 1, len(labels_b) - 1)]
    while pairs:
        i, j = pairs.pop()
        _forests(i, j, a, b, trees, forests)
        x, y = left_a[i], left_b[j]
        p, q = i, j  # the last nodes of the two forests that remain
        while p >= x or q >= y:
            here = forests[p - x + 1, q - y + 1]
            if p >= x and here == forests[p - x, q - y + 1] + 1:
                edits.append(Edit("delete", int(p), None))
                p -= 1
            elif q >= y and here == forests[p - x + 1, q - y] + 1:
                edits.append(Edit("insert", None, int(q)))
                q -= 1
            elif left_a[p] == x and left_b[q] == y:
                edits.append(Edit("keep" if labels_a[p] == labels_b[q] else "rename", int(p), int(q)))
                p, q = p - 1, q - 1
            else:  # two whole subtrees correspond
                pairs.append((p, q))
                p, q = left_a[p] - 1, left_b[q] - 1
    return sorted(edits, key=lambda edit: (edit.truth is None, edit.truth or 0, edit.prediction or 0))
