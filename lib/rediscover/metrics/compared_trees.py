"""The trees that edit distances compare: expressions converted by SymPy, as SRSD's code does it and canonically.

A conversion may take minutes. It is done in a process that can be killed, and what came out is kept: in the user's
cache and, of the expressions in the studies' tables, in ``records/trees.jsonl.xz``, so that a clone begins with them.
``make trees`` adds to that file what the user's cache has; `again` makes a sample of its trees once more.
"""

import functools
import hashlib
import importlib.metadata
import inspect
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from ..expressions import Expression, parse
from ..expressions.algebra import to_sympy
from ..system import record_files
from ..system.given_up import attempt, is_listed
from ..system.store import algebra
from .trees import tuples

FILE = f"trees{record_files.SUFFIX}"
SAMPLE = 60  # recorded trees that are made again


@functools.cache
def published_tree(expression: Expression) -> tuple[str, tuple | None]:
    """Status ('ok', 'timeout' or 'error') and tree of `convert_published`; None where there is no tree."""
    return _converted(convert_published, str(expression))


@functools.cache
def harmonised_tree(expression: Expression) -> tuple[str, tuple | None]:
    """As `published_tree`, of `convert_harmonised` or, where that is given up on, of the expression as it stands."""
    status, tree = _converted(convert_harmonised, str(expression))
    if tree is None:
        tree = _converted(convert_as_it_stands, str(expression))[1]
    return status, tree


def _converted(conversion: Callable[[str], tuple], text: str) -> tuple[str, tuple | None]:
    """Status and tree of a conversion, as recorded or kept for this version of SymPy and of the conversions."""
    key = _key(conversion.__name__, text)
    if not is_listed(conversion, text) and (found := recorded().get(key) or algebra().get([key]).get(key)):
        return found["status"], tuples(found["tree"])
    status, tree = _attempted(conversion, text)
    if status != "timeout":
        algebra().put(key, {"conversion": conversion.__name__, "text": text}, {"status": status, "tree": tree})
    return status, tree


def _attempted(conversion: Callable[[str], tuple], text: str) -> tuple[str, tuple | None]:
    try:
        return "ok", attempt(conversion, text)
    except TimeoutError:
        return "timeout", None
    except Exception:  # whatever computer algebra may raise; the released code counts it as 1, too
        return "error", None


def recorded() -> Mapping[str, dict]:
    """Lines of the recorded trees of this version by conversion and text; none where records are not used."""
    return _read(record_files.folder() or Path()) if record_files.used() else {}


@functools.cache
def _read(where: Path) -> dict[str, dict]:
    lines = record_files.load(where / FILE)
    return {_identity(line): line for line in lines if line["version"] == _version(line["conversion"])}


def _identity(line: Mapping[str, Any]) -> str:
    return _key(line["conversion"], line["text"])


def _key(conversion: str, text: str) -> str:
    return f"{conversion} {_version(conversion)} {text}"


def extend() -> int:
    """Record the trees that the user's cache holds; those of another version of SymPy or of the code go.

    Returns
    -------
    int
        How many lines are new.

    Raises
    ------
    RecordError
        Outside of the repository, or if the file cannot be read.
    """
    where = record_files.folder()
    if where is None:
        raise record_files.RecordError("records are kept in the repository: run inside it")
    with record_files.alone(where):
        before = _read(where)
        lines = dict(before)
        for conversion in CONVERSIONS:
            for call, outcome in algebra().all(_key(conversion, "")):
                line = {"conversion": conversion, "version": _version(conversion), "text": call["text"], **outcome}
                lines.setdefault(_identity(line), line)
        record_files.write(where, {where / FILE: lines.values()}, _identity)
    _read.cache_clear()
    return len(lines) - len(before)


