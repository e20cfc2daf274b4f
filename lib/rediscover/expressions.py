"""The only parser, evaluator and tree of expressions.

Text from a method, a model or a file is read by a small precedence-climbing parser: it knows operators, numbers,
variables and the functions listed below, and nothing in it can execute anything.

>>> e = parse("-x0 ^ 2 + np.sin(3.0*x1)")
>>> print(e)
-x0**2 + sin(3.0*x1)
>>> e.names, e.constants
(('x0', 'x1'), (3.0,))
>>> float(e({"x0": 2.0, "x1": 0.0}))
-4.0
"""

import difflib
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

CHARACTERS = 20_000  # longest text
NESTING = 100  # brackets, signs and powers inside one another: the parser recurses on these only
NODES = 5_000  # of a tree
DEPTH = 400  # of a tree; a sum of n terms is n deep, so this is more than NESTING
EXPONENT = 6  # integer exponents up to this are structure, not constants (SurfaceBench, skeleton test)

# The labels of named constants are no identifiers, so that variables may be called pi and E.
NAMED = {"π": math.pi, "ℯ": math.e}
CONSTANTS = {"pi": "π", "E": "ℯ", "π": "π"}
PREFIXED = {"e": "ℯ", "exp1": "ℯ"}  # np.e, but a bare e is a variable
UNDEFINED = {"nan", "NaN", "inf", "oo", "zoo", "Infinity"}

ARITHMETIC = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": np.power,
    "neg": np.negative,
}
COMPARISONS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
CONNECTIVES = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
    "implies": np.less_equal,  # on Booleans
    "not": np.logical_not,
}
UNARY = {
    **{name: getattr(np, name) for name in "sin cos tan sinh cosh tanh exp log log2 log10 sqrt cbrt".split()},
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
}
BINARY = {"atan2": np.arctan2, "mod": np.mod}
VARIADIC = {"min": np.minimum, "max": np.maximum}  # two arguments or more
BOOLEAN = {**COMPARISONS, **CONNECTIVES}
UFUNCS = {**ARITHMETIC, **BOOLEAN, **UNARY, **BINARY, **VARIADIC, "where": np.where}
ARITY = {
    **dict.fromkeys(ARITHMETIC | BOOLEAN | BINARY, (2, 2)),
    **dict.fromkeys(["neg", "not", *UNARY], (1, 1)),
    **dict.fromkeys(VARIADIC, (2, NODES)),
    "where": (2, 3),  # where(condition, value) is undefined elsewhere, as a Piecewise without a default
}

