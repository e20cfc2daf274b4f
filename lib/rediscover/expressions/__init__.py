"""The only parser, evaluator and tree of expressions.

Text from a method, a model or a file is read by a small precedence-climbing parser: it knows operators,
numbers, variables and the functions of `syntax`, and nothing in it can execute anything.

>>> e = parse("-x0 ^ 2 + np.sin(3.0*x1)")
>>> print(e)
-x0**2 + sin(3.0*x1)
>>> e.names, e.constants
(('x0', 'x1'), (3.0,))
>>> float(e({"x0": 2.0, "x1": 0.0}))
-4.0
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from . import algebra
from .numerics import Program
from .syntax import Parser, identifier, write
from .trees import (
    NAMED,
    ExpressionError,
    build,
    checked_size,
    fold,
    from_postfix,
    is_number,
    leaves,
    postfix,
    replace_leaves,
)

__all__ = ["Expression", "ExpressionError", "from_sympy", "parse", "refit", "simplify"]

EXPONENT = 6  # integer exponents up to this are structure, not constants (SurfaceBench, skeleton test)


def parse(text: str, names: Iterable[str] | None = None, logic: bool = False) -> "Expression":
    """Read an expression.

    Parameters
    ----------
    text : str
        Infix as written by any method: ``^`` or ``**``, ``np.sin``, ``X1``, ``add(x, y)``, ``where(c, a, b)``,
        ``Piecewise((a, c), (b, True))``, ``|x|``, ``x % 2``. ``log`` is the natural logarithm, ``log(x, b)`` the one
        to base b. ``pi`` and ``E`` are constants; every other name without brackets is a variable.
    names : iterable of str, optional
        The variables that may occur. A variable called ``pi`` or ``E`` must be listed.
    logic : bool
        Read a Boolean rule instead: ``! ~ not & and ^ xor xnor | or ->``, ``<->`` (or ``<=>``, ``iff``), ``And(a, b)``
        and the like as SymPy calls them, ``True``, ``False``, ``0``, ``1``.

    Returns
    -------
    Expression

    Raises
    ------
    ExpressionError
        With the text, the position and the reason.
    """
    if not isinstance(text, str):
        raise TypeError(f"an expression is read from text, got {type(text).__name__}")
    tree = Parser(text, names, logic).tree()
    try:
        return Expression(tree, logic)
    except ExpressionError as error:
        raise ExpressionError(text, 0, error.reason) from None


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """An expression in named variables; made by `parse`. Equal when structure and numbers are.

    Attributes
    ----------
    tree : nested tuples
        ``(label, child, ...)``. A leaf is ``(name,)``, ``(number,)``, ``(bool,)``, ``("π",)`` or ``("ℯ",)``. Labels
        are ``+ - * / ** neg``, ``< <= > >= == !=``, ``and or not xor implies``, function names, and ``where`` with
        the children condition, value, other value.
    logic : bool
        True for a Boolean rule.
    size : int
        Number of nodes of the tree.
    """

    tree: tuple
    logic: bool = False
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", checked_size(self.tree))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"parse({self._text!r}{', logic=True' if self.logic else ''})"

    def __eq__(self, other: object) -> bool:
        # By text, which is exact: tuples would take 1, 1.0 and True for equal.
        if not isinstance(other, Expression):
            return NotImplemented
        return (self._text, self.names, self.logic) == (other._text, other.names, other.logic)

    def __hash__(self) -> int:
        return hash((self._text, self.logic))

    def __reduce__(self) -> tuple:  # flat: pickle would recurse on the tree of a long sum
        return _unpickled, (postfix(self.tree), self.logic)

    @cached_property
    def _text(self) -> str:
        return write(self.tree)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return tuple(sorted({leaf for leaf in leaves(self.tree) if isinstance(leaf, str) and leaf not in NAMED}))

    # Evaluation

    def __call__(self, values: Mapping[str, Any]) -> np.ndarray:
        """Evaluate.

        Parameters
        ----------
        values : variable name -> real scalar or array
            Broadcast together, those that the expression does not use too.

        Returns
        -------
        ndarray of float
            NaN where undefined or complex, infinite at poles and on overflow. Of bool for a Boolean rule.

        Raises
        ------
        KeyError
            If a variable has no value.
        TypeError
            If a value is not real.
        """
        columns, shape = self._columns(values)
        result = np.asarray(self._program(columns)[0], bool if self.logic else float)
        if result.shape != shape or len(self.tree) == 1:  # a variable alone must not be the caller's own array
            result = np.broadcast_to(result, shape).copy()
        return result

    def gradient(self, values: Mapping[str, Any], names: Sequence[str] | None = None) -> np.ndarray:
        """Derivatives with respect to `names` (by default ``self.names``), exact, by forward differentiation.

        Returns
        -------
        ndarray of float, shape (len(names), *shape of the values)
            0 for steps such as floor, also at their edges.

        >>> parse("x**2*y").gradient({"x": 3.0, "y": 2.0})
        array([12.,  9.])
        """
        columns, shape = self._columns(values)
        names = self.names if names is None else tuple(names)
        if names not in self._derived:
            self._derived[names] = Program([self.tree], names)
        slopes = self._derived[names](columns)[1:]
        return np.array([np.broadcast_to(slope, shape) for slope in slopes], float).reshape(len(names), *shape)

    @cached_property
    def _program(self) -> Program:
        return Program([self.tree])

    @cached_property
    def _derived(self) -> dict[tuple[str, ...], Program]:
        """Names -> the program that computes the derivatives by them too."""
        return {}

    def _columns(self, values: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], tuple[int, ...]]:
        columns, wanted = {}, bool if self.logic else float
        for name, value in values.items():
            column = np.asarray(value)
            if column.dtype.kind not in "biuf":
                raise TypeError(f"values of {name} must be real numbers, got {column.dtype}")
            columns[name] = column if column.dtype == wanted else column.astype(wanted)
        for name in self.names:
            if name not in columns:
                raise KeyError(f"no value for {name}, a variable of {self}")
        shapes = {column.shape for column in columns.values()}
        return columns, shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)

    # Constants and variables

    @cached_property
    def _marked(self) -> tuple:
        """The tree in which what stays fixed of numbers, small integer exponents, is the label of a leaf."""

        def mark(label: Any, children: list[tuple]) -> tuple:
            if label == "**" and len(children[1]) == 1 and is_number(n := children[1][0]):
                if abs(n) <= EXPONENT and n == int(n):
                    children[1] = (children[1],)
            return build(label, *children)

        return fold(self.tree, mark)

    def _with_leaves(self, replacement: Callable[[Any], tuple]) -> tuple:
        """The tree with ``replacement(number)`` for each constant, from left to right."""

        def replace(leaf: Any) -> tuple:
            return leaf if type(leaf) is tuple else replacement(leaf) if is_number(leaf) else (leaf,)

        return replace_leaves(self._marked, replace)

    @cached_property
    def constants(self) -> tuple[float, ...]:
        """Every number from left to right but integer exponents up to 6."""
        return tuple(filter(is_number, leaves(self._marked)))

    def with_constants(self, values: Sequence[float]) -> "Expression":
        """The expression with other constants, as many as it has.

        >>> print(parse("2.0*x**2 + 1").with_constants([3.5, -1.0]))
        3.5*x**2 + (-1.0)
        """
        if len(values) != len(self.constants):
            raise ValueError(f"{self} has {len(self.constants)} constants, got {len(values)}")
        numbers = (value if type(value) is int else float(value) for value in values)
        return Expression(self._with_leaves(lambda _: (next(numbers),)), self.logic)

    def skeleton(self) -> str:
        """The text with c0, c1, ... for the constants (c_0, ... where variables are called so).

        >>> parse("2.0*x**2 + 1").skeleton()
        'c0*x**2 + c1'
        """
        letter = "c"
        while any(name.startswith(letter) and name[len(letter) :].isdigit() for name in self.names):
            letter += "_"
        count = itertools.count()
        return write(self._with_leaves(lambda _: (f"{letter}{next(count)}",)))

    def substitute(self, replacements: Mapping[str, "Expression | float | str"]) -> "Expression":
        """The expression with variables replaced, all at once, by expressions, numbers or other names."""

        def tree(value: Any) -> tuple:
            if isinstance(value, Expression):
                return value.tree
            if isinstance(value, str):
                return (identifier(value),)
            return (value if isinstance(value, int) else float(value),)

        trees = {name: tree(value) for name, value in replacements.items()}
        return Expression(replace_leaves(self.tree, lambda leaf: trees.get(leaf, (leaf,))), self.logic)

    # Algebra

    def sympy(self) -> Any:
        """The SymPy expression in plain Symbols; Integer for integers, Float for other numbers.

        SymPy evaluates as usual (``x + x`` becomes ``2*x``); constant parts beyond double precision are oo or nan.
        """
        return self._sympy

    @cached_property
    def _sympy(self) -> Any:
        return algebra.to_sympy(algebra.gathered(self.tree))

    def latex(self) -> str:
        import sympy

        return sympy.latex(self.sympy())


def _unpickled(labels: list[tuple[Any, int]], logic: bool) -> Expression:
    return Expression(from_postfix(labels), logic)


def from_sympy(expression: Any) -> Expression:
    """Read a SymPy expression, node by node.

    Parameters
    ----------
    expression : sympy.Expr or sympy.logic.boolalg.Boolean

    Returns
    -------
    Expression

    Raises
    ------
    ExpressionError
        If it holds what cannot be evaluated as real numbers: I, infinities, derivatives, integrals.
    """
    try:
        tree = algebra.from_sympy(expression)
    except (ValueError, RecursionError) as error:
        raise ExpressionError(str(expression), 0, str(error)) from None
    return Expression(tree)


def simplify(expression: Expression) -> tuple[Expression, str]:
    """SymPy's simplification, unless it is given up on: see `rediscover.system.given_up`.

    Parameters
    ----------
    expression : Expression

    Returns
    -------
    simplified : Expression
        The expression itself unless the status is 'simplified'.
    status : 'simplified', 'timeout' or 'failed'
    """
    from ..system.given_up import attempt

    try:
        tree = attempt(algebra.simplified, expression.tree, expression.logic)
        return Expression(tree, expression.logic), "simplified"
    except TimeoutError:
        return expression, "timeout"
    except Exception:  # SymPy fails in many ways, the fallback is the same for all
        return expression, "failed"


def refit(
    expression: Expression,
    values: Mapping[str, Any],
    y: np.ndarray,
    *,
    starts: int = 10,
    rng: np.random.Generator | None = None,
    evaluations: int = 200,
) -> Expression:
    """Fit all constants to data by least squares from several starts.

    A trust-region search with exact derivatives, started from the present constants, then alternately from
    these perturbed (times exp(N(0, 1))) and from N(0, 1) draws of both signs and three orders of magnitude.

    Parameters
    ----------
    expression : Expression
    values : variable name -> array of shape (n,)
    y : array of shape (n,)
    starts : int
        Number of starts, the present constants among them.
    rng : Generator, optional
        Default: a fresh one with seed 0, so that equal calls give equal results.
    evaluations : int
        Of the expression, at most, per start.

    Returns
    -------
    Expression
        With the smallest sum of squared errors; never larger than that of `expression`, which comes back
        itself if nothing better is found.

    Raises
    ------
    ValueError
        If y is not finite or has another shape than the values.
    """
    from .fitting import best_constants

    columns, shape = expression._columns(values)
    y = np.asarray(y, float)
    if y.shape != shape:
        raise ValueError(f"y has shape {y.shape}, the values {shape}")
    if not np.isfinite(y).all():
        raise ValueError("y must be finite")
    if not expression.constants or expression.logic:
        return expression
    names = [f"#{i}" for i in range(len(expression.constants))]  # no identifiers, so no variable is called so
    markers = iter(names)
    program = Program([expression._with_leaves(lambda _: (next(markers),))], names)

    def computed(constants: np.ndarray) -> list[np.ndarray]:
        return program(columns | dict(zip(names, constants, strict=True)))

    start, rng = np.array(expression.constants, float), rng or np.random.default_rng(0)
    found = best_constants(computed, start, y.ravel(), starts, rng, evaluations)
    return expression if found is None else expression.with_constants(found.tolist())
