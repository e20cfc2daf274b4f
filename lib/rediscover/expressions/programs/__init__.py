"""Programs that language models write, read as expressions; nothing of them is ever executed.

Python's own parser makes the syntax tree. A function is followed statement by statement with formulas in
place of data: names are substituted, loops with known bounds unrolled, helper functions written out, tests of
known values decided, tests of data turned into ``where``. What cannot be read so is refused. Counts bound the
size and the time.

>>> reading = read_function('''
... def equation(x, v, params):
...     drag = params[1]*v*np.abs(v)
...     for i in range(2):
...         drag += params[2 + i]*x**(i + 1)
...     return np.where(x > 0, drag, params[0])
... ''')
>>> print(reading.expression)
where(x > 0, c1*v*abs(v) + c2*x**1 + c3*x**2, c0)
>>> print(reading.with_constants([5.0, 0.5, -1.0, 2.0]))
where(x > 0, 0.5*v*abs(v) + (-1.0*x**1) + 2.0*x**2, 5.0)
"""

import ast
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from .. import Expression
from ..syntax import as_number, identifier
from ..trees import ExpressionError
from .chains import parsed
from .execution import Interpreter
from .frames import STEPS, Frame, Function, Itself, Parameter, ProgramError, refusing
from .values import Formula, Number, Table, Value, Vector, formula

__all__ = ["ProgramError", "Reading", "Slot", "read_function", "read_module"]

CHARACTERS = 200_000  # longest text


class Slot(NamedTuple):
    """A constant that is to be fitted.

    Attributes
    ----------
    name : in the expression.
    index : among all constants of the program, used or not.
    origin : what the program calls it.
    start : where its fit starts.
    """

    name: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody calls on a slot
    origin: str
    start: float


@dataclass(frozen=True)
class Reading:
    """What a program computes.

    Attributes
    ----------
    expression : Expression
        In the names of the inputs and of the slots.
    inputs : tuple of str
        The columns that the program is given, used or not.
    slots : tuple of Slot
        The constants that the expression uses, by index.
    notes : tuple of str
        What was left out in reading, such as ``nan_to_num``.
    """

    expression: Expression
    inputs: tuple[str, ...]
    slots: tuple[Slot, ...]
    notes: tuple[str, ...] = ()

    def with_constants(self, values: Sequence[float]) -> Expression:
        """The expression with ``values[slot.index]`` for each slot."""
        return self.expression.substitute({slot.name: float(values[slot.index]) for slot in self.slots})


def read_function(
    text: str,
    *,
    name: str | None = None,
    parameters: str = "params",
    count: int = 10,
    columns: Mapping[str, Sequence[str]] | None = None,
    known: Mapping[str, Number] | None = None,
) -> Reading:
    """Read a function of columns and of a vector of constants.

    Parameters
    ----------
    text : str
        Python with a function at the top level; imports of numpy and math, numbers with names, and other
        functions may stand beside it.
    name : str, optional
        Which function, if the text has several.
    parameters : str
        The argument that holds the constants. All other arguments are columns.
    count : int
        Length of that vector.
    columns : argument -> names of its columns, optional
        For arguments that are tables, of which the program takes columns by ``x[:, 0]``.
    known : name -> number, optional
        Names that the program may use without saying what they are; ``MAX_NPARAMS`` is `count`.

    Returns
    -------
    Reading

    Raises
    ------
    ProgramError
        With the line and the reason.
    """
    _check(text)
    with refusing():
        tree = _parsed(text)
        return _function(tree, name, parameters, count, columns or {}, known or {})


