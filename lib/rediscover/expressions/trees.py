"""What a tree of an expression is: its labels, its limits, and how it is walked.

A tree is nested tuples ``(label, child, ...)``; a leaf is ``(name,)``, ``(number,)`` or ``(bool,)``.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

NODES = 100_000  # of a tree
DEPTH = 400  # of a tree, where a chain such as a + b - c counts once, however long

# The labels of named constants are no identifiers, so that variables may be called pi and E.
NAMED = {"π": math.pi, "ℯ": math.e}

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
CONNECTIVES = ("and", "or", "xor", "implies", "not")
BOOLEAN = {*COMPARISONS, *CONNECTIVES}
# What is written without brackets one behind the other: the first operand is no deeper than the chain itself.
CHAINS = {"+": "sum", "-": "sum", "*": "product", "/": "product", "and": "and", "or": "or", "xor": "xor"}
UNARY = """sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log log2 log10 sqrt cbrt
    abs sign floor ceil""".split()
BINARY = ("atan2", "mod")
VARIADIC = ("min", "max")
ARITY = {
    **dict.fromkeys(["+", "-", "*", "/", "**", *BOOLEAN, *BINARY], (2, 2)),
    **dict.fromkeys(["neg", "not", *UNARY], (1, 1)),
    **dict.fromkeys(VARIADIC, (2, NODES)),
    "where": (2, 3),  # where(condition, value) is undefined elsewhere, as a Piecewise without a default
}


class ExpressionError(ValueError):
    """An expression cannot be read or built.

    Attributes
    ----------
    text : the text that was read.
    position : index of the offending character, from 0.
    reason : what is wrong there.
    """

    def __init__(self, text: str, position: int, reason: str) -> None:
        self.text, self.position, self.reason = text, position, reason
        start, stop = max(0, position - 30), position + 30
        excerpt = f"{'...' if start else ''}{text[start:stop]}{'...' if stop < len(text) else ''}"
        super().__init__(f"cannot read expression {excerpt!r} at position {position}: {reason}")

    def __reduce__(self) -> tuple:  # workers send errors home
        return type(self), (self.text, self.position, self.reason)


def fold(tree: tuple, combine: Callable[[Any, list], Any]) -> Any:
    """Result of ``combine(label, results of the children)`` at the root, bottom-up, without recursion."""
    stack, results = [(tree, False)], list[Any]()
    while stack:
        node, ready = stack.pop()
        if ready or len(node) == 1:
            first = len(results) - len(node) + 1
            children = results[first:]
            del results[first:]
            results.append(combine(node[0], children))
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node[1:]))
    return results[0]


def depth_of(label: Any, children: Sequence[tuple[int, Any]]) -> int:
    """Depth of a node from the depths and labels of its children; a chain of any length is as deep as two terms.

    >>> depth_of("-", [(2, "+"), (1, "x")]), depth_of("-", [(2, "*"), (1, "x")])
    (2, 3)
    """
    chain = CHAINS.get(label)
    if chain is not None and CHAINS.get(children[0][1]) == chain:
        (first, _), (second, _) = children
        return max(first, second + 1)
    return 1 + max((depth for depth, _ in children), default=0)


def spine(tree: tuple) -> list[tuple[Any, tuple]]:
    """The operands of the chain that a tree is, from left to right, each with the operator before it.

    >>> spine(("-", ("+", ("a",), ("b",)), ("*", ("c",), ("d",))))
    [('', ('a',)), ('+', ('b',)), ('-', ('*', ('c',), ('d',)))]
    """
    found, chain = [], CHAINS.get(tree[0]) if len(tree) == 3 else None
    while chain is not None and len(tree) == 3 and CHAINS.get(tree[0]) == chain:
        label, tree, right = tree
        found.append((label, right))
    return [("", tree), *reversed(found)]


def postfix(tree: tuple) -> list[tuple[Any, int]]:
    """Labels in postfix order, each with its number of children: a tree without nesting, for what would recurse.

    >>> postfix(("sin", ("+", ("x",), (1,))))
    [('x', 0), (1, 0), ('+', 2), ('sin', 1)]
    """
    found: list[tuple[Any, int]] = []
    fold(tree, lambda label, children: found.append((label, len(children))))
    return found


def from_postfix(labels: Iterable[tuple[Any, int]]) -> tuple:
    """The tree of `postfix`."""
    stack: list[tuple] = []
    for label, count in labels:
        children = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        stack.append((label, *children))
    return stack[0]


def leaves(tree: tuple) -> Iterator[Any]:
    """Labels of the leaves from left to right."""
    stack = [tree]
    while stack:
        label, *children = stack.pop()
        if children:
            stack.extend(reversed(children))
        else:
            yield label


def is_number(label: Any) -> bool:
    return type(label) in (int, float)


def replace_leaves(tree: tuple, replacement: Callable[[Any], tuple]) -> tuple:
    """The tree with each leaf label replaced by a tree; signs of numbers are kept in the number."""
    return fold(tree, lambda label, children: build(label, *children) if children else replacement(label))


def build(label: str, *children: tuple) -> tuple:
    """A node; the negative of a number is a number, as its text cannot tell them apart."""
    if label == "neg" and len(children[0]) == 1 and is_number(children[0][0]):
        return (-children[0][0],)
    return (label, *children)


def is_boolean(tree: tuple) -> bool:
    return type(tree[0]) is bool or (len(tree) > 1 and tree[0] in BOOLEAN)


def checked_size(tree: tuple) -> int:
    """Number of nodes of a tree, after checking labels, numbers of children and limits."""
    size = 0

    def check(label: Any, children: list[tuple[int, Any]]) -> tuple[int, Any]:
        nonlocal size
        size += 1
        if size > NODES:
            raise ExpressionError("", 0, f"more than {NODES} nodes")
        if not children:
            finite = not is_number(label) or abs(label) < math.inf
            if type(label) not in (bool, int, float, str) or not finite:
                raise ExpressionError("", 0, f"{label!r} is neither a finite number nor a name")
            return 1, None
        least, most = ARITY.get(label, (1, 0))
        if not least <= len(children) <= most:
            raise ExpressionError("", 0, f"no operation {label!r} of {len(children)} arguments")
        depth = depth_of(label, children)
        if depth > DEPTH:
            raise ExpressionError("", 0, f"its tree is deeper than {DEPTH}")
        return depth, label

    fold(tree, check)
    return size
