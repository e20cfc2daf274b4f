"""Which code a result depends on: a module, and every module of this package that it imports.

A key that holds `code_version` of the module that made a result changes when any of these is edited, and only then.
Comments, docstrings and annotations do not count, but for those that make fields. Imports are read from the syntax
tree, those inside functions too; a data file beside a module that bears its name (``latex.yaml`` beside ``latex.py``)
belongs to it.
"""

import ast
import functools
import hashlib
import importlib.util
import sys
from pathlib import Path

PACKAGE = __name__.partition(".")[0]


@functools.cache
def code_version(module: str) -> str:
    """Hash of the code of a module and of all modules of this package that it imports, directly or not.

    Parameters
    ----------
    module : full name, such as ``rediscover.methods.operon``; modules of others are hashed alone

    Returns
    -------
    str
        Twelve hexadecimal digits.
    """
    parts = [f"{name} {_own_version(name)}" for name in sorted(reached(module))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def reached(module: str) -> set[str]:
    """The module and all modules of this package that it imports, directly or not.

    A package counts where something is imported from it by name, not because a module inside it is.

    Examples
    --------
    >>> sorted(reached("rediscover.numerics.boolean_minimisation"))
    ['rediscover.numerics.boolean_minimisation']
    """
    found, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += imported(name)
    return found


@functools.cache
def imported(module: str) -> frozenset[str]:
    """Modules of this package that a module names in an import statement."""
    path = _path(module)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    names: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            inside = {alias.name: f"{base}.{alias.name}" for alias in node.names}
            modules = {name: full for name, full in inside.items() if _exists(full)}
            names.update(modules.values())
            if len(modules) < len(inside):  # some names are defined in the package itself
                names.add(base)
    return frozenset(name for name in names if name.partition(".")[0] == PACKAGE and _exists(name))


@functools.cache
def _own_version(module: str) -> str:
    path = _path(module)
    tree = _tree(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    tree = _Untyped().visit(tree)
    data = path.with_suffix(".yaml")
    return hashlib.sha256(_text(tree).encode() + (data.read_bytes() if data.exists() else b"")).hexdigest()


def _text(node: object) -> str:
    """A syntax tree as text, the same for each version of Python.

    `ast.dump` writes fields that are empty, and newer versions have more of these; `ast.unparse` quotes f-strings in
    another way from 3.12 on; 3.12.1 ends a format specification with an empty constant.

    Examples
    --------
    >>> _text(ast.parse("g('')").body[0].value)
    "Call(args=[Constant(value='')] func=Name(ctx=Load() id='g'))"
    >>> _text(ast.parse("f'{x:{n}}'").body[0].value.values[0].format_spec)
    "JoinedStr(values=[FormattedValue(conversion=-1 value=Name(ctx=Load() id='n'))])"
    """
    if isinstance(node, list):
        return "[" + " ".join(map(_text, node)) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.JoinedStr):
        node = ast.JoinedStr([part for part in node.values if getattr(part, "value", None) != ""])
    fields = (f"{name}={_text(value)}" for name, value in sorted(ast.iter_fields(node)) if value not in (None, []))
    return f"{type(node).__name__}({' '.join(fields)})"


class _Untyped(ast.NodeTransformer):
    """Drops annotations, but for those in the body of a class, which make fields."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.body = [part if isinstance(part, ast.AnnAssign) else self.visit(part) for part in node.body]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign | None:
        return ast.Assign([node.target], node.value) if node.value else None


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def _exists(module: str) -> bool:
    return module.partition(".")[0] == PACKAGE and _file(module) is not None


def _file(module: str) -> Path | None:
    base = Path(__file__).parents[1].joinpath(*module.split(".")[1:])
    return next((path for path in (base / "__init__.py", base.with_suffix(".py")) if path.exists()), None)


def _path(module: str) -> Path:
    """The source of a module of this package, or of one of somebody else's that is loaded."""
    if module.partition(".")[0] == PACKAGE and (path := _file(module)):
        return path
    return Path(str(sys.modules[module].__file__))
