"""What one reading of a program keeps: its limits, its names, and what they can mean besides values."""

import ast
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .arrays import is_test
from .values import LENGTH, Formula, Table, Value, is_whole

STEPS = 6_000  # besides one for each node: nodes read again, elements of arrays, names at branches
DIMENSIONS = 8  # of a list in lists
NESTING = 60  # expressions, blocks and calls inside one another
RETURN, BREAK, CONTINUE = "return", "break", "continue"

LIBRARIES = {"np": "numpy", "numpy": "numpy", "math": "math", "torch": "torch", "nn": "torch.nn"}
LIBRARIES |= {"F": "torch.nn.functional", "jnp": "jax.numpy"}
MODULES = {*LIBRARIES.values(), "scipy", "scipy.special", "jax", "typing", "warnings"}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.Mod: "mod"}
OPERATORS |= {ast.FloorDiv: "//", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}
SIGNS = {"+": ast.Add(), "-": ast.Sub(), "*": ast.Mult(), "/": ast.Div(), "//": ast.FloorDiv(), "%": ast.Mod()}
SIGNS["@"] = ast.MatMult()
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
CONTEXTS = ("errstate", "no_grad", "catch_warnings")  # what stands in them is read as if they were not there
SILENT = ("print", "warn", "simplefilter", "filterwarnings", "seterr")  # calls without a value


class ProgramError(ValueError):
    """A program or an edit cannot be read.

    Attributes
    ----------
    line : in the text that was read, from 1; 0 for the text as a whole.
    reason : what is wrong there.
    """

    def __init__(self, line: int, reason: str) -> None:
        self.line, self.reason = line, reason
        super().__init__(f"cannot read program{f', line {line}' * (line > 0)}: {reason}")

    def __reduce__(self) -> tuple:  # workers send errors home
        return type(self), (self.line, self.reason)


@contextlib.contextmanager
def refusing(line: int = 0) -> Iterator[None]:
    """Whatever a reader raises here is a refusal of what it reads: it never ends the run that asked for it."""
    try:
        yield
    except ProgramError:
        raise
    except Exception as error:
        reason = getattr(error, "reason", None) or str(error) or type(error).__name__
        raise ProgramError(line, str(reason)) from None


@dataclass(eq=False)
class Frame:
    """The names of one call, and what it has returned under which conditions."""

    names: dict[str, Value]
    outer: "Frame | None" = None
    arguments: tuple = ()
    path: list[Value] = field(default_factory=list)
    returns: list[tuple[Value, Value]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Function:
    node: ast.FunctionDef | ast.Lambda
    frame: Frame


@dataclass(frozen=True, eq=False)
class Library:
    path: str


@dataclass(frozen=True, eq=False)
class Method:
    value: Value
    name: str


@dataclass(frozen=True, eq=False)
class Unknown:
    """What a name means after branches that cannot be joined."""

    reason: str


class Itself(dict):
    """The attributes of an instance, and the methods of its class."""


class Parameter(NamedTuple):
    """A constant to be fitted, as the program names it, and where its fit starts."""

    origin: str
    start: float


def count(value: tuple) -> int:
    """Number of elements of an array, with all that is in it."""
    stack, found = [(value, 1)], 0
    while stack:
        elements, depth = stack.pop()
        found += len(elements)
        if found > LENGTH or depth > DIMENSIONS:
            raise ValueError(f"an array of more than {LENGTH} elements or {DIMENSIONS} dimensions")
        stack += [(element, depth + 1) for element in elements if isinstance(element, tuple)]
    return found


def column(table: Table, index: Value) -> Value:
    """``table[:, j]`` and what else gives columns."""
    if isinstance(index, tuple) and len(index) == 2 and (index[0] == slice(None) or index[0] is Ellipsis):
        chosen = index[1]
        if is_whole(chosen):
            return tuple.__getitem__(table, chosen)
        if isinstance(chosen, slice):
            return Table(tuple.__getitem__(table, chosen))
    raise ValueError("rows of a table are picked")


def rows(value: Formula, index: Value) -> Formula:
    """A column with all its rows, or with those where a test holds."""
    whole = index if isinstance(index, tuple) else (index,)
    if all(each is None or each is Ellipsis or each == slice(None) for each in whole if not isinstance(each, Formula)):
        tests = [each for each in whole if isinstance(each, Formula)]
        if not tests:
            return value
        if len(tests) == len(whole) == 1 and is_test(tests[0]) and value.mask is None:
            return Formula(value.tree, value.size, value.depth, value.rows, tests[0].tree)
    raise ValueError("single rows of the data are picked")