ALIASES = {
    **{"arc" + name: "a" + name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
    **{
        "Abs": "abs",
        "absolute": "abs",
        "fabs": "abs",
        "ln": "log",
        "sgn": "sign",
        "ceiling": "ceil",
        "Mod": "mod",
    },
    **{"Min": "min", "minimum": "min", "Max": "max", "maximum": "max", "remainder": "mod", "ite": "where"},
    **{"arsinh": "asinh", "arcosh": "acosh", "artanh": "atanh"},
}
# Functions that are read as other expressions in their arguments a, b; each argument stands once. Methods whose
# division, root or logarithm is protected must write their own definition out, they are the plain ones here.
EXPANSIONS = {
    "add": "a + b",
    "sub": "a - b",
    "mul": "a*b",
    "div": "a/b",
    "neg": "-a",
    "inv": "1/a",
    "pow": "a**b",
    "square": "a**2",
    "cube": "a**3",
    "cot": "1/tan(a)",
    "sec": "1/cos(a)",
    "csc": "1/sin(a)",
    "coth": "1/tanh(a)",
    "sech": "1/cosh(a)",
    "csch": "1/sinh(a)",
    "acot": "atan(1/a)",
    "log1p": "log(1 + a)",
    "expm1": "exp(a) - 1",
    "exp2": "2**a",
    "hypot": "sqrt(a**2 + b**2)",
    "sigmoid": "1/(1 + exp(-a))",
    "relu": "max(a, 0)",
    "logb": "log(a)/log(b)",
    "aq": "a/sqrt(1 + b**2)",  # the analytic quotient of Operon
    "logabs": "log(abs(a))",
    "sqrtabs": "sqrt(abs(a))",
    "powabs": "abs(a)**b",
    "float": "a",
}
ALIASES |= {"negative": "neg", "power": "pow", "multiply": "mul", "subtract": "sub", "divide": "div"}
ALIASES |= {"reciprocal": "inv", "expit": "sigmoid", "float64": "float", "true_divide": "div"}


class ExpressionError(ValueError):
    """An expression cannot be read or built.

    Attributes
    ----------
    text : the text that was read.
    position : index of the offending character, from 0.
    reason : what is wrong there.
    """

    def __init__(self, text: str, position: int, reason: str):
        self.text, self.position, self.reason = text, position, reason
        start = max(0, position - 30)
        excerpt = (
            ("..." if start else "")
            + text[start : position + 30]
            + ("..." if len(text) > position + 30 else "")
        )
        super().__init__(f"cannot read expression {excerpt!r} at position {position}: {reason}")

    def __reduce__(self):  # workers send errors home
        return type(self), (self.text, self.position, self.reason)


def fold(tree: tuple, combine: Callable[[Any, list], Any]):
    """Result of ``combine(label, results of the children)`` at the root, bottom-up, without recursion."""
    stack, results = [(tree, False)], []
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


def replace_leaves(tree: tuple, replacement: Callable[[Any], tuple]) -> tuple:
    """The tree with each leaf label replaced by a tree; signs of numbers are kept in the number."""
    return fold(tree, lambda label, children: build(label, *children) if children else replacement(label))


def build(label: str, *children: tuple) -> tuple:
    """A node; the negative of a number is a number, as its text cannot tell them apart."""
    if label == "neg" and len(children[0]) == 1 and type(children[0][0]) in (int, float):
        return (-children[0][0],)
    return (label, *children)


def is_boolean(tree: tuple, logic: bool = False) -> bool:
    label = tree[0]
    return type(label) is bool or (label in BOOLEAN if len(tree) > 1 else logic and isinstance(label, str))


# ---------------------------------------------------------------------------------------------------------- reading


class Token(NamedTuple):
    kind: str  # number, name, operator, end
    text: str
    position: int


TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<name>(?:(?:np|numpy|math|sympy|sp|jnp|torch)\.)?[A-Za-z_]\w*|π)
    |(?P<operator>\*\*|<=|>=|==|!=|->|&&|[-+*/%^<>(),|&!~])
    |(?P<end>$))""",
    re.ASCII | re.VERBOSE,
)

# Operator -> (label, left binding power, right binding power). The order is Python's, but & and | bind less than
# comparisons (numbers have no bits here). A precedence parser, as Python's own grammar has no ^ for powers, no !, ->, |x|.
INFIX = {
    "or": ("or", 10, 10),
    "and": ("and", 15, 15),
    "|": ("or", 20, 20),
    "&": ("and", 30, 30),
    **{symbol: (symbol, 50, 50) for symbol in COMPARISONS},
    "+": ("+", 60, 60),
    "-": ("-", 60, 60),
    "*": ("*", 70, 70),
    "/": ("/", 70, 70),
    "%": ("mod", 70, 70),
    "**": ("**", 90, 89),
    "^": ("**", 90, 89),
}
PREFIX = {"-": ("neg", 80), "+": ("", 80), "not": ("not", 17), "~": ("not", 80)}
LOGIC_INFIX = {name: INFIX[name] for name in ("or", "and", "|", "&")}
LOGIC_INFIX |= {"&&": LOGIC_INFIX["&"], "^": ("xor", 25, 25), "->": ("implies", 5, 4)}
LOGIC_PREFIX = {"not": ("not", 17), "!": ("not", 80), "~": ("not", 80)}


class Parser:
    """One reading of one text; `tree` does it."""

    def __init__(self, text: str, names: Iterable[str] | None, logic: bool):
        self.text, self.logic = text, logic
        self.names = None if names is None else frozenset([names] if isinstance(names, str) else names)
        self.infix, self.prefix = (LOGIC_INFIX, LOGIC_PREFIX) if logic else (INFIX, PREFIX)
        self.nesting, self.in_bars = 0, False

    def fail(self, reason: str, position: int | None = None):
        raise ExpressionError(self.text, self.token.position if position is None else position, reason)

    def tree(self) -> tuple:
        if len(self.text) > CHARACTERS:
            raise ExpressionError(self.text, CHARACTERS, f"longer than {CHARACTERS} characters")
        self.tokens = self.scan()
        self.token = next(self.tokens)
        if self.token.kind == "end":
            self.fail("it is empty")
        tree = self.operand()
        if self.token.kind != "end":
            self.fail(f"expected an operator, found {self.token.text!r}")
        return tree

    def scan(self):
        position, text = 0, self.text
        while True:
            match = TOKEN.match(text, position)
            if match is None:
                position += len(text[position:]) - len(text[position:].lstrip())
                hint = "; give only the right-hand side of an equation" if text[position] == "=" else ""
                raise ExpressionError(text, position, f"unexpected character {text[position]!r}{hint}")
            kind, position = match.lastgroup, match.end()
            yield Token(kind, match[kind], match.start(kind))

    def advance(self) -> Token:
        token = self.token
        self.token = next(self.tokens)
        return token

    def expect(self, symbol: str):
        if self.token.text != symbol:
            self.fail(
                f"expected {symbol!r}, found {self.token.text!r}"
                if self.token.text
                else f"missing {symbol!r}"
            )
        self.advance()

    def operand(self) -> tuple:
        """An expression of the kind that the dialect is made of."""
        return self.condition(self.climb(0)) if self.logic else self.number(self.climb(0))

    def number(self, tree: tuple) -> tuple:
        return ("where", tree, (1,), (0,)) if is_boolean(tree) else tree

    def condition(self, tree: tuple) -> tuple:
        return tree if is_boolean(tree, self.logic) else ("!=", tree, (0,))

    def join(self, label: str, *children: tuple) -> tuple:
        coerce = self.condition if label in CONNECTIVES else self.number
        return build(label, *map(coerce, children))

    def climb(self, power: int) -> tuple:
        self.nesting += 1
        if self.nesting > NESTING:
            self.fail(f"nested deeper than {NESTING}")
        left = self.start()
        while True:
            operator = self.token.text
            label, binds, right_binds = self.infix.get(operator, ("", -1, 0))
            if binds <= power or (operator == "|" and self.in_bars):
                break
            self.advance()
            right = self.climb(right_binds)
            if label in COMPARISONS:
                left = self.chain(label, left, right)
            else:
                left = self.join(label, left, right)
        self.nesting -= 1
        return left

    def chain(self, label: str, left: tuple, right: tuple) -> tuple:
        """``a < b < c`` is ``a < b & b < c``."""
        result = self.join(label, left, right)
        while self.token.text in COMPARISONS:
            label, left, right = self.advance().text, right, self.climb(50)
            result = ("and", result, self.join(label, left, right))
        return result

    def start(self) -> tuple:
        token = self.token
        if token.text in self.prefix:
            self.advance()
            label, power = self.prefix[token.text]
            value = self.climb(power)
            return self.join(label, value) if label else self.number(value)
        if token.kind == "number":
            return self.literal()
        if token.kind == "name":
            return self.name()
        if token.text == "(":
            self.advance()
            value = self.outside_bars(lambda: self.climb(0))
            self.expect(")")
            return value
        if token.text == "|" and not self.logic:
            self.advance()
            self.in_bars, outer = True, self.in_bars
            value = self.climb(0)
            self.in_bars = outer
            self.expect("|")
            return ("abs", self.number(value))
        found = f"found {token.text!r}" if token.text else "the text ends"
        self.fail(f"expected a value, {found}")

    def outside_bars(self, read: Callable[[], Any]):
        self.in_bars, outer = False, self.in_bars
        result = read()
        self.in_bars = outer
        return result

    def literal(self) -> tuple:
        token = self.advance()
        if self.logic:
            if token.text not in ("0", "1"):
                self.fail(f"a rule has no number {token.text}", token.position)
            return (token.text == "1",)
        value = float(token.text)
        if math.isinf(value):
            self.fail("the number is too large", token.position)
        return (int(token.text.lstrip("0") or "0"),) if token.text.isdigit() else (value,)

    def name(self) -> tuple:
        token = self.advance()
        prefix, _, name = token.text.rpartition(".")
        if self.token.text == "(":
            return self.call(token, name)
        if prefix:
            name = (
                PREFIXED.get(name)
                or CONSTANTS.get(name)
                or self.fail(f"no constant {token.text!r}", token.position)
            )
            return (name,)
        if self.names is not None and name in self.names:
            return (name,)
        if name in ("True", "False"):
            return (name == "True",)
        if name in CONSTANTS and not self.logic:
            return (CONSTANTS[name],)
        if name in self.infix or name in self.prefix:
            self.fail(f"expected a value, found {name!r}", token.position)
        if name in UNDEFINED:
            self.fail(f"{name} is no number", token.position)
        if self.names is not None:
            close = difflib.get_close_matches(name, self.names, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            allowed = ", ".join(sorted(self.names)) or "none"
            self.fail(f"unknown variable {name!r}{hint} (variables: {allowed})", token.position)
        return (name,)

    def call(self, token: Token, name: str) -> tuple:
        label = ALIASES.get(name, name)
        if self.logic or label not in FUNCTIONS:
            close = difflib.get_close_matches(name, FUNCTIONS, 1) if not self.logic else []
            hint = f"; did you mean {close[0]!r}?" if close else ""
            self.fail(f"no function {name!r}{hint}", token.position)
        self.advance()
        if label == "Piecewise":
            return self.outside_bars(self.piecewise)
        arguments = self.outside_bars(self.arguments)
        if label == "log" and len(arguments) == 2:
            label = "logb"
        least, most = ARITY[label] if label in ARITY else EXPANDED[label][1:]
        if not least <= len(arguments) <= most:
            wanted = least if least == most else f"{least} or more"
            self.fail(f"{name} takes {wanted} arguments, got {len(arguments)}", token.position)
        if label == "where":
            return ("where", self.condition(arguments[0]), *map(self.number, arguments[1:]))
        arguments = list(map(self.number, arguments))
        if label in EXPANSIONS:
            values = dict(zip("ab", arguments, strict=False))
            return replace_leaves(EXPANDED[label][0], lambda leaf: values.get(leaf, (leaf,)))
        return (label, *arguments)

    def arguments(self) -> list[tuple]:
        arguments = [self.climb(0)]
        while self.token.text == ",":
            self.advance()
            arguments.append(self.climb(0))
        self.expect(")")
        return arguments

    def piecewise(self) -> tuple:
        """``Piecewise((a, c1), (b, c2), ...)`` is ``where(c1, a, where(c2, b, ...))``."""
        pieces = []
        while True:
            self.expect("(")
            value = self.number(self.climb(0))
            self.expect(",")
            pieces.append((self.condition(self.climb(0)), value))
            self.expect(")")
            if self.token.text != ",":
                break
            self.advance()
        self.expect(")")
        condition, value = pieces.pop()
        tree = value if condition == (True,) else ("where", condition, value)
        for condition, value in reversed(pieces):
            tree = ("where", condition, value, tree)
        return tree


FUNCTIONS = {*UNARY, *BINARY, *VARIADIC, *EXPANSIONS, *ALIASES, "where", "Piecewise"}
EXPANDED: dict[str, tuple] = {}
for _name, _text in EXPANSIONS.items():
    _arity = 2 if "b" in re.findall(r"\w+", _text) else 1
    EXPANDED[_name] = (Parser(_text, None, False).tree(), _arity, _arity)


def parse(text: str, names: Iterable[str] | None = None, logic: bool = False) -> "Expression":
    """Read an expression.

    Parameters
    ----------
    text : str
        Infix as written by any method: ``^`` or ``**``, ``np.sin``, ``X1``, ``add(x, y)``, ``Piecewise((a, c), (b, True))``,
        ``where(c, a, b)``, ``|x|``, ``x % 2``. ``log`` is the natural logarithm, ``log(x, b)`` the one to base b.
        ``pi`` and ``E`` are constants; every other name without brackets is a variable.
    names : iterable of str, optional
        The variables that may occur. A variable called ``pi`` or ``E`` must be listed.
    logic : bool
        Read a Boolean rule instead: ``! ~ not & and ^ | or ->``, ``True``, ``False``, ``0``, ``1``.

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


