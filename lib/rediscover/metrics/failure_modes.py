"""Which kinds of operators an expression uses, and why a wrong one failed.

The failure analysis of SurfaceBench, section 5.4, asks whether a search went after terms of a wrong kind
(search error) or assembled terms of the right kinds wrongly (fitting error). Which kinds there are, and when
a term counts, is decided here:

- RAT: division by something that varies; ROOT: roots, fractional powers; TRIG, ITRIG: sin, cos, tan and their
  inverses; EXP: exp, logarithms, a**x; HYP: sinh, cosh, tanh and their inverses; COND: abs, min, max, sign,
  where; INT: floor, ceil, mod, powers of a negative number; POLY: everything else.
- A term counts if training NMSE rises by more than 0.001 when it is replaced by its mean.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..expressions import Expression, parse
from .regression import nmse_variance

MATTERS = 1e-3
SOLVED = 1e-6  # NMSE
FAMILIES = {
    "ROOT": "sqrt cbrt",
    "TRIG": "sin cos tan",
    "ITRIG": "asin acos atan atan2",
    "EXP": "exp log log2 log10",
    "HYP": "sinh cosh tanh asinh acosh atanh",
    "COND": "abs sign min max where",
    "INT": "floor ceil mod",
}
_FAMILY = {label: family for family, labels in FAMILIES.items() for label in labels.split()}


def family(tree: tuple) -> str:
    """The family of a tree's topmost node.

    Examples
    --------
    >>> [family(parse(text).tree) for text in ("x/2", "2/x", "x**-2", "x**2.5", "2**x", "(-1)**x")]
    ['POLY', 'RAT', 'RAT', 'ROOT', 'EXP', 'INT']
    """
    label, *children = tree
    if not children or label not in ("/", "**"):
        return _FAMILY.get(label, "POLY") if children else "POLY"
    left, right = (Expression(child) for child in children)
    if label == "/":
        return "RAT" if right.names else "POLY"
    if right.names:
        return "INT" if not left.names and left({}) < 0 else "EXP"
    power = float(right({}))
    if power != round(power):
        return "ROOT"
    return "RAT" if power < 0 and left.names else "POLY"


def _nodes(
    tree: tuple, rebuild: Callable[[tuple], tuple] = lambda tree: tree
) -> Iterator[tuple[tuple, Callable[[tuple], tuple]]]:
    """Every subtree, with the function that puts another one in its place."""
    yield tree, rebuild
    for i in range(1, len(tree)):

        def replaced(new: tuple, i: int = i) -> tuple:
            return rebuild((*tree[:i], new, *tree[i + 1 :]))

        yield from _nodes(tree[i], replaced)


def families(
    expression: Expression | str, values: Mapping[str, np.ndarray] | None = None, y: Any = None
) -> frozenset[str]:
    """The operator families of an expression, POLY left out.

    Parameters
    ----------
    expression : Expression or text
    values : Mapping of name to ndarray, shape (n,), optional
    y : ndarray, shape (n,), optional
        With `values` and `y`, only families with a term that matters for fitting y.

    Examples
    --------
    >>> sorted(families("exp(-x**2)*sin(y)/x"))
    ['EXP', 'RAT', 'TRIG']
    >>> x = np.linspace(0, 3, 50)
    >>> sorted(families("sin(x) + 1e-9*exp(x)", {"x": x}, np.sin(x)))
    ['TRIG']
    """
    expression = expression if isinstance(expression, Expression) else parse(expression)
    found, full = set(), None
    for tree, rebuild in _nodes(expression.tree):
        name = family(tree)
        if name == "POLY" or name in found:
            continue
        if values is None:
            found.add(name)
            continue
        full = nmse_variance(expression(values), y) if full is None else full
        term = Expression(tree)(values)
        mean = float(term[np.isfinite(term)].mean()) if np.isfinite(term).any() else 0.0
        without = nmse_variance(Expression(rebuild((mean,)))(values), y)
        if without - full > MATTERS or not np.isfinite(without):
            found.add(name)
    return frozenset(found)


def failure(
    prediction: Expression | str,
    truth: Expression | str,
    values: Mapping[str, np.ndarray],
    y: np.ndarray,
    *,
    solved: bool = False,
    lenient: bool = False,
) -> str:
    """Verdict on one output: 'success', 'search error' or 'fitting error'.

    Parameters
    ----------
    prediction, truth : Expression or text
    values, y : training inputs by name and outputs, ndarrays of shape (n,)
    solved : bool
        Whether symbolic accuracy has accepted the prediction; an NMSE below 1e-6 is a success as well.
    lenient : bool
        Forgive families that the truth does not have.

    Returns
    -------
    str
        'search error' if the prediction lacks a family of the truth or, unless lenient, has one too many.

    Examples
    --------
    >>> x = np.linspace(-3, 3, 50)
    >>> [failure(f, "sin(2*x)", {"x": x}, np.sin(2 * x)) for f in ("sin(2*x)", "sin(1.9*x)", "x - x**3/5")]
    ['success', 'fitting error', 'search error']
    """
    prediction = prediction if isinstance(prediction, Expression) else parse(prediction)
    if solved or nmse_variance(prediction(values), y) < SOLVED:
        return "success"
    wanted, used = families(truth), families(prediction, values, y)
    return "fitting error" if wanted <= used and (lenient or used <= wanted) else "search error"
