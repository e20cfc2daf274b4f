"""Classes that are not of this package: in a file, in an installed package, in a notebook.

A reference is ``file.py:Class`` or ``package.module:Class``. What workers cannot import by name (a class of a file or
of a notebook) travels to them with its code, by cloudpickle.
"""

import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import users_lines
from .code_version import PACKAGE, code_version

GROUP = "rediscover.methods"  # entry points of packages that bring methods
_beside: dict[str, list[str]] = {}  # module of a file -> modules of the same folder that it has imported


class UserClassError(ValueError):
    """A class cannot be had; the message says why, and what to do."""


def load(reference: str) -> Any:
    """What a reference names.

    Parameters
    ----------
    reference : ``file.py:Class`` or ``package.module:Class``

    Raises
    ------
    UserClassError
        If there is no such file, module or class, or it cannot be imported.
    """
    where, _, name = reference.rpartition(":")
    if not where or not name:
        raise UserClassError(f"{reference!r} names no class: write file.py:Class or package.module:Class")
    try:
        module = _of_file(Path(where)) if where.endswith(".py") else _of_package(where)
    except UserClassError:
        raise
    except BaseException as error:  # whatever stands in somebody's file, SystemExit too
        if isinstance(error, KeyboardInterrupt):
            raise
        place = f" at {found}" if (found := users_lines.where(error)) else ""
        reason = f"{where} cannot be imported{place} ({_reason(error)}): mend it or install what it needs"
        raise UserClassError(reason) from None
    if not hasattr(module, name):
        classes = [key for key, value in vars(module).items() if isinstance(value, type) and value.__module__ == where]
        mine = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        known = ", ".join(classes or mine) or "nothing"
        raise UserClassError(f"{where} defines no {name!r} (it defines {known})")
    return getattr(module, name)


def installed() -> dict[str, str]:
    """Methods that installed packages bring: name -> reference."""
    points = sorted(importlib.metadata.entry_points(group=GROUP), key=lambda point: point.name)
    return {point.name: point.value for point in points}


def version(cls: type) -> str:
    """What changes when the code of a class does: for one of a notebook, with every time that its cell is run."""
    module = sys.modules.get(cls.__module__)
    if cls.__module__ == "__main__" and not hasattr(module, "__file__"):
        return hashlib.sha256(_by_value(cls)).hexdigest()[:12]
    names = [cls.__module__, *_beside.get(cls.__module__, ())]
    return "-".join(code_version(name) for name in names)


def packed(work: Any) -> bytes:
    """A piece of work, pickled so that a worker can read it."""
    return _by_value(work) if travels(work) else pickle.dumps(work)


def travels(work: Any) -> bool:
    """Whether some part of a piece of work (a tuple) needs its code sent along."""
    return any(_sent(type(part)) for part in _parts(work))


def inside(work: Any) -> bool:
    """Whether all parts of a piece of work are of this package, or plain data."""
    return all(type(part).__module__.partition(".")[0] in (PACKAGE, "builtins") for part in _parts(work))


def modules(work: Any) -> set[str]:
    """Modules that a worker should import before it reads a piece of work."""
    parts = list(_parts(work))
    found = {type(part).__module__ for part in parts if not _sent(type(part))}
    return found.union(*(getattr(part, "loads", ()) for part in parts)) - {"builtins"}


def _parts(work: Any) -> Iterator[Any]:
    """A tuple, what it holds, and the methods that those wrap."""
    for part in (work, *work):
        while part is not None:
            yield part
            part = getattr(part, "method", None)


def _sent(cls: type) -> bool:
    return cls.__module__ == "__main__" or cls.__module__ in _beside


def _by_value(value: Any) -> bytes:
    import cloudpickle

    return cloudpickle.dumps(value)


def _of_package(name: str) -> Any:
    if name.partition(".")[0] != PACKAGE and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # workers are given the same
    return importlib.import_module(name)


def _of_file(path: Path) -> Any:
    """The module of a file: another one for each content, so that what is edited is read again."""
    if not path.is_file():
        raise UserClassError(f"there is no file {path}: `{PACKAGE} new {path.stem}` writes one")
    path = path.resolve()
    name = f"{path.stem}_{hashlib.sha256(str(path).encode() + path.read_bytes()).hexdigest()[:8]}"
    if name in _beside:
        return sys.modules[name]
    import cloudpickle

    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))  # for modules beside it, which are imported now
    before = set(sys.modules)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(str(path.parent))
    files = {other: getattr(sys.modules[other], "__file__", None) for other in set(sys.modules) - before}
    _beside[name] = sorted(other for other, file in files.items() if file and Path(file).parent == path.parent)
    for own in (name, *_beside[name]):
        cloudpickle.register_pickle_by_value(sys.modules[own])
    return module


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}" if str(error) else type(error).__name__
