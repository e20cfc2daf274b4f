"""Text to tree and tree to text, without executing anything."""

import difflib
import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from .signs import ascii_spelling
from .trees import ARITY, COMPARISONS, CONNECTIVES, NAMED, ExpressionError, build, fold, is_boolean, replace_leaves

CHARACTERS = 500_000  # longest text
NESTING = 100  # brackets, signs and powers inside one another: the parser recurses on these only
CONSTANTS = {"pi": "π", "E": "ℯ", "π": "π"}
PREFIXED: dict[str, Any] = {"e": "ℯ", "True_": True, "False_": False}  # np.e, but a bare e is a variable
UNDEFINED = {"nan", "NaN", "inf", "oo", "zoo", "Infinity"}

ALIASES = {"arc" + name: "a" + name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")}
ALIASES |= {"Abs": "abs", "absolute": "abs", "fabs": "abs", "ln": "log", "sgn": "sign", "ceiling": "ceil"}
ALIASES |= {"Min": "min", "minimum": "min", "Max": "max", "maximum": "max", "Mod": "mod", "remainder": "mod"}
ALIASES |= {"negative": "neg", "power": "pow", "multiply": "mul", "subtract": "sub", "divide": "div"}
ALIASES |= {"reciprocal": "inv", "expit": "sigmoid"} | dict.fromkeys(("float64", "float32", "float16"), "float")
# As numpy prints its integers; of anything but an integer they would cut a part off.
INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
# Functions that are read as other expressions of their arguments a, b; each argument stands once. These are the
# plain ones: a method whose division, root or logarithm is protected must write its own definition out.
EXPANSIONS = {"add": "a + b", "sub": "a - b", "mul": "a*b", "div": "a/b", "pow": "a**b", "neg": "-a", "inv": "1/a"}
EXPANSIONS |= {"square": "a**2", "cube": "a**3", "exp2": "2**a", "expm1": "exp(a) - 1", "log1p": "log(1 + a)"}
EXPANSIONS |= {"cot": "1/tan(a)", "sec": "1/cos(a)", "csc": "1/sin(a)", "acot": "atan(1/a)"}
EXPANSIONS |= {"coth": "1/tanh(a)", "sech": "1/cosh(a)", "csch": "1/sinh(a)", "hypot": "sqrt(a**2 + b**2)"}
EXPANSIONS |= {"sigmoid": "1/(1 + exp(-a))", "relu": "max(a, 0)", "logb": "log(a)/log(b)", "float": "a"}
EXPANSIONS |= {"logabs": "log(abs(a))", "sqrtabs": "sqrt(abs(a))", "powabs": "abs(a)**b"}
EXPANSIONS["aq"] = "a/sqrt(1 + b**2)"  # the analytic quotient of Operon
RELATIONS = dict(zip(("Lt", "Le", "Gt", "Ge", "Eq", "Ne"), COMPARISONS, strict=True))  # as SymPy prints some
FUNCTIONS = {*RELATIONS, *EXPANSIONS, *ALIASES, *INTEGERS, "Piecewise", *filter(str.isidentifier, ARITY)} - {
    *CONNECTIVES
}


def as_number(tree: tuple) -> tuple:
    """A condition counts as 1 or 0 where a number is wanted, as in numpy."""
    return ("where", tree, (1,), (0,)) if is_boolean(tree) else tree


def as_condition(tree: tuple) -> tuple:
    return tree if is_boolean(tree) else ("!=", tree, (0,))


def identifier(name: str) -> str:
    """The name itself, if a variable can be called so."""
    match = TOKEN.fullmatch(name)
    if not match or match.lastgroup != "name" or "." in name or name in NAMED:
        raise ExpressionError(name, 0, f"{name!r} is no name of a variable")
    return name


def unknown_function(name: str) -> str:
    close = difflib.get_close_matches(name, sorted(FUNCTIONS), 1)
    return f"no function {name!r}" + (f"; did you mean {close[0]!r}?" if close else "")


def call(name: str, arguments: list[tuple]) -> tuple:
    """A function of arguments, in the labels of the tree.

    Raises
    ------
    ValueError
        If there is no such function or it takes another number of arguments.
    """
    label = ALIASES.get(name, name)
    if label in INTEGERS:
        if len(arguments) != 1 or len(arguments[0]) != 1 or type(arguments[0][0]) is not int:
            raise ValueError(f"{name} of what is no integer")
        return arguments[0]
    if label not in FUNCTIONS:
        raise ValueError(unknown_function(name))
    label = RELATIONS.get(label, label)
    if label == "log" and len(arguments) == 2:
        label = "logb"
    least, most = EXPANDED[label][1] if label in EXPANSIONS else ARITY[label]
    if not least <= len(arguments) <= most:
        wanted = f"{least} argument{'s' * (least > 1)}" + (" or more" if most > least else "")
        raise ValueError(f"{name} takes {wanted}, got {len(arguments)}")
    if label == "where":
        return ("where", as_condition(arguments[0]), *map(as_number, arguments[1:]))
    arguments = list(map(as_number, arguments))
    if label in EXPANSIONS:
        values = dict(zip("ab", arguments, strict=False))
        return replace_leaves(EXPANDED[label][0], lambda leaf: values.get(leaf, (leaf,)))
    return (label, *arguments)


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

# In a rule || is no pair of bars, and <-> is no comparison with a negative number.
LOGIC_TOKEN = re.compile(TOKEN.pattern.replace(r"\*\*|", r"\*\*|\|\||<->|<=>|"), TOKEN.flags)

# Operator -> (label, left binding power, right binding power). The order is Python's, but & and | bind less
# than comparisons (numbers have no bits here). Python's own grammar would not do: it has no ^ for powers,
# no !, -> and |x|.
INFIX = {"or": ("or", 10, 10), "and": ("and", 15, 15), "|": ("or", 20, 20), "&": ("and", 30, 30)}
INFIX |= {symbol: (symbol, 50, 50) for symbol in COMPARISONS} | {"+": ("+", 60, 60), "-": ("-", 60, 60)}
INFIX |= {"*": ("*", 70, 70), "/": ("/", 70, 70), "%": ("mod", 70, 70), "**": ("**", 90, 89), "^": ("**", 90, 89)}
PREFIX = {"-": ("neg", 80), "+": ("", 80), "not": ("not", 17), "~": ("not", 80)}
LOGIC_INFIX = {name: INFIX[name] for name in ("or", "and", "|", "&")}
LOGIC_INFIX |= {"&&": LOGIC_INFIX["&"], "||": LOGIC_INFIX["|"], "^": ("xor", 25, 25), "->": ("implies", 5, 4)}
LOGIC_INFIX |= {"xor": LOGIC_INFIX["^"], "xnor": ("xnor", 25, 25)}
LOGIC_INFIX |= dict.fromkeys(("<->", "<=>", "iff"), ("iff", 3, 3))
LOGIC_INFIX |= {name.upper(): LOGIC_INFIX[name] for name in ("or", "and", "xor", "xnor", "iff")}
LOGIC_PREFIX = {"not": ("not", 17), "NOT": ("not", 17), "!": ("not", 80), "~": ("not", 80)}
TRUTH = {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}  # in a rule
# Connectives as functions: label and number of operands, any if None; Xor of three may mean two things.
LOGIC_CALLS = {"and": ("and", None), "or": ("or", None), "not": ("not", 1), "implies": ("implies", 2)}
LOGIC_CALLS |= {"xor": ("xor", 2), "xnor": ("xnor", 2), "equivalent": ("iff", 2)}


class Parser:
    """One reading of one text; `tree` does it."""

    def __init__(self, text: str, names: Iterable[str] | None, logic: bool) -> None:
        self.text, self.logic = text, logic
        self.names = None if names is None else frozenset([names] if isinstance(names, str) else names)
        self.infix, self.prefix = (LOGIC_INFIX, LOGIC_PREFIX) if logic else (INFIX, PREFIX)
        self.nesting, self.in_bars = 0, False

    def fail(self, reason: str, position: int | None = None) -> NoReturn:
        raise ExpressionError(self.text, self.token.position if position is None else position, reason)

    def tree(self) -> tuple:
        if len(self.text) > CHARACTERS:
            raise ExpressionError(self.text, CHARACTERS, f"longer than {CHARACTERS} characters")
        self.tokens = self.scan()
        self.token = next(self.tokens)
        if self.token.kind == "end":
            self.fail("it is empty")
        tree = self.climb(0)
        if self.token.kind != "end":
            self.fail(f"expected an operator, {self.found()}")
        return tree if self.logic else as_number(tree)

    def scan(self) -> Iterator[Token]:
        position, text = 0, self.text
        while True:
            match = (LOGIC_TOKEN if self.logic else TOKEN).match(text, position)
            if match is None:
                position += len(text[position:]) - len(text[position:].lstrip(" \t\n\r\f\v"))
                sign = text[position]
                plain = None if sign.isascii() else ascii_spelling(sign)
                hint = "" if plain is None else f"; write {plain!r}" if plain else "; leave it out"
                hint = "; give only the right-hand side of an equation" if sign == "=" else hint
                raise ExpressionError(text, position, f"unexpected character {sign!r}{hint}")
            kind, position = str(match.lastgroup), match.end()
            yield Token(kind, match[kind], match.start(kind))

    def advance(self) -> Token:
        token = self.token
        self.token = next(self.tokens)
        return token

    def found(self) -> str:
        return f"found {self.token.text!r}" if self.token.text else "the text ends"

    def expect(self, symbol: str) -> None:
        if self.token.text != symbol:
            self.fail(f"expected {symbol!r}, {self.found()}")
        self.advance()

    def join(self, label: str, *children: tuple) -> tuple:
        if label in ("iff", "xnor"):
            return ("not", ("xor", *children))
        if not self.logic:
            children = tuple(map(as_condition if label in CONNECTIVES else as_number, children))
        return build(label, *children)

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
            left = (self.chain if label in COMPARISONS else self.join)(label, left, right)
            if label == "iff" == self.infix.get(self.token.text, ("",))[0]:
                self.fail(f"{operator} twice: put brackets around one of them")
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
            return self.join(label, value) if label else as_number(value)
        if token.kind == "number":
            return self.literal()
        if token.kind == "name":
            return self.name()
        if token.text == "(":
            self.advance()
            return self.within(")", lambda: self.climb(0))
        if token.text == "|" and not self.logic:
            self.advance()
            return ("abs", as_number(self.within("|", lambda: self.climb(0))))
        self.fail(f"expected a value, {self.found()}")

    def within(self, end: str, read: Callable[[], Any]) -> Any:
        """What `read` reads before a closing bracket or bar."""
        self.in_bars, outer = end == "|", self.in_bars
        result = read()
        self.in_bars = outer
        self.expect(end)
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
            if name not in CONSTANTS | PREFIXED:
                self.fail(f"no constant {token.text!r}", token.position)
            return ((CONSTANTS | PREFIXED)[name],)
        if self.names is not None and name in self.names:
            return (name,)
        if name in ("True", "False") or (self.logic and name in TRUTH):
            return (TRUTH[name],)
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
        if self.logic:
            return self.connective(token)
        if ALIASES.get(name, name) not in FUNCTIONS:
            self.fail(unknown_function(name), token.position)
        self.advance()
        if name == "Piecewise":
            return piecewise(self.within(")", lambda: self.separated(self.piece)))
        arguments = self.within(")", lambda: self.separated(lambda: self.climb(0)))
        try:
            return call(name, arguments)
        except ValueError as error:
            self.fail(str(error), token.position)

    def connective(self, token: Token) -> tuple:
        """``And(a, b)``, in any case of letters; of one operand And and Or are that operand."""
        label, count = LOGIC_CALLS.get(token.text.lower()) or self.fail("a rule has no functions", token.position)
        self.advance()
        operands = self.within(")", lambda: self.separated(lambda: self.climb(0)))
        if count not in (None, len(operands)):
            self.fail(f"{token.text} takes {count} argument{'s' * (count > 1)}, got {len(operands)}", token.position)
        return self.join(label, *operands) if count else functools.reduce(lambda a, b: self.join(label, a, b), operands)

    def separated(self, read: Callable[[], Any]) -> list:
        found = [read()]
        while self.token.text == ",":
            self.advance()
            found.append(read())
        return found

    def piece(self) -> tuple[tuple, tuple]:
        """Condition and value of ``(value, condition)``."""
        self.expect("(")
        value = as_number(self.climb(0))
        self.expect(",")
        condition = as_condition(self.climb(0))
        self.expect(")")
        return condition, value


def piecewise(pieces: list[tuple[tuple, tuple]]) -> tuple:
    """``Piecewise((a, c1), (b, c2), ...)`` is ``where(c1, a, where(c2, b, ...))``."""
    condition, value = pieces.pop()
    tree = value if condition == (True,) else ("where", condition, value)
    for condition, value in reversed(pieces):
        tree = ("where", condition, value, tree)
    return tree


EXPANDED: dict[str, tuple] = {}  # name -> (tree, arity)
for _name, _text in EXPANSIONS.items():
    _arity = 2 if "b" in re.findall(r"\w+", _text) else 1
    EXPANDED[_name] = (Parser(_text, None, False).tree(), (_arity, _arity))

SYMBOLS = {label: symbol for symbol, (label, *_) in (INFIX | LOGIC_INFIX).items()} | {"or": "|", "and": "&", "xor": "^"}
SYMBOLS["**"] = "**"
BINDING = {label: (LOGIC_INFIX | INFIX)[symbol][1:] for label, symbol in SYMBOLS.items() if label not in ("xor", "mod")}
BINDING["xor"] = LOGIC_INFIX["^"][1:]
SIGN, ATOM = PREFIX["-"][1], 100


def write(tree: tuple) -> str:
    """Text that is read as the same tree (where brackets nest no deeper than `NESTING`), but for xor and implies.

    Only rules have signs for these two: where numbers are read, ``^`` is a power. There 1 and 0 are compared.
    >>> write(("where", ("xor", (">", ("x",), (0,)), (">", ("y",), (0,))), ("x",), ("y",)))
    'where(where(x > 0, 1, 0) != where(y > 0, 1, 0), x, y)'
    """
    return fold(tree, _written if tree[0] in CONNECTIVES else _written_of_numbers)[0]


def _written_of_numbers(label: Any, children: list[tuple[str, int]]) -> tuple[str, int]:
    if label in ("xor", "implies"):
        numbers = [(f"where({text}, 1, 0)", ATOM) for text, _ in children]
        return _written("!=" if label == "xor" else "<=", numbers)
    return _written(label, children)


def _written(label: Any, children: list[tuple[str, int]]) -> tuple[str, int]:
    """Text and binding power of a node, from those of its children."""
    if not children:
        text = {"π": "pi", "ℯ": "E"}.get(label, str(label))
        return text, SIGN if text.startswith("-") else ATOM
    if label in ("neg", "not"):
        return ("-" if label == "neg" else "~") + _bracketed(*children[0], SIGN), SIGN
    if label not in BINDING:
        return f"{label}({', '.join(text for text, _ in children)})", ATOM
    left, right = BINDING[label]
    if label in CONNECTIVES:  # brackets that Python needs around comparisons
        children = [(text, 0 if binds == BINDING["<"][0] else binds) for text, binds in children]
    # An equal operand stands without brackets on the side that the operator groups to.
    first = _bracketed(*children[0], left - 1 if left == right else left)
    second = _bracketed(*children[1], right)
    if second.startswith("-"):
        second = f"({second})"
    space = "" if label in ("*", "/", "**") else " "
    return f"{first}{space}{SYMBOLS[label]}{space}{second}", left


def _bracketed(text: str, binds: int, power: int) -> str:
    return text if binds > power else f"({text})"


@functools.lru_cache(maxsize=1024)
def unreadable(names: tuple[str, ...]) -> str | None:
    """The first name that no expression in these variables can hold, or that is there twice; None if all are fine.

    Examples
    --------
    >>> unreadable(("E", "pi", "lambda")), unreadable(("x", "a 1")), unreadable(("log",)), unreadable(("x", "x"))
    (None, 'a 1', 'log', 'x')
    """
    for i, name in enumerate(names):
        leaf = None
        with suppress(ValueError, TypeError):
            leaf = Parser(name, names, False).tree()
        if leaf != (name,) or name in FUNCTIONS or name in ("True", "False") or name in names[:i]:
            return name
    return None
