"""How large an expression is, by the rules of the papers."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..expressions import Expression
from .compared_trees import published_tree, sympy_tree
from .edit_distance import as_expression, by_column
from .trees import size


def _count_ops(expression: Expression) -> int:
    return int(expression.sympy().count_ops())


def _preorder_nodes(expression: Expression) -> int:
    return size(sympy_tree(expression.sympy()))


def _numeric_count_ops(expression: Expression) -> int:
    return int(expression.sympy().evalf().count_ops())


def _published_nodes(expression: Expression) -> int:
    status, tree = published_tree(expression)
    if tree is None:
        raise ValueError(f"no tree of {str(expression)!r}: {status}")
    return size(tree)


COMPLEXITY_RULES: dict[str, Callable[[Expression], int]] = {
    "tree": lambda expression: expression.size,
    "srsd_nodes": _published_nodes,
    "count_ops": _count_ops,
    "preorder": _preorder_nodes,
    "symbolbench": _numeric_count_ops,
}


def complexity(
    expression: Expression | str | Iterable[Expression | str] | Mapping[str, Expression | str],
    rule: str = "tree",
    names: Sequence[str] | None = None,
) -> int:
    """Size of an expression, or of several added up, by the rule of one of the papers.

    Parameters
    ----------
    expression : str, Expression, or an iterable or mapping (of right-hand sides) of them
    rule : str
        ============== ==================================================================================
        tree           ours and PySR's: every constant, variable and operator of the expression as it stands
        srsd_nodes     SRSD, the size in eq. (3): nodes of the simplified tree of `ned_published`
        count_ops      SRSD, difficulty: SymPy's ``count_ops`` after automatic evaluation
        preorder       MDBench: nodes that SymPy's ``preorder_traversal`` visits after automatic evaluation
        symbolbench    SymbolBench, continuous: ``count_ops`` after ``evalf``
        ============== ==================================================================================

    names : sequence of str, optional
        The input columns in order, as for `ned_published`; only the rule srsd_nodes depends on it.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    KeyError
        If there is no such rule.
    ValueError
        If the expression cannot be read, or not be simplified where the rule asks for it.

    Examples
    --------
    >>> complexity("2.5*x + x**2"), complexity("a/b", "preorder"), complexity(["x", "2*x"], "count_ops")
    (7, 5, 1)
    """
    if rule not in COMPLEXITY_RULES:
        raise KeyError(f"unknown complexity rule {rule!r} (rules: {', '.join(COMPLEXITY_RULES)})")
    if isinstance(expression, Mapping):
        expression = expression.values()
    if isinstance(expression, Iterable) and not isinstance(expression, str):
        return sum(complexity(item, rule, names) for item in expression)
    (expression,) = by_column([as_expression(expression)], names)
    return COMPLEXITY_RULES[rule](expression)
