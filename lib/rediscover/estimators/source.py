"""An equation as the source of a function that needs numpy alone. It is text: nothing here executes it."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..expressions import Expression
from ..expressions.numerics import UFUNCS
from ..expressions.trees import BOOLEAN, NAMED, fold
from ..system.writing import one_line

SIGNS = {"+", "-", "*", "/", "**", "<", "<=", ">", ">=", "==", "!="}
CONSTANTS = {"π": "np.pi", "ℯ": "np.e"}


def function(name: str, arguments: Sequence[str], results: Mapping[str, Expression], notes: Sequence[str]) -> str:
    """Source of a numpy function.

    Parameters
    ----------
    name : of the function
    arguments : names of its arguments, identifiers
    results : name of each result -> its expression in the arguments
    notes : lines for the comment above it

    Returns
    -------
    str
        Python source; with several results the function returns a tuple of them.

    Examples
    --------
    >>> from rediscover.expressions import parse
    >>> print(function("area", ["r"], {"A": parse("pi*r**2")}, ["r: radius [m]"]))
    # r: radius [m]
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def area(r):
        with np.errstate(all="ignore"):
            A = np.pi * r**2
        return A
    <BLANKLINE>
    """
    lines = [f"# {one_line(note)}" for note in notes]
    lines += [
        "import numpy as np",
        "",
        "",
        f"def {name}({', '.join(arguments)}):",
        '    with np.errstate(all="ignore"):',
    ]
    zero = " + 0.0 * ".join(["0.0", *arguments])
    for result, expression in results.items():
        right = written(expression)
        right = right if expression.names else f"{right} + {zero}"
        lines.append(f"        {result} = {right}")
    return "\n".join([*lines, f"    return {', '.join(results)}", ""])


def written(expression: Expression) -> str:
    """Right-hand side in numpy's functions.

    Parameters
    ----------
    expression : Expression

    Returns
    -------
    str

    Examples
    --------
    >>> from rediscover.expressions import parse
    >>> written(parse("-sin(x)**2*(y - 1)"))
    '-np.sin(x)**2 * (y - 1)'
    """
    return str(fold(expression.tree, _written)[0])


BINDING = {"+": 2, "-": 2, "*": 3, "/": 3, "neg": 4, "**": 5}
ATOM = 9


def _written(label: Any, children: list[tuple[str, int]]) -> tuple[str, int]:
    if not children:
        if label in NAMED:
            return CONSTANTS[label], ATOM
        if isinstance(label, bool) or isinstance(label, str):
            return str(label), ATOM
        return (repr(label), ATOM) if label >= 0 else (f"({label!r})", ATOM)
    texts = [text for text, _ in children]
    if label == "neg":
        return f"-{_held(children[0], BINDING['neg'])}", BINDING["neg"]
    if label == "**":
        # numpy refuses an integer to a negative integer, so the exponent is a float then
        exponent = children[1] if not texts[1].startswith("(-") else (f"({float(texts[1][1:-1])!r})", ATOM)
        return f"{_held(children[0], ATOM)}**{_held(exponent, ATOM)}", BINDING["**"]
    if label in BINDING:
        power = BINDING[label]
        # what is added or multiplied from the right stands in brackets: rounding follows the tree
        return f"{_held(children[0], power)} {label} {_held(children[1], power + 1)}", power
    if label in BOOLEAN & SIGNS:
        return f"({texts[0]} {label} {texts[1]})", ATOM
    ufunc = "where" if label == "where" else UFUNCS[label].__name__
    if label == "where" and len(texts) == 2:
        texts.append("np.nan")
    if label in ("min", "max") and len(texts) > 2:
        text = texts[0]
        for other in texts[1:]:
            text = f"np.{ufunc}({text}, {other})"
        return text, ATOM
    return f"np.{ufunc}({', '.join(texts)})", ATOM


def _held(child: tuple[str, int], power: int) -> str:
    text, binds = child
    return text if binds >= power else f"({text})"
