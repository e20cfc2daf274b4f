"""How large an expression is, by the rules of the papers."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..expressions import Expression, parse
from ..system.given_up import attempt
from .compared_trees import published_tree, sympy_tree
from .edit_distance import as_expression, by_column
from .trees import size


def counted(rule: str, text: str, logic: bool) -> int:
    """What SymPy counts in an expression; may run for ever, so that it is called through `given_up.attempt`."""
    expression = parse(text, logic=logic).sympy()
    if rule == "preorder":
        return size(sympy_tree(expression))
    return int((expression.evalf() if rule == "symbolbench" else expression).count_ops())


def _by_sympy(rule: str) -> Callable[[Expression], int]:
    def count(expression: Expression) -> int:
        try:
            return int(attempt(counted, rule, str(expression), expression.logic))
        except TimeoutError:
            raise ValueError(f"SymPy does not come to an end with {str(expression)!r:.60}") from None

    return count


def _published_nodes(expression: Expression) -> int:
    status, tree = published_tree(expression)
    if tree is None:
        raise ValueError(f"no tree of {str(expression)!r}: {status}")
    return size(tree)


COMPLEXITY_RULES: dict[str, Callable[[Expression], int]] = {
    "tree": lambda expression: expression.size,
    "srsd_nodes": _published_nodes,
    **{rule: _by_sympy(rule) for rule in ("count_ops", "preorder", "symbolbench")},
}


def operations(expressions: Iterable[Expression]) -> float:
    """SymPy's ``count_ops``, after automatic evaluation, of expressions as they stand, added up.

    Parameters
    ----------
    expressions : iterable of Expression

    Returns
    -------
    float
        A whole number; NaN where SymPy is given up on.

    Examples
    --------
    >>> from rediscover.expressions import parse
    >>> operations([parse("x + x"), parse("a & !b", logic=True)])
    3
    """
    try:
        return sum(COMPLEXITY_RULES["count_ops"](expression) for expression in expressions)
    except ValueError:
        return math.nan


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
        If the expression cannot be read, or SymPy does not come to an end with it where the rule asks for it.

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
