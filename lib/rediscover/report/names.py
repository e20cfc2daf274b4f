"""What readers see in place of identifiers: methods as in plots.yaml, scores as in names.yaml."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from .plots import METHOD_STYLE, display_name

NAMES: dict[str, str] = {name: display_name(name) for name in METHOD_STYLE}
NAMES |= yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]+(?:_\w+)+")  # but no variable with an index, such as u_yy
WORD = re.compile(r"(?<!package )(?<![\w.`/\[-])[A-Za-z]\w*(?![\w`/\]-])")


def readable(text: str) -> str:
    """A cell, a label or a sentence with names in place of identifiers.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        A known identifier becomes its name; one that is not known becomes its words, if the text is nothing else. Code
        and names of packages stay.

    Examples
    --------
    >>> [readable(text) for text in ("operon", "nmse_variance", "copy_last_equation", "u_yy", "PDEFIND")]
    ['Operon', 'NMSE (variance)', 'copy last equation', 'u_yy', 'PDE-FIND']
    >>> readable("power_law 0.1, pdefind 0.2; see `power_law` and package operon")
    'power law 0.1, PDE-FIND 0.2; see `power_law` and package operon'
    """
    if text in NAMES:
        return NAMES[text]
    if IDENTIFIER.fullmatch(text):
        return text.replace("_", " ")
    return WORD.sub(lambda match: NAMES.get(match[0], match[0]), text)


def title(text: str) -> str:
    """The head of a column: as `shown`, and without any underscore.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> title("p_holm"), title("f1_pairs")
    ('p holm', 'F1 of pairs')
    """
    return readable(text).replace("_", " ")


def in_words(items: Iterable[Any]) -> str:
    """Items as a list in words.

    Parameters
    ----------
    items : iterable
        At least one.

    Returns
    -------
    str

    Examples
    --------
    >>> in_words([0, 1, 2]), in_words(["one"])
    ('0, 1 and 2', 'one')
    """
    *first, last = map(str, items)
    return f"{', '.join(first)} and {last}" if first else last
