r"""Formulas as language models spell them, in the signs that `parse` reads.

The parser is strict. What stands between it and a reply is `respelled`: signs of Unicode, LaTeX, products without a
sign, powers of functions, bars, and choices as Python writes them. What it does not know it leaves to the parser.

>>> respelled("2x₀² − \\frac{3}{x_{1}} · sin²(x0)", ["x0", "x1"])
'2*x0**(2)-((3)/(x1))*sin(x0)**2'
"""

import ast
import re
from collections.abc import Collection

from .signs import ascii_spelling
from .syntax import ALIASES, CHARACTERS, FUNCTIONS, NESTING

LATEX = [
    (r"\\(?:left|right|big|Big|displaystyle|limits)(?![A-Za-z])|\\[()\[\],;:!]|\\ |\\q?quad(?![A-Za-z])|[`$]", " "),
    (r"\\(?:cdot|times|ast)(?![A-Za-z])", "*"),
    (r"\\div(?![A-Za-z])", "/"),
    (r"\\(?:leq?|leqslant)(?![A-Za-z])", "<="),
    (r"\\(?:geq?|geqslant)(?![A-Za-z])", ">="),
    (r"\\neq?(?![A-Za-z])", "!="),
    (r"\\[lr]?vert(?![A-Za-z])", "|"),
    (r"\\(?:mathrm|operatorname|text|mathit|mathbf)\s*\{([^{}]*)\}", r"\1"),
    (r"_\{(\w+)\}", r"_\1"),
    (r"\^\s*\{([^{}]*)\}", r"**(\1)"),
    (r"\\sqrt\s*\[(\w+)\]\s*\{([^{}]*)\}", r"((\2)**(1/\1))"),
    (r"\\sqrt\s*\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"((\1)/(\2))"),
]
ROUNDS = 50  # of LaTeX inside LaTeX
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))
TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>(?:(?:np|numpy|math|sympy|sp|jnp|torch)\.)?[A-Za-z_]\w*)|(?P<sign>\*\*|[<>=!]=|.)",
    re.ASCII | re.DOTALL,
)
WORDS = {"and", "or", "not", "if", "else", "in", "is"}
CHOICES = {"ifelse", "if_else", "iif"}  # in any case
JOINED = {"Add": "+", "Mul": "*"}  # of any number of operands, as SymPy prints trees
LOGIC = {"∧": "&", "∨": "|", "¬": "!", "⊕": "^", "→": "->", "↔": "<->", "⇔": "<->"}


def plain_signs(text: str) -> str:
    """The text in ASCII, where each sign has a spelling there; others stay for the parser to refuse.

    >>> plain_signs("x\u00a0≤ 3×αx")
    'x <= 3*alpha x'
    """
    text = re.sub(f"[{''.join(RAISED)}]+", lambda found: f"**({''.join(RAISED[sign] for sign in found[0])})", text)
    text = re.sub(r"√\s*(\w+(?:\.\d+)?)", r"sqrt(\1)", text)
    text = re.sub(r"(?<=[A-Za-z0-9α-ωΑ-Ω])(?=[α-ωΑ-Ω])|(?<=[α-ωΑ-Ω])(?=[A-Za-zα-ωΑ-Ω])", " ", text)
    known = ((each, ascii_spelling(each)) for each in text)
    return "".join(each if spelling is None else spelling for each, spelling in known)


def respelled_rule(text: str) -> str:
    """A Boolean rule in the signs that the parser reads.

    >>> respelled_rule("¬x1 ∧ (x2 ∨ x3) AND NOT x4")
    '!x1 & (x2 | x3) and not x4'
    """
    text = plain_signs("".join(LOGIC.get(each, each) for each in text))
    return re.sub(r"\b(?:AND|OR|NOT)\b", lambda found: found[0].lower(), text)


def respelled(text: str, names: Collection[str] = ()) -> str:
    r"""A formula in the signs that the parser reads.

    Parameters
    ----------
    text : str
        The right-hand side of an equation.
    names : collection of str
        The variables: ``x(y + 1)`` is a product if there is one called x, ``x_1`` is x1 if only that one is there, and
        ``e^x`` is a power of Euler's number unless one is called e.

    Returns
    -------
    str
        The same expression as `text` for `parse` wherever that reads `text`, but for such an ``e``.

    >>> respelled("x if x > 0 else 2(x + 1)|x|", ["x"])
    'where(x > 0, x, 2 * (x + 1) * abs(x))'
    >>> respelled(r"\frac{e^{-x_{1}}}{2} + Mul(2, x1, Log(x1))", ["x1"])
    '((exp(1)**(-x1))/(2))+((2)*(x1)*(log(x1)))'
    """
    if len(text) > CHARACTERS:
        return text
    given, text = text, without_latex(text)
    text = re.sub(r"\\([A-Za-z]+)", r"\1", plain_signs(text)).strip()
    items = grouped([found[0] for found in TOKEN.finditer(text)])
    try:
        return text if items is None else chosen(written(items, names))
    except LookupError:  # such as sin x, of which nobody knows where it ends
        return given


def without_latex(text: str) -> str:
    r"""Text whose LaTeX of fractions, roots, exponents, subscripts and operators is written out.

    >>> without_latex(r"\frac{x_{0}}{2}\cdot y^{2}")
    '((x_0)/(2))* y**(2)'
    """
    for _ in range(ROUNDS):
        before = text
        for pattern, plain in LATEX:
            text = re.sub(pattern, plain, text)
        if text == before:
            break
    return text


