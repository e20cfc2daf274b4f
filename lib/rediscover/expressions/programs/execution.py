"""What the statements of a program do, followed with formulas in place of data."""

import ast
import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace

from .arrays import is_rows, is_test, rows_of
from .casts import fitting
from .evaluation import Evaluation
from .frames import (
    BREAK,
    CONTEXTS,
    CONTINUE,
    MODULES,
    RETURN,
    SILENT,
    Frame,
    Function,
    Itself,
    Library,
    Parameter,
    Unknown,
    count,
)
from .values import (
    LENGTH,
    Formula,
    List,
    Number,
    Table,
    Value,
    Vector,
    chosen,
    condition,
    formula,
    inverted,
    is_whole,
    kind_of,
    merged,
    operate,
)


class Interpreter(Evaluation):
    """One reading of one program. A statement gives None, or how it ends the block it stands in."""

    def block(self, statements: Iterable[ast.stmt], frame: Frame) -> str | None:
        for statement in statements:
            if ended := self.value(statement, frame):
                return ended
        return None

    def read_Return(self, node, frame):
        value = None if node.value is None else self.value(node.value, frame)
        test = functools.reduce(lambda a, b: operate("and", a, b), frame.path) if frame.path else None
        frame.returns.append((test, value))
        return RETURN

    def read_Pass(self, node, frame):
        return None

    def read_Break(self, node, frame):
        return BREAK

    def read_Continue(self, node, frame):
        return CONTINUE

    def read_Raise(self, node, frame):
        raise ValueError("an error is raised")

    def read_Assert(self, node, frame):
        if condition(self.value(node.test, frame)) is False:
            raise ValueError("an assertion fails")

    def read_Import(self, node, frame):
        for alias in node.names:
            if alias.name not in MODULES:
                raise ValueError(f"import of {alias.name}")
            name = alias.asname or alias.name.partition(".")[0]
            frame.names[name] = Library(alias.name if alias.asname else name)

    def read_ImportFrom(self, node, frame):
        if node.module not in MODULES and node.module != "__future__":
            raise ValueError(f"import from {node.module}")
        for alias in node.names:
            if node.module not in ("typing", "__future__"):
                frame.names[alias.asname or alias.name] = self.attribute(Library(node.module), alias.name)

    def read_FunctionDef(self, node, frame):
        frame.names[node.name] = Function(node, frame)

    def read_Expr(self, node, frame):
        call = node.value
        if isinstance(call, ast.Constant):
            return
        if isinstance(call, ast.Call):
            name = getattr(call.func, "attr", getattr(call.func, "id", None))
            if name in SILENT:
                return
            if name in ("append", "extend") and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
                old, more = self.value(call.func.value, frame), self.value(call.args[0], frame)
                if type(old) is List:
                    added = tuple(more) if name == "extend" else (more,)
                    return self.rebind(old, List((*old, *added)), frame)
        self.value(call, frame)

    def read_With(self, node, frame):
        for item in node.items:
            call = item.context_expr
            if not isinstance(call, ast.Call) or getattr(call.func, "attr", None) not in CONTEXTS:
                raise ValueError("a context")
        return self.block(node.body, frame)

    def read_Assign(self, node, frame):
        value = self.value(node.value, frame)
        if isinstance(node.value, ast.Subscript) and isinstance(value, Vector):
            self.views += [value, self.value(node.value.value, frame)]
        for target in node.targets:
            self.assign(target, value, frame)

    def read_AnnAssign(self, node, frame):
        if node.value is not None:
            self.assign(node.target, self.value(node.value, frame), frame)

    def read_AugAssign(self, node, frame):
        old = self.value(node.target, frame)
        new = self.operation(node.op, old, self.value(node.value, frame))
        if (is_rows(old) or isinstance(old, Vector | Table)) and kind_of(new) > kind_of(old):
            raise ValueError("an array of integers or Booleans is to hold other numbers")
        if isinstance(node.target, ast.Name) and (is_rows(old) or (isinstance(old, tuple) and type(old) is not tuple)):
            self.rebind(old, new, frame)
        else:
            self.assign(node.target, new, frame)

    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            frame.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            values = self.items(value)
            if len(values) != len(target.elts):
                raise ValueError(f"{len(values)} values for {len(target.elts)} names")
            for each, part in zip(target.elts, values, strict=True):
                self.assign(each, part, frame)
        elif isinstance(target, ast.Subscript):
            old = self.value(target.value, frame)
            self.rebind(old, self.with_item(old, self.index(target.slice, frame), value), frame)
        elif isinstance(target, ast.Attribute) and isinstance(owner := self.value(target.value, frame), Itself):
            owner[target.attr] = value
            self.name_parameters(f"self.{target.attr}")
        else:
            raise ValueError(f"an assignment to {type(target).__name__}")

    def rebind(self, old: Value, new: Value, frame: Frame) -> None:
        """Change a value in place: all its names in this call mean the new one."""
        self.spend(len(frame.names))
        outside = frame.outer and any(old is value for value in frame.outer.names.values())
        if outside or any(old is value for value in (*frame.arguments, *self.views)):
            raise ValueError("a value is changed in place that others share")
        for other in frame.names.values():
            if isinstance(other, tuple | dict):
                self.spend(len(other))
                if any(old is part for part in (other.values() if isinstance(other, dict) else other)):
                    raise ValueError("a part of another value is changed in place")
        for name, value in frame.names.items():
            if value is old:
                frame.names[name] = new

    def with_item(self, old: Value, index: Value, value: Value) -> Value:
        """A value whose items at an index are replaced."""
        if isinstance(old, dict) and not isinstance(old, Itself) and isinstance(index, str | int):
            if len(old) >= LENGTH:
                raise ValueError(f"a dictionary of more than {LENGTH} elements")
            return old | {index: value}
        if isinstance(old, Formula):
            if isinstance(index, Formula):
                new = formula(fitting(value, old.kind))
                if new.mask is not None and new.mask != index.tree:
                    raise ValueError("rows picked by different masks are combined")
                return chosen(index, replace(new, mask=None), old)
            if index == slice(None) or index is Ellipsis:
                return replace(rows_of(fitting(value, old.kind)), kind=old.kind)
        if type(old) in (Vector, List):
            items, value = list(old), fitting(value, kind_of(old)) if type(old) is Vector else value
            if isinstance(index, slice):
                places = range(len(items))[index]
                values = self.items(value) if isinstance(value, tuple) else [value] * len(places)
                if len(values) != len(places):
                    raise ValueError(f"{len(values)} values for {len(places)} places")
                for place, each in zip(places, values, strict=True):
                    items[place] = each
                return type(old)(items)
            if is_whole(index):
                items[index] = value
                return type(old)(items)
        raise ValueError("an item of this value cannot be set")

    def read_If(self, node, frame):
        test = condition(self.value(node.test, frame))
        if not isinstance(test, Formula):
            return self.block(node.body if test else node.orelse, frame)
        before, ends, names = frame.names, [], []
        self.spend(len(before))
        test = test if is_test(test) else operate("!=", test, 0)
        for branch, holds in ((node.body, test), (node.orelse, inverted(test))):
            frame.names = dict(before)
            frame.path.append(holds)
            ends.append(self.block(branch, frame))
            names.append(frame.names)
            frame.path.pop()
        if ends[0] == ends[1]:
            frame.names = self.joined(test, *names)
            return ends[0]
        if RETURN not in ends:
            raise ValueError("how long a loop runs depends on data")
        frame.names = names[ends[0] == RETURN]
        return ends[ends[0] == RETURN]

    def joined(self, test: Formula, first: Mapping, second: Mapping) -> dict[str, Value]:
        """What names mean after two branches."""
        names = {}
        for name in [*first, *(name for name in second if name not in first)]:
            if name not in first or name not in second:
                names[name] = Unknown("has a value on one branch only")
                continue
            try:
                if first[name] is not second[name] and isinstance(first[name], tuple):
                    self.spend(count(first[name]))
                names[name] = merged(test, first[name], second[name])
            except (ValueError, TypeError):
                names[name] = Unknown("means different things on two branches")
        return names

    def read_For(self, node, frame):
        for item in self.items(self.value(node.iter, frame)):
            self.spend(1)
            self.assign(node.target, item, frame)
            ended = self.block(node.body, frame)
            if ended == RETURN:
                return ended
            if ended == BREAK:
                return None
        return self.block(node.orelse, frame)

    def read_While(self, node, frame):
        while test := condition(self.value(node.test, frame)):
            if isinstance(test, Formula):
                raise ValueError("how long a loop runs depends on data")
            ended = self.block(node.body, frame)
            if ended == RETURN:
                return ended
            if ended == BREAK:
                return None
        return self.block(node.orelse, frame)

    def parameter(self, value: Value, *_: Value, **__: Value) -> Value:
        """``torch.nn.Parameter``: constants to be fitted from what they are given."""
        if isinstance(value, tuple):
            return Vector(self.parameter(each) for each in value)
        if not isinstance(value, Number):
            raise ValueError("a parameter does not start from a number")
        self.parameters.append(Parameter("", float(value)))
        return self.slot(len(self.parameters) - 1)

    def name_parameters(self, name: str) -> None:
        """Parameters are called after the attribute that they are first assigned to."""
        new = [i for i, parameter in enumerate(self.parameters) if not parameter.origin]
        for place, i in enumerate(new):
            origin = f"{name}[{place}]" if len(new) > 1 else name
            self.parameters[i] = self.parameters[i]._replace(origin=origin)

    def construct(self, function: Function, itself: Itself) -> None:
        """Follow ``__init__``, with the defaults of its arguments."""
        frame = Frame(self.bound(function, [itself], {}), function.frame)
        body = function.node.body if isinstance(function.node, ast.FunctionDef) else []
        self.block((each for each in body if not is_of_super(each)), frame)


def is_of_super(node: ast.stmt) -> bool:
    """``super().__init__()``, also as ``super(Name, self).__init__()``."""
    call = getattr(node, "value", None)
    owner = getattr(getattr(call, "func", None), "value", None)
    return isinstance(node, ast.Expr) and getattr(getattr(owner, "func", None), "id", None) == "super"
