"""What the expressions of a program mean: names, operators, indices, attributes and calls.

Of the nodes of Python's grammar only those are known for which there is a method ``read_...``, here or in
`execution`. The names of functions are looked up in the tables of `libraries` and in the program. Counts
bound time, size and depth.
"""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from . import libraries
from .arrays import deciding, dot, is_test, joined_conditions, piecewise
from .chains import CHAIN
from .frames import (
    COMPARISONS,
    LIBRARIES,
    MODULES,
    NESTING,
    OPERATORS,
    RETURN,
    SIGNS,
    STEPS,
    Frame,
    Function,
    Itself,
    Library,
    Method,
    Parameter,
    ProgramError,
    Unknown,
    column,
    count,
    refusing,
    rows,
)
from .kinds import Kind
from .libraries import BuiltIn, Named
from .values import (
    Formula,
    List,
    Number,
    Table,
    Value,
    Vector,
    checked,
    condition,
    described,
    inverted,
    is_whole,
    kind_of,
    merged,
    negative,
    operate,
)


class Evaluation:
    """One reading of one program.

    Parameters
    ----------
    known : names that the program may use without saying what they are
    slot : gives the formula of the constant of an index
    steps : how many the reading may take
    """

    def __init__(self, known: Mapping[str, Number], slot: Callable[[int], Formula], steps: int) -> None:
        self.known, self.slot = dict(known), slot
        self.steps, self.nesting = steps, 0  # steps that are left
        self.notes: dict[str, None] = {}
        self.parameters: list[Parameter] = []
        self.views: list[Value] = []  # arrays that share memory with another one

    def value(self, node: ast.AST, frame: Frame) -> Value:
        """What an expression is, or how a statement ends."""
        handler = getattr(self, f"read_{type(node).__name__}", None)
        if handler is None:
            raise ProgramError(getattr(node, "lineno", 0), f"{type(node).__name__} is not read")
        self.nesting += 1
        with refusing(getattr(node, "lineno", 0)):
            if self.nesting > NESTING:
                raise ValueError(f"nested deeper than {NESTING}")
            self.spend(1)
            result = handler(node, frame)
            if isinstance(result, tuple) and not isinstance(node, ast.Name):
                self.spend(count(result))
        self.nesting -= 1
        return result

    if TYPE_CHECKING:  # the statements, which execution.py has

        def block(self, statements: Iterable[ast.stmt], frame: Frame) -> str | None: ...
        def assign(self, target: ast.expr, value: Value, frame: Frame) -> None: ...
        def rebind(self, old: Value, new: Value, frame: Frame) -> None: ...
        def parameter(self, value: Value) -> Value: ...

    def spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise ValueError(f"more than {STEPS} steps")

    # Functions

    def call(self, function: Function, arguments: Sequence, named: Mapping) -> Value:
        """What a function of the program gives for these arguments."""
        node = function.node
        names = self.bound(function, arguments, named)
        frame = Frame(names, function.frame, tuple(names.values()))
        if isinstance(node, ast.Lambda):
            return self.value(node.body, frame)
        if node.decorator_list:
            raise ProgramError(node.lineno, "a decorator")
        if self.block(node.body, frame) != RETURN:
            raise ProgramError(node.lineno, f"{node.name} does not return" + " on every branch" * bool(frame.returns))
        *earlier, (_, result) = frame.returns
        for test, value in reversed(earlier):
            result = merged(test, value, result)
        return result

    def bound(self, function: Function, arguments: Sequence, named: Mapping) -> dict[str, Value]:
        signature = function.node.args
        if signature.vararg or signature.kwarg:
            raise ValueError("a function takes any number of arguments")
        positional = [argument.arg for argument in signature.posonlyargs + signature.args]
        every = positional + [argument.arg for argument in signature.kwonlyargs]
        names = dict(zip(positional, arguments, strict=False))
        if len(arguments) > len(positional) or set(named) & set(names) or not set(named) <= set(every):
            raise ValueError("a function is called with other arguments than it takes")
        names |= named
        first = len(positional) - len(signature.defaults)
        defaults: dict[str, ast.expr | None] = dict(zip(positional[first:], signature.defaults, strict=True))
        defaults |= dict(zip(every[len(positional) :], signature.kw_defaults, strict=True))
        for name in every:
            if name not in names:
                default = defaults.get(name)
                if default is None:
                    raise ValueError(f"a function is called without {name}")
                names[name] = self.value(default, function.frame)
        return names

    # Expressions

    def read_Constant(self, node, frame):
        if not isinstance(node.value, Number | str | None | type(...)):
            raise ValueError(f"a {type(node.value).__name__} is no value here")
        return checked(node.value)

    def read_Name(self, node, frame):
        name, where = node.id, frame
        while where is not None:
            if name in where.names:
                value = where.names[name]
                if isinstance(value, Unknown):
                    raise ValueError(f"{name} {value.reason}")
                return value
            where = where.outer
        if name in self.known:
            return self.known[name]
        if name in LIBRARIES:
            return Library(LIBRARIES[name])
        if name in libraries.BUILTINS or name in libraries.TYPES:
            return BuiltIn(name)
        raise ValueError(f"{name!r} has no value")

    def read_BinOp(self, node, frame):
        chain = []
        while isinstance(node, ast.BinOp):  # a sum of many terms leans to the left
            chain.append(node)
            node = node.left
        result = self.value(node, frame)
        for node in reversed(chain):
            self.spend(1)
            result = self.operation(node.op, result, self.value(node.right, frame))
        return result

    def chain(self, nodes: Sequence[ast.expr], frame: Frame) -> Value:
        """A long sum or product, whose operators stand between its operands."""
        signs = [str(getattr(node, "value", "")) for node in nodes[1::2]]
        if not len(nodes) % 2 or not set(signs) <= set(SIGNS):
            raise ValueError(f"{CHAIN!r} has no value")
        result = self.value(nodes[0], frame)
        for sign, node in zip(signs, nodes[2::2], strict=True):
            self.spend(1)
            result = self.operation(SIGNS[sign], result, self.value(node, frame))
        return result

    def operation(self, operator: ast.operator, a: Value, b: Value) -> Value:
        self.spend(sum(count(each) for each in (a, b) if isinstance(each, tuple)))
        if isinstance(operator, ast.MatMult):
            return dot(a, b)
        if type(operator) not in OPERATORS:
            raise ValueError(f"{type(operator).__name__} is no operator of real numbers")
        return operate(OPERATORS[type(operator)], a, b)

    def read_UnaryOp(self, node, frame):
        value = self.value(node.operand, frame)
        if isinstance(node.op, ast.Not):
            return inverted(condition(value))
        if isinstance(node.op, ast.Invert):
            if not is_test(value) and type(value) is not bool:
                raise ValueError("bits of a number are inverted")
            return inverted(value)
        if isinstance(node.op, ast.USub):
            return negative(value)
        if isinstance(value, Formula | Vector) and kind_of(value) is Kind.BOOLEAN:
            raise ValueError("arrays of Booleans have no +")
        return value

    def read_BoolOp(self, node, frame):
        label, ends = ("and", False) if isinstance(node.op, ast.And) else ("or", True)
        operands: list[Value] = []
        for place, each in enumerate(node.values, 1):
            value = self.value(each, frame)
            decided = condition(value)
            if isinstance(decided, Formula) or decided is ends or place == len(node.values):
                operands.append(value)
            if decided is ends:
                break
        return deciding(label, operands)

    def read_Compare(self, node, frame):
        left, result = self.value(node.left, frame), True
        for operator, each in zip(node.ops, node.comparators, strict=True):
            right = self.value(each, frame)
            test = self.comparison(operator, left, right)
            result = test if result is True else joined_conditions("and", result, test)
            left = right
            if result is False:
                break
        return result

    def comparison(self, operator: ast.cmpop, a: Value, b: Value) -> Value:
        self.spend(sum(len(each) for each in (a, b) if isinstance(each, tuple | dict)))
        if isinstance(a, Named) or isinstance(b, Named):
            raise ValueError("types are compared")
        if type(operator) in COMPARISONS:
            return operate(COMPARISONS[type(operator)], a, b)
        if isinstance(operator, ast.Is | ast.IsNot):
            if a is not None and b is not None and not (type(a) is bool and type(b) is bool):
                raise ValueError("the identity of values is compared")
            return (a is b) == isinstance(operator, ast.Is)
        options = list(b) if isinstance(b, tuple | dict) else [None]
        if not all(isinstance(each, Number | str) for each in (a, *options)):
            raise ValueError("membership of what is not known")
        return (a in options) == isinstance(operator, ast.In)

    def read_IfExp(self, node, frame):
        test = condition(self.value(node.test, frame))
        if not isinstance(test, Formula):
            return self.value(node.body if test else node.orelse, frame)
        return merged(test, self.value(node.body, frame), self.value(node.orelse, frame))

    def read_Tuple(self, node, frame):
        return tuple(self.arguments(node.elts, frame))

    def read_List(self, node, frame):
        return List(self.arguments(node.elts, frame))

    def read_Dict(self, node, frame):
        keys = [None if key is None else self.value(key, frame) for key in node.keys]
        if not all(isinstance(key, str | int) for key in keys):
            raise ValueError("a key is neither text nor an integer")
        return dict(zip(keys, (self.value(each, frame) for each in node.values), strict=True))

    def arguments(self, nodes: Sequence[ast.expr], frame: Frame) -> list[Value]:
        found: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found.extend(self.items(self.value(node.value, frame)))
            else:
                found.append(self.value(node, frame))
        return found

    def items(self, value: Value) -> Sequence[Value]:
        """What a loop or an unpacking goes through."""
        if isinstance(value, Table) or not isinstance(value, tuple | dict):
            raise ValueError(f"{described(value)} is gone through")
        return tuple(value)

    def read_Lambda(self, node, frame):
        return Function(node, frame)

    def read_ListComp(self, node, frame):
        found = []
        inner = Frame({}, frame, path=frame.path)
        self.comprehend(node.generators, inner, lambda: found.append(self.value(node.elt, inner)))
        return List(found)

    read_GeneratorExp = read_ListComp

    def comprehend(self, generators: Sequence[ast.comprehension], frame: Frame, add: Callable[[], None]) -> None:
        if not generators:
            return add()
        first, *rest = generators
        for item in self.items(self.value(first.iter, frame)):
            self.spend(1)
            self.assign(first.target, item, frame)
            tests = [condition(self.value(test, frame)) for test in first.ifs]
            if any(isinstance(test, Formula) for test in tests):
                raise ValueError("the length of a list depends on data")
            if all(tests):
                self.comprehend(rest, frame, add)

    def read_Slice(self, node, frame):
        bounds = [None if each is None else self.value(each, frame) for each in (node.lower, node.upper, node.step)]
        if not all(bound is None or is_whole(bound) for bound in bounds):
            raise ValueError("a bound of a slice is not known")
        return slice(*bounds)

    def index(self, node: ast.expr, frame: Frame) -> Value:
        index = self.value(node, frame)
        return index[0] if type(index) is tuple and len(index) == 1 else index

    def read_Subscript(self, node, frame):
        value, index = self.value(node.value, frame), self.index(node.slice, frame)
        if isinstance(value, Named):
            return None  # a type in an annotation
        if isinstance(value, dict) and isinstance(index, str | int):
            return value[index]
        if isinstance(value, Table):
            return column(value, index)
        if isinstance(value, tuple) and isinstance(index, slice | int) and type(index) is not bool:
            if is_whole(index) and not -len(value) <= index < len(value):
                raise ValueError(f"index {index} of {len(value)} elements")
            return value[index] if is_whole(index) else type(value)(value[index])
        if isinstance(value, Formula) and value.rows:
            return rows(value, index)
        raise ValueError("an index that is not known")

    def read_Attribute(self, node, frame):
        return self.attribute(self.value(node.value, frame), node.attr)

    def attribute(self, value: Value, name: str) -> Value:
        if isinstance(value, Library):
            path = f"{value.path}.{name}"
            if path in MODULES:
                return Library(path)
            if path in libraries.BUILTINS:
                return BuiltIn(path)
            if name in libraries.CONSTANTS:
                return libraries.CONSTANTS[name]
            if libraries.is_known(name):
                return Named({"math.log": "logb", "math.pow": "float_power"}.get(path, name))
            raise ValueError(f"{path} is not read")
        if isinstance(value, Itself):
            if name not in value:
                raise ValueError(f"self has no {name}")
            return Method(value, name) if isinstance(value[name], Function) else value[name]
        if name in libraries.ATTRIBUTES and isinstance(value, Formula | tuple | Number):
            return libraries.ATTRIBUTES[name](value)
        if name in libraries.METHODS and isinstance(value, Formula | Vector | Table):
            return Method(value, name)
        if isinstance(value, dict) and name in ("get", "items", "keys", "values"):
            return Method(value, name)
        raise ValueError(f"the attribute {name} of {described(value)}")

    def read_Call(self, node, frame):
        if getattr(node.func, "id", None) == CHAIN:
            return self.chain(node.args, frame)
        function = self.value(node.func, frame)
        arguments = self.arguments(node.args, frame)
        named = {keyword.arg: self.value(keyword.value, frame) for keyword in node.keywords}
        if None in named:
            raise ValueError("arguments in a dictionary")
        self.spend(
            len(arguments) + sum(count(each) for each in (*arguments, *named.values()) if isinstance(each, tuple))
        )
        if isinstance(function, Method):
            arguments = [function.value, *arguments]
            name = function.name
            if isinstance(function.value, Itself):
                function = function.value[name]
            elif isinstance(function.value, dict):
                return libraries.of_dictionary(name, *arguments)
            else:
                function = Named(name)
        if isinstance(function, Function):
            return self.call(function, arguments, named)
        if not isinstance(function, Named):
            raise ValueError(f"{described(function)} is called")
        if function == "nan_to_num":
            self.notes["nan_to_num is left out"] = None
        if function == "Parameter":
            return self.parameter(*arguments, **named)
        if function == "piecewise" and len(arguments) == 3:
            x, tests, values = arguments
            values = [self.call(each, [x], {}) if isinstance(each, Function) else each for each in values]
            return piecewise(x, tests, values)
        result = libraries.value_of_call(function, arguments, named)
        for keyword in node.keywords:
            if keyword.arg == "out" and isinstance(keyword.value, ast.Name):
                self.rebind(named["out"], result, frame)
        return result