def again(seed: int = 0, count: int = SAMPLE) -> list[tuple[str, bool]]:
    """Make a sample of the recorded trees again.

    Parameters
    ----------
    seed : int
        Of the draw.
    count : int
        How many.

    Returns
    -------
    list of (str, bool)
        Text of each expression, and whether status and tree came out as recorded.
    """
    lines = [line for _, line in sorted(recorded().items())]
    drawn = [lines[i] for i in np.random.default_rng(seed).permutation(len(lines))[:count]]

    def one(line: Mapping[str, Any]) -> tuple[str, bool]:
        status, tree = _attempted(CONVERSIONS[line["conversion"]], line["text"])
        return line["text"], (status, tree) == (line["status"], tuples(line["tree"]))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, drawn))


@functools.cache
def _version(conversion: str) -> str:
    """Of SymPy and of the code that makes these trees; the two kinds of trees have codes of their own."""
    if conversion == convert_published.__name__:
        sources = [inspect.getsource(part) for part in (to_sympy, convert_published, sympy_tree)]
    else:
        modules = ("canonical_trees", "normal_form", "quotients")
        sources = [inspect.getsource(part) for part in (to_sympy, real)]
        sources += [Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8") for module in modules]
    return hashlib.sha256("".join([importlib.metadata.version("sympy"), *sources]).encode()).hexdigest()[:16]


def convert_published(text: str) -> tuple:
    """Tree by the steps of the released code; called in a process of its own."""
    import sympy

    # The released code reads text, before and after. Both matter: the order of terms may hang on the last bits of a
    # constant, and a factor that differs from 1 in the last bit only is printed as 1.0 and so dropped. The text comes
    # from SymPy's printer, not from a file or a method.
    expression = sympy.sympify(str(to_sympy(parse(text).tree, as_written=True)))
    expression = expression.subs(sympy.pi, sympy.pi.evalf()).evalf().factor().simplify().subs(1.0, 1)
    return sympy_tree(sympy.sympify(str(expression)))


def sympy_tree(expression: Any) -> tuple:
    from sympy.utilities.misc import func_name

    if expression.is_number:
        label = "Const"
    elif expression.is_Symbol:
        label = expression.name
    else:
        label = func_name(expression)
    return (label, *map(sympy_tree, expression.args))


def convert_harmonised(text: str) -> tuple:
    """The smallest canonical tree of the normal form; called in a process of its own."""
    from .canonical_trees import smallest_tree

    return smallest_tree(text)


def convert_as_it_stands(text: str) -> tuple:
    """The canonical tree of the expression as it is written; called in a process of its own."""
    from .canonical_trees import canonical

    return canonical(real(text))


def real(text: str) -> Any:
    import sympy

    expression = parse(text).sympy()
    real = {symbol: sympy.Symbol(symbol.name, real=True) for symbol in expression.free_symbols}
    return expression.xreplace({**real, sympy.pi: sympy.pi.evalf()}).evalf()


def exact(expression: Any, numbers: dict, inside: bool = False) -> Any:
    """Decimal numbers as fractions, which SymPy factors exactly.

    In exponents and functions only small ones, as SymPy takes x**(p/q), exp(p*x/q) and sin(p*x/q) for
    polynomials of degree p; others become symbols, entered in `numbers`.
    """
    import sympy

    if expression.is_Float:
        fraction = sympy.Rational(str(expression))
        if not inside or (abs(fraction.p) <= SMALL and fraction.q <= SMALL):
            return fraction
        symbol = numbers.setdefault(abs(fraction), sympy.Symbol(f"k{len(numbers)}", positive=True))
        return symbol if fraction > 0 else -symbol
    if expression.is_Pow:
        return sympy.Pow(exact(expression.base, numbers, inside), exact(expression.exp, numbers, True))
    inside = inside or expression.is_Function
    arguments = [exact(argument, numbers, inside) for argument in expression.args]
    return expression.func(*arguments) if arguments else expression


SMALL = 12

CONVERSIONS = {c.__name__: c for c in (convert_published, convert_harmonised, convert_as_it_stands)}

if __name__ == "__main__":
    print(f"{extend()} trees added to records/{FILE}")
