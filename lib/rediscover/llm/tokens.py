"""How many tokens a text has, roughly, where no tokenizer of the model is at hand."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from . import pictures

_FACTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
# A word of up to six letters, three digits, and any other sign are a token each; a space goes with what follows.
TOKEN = re.compile(r"[^\W\d_]{1,6}|\d{1,3}|[^\w\s]|_|\n+")
MESSAGE = 4  # around each message


def tokens_of(text: str) -> int:
    """An estimate for prose, code and numbers; a quarter of the characters is too few for lists of decimals.

    >>> tokens_of("Find a function."), tokens_of("0.125, -3.5"), tokens_of("return params[0]*x")
    (5, 8, 7)
    """
    return len(TOKEN.findall(text))


def tokens_in(messages: list[dict], model: str = "") -> int:
    """An estimate for a prompt, from the contents of its messages; a picture counts as the model takes it."""
    return sum(MESSAGE + tokens_of(pictures.words(message)) for message in messages) + picture_tokens(messages, model)


def picture_tokens(messages: Sequence[dict[str, Any]], model: str = "") -> int:
    """Tokens of the pictures in messages, by ``tokens.yaml``.

    >>> picture_tokens([{"role": "user", "content": [{"type": "text", "text": "See:"}, pictures.part(b"")]}], "gpt-4o")
    255
    """
    each = next(row["tokens"] for row in _FACTS["pictures"] if re.match(row["match"], model))
    return each * pictures.count(messages)