def _function(
    tree: ast.Module,
    name: str | None,
    parameters: str,
    count: int,
    columns: Mapping[str, Sequence[str]],
    known: Mapping[str, Number],
) -> Reading:
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if name is None:
        if len(functions) != 1:
            raise ProgramError(0, f"it has {len(functions)} functions at the top level, and none is named")
        (name,) = functions
    if name not in functions:
        raise ProgramError(0, f"it has no function {name!r}")
    node = functions[name]
    arguments = [each.arg for each in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
    given: dict[str, Value] = {each: each for each in arguments if each != parameters} | dict(columns)
    if set(given) - set(arguments):
        raise ProgramError(node.lineno, f"{name} has no argument {sorted(set(given) - set(arguments))[0]!r}")
    inputs = _inputs(given, node)
    slot = _slots(inputs)
    interpreter = Interpreter({"MAX_NPARAMS": count, **known}, slot, steps_for(tree))
    interpreter.parameters = [Parameter(f"{parameters}[{i}]", 1.0) for i in range(count)]
    top = _top(interpreter, tree)
    if getattr(top.names[name], "node", None) is not node:
        raise ProgramError(node.lineno, f"{name!r} is something else in the end")
    values = _columns(given)
    if parameters in arguments:
        values[parameters] = Vector(map(slot, range(count)))
    with refusing(node.lineno):
        value = interpreter.call(Function(node, top), [], values)
        return _reading(interpreter, inputs, slot, value)


def read_module(
    text: str, *, columns: Mapping[str, Sequence[str]] | None = None, known: Mapping[str, Number] | None = None
) -> Reading:
    """Read a PyTorch module: a class with constants in ``__init__`` and the formula in ``forward``.

    ``self.k = nn.Parameter(torch.tensor(2.0))`` is a slot that starts from 2; other numbers stay numbers. The
    last class of the text that has a method ``forward`` is read.

    Parameters
    ----------
    text, columns, known
        As in `read_function`; the arguments of ``forward`` are the columns.

    Returns
    -------
    Reading

    Raises
    ------
    ProgramError
        With the line and the reason.

    Examples
    --------
    >>> reading = read_module('''
    ... class Spring(nn.Module):
    ...     def __init__(self, stiffness=2.0):
    ...         super().__init__()
    ...         self.stiffness = nn.Parameter(torch.tensor(stiffness))
    ...     def forward(self, x):
    ...         return -self.stiffness*torch.sin(x)
    ... ''')
    >>> print(reading.expression, reading.slots)
    -c0*sin(x) (Slot(name='c0', index=0, origin='self.stiffness', start=2.0),)
    """
    _check(text)
    with refusing():
        tree = _parsed(text)
        return _module(tree, columns or {}, known or {})


def _module(tree: ast.Module, columns: Mapping[str, Sequence[str]], known: Mapping[str, Number]) -> Reading:
    methods: dict[str, ast.FunctionDef] = {}
    forward: ast.FunctionDef | None = None
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
            methods, forward = (found, found["forward"]) if "forward" in found else (methods, forward)
    if forward is None:
        raise ProgramError(0, "it has no class with a method forward")
    arguments = [each.arg for each in (forward.args.posonlyargs + forward.args.args + forward.args.kwonlyargs)[1:]]
    given: dict[str, Value] = {each: each for each in arguments} | dict(columns)
    if set(given) - set(arguments):
        raise ProgramError(forward.lineno, f"forward has no argument {sorted(set(given) - set(arguments))[0]!r}")
    inputs = _inputs(given, forward)
    slot = _slots(inputs)
    interpreter = Interpreter(known, slot, steps_for(tree))
    top = _top(interpreter, tree)
    itself = Itself({each: Function(method, top) for each, method in methods.items()})
    if "__init__" in methods:
        with refusing(methods["__init__"].lineno):
            interpreter.construct(Function(methods["__init__"], top), itself)
    with refusing(forward.lineno):
        value = interpreter.call(Function(forward, top), [itself], _columns(given))
        return _reading(interpreter, inputs, slot, value)


def _check(text: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"a program is read from text, got {type(text).__name__}")
    if len(text) > CHARACTERS:
        raise ProgramError(0, f"longer than {CHARACTERS} characters")


def steps_for(tree: ast.Module) -> int:
    """Steps that a reading may take: a text is as long as it is, but what it says again and again is bounded."""
    return STEPS + sum(1 for _ in ast.walk(tree))


def _parsed(text: str) -> ast.Module:
    try:
        tree = parsed(text)
        # Names that two arguments have, a return outside of a function: the parser lets pass what Python refuses next.
        with warnings.catch_warnings(), suppress(RecursionError):
            warnings.simplefilter("ignore")
            compile(tree, "program", "exec", dont_inherit=True)
        return tree
    except SyntaxError as error:
        raise ProgramError(error.lineno or 0, f"no Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ProgramError(0, f"no Python: {error or 'nested too deeply'}") from None


def _inputs(given: Mapping[str, Value], node: ast.FunctionDef) -> tuple[str, ...]:
    given_names = [each for value in given.values() for each in ([value] if isinstance(value, str) else value)]
    try:
        names = tuple(map(identifier, given_names))
    except ExpressionError as error:
        raise ProgramError(node.lineno, error.reason) from None
    if len(set(names)) < len(names):
        raise ProgramError(node.lineno, "two columns have one name")
    return names


def _columns(given: Mapping[str, Value]) -> dict[str, Value]:
    def column(name: str) -> Formula:
        return Formula((name,), rows=True)

    return {
        argument: column(names) if isinstance(names, str) else Table(map(column, names))
        for argument, names in given.items()
    }


def _slots(inputs: Sequence[str]) -> Callable[[int], Formula]:
    """The formula of the constant of an index: c0, c1, ..., or c_0, c_1, ... where inputs are called so."""
    letter = "c"
    while any(name.startswith(letter) and name[len(letter) :].isdigit() for name in inputs):
        letter += "_"
    return lambda index: Formula((f"{letter}{index}",))


def _top(interpreter: Interpreter, tree: ast.Module) -> Frame:
    """The names of the text's top level: imports, functions and numbers."""
    top = Frame({})
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.Assign | ast.AnnAssign):
            interpreter.value(node, top)
        elif not isinstance(node, ast.ClassDef) and not _is_idle(node):
            raise ProgramError(node.lineno, f"{type(node).__name__} at the top level")
    return top


def _is_idle(node: ast.stmt) -> bool:
    """A text that stands alone, or the part of a file that only runs when it is started as a program."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Compare) and getattr(node.test.left, "id", None) == "__name__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _reading(
    interpreter: Interpreter, inputs: tuple[str, ...], slot: Callable[[int], Formula], value: Value
) -> Reading:
    result = formula(value)
    if result.mask is not None:
        raise ValueError("only some rows are returned")
    expression = Expression(as_number(result.tree))
    places = {slot(i).tree[0]: i for i in range(len(interpreter.parameters))}
    used = sorted(places[name] for name in expression.names if name in places)
    slots = tuple(Slot(slot(i).tree[0], i, *interpreter.parameters[i]) for i in used)
    return Reading(expression, inputs, slots, tuple(interpreter.notes))