def right_hand_side(text: str) -> str | None:
    """What stands behind the last equality sign outside of brackets, which no comparison is; None without one.

    >>> right_hand_side("f = y = where(x >= 0, x, 0)"), right_hand_side("x <= y == 2")
    ('where(x >= 0, x, 0)', None)
    """
    depth, place = 0, None
    for i, sign in enumerate(text):
        depth = max(0, depth + (sign in "([{") - (sign in ")]}"))
        if sign == "=" and not depth and text[i - 1 : i] not in ("<", ">", "=", "!") and text[i + 1 : i + 2] != "=":
            place = i
    return None if place is None else text[place + 1 :].strip()


def grouped(tokens: list[str]) -> list | None:
    """Tokens, with what stands between brackets or bars in lists that begin with ``(`` or ``abs(``.

    None where brackets do not match, or nest deeper than the parser reads. A bar behind an operand closes the last one.

    >>> grouped(["|", "x", "|", "(", "y", ")"])
    [['abs(', 'x'], ['(', 'y']]
    """
    levels: list[list] = [[]]
    ended = False  # whether an operand has just ended
    for token in tokens:
        level = levels[-1]
        if token == "(" or (token == "|" and not (ended and level[:1] == ["abs("])):
            levels.append(["(" if token == "(" else "abs("])
            level.append(levels[-1])
            ended = False
        elif token in (")", "|"):
            if level[:1] != ["(" if token == ")" else "abs("]:
                return None
            levels.pop()
            ended = True
        else:
            level.append(token)
            ended = kind_of_item(token) in ("number", "name") if token.strip() else ended
        if len(levels) > NESTING:
            return None
    return levels[0] if len(levels) == 1 else None


def written(items: list, names: Collection[str]) -> str:
    """Text of grouped tokens, with products written out and functions called as the parser calls them."""
    solid = [item for item in items if isinstance(item, list) or item.strip()]
    found: list[str] = []
    place, ended = 0, ""  # the kind of operand that has just ended, if one has
    while place < len(solid):
        item, rest = solid[place], solid[place + 1 : place + 4]
        kind, follows = kind_of_item(item), rest[0] if rest and isinstance(rest[0], list) else [""]
        if (ended and kind in ("name", "group")) or (ended == "group" and kind == "number"):
            found.append("*")
        place += 1
        if kind == "group":
            found.append(f"{item[0]}{written(item[1:], names)})")
        elif kind == "name" and follows[0] == "(" and item not in names:
            found.append(called(item, follows[1:], names))
            place += 1
        elif kind == "name" and item not in names and is_function(item):
            if (power := power_of(rest)) is None:
                raise LookupError(f"{item} has no arguments")
            exponent, arguments = power
            found.append(f"{called(item, arguments, names)}**{exponent}")
            place += 3
        elif item == "e" and "e" not in names and rest[:1] and rest[0] in ("**", "^"):
            found.append("exp(1)")
        else:
            found.append(f" {item} " if kind == "word" or ended == kind == "number" else variable(item, names))
        ended = "" if kind in ("sign", "word") else kind
    return "".join(found)


def kind_of_item(item: str | list) -> str:
    """What a grouped token is: a group, a number, a name, a word such as ``and``, or another sign."""
    if isinstance(item, list):
        return "group"
    return "word" if item in WORDS else str(TOKEN.fullmatch(item).lastgroup)  # type: ignore[union-attr]


def called(name: str, arguments: list, names: Collection[str]) -> str:
    """A call of a function, by the name that the parser has for it."""
    if name in JOINED:
        commas = [i for i, item in enumerate(arguments) if item == ","]
        bounds = zip([-1, *commas], [*commas, len(arguments)], strict=True)
        return f"({JOINED[name].join(f'({written(arguments[a + 1 : b], names)})' for a, b in bounds)})"
    prefix, dot, bare = name.rpartition(".")
    if bare.lower() in CHOICES:
        bare = "where"
    elif not is_function(bare) and is_function(bare.lower()):
        bare = bare.lower()
    return f"{prefix}{dot}{bare}({written(arguments, names)})"


def power_of(items: list) -> tuple[str, list] | None:
    """Exponent and arguments in ``**2(x)``, the three items behind the name of a function."""
    if len(items) < 3 or items[0] not in ("**", "^") or not isinstance(items[2], list) or items[2][0] != "(":
        return None
    exponent = "".join(items[1][1:]) if isinstance(items[1], list) and len(items[1]) == 2 else items[1]
    return (exponent, items[2][1:]) if isinstance(exponent, str) and exponent.isdigit() else None


def variable(name: str, names: Collection[str]) -> str:
    """A name, as ``x1`` where that is a variable and ``x_1`` is none."""
    joined = re.sub(r"^([A-Za-z]+)_(\d+)$", r"\1\2", name)
    return joined if joined in names and name not in names else name


def is_function(name: str) -> bool:
    return ALIASES.get(name, name) in FUNCTIONS


def chosen(text: str) -> str:
    """``where(c, a, b)`` for ``a if c else b``, which Python's own grammar finds."""
    if not re.search(r"\bif\b.*\belse\b", text):
        return text
    try:
        tree = ast.parse(text.replace("^", "**").strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    return ast.unparse(Choices().visit(tree))


class Choices(ast.NodeTransformer):
    """Calls of ``where`` in the place of Python's choices."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.Call:
        self.generic_visit(node)
        return ast.Call(ast.Name("where"), [node.test, node.body, node.orelse], [])
