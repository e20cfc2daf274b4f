"""Names of columns: as people write them, as an equation shows them, and as the search has them.

``speed [m/s]`` is shown as ``speed``, with its unit beside it; ``wind speed`` as ``wind_speed``; ``θ`` stays. The
search knows only x0, x1, ..., so that no name of a column is ever read as anything else.
"""

import keyword
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..expressions import Expression
from ..expressions.syntax import CONSTANTS, FUNCTIONS
from ..expressions.trees import NAMED

UNIT = re.compile(r"^(.*\S)\s*(?:\[([^\[\]]*)\]|\(([^()]*)\))\s*$", re.DOTALL)
TAKEN = {*FUNCTIONS, *CONSTANTS, *NAMED, "np", "e"}  # names that stand for something else
GREEK = {unicodedata.normalize("NFC", chr(code)): unicodedata.name(chr(code), "") for code in range(0x391, 0x3CA)}


class Name(NamedTuple):
    """A column.

    Attributes
    ----------
    column : as it was given
    shown : as equations show it: a name that Python and this library read
    unit : what stood in brackets behind it, or empty
    """

    column: str
    shown: str
    unit: str

    @property
    def changed(self) -> bool:
        """Whether it is shown as something else than what stood before its unit."""
        return not self.column.startswith(self.shown)

    @property
    def latex(self) -> str:
        """The name in LaTeX: Greek letters as such, words upright, below a letter what stands behind its underscore."""
        stem, _, below = self.shown.partition("_")
        head = _letters(stem)
        if not below or head.startswith(r"\mathrm"):  # no underscore, or in a name of words
            return _letters(self.shown.replace("_", r"\_"))
        below = below.replace("_", r"\_")
        return rf"{head}_{{{_letters(below)}}}"


def named(columns: Sequence[str]) -> tuple[Name, ...]:
    """Columns with the names that equations show, each a different one.

    Parameters
    ----------
    columns : names as they were given

    Returns
    -------
    tuple of Name

    Examples
    --------
    >>> [(name.shown, name.unit) for name in named(["speed [m/s]", "wind speed", "θ", "2nd (kg)", "log"])]
    [('speed', 'm/s'), ('wind_speed', ''), ('θ', ''), ('_2nd', 'kg'), ('log_', '')]
    >>> [name.shown for name in named(["v [m/s]", "v [km/h]"])]
    ['v_m_s', 'v_km_h']
    """
    parts = [(match[1], (match[2] or match[3] or "").strip()) if (match := UNIT.match(c)) else (c, "") for c in columns]
    short = [_identifier(stem) for stem, _ in parts]
    found: list[Name] = []
    taken: set[str] = set()
    for column, (_, unit), name in zip(columns, parts, short, strict=True):
        shown = name if short.count(name) == 1 else _identifier(column)
        while shown in taken:
            shown += "_"
        taken.add(shown)
        found.append(Name(column, shown, unit))
    return tuple(found)


def _identifier(text: str) -> str:
    name = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", text)).strip("_") or "column"
    name = f"_{name}" if not name.isidentifier() else name
    name = name if name.isidentifier() else "column"
    while keyword.iskeyword(name) or name in TAKEN:
        name += "_"
    return name


def _letters(text: str) -> str:
    if text in GREEK and (spelled := GREEK[text].rpartition(" ")[2].lower()) not in ("omicron", "letter"):
        return f"\\{spelled.capitalize() if 'CAPITAL' in GREEK[text] else spelled}"
    return text if len(text) == 1 or text.isdigit() else rf"\mathrm{{{text}}}"


def displayed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """An expression of the search in the names that are shown.

    Parameters
    ----------
    expression : Expression
    names : search's name -> shown name

    Returns
    -------
    Expression
    """
    from ..expressions.trees import replace_leaves

    return Expression(replace_leaves(expression.tree, lambda leaf: (names.get(leaf, leaf),)))