# ------------------------------------------------------------------------------------------------------- expressions

SYMBOLS = {label: symbol for symbol, (label, *_) in INFIX.items() if label not in ("mod", "**")} | {
    "**": "**"
}
SYMBOLS |= {"or": "|", "and": "&", "xor": "^", "implies": "->"}
BINDING = {
    **{label: INFIX[symbol][1:] for label, symbol in SYMBOLS.items() if symbol in INFIX},
    "xor": (25, 25),
}
BINDING |= {"implies": (5, 4), "**": (90, 89)}
ATOM = 100


def _written(label, children: list[tuple[str, int]]) -> tuple[str, int]:
    """Text and binding power of a node, from those of its children."""

    def operand(child, power):
        text, binds = child
        return text if binds > power else f"({text})"

    if not children:
        if isinstance(label, str):
            return {"π": "pi", "ℯ": "E"}.get(label, label), ATOM
        return repr(label), ATOM if label is True or label is False or not repr(label).startswith("-") else 80
    if label in BINDING:
        left, right = BINDING[label]
        # Powers and implications bind to the right: an equal left operand needs brackets.
        if label in CONNECTIVES:  # brackets that Python and numpy need around comparisons
            children = [(text, 0 if binds == 50 else binds) for text, binds in children]
        texts = [operand(children[0], left - 1 if left == right else left), operand(children[1], right)]
        if texts[1].startswith("-"):
            texts[1] = f"({texts[1]})"
        space = "" if label in ("*", "/", "**") else " "
        return f"{texts[0]}{space}{SYMBOLS[label]}{space}{texts[1]}", left
    if label == "neg":
        return "-" + operand(children[0], 80), 80
    if label == "not":
        return "~" + operand(children[0], 80), 80
    return f"{label}({', '.join(text for text, _ in children)})", ATOM


