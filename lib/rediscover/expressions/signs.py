"""Signs of Unicode that have a spelling in ASCII."""

import re
import unicodedata

# Signs that people and models write where the language has ASCII.
WRITTEN_AS = {"×": "*", "·": "*", "⋅": "*", "∙": "*", "∗": "*", "÷": "/", "∕": "/", "⁄": "/", "√": "sqrt", "≠": "!="}
WRITTEN_AS |= dict.fromkeys("−–‐‑", "-") | {"≤": "<=", "⩽": "<=", "≥": ">=", "⩾": ">=", "λ": "lambda", "Λ": "Lambda"}


def ascii_spelling(sign: str) -> str | None:
    """How a sign is written in the language; empty where it is left out, None where it has no spelling.

    >>> [ascii_spelling(sign) for sign in "−²Ω\u00a0ｘ₀é"]
    ['-', '**2', 'Omega', ' ', 'x', '0', None]
    """
    if sign.isascii() or sign == "π":
        return sign
    if sign in WRITTEN_AS:
        return WRITTEN_AS[sign]
    plain, kind, name = unicodedata.normalize("NFKC", sign), unicodedata.category(sign), unicodedata.name(sign, "")
    if plain.isascii() and kind != "Zs":
        return f"**{plain}" if "SUPERSCRIPT" in name else plain
    letter = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER ([A-Z]+)", unicodedata.name(plain[0], ""))
    if letter and len(plain) == 1:
        return letter[2].lower() if letter[1] == "SMALL" else letter[2].capitalize()
    return {"Zs": " ", "Cf": ""}.get(kind)