@dataclass(frozen=True, eq=False)
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
    """

    tree: tuple
    logic: bool = False

    def __post_init__(self):
        count = 0

        def check(label, depths):
            nonlocal count
            count += 1
            depth = 1 + max(depths, default=0)
            if count > NODES:
                raise ExpressionError("", 0, f"more than {NODES} nodes")
            if depth > DEPTH:
                raise ExpressionError("", 0, f"its tree is deeper than {DEPTH}")
            if depths:
                least, most = ARITY.get(label, (1, 0))
                if not least <= len(depths) <= most:
                    raise ExpressionError("", 0, f"no operation {label!r} of {len(depths)} arguments")
            elif type(label) in (int, float):
                if not abs(label) < math.inf:
                    raise ExpressionError("", 0, f"{label} is no number")
            elif type(label) is not bool and not isinstance(label, str):
                raise ExpressionError("", 0, f"{label!r} is neither a number nor a name")
            return depth

        fold(self.tree, check)
        object.__setattr__(self, "size", count)

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"parse({self._text!r}{', logic=True' if self.logic else ''})"

    def __eq__(self, other):
        # By text, which is exact, as tuples would take 1, 1.0 and True for equal.
        if not isinstance(other, Expression):
            return NotImplemented
        return (self._text, self.names, self.logic) == (other._text, other.names, other.logic)

    def __hash__(self):
        return hash((self._text, self.logic))

    def __reduce__(self):
        return Expression, (self.tree, self.logic)

    @cached_property
    def _text(self) -> str:
        return fold(self.tree, _written)[0]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        found = set()
        fold(self.tree, lambda label, children: children or found.add(label))
        return tuple(sorted(label for label in found if isinstance(label, str) and label not in NAMED))

    @cached_property
    def _program(self) -> "Program":
        return Program([self.tree])

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
        columns = {name: self._column(name, values[name]) for name in values}
        missing = [name for name in self.names if name not in columns]
        if missing:
            raise KeyError(f"no value for {', '.join(missing)} of {self}")
        (result,) = self._program(columns)
        shape = np.broadcast_shapes(*(column.shape for column in columns.values()))
        if np.shape(result) != shape or self.tree[0] in columns:
            result = np.array(np.broadcast_to(result, shape))
        return np.asarray(result, bool if self.logic else float)

    def _column(self, name: str, value) -> np.ndarray:
        column = np.asarray(value)
        if column.dtype.kind not in "biuf":
            raise TypeError(f"values of {name} must be real numbers, got {column.dtype}")
        return column.astype(bool if self.logic else float, copy=False)


class Program:
    """Trees as a list of ufunc calls on registers; equal subtrees are computed once.

    Called with columns by name, returns one array per tree. Plain numpy semantics in float64, silently; small integer
    powers are products.
    """

    def __init__(self, trees: list[tuple]):
        self.numbers: dict[tuple, int] = {}  # what is computed -> its number
        self.steps: list = []  # by number: a constant, a variable's name, or (function, operands)
        self.results = [fold(tree, self.emit) for tree in trees]
        self.assign()

    def emit(self, label, operands: list[int]) -> int:
        if not operands:
            if isinstance(label, str) and label not in NAMED:
                return self.number(label, label)
            return self.constant(NAMED.get(label, label))
        if label == "**" and type(self.steps[operands[1]]) is float:
            power = self.power(operands[0], self.steps[operands[1]])
            if power is not None:
                return power
        if label in VARIADIC:
            return functools.reduce(lambda a, b: self.apply(UFUNCS[label], a, b), operands)
        if label == "where" and len(operands) == 2:
            operands = [*operands, self.constant(math.nan)]
        return self.apply(UFUNCS[label], *operands)

    def number(self, key, step) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.steps)
            self.steps.append(step)
        return self.numbers[key]

    def constant(self, value) -> int:
        value = value if isinstance(value, bool) else float(value)
        return self.number((type(value), repr(value)), value)

    def apply(self, function, *operands: int) -> int:
        steps = [self.steps[i] for i in operands]
        if all(isinstance(step, float | bool) for step in steps):
            with np.errstate(all="ignore"):
                return self.constant(function(*steps).item())
        return self.number((function, *operands), (function, operands))

    def power(self, base: int, exponent: float) -> int | None:
        """Number of ``base**exponent`` as products, or None."""
        if exponent == 0.5:
            return self.apply(np.sqrt, base)
        if exponent < 0 and -EXPONENT <= exponent == int(exponent):
            return self.power(self.apply(np.divide, self.constant(1.0), base), -exponent)
        if not 1 <= exponent <= EXPONENT or exponent != int(exponent):
            return None
        if exponent == 1:
            return base
        half = self.power(base, exponent // 2)
        square = self.apply(np.multiply, half, half)
        return self.apply(np.multiply, square, base) if exponent % 2 else square

    def assign(self):
        """Give each step a register that is free again after its last use, so that arrays stay in the cache."""
        last = {operand: i for i, step in enumerate(self.steps) if type(step) is tuple for operand in step[1]}
        last |= dict.fromkeys(self.results, len(self.steps))
        register, free, self.start, self.inputs, self.calls = {}, [], [], [], []
        for i, step in enumerate(self.steps):
            if type(step) is not tuple:
                register[i] = len(self.start)
                self.start.append(None if isinstance(step, str) else step)
                if isinstance(step, str):
                    self.inputs.append((step, register[i]))
        for i, step in enumerate(self.steps):
            if type(step) is tuple:
                function, operands = step
                sources = [register[operand] for operand in operands]
                for operand in set(operands):
                    if last[operand] == i and type(self.steps[operand]) is tuple:
                        free.append(register[operand])
                if not free:
                    free.append(len(self.start))
                    self.start.append(None)
                register[i] = free.pop()
                self.calls.append((function, register[i], *sources, *[-1] * (3 - len(sources))))
        self.outputs = [register[i] for i in self.results]

    def __call__(self, columns: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        registers = self.start.copy()
        for name, i in self.inputs:
            registers[i] = columns[name]
        with np.errstate(all="ignore"):
            for function, target, a, b, c in self.calls:
                if b < 0:
                    registers[target] = function(registers[a])
                elif c < 0:
                    registers[target] = function(registers[a], registers[b])
                else:
                    registers[target] = function(registers[a], registers[b], registers[c])
        return [registers[i] for i in self.outputs]
